// What lanes do not combine along a dimension of an operand.
// RUN: not weft-opt %s --device-load-machine=file=%devices/a100.mlir --split-input-file 2>&1 | FileCheck %s

// combine_c2: the dimension is one of the operand.
// CHECK: device.combine goes along dimension 2 of 2
// CHECK: help: give one from 0 to 1
device.kernel @kernel tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<16x8xf32, "reg">
  device.combine @valu lanes 128 along 2 ins(%r[%c0, %c0]) outs(%r[%c0, %c0]) : (memref<16x8xf32, "reg">) -> (memref<16x8xf32, "reg">) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
}

// -----

// combine_c2: both are the same operand.
// CHECK: device.combine goes along an operand of 128 elements
// CHECK: note: its registers are memref<16x8xf32, "reg"> and memref<8x16xf32, "reg">
device.kernel @kernel tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<16x8xf32, "reg">
  %s = device.alloc : memref<8x16xf32, "reg">
  device.combine @valu lanes 128 along 1 ins(%r[%c0, %c0]) outs(%s[%c0, %c0]) : (memref<16x8xf32, "reg">) -> (memref<8x16xf32, "reg">) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
}

// -----

// combine_c1: without `along` lanes are those of one register.
// CHECK: device.combine works on 128 lanes of f32 in @reg
device.kernel @kernel tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<16x8xf32, "reg">
  device.combine @valu lanes 128 ins(%r[%c0, %c0]) outs(%r[%c0, %c0]) : (memref<16x8xf32, "reg">) -> (memref<16x8xf32, "reg">) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
}
