//! Results of instructions, with literal answers.

use crate::vm::*;

/// Runs one instruction on scalars.
fn eval(operands: &[Scalar], inst: impl Fn(&[u32]) -> Inst) -> Result<Scalar, VmError> {
    let mut program = Program::default();
    let mut nest = Nest::parallel(&[]);
    let registers: Vec<u32> = operands.iter().map(|s| nest.inst(Inst::Const(*s))).collect();
    let value = nest.inst(inst(&registers));
    let types = super::super::validate::register_types(&[], &nest, &[])?;
    let ty = types[value as usize];
    let out = program.output(ty, 1);
    nest.store(Access::new(out, 0, &[]), value);
    program.push(nest);
    let mut bits = [0; 8];
    bits[..ty.bytes()].copy_from_slice(&program.run(&[])?[0]);
    Ok(Scalar { ty, bits: u64::from_le_bytes(bits) })
}

fn unary(op: UnaryOp, x: Scalar) -> Scalar {
    eval(&[x], |r| Inst::unary(op, r[0])).expect("defined")
}

fn binary(op: BinaryOp, a: Scalar, b: Scalar) -> Scalar {
    eval(&[a, b], |r| Inst::binary(op, r[0], r[1])).expect("defined")
}

fn cast(op: CastOp, to: Ty, x: Scalar) -> Scalar {
    eval(&[x], |r| Inst::cast(op, to, r[0])).expect("defined")
}

fn i8(v: i64) -> Scalar {
    Scalar::int(Ty::I8, v)
}

#[test]
fn elementary_functions_are_accurate() {
    use UnaryOp::*;
    // Correctly rounded values.
    let known: [(UnaryOp, f32, f32); 12] = [
        (Exp, 1.0, std::f32::consts::E),
        (Log, 2.0, std::f32::consts::LN_2),
        (Log2, 8.0, 3.0),
        (Log10, 2.0, std::f32::consts::LOG10_2),
        (Sin, std::f32::consts::FRAC_PI_2, 1.0),
        (Cos, 0.0, 1.0),
        (Tanh, 0.5, 0.462_117_16),
        (Erf, 0.5, 0.520_499_9),
        (Erfc, 0.5, 0.479_500_12),
        (ExpM1, 1e-6, 1.000_000_5e-6),
        (Cbrt, 27.0, 3.0),
        (Rsqrt, 4.0, 0.5),
    ];
    for (op, x, expected) in known {
        assert_eq!(unary(op, Scalar::f32(x)), Scalar::f32(expected), "{op:?}({x})");
    }
    let e = unary(Exp, Scalar::float(Ty::F64, 1.0)).as_f64();
    assert!((e - std::f64::consts::E).abs() <= 2.0 * f64::EPSILON, "{e}");
    assert_eq!(unary(Sqrt, Scalar::float(Ty::F16, 2.0)).as_f64(), 1.4140625);
}

#[test]
fn outside_of_a_domain_there_is_no_number() {
    for (op, x) in [(UnaryOp::Acosh, -7048.0), (UnaryOp::Acosh, 0.5), (UnaryOp::Log, -1.0)] {
        assert!(unary(op, Scalar::f32(x)).as_f64().is_nan(), "{op:?} of {x}");
    }
}

#[test]
fn rounding_modes() {
    use UnaryOp::*;
    let of = |op, x: f32| unary(op, Scalar::f32(x)).as_f64();
    assert_eq!([of(Round, 2.5), of(RoundEven, 2.5), of(Trunc, -2.5)], [3.0, 2.0, -2.0]);
    assert_eq!([of(Ceil, -0.5), of(Floor, -0.5), of(RoundEven, 3.5)], [-0.0, -1.0, 4.0]);
}

#[test]
fn nan_and_signed_zero() {
    use BinaryOp::*;
    let f = Scalar::f32;
    assert!(binary(MaximumF, f(f32::NAN), f(1.0)).as_f64().is_nan());
    assert!(binary(MinimumF, f(1.0), f(f32::NAN)).as_f64().is_nan());
    assert_eq!(binary(MaxNumF, f(f32::NAN), f(1.0)), f(1.0));
    assert_eq!(binary(MinNumF, f(1.0), f(f32::NAN)), f(1.0));
    assert_eq!(binary(MaximumF, f(-0.0), f(0.0)), f(0.0));
    assert_eq!(binary(MinimumF, f(0.0), f(-0.0)), f(-0.0));
}

#[test]
fn integers_wrap() {
    use BinaryOp::*;
    assert_eq!(binary(AddI, i8(127), i8(1)), i8(-128));
    assert_eq!(binary(DivSI, i8(-128), i8(-1)), i8(-128));
    assert_eq!(binary(RemSI, i8(-128), i8(-1)), i8(0));
    assert_eq!(binary(FloorDivSI, i8(-7), i8(2)), i8(-4));
    assert_eq!(binary(CeilDivSI, i8(-7), i8(2)), i8(-3));
    assert_eq!(binary(CeilDivSI, i8(7), i8(-2)), i8(-3));
    assert_eq!(binary(DivUI, i8(-1), i8(2)), i8(127));
    assert_eq!(binary(ShLI, i8(1), i8(8)), i8(0));
    assert_eq!(binary(ShRSI, i8(-1), i8(100)), i8(-1));
    assert_eq!(binary(ShRUI, i8(-1), i8(7)), i8(1));
    assert_eq!(binary(IPowI, i8(3), i8(4)), i8(81));
    assert_eq!(unary(UnaryOp::AbsI, i8(-128)), i8(-128));
}

#[test]
fn division_by_zero_has_a_place() {
    let error =
        eval(&[i8(1), i8(0)], |r| Inst::binary(BinaryOp::RemUI, r[0], r[1])).expect_err("refused");
    assert_eq!(error.to_string(), "statement 0, instruction 2: integer division by zero");
}

#[test]
fn conversions() {
    assert_eq!(cast(CastOp::FPToSI, Ty::I8, Scalar::f32(300.0)), i8(127));
    assert_eq!(cast(CastOp::FPToSI, Ty::I8, Scalar::f32(f32::NAN)), i8(0));
    assert_eq!(cast(CastOp::FPToUI, Ty::I8, Scalar::f32(200.7)), i8(200));
    assert_eq!(cast(CastOp::ExtUI, Ty::I32, i8(-1)), Scalar::int(Ty::I32, 255));
    assert_eq!(cast(CastOp::ExtSI, Ty::I8, Scalar::bool(true)), i8(-1));
    assert_eq!(cast(CastOp::UIToFP, Ty::F32, Scalar::bool(true)), Scalar::f32(1.0));
    assert_eq!(cast(CastOp::Bitcast, Ty::I32, Scalar::f32(1.0)), Scalar::int(Ty::I32, 0x3f80_0000));
    assert_eq!(cast(CastOp::TruncF, Ty::BF16, Scalar::f32(1.0 / 3.0)).bits, 0x3eab);
}

#[test]
fn gathers_name_the_address() {
    let mut program = Program::default();
    let table = program.input(Ty::F32, 3);
    let at = program.input(Ty::I32, 4);
    let out = program.output(Ty::F32, 4);
    let mut nest = Nest::parallel(&[4]);
    let address = nest.load(Access::new(at, 0, &[1]));
    let value = nest.inst(Inst::LoadAt { tensor: table, address });
    nest.store(Access::new(out, 0, &[1]), value);
    program.push(nest);
    let table = [1f32, 2.0, 3.0].map(f32::to_le_bytes).concat();
    let run = |at: [i32; 4]| program.run(&[&table, &at.map(i32::to_le_bytes).concat()]);
    assert_eq!(run([2, 0, 0, 1]), Ok(vec![[3f32, 1.0, 1.0, 2.0].map(f32::to_le_bytes).concat()]));
    for (at, address) in [([0, 3, 0, 0], "address 3"), ([0, 0, -1, 0], "address -1")] {
        let error = run(at).expect_err("out of range").to_string();
        assert!(error.contains(address) && error.contains("which has 3 elements"), "{error}");
    }
}

/// Counts down from 5 and adds: a `While`, an `If` and a `Loop`.
#[test]
fn statements_steer() {
    let mut program = Program::default();
    let n = program.input(Ty::I64, 1);
    let sum = program.output(Ty::I64, 1);
    let (more, odd, round) =
        (program.tensor(Ty::I1, 1), program.tensor(Ty::I1, 1), program.tensor(Ty::Index, 1));
    let at = |t| Access::new(t, 0, &[]);
    let test = |predicate, from, with: i64, to| {
        let mut nest = Nest::parallel(&[]);
        let a = nest.load(at(from));
        let b = nest.inst(Inst::Const(Scalar::int(Ty::I64, with)));
        let masked = match predicate {
            CmpIPredicate::Ne => nest.inst(Inst::binary(BinaryOp::AndI, a, b)),
            _ => a,
        };
        let zero = nest.inst(Inst::Const(Scalar::int(Ty::I64, 0)));
        let c = nest.inst(Inst::CmpI { predicate, a: masked, b: zero });
        nest.store(at(to), c);
        Stmt::Nest(nest)
    };
    let add = |from: Option<u32>, to, by: i64| {
        let mut nest = Nest::parallel(&[]);
        let a = nest.load(at(to));
        let b = match from {
            Some(from) => nest.load(at(from)),
            None => nest.inst(Inst::Const(Scalar::int(Ty::I64, by))),
        };
        let c = nest.inst(Inst::binary(BinaryOp::AddI, a, b));
        nest.store(at(to), c);
        Stmt::Nest(nest)
    };
    // while n > 0 { if n is odd { sum += n } else { for _ in 0..n { sum += 100 } } n -= 1 }
    program.push(Stmt::While {
        before: vec![test(CmpIPredicate::Sgt, n, 0, more)],
        condition: more,
        body: vec![
            test(CmpIPredicate::Ne, n, 1, odd),
            Stmt::If {
                condition: odd,
                then: vec![add(Some(n), sum, 0)],
                otherwise: vec![Stmt::Loop {
                    count: n,
                    counter: round,
                    body: vec![add(None, sum, 100)],
                }],
            },
            add(None, n, -1),
        ],
    });
    let out = program.run(&[&5i64.to_le_bytes()]).expect("runs");
    assert_eq!(out[0], (5 + 400 + 3 + 200 + 1i64).to_le_bytes());
}

/// Sums of floats depend on their order, so an equal sum means an equal order.
#[test]
fn accumulation_is_lexicographic_in_every_shape() {
    for (outer, inner, parallel) in
        [(1u64, 5000u64, false), (700, 9, true), (3, 1000, true), (1, 7, false)]
    {
        let mut program = Program::default();
        let x = program.input(Ty::F32, outer * inner);
        let out = program.output(Ty::F32, outer);
        let mut nest = Nest::new(&[outer, inner], &[parallel && outer > 1, false]);
        let acc = nest.load(Access::new(out, 0, &[1, 0]));
        let a = nest.load(Access::new(x, 0, &[inner as i64, 1]));
        let sum = nest.inst(Inst::binary(BinaryOp::AddF, acc, a));
        nest.store(Access::new(out, 0, &[1, 0]), sum);
        program.push(nest);
        let values: Vec<f32> =
            (0..outer * inner).map(|i| ((i * 7919) % 1013) as f32 * 0.37 - 100.0).collect();
        let expected: Vec<f32> =
            values.chunks(inner as usize).map(|row| row.iter().fold(0.0, |a, b| a + b)).collect();
        let got = program.run(&[bytemuck::cast_slice(&values)]).expect("runs");
        assert_eq!(got[0], bytemuck::cast_slice::<f32, u8>(&expected));
    }
}

#[test]
fn permutations_move_every_element() {
    for (shape, order) in
        [([5u64, 70, 33], [2usize, 0, 1]), ([64, 3, 9], [1, 2, 0]), ([4, 8, 2], [0, 1, 2])]
    {
        let len = shape.iter().product::<u64>();
        let mut program = Program::default();
        let x = program.input(Ty::I16, len);
        let out = program.output(Ty::I16, len);
        let from = [shape[1] * shape[2], shape[2], 1].map(|s| s as i64);
        let extents = order.map(|i| shape[i]);
        let strides = order.map(|i| from[i]);
        let to = [extents[1] * extents[2], extents[2], 1].map(|s| s as i64);
        let mut nest = Nest::parallel(&extents);
        let r = nest.load(Access::new(x, 0, &strides));
        nest.store(Access::new(out, 0, &to), r);
        program.push(nest);
        let values: Vec<i16> = (0..len as i16).collect();
        let mut expected = Vec::new();
        for i in 0..extents[0] as i64 {
            for j in 0..extents[1] as i64 {
                for k in 0..extents[2] as i64 {
                    expected.push((i * strides[0] + j * strides[1] + k * strides[2]) as i16);
                }
            }
        }
        let got = program.run(&[bytemuck::cast_slice(&values)]).expect("runs");
        assert_eq!(got[0], bytemuck::cast_slice::<i16, u8>(&expected));
    }
}

/// A transposition that also turns both axes around.
#[test]
fn permutations_may_run_backwards() {
    let (rows, columns) = (45i64, 70i64);
    let mut program = Program::default();
    let x = program.input(Ty::F64, (rows * columns) as u64);
    let out = program.output(Ty::F64, (rows * columns) as u64);
    for (from, to) in
        [([columns, 1], [1, rows]), ([columns, -1], [1, rows]), ([-columns, 1], [1, rows])]
    {
        let offset = |strides: [i64; 2]| {
            let reach = strides[0].min(0) * (rows - 1) + strides[1].min(0) * (columns - 1);
            -reach
        };
        let mut nest = Nest::parallel(&[rows as u64, columns as u64]);
        let r = nest.load(Access::new(x, offset(from), &from));
        nest.store(Access::new(out, offset(to), &to), r);
        program.body = vec![nest.into()];
        let values: Vec<f64> = (0..rows * columns).map(|i| i as f64).collect();
        let mut expected = vec![0.0; values.len()];
        for i in 0..rows {
            for j in 0..columns {
                let (f, t) = (from[0] * i + from[1] * j, to[0] * i + to[1] * j);
                expected[(offset(to) + t) as usize] = values[(offset(from) + f) as usize];
            }
        }
        let got = program.run(&[bytemuck::cast_slice(&values)]).expect("runs");
        assert_eq!(got[0], bytemuck::cast_slice::<f64, u8>(&expected));
    }
}

#[test]
fn no_points_do_nothing() {
    let mut program = Program::default();
    let x = program.input(Ty::F32, 0);
    let out = program.output(Ty::F32, 0);
    let mut nest = Nest::parallel(&[0, 1 << 40]);
    let r = nest.load(Access::new(x, 99, &[1, 1]));
    nest.store(Access::new(out, -5, &[1, 0]), r);
    program.push(nest);
    assert_eq!(program.run(&[&[]]), Ok(vec![vec![]]));
}
