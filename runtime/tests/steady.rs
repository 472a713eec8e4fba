//! A run allocates nothing once the model is warm.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::thread;

use common::hooks;
use weft_runtime::cpu::Model;

struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: everything is passed on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The tests count allocations of the whole process.
static ALONE: Mutex<()> = Mutex::new(());

#[test]
fn runs_do_not_allocate() {
    let _alone = ALONE.lock();
    let dir = tempfile::tempdir().expect("a folder");
    let mut model = Model::load(&common::artifact(dir.path(), 4), Some(4)).expect("loads");
    let (x, expected) = common::example(3);
    let mut y = vec![0; 256];
    model.run(&[&x], &mut [&mut y]).expect("runs");
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    for _ in 0..100 {
        model.run(&[&x], &mut [&mut y]).expect("runs");
    }
    assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before);
    assert_eq!(y, expected);
}

#[test]
fn several_callers_do_not_allocate() {
    let _alone = ALONE.lock();
    let dir = tempfile::tempdir().expect("a folder");
    let steps: &[(u32, &[u32])] = &[(0, &[]), (1, &[0]), (0, &[1])];
    let model = hooks::load(&hooks::plan(2, steps, 1), 2, dir.path());
    let cancel = model.cancel_handle();
    let (inside, rounds) = (AtomicUsize::new(0), Barrier::new(3));
    // The first two requests meet, so that both have been given their memory.
    let meet: &hooks::Hook<'_> = &|step, _, _| {
        if step == 0 && inside.fetch_add(1, Ordering::SeqCst) < 2 {
            while inside.load(Ordering::SeqCst) < 2 {
                thread::yield_now();
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for runs in [1, 500] {
                    rounds.wait();
                    for _ in 0..runs {
                        hooks::run(&model, meet, &mut [0], Some(&cancel)).expect("runs");
                    }
                    rounds.wait();
                }
            });
        }
        rounds.wait();
        rounds.wait();
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        rounds.wait();
        rounds.wait();
        assert_eq!(ALLOCATIONS.load(Ordering::Relaxed), before);
    });
}
