//! Places that are counted from the end of a length: the last rows of as many as there are.
//!
//! ```text
//! x[:, -1:]  with "seq" rows  ->  Gather(x, [seq - 1], axis = 1)
//! ```

use weft_runtime::length::Length;

use super::{Bound, Planner, Source, Value};
use crate::elements::Elements;
use crate::error::Result;
use crate::node::Node;
use crate::ops::gather::looked_up;
use crate::plan::ValueId;
use crate::types::TensorType;

impl Planner<'_> {
    /// The value of a tensor of integers that follow from lengths, which are `extents` at their greatest.
    pub(super) fn places(
        &mut self,
        extents: &[i64],
        ty: TensorType,
        numbers: Vec<Length>,
    ) -> ValueId {
        let known = Elements::from_ints(extents).reshaped(ty.clone());
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
    pub(super) fn last_of(&mut self, node: &Node<'_>, name: &str) -> Result<Option<ValueId>> {
        let ints = |at: usize, name: &str| node.known_ints(at, name);
        if node.op() != "Slice" || node.opset < 10 {
            return Ok(None);
        }
        let data = node.input(0, "data")?;
        let (Some(starts), Some(ends)) = (ints(1, "starts")?, ints(2, "ends")?) else {
            return Ok(None);
        };
        let axes = ints(3, "axes")?.unwrap_or_else(|| (0..starts.len() as i64).collect());
        let steps = ints(4, "steps")?.unwrap_or_else(|| vec![1; starts.len()]);
        let ([start], [end], [axis], [1]) = (&starts[..], &ends[..], &axes[..], &steps[..]) else {
            return Ok(None);
        };
        let (axis, value) = (node.axis(*axis, data.rank())?, &self.graph.values[data.id.0]);
        let follows = |at: usize| {
            let own = node.optional(at).map(|operand| &self.graph.values[operand.id.0]);
            own.is_some_and(|own| own.numbers.is_some())
        };
        let (Some(length), false) = (value.dims[axis].clone(), follows(1) || follows(2)) else {
            return Ok(None);
        };
        let extent = data.dims()[axis];
        let end = if *end >= extent { 0 } else { *end };
        let least = self.graph.symbols.range(&length).map_or(0, |[least, _]| least);
        if *start >= 0 || end > 0 || end <= *start || start + least < 0 {
            return Ok(None);
        }
        let extents: Vec<i64> = (*start..end).map(|at| at + extent).collect();
        let numbers = (*start..end).map(|at| length.plus(&Length::number(at), 1)).collect();
        let ty = Elements::from_ints(&extents).ty().clone();
        let places = self.places(&extents, ty, numbers);
        let plan = looked_up(data, &self.operand(places), axis);
        Ok(Some(self.step("Gather", name, plan)[0]))
    }
}
