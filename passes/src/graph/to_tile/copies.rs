//! Tensors that are written in parts: copies into windows, padding, and tensors of one's own.

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Block, Builder, Linear, Location, Op, Type, Val, attr, module_op, ty};
use weft_dialects::lengths;

use super::payload_tensor::{PayloadTensor, Window};
use super::{Conversion, Cut, refuse};
use crate::length;
use crate::nest::{Access, Loop, Nest, Start};
use crate::tile::views::root;

impl<'c> Conversion<'c> {
    /// Returns a tensor with the content of a payload tensor that nothing else will read.
    pub(super) fn own_copy(
        &mut self,
        cut: &mut Cut<'c>,
        value: Val<'c>,
    ) -> Result<Val<'c>, Failed> {
        let made_here = value.def().is_some_and(|op| {
            op.is("linalg.generic") || op.is("tensor.insert_slice") || op.is("tensor.pad")
        });
        let tensor = match cut.tensors.get(&value).cloned() {
            Some(PayloadTensor::Empty(ty)) => return Ok(self.empty(ty)),
            Some(PayloadTensor::Window(window)) => {
                let fresh = self.empty(value.ty());
                let whole = Window::whole(fresh).ok_or(Failed)?;
                return self.copy(cut, &window, &whole);
            }
            _ => self.tensor(cut, value)?,
        };
        // What is read of it later is another tensor in the program, or reported there.
        if (made_here || self.grown.contains(&tensor)) && value.uses().len() == 1 {
            return Ok(tensor);
        }
        let fresh = self.empty(value.ty());
        let (from, to) =
            (Window::whole(tensor).ok_or(Failed)?, Window::whole(fresh).ok_or(Failed)?);
        self.copy(cut, &from, &to)
    }

    pub(super) fn insert(&mut self, cut: &mut Cut<'c>, op: Op<'c>) -> Result<(), Failed> {
        let (source, target) = (op.operand(0), op.operand(1));
        let from = match cut.tensors.get(&source) {
            Some(PayloadTensor::Window(window)) => window.clone(),
            _ => {
                let tensor = self.tensor(cut, source)?;
                Window::whole(tensor).ok_or(Failed)?
            }
        };
        let place = self.own_copy(cut, target)?;
        let Some(to) = Window::of_slice(op, place) else {
            return refuse(op, "a slice at positions that are not constant");
        };
        if from.sizes.len() != to.sizes.len() {
            return refuse(op, "a slice that drops dimensions");
        }
        let result = self.copy(cut, &from, &to)?;
        cut.tensors.insert(op.result(0), PayloadTensor::Tensor(result));
        Ok(())
    }

    pub(super) fn pad(&mut self, cut: &mut Cut<'c>, op: Op<'c>) -> Result<(), Failed> {
        let value = op.body(0).and_then(|body| body.terminator()).map(|end| end.operand(0));
        let Some(constant) =
            value.and_then(|value| value.def()).filter(|op| op.is("arith.constant"))
        else {
            return refuse(op, "padding with a value that is not constant");
        };
        let Some(low) =
            op.attr("static_low").and_then(attr::ints).filter(|low| !low.contains(&i64::MIN))
        else {
            return refuse(op, "padding by amounts that are not constant");
        };
        let ty = op.result(0).ty();
        let shape = ty::shape(ty).ok_or(Failed)?;
        let body = self.scratch_body(ty, |payload| {
            payload.builder().clone_op(constant, &mut Default::default()).result(0)
        });
        let lengths = length::of_axes(op, shape.len()).map_err(|_| Failed)?;
        let own = shape.iter().zip(lengths);
        let axes: Vec<Loop> =
            own.map(|(&extent, length)| Loop { length, ..Loop::parallel(extent) }).collect();
        let index = (0..axes.len()).map(|axis| Linear::axis(axes.len(), axis)).collect();
        let output = Access { tensor: self.empty(ty), shape, index };
        let fill = Nest {
            axes,
            inputs: Vec::new(),
            outputs: vec![output],
            body,
            starts: vec![Start::Unread],
            epilogue: None,
            captures: Vec::new(),
        };
        let filled = self.apply(cut, fill)?[0];
        let source = self.tensor(cut, op.operand(0))?;
        let lengths = length::of_axes(op, low.len()).map_err(|_| Failed)?;
        let from = Window { lengths, ..Window::whole(source).ok_or(Failed)? };
        let rank = low.len();
        let to = Window {
            tensor: filled,
            offsets: low,
            strides: vec![1; rank],
            sizes: from.sizes.clone(),
            lengths: from.lengths.clone(),
            shift: None,
        };
        let result = self.copy(cut, &from, &to)?;
        cut.tensors.insert(op.result(0), PayloadTensor::Tensor(result));
        Ok(())
    }

    /// Copies one window into another; gives the tensor written to, afterwards.
    pub(super) fn copy(
        &mut self,
        cut: &Cut<'c>,
        from: &Window<'c>,
        to: &Window<'c>,
    ) -> Result<Val<'c>, Failed> {
        let elem = ty::elem(from.tensor.ty()).ok_or(Failed)?;
        let body = match self.copies.get(&elem.to_string()) {
            Some(body) => *body,
            None => {
                let body = self.copy_body(elem);
                self.copies.insert(elem.to_string(), body);
                body
            }
        };
        // Either may say it: who reads a window, or who writes one.
        let lengths = from.lengths.iter().zip(&to.lengths).map(|(from, to)| from.or(*to));
        let axes: Vec<Loop> = from
            .sizes
            .iter()
            .zip(lengths)
            .map(|(&size, length)| Loop { length, ..Loop::parallel(size as u64) })
            .collect();
        let index: Vec<Linear> =
            (0..axes.len()).map(|axis| Linear::axis(axes.len(), axis)).collect();
        // A window leaves the rest of its tensor as it was.
        let whole = Window::whole(to.tensor).is_some_and(|whole| whole.sizes == to.sizes);
        let start = if whole { Start::Unread } else { Start::Held };
        let nest = Nest {
            axes,
            inputs: vec![from.access(index.clone())],
            outputs: vec![to.access(index)],
            body,
            starts: vec![start],
            epilogue: None,
            captures: Vec::new(),
        };
        let results = self.apply(cut, nest)?;
        // The run reads and writes where the windows begin, its only input and output.
        if let Some(run) = root(results[0]).def() {
            let mut shifts = vec![None; run.operands().len()];
            if let [from_shift, .., to_shift] = &mut shifts[..] {
                *from_shift = from.shift.cloned();
                *to_shift = to.shift.cloned();
            }
            lengths::set_shifts(self.context, run, &shifts);
        }
        Ok(results[0])
    }

    pub(super) fn copy_body(&mut self, elem: Type<'c>) -> Block<'c> {
        let ty = ty::tensor(&[1], elem);
        self.scratch_generic(ty, true, |_, args| args[0])
    }

    pub(super) fn scratch_body(
        &mut self,
        ty: Type<'c>,
        value: impl FnOnce(&mut Payload<'c>) -> Val<'c>,
    ) -> Block<'c> {
        let module = module_op(&self.scratch).body(0).expect("a module has a block");
        let mut payload = Payload::new(self.context, module, Location::unknown(self.context));
        let value = value(&mut payload);
        self.scratch_generic(ty, false, |_, _| value)
    }

    /// The body of a parallel nest written into the scratch module.
    pub(super) fn scratch_generic(
        &mut self,
        ty: Type<'c>,
        reads: bool,
        body: impl FnOnce(&mut Builder<'c>, &[Val<'c>]) -> Val<'c>,
    ) -> Block<'c> {
        let module = module_op(&self.scratch).body(0).expect("a module has a block");
        let mut payload = Payload::new(self.context, module, Location::unknown(self.context));
        let shape = ty::shape(ty).unwrap_or_default();
        let tensor = payload.empty(&shape, ty::elem(ty).unwrap_or(ty));
        let rank = shape.len();
        let access = (tensor, (0..rank).map(|axis| Linear::axis(rank, axis)).collect::<Vec<_>>());
        let inputs = if reads { vec![access.clone()] } else { Vec::new() };
        let results =
            payload.generic(&vec![Axis::Parallel; rank], &inputs, &[access], |scalar, args| {
                vec![body(scalar.builder(), args)]
            });
        let generic = results[0].def().expect("a nest gives its results");
        generic.body(0).expect("linalg.generic has a body")
    }
}
