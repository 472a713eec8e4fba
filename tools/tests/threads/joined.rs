//! Joined kernels, whose tiles wait in the memory of a block: one kernel, the interpreter's
//! answer, and code of both vendors with the accesses and barriers that it needs.

use std::rc::Rc;

use weft::{Device, Options, Unit};
use weft_dialects::device::{Kernel as Program, Machine};
use weft_dialects::graph::Model;
use weft_dialects::ir::{Context, parse, ty};
use weft_passes::codegen::gpu::Isa;
use weft_passes::codegen::whole_text;
use weft_passes::graph::from_func;
use weft_passes::interpret::run_model;
use weft_passes::pipeline::Stage;

use crate::assemble;
use crate::host;
use crate::numbers::{Random, bytes, numbers};

/// A model, the shapes of its inputs, and which of its outputs each of the kernel's is.
struct Chain {
    text: &'static str,
    inputs: &'static [&'static [u64]],
    outputs: &'static [usize],
    /// Computes of the one kernel.
    members: usize,
}

const SOFTMAX: Chain = Chain {
    text: include_str!("../welder/softmax.mlir"),
    inputs: &[&[45, 203]],
    outputs: &[0],
    members: 4,
};
/// The sum is an output, too, which the members behind it read where all blocks see it.
const NORM: Chain = Chain {
    text: include_str!("../welder/norm.mlir"),
    inputs: &[&[45, 40], &[45, 40]],
    outputs: &[1, 0],
    members: 4,
};
const INVERTED: Chain = Chain {
    text: include_str!("../welder/inverted.mlir"),
    inputs: &[&[1, 15, 13, 40], &[3, 3, 40, 1], &[40], &[18, 1, 1, 40], &[18]],
    outputs: &[0],
    members: 2,
};
const POOLED: Chain = Chain {
    text: include_str!("../welder/pooled.mlir"),
    inputs: &[&[1, 15, 13, 70], &[3, 3, 70, 1], &[70]],
    outputs: &[0],
    members: 2,
};

/// A model for a machine, with every edge near that can be, and nothing else that changes its
/// kernels.
fn unit<'c>(context: &'c Context, machine: &str, chain: &Chain) -> Unit<'c> {
    let mut module = parse(context, chain.text).expect("the text is right");
    from_func::import(context, &mut module).expect("it is a model");
    let option = |words: [&str; 3]| words.map(str::to_owned).into();
    let pass_options = vec![
        option(["tile-connect-edges", "joining", "all"]),
        option(["tile-split-reductions", "split", "false"]),
    ];
    let device = Device::Named(machine.to_owned());
    let options = Options { device, jobs: 1, pass_options, ..Options::default() };
    Unit::from_module(context, module, Rc::default(), options).expect("the module is good")
}

/// Runs the threads of the one kernel on the host and holds what they give against the
/// interpreter.
fn holds(machine: &str, chain: &Chain) {
    let context = weft::context();
    let mut unit = unit(&context, machine, chain);
    let inputs = random_inputs(chain);
    let models = unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
    let model = models.into_iter().find_map(Model::of).expect("the text is a model");
    let mut weights = |_: &str, _: &str| Err("there are no weights".into());
    let expected = run_model(model.op, &inputs, &mut weights, &mut |_, _| {}).expect("it runs");

    let (program, mut buffers) = prepared(&mut unit, chain, inputs);
    host::run(machine, &program, &mut buffers);
    let outputs = &buffers[buffers.len() - chain.outputs.len()..];
    for (buffer, &output) in outputs.iter().zip(chain.outputs) {
        let (got, wanted) = (numbers(buffer, "f32"), numbers(&expected[output], "f32"));
        assert_eq!(got.len(), wanted.len());
        for (at, (got, wanted)) in got.iter().zip(&wanted).enumerate() {
            let close = (got - wanted).abs() <= 1e-6 + 1e-5 * wanted.abs();
            assert!(close, "{machine}: {got} for {wanted} at {at} of output {output}");
        }
    }
}

/// The device program of the one kernel, and its arguments.
fn prepared(unit: &mut Unit<'_>, chain: &Chain, inputs: Vec<Vec<u8>>) -> (String, Vec<Vec<u8>>) {
    unit.lower(Stage::Device).expect("the machine can do it");
    let program = one_kernel(unit, chain);
    let mut buffers = inputs;
    // Outputs, and before them what only gives a window its size, which nobody reads.
    for other in &program.args()[buffers.len()..] {
        let elements = ty::count(other.ty()).expect("shapes are static");
        buffers.push(vec![0xff; 4 * elements as usize]);
    }
    (program.op.own_text(), buffers)
}

/// A kernel whose warps hand tiles over in the memory of their block, and its arguments, the result's last.
pub fn near() -> (String, Vec<Vec<u8>>) {
    let context = weft::context();
    let mut unit = unit(&context, "h200", &SOFTMAX);
    let inputs = random_inputs(&SOFTMAX);
    prepared(&mut unit, &SOFTMAX, inputs)
}

fn random_inputs(chain: &Chain) -> Vec<Vec<u8>> {
    let mut random = Random(5);
    let inputs = chain.inputs.iter().map(|shape| random.numbers(shape.iter().product(), "f32"));
    inputs.map(|numbers| bytes(&numbers, "f32")).collect()
}

/// The one kernel of a model: its tiles wait in memory of a block, and between two members the
/// lanes of a group meet.
fn one_kernel<'c>(unit: &Unit<'c>, chain: &Chain) -> Program<'c> {
    let ops = unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
    let mut programs = ops.into_iter().filter_map(Program::of);
    let program = programs.next().expect("there is a kernel");
    assert!(programs.next().is_none(), "more than one kernel");
    let text = program.op.own_text();
    assert!(text.contains("device.alloc at 0"), "{text}");
    assert_eq!(text.matches("device.barrier \"warp\"").count(), chain.members - 1, "{text}");
    program
}

#[test]
fn we_7_warps_hand_tiles_over_in_the_memory_of_their_block() {
    for chain in [&SOFTMAX, &NORM, &POOLED, &INVERTED] {
        holds("h200", chain);
    }
    holds("v100", &SOFTMAX);
}

#[test]
fn we_7_wavefronts_hand_tiles_over_in_the_memory_of_their_block() {
    for chain in [&SOFTMAX, &POOLED] {
        holds("mi300x", chain);
    }
    holds("mi50", &NORM);
}

/// The assembly of a joined model, which its vendor's assembler takes.
fn assembly(machine: &str, chain: &Chain) -> String {
    let context = weft::context();
    let mut unit = unit(&context, machine, chain);
    unit.lower(Stage::Device).expect("the machine can do it");
    one_kernel(&unit, chain);
    let machine = Machine::of(unit.module()).expect("the module has a machine");
    let isa = Isa::of_arch(machine.arch()).expect("the machine has threads");
    let text = whole_text(unit.module(), machine, 1, isa, &[]).expect("there is code for it");
    assemble::check(machine.arch(), &text);
    text
}

#[test]
fn we_7_joined_kernels_assemble() {
    let ptx = assembly("h200", &SOFTMAX);
    for word in ["ld.shared", "st.shared", "bar.warp.sync"] {
        assert!(ptx.contains(word), "{word} is not in\n{ptx}");
    }
    // Between members only: what one lane reads again is its own.
    assert_eq!(ptx.matches("bar.warp.sync").count(), SOFTMAX.members - 1, "{ptx}");
    let amdgcn = assembly("mi300x", &SOFTMAX);
    for word in ["ds_read", "ds_write"] {
        assert!(amdgcn.contains(word), "{word} is not in\n{amdgcn}");
    }
}
