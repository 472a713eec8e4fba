//! From a payload's nests to kernels, and their application.

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::payload::Axis;
use weft_dialects::ir::{Form, Linear, Op, Report, Val, attr, ty};
use weft_dialects::tile::build::RunOp;

use super::border;
use super::payload_tensor::PayloadTensor;
use super::{Conversion, Cut};
use crate::nest::{self, Access, Capture, Nest, NestError, Start};

impl<'c> Conversion<'c> {
    pub(super) fn generic(&mut self, cut: &mut Cut<'c>, op: Op<'c>) -> Result<(), Failed> {
        if starts_another(op) || border::surrounds(op, self.cache) {
            cut.tensors.insert(op.result(0), PayloadTensor::Start(op));
            return Ok(());
        }
        self.nest(cut, op)
    }

    /// Makes the kernel of a `linalg.generic` and applies it.
    pub(super) fn nest(&mut self, cut: &mut Cut<'c>, op: Op<'c>) -> Result<(), Failed> {
        let nest = self.read(cut, op)?;
        let results = self.apply(cut, nest)?;
        for (old, new) in op.results().into_iter().zip(results) {
            let new = self.view(new, old.ty());
            cut.tensors.insert(old, PayloadTensor::Tensor(new));
        }
        Ok(())
    }

    pub(super) fn read(&mut self, cut: &mut Cut<'c>, op: Op<'c>) -> Result<Nest<'c>, Failed> {
        let say = |error: NestError| {
            Report::new(op.location(), error.to_string());
            Failed
        };
        let axes = nest::generic_axes(op).map_err(say)?;
        let mut accesses = nest::generic_accesses(op).map_err(say)?;
        let outs = accesses.split_off(nest::generic_inputs(op));
        let mut inputs = Vec::new();
        for access in &accesses {
            inputs.push(self.access(cut, access.clone())?);
        }
        // A kernel takes the extent of an axis from a dimension where it stands alone: an axis that
        // only strided windows have needs one of them as a tensor of its own.
        for axis in 0..axes.len() {
            if stands_alone(axis, inputs.iter().chain(&outs)) {
                continue;
            }
            let Some(at) = accesses.iter().position(|access| access.uses(axis)) else { continue };
            let tensor = self.tensor(cut, accesses[at].tensor)?;
            inputs[at] = Access { tensor, ..accesses[at].clone() };
        }
        let (mut outputs, mut starts) = (Vec::new(), Vec::new());
        for (number, out) in outs.into_iter().enumerate() {
            let read = nest::reads_output(op, number);
            let piece = cut.tensors.get(&out.tensor).cloned().ok_or(Failed)?;
            let mut tensor = None;
            starts.push(match piece {
                _ if !read => Start::Unread,
                PayloadTensor::Empty(_) => Start::Unread,
                PayloadTensor::Start(start) => {
                    let mut own = nest::generic_accesses(start).map_err(say)?;
                    let place = own.split_off(nest::generic_inputs(start)).remove(0);
                    let own = own
                        .into_iter()
                        .map(|access| self.access(cut, access))
                        .collect::<Result<Vec<_>, _>>()?;
                    let inputs =
                        nest::rebase(own, &place.index, &out.index, axes.len()).map_err(say)?;
                    Start::From { inputs, body: start.body(0).ok_or(Failed)? }
                }
                PayloadTensor::Tensor(_) | PayloadTensor::Window(_) | PayloadTensor::Border(_) => {
                    tensor = Some(self.own_copy(cut, out.tensor)?);
                    Start::Held
                }
            });
            let tensor = match tensor {
                Some(tensor) => tensor,
                None => self.empty(out.tensor.ty()),
            };
            outputs.push(Access { tensor, ..out });
        }
        let body = op.body(0).ok_or(Failed)?;
        let mut captures = Vec::new();
        for value in nest::captured(body) {
            if ty::is_tensor(value.ty()) {
                captures.push(Capture { value, tensor: self.tensor(cut, value)? });
            }
        }
        Ok(Nest { axes, inputs, outputs, body, starts, epilogue: None, captures })
    }

    pub(super) fn access(
        &mut self,
        cut: &mut Cut<'c>,
        access: Access<'c>,
    ) -> Result<Access<'c>, Failed> {
        // A window whose place callers, or rounds, decide is copied: one run sees a tensor from there on.
        if let Some(PayloadTensor::Window(window)) = cut.tensors.get(&access.tensor)
            && window.shift.is_none()
        {
            return Ok(window.access(access.index));
        }
        if let Some(PayloadTensor::Border(op)) = cut.tensors.get(&access.tensor).cloned() {
            let inside = self.tensor(cut, op.operand(0))?;
            self.bordered.insert(access.tensor, inside);
            return Ok(access);
        }
        let tensor = self.tensor(cut, access.tensor)?;
        Ok(Access { tensor, ..access })
    }

    /// Simplifies a nest, makes or finds its kernel, and applies it.
    pub(super) fn apply(
        &mut self,
        cut: &Cut<'c>,
        mut nest: Nest<'c>,
    ) -> Result<Vec<Val<'c>>, Failed> {
        if nest.axes.iter().any(|axis| axis.extent == 0) {
            return self.apply_empty(cut, nest);
        }
        let index = nest.simplify();
        let mut operands: Vec<Val<'c>> = Vec::new();
        for access in nest.reads() {
            let ty = ty::tensor(&access.shape_in_memory(), access.elem());
            let tensor = self.bordered.get(&access.tensor).copied().unwrap_or(access.tensor);
            operands.push(self.view(tensor, ty));
        }
        operands.extend(nest.captures.iter().map(|capture| capture.tensor));
        let inputs = operands.len();
        for access in &nest.outputs {
            let ty = ty::tensor(&access.shape, access.elem());
            operands.push(self.view(access.tensor, ty));
        }
        let fixed: String = operands[..inputs]
            .iter()
            .map(|operand| if self.constants.contains(operand) { 'c' } else { 'v' })
            .collect();
        let kernel = self.kernel(cut.kind, &nest, &index, &fixed);
        let (inputs, inits) = operands.split_at(inputs);
        let run = RunOp { name: cut.name, kernel: &kernel, inputs, inits, at: &[] };
        let run = run.build(&mut self.b);
        self.runs += 1;
        let inits_fixed = nest.starts.iter().zip(&nest.outputs).all(|(start, output)| {
            !matches!(start, Start::Held) || self.constants.contains(&output.tensor)
        });
        if inits_fixed && !fixed.contains('v') {
            self.constants.extend(run.results());
        }
        // Callers know the shapes from before the axes were fused.
        Ok(run
            .results()
            .into_iter()
            .zip(&nest.outputs)
            .map(|(result, output)| self.view(result, output.tensor.ty()))
            .collect())
    }

    /// A nest without points: its outputs are what they start with.
    pub(super) fn apply_empty(
        &mut self,
        cut: &Cut<'c>,
        nest: Nest<'c>,
    ) -> Result<Vec<Val<'c>>, Failed> {
        let parallel: Vec<usize> =
            (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis)).collect();
        let none = parallel.iter().any(|&axis| nest.axes[axis].extent == 0);
        let keep = |access: Access<'c>| Access {
            index: access
                .index
                .iter()
                .map(|index| Linear {
                    coefficients: parallel.iter().map(|&axis| index.coefficients[axis]).collect(),
                    constant: index.constant,
                })
                .collect(),
            ..access
        };
        let mut results = Vec::new();
        for (start, output) in nest.starts.into_iter().zip(nest.outputs) {
            results.push(match start {
                Start::From { inputs, body } if !none => {
                    let nest = Nest {
                        axes: parallel.iter().map(|&axis| nest.axes[axis]).collect(),
                        inputs: inputs.into_iter().map(keep).collect(),
                        outputs: vec![keep(output)],
                        body,
                        starts: vec![Start::Unread],
                        epilogue: None,
                        captures: Vec::new(),
                    };
                    self.apply(cut, nest)?[0]
                }
                _ => output.tensor,
            });
        }
        Ok(results)
    }

    /// The name of the kernel for a nest; equal ones are one, unless their
    /// constant operands differ: weights may be laid out for their kernel.
    pub(super) fn kernel(
        &mut self,
        kind: &str,
        nest: &Nest<'c>,
        index: &[Linear],
        fixed: &str,
    ) -> String {
        let kernel = nest::emit_kernel(self.context, self.module, "kernel", nest, index);
        let key = (fixed.to_owned(), Form::of(kernel));
        if let Some(name) = self.known.by_form.get(&key) {
            kernel.erase();
            return name.clone();
        }
        let stem: String = kind
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
            .collect();
        let number = self.known.names.entry(stem.clone()).or_insert(0);
        let name = format!("{stem}_{number}");
        *number += 1;
        kernel.set_attr("sym_name", attr::of_string(self.context, &name));
        self.known.by_form.insert(key, name.clone());
        name
    }
}

/// Returns whether some access has a dimension for this axis on its own, from any place on.
fn stands_alone<'a, 'c: 'a>(
    axis: usize,
    mut accesses: impl Iterator<Item = &'a Access<'c>>,
) -> bool {
    accesses.any(|access| access.index.iter().any(|index| index.as_moved_axis() == Some(axis)))
}

/// Returns whether a parallel nest does nothing but give one other nest its start.
pub fn starts_another(op: Op<'_>) -> bool {
    let [result] = op.results()[..] else { return false };
    let [(user, operand)] = result.uses()[..] else { return false };
    let parallel = nest::generic_axes(op)
        .is_ok_and(|axes| axes.iter().all(|axis| axis.kind == Axis::Parallel));
    let plain = nest::generic_accesses(op).is_ok_and(|accesses| {
        accesses.last().is_some_and(|out| out.index.iter().all(|index| index.as_axis().is_some()))
    });
    let body = op.body(0).expect("linalg.generic has a body");
    let asks = body.ops().iter().any(|op| nest::index_axis(*op).is_some());
    let reads = nest::captured(body).iter().any(|value| ty::is_tensor(value.ty()));
    user.is("linalg.generic")
        && operand >= nest::generic_inputs(user)
        && user.block() == op.block()
        && parallel
        && plain
        && !asks
        && !reads
        && !nest::reads_output(op, 0)
        && nest::reads_output(user, operand - nest::generic_inputs(user))
}
