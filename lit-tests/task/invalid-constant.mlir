// Constants that are not what they are computed from.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// literal_c1: shape and element type of the buffer.
// CHECK: task.literal writes tensor<4xf32> into memref<8xf32>
task.program @literal_c1 on @core units 1 arena 0 : () -> () {
  %l = task.literal dense<1.0> : tensor<4xf32> -> memref<8xf32>
}

// -----

// constant_c1: what is known when the artifact is written.
// CHECK: task.constant takes a task.buffer
task.program @constant_c1 on @core units 1 arena 64 : () -> () {
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %v = task.view %b : memref<16xf32> to memref<4x4xf32>
  %c = task.constant "c" @pack(%v) : (memref<4x4xf32>) -> memref<16xf32>
}

// -----

device.kernel @pack tasks 1 {
^bb0(%task: index, %o: memref<16xf32>):
}

// constant_c2: the symbol is a tile.kernel.
// CHECK: task.constant calls @pack, which is a device.kernel
task.program @constant_c2 on @core units 1 arena 0 : () -> () {
  %c = task.constant "c" @pack() : () -> memref<16xf32>
}

// -----

tile.kernel @pack {
^bb0(%o: tensor<8xf32>):
  tile.yield %o : tensor<8xf32>
}

// constant_c2: of these types.
// CHECK: task.constant gives memref<16xf32> to @pack, whose argument 0 is tensor<8xf32>
task.program @constant_c2 on @core units 1 arena 0 : () -> () {
  %c = task.constant "c" @pack() : () -> memref<16xf32>
}

// -----

tile.kernel @pack {
^bb0(%o: tensor<8xf32>):
  tile.yield %o : tensor<8xf32>
}

// constant_c2: a result has the type of its initial value.
// CHECK: task.constant initializes memref<8xf32> with memref<16xf32>
task.program @constant_c2 on @core units 1 arena 0 : () -> () {
  %w = task.weight "w" in "model" hash "00" : memref<16xf32>
  %c = task.constant "c" @pack(%w) : (memref<16xf32>) -> memref<8xf32>
}
