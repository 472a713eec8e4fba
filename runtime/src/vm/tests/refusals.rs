//! Each refusal names what disagrees.

use crate::vm::*;

/// `out[i, j] = x[i, j]` on 2 by 3 floats; the nest is there to be broken.
fn broken(change: impl FnOnce(&mut Program, &mut Nest)) -> String {
    let mut program = Program::default();
    let x = program.input(Ty::F32, 6);
    let out = program.output(Ty::F32, 6);
    let mut nest = Nest::parallel(&[2, 3]);
    let r = nest.load(Access::new(x, 0, &[3, 1]));
    nest.store(Access::new(out, 0, &[3, 1]), r);
    change(&mut program, &mut nest);
    program.push(nest);
    let error = program.validate().expect_err("the program is broken");
    assert_eq!(program.run(&[&[0; 24]]).err(), Some(error.clone()));
    error.to_string()
}

#[test]
fn names_what_disagrees() {
    assert!(broken(|p, _| p.inputs.push(7)).contains("an input names tensor 7"));
    assert!(broken(|p, _| p.inputs.push(0)).contains("input twice"));
    assert!(broken(|p, _| p.tensors[0].len = u64::MAX).contains("more than memory"));
    assert!(broken(|_, n| n.parallel = vec![true]).contains("2 extents and 1 parallel"));
    assert!(
        broken(|_, n| n.loads[0].strides = vec![1])
            .contains("statement 0, load 0: the access has 1 strides")
    );
    assert!(broken(|_, n| n.loads[0].tensor = 9).contains("tensor 9 does not exist"));
    assert!(broken(|_, n| n.loads[0].offset = 1).contains("addresses 1 to 6 of tensor 0"));
    assert!(broken(|_, n| n.loads[0].strides = vec![-3, 1]).contains("addresses -3 to 2"));
    assert!(
        broken(|_, n| n.stores[0].0.strides = vec![0, 1]).contains("axis 0 is said to be parallel")
    );
    assert!(broken(|_, n| n.stores[0].1 = 1).contains("register 1 is not defined"));
    assert!(
        broken(|_, n| n.body.push(Inst::unary(UnaryOp::Exp, 1)))
            .contains("register 1 is not defined")
    );
    assert!(broken(|_, n| n.body.push(Inst::Index(2))).contains("axis 2"));
    assert!(
        broken(|_, n| n.body.push(Inst::unary(UnaryOp::Ctlz, 0))).contains("does not take f32")
    );
    assert!(
        broken(|_, n| n.body.push(Inst::cast(CastOp::ExtF, Ty::F16, 0)))
            .contains("cannot convert f32 to f16")
    );
    let differ = |_: &mut Program, n: &mut Nest| {
        let one = n.inst(Inst::Const(Scalar::int(Ty::F64, 1)));
        n.inst(Inst::binary(BinaryOp::AddF, 0, one));
    };
    assert!(broken(differ).contains("given f32 and f64"));
    assert!(broken(|p, _| p.tensors[1].ty = Ty::I32).contains("f32 is stored to tensor 1 of i32"));
    assert!(broken(|_, n| n.store_at(1, 0, 0)).contains("an address is an integer"));
    let condition = |p: &mut Program, _: &mut Nest| {
        p.push(Stmt::If { condition: 0, then: vec![], otherwise: vec![] });
    };
    assert!(broken(condition).contains("tensor 0 has type f32"));
    let deep = |p: &mut Program, _: &mut Nest| {
        let condition = p.tensor(Ty::I1, 1);
        let nested = |body| Stmt::If { condition, then: vec![body], otherwise: vec![] };
        let inner = Stmt::If { condition, then: vec![], otherwise: vec![] };
        p.push((0..100).fold(inner, |body, _| nested(body)));
    };
    assert!(broken(deep).contains("nested deeper"));
}

#[test]
fn huge_numbers_do_not_wrap() {
    assert!(broken(|_, n| n.loads[0].strides = vec![i64::MAX, i64::MAX]).contains("addresses"));
    assert!(broken(|_, n| n.loads[0].strides = vec![i64::MIN, i64::MIN]).contains("addresses"));
    let wide = |_: &mut Program, n: &mut Nest| {
        n.extents = vec![u64::MAX; 2];
        n.loads[0].strides = vec![i64::MIN; 2];
    };
    assert!(broken(wide).contains("addresses"));
}

#[test]
fn sizes_are_checked_when_running() {
    let mut program = Program::default();
    let x = program.input(Ty::F32, 6);
    program.outputs.push(x);
    assert!(matches!(program.run(&[]), Err(VmError::InputCount { expected: 1, found: 0 })));
    assert!(matches!(
        program.run(&[&[0; 23]]),
        Err(VmError::InputSize { tensor: 0, expected: 24, found: 23 })
    ));
    assert_eq!(program.run(&[&[7; 24]]), Ok(vec![vec![7; 24]]));
}

#[test]
fn read_only_memory_is_not_written() {
    let mut program = Program::default();
    let out = program.tensor(Ty::F32, 1);
    let mut nest = Nest::parallel(&[1]);
    let one = nest.inst(Inst::Const(Scalar::f32(1.0)));
    nest.store(Access::new(out, 0, &[1]), one);
    program.push(nest);
    let mut env = Env::new(&program);
    env.bind(out, &[0; 4]);
    assert_eq!(program.run_in(&mut env), Err(VmError::ReadOnly { tensor: out }));
    let mut memory = [0; 4];
    let mut env = Env::new(&program);
    env.bind_mut(out, &mut memory);
    assert_eq!(program.run_in(&mut env), Ok(()));
    assert_eq!(f32::from_le_bytes(memory), 1.0);
}
