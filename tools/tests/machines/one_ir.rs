//! IM-1. An instruction's meaning and a kernel are written in one IR and run by one
//! interpreter.

use weft_dialects::device::Machine;
use weft_dialects::ir::{Block, module_op, parse};
use weft_passes::interpret::Compiled;

use crate::desk::machine;

const KERNEL: &str = r#"
func.func @block(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %d = linalg.generic {
    indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4xf32>
  return %d : tensor<4x4xf32>
}
"#;

/// The operations of a block and of what it holds, by name.
fn names(block: Block<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for op in block.ops() {
        found.push(op.name().to_owned());
        for inner in op.first_block(0).into_iter().flat_map(Block::ops) {
            found.push(inner.name().to_owned());
        }
    }
    // How a payload ends says whose it is.
    found.retain(|name| !matches!(name.as_str(), "device.yield" | "func.return"));
    found
}

#[test]
fn im_1_one_ir() {
    let context = weft::context();
    let text = machine("toy");
    let module = parse(&context, &text).expect("the machine is read");
    let toy = Machine::of(module_op(&module)).expect("a machine");
    let instruction = toy.instruction("mac4x4x4").expect("the instruction");
    let kernels = parse(&context, KERNEL).expect("the kernel is read");
    let kernel = module_op(&kernels).body(0).expect("a body").ops()[0];

    // Printed, both are the same operations.
    let meaning = instruction.meaning().expect("a meaning");
    assert_eq!(names(meaning), names(kernel.body(0).expect("a body")));
    assert_eq!(names(meaning), ["linalg.generic", "arith.mulf", "arith.addf", "linalg.yield"]);

    // Run, both are the same numbers: row i of A times column j of B, onto C.
    let block = |f: &dyn Fn(usize) -> f32| -> Vec<u8> {
        (0..16).flat_map(|at| f(at).to_le_bytes()).collect()
    };
    let (a, b, c) = (block(&|at| at as f32), block(&|at| (at % 5) as f32), block(&|_| 0.5));
    let run = |op| {
        let compiled = Compiled::of(op).expect("it has a meaning");
        compiled.run(&[&a, &b, &c]).expect("it runs").remove(0)
    };
    let by_hand = block(&|at| {
        let (i, j) = (at / 4, at % 4);
        0.5 + (0..4).map(|k| (4 * i + k) as f32 * ((4 * k + j) % 5) as f32).sum::<f32>()
    });
    assert_eq!(run(instruction.op()), by_hand);
    assert_eq!(run(kernel), by_hand);
}
