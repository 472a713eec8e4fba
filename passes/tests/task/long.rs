//! Programs of tens of thousands of ranges.

use weft_dialects::device::Machine;
use weft_dialects::ir::{context, module_op, parse};
use weft_passes::task::{check_order, plan};

use crate::graphs::{Graph, Kernel, MACHINE, Options};
use crate::histories::mix;
use crate::program;

/// The door, the plan and the check of a long program: its ranges, and what waits for what.
fn place(text: &str) -> (usize, usize) {
    let context = context();
    let module = parse(&context, text).expect("the graph parses");
    Options::of(4, 8).apply(&context, module_op(&module));
    let program = program(&module);
    let machine = Machine::of(module_op(&module)).expect("there is a machine");
    let planned = plan(&program, machine).expect("the program has a plan");
    let checked =
        check_order::check(&context, module_op(&module), &program).expect("it is checked");
    assert!(checked.unordered.is_empty());
    (planned.plan.steps.len(), planned.plan.steps.iter().map(|step| step.waits.len()).sum())
}

const LONG: usize = if cfg!(debug_assertions) { 2_000 } else { 25_000 };

/// Long programs have as many ranges as they need, and wait for little: what is waited for by way
/// of something else is not waited for again.
fn placed(text: &str) {
    let (ranges, waits) = place(text);
    assert!((LONG..=4 * LONG).contains(&ranges), "{ranges} ranges");
    assert!(waits <= 2 * ranges, "{waits} waits of {ranges} ranges");
}

/// A long program with skips, branches, windows and copies.
#[test]
fn long_programs_are_placed() {
    let kernels = vec![
        Kernel::Whole { tiles: [2, 8], inputs: 2, transposed: false },
        Kernel::Flat { tile: 16 },
        Kernel::Window { sizes: [4, 4], from: [0, 0], to: [4, 4], tiles: [2, 4] },
        Kernel::Whole { tiles: [4, 4], inputs: 1, transposed: true },
    ];
    let mut state = 1;
    let mut next = |below: usize| {
        state = mix(state, 3);
        (state >> 20) as usize % below
    };
    let runs = (0..LONG).map(|_| (next(7).min(3), [next(60), next(100)], next(10))).collect();
    let graph = Graph { kernels, runs, outputs: vec![0], options: Options::of(4, 8) };
    placed(&graph.text());
}

/// Many tensors that live at once, and one that everybody reads.
#[test]
fn wide_programs_are_placed() {
    let t = "tensor<8x8xf32>";
    let add = Kernel::Whole { tiles: [2, 8], inputs: 2, transposed: false }.text("add");
    let graph = |body: &str, result: &str| {
        format!(
            "{MACHINE}{add}tile.graph @g inputs [\"x\", \"z\"] outputs [\"y\"] : ({t}, {t}) -> {t} {{\n^bb0(%x: {t}, %z: {t}):\n{body}  tile.output {result} : {t}\n}}\n"
        )
    };
    let run = |name: &str, one: &str, other: &str| {
        format!(
            "  %e{name} = tile.empty in @dram : {t}\n  %{name} = tile.run \"{name}\" @add({one}, {other}) into(%e{name}) : ({t}, {t}, {t}) -> {t}\n"
        )
    };
    let mut body = String::new();
    let mut level: Vec<String> = (0..LONG / 2)
        .map(|leaf| {
            body += &run(&format!("l{leaf}"), "%x", "%z");
            format!("%l{leaf}")
        })
        .collect();
    let mut count = 0;
    while level.len() > 1 {
        let pairs = level.chunks(2).map(|pair| match pair {
            [one, other] => {
                count += 1;
                body += &run(&format!("t{count}"), one, other);
                format!("%t{count}")
            }
            _ => pair[0].clone(),
        });
        level = pairs.collect();
    }
    placed(&graph(&body, &level[0]));

    let mut body = run("r0", "%x", "%z");
    for number in 1..LONG {
        body += &run(&format!("r{number}"), "%r0", &format!("%r{}", number - 1));
    }
    placed(&graph(&body, &format!("%r{}", LONG - 1)));
}
