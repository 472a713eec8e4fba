//! Several requests at once on one model, cancelled ones, and workers that fail.

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use common::hooks::{self, Hook};
use weft_runtime::cpu::{CpuError, Model};

/// Waits for what another thread does; gives up, so that a test fails rather than hangs.
fn until(what: &str, ready: impl Fn() -> bool) {
    let begin = Instant::now();
    while !ready() {
        assert!(begin.elapsed() < Duration::from_secs(60), "{what} never came");
        thread::yield_now();
    }
}

/// Joins threads; the end of a scope is not seen by ThreadSanitizer.
fn join<const N: usize>(threads: [ScopedJoinHandle<'_, ()>; N]) {
    threads.into_iter().for_each(|thread| thread.join().expect("does not panic"));
}

/// Steps 0 and 1 on two units, then 2 and 3 that wait for both.
const CROSS: &[(u32, &[u32])] = &[(0, &[]), (1, &[]), (0, &[0, 1]), (1, &[0, 1])];

#[test]
fn many_callers_share_a_model() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = common::artifact(dir.path(), 4);
    for threads in 1..=4 {
        let model = Model::load(&path, Some(threads)).expect("loads");
        // More than a machine with few processors has slots for.
        thread::scope(|scope| {
            let callers = [0, 1, 2, 3, 4, 5, 6, 7, 8].map(|caller| {
                let model = &model;
                scope.spawn(move || {
                    for seed in 0..100 {
                        let (x, expected) = common::example(caller * 1000 + seed);
                        // Every other one lies where it has to be copied.
                        let mut room = vec![0; 257];
                        let y = &mut room[seed as usize % 2..][..256];
                        model.run_shared(None, &[&x], &mut [&mut *y], None).expect("runs");
                        assert_eq!(y, expected, "caller {caller}, seed {seed}");
                    }
                })
            });
            join(callers);
        });
    }
}

#[test]
fn the_next_request_begins_while_the_first_is_busy() {
    let dir = tempfile::tempdir().expect("a folder");
    let model = hooks::load(&hooks::plan(2, &[(0, &[]), (1, &[])], 1), 2, dir.path());
    let (first_is_in, second_was_here) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            let busy: &Hook<'_> = &|step, _, _| {
                if step == 0 {
                    first_is_in.store(true, SeqCst);
                    until("worker 1 in the second request", || second_was_here.load(SeqCst));
                }
            };
            hooks::run(&model, busy, &mut [0], None).expect("runs");
        });
        until("the first request", || first_is_in.load(SeqCst));
        let note: &Hook<'_> = &|step, _, _| {
            if step == 1 {
                second_was_here.store(true, SeqCst);
            }
        };
        hooks::run(&model, note, &mut [0], None).expect("runs");
        join([first]);
    });
}

#[test]
fn requests_have_memory_of_their_own() {
    let dir = tempfile::tempdir().expect("a folder");
    let model = hooks::load(&hooks::plan(1, &[(0, &[]), (0, &[0])], 1), 1, dir.path());
    let inside = AtomicUsize::new(0);
    thread::scope(|scope| {
        let callers = [1, 2, 3].map(|caller| {
            let (model, inside) = (&model, &inside);
            scope.spawn(move || {
                let hook: &Hook<'_> = &|step, arena, y| {
                    if step == 0 {
                        // SAFETY: the arena has one number.
                        unsafe { *arena = caller };
                        // All write before any reads.
                        inside.fetch_add(1, SeqCst);
                        until("the other callers", || inside.load(SeqCst) == 3);
                    } else {
                        // SAFETY: the arena and the output have one number.
                        unsafe { *y = *arena };
                    }
                };
                let mut y = [0];
                hooks::run(model, hook, &mut y, None).expect("runs");
                assert_eq!(y, [caller]);
            })
        });
        join(callers);
    });
}

#[test]
fn a_request_is_cancelled_between_calls() {
    let dir = tempfile::tempdir().expect("a folder");
    // Worker 1 waits for step 0, and long enough to sleep.
    let model = hooks::load(&hooks::plan(2, &[(0, &[]), (1, &[0]), (0, &[1])], 1), 2, dir.path());
    let cancel = model.cancel_handle();
    let calls = AtomicUsize::new(0);
    let inside = AtomicBool::new(false);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            until("the request", || inside.load(SeqCst));
            thread::sleep(Duration::from_millis(20));
            cancel.cancel();
        });
        let hook: &Hook<'_> = &|_, _, _| {
            calls.fetch_add(1, SeqCst);
            inside.store(true, SeqCst);
            until("the cancellation", || cancel.is_cancelled());
            // The handle is cancelled before the request is.
            thread::sleep(Duration::from_millis(20));
        };
        let ended = hooks::run(&model, hook, &mut [0], Some(&cancel));
        assert!(matches!(ended, Err(CpuError::Cancelled)), "{ended:?}");
        join([other]);
    });
    assert_eq!(calls.load(SeqCst), 1, "no call is made after the one it was in");

    let idle: &Hook<'_> = &|_, _, _| {
        calls.fetch_add(1, SeqCst);
    };
    let ended = hooks::run(&model, idle, &mut [0], Some(&cancel));
    assert!(matches!(ended, Err(CpuError::Cancelled)), "a cancelled handle stays so: {ended:?}");
    assert_eq!(calls.load(SeqCst), 1);
    cancel.reset();
    hooks::run(&model, idle, &mut [0], Some(&cancel)).expect("runs again");
    hooks::run(&model, idle, &mut [0], None).expect("runs without a handle");
    assert_eq!(calls.load(SeqCst), 7);
}

#[test]
fn a_cancelled_request_leaves_others_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    let model = hooks::load(&hooks::plan(2, CROSS, 1), 2, dir.path());
    let (cancel, other) = (model.cancel_handle(), model.cancel_handle());
    let inside = AtomicUsize::new(0);
    let until_cancelled = |step, _: *mut u64, _: *mut u64| {
        if step == 0 {
            inside.fetch_add(1, SeqCst);
            until("the cancellation", || cancel.is_cancelled());
        }
    };
    thread::scope(|scope| {
        let (model, cancel, other, hook) = (&model, &cancel, &other, &until_cancelled);
        let runs = [None, Some(other), Some(cancel), Some(cancel)]
            .map(|handle| scope.spawn(move || hooks::run(model, hook, &mut [0], handle)));
        until("all requests", || inside.load(SeqCst) == 4);
        cancel.cancel();
        let ends = runs.map(|run| run.join().expect("does not panic"));
        assert!(ends[0].is_ok() && ends[1].is_ok(), "{ends:?}");
        // Step 0 may see the flag and go on before the state of its request is changed.
        assert!(
            ends[2..].iter().all(|e| matches!(e, Ok(()) | Err(CpuError::Cancelled))),
            "{ends:?}"
        );
    });
    let foreign = hooks::load(&hooks::plan(2, CROSS, 1), 2, dir.path()).cancel_handle();
    let refused = hooks::run(&model, &|_, _, _| (), &mut [0], Some(&foreign));
    assert!(matches!(refused, Err(CpuError::OtherModel)), "{refused:?}");
    // It outlives its model.
    foreign.cancel();
}

#[test]
fn a_failing_worker_is_named_and_hangs_nobody() {
    let dir = tempfile::tempdir().expect("a folder");
    let model = hooks::load(&hooks::plan(2, CROSS, 1), 2, dir.path());
    for failing in 0..4 {
        let hook: &Hook<'_> = &|step, _, _| {
            if step == failing {
                // Others are asleep by then.
                thread::sleep(Duration::from_millis(5));
                panic!("step {step} is out of order");
            }
        };
        let message = hooks::run(&model, hook, &mut [0], None).expect_err("fails").to_string();
        let worker = failing % 2;
        assert_eq!(
            message,
            format!(
                "worker {worker} failed in kernel `call_back` of operator `op_{failing}`: \
                 step {failing} is out of order"
            )
        );
        hooks::run(&model, &|_, _, _| (), &mut [0], None).expect("runs again");
    }
}

#[test]
fn a_failure_leaves_other_requests_alone() {
    let dir = tempfile::tempdir().expect("a folder");
    let model = hooks::load(&hooks::plan(2, CROSS, 1), 2, dir.path());
    thread::scope(|scope| {
        let callers = [0, 1, 2, 3].map(|caller| {
            let model = &model;
            scope.spawn(move || {
                for run in 0..50 {
                    let fails = caller == 0 && run % 10 == 0;
                    let hook: &Hook<'_> = &|step, _, y| {
                        assert!(!fails || step != 1, "as it should");
                        if step == 3 {
                            // SAFETY: the output has one number.
                            unsafe { *y = run };
                        }
                    };
                    let mut y = [u64::MAX];
                    let ended = hooks::run(model, hook, &mut y, None);
                    assert_eq!(ended.is_err(), fails, "caller {caller}, run {run}: {ended:?}");
                    assert!(fails || y == [run]);
                }
            })
        });
        join(callers);
    });
}

#[test]
fn more_workers_than_processors_go_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let units = 4 * thread::available_parallelism().map_or(1, |n| n.get()) as u32;
    // Each step waits for the one before, on another unit.
    let waits: Vec<[u32; 1]> = (0..8 * units).map(|i| [i.saturating_sub(1)]).collect();
    let steps: Vec<(u32, &[u32])> = (0..8 * units)
        .map(|i| (i % units, if i == 0 { &[][..] } else { &waits[i as usize][..] }))
        .collect();
    let model = hooks::load(&hooks::plan(units, &steps, 1), units as usize, dir.path());
    let count: &Hook<'_> = &|step, arena, y| {
        // SAFETY: both have one number, and the steps follow each other.
        unsafe {
            *arena = if step == 0 { 1 } else { *arena + 1 };
            *y = *arena;
        }
    };
    for _ in 0..20 {
        let mut y = [0];
        hooks::run(&model, count, &mut y, None).expect("runs");
        assert_eq!(y, [8 * u64::from(units)]);
    }
}
