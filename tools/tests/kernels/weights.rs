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
