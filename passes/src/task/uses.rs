//! Facts about the tensors of a tile-graph: their last uses, and which are needed or constant.

use std::collections::{HashMap, HashSet};

use weft_dialects::finds::Find;
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Op, Val};
use weft_dialects::tile::{Empty, Graph, Run, View};

use super::kernels::Kernels;
use crate::length;

/// Facts about tensors before buffers are placed. Views count as the
/// tensor they show.
pub(crate) struct Uses<'c> {
    /// The values that an output depends on.
    pub needed: HashSet<Val<'c>>,
    /// The values that depend on weights and literals alone.
    pub constant: HashSet<Val<'c>>,
    /// Position of the last run that reads or overwrites it; outputs are read at the end.
    pub last: HashMap<Val<'c>, usize>,
}

impl<'c> Uses<'c> {
    pub fn of(graph: &Graph<'c>, kernels: &Kernels<'c>) -> Result<Self, Failed> {
        let ops = graph.body.ops();
        let mut uses =
            Uses { needed: HashSet::new(), constant: HashSet::new(), last: HashMap::new() };
        let folding = graph.op.parent().map(length::folding_kernels).unwrap_or_default();
        // As much of it is written as callers have memory for.
        let lengths = graph.op.attr("lengths").is_some();
        let given = graph.results().into_iter().filter(|_| lengths);
        // What a length is found from is made in a run, too.
        let counts = ops.iter().filter_map(|op| Find::of(*op)).map(|find| find.count);
        let given: HashSet<_> = given.chain(counts).map(root).collect();
        for &op in &ops {
            let is_given = op.results().iter().any(|result| given.contains(result));
            let constant = match op.name() {
                "graph.weight" | "graph.constant" => true,
                "tile.run" => {
                    let run = Run::of(op).ok_or(Failed)?;
                    let fixed =
                        !is_given && !folding.contains(run.kernel) && op.attr("shifts").is_none();
                    fixed && kernels.is_tile(run.kernel) && uses.folds(&run)
                }
                _ => false,
            };
            if constant {
                uses.constant.extend(op.results());
            }
        }
        uses.schedule_fills(&ops);
        for (position, &op) in ops.iter().enumerate().rev() {
            let end = op.is("tile.output");
            let kept = end || op.is("tile.find");
            if !kept && !op.results().into_iter().any(|result| uses.needed.contains(&result)) {
                continue;
            }
            let operands = op.operands();
            uses.needed.extend(operands.iter().copied());
            if View::of(op).is_none() {
                let position = if end { usize::MAX } else { position };
                for operand in operands {
                    uses.last.entry(root(operand)).or_insert(position);
                }
            }
        }
        Ok(uses)
    }

    /// A fill that runs then write into, such as padding, is done when the program
    /// runs: kept as a constant it would be copied, which costs more. Several fills, one after the
    /// other, are one in this.
    fn schedule_fills(&mut self, ops: &[Op<'c>]) {
        let mut fills: HashSet<Val<'c>> = HashSet::new();
        for run in ops.iter().filter_map(|op| Run::of(*op)) {
            let nothing = |value: &Val<'c>| is_empty(*value) || fills.contains(&root(*value));
            if run.inputs.iter().all(|value| is_empty(*value)) && run.inits.iter().all(nothing) {
                fills.extend(run.op.results());
            }
        }
        let mut read: HashSet<Val<'c>> = HashSet::new();
        let mut overwritten: HashSet<Val<'c>> = HashSet::new();
        for &op in ops.iter().filter(|op| View::of(**op).is_none()) {
            let run = Run::of(op);
            if run.is_some() && op.results().iter().all(|result| fills.contains(result)) {
                continue;
            }
            let moves = run.as_ref().filter(|_| !self.constant.contains(&op.result(0)));
            for operand in op.operands() {
                let init = moves.is_some_and(|run| run.inits.contains(&operand));
                if init { &mut overwritten } else { &mut read }.insert(root(operand));
            }
        }
        for run in ops.iter().rev().filter_map(|op| Run::of(*op)) {
            let [result] = run.op.results()[..] else { continue };
            let filled = fills.contains(&result) && overwritten.contains(&result);
            if filled && !read.contains(&result) {
                self.constant.remove(&result);
                overwritten.extend(run.inits.iter().map(|init| root(*init)));
            }
        }
    }

    /// Returns whether all that a run works on is known when the artifact is written.
    fn folds(&self, run: &Run<'c>) -> bool {
        let constant = |value: &Val<'c>| self.constant.contains(&root(*value));
        let mut operands = run.inputs.iter().chain(&run.inits);
        let whole = run.at.iter().all(|&place| place == 0);
        whole && operands.all(|value| constant(value) || is_empty(*value))
    }
}

/// The tensor that a chain of views shows.
pub(crate) fn root(mut value: Val<'_>) -> Val<'_> {
    while let Some(view) = value.def().and_then(View::of) {
        value = view.source;
    }
    value
}

/// Returns whether a tensor has no content.
pub(crate) fn is_empty(value: Val<'_>) -> bool {
    root(value).def().and_then(Empty::of).is_some()
}
