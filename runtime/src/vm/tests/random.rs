//! Random programs: those built to be valid against the literal evaluator, wild ones for not
//! panicking.

use proptest::prelude::*;

use super::literal;
use crate::vm::*;

/// A small generator whose draws are cheap; its seed is what proptest varies.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

const UNARY: [UnaryOp; 39] = {
    use UnaryOp::*;
    [
        NegF, AbsF, Acos, Acosh, Asin, Asinh, Atan, Atanh, Cbrt, Ceil, Cos, Cosh, Erf, Erfc, Exp,
        Exp2, ExpM1, Floor, Log, Log10, Log1p, Log2, Round, RoundEven, Rsqrt, Sin, Sinh, Sqrt, Tan,
        Tanh, Trunc, IsNan, IsInf, IsFinite, IsNormal, AbsI, Ctlz, Ctpop, Cttz,
    ]
};

const BINARY: [BinaryOp; 37] = {
    use BinaryOp::*;
    [
        AddF, SubF, MulF, DivF, RemF, MaximumF, MinimumF, MaxNumF, MinNumF, Atan2, CopySign, PowF,
        FPowI, AddI, SubI, MulI, MulSIHigh, MulUIHigh, DivSI, DivUI, CeilDivSI, CeilDivUI,
        FloorDivSI, RemSI, RemUI, AndI, OrI, XorI, ShLI, ShRSI, ShRUI, MaxSI, MaxUI, MinSI, MinUI,
        IPowI, LdExp,
    ]
};

const CMPI: [CmpIPredicate; 10] = {
    use CmpIPredicate::*;
    [Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge]
};

const CMPF: [CmpFPredicate; 16] = {
    use CmpFPredicate::*;
    [AlwaysFalse, Oeq, Ogt, Oge, Olt, Ole, One, Ord, Ueq, Ugt, Uge, Ult, Ule, Une, Uno, AlwaysTrue]
};

const CASTS: [CastOp; 12] = {
    use CastOp::*;
    [
        ExtF,
        TruncF,
        ExtSI,
        ExtUI,
        TruncI,
        SIToFP,
        UIToFP,
        FPToSI,
        FPToUI,
        Bitcast,
        IndexCast,
        IndexCastUI,
    ]
};

/// Mostly small values, so that equality, ties and zeros happen; sometimes any bits.
fn scalar(dice: &mut Dice, ty: Ty) -> Scalar {
    if dice.one_in(6) {
        let bits = dice.next();
        return match ty {
            Ty::I1 => Scalar { ty, bits: bits & 1 },
            _ => Scalar { ty, bits: bits & (u64::MAX >> (64 - ty.bits())) },
        };
    }
    let small = dice.below(9) as i64 - 3;
    if ty.is_float() {
        match dice.below(12) {
            0 => Scalar::float(ty, f64::NAN),
            1 => Scalar::float(ty, f64::INFINITY),
            2 => Scalar::float(ty, -0.0),
            _ => Scalar::float(ty, small as f64 * 0.375),
        }
    } else {
        Scalar::int(ty, small)
    }
}

/// An instruction on registers of these types, if the draw gives one that is well typed.
fn inst(dice: &mut Dice, types: &[Ty], axes: usize, gathers: &[u32]) -> Inst {
    let reg = |dice: &mut Dice| dice.below(types.len().max(1)) as u32;
    match dice.below(12) {
        0 => {
            let ty = dice.pick(&Ty::ALL);
            Inst::Const(scalar(dice, ty))
        }
        1 => Inst::Index(dice.below(axes.max(1)) as u32),
        2 if !gathers.is_empty() => Inst::LoadAt { tensor: dice.pick(gathers), address: reg(dice) },
        3 | 4 => Inst::Unary { op: dice.pick(&UNARY), x: reg(dice) },
        5 => Inst::CmpI { predicate: dice.pick(&CMPI), a: reg(dice), b: reg(dice) },
        6 => Inst::CmpF { predicate: dice.pick(&CMPF), a: reg(dice), b: reg(dice) },
        7 => Inst::Select { condition: reg(dice), then: reg(dice), otherwise: reg(dice) },
        8 | 9 => Inst::Cast { op: dice.pick(&CASTS), to: dice.pick(&Ty::ALL), x: reg(dice) },
        10 => Inst::Fma { a: reg(dice), b: reg(dice), c: reg(dice) },
        _ => Inst::Binary { op: dice.pick(&BINARY), a: reg(dice), b: reg(dice) },
    }
}

fn well_typed(program: &Program, nest: &Nest) -> Option<Vec<Ty>> {
    super::super::validate::register_types(&program.tensors, nest, &[]).ok()
}

/// An access within bounds, with a tensor just large enough for it.
fn bounded(
    dice: &mut Dice,
    program: &mut Program,
    extents: &[u64],
    ty: Ty,
    strides: Vec<i64>,
) -> Access {
    let (mut low, mut high) = (0, dice.below(3) as i64);
    for (stride, extent) in strides.iter().zip(extents) {
        let reach = stride * extent.saturating_sub(1) as i64;
        (low, high) = (low + reach.min(0), high + reach.max(0));
    }
    let tensor = program.tensor(ty, (high - low + 1) as u64);
    Access { tensor, offset: -low, strides }
}

/// A program of one or two nests, its inputs, all its tensors as outputs.
fn valid(seed: u64) -> (Program, Vec<Vec<u8>>) {
    let dice = &mut Dice(seed);
    let mut program = Program::default();
    for _ in 0..1 + dice.below(2) {
        let nest = valid_nest(dice, &mut program);
        program.push(nest);
    }
    // Everything is an input too, so that stored tensors do not start as zeros only.
    let mut inputs = Vec::new();
    for (id, t) in program.tensors.iter().enumerate() {
        let element = |_| scalar(dice, t.ty).bits.to_le_bytes()[..t.ty.bytes()].to_vec();
        inputs.push((0..t.len).flat_map(element).collect());
        program.inputs.push(id as u32);
        program.outputs.push(id as u32);
    }
    (program, inputs)
}

fn valid_nest(dice: &mut Dice, program: &mut Program) -> Nest {
    let extents = valid_extents(dice);
    let rank = extents.len();
    let mut nest = Nest::new(&extents, &vec![false; rank]);
    let stores = valid_stores(dice, program, &mut nest);
    for _ in 0..dice.below(4) {
        let access = if !stores.is_empty() && dice.one_in(2) {
            stores[dice.below(stores.len())].clone()
        } else {
            let strides = (0..rank).map(|_| dice.pick(&[0, 0, 1, 1, 2, 7, -1, -3])).collect();
            let ty = dice.pick(&Ty::ALL);
            bounded(dice, program, &extents, ty, strides)
        };
        nest.loads.push(access);
    }
    let gathers: Vec<u32> = (0..program.tensors.len() as u32).collect();
    for _ in 0..dice.below(10) {
        let types = well_typed(program, &nest).expect("the nest is valid so far");
        let from: &[u32] = if dice.one_in(3) { &gathers } else { &[] };
        let next = inst(dice, &types, rank, from);
        nest.body.push(next);
        if well_typed(program, &nest).is_none() {
            nest.body.pop();
        }
    }
    for access in stores {
        valid_store(dice, program, &mut nest, access);
    }
    if dice.one_in(8) && !nest.parallel.contains(&true) {
        let types = well_typed(program, &nest).expect("the nest is valid so far");
        let address = types.iter().position(|ty| ty.is_int());
        if let (Some(address), false) = (address, types.is_empty()) {
            let value = dice.below(types.len());
            let tensor = program.tensor(types[value], 40);
            nest.store_at(tensor, address as u32, value as u32);
        }
    }
    // A promise of parallel axes is kept only if what is stored is not read elsewhere.
    let stored: Vec<u32> = nest.stores.iter().map(|(access, _)| access.tensor).collect();
    let gathered = nest
        .body
        .iter()
        .any(|i| matches!(i, Inst::LoadAt { tensor, .. } if stored.contains(tensor)));
    if gathered || stored.is_empty() {
        nest.parallel.fill(false);
    }
    nest
}

fn valid_extents(dice: &mut Dice) -> Vec<u64> {
    let rank = dice.below(5);
    let mut extents: Vec<u64> = (0..rank).map(|_| dice.pick(&[1, 2, 3, 5, 8, 9])).collect();
    if rank > 0 && dice.one_in(3) {
        let long = dice.below(rank);
        extents = vec![1; rank];
        extents[long] = dice.pick(&[33, 511, 512, 513, 1100]);
        let other = dice.below(rank);
        if other != long {
            extents[other] = dice.pick(&[2, 3, 7]);
        }
    }
    if rank > 0 && dice.one_in(20) {
        extents[0] = 0;
    }
    extents
}

/// Where a nest stores: dense over some of the axes, or anyhow.
fn valid_stores(dice: &mut Dice, program: &mut Program, nest: &mut Nest) -> Vec<Access> {
    let extents = nest.extents.clone();
    let rank = extents.len();
    let mut stores = Vec::new();
    for _ in 0..dice.below(3) {
        let mut strides = vec![0; rank];
        if dice.one_in(4) {
            strides.iter_mut().for_each(|s| *s = dice.below(5) as i64 - 2);
        } else {
            let kept = dice.next();
            let mut step = 1;
            for i in (0..rank).rev().filter(|i| kept >> i & 1 == 1) {
                strides[i] = step;
                step *= extents[i].max(1) as i64;
            }
            if dice.one_in(2) {
                // Dense axes are parallel; the machine must find the same without being told.
                (0..rank).for_each(|i| nest.parallel[i] = strides[i] != 0 && stores.is_empty());
            }
        }
        let ty = dice.pick(&Ty::ALL);
        stores.push(bounded(dice, program, &extents, ty, strides));
    }
    if stores.len() > 1 {
        nest.parallel.fill(false);
    }
    stores
}

/// Stores a value of the right type.
fn valid_store(dice: &mut Dice, program: &Program, nest: &mut Nest, access: Access) {
    let ty = program.tensors[access.tensor as usize].ty;
    let mut types = well_typed(program, nest).expect("the nest is valid so far");
    // Accumulations are what matters most; they are drawn on purpose.
    if let Some(load) = nest.loads.iter().position(|l| *l == access)
        && dice.one_in(2)
    {
        let same: Vec<u32> = (0..types.len() as u32).filter(|&r| types[r as usize] == ty).collect();
        let ops: Vec<BinaryOp> = BINARY
            .into_iter()
            .filter(|op| op.is_float() == ty.is_float() && !op.takes_power())
            .collect();
        let (mut a, mut b) = (load as u32, dice.pick(&same));
        if dice.one_in(2) {
            (a, b) = (b, a);
        }
        nest.body.push(Inst::Binary { op: dice.pick(&ops), a, b });
        types.push(ty);
    }
    let fitting: Vec<u32> = (0..types.len() as u32).filter(|&r| types[r as usize] == ty).collect();
    let value = fitting.last().copied().unwrap_or_else(|| {
        nest.body.push(Inst::Const(scalar(dice, ty)));
        (nest.loads.len() + nest.body.len() - 1) as u32
    });
    nest.stores.push((access, value));
}

/// Equal but for the bits of NaNs.
fn same(ty: Ty, a: &[u8], b: &[u8]) -> bool {
    let read = |bytes: &[u8]| {
        let mut bits = [0; 8];
        bits[..bytes.len()].copy_from_slice(bytes);
        Scalar { ty, bits: u64::from_le_bytes(bits) }
    };
    let (a, b) = (a.chunks(ty.bytes()).map(read), b.chunks(ty.bytes()).map(read));
    a.zip(b).all(|(a, b)| a == b || ty.is_float() && a.as_f64().is_nan() && b.as_f64().is_nan())
}

/// Any numbers at all, small enough to end.
fn wild(seed: u64) -> Program {
    let dice = &mut Dice(seed);
    let mut program = Program::default();
    for _ in 0..dice.below(4) {
        let len = dice.pick(&[0, 1, 2, 5, 30, 600]);
        let ty = dice.pick(&Ty::ALL);
        program.tensor(ty, len);
    }
    let port = |dice: &mut Dice| dice.below(4) as u32;
    program.inputs = (0..dice.below(3)).map(|_| port(dice)).collect();
    program.outputs = (0..dice.below(3)).map(|_| port(dice)).collect();
    let count = 1 + dice.below(3);
    program.body = (0..count).map(|_| wild_stmt(dice, 3)).collect();
    program
}

fn wild_stmt(dice: &mut Dice, depth: usize) -> Stmt {
    let tensor = |dice: &mut Dice| dice.below(4) as u32;
    if depth > 0 && dice.one_in(8) {
        let body = vec![wild_stmt(dice, depth - 1)];
        let condition = tensor(dice);
        return if dice.one_in(2) {
            Stmt::If { condition, then: body, otherwise: vec![wild_stmt(dice, depth - 1)] }
        } else {
            Stmt::Loop { count: condition, counter: tensor(dice), body }
        };
    }
    let rank = dice.below(4);
    let extents = (0..rank).map(|_| dice.pick(&[0, 1, 1, 2, 2, 3, 700])).collect();
    let number = |dice: &mut Dice| {
        if dice.one_in(30) { dice.next() as i64 } else { dice.pick(&[0, 0, 0, 1, 1, -1, 2, 3]) }
    };
    let access = |dice: &mut Dice| Access {
        tensor: tensor(dice),
        offset: number(dice),
        strides: (0..if dice.one_in(30) { 5 } else { rank }).map(|_| number(dice)).collect(),
    };
    let registers = vec![Ty::F32; 6];
    Stmt::Nest(Nest {
        extents,
        parallel: (0..if dice.one_in(30) { 5 } else { rank }).map(|_| dice.one_in(2)).collect(),
        loads: (0..dice.below(3)).map(|_| access(dice)).collect(),
        body: (0..dice.below(4)).map(|_| inst(dice, &registers, 4, &[0, 1, 2, 3])).collect(),
        stores: (0..dice.below(3)).map(|_| (access(dice), dice.below(6) as u32)).collect(),
        scatters: (0..dice.below(6) / 5)
            .map(|_| Scatter {
                tensor: tensor(dice),
                address: dice.below(4) as u32,
                value: dice.below(6) as u32,
            })
            .collect(),
    })
}

fn agrees(seed: u64) -> Result<(), TestCaseError> {
    let (program, inputs) = valid(seed);
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    match (program.run(&inputs), literal::run(&program, &inputs)) {
        (Ok(got), Ok(expected)) => {
            for (id, t) in program.tensors.iter().enumerate() {
                let (got, expected) = (&got[id], &expected[id]);
                prop_assert!(
                    same(t.ty, got, expected),
                    "tensor {id}: {got:?}\nexpected {expected:?}\n{program:#?}"
                );
            }
        }
        (Err(VmError::DivisionByZero { .. } | VmError::Address { .. }), Err(_)) => {}
        (got, expected) => {
            prop_assert!(
                false,
                "{:?} where {} was expected\n{program:#?}",
                got.err(),
                expected.is_ok()
            );
        }
    }
    Ok(())
}

/// Enough for a daily run; `PROPTEST_CASES` asks for more.
fn config() -> ProptestConfig {
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() {
        ProptestConfig::default().cases
    } else {
        1500
    };
    // A smaller seed is not a simpler program.
    ProptestConfig {
        cases,
        max_shrink_iters: 0,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn agrees_with_the_literal_evaluator(seed: u64) {
        agrees(seed)?;
    }

    #[test]
    fn wild_programs_never_panic(seed: u64) {
        let program = wild(seed);
        if program.validate().is_ok() {
            let bytes = |&id: &u32| {
                let t = program.tensors[id as usize];
                vec![1; t.len as usize * t.ty.bytes()]
            };
            // A loop over a count read from such bytes would not end.
            let loops = program.body.iter().any(|s| !matches!(s, Stmt::Nest(_)));
            let inputs: Vec<Vec<u8>> = program.inputs.iter().map(bytes).collect();
            let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            if !loops {
                let _ = program.run(&inputs);
            }
        }
    }
}
