//! Memories that some units share, and what fills them.

use weft_runtime::plan::{Base, Buffer, Kernel as Symbol, Plan};
use weft_runtime::simulate::*;

use crate::toy::*;

const NEAR: MemoryId = 3;
const FETCH: u32 = 4;

/// The toy in two clusters of two units, each with a memory of its own, and a slow one for all.
fn clustered() -> Machine {
    let mut machine = machine();
    machine.cluster_units = 2;
    machine.memories[DRAM as usize].bytes_per_cycle = Some(4);
    let mut near = memory("near", Scope::Cluster, 2048);
    (near.bytes_per_cycle, near.within) = (Some(16), Some(DRAM));
    machine.memories.push(near);
    machine.engines.push(Engine { name: "sdma".into(), queue: 4 });
    machine.moves.push(Move { latency_cycles: 100, ..way("fetch", DRAM, NEAR, Some(2)) });
    machine
}

/// A kernel that moves its first argument to its second one: `by` one move, or `in` and `out`.
fn copies(name: &str, by: Option<u32>) -> Kernel {
    let mut w = Writer::new(name, 1, &[&[256], &[256]]);
    let zero = w.constant(0);
    let whole = |memref| View::new(memref, &[zero]);
    let (room, alloc) = w.buffer(SPAD, &[256]);
    let (first, second) = (w.token(), w.token());
    w.kernel.body = match by {
        Some(way) => {
            let all = transfer(way, whole(0), whole(1), Sides::alike(&[256], &[1]), Some(first));
            vec![all, Op::Wait(vec![first])]
        }
        None => vec![
            alloc,
            transfer(IN, whole(0), whole(room), Sides::alike(&[256], &[1]), Some(first)),
            Op::Wait(vec![first]),
            transfer(OUT, whole(room), whole(1), Sides::alike(&[256], &[1]), Some(second)),
            Op::Wait(vec![second]),
        ],
    };
    w.kernel
}

/// The second cluster fetches `x`, and unit 3 of it reads that.
fn fetched() -> (Code, Plan) {
    let buffer = |base| Buffer { base, offset: 0, bytes: 1024 };
    let symbol = |name: &str| Symbol { symbol: name.into(), scratch_bytes: 0 };
    let plan = Plan {
        units: 6,
        clusters: 2,
        cluster_bytes: 1024,
        inputs: vec![port("x", &[256])],
        outputs: vec![port("y", &[256])],
        buffers: [Base::Input(0), Base::Cluster(1), Base::Output(0)].map(buffer).to_vec(),
        kernels: vec![symbol("fetch"), symbol("copy")],
        steps: vec![step(5, 0, [0, 1], &[0, 1], &[]), step(3, 1, [0, 1], &[1, 2], &[0])],
        ops: vec!["op".into()],
        ..Plan::default()
    };
    let kernels = vec![copies("fetch", Some(FETCH)), copies("copy", None)];
    (Code { machine: clustered(), kernels }, plan)
}

#[test]
fn what_a_cluster_fetched_its_units_read() {
    let (code, plan) = fetched();
    let x = numbers(256, 3);
    let ran = run(&code, &plan, std::slice::from_ref(&x)).expect("it runs");
    assert_eq!(ran, [x]);
    let (report, _) = Simulator::new(&code, &plan).expect("it fits").time(false).expect("it runs");
    // Fetched at 4 bytes a cycle, read at the 16 of the nearer memory, written at 4 again.
    let (fetch, read, write) = (1.0 + 256.0 + 100.0, 1.0 + 64.0 + 200.0, 1.0 + 256.0 + 200.0);
    assert_eq!(report.cycles, fetch + read + write);
    let bytes = |memory: MemoryId| {
        let used = &report.memories[memory as usize];
        [used.read_bytes, used.written_bytes, used.peak_bytes]
    };
    assert_eq!(bytes(NEAR), [1024, 1024, 1024]);
    assert_eq!(bytes(DRAM)[..2], [1024, 1024]);
}

#[test]
fn each_cluster_has_a_memory_of_its_own() {
    // What the other cluster holds was never written.
    let (code, mut plan) = fetched();
    plan.buffers.push(Buffer { base: Base::Cluster(0), offset: 0, bytes: 1024 });
    (plan.steps[1].unit, plan.steps[1].buffers) = (1, vec![3, 2]);
    let error = run(&code, &plan, &[numbers(256, 3)]).expect_err("nobody fetched it there");
    assert!(matches!(error, SimulateError::Unwritten { .. }), "{error}");
}

#[test]
fn a_unit_reaches_its_own_cluster_only() {
    let (code, mut plan) = fetched();
    plan.steps[1].unit = 1;
    let error = Simulator::new(&code, &plan).err().expect("unit 1 is of the other cluster");
    let expected = "step 1 on unit 1 of cluster 0 is given buffer 1, which is in the memory of another cluster";
    assert_eq!(error.to_string().lines().next(), Some(expected));
}

#[test]
fn clusters_are_those_of_the_machine() {
    let (mut code, mut plan) = fetched();
    plan.cluster_bytes = 4096;
    let error = Simulator::new(&code, &plan).err().expect("2048 bytes are there");
    assert!(matches!(error, SimulateError::PlanCapacity { capacity_bytes: 2048, .. }), "{error}");
    code.machine.cluster_units = 4;
    let error = Simulator::new(&code, &plan).err().expect("all units are one cluster");
    assert!(matches!(error, SimulateError::Clusters { clusters: 2, found: 1, .. }), "{error}");
    code.machine.memories[NEAR as usize].within = None;
    let error = Simulator::new(&code, &plan).err().expect("no argument can lie there");
    assert!(error.to_string().contains("the move @fetch is used on @dram"), "{error}");
}

#[test]
fn who_writes_over_what_a_cluster_fetched_waits() {
    let (code, mut plan) = fetched();
    // Fetched again while unit 3 may still read.
    plan.steps.push(step(2, 1, [0, 1], &[0, 1], &[]));
    let error = run(&code, &plan, &[numbers(256, 3)]).expect_err("nothing orders the two");
    assert!(matches!(error, SimulateError::Unordered { .. }), "{error}");
}
