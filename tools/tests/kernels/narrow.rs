//! Products of narrow numbers, summed in wide ones: by instructions whose lanes add neighbours up where
//! the processor has them, and by lanes where it has not.

use super::*;

/// What is subtracted from a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Zero {
    Nothing,
    /// A number that is known, perhaps zero.
    Known(i64),
    /// One that comes in every run.
    Given,
    /// One for each row of the left factor, or column of the right.
    Each,
}

/// `out[i, j] = sum over k of (x[i, k] - p) * (y[k, j] - q)` of bytes, with or without signs.
#[derive(Clone, Copy, Debug)]
struct Bytes {
    mnk: (usize, usize, usize),
    signed: [bool; 2],
    zeros: [Zero; 2],
    constant_y: bool,
    transposed_y: bool,
    epilogue: bool,
}

const PLAIN: Bytes = Bytes {
    mnk: (5, 20, 8),
    signed: [false, true],
    zeros: [Zero::Nothing; 2],
    constant_y: true,
    transposed_y: false,
    epilogue: false,
};

fn bytes_product(shape: Bytes) -> Case {
    let (m, n, k) = shape.mnk;
    let mut text = Text::default();
    let x = text.input(&[m, k], "i8", Data::All);
    let (dims, index) = if shape.transposed_y { ([n, k], "j, k") } else { ([k, n], "k, j") };
    // A literal of no elements has no shape.
    let y = match shape.constant_y && k > 0 {
        true => text.constant(&dims, "i8"),
        false => text.input(&dims, "i8", Data::All),
    };
    let mut inputs = vec![(x, "i, k"), (y, index)];
    let mut body = String::new();
    let mut factors = Vec::new();
    for (side, letter) in ["a", "b"].into_iter().enumerate() {
        let widen = if shape.signed[side] { "arith.extsi" } else { "arith.extui" };
        body += &format!("%w{side} = {widen} %{letter} : i8 to i32\n      ");
        let (own, at) = [(m, "i"), (n, "j")][side];
        let zero = match shape.zeros[side] {
            Zero::Nothing => None,
            Zero::Known(number) => Some((text.number("i8", number), "")),
            Zero::Given => Some((text.input(&[], "i8", Data::All), "")),
            Zero::Each => Some((text.input(&[own], "i8", Data::All), at)),
        };
        let Some(zero) = zero else {
            factors.push(format!("%w{side}"));
            continue;
        };
        let letter = char::from(b'a' + inputs.len() as u8);
        inputs.push(zero);
        body += &format!(
            "%z{side} = {widen} %{letter} : i8 to i32\n      \
             %f{side} = arith.subi %w{side}, %z{side} : i32\n      "
        );
        factors.push(format!("%f{side}"));
    }
    let [left, right] = &factors[..] else { unreachable!("there are two sides") };
    body += &format!("%p = arith.muli {left}, {right} : i32\n      %r = arith.addi %o, %p : i32");
    let start = text.fill(&[m, n], "i32", "0");
    let inputs: Vec<_> = inputs.iter().map(|(value, index)| (value, *index)).collect();
    let mut result = text.nest("i, j, k", "ppr", &inputs, (&start, "i, j"), &body);
    if shape.epilogue {
        result = text.epilogue(&result);
    }
    text.finish(format!("{shape:?}"), &result, EXACT)
}

#[test]
fn bytes_of_every_sign() {
    let mut cases = Vec::new();
    let zeros = [Zero::Nothing, Zero::Known(0), Zero::Known(-77), Zero::Given, Zero::Each];
    for signed in [[false, true], [true, true], [false, false], [true, false]] {
        for (number, zero) in zeros.into_iter().enumerate() {
            let other = zeros[(number * 3 + 1) % zeros.len()];
            for zeros in [[zero, other], [other, zero]] {
                let constant_y = number % 2 == 0;
                cases.push(bytes_product(Bytes { signed, zeros, constant_y, ..PLAIN }));
            }
        }
    }
    check(&cases);
}

#[test]
fn bytes_of_every_shape() {
    let mut cases = Vec::new();
    for mnk in [
        (1, 1, 4),
        (1, 16, 4),
        (1, 17, 8),
        (3, 2, 12),
        (7, 15, 36),
        (13, 33, 64),
        (40, 130, 16),
        (2, 509, 8),
        // Quads do not divide these.
        (5, 20, 1),
        (5, 20, 3),
        (6, 48, 7),
        (9, 31, 77),
        (4, 4, 0),
    ] {
        let zeros = [Zero::Given, Zero::Nothing];
        for (constant_y, transposed_y) in
            [(true, false), (true, true), (false, false), (false, true)]
        {
            cases.push(bytes_product(Bytes { mnk, zeros, constant_y, transposed_y, ..PLAIN }));
        }
        cases.push(bytes_product(Bytes { mnk, zeros, epilogue: true, ..PLAIN }));
    }
    check(&cases);
}

/// `out[i, j] = sum over k of x[i, k] * y[k, j]` of bf16 in f32, in quarters: no sum of them rounds.
fn bf16_product((m, n, k): (usize, usize, usize), constant_y: bool, epilogue: bool) -> Case {
    let mut text = Text::default();
    let x = text.input(&[m, k], "bf16", Data::Quarters);
    let y = match constant_y {
        true => text.constant(&[k, n], "bf16"),
        false => text.input(&[k, n], "bf16", Data::Quarters),
    };
    let start = text.fill(&[m, n], "f32", "0.0");
    let body = "%u = arith.extf %a : bf16 to f32\n      %v = arith.extf %b : bf16 to f32\n      \
                %p = arith.mulf %u, %v : f32\n      %r = arith.addf %o, %p : f32";
    let inputs = [(&x, "i, k"), (&y, "k, j")];
    let mut result = text.nest("i, j, k", "ppr", &inputs, (&start, "i, j"), body);
    if epilogue {
        result = text.epilogue(&result);
    }
    text.finish(format!("bf16 {m}x{n}x{k} {constant_y} {epilogue}"), &result, EXACT)
}

#[test]
fn pairs_of_bf16() {
    let mut cases = Vec::new();
    for mnk in
        [(1, 1, 2), (1, 16, 2), (1, 17, 6), (7, 15, 36), (13, 33, 64), (40, 130, 18), (5, 20, 7)]
    {
        for (constant_y, epilogue) in [(true, false), (false, false), (true, true)] {
            cases.push(bf16_product(mnk, constant_y, epilogue));
        }
    }
    check(&cases);
}
