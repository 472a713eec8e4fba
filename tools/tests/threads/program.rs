//! Whole programs as one kernel whose blocks are the units: run with all blocks at once, held
//! against the interpreter and the simulator, and assembled.

use std::rc::Rc;

use weft::{Device, Options, Unit};
use weft_dialects::device::{Kernel, Machine};
use weft_dialects::graph::Model;
use weft_dialects::ir::{Context, parse};
use weft_dialects::task;
use weft_passes::codegen::gpu::Isa;
use weft_passes::codegen::gpu::program::table::{STEP, UNIT, WAIT};
use weft_passes::codegen::gpu::program::{Choice, Form, How, choose};
use weft_passes::codegen::whole_text;
use weft_passes::graph::from_func;
use weft_passes::interpret::run_model;
use weft_passes::pipeline::Stage;
use weft_passes::task::plan;
use weft_runtime::plan::Plan;
use weft_runtime::{Artifact, simulate};

use crate::blocks::slow;
use crate::numbers::{Random, bytes, numbers};
use crate::pixels::{PIXELS, PIXELS_INPUTS};
use crate::{assemble, host};

/// Rows: products with a bias, softmax, another product. Kernels of blocks of several warps, of
/// single ones, and of many that need nothing of each other.
const ROWS: &str = r#"
func.func @rows(%x: tensor<67x45xf32>, %w: tensor<45x150xf32>, %v: tensor<150x40xf32>) -> tensor<67x40xf32> {
  %n = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %e0 = tensor.empty() : tensor<67x150xf32>
  %z = arith.constant 0.0 : f32
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<67x150xf32>) -> tensor<67x150xf32>
  %h = linalg.matmul ins(%x, %w : tensor<67x45xf32>, tensor<45x150xf32>) outs(%f0 : tensor<67x150xf32>) -> tensor<67x150xf32>
  %m = tosa.reduce_max %h {axis = 1 : i32} : (tensor<67x150xf32>) -> tensor<67x1xf32>
  %d = tosa.sub %h, %m : (tensor<67x150xf32>, tensor<67x1xf32>) -> tensor<67x150xf32>
  %e = tosa.exp %d : (tensor<67x150xf32>) -> tensor<67x150xf32>
  %t = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<67x150xf32>) -> tensor<67x1xf32>
  %r = tosa.reciprocal %t : (tensor<67x1xf32>) -> tensor<67x1xf32>
  %p = tosa.mul %e, %r, %n : (tensor<67x150xf32>, tensor<67x1xf32>, tensor<1xi8>) -> tensor<67x150xf32>
  %e1 = tensor.empty() : tensor<67x40xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<67x40xf32>) -> tensor<67x40xf32>
  %o = linalg.matmul ins(%p, %v : tensor<67x150xf32>, tensor<150x40xf32>) outs(%f1 : tensor<67x40xf32>) -> tensor<67x40xf32>
  return %o : tensor<67x40xf32>
}
"#;
const ROWS_INPUTS: [&[u64]; 3] = [&[67, 45], &[45, 150], &[150, 40]];

/// A state that goes three times through the same product: one kernel, again and again.
const STEPS: &str = r#"
func.func @steps(%x: tensor<4x64xf32>, %w: tensor<64x64xf32>) -> tensor<4x64xf32> {
  %e = tensor.empty() : tensor<4x64xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x64xf32>) -> tensor<4x64xf32>
  %a = linalg.matmul ins(%x, %w : tensor<4x64xf32>, tensor<64x64xf32>) outs(%f : tensor<4x64xf32>) -> tensor<4x64xf32>
  %b = tosa.tanh %a : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %e0 = tensor.empty() : tensor<4x64xf32>
  %f0 = linalg.fill ins(%z : f32) outs(%e0 : tensor<4x64xf32>) -> tensor<4x64xf32>
  %c = linalg.matmul ins(%b, %w : tensor<4x64xf32>, tensor<64x64xf32>) outs(%f0 : tensor<4x64xf32>) -> tensor<4x64xf32>
  %d = tosa.tanh %c : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %e1 = tensor.empty() : tensor<4x64xf32>
  %f1 = linalg.fill ins(%z : f32) outs(%e1 : tensor<4x64xf32>) -> tensor<4x64xf32>
  %g = linalg.matmul ins(%d, %w : tensor<4x64xf32>, tensor<64x64xf32>) outs(%f1 : tensor<4x64xf32>) -> tensor<4x64xf32>
  %h = tosa.tanh %g : (tensor<4x64xf32>) -> tensor<4x64xf32>
  return %h : tensor<4x64xf32>
}
"#;
const STEPS_INPUTS: [&[u64]; 2] = [&[4, 64], &[64, 64]];

/// A program and the answer to it.
struct Case {
    machine: &'static str,
    /// The machine's text.
    description: String,
    /// The task program and all kernels.
    task: String,
    kernels: String,
    plan: Plan,
    choices: Vec<Choice>,
    inputs: Vec<Vec<u8>>,
    expected: Vec<f64>,
}

/// What is compiled, and for what.
struct Asked {
    text: &'static str,
    inputs: &'static [&'static [u64]],
    /// As the driver is asked: pass, option, value.
    options: &'static [[&'static str; 3]],
    units: usize,
}

const SPLIT: [&str; 3] = ["tile-to-task", "split-cycles", "1"];
const APART: [&str; 3] = ["tile-connect-edges", "joining", "base"];
/// What a simulated unit runs: one group at a time.
const GROUPS: [&str; 3] = ["tile-construct-rtiles", "groups", "apart"];

const ROWS_ON_3: Asked = Asked { text: ROWS, inputs: &ROWS_INPUTS, options: &[SPLIT], units: 3 };
const STEPS_ON_3: Asked =
    Asked { text: STEPS, inputs: &STEPS_INPUTS, options: &[SPLIT, APART], units: 3 };

fn unit<'c>(context: &'c Context, device: &str, asked: &Asked) -> Unit<'c> {
    let mut module = parse(context, asked.text).expect("the text is right");
    from_func::import(context, &mut module).expect("it is a model");
    let pass_options = asked.options.iter().map(|words| words.map(str::to_owned).into()).collect();
    let device = Device::Named(device.to_owned());
    let units = asked.units;
    let options = Options { device, jobs: 1, units, pass_options, ..Options::default() };
    Unit::from_module(context, module, Rc::default(), options).expect("the module is good")
}

/// Compiles for `device`, a machine or a file with another description of `machine`.
fn case(device: &str, machine: &'static str, asked: &Asked, how: How) -> Case {
    let context = weft::context();
    let mut unit = unit(&context, device, asked);
    let mut random = Random(11);
    let inputs = asked.inputs.iter().map(|shape| random.numbers(shape.iter().product(), "f32"));
    let inputs: Vec<Vec<u8>> = inputs.map(|numbers| bytes(&numbers, "f32")).collect();
    let ops = || unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
    let model = ops().into_iter().find_map(Model::of).expect("the text is a model");
    let mut weights = |_: &str, _: &str| Err("there are no weights".into());
    let expected = run_model(model.op, &inputs, &mut weights, &mut |_, _| {}).expect("it runs");
    let expected = numbers(&expected[0], "f32");

    let description = host::machine(machine).to_owned();
    Case { machine, description, inputs, expected, ..lowered(&mut unit, how) }
}

/// What a unit becomes, without an answer.
fn lowered(unit: &mut Unit<'_>, how: How) -> Case {
    unit.lower(Stage::Task).expect("the machine can do it");
    let task = unit.text();
    unit.lower(Stage::Device).expect("the machine can do it");
    let module = unit.module();
    let found = Machine::of(module).expect("the module has a machine");
    let isa = Isa::of_arch(found.arch()).expect("the machine has threads");
    let ops = module.body(0).map(|block| block.ops()).unwrap_or_default();
    let program = ops.iter().copied().find_map(task::Program::of).expect("it is a program");
    let plan = plan(&program, found).expect("it has a plan").plan;
    let choices = choose(module, found, isa, &program, &plan, how);
    let kernels = ops.into_iter().filter(|op| Kernel::of(*op).is_some());
    let kernels: Vec<String> = kernels.map(|op| op.own_text()).collect();
    let (machine, description, kernels) = ("", found.op().own_text(), kernels.join("\n"));
    let (inputs, expected) = (Vec::new(), Vec::new());
    Case { machine, description, task, kernels, plan, choices, inputs, expected }
}

impl Case {
    fn forms(&self) -> Vec<Form> {
        let said: Vec<_> = self.choices.iter().map(|choice| &choice.why).collect();
        let forms: Option<Vec<_>> = self.choices.iter().map(|choice| choice.form.clone()).collect();
        forms.unwrap_or_else(|| panic!("{said:?}"))
    }

    /// What the threads give.
    fn run(&self, forms: &[Form], runs: u32, late: Option<u32>) -> Result<Vec<f64>, String> {
        let empty = |bytes: u64| vec![0xff; bytes as usize];
        let plan = &self.plan;
        let mut bases = vec![
            empty(plan.arena_bytes),
            empty(plan.host_bytes),
            // What sums begin with, the only constants of these models.
            vec![0; plan.constant_bytes as usize],
        ];
        bases.extend(self.inputs.iter().cloned());
        bases.extend(plan.outputs.iter().map(|port| empty(port.bytes().unwrap_or(0))));
        let (kernels, steps) = (self.kernels.as_str(), plan.steps.len());
        let machine = self.description.as_str();
        host::Program { machine, kernels, forms, steps, runs, late }.run(&mut bases)?;
        Ok(numbers(&bases[3 + self.inputs.len()], "f32"))
    }

    fn is_right(&self, got: &[f64]) -> bool {
        let close =
            |(got, wanted): (&f64, &f64)| (got - wanted).abs() <= 1e-5 + 1e-4 * wanted.abs();
        got.len() == self.expected.len() && got.iter().zip(&self.expected).all(close)
    }

    fn holds(&self, late: Option<u32>) {
        let got = self.run(&self.forms(), 2, late).expect("every block ends");
        assert!(self.is_right(&got), "{}: {got:?}\n{:?}", self.machine, self.expected);
    }
}

#[test]
fn rm_8_warps_run_a_program_as_one_kernel_of_units() {
    let file = slow("a100");
    let device = file.path().to_str().expect("a path is text");
    let case = case(device, "a100", &ROWS_ON_3, How::One);
    let forms = case.forms();
    assert_eq!(forms.len(), 1, "one launch");
    let form = &forms[0];
    assert_eq!(form.blocks, 3);
    assert!(form.table.waits > 0, "units wait for each other");
    assert!(form.shared_bytes > 0, "a product in blocks shares memory");
    let widths: Vec<u64> = form.bodies.iter().map(|body| body.launch.threads).collect();
    assert!(
        widths.iter().any(|&width| width < form.threads),
        "some kernel is narrower: {widths:?}"
    );
    case.holds(None);
    case.holds(Some(1));
}

/// Channels of a pixel are neighbours, or pixels of a channel; sums begin with a bias of another type.
#[test]
fn pixels_of_images_are_sides_of_matrix_instructions() {
    let mut before = String::new();
    for (machine, tensors) in [("a100", "all"), ("a100", "none"), ("h200", "all"), ("h200", "none")]
    {
        let file = slow(machine);
        let device = file.path().to_str().expect("a path is text");
        let panels = ["tile-lay-out", "tensors", tensors];
        let options: &[[&str; 3]] = Box::leak(Box::new([SPLIT, panels]));
        let asked = Asked { text: PIXELS, inputs: &PIXELS_INPUTS, options, units: 3 };
        let case = case(device, machine, &asked, How::One);
        let count = case.kernels.matches("device.invoke").count();
        assert!(count > 0, "{machine}, {tensors}: no matrix instruction");
        assert_ne!(case.kernels, before, "{machine}: the layout decides nothing");
        case.holds(None);
        before = case.kernels;
    }
}

#[test]
fn rm_8_wavefronts_run_a_program_as_one_kernel_of_units() {
    let case = case("mi300x", "mi300x", &STEPS_ON_3, How::One);
    case.holds(None);
    case.holds(Some(0));
}

#[test]
fn rm_8_a_program_without_one_of_its_waits_is_wrong() {
    let case = case("a100", "a100", &STEPS_ON_3, How::One);
    case.holds(Some(0));
    // Nobody waits for unit 0, which begins late.
    let mut form = case.forms().remove(0);
    let words = &mut form.table.words;
    let place = |words: &[i64], at: usize| words[at] as usize;
    for unit in 0..form.table.units {
        let [first, end] = [0, 1].map(|word| place(words, UNIT * unit + word));
        for step in (first..end).step_by(STEP) {
            let list = place(words, step + 2);
            let count = if list == 0 { 0 } else { words[list] as usize };
            for wait in 0..count {
                let first = list + 1 + WAIT * wait;
                words[first] = words[first].max(1);
            }
        }
    }
    let got = case.run(&[form], 1, Some(0)).expect("every block ends");
    assert!(!case.is_right(&got), "nothing depends on a wait");
}

#[test]
fn rm_8_the_simulator_runs_the_same_task_text() {
    let asked = Asked { options: &[SPLIT, APART, GROUPS], ..STEPS_ON_3 };
    let case = case("a100", "a100", &asked, How::One);
    case.holds(None);
    let context = weft::context();
    let options = Options { jobs: 1, simulate: true, ..Options::default() };
    let mut unit = Unit::from_text(&context, &case.task, options).expect("the text is good");
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = folder.path().join("steps.weft");
    unit.write_artifact(&path).expect("the simulator knows it");
    let model = simulate::Model::new(Artifact::open(&path).expect("it was written"))
        .expect("it is simulated code");
    let inputs: Vec<&[u8]> = case.inputs.iter().map(Vec::as_slice).collect();
    let mut output = vec![0; 4 * case.expected.len()];
    model.run(&inputs, &mut [&mut output]).expect("it runs");
    assert!(case.is_right(&numbers(&output, "f32")));
}

/// Two machines whose memories, units and instructions have the same names: one of warps, one of
/// processors.
const MACHINES: [&str; 2] = [
    r#"device.machine @warps arch("sm_80") features(["ptx80"]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @vreg scope("warp") capacity_bytes(32640) register_bytes(128) lanes(32) core_bytes(262144)
  device.unit @core count(3) clock_mhz(1000) wait_cycles(10) launch_cycles(1000)
"#,
    r#"device.machine @cores arch("x86-64") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(128)
  device.unit @core count(3) clock_mhz(1000) wait_cycles(10)
"#,
];
const CHAIN: &str = r#"
  device.move @load from @dram to @vreg strided fills
  device.move @store from @vreg to @dram strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}
tile.graph @chain inputs ["x"] outputs ["y"] : (tensor<256xf32>) -> tensor<128xf32> {
^bb0(%x: tensor<256xf32>):
  %e = tile.empty in @dram : tensor<256xf32>
  %a = tile.run "a" @twice(%x) into(%e) : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32>
  %f = tile.empty in @dram : tensor<128xf32>
  %b = tile.run "b" @folded(%a) into(%f) : (tensor<256xf32>, tensor<128xf32>) -> tensor<128xf32>
  tile.output %b : tensor<128xf32>
}
tile.kernel @twice {
^bb0(%x: tensor<256xf32>, %o: tensor<256xf32>):
  %a = tile.load %x to @vreg : tensor<256xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [32]>, #tile.rtile<"vreg" [32]>] : (tensor<256xf32>, tensor<256xf32>) -> tensor<256xf32> {
  ^bb0(%p: tensor<256xf32>, %q: tensor<256xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<256xf32>) outs(%q : tensor<256xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<256xf32>
    tile.yield %r : tensor<256xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<256xf32>
  tile.yield %s : tensor<256xf32>
}
tile.kernel @folded {
^bb0(%x: tensor<256xf32>, %o: tensor<128xf32>):
  %a = tile.load %x to @vreg : tensor<256xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [32]>, #tile.rtile<"vreg" [32]>] : (tensor<256xf32>, tensor<128xf32>) -> tensor<128xf32> {
  ^bb0(%p: tensor<256xf32>, %q: tensor<128xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (2 * i)>, affine_map<(i) -> (2 * i + 1)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p, %p : tensor<256xf32>, tensor<256xf32>) outs(%q : tensor<128xf32>) {
    ^bb0(%u: f32, %v: f32, %w: f32):
      %s = arith.addf %u, %v : f32
      linalg.yield %s : f32
    } -> tensor<128xf32>
    tile.yield %r : tensor<128xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<128xf32>
  tile.yield %s : tensor<128xf32>
}
"#;

#[test]
fn rm_8_one_task_text_becomes_one_kernel_of_blocks_and_threads_of_a_processor() {
    let context = weft::context();
    let [mut blocks, mut threads] = MACHINES.map(|machine| {
        let pass_options = vec![SPLIT.map(str::to_owned).into()];
        let options = Options { jobs: 1, pass_options, ..Options::default() };
        let text = format!("{machine}{CHAIN}");
        Unit::from_text(&context, &text, options).unwrap_or_else(|error| panic!("{error}"))
    });
    let numbers_in: Vec<f64> = (0..256).map(f64::from).collect();
    let input = bytes(&numbers_in, "f32");
    let expected: Vec<f64> = (0..128).map(|i| f64::from(8 * i + 2)).collect();
    let on_blocks = lowered(&mut blocks, How::Auto);
    let on_blocks = Case { inputs: vec![input.clone()], expected, ..on_blocks };

    threads.lower(Stage::Task).expect("the machine can do it");
    // What a range is predicted to take is each machine's own.
    let program = |text: &str| {
        let from = text.find("task.program").expect("it is a program");
        let lines = text[from..].split("\n  }\n").next().into_iter().flat_map(str::lines);
        lines
            .map(|line| line.split(" cycles(").next().unwrap_or(line).to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(program(&on_blocks.task), program(&threads.text()), "the same task text");
    on_blocks.holds(Some(1));

    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let path = folder.path().join("chain.weft");
    threads.write_artifact(&path).unwrap_or_else(|error| panic!("{error}"));
    let mut model = weft_runtime::Model::load(&path, Some(2)).expect("the processor runs it");
    let mut output = vec![0; 512];
    model.run(&[&input], &mut [&mut output]).expect("it runs");
    assert!(on_blocks.is_right(&numbers(&output, "f32")));
}

#[test]
fn rm_12_equal_kernels_are_one_function_and_equal_units_one_arm() {
    let steps = case("a100", "a100", &STEPS_ON_3, How::One);
    let form = steps.forms().remove(0);
    // Of each of the three products and activations one.
    let names: Vec<&str> = form.bodies.iter().map(|body| body.kernel.as_str()).collect();
    assert!(names.len() * 3 <= steps.plan.steps.len() / 2, "{names:?}");
    let rows = case("a100", "a100", &ROWS_ON_3, How::One);
    let form = rows.forms().remove(0);
    assert_eq!((form.table.units, form.table.arms), (3, 1), "{:?}", form.table);
}

#[test]
fn rm_9_what_cannot_be_shown_is_launched_kernel_by_kernel() {
    let text = host::machine("a100");
    let without = |what: &str, other: &str| {
        assert!(text.contains(what), "{what}");
        let file = tempfile::Builder::new().suffix(".mlir").tempfile().expect("there is room");
        std::fs::write(file.path(), text.replace(what, other)).expect("it can be written");
        file
    };
    let refused = |file: &tempfile::NamedTempFile| {
        let device = file.path().to_str().expect("a path is text");
        let choice = case(device, "a100", &STEPS_ON_3, How::One).choices.remove(0);
        assert!(choice.form.is_none() && choice.refused, "{}", choice.why);
        choice.why
    };
    let silent = without(" core_bytes(262144)", "");
    assert!(refused(&silent).contains("core_bytes"));
    let small = without("core_bytes(262144)", "core_bytes(64)");
    let why = refused(&small);
    assert!(why.contains("threads have 0 each of @reg"), "{why}");
}

#[test]
fn one_kernel_pays_where_launches_take_longer_than_waits() {
    // Three units alone have much to do: beside that a launch of a third of a microsecond is
    // little, and one of 300 microseconds is not. The last launch has it; what fills are first needs no waits.
    let of = |cycles: u64, how: How| {
        let (text, fact) = (host::machine("a100"), "launch_cycles(1830)");
        assert!(text.contains(fact));
        let file = tempfile::Builder::new().suffix(".mlir").tempfile().expect("there is room");
        let text = text.replace(fact, &format!("launch_cycles({cycles})"));
        std::fs::write(file.path(), text).expect("written");
        let device = file.path().to_str().expect("a path is text");
        case(device, "a100", &STEPS_ON_3, how)
    };
    let last = |mut case: Case| case.choices.pop().expect("there is a launch");
    let apart = last(of(423, How::Auto));
    assert!(apart.form.is_none(), "{}", apart.why);
    let one = last(of(423_000, How::Auto));
    assert!(one.form.is_some(), "{}", one.why);
    assert!(last(of(423_000, How::Launches)).form.is_none());
}

/// The assembly of a program, and what its assembler says.
fn assembly(machine: &'static str, asked: &Asked) -> (String, String) {
    let context = weft::context();
    let mut unit = unit(&context, machine, asked);
    unit.lower(Stage::Device).expect("the machine can do it");
    let module = unit.module();
    let found = Machine::of(module).expect("the module has a machine");
    let isa = Isa::of_arch(found.arch()).expect("the machine has threads");
    let ops = module.body(0).map(|block| block.ops()).unwrap_or_default();
    let program = ops.into_iter().find_map(task::Program::of).expect("it is a program");
    let plan = plan(&program, found).expect("it has a plan").plan;
    let choices = choose(module, found, isa, &program, &plan, How::One);
    let why: Vec<String> = choices.iter().map(|choice| choice.why.clone()).collect();
    let forms: Vec<Form> = choices.into_iter().filter_map(|choice| choice.form).collect();
    assert_eq!(forms.len(), 1, "{machine}: {why:?}");
    let text = whole_text(module, found, 1, isa, &forms).expect("there is code for it");
    let said = assemble::check(found.arch(), &text);
    (text, said)
}

#[test]
fn rm_8_ptx_of_a_program_has_fenced_counters_and_one_block_a_unit() {
    for (machine, asked, name) in
        [("v100", &ROWS_ON_3, "rows"), ("a100", &ROWS_ON_3, "rows"), ("h200", &STEPS_ON_3, "steps")]
    {
        let (text, _) = assembly(machine, asked);
        assert!(text.contains(&format!("// program {name}$0 steps 0 ")), "{text}");
        let entry = text.split_once(&format!(".entry {name}$0")).expect("the entry is there").1;
        for word in
            [".maxnreg 255", ".minnctapersm 1", "ld.acquire.gpu.global", "st.release.gpu.global"]
        {
            assert!(entry.contains(word), "{machine}: no {word} in {entry}");
        }
        // What another block wrote is never read through the cache that does not see it.
        assert!(!entry.contains("ld.global.nc.f32"), "{machine}");
        assert_eq!(text.matches("st.release.gpu.global").count(), 1, "{machine}");
    }
}

#[test]
fn rm_8_code_of_a_program_for_wavefronts_writes_back_and_invalidates() {
    for machine in ["mi50", "mi250x", "mi300x"] {
        let (text, _) = assembly(machine, &STEPS_ON_3);
        assert!(text.contains("// program steps$0 steps 0 "), "{machine}");
        // A wavefront alone needs none.
        assert_eq!(text.contains("s_barrier"), !text.contains(" threads 64 blocks"), "{machine}");
    }
    let (text, _) = assembly("mi300x", &STEPS_ON_3);
    assert!(text.contains("buffer_wbl2 sc1") && text.contains("buffer_inv sc1"), "{text}");
}
