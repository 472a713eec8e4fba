//! Fragment maps of the machine files against the formulas of the vendors' documents.
//!
//! The formulas are written as those documents write them, by lane and by number of
//! the element that the lane holds, and not as the files do.

use std::collections::BTreeMap;

use weft_dialects::device::Machine;
use weft_dialects::ir::{affine, module_op, parse, ty};

use crate::matrix;

type At = fn(i64, i64) -> (i64, i64);

/// `(row, column)` of element `i` of lane `l` in each operand.
struct Formula {
    instruction: &'static str,
    at: [At; 3],
}

/// PTX ISA 8.x, section "Matrix Fragments for mma.m16n8k16 with floating point type":
/// `groupID = %laneid >> 2`, `threadID_in_group = %laneid % 4`.
fn m16n8k16_a(l: i64, i: i64) -> (i64, i64) {
    let low = (0..2).contains(&i) || (4..6).contains(&i);
    let row = if low { l >> 2 } else { (l >> 2) + 8 };
    let column = (l % 4) * 2 + (i & 1) + if i < 4 { 0 } else { 8 };
    (row, column)
}

fn m16n8k16_b(l: i64, i: i64) -> (i64, i64) {
    ((l % 4) * 2 + (i & 1) + if i < 2 { 0 } else { 8 }, l >> 2)
}

fn m16n8_c(l: i64, i: i64) -> (i64, i64) {
    (if i < 2 { l >> 2 } else { (l >> 2) + 8 }, (l % 4) * 2 + (i & 1))
}

/// "Matrix Fragments for mma.m16n8k8", `.tf32`.
fn m16n8k8_a(l: i64, i: i64) -> (i64, i64) {
    let row = if i == 0 || i == 2 { l >> 2 } else { (l >> 2) + 8 };
    (row, if i == 0 || i == 1 { l % 4 } else { l % 4 + 4 })
}

fn m16n8k8_b(l: i64, i: i64) -> (i64, i64) {
    (if i == 0 { l % 4 } else { l % 4 + 4 }, l >> 2)
}

/// "Matrix Fragments for mma.m16n8k32", `.s8`.
fn m16n8k32_a(l: i64, i: i64) -> (i64, i64) {
    let low = (0..4).contains(&i) || (8..12).contains(&i);
    let row = if low { l >> 2 } else { (l >> 2) + 8 };
    (row, (l % 4) * 4 + (i & 3) + if i < 8 { 0 } else { 16 })
}

fn m16n8k32_b(l: i64, i: i64) -> (i64, i64) {
    ((l % 4) * 4 + (i & 3) + if i < 4 { 0 } else { 16 }, l >> 2)
}

/// "Matrix Fragments for mma.m8n8k4 with .f64 floating point type".
fn m8n8k4_f64_c(l: i64, i: i64) -> (i64, i64) {
    (l >> 2, (l % 4) * 2 + (i & 1))
}

/// "Matrix Fragments for mma.m8n8k4 with .f16 floating point type", for the product of
/// one quad pair; the pairs are quarters of 16 x 16, two by two.
fn quad_pair(l: i64) -> (i64, i64) {
    let pair = (l % 16) / 4;
    (8 * (pair / 2), 8 * (pair % 2))
}

fn volta_a(l: i64, i: i64) -> (i64, i64) {
    let row = if l < 16 { l % 4 } else { l % 4 + 4 };
    (quad_pair(l).0 + row, i)
}

fn volta_b(l: i64, i: i64) -> (i64, i64) {
    let column = if l < 16 { l % 4 } else { l % 4 + 4 };
    (i, quad_pair(l).1 + column)
}

fn volta_c(l: i64, i: i64) -> (i64, i64) {
    let x = (l & 0b1) + (i & 0b10);
    let row = if l < 16 { x } else { x + 4 };
    let column = (i & 0b100) + (l & 0b10) + (i & 0b1);
    (quad_pair(l).0 + row, quad_pair(l).1 + column)
}

/// "Register Fragments for wgmma.mma_async.m64nNk16", matrix A: 16 rows a warp.
fn wgmma_a(l: i64, i: i64) -> (i64, i64) {
    let row = if i < 2 || (4..6).contains(&i) { l % 32 / 4 } else { l % 32 / 4 + 8 };
    (16 * (l / 32) + row, l % 4 * 2 + (i & 1) + if i < 4 { 0 } else { 8 })
}

/// "Register Fragments and Shared Memory Matrix Layouts", matrix D of wgmma.
fn wgmma_d(l: i64, i: i64) -> (i64, i64) {
    let (warp, lane) = (l / 32, l % 32);
    let row = 16 * warp + lane / 4 + if i % 4 < 2 { 0 } else { 8 };
    (row, 8 * (i / 4) + (lane % 4) * 2 + (i & 1))
}

/// AMD Matrix Instruction Calculator: with `K_L` elements of a row of A in a lane,
/// `i = lane % 16`, `k = K_L * (lane / 16) + item`; B is the same with `j` for `i`; of D
/// `i = 4 * (lane / 16) + (GPR % 4)`, `j = lane % 16`.
fn lanes16<const K: i64>(l: i64, i: i64) -> (i64, i64) {
    (l % 16, K * (l / 16) + i)
}

fn lanes16_b<const K: i64>(l: i64, i: i64) -> (i64, i64) {
    (K * (l / 16) + i, l % 16)
}

fn mfma16_d(l: i64, i: i64) -> (i64, i64) {
    (4 * (l / 16) + i % 4, l % 16)
}

/// Of f64 the rows go by registers first: `i = 4 * GPR + lane / 16`.
fn mfma16_f64_d(l: i64, i: i64) -> (i64, i64) {
    (4 * i + l / 16, l % 16)
}

/// With 32 rows: `i = lane % 32`, `k = K_L * (lane / 32) + item`; of D
/// `i = 8 * (GPR / 4) + 4 * (lane / 32) + (GPR % 4)`, `j = lane % 32`.
fn lanes32<const K: i64>(l: i64, i: i64) -> (i64, i64) {
    (l % 32, K * (l / 32) + i)
}

fn lanes32_b<const K: i64>(l: i64, i: i64) -> (i64, i64) {
    (K * (l / 32) + i, l % 32)
}

fn mfma32_d(l: i64, i: i64) -> (i64, i64) {
    (8 * (i / 4) + 4 * (l / 32) + i % 4, l % 32)
}

const FORMULAS: &[Formula] = &[
    Formula { instruction: "mma_m16n8k16_f16", at: [m16n8k16_a, m16n8k16_b, m16n8_c] },
    Formula { instruction: "mma_m16n8k16_bf16", at: [m16n8k16_a, m16n8k16_b, m16n8_c] },
    Formula { instruction: "mma_m16n8k8_tf32", at: [m16n8k8_a, m16n8k8_b, m16n8_c] },
    Formula { instruction: "mma_m16n8k8_tf32x3", at: [m16n8k8_a, m16n8k8_b, m16n8_c] },
    Formula { instruction: "mma_m16n8k32_s8", at: [m16n8k32_a, m16n8k32_b, m16n8_c] },
    Formula {
        instruction: "mma_m8n8k4_f64",
        at: [|l, _| (l >> 2, l % 4), |l, _| (l % 4, l >> 2), m8n8k4_f64_c],
    },
    Formula { instruction: "mma_m16n16k4_f16", at: [volta_a, volta_b, volta_c] },
    // Of every width.
    Formula { instruction: "wgmma_m64", at: [wgmma_a, wgmma_d, wgmma_d] },
    Formula { instruction: "mfma_16x16x4_f32", at: [lanes16::<1>, lanes16_b::<1>, mfma16_d] },
    Formula { instruction: "mfma_16x16x4_f64", at: [lanes16::<1>, lanes16_b::<1>, mfma16_f64_d] },
    Formula { instruction: "mfma_16x16x16_f16", at: [lanes16::<4>, lanes16_b::<4>, mfma16_d] },
    Formula { instruction: "mfma_16x16x16_bf16", at: [lanes16::<4>, lanes16_b::<4>, mfma16_d] },
    Formula { instruction: "mfma_16x16x16_i8", at: [lanes16::<4>, lanes16_b::<4>, mfma16_d] },
    Formula { instruction: "mfma_16x16x32_i8", at: [lanes16::<8>, lanes16_b::<8>, mfma16_d] },
    Formula { instruction: "mfma_32x32x2_f32", at: [lanes32::<1>, lanes32_b::<1>, mfma32_d] },
    Formula { instruction: "mfma_32x32x8_f16", at: [lanes32::<4>, lanes32_b::<4>, mfma32_d] },
    Formula { instruction: "mfma_32x32x8_bf16", at: [lanes32::<4>, lanes32_b::<4>, mfma32_d] },
];

#[test]
fn fragments_are_those_of_the_documents() {
    let mut seen = 0;
    for (name, text) in weft::MACHINES {
        let context = weft::context();
        let module = parse(&context, text).expect("the machine is good");
        let machine = Machine::of(module_op(&module)).expect("the file has a machine");
        for instruction in machine.instructions().iter().filter(|one| matrix::is_matrix(one)) {
            let formula = FORMULAS.iter().find(|known| {
                let own = instruction.name.strip_prefix(known.instruction);
                own.is_some_and(|rest| rest.is_empty() || known.instruction == "wgmma_m64")
            });
            let formula = formula.unwrap_or_else(|| panic!("no formula for @{}", instruction.name));
            let args = instruction.lowering().expect("a lowering").args();
            let lanes = matrix::lanes(machine, instruction) as i64;
            for (operand, fragment) in instruction.fragments().iter().enumerate() {
                let Some(map) = *fragment else { continue };
                let slots = ty::count(args[operand].ty()).unwrap_or(1) as i64;
                let mut held = BTreeMap::new();
                for (lane, slot) in (0..lanes).flat_map(|l| (0..slots).map(move |s| (l, s))) {
                    let (row, column) = (formula.at[operand])(lane, slot);
                    let place = affine::evaluate(map, &[lane, slot]).expect("a map");
                    assert_eq!(
                        place,
                        [row, column],
                        "{name} @{}, operand {operand}, lane {lane}, slot {slot}",
                        instruction.name
                    );
                    *held.entry(place).or_insert(0) += 1;
                }
                // Every element is held, each as often as every other.
                let shape = ty::shape(instruction.operand_types()[operand]).expect("a shape");
                let elements: u64 = shape.iter().product();
                let copies = lanes as u64 * slots as u64 / elements;
                assert_eq!(held.len() as u64, elements);
                assert!(held.values().all(|&times| times == copies));
                seen += 1;
            }
        }
    }
    assert!(seen > 60, "only {seen} fragments were seen");
}
