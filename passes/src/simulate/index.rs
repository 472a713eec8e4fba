//! Index arithmetic: slots for values, and how they are computed.

use std::collections::HashMap;

use weft_dialects::ir::{Op, Type, Val, affine, ty};
use weft_runtime::simulate::{Op as Plain, Slot, Value};
use weft_runtime::vm::{BinaryOp, CastOp};

use crate::interpret::InterpretError;
use crate::interpret::scalar::{self, Form};

/// The supported operations, for messages.
const ACCEPTED: &str = "arith on index, i64 and i1, affine.apply, affine.min, affine.max, scf.for, \
                        scf.if, affine.for, and the program half of device";

/// The slots of a kernel.
#[derive(Default)]
pub(super) struct Slots<'c> {
    /// The initial values.
    pub initial: Vec<i64>,
    of: HashMap<Val<'c>, Slot>,
    constants: HashMap<i64, Slot>,
    /// Operations that compute slots, of the body that is being written.
    pub pending: Vec<Plain>,
}

/// Returns whether slots hold values of this type.
pub(super) fn is_index(ty: Type<'_>) -> bool {
    ty::is_index(ty) || ty::is_int(ty, 64) || ty::is_int(ty, 1)
}

impl<'c> Slots<'c> {
    /// A slot of its own.
    pub fn fresh(&mut self) -> Slot {
        self.initial.push(0);
        self.initial.len() as Slot - 1
    }

    /// A slot for a value.
    pub fn define(&mut self, value: Val<'c>) -> Slot {
        let slot = self.fresh();
        self.of.insert(value, slot);
        slot
    }

    /// A value that another slot holds.
    pub fn alias(&mut self, value: Val<'c>, slot: Slot) {
        self.of.insert(value, slot);
    }

    /// A slot that holds a number.
    pub fn constant(&mut self, number: i64) -> Slot {
        if let Some(&slot) = self.constants.get(&number) {
            return slot;
        }
        let slot = self.fresh();
        self.initial[slot as usize] = number;
        self.constants.insert(number, slot);
        slot
    }

    /// The slot of a value.
    pub fn get(&self, op: Op<'c>, value: Val<'c>) -> Result<Slot, InterpretError> {
        self.of.get(&value).copied().ok_or_else(|| {
            let found = format!("an operand of type {} is no index of the kernel", value.ty());
            InterpretError::form(op, found, ACCEPTED)
        })
    }

    /// The slots of several values.
    pub fn all(&self, op: Op<'c>, values: &[Val<'c>]) -> Result<Vec<Slot>, InterpretError> {
        values.iter().map(|&value| self.get(op, value)).collect()
    }

    /// Writes that a slot is computed.
    pub fn set(&mut self, value: Value) -> Slot {
        let to = self.fresh();
        self.pending.push(Plain::Set { to, value });
        to
    }

    fn binary(&mut self, op: BinaryOp, a: Slot, b: Slot) -> Slot {
        self.set(Value::Binary { op, a, b })
    }

    /// Translates an operation on indices; `false` where it is none.
    pub fn op(&mut self, op: Op<'c>) -> Result<bool, InterpretError> {
        if op.results().len() != 1 || !is_index(op.result(0).ty()) {
            return Ok(false);
        }
        let slot = match op.name() {
            "arith.constant" => {
                let number = scalar::constant(op);
                let number = number.ok_or_else(|| InterpretError::ty(op, op.result(0).ty()))?;
                self.constant(number.as_i64())
            }
            "affine.apply" => self.map(op)?[0],
            "affine.min" => self.fold(op, BinaryOp::MinSI)?,
            "affine.max" => self.fold(op, BinaryOp::MaxSI)?,
            _ => {
                let Some(form) = scalar::form(op) else { return Ok(false) };
                self.scalar(op, form)?
            }
        };
        self.alias(op.result(0), slot);
        Ok(true)
    }

    fn scalar(&mut self, op: Op<'c>, form: Form) -> Result<Slot, InterpretError> {
        let slots = self.all(op, &op.operands())?;
        let one_bit = ty::is_int(op.operand(0).ty(), 1);
        Ok(match form {
            // In one bit, sums and products are others than in 64.
            Form::Binary(binary @ (BinaryOp::AndI | BinaryOp::OrI | BinaryOp::XorI)) => {
                self.binary(binary, slots[0], slots[1])
            }
            Form::Binary(binary) if !one_bit => self.binary(binary, slots[0], slots[1]),
            Form::CmpI if !one_bit => {
                let predicate = scalar::compare_predicate(op)?;
                self.set(Value::Compare { predicate, a: slots[0], b: slots[1] })
            }
            Form::Select => {
                let [condition, then, otherwise] = [slots[0], slots[1], slots[2]];
                self.set(Value::Select { condition, then, otherwise })
            }
            Form::Cast(CastOp::IndexCast) if !one_bit && !ty::is_int(op.result(0).ty(), 1) => {
                slots[0]
            }
            Form::Cast(CastOp::IndexCastUI | CastOp::ExtUI) => slots[0],
            _ => return Err(InterpretError::operation(op, ACCEPTED)),
        })
    }

    /// The results of the operation's `map` on its operands.
    pub fn map(&mut self, op: Op<'c>) -> Result<Vec<Slot>, InterpretError> {
        let operands = self.all(op, &op.operands())?;
        self.map_of(op, "map", &operands)
    }

    /// The results of a map attribute on some operands.
    pub fn map_of(
        &mut self,
        op: Op<'c>,
        name: &str,
        operands: &[Slot],
    ) -> Result<Vec<Slot>, InterpretError> {
        let trees = op.attr(name).and_then(affine::trees);
        let trees = trees.filter(|trees| !trees.is_empty());
        let trees = trees.ok_or_else(|| InterpretError::form(op, "without a map", ACCEPTED))?;
        trees.iter().map(|tree| self.tree(op, tree, operands)).collect()
    }

    fn tree(
        &mut self,
        op: Op<'c>,
        tree: &affine::Tree,
        operands: &[Slot],
    ) -> Result<Slot, InterpretError> {
        use affine::{Tree, TreeOp};
        let (kind, left, right) = match tree {
            Tree::Constant(number) => return Ok(self.constant(*number)),
            Tree::Operand(operand) => {
                let slot = operands.get(*operand).copied();
                return slot
                    .ok_or_else(|| InterpretError::form(op, "an operand too few", ACCEPTED));
            }
            Tree::Binary(kind, left, right) => (kind, left, right),
        };
        let (a, b) = (self.tree(op, left, operands)?, self.tree(op, right, operands)?);
        Ok(match kind {
            TreeOp::Add => self.binary(BinaryOp::AddI, a, b),
            TreeOp::Mul => self.binary(BinaryOp::MulI, a, b),
            TreeOp::FloorDiv => self.binary(BinaryOp::FloorDivSI, a, b),
            TreeOp::CeilDiv => self.binary(BinaryOp::CeilDivSI, a, b),
            TreeOp::Mod => {
                let whole = self.binary(BinaryOp::FloorDivSI, a, b);
                let whole = self.binary(BinaryOp::MulI, whole, b);
                self.binary(BinaryOp::SubI, a, whole)
            }
        })
    }

    /// The smallest or largest of several slots.
    pub fn fold_slots(&mut self, op: BinaryOp, slots: &[Slot]) -> Slot {
        let mut all = slots.iter().copied();
        let first = all.next().unwrap_or_else(|| self.constant(0));
        all.fold(first, |so_far, next| self.binary(op, so_far, next))
    }

    fn fold(&mut self, op: Op<'c>, by: BinaryOp) -> Result<Slot, InterpretError> {
        let slots = self.map(op)?;
        Ok(self.fold_slots(by, &slots))
    }
}
