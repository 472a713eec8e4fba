//! Every matrix instruction of every machine, in programs written for it by hand.

use weft_dialects::device::Machine;
use weft_dialects::ir::{module_op, parse, ty};

use crate::assemble::assemble;
use crate::host;
use crate::matrix;
use crate::numbers::{Random, bytes, numbers};

/// A matrix instruction on fragments.
struct Matrix {
    name: String,
    m: u64,
    n: u64,
    k: u64,
    elem: String,
    acc: String,
    memory: String,
}

/// Those of a machine whose three operands all lie in registers.
fn matrices(machine: &str) -> Vec<Matrix> {
    let context = weft::context();
    let module = parse(&context, host::machine(machine)).expect("the machine is good");
    let machine = Machine::of(module_op(&module)).expect("the file has a machine");
    let matrix = machine.instructions().into_iter().filter(|instruction| {
        matrix::is_matrix(instruction) && instruction.fragments().iter().all(Option::is_some)
    });
    matrix
        .map(|instruction| {
            let types = instruction.operand_types();
            let (a, c) = (ty::shape(types[0]).unwrap(), ty::shape(types[2]).unwrap());
            Matrix {
                name: instruction.name.to_owned(),
                m: c[0],
                n: c[1],
                k: a[1],
                elem: ty::elem(types[0]).unwrap().to_string(),
                acc: ty::elem(types[2]).unwrap().to_string(),
                memory: instruction.operands()[2].to_owned(),
            }
        })
        .collect()
}

impl Matrix {
    /// `C = A·B` in whole blocks: four rTasks, three steps each.
    fn whole(&self) -> String {
        let Self { name, m, n, k, elem, acc, memory } = self;
        let (mm, nn, kk) = (2 * m, 2 * n, 3 * k);
        let zero = if acc.starts_with('i') { "0" } else { "0.0" };
        format!(
            r#"device.kernel @mm tasks 4 {{
^bb0(%task: index, %A: memref<{mm}x{kk}x{elem}>, %B: memref<{kk}x{nn}x{elem}>, %C: memref<{mm}x{nn}x{acc}>):
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %cm = arith.constant {m} : index
  %cn = arith.constant {n} : index
  %ck = arith.constant {k} : index
  %end = arith.constant {kk} : index
  %ti = arith.divui %task, %c2 : index
  %tj = arith.remui %task, %c2 : index
  %i = arith.muli %ti, %cm : index
  %j = arith.muli %tj, %cn : index
  %c = device.alloc : memref<{m}x{n}x{acc}, "{memory}">
  device.fill @load %c[%c0, %c0] sizes [{m}, {n}] strides [{n}, 1] value {zero} : {acc} : memref<{m}x{n}x{acc}, "{memory}">
  scf.for %k = %c0 to %end step %ck {{
    %a = device.alloc : memref<{m}x{k}x{elem}, "{memory}">
    %b = device.alloc : memref<{k}x{n}x{elem}, "{memory}">
    device.transfer @load %A[%i, %k] to %a[%c0, %c0] sizes [{m}, {k}] from_strides [{kk}, 1] to_strides [{k}, 1] : memref<{mm}x{kk}x{elem}> to memref<{m}x{k}x{elem}, "{memory}">
    device.transfer @load %B[%k, %j] to %b[%c0, %c0] sizes [{k}, {n}] from_strides [{nn}, 1] to_strides [{n}, 1] : memref<{kk}x{nn}x{elem}> to memref<{k}x{n}x{elem}, "{memory}">
    device.invoke @{name}(%a[%c0, %c0], %b[%c0, %c0], %c[%c0, %c0]) : memref<{m}x{k}x{elem}, "{memory}">, memref<{k}x{n}x{elem}, "{memory}">, memref<{m}x{n}x{acc}, "{memory}">
  }}
  device.transfer @store %c[%c0, %c0] to %C[%i, %j] sizes [{m}, {n}] from_strides [{n}, 1] to_strides [{nn}, 1] : memref<{m}x{n}x{acc}, "{memory}"> to memref<{mm}x{nn}x{acc}>
}}
"#
        )
    }

    /// `C += A·Bᵀ` of extents one short of a block, in the second of two accumulators.
    fn ragged(&self) -> String {
        let Self { name, m, n, k, elem, acc, memory } = self;
        let (mm, nn, kk) = (m - 1, n - 1, k - 1);
        let zero = if elem.starts_with('i') { "0" } else { "0.0" };
        format!(
            r#"device.kernel @mm tasks 1 {{
^bb0(%task: index, %A: memref<{mm}x{kk}x{elem}>, %B: memref<{nn}x{kk}x{elem}>, %C: memref<{mm}x{nn}x{acc}>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c = device.alloc : memref<2x{m}x{n}x{acc}, "{memory}">
  %a = device.alloc : memref<{m}x{k}x{elem}, "{memory}">
  %b = device.alloc : memref<{k}x{n}x{elem}, "{memory}">
  device.fill @load %a[%c0, %c0] sizes [{m}, {k}] strides [{k}, 1] value {zero} : {elem} : memref<{m}x{k}x{elem}, "{memory}">
  device.fill @load %b[%c0, %c0] sizes [{k}, {n}] strides [{n}, 1] value {zero} : {elem} : memref<{k}x{n}x{elem}, "{memory}">
  device.transfer @load %C[%c0, %c0] to %c[%c1, %c0, %c0] sizes [{mm}, {nn}] from_strides [{nn}, 1] to_strides [{n}, 1] : memref<{mm}x{nn}x{acc}> to memref<2x{m}x{n}x{acc}, "{memory}">
  device.transfer @load %A[%c0, %c0] to %a[%c0, %c0] sizes [{mm}, {kk}] from_strides [{kk}, 1] to_strides [{k}, 1] : memref<{mm}x{kk}x{elem}> to memref<{m}x{k}x{elem}, "{memory}">
  device.transfer @load %B[%c0, %c0] to %b[%c0, %c0] sizes [{nn}, {kk}] from_strides [{kk}, 1] to_strides [1, {n}] : memref<{nn}x{kk}x{elem}> to memref<{k}x{n}x{elem}, "{memory}">
  device.invoke @{name}(%a[%c0, %c0], %b[%c0, %c0], %c[%c1, %c0, %c0]) : memref<{m}x{k}x{elem}, "{memory}">, memref<{k}x{n}x{elem}, "{memory}">, memref<2x{m}x{n}x{acc}, "{memory}">
  device.transfer @store %c[%c1, %c0, %c0] to %C[%c0, %c0] sizes [{mm}, {nn}] from_strides [{n}, 1] to_strides [{nn}, 1] : memref<2x{m}x{n}x{acc}, "{memory}"> to memref<{mm}x{nn}x{acc}>
}}
"#
        )
    }
}

/// `held + Σ a·b`, with the strides of b along k and j.
fn expected(
    [m, n, k]: [u64; 3],
    a: &[f64],
    b: &[f64],
    [bk, bj]: [u64; 2],
    held: &[f64],
) -> Vec<f64> {
    let mut sums = held.to_vec();
    for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
        sums[(i * n + j) as usize] +=
            (0..k).map(|p| a[(i * k + p) as usize] * b[(p * bk + j * bj) as usize]).sum::<f64>();
    }
    sums
}

fn check(machine: &str) {
    let mut random = Random(7);
    for matrix in matrices(machine) {
        let Matrix { name, m, n, k, elem, acc, .. } = &matrix;
        let (mm, nn, kk) = (2 * m, 2 * n, 3 * k);
        let (a, b) = (random.numbers(mm * kk, elem), random.numbers(kk * nn, elem));
        let none = vec![0.0; (mm * nn) as usize];
        let mut buffers = [bytes(&a, elem), bytes(&b, elem), bytes(&none, acc)];
        host::run(machine, &matrix.whole(), &mut buffers);
        let wanted = expected([mm, nn, kk], &a, &b, [nn, 1], &none);
        assert_eq!(numbers(&buffers[2], acc), wanted, "{machine} @{name}");

        let (mm, nn, kk) = (m - 1, n - 1, k - 1);
        let (a, b) = (random.numbers(mm * kk, elem), random.numbers(kk * nn, elem));
        let held = random.numbers(mm * nn, acc);
        let mut buffers = [bytes(&a, elem), bytes(&b, elem), bytes(&held, acc)];
        host::run(machine, &matrix.ragged(), &mut buffers);
        let wanted = expected([mm, nn, kk], &a, &b, [1, kk], &held);
        assert_eq!(numbers(&buffers[2], acc), wanted, "{machine} @{name}, ragged");
    }
}

/// The text of each instruction's program assembles, and holds the instruction.
fn assembles(machine: &str, mnemonic: &str) {
    for matrix in matrices(machine) {
        for program in [matrix.whole(), matrix.ragged()] {
            let text = assemble(machine, &program);
            assert!(
                text.contains(mnemonic),
                "{machine} @{}: no {mnemonic} in\n{text}",
                matrix.name
            );
        }
    }
}

macro_rules! machines {
    ($($name:ident $mnemonic:literal),*) => {$(
        mod $name {
            #[test]
            fn fragments_hold_what_instructions_read() {
                super::check(stringify!($name));
            }

            #[test]
            fn instructions_assemble() {
                super::assembles(stringify!($name), $mnemonic);
            }
        }
    )*};
}

machines!(v100 "mma.sync", a100 "mma.sync", h200 "mma.sync", mi250x "v_mfma", mi300x "v_mfma");
