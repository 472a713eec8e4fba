// Ranges that do not fit their kernels.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// range_c1: begin is less than end.
// CHECK: task.range goes from rTask 1 to 1
task.program @range_c1 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t = task.range "a" @a[1 to 1] on 0 (%y) after() : memref<4xf32>
}

// -----

device.kernel @a tasks 2 {
^bb0(%task: index, %x: memref<4xf32>):
}

// range_c1: end is at most the kernel's number of rTasks.
// CHECK: task.range goes to rTask 3, @a has 2
task.program @range_c1 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t = task.range "a" @a[0 to 3] on 0 (%y) after() : memref<4xf32>
}

// -----

// range_c1: a tile.kernel has as many rTasks as first rTiles cover its parallel axes.
// CHECK: task.range goes to rTask 5, @b has 4
task.program @range_c1 on @core units 1 arena 0 : () -> tensor<14xf32> {
  %y = task.output 0 "y" : memref<14xf32>
  %t = task.range "b" @b[0 to 5] on 0 (%y) after() : memref<14xf32>
}

tile.kernel @b {
^bb0(%x: tensor<14xf32>):
  %r = tile.compute ins() outs(%x) on @valu tiles [#tile.rtile<"l2"[4]>] : (tensor<14xf32>) -> tensor<14xf32> {
  ^bb0(%a: tensor<14xf32>):
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : tensor<14xf32>) {
    ^bb0(%q: f32):
      linalg.yield %q : f32
    } -> tensor<14xf32>
    tile.yield %s : tensor<14xf32>
  }
  tile.yield %r : tensor<14xf32>
}

// -----

tile.kernel @other {
  tile.yield
}

// range_c2: the symbol is a kernel.
// CHECK: task.range calls @a, which is not a kernel
task.program @range_c2 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t = task.range "a" @a[0 to 1] on 0 (%y) after() : memref<4xf32>
}

// -----

tile.kernel @a {
^bb0(%x: tensor<4xf32>):
  tile.yield %x : tensor<4xf32>
}

// range_c2: the kernel's arguments have the types of the buffers.
// CHECK: task.range gives memref<8xf32> to @a, whose argument 0 is tensor<4xf32>
// CHECK: note: the kernel is here
task.program @range_c2 on @core units 1 arena 0 : () -> tensor<8xf32> {
  %y = task.output 0 "y" : memref<8xf32>
  %t = task.range "a" @a[0 to 1] on 0 (%y) after() : memref<8xf32>
}
