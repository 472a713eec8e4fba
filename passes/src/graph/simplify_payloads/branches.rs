//! Branches in the body of a nest become selects.
//!
//! ```text
//! %r = scf.if %c { %e = tensor.extract %t[%i]; yield %e } else { yield %z }
//!   ->  %j = arith.select %c, %i, 0; %e = tensor.extract %t[%j]; %r = arith.select %c, %e, %z
//! ```
//!
//! Both branches are computed for every point. Where a branch is not taken, its elements are read
//! at the beginning of their tensor and its divisors are 1, so that nothing outside of a tensor is
//! read and nothing is divided by zero. Loops are no straight lines and are refused.

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::payload::Scalar;
use weft_dialects::ir::{Block, Builder, Context, Mapping, Op, Type, Val, ty};

use super::refuse;
use crate::interpret::has_meaning;

/// Divisions: their second operand may not be zero, nor may a quotient exceed the type.
const DIVISIONS: &[&str] = &[
    "arith.ceildivsi",
    "arith.ceildivui",
    "arith.divsi",
    "arith.divui",
    "arith.floordivsi",
    "arith.remsi",
    "arith.remui",
];

/// Flattens the bodies of the nests of `block`.
pub(super) fn flatten<'c>(context: &'c Context, block: Block<'c>) -> Result<(), Failed> {
    for nest in block.ops().into_iter().filter(|op| op.is("linalg.generic")) {
        let body = nest.body(0).ok_or(Failed)?;
        for op in body.ops().into_iter().filter(|op| op.region_count() > 0) {
            if !op.is("scf.if") {
                let help = "bodies hold arith, math, tensor.extract and scf.if";
                return refuse(op, &format!("{} in the body of a nest", op.name()), help);
            }
            let mut writer = Writer { b: Scalar::at(Builder::before(context, op)) };
            let values = writer.branch(op, None, &mut Mapping::default())?;
            for (old, new) in op.results().into_iter().zip(values) {
                old.replace_with(new);
            }
            op.erase();
        }
    }
    Ok(())
}

/// Writes branches in front of what they were.
struct Writer<'c> {
    b: Scalar<'c>,
}

impl<'c> Writer<'c> {
    /// Writes an `scf.if` as selections; `taken` says whether the branch around it is taken.
    fn branch(
        &mut self,
        op: Op<'c>,
        taken: Option<Val<'c>>,
        map: &mut Mapping<'c>,
    ) -> Result<Vec<Val<'c>>, Failed> {
        if op.results().is_empty() {
            // A body has no effects, so such a branch has none.
            return Ok(Vec::new());
        }
        let condition = map.get(op.operand(0));
        let truth = condition.ty();
        let always = self.b.integer(truth, 1);
        let opposite = self.b.op("arith.xori", &[condition, always], truth);
        let mut sides = Vec::new();
        for (region, own) in [condition, opposite].into_iter().enumerate() {
            let taken = taken.map_or(own, |outer| self.b.op("arith.andi", &[outer, own], truth));
            sides.push(self.side(op.body(region).ok_or(Failed)?, taken, map)?);
        }
        let [then, otherwise] = &sides[..] else { return Err(Failed) };
        let both = then.iter().zip(otherwise);
        Ok(both.map(|(&yes, &no)| self.b.select(condition, yes, no)).collect())
    }

    /// Writes one branch, computed whether it is taken or not, and returns what it yields.
    fn side(
        &mut self,
        block: Block<'c>,
        taken: Val<'c>,
        map: &mut Mapping<'c>,
    ) -> Result<Vec<Val<'c>>, Failed> {
        for op in block.iter() {
            match op.name() {
                "scf.yield" => {
                    return Ok(op.operands().into_iter().map(|value| map.get(value)).collect());
                }
                "scf.if" => {
                    let values = self.branch(op, Some(taken), map)?;
                    op.results().into_iter().zip(values).for_each(|(old, new)| map.set(old, new));
                }
                "tensor.extract" => self.extract(op, taken, map),
                name if DIVISIONS.contains(&name) => self.guarded(op, &[1], 1, taken, map),
                "arith.constant" | "linalg.index" => self.copy(op, map),
                _ if has_meaning(op) => self.copy(op, map),
                name => {
                    let help = "branches hold arith, math, tensor.extract and further scf.if";
                    return refuse(op, &format!("{name} in a branch of a nest's body"), help);
                }
            }
        }
        Err(Failed)
    }

    fn copy(&mut self, op: Op<'c>, map: &mut Mapping<'c>) {
        self.b.builder().clone_op(op, map);
    }

    /// An element at the same place where the branch is taken, at the beginning where it is not.
    fn extract(&mut self, op: Op<'c>, taken: Val<'c>, map: &mut Mapping<'c>) {
        let tensor = op.operand(0).ty();
        if ty::shape(tensor).is_some_and(|shape| shape.contains(&0)) {
            // It has no elements: the branch is never taken.
            let zero = self.b.number(op.result(0).ty(), 0.0);
            map.set(op.result(0), zero);
            return;
        }
        let indices: Vec<usize> = (1..op.operands().len()).collect();
        self.guarded(op, &indices, 0, taken, map);
    }

    /// A copy of `op` whose `operands` are the number `safe` where the branch is not taken.
    fn guarded(
        &mut self,
        op: Op<'c>,
        operands: &[usize],
        safe: i64,
        taken: Val<'c>,
        map: &mut Mapping<'c>,
    ) {
        let mut inner = Mapping::default();
        for (at, operand) in op.operands().into_iter().enumerate() {
            let mut value = map.get(operand);
            if operands.contains(&at) {
                let ty: Type<'c> = value.ty();
                let otherwise = self.b.integer(ty, safe);
                value = self.b.select(taken, value, otherwise);
            }
            inner.set(operand, value);
        }
        let copy = self.b.builder().clone_op(op, &mut inner);
        for (old, new) in op.results().into_iter().zip(copy.results()) {
            map.set(old, new);
        }
    }
}
