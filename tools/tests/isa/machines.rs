//! IM-2. A product maps to every product of every machine, from its file alone.

use weft_dialects::device::Instruction;
use weft_dialects::ir::{Block, Op, context, ty};
use weft_passes::tile::isa::{Filter, mappings};

use super::support::{Kernel, file, machine, nest, the_machine};

/// Machines whose instructions multiply and add; the last two are those of the test.
const MACHINES: [(&str, &str); 14] = [
    ("../devices/v100.mlir", "mma"),
    ("../devices/a100.mlir", "mma"),
    ("../devices/h200.mlir", "mma"),
    ("../devices/mi50.mlir", "fma"),
    ("../devices/mi250x.mlir", "mfma"),
    ("../devices/mi300x.mlir", "mfma"),
    ("../devices/x86-avx2.mlir", "fma"),
    ("../devices/x86-avx512.mlir", "fma"),
    ("../devices/systolic.mlir", "matmul"),
    ("../devices/toy.mlir", "mac"),
    ("../devices/dsp.mlir", "vmac"),
    ("../devices/ipu.mlir", "amp"),
    ("tests/isa/machines/amx.mlir", "tdp"),
    ("tests/isa/machines/sve.mlir", "mopa"),
];

/// The scalar operations of an instruction's body as text, by the numbers of its arguments.
fn body(instruction: &Instruction<'_>) -> Option<String> {
    let meaning = instruction.meaning()?;
    let generic: Op<'_> = meaning.iter().find(|op| op.is("linalg.generic"))?;
    let block: Block<'_> = generic.body(0)?;
    let mut lines = Vec::new();
    let mut known: Vec<_> = block.args().into_iter().enumerate().collect::<Vec<_>>();
    for op in block.ops() {
        let names: Vec<String> = op
            .operands()
            .iter()
            .map(|value| {
                let at = known.iter().find(|(_, other)| other == value).map(|(at, _)| *at);
                at.map_or("%none".into(), |at| format!("%{at}"))
            })
            .collect();
        let types: Vec<String> = op.operands().iter().map(|value| value.ty().to_string()).collect();
        let results: Vec<String> =
            op.results().iter().map(|value| value.ty().to_string()).collect();
        let number = known.len();
        lines.push(match (op.name(), &results[..]) {
            ("linalg.yield", _) => {
                format!("linalg.yield {} : {}", names.join(", "), types.join(", "))
            }
            ("arith.constant", [to]) => {
                let value = op.attr("value").expect("a value").to_string();
                format!("%{number} = arith.constant {} : {to}", value.split(" : ").next()?)
            }
            (name, [to]) if types.len() == 1 => {
                format!("%{number} = {name} {} : {} to {to}", names[0], types[0])
            }
            (name, [to]) => format!("%{number} = {name} {} : {to}", names.join(", ")),
            _ => return None,
        });
        known.extend(op.results().into_iter().map(|value| (number, value)));
    }
    Some(lines.join("\n"))
}

/// A product of matrices with the types and the body of an instruction.
fn matmul(instruction: &Instruction<'_>) -> Option<Kernel> {
    let elems: Vec<String> = instruction
        .operand_types()
        .into_iter()
        .map(|operand| ty::elem(operand).expect("a tensor").to_string())
        .collect();
    let [a, b, c] = &elems[..] else { return None };
    let ty = |shape: &str, elem: &str| -> &'static str { format!("{shape}x{elem}").leak() };
    Some(Kernel {
        axes: "m n +k",
        operands: vec![
            ("m, k", ty("96x160", a)),
            ("k, n", ty("160x192", b)),
            ("m, n", ty("96x192", c)),
        ],
        body: body(instruction)?.leak(),
    })
}

#[test]
fn im_2_a_product_maps_to_every_product_of_every_machine() {
    let mut seen = 0;
    for (path, kind) in MACHINES {
        let context = context();
        let module = machine(&context, &file(path));
        // A vector times a vector, lane by lane, is no part of a product of matrices.
        let lane_by_lane = |instruction: &Instruction<'_>| {
            let shapes = instruction.operand_types().into_iter().map(ty::shape);
            shapes.flatten().all(|shape| shape.len() == 1 && shape[0] > 1)
        };
        let of_kind = |instruction: &Instruction<'_>| {
            instruction.name.contains(kind) && !lane_by_lane(instruction)
        };
        let all = the_machine(&module).instructions();
        let products: Vec<_> = all.into_iter().filter(of_kind).collect();
        assert!(!products.is_empty(), "{path} has no {kind}");
        for instruction in products {
            let name = format!("{path}: @{}", instruction.name);
            let kernel = matmul(&instruction).expect("a body of three operands");
            let module = kernel.module(&context);
            let nest = nest(&module);
            let found = mappings(&instruction, &nest, Filter::Signature);
            let found = found.unwrap_or_else(|why| panic!("{name}: {why}"));
            // Every axis that the instruction has is one of the product; those that it does
            // not have are around it. Of a vector times a number, one axis is the lanes.
            let whole = found.iter().any(|mapping| mapping.axes.iter().all(|own| !own.is_empty()));
            assert!(whole, "{name}: {:?}", found.iter().map(|m| m.describe()).collect::<Vec<_>>());
            seen += 1;
        }
    }
    assert!(seen >= 40, "{seen} instructions");
}

/// A machine whose factors lie in blocks of 8 x 8.
const IN_BLOCKS: &str = r#"
device.machine @blocks arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @near scope("core") capacity_bytes(65536)
  device.unit @core count(1)
  device.move @in from @dram to @near
  device.instruction @blocks_m64n128k16 on @core operands([@near, @near, @near]) issue_cycles(64.0) latency_cycles(128)
  meaning {
  ^bb0(%a: tensor<8x2x8x8xf16>, %b: tensor<16x2x8x8xf16>, %c: tensor<64x128xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(mo, mi, no, ni, ko, ki) -> (mo, ko, mi, ki)>,
        affine_map<(mo, mi, no, ni, ko, ki) -> (no, ko, ni, ki)>,
        affine_map<(mo, mi, no, ni, ko, ki) -> (8 * mo + mi, 8 * no + ni)>
      ],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
    } ins(%a, %b : tensor<8x2x8x8xf16>, tensor<16x2x8x8xf16>) outs(%c : tensor<64x128xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x128xf32>
    device.yield %d : tensor<64x128xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: index):
    device.yield
  }
}
"#;

/// Two digits of a row, as of a core matrix, are one axis of the product.
#[test]
fn im_2_digits_of_one_axis_share_it() {
    let context = context();
    let module = machine(&context, IN_BLOCKS);
    let instruction = the_machine(&module).instruction("blocks_m64n128k16").expect("it is there");
    let kernel = matmul(&instruction).expect("a product").module(&context);
    let nest = nest(&kernel);
    let found = mappings(&instruction, &nest, Filter::Signature).expect("it maps");
    let axes = [vec![0], vec![0], vec![1], vec![1], vec![2], vec![2]];
    let mapping = found.iter().find(|mapping| mapping.axes == axes).expect("by digits");
    assert_eq!([0, 1, 2].map(|axis| mapping.quantum(axis)), [64, 128, 16]);
}
