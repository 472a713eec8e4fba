//! The primitives of the pool's synchronisation.
//!
//! Nothing else in `bell.rs`, `slot.rs`, `queue.rs` and `cancel.rs` touches memory that threads
//! share: `tests/loom` puts its own module of this name in this one's place and explores every
//! order in which those four may run.

pub use std::hint::spin_loop;
pub use std::sync::Arc;
pub use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};

/// Looks at a condition before a thread sleeps, about 100 µs, where each thread has a processor
/// of its own.
pub const SPINS: u32 = 4000;

/// The same where threads are more than processors: whoever is waited for may need this one.
pub const SPINS_SHARED: u32 = 50;

/// A word that threads sleep on while it has the value that they expect.
#[derive(Default)]
pub struct Futex(AtomicU32);

impl Futex {
    /// The word.
    pub fn load(&self) -> u32 {
        self.0.load(Ordering::Acquire)
    }

    /// Changes the word, so that no thread that expects the old one falls asleep any more.
    pub fn change(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Sleeps if the word is `expected`, until woken; may also return for no reason.
    pub fn sleep(&self, expected: u32) {
        // SAFETY: the word lives as long as `self`; the kernel only compares it, and without a
        // time no other argument is read.
        unsafe {
            let no_limit = std::ptr::null::<libc::timespec>();
            let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
            libc::syscall(libc::SYS_futex, self.0.as_ptr(), operation, expected, no_limit);
        }
    }

    /// Wakes one of those that sleep, or all.
    pub fn wake(&self, all: bool) {
        let count = if all { i32::MAX } else { 1 };
        // SAFETY: as in `sleep`; waking reads no memory.
        unsafe {
            let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
            libc::syscall(libc::SYS_futex, self.0.as_ptr(), operation, count);
        }
    }
}
