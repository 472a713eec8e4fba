//! A hundred thousand runs on two threads, disturbed at random, that all give the same.

mod common;

use std::cell::Cell;
use std::hint::{black_box, spin_loop};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use common::hooks::{self, Hook};
use weft_runtime::cpu::{CpuError, Model};

/// Fewer where they are slow, as under ThreadSanitizer.
const RUNS: u64 = if cfg!(debug_assertions) { 10_000 } else { 100_000 };
const STAGES: usize = 6;

/// Stages of one step on each of two units, which read what both wrote in the stage before, and
/// write where the stage before that one wrote: waits in both directions, over reused memory.
fn model(dir: &std::path::Path) -> Model {
    let waits: Vec<[u32; 2]> = (0..STAGES as u32).map(|stage| [2 * stage, 2 * stage + 1]).collect();
    let steps: Vec<(u32, &[u32])> = (0..2 * STAGES)
        .map(|i| (i as u32 % 2, if i < 2 { &[][..] } else { &waits[i / 2 - 1][..] }))
        .collect();
    hooks::load(&hooks::plan(2, &steps, 4), 2, dir)
}

/// What a step makes of the numbers of the stage before.
fn mixed(step: usize, seed: u64, read: [u64; 2]) -> u64 {
    let [a, b] = read;
    (a ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(step as u32)
        ^ b.wrapping_add(step as u64)
}

/// What the model gives for a seed.
fn expected(seed: u64) -> [u64; 2] {
    (0..STAGES).fold([0; 2], |read, stage| [0, 1].map(|i| mixed(2 * stage + i, seed, read)))
}

/// Runs the model, whose kernels take their time at random.
fn run(
    model: &Model,
    seed: u64,
    handle: Option<&weft_runtime::cpu::Cancel>,
) -> Result<[u64; 4], CpuError> {
    let hook: &Hook<'_> = &|step, arena, y| {
        delay();
        let (stage, unit) = (step / 2, step % 2);
        let (now, before) = (stage % 2 * 2, (stage + 1) % 2 * 2);
        // SAFETY: arena and output have four numbers; the plan's waits order their use.
        unsafe {
            let read =
                if stage == 0 { [0; 2] } else { [*arena.add(before), *arena.add(before + 1)] };
            *arena.add(now + unit) = mixed(step, seed, read);
            if stage == STAGES - 1 {
                *y.add(unit) = *arena.add(now + unit);
            }
        }
    };
    let mut y = [0; 4];
    hooks::run(model, hook, &mut y, handle)?;
    Ok(y)
}

thread_local! {
    static RANDOM: Cell<u64> = const { Cell::new(0) };
}

/// A number below a bound, of a sequence that each thread has for itself.
fn random(bound: u64) -> u64 {
    RANDOM.with(|state| {
        let mut x = state.get();
        if x == 0 {
            static THREADS: AtomicU64 = AtomicU64::new(1);
            x = THREADS.fetch_add(1, Relaxed).wrapping_mul(0x2545_f491_4f6c_dd1d);
        }
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        state.set(x);
        x % bound
    })
}

/// Mostly nothing, sometimes a little, seldom so long that others fall asleep.
fn delay() {
    match random(4096) {
        0..4 => thread::sleep(Duration::from_micros(200)),
        4..8 => thread::yield_now(),
        8..512 => (0..black_box(random(64))).for_each(|_| spin_loop()),
        _ => {}
    }
}

#[test]
fn disturbed_runs_give_the_same() {
    let dir = tempfile::tempdir().expect("a folder");
    let model = model(dir.path());
    let handle = model.cancel_handle();
    let (over, beside, cancelled) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    thread::scope(|scope| {
        let caller = scope.spawn(|| {
            // The second caller, now and then.
            while !over.load(Relaxed) {
                for seed in 0..random(20) {
                    match run(&model, seed, Some(&handle)) {
                        Ok(y) => assert_eq!(y[..2], expected(seed)),
                        Err(CpuError::Cancelled) => _ = cancelled.fetch_add(1, Relaxed),
                        Err(wrong) => panic!("{wrong}"),
                    }
                    beside.fetch_add(1, Relaxed);
                }
                thread::sleep(Duration::from_micros(random(8000)));
            }
        });
        let canceller = scope.spawn(|| {
            while !over.load(Relaxed) {
                handle.cancel();
                thread::sleep(Duration::from_micros(random(200)));
                handle.reset();
                thread::sleep(Duration::from_micros(random(2000)));
            }
        });
        for seed in 0..RUNS {
            let y = run(&model, seed, None).expect("nobody cancels this one");
            assert_eq!(y[..2], expected(seed), "run {seed}");
        }
        over.store(true, Relaxed);
        // The end of a scope is not seen by ThreadSanitizer.
        for thread in [caller, canceller] {
            thread.join().expect("does not panic");
        }
    });
    let (beside, cancelled) = (beside.into_inner(), cancelled.into_inner());
    println!("{RUNS} runs, {beside} beside them, {cancelled} of those cancelled");
    assert!(beside > 0);
}
