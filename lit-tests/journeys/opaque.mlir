// Code that somebody else wrote between rTasks of ours: the plan takes it at its contract (N-13).
//
// A row of blocks of @sizes is what one rTask of @turn needs, and a column of blocks is what it gives;
// so each range waits for one other, and none for all of an operator.
//
// RUN: weft compile %s --device toy --pass-option tile-to-task.split-cycles=10 --emit task -o %t.mlir
// RUN: FileCheck %s --check-prefix=TASK < %t.mlir
// RUN: weft-opt %t.mlir --verify-roundtrip --task-check-order -o %t.same
// RUN: weft simulate %t.mlir --device toy --json | FileCheck %s --check-prefix=RAN

// TASK: %[[A0:.+]] = task.range "sizes" @sizes[0 to 1] on 0
// TASK: %[[A3:.+]] = task.range "sizes" @sizes[3 to 4] on 3
// TASK: %[[B0:.+]] = task.range "turn" @turn[0 to 1] on 0({{.*}}) after(%[[A0]]) cycles(200)
// TASK: %[[B3:.+]] = task.range "turn" @turn[3 to 4] on 3({{.*}}) after(%[[A3]]) cycles(200)
// TASK: task.range "twice" @twice[0 to 1] on 0({{.*}}) after(%[[B0]])
// TASK: task.range "twice" @twice[3 to 4] on 3({{.*}}) after(%[[B3]])
// TASK: device.kernel @turn tasks 4 contract grid [4] blocks [array<i64: 4, 32>, array<i64: 32, 4>] places [#{{.+}}, #{{.+}}] cycles 800 {

// RAN: "functional": true

tile.graph @mixed inputs ["x"] outputs ["y"] : (tensor<16x32xf32>) -> tensor<32x16xf32> {
^bb0(%x: tensor<16x32xf32>):
  %e0 = tile.empty in @dram : tensor<16x32xf32>
  %a = tile.run "sizes" @sizes(%x) into(%e0) : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %e1 = tile.empty in @dram : tensor<32x16xf32>
  %t = tile.run "turn" @turn(%a) into(%e1) : (tensor<16x32xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  %e2 = tile.empty in @dram : tensor<32x16xf32>
  %y = tile.run "twice" @twice(%t) into(%e2) : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32>
  tile.output %y : tensor<32x16xf32>
}
tile.kernel @sizes {
^bb0(%x: tensor<16x32xf32>, %y: tensor<16x32xf32>):
  %0 = tile.load %x to @spad : tensor<16x32xf32>
  %1 = tile.load %0 to @vreg : tensor<16x32xf32>
  %2 = tile.compute ins(%1) outs(%y) on @valu lanes 1 tiles [#tile.rtile<"dram"[4, 32]>, #tile.rtile<"spad"[4, 32]>, #tile.rtile<"vreg"[1, 16]>] : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32> {
  ^bb0(%a: tensor<16x32xf32>, %b: tensor<16x32xf32>):
    %4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<16x32xf32>) outs(%b : tensor<16x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %5 = math.absf %in : f32
      linalg.yield %5 : f32
    } -> tensor<16x32xf32>
    tile.yield %4 : tensor<16x32xf32>
  }
  %3 = tile.store %2 from @vreg to %y : tensor<16x32xf32>
  tile.yield %3 : tensor<16x32xf32>
}
tile.kernel @twice {
^bb0(%x: tensor<32x16xf32>, %y: tensor<32x16xf32>):
  %0 = tile.load %x to @spad : tensor<32x16xf32>
  %1 = tile.load %0 to @vreg : tensor<32x16xf32>
  %2 = tile.compute ins(%1) outs(%y) on @valu lanes 1 tiles [#tile.rtile<"dram"[32, 4]>, #tile.rtile<"spad"[32, 4]>, #tile.rtile<"vreg"[1, 4]>] : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x16xf32> {
  ^bb0(%a: tensor<32x16xf32>, %b: tensor<32x16xf32>):
    %4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<32x16xf32>) outs(%b : tensor<32x16xf32>) {
    ^bb0(%in: f32, %out: f32):
      %5 = arith.addf %in, %in : f32
      linalg.yield %5 : f32
    } -> tensor<32x16xf32>
    tile.yield %4 : tensor<32x16xf32>
  }
  %3 = tile.store %2 from @vreg to %y : tensor<32x16xf32>
  tile.yield %3 : tensor<32x16xf32>
}
device.kernel @turn tasks 4 contract grid [4]
  blocks [array<i64: 4, 32>, array<i64: 32, 4>]
  places [affine_map<(i) -> (i, 0)>, affine_map<(i) -> (0, i)>] cycles 800 {
^bb0(%task: index, %x: memref<16x32xf32>, %y: memref<32x16xf32>):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %row = arith.muli %task, %c4 : index
  %s = device.alloc : memref<4x32xf32, "spad">
  %in = device.transfer @in %x[%row, %c0] to %s[%c0, %c0] sizes [4, 32] from_strides [32, 1] to_strides [32, 1] : memref<16x32xf32> to memref<4x32xf32, "spad"> -> !device.token
  device.wait %in
  %out = device.transfer @out %s[%c0, %c0] to %y[%c0, %row] sizes [4, 32] from_strides [32, 1] to_strides [1, 16] : memref<4x32xf32, "spad"> to memref<32x16xf32> -> !device.token
  device.wait %out
}
