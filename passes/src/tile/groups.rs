//! Runs of a tile-graph that hand tensors to each other near a unit: what will be one kernel.

use std::collections::{HashMap, HashSet};

use weft_dialects::device::{Machine, Scope};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Op, Report, Val, attr};
use weft_dialects::tile::{Connect, View};

use super::propagate::{Chain, Link};
use crate::nest::Nest;

/// Runs connected nearer than the memory that the device shares.
pub(super) struct Group<'c> {
    /// In the order of the text; the last one's tile is the group's.
    pub runs: Vec<Op<'c>>,
    /// The edges inside.
    pub edges: Vec<Connect<'c>>,
}

/// Whether a memory is nearer to a unit than the one that the device shares.
pub(super) fn is_near(machine: Machine<'_>, memory: &str) -> bool {
    let shared = machine.shared().is_some_and(|shared| shared.name == memory);
    let host = machine.memory(memory).is_some_and(|memory| memory.scope == Scope::Host);
    !shared && !host
}

/// The groups of a tile-graph, in the order of their last runs.
pub(super) fn groups<'c>(machine: Machine<'c>, graph: Op<'c>) -> Vec<Group<'c>> {
    let ops = graph.body(0).map(|body| body.ops()).unwrap_or_default();
    let order: HashMap<Op<'c>, usize> = ops.iter().enumerate().map(|(at, op)| (*op, at)).collect();
    let mut found: Vec<Group<'c>> = Vec::new();
    for edge in ops.iter().filter_map(|op| Connect::of(*op)) {
        let Some(maker) = maker(edge.source).filter(|_| is_near(machine, edge.memory)) else {
            continue;
        };
        let mut runs: Vec<Op<'c>> =
            readers(edge.op.result(0)).into_iter().map(|(op, _)| op).collect();
        runs.retain(|op| op.is("tile.run"));
        if runs.is_empty() {
            continue;
        }
        runs.push(maker);
        let mut joined = Group { runs, edges: vec![edge] };
        let (with, apart): (Vec<_>, Vec<_>) = std::mem::take(&mut found)
            .into_iter()
            .partition(|group| group.runs.iter().any(|run| joined.runs.contains(run)));
        for group in with {
            joined.runs.extend(group.runs);
            joined.edges.extend(group.edges);
        }
        found = apart;
        joined.runs.sort_by_key(|run| order[run]);
        joined.runs.dedup();
        found.push(joined);
    }
    for group in &mut found {
        group.edges.sort_by_key(|edge| order[&edge.op]);
    }
    found.sort_by_key(|group| group.runs.last().map(|run| order[run]));
    found
}

impl<'c> Group<'c> {
    /// Who reads what whom makes, for the members' nests.
    pub fn links(&self, nests: &[&Nest<'c>]) -> Vec<Link> {
        let mut found = Vec::new();
        for (reader, (run, nest)) in self.runs.iter().zip(nests).enumerate() {
            for (read, access) in nest.reads().into_iter().enumerate() {
                let operand = run.operand(access.argument().index());
                let maker = self.maker(operand).map(|maker| Link { reader, read, maker });
                found.extend(maker);
            }
        }
        found
    }

    /// The chain of the members' nests.
    pub fn chain<'n>(&self, nests: Vec<&'n Nest<'c>>) -> Chain<'n, 'c> {
        let links = self.links(&nests);
        Chain::new(nests, links)
    }

    /// The member that makes an operand.
    pub fn maker(&self, operand: Val<'c>) -> Option<usize> {
        let maker = source(operand)?;
        self.runs.iter().position(|run| *run == maker)
    }

    /// The memory in which a member's tiles wait for the others: that of its edge, or for what
    /// another reads without one, of the first.
    pub fn memory(&self, member: usize) -> Option<&'c str> {
        let own = |edge: &&Connect<'c>| maker(edge.source) == Some(self.runs[member]);
        let reads = |run: &Op<'c>| {
            run.operands().into_iter().any(|operand| self.maker(operand) == Some(member))
        };
        let edge = self.edges.iter().find(own).or(self.edges.first());
        edge.filter(|_| self.runs.iter().any(reads)).map(|edge| edge.memory)
    }

    /// Whether something outside reads what a member makes.
    pub fn leaves(&self, member: usize) -> bool {
        let mut seen = self.runs[member].results();
        while let Some(value) = seen.pop() {
            for (op, _) in value.uses() {
                if View::of(op).is_some() || Connect::of(op).is_some() {
                    seen.push(op.result(0));
                } else if !self.runs.contains(&op) {
                    return true;
                }
            }
        }
        false
    }

    /// Reports a member that is no part of one kernel.
    pub fn check(&self) -> Result<(), Failed> {
        let Some(op) = self.stranded() else { return Ok(()) };
        let name = kernel_of(self.runs[0]);
        let what = format!("@{} and @{name} cannot be one kernel", kernel_of(op));
        Report::new(op.location(), what)
            .note(self.edges[0].op, "an edge of theirs is handed over near a unit here")
            .help("a run outside lies between them; hand over all edges on the way, or none");
        Err(Failed)
    }

    /// Whether no run outside reads from one member and is read by another.
    pub fn stands(&self) -> bool {
        self.stranded().is_none()
    }

    /// A member that reads, by a way outside of the group, what another makes.
    fn stranded(&self) -> Option<Op<'c>> {
        let ops = self.runs[0].block().map(|block| block.ops()).unwrap_or_default();
        let begin = ops.iter().position(|op| *op == self.runs[0]).unwrap_or(0);
        let mut behind: HashSet<Op<'c>> = HashSet::new();
        for op in ops[begin..].iter().filter(|op| op.is("tile.run")) {
            let member = self.runs.contains(op);
            let makers: Vec<_> = op.operands().into_iter().filter_map(source).collect();
            let after = makers.iter().any(|maker| behind.contains(maker));
            if member && after {
                return Some(*op);
            }
            if !member && (after || makers.iter().any(|maker| self.runs.contains(maker))) {
                behind.insert(*op);
            }
        }
        None
    }
}

/// What makes an operand, however it is handed over.
fn source(operand: Val<'_>) -> Option<Op<'_>> {
    let op = operand.def()?;
    match (View::of(op), Connect::of(op)) {
        (Some(view), _) => source(view.source),
        (_, Some(edge)) => source(edge.source),
        _ => Some(op),
    }
}

/// The run whose result a tensor is, perhaps seen through views.
pub(super) fn maker(value: Val<'_>) -> Option<Op<'_>> {
    let op = value.def()?;
    match View::of(op) {
        Some(view) => maker(view.source),
        None => Some(op).filter(|op| op.is("tile.run")),
    }
}

/// Whether a run overwrites a tensor that has no content yet.
pub(super) fn starts_empty(run: Op<'_>) -> bool {
    let inits = run.results().len();
    let operands = run.operands();
    operands[operands.len() - inits..].iter().all(|init| {
        let mut made = init.def();
        while let Some(view) = made.and_then(View::of) {
            made = view.source.def();
        }
        made.is_some_and(|op| op.is("tile.empty"))
    })
}

/// Who reads a tensor, through views, and as which operand.
pub(super) fn readers(value: Val<'_>) -> Vec<(Op<'_>, usize)> {
    let through = |(op, operand): (_, usize)| match View::of(op) {
        Some(_) => readers(op.result(0)),
        None => vec![(op, operand)],
    };
    value.uses().into_iter().flat_map(through).collect()
}

/// The name of the kernel that a run applies.
pub(super) fn kernel_of<'c>(run: Op<'c>) -> &'c str {
    run.attr("kernel").and_then(attr::symbol).unwrap_or("")
}
