// RUN: not weft-opt %s --device-lower-to-threads --split-input-file 2>&1 | FileCheck %s

// CHECK: no threads on the architecture "x86-64"
// CHECK: help: `sm_` and `gfx` begin the names
device.machine @m arch("x86-64") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.unit @core count(1)
}
device.kernel @k tasks 1 {
^bb0(%task: index):
}

// -----

// CHECK: blocks do not wait for each other
device.machine @m arch("sm_80") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @reg scope("warp") capacity_bytes(4096) register_bytes(128) lanes(32)
  device.unit @sm count(1)
}
device.kernel @k tasks 1 {
^bb0(%task: index):
  device.barrier "device"
}

// -----

// No lane gives another what it has: the first 16 of one register are not the last 16 of another.
// CHECK: lanes have other elements of the box there than here
// CHECK: help: move it by a memory that the threads share
device.machine @m arch("sm_80") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @reg scope("warp") capacity_bytes(4096) register_bytes(128) lanes(32)
  device.unit @sm count(1)
  device.move @move from @reg to @reg strided
}
device.kernel @k tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %a = device.alloc : memref<32xf32, "reg">
  %b = device.alloc : memref<32xf32, "reg">
  %c16 = arith.constant 16 : index
  device.copy @move %a[%c0] to %b[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32, "reg">
  device.copy @move %a[%c0] to %b[%c16] count 16 : memref<32xf32, "reg"> to memref<32xf32, "reg">
}

// -----

// A limit that ends before the tensor does is not what the engine leaves out; a token that may be none is no number of
// boxes; and of a loop whose groups do not meet nobody knows when a barrier may be used again.
// CHECK: limit 0 does not end where the tensor does
// CHECK: a token is that of boxes on one way, and another one on others
// CHECK: boxes are begun in a loop in whose rounds groups do not meet
device.machine @m arch("sm_90a") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @smem scope("core") capacity_bytes(65536) banks(32) bank_bytes(4)
  device.memory @reg scope("warp") capacity_bytes(4096) register_bytes(128) lanes(32)
  device.unit @sm count(1)
  device.engine @tensor_copies on @sm queue(8)
  device.move @in from @dram to @smem engine(@tensor_copies) strided
    boxes({dims = 5, points = 256, step_bytes = 16, line_bytes = 128, align_bytes = 128})
}
device.kernel @limit tasks 1 {
^bb0(%task: index, %x: memref<64x64xf16>):
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %begin = arith.minui %c0, %c32 : index
  %left = arith.subi %c32, %begin : index
  %s = device.alloc : memref<64x64xf16, "smem">
  %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [64, 64] from_strides [64, 1] to_strides [64, 1] limits(%left) steps [1, 0] pads : memref<64x64xf16> to memref<64x64xf16, "smem"> -> !device.token
  device.wait %t
}
device.kernel @tokens tasks 1 {
^bb0(%task: index, %x: memref<64x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = device.alloc : memref<64x64xf16, "smem">
  %none = device.ready
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%before = %none) -> (!device.token) {
    device.wait %before
    device.barrier "core"
    %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [64, 64] from_strides [64, 1] to_strides [64, 1] : memref<64x64xf16> to memref<64x64xf16, "smem"> -> !device.token
    scf.yield %t : !device.token
  }
  device.wait %last
}
device.kernel @meets tasks 1 {
^bb0(%task: index, %x: memref<64x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = device.alloc : memref<4x64x64xf16, "smem">
  scf.for %i = %c0 to %c4 step %c1 {
    %room = arith.remui %i, %c4 : index
    %t = device.transfer @in %x[%c0, %c0] to %s[%room, %c0, %c0] sizes [64, 64] from_strides [64, 1] to_strides [64, 1] : memref<64x64xf16> to memref<4x64x64xf16, "smem"> -> !device.token
    device.wait %t
  }
}

// -----

// What brings boxes is one maker's.
// CHECK: AMDGCN code has no engine that brings boxes of tensors
device.machine @m arch("gfx942") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @lds scope("core") capacity_bytes(65536) banks(32) bank_bytes(4)
  device.memory @reg scope("warp") capacity_bytes(4096) register_bytes(256) lanes(64)
  device.unit @cu count(1)
  device.engine @tensor_copies on @cu queue(8)
  device.move @in from @dram to @lds engine(@tensor_copies) strided
    boxes({dims = 5, points = 256, step_bytes = 16, line_bytes = 128, align_bytes = 128})
}
device.kernel @other tasks 1 {
^bb0(%task: index, %x: memref<64x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<64x64xf16, "lds">
  %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [64, 64] from_strides [64, 1] to_strides [64, 1] : memref<64x64xf16> to memref<64x64xf16, "lds"> -> !device.token
  device.wait %t
}
