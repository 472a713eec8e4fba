//! Waiting for a condition: spinning first, then asleep until woken.

use super::sync::{AtomicU32, Futex, Ordering, fence, spin_loop};

/// A place where threads wait, and are woken to check again.
///
/// Whoever makes a condition true stores first and rings then; whoever waits says so first and
/// looks then. Between the two of each stands a sequentially consistent fence: one of them sees
/// the other, so no wake is lost, and a ring that nobody waits for is a fence and a load.
#[derive(Default)]
pub struct Bell {
    /// Threads that sleep here, or are about to.
    sleepers: AtomicU32,
    /// Changes with every ring that had to wake a thread.
    rings: Futex,
}

impl Bell {
    /// Returns once `ready` holds. `spins` is how often to look before sleeping.
    #[inline]
    pub fn wait(&self, spins: impl FnOnce() -> u32, ready: impl Fn() -> bool) {
        if !ready() {
            self.wait_long(spins(), ready);
        }
    }

    fn wait_long(&self, spins: u32, ready: impl Fn() -> bool) {
        for _ in 0..spins {
            spin_loop();
            if ready() {
                return;
            }
        }
        self.sleepers.fetch_add(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        loop {
            // Read before the condition: a ring after the look changes it, and sleep refuses.
            let heard = self.rings.load();
            if ready() {
                break;
            }
            self.rings.sleep(heard);
        }
        self.sleepers.fetch_sub(1, Ordering::Relaxed);
    }

    /// Tells all who wait to look again.
    #[inline]
    pub fn ring(&self) {
        self.tell(true);
    }

    /// Tells one who waits: for conditions that only one of them can make use of.
    #[inline]
    pub fn ring_one(&self) {
        self.tell(false);
    }

    #[inline]
    fn tell(&self, all: bool) {
        fence(Ordering::SeqCst);
        if self.sleepers.load(Ordering::Relaxed) != 0 {
            self.wake(all);
        }
    }

    #[cold]
    fn wake(&self, all: bool) {
        self.rings.change();
        self.rings.wake(all);
    }
}
