// A device program written by hand, on a machine written by hand, in simulated time.
//
// RUN: weft simulate %s --json | FileCheck %s
// RUN: weft simulate %s --json --timing-only | FileCheck %s --check-prefix=TIMING
// RUN: weft simulate %s --trace %t.json && FileCheck %s --check-prefix=TRACE < %t.json
// RUN: weft compile %s -o %t.weft && weft-run %t.weft | FileCheck %s --check-prefix=RAN
// RUN: weft run %t.weft | FileCheck %s --check-prefix=RAN

// RAN: y: float32 [16]

device.machine @tiny arch("tiny") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @spad scope("core") capacity_bytes(1024) banks(4) bank_bytes(4)
  device.unit @core count(1) clock_mhz(1000)
  device.engine @dma on @core queue(2)
  device.move @in from @dram to @spad engine(@dma) bytes_per_cycle(8) latency_cycles(100) strided
  device.move @out from @spad to @dram engine(@dma) bytes_per_cycle(8) latency_cycles(50) strided
}

// The unit gives the transfer away in cycle 0. The engine works on it from 1 on: 64 bytes at 8 a
// cycle, which are there at 1 + 8 + 100. The columns of 4 rows lie in one bank each: of 4 groups,
// each takes 4 cycles, and 12 are lost, so it is 12 and not 8. The way out begins at 114 and
// takes 8 and 50; elements are side by side there.
// CHECK: "cycles": 172.0
// CHECK: "microseconds": 0.172

// CHECK: "name": "dram"
// CHECK-NEXT: "read_bytes": 64
// CHECK-NEXT: "written_bytes": 64
// CHECK-NEXT: "bank_conflict_cycles": 0
// CHECK-NEXT: "peak_bytes": 128
// CHECK: "name": "spad"
// CHECK-NEXT: "read_bytes": 64
// CHECK-NEXT: "written_bytes": 64
// CHECK-NEXT: "bank_conflict_cycles": 12
// CHECK-NEXT: "peak_bytes": 64
// CHECK: "functional": true

// TIMING: "cycles": 172.0
// TIMING: "functional": false

// TRACE: "thread_name"
// TRACE-SAME: {"name":"dma"}
// TRACE-SAME: {"name":"device.transfer @in","ph":"X","pid":0,"tid":1,"ts":0.001,"dur":0.012}

task.program @main on @core units 1 arena 0 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %t = task.range "turn" @turn[0 to 1] on 0 (%x, %y) after() : memref<16xf32>, memref<16xf32>
}

device.kernel @turn tasks 1 {
^bb0(%task: index, %x: memref<16xf32>, %y: memref<16xf32>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<4x4xf32, "spad">
  %in = device.transfer @in %x[%c0] to %s[%c0, %c0] sizes [4, 4] from_strides [4, 1] to_strides [1, 4] : memref<16xf32> to memref<4x4xf32, "spad"> -> !device.token
  device.wait %in
  %out = device.transfer @out %s[%c0, %c0] to %y[%c0] sizes [16] from_strides [1] to_strides [1] : memref<4x4xf32, "spad"> to memref<16xf32> -> !device.token
  device.wait %out
}
