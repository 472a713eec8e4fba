//! The tensors of a tile-graph, and who touches them.

use std::collections::{HashMap, HashSet};

use weft_dialects::ir::{Builder, Context, Op, Val, attr, ty};

use super::panels::Panels;
use super::{Kernel, Lies};
use crate::nest::Nest;
use crate::tile::constants::constants;
use crate::tile::views::{apply_instead, root, storage, view};

/// Applications of kernels without tiles, and the tensors between them.
pub(super) struct Graph<'c> {
    pub op: Op<'c>,
    pub runs: Vec<Applied<'c>>,
    /// Elements of each tensor that may lie in another order.
    pub elements: Vec<u64>,
}

/// One application of a kernel.
pub(super) struct Applied<'c> {
    pub op: Op<'c>,
    pub kernel: String,
    /// The tensor of each access, where it may lie in another order.
    pub tensors: Vec<Option<usize>>,
}

impl Applied<'_> {
    /// The layout of each access's tensor.
    pub fn lies(&self, lies: &[Option<Panels>]) -> Lies {
        self.tensors.iter().map(|tensor| tensor.and_then(|tensor| lies[tensor])).collect()
    }

    pub fn touches(&self, tensors: &[usize]) -> bool {
        self.tensors.iter().flatten().any(|tensor| tensors.contains(tensor))
    }
}

impl<'c> Graph<'c> {
    pub fn of(op: Op<'c>, kernels: &HashMap<String, Kernel<'c>>) -> Self {
        let ops = op.body(0).map(|block| block.ops()).unwrap_or_default();
        let kernel_of =
            |op: &Op<'c>| op.attr("kernel").and_then(attr::symbol).filter(|_| op.is("tile.run"));
        // Whoever else touches a tensor wants it as it is.
        let mut fixed: HashSet<Val<'c>> = HashSet::new();
        // A tensor that no run of the model writes is laid out once.
        let mut written: HashSet<Val<'c>> = HashSet::new();
        let constant = constants(op);
        for op in &ops {
            let laid_out = kernel_of(op).is_some_and(|kernel| kernels.contains_key(kernel));
            if !laid_out && !op.is("tile.view") {
                fixed.extend(op.operands().into_iter().map(storage));
            }
            if op.is("tile.run") {
                let made = op.results().into_iter().filter(|result| !constant.contains(result));
                written.extend(made.map(storage));
            }
        }
        let mut numbers: HashMap<Val<'c>, usize> = HashMap::new();
        let mut elements = Vec::new();
        let mut runs = Vec::new();
        for op in ops {
            let Some((name, kernel)) = kernel_of(&op).and_then(|name| kernels.get_key_value(name))
            else {
                continue;
            };
            let mut number = |value: Val<'c>| {
                let place = storage(value);
                let empty = place.def().is_some_and(|op| op.is("tile.empty"));
                (empty && written.contains(&place) && !fixed.contains(&place)).then(|| {
                    *numbers.entry(place).or_insert_with(|| {
                        let shape = ty::shape(place.ty()).unwrap_or_default();
                        elements.push(shape.iter().product());
                        elements.len() - 1
                    })
                })
            };
            let given = kernel.nest.accesses().into_iter();
            let tensors = given.map(|access| number(op.operand(access.argument().index())));
            runs.push(Applied { op, kernel: name.clone(), tensors: tensors.collect() });
        }
        Self { op, runs, elements }
    }

    /// The tensors in panels, those that some kernel connects together.
    pub fn connected(&self, lies: &[Option<Panels>]) -> Vec<Vec<usize>> {
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for run in &self.runs {
            let mut one: Vec<usize> =
                run.tensors.iter().flatten().copied().filter(|&t| lies[t].is_some()).collect();
            let meets = |part: &Vec<usize>| part.iter().any(|tensor| one.contains(tensor));
            let (met, apart): (Vec<_>, Vec<_>) = parts.drain(..).partition(meets);
            parts = apart;
            one.extend(met.into_iter().flatten());
            one.sort_unstable();
            one.dedup();
            if !one.is_empty() {
                parts.push(one);
            }
        }
        parts
    }
}

/// Applies `new`, whose arguments are the accesses of `nest`, instead of the kernel that `nest`
/// was read from.
pub(super) fn apply<'c>(context: &'c Context, run: &Applied<'c>, nest: &Nest<'c>, new: Op<'c>) {
    let types = new.body(0).expect("it was just written").args();
    let given = nest.accesses().into_iter().map(|access| run.op.operand(access.argument().index()));
    let given: Vec<Val<'c>> = given.collect();
    let mut b = Builder::before(context, run.op).with_location(run.op.location());
    let mut seen = Vec::new();
    for (value, arg) in given.iter().zip(&types) {
        let source = root(*value);
        let room = source.def().filter(|op| op.is("tile.empty"));
        // Nobody has seen it yet.
        if room.is_some() && source.uses().iter().all(|(op, _)| op.is("tile.view")) {
            source.set_ty(arg.ty());
        }
        seen.push(view(&mut b, source, arg.ty()));
    }
    apply_instead(&mut b, run.op, new, &seen);
}
