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
    /// The nest's axis that each of them is.
    pub axes: Vec<Option<usize>>,
    /// For each operand, its axes from the outermost dimension in.
    pub dims: Vec<Vec<usize>>,
}

impl Mapping<'_> {
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

/// Whether a body adds a product of its inputs, so that zeros on an axis that reduces
/// change nothing.
pub fn adds_products(nest: &Nest<'_>) -> bool {
    let Some(fold) = super::instruction::combine(nest) else { return false };
    let so_far = nest.body.arg(nest.inputs.len());
    let term = fold.op.operands().into_iter().find(|value| *value != so_far);
    let adds = matches!(fold.op.name(), "arith.addf" | "arith.addi");
    let product = term.and_then(|term| term.def());
    adds && product.is_some_and(|op| matches!(op.name(), "arith.mulf" | "arith.muli"))
}
