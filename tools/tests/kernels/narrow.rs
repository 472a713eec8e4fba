//! Products of narrow numbers, summed in wide ones: by instructions whose lanes add neighbours up where
//! the processor has them, and by lanes where it has not.

use super::*;

/// What is subtracted from a factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Zero {
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
pub struct Bytes {
    pub mnk: (usize, usize, usize),
    pub signed: [bool; 2],
    pub zeros: [Zero; 2],
    pub constant_y: bool,
    pub transposed_y: bool,
    pub epilogue: bool,
}

pub const PLAIN: Bytes = Bytes {
    mnk: (5, 20, 8),
    signed: [false, true],
    zeros: [Zero::Nothing; 2],
    constant_y: true,
    transposed_y: false,
    epilogue: false,
};

pub fn bytes_product(shape: Bytes) -> Case {
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

/// `out[i, j] = sum over k of x[i, k] * y[k, j]` in f32 of factors with 16 bits, or one with 32, in quarters: no
/// sum of them rounds.
fn product_of_floats(
    elems: [&'static str; 2],
    (m, n, k): (usize, usize, usize),
    constant_y: bool,
    epilogue: bool,
) -> Case {
    let mut text = Text::default();
    let x = text.input(&[m, k], elems[0], Data::Quarters);
    let y = match constant_y {
        true => text.constant(&[k, n], elems[1]),
        false => text.input(&[k, n], elems[1], Data::Quarters),
    };
    let start = text.fill(&[m, n], "f32", "0.0");
    let mut body = String::new();
    let factors = [("a", "u"), ("b", "v")].into_iter().zip(elems).map(|((given, wide), elem)| {
        if elem == "f32" {
            return given;
        }
        body += &format!("%{wide} = arith.extf %{given} : {elem} to f32\n      ");
        wide
    });
    let factors: Vec<_> = factors.collect();
    body += &format!(
        "%p = arith.mulf %{}, %{} : f32\n      %r = arith.addf %o, %p : f32",
        factors[0], factors[1]
    );
    let inputs = [(&x, "i, k"), (&y, "k, j")];
    let mut result = text.nest("i, j, k", "ppr", &inputs, (&start, "i, j"), &body);
    if epilogue {
        result = text.epilogue(&result);
    }
    text.finish(format!("{elems:?} {m}x{n}x{k} {constant_y} {epilogue}"), &result, EXACT)
}

#[test]
fn floats_of_16_bits() {
    let mut cases = Vec::new();
    for mnk in
        [(1, 1, 2), (1, 16, 2), (1, 17, 6), (7, 15, 36), (13, 33, 64), (40, 130, 18), (5, 20, 7)]
    {
        for (constant_y, epilogue) in [(true, false), (false, false), (true, true)] {
            for elems in [["bf16"; 2], ["f16"; 2], ["f16", "f32"], ["f32", "bf16"]] {
                cases.push(product_of_floats(elems, mnk, constant_y, epilogue));
            }
        }
    }
    check(&cases);
}

/// `out[i, j] = start + sum over k of (s[..] * (x[i, k] - p)) * (t[j] * (y[k, j] - q))` in f32, from bytes.
#[derive(Clone, Copy, Debug)]
struct Quantised {
    mnk: (usize, usize, usize),
    signed: [bool; 2],
    zeros: [Option<i64>; 2],
    /// A scale for each column of y, or one for all.
    by_column: bool,
    /// The left factor comes transposed, and is turned before it is multiplied.
    turned: bool,
}

/// An operator on one tensor, whose scale and zero point are given.
fn dequantised(name: &str, dims: &[usize], signed: bool, scale: &str, zero: Option<i64>) -> String {
    let (bytes, floats) = (ty(dims, "i8"), ty(dims, "f32"));
    let widen = if signed { "arith.extsi" } else { "arith.extui" };
    let axes: Vec<String> = (0..dims.len()).map(|axis| format!("d{axis}")).collect();
    let (all, last) = (axes.join(", "), &axes[dims.len() - 1]);
    let kinds = vec!["\"parallel\""; dims.len()].join(", ");
    let (scale_ty, at) = match scale.starts_with('[') {
        true => (ty(&dims[dims.len() - 1..], "f32"), format!("({all}) -> ({last})")),
        false => ("tensor<f32>".to_owned(), format!("({all}) -> ()")),
    };
    let mut text =
        format!("  %s_{name} = graph.constant dense<{scale}> : {scale_ty} -> {scale_ty}\n");
    let identity = format!("affine_map<({all}) -> ({all})>");
    let mut maps = vec![identity.clone(), format!("affine_map<{at}>")];
    let [mut operands, mut types] =
        [vec![format!("%{name}"), format!("%s_{name}")], vec![bytes, scale_ty]];
    let mut body = format!("%w = {widen} %a : i8 to i32\n");
    let mut number = "%w";
    if let Some(zero) = zero {
        text += &format!("  %z_{name} = graph.constant dense<{zero}> : tensor<i8> -> tensor<i8>\n");
        operands.push(format!("%z_{name}"));
        types.push("tensor<i8>".to_owned());
        maps.push(format!("affine_map<({all}) -> ()>"));
        body += &format!("%v = {widen} %c : i8 to i32\n%d = arith.subi %w, %v : i32\n");
        number = "%d";
    }
    maps.push(identity);
    let named = |letter: &str| -> Vec<String> {
        types.iter().enumerate().map(|(at, ty)| format!("%{letter}{at}: {ty}")).collect()
    };
    let inside: Vec<String> = (0..types.len()).map(|at| format!("%p{at}")).collect();
    let scalars = if zero.is_some() {
        "%a: i8, %b: f32, %c: i8, %o: f32"
    } else {
        "%a: i8, %b: f32, %o: f32"
    };
    text += &format!(
        "  %f_{name} = graph.op \"DequantizeLinear\" \"f_{name}\"({}) : ({}) -> {floats} {{\n  \
         ^bb0({}):\n    %e = tensor.empty() : {floats}\n    \
         %r = linalg.generic {{indexing_maps = [{}], iterator_types = [{kinds}]}} \
         ins({} : {}) outs(%e : {floats}) {{\n    ^bb0({scalars}):\n{body}\
         %g = arith.sitofp {number} : i32 to f32\n%m = arith.mulf %g, %b : f32\n\
         linalg.yield %m : f32\n    }} -> {floats}\n    graph.yield %r : {floats}\n  }}\n",
        operands.join(", "),
        types.join(", "),
        named("p").join(", "),
        maps.join(", "),
        inside.join(", "),
        types.join(", "),
    );
    text
}

fn quantised(shape: Quantised) -> Case {
    let (m, n, k) = shape.mnk;
    let x_dims = if shape.turned { [k, m] } else { [m, k] };
    let value = |name: &str, dims: &[usize]| Value {
        name: format!("%{name}"),
        dims: dims.to_vec(),
        elem: "i8",
    };
    let inputs = vec![(value("x", &x_dims), Data::All), (value("y", &[k, n]), Data::All)];
    let columns: Vec<&str> = (0..n).map(|column| ["0.5", "0.25", "-2.0"][column % 3]).collect();
    let columns = format!("[{}]", columns.join(", "));
    let scale = if shape.by_column { &*columns } else { "0.125" };
    let (left, right) = (ty(&[m, k], "f32"), ty(&[k, n], "f32"));
    let out = ty(&[m, n], "f32");
    let mut text = format!(
        "graph.model @model inputs [\"x\", \"y\"] outputs [\"result\"] {{\n^bb0(%x: {}, %y: {}):\n",
        ty(&x_dims, "i8"),
        ty(&[k, n], "i8")
    );
    text += &dequantised("x", &x_dims, shape.signed[0], "0.25", shape.zeros[0]);
    text += &dequantised("y", &[k, n], shape.signed[1], scale, shape.zeros[1]);
    let mut factor = "%f_x";
    if shape.turned {
        let given = ty(&x_dims, "f32");
        text += &format!(
            "  %t = graph.op \"Transpose\" \"t\"(%f_x) : ({given}) -> {left} {{\n  ^bb0(%p: {given}):\n    \
             %e = tensor.empty() : {left}\n    %r = linalg.generic {{indexing_maps = \
             [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = \
             [\"parallel\", \"parallel\"]}} ins(%p : {given}) outs(%e : {left}) {{\n    \
             ^bb0(%a: f32, %o: f32):\n      linalg.yield %a : f32\n    }} -> {left}\n    \
             graph.yield %r : {left}\n  }}\n"
        );
        factor = "%t";
    }
    text += &format!(
        "  %result = graph.op \"MatMul\" \"m\"({factor}, %f_y) : ({left}, {right}) -> {out} {{\n  \
         ^bb0(%p: {left}, %q: {right}):\n    %n = arith.constant 1.5 : f32\n    \
         %e = tensor.empty() : {out}\n    %b = linalg.generic {{indexing_maps = \
         [affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]}} \
         outs(%e : {out}) {{\n    ^bb0(%o: f32):\n      linalg.yield %n : f32\n    }} -> {out}\n    \
         %r = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, \
         affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = \
         [\"parallel\", \"parallel\", \"reduction\"]}} ins(%p, %q : {left}, {right}) outs(%b : {out}) {{\n    \
         ^bb0(%a: f32, %c: f32, %o: f32):\n      %u = arith.mulf %a, %c : f32\n      \
         %v = arith.addf %o, %u : f32\n      linalg.yield %v : f32\n    }} -> {out}\n    \
         graph.yield %r : {out}\n  }}\n  graph.output %result : {out}\n}}\n"
    );
    Case { name: format!("{shape:?}"), text, inputs, tolerance: EXACT }
}

/// Scales are powers of two, and sums stay below 2^24: floats and integers give the same.
#[test]
fn products_of_dequantised_numbers() {
    let mut cases = Vec::new();
    for mnk in [(1, 1, 4), (1, 17, 8), (7, 15, 36), (13, 33, 64), (40, 130, 16), (5, 20, 7)] {
        for (signed, zeros) in [
            ([false, true], [Some(-120), None]),
            ([false, true], [Some(3), Some(0)]),
            ([true, true], [Some(-5), Some(7)]),
            ([false, false], [None, Some(-128)]),
        ] {
            for (by_column, turned) in [(false, false), (true, false), (true, true)] {
                cases.push(quantised(Quantised { mnk, signed, zeros, by_column, turned }));
            }
        }
    }
    check(&cases);
}

/// A window of dequantised pixels around each place, with a border of one and steps of two:
/// `out[o, y, x] = sum over c, i, j of (s * (p[c, 2 y + i - 1, 2 x + j - 1] - z)) * (t * w[o, c, i, j])`.
#[derive(Clone, Copy, Debug)]
struct Window {
    channels: usize,
    filters: usize,
    size: usize,
    /// Rows and columns of the window.
    taps: usize,
    zero: Option<i64>,
    /// The weight of one pixel comes with dimensions of one.
    reshaped: bool,
}

fn window(shape: Window) -> Case {
    let Window { channels, filters, size, taps, .. } = shape;
    let border = if shape.reshaped { 0 } else { 2 };
    let out = (size + border - taps) / 2 + 1;
    let padded = 2 * (out - 1) + taps;
    let value = |name: &str, dims: &[usize]| Value {
        name: format!("%{name}"),
        dims: dims.to_vec(),
        elem: "i8",
    };
    let (x_dims, w_dims) = ([channels, size, size], [filters, channels, taps, taps]);
    let inputs = vec![(value("x", &x_dims), Data::All)];
    let mut next = 0;
    let literal = text::nested(&w_dims, &mut || {
        next = (next * 5 + 3) % 251;
        format!("{}", next - 125)
    });
    let (x, w, result) = (ty(&x_dims, "f32"), ty(&w_dims, "f32"), ty(&[filters, out, out], "f32"));
    let inside = ty(&[channels, padded.max(size + 1), padded.max(size + 1)], "f32");
    let bytes = ty(&w_dims, "i8");
    let mut text = format!(
        "graph.model @model inputs [\"x\"] outputs [\"result\"] {{\n^bb0(%x: {}):\n  \
         %y = graph.constant dense<{literal}> : {bytes} -> {bytes}\n",
        ty(&x_dims, "i8")
    );
    text += &dequantised("x", &x_dims, false, "0.25", shape.zero);
    text += &dequantised("y", &w_dims, true, "0.5", None);
    let (view, seen, index) = match shape.reshaped {
        true => {
            let seen = ty(&[filters, channels], "f32");
            let dims = format!(
                "    %dims = arith.constant dense<[{filters}, {channels}]> : tensor<2xi64>\n    \
                 %seen = tensor.reshape %q(%dims) : ({w}, tensor<2xi64>) -> {seen}\n"
            );
            (dims, seen, "o, c")
        }
        false => (String::new(), w.clone(), "o, c, i, j"),
    };
    let weight = if shape.reshaped { "%seen" } else { "%q" };
    let (axes, kinds) = match shape.reshaped {
        true => ("o, y, x, c", "\"parallel\", \"parallel\", \"parallel\", \"reduction\""),
        false => (
            "o, y, x, c, i, j",
            "\"parallel\", \"parallel\", \"parallel\", \"reduction\", \"reduction\", \"reduction\"",
        ),
    };
    let (place, pixels, at) = match shape.reshaped {
        true => (String::new(), x.clone(), "c, y * 2, x * 2"),
        false => (
            format!(
                "    %z = arith.constant 0.0 : f32\n    \
                 %room = tensor.empty() : {inside}\n    %border = linalg.generic {{indexing_maps = \
                 [affine_map<(c, y, x) -> (c, y, x)>], iterator_types = [\"parallel\", \"parallel\", \
                 \"parallel\"]}} outs(%room : {inside}) {{\n    ^bb0(%o: f32):\n      linalg.yield %z : f32\n    \
                 }} -> {inside}\n    %placed = tensor.insert_slice %p into %border[0, 1, 1] \
                 [{channels}, {size}, {size}] [1, 1, 1] : {x} into {inside}\n"
            ),
            inside.clone(),
            "c, y * 2 + i, x * 2 + j",
        ),
    };
    let given = if shape.reshaped { "%p" } else { "%placed" };
    text += &format!(
        "  %result = graph.op \"Conv\" \"m\"(%f_x, %f_y) : ({x}, {w}) -> {result} {{\n  \
         ^bb0(%p: {x}, %q: {w}):\n{place}{view}    %n = arith.constant 1.5 : f32\n    \
         %e = tensor.empty() : {result}\n    %b = linalg.generic {{indexing_maps = \
         [affine_map<(o, y, x) -> (o, y, x)>], iterator_types = [\"parallel\", \"parallel\", \"parallel\"]}} \
         outs(%e : {result}) {{\n    ^bb0(%o: f32):\n      linalg.yield %n : f32\n    }} -> {result}\n    \
         %r = linalg.generic {{indexing_maps = [affine_map<({axes}) -> ({at})>, \
         affine_map<({axes}) -> ({index})>, affine_map<({axes}) -> (o, y, x)>], iterator_types = \
         [{kinds}]}} ins({given}, {weight} : {pixels}, {seen}) outs(%b : {result}) {{\n    \
         ^bb0(%a: f32, %c: f32, %o: f32):\n      %u = arith.mulf %a, %c : f32\n      \
         %v = arith.addf %o, %u : f32\n      linalg.yield %v : f32\n    }} -> {result}\n    \
         graph.yield %r : {result}\n  }}\n  graph.output %result : {result}\n}}\n"
    );
    Case { name: format!("{shape:?}"), text, inputs, tolerance: EXACT }
}

/// Windows of three and seven taps get one more for quads, and those of one pixel are seen through a reshape.
#[test]
fn windows_of_dequantised_pixels() {
    let mut cases = Vec::new();
    for (channels, filters, size, taps) in
        [(3, 16, 11, 3), (3, 33, 14, 7), (1, 20, 9, 3), (4, 16, 12, 2), (2, 1, 8, 5)]
    {
        for zero in [None, Some(-100)] {
            cases.push(window(Window { channels, filters, size, taps, zero, reshaped: false }));
        }
    }
    for (channels, filters) in [(16, 33), (24, 16), (7, 5)] {
        for zero in [None, Some(20)] {
            let one = Window { channels, filters, size: 9, taps: 1, zero, reshaped: true };
            cases.push(window(one));
        }
    }
    check(&cases);
}

/// `out[i, j] = sum over k of x[i, k] * y[k, j]` in f32, of quarters, which 16 bits hold.
fn single_product((m, n, k): (usize, usize, usize), constant_y: bool) -> Case {
    let mut text = Text::default();
    let x = text.input(&[m, k], "f32", Data::Quarters);
    let y = match constant_y {
        true => text.constant(&[k, n], "f32"),
        false => text.input(&[k, n], "f32", Data::Quarters),
    };
    let start = text.fill(&[m, n], "f32", "0.0");
    let body = "%p = arith.mulf %a, %b : f32\n      %r = arith.addf %o, %p : f32";
    let inputs = [(&x, "i, k"), (&y, "k, j")];
    let result = text.nest("i, j, k", "ppr", &inputs, (&start, "i, j"), body);
    let result = text.epilogue(&result);
    text.finish(format!("{m}x{n}x{k} {constant_y}"), &result, EXACT)
}

#[test]
fn factors_of_16_bits_on_request() {
    let words = ["graph-narrow-factors", "to", "bf16"].map(str::to_owned);
    for mnk in [(1, 1, 2), (1, 17, 6), (7, 15, 36), (40, 130, 18), (5, 20, 7)] {
        for constant_y in [true, false] {
            let case = single_product(mnk, constant_y);
            for device in [&[Device::Host][..], &processors()].concat() {
                let pass_options = vec![words.clone().into()];
                let done = run_with(&case, Options { device, pass_options, ..Options::default() });
                assert!(done.is_ok(), "{}: {}", case.name, done.unwrap_err());
            }
        }
    }
}
