//! Time that tensors take from the memories behind a unit's own: for caches, which load while the
//! unit works.
//!
//! ```text
//! a kernel        together(cycles of its registers, Σ tensors  bytes / rate of the smallest memory that keeps it)
//!                 + the same of planes that are laid out with a border before, to store them, and
//!                 to fill the buffer in which they lie
//! a group's tile  the same of each member: what waits comes from the room it waits in,
//!                 what a member before has read, from the cache into which that brought it
//! ```

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;

use super::cost::together;
use super::propagate::{Chain, Tiles, reach};
use super::shape::runs;
use super::way::private_cache;
use crate::cost::home::{Beside, Homes};
use crate::nest::{Access, Border, Nest};

/// The memories of a machine whose units have caches.
pub(super) struct Far {
    homes: Homes,
    line_bytes: u64,
}

impl Far {
    /// No memory at all where units have no cache: transfers are counted elsewhere.
    pub fn of(machine: Machine<'_>) -> Self {
        let cached = private_cache(machine).is_some();
        let shared = machine.shared().filter(|_| cached);
        Self {
            homes: if cached { Homes::of(machine) } else { Homes::default() },
            line_bytes: shared.and_then(|shared| shared.transaction_bytes()).unwrap_or(0),
        }
    }

    /// Cycles for `bytes` of a tensor of `whole` bytes, from the smallest memory that keeps it
    /// while as much passes by, or to it.
    fn cycles(&self, (bytes, whole): (u64, u64), stored: bool) -> f64 {
        match stored {
            true => self.homes.store_cycles(bytes, whole, Beside::Stream),
            false => self.homes.cycles(bytes, whole, Beside::Stream),
        }
    }

    /// What a kernel takes whose registers take so many cycles.
    pub fn kernel(&self, nest: &Nest<'_>, cycles: f64) -> f64 {
        self.brought(nest).beside(cycles)
    }

    /// Time that memories take for the tensors of a kernel.
    pub fn brought(&self, nest: &Nest<'_>) -> Brought {
        let reads = nest.reads().len();
        let accesses = nest.accesses().into_iter().enumerate();
        let brought = accesses.map(|(number, access)| {
            let bytes = bytes(access);
            self.access(access, &access.shape, (bytes, bytes), number >= reads)
        });
        brought.fold(Brought::default(), Brought::and)
    }

    /// What `bytes` of a tensor of `whole` bytes take, of which an access touches `shape`.
    fn access(
        &self,
        access: &Access<'_>,
        shape: &[u64],
        (bytes, whole): (u64, u64),
        stored: bool,
    ) -> Brought {
        let cycles = self.cycles((bytes, whole), stored);
        let Some(border) = Border::of(access) else {
            return Brought { meanwhile: cycles, before: 0.0 };
        };
        let size = ty::byte_size(access.elem()).unwrap_or(8);
        let all = shape.iter().product::<u64>() * size;
        let plane = shape.iter().rev().take(border.rank()).product::<u64>() * size;
        // The buffer has room for a whole plane, and is filled with the border's number.
        let buffer = access.shape.iter().rev().take(border.rank()).product::<u64>() * size;
        let stored = self.homes.store_cycles(all, plane, Beside::Nothing);
        let filled = self.homes.store_cycles(buffer, buffer, Beside::Nothing);
        Brought { meanwhile: 0.0, before: cycles + stored + filled }
    }

    /// Cycles to begin the runs in which a tile of this shape lies in its tensor: one that lies more
    /// than four lines behind the one before it no prefetcher has brought.
    fn jumps(&self, access: &Access<'_>, shape: &[u64]) -> f64 {
        let runs = runs(access, shape, self.line_bytes);
        if self.homes.follow(runs, bytes(access)) {
            return 0.0;
        }
        self.homes.scattered_cycles(runs as f64, 0.0, bytes(access), Beside::Stream)
    }

    /// For each member of a group what one of its tiles touches;
    /// `inside` tells by the number of an access of which member's it stays near.
    pub fn group(
        &self,
        chain: &Chain<'_, '_>,
        tiles: &Tiles,
        inside: impl Fn(usize, usize) -> bool,
    ) -> Vec<Brought> {
        let mut brought: Vec<usize> = Vec::new();
        let mut member = |(member, nest): (usize, &&Nest<'_>)| {
            let reads = nest.reads().len();
            let accesses = nest.accesses().into_iter().enumerate();
            let brought_all = accesses.map(|(number, access)| {
                let size = ty::byte_size(access.elem()).unwrap_or(8);
                let shape = reach(access, &tiles.spans[member]);
                let tile = shape.iter().product::<u64>() * size;
                let tensor = chain.tensors.get(member).and_then(|reads| reads.get(number));
                let again = tensor.is_some_and(|tensor| brought.contains(tensor));
                brought.extend(tensor);
                let near = again || inside(member, number);
                let whole = if near { tile } else { bytes(access) };
                let stored = number >= reads;
                let jumps = if near || stored { 0.0 } else { self.jumps(access, &shape) };
                let all = self.access(access, &shape, (tile, whole), stored);
                all.and(Brought { meanwhile: jumps, before: 0.0 })
            });
            brought_all.fold(Brought::default(), Brought::and)
        };
        chain.nests.iter().enumerate().map(&mut member).collect()
    }
}

/// Time that memories take for a kernel or a tile.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Brought {
    /// Cycles in which tensors come and go while the unit works.
    meanwhile: f64,
    /// Cycles in which planes that are read past their ends are laid out with their borders first.
    before: f64,
}

impl Brought {
    fn and(self, other: Self) -> Self {
        let meanwhile = self.meanwhile + other.meanwhile;
        Self { meanwhile, before: self.before + other.before }
    }

    /// Returns whether the unit works longer than that.
    pub fn is_hidden_by(self, cycles: f64) -> bool {
        self.meanwhile + self.before <= cycles
    }

    /// All of the time, where the unit works for so many cycles.
    pub fn beside(self, cycles: f64) -> f64 {
        together(cycles, self.meanwhile) + self.before
    }
}

/// Bytes of a tensor.
pub(super) fn bytes(access: &Access<'_>) -> u64 {
    let points: u64 = access.shape_in_memory().iter().product();
    points * ty::byte_size(access.elem()).unwrap_or(8)
}
