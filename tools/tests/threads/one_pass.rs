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
use crate::host;
use crate::numbers::{Random, bytes, numbers};

/// Heads, rows, what these are long, the depth of the first product and the width of the second.
#[derive(Clone, Copy, Debug)]
struct Shape {
    heads: u64,
    rows: u64,
    keys: u64,
    depth: u64,
    width: u64,
}

/// Keys as the first product's columns or rows, and whether scores are masked.
#[derive(Clone, Copy, Debug)]
struct Form {
    turned: bool,
    masked: bool,
    /// Whether a mask is of each two heads, for all of their rows.
    of_heads: bool,
}

/// Scores divided by eight, with a mask, in `elem`, and the mask's rows.
fn scaled((heads, rows, keys): (u64, u64, u64), form: Form, elem: &str) -> (String, u64) {
    let mask = if form.masked { "%i" } else { "%none" };
    let body = format!(
        r#"  ^bb0(%x: f32, %i: {elem}, %o: {elem}):
    %eighth = arith.constant 0.125 : f32
    %none = arith.constant 0.0 : {elem}
    %iw = arith.extf {mask} : {elem} to f32
    %t = arith.mulf %x, %eighth : f32
    %u = arith.addf %t, %iw : f32
    %w = arith.truncf %u : f32 to {elem}
    linalg.yield %w : {elem}
  }}"#
    );
    let own = format!("{heads}x{rows}x{keys}");
    let of_two = format!("{}x2x{rows}x{keys}", heads / 2);
    let mask_rows = if form.of_heads { heads / 2 } else { rows };
    let text = match form.of_heads {
        false => format!(
            r#"  %c = linalg.generic {{indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}} ins(%s, %a : tensor<{own}xf32>, tensor<{mask_rows}x{keys}x{elem}>) outs(%ce : tensor<{own}x{elem}>) {{
{body} -> tensor<{own}x{elem}>
"#
        ),
        true => format!(
            r#"  %st = tensor.expand_shape %s [[0, 1], [2], [3]] output_shape [{}, 2, {rows}, {keys}] : tensor<{own}xf32> into tensor<{of_two}xf32>
  %cf = tensor.empty() : tensor<{of_two}x{elem}>
  %ct = linalg.generic {{indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}} ins(%st, %a : tensor<{of_two}xf32>, tensor<{mask_rows}x{keys}x{elem}>) outs(%cf : tensor<{of_two}x{elem}>) {{
{body} -> tensor<{of_two}x{elem}>
  %c = tensor.collapse_shape %ct [[0, 1], [2], [3]] : tensor<{of_two}x{elem}> into tensor<{own}x{elem}>
"#,
            heads / 2
        ),
    };
    (text, mask_rows)
}

/// `softmax(q k / 8 + mask) v` on numbers of `elem`, with sums in f32; what is rounded in between is in `elem`,
/// too.
fn text(Shape { heads, rows, keys, depth, width }: Shape, form: Form, elem: &str) -> String {
    let (k, k_map) = match form.turned {
        true => (format!("{heads}x{keys}x{depth}"), "(b, n, k)"),
        false => (format!("{heads}x{depth}x{keys}"), "(b, k, n)"),
    };
    let [three, four] =
        ["\"parallel\", ".repeat(2) + "\"parallel\"", "\"parallel\", ".repeat(3) + "\"reduction\""];
    let (scaled, mask_rows) = scaled((heads, rows, keys), form, elem);
    format!(
        r#"
func.func @attention(%q: tensor<{heads}x{rows}x{depth}x{elem}>, %k: tensor<{k}x{elem}>, %v: tensor<{heads}x{keys}x{width}x{elem}>, %a: tensor<{mask_rows}x{keys}x{elem}>) -> tensor<{heads}x{rows}x{width}x{elem}> {{
  %z = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %se = tensor.empty() : tensor<{heads}x{rows}x{keys}xf32>
  %sf = linalg.fill ins(%z : f32) outs(%se : tensor<{heads}x{rows}x{keys}xf32>) -> tensor<{heads}x{rows}x{keys}xf32>
  %s = linalg.generic {{indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> {k_map}>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = [{four}]}} ins(%q, %k : tensor<{heads}x{rows}x{depth}x{elem}>, tensor<{k}x{elem}>) outs(%sf : tensor<{heads}x{rows}x{keys}xf32>) {{
  ^bb0(%x: {elem}, %y: {elem}, %o: f32):
    %xw = arith.extf %x : {elem} to f32
    %yw = arith.extf %y : {elem} to f32
    %p = arith.mulf %xw, %yw : f32
    %r = arith.addf %o, %p : f32
    linalg.yield %r : f32
  }} -> tensor<{heads}x{rows}x{keys}xf32>
  %ce = tensor.empty() : tensor<{heads}x{rows}x{keys}x{elem}>
{scaled}  %me = tensor.empty() : tensor<{heads}x{rows}xf32>
  %mf = linalg.fill ins(%low : f32) outs(%me : tensor<{heads}x{rows}xf32>) -> tensor<{heads}x{rows}xf32>
  %m = linalg.generic {{indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}} ins(%c : tensor<{heads}x{rows}x{keys}x{elem}>) outs(%mf : tensor<{heads}x{rows}xf32>) {{
  ^bb0(%x: {elem}, %o: f32):
    %xw = arith.extf %x : {elem} to f32
    %r = arith.maximumf %o, %xw : f32
    linalg.yield %r : f32
  }} -> tensor<{heads}x{rows}xf32>
  %e = linalg.generic {{indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = [{three}]}} ins(%c, %m : tensor<{heads}x{rows}x{keys}x{elem}>, tensor<{heads}x{rows}xf32>) outs(%se : tensor<{heads}x{rows}x{keys}xf32>) {{
  ^bb0(%x: {elem}, %y: f32, %o: f32):
    %xw = arith.extf %x : {elem} to f32
    %d = arith.subf %xw, %y : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  }} -> tensor<{heads}x{rows}x{keys}xf32>
  %lf = linalg.fill ins(%z : f32) outs(%me : tensor<{heads}x{rows}xf32>) -> tensor<{heads}x{rows}xf32>
  %l = linalg.generic {{indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>], iterator_types = ["parallel", "parallel", "reduction"]}} ins(%e : tensor<{heads}x{rows}x{keys}xf32>) outs(%lf : tensor<{heads}x{rows}xf32>) {{
  ^bb0(%x: f32, %o: f32):
    %r = arith.addf %o, %x : f32
    linalg.yield %r : f32
  }} -> tensor<{heads}x{rows}xf32>
  %p = linalg.generic {{indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = [{three}]}} ins(%e, %l : tensor<{heads}x{rows}x{keys}xf32>, tensor<{heads}x{rows}xf32>) outs(%ce : tensor<{heads}x{rows}x{keys}x{elem}>) {{
  ^bb0(%x: f32, %y: f32, %o: {elem}):
    %d = arith.divf %x, %y : f32
    %r = arith.truncf %d : f32 to {elem}
    linalg.yield %r : {elem}
  }} -> tensor<{heads}x{rows}x{keys}x{elem}>
  %we = tensor.empty() : tensor<{heads}x{rows}x{width}xf32>
  %wf = linalg.fill ins(%z : f32) outs(%we : tensor<{heads}x{rows}x{width}xf32>) -> tensor<{heads}x{rows}x{width}xf32>
  %w = linalg.generic {{indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>], iterator_types = [{four}]}} ins(%p, %v : tensor<{heads}x{rows}x{keys}x{elem}>, tensor<{heads}x{keys}x{width}x{elem}>) outs(%wf : tensor<{heads}x{rows}x{width}xf32>) {{
  ^bb0(%x: {elem}, %y: {elem}, %o: f32):
    %xw = arith.extf %x : {elem} to f32
    %yw = arith.extf %y : {elem} to f32
    %u = arith.mulf %xw, %yw : f32
    %r = arith.addf %o, %u : f32
    linalg.yield %r : f32
  }} -> tensor<{heads}x{rows}x{width}xf32>
  %ye = tensor.empty() : tensor<{heads}x{rows}x{width}x{elem}>
  %y = linalg.generic {{indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = [{three}]}} ins(%w : tensor<{heads}x{rows}x{width}xf32>) outs(%ye : tensor<{heads}x{rows}x{width}x{elem}>) {{
  ^bb0(%x: f32, %o: {elem}):
    %r = arith.truncf %x : f32 to {elem}
    linalg.yield %r : {elem}
  }} -> tensor<{heads}x{rows}x{width}x{elem}>
  return %y : tensor<{heads}x{rows}x{width}x{elem}>
}}
"#
    )
}

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

/// What the formula gives.
fn expected(shape: Shape, form: Form, inputs: &[Vec<f64>; 4]) -> Vec<f64> {
    let Shape { heads, rows, keys, depth, width } = shape;
    let [q, k, v, mask] = inputs;
    let mut found = Vec::new();
    for head in 0..heads {
        for row in 0..rows {
            let score = |key: u64| {
                let at = |d: u64| match form.turned {
                    true => (head * keys + key) * depth + d,
                    false => (head * depth + d) * keys + key,
                };
                let own =
                    |d: u64| q[((head * rows + row) * depth + d) as usize] * k[at(d) as usize];
                let line = if form.of_heads { head / 2 } else { row };
                let added = if form.masked { mask[(line * keys + key) as usize] } else { 0.0 };
                (0..depth).map(own).sum::<f64>() / 8.0 + added
            };
            let scores: Vec<f64> = (0..keys).map(score).collect();
            let greatest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let weights: Vec<f64> = scores.iter().map(|score| (score - greatest).exp()).collect();
            let total: f64 = weights.iter().sum();
            for column in 0..width {
                let value = |key: u64| v[((head * keys + key) * width + column) as usize];
                let sum: f64 = (0..keys).map(|key| weights[key as usize] * value(key)).sum();
                found.push(sum / total);
            }
        }
    }
    found
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
pub fn by_warpgroups() -> (String, Vec<Vec<u8>>) {
    let shape = Shape { heads: 2, rows: 128, keys: 197, depth: 64, width: 64 };
    let ahead = "schedule <ahead = @stage_ahead, stages = 3>";
    let words = of_warpgroups([128, 64, 64, 64], "f16", ["nk", "kn"], ahead);
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

const MASKED: Form = Form { turned: true, masked: true, of_heads: false };
const PLAIN: Form = Form { turned: false, masked: false, of_heads: false };

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
    let cases = [
        ("a100", false, short),
        ("a100", true, half),
        ("a100", true, long),
        ("h200", true, half),
        ("h200", true, long),
        ("mi250x", false, short),
        ("mi300x", true, long),
    ];
    for (name, turned, shape) in cases {
        let context = weft::context();
        let mut unit = unit(&context, name, &text(shape, Form { turned, ..PLAIN }, "f16"));
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
    }
}
