//! `tile-stream-host`: a model whose activations do not fit the device's memory is done tile by
//! tile through it.
//!
//! ```text
//! x (host) -> conv -> conv -> y (host)          x and y larger than the device's memory
//!   ->  for each slab of rows of y: the rows of x that it needs are brought in,
//!       both convolutions are done on them, and the slab is taken out
//! ```
//!
//! Only where the machine has a memory of scope "host" and the arena of the graph as it is would
//! exceed the device's. Weights and what is folded from them do not count: capacity here is for
//! what changes from run to run.
//!
//! The steps of the graph are cut into segments (`choose.rs`). Inside a segment each tile goes
//! through all steps in the device's memory, and what lies on the border of two tiles is computed
//! for both; between segments tensors lie in the host's memory. What a tile needs follows from
//! index expressions alone (`spans.rs`), over the axes that fusing hid (`refine.rs`). The next
//! tile is brought in while this one is computed (`segment.rs`); the bytes that pass are counted
//! where the tokens are made, and stand in the program.
//!
//! A tensor that is written over although another version of it is read, or a machine without
//! moves between both memories, is refused; so is a step whose smallest tile does not fit.

mod choose;
pub(super) mod emit;
pub(super) mod flow;
pub(super) mod refine;
pub(super) mod segment;
pub mod spans;

use std::collections::HashSet;

use weft_dialects::device::{Machine, Memory, Scope};
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Op, Report, attr, empty_module, module_op, remark};
use weft_dialects::tile::Graph;

use crate::remarks::{Refused, chosen};
use choose::{Chosen, Rates, TooLarge};
use emit::{Emit, Names};
use flow::{Flow, Unread};
use segment::Cut;

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-stream-host",
    description: "Stream tiles through the device's memory where activations do not fit it",
    options: &[
        PassOption {
            name: "capacity-bytes",
            description: "what activations may take; the device memory's capacity where empty",
            fallback: "",
        },
        PassOption {
            name: "remarks",
            description: "say what became a segment, how it is cut, and what that moves",
            fallback: "false",
        },
    ],
    statistics: &[
        ("segments", "parts of the graph that are done tile by tile"),
        ("tiles", "tiles of all of them"),
        ("bytes-in", "bytes brought to the device's memory"),
        ("bytes-out", "bytes taken out of it"),
    ],
    run,
};

/// The memory of the machine that drives the device, where tensors wait that do not fit.
pub(crate) fn host_memory(machine: Machine<'_>) -> Option<Memory<'_>> {
    machine.memories().into_iter().find(|memory| memory.scope() == Scope::Host)
}

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let (wanted, remarks) = (run.given_number("capacity-bytes")?, run.flag("remarks")?);
    let Some(machine) = Machine::of(run.module) else { return Ok(()) };
    let Some((host, near)) = host_memory(machine).zip(machine.shared()) else { return Ok(()) };
    let capacity = wanted.unwrap_or(near.capacity_bytes());
    let ops = run.module.body(0).map(|block| block.ops()).unwrap_or_default();
    for graph in ops.into_iter().filter_map(Graph::of) {
        stream(run, &graph, machine, (&host, &near), (capacity, remarks))?;
    }
    Ok(())
}

fn stream<'c>(
    run: &mut Run<'c>,
    graph: &Graph<'c>,
    machine: Machine<'c>,
    (host, near): (&Memory<'c>, &Memory<'c>),
    (capacity, remarks): (u64, bool),
) -> Result<(), Failed> {
    let mut flow = Flow::of(run.module, graph).map_err(Unread::report)?;
    let needed = segment::unlimited_bytes(&flow);
    if needed <= capacity {
        return Ok(());
    }
    refine::refine(&mut flow);
    let moves = |from: &str, to: &str| {
        machine.move_between(from, to).map(|own| own.name).ok_or_else(|| {
            let what = format!(
                "activations take {needed} bytes of @{}, which holds {capacity}, and no move leads \
                 from @{from} to @{to}",
                near.name
            );
            Report::new(graph.op.location(), what)
                .note(machine.op(), "the machine is here")
                .help("give it device.moves between both memories, or more of the device's");
            Failed
        })
    };
    let (bring, take) = (moves(host.name, near.name)?, moves(near.name, host.name)?);
    let rates = Rates::of(run.context, machine, host, near);
    let chosen = choose::choose(&flow, &rates, capacity).map_err(|TooLarge { step, bytes }| {
        let name = flow.steps.get(step).map_or("", |step| step.name());
        let at = flow.steps.get(step).map_or(graph.op, |step| step.op);
        let what = format!(
            "the smallest tile of \"{name}\" takes {bytes} bytes of @{}, which holds {capacity}",
            near.name
        );
        Report::new(at.location(), what)
            .note(near.op(), "the memory is here")
            .help(format!("without streaming all activations take {needed} bytes at once"));
        Failed
    })?;
    let scratch = empty_module(run.context);
    let end = graph.body.terminator().ok_or(Failed)?;
    let before = graph.body.ops();
    let names = Names { host: host.name, near: near.name, bring, take };
    let mut emit = Emit::new(run, &flow, &names, module_op(&scratch), end);
    for Chosen { segment, cut, .. } in &chosen {
        emit.segment(segment, cut);
    }
    emit.finish(end);
    if remarks {
        let why = Refused::by("capacity", "activations do not wait in the device's memory");
        let why = why.met(format!("{needed} bytes at once, it holds {capacity}"));
        remark(graph.op, &why.to_string());
    }
    report(run, &flow, &chosen, remarks);
    clear(run.module, &before);
    Ok(())
}

/// Counts what was done, and says it where remarks are asked for.
fn report(run: &mut Run<'_>, flow: &Flow<'_>, cuts: &[Chosen], remarks: bool) {
    for Chosen { segment, cut, cycles, second } in cuts {
        let tiles = segment::tiles(flow, segment, cut).expect("it was cut before");
        let moved = tiles.iter().map(|tile| segment::moved(flow, segment, tile, 1));
        let (read, given) = moved.fold((0, 0), |sum, own| (sum.0 + own.0, sum.1 + own.1));
        run.count("segments", 1);
        run.count("tiles", tiles.len() as u64);
        run.count("bytes-in", read);
        run.count("bytes-out", given);
        if remarks {
            let names = [segment.from, segment.to - 1].map(|step| flow.steps[step].name());
            let arena = segment::arena_bytes(flow, segment, &tiles);
            let second = second.as_ref().map(|(cut, cycles)| (sizes(cut), *cycles));
            let second = second.as_ref().map(|(cut, cycles)| (&**cut, *cycles));
            let told = chosen(&format!("{} tiles, {}", tiles.len(), sizes(cut)), *cycles, second);
            let what = format!(
                "\"{}\" to \"{}\": {told}; {read} bytes in, {given} out, {arena} at once",
                names[0], names[1]
            );
            remark(flow.steps[segment.from].op, &what);
        }
    }
}

/// The pieces of a cut.
pub(super) fn sizes(cut: &Cut) -> String {
    let sizes = cut.sizes.iter().map(|(dim, size)| format!("{size} along {dim}"));
    let sizes: Vec<_> = sizes.collect();
    if sizes.is_empty() { "whole".to_owned() } else { sizes.join(", ") }
}

/// Erases what nobody reads any more: runs, room and views of a graph, and kernels.
pub(super) fn clear(module: Op<'_>, ops: &[Op<'_>]) {
    for op in ops.iter().rev() {
        let idle = op.is("tile.run") || op.is("tile.empty") || op.is("tile.view");
        if idle && op.results().iter().all(|result| result.uses().is_empty()) {
            op.erase();
        }
    }
    let body = || module.body(0).into_iter().flat_map(|block| block.ops());
    let graphs = body().filter(|op| op.is("tile.graph")).filter_map(|graph| graph.body(0));
    let runs = graphs.flat_map(|block| block.ops()).filter(|op| op.is("tile.run"));
    let used: HashSet<String> = runs
        .filter_map(|run| run.attr("kernel").and_then(attr::symbol).map(str::to_owned))
        .collect();
    for kernel in body().filter(|op| op.is("tile.kernel") && !used.contains(op.symbol())) {
        kernel.erase();
    }
}
