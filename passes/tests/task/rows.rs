//! Rammer's rows that are about programs as text.

use weft_dialects::device::Machine;
use weft_dialects::ir::diag::listen;
use weft_dialects::ir::{context, module_op, parse};
use weft_passes::task::plan;

use crate::graphs::{Kernel, MACHINE, Options};
use crate::program;

/// Independent runs of one operator with two kernels: one rTask of 18 cycles, or four of 10.
fn two_ways(runs: usize, machine: &str) -> String {
    let t = "tensor<8x8xf32>";
    let kernel = |name: &str, cycles: u64, tiles| {
        let text = Kernel::Whole { tiles, inputs: 1, transposed: false }.text(name);
        text.replace(&format!("@{name} {{"), &format!("@{name} cycles({cycles}) {{"))
    };
    let body: String = (0..runs)
        .map(|run| {
            format!(
                "  %e{run} = tile.empty in @dram : {t}\n  %r{run} = tile.run \"r{run}\" @k or [@k_wide](%x) into(%e{run}) : ({t}, {t}) -> {t}\n"
            )
        })
        .collect();
    let list = |format: &dyn Fn(usize) -> String| -> String {
        (0..runs).map(format).collect::<Vec<_>>().join(", ")
    };
    let (outputs, types) = (list(&|run| format!("\"y{run}\"")), list(&|_| t.to_owned()));
    format!(
        "{machine}{}{}tile.graph @g inputs [\"x\"] outputs [{outputs}] : ({t}) -> ({types}) {{\n^bb0(%x: {t}):\n{body}  tile.output {} : {types}\n}}\n",
        kernel("k", 18, [8, 8]),
        kernel("k_wide", 40, [2, 8]),
        list(&|run| format!("%r{run}")),
    )
}

/// Kernels and units of the ranges of a program.
fn ranges(text: &str, options: &Options) -> Vec<(String, u64)> {
    let context = context();
    let module = parse(&context, text).expect("the graph parses");
    options.apply(&context, module_op(&module));
    let ranges = program(&module).ranges();
    ranges.iter().map(|range| (range.kernel.to_owned(), range.unit)).collect()
}

/// The wave decides: alone the fastest kernel, on all units; two together are more than the
/// machine runs at once, and take the most efficient one, a unit each.
#[test]
fn rm_2_each_wave_takes_one_of_several_kernels() {
    let options = Options { policy: "wavefront", ..Options::of(4, 0) };
    let wide = |unit| ("k_wide".to_owned(), unit);
    let one = |unit| ("k".to_owned(), unit);
    assert_eq!(ranges(&two_ways(1, MACHINE), &options), [wide(0), wide(1), wide(2), wide(3)]);
    assert_eq!(ranges(&two_ways(2, MACHINE), &options), [one(0), one(1)]);
}

/// What nobody takes is not compiled.
#[test]
fn kernels_that_no_run_takes_are_gone() {
    let context = context();
    let module = parse(&context, &two_ways(2, MACHINE)).expect("the graph parses");
    let options = Options { policy: "wavefront", ..Options::of(4, 0) };
    options.apply(&context, module_op(&module));
    let text = module_op(&module).text();
    assert!(text.contains("tile.kernel @k ") && !text.contains("@k_wide"), "{text}");
}

/// A chain on one unit has no barrier; where it crosses units there is one for each dependence.
#[test]
fn rm_6_barriers_stand_where_a_dependence_crosses_units() {
    let waits = |on: [u64; 3]| {
        let [a, b, c] = on;
        let text = format!(
            "{MACHINE}{}{}",
            Kernel::Flat { tile: 16 }.text("k"),
            format_args!(
                r#"task.program @p on @core units 4 arena 512 : (tensor<64xf32>) -> tensor<64xf32> {{
  %x = task.input 0 "x" : memref<64xf32>
  %y = task.output 0 "y" : memref<64xf32>
  %b = task.buffer at 0 in @dram : memref<64xf32>
  %c = task.buffer at 256 in @dram : memref<64xf32>
  %t0 = task.range "a" @k[0 to 4] on {a}(%x, %b) after() : memref<64xf32>, memref<64xf32>
  %t1 = task.range "b" @k[0 to 4] on {b}(%b, %c) after(%t0) : memref<64xf32>, memref<64xf32>
  %t2 = task.range "c" @k[0 to 4] on {c}(%c, %y) after(%t0, %t1) : memref<64xf32>, memref<64xf32>
}}"#
            )
        );
        let context = context();
        let module = parse(&context, &text).expect("the program parses");
        let machine = Machine::of(module_op(&module)).expect("there is a machine");
        let planned = plan(&program(&module), machine).expect("the program has a plan");
        planned.plan.steps.into_iter().map(|step| step.waits).collect::<Vec<_>>()
    };
    assert_eq!(waits([2, 2, 2]), [vec![], vec![], vec![]]);
    assert_eq!(waits([0, 1, 1]), [vec![], vec![0], vec![]]);
    // "c" waits for "b", which waited for "a".
    assert_eq!(waits([0, 1, 0]), [vec![], vec![0], vec![1]]);
    assert_eq!(waits([0, 1, 2]), [vec![], vec![0], vec![1]]);
}

/// A circle of waits, a missing wait, more units than the machine has at once.
#[test]
fn rm_7_programs_that_could_hang_or_race_are_refused() {
    let refused = |units: u64, waits: [&str; 2]| {
        let [first, second] = waits;
        let text = format!(
            "{MACHINE}{}{}",
            Kernel::Flat { tile: 16 }.text("k"),
            format_args!(
                r#"task.program @p on @core units {units} arena 256 : (tensor<64xf32>) -> tensor<64xf32> {{
  %x = task.input 0 "x" : memref<64xf32>
  %y = task.output 0 "y" : memref<64xf32>
  %b = task.buffer at 0 in @dram : memref<64xf32>
  %t0 = task.range "a" @k[0 to 4] on 0(%x, %b) after({first}) : memref<64xf32>, memref<64xf32>
  %t1 = task.range "b" @k[0 to 4] on 1(%b, %y) after({second}) : memref<64xf32>, memref<64xf32>
}}"#
            )
        );
        let context = context();
        let said = std::rc::Rc::new(std::cell::RefCell::new(Vec::new()));
        let heard = said.clone();
        listen(&context, move |_, _, message, _| heard.borrow_mut().push(message));
        let parsed = parse(&context, &text).is_ok();
        drop(context);
        let said = said.borrow().first().cloned().unwrap_or_default();
        (!parsed).then_some(said)
    };
    assert_eq!(refused(4, ["", "%t0"]), None);
    let circle = refused(4, ["%t1", "%t0"]).expect("a circle is refused");
    assert!(
        circle.contains(r#""a"[0 to 4] waits for "b"[0 to 4], and "b"[0 to 4] for "a""#),
        "{circle}"
    );
    let missing = refused(4, ["", ""]).expect("a missing wait is refused");
    assert!(missing.contains(r#""b"[0 to 4] reads what "a"[0 to 4] writes"#), "{missing}");
    let many = refused(5, ["", "%t0"]).expect("units that cannot be there at once are refused");
    assert!(many.contains("needs 5 of @core, the machine has 4"), "{many}");
}

/// Another number in the machine's text is another plan.
#[test]
fn rm_13_the_machine_decides_on_the_plan() {
    let options = Options { policy: "wavefront", ..Options::of(4, 0) };
    let two = two_ways(2, MACHINE);
    assert_eq!(ranges(&two, &options).len(), 2);
    // Four parts that issue side by side on each unit: both fastest kernels run at once.
    let roomy = MACHINE.replace("count(4)", "count(4) partitions(4)");
    assert_eq!(ranges(&two_ways(2, &roomy), &options).len(), 8);
    let few = MACHINE.replace("count(4)", "count(2)");
    let options = Options { policy: "wavefront", ..Options::of(2, 0) };
    let units: Vec<_> = ranges(&two_ways(1, &few), &options);
    assert_eq!(units, [("k".to_owned(), 0)], "20 cycles on two units, 18 on one");
}
