//! Bodies of `device.apply` and `device.combine` as nests over the lanes.

use std::collections::HashMap;

use weft_dialects::ir::{Block, Op, Val};
use weft_runtime::simulate::{MemRef, MemRefId, Use, View, Work};
use weft_runtime::vm::{Access, CastOp, Inst, Nest, Reg, TensorDecl, Ty};

use super::index::{Slots, is_index};
use crate::interpret::InterpretError;
use crate::interpret::element_type;
use crate::interpret::scalar::{self, instruction};
use crate::interpret::scope::Scope;
use crate::interpret::view::View as Elements;

/// The operations that a body may hold, for messages.
const ACCEPTED: &str = "scalar operations of arith and math, memref.load and device.lane";

/// A body, and what is around it.
pub(super) struct Around<'a, 'c> {
    /// The `device.apply` or `device.combine`.
    pub op: Op<'c>,
    pub body: Block<'c>,
    pub slots: &'a Slots<'c>,
    /// Buffers of the kernel, by value.
    pub memrefs: &'a HashMap<Val<'c>, MemRefId>,
    pub declared: &'a [MemRef],
}

/// An operand: a view, and how many elements of it take part.
pub(super) struct Operand {
    pub view: View,
    pub elements: u64,
}

impl<'c> Around<'_, 'c> {
    /// Lane by lane, from inputs to outputs.
    pub fn apply(
        &self,
        lanes: u64,
        inputs: Vec<Operand>,
        outputs: Vec<Operand>,
    ) -> Result<Work, InterpretError> {
        let mut work = self.work(Nest::parallel(&[lanes]));
        let mut loads = Vec::new();
        for input in inputs {
            let step = i64::from(input.elements > 1);
            let tensor = work.view(self, input, Use::Read);
            loads.push(work.scope.nest.load(Access::new(tensor, 0, &[step])));
        }
        let first = work.parts.views.len() as u32;
        for output in outputs {
            work.view(self, output, Use::Write);
        }
        let values = work.run(self, &loads)?;
        for (number, reg) in values.into_iter().enumerate() {
            let to = Access::new(first + number as u32, 0, &[1]);
            work.scope.nest.store(to, reg);
        }
        Ok(work.done())
    }

    /// All lanes into one element, which takes part.
    pub fn combine(
        &self,
        lanes: u64,
        input: Operand,
        output: Operand,
    ) -> Result<Work, InterpretError> {
        let mut work = self.work(Nest::new(&[lanes], &[false]));
        let lane = work.view(self, input, Use::Read);
        let sum = work.view(self, output, Use::Update);
        let so_far = work.scope.nest.load(Access::new(sum, 0, &[0]));
        let next = work.scope.nest.load(Access::new(lane, 0, &[1]));
        let values = work.run(self, &[so_far, next])?;
        let result = values.first().copied().ok_or_else(|| self.refuse("yields nothing"))?;
        work.scope.nest.store(Access::new(sum, 0, &[0]), result);
        Ok(work.done())
    }

    fn work(&self, nest: Nest) -> Writing<'c> {
        let parts = Work {
            tensors: Vec::new(),
            nest: Nest::default(),
            views: Vec::new(),
            uses: Vec::new(),
            tables: Vec::new(),
            indices: Vec::new(),
        };
        Writing { parts, scope: Scope::new(nest), casts: Vec::new() }
    }

    fn refuse(&self, found: &str) -> InterpretError {
        InterpretError::form(self.op, found, ACCEPTED)
    }
}

/// Work that is being written.
struct Writing<'c> {
    parts: Work,
    scope: Scope<'c>,
    /// Values from outside, loaded as indices, that have another type in the body.
    casts: Vec<(Val<'c>, Reg, Ty)>,
}

impl<'c> Writing<'c> {
    /// Adds a view and returns its tensor.
    fn view(&mut self, around: &Around<'_, 'c>, operand: Operand, uses: Use) -> u32 {
        let ty = around.declared[operand.view.memref as usize].ty;
        self.parts.tensors.push(TensorDecl { ty, len: operand.elements });
        self.parts.views.push(operand.view);
        self.parts.uses.push(uses);
        self.parts.tensors.len() as u32 - 1
    }

    /// Compiles the body on the registers of its arguments, and returns those that it yields.
    fn run(&mut self, around: &Around<'_, 'c>, args: &[Reg]) -> Result<Vec<Reg>, InterpretError> {
        for (arg, &reg) in around.body.args().into_iter().zip(args) {
            self.scope.set(arg, reg);
        }
        let mut ops = around.body.ops();
        let end = ops.pop().ok_or_else(|| around.refuse("has an empty body"))?;
        self.tables(around, &ops)?;
        self.capture(around, &ops, end)?;
        for op in ops {
            self.op(around, op)?;
        }
        end.operands().iter().map(|&value| self.reg(end, value)).collect()
    }

    /// Buffers that the body reads at addresses it computes.
    fn tables(&mut self, around: &Around<'_, 'c>, ops: &[Op<'c>]) -> Result<(), InterpretError> {
        for op in ops.iter().filter(|op| op.is("memref.load")) {
            let memref = around.memrefs.get(&op.operand(0)).copied();
            let memref =
                memref.ok_or_else(|| around.refuse("loads from no buffer of the kernel"))?;
            if !self.parts.tables.contains(&memref) {
                let declared = &around.declared[memref as usize];
                let decl = TensorDecl { ty: declared.ty, len: declared.elements() };
                self.parts.tables.push(memref);
                self.parts.tensors.push(decl);
            }
        }
        Ok(())
    }

    /// Loads the index values that the body takes from outside.
    fn capture(
        &mut self,
        around: &Around<'_, 'c>,
        ops: &[Op<'c>],
        end: Op<'c>,
    ) -> Result<(), InterpretError> {
        let tensor = self.parts.tensors.len() as u32;
        for &op in ops.iter().chain([&end]) {
            for operand in op.operands() {
                let outside = operand.owner_block() != Some(around.body)
                    && operand.def().is_none_or(|def| def.block() != Some(around.body));
                let known = operand.def().is_some_and(|def| def.is("arith.constant"));
                if !outside || known || !is_index(operand.ty()) || self.scope.get(operand).is_some()
                {
                    continue;
                }
                let slot = around.slots.get(op, operand)?;
                self.parts.indices.push(slot);
                let number = self.parts.indices.len() as i64 - 1;
                let reg = self.scope.nest.load(Access::new(tensor, number, &[0]));
                self.scope.set(operand, reg);
                let ty = element_type(operand.ty()).unwrap_or(Ty::Index);
                if ty != Ty::Index {
                    self.casts.push((operand, reg, ty));
                }
            }
        }
        if !self.parts.indices.is_empty() {
            let len = self.parts.indices.len() as u64;
            self.parts.tensors.push(TensorDecl { ty: Ty::Index, len });
        }
        for (value, reg, ty) in std::mem::take(&mut self.casts) {
            let cast = self.scope.nest.inst(Inst::cast(CastOp::IndexCast, ty, reg));
            self.scope.set(value, cast);
        }
        Ok(())
    }

    fn op(&mut self, around: &Around<'_, 'c>, op: Op<'c>) -> Result<(), InterpretError> {
        let reg = match op.name() {
            "arith.constant" => self.constant(op)?,
            "device.lane" if op.attr("along").is_none() => self.scope.index(0),
            "memref.load" => {
                let memref = around.memrefs[&op.operand(0)];
                let at = self.parts.tables.iter().position(|&table| table == memref);
                let tensor = (self.parts.views.len() + at.unwrap_or(0)) as u32;
                let declared = &around.declared[memref as usize];
                let operands = op.operands();
                let indices = operands[1..].iter().map(|&index| self.reg(op, index));
                let indices = indices.collect::<Result<Vec<_>, _>>()?;
                let view = Elements::whole(tensor, &declared.shape);
                let address = self.scope.address(&view, declared.elements(), &indices);
                self.scope.nest.inst(Inst::LoadAt { tensor, address })
            }
            _ => {
                let form = scalar::form(op);
                let form = form.ok_or_else(|| InterpretError::operation(op, ACCEPTED))?;
                let regs = op.operands().into_iter().map(|value| self.reg(op, value));
                let regs = regs.collect::<Result<Vec<_>, _>>()?;
                self.scope.nest.inst(instruction(op, form, &regs)?)
            }
        };
        let result = op.results().first().copied();
        self.scope.set(result.ok_or_else(|| InterpretError::operation(op, ACCEPTED))?, reg);
        Ok(())
    }

    fn constant(&mut self, op: Op<'c>) -> Result<Reg, InterpretError> {
        let value = scalar::constant(op);
        let value = value.ok_or_else(|| InterpretError::ty(op, op.result(0).ty()))?;
        Ok(self.scope.number(value))
    }

    /// The register of a value; constants may stand outside of the body.
    fn reg(&mut self, op: Op<'c>, value: Val<'c>) -> Result<Reg, InterpretError> {
        if let Some(reg) = self.scope.get(value) {
            return Ok(reg);
        }
        match value.def() {
            Some(def) if def.is("arith.constant") => {
                let reg = self.constant(def)?;
                self.scope.set(value, reg);
                Ok(reg)
            }
            _ => {
                let found = format!("a value of type {} comes from outside", value.ty());
                Err(InterpretError::form(op, found, ACCEPTED))
            }
        }
    }

    fn done(mut self) -> Work {
        self.parts.nest = self.scope.nest;
        self.parts
    }
}
