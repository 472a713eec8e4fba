// Kernels whose groups go by turns where they cannot.
// RUN: not weft-opt %s 2>&1 | FileCheck %s

device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @smem scope("core") capacity_bytes(8192)
  device.memory @reg scope("warp") capacity_bytes(256) register_bytes(16) lanes(4)
  device.unit @core count(4) turns(2)
  device.engine @tensor_copies on @core queue(8)
  device.move @in from @dram to @smem engine(@tensor_copies) strided
    boxes({dims = 3, points = 256, step_bytes = 16, line_bytes = 128, align_bytes = 1024, units = 2, meet_cycles = 100})
  device.move @load from @smem to @reg strided
  device.move @put from @reg to @smem strided
}

// kernel_c9
// CHECK: device.kernel has 3 groups in 2 turns
// CHECK: help: give 2 turns or more, and as many groups in each
device.kernel @odd tasks 4 groups 3 turns 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
}

// CHECK: device.kernel has 4 groups in -1 turns
device.kernel @none tasks 4 groups 4 turns -1 {
^bb0(%task: index, %x: memref<16x64xf16>):
}

// CHECK: device.kernel has 4 turns, and groups of a unit go in 2
device.kernel @many tasks 4 groups 4 turns 4 {
^bb0(%task: index, %x: memref<16x64xf16>):
}

// CHECK: device.kernel has a cluster, and its groups go by turns
device.kernel @cluster tasks 4 groups 4 turns 2 cluster [2, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
}

// CHECK: device.transfer begins a box, and groups go by turns
// CHECK: note: they do here
device.kernel @boxes tasks 4 groups 4 turns 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
}

// kernel_c4: the first groups are at the load when the last ones put something there.
// CHECK: device.transfer reads memref<64xf16, "smem">, which other groups may be using
device.kernel @one tasks 4 groups 4 turns 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<64xf16, "smem">
  %r = device.alloc : memref<64xf16, "reg">
  device.transfer @put %r[%c0] to %s[%c0] sizes [64] from_strides [1] to_strides [1] : memref<64xf16, "reg"> to memref<64xf16, "smem">
  device.barrier "core"
  device.transfer @load %s[%c0] to %r[%c0] sizes [64] from_strides [1] to_strides [1] : memref<64xf16, "smem"> to memref<64xf16, "reg">
}

// A loop of one round has one barrier, and one of none has none.
// CHECK: device.transfer reads memref<64xf16, "smem">, which other groups may be using
device.kernel @few tasks 4 groups 4 turns 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = device.alloc : memref<64xf16, "smem">
  %r = device.alloc : memref<64xf16, "reg">
  device.transfer @put %r[%c0] to %s[%c0] sizes [64] from_strides [1] to_strides [1] : memref<64xf16, "reg"> to memref<64xf16, "smem">
  scf.for %i = %c0 to %c1 step %c1 {
    device.barrier "core"
  }
  device.transfer @load %s[%c0] to %r[%c0] sizes [64] from_strides [1] to_strides [1] : memref<64xf16, "smem"> to memref<64xf16, "reg">
}

// CHECK: device.transfer reads memref<64xf16, "smem">, which other groups may be using
device.kernel @unknown tasks 4 groups 4 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = device.alloc : memref<64xf16, "smem">
  %r = device.alloc : memref<64xf16, "reg">
  device.transfer @put %r[%c0] to %s[%c0] sizes [64] from_strides [1] to_strides [1] : memref<64xf16, "reg"> to memref<64xf16, "smem">
  scf.for %i = %c0 to %task step %c1 {
    device.barrier "core"
  }
  device.transfer @load %s[%c0] to %r[%c0] sizes [64] from_strides [1] to_strides [1] : memref<64xf16, "smem"> to memref<64xf16, "reg">
}

// From one round to the next, too.
// CHECK: device.transfer writes memref<64xf16, "smem">, which other groups may be using
device.kernel @round tasks 4 groups 4 turns 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = device.alloc : memref<64xf16, "smem">
  %r = device.alloc : memref<64xf16, "reg">
  scf.for %i = %c0 to %c4 step %c1 {
    device.transfer @put %r[%c0] to %s[%c0] sizes [64] from_strides [1] to_strides [1] : memref<64xf16, "reg"> to memref<64xf16, "smem">
    device.barrier "core"
    device.barrier "core"
    device.transfer @load %s[%c0] to %r[%c0] sizes [64] from_strides [1] to_strides [1] : memref<64xf16, "smem"> to memref<64xf16, "reg">
    device.barrier "core"
  }
}

// Behind two it is in order.
// CHECK-NOT: error:
device.kernel @right tasks 4 groups 4 turns 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = device.alloc : memref<64xf16, "smem">
  %r = device.alloc : memref<64xf16, "reg">
  scf.for %i = %c0 to %c4 step %c1 {
    device.transfer @put %r[%c0] to %s[%c0] sizes [64] from_strides [1] to_strides [1] : memref<64xf16, "reg"> to memref<64xf16, "smem">
    device.barrier "core"
    device.barrier "core"
    device.transfer @load %s[%c0] to %r[%c0] sizes [64] from_strides [1] to_strides [1] : memref<64xf16, "smem"> to memref<64xf16, "reg">
    device.barrier "core"
    device.barrier "core"
  }
}
