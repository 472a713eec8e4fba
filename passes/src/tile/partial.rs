//! A reduction in parts, each a result of its own, and the fold of those.
//!
//! ```text
//! y[i] = b[i] + sum over k of x[i, k]
//!   ->  p[s, i] = sum over k of x[i, 4096 s + k]
//!       y[i]    = b[i] + sum over s of p[s, i]
//! ```

use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Context, Linear, Location, Op, Type, Val};

use super::instruction::{Identity, combine, identity};
use crate::nest::{Access, Epilogue, Loop, Nest, Start, scalar_body};

/// The nest whose results are those of `count` parts of `axis`, before the start.
pub(super) fn parts<'c>(
    context: &'c Context,
    scratch: Op<'c>,
    nest: &Nest<'c>,
    axis: usize,
    count: u64,
) -> Option<(Nest<'c>, Vec<Linear>)> {
    let fold = combine(nest)?;
    let mut parts = Nest { epilogue: None, ..nest.clone() };
    let elem = nest.sum_type(0);
    let neutral = identity(fold.op.name(), elem)?;
    let start = scalar_body(context, scratch, &[], elem, |b, _| match neutral {
        Identity::Float(value) => vec![b.number(elem, value)],
        Identity::Int(value) => vec![b.integer(elem, value)],
    });
    // Each part begins with what changes nothing.
    parts.starts = vec![Start::From { inputs: Vec::new(), body: start }];
    parts.outputs[0] = close(nest);
    let index = parts.split(axis, parts.axes[axis].extent / count);
    parts.axes[axis].kind = Axis::Parallel;
    let axes = parts.axes.len();
    let output = &mut parts.outputs[0];
    output.shape.insert(0, count);
    output.index.insert(0, Linear::axis(axes, axis));
    output.tensor = empty(context, scratch, &output.shape, elem);
    Some((parts, index))
}

/// The nest that folds the results of `count` parts, with the start and the epilogue of `nest`.
/// Its first input are the results of the parts.
pub(super) fn sum<'c>(
    context: &'c Context,
    scratch: Op<'c>,
    nest: &Nest<'c>,
    count: u64,
) -> Option<Nest<'c>> {
    let fold = combine(nest)?.op.name().to_owned();
    let parallel: Vec<usize> = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis)).collect();
    let last = parallel.len();
    let all = |accesses: &[Access<'c>]| -> Vec<Access<'c>> {
        accesses.iter().map(|access| in_sum(nest, access)).collect()
    };
    let output = in_sum(nest, &nest.outputs[0]);
    let mut input = in_sum(nest, &close(nest));
    input.shape.insert(0, count);
    input.index.insert(0, Linear::axis(last + 1, last));
    let elem = nest.sum_type(0);
    input.tensor = empty(context, scratch, &input.shape, elem);
    let body = scalar_body(context, scratch, &[elem], elem, |b, args| {
        vec![b.same(&fold, &[args[1], args[0]])]
    });
    let mut axes: Vec<Loop> = parallel.iter().map(|&axis| nest.axes[axis]).collect();
    axes.push(Loop::reduction(count));
    let starts = nest.starts.iter().map(|start| match start {
        Start::From { inputs, body } => Start::From { inputs: all(inputs), body: *body },
        other => other.clone(),
    });
    Some(Nest {
        axes,
        inputs: vec![input],
        outputs: vec![output],
        body,
        starts: starts.collect(),
        epilogue: nest
            .epilogue
            .as_ref()
            .map(|epilogue| Epilogue { inputs: all(&epilogue.inputs), body: epilogue.body }),
        captures: Vec::new(),
    })
}

/// The output of a nest as a tensor without room between its elements: what is written into a part of
/// another tensor, a plane inside its border, say, is all of its own.
fn close<'c>(nest: &Nest<'c>) -> Access<'c> {
    let (axes, output) = (nest.axes.len(), &nest.outputs[0]);
    let is_axis = |(index, &extent): (&Linear, &u64)| {
        extent == 1 || index.as_axis().is_some_and(|axis| nest.axes[axis].extent == extent)
    };
    if output.index.iter().zip(&output.shape).all(is_axis) {
        return output.clone();
    }
    let mut own: Vec<usize> = (0..axes).filter(|&axis| !nest.reduces(axis)).collect();
    own.sort_by_key(|&axis| std::cmp::Reverse(output.stride(axes, axis)));
    let shape = own.iter().map(|&axis| nest.axes[axis].extent).collect();
    let index = own.iter().map(|&axis| Linear::axis(axes, axis)).collect();
    Access { shape, index, ..output.clone() }
}

/// A tensor that stands for one of sums, whose type is not always that of what is stored.
fn empty<'c>(context: &'c Context, scratch: Op<'c>, shape: &[u64], elem: Type<'c>) -> Val<'c> {
    let block = scratch.body(0).expect("a module has a block");
    Payload::new(context, block, Location::unknown(context)).empty(shape, elem)
}

/// An access of `nest` that moves along no reduction, over the axes of [`sum`]: those of `nest`
/// that do not reduce, and the parts.
pub(super) fn in_sum<'c>(nest: &Nest<'c>, access: &Access<'c>) -> Access<'c> {
    let kept: Vec<usize> = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis)).collect();
    let own = |index: &Linear| Linear {
        coefficients: kept.iter().map(|&axis| index.coefficients[axis]).chain([0]).collect(),
        constant: index.constant,
    };
    Access { index: access.index.iter().map(own).collect(), ..access.clone() }
}
