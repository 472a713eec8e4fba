//! `scf` on numbers and tensors: what a loop carries lies in buffers of its own.

use weft_dialects::ir::{Block, Op, Val, ty};
use weft_runtime::vm::{BinaryOp, CastOp, Inst, Nest, Stmt, Ty};

use super::compiler::{Bound, Compiler, copy};
use super::error::InterpretError;
use super::scope::Scope;
use super::view::View;

impl<'c> Compiler<'c> {
    /// `scf.for`.
    pub fn scf_for(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        if op.attr("unsignedCmp").is_some() {
            return Err(InterpretError::form(op, "unsigned bounds", "signed bounds"));
        }
        let body = body(op, 0)?;
        let operands = op.operands();
        let (bounds, inits) = operands.split_at(3);
        let count = self.rounds(op, bounds)?;
        let states = self.states(op, inits)?;
        let counter = self.fresh(Ty::Index, &[]);
        let outside = self.enter();
        self.induction(op, body.arg(0), bounds, &counter)?;
        for (arg, state) in body.args().into_iter().skip(1).zip(&states) {
            self.bind_view(arg, state.clone());
        }
        self.release_operands(op);
        let values = self.block(body)?;
        self.assign(op, &states, &values)?;
        body.terminator().into_iter().for_each(|end| self.release_operands(end));
        let body = self.leave(outside);
        self.push(Stmt::Loop { count: count.buffer, counter: counter.buffer, body });
        self.results(op, states);
        Ok(())
    }

    /// The number of rounds of `scf.for`.
    fn rounds(&mut self, op: Op<'c>, bounds: &[Val<'c>]) -> Result<View, InterpretError> {
        let (ty, _) = self.typed(op, bounds[0])?;
        let mut scope = Scope::new(Nest::parallel(&[]));
        self.capture(&mut scope, &[op]);
        let low = self.reg(&mut scope, op, bounds[0])?;
        let high = self.reg(&mut scope, op, bounds[1])?;
        let step = self.reg(&mut scope, op, bounds[2])?;
        let span = scope.nest.inst(Inst::binary(BinaryOp::SubI, high, low));
        let rounds = scope.nest.inst(Inst::binary(BinaryOp::CeilDivSI, span, step));
        let cell = self.fresh(ty, &[]);
        scope.nest.store(cell.identity(), rounds);
        self.push(scope.nest);
        Ok(cell)
    }

    /// The induction variable: `low + counter · step`.
    fn induction(
        &mut self,
        op: Op<'c>,
        arg: Val<'c>,
        bounds: &[Val<'c>],
        counter: &View,
    ) -> Result<(), InterpretError> {
        let number = |value| self.known(value).map(|scalar| scalar.as_i64());
        if ty::is_index(arg.ty()) && number(bounds[0]) == Some(0) && number(bounds[2]) == Some(1) {
            self.bind_view(arg, counter.clone());
            return Ok(());
        }
        let (ty, _) = self.typed(op, arg)?;
        let mut scope = Scope::new(Nest::parallel(&[]));
        let mut round = scope.nest.load(counter.identity());
        self.capture(&mut scope, &[op]);
        if ty != Ty::Index {
            round = scope.nest.inst(Inst::cast(CastOp::IndexCast, ty, round));
        }
        let low = self.reg(&mut scope, op, bounds[0])?;
        let step = self.reg(&mut scope, op, bounds[2])?;
        let steps = scope.nest.inst(Inst::binary(BinaryOp::MulI, round, step));
        let value = scope.nest.inst(Inst::binary(BinaryOp::AddI, low, steps));
        let cell = self.fresh(ty, &[]);
        scope.nest.store(cell.identity(), value);
        self.push(scope.nest);
        self.bind_view(arg, cell);
        Ok(())
    }

    /// `scf.while`.
    pub fn scf_while(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let (before, after) = (body(op, 0)?, body(op, 1)?);
        let states = self.states(op, &op.operands())?;
        let outside = self.enter();
        for (arg, state) in before.args().into_iter().zip(&states) {
            self.bind_view(arg, state.clone());
        }
        self.release_operands(op);
        let values = self.block(before)?;
        let condition = self.view(op, values[0])?.buffer;
        let passed = self.pass_on(op, &states, &values[1..])?;
        before.terminator().into_iter().for_each(|end| self.release_operands(end));
        let tested = std::mem::take(&mut self.body);
        for (arg, view) in after.args().into_iter().zip(&passed) {
            self.bind_view(arg, view.clone());
        }
        let values = self.block(after)?;
        self.assign(op, &states, &values)?;
        after.terminator().into_iter().for_each(|end| self.release_operands(end));
        let body = self.leave(outside);
        self.push(Stmt::While { before: tested, condition, body });
        self.results(op, passed);
        Ok(())
    }

    /// Returns what `scf.condition` passes on: the loop's own state if it is that, else a copy.
    fn pass_on(
        &mut self,
        op: Op<'c>,
        states: &[View],
        values: &[Val<'c>],
    ) -> Result<Vec<View>, InterpretError> {
        let mut passed: Vec<View> = Vec::new();
        for &value in values {
            let view = self.view(op, value)?;
            if states.contains(&view) && !passed.contains(&view) {
                passed.push(view);
                continue;
            }
            let (ty, shape) = self.typed(op, value)?;
            let own = self.fresh(ty, &shape);
            self.copy(&view, &own);
            passed.push(own);
        }
        Ok(passed)
    }

    /// `scf.if`.
    pub fn scf_if(&mut self, op: Op<'c>) -> Result<(), InterpretError> {
        let condition = self.view(op, op.operand(0))?.buffer;
        self.release_operands(op);
        let blocks = [op.first_block(0), op.first_block(1)];
        let used = blocks.map(|block| self.used_in(block));
        let pending = self.pending();
        // Only one of the branches runs: what the other one uses does not count.
        self.restore(&pending, &[&used[1]]);
        let (mut then, then_views) = self.branch(op, blocks[0])?;
        self.restore(&pending, &[&used[0]]);
        let (mut otherwise, other_views) = self.branch(op, blocks[1])?;
        self.restore(&pending, &[&used[0], &used[1]]);
        let views = then_views.into_iter().zip(other_views);
        for (result, (from_then, from_other)) in op.results().into_iter().zip(views) {
            if from_then == from_other {
                self.bind_view(result, from_then);
                continue;
            }
            let (ty, shape) = self.typed(op, result)?;
            let view = self.fresh(ty, &shape);
            then.push(copy(&from_then, &view).into());
            otherwise.push(copy(&from_other, &view).into());
            self.bind_view(result, view);
        }
        self.push(Stmt::If { condition, then, otherwise });
        Ok(())
    }

    /// The statements of a branch, and where what it yields lies.
    fn branch(
        &mut self,
        op: Op<'c>,
        block: Option<Block<'c>>,
    ) -> Result<(Vec<Stmt>, Vec<View>), InterpretError> {
        let outside = std::mem::take(&mut self.body);
        let mut views = Vec::new();
        if let Some(block) = block {
            for value in self.block(block)? {
                views.push(self.view(op, value)?);
            }
            block.terminator().into_iter().for_each(|end| self.release_operands(end));
        }
        Ok((std::mem::replace(&mut self.body, outside), views))
    }

    /// Buffers that hold what a loop carries, with what they start from.
    fn states(&mut self, op: Op<'c>, inits: &[Val<'c>]) -> Result<Vec<View>, InterpretError> {
        let views = inits
            .iter()
            .map(|&init| self.destination(op, init, false))
            .collect::<Result<Vec<_>, _>>()?;
        views.iter().for_each(|view| self.own_at(view.buffer, self.depth + 1));
        Ok(views)
    }

    /// Writes the values of a round to the buffers that carry them to the next one.
    fn assign(
        &mut self,
        op: Op<'c>,
        states: &[View],
        values: &[Val<'c>],
    ) -> Result<(), InterpretError> {
        let mut moves = Vec::new();
        for (state, &value) in states.iter().zip(values) {
            if matches!(self.bound(value), Some(Bound::Empty(..))) {
                continue;
            }
            let mut from = self.view(op, value)?;
            if from == *state {
                continue;
            }
            // Another state may be overwritten before it is read.
            if states.iter().any(|other| other.buffer == from.buffer) {
                let (ty, shape) = self.typed(op, value)?;
                let aside = self.fresh(ty, &shape);
                self.copy(&from, &aside);
                from = aside;
            }
            moves.push((from, state));
        }
        moves.into_iter().for_each(|(from, to)| self.copy(&from, to));
        Ok(())
    }

    pub(super) fn enter(&mut self) -> Vec<Stmt> {
        self.depth += 1;
        std::mem::take(&mut self.body)
    }

    pub(super) fn leave(&mut self, outside: Vec<Stmt>) -> Vec<Stmt> {
        self.depth -= 1;
        std::mem::replace(&mut self.body, outside)
    }

    fn results(&mut self, op: Op<'c>, views: Vec<View>) {
        for (result, view) in op.results().into_iter().zip(views) {
            self.own_at(view.buffer, self.depth);
            self.bind_view(result, view);
        }
    }
}

/// The only block of a region.
fn body(op: Op<'_>, region: usize) -> Result<Block<'_>, InterpretError> {
    let block = op.first_block(region);
    block.ok_or_else(|| InterpretError::form(op, "without a body", "one block"))
}
