//! Device programs as text, through the simulator, against what they mean.

use weft_dialects::device::Machine;
use weft_dialects::ir::{context, module_op, parse};
use weft_dialects::task::Program;
use weft_passes::{simulate, task};
use weft_runtime::simulate::Simulator;

const MACHINE: &str = r#"
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @reg scope("thread") capacity_bytes(256) register_bytes(16)
  device.memory @spad scope("core") capacity_bytes(4096)
  device.unit @core count(2) clock_mhz(1000)
  device.engine @dma on @core queue(2)
  device.move @in from @dram to @spad engine(@dma) strided fills
  device.move @out from @spad to @dram engine(@dma) strided
  device.move @load from @dram to @reg issue_cycles(1.0) latency_cycles(1) strided
  device.move @store from @reg to @dram issue_cycles(1.0) latency_cycles(1) strided
  device.lanes @valu on @core in @reg issue_cycles(1.0) latency_cycles(1)
    types([f32, i32, i64]) operations(["arith.addf", "arith.mulf", "arith.index_cast", "arith.sitofp"])
    reductions(["arith.addf", "arith.maximumf"])
  device.instruction @axpy on @core operands([@reg, @reg, @reg]) issue_cycles(1.0) latency_cycles(2)
  meaning {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>):
    %two = arith.constant dense<2.0> : tensor<4xf32>
    %p = arith.mulf %a, %two : tensor<4xf32>
    %d = arith.addf %p, %b : tensor<4xf32>
    device.yield %d : tensor<4xf32>
  } lowering {
  ^bb0(%a: vector<4xf32>, %b: vector<4xf32>, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}
"#;

/// Runs kernels `@k` from 16 numbers to 16 numbers in two rTasks on two units.
fn run(kernel: &str) -> Result<Vec<f32>, String> {
    let program = r#"
task.program @main on @core units 2 arena 0 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  task.range "a" @k[0 to 1] on 0 (%x, %y) after() : memref<16xf32>, memref<16xf32>
  task.range "b" @k[1 to 2] on 1 (%x, %y) after() : memref<16xf32>, memref<16xf32>
}
device.kernel @k tasks 2 {
^bb0(%task: index, %x: memref<16xf32>, %y: memref<16xf32>):
"#;
    let context = context();
    let text = format!("{MACHINE}{program}{kernel}\n}}");
    let module = parse(&context, &text).map_err(|error| error.to_string())?;
    let module = module_op(&module);
    assert!(module.verify(), "the program is sound");
    let machine = Machine::of(module).expect("a machine");
    let ops = module.body(0).expect("a body").ops();
    let program = ops.into_iter().find_map(Program::of).expect("a program");
    let code = simulate::translate(module, machine, program.unit);
    let code = code.map_err(|error| error.to_string())?;
    let plan = task::plan(&program, machine).expect("a plan").plan;
    let simulator = Simulator::new(&code, &plan).map_err(|error| error.to_string())?;
    let x: Vec<u8> = (0..16).flat_map(|i| (i as f32).to_le_bytes()).collect();
    let mut y = vec![0; 64];
    simulator.run(&[], &[&x], &mut [&mut y]).map_err(|error| error.to_string())?;
    simulator.time(false).map_err(|error| error.to_string())?;
    let float = |bytes: &[u8]| f32::from_le_bytes(bytes.try_into().expect("four bytes"));
    Ok(y.chunks_exact(4).map(float).collect())
}

fn expect(kernel: &str, at: impl Fn(usize) -> f32) {
    let y = run(kernel).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(y, (0..16).map(at).collect::<Vec<_>>());
}

#[test]
fn loops_pass_on_indices_and_tokens() {
    // Each rTask moves 8 numbers, one a round, each to where the one before came from.
    let kernel = r#"
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %first = arith.muli %task, %c8 : index
  %last = affine.apply affine_map<(d0)[s0] -> (d0 + s0 - 1)>(%first)[%c8]
  %s = device.alloc : memref<8xf32, "spad">
  %start = device.transfer @in %x[%first] to %s[%c0] sizes [8] from_strides [1] to_strides [1] : memref<16xf32> to memref<8xf32, "spad"> -> !device.token
  %at, %t = scf.for %i = %c0 to %c8 step %c1 iter_args(%to = %last, %before = %start) -> (index, !device.token) {
    device.wait %before
    %next = device.transfer @out %s[%i] to %y[%to] sizes [1] from_strides [1] to_strides [1] : memref<8xf32, "spad"> to memref<16xf32> -> !device.token
    %down = arith.subi %to, %c1 : index
    scf.yield %down, %next : index, !device.token
  }
  device.wait %t"#;
    expect(kernel, |i| (i / 8 * 8 + 7 - i % 8) as f32);
}

#[test]
fn affine_loops_and_maps() {
    // y[i] = x[i mod 3] for the first rTask, x[ceil(i / 3)] for the second.
    let kernel = r#"
  %c0 = arith.constant 0 : index
  %second = arith.cmpi eq, %task, %c0 : index
  affine.for %i = 0 to 8 {
    %from = scf.if %second -> (index) {
      %a = affine.apply affine_map<(d0) -> (d0 mod 3)>(%i)
      scf.yield %a : index
    } else {
      %b = affine.apply affine_map<(d0) -> (d0 ceildiv 3)>(%i)
      scf.yield %b : index
    }
    %to = affine.apply affine_map<(d0, d1) -> (d0 * 8 + d1)>(%task, %i)
    %r = device.alloc : memref<4xf32, "reg">
    device.copy @load %x[%from] to %r[%c0] count 1 : memref<16xf32> to memref<4xf32, "reg">
    device.copy @store %r[%c0] to %y[%to] count 1 : memref<4xf32, "reg"> to memref<16xf32>
  }"#;
    expect(kernel, |i| if i < 8 { (i % 3) as f32 } else { (i - 8).div_ceil(3) as f32 });
}

#[test]
fn bodies_read_lanes_indices_and_tables() {
    // y[i] = x[15 - i] + x[0 + task] + lane.
    let kernel = r#"
  %c0 = arith.constant 0 : index
  %c15 = arith.constant 15 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %first = arith.muli %task, %c8 : index
  scf.for %j = %c0 to %c2 step %c1 {
    %r = device.alloc : memref<4xf32, "reg">
    %by = arith.muli %j, %c4 : index
    %to = arith.addi %first, %by : index
    device.apply @valu lanes 4 ins(%x[%task]) outs(%r[%c0]) : (memref<16xf32>) -> memref<4xf32, "reg"> {
    ^bb0(%same: f32):
      %lane = device.lane
      %at = arith.addi %to, %lane : index
      %turned = arith.subi %c15, %at : index
      %loaded = memref.load %x[%turned] : memref<16xf32>
      %n = arith.index_cast %lane : index to i64
      %f = arith.sitofp %n : i64 to f32
      %s = arith.addf %loaded, %same : f32
      %z = arith.addf %s, %f : f32
      device.yield %z : f32
    }
    device.copy @store %r[%c0] to %y[%to] count 4 : memref<4xf32, "reg"> to memref<16xf32>
  }"#;
    expect(kernel, |i| (15 - i + i / 8 + i % 4) as f32);
}

#[test]
fn lanes_combine_and_instructions_mean() {
    // Sums of four neighbours; 2 * them + the neighbours; what is not filled is zero.
    let kernel = r#"
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c4 = arith.constant 4 : index
  %first = arith.muli %task, %c8 : index
  %end = arith.addi %first, %c8 : index
  scf.for %i = %first to %end step %c4 {
    %r = device.alloc : memref<4xf32, "reg">
    %s = device.alloc : memref<4xf32, "reg">
    %d = device.alloc : memref<4xf32, "reg">
    device.copy @load %x[%i] to %r[%c0] count 4 : memref<16xf32> to memref<4xf32, "reg">
    device.copy @load %x[%c0] to %s[%c0] count 1 : memref<16xf32> to memref<4xf32, "reg">
    device.combine @valu lanes 4 ins(%r[%c0]) outs(%s[%c0]) : (memref<4xf32, "reg">) -> memref<4xf32, "reg"> {
    ^bb0(%a: f32, %b: f32):
      %z = arith.addf %a, %b : f32
      device.yield %z : f32
    }
    device.invoke @axpy(%s[%c0], %r[%c0], %d[%c0]) : memref<4xf32, "reg">, memref<4xf32, "reg">, memref<4xf32, "reg">
    device.copy @store %d[%c0] to %y[%i] count 4 : memref<4xf32, "reg"> to memref<16xf32>
  }"#;
    let sum = |i: usize| (i / 4 * 16 + 6) as f32;
    expect(kernel, |i| if i % 4 == 0 { 2.0 * sum(i) + i as f32 } else { i as f32 });
}

#[test]
fn refuses_by_name() {
    let said = run("  %c0 = arith.constant 0 : index\n  %v = memref.load %x[%c0] : memref<16xf32>")
        .expect_err("refused");
    assert!(said.contains("does not know memref.load"), "{said}");
    let said = run("  %a = arith.index_cast %task : index to i32\n  %b = arith.addi %a, %a : i32")
        .expect_err("refused");
    assert!(said.contains("arith"), "{said}");
    // What the simulator finds comes through with its place.
    let said = run(
        "  %c0 = arith.constant 0 : index\n  %r = device.alloc : memref<4xf32, \"reg\">\n  device.copy @store %r[%c0] to %y[%c0] count 4 : memref<4xf32, \"reg\"> to memref<16xf32>",
    )
    .expect_err("refused");
    assert!(said.contains("operation 1, device.copy @store"), "{said}");
    assert!(said.contains("nothing has written"), "{said}");
}
