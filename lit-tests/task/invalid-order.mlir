// Programs whose ranges are not in order: what is read before it is written, and waits in a circle.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

tile.kernel @copy {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// program_c5: a read comes after a write.
// CHECK: "read"[0 to 1] reads what "write"[0 to 1] writes, and no token orders them
// CHECK: note: the other range is here
// CHECK: help: wait for its token
task.program @program_c5 on @core units 1 arena 64 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %t0 = task.range "write" @copy[0 to 1] on 0 (%x, %b) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "read" @copy[0 to 1] on 0 (%b, %y) after() : memref<16xf32>, memref<16xf32>
}

// -----

tile.kernel @copy {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// program_c5: also where buffers share bytes of the arena, and through a view.
// CHECK: "read"[0 to 1] reads what "write"[0 to 1] writes, and no token orders them
task.program @program_c5 on @core units 1 arena 128 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<32xf32>
  %v = task.view %b : memref<32xf32> to memref<2x16xf32>
  %c = task.buffer at 64 in @dram : memref<16xf32>
  %t0 = task.range "other" @copy[0 to 1] on 0 (%x, %y) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "write" @copy[0 to 1] on 0 (%x, %c) after() : memref<16xf32>, memref<16xf32>
  %t2 = task.range "read" @half[0 to 1] on 0 (%v, %y) after(%t0) : memref<2x16xf32>, memref<16xf32>
}

tile.kernel @half {
^bb0(%x: tensor<2x16xf32>, %o: tensor<16xf32>):
  %s = tensor.extract_slice %x[0, 0] [1, 16] [1, 1] : tensor<2x16xf32> to tensor<16xf32>
  tile.yield %s : tensor<16xf32>
}

// -----

tile.kernel @copy {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// program_c5: what is read was not written over through another buffer.
// CHECK: "read"[0 to 1] reads a buffer that "other"[0 to 1] has overwritten
// CHECK: help: place buffers whose live ranges overlap at different bytes
task.program @program_c5 on @core units 1 arena 128 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %c = task.buffer at 0 in @dram : memref<16xf32>
  %t0 = task.range "write" @copy[0 to 1] on 0 (%x, %b) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "other" @copy[0 to 1] on 0 (%x, %c) after(%t0) : memref<16xf32>, memref<16xf32>
  %t2 = task.range "read" @copy[0 to 1] on 0 (%b, %y) after(%t1) : memref<16xf32>, memref<16xf32>
}

// -----

tile.kernel @copy {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// program_c5: a range does not write where it reads.
// CHECK: "shift"[0 to 1] writes bytes that another operand also holds
// CHECK: help: place the two buffers at different bytes
task.program @program_c5 on @core units 1 arena 192 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %c = task.buffer at 0 in @dram : memref<16xf32>
  %t0 = task.range "write" @copy[0 to 1] on 0 (%x, %b) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "shift" @copy[0 to 1] on 0 (%b, %c) after(%t0) : memref<16xf32>, memref<16xf32>
  %t2 = task.range "read" @copy[0 to 1] on 0 (%c, %y) after(%t1) : memref<16xf32>, memref<16xf32>
}

// -----

// program_c6: no wait goes in a circle.
// CHECK: "a"[0 to 1] waits for "c"[0 to 1], and "c"[0 to 1] for "a"[0 to 1]
// CHECK: help: remove one of the waits, so that they form no cycle
task.program @program_c6 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t0 = task.range "a" @a[0 to 1] on 0 (%y) after(%t2) : memref<4xf32>
  %t1 = task.range "b" @a[0 to 1] on 0 (%y) after(%t0) : memref<4xf32>
  %t2 = task.range "c" @a[0 to 1] on 0 (%y) after(%t1) : memref<4xf32>
}

// -----

// program_c6: nor for what comes later, for a unit goes down the text.
// CHECK: "a"[0 to 1] uses what "b"[0 to 1] makes later in the text
// CHECK: help: move it behind what it uses: units follow the order of the text
task.program @program_c6 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t0 = task.range "a" @a[0 to 1] on 0 (%y) after(%t1) : memref<4xf32>
  %t1 = task.range "b" @a[0 to 1] on 0 (%y) after() : memref<4xf32>
}

// -----

// program_c6: nor for itself.
// CHECK: "a"[0 to 1] waits for itself
task.program @program_c6 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t0 = task.range "a" @a[0 to 1] on 0 (%y) after(%t0) : memref<4xf32>
}

// -----

// program_c6: buffers are there before they are used.
// CHECK: "a"[0 to 1] uses what task.output makes later in the text
task.program @program_c6 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %t0 = task.range "a" @a[0 to 1] on 0 (%y) after() : memref<4xf32>
  %y = task.output 0 "y" : memref<4xf32>
}

// -----

tile.kernel @copy {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// program_c5: what is read was written.
// CHECK: "early"[0 to 1] reads a task.buffer that no earlier range writes
task.program @program_c5 on @core units 1 arena 64 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %t0 = task.range "early" @copy[0 to 1] on 0 (%b, %y) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "late" @copy[0 to 1] on 0 (%x, %b) after() : memref<16xf32>, memref<16xf32>
}

// -----

device.kernel @scale tasks 1 {
^bb0(%task: index, %x: memref<16xf32>, %o: memref<16xf32>):
  %v = memref.subview %o[8] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
  %c0 = arith.constant 0 : index
  %e = memref.load %x[%c0] : memref<16xf32>
  memref.store %e, %v[%c0] : memref<8xf32, strided<[1], offset: 8>>
}

// program_c5: a device.kernel writes what it stores to, also through a view.
// CHECK: "second"[0 to 1] reads what "first"[0 to 1] writes, and no token orders them
task.program @program_c5 on @core units 1 arena 64 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %t0 = task.range "first" @scale[0 to 1] on 0 (%x, %b) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "second" @scale[0 to 1] on 0 (%b, %y) after() : memref<16xf32>, memref<16xf32>
}

// -----

tile.kernel @copy {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// program_c5: nothing writes an input.
// CHECK: "write"[0 to 1] writes a task.input
// CHECK: help: only outputs and buffers are written
task.program @program_c5 on @core units 1 arena 0 : (tensor<4x4xf32>) -> () {
  %x = task.input 0 "x" : memref<4x4xf32>
  %v = task.view %x : memref<4x4xf32> to memref<16xf32>
  %t0 = task.range "write" @copy[0 to 1] on 0 (%v, %v) after() : memref<16xf32>, memref<16xf32>
}
