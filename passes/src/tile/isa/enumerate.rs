//! Every way in which an instruction is a part of a nest: the last step of ISA Mapper,
//! section 5.2.
//!
//! An axis of the nest may be one of the instruction where both are of one kind and move
//! along the same operands. Every set of such axes is tried, in the order of the nest; what
//! is left becomes loops around the instruction. For conv2d and a product,
//! `{n, h, w} -> m`, `{co} -> n` and `{ci, r, s} -> k` are 7 · 1 · 7 = 49 mappings.

use weft_dialects::device::{Instruction, Machine};
use weft_dialects::ir::payload::Axis;
use weft_dialects::tile::Compute;

use super::boolean::{Bits, is_valid};
use super::mapping::{Mapping, box_sizes};
use super::refusal::Refusal;
use super::signature::{Signature, describe, nest_bits};
use super::unify::{Binding, bindings};
use crate::nest::{Nest, index_axis};

/// More axes than this are not fused into one: there are `2^n` sets.
const MOST_FUSED: usize = 6;

/// Which mappings are left out although they are valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// None.
    #[default]
    Signature,
    /// Those with one axis of a window alone as the sum: AMOS counts 6, 35 and 180 mappings
    /// of one- to three-dimensional convolutions this way.
    NoLoneWindow,
}

/// Every way in which the instruction is a part of the nest.
///
/// # Errors
/// The rule that forbids it, and what it met.
pub fn mappings<'c>(
    instruction: &Instruction<'c>,
    nest: &Nest<'c>,
    filter: Filter,
) -> Result<Vec<Mapping<'c>>, Refusal> {
    let name = || instruction.name.to_owned();
    let signature =
        Signature::of(instruction).ok_or_else(|| Refusal::Meaning { instruction: name() })?;
    if !nest.captures.is_empty() {
        return Err(Refusal::Addresses { instruction: name() });
    }
    if nest.body.ops().into_iter().any(|op| index_axis(op).is_some()) {
        return Err(Refusal::Coordinates { instruction: name() });
    }
    let bindings = bindings(instruction, nest).map_err(|unlike| Refusal::Body {
        instruction: name(),
        theirs: unlike.theirs,
        ours: unlike.ours,
    })?;
    let mut found = Vec::new();
    let mut refusal = Refusal::Boolean { instruction: name() };
    for binding in bindings {
        let matching = Matching::new(instruction, &signature, nest, binding);
        match matching.check() {
            Err(why) => refusal = why,
            Ok(()) => found.extend(matching.all()),
        }
    }
    if filter == Filter::NoLoneWindow {
        found.retain(|mapping| !sums_lone_window(nest, mapping));
    }
    if found.is_empty() { Err(refusal) } else { Ok(found) }
}

/// The mapping with these axes and operands, where it is one; the first with these axes where no
/// operands are named.
pub fn mapping<'c>(
    instruction: &Instruction<'c>,
    nest: &Nest<'c>,
    axes: &[Vec<usize>],
    operands: &[Option<usize>],
) -> Option<Mapping<'c>> {
    let all = mappings(instruction, nest, Filter::Signature).ok()?;
    all.into_iter().find(|mapping| mapping.axes == axes && mapping.binding.is_named(operands))
}

/// The mapping that a tile program names; `None` where it names no axes, or they are none.
pub fn mapping_of<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    compute: &Compute<'_>,
) -> Option<Mapping<'c>> {
    let instruction = machine.instruction(compute.instruction)?;
    mapping(&instruction, nest, compute.axes.as_ref()?, &compute.schedule.operands)
}

/// Whether an operand of the nest adds the axis to another one: it moves in a window.
pub(super) fn is_window(nest: &Nest<'_>, axis: usize) -> bool {
    let others = |index: &weft_dialects::ir::Linear| {
        let used = index.coefficients.iter().enumerate().filter(|(_, factor)| **factor != 0);
        index.coefficients[axis] != 0 && used.count() > 1
    };
    nest.inputs.iter().flat_map(|access| &access.index).any(others)
}

fn sums_lone_window(nest: &Nest<'_>, mapping: &Mapping<'_>) -> bool {
    let sums = mapping.axes.iter().zip(&mapping.reduces).filter(|(_, reduces)| **reduces);
    sums.map(|(axes, _)| axes).any(|axes| matches!(axes[..], [axis] if is_window(nest, axis)))
}

/// An instruction beside a nest, with its operands bound.
struct Matching<'p, 'c> {
    instruction: &'p Instruction<'c>,
    signature: &'p Signature,
    nest: &'p Nest<'c>,
    binding: Binding,
    /// Operand by axis of the instruction.
    z: Bits,
    /// Operand by axis of the nest.
    x: Bits,
    /// For each axis of the instruction, the axes of the nest that may be it.
    candidates: Vec<Vec<usize>>,
}

impl<'p, 'c> Matching<'p, 'c> {
    fn new(
        instruction: &'p Instruction<'c>,
        signature: &'p Signature,
        nest: &'p Nest<'c>,
        binding: Binding,
    ) -> Self {
        let (z, x) = (signature.bits(&binding), nest_bits(nest, &binding));
        let candidates = (0..signature.axes.len())
            .map(|own| {
                let bits = z.column(own);
                let same = |axis: &usize| {
                    nest.axes[*axis].kind == signature.axes[own].1
                        && nest.axes[*axis].extent > 1
                        && bits.contains(&true)
                        && x.column(*axis) == bits
                };
                (0..nest.axes.len()).filter(same).take(MOST_FUSED).collect()
            })
            .collect();
        Self { instruction, signature, nest, binding, z, x, candidates }
    }

    /// Whether there may be a mapping at all.
    fn check(&self) -> Result<(), Refusal> {
        let instruction = || self.instruction.name.to_owned();
        if self.candidates.iter().all(Vec::is_empty) {
            let theirs: Vec<_> = self.signature.axes.iter().map(|axis| reduces(axis.1)).collect();
            let ours: Vec<_> = self.nest.axes.iter().map(|axis| reduces(axis.kind)).collect();
            return Err(Refusal::Signature {
                instruction: instruction(),
                theirs: describe(&self.z, &theirs, "d"),
                ours: describe(&self.x, &ours, "axis "),
            });
        }
        if let Some((own, axis)) = self.depthwise() {
            return Err(Refusal::Depthwise { instruction: instruction(), own, axis });
        }
        Ok(())
    }

    /// An axis of the instruction that would be one point, and the nest's axis that moves along
    /// its operands and others, where only windows are summed: every channel by itself.
    fn depthwise(&self) -> Option<(usize, usize)> {
        let sums = (0..self.candidates.len()).filter(|&own| reduces(self.signature.axes[own].1));
        let mut summed = sums.flat_map(|own| &self.candidates[own]).peekable();
        if summed.peek().is_none() || !summed.all(|&axis| is_window(self.nest, axis)) {
            return None;
        }
        (0..self.candidates.len()).filter(|&own| self.candidates[own].is_empty()).find_map(|own| {
            let bits = self.z.column(own);
            let more = |axis: &usize| {
                let ours = self.x.column(*axis);
                self.nest.axes[*axis].extent > 1
                    && self.nest.axes[*axis].kind == self.signature.axes[own].1
                    && ours != bits
                    && bits.iter().zip(&ours).all(|(theirs, ours)| *ours || !*theirs)
            };
            (0..self.nest.axes.len()).find(more).map(|axis| (own, axis))
        })
    }

    /// Every valid mapping.
    fn all(&self) -> Vec<Mapping<'c>> {
        let mut found = Vec::new();
        self.assign(&mut Vec::new(), &mut found);
        found
    }

    /// Chooses for one axis of the instruction after the other.
    fn assign(&self, chosen: &mut Vec<Vec<usize>>, found: &mut Vec<Mapping<'c>>) {
        let own = chosen.len();
        let Some(candidates) = self.candidates.get(own) else {
            if self.is_mapping(chosen) {
                found.push(self.made(chosen));
            }
            return;
        };
        for axes in self.choices(own, candidates, chosen) {
            chosen.push(axes);
            self.assign(chosen, found);
            chosen.pop();
        }
    }

    /// What an axis of the instruction may be after those before it. Two axes that an operand
    /// adds up are one, so they share what they are; so do two that are alike, where there is
    /// nothing left for the second. Nothing only where there is nothing to choose.
    fn choices(&self, own: usize, candidates: &[usize], chosen: &[Vec<usize>]) -> Vec<Vec<usize>> {
        let alike = |other: &usize| self.candidates[*other] == candidates;
        if let Some(first) = (0..own).find(|&other| self.signature.adds_up(other, own)) {
            return vec![chosen[first].clone()];
        }
        let before: Vec<usize> = (0..own).filter(alike).collect();
        let taken = |axis: &usize| before.iter().any(|&other| chosen[other].contains(axis));
        let free: Vec<usize> = candidates.iter().copied().filter(|axis| !taken(axis)).collect();
        if free.is_empty() {
            let shared = before.last().map(|&other| chosen[other].clone());
            return vec![shared.unwrap_or_default()];
        }
        subsets(&free)
    }

    /// `Z ⋆ Y = X` and `X ⋆ Yᵀ = Z`, on mapped axes.
    fn is_mapping(&self, chosen: &[Vec<usize>]) -> bool {
        let own: Vec<usize> = (0..chosen.len()).filter(|&own| !chosen[own].is_empty()).collect();
        let axes: Vec<usize> =
            (0..self.nest.axes.len()).filter(|axis| chosen.concat().contains(axis)).collect();
        let y =
            Bits::of(chosen.len(), self.nest.axes.len(), |own, axis| chosen[own].contains(&axis));
        let (x, z) = (self.x.with_columns(&axes), self.z.with_columns(&own));
        !own.is_empty() && is_valid(&x, &y.with_rows(&own).with_columns(&axes), &z)
    }

    fn made(&self, chosen: &[Vec<usize>]) -> Mapping<'c> {
        let extents: Vec<u64> = self.signature.axes.iter().map(|(extent, _)| *extent).collect();
        let mut left = self.nest.extents();
        let mut sizes = vec![Vec::new(); chosen.len()];
        // Of axes that share what they are, the last one is the fastest.
        for own in (0..chosen.len()).rev() {
            let ours: Vec<u64> = chosen[own].iter().map(|&axis| left[axis]).collect();
            sizes[own] = box_sizes(extents[own], &ours);
            for (&axis, size) in chosen[own].iter().zip(&sizes[own]) {
                left[axis] = left[axis].div_ceil(*size);
            }
        }
        let operands = 0..self.binding.operands.len();
        Mapping {
            instruction: self.instruction.clone(),
            binding: self.binding.clone(),
            extents,
            reduces: self.signature.axes.iter().map(|axis| reduces(axis.1)).collect(),
            axes: chosen.to_vec(),
            box_sizes: sizes,
            dims: operands.map(|operand| self.signature.dims(operand)).collect(),
        }
    }
}

fn reduces(kind: Axis) -> bool {
    kind == Axis::Reduction
}

/// Every set of one or more, each in the given order, small sets first.
fn subsets(of: &[usize]) -> Vec<Vec<usize>> {
    let member = |set: usize| -> Vec<usize> {
        let at = of.iter().enumerate().filter(|(place, _)| set >> place & 1 == 1);
        at.map(|(_, &axis)| axis).collect()
    };
    let mut all: Vec<_> = (1..1 << of.len()).map(member).collect();
    all.sort_by_key(Vec::len);
    all
}
