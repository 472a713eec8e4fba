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
/// adds a product of inputs, and all of them are zero there. One that does not move along the
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

/// The inputs of which each, where it is zero, makes zero of what a body adds to its output: both
/// factors of a product, also of one whose factors are converted or cut. `None` where no input does.
pub fn factors(nest: &Nest<'_>) -> Option<Vec<usize>> {
    let fold = crate::tile::combine(nest)?;
    let so_far = nest.body.arg(nest.inputs.len());
    let term = fold.op.operands().into_iter().find(|value| *value != so_far)?;
    if !matches!(fold.op.name(), "arith.addf" | "arith.addi") {
        return None;
    }
    let found: Vec<usize> =
        (0..nest.inputs.len()).filter(|&input| vanishes(term, nest.body.arg(input))).collect();
    (!found.is_empty()).then_some(found)
}

/// Whether a value is zero where an argument is, and nothing else is infinite.
fn vanishes<'c>(value: Val<'c>, zero: Val<'c>) -> bool {
    let Some(op) = value.def() else { return value == zero };
    let operands = op.operands();
    let mut each = operands.iter().map(|&operand| vanishes(operand, zero));
    match op.name() {
        "arith.extf" | "arith.truncf" | "arith.extsi" | "arith.extui" | "arith.sitofp"
        | "arith.uitofp" | "arith.bitcast" | "arith.addf" | "arith.addi" | "arith.subf"
        | "arith.subi" => each.all(|zero| zero),
        "arith.mulf" | "arith.muli" | "arith.andi" => each.any(|zero| zero),
        _ => false,
    }
}
