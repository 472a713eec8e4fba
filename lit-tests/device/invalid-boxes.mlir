// Transfers by a move of boxes that bring something else.
// RUN: not weft-opt %s 2>&1 | FileCheck %s

device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @smem scope("core") capacity_bytes(65536)
  device.unit @core count(1)
  device.engine @tensor_copies on @core queue(8)
  device.move @near from @smem to @smem strided
  device.move @in from @dram to @smem engine(@tensor_copies) strided
    boxes({dims = 3, points = 256, step_bytes = 16, line_bytes = 128, swizzle = [3, 4, 3], align_bytes = 1024})
}

// transfer_c8: of tensors of so many dimensions.
// CHECK: what @in brings is of a tensor of 4 dimensions, of 1 to 3
device.kernel @dims tasks 1 {
^bb0(%task: index, %x: memref<2x2x16x16xf16>):
  %s = device.alloc : memref<16x16xf16, "smem">
  %t = device.transfer @in %x[%task, %task, %task, %task] to %s[%task, %task] sizes [16, 16] from_strides [16, 1] to_strides [16, 1] : memref<2x2x16x16xf16> to memref<16x16xf16, "smem"> -> !device.token
  device.wait %t
}

// CHECK: what @in brings has 512 points along a side, of 256 at most
device.kernel @points tasks 1 {
^bb0(%task: index, %x: memref<512x16xf16>):
  %s = device.alloc : memref<512x16xf16, "smem">
  %t = device.transfer @in %x[%task, %task] to %s[%task, %task] sizes [512, 16] from_strides [16, 1] to_strides [16, 1] : memref<512x16xf16> to memref<512x16xf16, "smem"> -> !device.token
  device.wait %t
}

// CHECK: what @in brings has rows or strides of 34 bytes, no multiple of 16
device.kernel @steps tasks 1 {
^bb0(%task: index, %x: memref<16x17xf16>):
  %s = device.alloc : memref<16x16xf16, "smem">
  %t = device.transfer @in %x[%task, %task] to %s[%task, %task] sizes [16, 16] from_strides [17, 1] to_strides [16, 1] : memref<16x17xf16> to memref<16x16xf16, "smem"> -> !device.token
  device.wait %t
}

// CHECK: what @in brings goes to rows of 128 bytes swizzled by [2, 3, 3], not of 128 bytes as the move writes them
device.kernel @swizzle tasks 1 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %s = device.alloc swizzle [2, 3, 3] : memref<16x64xf16, "smem">
  %t = device.transfer @in %x[%task, %task] to %s[%task, %task] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
  device.wait %t
}

// Two panels of four rows: the second one begins inside a swizzled pattern.
// CHECK: what @in brings begins 512 bytes behind its target, no multiple of 1024
device.kernel @align tasks 1 {
^bb0(%task: index, %x: memref<4x128xf16>):
  %s = device.alloc swizzle [3, 3, 3] : memref<2x4x64xf16, "smem">
  %t = device.transfer @in %x[%task, %task] to %s[%task, %task, %task] sizes [4, 2, 64] from_strides [128, 64, 1] to_strides [64, 256, 1] : memref<4x128xf16> to memref<2x4x64xf16, "smem"> -> !device.token
  device.wait %t
}

// A turned tile: each element would be a box.
// CHECK: what @in brings has rows or strides of 2 bytes, no multiple of 16
device.kernel @turned tasks 1 {
^bb0(%task: index, %x: memref<16x16xf16>):
  %s = device.alloc : memref<16x16xf16, "smem">
  %t = device.transfer @in %x[%task, %task] to %s[%task, %task] sizes [16, 16] from_strides [16, 1] to_strides [1, 16] : memref<16x16xf16> to memref<16x16xf16, "smem"> -> !device.token
  device.wait %t
}

// CHECK: what @in brings has parts that lie in each other in the target
device.kernel @overlap tasks 1 {
^bb0(%task: index, %x: memref<16x16xf16>):
  %s = device.alloc : memref<16x16xf16, "smem">
  %t = device.transfer @in %x[%task, %task] to %s[%task, %task] sizes [16, 16] from_strides [16, 1] to_strides [8, 1] : memref<16x16xf16> to memref<16x16xf16, "smem"> -> !device.token
  device.wait %t
}

// What a box has beyond the end is zero.
// CHECK: @in writes zeros where limits leave elements out
device.kernel @pads tasks 1 {
^bb0(%task: index, %x: memref<16x16xf16>):
  %s = device.alloc : memref<16x16xf16, "smem">
  %t = device.transfer @in %x[%task, %task] to %s[%task, %task] sizes [16, 16] from_strides [16, 1] to_strides [16, 1] limits(%task) steps [1, 0] : memref<16x16xf16> to memref<16x16xf16, "smem"> -> !device.token
  device.wait %t
}

// What is beyond the end of a row is the next row for a loop, and nothing for the engine.
// CHECK: what @in brings has 64 points along a dimension of 8
device.kernel @beyond tasks 1 {
^bb0(%task: index, %x: memref<64x8xf16>):
  %s = device.alloc : memref<64xf16, "smem">
  %t = device.transfer @in %x[%task, %task] to %s[%task] sizes [64] from_strides [1] to_strides [1] : memref<64x8xf16> to memref<64xf16, "smem"> -> !device.token
  device.wait %t
}

// A row of the target is no place where a box may begin.
// CHECK: what @in brings may begin 32 bytes behind its buffer, no multiple of 1024
device.kernel @begins tasks 1 {
^bb0(%task: index, %x: memref<16x16xf16>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<32x16xf16, "smem">
  %t = device.transfer @in %x[%c0, %c0] to %s[%task, %c0] sizes [16, 16] from_strides [16, 1] to_strides [16, 1] : memref<16x16xf16> to memref<32x16xf16, "smem"> -> !device.token
  device.wait %t
}

// transfer_c10, arrive_c1, arrive_c2 and kernel_c4: arrivals are for what is begun after them.
// CHECK: device.transfer is after what is no arrival of the round before
device.kernel @after tasks 1 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %s = device.alloc : memref<2x16x64xf16, "smem">
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<2x16x64xf16, "smem"> -> !device.token
  %u = device.transfer @in %x[%c0, %c0] to %s[%c1, %c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] after(%t) : memref<16x64xf16> to memref<2x16x64xf16, "smem"> -> !device.token
  device.wait %t, %u
}

// CHECK: device.arrive has the scope "cluster"
device.kernel @scope tasks 1 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %a = device.arrive "cluster" -> !device.token
}

// CHECK: device.wait waits for an arrival
device.kernel @wait tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %a = device.arrive "core" -> !device.token
  device.wait %a
}

// What one group alone comes to is no arrival of all.
// CHECK: device.arrive is not for all groups
device.kernel @alone tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %group = device.group
  scf.for %i = %c0 to %group step %c1 {
    %a = device.arrive "core" -> !device.token
  }
}

// A loop that hands on what it was given.
// CHECK: device.transfer is after what is no arrival of the round before
device.kernel @stale tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %ready = device.ready
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%free = %ready) -> (!device.token) {
    %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] after(%free) : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
    device.wait %t
    %now = device.arrive "core" -> !device.token
    scf.yield %free : !device.token
  }
}

// Of two arrivals a round one is at the word of the other.
// CHECK: device.arrive is not the only one of its loop
device.kernel @two tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %ready = device.ready
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%free = %ready) -> (!device.token) {
    %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] after(%free) : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
    device.wait %t
    %now = device.arrive "core" -> !device.token
    %more = device.arrive "core" -> !device.token
    scf.yield %more : !device.token
  }
}

// Who has arrived would still wait for a word that is used again.
// CHECK: device.arrive is in front of a wait of its round
device.kernel @early tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %ready = device.ready
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%free = %ready) -> (!device.token) {
    %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] after(%free) : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
    %now = device.arrive "core" -> !device.token
    device.wait %t
    scf.yield %now : !device.token
  }
}

// What was read in front of the arrival of this round is not what the box waits for.
// CHECK: device.arrive is in front of a box of its round that is after another one
device.kernel @behind tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %ready = device.ready
  %r:2 = scf.for %i = %c0 to %c9 step %c1 iter_args(%before = %ready, %free = %ready) -> (!device.token, !device.token) {
    device.wait %before
    %now = device.arrive "core" -> !device.token
    %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] after(%free) : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
    scf.yield %t, %now : !device.token, !device.token
  }
  device.wait %r#0
}

// Groups that nobody waits for may come to a word twice.
// CHECK: device.arrive is in a loop no box of which is begun after it
device.kernel @nobody tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %ready = device.ready
  %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%free = %ready) -> (!device.token) {
    %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
    device.wait %t
    %now = device.arrive "core" -> !device.token
    scf.yield %now : !device.token
  }
}

// What was made once says nothing of later rounds.
// CHECK: device.arrive is in no loop of its kernel
device.kernel @outside tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16x64xf16>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %s = device.alloc : memref<16x64xf16, "smem">
  %a = device.arrive "core" -> !device.token
  scf.for %i = %c0 to %c9 step %c1 {
    %t = device.transfer @in %x[%c0, %c0] to %s[%c0, %c0] sizes [16, 64] from_strides [64, 1] to_strides [64, 1] after(%a) : memref<16x64xf16> to memref<16x64xf16, "smem"> -> !device.token
    device.wait %t
  }
}
