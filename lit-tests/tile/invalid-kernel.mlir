// What a tile.kernel may not be.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// kernel_c1: a yielded value has the type of the argument it overwrites.
// CHECK: tile.kernel overwrites its argument 1, tensor<8xf32>, with tensor<4xf32>
tile.kernel @kernel_c1 {
^bb0(%x: tensor<4xf32>, %o: tensor<8xf32>):
  tile.yield %x : tensor<4xf32>
}

// -----

// kernel_c1: each value overwrites an argument.
// CHECK: tile.kernel has 1 argument and yields 2 values
tile.kernel @kernel_c1 {
^bb0(%x: tensor<4xf32>):
  tile.yield %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// kernel_c1: the body ends in tile.yield.
// CHECK: tile.kernel ends in device.yield
tile.kernel @kernel_c1 {
^bb0(%x: tensor<4xf32>):
  device.yield
}
