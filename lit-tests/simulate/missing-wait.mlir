// What a chip would do in silence, the simulator says.
//
// RUN: not weft simulate %s 2>&1 | FileCheck %s
// RUN: weft compile %s -o %t.weft
// RUN: not weft-run %t.weft 2>&1 | FileCheck %s
// RUN: not weft run %t.weft 2>&1 | FileCheck %s

// CHECK: error: kernel @turn, operation 2, device.transfer @out (rTask 0, step 0 "turn" on unit 0) reads elements 0 to 16 of buffer 2 (16xf32) in @spad, which operation 1, device.transfer @in still writes on engine dma_in
// CHECK-NEXT: help: wait for its token first

device.machine @tiny arch("tiny") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536) bytes_per_cycle(16)
  device.memory @spad scope("core") capacity_bytes(1024)
  device.unit @core count(1)
  device.engine @dma_in on @core queue(2)
  device.engine @dma_out on @core queue(2)
  device.move @in from @dram to @spad engine(@dma_in) bytes_per_cycle(8) strided
  device.move @out from @spad to @dram engine(@dma_out) bytes_per_cycle(8) strided
}

task.program @main on @core units 1 arena 0 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %t = task.range "turn" @turn[0 to 1] on 0 (%x, %y) after() : memref<16xf32>, memref<16xf32>
}

device.kernel @turn tasks 1 {
^bb0(%task: index, %x: memref<16xf32>, %y: memref<16xf32>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<16xf32, "spad">
  %in = device.transfer @in %x[%c0] to %s[%c0] sizes [16] from_strides [1] to_strides [1] : memref<16xf32> to memref<16xf32, "spad"> -> !device.token
  %out = device.transfer @out %s[%c0] to %y[%c0] sizes [16] from_strides [1] to_strides [1] : memref<16xf32, "spad"> to memref<16xf32> -> !device.token
  device.wait %in, %out
}
