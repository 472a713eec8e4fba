//! The processors that workers are pinned to.

use std::collections::BTreeSet;
use std::fs;

/// Processors this process may run on, one of each core before the second of any. The first is the
/// one that the calling thread runs on.
pub fn processors() -> Vec<usize> {
    let mut allowed = allowed();
    // SAFETY: the call takes nothing; it gives -1 where the system does not know.
    let here = usize::try_from(unsafe { libc::sched_getcpu() });
    allowed.sort_by_key(|&cpu| Ok(cpu) != here);
    let mut cores = BTreeSet::new();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for cpu in allowed {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let core = fs::read_to_string(path).unwrap_or_else(|_| cpu.to_string());
        if cores.insert(core) { &mut first } else { &mut second }.push(cpu);
    }
    first.append(&mut second);
    first
}

/// Binds the calling thread to one processor. Where that is forbidden it runs anywhere.
pub fn pin(cpu: usize) {
    if cpu >= libc::CPU_SETSIZE as usize {
        return;
    }
    // SAFETY: an all-zero cpu_set_t is the empty set; `cpu` is below its size; the call only
    // reads the set and affects this thread alone.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &set);
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
        // SAFETY: the call takes nothing.
        let here = || unsafe { libc::sched_getcpu() };
        let mut seen = false;
        for _ in 0..1000 {
            let before = here();
            let first = processors().first().copied();
            // A thread that was moved meanwhile says nothing.
            if here() == before {
                assert_eq!(first, usize::try_from(before).ok());
                seen = true;
            }
        }
        assert!(seen);
    }
}
