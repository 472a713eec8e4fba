// RUN: weft-opt %s --verify-roundtrip | FileCheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | FileCheck %s
// RUN: weft-opt %s --emit-bytecode | weft-opt | FileCheck %s

// CHECK-LABEL: device.machine @toy arch("x86-64") features(["avx2", "fma"]) {
device.machine @toy arch("x86-64") features(["avx2", "fma"]) {
  // CHECK: device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16) transaction_bytes(64) host("memory")
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16) transaction_bytes(64) host("memory")
  // CHECK: device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  // CHECK: device.memory @spad scope("core") capacity_bytes(4096) banks(16) bank_bytes(4)
  device.memory @spad scope("core") capacity_bytes(4096) banks(16) bank_bytes(4)
  // CHECK: device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  // CHECK: device.unit @core count(2) clock_mhz(3000) host("cores")
  device.unit @core count(2) clock_mhz(3000) host("cores")
  // CHECK: device.engine @engine on @core queue(8)
  device.engine @engine on @core queue(8)
  // CHECK: device.memory @wreg scope("warp") capacity_bytes(512) register_bytes(128) lanes(32)
  device.memory @wreg scope("warp") capacity_bytes(512) register_bytes(128) lanes(32)
  // CHECK: device.move @load from @dram to @vreg issue_cycles(5.000000e-01) latency_cycles(7) strided
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  // CHECK: device.move @dma from @dram to @spad engine(@engine) bytes_per_cycle(16) latency_cycles(200) strided fills encoding("in {from}, {to}, {sizes}")
  device.move @dma from @dram to @spad engine(@engine) bytes_per_cycle(16) latency_cycles(200) strided fills encoding("in {from}, {to}, {sizes}")
  // CHECK: device.lanes @valu on @core in @vreg issue_cycles(5.000000e-01) latency_cycles(4) types([f32, i32])
  // CHECK-SAME: operations(["arith.addf", "arith.cmpf", "arith.select"]) reductions(["arith.addf"])
  device.lanes @valu on @core in @vreg issue_cycles(0.5) latency_cycles(4) types([f32, i32])
    operations(["arith.addf", "arith.cmpf", "arith.select"]) reductions(["arith.addf"])
  // CHECK: device.instruction @fma on @core operands([@dram, @vreg, @vreg]) issue_cycles(5.000000e-01) latency_cycles(4) accuracy(["rounding"]) meaning {
  device.instruction @fma on @core operands([@dram, @vreg, @vreg]) issue_cycles(0.5) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f32>, %b: tensor<4xf32>, %c: tensor<4xf32>):
    %d = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<f32>, tensor<4xf32>) outs(%c : tensor<4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    // CHECK: device.yield %{{.+}} : tensor<4xf32>
    device.yield %d : tensor<4xf32>
  // CHECK: } lowering {
  } lowering {
  ^bb0(%a: f32, %b: vector<4xf32>, %c: vector<4xf32>):
    %s = vector.broadcast %a : f32 to vector<4xf32>
    %d = vector.fma %s, %b, %c : vector<4xf32>
    device.yield %d : vector<4xf32>
  }
}

// CHECK-LABEL: device.kernel @kernel tasks 4 {
device.kernel @kernel tasks 4 {
^bb0(%task: index, %x: memref<4x16xf32>, %y: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  // CHECK: %[[R:.+]] = device.alloc : memref<2x4xf32, "vreg">
  %r = device.alloc : memref<2x4xf32, "vreg">
  // CHECK: %[[S:.+]] = device.alloc : memref<16xf32, "spad">
  %s = device.alloc : memref<16xf32, "spad">
  // CHECK: %[[P:.+]] = device.alloc : memref<16xf32, "l2">
  %p = device.alloc : memref<16xf32, "l2">
  // CHECK: device.alloc at 0 : memref<16xf32, "l2">
  %p0 = device.alloc at 0 : memref<16xf32, "l2">
  // CHECK: device.alloc at 128 swizzle [2, 2, 3] : memref<16xf32, "l2">
  %p1 = device.alloc at 128 swizzle [2, 2, 3] : memref<16xf32, "l2">
  // CHECK: device.copy @load %{{.+}}[%{{.+}}, %{{.+}}] to %[[R]][%{{.+}}, %{{.+}}] count 4 : memref<4x16xf32> to memref<2x4xf32, "vreg">
  device.copy @load %x[%task, %c0] to %r[%c0, %c0] count 4 : memref<4x16xf32> to memref<2x4xf32, "vreg">
  // CHECK: device.copy @load %{{.+}}[%{{.+}}, %{{.+}}] to %[[R]][%{{.+}}, %{{.+}}] count 2 from_dim 0 from_step 2 to_dim 1 to_step 2 : memref<4x16xf32> to memref<2x4xf32, "vreg">
  device.copy @load %x[%task, %c0] to %r[%c0, %c0] count 2 from_dim 0 from_step 2 to_dim 1 to_step 2 : memref<4x16xf32> to memref<2x4xf32, "vreg">
  // A cache is filled by access: its move is that of the memory behind it.
  // CHECK: device.copy @load %[[P]][%{{.+}}] to %[[R]][%{{.+}}, %{{.+}}] count 4 : memref<16xf32, "l2"> to memref<2x4xf32, "vreg">
  device.copy @load %p[%c0] to %r[%c0, %c0] count 4 : memref<16xf32, "l2"> to memref<2x4xf32, "vreg">
  // CHECK: %[[T:.+]] = device.transfer @dma %{{.+}}[%{{.+}}, %{{.+}}] to %[[S]][%{{.+}}] sizes [2, 8] from_strides [16, 1] to_strides [1, 2] : memref<4x16xf32> to memref<16xf32, "spad"> -> !device.token
  %t = device.transfer @dma %x[%task, %c0] to %s[%c0] sizes [2, 8] from_strides [16, 1] to_strides [1, 2] : memref<4x16xf32> to memref<16xf32, "spad"> -> !device.token
  // CHECK: %[[F:.+]] = device.fill @dma %[[S]][%{{.+}}] sizes [4] strides [1] value 0.000000e+00 : f32 : memref<16xf32, "spad"> -> !device.token
  %f = device.fill @dma %s[%c0] sizes [4] strides [1] value 0.0 : f32 : memref<16xf32, "spad"> -> !device.token
  // CHECK: device.transfer @load %{{.+}} to %[[R]][%{{.+}}, %{{.+}}] sizes [2, 4] from_strides [16, 1] to_strides [4, 1] : memref<4x16xf32> to memref<2x4xf32, "vreg">
  device.transfer @load %x[%task, %c0] to %r[%c0, %c0] sizes [2, 4] from_strides [16, 1] to_strides [4, 1] : memref<4x16xf32> to memref<2x4xf32, "vreg">
  // CHECK: device.wait %[[T]], %[[F]]
  device.wait %t, %f
  // CHECK: device.invoke @fma(%{{.+}}[%{{.+}}, %{{.+}}], %[[R]][%{{.+}}, %{{.+}}], %[[R]][%{{.+}}, %{{.+}}]) : memref<4x16xf32>, memref<2x4xf32, "vreg">, memref<2x4xf32, "vreg">
  device.invoke @fma(%x[%task, %c0], %r[%c0, %c0], %r[%c0, %c0]) : memref<4x16xf32>, memref<2x4xf32, "vreg">, memref<2x4xf32, "vreg">
  // CHECK: device.apply @valu lanes 4 ins(%[[R]][%{{.+}}, %{{.+}}], %{{.+}}[%{{.+}}, %{{.+}}]) outs(%[[R]][%{{.+}}, %{{.+}}]) : (memref<2x4xf32, "vreg">, memref<4x16xf32>) -> memref<2x4xf32, "vreg"> {
  device.apply @valu lanes 4 ins(%r[%c0, %c0], %x[%c0, %c0]) outs(%r[%c0, %c0]) : (memref<2x4xf32, "vreg">, memref<4x16xf32>) -> (memref<2x4xf32, "vreg">) {
  ^bb0(%a: f32, %b: f32):
    // CHECK: device.lane
    %lane = device.lane
    %next = arith.addi %lane, %task : index
    %far = arith.cmpi ult, %next, %c0 : index
    %z = memref.load %x[%task, %lane] : memref<4x16xf32>
    %d = arith.addf %a, %b : f32
    %e = arith.select %far, %d, %z : f32
    device.yield %e : f32
  }
  // CHECK: device.combine @valu lanes 4 ins(%[[R]][%{{.+}}, %{{.+}}]) outs(%{{.+}}[%{{.+}}, %{{.+}}]) : (memref<2x4xf32, "vreg">) -> memref<4x16xf32> {
  device.combine @valu lanes 4 ins(%r[%c0, %c0]) outs(%y[%task, %c0]) : (memref<2x4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
  // CHECK: device.barrier "core"
  device.barrier "core"
}

// CHECK-LABEL: func.func @wait(%{{.+}}: !device.token)
func.func @wait(%t: !device.token) {
  // CHECK: device.wait %{{.+}}
  device.wait %t
  return
}
