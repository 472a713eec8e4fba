//! Convolutions, and other windows that reach past the ends of a tensor.

use super::*;

#[derive(Clone, Copy, Debug)]
pub struct Conv {
    /// Images, channels in a group, channels out of a group, groups.
    pub counts: [usize; 4],
    pub image: [usize; 2],
    pub kernel: [usize; 2],
    pub stride: usize,
    pub dilation: usize,
    pub padding: usize,
    pub constant: bool,
    pub epilogue: bool,
}

impl Conv {
    pub fn out(&self, dim: usize) -> Option<usize> {
        let reach = (self.kernel[dim] - 1) * self.dilation + 1;
        let padded = self.image[dim] + 2 * self.padding;
        (padded >= reach).then(|| (padded - reach) / self.stride + 1)
    }
}

pub fn conv(conv: Conv, elem: &'static str) -> Case {
    let (mul, add, zero) = arithmetic(elem);
    let [n, c, o, g] = conv.counts;
    let [h, w] = conv.image;
    let [kh, kw] = conv.kernel;
    let out = [conv.out(0), conv.out(1)].map(|out| out.expect("the window fits"));
    let mut text = Text::default();
    let image = text.input(&[n, g * c, h, w], elem, Data::Quarters);
    let weight_dims = [g * o, c, kh, kw];
    let weight = if conv.constant {
        text.constant(&weight_dims, elem)
    } else {
        text.input(&weight_dims, elem, Data::Quarters)
    };
    let p = conv.padding;
    let mut padded = image.clone();
    if p > 0 {
        let dims = [n, g * c, h + 2 * p, w + 2 * p];
        padded = text.line(
            &dims,
            elem,
            &format!(
                "%pad = arith.constant {zero} : {elem}\n    {{r}} = tensor.pad {} low[0, 0, {p}, {p}] \
                 high[0, 0, {p}, {p}] {{\n    ^bb0(%i: index, %j: index, %k: index, %l: index):\n      \
                 tensor.yield %pad : {elem}\n    }} : {} to {{t}}",
                image.name,
                image.ty()
            ),
        );
    }
    let [_, _, ph, pw] = padded.dims[..] else { unreachable!("images have four dimensions") };
    let groups = |text: &mut Text, value: &Value, at: usize, dims: &[usize]| {
        let reassociation =
            if at == 1 { "[[0], [1, 2], [3], [4]]" } else { "[[0, 1], [2], [3], [4]]" };
        let line = format!(
            "{{r}} = tensor.expand_shape {} {reassociation} output_shape {dims:?} : {} into {{t}}",
            value.name,
            value.ty()
        );
        text.line(dims, elem, &line)
    };
    let x = groups(&mut text, &padded, 1, &[n, g, c, ph, pw]);
    let f = groups(&mut text, &weight, 0, &[g, o, c, kh, kw]);
    let start = text.fill(&[n, g, o, out[0], out[1]], elem, zero);
    let body = format!("%p = {mul} %a, %b : {elem}\n      %r = {add} %o, %p : {elem}");
    let (s, d) = (conv.stride, conv.dilation);
    let read = format!("n, g, c, y * {s} + p * {d}, x * {s} + q * {d}");
    let sum = text.nest(
        "n, g, o, y, x, c, p, q",
        "ppppprrr",
        &[(&x, &read), (&f, "g, o, c, p, q")],
        (&start, "n, g, o, y, x"),
        &body,
    );
    let line = format!(
        "{{r}} = tensor.collapse_shape {} [[0], [1, 2], [3], [4]] : {} into {{t}}",
        sum.name,
        sum.ty()
    );
    let mut result = text.line(&[n, g * o, out[0], out[1]], elem, &line);
    if conv.epilogue {
        result = text.epilogue(&result);
    }
    text.finish(format!("{conv:?} {elem}"), &result, EXACT)
}

#[test]
fn convolutions() {
    let make = |counts, image, kernel, [stride, dilation, padding]: [usize; 3], constant| Conv {
        counts,
        image,
        kernel,
        stride,
        dilation,
        padding,
        constant,
        epilogue: false,
    };
    let cases = [
        make([1, 1, 1, 1], [1, 1], [1, 1], [1, 1, 0], false),
        make([1, 1, 1, 1], [3, 3], [3, 3], [1, 1, 1], false),
        make([1, 3, 5, 1], [7, 17], [3, 3], [1, 1, 1], true),
        make([2, 4, 16, 1], [8, 8], [3, 3], [1, 1, 1], true),
        make([1, 3, 32, 1], [9, 11], [3, 3], [2, 1, 1], true),
        make([1, 2, 7, 1], [13, 13], [3, 2], [1, 2, 0], false),
        make([1, 1, 1, 17], [9, 19], [3, 3], [1, 1, 1], true),
        make([2, 1, 1, 8], [10, 33], [5, 3], [2, 1, 2], false),
        make([1, 3, 4, 3], [6, 16], [2, 2], [2, 2, 1], true),
        make([1, 19, 33, 1], [5, 5], [1, 1], [1, 1, 0], true),
        make([1, 8, 32, 1], [7, 7], [1, 1], [2, 1, 0], true),
        make([1, 3, 16, 1], [15, 15], [7, 7], [2, 1, 3], true),
        // Rows over both axes of a small image, or over channels and one of them.
        make([1, 24, 48, 1], [7, 7], [3, 3], [1, 1, 1], true),
        make([2, 40, 64, 1], [14, 14], [1, 1], [2, 1, 0], true),
    ];
    let mut cases: Vec<Case> = cases
        .into_iter()
        .flat_map(|shape| [shape, Conv { epilogue: true, ..shape }])
        .map(|shape| conv(shape, "f32"))
        .collect();
    cases.push(conv(make([1, 2, 3, 1], [5, 9], [3, 3], [1, 1, 1], true), "f64"));
    cases.push(conv(make([1, 2, 3, 2], [5, 9], [3, 3], [1, 1, 1], true), "i32"));
    check(&cases);
}

/// A window over each channel, with a border: weighted sums, or the greatest element.
#[derive(Clone, Copy, Debug)]
pub struct Windows {
    /// Images, channels.
    pub counts: [usize; 2],
    pub image: [usize; 2],
    pub kernel: [usize; 2],
    pub stride: [usize; 2],
    pub dilation: usize,
    /// Elements before and behind the image, along both sides.
    pub border: [usize; 2],
    pub greatest: bool,
    /// Whether the border is written as `tensor.insert_slice`.
    pub inserted: bool,
}

impl Windows {
    pub fn out(&self, dim: usize) -> Option<usize> {
        let reach = (self.kernel[dim] - 1) * self.dilation + 1;
        let padded = self.image[dim] + self.border[0] + self.border[1];
        (padded >= reach).then(|| (padded - reach) / self.stride[dim] + 1)
    }
}

fn bordered(shape: Windows, elem: &'static str) -> Case {
    let (mul, add, zero) = arithmetic(elem);
    let ([n, c], [h, w], [kh, kw]) = (shape.counts, shape.image, shape.kernel);
    let [low, high] = shape.border;
    let out = [0, 1].map(|dim| shape.out(dim).expect("the window fits"));
    let is_int = elem.starts_with('i');
    let (number, body) = match (shape.greatest, is_int) {
        (false, _) => {
            (zero, format!("%p = {mul} %a, %b : {elem}\n      %r = {add} %o, %p : {elem}"))
        }
        (true, false) => ("-100.0", format!("%r = arith.maximumf %o, %a : {elem}")),
        (true, true) => ("-100", format!("%r = arith.maxsi %o, %a : {elem}")),
    };
    let mut text = Text::default();
    let x = text.input(&[n, c, h, w], elem, Data::Quarters);
    let dims = [n, c, h + low + high, w + low + high];
    let line = if shape.inserted {
        let around = text.fill(&dims, elem, number);
        format!(
            "{{r}} = tensor.insert_slice {} into {}[0, 0, {low}, {low}] [{n}, {c}, {h}, {w}] \
             [1, 1, 1, 1] : {} into {{t}}",
            x.name,
            around.name,
            x.ty()
        )
    } else {
        format!(
            "%pad = arith.constant {number} : {elem}\n    {{r}} = tensor.pad {} low[0, 0, {low}, {low}] \
             high[0, 0, {high}, {high}] {{\n    ^bb0(%i: index, %j: index, %k: index, %l: index):\n      \
             tensor.yield %pad : {elem}\n    }} : {} to {{t}}",
            x.name,
            x.ty()
        )
    };
    let padded = text.line(&dims, elem, &line);
    let start = text.fill(&[n, c, out[0], out[1]], elem, number);
    let ([sy, sx], d) = (shape.stride, shape.dilation);
    let read = format!("n, c, y * {sy} + p * {d}, x * {sx} + q * {d}");
    let weight = text.input(&[c, kh, kw], elem, Data::Quarters);
    let inputs = [(&padded, read.as_str()), (&weight, "c, p, q")];
    let out = (&start, "n, c, y, x");
    let result = text.nest("n, c, y, x, p, q", "pppprr", &inputs, out, &body);
    text.finish(format!("{shape:?} {elem}"), &result, EXACT)
}

/// Borders are laid out beside their use; strides up to four in phases.
#[test]
fn windows_with_borders() {
    let mut random = Random(11);
    let mut cases = Vec::new();
    while cases.len() < 40 {
        let mut near = |most| 1 + random.below(most);
        let shape = Windows {
            counts: [near(2), near(4)],
            // High enough for several tiles of rows, now and then.
            image: [near(20) * near(3), near(40)],
            kernel: [near(4), near(7)],
            stride: [near(3), near(5)],
            dilation: near(2),
            border: [near(4) - 1, near(4) - 1],
            greatest: near(2) == 1,
            inserted: near(2) == 1,
        };
        let elem = ["f32", "f32", "f32", "f64", "i32", "i8", "f16"][random.below(7)];
        if shape.out(0).is_some() && shape.out(1).is_some() {
            cases.push(bordered(shape, elem));
        }
    }
    check(&cases);
}

/// Sums with lanes along filters go to planes in rows of columns, after a transpose in registers: of
/// one square, of several side by side, of more columns than lanes, with a rest and an epilogue.
#[test]
fn sums_are_stored_in_rows() {
    const PASS: &str = "tile-construct-rtiles";
    let shape = |columns: usize, elem: &'static str| {
        let (image, kernel) = ([3, columns + 1], [2, 2]);
        let counts = [1, 7, 40, 1];
        let (stride, dilation, padding) = (1, 1, 0);
        let (constant, epilogue) = (true, elem == "f32");
        let case = Conv { counts, image, kernel, stride, dilation, padding, constant, epilogue };
        conv(case, elem)
    };
    let cases = [(2, "f32"), (5, "f64"), (8, "f16"), (13, "i8"), (18, "f32"), (33, "f32")];
    for device in processors() {
        let mut turned = 0;
        for (columns, elem) in cases {
            let case = shape(columns, elem);
            for rank in 0..5 {
                let asked = (PASS.to_owned(), "rank".to_owned(), rank.to_string());
                let options = Options {
                    device: device.clone(),
                    pass_options: vec![asked],
                    ..Options::default()
                };
                let context = weft::context();
                let unit = Unit::from_text(&context, &case.text, options.clone());
                let mut unit = unit.expect("a model");
                unit.lower(Stage::Tile).expect("it has tiles");
                turned += u64::from(unit.module().text().contains("transpose = "));
                let done = run_with(&case, options);
                assert_eq!(done, Ok(()), "{} rank {rank} on {device:?}", case.name);
            }
        }
        assert!(turned >= 5, "{turned} kernels on {device:?}");
    }
}
