//! The text is the truth: what a stage prints is all that the next one knows.
//!
//! The network of `examples/digits` is stopped at every stage and resumed from the text.
//! Then the text is edited as a person would do it, and the edit has to show in the result
//! while the answer stays right.

mod schedule;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use weft_runtime::cpu::check_features;

const STAGES: [&str; 4] = ["graph", "tile", "task", "device"];
const AVX2: &str = include_str!("../../../devices/x86-avx2.mlir");
const AVX512: &str = include_str!("../../../devices/x86-avx512.mlir");

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits").join(name)
}

/// A folder with the network in it, for one test.
struct Desk(tempfile::TempDir);

impl Desk {
    fn empty() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn new() -> Self {
        let desk = Self::empty();
        for name in ["digits.onnx", "digits.inputs.npz", "digits.ref.npz"] {
            std::fs::copy(example(name), desk.path(name)).expect("copied");
        }
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("written");
    }

    fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect("read")
    }

    fn tool(&self, program: &str, arguments: &str) -> Output {
        let arguments = arguments.split_whitespace();
        let output = Command::new(program).args(arguments).current_dir(self.0.path()).output();
        output.expect("the tool starts")
    }

    /// What `weft` says of arguments that have spaces.
    fn tool_with(&self, arguments: &[&str]) -> Output {
        let mut weft = Command::new(env!("CARGO_BIN_EXE_weft"));
        weft.args(arguments).current_dir(self.0.path()).output().expect("the tool starts")
    }

    /// What `weft` prints, and it has to succeed.
    fn weft(&self, arguments: &str) -> String {
        let output = self.tool(env!("CARGO_BIN_EXE_weft"), arguments);
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "weft {arguments}\n{text}");
        String::from_utf8(output.stdout).expect("text")
    }

    /// The text of a stage, kept in `STAGE.mlir`.
    fn stage(&self, stage: &str, options: &str) -> String {
        let text = self.weft(&format!("compile digits.onnx --emit {stage} -o - {options}"));
        self.write(&format!("{stage}.mlir"), &text);
        text
    }

    /// Goes on from text to an artifact.
    fn resume(&self, name: &str) -> Vec<u8> {
        self.weft(&format!("compile {name}.mlir --weights digits.onnx -o {name}.weft"));
        self.bytes(&format!("{name}.weft"))
    }

    fn assembly(&self, name: &str) -> String {
        self.weft(&format!("compile {name}.mlir --weights digits.onnx --emit asm -o -"))
    }

    /// The answer of a model, text or artifact is the one that was trained for.
    fn answers(&self, model: &str, options: &str) {
        let answer = "--inputs digits.inputs.npz --expect digits.ref.npz";
        let text = self.weft(&format!("run {model} {answer} {options}"));
        assert!(text.contains("as expected"), "{text}");
    }
}

/// Whether this processor has what a machine file asks for; says so where it has not.
fn runs_here(machine: &str) -> bool {
    let list = machine.split("features([").nth(1).and_then(|rest| rest.split(']').next());
    let features: Vec<String> = list
        .expect("the machine lists its features")
        .split(", ")
        .map(|feature| feature.trim_matches('"').to_owned())
        .collect();
    let result = check_features(&features);
    if let Err(error) = &result {
        eprintln!("not run: {error}");
    }
    result.is_ok()
}

/// The kernel of a device text, up to the next one.
fn kernel<'t>(text: &'t str, name: &str) -> &'t str {
    let begin = text.find(&format!("device.kernel @{name} ")).expect("the kernel is there");
    let rest = &text[begin..];
    let end = rest[1..].find("\n  device.kernel ").map_or(rest.len(), |end| end + 1);
    &rest[..end]
}

/// The numbers between the bracket behind `mark` and its end.
fn numbers(line: &str, mark: &str) -> Vec<u64> {
    let rest = line.split(mark).nth(1).and_then(|rest| rest.split(']').next());
    rest.expect("a list").split(", ").map(|number| number.parse().expect("a number")).collect()
}

/// The name of the kernel whose body holds the byte `at`.
fn kernel_around(text: &str, at: usize) -> &str {
    let begin = text[..at].rfind("tile.kernel @").expect("in a kernel") + "tile.kernel @".len();
    text[begin..].split(' ').next().expect("a name")
}

#[test]
fn every_stage_is_a_door() {
    let desk = Desk::new();
    desk.weft("compile digits.onnx -o digits.weft");
    let whole = desk.bytes("digits.weft");
    for stage in STAGES {
        let text = desk.stage(stage, "");
        let check = desk.tool(
            env!("CARGO_BIN_EXE_weft-opt"),
            &format!("{stage}.mlir --verify-roundtrip -o again.mlir"),
        );
        assert!(check.status.success(), "{stage}: {}", String::from_utf8_lossy(&check.stderr));
        assert_eq!(desk.stage(stage, ""), text, "{stage} is printed differently the second time");
        assert!(desk.resume(stage) == whole, "{stage}: another artifact than from the model");
    }
    desk.answers("device.weft", "");
}

#[test]
fn every_stage_leads_to_every_later_one() {
    let desk = Desk::new();
    let texts: Vec<String> = STAGES.iter().map(|stage| desk.stage(stage, "")).collect();
    for (number, from) in STAGES.iter().enumerate() {
        for (to, text) in STAGES.iter().zip(&texts).skip(number) {
            let again = desk.weft(&format!("compile {from}.mlir --emit {to} -o -"));
            assert!(again == *text, "from {from} to {to}");
        }
    }
}

#[test]
fn the_same_bytes_at_any_number_of_jobs() {
    let desk = Desk::new();
    for (name, options) in [("a", ""), ("b", ""), ("one", "--jobs 1"), ("two", "--jobs 2")] {
        desk.weft(&format!("compile digits.onnx -o {name}.weft {options}"));
    }
    let first = desk.bytes("a.weft");
    for name in ["b", "one", "two"] {
        assert!(desk.bytes(&format!("{name}.weft")) == first, "{name}");
    }
}

/// Fewer rows in the register tile of a sum: another loop over registers.
#[test]
fn a_tile_size_is_edited() {
    let desk = Desk::new();
    let text = desk.stage("tile", "--device x86-avx2");
    let before = desk.stage("device", "--device x86-avx2");

    // The first sum of products that has rows.
    let row_axis = |line: &str| {
        let lanes = line.split(" lanes ").nth(1)?.split(' ').next()?.parse().ok()?;
        let tile = numbers(line, "<\"vreg\"[");
        let mut axes = (0..tile.len()).filter(|&axis| axis != lanes && tile[axis] > 1);
        Some((axes.next()?, tile))
    };
    let mut lines = text.lines().filter(|line| line.contains(" on @vfma_f32 "));
    let (line, (axis, tile)) = lines
        .find_map(|line| Some((line, row_axis(line)?)))
        .expect("a kernel with rows and multiply-adds");
    let name = kernel_around(&text, text.find(line).expect("it is from there"));
    let (rows, fewer) = (tile[axis], tile[axis] / 2);
    let mut smaller = tile.clone();
    smaller[axis] = fewer;
    let edited = line.replace(&format!("\"vreg\"{tile:?}"), &format!("\"vreg\"{smaller:?}"));
    assert_ne!(edited, line);
    desk.write("edited.mlir", &text.replacen(line, &edited, 1));

    let after = desk.weft("compile edited.mlir --emit device -o -");
    let bound = |rows: u64| format!(" = 0 to {rows} {{");
    let loops = |text: &str| kernel(text, name).matches(&bound(rows)).count();
    assert!(loops(&after) < loops(&before), "{before}\n{after}");
    if fewer > 1 {
        assert!(kernel(&after, name).contains(&bound(fewer)), "{after}");
    }
    if runs_here(AVX2) {
        desk.resume("edited");
        desk.answers("edited.weft", "--threads 1");
    }
}

/// A range on the other unit: another plan, the same answer.
#[test]
fn the_unit_of_a_range_is_edited() {
    let desk = Desk::new();
    let text = desk.stage("task", "--device x86-avx2 --units 2");
    let before = desk.resume("task");

    let ranges: Vec<&str> = text.lines().filter(|line| line.contains("task.range ")).collect();
    // In the middle, so that it waits for the other unit, and the other unit for it.
    let line = ranges[ranges.len() / 2];
    assert!(line.contains("] on 0("), "{line}");
    desk.write("edited.mlir", &text.replacen(line, &line.replace("] on 0(", "] on 1("), 1));

    assert!(desk.resume("edited") != before);
    if runs_here(AVX2) {
        for model in ["task.weft", "edited.weft"] {
            desk.answers(model, "--threads 1");
        }
        if std::thread::available_parallelism().is_ok_and(|count| count.get() > 1) {
            desk.answers("edited.weft", "--threads 2");
        }
    }
}

/// A range that waits for nobody reads too early: the plan is refused.
#[test]
fn a_wait_is_deleted() {
    let desk = Desk::new();
    let text = desk.stage("task", "--device x86-avx2 --units 2");
    let last = text.lines().rfind(|line| line.contains("task.range ")).expect("ranges");
    let (before, behind) = last.split_once("after(").expect("a range says what it waits for");
    let (_, rest) = behind.split_once(')').expect("tokens end");
    desk.write("edited.mlir", &text.replacen(last, &format!("{before}after(){rest}"), 1));

    let arguments = "compile edited.mlir --weights digits.onnx -o edited.weft";
    let output = desk.tool(env!("CARGO_BIN_EXE_weft"), arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("no token orders them"), "{text}");
    assert!(!desk.path("edited.weft").exists());
}

/// A multiply-add is written as a product and a sum: the code follows.
#[test]
fn an_instruction_is_edited() {
    let desk = Desk::new();
    let text = desk.stage("device", "--device x86-avx2");
    let mut edited = String::new();
    let mut replaced = 0;
    for line in text.lines() {
        match line.trim_start().strip_prefix("device.invoke @vfma_f32(") {
            Some(invocation) => {
                edited.push_str(&product_and_sum(invocation));
                replaced += 1;
            }
            None => edited.push_str(line),
        }
        edited.push('\n');
    }
    assert!(replaced > 0, "{text}");
    desk.write("edited.mlir", &edited);

    let fused = |name: &str| desk.assembly(name).matches("vfmadd").count();
    let (before, after) = (fused("device"), fused("edited"));
    // Those of other instructions, and of expanded functions, stay.
    assert!(after < before, "{after} fused multiply-adds, {before} before");
    if runs_here(AVX2) {
        desk.resume("edited");
        desk.answers("edited.weft", "");
    }
}

/// `device.apply` that means what `device.invoke @vfma_f32` means.
fn product_and_sum(invocation: &str) -> String {
    let (operands, types) = invocation.split_once(") : ").expect("operands and types");
    let operands: Vec<String> =
        operands.split_inclusive(']').map(|part| part.trim_start_matches(", ").into()).collect();
    let types: Vec<String> = types
        .split("memref")
        .skip(1)
        .map(|ty| format!("memref{}", ty.trim_end_matches(", ")))
        .collect();
    let ([a, b, c], [a_ty, b_ty, c_ty]) = (&operands[..], &types[..]) else {
        panic!("a multiply-add has three operands: {invocation}")
    };
    format!(
        "device.apply @valu lanes 8 ins({b}, {a}, {c}) outs({c}) : ({b_ty}, {a_ty}, {c_ty}) -> {c_ty} {{\n\
         ^bb0(%hand_b: f32, %hand_a: f32, %hand_c: f32):\n\
         %hand_p = arith.mulf %hand_a, %hand_b : f32\n\
         %hand_s = arith.addf %hand_c, %hand_p : f32\n\
         device.yield %hand_s : f32\n}}"
    )
}

/// Registers of half the width in the machine file: ymm where there was zmm.
#[test]
fn the_vector_width_is_edited() {
    let desk = Desk::new();
    let mut narrow = AVX512.to_owned();
    for (wide, half) in [
        ("tensor<16xf32>", "tensor<8xf32>"),
        ("vector<16xf32>", "vector<8xf32>"),
        ("tensor<8xf64>", "tensor<4xf64>"),
        ("vector<8xf64>", "vector<4xf64>"),
        ("tensor<16xi32>", "tensor<8xi32>"),
        ("vector<16xi32>", "vector<8xi32>"),
        ("tensor<16x4xi8>", "tensor<8x4xi8>"),
        ("vector<64xi8>", "vector<32xi8>"),
        ("tensor<16x2xbf16>", "tensor<8x2xbf16>"),
        ("vector<32xbf16>", "vector<16xbf16>"),
        ("capacity_bytes(2048) register_bytes(64)", "capacity_bytes(1024) register_bytes(32)"),
    ] {
        assert_eq!(narrow.matches(wide).count(), 1, "{wide} stands in one place");
        narrow = narrow.replace(wide, half);
    }
    desk.write("wide.mlir", AVX512);
    desk.write("narrow.mlir", &narrow);
    let assembly = |machine: &str| {
        desk.weft(&format!("compile digits.onnx --device {machine} --emit asm -o -"))
    };
    let (before, after) = (assembly("wide.mlir"), assembly("narrow.mlir"));
    assert!(before.contains("zmm"), "{before}");
    assert!(after.contains("ymm") && !after.contains("zmm"), "{after}");
    if runs_here(AVX512) {
        desk.answers("digits.onnx", "--device narrow.mlir");
    }
}

/// The machine without its multiply-adds, which stand last in its file.
fn without_instructions(machine: &str) -> String {
    let end = machine.find("device.instruction").expect("the machine has instructions");
    format!("{}\n}}\n", &machine[..end])
}

/// Without multiply-adds the lane unit does the sums; without products nothing can.
#[test]
fn instructions_are_deleted() {
    let desk = Desk::new();
    let machine = without_instructions(AVX2);
    desk.write("plain.mlir", &machine);
    assert!(desk.stage("tile", "--device x86-avx2").contains(" on @vfma"));
    let tile = desk.stage("tile", "--device plain.mlir");
    assert!(!tile.contains("@vfma") && tile.contains(" on @valu"), "{tile}");
    if runs_here(AVX2) {
        desk.answers("digits.onnx", "--device plain.mlir");
    }

    desk.write("poor.mlir", &machine.replacen("\"arith.mulf\", ", "", 1));
    let output = desk
        .tool(env!("CARGO_BIN_EXE_weft"), "compile digits.onnx --device poor.mlir -o poor.weft");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.starts_with("error: ") && text.contains("arith.mulf"), "{text}");
    assert!(!desk.path("poor.weft").exists());
}
