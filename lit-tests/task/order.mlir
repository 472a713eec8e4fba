// Programs whose reads all come after a write.
// RUN: weft-opt %s --verify-roundtrip

tile.kernel @copy {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// A token also stands for everything before the range that gives it.
task.program @transitive on @core units 1 arena 128 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %c = task.buffer at 64 in @dram : memref<16xf32>
  %t0 = task.range "a" @copy[0 to 1] on 0 (%x, %b) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "b" @copy[0 to 1] on 0 (%b, %c) after(%t0) : memref<16xf32>, memref<16xf32>
  %t2 = task.range "c" @copy[0 to 1] on 0 (%c, %b) after(%t1) : memref<16xf32>, memref<16xf32>
  %t3 = task.range "d" @copy[0 to 1] on 0 (%b, %y) after(%t2) : memref<16xf32>, memref<16xf32>
}

// One writer suffices: the ranges may work on different windows.
task.program @windows on @core units 2 arena 64 : (tensor<16xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %z = task.output 1 "z" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %t0 = task.range "a" @copy[0 to 2] on 0 (%x, %b) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "a" @copy[2 to 4] on 1 (%x, %b) after() : memref<16xf32>, memref<16xf32>
  %t2 = task.range "b" @copy[0 to 2] on 0 (%b, %y) after(%t0) : memref<16xf32>, memref<16xf32>
  %t3 = task.range "b" @copy[2 to 4] on 1 (%b, %y) after(%t1) : memref<16xf32>, memref<16xf32>
  %t4 = task.range "c" @copy[0 to 4] on 1 (%b, %z) after(%t2, %t3) : memref<16xf32>, memref<16xf32>
}

// What a kernel does not use need not be there.
task.program @unused on @core units 1 arena 64 : () -> tensor<16xf32> {
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %t0 = task.range "a" @zero[0 to 1] on 0 (%b, %y) after() : memref<16xf32>, memref<16xf32>
}

tile.kernel @zero {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  %z = arith.constant dense<0.0> : tensor<16xf32>
  tile.yield %z : tensor<16xf32>
}
