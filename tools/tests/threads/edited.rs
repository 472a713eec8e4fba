//! Fields of a block tile's schedule: each decides the code, and leaves the answer what it was.

use std::rc::Rc;

use weft::{Device, Options, Unit};
use weft_dialects::device::Kernel as Program;
use weft_dialects::ir::parse;
use weft_passes::graph::from_func;
use weft_passes::pipeline::Stage;

use crate::blocks::{with_a_cast, with_an_epilogue};
use crate::host;
use crate::kernels::{product_alone, whole};
use crate::numbers::{Random, bytes, numbers};

const GEMM: &str = "C[m,n] += A[m,k] * B[k,n]";

/// A product, and how its blocks are described but for the schedule.
pub struct Product {
    product: &'static str,
    pub machine: &'static str,
    pub elem: &'static str,
    shape: &'static str,
    tiles: &'static str,
}

pub const AMPERE: Product = Product {
    product: GEMM,
    machine: "a100",
    elem: "f16",
    shape: "m=100,n=152,k=104",
    tiles: r#"on @mma_m16n8k16_f16 axes [0, 1, 2] tiles [#tile.rtile<"smem"[64, 64, 32]>, #tile.rtile<"reg"[32, 32, 16]>] layouts [array<i64: 2, 40>, array<i64: 1, 72>]"#,
};

/// Factors are taken where they lie, in panels of 64 columns.
pub const HOPPER: Product = Product {
    product: GEMM,
    machine: "h200",
    elem: "f16",
    shape: "m=200,n=264,k=328",
    tiles: r#"on @wgmma_m64n64k16_f16_kn axes [0, 1, 2] tiles [#tile.rtile<"smem"[128, 128, 64]>, #tile.rtile<"acc"[64, 128, 16]>] layouts [array<i64: 2, 64, 3, 3, 3>, array<i64: 1, 64, 3, 3, 3>]"#,
};

pub const CDNA: Product = Product {
    product: GEMM,
    machine: "mi300x",
    elem: "f16",
    shape: "m=100,n=152,k=200",
    tiles: r#"on @mfma_16x16x16_f16 axes [0, 1, 2] tiles [#tile.rtile<"lds"[64, 128, 128]>, #tile.rtile<"reg"[32, 64, 16]>] layouts [array<i64: 2, 136>, array<i64: 2, 136>]"#,
};

pub const LANES: Product = Product {
    product: GEMM,
    machine: "a100",
    elem: "f32",
    shape: "m=70,n=132,k=36",
    tiles: r#"on @fmavv_f32 lanes 1 tiles [#tile.rtile<"smem"[64, 64, 16]>, #tile.rtile<"reg"[32, 64, 1]>] layouts [array<i64: 0, 68>, array<i64: 1, 64>]"#,
};

/// Where a kernel reduces, behind the machine.
fn product(text: &str) -> usize {
    let kernels = text.find("tile.kernel @").expect("there is a kernel");
    kernels + text[kernels..].find("\"reduction\"").expect("there is a product")
}

/// A program of stage `tile` whose first kernel that reduces is done in other tiles.
pub fn with_tiles(text: &str, tiles: &str) -> String {
    let compute = text[..product(text)].rfind("tile.compute").expect("a compute does it");
    let from = compute + text[compute..].find("on @").expect("it is on something");
    let to = from + text[from..].find(" because").expect("it says why");
    format!("{}{tiles}{}", &text[..from], &text[to..])
}

/// The first kernel of a program of stage `tile` that reduces, in the machine's instructions.
pub fn device_program(machine: &str, text: &str) -> String {
    let context = weft::context();
    let module = parse(&context, text).expect("the text is right");
    let device = Device::Named(machine.to_owned());
    let options = Options { device, jobs: 1, ..Options::default() };
    let unit = Unit::from_module(&context, module, Rc::default(), options);
    let mut unit = unit.expect("the module is good");
    unit.lower(Stage::Device).unwrap_or_else(|error| panic!("{text}: {error}"));
    let ops = unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
    let kernel = text[..product(text)].rfind("tile.kernel @").expect("it is in a kernel");
    let name: String = text[kernel..].chars().skip(13).take_while(|c| !c.is_whitespace()).collect();
    let mut kernels = ops.into_iter().filter_map(Program::of);
    kernels.find(|kernel| kernel.name == name).expect("there is the kernel").op.own_text()
}

impl Product {
    /// The program of stage `tile` with a schedule.
    fn text(&self, schedule: &str) -> String {
        let context = weft::context();
        let what = (self.product, self.shape);
        let mut unit = product_alone(&context, self.machine, what, self.elem);
        unit.lower(Stage::Tile).expect("the machine can do it");
        with_tiles(&unit.module().text(), &format!("{} {schedule}", self.tiles))
    }

    /// The same of other axes.
    pub const fn with_shape(self, shape: &'static str) -> Self {
        Self { shape, ..self }
    }

    /// Its device program with a schedule.
    pub fn program(&self, schedule: &str) -> String {
        device_program(self.machine, &self.text(schedule))
    }

    /// How long its axes are: m, n and k.
    pub fn extents(&self) -> [u64; 3] {
        let extents: Vec<u64> = (self.shape.split(','))
            .map(|axis| axis[2..].parse().expect("an extent is a number"))
            .collect();
        extents.try_into().expect("a product has three axes")
    }

    /// The device program of the product, and what its threads compute from random numbers.
    fn run(&self, schedule: &str) -> (String, Vec<f64>) {
        let text = self.program(schedule);
        let mut random = Random(5);
        let [m, n, k] = self.extents();
        let (a, b) = (random.numbers(m * k, self.elem), random.numbers(k * n, self.elem));
        let inputs = [&a, &b].map(|numbers| bytes(numbers, self.elem));
        let sums = vec![0xff; (m * n * 4) as usize];
        let mut given: Vec<Vec<u8>> = inputs.into_iter().chain([sums]).collect();
        host::run(self.machine, &text, &mut given);
        let along_k = self.product.contains("B[n,k]");
        let element = |p: u64, j: u64| {
            if along_k { b[(j * k + p) as usize] } else { b[(p * n + j) as usize] }
        };
        let sum = |i: u64, j: u64| -> f64 {
            (0..k).map(|p| a[(i * k + p) as usize] * element(p, j)).sum()
        };
        let wanted: Vec<f64> = (0..m * n).map(|place| sum(place / n, place % n)).collect();
        let got = numbers(&given[2], "f32");
        assert!(got == wanted, "{}: {schedule} computes another product", self.machine);
        (text, got)
    }

    fn holds(&self, schedules: &[&str]) {
        let (mut texts, expected) = (Vec::new(), self.run("").1);
        for schedule in schedules {
            let (text, got) = self.run(&format!("schedule <{schedule}>"));
            assert_eq!(got, expected, "{}: {schedule}", self.machine);
            assert!(!texts.contains(&text), "{}: {schedule} decides nothing", self.machine);
            texts.push(text);
        }
    }
}

#[test]
fn interleave_and_stages_decide_code_of_warps() {
    AMPERE.holds(&[
        "stages = 1",
        "stages = 2",
        "interleave = [1]",
        "interleave = [2], stages = 2",
        "interleave = [1, 2], stages = 2",
        "stages = 3",
        "stages = 4",
        "interleave = [1, 2], stages = 6",
        "interleave = [0, 1, 2]",
        "ahead = @stage_ahead, stages = 2",
        "ahead = @stage_ahead, stages = 3",
        "interleave = [1, 2], ahead = @stage_ahead, stages = 4",
    ]);
}

#[test]
fn stages_decide_code_of_warpgroups() {
    HOPPER.holds(&[
        "stages = 1",
        "ahead = @stage_ahead, stages = 3",
        "ahead = @stage_ahead, stages = 4",
        "ahead = @stage_boxes, stages = 3",
        "ahead = @stage_boxes, stages = 4",
        "ahead = @stage_boxes_apart, stages = 3, resident = 2",
        "ahead = @stage_boxes_apart, stages = 4",
    ]);
}

/// Several rTasks run at the same time, and bring a tile of either input together, each a part of it.
#[test]
fn clusters_decide_code_of_warpgroups() {
    let shape = "m=200,n=456,k=328";
    HOPPER.with_shape(shape).holds(&[
        "ahead = @stage_boxes, stages = 4",
        "ahead = @stage_boxes, cluster = [2, 1, 1], stages = 4",
        "ahead = @stage_boxes, cluster = [1, 2, 1], stages = 3",
        "ahead = @stage_boxes, cluster = [1, 2, 1], stages = 4",
    ]);
    let file = tempfile::NamedTempFile::with_suffix(".mlir").expect("there is room for a file");
    let text = host::machine("h200").replace("units = 2,", "units = 4,");
    std::fs::write(file.path(), text).expect("the file can be written");
    let machine = file.path().to_str().expect("a path is text").to_owned().leak();
    let wide = Product { machine, ..HOPPER.with_shape(shape) };
    wide.holds(&["ahead = @stage_boxes, cluster = [1, 4, 1], stages = 4"]);
}

/// A launch begins rTasks band by band: the last one may have fewer, and clusters are in a band or between its rTasks.
#[test]
fn bands_decide_which_block_is_which_task() {
    HOPPER.with_shape("m=632,n=456,k=136").holds(&[
        "ahead = @stage_boxes, bands = [2, 1, 1], stages = 4",
        "ahead = @stage_boxes, bands = [3, 1, 1], stages = 4",
        "ahead = @stage_boxes, cluster = [1, 2, 1], bands = [2, 1, 1], stages = 4",
        "ahead = @stage_boxes, cluster = [1, 2, 1], bands = [5, 1, 1], stages = 4",
    ]);
    HOPPER.with_shape("m=760,n=200,k=136").holds(&[
        "ahead = @stage_boxes, cluster = [2, 1, 1], stages = 4",
        "ahead = @stage_boxes, cluster = [2, 1, 1], bands = [4, 1, 1], stages = 4",
        "ahead = @stage_boxes, cluster = [2, 1, 1], bands = [6, 1, 1], stages = 4",
    ]);
    AMPERE.holds(&["stages = 3", "stages = 3, bands = [2, 1, 1]"]);
}

/// Each width of an instruction, and factors that lie along k.
#[test]
fn instructions_of_warpgroups_take_factors_as_they_lie() {
    let cases = [
        ("f16", "256", "kn", "m=200,n=264,k=328"),
        ("bf16", "192", "kn", "m=200,n=264,k=136"),
        ("f16", "128", "nk", "m=200,n=264,k=200"),
        ("bf16", "64", "nk", "m=200,n=264,k=328"),
    ];
    for (elem, n, way, shape) in cases {
        let tiles = format!(
            r#"on @wgmma_m64n{n}k16_{elem}_{way} axes [0, 1, 2] tiles [#tile.rtile<"smem"[64, {n}, 64]>, #tile.rtile<"acc"[64, {n}, 16]>] layouts [array<i64: 2, 64, 3, 3, 3>, array<i64: {}, 64, 3, 3, 3>]"#,
            if way == "kn" { 1 } else { 2 }
        );
        let product =
            if way == "kn" { "C[m,n] += A[m,k] * B[k,n]" } else { "C[m,n] += A[m,k] * B[n,k]" };
        let own = Product {
            product,
            machine: "h200",
            elem,
            shape: shape.to_owned().leak(),
            tiles: tiles.leak(),
        };
        own.holds(&[
            "stages = 1",
            "ahead = @stage_ahead, stages = 4",
            "ahead = @stage_boxes, stages = 4",
            "ahead = @stage_boxes_apart, stages = 4",
        ]);
    }
}

/// What is brought ahead goes on over the borders of the reductions, and groups lie along both axes.
#[test]
fn warpgroups_reduce_along_several_axes() {
    let [m, n, r, k] = [136, 264, 3, 72];
    let what = ("C[m,n] += A[r,m,k] * B[r,k,n]", format!("m={m},n={n},r={r},k={k}"));
    let context = weft::context();
    let mut unit = product_alone(&context, "h200", (what.0, &what.1), "f16");
    unit.lower(Stage::Tile).expect("the machine can do it");
    let tiles = r#"on @wgmma_m64n64k16_f16_kn axes [0, 1, 3] tiles [#tile.rtile<"smem"[128, 128, 1, 64]>, #tile.rtile<"acc"[64, 64, 1, 16]>] layouts [array<i64: 3, 64, 3, 3, 3>, array<i64: 1, 64, 3, 3, 3>] schedule <ahead = @stage_ahead, stages = 4>"#;
    let text = device_program("h200", &with_tiles(&unit.module().text(), tiles));
    let mut random = Random(6);
    let [a, b] = [r * m * k, r * k * n].map(|count| random.numbers(count, "f16"));
    let factors = [&a, &b].map(|numbers| bytes(numbers, "f16"));
    let mut given: Vec<_> = factors.into_iter().chain([vec![0xff; (m * n * 4) as usize]]).collect();
    host::run("h200", &text, &mut given);
    let product = |i: u64, j: u64, q: u64, p: u64| {
        a[((q * m + i) * k + p) as usize] * b[((q * k + p) * n + j) as usize]
    };
    let sum = |i: u64, j: u64| -> f64 {
        (0..r).flat_map(|q| (0..k).map(move |p| (q, p))).map(|(q, p)| product(i, j, q, p)).sum()
    };
    let wanted: Vec<f64> = (0..m * n).map(|place| sum(place / n, place % n)).collect();
    assert!(numbers(&given[2], "f32") == wanted);
}

/// An epilogue's inputs come to the lanes that hold the sums.
#[test]
fn epilogues_run_where_warpgroups_hold_sums() {
    warpgroups_finish(&with_an_epilogue("f16"), "f32");
}

/// What is stored is narrower than the sums, and so is an input.
#[test]
fn warpgroups_cast_the_sums_that_they_hold() {
    warpgroups_finish(&with_a_cast("f16"), "f16");
}

/// `last` is the type of what is added last, and of what is stored.
fn warpgroups_finish(text: &str, last: &str) {
    let context = weft::context();
    let mut module = parse(&context, text).expect("the text is right");
    from_func::import(&context, &mut module).expect("it is a model");
    let device = Device::Named("h200".to_owned());
    let options = Options { device, jobs: 1, pass_options: whole(), ..Options::default() };
    let unit = Unit::from_module(&context, module, Rc::default(), options);
    let mut unit = unit.expect("the module is good");
    unit.lower(Stage::Tile).expect("the machine can do it");
    let tiles = r#"on @wgmma_m64n128k16_f16_kn axes [0, 1, 2] tiles [#tile.rtile<"smem"[64, 256, 64]>, #tile.rtile<"acc"[64, 128, 16]>] layouts [array<i64: 2, 64, 3, 3, 3>, array<i64: 1, 64, 3, 3, 3>]"#;
    let text = device_program("h200", &with_tiles(&unit.module().text(), tiles));
    let [m, n, k] = [67, 150, 45];
    let mut random = Random(8);
    let [x, w] = [m * k, k * n].map(|count| random.numbers(count, "f16"));
    let [bias, scale] = [n, m].map(|count| random.numbers(count, "f32"));
    let rest = random.numbers(m * n, last);
    let factors = [&x, &w].map(|numbers| bytes(numbers, "f16"));
    let others = [bytes(&bias, "f32"), bytes(&scale, "f32"), bytes(&rest, last)];
    let result = vec![0xff; bytes(&rest, last).len()];
    let mut given: Vec<_> = factors.into_iter().chain(others).chain([result]).collect();
    host::run("h200", &text, &mut given);
    let wanted = |place: u64| {
        let (i, j) = (place / n, place % n);
        let sum: f64 = (0..k).map(|p| x[(i * k + p) as usize] * w[(p * n + j) as usize]).sum();
        ((sum + bias[j as usize]) * scale[i as usize]).max(0.0) + rest[place as usize]
    };
    let wanted: Vec<f64> = (0..m * n).map(wanted).collect();
    let wanted = numbers(&bytes(&wanted, last), last);
    assert_eq!(numbers(given.last().expect("there is a result"), last), wanted);
}

#[test]
fn interleave_and_stages_decide_code_of_wavefronts() {
    CDNA.holds(&[
        "stages = 1",
        "stages = 2",
        "interleave = [2]",
        "interleave = [0, 2], stages = 2",
    ]);
    // Several rooms, of four steps.
    let tiles = r#"on @mfma_16x16x16_f16 axes [0, 1, 2] tiles [#tile.rtile<"lds"[64, 128, 32]>, #tile.rtile<"reg"[32, 64, 16]>] layouts [array<i64: 2, 40>, array<i64: 2, 40>]"#;
    let shallow = Product { shape: "m=100,n=152,k=100", tiles, ..CDNA };
    shallow.holds(&["stages = 3", "stages = 4", "stages = 6"]);
}

#[test]
fn stages_decide_code_of_lanes() {
    LANES.holds(&["stages = 1", "stages = 2"]);
}

/// Where elements lie is nobody's business but of who stores and loads them: a swizzle whose upper bits
/// are those of a row, too.
#[test]
fn layouts_change_no_answer() {
    let layouts = ["array<i64: 1, 16>", "array<i64: 1, 16, 2, 3, 2>", "array<i64: 1, 24>"];
    let answers = layouts.map(|layout| {
        let tiles = format!(
            r#"on @mfma_16x16x4_f32 axes [0, 1, 2] tiles [#tile.rtile<"lds"[16, 16, 64]>, #tile.rtile<"reg"[16, 16, 4]>] layouts [array<i64: 2, 68>, {layout}]"#
        );
        let shape = "m=67,n=150,k=45";
        let own = Product { product: GEMM, machine: "mi300x", elem: "f32", shape, tiles: tiles.leak() };
        own.run("schedule <interleave = [2]>").1
    });
    assert!(answers.iter().all(|answer| *answer == answers[0]));
}
