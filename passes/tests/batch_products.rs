//! Products of one weight as one product of all rows compute what they did, in any order of text.

use std::fmt::Write as _;

use proptest::prelude::*;
use weft_dialects::ir::{context, module_op, parse};
use weft_passes::graph::batch_products::PASS;
use weft_passes::interpret::run_model;

/// `h[l, t] = -(h[l-1, t] · W[l] + h[l, t-1] · U[l])`, rows of one state in each layer.
#[derive(Clone, Copy, Debug)]
struct Network {
    layers: usize,
    steps: usize,
    rows: usize,
    width: usize,
    /// Whether the text goes through the layers at each step, or through the steps of each layer.
    by_step: bool,
}

const MACHINE: &str = r#"
device.machine @few arch("x86-64") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(1)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(32)
  device.unit @core count(2) clock_mhz(1000)
  device.move @load from @dram to @vreg strided fills
  device.move @store from @vreg to @dram strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}
"#;

impl Network {
    fn text(&self) -> String {
        let Self { layers, steps, rows, width, by_step } = *self;
        let (state, weight) =
            (format!("tensor<{rows}x{width}xf32>"), format!("tensor<{width}x{width}xf32>"));
        let mut text = format!(
            "#mk = affine_map<(m, n, k) -> (m, k)>\n#kn = affine_map<(m, n, k) -> (k, n)>\n\
             #mn = affine_map<(m, n, k) -> (m, n)>\n#ij = affine_map<(i, j) -> (i, j)>\n{MACHINE}"
        );
        let inputs: Vec<_> = (0..steps).map(|t| format!("\"x{t}\"")).collect();
        let outputs: Vec<_> = (0..steps).map(|t| format!("\"y{t}\"")).collect();
        let args: Vec<_> = (0..steps).map(|t| format!("%h0_{t}: {state}")).collect();
        let (inputs, outputs, args) = (inputs.join(", "), outputs.join(", "), args.join(", "));
        writeln!(text, "graph.model @m inputs [{inputs}] outputs [{outputs}] {{\n^bb0({args}):")
            .unwrap();
        for layer in 1..=layers {
            for (name, seed) in [("w", 0.25), ("u", -0.5)] {
                let value = seed / layer as f64;
                writeln!(
                    text,
                    "  %{name}{layer} = graph.constant dense<{value:?}> : {weight} -> {weight}"
                )
                .unwrap();
            }
        }
        let cells: Vec<(usize, usize)> = match by_step {
            true => (0..steps).flat_map(|t| (1..=layers).map(move |l| (l, t))).collect(),
            false => (1..=layers).flat_map(|l| (0..steps).map(move |t| (l, t))).collect(),
        };
        for (l, t) in cells {
            let below = l - 1;
            text += &product(
                &format!("a{l}_{t}"),
                &format!("h{below}_{t}"),
                &format!("w{l}"),
                &state,
                &weight,
            );
            let mut reads = vec![format!("a{l}_{t}")];
            if t > 0 {
                let before = t - 1;
                text += &product(
                    &format!("b{l}_{t}"),
                    &format!("h{l}_{before}"),
                    &format!("u{l}"),
                    &state,
                    &weight,
                );
                reads.push(format!("b{l}_{t}"));
            }
            text += &cell(&format!("h{l}_{t}"), &reads, &state);
        }
        let last: Vec<_> = (0..steps).map(|t| format!("%h{layers}_{t}")).collect();
        let types = vec![state.as_str(); steps].join(", ");
        text + &format!("  graph.output {} : {types}\n}}\n", last.join(", "))
    }

    /// What it computes before and after the pass, and how many products there are then.
    fn both(&self) -> ([Vec<Vec<u8>>; 2], usize) {
        let context = context();
        let module = parse(&context, &self.text()).expect("the text is right");
        let op = module_op(&module);
        let inputs: Vec<Vec<u8>> = (0..self.steps)
            .map(|t| {
                let number = |at: usize| (((at * 31 + t * 17) % 23) as f32 - 11.0) / 8.0;
                (0..self.rows * self.width).flat_map(|at| number(at).to_le_bytes()).collect()
            })
            .collect();
        let answer = || {
            let model = op.body(0).expect("a module").ops()[1];
            let mut weights = |_: &str, _: &str| Err("there are no weights".into());
            run_model(model, &inputs, &mut weights, &mut |_, _| {}).expect("it runs")
        };
        let before = answer();
        PASS.apply(&context, op, &[]).expect("it applies");
        assert!(op.verify());
        ([before, answer()], op.text().matches("graph.op \"MatMul\"").count())
    }
}

fn product(name: &str, x: &str, w: &str, state: &str, weight: &str) -> String {
    format!(
        r#"  %{name} = graph.op "MatMul" "{name}"(%{x}, %{w}) : ({state}, {weight}) -> {state} {{
  ^bb0(%p: {state}, %q: {weight}):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : {state}
    %f = linalg.generic {{indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]}} outs(%e : {state}) {{
    ^bb0(%o: f32):
      linalg.yield %z : f32
    }} -> {state}
    %r = linalg.generic {{indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}} ins(%p, %q : {state}, {weight}) outs(%f : {state}) {{
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    }} -> {state}
    graph.yield %r : {state}
  }}
"#
    )
}

fn cell(name: &str, reads: &[String], state: &str) -> String {
    let list =
        |of: &dyn Fn(usize) -> String| (0..reads.len()).map(of).collect::<Vec<_>>().join(", ");
    let operands = list(&|n| format!("%{}", reads[n]));
    let types = list(&|_| state.to_owned());
    let args = list(&|n| format!("%p{n}: {state}"));
    let maps = list(&|_| "#ij".to_owned());
    let ins = list(&|n| format!("%p{n}"));
    let scalars = list(&|n| format!("%i{n}: f32"));
    let last = reads.len() - 1;
    format!(
        r#"  %{name} = graph.op "Cell" "{name}"({operands}) : ({types}) -> {state} {{
  ^bb0({args}):
    %e = tensor.empty() : {state}
    %r = linalg.generic {{indexing_maps = [{maps}, #ij], iterator_types = ["parallel", "parallel"]}} ins({ins} : {types}) outs(%e : {state}) {{
    ^bb0({scalars}, %o: f32):
      %s = arith.addf %i0, %i{last} : f32
      %n = arith.negf %s : f32
      linalg.yield %n : f32
    }} -> {state}
    graph.yield %r : {state}
  }}
"#
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    /// Products of inputs become one a layer; those of the state stay one a step.
    #[test]
    fn products_of_inputs_become_one_a_layer(
        layers in 1usize..4, steps in 1usize..5, rows in 0usize..4, width in 1usize..6,
        by_step: bool,
    ) {
        let network = Network { layers, steps, rows, width, by_step };
        let ([before, after], products) = network.both();
        prop_assert_eq!(before, after);
        if rows > 0 && width > 2 {
            prop_assert_eq!(products, layers * steps, "{} would be {}", layers * (2 * steps - 1), layers * steps);
        }
    }
}
