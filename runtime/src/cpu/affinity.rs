//! The processors that workers are pinned to.
//!
//! A worker that wakes unbound is put beside the thread that woke it, and the two take turns until
//! the system moves one: a run of 50 microseconds took 290. So each is bound to a processor, and
//! one is left for the caller's thread, which is not ours to bind. Where the system has moved that
//! to a worker's processor, the worker moves to the one that was left.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Where the workers of a pool run.
pub struct Places {
    /// The processor that is left for the caller.
    left: AtomicUsize,
    /// The thread of each worker that is bound, and its processor.
    bound: Mutex<Vec<(libc::pid_t, usize)>>,
}

impl Places {
    /// All of `processors` but the first are for workers.
    pub fn new(processors: &[usize]) -> Self {
        let left = processors.first().copied().unwrap_or(usize::MAX);
        Self { left: AtomicUsize::new(left), bound: Mutex::default() }
    }

    /// Binds the calling thread, a worker's, to a processor.
    pub fn bind(&self, cpu: usize) {
        // SAFETY: the call takes nothing.
        let thread = unsafe { libc::gettid() };
        pin(thread, cpu);
        if let Ok(mut bound) = self.bound.lock() {
            bound.push((thread, cpu));
        }
    }

    /// Leaves the processor that the calling thread runs on to it.
    pub fn leave(&self) {
        if let Some(here) = here().filter(|&here| here != self.left.load(Ordering::Relaxed)) {
            self.move_from(here);
        }
    }

    /// Moves the worker that is bound to a processor to the one that was left, and leaves this one.
    fn move_from(&self, here: usize) {
        // Another caller that does the same makes as good a place of it.
        let Ok(mut bound) = self.bound.try_lock() else { return };
        let left = self.left.swap(here, Ordering::Relaxed);
        for (thread, cpu) in bound.iter_mut().filter(|(_, cpu)| *cpu == here) {
            pin(*thread, left);
            *cpu = left;
        }
    }
}

/// The processor that the calling thread runs on; `None` where the system does not know.
fn here() -> Option<usize> {
    // SAFETY: the call takes nothing.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Processors this process may run on, one of each core before the second of any. The first is the
/// one that the calling thread runs on.
pub fn processors() -> Vec<usize> {
    one_of_each_core(allowed(), here(), |cpu| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        fs::read_to_string(path).unwrap_or_else(|_| cpu.to_string())
    })
}

/// Processors, `here` first and then one of each other core before the second of any.
fn one_of_each_core(
    mut processors: Vec<usize>,
    here: Option<usize>,
    core: impl Fn(usize) -> String,
) -> Vec<usize> {
    processors.sort_by_key(|&cpu| Some(cpu) != here);
    let mut cores = BTreeSet::new();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for cpu in processors {
        if cores.insert(core(cpu)) { &mut first } else { &mut second }.push(cpu);
    }
    first.append(&mut second);
    first
}

/// Binds a thread to one processor. Where that is forbidden it runs anywhere.
fn pin(thread: libc::pid_t, cpu: usize) {
    if cpu >= libc::CPU_SETSIZE as usize {
        return;
    }
    // SAFETY: an all-zero cpu_set_t is the empty set; `cpu` is below its size; the call only
    // reads the set and affects that thread alone, or none if it has ended.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(thread, size_of_val(&set), &set);
    }
}

fn allowed() -> Vec<usize> {
    // SAFETY: an all-zero cpu_set_t is the empty set, which the call fills in.
    let (set, status) = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        let status = libc::sched_getaffinity(0, size_of_val(&set), &mut set);
        (set, status)
    };
    if status != 0 {
        return Vec::new();
    }
    // SAFETY: every number tested is below the size of the set.
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_callers_processor_is_the_first() {
        // Two processors a core.
        let order = |here| one_of_each_core(vec![0, 1, 2, 3], here, |cpu| (cpu / 2).to_string());
        assert_eq!(order(Some(3)), [3, 0, 1, 2]);
        assert_eq!(order(Some(0)), [0, 2, 1, 3]);
        assert_eq!(order(None), [0, 2, 1, 3]);
        // A processor that the process may not run on.
        assert_eq!(order(Some(7)), [0, 2, 1, 3]);
    }

    #[test]
    fn a_worker_leaves_the_callers_processor() {
        // No thread has this number: nothing but the list is changed.
        let nobody = libc::pid_t::MAX;
        let places = Places::new(&[0, 1, 2]);
        places.bound.lock().expect("nobody has it").extend([(nobody, 1), (nobody, 2)]);
        let now = || {
            let bound = places.bound.lock().expect("nobody has it");
            (places.left.load(Ordering::Relaxed), bound.iter().map(|own| own.1).collect::<Vec<_>>())
        };
        places.move_from(2);
        assert_eq!(now(), (2, vec![1, 0]));
        places.move_from(1);
        assert_eq!(now(), (1, vec![2, 0]));
        // No worker is there.
        places.move_from(5);
        assert_eq!(now(), (5, vec![2, 0]));
    }
}
