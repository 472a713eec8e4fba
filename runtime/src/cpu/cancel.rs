//! Cancelling requests from another thread.

use super::queue::{Queue, Request};
use super::slot::End;
use super::sync::{Arc, AtomicBool, Ordering, fence};

/// A handle that cancels the requests of one model which were begun with it.
///
/// A cancelled handle stays so, and requests begun with it then end at once, until
/// [`Cancel::reset`]. It may outlive the model.
#[derive(Clone)]
pub struct Cancel {
    queue: Arc<Queue>,
    flag: Arc<AtomicBool>,
    /// The number by which slots know it.
    number: u64,
}

impl Cancel {
    /// A handle for requests of that queue, with a number that no other handle of it has; not 0.
    pub(super) fn new(queue: Arc<Queue>, number: u64) -> Cancel {
        Cancel { queue, flag: Arc::new(AtomicBool::new(false)), number }
    }

    /// Ends the requests that run with this handle, as soon as their workers have completed the
    /// calls that they are in, and those that will be begun with it. A worker that has not come to
    /// such a request yet first goes through the requests before it.
    pub fn cancel(&self) {
        self.flag.store(true, Ordering::Release);
        // Either we see the request, or it sees the flag: as in `begin`.
        fence(Ordering::SeqCst);
        self.queue.slots().iter().for_each(|slot| slot.cancel(self.number));
    }

    /// Returns whether it was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.flag.load(Ordering::Acquire)
    }

    /// Lets requests be begun with this handle again. Those that it has cancelled stay so.
    pub fn reset(&self) {
        self.flag.store(false, Ordering::Release);
    }

    /// Returns whether it is for requests of that queue.
    pub(super) fn is_of(&self, queue: &Arc<Queue>) -> bool {
        Arc::ptr_eq(&self.queue, queue)
    }

    /// Takes a slot for a request that this handle cancels.
    pub(super) fn begin<'q>(&self, queue: &'q Queue) -> Request<'q> {
        let request = queue.open(self.number);
        fence(Ordering::SeqCst);
        if self.is_cancelled() {
            request.slot().stop(End::Cancelled);
        }
        request
    }
}

impl std::fmt::Debug for Cancel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Cancel").field("is_cancelled", &self.is_cancelled()).finish_non_exhaustive()
    }
}
