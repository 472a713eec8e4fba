//! A run allocates nothing once the model is warm.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

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

#[test]
fn runs_do_not_allocate() {
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
