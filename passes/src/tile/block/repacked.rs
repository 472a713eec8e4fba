//! Factors that are known when a model is compiled lie as a block reads them.
//!
//! ```text
//! f[o, c, r, s]  ->  f[o, r, s, c]     steps along c: rows of c are neighbours, for every tap
//! ```

use super::super::layout::{Layout, packed, packed_order};
use crate::nest::Nest;

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
        let access = &nest.inputs[self.input];
        let order = packed_order(&nest, access, self.axis, self.axis);
        nest.inputs[self.input] = packed(&nest, access, &order);
        nest
    }
}
