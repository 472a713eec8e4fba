//! N-2. Programs with one fault each are refused, or mean the same.
//!
//! Random programs are printed, one wait, offset or line is changed, and the text goes to the
//! verifier and `task-check-order`. What they let pass is judged without them: by the elements
//! that every range touches when it is executed, and by its results. `WEFT_PROGRAMS=N` takes
//! another number of programs.

use std::collections::{BTreeMap, HashMap, HashSet};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use weft_dialects::device::Machine;
use weft_dialects::ir::diag::listen;
use weft_dialects::ir::{Context, context, module_op, parse};
use weft_passes::task::{check_order, plan};

use crate::graphs::graph;
use crate::histories::{Codes, Device, codes, mix};
use crate::orders::{ancestors, lower, tokens};
use crate::program;

/// What is done to a program's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    /// A wait is taken out.
    Drop,
    /// A wait is for an earlier range instead.
    Weaken,
    /// Two ranges change their waits.
    SwapWaits,
    /// Two ranges change their places in the text.
    SwapRanges,
    /// A buffer lies where another one lies, or 64 bytes further on.
    Offset,
    /// A range runs on another unit, which the program may not have.
    Unit,
}

const FAULTS: [Fault; 6] =
    [Fault::Drop, Fault::Weaken, Fault::SwapWaits, Fault::SwapRanges, Fault::Offset, Fault::Unit];

/// The waits of a `task.range` line: where they begin and end, and their names.
fn waits(line: &str) -> (usize, usize, Vec<String>) {
    let begin = line.find("after(").expect("a range has waits") + "after(".len();
    let end = begin + line[begin..].find(')').expect("the list ends");
    let names = line[begin..end].split(", ").filter(|name| !name.is_empty());
    (begin, end, names.map(str::to_owned).collect())
}

fn with_waits(line: &str, names: &[String]) -> String {
    let (begin, end, _) = waits(line);
    format!("{}{}{}", &line[..begin], names.join(", "), &line[end..])
}

/// The text with one fault; `None` where there is no place for it.
fn mutant(text: &str, fault: Fault, mut seed: u64) -> Option<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut pick = |count: usize| {
        seed = mix(seed, 7);
        (count > 0).then(|| (seed >> 16) as usize % count)
    };
    let having = |what: &str| -> Vec<usize> {
        (0..lines.len()).filter(|&line| lines[line].contains(what)).collect()
    };
    let ranges = having("task.range");
    let waiting: Vec<usize> =
        ranges.iter().copied().filter(|&line| !waits(&lines[line]).2.is_empty()).collect();
    match fault {
        Fault::Drop | Fault::Weaken => {
            let line = waiting[pick(waiting.len())?];
            let mut names = waits(&lines[line]).2;
            let place = pick(names.len())?;
            if fault == Fault::Drop {
                names.remove(place);
            } else {
                let token = |line: usize| lines[line].trim().split(' ').next().map(str::to_owned);
                let all: Vec<String> = ranges
                    .iter()
                    .take_while(|&&other| other < line)
                    .filter_map(|&l| token(l))
                    .collect();
                let old = all.iter().position(|name| *name == names[place])?;
                names[place] = all[pick(old)?].clone();
            }
            lines[line] = with_waits(&lines[line], &names);
        }
        Fault::SwapWaits => {
            let (one, other) = (waiting[pick(waiting.len())?], ranges[pick(ranges.len())?]);
            let (a, b) = (waits(&lines[one]).2, waits(&lines[other]).2);
            (lines[one], lines[other]) =
                (with_waits(&lines[one], &b), with_waits(&lines[other], &a));
        }
        Fault::SwapRanges => {
            let (one, other) = (ranges[pick(ranges.len())?], ranges[pick(ranges.len())?]);
            lines.swap(one, other);
        }
        Fault::Offset => {
            let buffers = having("task.buffer at ");
            let offset = |line: &str| -> u64 {
                let rest = line.split("task.buffer at ").nth(1).expect("it is a buffer");
                rest.split(' ').next().and_then(|word| word.parse().ok()).expect("an offset")
            };
            let (line, other) = (buffers[pick(buffers.len())?], buffers[pick(buffers.len())?]);
            let old = offset(&lines[line]);
            let new = if line == other { old + 64 } else { offset(&lines[other]) };
            lines[line] =
                lines[line].replace(&format!("buffer at {old} "), &format!("buffer at {new} "));
        }
        Fault::Unit => {
            let line = ranges[pick(ranges.len())?];
            let (unit, other) = (pick(4)?, pick(4)?);
            lines[line] = lines[line].replace(&format!("on {unit}("), &format!("on {other}("));
        }
    }
    let changed = lines.join("\n");
    (changed != text.trim_end()).then_some(changed)
}

/// What becomes of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Refused,
    /// Every order that its tokens allow means what the original means.
    Equivalent,
    Survives,
}

fn judge(context: &Context, text: &str, codes: &Codes, outputs: &[Vec<u64>]) -> Verdict {
    // Verification is part of parsing.
    let Ok(module) = parse(context, text) else { return Verdict::Refused };
    let program = program(&module);
    let Ok(checked) = check_order::check(context, module_op(&module), &program) else {
        return Verdict::Refused;
    };
    if !checked.unordered.is_empty() || !checked.taken.is_empty() {
        return Verdict::Refused;
    }
    let machine = Machine::of(module_op(&module)).expect("there is a machine");
    let Ok(planned) = plan(&program, machine) else { return Verdict::Refused };
    let waits = tokens(&program);
    let mut device = Device::new(&planned, codes);
    // Who touched each element so far, and whether that wrote.
    let mut touched: HashMap<(u32, usize), Vec<(usize, bool)>> = HashMap::new();
    for step in 0..waits.len() {
        let before: HashSet<usize> = ancestors(&waits, step).into_iter().collect();
        let mut own: BTreeMap<(u32, usize), bool> = BTreeMap::new();
        device.watched(step, &mut |space, element, write| {
            *own.entry((space, element)).or_insert(false) |= write;
        });
        let steps = &planned.plan.steps;
        let one_run = |other: usize| {
            let (a, b) = (&steps[other], &steps[step]);
            a.op == b.op && a.kernel == b.kernel && a.buffers == b.buffers
        };
        for (place, write) in own {
            let others = touched.entry(place).or_default();
            let clash = others.iter().any(|&(other, wrote)| {
                (write || wrote) && !before.contains(&other) && !one_run(other)
            });
            if clash {
                return Verdict::Survives;
            }
            others.push((step, write));
        }
    }
    if device.outputs == outputs { Verdict::Equivalent } else { Verdict::Survives }
}

#[test]
fn n_2_every_mutant_of_a_program_is_refused_or_equivalent() {
    const PROGRAMS: usize = if cfg!(debug_assertions) { 40 } else { 300 };
    let asked = std::env::var("WEFT_PROGRAMS").ok().and_then(|count| count.parse().ok());
    let context = context();
    // What verifiers say of mutants is read by nobody.
    listen(&context, |_, _, _, _| {});
    let mut runner = TestRunner::deterministic();
    let mut counts: BTreeMap<Fault, [u32; 2]> = BTreeMap::new();
    for number in 0..asked.unwrap_or(PROGRAMS) {
        let graph = graph().new_tree(&mut runner).expect("a graph").current();
        let lowered = lower(&context, &graph);
        let op = module_op(&lowered.module);
        let (text, codes) = (op.text(), codes(op));
        assert_eq!(
            judge(&context, &text, &codes, &lowered.meaning),
            Verdict::Equivalent,
            "the original: {text}"
        );
        for fault in FAULTS {
            for round in 0..4 {
                let seed = mix(number as u64, round);
                let Some(changed) = mutant(&text, fault, seed) else { continue };
                let verdict = judge(&context, &changed, &codes, &lowered.meaning);
                assert_ne!(verdict, Verdict::Survives, "{fault:?} of {text}\nis {changed}");
                counts.entry(fault).or_default()[usize::from(verdict == Verdict::Equivalent)] += 1;
            }
        }
    }
    let sum = |place: usize| counts.values().map(|count| count[place]).sum::<u32>();
    println!("{counts:?}: {} refused, {} equivalent", sum(0), sum(1));
    // A checker that lets everything pass would find none.
    assert!(sum(0) > sum(1), "most faults are faults");
    assert!(counts[&Fault::Unit][1] > 0, "moving a range to another unit is always right");
}
