// RUN: not weft-opt %s 2>&1 | FileCheck %s

device.machine @warps arch("toy") features([]) {
  device.memory @global scope("device") capacity_bytes(65536)
  device.memory @smem scope("core") capacity_bytes(4096) banks(32) bank_bytes(4)
  device.memory @reg scope("warp") capacity_bytes(4096) register_bytes(128) lanes(32)
  device.unit @core count(2)
  device.move @stage from @global to @smem strided fills
  device.move @near from @smem to @reg strided
}

// kernel_c2: there is a group.
// CHECK: device.kernel has groups 0
device.kernel @kernel_c2 tasks 1 groups 0 {
^bb0(%task: index, %x: memref<16xf32>):
}

// kernel_c3: what groups do together takes no index of one of them.
// CHECK: device.transfer takes an index of one group, and all groups do it together
device.kernel @kernel_c3_index tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16xf32>):
  %c4 = arith.constant 4 : index
  %group = device.group
  %at = arith.muli %group, %c4 : index
  %s = device.alloc : memref<16xf32, "smem">
  device.transfer @stage %x[%at] to %s[%at] sizes [4] from_strides [1] to_strides [1] : memref<16xf32> to memref<16xf32, "smem">
}

// kernel_c3: nor is it under a condition.
// CHECK: device.barrier is not for all groups, and all groups do it together
device.kernel @kernel_c3_condition tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16xf32>):
  %c1 = arith.constant 1 : index
  %group = device.group
  %first = arith.cmpi ult, %group, %c1 : index
  scf.if %first {
    device.barrier "core"
  }
}

// kernel_c4: who reads waits for who writes.
// CHECK: device.transfer reads memref<16xf32, "smem">, which other groups may be using
device.kernel @kernel_c4_read tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16xf32>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<16xf32, "smem">
  %r = device.alloc : memref<1x16xf32, "reg">
  device.transfer @stage %x[%c0] to %s[%c0] sizes [16] from_strides [1] to_strides [1] : memref<16xf32> to memref<16xf32, "smem">
  device.barrier "warp"
  device.transfer @near %s[%c0] to %r[%c0, %c0] sizes [16] from_strides [1] to_strides [1] : memref<16xf32, "smem"> to memref<1x16xf32, "reg">
}

// kernel_c4: in a loop the next round begins before others are done with this one.
// CHECK: device.transfer writes memref<16xf32, "smem">, which other groups may be using
device.kernel @kernel_c4_write tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %s = device.alloc : memref<16xf32, "smem">
  %r = device.alloc : memref<1x16xf32, "reg">
  scf.for %k = %c0 to %c4 step %c1 {
    device.transfer @stage %x[%c0] to %s[%c0] sizes [16] from_strides [1] to_strides [1] : memref<16xf32> to memref<16xf32, "smem">
    device.barrier "core"
    device.transfer @near %s[%c0] to %r[%c0, %c0] sizes [16] from_strides [1] to_strides [1] : memref<16xf32, "smem"> to memref<1x16xf32, "reg">
  }
}

// kernel_c4: a round fills the room that others still read.
// CHECK: device.transfer writes memref<2x16xf32, "smem">, which other groups may be using
device.kernel @kernel_c4_room tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %s = device.alloc : memref<2x16xf32, "smem">
  %r = device.alloc : memref<1x16xf32, "reg">
  scf.for %k = %c0 to %c4 step %c1 {
    %room = arith.remui %k, %c2 : index
    device.transfer @near %s[%room, %c0] to %r[%c0, %c0] sizes [16] from_strides [1] to_strides [1] : memref<2x16xf32, "smem"> to memref<1x16xf32, "reg">
    device.transfer @stage %x[%c0] to %s[%room, %c0] sizes [16] from_strides [1] to_strides [1] : memref<16xf32> to memref<2x16xf32, "smem">
    device.barrier "core"
  }
}

// kernel_c4: of two rooms the one of the next round is that of the round before, too, which nobody waits for.
// CHECK: device.transfer writes memref<2x16xf32, "smem">, which other groups may be using
device.kernel @kernel_c4_rooms tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %s = device.alloc : memref<2x16xf32, "smem">
  %r = device.alloc : memref<1x16xf32, "reg">
  scf.for %k = %c0 to %c4 step %c1 {
    %room = arith.remui %k, %c2 : index
    %next = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
    %other = arith.remui %next, %c2 : index
    device.barrier "core"
    device.transfer @stage %x[%c0] to %s[%other, %c0] sizes [16] from_strides [1] to_strides [1] : memref<16xf32> to memref<2x16xf32, "smem">
    device.transfer @near %s[%room, %c0] to %r[%c0, %c0] sizes [16] from_strides [1] to_strides [1] : memref<2x16xf32, "smem"> to memref<1x16xf32, "reg">
    device.transfer @stage %x[%c0] to %s[%room, %c0] sizes [16] from_strides [1] to_strides [1] : memref<16xf32> to memref<2x16xf32, "smem">
  }
}

// kernel_c4: a box that reaches over the end of its room may be in any.
// CHECK: device.transfer writes memref<2x16xf32, "smem">, which other groups may be using
device.kernel @kernel_c4_beyond tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = device.alloc : memref<2x16xf32, "smem">
  %r = device.alloc : memref<1x16xf32, "reg">
  device.transfer @near %s[%c0, %c0] to %r[%c0, %c0] sizes [16] from_strides [2] to_strides [1] : memref<2x16xf32, "smem"> to memref<1x16xf32, "reg">
  device.transfer @stage %x[%c0] to %s[%c1, %c0] sizes [16] from_strides [1] to_strides [1] : memref<16xf32> to memref<2x16xf32, "smem">
}

// alloc_c4: a swizzle is three numbers, the last no less than the first.
// CHECK: device.alloc has the swizzle [2, 2, 1]
device.kernel @alloc_c4_numbers tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %0 = device.alloc swizzle [2, 2, 1] : memref<16xf32, "smem">
}

// alloc_c4: the room is whole blocks.
// CHECK: device.alloc swizzles memref<20xf32, "smem"> in blocks of 16 elements
device.kernel @alloc_c4_blocks tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %0 = device.alloc swizzle [2, 2, 2] : memref<20xf32, "smem">
}

// alloc_c4: registers have no banks.
// CHECK: device.alloc swizzles memref<32xf32, "reg">, which is in registers
device.kernel @alloc_c4_registers tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %0 = device.alloc swizzle [1, 1, 1] : memref<32xf32, "reg">
}

// transfer_c7: one step per limit and side, none below zero.
// CHECK: device.transfer has 1 limit, 1 side and the steps [-1]
device.kernel @transfer_c7_steps tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf32, "smem">
  device.transfer @stage %x[%task] to %s[%task] sizes [4] from_strides [1] to_strides [1] limits(%task) steps [-1] : memref<16xf32> to memref<16xf32, "smem">
}

// transfer_c7: runs are powers of two.
// CHECK: device.transfer has runs of 3
device.kernel @transfer_c7_run tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf32, "smem">
  device.transfer @stage %x[%task] to %s[%task] sizes [4] from_strides [1] to_strides [1] run 3 : memref<16xf32> to memref<16xf32, "smem">
}
