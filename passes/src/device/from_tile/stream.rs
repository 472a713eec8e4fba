//! Stores that go past the caches.
//!
//! ```text
//! y = relu(x), together more than the caches hold:
//!   device.copy @store %r to %y[%i]  ->  device.copy @stream %r to %y[%i]
//! ```
//!
//! A line that is stored through a cache is read into it first, and pushes out another. What
//! is larger than the last cache is gone before anybody reads it again, so both are for
//! nothing. Only whole registers at multiples of their size are stored so.

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;
use weft_dialects::tile::{RTile, Schedule};

use super::Plan;
use crate::nest::Access;

/// Stores of whole registers past the caches.
#[derive(Clone, Debug)]
pub(super) struct Stream<'c> {
    /// The move.
    name: &'c str,
    /// Bytes of a register.
    register_bytes: u64,
    /// Of the rTask.
    task: RTile,
}

impl<'c> Stream<'c> {
    /// The move that the schedule names.
    pub fn of(machine: Machine<'c>, schedule: &Schedule, task: &RTile) -> Option<Self> {
        let store = machine.move_named(schedule.stream.as_deref()?)?;
        let register_bytes = machine.memory(store.source())?.register_bytes()?;
        Some(Self { name: store.name, register_bytes, task: task.clone() })
    }
}

impl<'c> Plan<'c> {
    /// The move that stores `count` elements of an output side by side along `axis`; what is
    /// reduced `in_parts` is read again.
    pub fn store_of(
        &self,
        output: &Access<'c>,
        axis: Option<usize>,
        count: u64,
        in_parts: bool,
    ) -> &'c str {
        let stream = self.stream.as_ref().filter(|_| !in_parts).zip(axis);
        let stream = stream.filter(|(stream, axis)| stream.suits(self, output, *axis, count));
        stream.map_or(self.plain_store_of(output), |(stream, _)| stream.name)
    }
}

impl Stream<'_> {
    /// Returns whether every such store is of a whole register, to a multiple of its size.
    fn suits(&self, plan: &Plan<'_>, output: &Access<'_>, axis: usize, count: u64) -> bool {
        let bytes = ty::byte_size(output.elem()).unwrap_or(1);
        let address = output.address(plan.nest.axes.len());
        let whole = |elements: i64| elements.unsigned_abs().is_multiple_of(count);
        let begins = |axis: usize| {
            let extent = plan.nest.axes[axis].extent;
            [self.task.sizes[axis], plan.tile.sizes[axis]]
                .into_iter()
                .all(|size| size >= extent || size.is_multiple_of(count))
        };
        count * bytes == self.register_bytes
            && address.coefficients[axis] == 1
            && begins(axis)
            && whole(address.constant)
            && (0..address.coefficients.len())
                .all(|other| other == axis || whole(address.coefficients[other]))
    }
}
