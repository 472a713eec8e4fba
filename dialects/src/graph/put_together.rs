//! Tensors that are put together part by part, of which some have a length: each part begins where those
//! before it end in a run.
//!
//! ```text
//! %1 = tensor.insert_slice %old into %0[0, 0]      %old: 512 x 64, "past" rows
//! %2 = tensor.insert_slice %new into %1[512, 0]
//!   ->  %n = graph.length "past"; %2 = tensor.insert_slice %new into %1[%n, 0]
//! ```

use weft_runtime::length::Length;

use super::build;
use super::infer_lengths::{Dims, InferError, Inference, either, in_all_of};
use crate::ir::{Builder, Op, attr, ty};
use crate::lengths::{self, OF_AXES};

/// How far a tensor is put together.
#[derive(Clone, Debug)]
pub(super) struct Filled {
    dim: usize,
    /// Elements that are laid out.
    extent: u64,
    /// Elements that there are.
    length: Length,
}

impl<'c> Inference<'_, 'c> {
    /// What a tensor is filled with before a part that comes right behind it, where one of the parts has a
    /// length along the dimension.
    pub(super) fn is_next_part(&self, op: Op<'c>) -> Option<Filled> {
        let [source, target] = [op.operand(0), op.operand(1)];
        let read = |name: &str| op.attr(name).and_then(attr::ints);
        let (offsets, strides) = (read("static_offsets")?, read("static_strides")?);
        let (part, whole) = (ty::shape(source.ty())?, ty::shape(target.ty())?);
        let cut: Vec<usize> = (0..whole.len()).filter(|&dim| part[dim] != whole[dim]).collect();
        let &[dim] = &cut[..] else { return None };
        if strides.iter().any(|&stride| stride != 1) || part.len() != whole.len() {
            return None;
        }
        let fresh = target.def().is_some_and(|op| op.is("tensor.empty"));
        let none = Filled { dim, extent: 0, length: Length::default() };
        let before = if fresh { none } else { self.filled.get(&target)?.clone() };
        (before.dim == dim && offsets[dim] == before.extent as i64).then_some(before)
    }

    /// The dimension along which a part begins where the rows of a tensor end, by a `graph.length`.
    pub(super) fn is_behind(&self, op: Op<'c>) -> Option<usize> {
        let read = |name: &str| op.attr(name).and_then(attr::ints);
        let (offsets, strides) = (read("static_offsets")?, read("static_strides")?);
        let at = |dim: &usize| offsets[*dim] == i64::MIN;
        let dims: Vec<usize> = (0..offsets.len()).filter(at).collect();
        let ([dim], [_, target, place]) = (&dims[..], &op.operands()[..]) else { return None };
        let place = place.def().filter(|op| op.is("graph.length"))?;
        let place = lengths::read(place.attr("length").and_then(attr::string)?).ok()??;
        let others = (0..offsets.len()).all(|other| other == *dim || offsets[other] == 0);
        let plain = others && strides.iter().all(|&stride| stride == 1);
        (plain && self.of(*target)[*dim].as_ref() == Some(&place)).then_some(*dim)
    }

    /// A tensor with a part behind its rows is as much longer.
    pub(super) fn longer(&mut self, op: Op<'c>, dim: usize) -> Result<(), InferError> {
        let [source, target] = [op.operand(0), op.operand(1)];
        let (from, into) = (self.of(source), self.of(target));
        let part = ty::shape(source.ty()).unwrap_or_default();
        let own = from[dim].clone().unwrap_or_else(|| Length::number(part[dim] as i64));
        let longer = into[dim].as_ref().map(|rows| rows.plus(&own, 1));
        let agreed = |(at, (from, into)): (usize, (Option<Length>, Option<Length>))| match at {
            at if at == dim => Ok(None),
            _ => either(from, into),
        };
        let pairs = from.iter().cloned().zip(into).enumerate();
        let mut dims: Dims = pairs.map(agreed).collect::<Result<_, _>>()?;
        in_all_of(&dims, source, target)?;
        dims[dim] = longer;
        self.write(op, &from);
        self.set(op.result(0), dims);
        Ok(())
    }

    /// Lets a part begin where those before it end in a run.
    pub(super) fn put_behind(&mut self, op: Op<'c>, before: &Filled) -> Result<(), InferError> {
        let [source, target] = [op.operand(0), op.operand(1)];
        let dim = before.dim;
        let (from, into) = (self.of(source), self.of(target));
        let part = ty::shape(source.ty()).unwrap_or_default();
        let whole = ty::shape(target.ty()).unwrap_or_default();
        let agreed = |(at, (from, into)): (usize, (Option<Length>, Option<Length>))| match at {
            at if at == dim => Ok(None),
            _ => either(from, into),
        };
        let pairs = from.iter().cloned().zip(into).enumerate();
        let mut dims: Dims = pairs.map(agreed).collect::<Result<_, _>>()?;
        let own = from[dim].clone();
        let length = own.clone().unwrap_or_else(|| Length::number(part[dim] as i64));
        let filled = Filled {
            dim,
            extent: before.extent + part[dim],
            length: before.length.plus(&length, 1),
        };
        let mut copied = dims.clone();
        copied[dim] = own;
        self.write(op, &copied);
        let op = self.begin_at(op, dim, &before.length);
        if filled.extent == whole[dim] && filled.length.as_number().is_none() {
            dims[dim] = Some(filled.length.clone());
        }
        self.set(op.result(0), dims);
        self.filled.insert(op.result(0), filled);
        Ok(())
    }

    /// The same slice at a place that is known when it runs, where it is none already.
    fn begin_at(&self, op: Op<'c>, dim: usize, place: &Length) -> Op<'c> {
        if place.as_number().is_some() {
            return op;
        }
        let mut b = Builder::before(self.context, op);
        let at = build::length(&mut b, place);
        let mut offsets = op.attr("static_offsets").and_then(attr::ints).unwrap_or_default();
        offsets[dim] = i64::MIN;
        let operands = [op.operand(0), op.operand(1), at];
        let kept = ["static_sizes", "static_strides", OF_AXES];
        let mut attributes: Vec<_> =
            kept.iter().filter_map(|&name| Some((name, op.attr(name)?))).collect();
        attributes.push(("static_offsets", attr::of_ints(self.context, &offsets)));
        attributes.push(("operandSegmentSizes", attr::of_ints32(self.context, &[1, 1, 1, 0, 0])));
        let types = [op.result(0).ty()];
        let new = b.op_with("tensor.insert_slice", &operands, &types, &attributes, 0);
        op.result(0).replace_with(new.result(0));
        op.erase();
        new
    }
}
