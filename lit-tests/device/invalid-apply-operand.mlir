// A body on registers that are spread over lanes takes one register, or a whole operand of an
// instruction: not a part of one.
// RUN: not weft-opt %s --device-load-machine=file=%devices/a100.mlir --split-input-file 2>&1 | FileCheck %s

// CHECK: device.apply works on 100 lanes of f32 in @reg
// CHECK: help: a register holds 32 lanes of f32
device.kernel @part tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<2x16x8xf32, "reg">
  device.apply @valu lanes 100 ins(%r[%c0, %c0, %c0]) outs(%r[%c0, %c0, %c0]) : (memref<2x16x8xf32, "reg">) -> (memref<2x16x8xf32, "reg">) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

// The last dimension alone is a register.
// CHECK: device.apply works on 64 lanes of f32 in @reg
// CHECK: help: a register holds 32 lanes of f32
device.kernel @row tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<2x64xf32, "reg">
  device.apply @valu lanes 64 ins(%r[%c0, %c0]) outs(%r[%c0, %c0]) : (memref<2x64xf32, "reg">) -> (memref<2x64xf32, "reg">) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}
