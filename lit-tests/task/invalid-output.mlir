// Outputs in inputs that are not theirs.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/toy.mlir --split-input-file 2>&1 | FileCheck %s

// output_c1: the input is there.
// CHECK: task.output 0 lies in input 1, which is not there
task.program @missing on @core units 1 arena 0 : (tensor<4xf32>) -> tensor<4xf32> {
  %x = task.input 0 "x" : memref<4xf32>
  %y = task.output 0 "y" in 1 : memref<4xf32>
}

// -----

// output_c1: it has the type of the output.
// CHECK: task.output 0 of memref<4xf32> lies in memref<5xf32>
task.program @types on @core units 1 arena 0 : (tensor<5xf32>) -> tensor<4xf32> {
  %x = task.input 0 "x" : memref<5xf32>
  %y = task.output 0 "y" in 0 : memref<4xf32>
}

// -----

// output_c1: no other lies there.
// CHECK: two outputs lie in input 0
task.program @twice on @core units 1 arena 0 : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %x = task.input 0 "x" : memref<4xf32>
  %y = task.output 0 "y" in 0 : memref<4xf32>
  %z = task.output 1 "z" in 0 : memref<4xf32>
}
