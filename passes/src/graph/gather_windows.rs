//! `graph-gather-windows`: convolutions become products of matrices.
//!
//! ```text
//! y[n, f, h, w] += x[n, c, 2h + r, 2w + s] * k[f, c, r, s]
//!   ->  g[n, c, r, s, h, w] = x[n, c, 2h + r, 2w + s]
//!       y[n, f, h, w] += g[n, c, r, s, h, w] * k[f, c, r, s]
//! ```
//!
//! In the second nest (c, r, s) and (h, w) are side by side everywhere, so that `graph-to-tile` joins
//! them: a product, for whatever computes products. The windows are written out, which costs
//! the memory of `r·s` images; Roller's tiles gather them when they are loaded instead, and are
//! constructed for the same product (`tile/roller/fuse.rs`). So the pass is for machines whose
//! moves gather nothing, and is not part of the way down.
//!
//! A window without another operand, as in pooling, or with a channel that both operands have,
//! as in a depthwise convolution, is no product and stays.

use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Context, Linear, Mapping, Op, Val};

use crate::length;
use crate::nest::{Access, Loop, generic_accesses, generic_axes, generic_inputs, index_axis};
use crate::tile::roller::{Dim, Operator};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-gather-windows",
    description: "Write windows out, so that convolutions are products of matrices",
    options: &[],
    statistics: &[("gathered", "convolutions that became products")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let mut nests = Vec::new();
    run.module.walk(&mut |op| {
        if op.is("linalg.generic") {
            nests.push(op);
        }
    });
    for nest in nests {
        if gather(run.context, nest).is_some() {
            run.count("gathered", 1);
        }
    }
    Ok(())
}

/// Gathers the windows of a nest in front of it; `None` where it is no convolution.
fn gather<'c>(context: &'c Context, op: Op<'c>) -> Option<()> {
    let axes = generic_axes(op).ok()?;
    let accesses = generic_accesses(op).ok()?;
    let (inputs, outputs) = accesses.split_at(generic_inputs(op));
    let [output] = outputs else { return None };
    let body = op.body(0)?;
    if body.ops().into_iter().any(|op| index_axis(op).is_some()) {
        return None;
    }
    let (operator, _) = Operator::of_accesses(&axes, inputs, output)?;
    operator.as_product()?;
    let has_window = |at: &usize| operator.inputs[*at].dims.iter().any(Dim::is_window);
    let [window] = (0..2).filter(has_window).collect::<Vec<_>>()[..] else { return None };
    let order = order(&axes, &inputs[window], output);

    let mut b = Payload::before(context, op);
    let gathered = copy(&mut b, &axes, &inputs[window], &order);
    let identity = order.iter().map(|&axis| Linear::axis(axes.len(), axis)).collect();
    let mut operands: Vec<_> =
        inputs.iter().map(|access| (access.tensor, access.index.clone())).collect();
    operands[window] = (gathered, identity);
    let kinds: Vec<_> = axes.iter().map(|axis| axis.kind).collect();
    let target = (output.tensor, output.index.clone());
    let product = b.generic(&kinds, &operands, &[target], |scalar, args| {
        let mut map = Mapping::default();
        for (old, new) in body.args().into_iter().zip(args) {
            map.set(old, *new);
        }
        let mut ops = body.ops();
        let end = ops.pop().expect("a body ends in what it yields");
        for op in ops {
            scalar.builder().clone_op(op, &mut map);
        }
        end.operands().into_iter().map(|value| map.get(value)).collect()
    });
    length::give(context, product[0], &length::of_loops(&axes));
    op.result(0).replace_with(product[0]);
    op.erase();
    Some(())
}

/// The axes along which windows are written out: what the output has before an axis of the
/// other operand, the reductions, and the rest of the output, so that what is side by side in
/// the others is so here.
fn order(axes: &[Loop], window: &Access<'_>, output: &Access<'_>) -> Vec<usize> {
    let placed: Vec<_> = output.index.iter().filter_map(Linear::as_axis).collect();
    let other = placed.iter().rposition(|&axis| !window.uses(axis)).unwrap_or(0);
    let (before, behind) = placed.split_at(other);
    let own = |part: &[usize]| part.iter().copied().filter(|&axis| window.uses(axis)).collect();
    let reductions = (0..axes.len()).filter(|&axis| axes[axis].kind == Axis::Reduction);
    let (before, behind): (Vec<usize>, Vec<usize>) = (own(before), own(behind));
    before.into_iter().chain(reductions).chain(behind).collect()
}

/// A tensor with one dimension per axis of `order`, of what `from` reads there.
fn copy<'c>(b: &mut Payload<'c>, axes: &[Loop], from: &Access<'c>, order: &[usize]) -> Val<'c> {
    let shape: Vec<_> = order.iter().map(|&axis| axes[axis].extent).collect();
    let moved = |index: &Linear| Linear {
        coefficients: order.iter().map(|&axis| index.coefficients[axis]).collect(),
        constant: index.constant,
    };
    let read = from.index.iter().map(moved).collect();
    let written = (0..order.len()).map(|at| Linear::axis(order.len(), at)).collect();
    let empty = b.empty(&shape, from.elem());
    let kinds = vec![Axis::Parallel; order.len()];
    let made =
        b.generic(&kinds, &[(from.tensor, read)], &[(empty, written)], |_, args| vec![args[0]]);
    length::give(b.context(), made[0], &length::of_some(axes, order));
    made[0]
}
