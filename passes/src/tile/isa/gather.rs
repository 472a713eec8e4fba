//! How an operand's elements lie in its tensor: the fifth step of ISA Mapper, section 5.2.
//!
//! ```text
//! i[c, y + r, x + s]   n = (y, x), k = (c, r, s)
//!   ->  a box of c, r, s, y, x by strides H·W, W, 1, W, 1: windows overlap (im2col)
//! ```
//!
//! An index is linear in the axes, so a fused axis is one more dimension of the box that a
//! strided move brings. Nothing is laid out anew in memory.

use super::mapping::Mapping;
use crate::nest::Nest;

/// How one instruction's operand reaches its tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Nothing is brought: it is one everywhere.
    Constant,
    /// Elements side by side by strides, none of them twice.
    Strided,
    /// An index is a sum of which only a part is inside: the box moves with the loops around.
    Shifted,
    /// Both parts of a sum are inside: elements come once per window that they are in.
    Gathered,
}

/// How an operand reaches its tensor.
pub fn reach<'c>(nest: &Nest<'c>, mapping: &Mapping<'c>, operand: usize) -> Reach {
    let Some(access) = mapping.access(nest, operand) else { return Reach::Constant };
    let inside = mapping.inside(operand);
    let parts = |index: &weft_dialects::ir::Linear| {
        let used = (0..nest.axes.len()).filter(|&axis| index.coefficients[axis] != 0);
        let (near, far): (Vec<_>, Vec<_>) = used.partition(|axis| inside.contains(axis));
        (near.len(), far.len())
    };
    let parts: Vec<_> = access.index.iter().map(parts).collect();
    if parts.iter().any(|(near, _)| *near > 1) {
        Reach::Gathered
    } else if parts.iter().any(|(near, far)| *near > 0 && *far > 0) {
        Reach::Shifted
    } else {
        Reach::Strided
    }
}
