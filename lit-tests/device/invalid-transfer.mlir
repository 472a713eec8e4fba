// Transfers that are not those of a move.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(4096)
  device.unit @core count(1)
  device.engine @dma on @core queue(1)
  device.move @in from @dram to @spad engine(@dma)
  device.move @out from @spad to @dram
}

// transfer_c1: between the memories of the two types.
// CHECK: device.transfer goes to memref<16xf32>, @in to @spad
device.kernel @transfer_c1 tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %t = device.transfer @in %x[%task] to %x[%task] sizes [4] from_strides [1] to_strides [1] : memref<16xf32> to memref<16xf32> -> !device.token
}

// transfer_c2: of one element type.
// CHECK: device.transfer goes from memref<16xf32> to memref<16xf16, "spad">
device.kernel @transfer_c2 tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf16, "spad">
  %t = device.transfer @in %x[%task] to %s[%task] sizes [4] from_strides [1] to_strides [1] : memref<16xf32> to memref<16xf16, "spad"> -> !device.token
}

// transfer_c3: one stride per size.
// CHECK: device.transfer has 2 sizes and 1 stride
device.kernel @transfer_c3 tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf32, "spad">
  %t = device.transfer @in %x[%task] to %s[%task] sizes [1, 4] from_strides [1] to_strides [4, 1] : memref<16xf32> to memref<16xf32, "spad"> -> !device.token
}

// transfer_c4: steps need a strided move.
// CHECK: a box [4] goes by [2], @in cannot step
device.kernel @transfer_c4 tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf32, "spad">
  %t = device.transfer @in %x[%task] to %s[%task] sizes [4] from_strides [2] to_strides [1] : memref<16xf32> to memref<16xf32, "spad"> -> !device.token
}

// transfer_c5: an engine gives a token.
// CHECK: device.transfer gives no token, @in is done by @dma
device.kernel @transfer_c5 tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf32, "spad">
  device.transfer @in %x[%task] to %s[%task] sizes [4] from_strides [1] to_strides [1] : memref<16xf32> to memref<16xf32, "spad">
}

// transfer_c5: nothing else does.
// CHECK: device.transfer gives a token, @out has no engine
device.kernel @transfer_c5_no_engine tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf32, "spad">
  %t = device.transfer @out %s[%task] to %x[%task] sizes [4] from_strides [1] to_strides [1] : memref<16xf32, "spad"> to memref<16xf32> -> !device.token
}

// transfer_c6: the box fits.
// CHECK: device.transfer spans 17 elements of memref<16xf32>, which has 16
device.kernel @transfer_c6 tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<32xf32, "spad">
  %t = device.transfer @in %x[%task] to %s[%task] sizes [17] from_strides [1] to_strides [1] : memref<16xf32> to memref<32xf32, "spad"> -> !device.token
}

// fill_c1: the move fills.
// CHECK: device.fill uses @in, which does not fill
// fill_c2: the number has the element type.
// CHECK: device.fill writes 0 : i32 to memref<16xf32, "spad">
device.kernel @fill tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf32, "spad">
  %t = device.fill @in %s[%task] sizes [4] strides [1] value 0 : i32 : memref<16xf32, "spad"> -> !device.token
}
