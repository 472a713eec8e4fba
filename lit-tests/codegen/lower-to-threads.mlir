// RUN: weft-opt %s --device-lower-to-threads --split-input-file | FileCheck %s

// Four warps in a block, an rTask each; a register is what one lane holds.
// CHECK-LABEL: func.func @scale(
//  CHECK-SAME:   %[[BEGIN:.+]]: i64, %[[END:.+]]: i64, %[[X:.+]]: memref<160xf32, 1>, %[[S:.+]]: memref<5xf32, 1>)
//  CHECK-SAME:   passthrough = {{.*}}"nvvm.reqntid", "128"
//       CHECK:   %[[R:.+]] = memref.alloca() : memref<1xf32>
//   CHECK-DAG:   %[[XA:.+]] = memref.assume_alignment %[[X]], 16
//   CHECK-DAG:   %[[SA:.+]] = memref.assume_alignment %[[S]], 16
//       CHECK:   llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.tid.x"
//       CHECK:   arith.cmpi slt, %{{.+}}, %[[END]] : i64
//       CHECK:   scf.if
//       CHECK:     memref.load %[[XA]]
//       CHECK:     memref.store %{{.+}}, %[[R]]
// A factor outside of the registers is the same in every lane.
//       CHECK:     memref.load %[[SA]]
//       CHECK:     arith.mulf %{{.+}}, %{{.+}} : f32
device.machine @warps arch("sm_80") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @reg scope("warp") capacity_bytes(4096) register_bytes(128) lanes(32)
  device.unit @sm count(1)
  device.move @load from @dram to @reg strided
  device.move @store from @reg to @dram strided
  device.lanes @valu on @sm in @reg issue_cycles(0.5) latency_cycles(4) types([f32])
    operations(["arith.mulf"]) reductions([])
}
device.kernel @scale tasks 5 {
^bb0(%task: index, %x: memref<5x32xf32>, %s: memref<5xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<32xf32, "reg">
  device.copy @load %x[%task, %c0] to %r[%c0] count 32 : memref<5x32xf32> to memref<32xf32, "reg">
  device.apply @valu lanes 32 ins(%r[%c0], %s[%task]) outs(%r[%c0])
    : (memref<32xf32, "reg">, memref<5xf32>) -> (memref<32xf32, "reg">) {
  ^bb0(%a: f32, %f: f32):
    %b = arith.mulf %a, %f : f32
    device.yield %b : f32
  }
  device.copy @store %r[%c0] to %x[%task, %c0] count 32 : memref<32xf32, "reg"> to memref<5x32xf32>
}

// -----

// Wavefronts of 64; lanes beyond a short copy hold zeros, and read what is there.
// CHECK-LABEL: func.func @tail(
//  CHECK-SAME:   "amdgpu-flat-work-group-size", "128,128"
//       CHECK:   memref.alloca() : memref<1xf32, 5>
//       CHECK:   llvm.amdgcn.readfirstlane
//       CHECK:   %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
//       CHECK:   memref.store %[[ZERO]]
//       CHECK:   %[[INSIDE:.+]] = arith.cmpi ult
//       CHECK:   %[[AT:.+]] = arith.select %[[INSIDE]]
//       CHECK:   %[[V:.+]] = memref.load %{{.+}}[%[[AT]]]
//       CHECK:   arith.select %[[INSIDE]], %[[V]]
device.machine @waves arch("gfx90a") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @reg scope("warp") capacity_bytes(4096) register_bytes(256) lanes(64)
  device.unit @cu count(1)
  device.move @load from @dram to @reg
}
device.kernel @tail tasks 2 {
^bb0(%task: index, %x: memref<5xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<64xf32, "reg">
  device.copy @load %x[%c0] to %r[%c0] count 5 : memref<5xf32> to memref<64xf32, "reg">
}

// -----

// Lanes are combined by shuffles, in halves.
// CHECK-LABEL: func.func @sum(
// CHECK-COUNT-5: llvm.nvvm.shfl.sync.idx.i32
//   CHECK-NOT: shfl
device.machine @warps arch("sm_80") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @reg scope("warp") capacity_bytes(4096) register_bytes(128) lanes(32)
  device.unit @sm count(1)
  device.lanes @valu on @sm in @reg issue_cycles(0.5) latency_cycles(4) types([f32])
    operations([]) reductions(["arith.addf"])
}
device.kernel @sum tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<32xf32, "reg">
  %s = device.alloc : memref<1xf32, "reg">
  device.combine @valu lanes 32 ins(%r[%c0]) outs(%s[%c0]) : (memref<32xf32, "reg">) -> (memref<1xf32, "reg">) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    device.yield %c : f32
  }
}

// -----

// Along the columns of an instruction's sums a lane folds its two slots of each row, then the four lanes of a row
// exchange: two shuffles a row, which has one value everywhere then.
// CHECK-LABEL: func.func @rows(
//       CHECK: arith.addf
// CHECK-COUNT-4: llvm.nvvm.shfl.sync.idx.i32
//   CHECK-NOT: shfl
device.machine @warps arch("sm_80") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @reg scope("warp") capacity_bytes(4096) register_bytes(128) lanes(32)
  device.unit @sm count(1)
  device.lanes @valu on @sm in @reg issue_cycles(0.5) latency_cycles(4) types([f32])
    operations([]) reductions(["arith.addf"])
  device.instruction @twice on @sm operands([@reg])
    fragments([affine_map<(l, s) -> (l floordiv 4 + (s floordiv 2) * 8, (l mod 4) * 2 + s mod 2)>])
    issue_cycles(1.0) latency_cycles(4) accuracy(["exact"])
  meaning {
  ^bb0(%a: tensor<16x8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%a : tensor<16x8xf32>) {
    ^bb0(%x: f32):
      %y = arith.addf %x, %x : f32
      linalg.yield %y : f32
    } -> tensor<16x8xf32>
    device.yield %r : tensor<16x8xf32>
  } lowering {
  ^bb0(%a: vector<4xf32>):
    %r = arith.addf %a, %a : vector<4xf32>
    device.yield %r : vector<4xf32>
  }
}
device.kernel @rows tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<16x8xf32, "reg">
  %s = device.alloc : memref<16x8xf32, "reg">
  device.invoke @twice(%r[%c0, %c0]) : memref<16x8xf32, "reg">
  device.combine @valu lanes 128 along 1 ins(%r[%c0, %c0]) outs(%s[%c0, %c0]) : (memref<16x8xf32, "reg">) -> (memref<16x8xf32, "reg">) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    device.yield %c : f32
  }
}
