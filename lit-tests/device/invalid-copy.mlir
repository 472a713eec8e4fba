// Copies that are not those of a move.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/toy.mlir --split-input-file 2>&1 | FileCheck %s

// copy_c1: the machine has the move.
// CHECK: device.copy names @gather, which is no move of the machine @toy
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @gather %x[%c0, %c0] to %r[%c0] count 4 : memref<4x16xf32> to memref<4xf32, "vreg">
}

// -----

// copy_c1: the move is between the two memories.
// CHECK: device.copy goes from memref<4xf32, "vreg">, @load from @dram
// CHECK: device.copy goes to memref<4x16xf32>, @load to @vreg
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @load %r[%c0] to %x[%c0, %c0] count 4 : memref<4xf32, "vreg"> to memref<4x16xf32>
}

// -----

// copy_c2: both have one element type.
// CHECK: device.copy goes from memref<16xi32> to memref<4xf32, "vreg">
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<16xi32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @load %x[%c0] to %r[%c0] count 4 : memref<16xi32> to memref<4xf32, "vreg">
}

// -----

// copy_c3: count and steps are above zero.
// CHECK: device.copy has count 0
// CHECK: device.copy has from_step 0
// CHECK: device.copy has to_step -1
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @load %x[%c0, %c0] to %r[%c0] count 0 from_step 0 to_step -1 : memref<4x16xf32> to memref<4xf32, "vreg">
}

// -----

// copy_c3: dimensions are inside the ranks.
// CHECK: device.copy has from_dim 2 of memref<4x16xf32>
// CHECK: device.copy has to_dim -1 of memref<4xf32, "vreg">
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @load %x[%c0, %c0] to %r[%c0] count 4 from_dim 2 to_dim -1 : memref<4x16xf32> to memref<4xf32, "vreg">
}

// -----

// copy_c3: one index per dimension.
// CHECK: device.copy gives 1 index to memref<4x16xf32>
// CHECK: device.copy gives 2 indices to memref<4xf32, "vreg">
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @load %x[%c0] to %r[%c0, %c0] count 4 : memref<4x16xf32> to memref<4xf32, "vreg">
}

// -----

// copy_c4: a column needs a strided move.
// CHECK: device.copy steps over elements of memref<4x16xf32>, @load cannot
// CHECK: note: the move is here
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @load %x[%c0, %c0] to %r[%c0] count 4 from_dim 0 : memref<4x16xf32> to memref<4xf32, "vreg">
}

// -----

// copy_c5: half a register does not go past the caches.
// CHECK: device.copy writes 2 elements by @stream, which streams
// CHECK: note: the move is here
// CHECK: help: give it a whole register that goes to elements side by side
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @stream %r[%c0] to %x[%c0, %c0] count 2 : memref<4xf32, "vreg"> to memref<4x16xf32>
}
