// Clusters of rTasks that are none, and what rTasks bring together that is not the same for all of them.
// RUN: not weft-opt %s 2>&1 | FileCheck %s

device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @smem scope("core") capacity_bytes(65536)
  device.unit @core count(4)
  device.engine @tensor_copies on @core queue(8)
  device.move @one from @dram to @smem engine(@tensor_copies) strided
    boxes({dims = 3, points = 256, step_bytes = 16, line_bytes = 128, align_bytes = 1024})
  device.move @four from @dram to @smem engine(@tensor_copies) strided
    boxes({dims = 3, points = 256, step_bytes = 16, line_bytes = 128, align_bytes = 1024, units = 4, meet_cycles = 100})
  device.move @in from @dram to @smem engine(@tensor_copies) strided
    boxes({dims = 3, points = 256, step_bytes = 16, line_bytes = 128, align_bytes = 1024, units = 2, meet_cycles = 100})
}

// kernel_c6
// CHECK: device.kernel has a cluster that is not [rTasks, distance]
device.kernel @form tasks 4 cluster [1, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
}

// CHECK: device.kernel has clusters of 8 rTasks
// CHECK: help: a move of the machine brings boxes to 4 units at most
device.kernel @many tasks 8 cluster [8, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
}

// CHECK: device.kernel has 6 rTasks, and clusters of 2 that are 2 apart
// CHECK: help: their number is a multiple of 4
device.kernel @rest tasks 6 cluster [2, 2] {
^bb0(%task: index, %x: memref<16x64xf16>):
}

// kernel_c7: task mod 2 differs between rTasks that follow each other, task / 2 does not.
// CHECK: device.transfer takes what differs between rTasks of a cluster
// CHECK: note: it comes from here
device.kernel @other tasks 4 cluster [2, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %row = arith.divui %task, %c2 : index
  %t = device.transfer @in %x[%row, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] together : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
  device.barrier "cluster"
  %own = arith.remui %task, %c2 : index
  %u = device.transfer @in %x[%own, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] together : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %u
}

// Of rTasks that are two apart it is the other way round.
// CHECK: device.transfer takes what differs between rTasks of a cluster
device.kernel @apart tasks 4 cluster [2, 2] {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %own = arith.remui %task, %c2 : index
  %t = device.transfer @in %x[%own, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] together : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
  device.barrier "cluster"
  %row = arith.divui %task, %c2 : index
  %u = device.transfer @in %x[%row, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] together : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %u
}

// So many rounds that differ make a number that does.
// CHECK: device.transfer takes what differs between rTasks of a cluster
device.kernel @rounds tasks 4 cluster [2, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %n = scf.for %i = %c0 to %task step %c1 iter_args(%a = %c0) -> (index) {
    %b = arith.addi %a, %c1 : index
    scf.yield %b : index
  }
  %t = device.transfer @in %x[%n, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] together : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
}

// Boxes of its own count, too.
// CHECK: device.transfer takes what differs between rTasks of a cluster
device.kernel @own tasks 4 cluster [2, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  scf.for %i = %c0 to %task step %c1 {
    %t = device.transfer @in %x[%task, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
    device.wait %t
  }
}

// CHECK: device.barrier is inside of scf.while
device.kernel @while tasks 4 cluster [2, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %n = scf.while (%i = %task) : (index) -> index {
    %more = arith.cmpi ugt, %i, %c0 : index
    scf.condition(%more) %i : index
  } do {
  ^bb1(%i: index):
    device.barrier "cluster"
    scf.yield %c0 : index
  }
}

// A barrier that some rTasks of a cluster do not come to.
// CHECK: device.barrier takes what differs between rTasks of a cluster
device.kernel @condition tasks 4 cluster [2, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %task step %c1 {
    device.barrier "cluster"
  }
}

// transfer_c9
// CHECK: @one brings nothing to several units at once
device.kernel @move tasks 4 cluster [2, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %t = device.transfer @one %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] together : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
}

// CHECK: what @in brings together has 15 points along its slowest side, no multiple of the 2 rTasks that bring it together
device.kernel @parts tasks 4 cluster [2, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [15, 64] from_strides [64, 1] to_strides [64, 1] together : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
}

// The second half begins where no box may.
// CHECK: what @in brings together begins 512 bytes behind its target, no multiple of 1024
device.kernel @halves tasks 4 cluster [2, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [8, 64] from_strides [64, 1] to_strides [64, 1] together : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
}

// CHECK: @in brings boxes to 2 units, of 4 of a cluster
device.kernel @units tasks 4 cluster [4, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<32x64xf16, "smem">
  %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [32, 64] from_strides [64, 1] to_strides [64, 1] limits(%c0) steps [1, 0] pads together : memref<16x64xf16> to memref<32x64xf16, "smem"> -> !device.token
  device.wait %t
}

// CHECK: device.transfer brings a box together to a place of the arena
device.kernel @arena tasks 4 cluster [2, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc at 0 : memref<16x64xf16, "smem">
  %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] together : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
}

// kernel_c4: it would come to a kernel that has ended.
// CHECK: device.kernel ends, and a box may still be on its way
device.kernel @unwaited tasks 4 cluster [2, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] together : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
}

// A loop that has no round has no barrier.
// CHECK: device.transfer writes memref<16x64xf16, "smem">, which other rTasks of the cluster may be using
device.kernel @nothing tasks 4 cluster [2, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] together : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
  scf.for %i = %c0 to %c0 step %c1 {
    device.barrier "cluster"
  }
  %u = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] together : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %u
}
