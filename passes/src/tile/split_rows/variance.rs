//! Variances in parts.
//!
//! A part's squares are of distances from its own mean. From any `a`, those of `n` elements with
//! the mean `m_s` are larger by `n (m_s - a)^2`.

use super::rows::{Applied, Graph, folded, in_rows, made_by, of_parts};
use super::write::Writer;
use crate::nest::{Access, scalar_body};
use crate::tile::instruction::combine;
use crate::tile::partial::in_sum;
use crate::tile::views::root;

/// Kernels that sum up squared distances along the rows of `x`.
pub(super) struct Variance<'c> {
    /// `a`, from `sum x`.
    mean: Applied<'c>,
    /// `sum (x - a)^2`, whose input is `x`.
    squares: Applied<'c>,
}

impl<'c> Variance<'c> {
    /// The variance whose mean `mean` finds.
    pub fn at(graph: &mut Graph<'_, 'c>, mean: Applied<'c>) -> Option<Self> {
        if folded(&mean.nest)? != mean.nest.body.arg(0) {
            return None;
        }
        let x = root(mean.nest.inputs[0].tensor);
        let readers = graph.readers(mean.result());
        let squares = readers.into_iter().find_map(|reader| {
            let input = 1 - reader.input.min(1);
            let squares = Applied { input, ..reader };
            (root(squares.nest.inputs.get(input)?.tensor) == x).then_some(squares)
        })?;
        is_squares(&squares).then_some(Self { mean, squares })
    }

    /// The fold that takes longer first.
    pub fn folds(&self) -> Vec<&Applied<'c>> {
        vec![&self.squares, &self.mean]
    }

    /// Writes it in `count` parts, in the place of its kernels.
    pub fn write(self, writer: &mut Writer<'c>, count: u64) -> Option<()> {
        let Self { mean, squares } = self;
        let (at, elem) = (mean.run, mean.elem());
        let (context, scratch) = (writer.context, writer.scratch());
        let parts = writer.parts(&mean, count)?;
        let sum_of = writer.apply_parts(at, mean.run, parts);

        let (axis, elements) = squares.row();
        let elements = (elements / count) as f64;
        let (x, a) = (squares.input, 1 - squares.input);
        let mut own = squares.clone();
        own.nest.body = scalar_body(context, scratch, &[elem; 2], elem, |b, args| {
            let each = b.number(elem, 1.0 / elements);
            let own = b.mul(args[a], each);
            let distance = b.sub(args[x], own);
            let square = b.mul(distance, distance);
            vec![b.add(args[2], square)]
        });
        let (mut nest, index) = writer.parts(&own, count)?;
        nest.inputs[a] = of_parts(&nest.inputs[a], sum_of, axis, count);
        let squares_of = writer.apply_parts(at, squares.run, (nest, index));

        let nest = writer.sum(&mean, sum_of, count)?;
        let whole = writer.apply_plain(at, mean.run, "whole", &nest);
        let mut nest = writer.sum(&squares, squares_of, count)?;
        let rows = in_sum(&squares.nest, &squares.nest.inputs[a]);
        nest.inputs.push(of_parts(&rows, sum_of, nest.axes.len() - 1, count));
        nest.inputs.push(Access { tensor: whole, ..rows });
        nest.body = scalar_body(context, scratch, &[elem; 3], elem, |b, args| {
            let each = b.number(elem, 1.0 / elements);
            let own = b.mul(args[1], each);
            let off = b.sub(own, args[2]);
            let square = b.mul(off, off);
            let number = b.number(elem, elements);
            let more = b.mul(square, number);
            let squares = b.add(args[0], more);
            vec![b.add(args[3], squares)]
        });
        let result = writer.apply_plain(at, squares.run, "whole", &nest);
        writer.replace(mean.run, whole);
        writer.replace(squares.run, result);
        Some(())
    }
}

/// Returns whether a reader of `x` and of what its rows are compared with sums up squared
/// distances.
fn is_squares(reader: &Applied<'_>) -> bool {
    let nest = &reader.nest;
    let ([_, _], [output]) = (&nest.inputs[..], &nest.outputs[..]) else { return false };
    let (x, a) = (reader.input, 1 - reader.input);
    let distance = |value| {
        made_by(value, "arith.subf").is_some_and(|op| {
            op.operand(0) == nest.body.arg(x) && op.operand(1) == nest.body.arg(a)
        })
    };
    let square = folded(nest).and_then(|value| made_by(value, "arith.mulf"));
    let adds = combine(nest).is_some_and(|fold| fold.op.is("arith.addf"));
    let reductions = (0..nest.axes.len()).filter(|&axis| nest.reduces(axis)).count();
    adds && reductions == 1
        && square.is_some_and(|op| op.operands().into_iter().all(distance))
        && in_rows(nest, &nest.inputs[x], &nest.inputs[a])
        && in_rows(nest, &nest.inputs[x], output)
        && nest.reduces(reader.row().0)
}
