//! Speed of the simulator: `cargo bench -p weft-runtime --bench simulate`.

use std::time::Instant;

use weft_runtime::plan::Plan;
use weft_runtime::simulate::*;

#[path = "../tests/simulate/toy.rs"]
#[allow(dead_code)]
mod toy;

use toy::*;

fn main() {
    for side in [4, 16] {
        for engine in [None, Some(TENSOR)] {
            instructions(side, engine);
        }
    }
}

/// Many instructions on one buffer each of operands and results.
fn instructions(side: u64, engine: Option<EngineId>) {
    let mut machine = machine();
    machine.instructions = vec![mac("mac", engine, [side; 3])];
    let mut w = Writer::new("many", 1, &[&[side * 2, side * 2]]);
    let [zero, one, step, rounds] =
        [0, 1, side as i64, 1_000_000 / side as i64].map(|value| w.constant(value));
    let [i, k] = [(); 2].map(|()| w.slot());
    let wide = side * 2;
    let mut body = Vec::new();
    let mut buffer = || {
        let (id, alloc) = w.buffer(SPAD, &[wide, wide]);
        body.push(alloc);
        id
    };
    let [a, b, c] = [buffer(), buffer(), buffer()];
    let token = w.token();
    for id in [a, b, c] {
        let to = View::new(id, &[zero, zero]);
        body.push(fill(IN, to, &[wide, wide], &[wide as i64, 1], Some(token)));
    }
    body.push(Op::Wait(vec![token]));
    let at = |id, row, column| View::new(id, &[row, column]);
    let token = engine.map(|_| token);
    let invoke = Op::Invoke {
        instruction: 0,
        views: vec![at(a, zero, k), at(b, k, zero), at(c, zero, zero)],
        token,
    };
    let two = w.constant(2 * side as i64);
    let mut round = vec![Op::For { counter: k, begin: zero, end: two, step, body: vec![invoke] }];
    round.extend(token.map(|token| Op::Wait(vec![token])));
    body.push(Op::For { counter: i, begin: zero, end: rounds, step: one, body: round });
    let out = w.token();
    let sizes = [wide, wide];
    let rows = [wide as i64, 1];
    let zeros = View::new(0, &[zero, zero]);
    body.push(transfer(OUT, at(c, zero, zero), zeros, Sides::alike(&sizes, &rows), Some(out)));
    body.push(Op::Wait(vec![out]));
    w.kernel.body = body;
    let code = Code { machine, kernels: vec![w.kernel] };
    let plan = Plan {
        units: 1,
        outputs: vec![port("y", &sizes)],
        buffers: vec![weft_runtime::plan::Buffer {
            base: weft_runtime::plan::Base::Output(0),
            offset: 0,
            bytes: wide * wide * 4,
        }],
        kernels: vec![weft_runtime::plan::Kernel { symbol: "many".into(), scratch_bytes: 0 }],
        steps: vec![weft_runtime::plan::Step {
            begin: 0,
            end: 1,
            ..toy::step(0, 0, [0, 1], &[0], &[])
        }],
        ops: vec!["many".into()],
        ..Plan::default()
    };
    let start = Instant::now();
    run(&code, &plan, &[]).unwrap_or_else(|error| panic!("{error}"));
    let seconds = start.elapsed().as_secs_f64();
    let count = (2 * (1_000_000 / side)) as f64;
    let work = count * (side * side * side) as f64;
    let place = if engine.is_some() { "on an engine" } else { "by the unit" };
    println!(
        "{side}x{side}x{side} {place:12} functional: {:8.1} ns an instruction, {:8.1} M mul-adds/s",
        seconds / count * 1e9,
        work / seconds / 1e6
    );
    let simulator = Simulator::new(&code, &plan).unwrap_or_else(|error| panic!("{error}"));
    let start = Instant::now();
    let (report, _) = simulator.time(false).unwrap_or_else(|error| panic!("{error}"));
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{side}x{side}x{side} {place:12} timed:      {:8.1} ns an instruction, {:8.2} M instructions/s, {} cycles",
        seconds / count * 1e9,
        count / seconds / 1e6,
        report.cycles
    );
}
