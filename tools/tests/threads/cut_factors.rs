//! Products of `f32` by instructions that take fewer bits: how far they are from the product in f64.

use weft_dialects::device::Kernel as Program;
use weft_passes::pipeline::Stage;

use crate::host;
use crate::kernels::{unit_with, whole};
use crate::numbers::{Random, bytes, numbers};

const SHAPE: [usize; 3] = [70, 136, 72];

/// Numbers with all bits of their fraction, of either sign.
fn full(random: &mut Random, count: usize) -> Vec<f64> {
    let one = |random: &mut Random| {
        let bits = random.next();
        let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
        f64::from((1.0 + (bits >> 41) as f32 / 8_388_608.0) * sign)
    };
    (0..count).map(|_| one(random)).collect()
}

/// The largest error of a product on a machine, as a multiple of the sum of all products' sizes, and its text.
fn error(machine: &str, form: &str) -> (f64, String) {
    let [m, n, k] = SHAPE;
    let context = weft::context();
    let shape = format!("m={m},n={n},k={k}");
    let mut pass_options = whole();
    let cut = [["graph-cut-factors", "f32", form], ["graph-cut-factors", "when", "always"]];
    pass_options.extend(cut.map(|option| option.map(str::to_owned).into()));
    let product = ("C[m,n] += A[m,k] * B[k,n]", &*shape);
    let (mut unit, _) = unit_with(&context, machine, product, "f32", pass_options);
    unit.lower(Stage::Device).expect("the machine can do it");

    let mut random = Random(11);
    let factors = [full(&mut random, m * k), full(&mut random, k * n)];
    let mut given = factors.iter().map(|factor| bytes(factor, "f32")).collect::<Vec<_>>();
    let ops = unit.module().body(0).map(|block| block.ops()).unwrap_or_default();
    let programs: Vec<_> = ops.into_iter().filter_map(Program::of).collect();
    assert_eq!(programs.len(), 1, "{machine}: one kernel");
    let text = programs[0].op.own_text();
    given.push(vec![0xff; 4 * m * n]);
    host::run(machine, &text, &mut given);
    let got = numbers(&given[2], "f32");
    let [a, b] = &factors;
    let mut worst = 0.0f64;
    for (at, got) in got.iter().enumerate() {
        let (row, column) = (at / n, at % n);
        let products = || (0..k).map(|step| a[row * k + step] * b[step * n + column]);
        let (sum, size) = (products().sum::<f64>(), products().map(f64::abs).sum::<f64>());
        worst = worst.max((got - sum).abs() / size);
    }
    (worst, text)
}

/// Three products of parts miss 2^-19 of each product, and sums in f32 round as often as there are steps and parts.
#[test]
fn three_products_of_parts_are_nearly_the_product_in_full() {
    let bound = 2f64.powi(-19) + 4.0 * SHAPE[2] as f64 * 2f64.powi(-24);
    for machine in ["a100", "h200"] {
        let (three, text) = error(machine, "tf32x3");
        assert!(text.contains("@mma_m16n8k8_tf32x3("), "{machine}:\n{text}");
        assert!(three < bound, "{machine}: {three:e} of {bound:e}");
        let (once, text) = error(machine, "tf32");
        assert!(text.contains("@mma_m16n8k8_tf32("), "{machine}:\n{text}");
        // Factors with all bits: one product of parts is far from it, and within what it promises.
        let promised = 2f64.powi(-9);
        assert!(
            bound < once && once < promised,
            "{machine}: {once:e} of {bound:e} to {promised:e}"
        );
        assert!(three * 16.0 < once, "{machine}: {three:e} beside {once:e}");
    }
}
