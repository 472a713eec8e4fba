//! `linalg.generic` with control flow in its body: a loop of statements for each axis.
//!
//! A body that is a straight line is one nest (`structured.rs`). One that branches is run point by
//! point: its arguments are cells, loaded in front of it, and what it yields is stored behind it.

use weft_dialects::ir::{Linear, Op, attr};
use weft_runtime::vm::{BinaryOp, Inst, Nest, Reg, Scalar, Stmt, Ty};

use super::compiler::Compiler;
use super::error::InterpretError;
use super::generic::Generic;
use super::scope::Scope;
use super::view::View;

/// Returns whether something in the body of a nest has a body of its own.
pub(super) fn branches(nest: Op<'_>) -> bool {
    nest.first_block(0).is_some_and(|body| body.iter().any(|op| op.region_count() > 0))
}

impl<'c> Compiler<'c> {
    /// A nest whose body branches.
    pub(super) fn points(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let nest = &Generic::of(op, &self.known)?;
        // Before the loops: they would make a buffer anew in every round.
        let mut tensors = Vec::new();
        for operand in op.operands().into_iter().take(nest.inputs) {
            tensors.push(self.view(op, operand)?);
        }
        for (operand, _, _) in nest.outputs() {
            tensors.push(self.destination(op, operand, false)?);
        }
        self.release_operands(op);
        let counters: Vec<View> = nest.extents.iter().map(|_| self.fresh(Ty::Index, &[])).collect();
        let outside: Vec<Vec<Stmt>> = nest.extents.iter().map(|_| self.enter()).collect();
        let outer = std::mem::replace(&mut self.counters, counters.clone());
        let cells = tensors.iter().zip(&nest.maps).zip(nest.body.args());
        for ((tensor, map), arg) in cells {
            let (ty, _) = self.typed(op, arg)?;
            let cell = self.fresh(ty, &[]);
            let mut scope = Scope::new(Nest::parallel(&[]));
            let address = self.address_at(&mut scope, tensor, map, &counters);
            let element = scope.nest.inst(Inst::LoadAt { tensor: tensor.buffer, address });
            scope.nest.store(cell.identity(), element);
            self.push(scope.nest);
            self.bind_view(arg, cell);
        }
        let values = self.block(nest.body)?;
        for (at, value) in values.into_iter().enumerate() {
            let (tensor, map) = (&tensors[nest.inputs + at], &nest.maps[nest.inputs + at]);
            let mut scope = Scope::new(Nest::parallel(&[]));
            let from = self.view(op, value)?;
            let element = scope.nest.load(from.identity());
            let address = self.address_at(&mut scope, tensor, map, &counters);
            scope.nest.store_at(tensor.buffer, address, element);
            self.push(scope.nest);
        }
        nest.body.terminator().into_iter().for_each(|end| self.release_operands(end));
        self.counters = outer;
        let loops = nest.extents.iter().zip(counters).zip(outside).rev();
        for ((&extent, counter), outside) in loops {
            let body = self.leave(outside);
            let count = self.fresh(Ty::Index, &[]);
            let mut scope = Scope::new(Nest::parallel(&[]));
            let number = scope.number(Scalar::int(Ty::Index, extent as i64));
            scope.nest.store(count.identity(), number);
            self.push(scope.nest);
            self.push(Stmt::Loop { count: count.buffer, counter: counter.buffer, body });
        }
        for (result, view) in op.results().into_iter().zip(&tensors[nest.inputs..]) {
            self.bind_view(result, view.clone());
        }
        Ok(())
    }

    /// `linalg.index` in such a body.
    pub(super) fn counter(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let axis = op.attr("dim").and_then(attr::int).and_then(|axis| usize::try_from(axis).ok());
        let counter = axis.and_then(|axis| self.counters.get(axis).cloned());
        let counter = counter.ok_or_else(|| InterpretError::form(op, "no such axis", "an axis"))?;
        self.bind_view(op.result(0), counter);
        Ok(())
    }

    /// The place in its buffer of the element that a point of the nest touches. All loads of the
    /// scope's nest are there already, or come first here.
    fn address_at(
        &self,
        scope: &mut Scope<'c>,
        tensor: &View,
        map: &[Linear],
        counters: &[View],
    ) -> Reg {
        let access = tensor.access(counters.len(), map);
        let regs: Vec<Reg> =
            counters.iter().map(|counter| scope.nest.load(counter.identity())).collect();
        let number = |scope: &mut Scope<'c>, value| scope.number(Scalar::int(Ty::Index, value));
        let mut sum = number(scope, access.offset);
        for (&counter, &stride) in regs.iter().zip(&access.strides) {
            let stride = number(scope, stride);
            let term = scope.nest.inst(Inst::binary(BinaryOp::MulI, counter, stride));
            sum = scope.nest.inst(Inst::binary(BinaryOp::AddI, sum, term));
        }
        sum
    }
}
