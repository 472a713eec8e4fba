//! Whether zeros may stand at a ragged end, and how a sum begins.

use rustc_hash::FxHashMap;
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

/// The inputs of what a body adds to its output, where each of them makes that zero where it is zero
/// itself: both factors of a product, also of one whose factors are converted or cut. `None` where one
/// does not, or there is none.
pub fn factors(nest: &Nest<'_>) -> Option<Vec<usize>> {
    let fold = crate::tile::combine(nest)?;
    let so_far = nest.body.arg(nest.inputs.len());
    let term = fold.op.operands().into_iter().find(|value| *value != so_far)?;
    if !matches!(fold.op.name(), "arith.addf" | "arith.addi") {
        return None;
    }
    let inputs = (0..nest.inputs.len()).map(|input| (input, nest.body.arg(input)));
    let read = inputs.filter(|(_, arg)| depends(term, *arg, &mut FxHashMap::default()));
    let zero = |(input, arg)| zero(term, arg, &mut FxHashMap::default()).map(|_| input);
    let found: Option<Vec<usize>> = read.map(zero).collect();
    found.filter(|found| !found.is_empty())
}

/// Whether a value is computed from an argument.
fn depends<'c>(value: Val<'c>, arg: Val<'c>, known: &mut FxHashMap<Val<'c>, bool>) -> bool {
    let Some(op) = value.def() else { return value == arg };
    if let Some(known) = known.get(&value) {
        return *known;
    }
    let found = op.operands().into_iter().any(|operand| depends(operand, arg, known));
    known.insert(value, found);
    found
}

/// A value that is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Zero {
    /// All of its bits are.
    Bits,
    /// It may be the negative zero of a float.
    Signed,
}

/// Whether a value is zero where an argument is, and nothing else is infinite.
fn zero<'c>(
    value: Val<'c>,
    arg: Val<'c>,
    known: &mut FxHashMap<Val<'c>, Option<Zero>>,
) -> Option<Zero> {
    let Some(op) = value.def() else { return (value == arg).then_some(Zero::Bits) };
    if let Some(known) = known.get(&value) {
        return *known;
    }
    let operands: Vec<_> =
        op.operands().into_iter().map(|operand| zero(operand, arg, known)).collect();
    let all = |found: &[Option<Zero>]| -> Option<Zero> {
        let found: Vec<Zero> = found.iter().copied().collect::<Option<_>>()?;
        Some(if found.contains(&Zero::Signed) { Zero::Signed } else { Zero::Bits })
    };
    let found = match op.name() {
        "arith.extf" | "arith.truncf" | "arith.extsi" | "arith.extui" | "arith.sitofp"
        | "arith.uitofp" | "arith.addf" | "arith.addi" | "arith.subf" | "arith.subi" => {
            all(&operands)
        }
        "arith.bitcast" => all(&operands).filter(|own| *own == Zero::Bits),
        "arith.mulf" => operands.iter().any(Option::is_some).then_some(Zero::Signed),
        "arith.muli" | "arith.andi" => operands.iter().any(Option::is_some).then_some(Zero::Bits),
        _ => None,
    };
    known.insert(value, found);
    found
}
