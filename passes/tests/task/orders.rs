//! Task programs keep the meaning of their tile-graph in every order that tokens allow.

use std::collections::HashMap;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use weft_dialects::device::Machine;
use weft_dialects::ir::{Context, Module, context, module_op, parse};
use weft_dialects::task::Program;
use weft_passes::task::{check_order, plan};

use crate::graphs::{Graph, graph};
use crate::histories::{Device, codes, meaning, mix};
use crate::program;

/// An order that keeps `waits`; `choose` picks one of the steps that are ready.
fn order(waits: &[Vec<u32>], mut choose: impl FnMut(usize) -> usize) -> Vec<usize> {
    let mut order = Vec::new();
    let mut done = vec![false; waits.len()];
    while order.len() < waits.len() {
        let ready =
            |step: &usize| !done[*step] && waits[*step].iter().all(|&wait| done[wait as usize]);
        let ready: Vec<usize> = (0..waits.len()).filter(ready).collect();
        assert!(!ready.is_empty(), "no wait goes in a circle");
        let next = ready[choose(ready.len())];
        done[next] = true;
        order.push(next);
    }
    order
}

/// What is done before `step` starts, in order.
pub fn ancestors(waits: &[Vec<u32>], step: usize) -> Vec<usize> {
    let mut found = vec![false; waits.len()];
    let mut stack = waits[step].clone();
    while let Some(next) = stack.pop() {
        if !std::mem::replace(&mut found[next as usize], true) {
            stack.extend(&waits[next as usize]);
        }
    }
    (0..waits.len()).filter(|&step| found[step]).collect()
}

pub struct Lowered<'c> {
    pub module: Module<'c>,
    pub meaning: Vec<Vec<u64>>,
}

pub fn lower<'c>(context: &'c Context, graph: &Graph) -> Lowered<'c> {
    let module = parse(context, &graph.text()).expect("the graph parses");
    let op = module_op(&module);
    let meaning = meaning(op, &codes(op));
    graph.options.apply(context, op);
    Lowered { module, meaning }
}

/// Tokens of each range, as numbers of ranges.
pub fn tokens(program: &Program<'_>) -> Vec<Vec<u32>> {
    let ranges = program.ranges();
    let numbers: HashMap<_, _> =
        ranges.iter().enumerate().map(|(number, range)| (range.token(), number as u32)).collect();
    ranges.iter().map(|range| range.waits.iter().map(|wait| numbers[wait]).collect()).collect()
}

#[derive(Default)]
struct Counts {
    programs: u64,
    ranges: u64,
    tokens: u64,
    needed: u64,
    plan_waits: u64,
}

fn check(context: &Context, graph: &Graph, seed: u64, counts: &mut Counts) {
    let lowered = lower(context, graph);
    let module = module_op(&lowered.module);
    let program = program(&lowered.module);
    let machine = Machine::of(module).expect("there is a machine");
    let planned = plan(&program, machine).expect("the program has a plan");
    let (codes, tokens) = (codes(module), tokens(&program));
    let device = || Device::new(&planned, &codes);

    let checked = check_order::check(context, module, &program).expect("the kernels are tiled");
    assert!(checked.unordered.is_empty());
    counts.programs += 1;

    // The order of the text, then any that tokens allow, then any that units allow.
    let text: Vec<usize> = (0..tokens.len()).collect();
    let (traces, outputs) = device().all(&text);
    assert_eq!(outputs, lowered.meaning, "the text means what the tile-graph means");
    let steps = &planned.plan.steps;
    let mut last: HashMap<u32, u32> = HashMap::new();
    let on_units: Vec<Vec<u32>> = steps
        .iter()
        .enumerate()
        .map(|(number, step)| {
            let before = last.insert(step.unit, number as u32);
            step.waits.iter().copied().chain(before).collect()
        })
        .collect();
    let mut state = seed;
    for waits in [&tokens, &on_units] {
        let orders = (0..4).map(|kind| {
            order(waits, |ready| match kind {
                0 => ready - 1,
                _ => {
                    state = mix(state, 1);
                    state as usize % ready
                }
            })
        });
        for order in orders.collect::<Vec<_>>() {
            assert_eq!(device().all(&order), (traces.clone(), outputs.clone()), "{order:?}");
        }
    }
    // rTask by rTask, those of a step in any order.
    let mut single = device();
    for step in order(&tokens, |ready| ready - 1) {
        single.shuffled(step, seed);
    }
    assert_eq!(single.outputs, outputs);
    for (number, step) in steps.iter().enumerate() {
        for &wait in &step.waits {
            assert_ne!(step.unit, steps[wait as usize].unit, "a unit keeps its own order");
            let mut fewer = on_units.clone();
            fewer[number].retain(|&other| other != wait);
            let implied = ancestors(&fewer, number).contains(&(wait as usize));
            assert!(!implied, "step {number} waits for {wait} anyway");
        }
        counts.plan_waits += step.waits.len() as u64;
    }

    // Without any one token something may go wrong; one that was asked for beyond what ranges
    // touch keeps nothing.
    if graph.options.waits == "operators" {
        return;
    }
    for (number, list) in tokens.iter().enumerate() {
        for &token in list {
            let mut fewer = tokens.clone();
            fewer[number].retain(|&other| other != token);
            let mut order = ancestors(&fewer, number);
            assert!(!order.contains(&(token as usize)), "range {number} waits for {token} anyway");
            order.push(number);
            let rest: Vec<usize> =
                text.iter().copied().filter(|step| !order.contains(step)).collect();
            order.extend(rest);
            counts.tokens += 1;
            counts.needed += u64::from(device().all(&order) != (traces.clone(), outputs.clone()));
        }
    }
    counts.ranges += tokens.len() as u64;
    let least = tokens.iter().map(|list| list.len() as u64).sum();
    assert!(checked.orders >= least, "every token is asked for");
}

#[test]
fn rm_1_rtasks_on_any_units_in_any_order_mean_the_same() {
    let context = context();
    let mut counts = Counts::default();
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 400,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    let counted = std::cell::RefCell::new(&mut counts);
    runner
        .run(&(graph(), any::<u64>()), |(graph, seed)| {
            check(&context, &graph, seed, &mut counted.borrow_mut());
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    println!(
        "{} programs, {} ranges, {} tokens, of which {} are needed for these values; {} waits in plans",
        counts.programs, counts.ranges, counts.tokens, counts.needed, counts.plan_waits
    );
    assert!(counts.needed * 10 >= counts.tokens * 9, "nine of ten tokens change what is read");
}
