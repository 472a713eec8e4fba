//! Which instructions of the machine are a part of a nest, and how (ISA Mapper).
//!
//! An instruction says what it means by a payload of its own. It is a part of a nest where
//! the scalar bodies are the same (`unify.rs`), where axes move along the same operands
//! (`signature.rs`), and where both together pass one condition over bits (`boolean.rs`).
//! Every such matching is a [`Mapping`] (`mapping.rs`); a [`Refusal`] says which rule
//! forbids the others. `choose.rs` asks for the cheapest.

mod boolean;
mod cached;
mod choose;
mod cost;
mod enumerate;
mod finish;
mod gather;
mod mapping;
mod refusal;
mod residue;
mod signature;
mod tiles;
mod traffic;
mod unify;

pub use boolean::{Bits, is_valid};
pub use choose::{
    Considered, Matrix, Model, Near, Search, Strategy, choices, consider, hands_over,
};
pub use cost::{cost, transfer_cycles};
pub use enumerate::{Filter, mapping, mapping_of, mappings};
pub use finish::Finish;
pub use gather::{Reach, reach};
pub use mapping::{Digit, Mapping};
pub use refusal::Refusal;
pub use residue::{Begin, begin, factors, padding_is_neutral};
pub use signature::{Signature, nest_bits};
pub use traffic::{Traffic, shared_traffic, traffic};
pub(crate) use unify::COMMUTE;
pub(crate) use unify::the_generic;
pub use unify::{Binding, Bound, Difference, bindings};

use weft_dialects::device::Instruction;
use weft_dialects::ir::payload::Axis;

use super::depth::Depth;

/// Whether an instruction is mapped by its axes, and not by its lanes alone.
pub fn has_axes(instruction: &Instruction<'_>) -> bool {
    Depth::of(instruction).is_none() && has_several(instruction)
}

fn has_several(instruction: &Instruction<'_>) -> bool {
    Signature::of(instruction).is_some_and(|signature| {
        signature.axes.len() > 1 || signature.axes.iter().any(|(_, kind)| *kind == Axis::Reduction)
    })
}
