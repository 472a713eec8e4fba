// Buffers and views of the wrong place, memory or size.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/toy.mlir --split-input-file 2>&1 | FileCheck %s

// buffer_c1: the offset is a multiple of 64.
// CHECK: task.buffer begins at byte 32
task.program @buffer_c1 on @core units 1 arena 96 : () -> () {
  %b = task.buffer at 32 in @dram : memref<16xf32>
}

// -----

// buffer_c2: the machine has the memory.
// CHECK: task.buffer names @spad, which is no memory of the machine @toy
task.program @buffer_c2 on @core units 1 arena 64 : () -> () {
  %b = task.buffer at 0 in @spad : memref<16xf32>
}

// -----

// view_c1: the same number of elements.
// CHECK: task.view shows memref<16xf32> as memref<4x3xf32>
task.program @view_c1 on @core units 1 arena 64 : () -> () {
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %v = task.view %b : memref<16xf32> to memref<4x3xf32>
}

// -----

// buffer_c2: and no other memory is.
// CHECK: task.buffer in @dram of scope device names a cluster
task.program @buffer_c2_device on @core units 2 arena 64 : () -> () {
  %b = task.buffer at 0 in @dram of 1 : memref<4xf32>
}
