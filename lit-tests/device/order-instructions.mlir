// Loads go ahead of what waits for them, each value in a register of its own where there is one.
// RUN: weft-opt %s --split-input-file --device-order-instructions | FileCheck %s
// RUN: weft-opt %s --split-input-file --device-order-instructions=order=text | FileCheck %s --check-prefix=TEXT
// RUN: not weft-opt %s --split-input-file --device-order-instructions=order=best 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: unknown value 'best' for option 'order' of device-order-instructions; expected 'list' or 'text'

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @spad scope("core") capacity_bytes(65536) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(256) register_bytes(32)
  device.unit @core count(2)
  device.engine @dma on @core queue(8)
  device.move @in from @dram to @spad engine(@dma) bytes_per_cycle(16) latency_cycles(100) strided
  device.move @out from @spad to @dram engine(@dma) bytes_per_cycle(16) latency_cycles(100) strided
  device.move @vld from @spad to @vreg issue_cycles(1.0) latency_cycles(4) strided
  device.move @vst from @vreg to @spad issue_cycles(1.0) latency_cycles(4) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.negf"]) reductions(["arith.addf"])
}

// The loop is written out; both loads come first. The sums are a register of two rows, and keep it.
// CHECK-LABEL: device.kernel @sums
//       CHECK: %[[A:.+]] = device.alloc : memref<8xf32, "vreg">
//       CHECK: %[[B:.+]] = device.alloc : memref<8xf32, "vreg">
//       CHECK: %[[S:.+]] = device.alloc : memref<2x8xf32, "vreg">
//   CHECK-NOT: affine.for
//       CHECK: device.copy @vld %{{.+}} to %[[ONE:.+]][%{{.+}}] count 8
//       CHECK: device.copy @vld %{{.+}} to %[[TWO:.+]][%{{.+}}] count 8
//       CHECK: device.apply @valu lanes 8 ins(%[[ONE]][
//       CHECK: device.apply @valu lanes 8 ins(%[[TWO]][
// Behind the wait nothing moves in front of it.
//       CHECK: device.transfer @out
//       CHECK: device.wait
//       CHECK: device.copy @vld
//  TEXT-LABEL: device.kernel @sums
//        TEXT: affine.for
device.kernel @sums tasks 1 {
^bb0(%task: index, %x: memref<16xf32, "spad">, %y: memref<8xf32>, %z: memref<8xf32, "spad">):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<2x8xf32, "vreg">
  affine.for %i = 0 to 2 {
    %r = device.alloc : memref<8xf32, "vreg">
    %at = affine.apply affine_map<(d0) -> (8 * d0)>(%i)
    device.copy @vld %x[%at] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
    device.apply @valu lanes 8 ins(%r[%c0]) outs(%s[%i, %c0]) : (memref<8xf32, "vreg">) -> memref<2x8xf32, "vreg"> {
    ^bb0(%a: f32):
      %n = arith.negf %a : f32
      device.yield %n : f32
    }
  }
  %t = device.transfer @out %z[%c0] to %y[%c0] sizes [8] from_strides [1] to_strides [1] : memref<8xf32, "spad"> to memref<8xf32> -> !device.token
  device.wait %t
  %r = device.alloc : memref<8xf32, "vreg">
  device.copy @vld %z[%c0] to %r[%c0] count 8 : memref<8xf32, "spad"> to memref<8xf32, "vreg">
  device.copy @vst %r[%c0] to %x[%c0] count 8 : memref<8xf32, "vreg"> to memref<16xf32, "spad">
}

// What a store may overwrite is read before it: arguments may lie in the same bytes.
// CHECK-LABEL: device.kernel @in_place
//       CHECK: device.copy @vld
//       CHECK: device.copy @vst
//       CHECK: device.copy @vld
//       CHECK: device.copy @vst
device.kernel @in_place tasks 1 {
^bb0(%task: index, %x: memref<16xf32, "spad">, %y: memref<16xf32, "spad">):
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %r = device.alloc : memref<8xf32, "vreg">
  device.copy @vld %x[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  device.copy @vst %r[%c0] to %y[%c8] count 8 : memref<8xf32, "vreg"> to memref<16xf32, "spad">
  device.copy @vld %x[%c8] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  device.copy @vst %r[%c0] to %y[%c0] count 8 : memref<8xf32, "vreg"> to memref<16xf32, "spad">
  device.barrier "core"
}

// Rooms that lie apart are no reason to wait; with every register taken the text's order stays.
// CHECK-LABEL: device.kernel @apart
//       CHECK: device.copy @vld
//  CHECK-NEXT: device.copy @vld
//       CHECK: device.copy @vst
// CHECK-LABEL: device.kernel @full
//       CHECK: device.copy @vld
//       CHECK: device.copy @vst
//       CHECK: device.copy @vld
//       CHECK: device.copy @vst
device.kernel @apart tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %x = device.alloc at 0 : memref<16xf32, "spad">
  %y = device.alloc at 64 : memref<16xf32, "spad">
  device.barrier "core"
  %r = device.alloc : memref<8xf32, "vreg">
  device.copy @vld %x[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  device.copy @vst %r[%c0] to %y[%c0] count 8 : memref<8xf32, "vreg"> to memref<16xf32, "spad">
  device.copy @vld %x[%c8] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  device.copy @vst %r[%c0] to %y[%c8] count 8 : memref<8xf32, "vreg"> to memref<16xf32, "spad">
  device.barrier "core"
}
device.kernel @full tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %others = device.alloc : memref<7x8xf32, "vreg">
  %x = device.alloc at 0 : memref<16xf32, "spad">
  %y = device.alloc at 64 : memref<16xf32, "spad">
  device.barrier "core"
  %r = device.alloc : memref<8xf32, "vreg">
  device.copy @vld %x[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  device.copy @vst %r[%c0] to %y[%c0] count 8 : memref<8xf32, "vreg"> to memref<16xf32, "spad">
  device.copy @vld %x[%c8] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  device.copy @vst %r[%c0] to %y[%c8] count 8 : memref<8xf32, "vreg"> to memref<16xf32, "spad">
  device.barrier "core"
}

// -----

// Where lanes read the shared memory itself, a code generator orders instructions.
device.machine @processor arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824)
  device.memory @vreg scope("thread") capacity_bytes(256) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions(["arith.addf"])
}
// CHECK-LABEL: device.kernel @loop
//       CHECK: affine.for
device.kernel @loop tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %c0 = arith.constant 0 : index
  affine.for %i = 0 to 2 {
    %r = device.alloc : memref<8xf32, "vreg">
    device.copy @load %x[%c0] to %r[%c0] count 8 : memref<16xf32> to memref<8xf32, "vreg">
  }
}
