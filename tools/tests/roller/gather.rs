//! Convolutions whose windows are written out compute what they did, of any size.

use proptest::prelude::*;
use weft_dialects::ir::{context, module_op, parse};
use weft_passes::graph::gather_windows::PASS;
use weft_passes::interpret::Compiled;

/// `y[n, f, i, j] += x[n, c, s·i + d·r, s·j + d·t] * k[f, c, r, t]`, channels last or not.
#[derive(Clone, Copy, Debug)]
struct Conv {
    images: u64,
    filters: u64,
    out: u64,
    channels: u64,
    window: u64,
    stride: u64,
    dilation: u64,
    last: bool,
}

impl Conv {
    fn wide(&self) -> u64 {
        (self.out - 1) * self.stride + (self.window - 1) * self.dilation + 1
    }

    fn shapes(&self) -> [Vec<u64>; 3] {
        let place = |channels: u64, size: u64| match self.last {
            true => vec![self.images, size, size, channels],
            false => vec![self.images, channels, size, size],
        };
        let filter = vec![self.filters, self.channels, self.window, self.window];
        [place(self.channels, self.wide()), filter, place(self.filters, self.out)]
    }

    fn text(&self) -> String {
        let ty = |shape: &[u64]| {
            let dims: String = shape.iter().map(|dim| format!("{dim}x")).collect();
            format!("tensor<{dims}i64>")
        };
        let [x, k, y] = self.shapes().map(|shape| ty(&shape));
        let at =
            |axis: &str, tap: &str| format!("{axis} * {} + {tap} * {}", self.stride, self.dilation);
        let place = |channel: &str, i: &str, j: &str| match self.last {
            true => format!("n, {i}, {j}, {channel}"),
            false => format!("n, {channel}, {i}, {j}"),
        };
        let axes = "n, f, i, j, c, r, t";
        let read = place("c", &at("i", "r"), &at("j", "t"));
        let written = place("f", "i", "j");
        format!(
            "func.func @f(%x: {x}, %k: {k}, %y: {y}) -> {y} {{
              %0 = linalg.generic {{indexing_maps = [affine_map<({axes}) -> ({read})>,
                  affine_map<({axes}) -> (f, c, r, t)>, affine_map<({axes}) -> ({written})>],
                iterator_types = [\"parallel\", \"parallel\", \"parallel\", \"parallel\",
                                  \"reduction\", \"reduction\", \"reduction\"]}}
                ins(%x, %k : {x}, {k}) outs(%y : {y}) {{
              ^bb0(%a: i64, %b: i64, %sum: i64):
                %p = arith.muli %a, %b : i64
                %s = arith.addi %sum, %p : i64
                linalg.yield %s : i64
              }} -> {y}
              return %0 : {y}
            }}"
        )
    }
}

fn convs() -> impl Strategy<Value = Conv> {
    let sizes = (1u64..3, 1u64..4, 1u64..5, 1u64..4, 2u64..4);
    (sizes, 1u64..4, 1u64..3, any::<bool>()).prop_map(
        |((images, filters, out, channels, window), stride, dilation, last)| Conv {
            images,
            filters,
            out,
            channels,
            window,
            stride,
            dilation,
            last,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn ro_4_gathered_is_equal(conv in convs()) {
        let context = context();
        let module = parse(&context, &conv.text()).expect("the text is right");
        let op = module_op(&module);
        let inputs = conv.shapes().map(|shape| {
            let count = shape.iter().product::<u64>() as i64;
            (0..count).flat_map(|at| ((at * 7 + 3) % 23 - 11).to_le_bytes()).collect::<Vec<u8>>()
        });
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let answer = || {
            let function = op.body(0).expect("a module").ops()[0];
            let compiled = Compiled::of(function).expect("it is a payload");
            compiled.run(&inputs).expect("it runs")
        };
        let before = answer();
        PASS.apply(&context, op, &[]).expect("it applies");
        prop_assert!(op.verify());
        prop_assert_eq!(op.text().matches("linalg.generic").count(), 2);
        prop_assert_eq!(answer(), before);
    }
}
