//! Time that tensors take from the memories behind a unit's own: for caches, which load while the
//! unit works.
//!
//! ```text
//! a kernel        max(cycles of its registers, Σ tensors  bytes / rate of the smallest memory that keeps it)
//! a group's tile  the same of each member: what waits comes from the room it waits in,
//!                 what a member before has read, from the cache into which that brought it
//! ```

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;

use super::propagate::{Chain, Tiles, reach};
use super::way::private_cache;
use crate::cost::home::{Beside, Homes};
use crate::nest::{Access, Nest};

/// The memories of a machine whose units have caches.
pub(super) struct Far {
    homes: Homes,
}

impl Far {
    /// No memory at all where units have no cache: transfers are counted elsewhere.
    pub fn of(machine: Machine<'_>) -> Self {
        let cached = private_cache(machine).is_some();
        Self { homes: if cached { Homes::of(machine) } else { Homes::default() } }
    }

    /// Cycles for `bytes` of a tensor of `whole` bytes, from the smallest memory that keeps it
    /// while as much passes by.
    fn cycles(&self, bytes: u64, whole: u64) -> f64 {
        self.homes.cycles(bytes, whole, Beside::Stream)
    }

    /// Cycles in which all tensors of a kernel come or go once.
    pub fn kernel(&self, nest: &Nest<'_>) -> f64 {
        nest.accesses().into_iter().map(|access| self.cycles(bytes(access), bytes(access))).sum()
    }

    /// For each member of a group the cycles in which what one of its tiles touches comes or goes;
    /// `inside` tells by the number of an access of which member's it stays near.
    pub fn group(
        &self,
        chain: &Chain<'_, '_>,
        tiles: &Tiles,
        inside: impl Fn(usize, usize) -> bool,
    ) -> Vec<f64> {
        let mut brought: Vec<usize> = Vec::new();
        let mut member = |(member, nest): (usize, &&Nest<'_>)| {
            let accesses = nest.accesses().into_iter().enumerate();
            let cycles = accesses.map(|(number, access)| {
                let size = ty::byte_size(access.elem()).unwrap_or(8);
                let tile = reach(access, &tiles.spans[member]).iter().product::<u64>() * size;
                let tensor = chain.tensors.get(member).and_then(|reads| reads.get(number));
                let again = tensor.is_some_and(|tensor| brought.contains(tensor));
                brought.extend(tensor);
                let near = again || inside(member, number);
                self.cycles(tile, if near { tile } else { bytes(access) })
            });
            cycles.sum()
        };
        chain.nests.iter().enumerate().map(&mut member).collect()
    }
}

/// Bytes of a tensor.
fn bytes(access: &Access<'_>) -> u64 {
    let points: u64 = access.shape_in_memory().iter().product();
    points * ty::byte_size(access.elem()).unwrap_or(8)
}
