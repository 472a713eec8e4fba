// A launch as one kernel whose blocks are the units: a loop over a table, calls of each distinct
// kernel, a counter for each unit (RM-8).
//
// RUN: split-file %s %t
// RUN: weft-opt %t/warps.mlir --task-lower-to-blocks=remarks=true -o %t/warps.out 2> %t/said
// RUN: FileCheck %s --check-prefix=SAID < %t/said
// RUN: FileCheck %s < %t/warps.out
// RUN: weft-opt %t/waves.mlir --task-lower-to-blocks | FileCheck %s --check-prefix=WAVES
// RUN: weft-opt %t/warps.mlir --task-lower-to-blocks=form=launches | FileCheck %s --check-prefix=APART
// RUN: not weft-opt %t/warps.mlir --task-lower-to-blocks=form=some 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: weft compile %t/warps.mlir --emit ptx -o - | FileCheck %s --check-prefix=PTX
// RUN: weft compile %t/waves.mlir --emit amdgcn -o - | FileCheck %s --check-prefix=AMDGCN

// SAID: remark: launch 0 is one kernel with 1522 cycles predicted; second 2 launches with 2128
// FORM: task-lower-to-blocks: unknown value 'some' for option 'form'; expected 'auto', 'one' or 'launches'
// APART-NOT: func.func

// Three units: where their steps lie, and where their arm. Units 0 and 1 do both kernels, each with
// rTasks of its own, and share an arm at word 29; unit 2 does the first one.
//      CHECK: memref.global "private" constant @net$0$table : memref<51xi64, 1> = dense<[9, 17, 29, 17, 25, 29, 25, 29, 33,
// First rTask, last, waits, number to tell: of unit 0, which waits for units 1 and 2 by one row.
// CHECK-SAME:   0, 2, 0, 1, 0, 3, 39, 0,
// CHECK-SAME:   2, 4, 0, 2, 3, 5, 47, 0,
// CHECK-SAME:   4, 5, 0, 3,
// Kernels and operands: @twice from the input to the arena, @mirror from there to the output.
// CHECK-SAME:   0, 35, 1, 43, 0, 35, 3, 0, 0, 0, 1, 1, 3, 2, 0, 0, 4, 0,
// CHECK-SAME:   1, 0, 3, 1]>
//      CHECK: func.func @net$0(%[[EPOCH:.+]]: i64, %[[COUNTERS:.+]]: memref<3xi64, 1>, %[[BASES:.+]]: memref<5xi64, 1>)
// CHECK-SAME:   {{\[}}["nvvm.reqntid", "64"], ["nvvm.maxnreg", "255"], ["nvvm.minctasm", "1"]]
//      CHECK:   llvm.nvvm.read.ptx.sreg.ctaid.x
//      CHECK:   scf.for
// A thread for each unit of the list, but not for its own, spins with acquire; then all meet.
//      CHECK:     %[[WANTED:.+]] = arith.addi %[[EPOCH]]
//      CHECK:     arith.cmpi ne
//      CHECK:     scf.while
//      CHECK:       %[[FOUND:.+]] = llvm.load %{{.+}} atomic syncscope("device") acquire
//      CHECK:       arith.cmpi slt, %[[FOUND]], %[[WANTED]]
//      CHECK:     llvm.nvvm.barrier.cta.sync.aligned.all
//      CHECK:     scf.index_switch
//      CHECK:     case 0
//      CHECK:       func.call @net$0.twice
//      CHECK:     case 1
//      CHECK:       func.call @net$0.mirror
// All meet, and one thread tells the others with release.
//      CHECK:     llvm.nvvm.barrier.cta.sync.aligned.all
//      CHECK:     llvm.store %{{.+}}, %{{.+}} atomic syncscope("device") release
// One function for each kernel, called once, which goes through the rTasks in turns; the kernels stay.
//      CHECK: func.func private @net$0.twice(%[[BEGIN:.+]]: i64, %[[END:.+]]: i64,
//      CHECK:   %[[FIRST:.+]] = arith.addi %[[BEGIN]]
//      CHECK:   scf.for %{{.+}} = %[[FIRST]] to %[[END]]
//      CHECK: device.kernel @twice

// WAVES-LABEL: func.func @net$0(
//  WAVES-SAME:   ["amdgpu-flat-work-group-size", "128,128"], ["amdgpu-waves-per-eu", "1"]
//       WAVES:   llvm.load %{{.+}} atomic syncscope("agent") acquire
// Each wavefront invalidates its own caches, and writes its own stores back.
//       WAVES:   llvm.amdgcn.s.barrier
//  WAVES-NEXT:   llvm.fence syncscope("agent") acquire
//       WAVES:   llvm.fence syncscope("agent") release
//  WAVES-NEXT:   llvm.amdgcn.s.barrier
//       WAVES:   llvm.store %{{.+}} atomic syncscope("agent") release

//       PTX: // launch twice threads 64 groups 2
//       PTX: // program net$0 steps 0 5 threads 64 blocks 3
//       PTX: .entry net$0(
//       PTX: .minnctapersm 1
//       PTX: .maxnreg 255
// What another block wrote is read where acquires see it; only the table is constant.
//   PTX-NOT: ld.global.nc.b32
//       PTX: ld.acquire.gpu.global.b64
//       PTX: bar.sync 0
//       PTX: st.release.gpu.global.b64

//      AMDGCN: // program net$0 steps 0 5 threads 128 blocks 3
//      AMDGCN: net$0:
//      AMDGCN: global_load_dwordx2 {{.+}} sc1
//      AMDGCN: buffer_inv sc1
//      AMDGCN: s_barrier
// AMDGCN-NEXT: buffer_inv sc1
//      AMDGCN: buffer_wbl2 sc1

//--- warps.mlir
device.machine @warps arch("sm_80") features(["ptx80"]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @smem scope("core") capacity_bytes(4096)
  device.memory @reg scope("warp") capacity_bytes(32640) register_bytes(128) lanes(32) core_bytes(262144)
  device.unit @sm count(3) clock_mhz(1000) wait_cycles(10) launch_cycles(1000)
  device.move @load from @dram to @reg strided
  device.move @store from @reg to @dram strided
  device.lanes @valu on @sm in @reg issue_cycles(0.5) latency_cycles(4) types([f32])
    operations(["arith.mulf"]) reductions([])
}
task.program @net on @sm units 3 arena 640 : (tensor<5x32xf32>) -> tensor<5x32xf32> {
  %x = task.input 0 "x" : memref<5x32xf32>
  %y = task.output 0 "y" : memref<5x32xf32>
  %b = task.buffer at 0 in @dram : memref<5x32xf32>
  %a0 = task.range "a" @twice[0 to 2] on 0(%x, %b) after() cycles(64) : memref<5x32xf32>, memref<5x32xf32>
  %a1 = task.range "a" @twice[2 to 4] on 1(%x, %b) after() cycles(64) : memref<5x32xf32>, memref<5x32xf32>
  %a2 = task.range "a" @twice[4 to 5] on 2(%x, %b) after() cycles(32) : memref<5x32xf32>, memref<5x32xf32>
  %b0 = task.range "b" @mirror[0 to 3] on 0(%b, %y) after(%a0, %a1, %a2) cycles(64) : memref<5x32xf32>, memref<5x32xf32>
  %b1 = task.range "b" @mirror[3 to 5] on 1(%b, %y) after(%a0, %a1, %a2) cycles(64) : memref<5x32xf32>, memref<5x32xf32>
}
device.kernel @twice tasks 5 {
^bb0(%task: index, %x: memref<5x32xf32>, %y: memref<5x32xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<32xf32, "reg">
  device.copy @load %x[%task, %c0] to %r[%c0] count 32 : memref<5x32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%task, %c0] count 32 : memref<32xf32, "reg"> to memref<5x32xf32>
}
device.kernel @mirror tasks 5 {
^bb0(%task: index, %x: memref<5x32xf32>, %y: memref<5x32xf32>):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %from = arith.subi %c4, %task : index
  %r = device.alloc : memref<32xf32, "reg">
  device.copy @load %x[%from, %c0] to %r[%c0] count 32 : memref<5x32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%task, %c0] count 32 : memref<32xf32, "reg"> to memref<5x32xf32>
}

//--- waves.mlir
device.machine @warps arch("gfx942") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @smem scope("core") capacity_bytes(4096)
  device.memory @reg scope("warp") capacity_bytes(65536) register_bytes(256) lanes(64) core_bytes(262144)
  device.unit @sm count(3) clock_mhz(1000) wait_cycles(10) launch_cycles(1000)
  device.move @load from @dram to @reg strided
  device.move @store from @reg to @dram strided
  device.lanes @valu on @sm in @reg issue_cycles(0.5) latency_cycles(4) types([f32])
    operations(["arith.mulf"]) reductions([])
}
task.program @net on @sm units 3 arena 640 : (tensor<5x32xf32>) -> tensor<5x32xf32> {
  %x = task.input 0 "x" : memref<5x32xf32>
  %y = task.output 0 "y" : memref<5x32xf32>
  %b = task.buffer at 0 in @dram : memref<5x32xf32>
  %a0 = task.range "a" @twice[0 to 2] on 0(%x, %b) after() cycles(64) : memref<5x32xf32>, memref<5x32xf32>
  %a1 = task.range "a" @twice[2 to 4] on 1(%x, %b) after() cycles(64) : memref<5x32xf32>, memref<5x32xf32>
  %a2 = task.range "a" @twice[4 to 5] on 2(%x, %b) after() cycles(32) : memref<5x32xf32>, memref<5x32xf32>
  %b0 = task.range "b" @mirror[0 to 3] on 0(%b, %y) after(%a0, %a1, %a2) cycles(64) : memref<5x32xf32>, memref<5x32xf32>
  %b1 = task.range "b" @mirror[3 to 5] on 1(%b, %y) after(%a0, %a1, %a2) cycles(64) : memref<5x32xf32>, memref<5x32xf32>
}
device.kernel @twice tasks 5 {
^bb0(%task: index, %x: memref<5x32xf32>, %y: memref<5x32xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<32xf32, "reg">
  device.copy @load %x[%task, %c0] to %r[%c0] count 32 : memref<5x32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%task, %c0] count 32 : memref<32xf32, "reg"> to memref<5x32xf32>
}
device.kernel @mirror tasks 5 {
^bb0(%task: index, %x: memref<5x32xf32>, %y: memref<5x32xf32>):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %from = arith.subi %c4, %task : index
  %r = device.alloc : memref<32xf32, "reg">
  device.copy @load %x[%from, %c0] to %r[%c0] count 32 : memref<5x32xf32> to memref<32xf32, "reg">
  device.copy @store %r[%c0] to %y[%task, %c0] count 32 : memref<32xf32, "reg"> to memref<5x32xf32>
}
