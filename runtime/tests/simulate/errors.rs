//! Each kind of error, by name and with what it tells.

use weft_runtime::plan::{Base, Buffer, Kernel as Symbol, Plan};
use weft_runtime::simulate::*;
use weft_runtime::vm::{Access, BinaryOp, Inst, Nest, TensorDecl, Ty};

use crate::toy::*;

/// A kernel on an input and an output of 256 floats each.
fn alone(w: Writer) -> (Code, Plan) {
    let code = Code { machine: machine(), kernels: vec![w.kernel] };
    let buffer = |base| Buffer { base, offset: 0, bytes: 1024 };
    let plan = Plan {
        units: 1,
        inputs: vec![port("x", &[256])],
        outputs: vec![port("y", &[256])],
        buffers: vec![buffer(Base::Input(0)), buffer(Base::Output(0))],
        kernels: vec![Symbol { symbol: "k".into(), scratch_bytes: 0 }],
        steps: vec![step(0, 0, [0, 1], &[0, 1], &[])],
        ops: vec!["op".into()],
        ..Plan::default()
    };
    (code, plan)
}

fn refused(code: &Code, plan: &Plan) -> SimulateError {
    let inputs: Vec<Vec<f32>> =
        plan.inputs.iter().map(|port| numbers(port.elements().unwrap_or(0) as usize, 1)).collect();
    match run(code, plan, &inputs) {
        Ok(_) => panic!("nothing was found wrong"),
        Err(error) => error,
    }
}

/// A kernel `k` with a buffer of 256 floats in the scratchpad, number 2, and a zero, slot 1.
fn writer() -> (Writer, Slot, Vec<Op>) {
    let mut w = Writer::new("k", 1, &[&[256], &[256]]);
    let zero = w.constant(0);
    let (_, alloc) = w.buffer(SPAD, &[256]);
    (w, zero, vec![alloc])
}

fn read(to: MemRefId, zero: Slot, count: u64, token: TokenSlot) -> Op {
    let views = (View::new(0, &[zero]), View::new(to, &[zero]));
    transfer(IN, views.0, views.1, Sides::alike(&[count], &[1]), Some(token))
}

fn written(from: MemRefId, zero: Slot, count: u64, token: TokenSlot) -> Op {
    let views = (View::new(from, &[zero]), View::new(1, &[zero]));
    transfer(OUT, views.0, views.1, Sides::alike(&[count], &[1]), Some(token))
}

#[test]
fn unwritten() {
    let (mut w, zero, mut body) = writer();
    let (a, b) = (w.token(), w.token());
    body.extend([read(2, zero, 100, a), Op::Wait(vec![a]), written(2, zero, 104, b)]);
    body.push(Op::Wait(vec![b]));
    w.kernel.body = body;
    let (code, plan) = alone(w);
    let SimulateError::Unwritten { place, bytes } = refused(&code, &plan) else { panic!() };
    assert_eq!((place.kernel.as_str(), place.path.as_slice()), ("k", [3].as_slice()));
    assert_eq!(place.op, "device.transfer @out");
    assert_eq!(bytes.to_string(), "elements 100 to 104 of buffer 2 (256xf32) in @spad");
    assert_eq!(
        place.to_string(),
        "kernel @k, operation 3, device.transfer @out (rTask 0, step 0 \"op\" on unit 0)"
    );
}

#[test]
fn what_was_there_before_is_not_written() {
    // The second buffer lies where the first one was.
    let (mut w, zero, _) = writer();
    let (one, two) = (w.constant(1), w.constant(2));
    let (a, b) = (w.token(), w.token());
    let i = w.slot();
    let first = w.slot();
    let compare = Value::Compare { predicate: weft_runtime::vm::CmpIPredicate::Eq, a: i, b: zero };
    let body = vec![
        Op::Alloc(2),
        Op::Set { to: first, value: compare },
        Op::If {
            condition: first,
            then: vec![read(2, zero, 256, a), Op::Wait(vec![a])],
            otherwise: vec![written(2, zero, 256, b), Op::Wait(vec![b])],
        },
    ];
    w.kernel.body = vec![Op::For { counter: i, begin: zero, end: two, step: one, body }];
    let (code, plan) = alone(w);
    let SimulateError::Unwritten { place, .. } = refused(&code, &plan) else { panic!() };
    assert_eq!(place.path, [0, 2, 2]);
}

#[test]
fn outside() {
    let (mut w, _, mut body) = writer();
    let far = w.constant(250);
    let token = w.token();
    body.extend([read(2, far, 8, token), Op::Wait(vec![token])]);
    w.kernel.body = body;
    let (code, plan) = alone(w);
    let SimulateError::Outside { bytes, shape, indices, .. } = refused(&code, &plan) else {
        panic!()
    };
    assert_eq!((shape, indices), (vec![256], vec![250]));
    assert_eq!(bytes.to_string(), "elements 250 to 258 of argument 0 (input \"x\") in @dram");
}

#[test]
fn capacity() {
    let (mut w, _, mut body) = writer();
    let (_, alloc) = w.buffer(SPAD, &[1 << 15]);
    body.push(alloc);
    w.kernel.body = body;
    let (code, plan) = alone(w);
    let error = refused(&code, &plan);
    let SimulateError::Capacity { taken_bytes, wanted_bytes, capacity_bytes, .. } = error else {
        panic!()
    };
    assert_eq!((taken_bytes, wanted_bytes, capacity_bytes), (1024, 1 << 17, 1 << 17));
    // Timing sees it too.
    assert!(Simulator::new(&code, &plan).expect("sound").time(false).is_err());
    let (mut code, plan) = alone(writer().0);
    code.machine.memories[0].capacity_bytes = 2047;
    let SimulateError::PlanCapacity { wanted_bytes, .. } = refused(&code, &plan) else { panic!() };
    assert_eq!(wanted_bytes, 2048);
}

#[test]
fn races() {
    // Overwritten while it is read, read while it is written, ended while it is written.
    type Spoil = fn(Slot, TokenSlot, TokenSlot) -> Vec<Op>;
    let spoil: [Spoil; 2] = [
        |zero, a, b| {
            let at = View::new(2, &[zero]);
            let load =
                transfer(LOAD, at.clone(), View::new(3, &[zero]), Sides::alike(&[8], &[1]), None);
            vec![read(2, zero, 256, a), load, Op::Wait(vec![a]), Op::Ready(b), Op::Wait(vec![b])]
        },
        |zero, a, _| vec![read(2, zero, 256, a)],
    ];
    for (number, spoil) in spoil.into_iter().enumerate() {
        let (mut w, zero, mut body) = writer();
        let (_, alloc) = w.buffer(REG, &[8]);
        body.push(alloc);
        let (a, b) = (w.token(), w.token());
        body.extend(spoil(zero, a, b));
        w.kernel.body = body;
        let (code, plan) = alone(w);
        let SimulateError::Race { does, other_does, engine, other, .. } = refused(&code, &plan)
        else {
            panic!()
        };
        assert_eq!(does, ["reads", "ends"][number]);
        assert_eq!((other_does, engine.as_str()), ("writes", "dma"));
        assert_eq!(other, "operation 2, device.transfer @in");
    }
}

#[test]
fn never_waited() {
    let mut w = Writer::new("k", 1, &[&[256], &[256]]);
    let zero = w.constant(0);
    let token = w.token();
    let views = (View::new(0, &[zero]), View::new(1, &[zero]));
    w.kernel.body = vec![transfer(4, views.0, views.1, Sides::alike(&[256], &[1]), Some(token))];
    let (mut code, plan) = alone(w);
    code.machine.moves.push(way("around", DRAM, DRAM, Some(DMA)));
    let SimulateError::NeverWaited { place, engine } = refused(&code, &plan) else { panic!() };
    assert_eq!((place.op.as_str(), engine.as_str()), ("device.transfer @around", "dma"));
}

#[test]
fn not_given() {
    let (mut w, _, mut body) = writer();
    let token = w.token();
    body.push(Op::Wait(vec![token]));
    w.kernel.body = body;
    let (code, plan) = alone(w);
    let SimulateError::NotGiven { place, token: 0 } = refused(&code, &plan) else { panic!() };
    assert_eq!(place.op, "device.wait");
}

/// Two steps on two units that both copy the input to the output.
fn two_steps(waits: &[u32]) -> (Code, Plan) {
    let (mut w, zero, mut body) = writer();
    let (a, b) = (w.token(), w.token());
    body.extend([read(2, zero, 256, a), Op::Wait(vec![a]), written(2, zero, 256, b)]);
    body.push(Op::Wait(vec![b]));
    w.kernel.body = body;
    let (code, mut plan) = alone(w);
    plan.units = 2;
    plan.steps.push(step(1, 0, [0, 1], &[0, 1], waits));
    (code, plan)
}

#[test]
fn unordered() {
    let (code, plan) = two_steps(&[0]);
    assert!(run(&code, &plan, &[numbers(256, 1)]).is_ok());
    let (code, plan) = two_steps(&[]);
    let error = refused(&code, &plan);
    assert_eq!(
        error.to_string(),
        "kernel @k, operation 3, device.transfer @out (rTask 0, step 1 \"op\" on unit 1) writes \
         elements 0 to 256 of argument 1 (output \"y\") in @dram, which step 0 \"op\" on unit 0 \
         writes, and no wait orders the two\n  help: step 1 must wait for step 0, or for one that \
         does"
    );
}

#[test]
fn overlap() {
    let (code, mut plan) = two_steps(&[0]);
    // Both write the arena, 64 bytes apart; then the first buffer is read.
    plan.arena_bytes = 1024 + 64;
    let arena = |offset| Buffer { base: Base::Arena, offset, bytes: 1024 };
    plan.buffers.extend([arena(0), arena(64)]);
    plan.steps[0].buffers = vec![0, 2];
    plan.steps[1].buffers = vec![0, 3];
    plan.steps.push(step(0, 0, [0, 1], &[2, 1], &[1]));
    let error = refused(&code, &plan);
    let SimulateError::Overlap { bytes, buffer, other, other_buffer, .. } = error else { panic!() };
    assert_eq!((buffer, other, other_buffer), (2, 1, 3));
    assert_eq!((bytes.begin, bytes.end), (64, 1024));
}

/// A group of warps that writes the scratchpad and reads it again.
fn grouped(barriers: &[bool]) -> (Code, Plan) {
    let (mut w, zero, mut body) = writer();
    let eight = w.constant(8);
    let (_, alloc) = w.buffer(REG, &[8]);
    body.push(alloc);
    let token = w.token();
    body.extend([read(2, zero, 8, token), Op::Wait(vec![token])]);
    let (spad, reg) = (View::new(2, &[zero]), View::new(3, &[zero]));
    let later = View::new(2, &[eight]);
    let load =
        |from: &View| transfer(LOAD, from.clone(), reg.clone(), Sides::alike(&[8], &[1]), None);
    let store =
        |to: &View| transfer(STORE, reg.clone(), to.clone(), Sides::alike(&[8], &[1]), None);
    for (op, &barrier) in
        [load(&spad), store(&later), load(&later), store(&later)].into_iter().zip(barriers)
    {
        if barrier {
            body.push(Op::Barrier(Scope::Core));
        }
        body.push(op);
    }
    w.kernel.body = body;
    w.kernel.group = Scope::Warpgroup;
    alone(w)
}

#[test]
fn barriers() {
    let (code, plan) = grouped(&[true, false, true, true]);
    assert!(run(&code, &plan, &[numbers(256, 1)]).is_ok());
    let expected = [(0, "reads"), (2, "reads"), (3, "writes")];
    for (missing, expected) in expected {
        let mut barriers = [true, false, true, true];
        barriers[missing] = false;
        let (code, plan) = grouped(&barriers);
        let SimulateError::Barrier { does, group, .. } = refused(&code, &plan) else { panic!() };
        assert_eq!((does, group), (expected, "warpgroup"));
        // A single warp goes in step.
        let mut code = code;
        code.kernels[0].group = Scope::Warp;
        assert!(run(&code, &plan, &[numbers(256, 1)]).is_ok());
    }
}

#[test]
fn barriers_of_a_narrower_scope_do_not_help() {
    let (mut code, plan) = grouped(&[true, false, true, true]);
    for op in &mut code.kernels[0].body {
        if let Op::Barrier(scope) = op {
            *scope = Scope::Warp;
        }
    }
    assert!(matches!(refused(&code, &plan), SimulateError::Barrier { .. }));
}

#[test]
fn read_only() {
    let (code, mut plan) = two_steps(&[0]);
    plan.steps[1].buffers = vec![1, 0];
    let SimulateError::ReadOnly { bytes, .. } = refused(&code, &plan) else { panic!() };
    assert_eq!(bytes.buffer, "argument 1 (input \"x\")");
}

#[test]
fn deadlock() {
    let (code, mut plan) = two_steps(&[0]);
    plan.steps[0].waits = vec![1];
    // No artifact holds such a plan; the simulator says who waits all the same.
    assert!(plan.validate().is_err());
    let said = refused(&code, &plan).to_string();
    assert!(said.contains("unit 0 at step 0 \"op\" waits for step 1; unit 1 at step 1"), "{said}");
    let timed = Simulator::new(&code, &plan).expect("sound").time(false);
    assert!(timed.expect_err("stuck").to_string().contains("waits for step 1"));
}

/// An instruction of whole numbers that divides.
#[test]
fn arithmetic() {
    let (mut w, zero, mut body) = writer();
    let token = w.token();
    body.extend([read(2, zero, 4, token), Op::Wait(vec![token])]);
    let at = View::new(2, &[zero]);
    // y = x[bits of x]: far outside.
    let mut nest = Nest::parallel(&[4]);
    let x = nest.load(Access::new(0, 0, &[1]));
    let address = nest.inst(Inst::cast(weft_runtime::vm::CastOp::Bitcast, Ty::I32, x));
    let y = nest.inst(Inst::LoadAt { tensor: 2, address });
    nest.store(Access::new(1, 0, &[1]), y);
    let lanes = TensorDecl { ty: Ty::F32, len: 4 };
    let work = Work {
        tensors: vec![lanes, lanes, TensorDecl { ty: Ty::F32, len: 256 }],
        nest,
        views: vec![at.clone(), at],
        uses: vec![Use::Read, Use::Write],
        tables: vec![0],
        indices: vec![],
    };
    body.push(Op::Apply { unit: 0, combines: false, work });
    w.kernel.body = body;
    let (code, plan) = alone(w);
    let SimulateError::Arithmetic { place, error } = refused(&code, &plan) else { panic!() };
    assert_eq!(place.op, "device.apply @valu");
    assert!(error.to_string().contains("is outside of tensor 2"), "{error}");
}

#[test]
fn index() {
    let (mut w, zero, mut body) = writer();
    let slot = w.slot();
    let value = Value::Binary { op: BinaryOp::DivSI, a: slot, b: zero };
    body.push(Op::Set { to: slot, value });
    w.kernel.body = body;
    let (code, plan) = alone(w);
    let SimulateError::Index { place, .. } = refused(&code, &plan) else { panic!() };
    assert_eq!(place.path, [1]);
}

#[test]
fn ports_and_arguments() {
    let (code, plan) = two_steps(&[0]);
    let error = run(&code, &plan, &[]).expect_err("an input is missing");
    assert_eq!(error.to_string(), "the model has 1 inputs and was given 0");
    let error = run(&code, &plan, &[numbers(255, 1)]).expect_err("an input is short");
    assert_eq!(error.to_string(), "input `x` has 1024 bytes and was given 1020");
    let mut short = plan.clone();
    short.buffers[0].bytes = 512;
    assert!(matches!(refused(&code, &short), SimulateError::Arguments { step: 0, .. }));
    // The rest of a whole one, where a larger one ends too, is an argument; reading past it is not.
    let in_arena = |offset, bytes| Buffer { base: Base::Arena, offset, bytes };
    let mut rest = plan.clone();
    rest.arena_bytes = 2048;
    rest.buffers[0] = in_arena(1536, 512);
    rest.buffers.extend([in_arena(0, 2048), in_arena(1024, 1024)]);
    assert!(!matches!(refused(&code, &rest), SimulateError::Arguments { .. }));
    rest.buffers.pop();
    assert!(matches!(refused(&code, &rest), SimulateError::Arguments { step: 0, .. }));
    let mut other = plan.clone();
    other.kernels[0].symbol = "other".into();
    assert!(matches!(refused(&code, &other), SimulateError::Kernel { .. }));
    let mut many = plan.clone();
    many.units = 5;
    assert!(matches!(refused(&code, &many), SimulateError::Units { units: 5, found: 4, .. }));
}
