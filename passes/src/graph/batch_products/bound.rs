//! A lower bound on the cycles of a graph of operators.
//!
//! ```text
//! cycles >= max( Σ arithmetic / units,
//!                Σ bytes of weights / rate of the memory that holds all of them,
//!                the longest chain of operators )          Brent 1974: work and span
//! ```
//!
//! An operator goes to as many units as it has handovers to pay for. Its arithmetic is counted on
//! the fastest unit; of what it reads only weights, since results were just written.

use weft_dialects::device::Machine;
use weft_dialects::ir::{Block, Op, Val, ty};

use crate::cost::{memory_cycles, product_cycles};
use crate::graph::product::{Product, is_weight};
use crate::nest::generic_axes;

/// Operators that are looked at for one model, to find batches and again to choose: a bound on the
/// time that deciding takes.
pub(super) const MOST_LOOKS: usize = 20_000_000;

/// Operators, what they read, and what each costs.
pub(super) struct Graph {
    reads: Vec<Vec<usize>>,
    readers: Vec<Vec<usize>>,
    /// Cycles of arithmetic on one unit.
    arithmetic: Vec<f64>,
    /// Cycles in which the weights come.
    memory: Vec<f64>,
    units: f64,
    handover: f64,
}

impl Graph {
    pub fn of(machine: Machine<'_>, body: Block<'_>) -> Self {
        let ops = body.ops();
        let places: std::collections::HashMap<Op<'_>, usize> =
            ops.iter().copied().zip(0..).collect();
        let reads: Vec<Vec<usize>> = ops
            .iter()
            .map(|op| op.operands().iter().filter_map(|v| places.get(&v.def()?).copied()).collect())
            .collect();
        let mut readers = vec![Vec::new(); ops.len()];
        for (place, reads) in reads.iter().enumerate() {
            reads.iter().for_each(|&read| readers[read].push(place));
        }
        let results = ops.iter().flat_map(|op| op.results());
        let all: u64 = results.filter(|value| is_weight(*value)).map(bytes).sum();
        let rate = memory_cycles(machine, all) / all.max(1) as f64;
        let weights = |op: &Op<'_>| {
            let read = op.operands().into_iter().filter(|value| is_weight(*value));
            read.map(bytes).sum::<u64>() as f64 * rate
        };
        let unit = machine.units().into_iter().next();
        Self {
            reads,
            readers,
            arithmetic: ops.iter().map(|op| arithmetic(machine, *op)).collect(),
            memory: ops.iter().map(weights).collect(),
            units: unit.as_ref().map_or(1, |unit| unit.count()) as f64,
            handover: unit.as_ref().map_or(0, |unit| unit.handover_cycles()).max(1) as f64,
        }
    }

    pub fn len(&self) -> usize {
        self.reads.len()
    }

    /// For each of some operators, in their order, how many of them follow on each other up to it;
    /// `None` where that takes more looks than are left.
    pub fn depths(&self, nodes: &[usize], looks: &mut usize) -> Option<Vec<usize>> {
        let (first, last) = (nodes[0], *nodes.last()?);
        *looks = looks.checked_sub(last - first + 1)?;
        let mut depth = vec![0; last - first + 1];
        let mut own = nodes.iter().copied().peekable();
        let mut found = Vec::with_capacity(nodes.len());
        for node in first..=last {
            let before = self.reads[node].iter().filter(|&&read| read >= first);
            let before = before.map(|&read| depth[read - first]).max().unwrap_or(0);
            let chosen = own.next_if_eq(&node).is_some();
            if chosen {
                found.push(before);
            }
            depth[node - first] = before + usize::from(chosen);
        }
        Some(found)
    }

    /// The bound with each of some sets of operators as one, which have equal weights; `None`
    /// if one would wait for itself.
    pub fn cycles(&self, sets: &[&[usize]]) -> Option<f64> {
        let count = self.len();
        let mut class: Vec<usize> = (0..count).collect();
        for (number, set) in sets.iter().enumerate() {
            set.iter().for_each(|&node| class[node] = count + number);
        }
        let mut waits = vec![0usize; count + sets.len()];
        for (node, reads) in self.reads.iter().enumerate() {
            waits[class[node]] += reads.len();
        }
        let single = (0..count).filter(|&node| class[node] == node);
        let classes: Vec<usize> = single.chain(count..count + sets.len()).collect();
        let mut ready: Vec<usize> = classes.iter().copied().filter(|&c| waits[c] == 0).collect();
        let mut start = vec![0.0f64; count + sets.len()];
        let (mut done, mut arithmetic, mut memory, mut span) = (0, 0.0, 0.0, 0.0f64);
        while let Some(own) = ready.pop() {
            done += 1;
            let single = [own];
            let nodes = if own < count { &single[..] } else { sets[own - count] };
            let computing: f64 = nodes.iter().map(|&node| self.arithmetic[node]).sum();
            let reading = self.memory[nodes[0]];
            arithmetic += computing;
            memory += reading;
            let alone = computing.max(reading);
            let ways = (alone / self.handover).floor().clamp(1.0, self.units);
            let end = start[own] + alone / ways;
            span = span.max(end);
            for &reader in nodes.iter().flat_map(|&node| &self.readers[node]) {
                let reader = class[reader];
                start[reader] = start[reader].max(end);
                waits[reader] -= 1;
                if waits[reader] == 0 {
                    ready.push(reader);
                }
            }
        }
        (done == classes.len()).then(|| span.max(arithmetic / self.units).max(memory))
    }
}

fn bytes(value: Val<'_>) -> u64 {
    let count = ty::count(value.ty()).unwrap_or(0);
    count * ty::elem(value.ty()).and_then(ty::byte_size).unwrap_or(0)
}

/// Cycles of an operator's arithmetic on the fastest unit, all points of its nests.
fn arithmetic(machine: Machine<'_>, op: Op<'_>) -> f64 {
    let result = op.results().first().filter(|_| op.is("graph.op")).map(|value| value.ty());
    let Some(elem) = result.and_then(ty::elem) else { return 0.0 };
    let product = Product::of(op);
    let lanes = machine
        .lanes_units()
        .into_iter()
        .filter_map(|unit| Some(unit.issue_cycles() / unit.lanes_for(elem)? as f64));
    let lanes = lanes.min_by(f64::total_cmp).unwrap_or(1.0);
    let mut cycles = 0.0;
    op.walk(&mut |inner| {
        if !inner.is("linalg.generic") {
            return;
        }
        let axes = generic_axes(inner).unwrap_or_default();
        let points = axes.iter().map(|axis| axis.extent).product::<u64>() as f64;
        let is_product = product.as_ref().is_some_and(|product| product.main == inner);
        let own = inner.body(0).map_or(1, |body| body.ops().len() - 1);
        cycles += points
            * match is_product {
                true => product_cycles(machine, elem).map_or(lanes, |cycles| cycles.min(lanes)),
                false => lanes * own as f64,
            };
    });
    cycles
}
