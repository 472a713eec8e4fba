//! The reads, writes and cycles of a core's instructions.

use std::collections::HashMap;

use weft_dialects::device::{Apply, Combine, Copy, Invoke, Machine, View};
use weft_dialects::ir::{Op, Val, affine, attr, ty};

/// The instructions that the core itself executes, by name: cycles until the next one, and until
/// the result.
pub(super) struct Costs<'c> {
    moves: HashMap<&'c str, (f64, f64)>,
    units: HashMap<&'c str, (f64, f64)>,
    /// With how many of its operands are results.
    instructions: HashMap<&'c str, (f64, f64, usize)>,
}

impl<'c> Costs<'c> {
    pub fn of(machine: Machine<'c>) -> Self {
        let moves = machine.moves().into_iter().filter(|way| way.engine().is_none()).map(|way| {
            let latency = way.latency_cycles().unwrap_or(0) as f64;
            (way.name, (way.issue_cycles().unwrap_or(1.0), latency))
        });
        let units = machine.lanes_units().into_iter();
        let units =
            units.map(|unit| (unit.name, (unit.issue_cycles(), unit.latency_cycles() as f64)));
        let instructions = machine.instructions().into_iter().filter(|own| own.engine().is_none());
        let instructions = instructions.map(|own| {
            (own.name, (own.issue_cycles(), own.latency_cycles() as f64, own.result_count()))
        });
        Self {
            moves: moves.collect(),
            units: units.collect(),
            instructions: instructions.collect(),
        }
    }
}

/// One instruction that a core does by itself, without an engine.
pub(super) struct Touch<'c> {
    pub issue: f64,
    pub latency: f64,
    pub reads: Vec<View<'c>>,
    pub writes: Vec<View<'c>>,
    /// Tensors that its body reads at addresses it computes.
    pub tables: Vec<Val<'c>>,
    /// True if each register that it writes is written whole.
    pub whole: bool,
    /// The memrefs of which it touches more than the register that a view begins in.
    pub spread: Vec<Val<'c>>,
}

impl<'c> Touch<'c> {
    /// `None` where `op` is something else.
    pub fn of(costs: &Costs<'c>, op: Op<'c>) -> Option<Self> {
        if let Some(copy) = Copy::of(op) {
            let &(issue, latency) = costs.moves.get(copy.move_name)?;
            let last = ty::shape(copy.target.memref.ty())?.len().saturating_sub(1);
            // Behind a short copy to the front of a register there are zeros.
            let whole = front(&copy.target) && copy.to_dim == last && copy.to_step == 1;
            let from = ty::shape(copy.source.memref.ty())?.len().saturating_sub(1);
            let ends = [(&copy.source, copy.from_dim, from), (&copy.target, copy.to_dim, last)];
            let across = ends.into_iter().filter(|(_, dim, last)| dim != last);
            return Some(Self {
                spread: across.map(|(view, _, _)| view.memref).collect(),
                issue,
                latency,
                reads: vec![copy.source],
                writes: vec![copy.target],
                tables: Vec::new(),
                whole,
            });
        }
        if let Some(invoke) = Invoke::of(op) {
            let &(issue, latency, results) = costs.instructions.get(invoke.instruction)?;
            let first = invoke.views.len().checked_sub(results)?;
            return Some(Self {
                // An operand may have several rows.
                spread: invoke.views.iter().map(|view| view.memref).collect(),
                issue,
                latency,
                writes: invoke.views[first..].to_vec(),
                reads: invoke.views,
                tables: Vec::new(),
                whole: false,
            });
        }
        let (unit, reads, writes, body, whole) = match (Apply::of(op), Combine::of(op)) {
            (Some(own), _) => {
                let lanes = |view: &View<'c>| ty::shape(view.memref.ty())?.last().copied();
                let all = |view: &View<'c>| front(view) && lanes(view) == Some(own.lanes);
                let whole = own.outputs.iter().all(all);
                (own.lanes_unit, own.inputs, own.outputs, own.body, whole)
            }
            (_, Some(own)) => {
                let reads = vec![own.input, own.output.clone()];
                (own.lanes_unit, reads, vec![own.output], own.body, false)
            }
            _ => return None,
        };
        let &(issue, latency) = costs.units.get(unit)?;
        let mut tables = Vec::new();
        for inner in body.ops() {
            let outside =
                inner.operands().into_iter().filter(|value| ty::memory(value.ty()).is_some());
            tables.extend(outside);
            tables.extend(inner.is("memref.load").then(|| inner.operand(0)));
        }
        Some(Self { issue, latency, reads, writes, tables, whole, spread: Vec::new() })
    }
}

/// Returns whether a view begins with its register.
fn front(view: &View<'_>) -> bool {
    view.indices.last().is_none_or(|&index| number(index) == Some(0))
}

/// Which register of several: all indices but the last; `None` where they are computed.
pub(super) fn row(view: &View<'_>) -> Option<Vec<i64>> {
    let (_, rows) = view.indices.split_last()?;
    rows.iter().map(|&index| number(index)).collect()
}

/// An index that is known.
pub(in crate::device) fn number(value: Val<'_>) -> Option<i64> {
    let op = value.def()?;
    if op.is("arith.constant") {
        return op.attr("value").and_then(attr::int);
    }
    let place: Vec<i64> = match op.is("affine.apply") {
        true => op.operands().into_iter().map(number).collect::<Option<_>>()?,
        false => return None,
    };
    affine::evaluate(op.attr("map")?, &place)?.first().copied()
}
