//! How the axes of an instruction are those of a nest.
//!
//! ```text
//! c[m, n] += a[m, k] * b[k, n]                      the instruction, of 16 x 16 x 16
//! o[f, y, x] += w[f, c, r, s] * i[c, y + r, x + s]  the nest
//!   ->  m = f, k = c, n = x; loops over y, r, s are around it
//! ```
//!
//! The bodies are the same (`instruction.rs`). An axis of the instruction may be an axis
//! of the nest where both are of one kind and move along the same operands (ISA Mapper,
//! section 5.2 step 3; the Boolean condition of step 4 follows, for an axis is mapped to
//! one other). An axis of the instruction may also be none: one point of it is then used.

use weft_dialects::device::Instruction;
use weft_dialects::ir::Val;
use weft_dialects::ir::payload::Axis;

use super::instruction::bindings;
use crate::nest::{Nest, Start, generic_accesses, generic_axes};

/// An instruction of at least two axes, or of one that reduces, as a part of a nest.
#[derive(Clone, Debug)]
pub struct Mapping<'c> {
    /// The instruction.
    pub instruction: Instruction<'c>,
    /// For each of its operands, the nest's input or, after the inputs, output.
    pub binding: Vec<usize>,
    /// Points of each of its axes.
    pub extents: Vec<u64>,
    /// Whether each of them reduces.
    pub reduces: Vec<bool>,
    /// The nest's axis that each of them is.
    pub axes: Vec<Option<usize>>,
    /// For each operand, its axes from the outermost dimension in.
    pub dims: Vec<Vec<usize>>,
}

impl Mapping<'_> {
    /// Whether the points of an axis of the instruction are no whole number of it.
    pub fn is_ragged(&self, nest: &Nest<'_>, own: usize) -> bool {
        let points = self.axes[own].map_or(1, |axis| nest.axes[axis].extent);
        !points.is_multiple_of(self.extents[own])
    }

    /// Points of the instruction along an axis of the nest; 1 for one that it does not have.
    pub fn quantum(&self, axis: usize) -> u64 {
        let own = self.axes.iter().position(|mapped| *mapped == Some(axis));
        own.map_or(1, |own| self.extents[own])
    }

    /// The axes of the nest that an operand moves along and the instruction does not have.
    pub fn around(&self, nest: &Nest<'_>, operand: usize) -> Vec<usize> {
        let access = nest.inputs.iter().chain(&nest.outputs).nth(self.binding[operand]);
        let mapped = |axis: &usize| self.axes.contains(&Some(*axis));
        let used = |axis: &usize| access.is_some_and(|access| access.uses(*axis));
        (0..nest.axes.len()).filter(|axis| used(axis) && !mapped(axis)).collect()
    }

    /// `m = 0, n = 2` by the numbers of the axes, for people.
    pub fn describe(&self) -> String {
        let one = |(own, axis): (usize, &Option<usize>)| match axis {
            Some(axis) => format!("d{own} = axis {axis}"),
            None => format!("one point of d{own}"),
        };
        let axes: Vec<_> = self.axes.iter().enumerate().map(one).collect();
        format!("@{}, {}", self.instruction.name, axes.join(", "))
    }
}

/// Every way in which the instruction is a part of the nest.
///
/// # Errors
/// Why there is none: the rule, and what it met.
pub fn mappings<'c>(
    instruction: &Instruction<'c>,
    nest: &Nest<'c>,
) -> Result<Vec<Mapping<'c>>, String> {
    let name = instruction.name;
    let signature = signature(instruction)
        .ok_or_else(|| format!("the meaning of @{name} is no single nest of plain axes"))?;
    if !nest.captures.is_empty() {
        return Err(format!("@{name} takes operands, the body reads at computed addresses"));
    }
    let asks = |op| crate::nest::index_axis(op).is_some();
    if nest.body.ops().into_iter().any(asks) {
        return Err(format!("@{name} does not know where it is, the body asks for coordinates"));
    }
    let bindings = bindings(instruction, nest);
    if bindings.is_empty() {
        return Err(format!("@{name} means another body"));
    }
    let mut found = Vec::new();
    let mut reason = String::new();
    for binding in bindings {
        let candidates: Vec<Vec<usize>> = (0..signature.axes.len())
            .map(|own| signature.candidates(own, nest, &binding))
            .collect();
        if candidates.iter().all(Vec::is_empty) {
            reason = format!("no axis of the nest moves along the operands as one of @{name}");
            continue;
        }
        let mut axes = Vec::new();
        assign(&candidates, &mut axes, &mut |axes| {
            found.push(Mapping {
                instruction: instruction.clone(),
                binding: binding.clone(),
                extents: signature.axes.iter().map(|(extent, _)| *extent).collect(),
                reduces: signature.axes.iter().map(|(_, kind)| *kind == Axis::Reduction).collect(),
                axes: axes.to_vec(),
                dims: signature.dims.clone(),
            });
        });
    }
    if found.is_empty() { Err(reason) } else { Ok(found) }
}

/// The mapping with these axes, where it is one.
pub fn mapping<'c>(
    instruction: &Instruction<'c>,
    nest: &Nest<'c>,
    axes: &[Option<usize>],
) -> Option<Mapping<'c>> {
    mappings(instruction, nest).ok()?.into_iter().find(|mapping| mapping.axes == axes)
}

/// Whether an instruction is mapped by its axes, and not by its lanes alone.
pub fn has_axes(instruction: &Instruction<'_>) -> bool {
    signature(instruction).is_some_and(|signature| {
        signature.axes.len() > 1 || signature.axes.iter().any(|(_, kind)| *kind == Axis::Reduction)
    })
}

/// The axes of an instruction, and how its operands move along them.
struct Signature {
    axes: Vec<(u64, Axis)>,
    dims: Vec<Vec<usize>>,
}

fn signature(instruction: &Instruction<'_>) -> Option<Signature> {
    let meaning = instruction.meaning()?;
    let generic = meaning.iter().find(|op| op.is("linalg.generic"))?;
    let axes = generic_axes(generic).ok()?;
    let accesses = generic_accesses(generic).ok()?;
    let dims = accesses
        .iter()
        .map(|access| access.index.iter().map(|index| index.as_axis()).collect::<Option<_>>())
        .collect::<Option<_>>()?;
    let axes = axes.into_iter().map(|axis| (axis.extent, axis.kind)).collect();
    Some(Signature { axes, dims })
}

impl Signature {
    /// The axes of the nest that the axis `own` of the instruction may be.
    fn candidates(&self, own: usize, nest: &Nest<'_>, binding: &[usize]) -> Vec<usize> {
        let kind = self.axes[own].1;
        let accesses: Vec<_> = nest.inputs.iter().chain(&nest.outputs).collect();
        let same =
            |axis: &usize| {
                nest.axes[*axis].kind == kind
                    && self.dims.iter().zip(binding).all(|(dims, &operand)| {
                        dims.contains(&own) == accesses[operand].uses(*axis)
                    })
            };
        (0..nest.axes.len()).filter(|&axis| nest.axes[axis].extent > 1).filter(same).collect()
    }
}

/// Every choice of one candidate or none per axis, without choosing one twice; none only
/// where there is nothing to choose.
fn assign(
    candidates: &[Vec<usize>],
    chosen: &mut Vec<Option<usize>>,
    found: &mut dyn FnMut(&[Option<usize>]),
) {
    let Some(own) = candidates.get(chosen.len()) else {
        found(chosen);
        return;
    };
    let free: Vec<usize> =
        own.iter().copied().filter(|axis| !chosen.contains(&Some(*axis))).collect();
    if free.is_empty() {
        chosen.push(None);
        assign(candidates, chosen, found);
        chosen.pop();
    }
    for axis in free {
        chosen.push(Some(axis));
        assign(candidates, chosen, found);
        chosen.pop();
    }
}

/// How an accumulator gets its first value without a lane unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// It is one number everywhere.
    Number,
    /// It is copied from the tensor of the one input of the start.
    Copied,
    /// It is what the output holds.
    Held,
}

/// How the output of a nest begins; `None` where that is computed.
pub fn begin(nest: &Nest<'_>) -> Option<Begin> {
    match &nest.starts[..] {
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
/// axis is not, and infinity times zero is no number.
pub fn padding_is_neutral(nest: &Nest<'_>, mapping: &Mapping<'_>) -> bool {
    let mut ragged = (0..mapping.axes.len()).filter(|&own| mapping.is_ragged(nest, own));
    let Some(factors) = factors(nest) else {
        return !ragged.any(|own| mapping.reduces[own]);
    };
    let moves = |factor: usize, own: usize| {
        let operand = mapping.binding.iter().position(|&bound| bound == factor);
        operand.is_some_and(|operand| mapping.dims[operand].contains(&own))
    };
    ragged
        .filter(|&own| mapping.reduces[own])
        .all(|own| factors.iter().all(|&factor| moves(factor, own)))
}

/// The two inputs whose product a body adds to its output, each perhaps converted.
pub(super) fn factors(nest: &Nest<'_>) -> Option<[usize; 2]> {
    const KEEPS_ZERO: [&str; 6] = [
        "arith.extf",
        "arith.truncf",
        "arith.extsi",
        "arith.extui",
        "arith.sitofp",
        "arith.uitofp",
    ];
    let fold = super::instruction::combine(nest)?;
    let so_far = nest.body.arg(nest.inputs.len());
    let term = fold.op.operands().into_iter().find(|value| *value != so_far)?.def()?;
    let adds = matches!(fold.op.name(), "arith.addf" | "arith.addi");
    if !adds || !matches!(term.name(), "arith.mulf" | "arith.muli") {
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
    Some([input(term.operand(0))?, input(term.operand(1))?])
}
