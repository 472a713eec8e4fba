//! `tile-split-instances`: sub-graphs are done instance by instance in the local buffers of cores
//! (GraphTurbo).
//!
//! ```text
//! %h = tile.run @conv(%x, %w); %y = tile.run @relu(%h)        both larger than @l1
//!   ->  tile.kernel @conv_relu stitched { brings a box of %x, both on it in @l1, takes a box of %y }
//!       %y1 = tile.run @conv_relu(%x, %w) into(%y0) at [0, 0, 0]
//!       %y2 = tile.run @conv_relu(%x, %w) into(%y1) at [25088, 0, 12544]
//! ```
//!
//! Neighbouring runs are merged to sub-graphs while an instance of them fits the local buffer and
//! that takes less (`groups.rs`, by what `work.rs` counts); the instances of one make pieces of what
//! it gives, and what they need follows from index expressions, halos included, as in streaming
//! from the host's memory (`stream_host/`). Each is one kernel of one rTask (`stitch.rs`): what its
//! runs hand to each other stays in the buffer, and what it gives is written to its place in the
//! whole tensor. Instances of one shape are one kernel.
//!
//! Only where lanes get their tiles from a memory of their core that is filled by moves. What reads
//! at addresses that it computes, or makes several tensors, stays as it is.

mod groups;
mod stitch;
mod work;

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use weft_dialects::device::{Machine, Memory};
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Builder, Op, Report, empty_module, module_op, remark};
use weft_dialects::tile::Graph;

use super::chooser::Chooser;
use super::isa::Near;
use super::near_tile::{construct_tile, near_tile};
use super::stream_host::emit::{Emit, Names, Stitching};
use super::stream_host::flow::{Flow, Unread};
use super::stream_host::refine::refine;
use super::stream_host::segment::{self, Action, Segment, Tile};
use super::stream_host::{clear, sizes};
use super::write_compute::construct_move;
use super::{Stage, local_buffer};
use crate::nest::Nest;
use crate::remarks::{Refused, chosen};
use groups::{Limits, SubGraph};
use work::Work;

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-split-instances",
    description: "Do sub-graphs instance by instance in the local buffers of cores",
    options: &[
        PassOption {
            name: "instances",
            description: "auto: where that is predicted to take less; all: wherever an instance fits; none",
            fallback: "auto",
        },
        PassOption {
            name: "near",
            description: "auto: what is known comes once for each cluster with a memory of its own; \
                          none: once for each instance (as tile-to-task's)",
            fallback: "auto",
        },
        PassOption {
            name: "remarks",
            description: "say which sub-graphs there are, how they are split, and why not further",
            fallback: "false",
        },
    ],
    statistics: &[
        ("subgraphs", "sub-graphs that are done instance by instance"),
        ("instances", "instances of all of them"),
    ],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let words = [("auto", Some(false)), ("all", Some(true)), ("none", None)];
    let wanted = run.word("instances", &words)?;
    let near = run.word("near", &[("auto", true), ("none", false)])?;
    let remarks = run.flag("remarks")?;
    let Some(all) = wanted else { return Ok(()) };
    let Some(machine) = Machine::of(run.module) else { return Ok(()) };
    let Some((buffer, shared)) = local_buffer(machine).zip(machine.shared()) else {
        if !all {
            return Ok(());
        }
        let what = format!("{} has no local buffer for instances", machine.name());
        Report::new(machine.location(), what).help(
            "it is a memory of scope \"core\" with strided moves from and to the shared one, and to \
             and from the registers of lanes",
        );
        return Err(Failed);
    };
    let ops = run.module.body(0).map(|block| block.ops()).unwrap_or_default();
    for graph in ops.into_iter().filter_map(Graph::of) {
        split(run, &graph, machine, (&buffer, &shared), Asked { all, near, remarks })?;
    }
    Ok(())
}

/// What the options ask for.
#[derive(Clone, Copy)]
struct Asked {
    /// Whether sub-graphs are split wherever an instance fits.
    all: bool,
    /// Whether what is known comes once for each cluster with a memory of its own.
    near: bool,
    /// Whether what was done is said.
    remarks: bool,
}

fn split<'c>(
    run: &mut Run<'c>,
    graph: &Graph<'c>,
    machine: Machine<'c>,
    (buffer, shared): (&Stage<'c>, &Memory<'c>),
    Asked { all, near, remarks }: Asked,
) -> Result<(), Failed> {
    let mut flow = match Flow::of(run.module, graph) {
        Ok(flow) => flow,
        Err(Unread::Reported) => return Err(Failed),
        Err(why) => {
            if remarks {
                let why = Refused::by("flow", why.to_string());
                remark(graph.op, &format!("the graph is not split: {why}"));
            }
            return Ok(());
        }
    };
    refine(&mut flow);
    let local = &buffer.memory;
    let work = Work::of(machine, &flow, local);
    let mut limits = Limits::of(machine, buffer, shared);
    if !near {
        limits.clusters = None;
    }
    let subgraphs = groups::group(&flow, &work, &limits, all);
    if subgraphs.iter().all(|own| own.cut.is_none()) {
        if remarks {
            subgraphs.iter().for_each(|own| say(&flow, own, None));
        }
        return Ok(());
    }
    let (bring, take) = (buffer.load.name, buffer.store.name);
    let names = Names { host: shared.name, near: local.name, bring, take };
    let scratch = empty_module(run.context);
    let end = graph.body.terminator().ok_or(Failed)?;
    let before = graph.body.ops();
    let symbols = run.module.body(0).into_iter().flat_map(|block| block.ops());
    let failed = Cell::new(false);
    let context = run.context;
    let chooser = Chooser::of(run, machine);
    let construct = |kernel: Op<'c>, nest: &Nest<'c>, near: &[bool], taken: u64| {
        let done = match work::moved(machine, local, nest, near) {
            Some(way) => construct_move(context, machine, kernel, &way, None).is_ok(),
            None => {
                // Arguments are in the order of the accesses: what is captured is not here.
                let beside = Near { memory: local.name, taken, inside: near };
                let tile = near_tile(&chooser, nest, &nest.extents(), beside);
                let done = tile.map(|tile| construct_tile(context, machine, kernel, None, &tile));
                done.is_some_and(|done| done.is_ok())
            }
        };
        failed.set(failed.get() || !done);
    };
    let mut emit = Emit {
        context: run.context,
        module: run.module,
        flow: &flow,
        names: &names,
        b: Builder::before(run.context, end),
        finished: flow
            .tensors
            .iter()
            .enumerate()
            .filter_map(|(number, own)| Some((number, own.source?)))
            .collect(),
        made: HashMap::new(),
        taken: symbols.map(|op| op.symbol().to_owned()).collect::<HashSet<_>>(),
        copies: HashMap::new(),
        scratch: module_op(&scratch),
        stitching: None,
        runs: Vec::new(),
    };
    for own in &subgraphs {
        let known = emit.finished.clone();
        if let Some(cut) = &own.cut {
            let tiles = segment::tiles(&flow, &own.segment, cut).ok_or(Failed)?;
            let most = tiles.iter().map(|tile| arena(&flow, &own.segment, tile)).max();
            emit.stitching = Some(Stitching { taken: most.unwrap_or(0), construct: &construct });
            failed.set(false);
            let mut stitched = Vec::new();
            for number in 0..tiles.len() {
                emit.runs.clear();
                emit.actions(&own.segment, &tiles, in_order(&flow, &own.segment, &tiles, number));
                let runs = std::mem::take(&mut emit.runs);
                if failed.get() {
                    stitched.extend(runs);
                    break;
                }
                stitched.extend(stitch::stitch(&mut emit, &runs, local.name)?);
            }
            emit.stitching = None;
            if remarks {
                say(&flow, own, (!failed.get()).then_some((tiles.len(), most.unwrap_or(0))));
            }
            if !failed.get() {
                run.count("subgraphs", 1);
                run.count("instances", tiles.len() as u64);
                continue;
            }
            for op in stitched.into_iter().rev() {
                op.erase();
            }
            emit.finished = known;
        } else if remarks {
            say(&flow, own, None);
        }
        for step in own.segment.from..own.segment.to {
            emit.whole(step);
        }
    }
    let (mut b, finished) = (emit.b.with_location(end.location()), emit.finished);
    for (place, tensor) in flow.results.iter().enumerate() {
        if let Some(tensor) = tensor {
            let ty = end.operand(place).ty();
            let value = super::views::view(&mut b, finished[tensor], ty);
            end.set_operand(place, value);
        }
    }
    clear(run.module, &before);
    Ok(())
}

/// What is done for one tile: all that it needs is brought, then its steps, then what it gives.
fn in_order(flow: &Flow<'_>, own: &Segment, tiles: &[Tile], tile: usize) -> Vec<Action> {
    let mut actions = Vec::new();
    let mut brought = HashSet::new();
    for (offset, _) in tiles[tile].points.iter().enumerate().filter(|(_, done)| done.is_some()) {
        let step = own.from + offset;
        for &tensor in &flow.touches[step].tensors {
            let read = own.reads.contains(&tensor) && tiles[tile].boxes.contains_key(&tensor);
            if read && brought.insert(tensor) {
                actions.push(Action::In { tile, tensor });
            }
        }
        actions.push(Action::Do { tile, step });
    }
    actions.extend((0..own.gives.len()).map(|give| Action::Out { tile, give }));
    actions
}

/// Bytes of the local buffer that one tile takes.
fn arena(flow: &Flow<'_>, own: &Segment, tile: &Tile) -> u64 {
    segment::arena_bytes(flow, own, std::slice::from_ref(tile))
}

/// How a sub-graph is split and where it ends; `done` are its instances and what one takes.
fn say(flow: &Flow<'_>, own: &SubGraph, done: Option<(usize, u64)>) {
    let (first, last) = (own.segment.from, own.segment.to - 1);
    let names = [first, last].map(|step| flow.steps[step].name());
    let names = match names {
        [one, other] if one == other => format!("\"{one}\""),
        [one, other] => format!("\"{one}\" to \"{other}\""),
    };
    let op = flow.steps[first].op;
    match (done, &own.cut, &own.unsplit) {
        (Some((instances, bytes)), Some(cut), _) => {
            let second = own.second.as_ref().map(|(cut, cycles)| (sizes(cut), *cycles));
            let second = second.as_ref().map(|(cut, cycles)| (&**cut, *cycles));
            let what = format!("{instances} instances, {}", sizes(cut));
            let told = chosen(&what, own.cycles, second);
            let whole = format!("whole {:.0}", own.whole);
            remark(op, &format!("{names}: {told}; {whole}; {bytes} bytes at once"));
        }
        (_, _, Some(why)) => remark(op, &format!("{names} is not split: {why}")),
        _ => {
            let why = Refused::by("tile", "no tile of an instance is done by moves or lanes");
            remark(op, &format!("{names} is not split: {why}"));
        }
    }
    if let (Some(why), Some(next)) = (&own.ends, flow.steps.get(last + 1)) {
        remark(op, &format!("{names} stays apart from \"{}\": {why}", next.name()));
    }
}
