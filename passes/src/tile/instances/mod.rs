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
//! By itself only where lanes get their tiles from a memory of their core that is filled by moves; on request
//! in a core's cache, too, which its lanes fill. What reads at addresses that it computes, or makes several
//! tensors, stays as it is.

mod groups;
mod places;
mod stitch;
mod work;

use std::cell::Cell;
use std::collections::HashSet;

use weft_dialects::device::{Machine, Memory};
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Op, Report, empty_module, module_op, remark};
use weft_dialects::tile::Graph;
use weft_runtime::plan::ALIGN;

use super::chooser::Chooser;
use super::isa::Near;
use super::member_tile::{choose_tile, construct_tile};
use super::stream_host::emit::{Emit, Names, Stitching};
use super::stream_host::flow::{Flow, Unread};
use super::stream_host::refine::refine;
use super::stream_host::segment::{self, Action, Cut, Segment, Tile};
use super::stream_host::{clear, sizes};
use super::write_compute::construct_move;
use super::{Stage, cache_buffer, local_buffer};
use crate::length;
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
    // Lanes that fill a cache move every byte once more than kernels that read it where it lies, so a
    // cache is for those who ask for it.
    let buffer = local_buffer(machine).or_else(|| cache_buffer(machine).filter(|_| all));
    let Some((buffer, shared)) = buffer.zip(machine.shared()) else {
        if !all {
            return Ok(());
        }
        let what = format!("{} has no local buffer for instances", machine.name());
        Report::new(machine.location(), what).help(
            "it is a cache of a core, or a memory of scope \"core\" with strided moves from and to the \
             shared one, and to and from the registers of lanes",
        );
        return Err(Failed);
    };
    let ops = run.module.body(0).map(|block| block.ops()).unwrap_or_default();
    let module = run.module;
    // Before anything is split: kernels that are done are erased.
    let graphs: Vec<_> = ops
        .into_iter()
        .filter(|op| op.is("tile.graph") && !length::is_in_graph(module, *op))
        .collect();
    for graph in graphs.into_iter().filter_map(Graph::of) {
        split(run, &graph, machine, (&buffer, &shared), Asked { all, near, remarks })?;
    }
    Ok(())
}

/// The options of the pass.
#[derive(Clone, Copy)]
struct Asked {
    /// True if sub-graphs are split wherever an instance fits.
    all: bool,
    /// True if constants are copied once for each cluster with a memory of its own.
    near: bool,
    /// True if remarks are asked for.
    remarks: bool,
}

fn split<'c>(
    run: &mut Run<'c>,
    graph: &Graph<'c>,
    machine: Machine<'c>,
    (buffer, shared): (&Stage<'c>, &Memory<'c>),
    Asked { all, near, remarks }: Asked,
) -> Result<(), Failed> {
    let Some(flow) = flow_of(run.module, graph, remarks)? else { return Ok(()) };
    let local = &buffer.memory;
    let mut limits = Limits::of(machine, buffer);
    limits.clusters = limits.clusters.filter(|_| near);
    let subgraphs = groups::group(&flow, &Work::of(machine, &flow, local), &limits, all);
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
    let (context, chooser) = (run.context, Chooser::of(run, machine));
    let failed = Cell::new(false);
    let construct = |kernel: Op<'c>, nest: &Nest<'c>, near: &[bool], taken: u64| {
        let done = match work::moved(machine, local, nest, near) {
            Some(way) => construct_move(context, machine, kernel, &way, None).is_ok(),
            None => {
                // Arguments are in the order of the accesses: what is captured is not here.
                let beside = Near { memory: local.name, taken, inside: near };
                let tile = choose_tile(&chooser, nest, &nest.extents(), beside);
                let done = tile.map(|tile| construct_tile(context, machine, kernel, None, &tile));
                done.is_some_and(|done| done.is_ok())
            }
        };
        failed.set(failed.get() || !done);
    };
    // Code of lanes counts on how its arguments are aligned; moves begin anywhere.
    let align = if local_buffer(machine).is_some() { 1 } else { ALIGN };
    let stitching = Stitching { taken: 0, align, construct: &construct };
    let mut emit = Emit::new(run, &flow, &names, module_op(&scratch), end);
    for own in &subgraphs {
        let done = match &own.cut {
            Some(cut) => instances(&mut emit, &own.segment, cut, (stitching, &failed))?,
            None => None,
        };
        if remarks {
            say(&flow, own, done);
        }
        let Some((instances, _)) = done else {
            (own.segment.from..own.segment.to).for_each(|step| emit.whole(step));
            continue;
        };
        run.count("subgraphs", 1);
        run.count("instances", instances as u64);
    }
    emit.finish(end);
    clear(run.module, &before);
    Ok(())
}

/// The tensors that pass between the runs of a graph, each of which is one nest; `None` where it
/// cannot be read, which remarks say.
fn flow_of<'c>(
    module: Op<'c>,
    graph: &Graph<'c>,
    remarks: bool,
) -> Result<Option<Flow<'c>>, Failed> {
    match Flow::of(module, graph) {
        Ok(mut flow) => {
            refine(&mut flow);
            Ok(Some(flow))
        }
        Err(Unread::Reported) => Err(Failed),
        Err(why) => {
            if remarks {
                let why = Refused::by("flow", why.to_string());
                remark(graph.op, &format!("the graph is not split: {why}"));
            }
            Ok(None)
        }
    }
}

/// Writes the instances of a sub-graph: how many there are, and the bytes that one takes at most.
/// `None` where some kernel of theirs finds no tile; then nothing is left of them.
fn instances<'a, 'c>(
    emit: &mut Emit<'a, 'c>,
    segment: &Segment,
    cut: &Cut,
    (stitching, failed): (Stitching<'a, 'c>, &Cell<bool>),
) -> Result<Option<(usize, u64)>, Failed> {
    let (flow, near, known) = (emit.flow, emit.names.near, emit.finished.clone());
    let tiles = segment::tiles(flow, segment, cut).ok_or(Failed)?;
    let taken = tiles.iter().map(|tile| arena(flow, segment, tile)).max().unwrap_or(0);
    emit.stitching = Some(Stitching { taken, ..stitching });
    failed.set(false);
    let mut stitched = Vec::new();
    for number in 0..tiles.len() {
        emit.runs.clear();
        emit.actions(segment, &tiles, in_order(flow, segment, &tiles, number));
        let runs = std::mem::take(&mut emit.runs);
        if failed.get() {
            stitched.extend(runs);
            break;
        }
        stitched.extend(stitch::stitch(emit, &runs, near)?);
    }
    emit.stitching = None;
    if !failed.get() {
        return Ok(Some((tiles.len(), taken)));
    }
    for op in stitched.into_iter().rev() {
        op.erase();
    }
    emit.finished = known;
    Ok(None)
}

/// The actions for one tile: all its inputs are loaded, then its steps are done, then its results
/// are stored.
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

/// Reports the split of a sub-graph and where it ends; `done` are its instances and what one takes.
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
