//! `linalg` operations, and what computes every element of a tensor the same way.

use weft_dialects::ir::{Block, Op, ty};
use weft_runtime::vm::Nest;

use super::compiler::{Bound, Compiler, is_number};
use super::error::InterpretError;
use super::generic::Generic;
use super::scalar::{form, instruction};
use super::scope::Scope;
use super::view::View;

impl<'c> Compiler<'c> {
    /// `linalg.generic`, and named operations that say their maps.
    pub fn generic(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let generic = Generic::of(op, &self.known)?;
        let axes = generic.extents.len();
        let mut scope = Scope::new(Nest::new(&generic.extents, &generic.parallel()));
        let mut outputs = Vec::new();
        for (operand, index, arg) in generic.outputs() {
            let (_, shape) = self.typed(op, operand)?;
            let overwritten = arg.uses().is_empty() && generic.covers(index, &shape);
            let view = self.destination(op, operand, overwritten)?;
            outputs.push((view.access(axes, index), view, arg));
        }
        let mut numbers = Vec::new();
        let inputs = op.operands().into_iter().zip(generic.body.args()).zip(&generic.maps);
        for ((operand, arg), index) in inputs.take(generic.inputs) {
            if arg.uses().is_empty() {
                continue;
            }
            if let Some(number) = self.known(operand) {
                numbers.push((arg, number));
                continue;
            }
            let access = self.view(op, operand)?.access(axes, index);
            scope.set(arg, scope.nest.loads.len() as u32);
            scope.nest.load(access);
        }
        for (access, _, arg) in &outputs {
            if !arg.uses().is_empty() {
                let reg = scope.nest.load(access.clone());
                scope.set(*arg, reg);
            }
        }
        self.capture(&mut scope, &generic.body.ops());
        for (arg, number) in numbers {
            let reg = scope.number(number);
            scope.set(arg, reg);
        }
        let values = self.body_values(&mut scope, op, generic.body)?;
        for ((access, _, _), value) in outputs.iter().zip(values) {
            scope.nest.store(access.clone(), value);
        }
        for (result, (_, view, _)) in op.results().into_iter().zip(outputs) {
            self.bind_view(result, view);
        }
        self.push(scope.nest);
        Ok(())
    }

    /// The operations of a scalar body; returns the registers of what it yields.
    fn body_values(
        &mut self,
        scope: &mut Scope<'c>,
        op: Op<'c>,
        body: Block<'c>,
    ) -> Result<Vec<u32>, InterpretError> {
        let mut ops = body.ops();
        let end =
            ops.pop().ok_or_else(|| InterpretError::form(op, "an empty body", "one block"))?;
        for inner in ops {
            self.scalar_op(scope, inner)?;
        }
        end.operands().into_iter().map(|value| self.reg(scope, op, value)).collect()
    }

    /// `linalg.fill`.
    pub fn fill(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let view = self.destination(op, op.operand(1), true)?;
        self.store_everywhere(op, &view)?;
        self.bind_view(op.result(0), view);
        Ok(())
    }

    /// `tensor.splat`.
    pub fn splat(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let (ty, shape) = self.typed(op, op.result(0))?;
        let view = self.fresh(ty, &shape);
        self.store_everywhere(op, &view)?;
        self.bind_view(op.result(0), view);
        Ok(())
    }

    /// Stores the number that is the first operand to every element.
    fn store_everywhere(&mut self, op: Op<'c>, view: &View) -> Result<(), InterpretError> {
        let mut scope = Scope::new(Nest::parallel(&view.shape));
        self.capture(&mut scope, &[op]);
        let reg = self.reg(&mut scope, op, op.operand(0))?;
        scope.nest.store(view.identity(), reg);
        self.push(scope.nest);
        Ok(())
    }

    /// `tensor.generate`.
    pub fn generate(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let (ty, shape) = self.typed(op, op.result(0))?;
        let view = self.fresh(ty, &shape);
        self.compute_everywhere(op, &view)?;
        self.bind_view(op.result(0), view);
        Ok(())
    }

    /// Stores what the body of `op` gives for each index to every element.
    pub fn compute_everywhere(&mut self, op: Op<'c>, view: &View) -> Result<(), InterpretError> {
        let body = op.first_block(0);
        let body = body.ok_or_else(|| InterpretError::form(op, "without a body", "one block"))?;
        let mut scope = Scope::new(Nest::parallel(&view.shape));
        self.capture(&mut scope, &body.ops());
        for (axis, arg) in body.args().into_iter().enumerate() {
            let reg = scope.index(axis);
            scope.set(arg, reg);
        }
        let values = self.body_values(&mut scope, op, body)?;
        scope.nest.store(view.identity(), values[0]);
        self.push(scope.nest);
        Ok(())
    }

    /// A scalar operation on whole tensors, element by element.
    pub fn elementwise(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let result = op.result(0);
        if !ty::is_tensor(result.ty()) {
            return Err(InterpretError::ty(op, result.ty()));
        }
        let (ty, shape) = self.typed(op, result)?;
        let mut scope = Scope::new(Nest::parallel(&shape));
        for operand in op.operands() {
            // The condition of a select may be one number for all elements.
            let one = is_number(operand.ty());
            if one && !matches!(self.bound(operand), Some(Bound::View(_))) {
                continue;
            }
            let view = self.view(op, operand)?;
            let access = if one { view.access(shape.len(), &[]) } else { view.identity() };
            let reg = scope.nest.load(access);
            scope.set(operand, reg);
        }
        let regs = op.operands().into_iter().map(|operand| self.reg(&mut scope, op, operand));
        let regs = regs.collect::<Result<Vec<_>, _>>()?;
        let form = form(op).expect("the caller found it in the table");
        let value = scope.nest.inst(instruction(op, form, &regs)?);
        let view = self.fresh(ty, &shape);
        scope.nest.store(view.identity(), value);
        self.bind_view(result, view);
        self.push(scope.nest);
        Ok(())
    }
}
