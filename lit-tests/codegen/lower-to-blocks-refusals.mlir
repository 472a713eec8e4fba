// Where the machine's facts do not show that all blocks are there at once, a launch is made kernel by
// kernel, and the remark has the two facts that disagree (RM-9, N-11).
//
// RUN: weft-opt %s --task-lower-to-blocks --split-input-file -o %t.out 2> %t.said
// RUN: FileCheck %s --check-prefix=SAID < %t.said
// RUN: FileCheck %s < %t.out

// CHECK-NOT: func.func

// A unit has too little shared memory for a block.
// SAID: remark: launch 0 is kernel by kernel: a block shares 5120 bytes, and of @smem it may have 4096
device.machine @m arch("sm_80") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @smem scope("core") capacity_bytes(4096)
  device.memory @reg scope("warp") capacity_bytes(32640) register_bytes(128) lanes(32) core_bytes(262144)
  device.unit @sm count(3) clock_mhz(1000) wait_cycles(10) launch_cycles(1000)
  device.move @load from @dram to @reg strided
  device.move @store from @reg to @dram strided
  device.move @stage from @dram to @smem strided
  device.lanes @valu on @sm in @reg issue_cycles(0.5) latency_cycles(4) types([f32])
    operations(["arith.mulf"]) reductions([])
}
task.program @net on @sm units 2 arena 128 : (tensor<32xf32>) -> tensor<32xf32> {
  %x = task.input 0 "x" : memref<32xf32>
  %y = task.output 0 "y" : memref<32xf32>
  %b = task.buffer at 0 in @dram : memref<32xf32>
  %t = task.range "a" @copy[0 to 1] on 0(%x, %b) after() cycles(10) : memref<32xf32>, memref<32xf32>
  %u = task.range "b" @shared[0 to 1] on 1(%b, %y) after(%t) cycles(10) : memref<32xf32>, memref<32xf32>
}
device.kernel @copy tasks 1 {
^bb0(%task: index, %x: memref<32xf32>, %y: memref<32xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<32xf32, "reg">
  device.copy @load %x[%c0] to %r[%c0] count 32 : memref<32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32>
}
device.kernel @shared tasks 1 {
^bb0(%task: index, %x: memref<32xf32>, %y: memref<32xf32>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<1024xf32, "smem">
  %more = device.alloc : memref<256xf32, "smem">
  %r = device.alloc : memref<32xf32, "reg">
  device.barrier "core"
  device.copy @load %x[%c0] to %r[%c0] count 32 : memref<32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32>
}

// -----

// Nobody says how many registers a unit has.
// SAID: remark: launch 0 is kernel by kernel: the machine does not say what the registers of a unit hold together (`core_bytes`)
device.machine @m arch("sm_80") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @smem scope("core") capacity_bytes(8192) static_bytes(8192)
  device.memory @reg scope("warp") capacity_bytes(32640) register_bytes(128) lanes(32)
  device.unit @sm count(3) clock_mhz(1000) wait_cycles(10) launch_cycles(1000)
  device.move @load from @dram to @reg strided
  device.move @store from @reg to @dram strided
  device.move @stage from @dram to @smem strided
  device.lanes @valu on @sm in @reg issue_cycles(0.5) latency_cycles(4) types([f32])
    operations(["arith.mulf"]) reductions([])
}
task.program @net on @sm units 2 arena 128 : (tensor<32xf32>) -> tensor<32xf32> {
  %x = task.input 0 "x" : memref<32xf32>
  %y = task.output 0 "y" : memref<32xf32>
  %b = task.buffer at 0 in @dram : memref<32xf32>
  %t = task.range "a" @copy[0 to 1] on 0(%x, %b) after() cycles(10) : memref<32xf32>, memref<32xf32>
  %u = task.range "b" @shared[0 to 1] on 1(%b, %y) after(%t) cycles(10) : memref<32xf32>, memref<32xf32>
}
device.kernel @copy tasks 1 {
^bb0(%task: index, %x: memref<32xf32>, %y: memref<32xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<32xf32, "reg">
  device.copy @load %x[%c0] to %r[%c0] count 32 : memref<32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32>
}
device.kernel @shared tasks 1 {
^bb0(%task: index, %x: memref<32xf32>, %y: memref<32xf32>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<1024xf32, "smem">
  %r = device.alloc : memref<32xf32, "reg">
  device.barrier "core"
  device.copy @load %x[%c0] to %r[%c0] count 32 : memref<32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32>
}

// -----

// There are too few of them for a block.
// SAID: remark: launch 0 is kernel by kernel: @copy holds 1 words a thread, and 32 threads have 0 each of @reg
device.machine @m arch("sm_80") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @smem scope("core") capacity_bytes(8192) static_bytes(8192)
  device.memory @reg scope("warp") capacity_bytes(32640) register_bytes(128) lanes(32) core_bytes(64)
  device.unit @sm count(3) clock_mhz(1000) wait_cycles(10) launch_cycles(1000)
  device.move @load from @dram to @reg strided
  device.move @store from @reg to @dram strided
  device.move @stage from @dram to @smem strided
  device.lanes @valu on @sm in @reg issue_cycles(0.5) latency_cycles(4) types([f32])
    operations(["arith.mulf"]) reductions([])
}
task.program @net on @sm units 2 arena 128 : (tensor<32xf32>) -> tensor<32xf32> {
  %x = task.input 0 "x" : memref<32xf32>
  %y = task.output 0 "y" : memref<32xf32>
  %b = task.buffer at 0 in @dram : memref<32xf32>
  %t = task.range "a" @copy[0 to 1] on 0(%x, %b) after() cycles(10) : memref<32xf32>, memref<32xf32>
  %u = task.range "b" @shared[0 to 1] on 1(%b, %y) after(%t) cycles(10) : memref<32xf32>, memref<32xf32>
}
device.kernel @copy tasks 1 {
^bb0(%task: index, %x: memref<32xf32>, %y: memref<32xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<32xf32, "reg">
  device.copy @load %x[%c0] to %r[%c0] count 32 : memref<32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32>
}
device.kernel @shared tasks 1 {
^bb0(%task: index, %x: memref<32xf32>, %y: memref<32xf32>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<1024xf32, "smem">
  %r = device.alloc : memref<32xf32, "reg">
  device.barrier "core"
  device.copy @load %x[%c0] to %r[%c0] count 32 : memref<32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32>
}

// -----

// A wavefront's barrier would wait for the rest of the block.
// SAID: remark: launch 0 is kernel by kernel: @shared has barriers of 64 threads in blocks of 128, and barriers of AMDGCN code are of whole blocks
device.machine @m arch("gfx942") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @smem scope("core") capacity_bytes(8192) static_bytes(8192)
  device.memory @reg scope("warp") capacity_bytes(65536) register_bytes(256) lanes(64) core_bytes(262144)
  device.unit @sm count(3) clock_mhz(1000) wait_cycles(10) launch_cycles(1000)
  device.move @load from @dram to @reg strided
  device.move @store from @reg to @dram strided
  device.move @stage from @dram to @smem strided
  device.lanes @valu on @sm in @reg issue_cycles(0.5) latency_cycles(4) types([f32])
    operations(["arith.mulf"]) reductions([])
}
task.program @net on @sm units 2 arena 128 : (tensor<32xf32>) -> tensor<32xf32> {
  %x = task.input 0 "x" : memref<32xf32>
  %y = task.output 0 "y" : memref<32xf32>
  %b = task.buffer at 0 in @dram : memref<32xf32>
  %t = task.range "a" @copy[0 to 6] on 0(%x, %b) after() cycles(10) : memref<32xf32>, memref<32xf32>
  %u = task.range "b" @shared[0 to 1] on 1(%b, %y) after(%t) cycles(10) : memref<32xf32>, memref<32xf32>
}
device.kernel @copy tasks 6 {
^bb0(%task: index, %x: memref<32xf32>, %y: memref<32xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<32xf32, "reg">
  device.copy @load %x[%c0] to %r[%c0] count 32 : memref<32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32>
}
device.kernel @shared tasks 1 {
^bb0(%task: index, %x: memref<32xf32>, %y: memref<32xf32>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<1024xf32, "smem">
  %r = device.alloc : memref<32xf32, "reg">
  device.barrier "core"
  device.copy @load %x[%c0] to %r[%c0] count 32 : memref<32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32>
}

// -----

// A wait takes longer than a launch: no remark, for nothing was refused.
// SAID-NOT: remark
device.machine @m arch("sm_80") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @smem scope("core") capacity_bytes(8192) static_bytes(8192)
  device.memory @reg scope("warp") capacity_bytes(32640) register_bytes(128) lanes(32) core_bytes(262144)
  device.unit @sm count(3) clock_mhz(1000) wait_cycles(2000) launch_cycles(1000)
  device.move @load from @dram to @reg strided
  device.move @store from @reg to @dram strided
  device.move @stage from @dram to @smem strided
  device.lanes @valu on @sm in @reg issue_cycles(0.5) latency_cycles(4) types([f32])
    operations(["arith.mulf"]) reductions([])
}
task.program @net on @sm units 2 arena 128 : (tensor<32xf32>) -> tensor<32xf32> {
  %x = task.input 0 "x" : memref<32xf32>
  %y = task.output 0 "y" : memref<32xf32>
  %b = task.buffer at 0 in @dram : memref<32xf32>
  %t = task.range "a" @copy[0 to 1] on 0(%x, %b) after() cycles(10) : memref<32xf32>, memref<32xf32>
  %u = task.range "b" @shared[0 to 1] on 1(%b, %y) after(%t) cycles(10) : memref<32xf32>, memref<32xf32>
}
device.kernel @copy tasks 1 {
^bb0(%task: index, %x: memref<32xf32>, %y: memref<32xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<32xf32, "reg">
  device.copy @load %x[%c0] to %r[%c0] count 32 : memref<32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32>
}
device.kernel @shared tasks 1 {
^bb0(%task: index, %x: memref<32xf32>, %y: memref<32xf32>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<1024xf32, "smem">
  %r = device.alloc : memref<32xf32, "reg">
  device.barrier "core"
  device.copy @load %x[%c0] to %r[%c0] count 32 : memref<32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32>
}

// -----

// All is well: a barrier of a part of the block counts its threads, and the buffer that a block shares
// is that of the largest kernel.
//       CHECK: memref.global "private" @net$0$shared : memref<4096xi8, 3>
//       CHECK: func.func @net$0(
//  CHECK-SAME:   "nvvm.reqntid", "128"
// Threads that the kernel does not have go past it.
//       CHECK:   %[[THREADS:.+]] = arith.constant 32 : index
//       CHECK:   %[[IN:.+]] = arith.cmpi ult, %{{.+}}, %[[THREADS]]
//       CHECK:   scf.if %[[IN]]
//       CHECK:     func.call @net$0.shared(
//       CHECK: func.func private @net$0.shared(
//       CHECK:   memref.view
//       CHECK:   %[[COUNT:.+]] = arith.constant 32 : i32
//       CHECK:   llvm.nvvm.barrier.cta.sync.aligned.count"(%{{.+}}, %[[COUNT]])
device.machine @m arch("sm_80") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @smem scope("core") capacity_bytes(8192) static_bytes(8192)
  device.memory @reg scope("warp") capacity_bytes(32640) register_bytes(128) lanes(32) core_bytes(262144)
  device.unit @sm count(3) clock_mhz(1000) wait_cycles(10) launch_cycles(1000)
  device.move @load from @dram to @reg strided
  device.move @store from @reg to @dram strided
  device.move @stage from @dram to @smem strided
  device.lanes @valu on @sm in @reg issue_cycles(0.5) latency_cycles(4) types([f32])
    operations(["arith.mulf"]) reductions([])
}
task.program @net on @sm units 2 arena 128 : (tensor<32xf32>) -> tensor<32xf32> {
  %x = task.input 0 "x" : memref<32xf32>
  %y = task.output 0 "y" : memref<32xf32>
  %b = task.buffer at 0 in @dram : memref<32xf32>
  %t = task.range "a" @copy[0 to 12] on 0(%x, %b) after() cycles(10) : memref<32xf32>, memref<32xf32>
  %u = task.range "b" @shared[0 to 1] on 1(%b, %y) after(%t) cycles(10) : memref<32xf32>, memref<32xf32>
}
device.kernel @copy tasks 12 {
^bb0(%task: index, %x: memref<32xf32>, %y: memref<32xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<32xf32, "reg">
  device.copy @load %x[%c0] to %r[%c0] count 32 : memref<32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32>
}
device.kernel @shared tasks 1 {
^bb0(%task: index, %x: memref<32xf32>, %y: memref<32xf32>):
  %c0 = arith.constant 0 : index
  %s = device.alloc : memref<1024xf32, "smem">
  %r = device.alloc : memref<32xf32, "reg">
  device.barrier "core"
  device.copy @load %x[%c0] to %r[%c0] count 32 : memref<32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32>
}
