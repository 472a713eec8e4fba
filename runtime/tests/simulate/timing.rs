//! Times of tiny programs, to the cycle.

use weft_runtime::plan::{Base, Buffer, Kernel as Symbol, Plan};
use weft_runtime::simulate::*;

use crate::toy::*;

/// A plan of one kernel on buffers of 1 KiB: an input and an output.
fn one(kernel: &Kernel, units: u32, steps: &[(u32, &[u32])]) -> Plan {
    let buffer = |base| Buffer { base, offset: 0, bytes: 1024 };
    Plan {
        units,
        inputs: vec![port("x", &[256])],
        outputs: vec![port("y", &[256])],
        buffers: vec![buffer(Base::Input(0)), buffer(Base::Output(0))],
        kernels: vec![Symbol { symbol: kernel.name.clone(), scratch_bytes: 0 }],
        steps: steps.iter().map(|(unit, waits)| step(*unit, 0, [0, 1], &[0, 1], waits)).collect(),
        ops: vec!["op".into()],
        ..Plan::default()
    }
}

fn time(machine: Machine, kernel: Kernel, units: u32, steps: &[(u32, &[u32])]) -> Report {
    let plan = one(&kernel, units, steps);
    let code = Code { machine, kernels: vec![kernel] };
    let simulator = Simulator::new(&code, &plan).unwrap_or_else(|error| panic!("{error}"));
    let (report, _) = simulator.time(false).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(simulator.time(false).expect("runs again").0, report);
    report
}

/// Moves of some rows of 64 floats in, and the tokens waited for at the end.
fn reads(rows: &[u64], wait_each: bool) -> Kernel {
    let mut w = Writer::new("reads", 1, &[&[256], &[256]]);
    let zero = w.constant(0);
    let mut body = Vec::new();
    let mut tokens = Vec::new();
    for &count in rows {
        let (id, alloc) = w.buffer(SPAD, &[256]);
        let token = w.token();
        body.push(alloc);
        let (from, to) = (View::new(0, &[zero]), View::new(id, &[zero]));
        body.push(transfer(IN, from, to, Sides::alike(&[count], &[1]), Some(token)));
        if wait_each {
            body.push(Op::Wait(vec![token]));
        } else {
            tokens.push(token);
        }
    }
    body.push(Op::Wait(tokens));
    w.kernel.body = body;
    w.kernel
}

#[test]
fn one_transfer() {
    // The unit gives it away in cycle 0, the engine begins at 1: 256 bytes at 16 a cycle are 16
    // cycles, and the last byte is there 200 later.
    let report = time(machine(), reads(&[64], false), 1, &[(0, &[])]);
    assert_eq!(report.cycles, 1.0 + 16.0 + 200.0);
    assert_eq!(report.microseconds, Some(0.217));
    assert_eq!((report.moves[0].count, report.moves[0].bytes), (1, 256));
    // Four whole transactions of 64 bytes are read.
    assert_eq!((report.memories[0].read_bytes, report.memories[1].written_bytes), (256, 256));
    assert_eq!(report.units[0].busy_cycles, 1.0);
    assert_eq!(
        (report.units[0].engines[0].busy_cycles, report.units[0].engines[0].operations),
        (16.0, 1)
    );
    assert_eq!(report.memories[1].peak_bytes, 1024);
    assert_eq!(report.memories[0].peak_bytes, 2048);
}

#[test]
fn transfers_follow_each_other() {
    // The engine takes the second after the 16 cycles of the first; latencies overlap.
    let report = time(machine(), reads(&[64, 64], false), 1, &[(0, &[])]);
    assert_eq!(report.cycles, 1.0 + 16.0 + 16.0 + 200.0);
    // With a wait between, they do not: 217, one to give it away, 16, 200.
    let report = time(machine(), reads(&[64, 64], true), 1, &[(0, &[])]);
    assert_eq!(report.cycles, 217.0 + 1.0 + 16.0 + 200.0);
}

#[test]
fn whole_transactions_count() {
    // 20 bytes are two cycles of the move, but 64 of the memory, which are four.
    let report = time(machine(), reads(&[5], false), 1, &[(0, &[])]);
    assert_eq!(report.cycles, 1.0 + 4.0 + 200.0);
    assert_eq!((report.memories[0].read_bytes, report.moves[0].bytes), (64, 20));
}

#[test]
fn units_share_the_memory() {
    // Two units read 256 bytes each at once. The memory serves one for 16 cycles, then the
    // other: the second's engine is busy from 1 to 33.
    let steps: &[(u32, &[u32])] = &[(0, &[]), (1, &[])];
    let report = time(machine(), reads(&[64], false), 2, steps);
    assert_eq!(report.cycles, 1.0 + 32.0 + 200.0);
    assert_eq!(report.units[1].engines[0].busy_cycles, 32.0);
    // One after the other: the second begins when the first is done, at 217.
    let steps: &[(u32, &[u32])] = &[(0, &[]), (1, &[0])];
    let report = time(machine(), reads(&[64], false), 2, steps);
    assert_eq!(report.cycles, 2.0 * 217.0);
}

#[test]
fn a_full_queue_stalls() {
    // A queue of one: the first begins at 1; the second waits in the queue; the third is given
    // away when the second begins, at 17, and the unit goes on at 18.
    let mut machine = machine();
    machine.engines[0].queue = 1;
    let report = time(machine.clone(), reads(&[64, 64, 64], false), 1, &[(0, &[])]);
    assert_eq!(report.cycles, 1.0 + 3.0 * 16.0 + 200.0);
    assert_eq!(report.units[0].busy_cycles, 3.0);
    // No queue at all: nothing is ever given away.
    machine.engines[0].queue = 0;
    let kernel = reads(&[64], false);
    let plan = one(&kernel, 1, &[(0, &[])]);
    let code = Code { machine, kernels: vec![kernel] };
    let simulator = Simulator::new(&code, &plan).expect("sound");
    let error = simulator.time(false).expect_err("nothing moves").to_string();
    assert!(
        error.contains("unit 0 waits for a place in the queue of @dma, which has 0"),
        "{error}"
    );
}

/// A tile is filled, then `count` instructions of the unit itself work on it.
fn chain(count: usize, apart: bool) -> Kernel {
    let mut w = Writer::new("chain", 1, &[&[256], &[256]]);
    let zero = w.constant(0);
    let four = w.constant(4);
    let (id, alloc) = w.buffer(SPAD, &[4, 16]);
    let token = w.token();
    let at = View::new(id, &[zero, zero]);
    let mut body = vec![alloc, fill(IN, at.clone(), &[4, 16], &[16, 1], Some(token))];
    body.push(Op::Wait(vec![token]));
    let eight = w.constant(8);
    for i in 0..count {
        let sum = if apart && i % 2 == 1 { eight } else { four };
        let views = vec![at.clone(), at.clone(), View::new(id, &[zero, sum])];
        body.push(Op::Invoke { instruction: MAC_NOW, views, token: None });
    }
    w.kernel.body = body;
    w.kernel
}

/// Without banks, so that operands cost nothing.
fn plain_machine() -> Machine {
    let mut machine = machine();
    machine.memories[1] = memory("spad", Scope::Core, 1 << 17);
    machine
}

#[test]
fn results_are_waited_for() {
    // The fill writes 256 bytes: begins at 1, is done at 217. Then three multiplications on one
    // sum, 8 cycles of latency each: 217, 225, 233, ready at 241.
    let report = time(plain_machine(), chain(3, false), 1, &[(0, &[])]);
    assert_eq!(report.cycles, 217.0 + 3.0 * 8.0);
    // On two sums in turn: 217, 221, 225 (the first sum is ready), ready at 233.
    let report = time(plain_machine(), chain(3, true), 1, &[(0, &[])]);
    assert_eq!(report.cycles, 217.0 + 4.0 + 4.0 + 8.0);
    assert_eq!(report.units[0].busy_cycles, 1.0 + 3.0 * 4.0);
    assert_eq!(report.instructions, [Count { name: "mac_now".into(), count: 3 }]);
}

#[test]
fn waits_and_launches_take_their_time() {
    // One multiplication takes 217 + 8 cycles. The second step waits for the first, on its own
    // unit for nothing, on another one for 30 cycles.
    let machine = || Machine { wait_cycles: 30, launch_cycles: 1000, ..plain_machine() };
    let cycles = |steps: &[(u32, &[u32])], launches: &[u32]| {
        let kernel = chain(1, false);
        let plan = Plan { launches: launches.to_vec(), ..one(&kernel, 2, steps) };
        let code = Code { machine: machine(), kernels: vec![kernel] };
        Simulator::new(&code, &plan).expect("sound").time(false).expect("runs").0.cycles
    };
    let step = 217.0 + 8.0;
    assert_eq!(cycles(&[(0, &[])], &[]), 1000.0 + step);
    assert_eq!(cycles(&[(0, &[]), (0, &[0])], &[]), 1000.0 + 2.0 * step);
    assert_eq!(cycles(&[(0, &[]), (1, &[0])], &[]), 1000.0 + step + 30.0 + step);
    // A launch between them takes its time instead.
    assert_eq!(cycles(&[(0, &[]), (1, &[0])], &[1]), 2.0 * (1000.0 + step));
    assert_eq!(cycles(&[(0, &[]), (0, &[0])], &[1]), 2.0 * (1000.0 + step));
}

#[test]
fn banks_take_their_time() {
    // Tiles of 4 rows of 16 bytes, 64 bytes apart, in 16 banks of 4 bytes: rows lie in the same
    // four banks, so each operand takes 4 cycles, 3 of them lost. a, b and c are read, c is
    // written: 4 * 64 bytes / 64 + 4 * 3 lost = 16 cycles instead of the 4 it issues in, and
    // the result is 12 late: ready 20 after the begin.
    let report = time(machine(), chain(1, false), 1, &[(0, &[])]);
    // The fill writes 4 rows of 64 bytes side by side: one piece, 4 groups, no conflict.
    assert_eq!(report.cycles, 217.0 + 8.0 + 12.0);
    assert_eq!(report.memories[1].bank_conflict_cycles, 12);
    assert_eq!((report.memories[1].read_bytes, report.memories[1].written_bytes), (192, 320));
}

#[test]
fn engines_run_beside_each_other() {
    // The program of two units and two products: the same time however often, and as many bytes
    // as by hand: every rTask reads a panel of x (256 bytes) and all of w (1024), and writes 256.
    let (code, plan) = (code(), plan());
    let simulator = Simulator::new(&code, &plan).expect("sound");
    let (report, trace) = simulator.time(true).expect("runs");
    assert_eq!(report.moves[0].bytes, 8 * (256 + 1024 + 256));
    assert_eq!(report.moves[1].bytes, 8 * 256);
    assert_eq!(report.memories[0].read_bytes, 8 * 1280);
    assert_eq!(report.instructions, [Count { name: "mac".into(), count: 8 * 16 }]);
    let text = serde_json::to_string(&trace).expect("JSON");
    let events: Vec<serde_json::Value> = serde_json::from_str(&text).expect("an array");
    let spans = events.iter().filter(|event| event["ph"] == "X").count();
    // Fills, transfers and multiplications, each on its engine.
    assert_eq!(spans, 8 * (1 + 1 + 4 + 16 + 1));
    assert!(events.iter().any(|event| event["args"]["name"] == "tensor"));
}
