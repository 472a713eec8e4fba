//! Cycles and bytes that the steps of a graph take in a core's local buffer.

use std::collections::HashMap;

use weft_dialects::device::{Machine, Memory, Move};
use weft_dialects::ir::ty;

use super::super::instruction::{body_cycles, lanes_type};
use super::super::isa::{self, Near, Search};
use super::super::stream_host::flow::{Arg, Flow};
use super::super::way::move_cycles;
use crate::nest::{Nest, Start};

/// By step.
pub(super) struct Work {
    /// Cycles of one core for all of its points.
    pub cycles: Vec<f64>,
    /// Bytes of what it reads that is known when the artifact is written.
    pub known: Vec<u64>,
    /// For each step, true if an instance may do it.
    pub suits: Vec<bool>,
}

impl Work {
    pub fn of<'c>(machine: Machine<'c>, flow: &Flow<'c>, local: &Memory<'c>) -> Self {
        let mut seen: HashMap<&str, f64> = HashMap::new();
        let mut work = Self { cycles: Vec::new(), known: Vec::new(), suits: Vec::new() };
        for step in &flow.steps {
            let cycles = seen
                .entry(step.kernel.symbol())
                .or_insert_with(|| cycles(machine, local, &step.nest));
            work.cycles.push(*cycles);
            let known = step.args.iter().filter_map(|arg| match arg {
                Arg::Known(value) => {
                    Some(ty::count(value.ty())? * ty::byte_size(ty::elem(value.ty())?)?)
                }
                Arg::Tensor(_) => None,
            });
            work.known.push(known.sum());
            let nest = &step.nest;
            let filled = nest.axes.iter().all(|axis| axis.extent > 0);
            work.suits
                .push(!step.rigid && filled && nest.captures.is_empty() && nest.outputs.len() == 1);
        }
        work
    }
}

fn cycles<'c>(machine: Machine<'c>, local: &Memory<'c>, nest: &Nest<'c>) -> f64 {
    let points = nest.points() as f64;
    let near = vec![true; nest.accesses().len()];
    if let Some(way) = moved(machine, local, nest, &near) {
        let size = ty::byte_size(nest.outputs[0].elem()).unwrap_or(8);
        return move_cycles(machine, &way, points * size as f64);
    }
    // Only what takes its operands from the local buffer, and gives its result there.
    let beside = Near { memory: local.name, taken: 0, inside: &near };
    let search = Search { apart: true, near: Some(beside), ..Search::default() };
    let choices = isa::choices(machine, nest, search).into_iter();
    let choices =
        choices.filter(|found| isa::hands_over(machine, local.name, nest, &found.mapping));
    let by_axes = choices.map(|found| {
        let instruction = &found.mapping.instruction;
        found.mapping.instructions(&nest.extents()) as f64 * instruction.issue_cycles()
    });
    let by_lanes = machine.lanes_units().into_iter().map(|unit| {
        let lanes = lanes_type(nest).and_then(|elem| unit.lanes_for(elem)).unwrap_or(1) as f64;
        let moved = nest.accesses().len() as f64;
        points * (body_cycles(&unit, nest.body) + moved) / lanes
    });
    by_axes.chain(by_lanes).min_by(f64::total_cmp).unwrap_or(points)
}

/// The move that does a nest by itself: a copy, or one number everywhere. `near` says by the
/// nest's accesses which of them are in the local buffer.
pub(super) fn moved<'c>(
    machine: Machine<'c>,
    local: &Memory<'c>,
    nest: &Nest<'c>,
    near: &[bool],
) -> Option<Move<'c>> {
    let parallel = (0..nest.axes.len()).all(|axis| !nest.reduces(axis));
    let [output] = &nest.outputs[..] else { return None };
    let [end] = nest.body.terminator()?.operands()[..] else { return None };
    if !parallel || nest.epilogue.is_some() || !nest.captures.is_empty() {
        return None;
    }
    let shared = machine.shared()?.name;
    let home = |near: bool| if near { local.name } else { shared };
    match &nest.inputs[..] {
        [] => {
            let constant = end.def().is_some_and(|op| op.is("arith.constant"));
            let whole = nest.points() == output.shape.iter().product::<u64>();
            let fills = constant && whole && matches!(nest.starts[0], Start::Unread);
            machine.fill_of(home(near[0])).filter(|_| fills)
        }
        [input] => {
            let copies = end == nest.body.arg(0) && input.elem() == output.elem();
            let from = matches!(nest.starts[0], Start::From { .. });
            let way = machine.move_between(home(near[0]), home(near[1]))?;
            (copies && !from && way.strided()).then_some(way)
        }
        _ => None,
    }
}
