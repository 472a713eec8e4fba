//! Products of activations with weights that have a scale for each block of the sum, and activations that
//! are rounded to integers for them on request.

use super::*;

/// `out[i, j] = start + sum over b, k of x[i, b * places + k] * ((q - zero) * scale[b, j])`.
#[derive(Clone, Copy, Debug)]
struct Blocks {
    rows: usize,
    columns: usize,
    blocks: usize,
    places: usize,
    /// Integers from 0 to 255, less a number that is known.
    unsigned: bool,
    zero: bool,
    /// The weight has columns first.
    turned: bool,
}

const PLAIN: Blocks = Blocks {
    rows: 1,
    columns: 20,
    blocks: 2,
    places: 128,
    unsigned: false,
    zero: false,
    turned: false,
};

fn product(shape: Blocks, bound: f64) -> Case {
    let Blocks { rows, columns, blocks, places, .. } = shape;
    let length = blocks * places;
    let mut text = Text::default();
    let x = text.input(&[rows, length], "f32", Data::Smooth);
    let (whole, cut, index, beside) = match shape.turned {
        false => (vec![length, columns], vec![blocks, places, columns], "b, k, j", "b, j"),
        true => (vec![columns, length], vec![columns, blocks, places], "j, b, k", "j, b"),
    };
    let tables = if shape.turned { [columns, blocks] } else { [blocks, columns] };
    let q = text.constant(&cut, "i8");
    let scale = text.constant(&tables, "f32");
    let zero = shape.zero.then(|| text.constant(&tables, "i8"));
    let made = text.empty(&cut, "f32");
    let widen = if shape.unsigned { "arith.extui" } else { "arith.extsi" };
    let mut inputs = vec![(&q, index), (&scale, beside)];
    let mut body = format!("%w = {widen} %a : i8 to i32\n      ");
    let mut number = "%w";
    if let Some(zero) = &zero {
        inputs.push((zero, beside));
        body += &format!("%z = {widen} %c : i8 to i32\n      %d = arith.subi %w, %z : i32\n      ");
        number = "%d";
    }
    body += &format!("%f = arith.sitofp {number} : i32 to f32\n      ");
    let mut float = "%f";
    if shape.unsigned && zero.is_none() {
        body += "%n = arith.constant 100.0 : f32\n      %g = arith.subf %f, %n : f32\n      ";
        float = "%g";
    }
    body += &format!("%r = arith.mulf {float}, %b : f32");
    let w = text.nest(index, "ppp", &inputs, (&made, index), &body);
    let w = text.reshaped(&w, &whole);
    let start = text.fill(&[rows, columns], "f32", "0.5");
    let body = "%p = arith.mulf %a, %b : f32\n      %r = arith.addf %o, %p : f32";
    let seen = if shape.turned { "j, k" } else { "k, j" };
    let inputs = [(&x, "i, k"), (&w, seen)];
    let result = text.nest("i, j, k", "ppr", &inputs, (&start, "i, j"), body);
    // Integers are less than 256 from their zero point, and scales not above 2.
    let most = 4.0 * 256.0 * 2.0 * length as f64;
    let tolerance = Tolerance { rtol: 1e-5, atol: most * bound };
    text.finish(format!("{shape:?}"), &result, tolerance)
}

fn shapes() -> Vec<Blocks> {
    vec![
        PLAIN,
        Blocks { columns: 1, blocks: 1, ..PLAIN },
        Blocks { columns: 33, blocks: 3, zero: true, ..PLAIN },
        Blocks { columns: 16, unsigned: true, ..PLAIN },
        Blocks { columns: 40, unsigned: true, zero: true, turned: true, ..PLAIN },
        Blocks { columns: 17, blocks: 5, places: 256, turned: true, ..PLAIN },
        // More rows than sums of blocks pay for, places that no quad divides, and more than 32 bits hold.
        Blocks { rows: 7, ..PLAIN },
        Blocks { places: 131, zero: true, ..PLAIN },
        Blocks { places: 1024, blocks: 1, ..PLAIN },
    ]
}

/// How far activations may be off, of the greatest of their block.
fn rounded(to: &str, bound: f64) {
    let words = ["graph-quantise-activations", "to", to].map(str::to_owned);
    for case in shapes().into_iter().map(|shape| product(shape, bound)) {
        for device in [&[Device::Host][..], &processors()].concat() {
            let pass_options = vec![words.clone().into()];
            let done = run_with(&case, Options { device, pass_options, ..Options::default() });
            assert!(done.is_ok(), "{}: {}\n{}", case.name, done.unwrap_err(), case.text);
        }
    }
}

#[test]
fn activations_of_16_bits() {
    rounded("int16", 1.0 / 65_536.0);
}

#[test]
fn activations_of_8_bits() {
    rounded("int8", 1.0 / 254.0);
}

#[test]
fn weights_in_blocks() {
    check(&shapes().into_iter().map(|shape| product(shape, 1e-7)).collect::<Vec<_>>());
}
