//! Kernels as the generator writes them: GEMM, elementwise, reduction, convolution.

use std::rc::Rc;

use weft::expression::{Element, Kernel};
use weft::{Device, Options, Unit};
use weft_dialects::device::{Kernel as Program, Machine};
use weft_dialects::graph::Model;
use weft_dialects::ir::parse;
use weft_passes::codegen::gpu::Isa;
use weft_passes::codegen::whole_text;
use weft_passes::graph::from_func;
use weft_passes::interpret::run_model;
use weft_passes::pipeline::Stage;
use weft_passes::tile::block;

use crate::assemble;
use crate::host;
use crate::numbers::{Random, bytes, numbers};

const GEMM: (&str, &str) = ("C[m,n] += A[m,k] * B[k,n]", "m=37,n=70,k=33");
const ELEMENTWISE: (&str, &str) = ("h[i,j] = max(x[i,j] * y[j], y[j]) + x[i,j]", "i=7,j=203");
const ROWS: (&str, &str) = ("s[i] += x[i,j]", "i=9,j=300");
const COLUMNS: (&str, &str) = ("s[j] max= x[i,j]", "i=9,j=77");
const CONVOLUTION: (&str, &str) =
    ("y[n,o,h,w] += x[n,c,2*h+r,w+s] * f[o,c,r,s]", "n=2,o=5,h=6,w=9,c=3,r=3,s=2");
const ALL: [(&str, &str); 5] = [GEMM, ELEMENTWISE, ROWS, COLUMNS, CONVOLUTION];

/// The host runs one kernel: a sum stays whole.
pub fn whole() -> Vec<(String, String, String)> {
    let options = [
        ["tile-split-reductions", "split", "false"],
        ["tile-construct-rtiles", "offer", "best"],
        ["tile-fuse-elementwise", "fuse", "always"],
    ];
    options.map(|option| option.map(str::to_owned).into()).to_vec()
}

pub fn unit<'c>(
    context: &'c weft_dialects::ir::Context,
    machine: &str,
    what: (&str, &str),
    elem: &str,
) -> (Unit<'c>, Kernel) {
    unit_with(context, machine, what, elem, whole())
}

/// A product whose sums are stored as they are: a second kernel narrows them.
pub fn product_alone<'c>(
    context: &'c weft_dialects::ir::Context,
    machine: &str,
    what: (&str, &str),
    elem: &str,
) -> Unit<'c> {
    let mut options = whole();
    let alone = [["tile-fuse-elementwise", "fuse", "false"], ["tile-peel", "ends", "none"]];
    options.extend(alone.map(|option| option.map(str::to_owned).into()));
    unit_with(context, machine, what, elem, options).0
}

pub fn unit_with<'c>(
    context: &'c weft_dialects::ir::Context,
    machine: &str,
    (expression, shape): (&str, &str),
    elem: &str,
    pass_options: Vec<(String, String, String)>,
) -> (Unit<'c>, Kernel) {
    let element: Element = elem.parse().expect("an element type");
    let kernel = Kernel::read(expression, shape, element).expect("the expression is good");
    // The name of one that weft ships, or a file.
    let device = Device::Named(machine.to_owned());
    let options = Options { device, jobs: 1, pass_options, ..Options::default() };
    let module = kernel.module(context);
    let unit = Unit::from_module(context, module, Rc::default(), options);
    (unit.expect("the module is good"), kernel)
}

/// Runs a kernel's threads on the host and holds the answer against the interpreter.
/// Tells the turns that were counted before, and those that were met.
pub fn check(machine: &str, what: (&str, &str), elem: &str) -> Counted {
    check_as(machine, machine, what, elem)
}

/// The same with tiles that are chosen for another description of the machine.
pub fn check_as(device: &str, machine: &str, what: (&str, &str), elem: &str) -> Counted {
    let context = weft::context();
    let (mut unit, kernel) = unit(&context, device, what, elem);
    let shapes: Vec<_> = kernel.inputs.iter().map(|input| (elem, input.shape.clone())).collect();
    holds(&mut unit, &shapes, machine, what.0, elem)
}

/// The same of a function on tensors with inputs of these types and shapes, and an output of `elem`.
pub fn check_text(
    device: &str,
    machine: &str,
    text: &str,
    inputs: &[(&str, Vec<u64>)],
    elem: &str,
) -> Counted {
    let context = weft::context();
    holds(&mut unit_of_text(&context, device, text), inputs, machine, "a function", elem)
}

/// A function on tensors, for a machine.
pub fn unit_of_text<'c>(
    context: &'c weft_dialects::ir::Context,
    device: &str,
    text: &str,
) -> Unit<'c> {
    let mut module = parse(context, text).expect("the text is right");
    from_func::import(context, &mut module).expect("it is a model");
    let device = Device::Named(device.to_owned());
    let options = Options { device, jobs: 1, pass_options: whole(), ..Options::default() };
    Unit::from_module(context, module, Rc::default(), options).expect("the module is good")
}

fn holds(
    unit: &mut Unit<'_>,
    inputs: &[(&str, Vec<u64>)],
    machine: &str,
    what: &str,
    elem: &str,
) -> Counted {
    let mut random = Random(3);
    let inputs: Vec<Vec<u8>> = inputs
        .iter()
        .map(|(elem, shape)| bytes(&random.numbers(shape.iter().product(), elem), elem))
        .collect();
    let models = unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
    let model = models.into_iter().find_map(Model::of).expect("the kernel is a model");
    let mut weights = |_: &str, _: &str| Err("there are no weights".into());
    let expected = run_model(model.op, &inputs, &mut weights, &mut |_, _| {}).expect("it runs");

    unit.lower(Stage::Tile).expect("the machine can do it");
    let mut counted = Counted::default();
    let ops = unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
    let found = Machine::of(unit.module()).expect("the module has a machine");
    for kernel in ops.into_iter().filter(|op| op.is("tile.kernel")) {
        counted.kernels += 1;
        if let Some(turns) = block::turns(found, kernel) {
            counted.blocks += 1;
            counted.said[0] += turns.taken;
            counted.said[1] += turns.least;
        }
    }
    unit.lower(Stage::Device).expect("the machine can do it");
    let ops = unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
    // A kernel that narrows sums may stay apart.
    let mut given = inputs;
    for program in ops.into_iter().filter_map(Program::of) {
        let output = program.args().last().expect("a kernel writes something").ty();
        let size = weft_dialects::ir::ty::elem(output).and_then(weft_dialects::ir::ty::byte_size);
        let count = weft_dialects::ir::ty::count(output).expect("shapes are static");
        given.push(vec![0xff; (count * size.expect("numbers have a size")) as usize]);
        let turns = host::run(machine, &program.op.own_text(), &mut given);
        counted.found[0] += turns[0];
        counted.found[1] += turns[1];
        given = given.split_off(given.len() - 1);
    }
    let (got, wanted) = (numbers(&given[0], elem), numbers(&expected[0], elem));
    assert_eq!(got, wanted, "{machine}: {what} of {elem}");
    counted
}

/// Turns of the banks of shared memory: taken, and at least.
#[derive(Debug, Default)]
pub struct Counted {
    /// Kernels.
    pub kernels: usize,
    /// Kernels in blocks.
    pub blocks: usize,
    /// What the tile programs promise.
    pub said: [u64; 2],
    /// What the threads met.
    pub found: [u64; 2],
}

/// The assembly of a kernel; it assembles, and needs nothing from elsewhere.
fn text(machine: &str, what: (&str, &str), elem: &str) -> String {
    reported(machine, what, elem).0
}

/// The assembly, and what its assembler says about it.
pub fn reported(machine: &str, what: (&str, &str), elem: &str) -> (String, String) {
    let context = weft::context();
    let (mut unit, _) = unit(&context, machine, what, elem);
    unit.lower(Stage::Device).unwrap_or_else(|error| panic!("{machine}, {}: {error}", what.0));
    let module = unit.module();
    let machine = Machine::of(module).expect("the module has a machine");
    let isa = Isa::of_arch(machine.arch()).expect("the machine has threads");
    let text = whole_text(module, machine, 1, isa, &[]).expect("there is code for it");
    let said = assemble::check(machine.arch(), &text);
    (text, said)
}

fn all_assemble(machine: &str) {
    for what in ALL {
        for elem in ["f32", "f16", "bf16"] {
            text(machine, what, elem);
        }
    }
    text(machine, GEMM, "i8");
    text(machine, GEMM, "f64");
    text(machine, ("h[i] = exp(x[i]) + tanh(x[i]) + erf(x[i])", "i=100"), "f32");
}

/// Large enough for whole matrix instructions to be worth it.
const LARGE: (&str, &str) = ("C[m,n] += A[m,k] * B[k,n]", "m=512,n=512,k=256");

/// Tiles of a product that are too few for all units: its sum is shared out, by matrix instructions.
#[test]
fn products_of_few_tiles_are_done_in_parts() {
    let product = ("C[m,n] += A[m,k] * B[k,n]", "m=32,n=64,k=4096");
    for (machine, elem) in [("a100", "f16"), ("mi300x", "bf16")] {
        let context = weft::context();
        let options: Vec<_> = whole().into_iter().filter(|own| own.1 != "split").collect();
        let (mut unit, kernel) = unit_with(&context, machine, product, elem, options);
        let shapes: Vec<_> = kernel.inputs.iter().map(|own| (elem, own.shape.clone())).collect();
        let counted = holds(&mut unit, &shapes, machine, product.0, elem);
        assert_eq!((counted.kernels, counted.blocks), (2, 1), "{machine}: {counted:?}");
        let text = unit.module().text();
        assert!(text.contains("_parts"), "{machine}: the sum is whole");
    }
}

#[test]
fn products_are_by_matrix_instructions_where_there_are_such() {
    let cases = [
        ("v100", "f16", Some("mma.sync")),
        ("v100", "f32", None),
        ("a100", "f16", Some("mma.sync")),
        ("a100", "bf16", Some("mma.sync")),
        // There is one for factors of fewer bits, which is another meaning.
        ("a100", "f32", None),
        ("h200", "f16", Some("mma.sync")),
        ("h200", "bf16", Some("mma.sync")),
        ("mi50", "f16", None),
        ("mi250x", "f32", Some("v_mfma_f32")),
        ("mi250x", "f16", Some("v_mfma_f32")),
        ("mi250x", "bf16", Some("v_mfma_f32")),
        ("mi300x", "f32", Some("v_mfma_f32")),
        ("mi300x", "f16", Some("v_mfma_f32")),
        ("mi300x", "f64", Some("v_mfma_f64")),
    ];
    for (machine, elem, mnemonic) in cases {
        let text = text(machine, LARGE, elem);
        match mnemonic {
            Some(mnemonic) => assert!(text.contains(mnemonic), "{machine}, {elem}: {mnemonic}"),
            None => assert!(
                !text.contains("mma.sync") && !text.contains("v_mfma"),
                "{machine}, {elem}: a matrix instruction"
            ),
        }
    }
}

macro_rules! machines {
    ($($name:ident),*) => {$(
        mod $name {
            #[test]
            fn kernels_assemble() {
                super::all_assemble(stringify!($name));
            }
        }
    )*};
}

machines!(v100, a100, h200, mi50, mi250x, mi300x);

/// Where there is work for all of them, warpgroups take both factors from shared memory.
#[test]
fn large_products_are_by_instructions_of_warpgroups() {
    for elem in ["f16", "bf16"] {
        for product in ["C[m,n] += A[m,k] * B[k,n]", "C[m,n] += A[m,k] * B[n,k]"] {
            let text = text("h200", (product, "m=4096,n=4096,k=4096"), elem);
            assert!(text.contains("wgmma.mma_async"), "{product} of {elem}");
            assert!(!text.contains("ld.shared"), "{product} of {elem}: loads from shared memory");
        }
    }
}

/// What lanes move of memory that all units share is 16 bytes at once: neighbours of rows, and sums of instructions,
/// which hold two numbers of each.
#[test]
fn lanes_move_as_much_at_once_as_they_can() {
    let all = [
        ("h[i] = x[i] + y[i]", "i=67108864"),
        ("C[m,n] += A[m,k] * B[k,n]", "m=4096,n=4096,k=4096"),
    ];
    for machine in ["a100", "h200"] {
        for (what, shape) in all {
            let text = text(machine, (what, shape), "f16");
            let moved = |line: &&str| line.contains("ld.global") || line.contains("st.global");
            let moved: Vec<&str> = text.lines().filter(moved).collect();
            assert!(moved.iter().any(|line| line.contains("st.global")), "{machine}, {what}");
            let narrow = moved.iter().find(|line| !line.contains(".v4.b32"));
            assert!(narrow.is_none(), "{machine}, {what}: {narrow:?}");
        }
    }
}

/// Warps of 32, whose values pass between lanes by one instruction.
#[test]
fn warps_compute_what_the_interpreter_does() {
    for what in ALL {
        check("a100", what, "f32");
    }
    check("a100", GEMM, "f16");
    check("a100", ROWS, "bf16");
    check("a100", CONVOLUTION, "i8");
    check("a100", COLUMNS, "f64");
}

/// Wavefronts of 64, whose values pass between lanes by memory.
#[test]
fn wavefronts_compute_what_the_interpreter_does() {
    for what in ALL {
        check("mi300x", what, "f32");
    }
    check("mi300x", GEMM, "f16");
    check("mi50", ROWS, "f64");
    check("mi50", ELEMENTWISE, "f16");
}
