// Kernels whose boxes a group of its own asks for, and whose rTasks share a unit, where that is not so.
// RUN: not weft-opt %s 2>&1 | FileCheck %s

device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @smem scope("core") capacity_bytes(8192)
  device.memory @reg scope("warp") capacity_bytes(256) register_bytes(16) lanes(4) core_bytes(512)
  device.unit @core count(4) block_lanes(16)
  device.engine @tensor_copies on @core queue(8)
  device.move @in from @dram to @smem engine(@tensor_copies) strided
    boxes({dims = 3, points = 256, step_bytes = 16, line_bytes = 128, align_bytes = 1024})
  device.move @apart from @dram to @smem engine(@tensor_copies) strided
    boxes({dims = 3, points = 256, step_bytes = 16, line_bytes = 128, align_bytes = 1024, producer_lanes = 4, producer_bytes = 24, share_bytes = 4})
  device.move @load from @smem to @reg strided
  device.move @put from @reg to @smem strided
  device.move @back from @smem to @dram strided
}

// kernel_c8
// CHECK: device.kernel has no `resident` rTask
device.kernel @none tasks 4 resident 0 {
^bb0(%task: index, %x: memref<16x64xf16>):
}

// CHECK: device.kernel has `resident` rTasks, and no group that only asks
device.kernel @all tasks 4 resident 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
}

// CHECK: 5 rTasks of 2048 bytes of @smem are resident, which has 8192
// CHECK: help: let fewer be `resident`, or give smaller tiles
device.kernel @bytes tasks 4 resident 5 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %t = device.transfer @apart %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
}

// CHECK: device.transfer brings a box to a place of the arena, and a group of its own asks for it
device.kernel @arena tasks 4 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc at 0 : memref<16x64xf16, "smem">
  %t = device.transfer @apart %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
}

// CHECK: memref.load takes what the kernel writes, and the group that asks for boxes does not know when
// CHECK: note: it is written here
device.kernel @loaded tasks 4 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>, %n: memref<64xindex>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %u = device.alloc : memref<64xindex, "smem">
  device.transfer @back %u[%c0] to %n[%c0] sizes [1] from_strides [1] to_strides [1] : memref<64xindex, "smem"> to memref<64xindex>
  %row = memref.load %n[%c0] : memref<64xindex>
  %t = device.transfer @apart %x[%row, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
}

// One group and another one that asks are two: it may not ask by its own number.
// CHECK: device.transfer takes an index of one group, and all groups do it together
device.kernel @number tasks 4 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %g = device.group
  %s = device.alloc : memref<16x64xf16, "smem">
  %t = device.transfer @apart %x[%g, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
}

// CHECK: device.kernel has 16 lanes and 4 that ask for boxes, and a block has 16 at most
device.kernel @lanes tasks 4 groups 4 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %t = device.transfer @apart %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
}

// CHECK: 2 x (8 + 4) lanes have 20 bytes of registers each, of 512 in a core, and one that asks keeps 24
// CHECK: help: let fewer rTasks be `resident`, or give fewer groups
device.kernel @registers tasks 4 groups 2 resident 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %t = device.transfer @apart %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
}

// CHECK: device.transfer is by another move than those that a group of its own asks for
device.kernel @moves tasks 4 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %u = device.alloc : memref<16x64xf16, "smem">
  %t = device.transfer @apart %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  %v = device.transfer @in %x[%c0, %c0] to %u[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t, %v
}

// CHECK: device.transfer reads what the kernel writes, and the group that asks for it does not know when
// CHECK: note: it is written here
device.kernel @written tasks 4 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %t = device.transfer @apart %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
  device.transfer @back %s[%c0, %c0] to %x[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16, "smem"> to memref<16x64xf16>
}

// A barrier is nothing to who comes to none.
// CHECK: device.transfer writes memref<16x64xf16, "smem">, which other groups than the one that asks for boxes may be using
// CHECK: help: carry the token of device.arrive to the next round and begin the transfer `after` it
// CHECK: device.transfer is in a loop, and after no arrival
// CHECK: help: carry the token of device.arrive to the next round
device.kernel @barrier tasks 4 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %r = device.alloc : memref<64xf16, "reg">
  scf.for %i = %c0 to %c4 step %c1 {
    %t = device.transfer @apart %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
    device.wait %t
    device.transfer @load %s[%c0, %c0] to %r[%c0] sizes [64] from_strides [1] to_strides [1] : memref<16x64xf16, "smem"> to memref<64xf16, "reg">
    device.barrier "core"
  }
}

// What was used in front of the loop has no arrival.
// CHECK: device.transfer writes memref<16x64xf16, "smem">, which other groups than the one that asks for boxes may be using
device.kernel @before tasks 4 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %r = device.alloc : memref<64xf16, "reg">
  device.transfer @load %s[%c0, %c0] to %r[%c0] sizes [64] from_strides [1] to_strides [1] : memref<16x64xf16, "smem"> to memref<64xf16, "reg">
  device.barrier "core"
  %none = device.ready
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%made = %none) -> (!device.token) {
    %t = device.transfer @apart %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] after(%made) : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
    device.wait %t
    device.transfer @load %s[%c0, %c0] to %r[%c0] sizes [64] from_strides [1] to_strides [1] : memref<16x64xf16, "smem"> to memref<64xf16, "reg">
    %a = device.arrive "core" -> !device.token
    scf.yield %a : !device.token
  }
}

// The same without that, and right.
// CHECK-NOT: error:
device.kernel @right tasks 4 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %r = device.alloc : memref<64xf16, "reg">
  %none = device.ready
  %last = scf.for %i = %c0 to %c4 step %c1 iter_args(%made = %none) -> (!device.token) {
    %t = device.transfer @apart %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] after(%made) : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
    device.wait %t
    device.transfer @load %s[%c0, %c0] to %r[%c0] sizes [64] from_strides [1] to_strides [1] : memref<16x64xf16, "smem"> to memref<64xf16, "reg">
    %a = device.arrive "core" -> !device.token
    scf.yield %a : !device.token
  }
}
