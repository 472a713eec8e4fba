//! Tensors of a tile-graph through `tile.view`, which shows the same elements in another shape.

use std::collections::HashSet;

use weft_dialects::ir::{Builder, Op, Type, Val, attr};
use weft_dialects::tile::build::{self, RunOp};

/// The tensor that a view of views is of.
pub(crate) fn root(value: Val<'_>) -> Val<'_> {
    match value.def() {
        Some(op) if op.is("tile.view") => root(op.operand(0)),
        _ => value,
    }
}

/// The storage of a tensor: the `tile.empty` that runs wrote to one after the other, or the
/// operation that made it.
pub(super) fn storage(value: Val<'_>) -> Val<'_> {
    let value = root(value);
    match value.def() {
        Some(run) if run.is("tile.run") => {
            let inputs = run.operands().len() - run.results().len();
            storage(run.operand(inputs + value.index()))
        }
        _ => value,
    }
}

/// Readers of a tensor, through views, each with the number of its operand.
pub(super) fn readers(value: Val<'_>) -> Vec<(Op<'_>, usize)> {
    let uses = value.uses().into_iter();
    uses.flat_map(|(op, operand)| match op.is("tile.view") {
        true => readers(op.result(0)),
        false => vec![(op, operand)],
    })
    .collect()
}

/// A tensor seen in a type, through no view where it has that already.
pub(super) fn view<'c>(b: &mut Builder<'c>, value: Val<'c>, ty: Type<'c>) -> Val<'c> {
    if value.ty() == ty {
        return value;
    }
    // A view of a view is one of what that one is of.
    let value = root(value);
    if value.ty() == ty { value } else { build::view(b, value, ty) }
}

/// Applies `kernel` to `seen`, its inputs and then what it writes into, instead of a run; what read the run's
/// results reads the same elements.
pub(super) fn apply_instead<'c>(
    b: &mut Builder<'c>,
    run: Op<'c>,
    kernel: Op<'c>,
    seen: &[Val<'c>],
) {
    let (inputs, inits) = seen.split_at(seen.len() - run.results().len());
    let kernel = kernel.symbol();
    let name = run.attr("name").and_then(attr::string).unwrap_or(kernel);
    let fresh = RunOp { name, kernel, inputs, inits, at: &[] }.build(b);
    for (old, new) in run.results().into_iter().zip(fresh.results()) {
        let same = view(b, new, old.ty());
        old.replace_with(same);
    }
    run.erase();
}

/// Erases the views of a tensor that nothing else reads.
pub(super) fn erase_views(value: Val<'_>) {
    for (op, _) in value.uses() {
        erase_views(op.result(0));
        op.erase();
    }
}

/// The tile-graphs of a module, and its kernels.
pub(super) fn graphs_and_kernels(module: Op<'_>) -> Option<(Vec<Op<'_>>, Vec<Op<'_>>)> {
    let ops = module.body(0)?.ops().into_iter();
    let own = ops.filter(|op| op.is("tile.graph") || op.is("tile.kernel"));
    Some(own.partition(|op| op.is("tile.graph")))
}

/// Names of the kernels that tile-graphs apply.
pub(super) fn applied(graphs: &[Op<'_>]) -> HashSet<String> {
    let ops = graphs.iter().filter_map(|graph| graph.body(0)).flat_map(|block| block.ops());
    ops.filter(|op| op.is("tile.run")).map(|run| kernel_of(run).to_owned()).collect()
}

/// The name of the kernel that a run applies.
pub(super) fn kernel_of<'c>(run: Op<'c>) -> &'c str {
    run.attr("kernel").and_then(attr::symbol).unwrap_or("")
}
