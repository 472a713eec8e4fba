// Work that lanes do not do with one another.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/toy.mlir --split-input-file 2>&1 | FileCheck %s

// combine_c1: the unit lists the operation among its reductions.
// CHECK: device.combine uses arith.mulf on f32, which @valu does not list
// CHECK: help: its reductions are arith.addf
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%r[%c0]) outs(%x[%c0, %c0]) : (memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.mulf %a, %b : f32
    device.yield %d : f32
  }
}

// -----

// combine_c1: there is one operation.
// CHECK: the body of device.combine has 0 operations
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%r[%c0]) outs(%x[%c0, %c0]) : (memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    device.yield %a : f32
  }
}

// -----

// combine_c1: the input lies in the unit's registers.
// CHECK: device.combine reads memref<4x16xf32>, @valu works in @vreg
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%x[%c0, %c0]) outs(%x[%c0, %c0]) : (memref<4x16xf32>) -> (memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
}

// -----

// combine_c1: the lanes fit a register.
// CHECK: device.combine works on 8 lanes of f32 in @vreg
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 8 ins(%r[%c0]) outs(%x[%c0, %c0]) : (memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
}

// -----

// combine_c2: one input and one output.
// CHECK: device.combine has 2 inputs and 1 output
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%r[%c0], %r[%c0]) outs(%x[%c0, %c0]) : (memref<4xf32, "vreg">, memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
}

// -----

// combine_c2: of one element type.
// CHECK: device.combine takes memref<4xf32, "vreg"> and gives memref<16xf64>
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<16xf64>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%r[%c0]) outs(%x[%c0]) : (memref<4xf32, "vreg">) -> (memref<16xf64>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
}

// -----

// combine_c2: the body takes two and yields one.
// CHECK: the body of device.combine takes (f32) of (f32, f32)
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%r[%c0]) outs(%x[%c0, %c0]) : (memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

// combine_c2: one index per dimension.
// CHECK: device.combine gives 1 index to 2 dimensions
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%r[%c0]) outs(%x[%c0]) : (memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
}
