//! Scalar operations: the body of a nest, or a run of them between nests.

use std::collections::{HashMap, HashSet};

use weft_dialects::ir::{Op, Val, attr};
use weft_runtime::vm::{BinaryOp, CmpIPredicate, Inst, Nest, Reg, Scalar, Ty};

use super::compiler::{Bound, Compiler, is_number};
use super::error::InterpretError;
use super::scalar::{self, form, instruction};
use super::view::View;
use crate::length;

/// The operations that a body may hold, for messages.
const ACCEPTED: &str = "scalar operations of arith and math, linalg.index and tensor.extract";

/// A nest that is being written, and the registers of its values.
pub(crate) struct Scope<'c> {
    pub nest: Nest,
    regs: HashMap<Val<'c>, Reg>,
    /// Registers that are known to be in `0..bound`.
    bounds: HashMap<Reg, u64>,
}

/// Returns whether an operation computes one number from numbers and elements of tensors.
pub(super) fn is_scalar(op: Op<'_>) -> bool {
    (form(op).is_some() || op.is("tensor.extract") || op.is("graph.length"))
        && op.results().first().is_some_and(|result| is_number(result.ty()))
}

impl<'c> Scope<'c> {
    pub fn new(nest: Nest) -> Self {
        Self { nest, regs: HashMap::new(), bounds: HashMap::new() }
    }

    /// `value` is in `reg`.
    pub fn set(&mut self, value: Val<'c>, reg: Reg) {
        self.regs.insert(value, reg);
    }

    /// The register of a value, if it has one.
    pub fn get(&self, value: Val<'c>) -> Option<Reg> {
        self.regs.get(&value).copied()
    }

    /// The position along an axis.
    pub fn index(&mut self, axis: usize) -> Reg {
        let reg = self.nest.inst(Inst::Index(axis as u32));
        self.bounds.insert(reg, self.nest.extents[axis]);
        reg
    }

    /// A number.
    pub fn number(&mut self, scalar: Scalar) -> Reg {
        let reg = self.nest.inst(Inst::Const(scalar));
        if scalar.ty == Ty::Index
            && let Ok(value) = u64::try_from(scalar.as_i64())
        {
            self.bounds.insert(reg, value + 1);
        }
        reg
    }

    fn integer(&mut self, value: i64) -> Reg {
        self.number(Scalar::int(Ty::Index, value))
    }

    fn binary(&mut self, op: BinaryOp, a: Reg, b: Reg) -> Reg {
        self.nest.inst(Inst::binary(op, a, b))
    }

    /// The address of an element of `view`; an index outside of its dimension gives an
    /// address outside of every tensor.
    pub fn address(&mut self, view: &View, len: u64, indices: &[Reg]) -> Reg {
        if view.shape == [len] && view.offset == 0 && view.strides == [1] {
            return indices[0];
        }
        let mut sum = None;
        let mut inside = None;
        for ((&index, &dim), &stride) in indices.iter().zip(&view.shape).zip(&view.strides) {
            if self.bounds.get(&index).is_none_or(|&bound| bound > dim) {
                let dim = self.integer(dim as i64);
                let predicate = CmpIPredicate::Ult;
                let below = self.nest.inst(Inst::CmpI { predicate, a: index, b: dim });
                inside = Some(match inside {
                    Some(others) => self.binary(BinaryOp::AndI, others, below),
                    None => below,
                });
            }
            let mut term = index;
            if stride != 1 {
                let stride = self.integer(stride);
                term = self.binary(BinaryOp::MulI, index, stride);
            }
            sum = Some(match sum {
                Some(sum) => self.binary(BinaryOp::AddI, sum, term),
                None => term,
            });
        }
        let mut address = match sum {
            Some(sum) if view.offset == 0 => sum,
            Some(sum) => {
                let offset = self.integer(view.offset);
                self.binary(BinaryOp::AddI, sum, offset)
            }
            None => self.integer(view.offset),
        };
        if let Some(condition) = inside {
            let otherwise = self.integer(-1);
            address = self.nest.inst(Inst::Select { condition, then: address, otherwise });
        }
        address
    }
}

impl<'c> Compiler<'c> {
    /// The register of a value that a body uses.
    pub fn reg(
        &mut self,
        scope: &mut Scope<'c>,
        op: Op<'c>,
        value: Val<'c>,
    ) -> Result<Reg, InterpretError> {
        if let Some(&reg) = scope.regs.get(&value) {
            return Ok(reg);
        }
        let Some(scalar) = self.known(value) else {
            let found = format!("an operand of type {} comes from outside the payload", value.ty());
            return Err(InterpretError::form(op, found, "numbers that the payload computes"));
        };
        let reg = scope.number(scalar);
        scope.set(value, reg);
        Ok(reg)
    }

    /// Loads the numbers that `ops` take from outside and that are not constants.
    pub fn capture(&mut self, scope: &mut Scope<'c>, ops: &[Op<'c>]) {
        for operand in ops.iter().flat_map(|op| op.operands()) {
            if let Some(Bound::View(view)) = self.bound(operand)
                && is_number(operand.ty())
                && !scope.regs.contains_key(&operand)
            {
                let access = view.access(scope.nest.extents.len(), &[]);
                let reg = scope.nest.load(access);
                scope.set(operand, reg);
            }
        }
    }

    /// Adds one scalar operation to a body.
    pub fn scalar_op(&mut self, scope: &mut Scope<'c>, op: Op<'c>) -> Result<(), InterpretError> {
        let reg = match op.name() {
            "arith.constant" => {
                let result = op.result(0);
                match scalar::constant(op) {
                    Some(scalar) => scope.number(scalar),
                    None => return Err(InterpretError::ty(op, result.ty())),
                }
            }
            "graph.length" => {
                let length = length::asked(op);
                let number =
                    length.and_then(|own| own.value(&|name| self.known.get(name).copied()));
                let number = number.ok_or_else(|| {
                    InterpretError::form(
                        op,
                        "a length that nobody has said",
                        "one that is found before",
                    )
                })?;
                scope.number(Scalar::int(Ty::Index, number))
            }
            "linalg.index" => {
                let axis = op.attr("dim").and_then(attr::int).unwrap_or(-1);
                match usize::try_from(axis).ok().filter(|&axis| axis < scope.nest.extents.len()) {
                    Some(axis) => scope.index(axis),
                    None => {
                        return Err(InterpretError::form(op, "no such axis", "one of the nest"));
                    }
                }
            }
            "tensor.extract" => {
                let view = self.view(op, op.operand(0))?;
                let len = self.program.tensors[view.buffer as usize].len;
                let indices = self.regs(scope, op, 1)?;
                let address = scope.address(&view, len, &indices);
                scope.nest.inst(Inst::LoadAt { tensor: view.buffer, address })
            }
            _ => match form(op) {
                Some(form) => {
                    let regs = self.regs(scope, op, 0)?;
                    scope.nest.inst(instruction(op, form, &regs)?)
                }
                None => return Err(InterpretError::operation(op, ACCEPTED)),
            },
        };
        scope.set(op.result(0), reg);
        Ok(())
    }

    /// The registers of an operation's operands from number `first` on.
    fn regs(
        &mut self,
        scope: &mut Scope<'c>,
        op: Op<'c>,
        first: usize,
    ) -> Result<Vec<Reg>, InterpretError> {
        op.operands()[first..].iter().map(|&operand| self.reg(scope, op, operand)).collect()
    }

    /// Scalar operations that stand in no nest, as a nest of one point. The last one may be
    /// a `tensor.insert`.
    pub fn scalars(&mut self, run: &[Op<'c>]) -> Result<(), InterpretError> {
        let Some(last) = run.last() else {
            return Ok(());
        };
        let insert = Some(*last).filter(|op| op.is("tensor.insert"));
        let scalars = &run[..run.len() - usize::from(insert.is_some())];
        let mut scope = Scope::new(Nest::parallel(&[]));
        self.capture(&mut scope, run);
        for &op in scalars {
            self.scalar_op(&mut scope, op)?;
        }
        scalars.iter().for_each(|&op| self.release(op));
        let here: HashSet<Op<'c>> = run.iter().copied().collect();
        for result in scalars.iter().flat_map(|op| op.results()) {
            if result.uses().iter().any(|(user, _)| !here.contains(user)) {
                let (ty, _) = self.typed(*last, result)?;
                let cell = self.fresh(ty, &[]);
                let reg = self.reg(&mut scope, *last, result)?;
                scope.nest.store(cell.identity(), reg);
                self.bind_view(result, cell);
            }
        }
        if let Some(op) = insert {
            let value = self.reg(&mut scope, op, op.operand(0))?;
            // Values are extracted before anything is inserted.
            let to = self.destination(op, op.operand(1), false)?;
            let len = self.program.tensors[to.buffer as usize].len;
            let indices = self.regs(&mut scope, op, 2)?;
            let address = scope.address(&to, len, &indices);
            scope.nest.store_at(to.buffer, address, value);
            self.bind_view(op.result(0), to);
            self.release(op);
        }
        self.push(scope.nest);
        Ok(())
    }
}
