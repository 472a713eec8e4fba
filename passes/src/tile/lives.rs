//! Live ranges of the tensors that the computes of a stitched kernel hand to each other.

use weft_dialects::ir::ty;
use weft_dialects::tile::Empty;

use crate::arena::Life;
use crate::nest::Nest;

/// Returns each tensor that is made inside, with its life in numbers of computes: from the first that
/// touches it to the last.
pub fn lives<'c>(nests: &[&Nest<'c>]) -> Vec<(Empty<'c>, Life)> {
    let mut lives: Vec<(Empty<'c>, Life)> = Vec::new();
    for (number, nest) in nests.iter().enumerate() {
        for access in nest.accesses() {
            let tensor = access.argument();
            let Some(empty) = tensor.def().and_then(Empty::of) else { continue };
            let elements = ty::count(tensor.ty()).unwrap_or(0);
            let bytes = elements * ty::byte_size(access.elem()).unwrap_or(8);
            let at = number as u32;
            match lives.iter_mut().find(|(known, _)| known.op == empty.op) {
                Some((_, life)) => life.last = at,
                None => lives.push((empty, Life { first: at, last: at, bytes })),
            }
        }
    }
    lives
}

/// Returns the memories of tensors, each once, by name.
pub fn memories<'c>(lives: &[(Empty<'c>, Life)]) -> Vec<&'c str> {
    let mut memories: Vec<&str> = lives.iter().map(|(empty, _)| empty.memory).collect();
    memories.sort_unstable();
    memories.dedup();
    memories
}
