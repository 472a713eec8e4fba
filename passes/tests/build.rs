//! Builders write the operations that they document.

use weft_dialects::device::build::{Along, CopyOp, FillOp, TransferOp};
use weft_dialects::device::{self, Limit, Scope, View};
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Builder, Linear, Type, attr, context, module_op, parse, ty};
use weft_dialects::task::build::{Arenas, ProgramOp, RangeOp};
use weft_dialects::tile::build::{ComputeOp, GraphOp, RunOp};
use weft_dialects::tile::{self, RTile, Schedule};
use weft_dialects::{graph, task};

const MACHINE: &str = r#"device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @spad scope("core") capacity_bytes(131072)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(2)
  device.engine @dma on @core queue(4)
  device.move @in from @dram to @spad engine(@dma) strided fills
  device.move @load from @spad to @vreg strided
  device.move @store from @vreg to @spad strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32])
    operations(["arith.addf"]) reductions(["arith.addf"])
}
"#;

/// What `build` appends to a module with a machine, which reads as it was written.
#[track_caller]
fn check(build: impl for<'c> Fn(&mut Builder<'c>), lines: &[&str]) {
    let context = context();
    let module = parse(&context, MACHINE).expect("the machine parses");
    let top = module_op(&module);
    build(&mut Builder::at_end(&context, top.body(0).expect("a module has a block")));
    assert!(top.verify(), "what was built verifies");
    let text = top.text();
    for line in lines {
        assert!(text.contains(line), "{line}\nis not in\n{text}");
    }
    let again = parse(&context, &text).expect("what was built parses");
    assert_eq!(module_op(&again).text(), text);
}

#[test]
fn a_model() {
    check(
        |b| {
            let f32 = ty::tensor(&[4], Type::float32(b.context()));
            let inputs = [("x".to_owned(), f32)];
            let (_, body) = graph::build::model(b, "m", &inputs, &["y".to_owned()]);
            let b = &mut b.into_block(body);
            let w = graph::build::weight(b, "w.bias", "model", &"0".repeat(32), f32);
            let one = graph::build::constant(b, attr::dense(f32, &[0; 16]), f32);
            let operands = [body.arg(0), w, one];
            let y = graph::build::operator(b, ["Add", "add_1"], &operands, &[f32], |_, args| {
                vec![args[1]]
            });
            graph::build::output(b, &y);
        },
        &[
            r#"graph.model @m inputs ["x"] outputs ["y"] {"#,
            r#"graph.weight "w.bias" in "model" hash "00000000000000000000000000000000" :"#,
            "graph.constant dense<0.000000e+00> : tensor<4xf32> -> tensor<4xf32>",
            r#"graph.op "Add" "add_1"("#,
            "graph.yield %",
            "graph.output %",
        ],
    );
}

/// A tile-graph that runs a kernel of one load, one compute and one store.
fn tiled<'c>(b: &mut Builder<'c>) {
    let f32 = Type::float32(b.context());
    let (row, square) = (ty::tensor(&[64], f32), ty::tensor(&[8, 8], f32));
    let kernel = tile::build::kernel(b, "k", &[row, row]);
    let inside = &mut b.into_block(kernel.body);
    let x = tile::build::load(inside, kernel.body.arg(0), "spad");
    let out = kernel.body.arg(1);
    let rtile = |memory: &str, size| RTile { memory: memory.to_owned(), sizes: vec![size] };
    let compute = ComputeOp {
        inputs: &[x],
        inits: &[out],
        instruction: "valu",
        lanes: Some(0),
        axes: None,
        tiles: &[rtile("spad", 32), rtile("vreg", 16)],
        layouts: None,
        schedule: &Schedule::default(),
        because: Some("it is the only one"),
    };
    let (compute, body) = compute.build(inside);
    let mut payload = Payload::new(b.context(), body, b.location());
    let each = || vec![Linear::axis(1, 0)];
    let axes = [Axis::Parallel];
    let (read, write) = ((body.arg(0), each()), (body.arg(1), each()));
    let copied = payload.generic(&axes, &[read], &[write], |_, args| vec![args[0]]);
    tile::build::yield_values(payload.builder(), &copied);
    let stored = tile::build::store(inside, compute.result(0), "vreg", out);
    tile::build::yield_values(inside, &[stored]);
    let graph =
        GraphOp { name: "g", inputs: &["x"], outputs: &["y"], signature: (&[square], &[row]) };
    let block = graph.build(b);
    let b = &mut b.into_block(block);
    let seen = tile::build::view(b, block.arg(0), row);
    let place = tile::build::empty(b, "dram", row);
    let run =
        RunOp { name: "r", kernel: "k", inputs: &[seen], inits: &[place], at: &[0, 0] }.build(b);
    let edge = tile::build::connect(b, run.result(0), "spad");
    tile::build::output(b, &[edge.result(0)]);
}

#[test]
fn a_tile_graph() {
    check(
        tiled,
        &[
            r#"tile.graph @g inputs ["x"] outputs ["y"] : (tensor<8x8xf32>) -> tensor<64xf32> {"#,
            "tile.view %arg0 : tensor<8x8xf32> to tensor<64xf32>",
            "tile.empty in @dram : tensor<64xf32>",
            r#"tile.run "r" @k("#,
            " in @spad : tensor<64xf32>",
            "tile.kernel @k {",
            "tile.load %arg0 to @spad : tensor<64xf32>",
            r#"on @valu lanes 0 tiles [#tile.rtile<"spad"[32]>, #tile.rtile<"vreg"[16]>]"#,
            " from @vreg to %arg1 : tensor<64xf32>",
        ],
    );
}

#[test]
fn a_program() {
    check(
        |b| {
            tiled(b);
            let f32 = Type::float32(b.context());
            let (tensor, memref) = (ty::tensor(&[64], f32), ty::memref(&[64], f32, None));
            let program = ProgramOp {
                name: "p",
                unit: "core",
                units: 2,
                arenas: Arenas { device: 4096, host: 64, cluster: 0 },
                moved: &[("in", 256)],
                signature: (&[tensor], &[tensor]),
                lengths: None,
            };
            let (_, body) = program.build(b);
            let b = &mut b.into_block(body);
            let x = task::build::input(b, 0, "x", memref);
            let y = task::build::output(b, 0, "y", memref);
            let w = task::build::weight(b, "w", "model", &"0".repeat(32), memref);
            task::build::literal(b, attr::dense(tensor, &[0; 256]), memref);
            task::build::constant(b, "c", "k", &[w], &[memref]);
            let buffer = task::build::buffer(b, 128, "dram", None, memref);
            task::build::view(b, buffer, ty::memref(&[8, 8], f32, None));
            let first = RangeOp {
                name: "r",
                kernel: "k",
                tasks: 0..2,
                part: None,
                unit: 1,
                buffers: &[x, buffer],
                at: &[],
                waits: &[],
                cycles: Some(7),
            };
            let done = first.build(b);
            task::build::launch(b);
            let waits = [done];
            let part = Some([1, 2]);
            RangeOp { buffers: &[buffer, y], waits: &waits, cycles: None, part, ..first }.build(b);
        },
        &[
            "task.program @p on @core units 2 arena 4096 : (tensor<64xf32>) -> tensor<64xf32>",
            "host_arena = 64 : i64",
            "moved = [[@in, 256]]",
            r#"task.input 0 "x" : memref<64xf32>"#,
            r#"task.output 0 "y" : memref<64xf32>"#,
            "task.literal dense<0.000000e+00> : tensor<64xf32> -> memref<64xf32>",
            r#"task.constant "c" @k("#,
            "task.buffer at 128 in @dram : memref<64xf32>",
            r#"task.range "r" @k[0 to 2] on 1(%"#,
            r#"task.range "r" @k[0 to 2] part 1 of 2 on 1(%"#,
            "cycles(7)",
            "task.launch",
        ],
    );
}

#[test]
fn a_device_kernel() {
    check(
        |b| {
            let f32 = Type::float32(b.context());
            let named = |name: &str| Some(attr::of_string(b.context(), name));
            let (spad, vreg) = (named("spad"), named("vreg"));
            let kernel = device::build::kernel(b, "d", 3, &[ty::memref(&[8, 64], f32, None)]);
            let b = &mut b.into_block(kernel.body);
            let zero = b.index(0);
            let tile = device::build::alloc(b, ty::memref(&[4, 64], f32, spad));
            let later = device::build::alloc_at(b, 4096, ty::memref(&[4, 64], f32, spad));
            device::build::alloc_swizzled(b, [2, 3, 3], ty::memref(&[8, 32], f32, spad));
            let line = device::build::alloc(b, ty::memref(&[16], f32, vreg));
            let at = |memref, rank| View { memref, indices: vec![zero; rank] };
            let (x, tile, line) = (at(kernel.args()[0], 2), at(tile, 2), at(line, 1));
            let (strides, limits) = ([64, 1], [Limit { bound: zero, steps: vec![1, 0] }]);
            let brought = TransferOp {
                move_name: "in",
                source: (&x, &strides),
                target: (&tile, &strides),
                sizes: &[4, 64],
                limits: &limits,
                pads: true,
                run: 4,
                together: false,
                after: None,
                engine: true,
            };
            let brought = brought.build(b).expect("an engine gives a token");
            let value = attr::of_float(b.context(), f32, 0.0);
            let fill = FillOp {
                move_name: "in",
                target: &at(later, 2),
                sizes: &[4, 64],
                strides: &strides,
                value,
                engine: true,
            };
            let filled = fill.build(b).expect("an engine gives a token");
            let ready = device::build::ready(b);
            let mark = device::build::mark(b, "dma");
            device::build::wait(b, &[brought, filled, ready, mark]);
            device::build::barrier(b, Scope::Core);
            let from = Some(Along { dim: 0, step: 1 });
            CopyOp { move_name: "load", source: &tile, target: &line, count: 4, from, to: None }
                .build(b);
            let line = [line];
            let body = device::build::apply(b, "valu", 16, &line, &line);
            device::build::yield_values(&mut b.into_block(body), &body.args());
            let sum = device::build::alloc(b, ty::memref(&[1], f32, vreg));
            let [line] = line;
            let body = device::build::combine(b, "valu", 16, line, at(sum, 1));
            let inside = &mut b.into_block(body);
            let both = inside.op("arith.addf", &body.args(), &[f32]).result(0);
            device::build::yield_values(inside, &[both]);
        },
        &[
            "device.kernel @d tasks 3 {",
            r#"device.alloc at 4096 : memref<4x64xf32, "spad">"#,
            r#"device.alloc swizzle [2, 3, 3] : memref<8x32xf32, "spad">"#,
            "sizes [4, 64] from_strides [64, 1] to_strides [64, 1] limits(%c0) steps [1, 0] pads run 4 :",
            "sizes [4, 64] strides [64, 1] value 0.000000e+00 : f32",
            "device.ready",
            "device.mark @dma",
            r#"device.barrier "core""#,
            "count 4 from_dim 0 from_step 1 :",
            "device.apply @valu lanes 16 ins(%",
            "device.combine @valu lanes 16 ins(%",
        ],
    );
}
