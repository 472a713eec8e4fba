// Programs that do not fit their machine, their arena or their signature.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/toy.mlir --split-input-file 2>&1 | FileCheck %s

// program_c1: the machine has the unit.
// CHECK: task.program names @sm, which is no unit of the machine @toy
// CHECK: help: it has @core
task.program @program_c1 on @sm units 2 arena 0 : () -> () {
}

// -----

// program_c1: the machine has that many units.
// CHECK: task.program needs 4 of @core, the machine has 2
task.program @program_c1 on @core units 4 arena 0 : () -> () {
}

// -----

// program_c1: a program runs on a unit.
// CHECK: task.program has 0 units
task.program @program_c1 on @core units 0 arena 0 : () -> () {
}

// -----

// program_c2: a range's unit is below `units`.
// CHECK: task.range runs on unit 2 of 2
// CHECK: help: units are numbered from 0 to 1
task.program @program_c2 on @core units 2 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t = task.range "a" @a[0 to 1] on 2 (%y) after() : memref<4xf32>
}

// -----

// program_c3: a buffer ends inside the arena.
// CHECK: task.buffer ends at byte 96 of an arena of 64
task.program @program_c3 on @core units 1 arena 64 : () -> () {
  %b = task.buffer at 64 in @dram : memref<8xf32>
}

// -----

// program_c3: a buffer has a size.
// CHECK: task.buffer has the type memref<?xf32>
task.program @program_c3 on @core units 1 arena 64 : () -> () {
  %b = task.buffer at 0 in @dram : memref<?xf32>
}

// -----

// program_c3: an arena has a size.
// CHECK: task.program has an arena of -1 bytes
task.program @program_c3 on @core units 1 arena -1 : () -> () {
}

// -----

// program_c4: every input is there.
// CHECK: the signature has tensor<4xf32> at 0, and there is no task.input 0
task.program @program_c4 on @core units 1 arena 0 : (tensor<4xf32>) -> () {
}

// -----

// program_c4: every output is there once.
// CHECK: task.output 0 is there twice
// CHECK: note: the first one is here
task.program @program_c4 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %x = task.output 0 "y" : memref<4xf32>
  %y = task.output 0 "y" : memref<4xf32>
}

// -----

// program_c4: no more than the signature has.
// CHECK: task.input 1 of a signature that has 0
task.program @program_c4 on @core units 1 arena 0 : () -> () {
  %x = task.input 1 "x" : memref<4xf32>
}

// -----

// program_c4: a memref of the payload type.
// CHECK: task.input 0 is memref<4xi1>, the signature has tensor<4xi1>
// CHECK: help: its elements are those of the payload type tensor<4xi8>
task.program @program_c4 on @core units 1 arena 0 : (tensor<4xi1>) -> () {
  %x = task.input 0 "x" : memref<4xi1>
}
