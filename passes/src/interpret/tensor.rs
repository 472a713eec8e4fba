//! `tensor` operations: views where elements stay where they are, copies elsewhere.

use weft_dialects::ir::{Op, attr};
use weft_runtime::vm::Nest;

use super::compiler::{Bound, Compiler};
use super::error::InterpretError;
use super::scope::Scope;
use super::view::View;
use crate::length::{self, Length};

/// The accepted slices, for messages.
const STATIC: &str = "offsets, sizes and strides that are numbers in the text";

impl<'c> Compiler<'c> {
    /// Gives the same elements another shape.
    pub fn reshape(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let (source, result) = (op.operand(0), op.result(0));
        let (ty, shape) = self.typed(op, result)?;
        if let Some(Bound::Empty(..)) = self.bound(source) {
            self.bind(result, Bound::Empty(ty, shape));
            return Ok(());
        }
        let mut view = self.view(op, source)?;
        if view.count() != shape.iter().product::<u64>() {
            let found = format!("{} elements as {shape:?}", view.count());
            return Err(InterpretError::form(op, found, "the same number of elements"));
        }
        if !view.is_contiguous() {
            let row = self.fresh(ty, &view.shape);
            self.copy(&view, &row);
            view = row;
        }
        self.bind_view(result, view.reshape(&shape).expect("it lies in a row now"));
        Ok(())
    }

    /// `tensor.extract_slice`.
    pub fn extract_slice(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let (_, shape) = self.typed(op, op.result(0))?;
        let view = self.view(op, op.operand(0))?;
        let (window, _) = window(op, &view, 1, &shape)?;
        self.bind_view(op.result(0), window);
        Ok(())
    }

    /// `tensor.insert_slice`.
    pub fn insert_slice(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let (source, target) = (op.operand(0), op.operand(1));
        if op.operands().len() > 2 {
            return self.insert_behind(op);
        }
        let (_, shape) = self.typed(op, source)?;
        let (_, full) = self.typed(op, target)?;
        let (_, all) = window(op, &View::whole(0, &full), 2, &shape)?;
        let empty = matches!(self.bound(source), Some(Bound::Empty(..)));
        let from = if empty { None } else { Some(self.view(op, source)?) };
        let to = self.destination(op, target, all)?;
        let (window, _) = window(op, &to, 2, &shape)?;
        if let Some(from) = from {
            self.copy(&from, &window);
        }
        self.bind_view(op.result(0), to);
        Ok(())
    }

    /// A `tensor.insert_slice` at places that are lengths, of no more than there is in a run.
    fn insert_behind(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        const PLACES: &str = "places that are numbers or lengths which are found before";
        let refuse = |found: &str| InterpretError::form(op, found, PLACES);
        let (source, target) = (op.operand(0), op.operand(1));
        let (_, shape) = self.typed(op, source)?;
        let (_, full) = self.typed(op, target)?;
        let offsets = op.attr("static_offsets").and_then(attr::ints).unwrap_or_default();
        let strides = op.attr("static_strides").and_then(attr::ints).unwrap_or_default();
        if offsets.len() != full.len()
            || shape.len() != full.len()
            || strides.iter().any(|own| *own != 1)
        {
            return Err(refuse("other strides than 1, or another number of dimensions"));
        }
        let lengths = length::of_axes(op, shape.len()).map_err(|why| refuse(&why))?;
        let names = |name: &str| self.known.get(name).copied();
        let limit = |(&extent, length): (&u64, Option<&Length>)| {
            let own = length.and_then(|length| u64::try_from(length.value(&names)?).ok());
            own.map_or(extent, |own| own.min(extent))
        };
        let sizes: Vec<u64> = shape.iter().zip(lengths).map(limit).collect();
        let mut places = op.operands().into_iter().skip(2);
        let mut place = |&offset: &i64| match offset {
            i64::MIN => length::asked(places.next()?.def()?)?.value(&names),
            fixed => Some(fixed),
        };
        let places = offsets.iter().map(&mut place).collect::<Option<Vec<i64>>>();
        let places = places.ok_or_else(|| refuse("some are computed"))?;
        let mut ends = places.iter().zip(&sizes).zip(&full);
        if ends.any(|((&place, &size), &dim)| place < 0 || place as u64 + size > dim) {
            return Err(refuse("a window that is not inside of the tensor"));
        }
        let from = self.view(op, source)?;
        let to = self.destination(op, target, false)?;
        let ones = vec![1; shape.len()];
        let from = from.slice(&vec![0; shape.len()], &sizes, &ones);
        self.copy(&from, &to.slice(&places, &sizes, &ones));
        self.bind_view(op.result(0), to);
        Ok(())
    }

    /// `tensor.pad` with static borders.
    pub fn pad(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        const BORDERS: &str = "borders that are numbers in the text";
        let (ty, shape) = self.typed(op, op.result(0))?;
        let low = op.attr("static_low").and_then(attr::ints).unwrap_or_default();
        let high = op.attr("static_high").and_then(attr::ints).unwrap_or_default();
        if op.operands().len() != 1 || low.len() != shape.len() {
            return Err(InterpretError::form(op, "borders are computed", BORDERS));
        }
        let from = self.view(op, op.operand(0))?;
        let to = self.fresh(ty, &shape);
        self.compute_everywhere(op, &to)?;
        // A border below zero cuts off.
        let cut: Vec<i64> = low.iter().map(|&low| (-low).max(0)).collect();
        let place: Vec<i64> = low.iter().map(|&low| low.max(0)).collect();
        let borders = from.shape.iter().zip(low.iter().zip(&high));
        let left: Vec<u64> = borders
            .map(|(&dim, (low, high))| (dim as i64 + low.min(&0) + high.min(&0)).max(0) as u64)
            .collect();
        let ones = vec![1; shape.len()];
        self.copy(&from.slice(&cut, &left, &ones), &to.slice(&place, &left, &ones));
        self.bind_view(op.result(0), to);
        Ok(())
    }

    /// `tensor.concat`.
    pub fn concat(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let (ty, shape) = self.typed(op, op.result(0))?;
        let axis = op.attr("dim").and_then(attr::int).and_then(|dim| usize::try_from(dim).ok());
        let axis = axis.filter(|&axis| axis < shape.len());
        let axis = axis.ok_or_else(|| InterpretError::form(op, "no such dimension", "its own"))?;
        let to = self.fresh(ty, &shape);
        let mut offsets = vec![0; shape.len()];
        for operand in op.operands() {
            let from = self.view(op, operand)?;
            self.copy(&from, &to.slice(&offsets, &from.shape, &vec![1; shape.len()]));
            offsets[axis] += from.shape[axis] as i64;
        }
        self.bind_view(op.result(0), to);
        Ok(())
    }

    /// `tensor.from_elements`.
    pub fn elements(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let (ty, shape) = self.typed(op, op.result(0))?;
        let to = self.fresh(ty, &shape);
        let mut scope = Scope::new(Nest::parallel(&[]));
        self.capture(&mut scope, &[op]);
        for (at, operand) in op.operands().into_iter().enumerate() {
            let reg = self.reg(&mut scope, op, operand)?;
            let mut element = to.access(0, &[]);
            element.offset += at as i64;
            scope.nest.store(element, reg);
        }
        self.push(scope.nest);
        self.bind_view(op.result(0), to);
        Ok(())
    }
}

/// The window of `view` that a slice means, as `shape`, and whether it is all of it.
///
/// `tensors` is how many operands are tensors; the others would be computed numbers.
fn window(
    op: Op<'_>,
    view: &View,
    tensors: usize,
    shape: &[u64],
) -> Result<(View, bool), InterpretError> {
    let rank = view.shape.len();
    let read = |name: &str| op.attr(name).and_then(attr::ints).filter(|all| all.len() == rank);
    let parts = (read("static_offsets"), read("static_sizes"), read("static_strides"));
    let (Some(offsets), Some(sizes), Some(strides)) = parts else {
        return Err(InterpretError::form(op, "not one number per dimension", STATIC));
    };
    if op.operands().len() != tensors {
        return Err(InterpretError::form(op, "some are computed", STATIC));
    }
    let sizes: Vec<u64> = sizes.iter().map(|&size| size as u64).collect();
    let ranges = offsets.iter().zip(&sizes).zip(&strides).zip(&view.shape);
    for (((&offset, &size), &stride), &dim) in ranges.filter(|(((_, size), _), _)| **size > 0) {
        let last = offset + stride * (size as i64 - 1);
        if offset.min(last) < 0 || offset.max(last) >= dim as i64 {
            let found = format!("elements {offset} to {last} of a dimension of {dim}");
            return Err(InterpretError::form(op, found, "a window inside the tensor"));
        }
    }
    let all = sizes == view.shape && strides.iter().all(|&stride| stride == 1);
    let mut window = view.slice(&offsets, &sizes, &strides);
    drop_units(&mut window, shape);
    if window.shape != shape {
        let found = format!("a window of {:?} as {shape:?}", window.shape);
        return Err(InterpretError::form(op, found, "one that differs in dimensions of 1 only"));
    }
    Ok((window, all))
}

/// Drops dimensions of one element that `shape` does not have.
fn drop_units(view: &mut View, shape: &[u64]) {
    let mut wanted = shape.iter().copied().peekable();
    let mut spare = view.shape.len().saturating_sub(shape.len());
    let mut kept = (Vec::new(), Vec::new());
    for (&dim, &stride) in view.shape.iter().zip(&view.strides) {
        if spare > 0 && dim == 1 && wanted.peek() != Some(&1) {
            spare -= 1;
            continue;
        }
        wanted.next();
        kept.0.push(dim);
        kept.1.push(stride);
    }
    // The remaining dimensions are ones at the end, where `shape` has some before.
    while spare > 0 && kept.0.last() == Some(&1) {
        kept.0.pop();
        kept.1.pop();
        spare -= 1;
    }
    (view.shape, view.strides) = kept;
}
