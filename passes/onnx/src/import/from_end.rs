//! Places that are counted from the end of a length: the last rows of as many as there are.
//!
//! ```text
//! x[:, -1:]  with "seq" rows  ->  Gather(x, [seq - 1], axis = 1)
//! ```

use weft_runtime::length::Length;

use super::{Bound, Planner, Source, Value};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::ops::gather::looked_up;
use crate::plan::{Operand, ValueId};
use crate::types::TensorType;

impl Planner<'_> {
    /// The value of a tensor of integers that follow from lengths, which are `extents` at their greatest.
    pub(super) fn places(
        &mut self,
        extents: &[i64],
        ty: TensorType,
        numbers: Vec<Length>,
    ) -> ValueId {
        let scalars = extents.iter().map(|&extent| Scalar::Int(extent.into()));
        let known = Elements::from_scalars(ty.clone(), scalars);
        let source = Source::Literal(known.clone());
        let value = Value::new(source, ty, Some(known), false);
        self.add(Value { numbers: Some(numbers), ..value })
    }

    /// The inputs of a Gather with those of its indices that count from the end of a length counted from
    /// its beginning.
    pub(super) fn counted_from_front(
        &mut self,
        operator: &str,
        axis: Option<i64>,
        inputs: &[Option<Bound>],
    ) -> Option<Vec<Option<Bound>>> {
        let [Some(Bound::Tensor(data)), Some(Bound::Tensor(at))] = inputs[..] else { return None };
        let (data, at) = (&self.graph.values[data.0], &self.graph.values[at.0]);
        let axis = axis.unwrap_or(0);
        let axis = if axis < 0 { axis + data.ty.rank() as i64 } else { axis };
        let length = data.dims.get(usize::try_from(axis).ok()?)?.clone()?;
        let indices = at.known.as_ref().filter(|_| at.numbers.is_none())?.ints()?;
        if operator != "Gather" || indices.iter().all(|&index| index >= 0) {
            return None;
        }
        let extent = data.ty.dims()[axis as usize];
        let own = |&index: &i64| if index < 0 { index + extent } else { index };
        let number = |&index: &i64| match index < 0 {
            true => length.plus(&Length::number(index), 1),
            false => Length::number(index),
        };
        let extents: Vec<i64> = indices.iter().map(own).collect();
        let numbers = indices.iter().map(number).collect();
        let ty = at.ty.clone();
        let places = self.places(&extents, ty, numbers);
        Some(vec![inputs[0].clone(), Some(Bound::Tensor(places))])
    }

    /// The result of a Slice that begins so many elements before the end of a length.
    ///
    /// # Errors
    /// A place that is counted from the end otherwise: for the greatest length it is another one.
    pub(super) fn last_of(&mut self, node: &Node<'_>, name: &str) -> Result<Option<ValueId>> {
        let ints = |at: usize, name: &str| node.known_ints(at, name);
        if node.op() != "Slice" || node.opset < 10 || self.graph.symbols.is_empty() {
            return Ok(None);
        }
        let data = node.input(0, "data")?;
        let (Some(starts), Some(ends)) = (ints(1, "starts")?, ints(2, "ends")?) else {
            return Ok(None);
        };
        let axes = ints(3, "axes")?.unwrap_or_else(|| (0..starts.len() as i64).collect());
        let steps = ints(4, "steps")?.unwrap_or_else(|| vec![1; starts.len()]);
        let follow = [1, 2].iter().any(|&at| node.optional(at).is_some_and(|own| own.follows));
        if let ([start], [end], [axis], [1], false) =
            (&starts[..], &ends[..], &axes[..], &steps[..], follow)
        {
            let axis = node.axis(*axis, data.rank())?;
            if let Some(plan) = self.last_rows(data, axis, (*start, *end)) {
                return Ok(Some(self.step("Gather", name, plan)[0]));
            }
        }
        for (at, &axis) in axes.iter().enumerate().take(starts.len().min(ends.len())) {
            let axis = node.axis(axis, data.rank())?;
            // What begins or ends before the first element does so for every length. One by one there are so many
            // less, if both are counted from one end.
            let inside = |place: i64| place < 0 && place + data.dims()[axis] > 0;
            let jumps = steps.get(at).is_some_and(|&step| step != 1);
            let (start, end) = (starts[at], ends[at]);
            let to_number = (0..data.dims()[axis]).contains(&end);
            let counts = inside(start) && (jumps || to_number) || inside(end) && jumps;
            if let Some(length) = data.length(axis).filter(|_| counts) {
                return Err(node
                    .report(format!("counts from the end of `{length}` elements"))
                    .note(format!("from {} to {} along axis {axis}", starts[at], ends[at]))
                    .help("the last ones, of which there are as many in every run; or one length for the dimension, as --dim NAME=64")
                    .unsupported());
            }
        }
        Ok(None)
    }

    /// Plans rows that begin so many before the end of a length and go on to it, or to so many before it,
    /// where there are as many in every run.
    fn last_rows(&mut self, data: &Operand, axis: usize, (start, end): (i64, i64)) -> Option<Plan> {
        let (length, extent) = (data.length(axis)?.clone(), data.dims()[axis]);
        let end = if end >= extent { Some(0) } else { Some(end).filter(|&end| end < 0) }?;
        let [least, _] = self.graph.symbols.range(&length)?;
        if start >= 0 || end <= start || start + least < 0 {
            return None;
        }
        let extents: Vec<i64> = (start..end).map(|at| at + extent).collect();
        let numbers = (start..end).map(|at| length.plus(&Length::number(at), 1)).collect();
        let ty = Elements::from_ints(&extents).ty().clone();
        let places = self.places(&extents, ty, numbers);
        Some(looked_up(data, &self.operand(places), axis))
    }
}
