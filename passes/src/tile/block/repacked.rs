//! Factors that are known when a model is compiled lie as a block reads them.
//!
//! ```text
//! f[o, c, r, s]  ->  f[o, r, s, c]     steps along c: rows of c are neighbours, for every tap
//! ```

use super::super::layout::Layout;
use crate::nest::{Access, Nest};

/// A factor that is laid out anew, and the axis of the nest whose points are neighbours in it then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repacked {
    /// The number of the input.
    pub input: usize,
    /// The axis.
    pub axis: usize,
}

impl Repacked {
    /// What is to be laid out anew: the first factor of those that may be, whose neighbours are neither
    /// along the longest reduction nor along what does not reduce.
    pub fn of(nest: &Nest<'_>, layouts: &[Layout]) -> Option<Self> {
        let axes = 0..nest.axes.len();
        (0..nest.inputs.len()).find_map(|input| {
            let access = &nest.inputs[input];
            let alone = access.index.iter().all(|index| index.as_axis().is_some());
            if layouts.get(input) != Some(&Layout::Free) || !alone {
                return None;
            }
            let used = axes.clone().filter(|&axis| access.uses(axis) && nest.reduces(axis));
            let axis = used.max_by_key(|&axis| nest.axes[axis].extent)?;
            let inner = axes.clone().find(|&axis| access.stride(nest.axes.len(), axis) == 1)?;
            (nest.reduces(inner) && inner != axis).then_some(Self { input, axis })
        })
    }

    /// The nest whose factor lies so, whatever its tensor says.
    pub fn nest<'c>(self, nest: &Nest<'c>) -> Nest<'c> {
        let mut nest = nest.clone();
        let order = order(&nest, &nest.inputs[self.input], self.axis);
        let extents = nest.extents();
        let (axes, access) = (nest.axes.len(), &mut nest.inputs[self.input]);
        access.shape = order.iter().map(|&axis| extents[axis]).collect();
        access.index =
            order.iter().map(|&axis| weft_dialects::ir::Linear::axis(axes, axis)).collect();
        nest
    }
}

/// The axes of an operand with one of them the fastest: what does not reduce comes first, so that panels of
/// one image or head lie together.
pub(in super::super) fn order(nest: &Nest<'_>, access: &Access<'_>, last: usize) -> Vec<usize> {
    let mut order: Vec<usize> =
        (0..nest.axes.len()).filter(|&axis| axis != last && access.uses(axis)).collect();
    order.sort_by_key(|&axis| nest.reduces(axis));
    order.push(last);
    order
}
