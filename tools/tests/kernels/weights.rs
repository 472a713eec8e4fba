//! Products of weights that are made of narrower numbers, where they are multiplied.

use super::*;

/// `out[i, j] = sum over b, e of x[i, b * block + e] * (q - z[b, j]) * s[b, j]`, with q in bytes.
#[derive(Clone, Copy, Debug)]
struct Weights {
    /// Rows, columns, blocks, and places in a block.
    extents: (usize, usize, usize, usize),
    elem: &'static str,
    zeros: bool,
    /// The weights are rows of what they are multiplied with.
    transposed: bool,
    /// Two weights in a byte, the lower bits first; they are taken apart by a kernel of their own.
    halves: bool,
    epilogue: bool,
}

const PLAIN: Weights = Weights {
    extents: (3, 20, 2, 8),
    elem: "f32",
    zeros: false,
    transposed: false,
    halves: false,
    epilogue: false,
};

fn product(shape: Weights) -> Case {
    let ((m, n, blocks, block), elem) = (shape.extents, shape.elem);
    let k = blocks * block;
    let mut text = Text::default();
    let x = text.input(&[m, k], elem, Data::Quarters);
    let order = |inner: &str| match shape.transposed {
        true => format!("j, b, {inner}"),
        false => format!("b, {inner}, j"),
    };
    let dims = |inner: usize| match shape.transposed {
        true => vec![n, blocks, inner],
        false => vec![blocks, inner, n],
    };
    let [own, scale] = [if shape.transposed { "j, b" } else { "b, j" }; 2];
    let scales = if shape.transposed { [n, blocks] } else { [blocks, n] };
    let mut q = text.constant(&dims(if shape.halves { block / 2 } else { block }), "i8");
    if shape.halves {
        let shifts = text.constant(&[2], "i8");
        let [from, to] = ["e", "e, h"].map(order);
        let to = if shape.transposed { to } else { "b, e, h, j".to_owned() };
        let apart = match shape.transposed {
            true => vec![n, blocks, block / 2, 2],
            false => vec![blocks, block / 2, 2, n],
        };
        let empty = text.empty(&apart, "i8");
        let body = "%one = arith.constant 4 : i8\n      %low = arith.andi %b, %one : i8\n      \
                    %up = arith.shrui %a, %low : i8\n      %m = arith.constant 15 : i8\n      \
                    %r = arith.andi %up, %m : i8";
        let inputs = [(&q, &*from), (&shifts, "h")];
        let parts = text.nest("b, e, h, j", "pppp", &inputs, (&empty, &to), body);
        q = text.reshaped(&parts, &dims(block));
    }
    let s = text.constant(&scales, elem);
    let mut inputs = vec![(q, order("e")), (s, scale.to_owned())];
    let zeros = shape.zeros.then(|| text.constant(&scales, "i8"));
    inputs.extend(zeros.map(|zeros| (zeros, own.to_owned())));
    let inputs: Vec<_> = inputs.iter().map(|(value, index)| (value, &**index)).collect();
    let mut body = String::from("%w = arith.extsi %a : i8 to i32\n      ");
    if shape.zeros {
        body += "%z = arith.extsi %c : i8 to i32\n      %d = arith.subi %w, %z : i32\n      ";
    }
    let number = if shape.zeros { "%d" } else { "%w" };
    body += &format!(
        "%g = arith.sitofp {number} : i32 to {elem}\n      %r = arith.mulf %g, %b : {elem}"
    );
    let empty = text.empty(&dims(block), elem);
    let made = text.nest("b, e, j", "ppp", &inputs, (&empty, &order("e")), &body);
    let (flat, index) = match shape.transposed {
        true => ([n, k], "j, k"),
        false => ([k, n], "k, j"),
    };
    let weights = text.reshaped(&made, &flat);
    let start = text.fill(&[m, n], elem, "0.0");
    let body = format!("%p = arith.mulf %a, %b : {elem}\n      %r = arith.addf %o, %p : {elem}");
    let inputs = [(&x, "i, k"), (&weights, index)];
    let mut result = text.nest("i, j, k", "ppr", &inputs, (&start, "i, j"), &body);
    if shape.epilogue {
        result = text.epilogue(&result);
    }
    text.finish(format!("{shape:?}"), &result, EXACT)
}

#[test]
fn of_narrower_numbers() {
    let mut cases = Vec::new();
    for extents in [(1, 1, 1, 2), (1, 17, 3, 4), (1, 130, 2, 16), (2, 33, 5, 6), (13, 40, 2, 10)] {
        for (zeros, halves) in [(false, false), (true, false), (true, true), (false, true)] {
            for transposed in [false, true] {
                cases.push(product(Weights { extents, zeros, transposed, halves, ..PLAIN }));
            }
        }
        cases.push(product(Weights { extents, epilogue: true, zeros: true, ..PLAIN }));
        cases.push(product(Weights { extents, elem: "f64", ..PLAIN }));
    }
    always(&cases);
}

/// Runs all cases with every constant made where it is read.
fn always(cases: &[Case]) {
    let words = ["tile-inline-constants", "inline", "always"].map(str::to_owned);
    let options = |device: &Device| Options {
        device: device.clone(),
        pass_options: vec![words.clone().into()],
        ..Options::default()
    };
    let devices = [&[Device::Host][..], &processors()].concat();
    for (number, case) in cases.iter().enumerate() {
        let device = &devices[number % devices.len()];
        let done = run_with(case, options(device));
        assert!(done.is_ok(), "{} on {device:?}: {}\n{}", case.name, done.unwrap_err(), case.text);
    }
}

/// `out[i, j] = sum over k of x[i, k] * (q[k, j] * s[j])` with q in fewer bits than a byte has.
fn of_bits(elem: &'static str, (m, n, k): (usize, usize, usize), transposed: bool) -> Case {
    let (signed, bits) = (!elem.starts_with('u'), elem[elem.len() - 1..].parse::<u32>().unwrap());
    let dims = if transposed { [n, k] } else { [k, n] };
    let least = if signed { -(1i64 << (bits - 1)) } else { 0 };
    let mut next = 0;
    let numbers: Vec<String> = (0..dims[0])
        .map(|_| {
            let row: Vec<String> = (0..dims[1])
                .map(|_| {
                    next = (next * 5 + 3) % 64;
                    (least + next % (1 << bits)).to_string()
                })
                .collect();
            format!("[{}]", row.join(", "))
        })
        .collect();
    let scales: Vec<&str> = (0..n).map(|column| ["0.5", "0.25", "-2.0"][column % 3]).collect();
    let widen = if signed { "arith.extsi" } else { "arith.extui" };
    let (own, column, index) = match transposed {
        true => (ty(&dims, elem), "(i, j) -> (i)", "(i, j, k) -> (j, k)"),
        false => (ty(&dims, elem), "(i, j) -> (j)", "(i, j, k) -> (k, j)"),
    };
    let (bytes, floats) = (ty(&dims, "i8"), ty(&dims, "f32"));
    let (x, out, s) = (ty(&[m, k], "f32"), ty(&[m, n], "f32"), ty(&[n], "f32"));
    let text = format!(
        "graph.model @model inputs [\"x\"] outputs [\"result\"] {{\n^bb0(%x: {x}):\n  \
         %q = graph.constant dense<[{}]> : {own} -> {own}\n  \
         %s = graph.constant dense<[{}]> : {s} -> {s}\n  \
         %w = graph.op \"DequantizeLinear\" \"w\"(%q, %s) : ({own}, {s}) -> {floats} {{\n  \
         ^bb0(%p: {bytes}, %t: {s}):\n    %e = tensor.empty() : {floats}\n    \
         %r = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<{column}>, \
         affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]}} \
         ins(%p, %t : {bytes}, {s}) outs(%e : {floats}) {{\n    ^bb0(%a: i8, %b: f32, %o: f32):\n      \
         %c = {widen} %a : i8 to i32\n      %g = arith.sitofp %c : i32 to f32\n      \
         %h = arith.mulf %g, %b : f32\n      linalg.yield %h : f32\n    }} -> {floats}\n    \
         graph.yield %r : {floats}\n  }}\n  \
         %result = graph.op \"MatMul\" \"m\"(%x, %w) : ({x}, {floats}) -> {out} {{\n  \
         ^bb0(%p: {x}, %t: {floats}):\n    %z = arith.constant 0.0 : f32\n    \
         %e = tensor.empty() : {out}\n    %f = linalg.generic {{indexing_maps = \
         [affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]}} \
         outs(%e : {out}) {{\n    ^bb0(%o: f32):\n      linalg.yield %z : f32\n    }} -> {out}\n    \
         %r = linalg.generic {{indexing_maps = [affine_map<(i, j, k) -> (i, k)>, \
         affine_map<{index}>, affine_map<(i, j, k) -> (i, j)>], iterator_types = \
         [\"parallel\", \"parallel\", \"reduction\"]}} ins(%p, %t : {x}, {floats}) outs(%f : {out}) {{\n    \
         ^bb0(%a: f32, %b: f32, %o: f32):\n      %g = arith.mulf %a, %b : f32\n      \
         %h = arith.addf %o, %g : f32\n      linalg.yield %h : f32\n    }} -> {out}\n    \
         graph.yield %r : {out}\n  }}\n  graph.output %result : {out}\n}}\n",
        numbers.join(", "),
        scales.join(", "),
    );
    let value = Value { name: "%x".to_owned(), dims: vec![m, k], elem: "f32" };
    let name = format!("{elem} {m}x{n}x{k} {transposed}");
    Case { name, text, inputs: vec![(value, Data::Quarters)], tolerance: EXACT }
}

/// Several in a byte where their number divides the sum, each in its own where it does not.
#[test]
fn of_fewer_bits() {
    let mut cases = Vec::new();
    for elem in ["i4", "ui4", "i2", "ui2"] {
        for mnk in [(1, 1, 4), (1, 17, 8), (3, 33, 12), (1, 130, 16), (2, 5, 7), (9, 40, 6)] {
            cases.extend([false, true].map(|transposed| of_bits(elem, mnk, transposed)));
        }
    }
    always(&cases);
}
