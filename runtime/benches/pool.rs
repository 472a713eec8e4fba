//! What the pool adds to the kernels: `cargo bench -p weft-runtime --bench pool`, and with
//! `-- --out FILE` the same as JSON.

#[allow(dead_code)]
#[path = "../tests/common/mod.rs"]
mod common;

use std::path::Path;
use std::time::Instant;

use weft_runtime::artifact::write_to;
use weft_runtime::cpu::Model;
use weft_runtime::plan::{Kernel, Plan, Step};

const KERNEL: &str = "void nothing(unsigned char *const *b, long begin, long end) {}";

/// Measurements of each, of which the median counts; the middle half says how quiet it was.
const ROUNDS: usize = 41;

fn main() {
    let dir = tempfile::tempdir().expect("a folder");
    let dir = dir.path();
    let rows = [
        // Tasks that follow each other on one worker.
        row("task", &mut load(dir, 1, &vec![0; 10_000], false), 10_000, 20),
        // Each task waits for the one before on the other thread.
        row("wait across threads", &mut load(dir, 2, &[0, 1].repeat(1000), true), 2000, 20),
        // A run with one task for each of its threads; the workers spin when it begins.
        row("run of 1 thread", &mut load(dir, 1, &[0], false), 1, 10_000),
        row("run of 2 threads", &mut load(dir, 2, &[0, 1], false), 1, 5_000),
    ];
    let mut args = std::env::args().skip_while(|arg| arg != "--out");
    if let (Some(_), Some(path)) = (args.next(), args.next()) {
        let command = "cargo bench -p weft-runtime --bench pool -- --out FILE";
        let json = serde_json::json!({
            "command": command, "unit": "ns", "rounds": ROUNDS, "rows": rows,
        });
        let text = serde_json::to_string_pretty(&json).expect("plain data");
        std::fs::write(&path, text + "\n").expect("the file can be written");
    }
}

/// A model of empty tasks on these units, in this order; as a chain, each waits for the one before.
fn load(dir: &Path, threads: usize, units: &[u32], chain: bool) -> Model {
    let step = |(i, &unit): (usize, &u32)| Step {
        unit,
        kernel: 0,
        begin: 0,
        end: 1,
        buffers: vec![],
        waits: if chain && i > 0 { vec![i as u32 - 1] } else { vec![] },
        op: 0,
    };
    let plan = Plan {
        name: "nothing".into(),
        units: threads as u32,
        kernels: vec![Kernel { symbol: "nothing".into(), scratch_bytes: 0 }],
        steps: units.iter().enumerate().map(step).collect(),
        ops: vec!["nothing".into()],
        device: "host".into(),
        ..Plan::default()
    };
    let mut file = std::io::Cursor::new(Vec::new());
    write_to(&mut file, &plan, &common::compile(KERNEL, dir), |_| Ok(())).expect("written");
    Model::from_bytes(&file.into_inner(), Some(threads)).expect("loads")
}

/// Time of one of the `parts` of a run, in nanoseconds, over so many runs in a row.
fn row(name: &str, model: &mut Model, parts: usize, runs: usize) -> serde_json::Value {
    let mut round = || {
        let begin = Instant::now();
        for _ in 0..runs {
            model.run(&[], &mut []).expect("runs");
        }
        begin.elapsed().as_secs_f64() * 1e9 / (runs * parts) as f64
    };
    round();
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| round()).collect();
    times.sort_by(f64::total_cmp);
    let [low, median, high] = [1, 2, 3].map(|quarter| times[ROUNDS * quarter / 4]);
    println!("{name:24} {median:9.1} ns   (half of {ROUNDS}: {low:.1} to {high:.1})");
    let tenths = |ns: f64| (ns * 10.0).round() / 10.0;
    serde_json::json!({
        "name": name, "median": tenths(median), "quarter": tenths(low), "three_quarters": tenths(high),
    })
}
