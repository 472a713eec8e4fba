//! A softmax between two products as one kernel, whose rows pass through the registers of groups a piece at
//! a time: every lane of it on the host, against the formula in f64.

use std::rc::Rc;

use weft::{Device, Options, Unit};
use weft_dialects::device::{Kernel as Program, Machine};
use weft_dialects::ir::parse;
use weft_passes::codegen::gpu::Isa;
use weft_passes::codegen::whole_text;
use weft_passes::graph::from_func;
use weft_passes::pipeline::Stage;

use crate::assemble;
use crate::attention::{Causal, Form, MASKED, PLAIN, Shape, expected, text};
use crate::host;
use crate::numbers::{Random, bytes, numbers};

/// A model of that for a machine, with its softmax in one pass.
fn unit<'c>(context: &'c weft_dialects::ir::Context, machine: &str, text: &str) -> Unit<'c> {
    let mut module = parse(context, text).expect("the text is right");
    from_func::import(context, &mut module).expect("it is a model");
    let option = |words: [&str; 3]| words.map(str::to_owned).into();
    let pass_options = vec![
        option(["tile-connect-edges", "joining", "all"]),
        option(["tile-fuse-elementwise", "fuse", "always"]),
        option(["tile-split-reductions", "split", "false"]),
    ];
    let device = Device::Named(machine.to_owned());
    let options = Options { device, jobs: 1, pass_options, ..Options::default() };
    Unit::from_module(context, module, Rc::default(), options).expect("the module is good")
}

/// Runs the threads of the one kernel on the host and holds what they give against the formula.
fn holds(machine: &str, shape: Shape, form: Form, elem: &str) {
    runs(machine, shape, form, elem, None);
}

/// The same with other words for the tiles of both products; gives the device program.
fn runs(machine: &str, shape: Shape, form: Form, elem: &str, edit: Option<[&str; 2]>) -> String {
    let Prepared { program, inputs, mut given } = Prepared::new(machine, shape, form, elem, edit);
    host::run(machine, &program, &mut given);
    let got = numbers(given.last().expect("there is an output"), elem);
    // Scores, exponentials and results are rounded to the type.
    let bits = if elem == "f16" { 11 } else { 8 };
    let near = 8.0 * 2f64.powi(-bits);
    for (at, (got, wanted)) in got.iter().zip(expected(shape, form, &inputs)).enumerate() {
        // A row of which all is masked has no weights.
        let none = got.is_nan() && wanted.is_nan();
        let apart = (got - wanted).abs();
        assert!(
            none || apart < near * 2.0,
            "{machine}, {shape:?}, {form:?}, {edit:?}: {at} is {got}, not {wanted}"
        );
    }
    program
}

/// A kernel with its data.
struct Prepared {
    program: String,
    inputs: [Vec<f64>; 4],
    /// The bytes of its arguments, the result's last.
    given: Vec<Vec<u8>>,
}

impl Prepared {
    fn new(machine: &str, shape: Shape, form: Form, elem: &str, edit: Option<[&str; 2]>) -> Self {
        let Shape { heads, rows, keys, depth, width } = shape;
        let context = weft::context();
        let mut unit = unit(&context, machine, &text(shape, form, elem));
        let mut random = Random(7);
        let counts =
            [heads * rows * depth, heads * depth * keys, heads * keys * width, rows * keys];
        let mut inputs = counts.map(|count| random.numbers(count, elem));
        // Whole pieces of some rows are masked, the first one of others, and all of some.
        for (at, number) in inputs[3].iter_mut().enumerate() {
            let (row, key) = (at as u64 / keys, at as u64 % keys);
            if key > row + keys / 4 || row % 3 == 0 && key < keys / 3 {
                *number = f64::NEG_INFINITY;
            }
        }
        let lowered = match edit {
            None => unit.lower(Stage::Device),
            Some(edit) => {
                unit.lower(Stage::Tile).expect("the machine can do it");
                unit = of_tile(&context, machine, &edited(&unit.module().text(), edit));
                unit.lower(Stage::Device)
            }
        };
        lowered.unwrap_or_else(|error| panic!("{machine}, {shape:?}, {edit:?}: {error}"));
        let ops = unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
        let kernels: Vec<_> = ops.into_iter().filter_map(Program::of).collect();
        let [kernel] = &kernels[..] else { panic!("{machine}, {shape:?}: not one kernel") };
        let program = kernel.op.own_text();
        assert!(
            program.contains("along"),
            "{machine}, {shape:?}: rows are not folded in registers"
        );
        // In the order in which the computes read them; a mask that nothing reads may be no argument.
        let order: &[usize] = if kernel.args().len() == 5 { &[0, 1, 3, 2] } else { &[0, 1, 2] };
        let mut given: Vec<_> = order.iter().map(|&input| bytes(&inputs[input], elem)).collect();
        given.push(vec![0xff; (heads * rows * width * 2) as usize]);
        Self { program, inputs, given }
    }
}

/// A kernel whose products warpgroups do, and its arguments, the result's last.
pub fn by_warpgroups(ahead: &str) -> (String, Vec<Vec<u8>>) {
    let shape = Shape { heads: 2, rows: 128, keys: 197, depth: 64, width: 64 };
    let ahead = format!("schedule <ahead = {ahead}, stages = 3>");
    let words = of_warpgroups([128, 64, 64, 64], "f16", ["nk", "kn"], &ahead);
    let form = Form { turned: true, ..PLAIN };
    let own = Prepared::new("h200", shape, form, "f16", Some([&words[0], &words[1]]));
    (own.program, own.given)
}

/// A kernel whose pieces an engine brings, and its arguments, the result's last.
pub fn by_engine() -> (String, Vec<Vec<u8>>) {
    let shape = Shape { heads: 2, rows: 64, keys: 128, depth: 64, width: 64 };
    let ahead = "schedule <ahead = @stage_ahead, stages = 2>";
    let words = [
        format!("{SCORES} layouts [array<i64: 3, 72>, array<i64: 3, 72>] {ahead}"),
        format!("{VALUES} layouts [array<i64>, array<i64: 2, 72>] {ahead}"),
    ];
    let own = Prepared::new("a100", shape, MASKED, "f16", Some([&words[0], &words[1]]));
    (own.program, own.given)
}

/// A kernel whose groups go by turns, and its arguments, the result's last.
pub fn by_turns() -> (String, Vec<Vec<u8>>) {
    let shape = Shape { heads: 2, rows: 128, keys: 117, depth: 64, width: 64 };
    let words = in_turns("schedule <stages = 3, turns = 2>");
    let own = Prepared::new("mi300x", shape, PLAIN, "f16", Some([&words[0], &words[1]]));
    (own.program, own.given)
}

/// Words of the tiles of both products for eight wavefronts.
fn in_turns(schedule: &str) -> [String; 2] {
    let tiles = |[rows, columns, depth]: [u64; 3], layouts: &str| {
        format!(
            r#"tiles [#tile.rtile<"lds"[1, {rows}, {columns}, {depth}]>, #tile.rtile<"reg"[1, 16, {columns}, 16]>] layouts [array<i64>, {layouts}] {schedule}"#
        )
    };
    [tiles([128, 32, 64], "array<i64: 3, 72>"), tiles([128, 64, 32], "array<i64: 3, 40>")]
}

/// A program of stage `tile` in which the two products of a group that hands over in registers have other
/// tiles, layouts and schedules.
fn edited(text: &str, edit: [&str; 2]) -> String {
    let warpgroups = edit[0].starts_with("on @wgmma");
    let mut edit = edit.into_iter();
    let mut change = |line: &str| {
        let compute = line.contains("tile.compute") && line.contains(" axes [");
        let begin = line.find(" tiles [").filter(|_| compute)?;
        let own = edit.next()?;
        let begin = if own.starts_with("on @") { line.find(" on @")? } else { begin };
        let end = line.find(" because").or_else(|| line.find(" : (")).expect("there are types");
        Some(format!("{} {own}{}", &line[..begin], &line[end..]))
    };
    let (mut in_group, mut out) = (false, String::new());
    for line in text.lines() {
        if line.contains("tile.kernel @") {
            in_group = line.contains("_near");
        }
        let changed = if in_group { change(line) } else { None };
        let mut line = changed.unwrap_or_else(|| line.to_owned());
        // All that is in registers is where these instructions have it.
        if warpgroups && in_group {
            line = line.replace("\"reg\"", "\"acc\"").replace("on @valu ", "on @valu_of_groups ");
        }
        if warpgroups && line.contains("tile.") {
            line = line.replace("in @reg", "in @acc");
        }
        out.push_str(&line);
        out.push('\n');
    }
    assert!(edit.next().is_none(), "there are two products");
    out
}

fn of_tile<'c>(context: &'c weft_dialects::ir::Context, machine: &str, text: &str) -> Unit<'c> {
    let module = parse(context, text).expect("the text is right");
    let device = Device::Named(machine.to_owned());
    let options = Options { device, jobs: 1, ..Options::default() };
    Unit::from_module(context, module, Rc::default(), options).expect("the module is good")
}

/// Tiles of both products that a text says.
const SCORES: &str =
    r#"tiles [#tile.rtile<"smem"[1, 64, 32, 64]>, #tile.rtile<"reg"[1, 16, 32, 16]>]"#;
const VALUES: &str =
    r#"tiles [#tile.rtile<"smem"[1, 64, 64, 32]>, #tile.rtile<"reg"[1, 16, 64, 16]>]"#;

#[test]
fn warps_go_through_rows_in_one_pass() {
    let shape = Shape { heads: 2, rows: 64, keys: 384, depth: 64, width: 64 };
    holds("a100", shape, PLAIN, "f16");
    holds("h200", shape, MASKED, "bf16");
    // Rows that end inside a tile, and a depth and a width that end inside an instruction.
    let ragged = Shape { heads: 3, rows: 37, keys: 96, depth: 40, width: 24 };
    holds("a100", ragged, MASKED, "f16");
    // The mask of several heads: the first product has another axis than the second.
    let heads = Shape { heads: 4, ..ragged };
    holds("a100", heads, Form { of_heads: true, ..MASKED }, "f16");
    // Rows whose length ends inside a piece, and in the first one.
    for keys in [197, 77, 5] {
        holds("a100", Shape { keys, ..ragged }, MASKED, "f16");
    }
}

/// Rows see what is in front of them: pieces behind that are left out, and those in front take no mask.
#[test]
fn rows_see_what_is_in_front_of_them() {
    let shape = Shape { heads: 2, rows: 128, keys: 128, depth: 64, width: 64 };
    let own = |past, parts, wide| Form {
        causal: Some(Causal { past, parts, wide, left: None }),
        ..PLAIN
    };
    let window = Causal { past: 0, parts: 1, wide: true, left: Some(30) };
    let window = Form { causal: Some(window), ..PLAIN };
    let cases = [
        ("a100", shape, own(0, 1, true), "f16"),
        ("h200", shape, own(0, 2, true), "bf16"),
        ("mi300x", shape, own(0, 1, true), "f16"),
        // A cache in front, scores that are rounded before, rows that see nothing at all.
        ("a100", Shape { rows: 64, keys: 192, ..shape }, own(128, 1, false), "f16"),
        ("a100", shape, own(-20, 1, true), "f16"),
        // Something is left out in front, too: all pieces are masked.
        ("a100", shape, window, "f16"),
        // The same of other numbers than tiles have.
        ("a100", Shape { heads: 3, rows: 74, keys: 77, ..shape }, own(40, 2, true), "f16"),
    ];
    for (machine, shape, form, elem) in cases {
        let program = runs(machine, shape, form, elem, None);
        let skips = program.contains("arith.ceildivui");
        let plain = form.causal.is_some_and(|own| own.left.is_none());
        assert_eq!(skips, plain && shape.keys.is_multiple_of(64), "{machine}, {shape:?}, {form:?}");
    }
    let ahead = "schedule <ahead = @stage_ahead, stages = 3>";
    let words = of_warpgroups([64, 64, 64, 64], "f16", ["nk", "kn"], ahead);
    let form = Form { turned: true, ..own(0, 1, true) };
    let program = runs("h200", shape, form, "f16", Some([&words[0], &words[1]]));
    assert!(program.contains("_rkn(") && program.contains("arith.ceildivui"), "{program}");
    // A group that only asks for boxes goes through as many pieces as the others.
    let words = words.map(|own| own.replace("@stage_ahead", "@stage_boxes_apart"));
    let program = runs("h200", shape, form, "f16", Some([&words[0], &words[1]]));
    assert!(program.contains("arith.ceildivui") && program.contains("after("), "{program}");
}

/// Words of the tiles of both products for warpgroups: how many rows a block has, points of a piece, how wide
/// values are, and the width of the instructions.
fn of_warpgroups(
    [rows, piece, width, n]: [u64; 4],
    elem: &str,
    ways: [&str; 2],
    schedule: &str,
) -> [String; 2] {
    let depth = 64;
    let [keys, values] = ways.map(|way| if way == "nk" { 3 } else { 2 });
    let swizzle = "64, 3, 3, 3";
    [
        format!(
            r#"on @wgmma_m64n{n}k16_{elem}_{} axes [1, 2, 3] tiles [#tile.rtile<"smem"[1, {rows}, {piece}, {depth}]>, #tile.rtile<"acc"[1, 64, {piece}, 16]>] layouts [array<i64: 3, {swizzle}>, array<i64: {keys}, {swizzle}>] {schedule}"#,
            ways[0]
        ),
        format!(
            r#"on @wgmma_m64n{n}k16_{elem}_r{} axes [1, 2, 3] tiles [#tile.rtile<"smem"[1, {rows}, {width}, {piece}]>, #tile.rtile<"acc"[1, 64, {width}, 16]>] layouts [array<i64>, array<i64: {values}, {swizzle}>] {schedule}"#,
            ways[1]
        ),
    ]
}

/// Both products are an engine's, and the second one takes what the first one leaves in registers.
#[test]
fn warpgroups_go_through_rows_in_one_pass() {
    let ragged = Shape { heads: 2, rows: 130, keys: 197, depth: 40, width: 24 };
    let wide = Shape { width: 128, keys: 256, ..ragged };
    let ahead = "schedule <ahead = @stage_ahead, stages = 2>";
    let go_on = [
        "schedule <ahead = @stage_ahead, stages = 3>",
        "schedule <ahead = @stage_ahead, stages = 4>",
    ];
    let boxes = [
        "schedule <ahead = @stage_boxes, stages = 2>",
        "schedule <ahead = @stage_boxes, stages = 4>",
        "schedule <ahead = @stage_boxes_apart, stages = 2>",
        "schedule <ahead = @stage_boxes_apart, stages = 4, resident = 2>",
    ];
    let natural = Form { turned: true, ..PLAIN };
    let masked = Form { masked: true, ..natural };
    let cases = [
        (ragged, masked, "f16", of_warpgroups([128, 64, 64, 64], "f16", ["nk", "kn"], ahead)),
        (ragged, masked, "bf16", of_warpgroups([128, 128, 64, 64], "bf16", ["nk", "kn"], ahead)),
        (ragged, masked, "f16", of_warpgroups([64, 64, 64, 64], "f16", ["nk", "kn"], "")),
        (ragged, masked, "f16", of_warpgroups([192, 64, 64, 64], "f16", ["nk", "kn"], go_on[0])),
        (wide, natural, "bf16", of_warpgroups([128, 64, 128, 64], "bf16", ["nk", "kn"], go_on[1])),
        (wide, natural, "bf16", of_warpgroups([128, 128, 128, 128], "bf16", ["nk", "kn"], ahead)),
        (wide, PLAIN, "f16", of_warpgroups([64, 64, 128, 64], "f16", ["kn", "kn"], ahead)),
        (ragged, masked, "f16", of_warpgroups([128, 64, 64, 64], "f16", ["nk", "kn"], boxes[0])),
        (ragged, natural, "bf16", of_warpgroups([64, 64, 64, 64], "bf16", ["nk", "kn"], boxes[1])),
        (wide, PLAIN, "f16", of_warpgroups([128, 64, 128, 64], "f16", ["kn", "kn"], boxes[1])),
        (ragged, masked, "f16", of_warpgroups([64, 64, 64, 64], "f16", ["nk", "kn"], boxes[2])),
        (wide, natural, "bf16", of_warpgroups([128, 64, 128, 64], "bf16", ["nk", "kn"], boxes[3])),
    ];
    for (shape, form, elem, words) in cases {
        let program = runs("h200", shape, form, elem, Some([&words[0], &words[1]]));
        assert!(program.contains("_rkn("), "{program}");
    }
}

#[test]
fn wavefronts_go_through_rows_in_one_pass() {
    let shape = Shape { heads: 2, rows: 64, keys: 384, depth: 64, width: 64 };
    holds("mi300x", shape, PLAIN, "f16");
    holds("mi250x", shape, MASKED, "f16");
    let ragged = Shape { heads: 3, rows: 37, keys: 96, depth: 40, width: 24 };
    holds("mi300x", ragged, MASKED, "bf16");
    let heads = Shape { heads: 4, ..ragged };
    holds("mi300x", heads, Form { of_heads: true, ..MASKED }, "f16");
    for keys in [197, 5] {
        holds("mi300x", Shape { keys, ..ragged }, PLAIN, "f16");
    }
}

/// Half of the groups are a barrier behind the others, wherever rows end.
#[test]
fn wavefronts_go_through_rows_by_turns() {
    let shape = Shape { heads: 2, rows: 200, keys: 128, depth: 64, width: 64 };
    let ended = Shape { keys: 117, ..shape };
    let one = Shape { keys: 20, ..shape };
    let causal = Causal { past: 0, parts: 1, wide: true, left: None };
    let seen = Form { causal: Some(causal), ..PLAIN };
    let words = ["schedule <stages = 3>", "schedule <stages = 3, turns = 2>"].map(in_turns);
    let [alike, by_turns] = words.each_ref().map(|own| Some([own[0].as_str(), own[1].as_str()]));
    for (shape, form, elem) in
        [(shape, PLAIN, "f16"), (ended, PLAIN, "f16"), (one, PLAIN, "f16"), (shape, seen, "f16")]
    {
        let program = runs("mi300x", shape, form, elem, by_turns);
        assert!(program.contains("groups 8 turns 2"), "{program}");
        assert_ne!(program, runs("mi300x", shape, form, elem, alike));
    }
}

/// Tiles, layouts and stages are what the text says, and change nothing but the code.
#[test]
fn the_text_decides_how_pieces_come() {
    let shape = Shape { heads: 2, rows: 64, keys: 128, depth: 64, width: 64 };
    let form = MASKED;
    let near = "layouts [array<i64: 3, 72>, array<i64: 3, 72>]";
    let held = "layouts [array<i64>, array<i64: 3, 72>]";
    let turned = "layouts [array<i64>, array<i64: 3, 40>]";
    let natural = "layouts [array<i64>, array<i64: 2, 72>]";
    let ahead = "schedule <ahead = @stage_ahead, stages = 2>";
    let ended = Shape { keys: 117, ..shape };
    let cases = [
        [(near, ""), (turned, "")],
        [(held, ""), (natural, "")],
        [(held, "schedule <interleave = [3]>"), (natural, "schedule <interleave = [2]>")],
        [(near, "schedule <stages = 3>"), (turned, "schedule <stages = 3>")],
        [(held, ahead), (natural, ahead)],
    ];
    let mut programs: Vec<String> = Vec::new();
    for [first, last] in cases {
        let words = [(SCORES, first), (VALUES, last)]
            .map(|(tiles, (layouts, schedule))| format!("{tiles} {layouts} {schedule}"));
        let program = runs("a100", shape, form, "f16", Some([&words[0], &words[1]]));
        runs("a100", ended, form, "f16", Some([&words[0], &words[1]]));
        assert!(!programs.contains(&program), "{words:?} change nothing");
        programs.push(program);
    }
}

#[test]
fn code_of_one_pass_assembles() {
    let short = Shape { heads: 12, rows: 512, keys: 512, depth: 64, width: 64 };
    let long = Shape { heads: 48, rows: 4096, keys: 4096, depth: 128, width: 128 };
    let half = Shape { depth: 64, width: 64, ..long };
    let turned = Form { turned: true, ..PLAIN };
    let causal =
        Form { causal: Some(Causal { past: 0, parts: 1, wide: true, left: None }), ..turned };
    let cases = [
        ("a100", PLAIN, short),
        ("a100", turned, half),
        ("a100", turned, long),
        ("a100", causal, half),
        ("h200", turned, half),
        ("h200", turned, long),
        ("h200", causal, half),
        ("h200", causal, long),
        ("mi250x", PLAIN, short),
        ("mi300x", turned, long),
        ("mi300x", causal, half),
    ];
    for (name, form, shape) in cases {
        let context = weft::context();
        let mut unit = unit(&context, name, &text(shape, form, "f16"));
        unit.lower(Stage::Device).unwrap_or_else(|error| panic!("{name}: {error}"));
        let module = unit.module();
        let machine = Machine::of(module).expect("the module has a machine");
        let isa = Isa::of_arch(machine.arch()).expect("the machine has threads");
        let text = whole_text(module, machine, 1, isa, &[]).expect("there is code for it");
        assert_eq!(text.contains("wgmma.mma_async"), name == "h200", "{name}");
        let said = assemble::check(machine.arch(), &text);
        assert!(!said.contains("serialized"), "{name}: {said}");
        let spilled = said.lines().any(|line| {
            line.contains("bytes spill stores") && !line.contains(" 0 bytes spill stores")
        });
        assert!(!spilled, "{name}: {said}");
        // Registers that some give to others are those that each has at first.
        let first = text.split_once(".maxnreg ").map(|(_, rest)| rest.lines().next().unwrap_or(""));
        assert_eq!(first.is_some(), text.contains("setmaxnreg"), "{name}");
        assert_eq!(first.is_some(), name == "h200", "{name}");
        if let Some(first) = first.filter(|_| !said.is_empty()) {
            assert!(said.contains(&format!("Used {first} registers")), "{name}: {said}");
            assert!(!said.contains("setmaxnreg"), "{name}: {said}");
        }
    }
}
