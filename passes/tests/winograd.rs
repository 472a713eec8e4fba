//! Convolutions by Winograd's algorithm compute what they did, of any size, and within the
//! error that the pass states.

use proptest::prelude::*;
use weft_dialects::ir::{context, module_op, parse};
use weft_passes::graph::winograd::PASS;
use weft_passes::interpret::Compiled;

/// `y[n, g, f, i, j] = b[f] + Σ x[n, g, c, s·i + d·r, s·j + d·t] * k[g, f, c, r, t]`.
#[derive(Clone, Copy, Debug)]
struct Conv {
    images: u64,
    groups: u64,
    filters: u64,
    channels: u64,
    rows: u64,
    columns: u64,
    window: [u64; 2],
    stride: u64,
    dilation: u64,
    elem: &'static str,
}

const PLAIN: Conv = Conv {
    images: 1,
    groups: 1,
    filters: 2,
    channels: 8,
    rows: 5,
    columns: 4,
    window: [3, 3],
    stride: 1,
    dilation: 1,
    elem: "f32",
};

impl Conv {
    fn shapes(&self) -> [Vec<u64>; 4] {
        let [r, t] = self.window;
        let wide = |out: u64, over: u64| (out - 1) * self.stride + (over - 1) * self.dilation + 1;
        let (high, wide) = (wide(self.rows, r), wide(self.columns, t));
        [
            vec![self.images, self.groups, self.channels, high, wide],
            vec![self.groups, self.filters, self.channels, r, t],
            vec![self.filters],
            vec![self.images, self.groups, self.filters, self.rows, self.columns],
        ]
    }

    fn text(&self) -> String {
        let elem = self.elem;
        let ty = |shape: &[u64]| {
            let dims: String = shape.iter().map(|dim| format!("{dim}x")).collect();
            format!("tensor<{dims}{elem}>")
        };
        let [x, k, b, y] = self.shapes().map(|shape| ty(&shape));
        let (s, d) = (self.stride, self.dilation);
        let axes = "n, g, f, i, j, c, r, t";
        let kind = if elem.starts_with('i') { "i" } else { "f" };
        let (parallel, reduction) = ("\"parallel\"", "\"reduction\"");
        let five = [parallel; 5].join(", ");
        format!(
            "func.func @f(%x: {x}, %k: {k}, %b: {b}) -> {y} {{
              %e = tensor.empty() : {y}
              %y = linalg.generic {{indexing_maps = [affine_map<(n, g, f, i, j) -> (f)>,
                  affine_map<(n, g, f, i, j) -> (n, g, f, i, j)>], iterator_types = [{five}]}}
                ins(%b : {b}) outs(%e : {y}) {{
              ^bb0(%a: {elem}, %o: {elem}):
                linalg.yield %a : {elem}
              }} -> {y}
              %0 = linalg.generic {{indexing_maps = [
                  affine_map<({axes}) -> (n, g, c, i * {s} + r * {d}, j * {s} + t * {d})>,
                  affine_map<({axes}) -> (g, f, c, r, t)>, affine_map<({axes}) -> (n, g, f, i, j)>],
                iterator_types = [{five}, {reduction}, {reduction}, {reduction}]}}
                ins(%x, %k : {x}, {k}) outs(%y : {y}) {{
              ^bb0(%a: {elem}, %w: {elem}, %sum: {elem}):
                %p = arith.mul{kind} %a, %w : {elem}
                %s = arith.add{kind} %sum, %p : {elem}
                linalg.yield %s : {elem}
              }} -> {y}
              return %0 : {y}
            }}"
        )
    }

    /// What it computes before and after the pass, and whether that changed anything.
    fn both(&self, options: &[(&str, &str)]) -> ([Vec<f32>; 2], bool) {
        let context = context();
        let module = parse(&context, &self.text()).expect("the text is right");
        let op = module_op(&module);
        let [x, k, b, _] = self.shapes();
        let inputs = [x, k, b].map(|shape| {
            let count = shape.iter().product::<u64>();
            let number = |at: u64| ((at * 7919 + 13) % 2003) as f32 / 1001.5 - 1.0;
            (0..count).flat_map(|at| number(at).to_le_bytes()).collect::<Vec<u8>>()
        });
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let answer = || {
            let function = op.body(0).expect("a module").ops()[0];
            let compiled = Compiled::of(function).expect("it is a payload");
            let bytes = compiled.run(&inputs).expect("it runs").remove(0);
            let words = bytes.chunks_exact(4).map(|word| word.try_into().expect("four bytes"));
            words.map(f32::from_le_bytes).collect::<Vec<_>>()
        };
        let text = op.text();
        let before = answer();
        PASS.apply(&context, op, options).expect("it applies");
        assert!(op.verify());
        ([before, answer()], op.text() != text)
    }

    fn is_left(&self, options: &[(&str, &str)]) -> bool {
        let context = context();
        let module = parse(&context, &self.text()).expect("the text is right");
        let op = module_op(&module);
        let text = op.text();
        PASS.apply(&context, op, options).expect("it applies");
        op.text() == text
    }
}

fn convs() -> impl Strategy<Value = Conv> {
    (1u64..3, 1u64..3, 1u64..4, 1u64..20, 1u64..10, 1u64..10).prop_map(
        |(images, groups, filters, channels, rows, columns)| Conv {
            images,
            groups,
            filters,
            channels,
            rows,
            columns,
            ..PLAIN
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn transformed_is_equal_within_the_stated_error(conv in convs(), large: bool) {
        let tiles = if large { "4x4" } else { "2x2" };
        let ([before, after], changed) = conv.both(&[("tiles", tiles), ("error", "100000")]);
        prop_assert!(changed);
        // Inputs are at most one, so are the products; both are rounded.
        let c = conv.channels as f32;
        let times = if large { 445.7 * (1.0 + 32.0 / c) } else { 1.0 + 24.0 / c };
        let terms = 9.0 * c + 1.0;
        let direct = terms * f32::EPSILON / 2.0 * terms;
        for (one, other) in before.iter().zip(&after) {
            prop_assert!((one - other).abs() <= (1.0 + times) * direct, "{one} {other}");
        }
    }
}

/// What hangs over the last whole tile is computed and not kept.
#[test]
fn tails_are_right_for_every_rest() {
    for rows in 1..6 {
        for columns in 1..6 {
            let conv = Conv { rows, columns, ..PLAIN };
            for tiles in ["2x2", "4x4", "any"] {
                let ([before, after], changed) = conv.both(&[("tiles", tiles), ("error", "1e6")]);
                assert!(changed);
                let close = |(one, other): (&f32, &f32)| (one - other).abs() < 1e-4;
                assert!(before.iter().zip(&after).all(close), "{conv:?}");
            }
        }
    }
}

#[test]
fn what_is_no_3_by_3_of_floats_with_stride_1_stays() {
    let on: &[(&str, &str)] = &[("tiles", "any"), ("error", "1e6")];
    assert!(!PLAIN.is_left(on));
    for other in [
        Conv { stride: 2, ..PLAIN },
        Conv { dilation: 2, ..PLAIN },
        Conv { window: [5, 5], ..PLAIN },
        Conv { window: [3, 2], ..PLAIN },
        Conv { elem: "f16", ..PLAIN },
        Conv { elem: "i32", ..PLAIN },
    ] {
        assert!(other.is_left(on), "{other:?}");
    }
    assert!(!Conv { elem: "f64", ..PLAIN }.is_left(on));
}

#[test]
fn it_is_off_and_errors_have_a_bound() {
    assert!(PLAIN.is_left(&[]));
    // 8 channels: four times the direct bound, and 2228 times.
    assert!(!PLAIN.is_left(&[("tiles", "2x2")]));
    assert!(PLAIN.is_left(&[("tiles", "2x2"), ("error", "3.9")]));
    assert!(PLAIN.is_left(&[("tiles", "4x4")]));
    assert!(!PLAIN.is_left(&[("tiles", "4x4"), ("error", "2229")]));
    assert!(Conv { channels: 7, ..PLAIN }.is_left(&[("tiles", "2x2")]));
}
