//! Scalars between nests move into the bodies that use them.
//!
//! ```text
//! %s = tensor.extract %t[]; %r = arith.addf %s, %c; generic { ^bb0(%x): mulf %x, %r }
//!   ->  generic { ^bb0(%x): %s = tensor.extract %t[]; %r = arith.addf %s, %c; mulf %x, %r }
//! ```
//!
//! A scalar operand of a nest is one that its body uses. Constants stay where they are: kernels
//! take them along.

use weft_dialects::ir::{Block, Builder, Context, Mapping, Op, Val, attr, ty};

use crate::nest::{captured, generic_inputs};

/// Moves the scalars of `block` into its nests.
pub(super) fn sink<'c>(context: &'c Context, block: Block<'c>) {
    for op in block.ops().into_iter().filter(|op| op.is("linalg.generic")) {
        let op = without_scalar_operands(context, op);
        let Some(body) = op.body(0) else { continue };
        while let Some((value, made_by)) = scalar_from_outside(body) {
            let Some(first) = body.iter().next() else { break };
            let copy = Builder::before(context, first).clone_op(made_by, &mut Mapping::default());
            replace_inside(op, value, copy.result(value.index()));
        }
    }
    // In reverse order, so that what only dead scalars used is dead, too.
    for op in block.ops().into_iter().rev() {
        if is_scalar(op) && op.results().iter().all(|value| value.uses().is_empty()) {
            op.erase();
        }
    }
}

/// Returns whether an operation gives scalars and does nothing else; `scf.if` becomes a straight
/// line once it is in a body.
fn is_scalar(op: Op<'_>) -> bool {
    !op.results().is_empty()
        && op.results().iter().all(|value| !ty::is_tensor(value.ty()))
        && (op.region_count() == 0 || op.is("scf.if"))
}

/// A scalar that a body uses and that is computed beside its nest.
fn scalar_from_outside<'c>(body: Block<'c>) -> Option<(Val<'c>, Op<'c>)> {
    captured(body).into_iter().find_map(|value| {
        let made_by = value.def().filter(|op| !op.is("arith.constant") && is_scalar(*op));
        made_by.map(|op| (value, op))
    })
}

fn replace_inside<'c>(nest: Op<'c>, old: Val<'c>, new: Val<'c>) {
    for (user, operand) in old.uses() {
        if user.ancestors().any(|op| op == nest) {
            user.set_operand(operand, new);
        }
    }
}

/// The nest with tensors as its only operands.
fn without_scalar_operands<'c>(context: &'c Context, op: Op<'c>) -> Op<'c> {
    let (operands, inputs) = (op.operands(), generic_inputs(op));
    if operands.iter().all(|operand| ty::is_tensor(operand.ty())) {
        return op;
    }
    let maps = op.attr("indexing_maps").and_then(attr::array).unwrap_or_default();
    let body = op.body(0).expect("linalg.generic has a body");
    let axes = op.attr("iterator_types").and_then(attr::array).unwrap_or_default();
    let mut b = Builder::before(context, op);
    let kept: Vec<usize> =
        (0..operands.len()).filter(|&at| ty::is_tensor(operands[at].ty())).collect();
    let tensors: Vec<_> = kept.iter().map(|&at| operands[at]).collect();
    let inputs = kept.iter().filter(|&&at| at < inputs).count();
    let results: Vec<_> = tensors[inputs..].iter().map(|tensor| tensor.ty()).collect();
    let maps: Vec<_> = kept.iter().map(|&at| maps[at]).collect();
    let segments = [inputs as i32, results.len() as i32];
    let attributes = [
        ("indexing_maps", attr::of_array(context, &maps)),
        ("iterator_types", attr::of_array(context, &axes)),
        ("operandSegmentSizes", attr::of_ints32(context, &segments)),
    ];
    let new = b.op_with("linalg.generic", &tensors, &results, &attributes, 1);
    let types: Vec<_> = kept.iter().map(|&at| body.arg(at).ty()).collect();
    let block = b.block(new.region(0), &types);
    let mut tensors = block.args().into_iter();
    let args: Vec<_> = operands
        .iter()
        .map(|&operand| match ty::is_tensor(operand.ty()) {
            true => tensors.next().expect("one argument for each tensor"),
            false => operand,
        })
        .collect();
    let mut inside = b.into_block(block);
    let mut map = Mapping::default();
    for (old, new) in body.args().into_iter().zip(args) {
        map.set(old, new);
    }
    for inner in body.ops() {
        inside.clone_op(inner, &mut map);
    }
    for (old, new) in op.results().into_iter().zip(new.results()) {
        old.replace_with(new);
    }
    op.erase();
    new
}
