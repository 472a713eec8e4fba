//! Whether zeros may stand at a ragged end, and how a sum begins.

use weft_dialects::ir::Val;

use super::mapping::Mapping;
use super::unify::Bound;
use crate::nest::{Nest, Start};

/// How an accumulator gets its first value without a lane unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It is one number everywhere.
    Number,
    /// It is copied from the tensor of the one input of the start.
    Copied,
    /// It is what the output holds.
    Held,
    /// It is the neutral element of what is added.
    Zero,
    /// Nobody reads it: the instruction overwrites.
    Unread,
}

/// How the output of a nest begins under a mapping; `None` where that is computed.
pub fn begin(nest: &Nest<'_>, from_zero: bool) -> Option<Begin> {
    match &nest.starts[..] {
        [Start::Unread] => Some(if from_zero { Begin::Zero } else { Begin::Unread }),
        [Start::Held] => Some(Begin::Held),
        [Start::From { body, .. }] => {
            let [value] = body.terminator()?.operands()[..] else { return None };
            match value.def() {
                None if value.owner_block() == Some(*body) => Some(Begin::Copied),
                Some(op) if op.is("arith.constant") => Some(Begin::Number),
                _ => None,
            }
        }
        _ => None,
    }
}

/// Whether zeros behind the end of every ragged axis that reduces change nothing: the body
/// adds a product of two inputs, and both are zero there. One that does not move along the
/// axis is not, and infinity times zero is no number; a number that was put in is finite.
pub fn padding_is_neutral(nest: &Nest<'_>, mapping: &Mapping<'_>) -> bool {
    let extents = nest.extents();
    let mut ragged = (0..mapping.axes.len())
        .filter(|&own| mapping.reduces[own] && mapping.is_ragged(&extents, own));
    let Some(factors) = factors(nest) else {
        return ragged.next().is_none();
    };
    let zero = |factor: usize, own: usize| {
        let bound = Bound::Operand(factor);
        let operand = mapping.binding.operands.iter().position(|operand| *operand == bound);
        operand.is_some_and(|operand| mapping.moves(operand, own))
    };
    ragged.all(|own| factors.iter().all(|&factor| zero(factor, own)))
}

/// The inputs whose product a body adds to its output, or yields, each perhaps converted.
pub fn factors(nest: &Nest<'_>) -> Option<Vec<usize>> {
    const KEEPS_ZERO: [&str; 6] = [
        "arith.extf",
        "arith.truncf",
        "arith.extsi",
        "arith.extui",
        "arith.sitofp",
        "arith.uitofp",
    ];
    let fold = crate::tile::combine(nest)?;
    let so_far = nest.body.arg(nest.inputs.len());
    let term = fold.op.operands().into_iter().find(|value| *value != so_far)?;
    if !matches!(fold.op.name(), "arith.addf" | "arith.addi") {
        return None;
    }
    let input = |mut value: Val<'_>| {
        while let Some(op) = value.def() {
            if !KEEPS_ZERO.contains(&op.name()) {
                return None;
            }
            value = op.operand(0);
        }
        (value.index() < nest.inputs.len()).then(|| value.index())
    };
    match term.def().filter(|op| matches!(op.name(), "arith.mulf" | "arith.muli")) {
        Some(product) => Some(vec![input(product.operand(0))?, input(product.operand(1))?]),
        // An instruction that multiplies by one.
        None => Some(vec![input(term)?]),
    }
}
