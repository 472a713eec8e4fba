//! Random programs of upstream `linalg`, as front ends write them, against the interpreter.
//!
//! A program is a `func.func` on tensors: named operations and generic ones, slices, concatenation,
//! padding, reshapes, elements taken out and put in, branches in bodies, constants, casts, and every
//! element type from `i1` to `f64`. What is compiled has to give what the interpreter makes of the
//! text as it was written, before any pass of weft's has seen it: only upstream's
//! `linalg-generalize-named-ops` stands between the two. All numbers are small whole ones, which no
//! type rounds, so the answers are equal to the bit.
//!
//! `WEFT_RANDOM_PROGRAMS=20000` tries that many, `WEFT_SEED` others; a failure names its seed.

mod body;
mod check;
mod elements;
mod forms;
mod nests;
mod program;
mod random;
mod tensors;

use check::holds;

const PROGRAMS: u64 = 2_000;

/// In four tests, so that they run side by side.
fn quarter(number: u64) {
    let variable = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let programs = variable("WEFT_RANDOM_PROGRAMS").unwrap_or(PROGRAMS);
    let first: u64 = variable("WEFT_SEED").unwrap_or(0);
    let seeds: Vec<u64> = (first..first + programs).filter(|seed| seed % 4 == number).collect();
    // A context takes longer to make than a small program to compile, and keeps what it has seen.
    for some in seeds.chunks(50) {
        let context = weft::context();
        for seed in some {
            holds(&context, &program::random(*seed), &format!("seed {seed}"));
        }
    }
}

#[test]
fn random_programs_first_quarter() {
    quarter(0);
}

#[test]
fn random_programs_second_quarter() {
    quarter(1);
}

#[test]
fn random_programs_third_quarter() {
    quarter(2);
}

#[test]
fn random_programs_last_quarter() {
    quarter(3);
}
