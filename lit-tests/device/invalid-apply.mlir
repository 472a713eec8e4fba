// Work that lanes do not do element by element.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/toy.mlir --split-input-file 2>&1 | FileCheck %s

// apply_c1: the machine has the lane unit.
// CHECK: device.apply names @salu, which is no lane unit of the machine @toy
// CHECK: help: it has @valu
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @salu lanes 4 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

// apply_c1: which lists every operation of the body.
// CHECK: device.apply uses arith.mulf on @valu, which does not list it
// CHECK: help: its operations are arith.addf
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 4 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    %d = arith.mulf %a, %a : f32
    device.yield %d : f32
  }
}

// -----

// apply_c1: and its element types.
// CHECK: device.apply uses arith.addf on f64, which @valu does not list
// CHECK: help: its types are f32
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 4 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    %z = arith.constant 0.0 : f64
    %d = arith.addf %z, %z : f64
    device.yield %a : f32
  }
}

// -----

// apply_c2: one argument per input.
// CHECK: the body of device.apply takes (f32, f32) of (f32)
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 4 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32, %b: f32):
    device.yield %a : f32
  }
}

// -----

// apply_c2: one value per output.
// CHECK: the body of device.apply yields () for (f32)
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 4 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    device.yield
  }
}

// -----

// apply_c3: outputs lie in the unit's registers.
// CHECK: device.apply writes memref<4x16xf32>, @valu works in @vreg
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 4 ins(%r[%c0]) outs(%x[%c0, %c0]) : (memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

// apply_c3: the lanes fit a register.
// CHECK: device.apply works on 8 lanes of f32 in @vreg
// CHECK: help: a register holds 4 lanes of f32
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 8 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

// apply_c3: there is a lane.
// CHECK: device.apply has lanes 0
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 0 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

// apply_c4: one index per dimension.
// CHECK: device.apply gives 0 indices to 1 dimensions
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 4 ins(%r[]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}
