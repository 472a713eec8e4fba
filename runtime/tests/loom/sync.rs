//! As `src/cpu/sync.rs`, of parts that loom schedules.

pub use loom::hint::spin_loop;
pub use loom::sync::Arc;
pub use loom::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering, fence};
use loom::sync::{Condvar, Mutex};

/// Spinning would multiply the orders and show nothing that sleeping does not.
pub const SPINS: u32 = 0;
pub const SPINS_SHARED: u32 = 0;

/// The system's futex: to compare and to fall asleep are one.
#[derive(Default)]
pub struct Futex {
    word: AtomicU32,
    system: Mutex<()>,
    woken: Condvar,
}

impl Futex {
    pub fn load(&self) -> u32 {
        self.word.load(Ordering::Acquire)
    }

    pub fn change(&self) {
        self.word.fetch_add(1, Ordering::Release);
    }

    pub fn sleep(&self, expected: u32) {
        let system = self.system.lock().expect("not poisoned");
        if self.word.load(Ordering::Relaxed) == expected {
            drop(self.woken.wait(system).expect("not poisoned"));
        }
    }

    pub fn wake(&self, all: bool) {
        let system = self.system.lock().expect("not poisoned");
        if all {
            self.woken.notify_all()
        } else {
            self.woken.notify_one()
        }
        drop(system);
    }
}
