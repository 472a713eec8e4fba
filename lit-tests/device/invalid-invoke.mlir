// Operands that an instruction does not take.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/scratchpad.mlir --split-input-file 2>&1 | FileCheck %s

// invoke_c1: the machine has the instruction.
// CHECK: device.invoke names @mma, which is no instruction of the machine @toy
// CHECK: help: it has @add
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.invoke @mma(%x[%c0, %c0], %r[%c0]) : memref<4x16xf32>, memref<4xf32, "vreg">
}

// -----

// invoke_c2: one view per operand.
// CHECK: device.invoke gives 1 view to @add, which takes 2
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.invoke @add(%r[%c0]) : memref<4xf32, "vreg">
}

// -----

// invoke_c2: in the operand's memory.
// CHECK: device.invoke gives memref<4x16xf32> to @add, whose operand 1 is tensor<4xf32> in @vreg
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.invoke @add(%x[%c0, %c0], %x[%c0, %c0]) : memref<4x16xf32>, memref<4x16xf32>
}

// -----

// invoke_c2: of its element type.
// CHECK: device.invoke gives memref<16xi32> to @add, whose operand 0 is tensor<f32> in @dram
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<16xi32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.invoke @add(%x[%c0], %r[%c0]) : memref<16xi32>, memref<4xf32, "vreg">
}

// -----

// invoke_c2: one element may lie elsewhere, if a move goes from there to the registers.
// CHECK: device.invoke gives memref<4xf32, "spad"> to @add, whose operand 0 is tensor<f32> in @dram
device.kernel @kernel tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  %x = device.alloc : memref<4xf32, "spad">
  device.invoke @add(%x[%c0], %r[%c0]) : memref<4xf32, "spad">, memref<4xf32, "vreg">
}

// -----

// invoke_c2: with room for its shape.
// CHECK: device.invoke gives memref<2xf32, "vreg"> to @add, whose operand 1 is tensor<4xf32> in @vreg
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  %s = device.alloc : memref<2xf32, "vreg">
  device.invoke @add(%x[%c0, %c0], %s[%c0]) : memref<4x16xf32>, memref<2xf32, "vreg">
}

// -----

// invoke_c3: one index per dimension.
// CHECK: device.invoke gives 2 indices to 3 dimensions
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.invoke @add(%x[%c0], %r[%c0]) : memref<4x16xf32>, memref<4xf32, "vreg">
}
