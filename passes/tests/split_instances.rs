//! Instances mean what the whole means, by the interpreter: windows, strides, odd extents, buffers
//! that hold a little (GT-5).

use proptest::prelude::*;
use weft_dialects::ir::{context, module_op, parse};
use weft_passes::interpret::run_tile_graph;
use weft_passes::{graph, tile};

/// `y[b, i] = (Σ_r x[b, stride · i + r] · w[r])²`, the sums, too, where they leave, and where there
/// is one beside them, `g[b, i] = Σ_r x[b, stride · i + r] · w[r]` once more.
fn text(
    [batch, extent, taps, stride]: [u64; 4],
    [leaves, beside]: [bool; 2],
    capacity: u64,
) -> String {
    let long = (extent - 1) * stride + taps;
    let (x, h, w) = (
        format!("tensor<{batch}x{long}xf32>"),
        format!("tensor<{batch}x{extent}xf32>"),
        format!("tensor<{taps}xf32>"),
    );
    let (mut name, mut output, mut ty) = ("\"y\"".to_owned(), "%y".to_owned(), h.clone());
    for (own, there) in [("h", leaves), ("g", beside)] {
        if there {
            name += &format!(", \"{own}\"");
            output += &format!(", %{own}");
            ty += &format!(", {h}");
        }
    }
    let sum = |name: &str| {
        format!(
            "  %{name} = graph.op \"Sum\" \"sum\"(%x, %w) : ({x}, {w}) -> {h} {{
  ^bb0(%a: {x}, %b: {w}):
    %e = tensor.empty() : {h}
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {{indexing_maps = [#p], iterator_types = [\"parallel\", \"parallel\"]}} outs(%e : {h}) {{
    ^bb0(%o: f32):
      linalg.yield %z : f32
    }} -> {h}
    %r = linalg.generic {{indexing_maps = [#x, #w, #h], iterator_types = [\"parallel\", \"parallel\", \"reduction\"]}} ins(%a, %b : {x}, {w}) outs(%f : {h}) {{
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      %u = arith.addf %o, %t : f32
      linalg.yield %u : f32
    }} -> {h}
    graph.yield %r : {h}
  }}
"
        )
    };
    let sums = if beside { sum("h") + &sum("g") } else { sum("h") };
    format!(
        "device.machine @near arch(\"near\") features([]) {{
  device.memory @dram scope(\"device\") capacity_bytes(16777216) bytes_per_cycle(16)
  device.memory @spad scope(\"core\") capacity_bytes({capacity}) bytes_per_cycle(64)
  device.memory @vreg scope(\"thread\") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.engine @dma on @core queue(8)
  device.move @in from @dram to @spad engine(@dma) bytes_per_cycle(8) latency_cycles(20) strided fills
  device.move @out from @spad to @dram engine(@dma) bytes_per_cycle(8) latency_cycles(20) strided
  device.move @load from @spad to @vreg issue_cycles(1.0) latency_cycles(3) strided
  device.move @store from @vreg to @spad issue_cycles(1.0) latency_cycles(3) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations([\"arith.addf\", \"arith.mulf\"]) reductions([\"arith.addf\"])
}}
#p = affine_map<(b, i) -> (b, i)>
#x = affine_map<(b, i, r) -> (b, i * {stride} + r)>
#w = affine_map<(b, i, r) -> (r)>
#h = affine_map<(b, i, r) -> (b, i)>
graph.model @stencil inputs [\"x\", \"w\"] outputs [{name}] {{
^bb0(%x: {x}, %w: {w}):
{sums}  %y = graph.op \"Square\" \"square\"(%h) : ({h}) -> {h} {{
  ^bb0(%a: {h}):
    %e = tensor.empty() : {h}
    %r = linalg.generic {{indexing_maps = [#p, #p], iterator_types = [\"parallel\", \"parallel\"]}} ins(%a : {h}) outs(%e : {h}) {{
    ^bb0(%p: f32, %o: f32):
      %t = arith.mulf %p, %p : f32
      linalg.yield %t : f32
    }} -> {h}
    graph.yield %r : {h}
  }}
  graph.output {output} : {ty}
}}
"
    )
}

/// Small whole numbers: their sums are exact in any order.
fn numbers(count: u64) -> Vec<u8> {
    (0..count).flat_map(|at| ((at * 7 + at / 5) as f32 % 11.0 - 5.0).to_le_bytes()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn gt_5_instances_mean_the_whole(
        batch in 1u64..4,
        extent in 1u64..200,
        taps in 1u64..6,
        stride in 1u64..4,
        outputs in any::<[bool; 2]>(),
        capacity in prop::sample::select(vec![512u64, 1024, 2048, 16384]),
    ) {
        let context = context();
        let text = text([batch, extent, taps, stride], outputs, capacity);
        let module = parse(&context, &text).expect("it is a model");
        let module = module_op(&module);
        graph::to_tile::PASS.apply(&context, module, &[]).expect("kernels");
        let tile_graph = || {
            let ops = module.body(0).expect("a block").ops();
            ops.into_iter().find(|op| op.is("tile.graph")).expect("a graph")
        };
        let long = (extent - 1) * stride + taps;
        let inputs = [numbers(batch * long), numbers(taps)];
        let run = |graph| {
            let mut none = |_: &str, _: &str| Err("no weights".into());
            run_tile_graph(graph, &inputs, &mut none, &mut |_, _| ()).expect("it runs")
        };
        let whole = run(tile_graph());
        let options = [("instances", "all")];
        tile::instances::PASS.apply(&context, module, &options).expect("instances");
        prop_assert!(module.verify());
        prop_assert_eq!(run(tile_graph()), whole);
    }
}
