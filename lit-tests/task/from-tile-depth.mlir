// GT-3. GraphTurbo's example: eight instances, four that read two of them each, two, and one. Depth
// first, a cone is done as soon as what it reads is there, and five tensors of 256 bytes live at
// once; level by level it is nine.
//
// RUN: weft-opt %s --tile-to-task=policy=depth | FileCheck %s --check-prefix=DEPTH
// RUN: weft-opt %s --tile-to-task=policy=wavefront | FileCheck %s --check-prefix=LEVELS

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(1)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}

// DEPTH: task.program @pyramid on @core units 1 arena 1280
// DEPTH: task.range "a8"
// DEPTH: task.range "a7"
// DEPTH: task.range "b4"
// DEPTH: task.range "a6"
// DEPTH: task.range "a5"
// DEPTH: task.range "b3"
// DEPTH: task.range "c2"
// DEPTH: task.range "a4"
// DEPTH: task.range "a3"
// DEPTH: task.range "b2"
// DEPTH: task.range "a2"
// DEPTH: task.range "a1"
// DEPTH: task.range "b1"
// DEPTH: task.range "c1"
// DEPTH: task.range "d1"

// LEVELS: task.program @pyramid on @core units 1 arena 2304
// LEVELS: task.range "a1"
// LEVELS: task.range "a8"
// LEVELS: task.range "b1"
// LEVELS: task.range "b4"
// LEVELS: task.range "c1"
// LEVELS: task.range "c2"
// LEVELS: task.range "d1"

tile.graph @pyramid inputs ["x"] outputs ["d1"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %e0 = tile.empty in @dram : tensor<64xf32>
  %a1 = tile.run "a1" @sum(%x, %x) into(%e0) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e1 = tile.empty in @dram : tensor<64xf32>
  %a2 = tile.run "a2" @sum(%x, %x) into(%e1) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e2 = tile.empty in @dram : tensor<64xf32>
  %a3 = tile.run "a3" @sum(%x, %x) into(%e2) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e3 = tile.empty in @dram : tensor<64xf32>
  %a4 = tile.run "a4" @sum(%x, %x) into(%e3) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e4 = tile.empty in @dram : tensor<64xf32>
  %a5 = tile.run "a5" @sum(%x, %x) into(%e4) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e5 = tile.empty in @dram : tensor<64xf32>
  %a6 = tile.run "a6" @sum(%x, %x) into(%e5) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e6 = tile.empty in @dram : tensor<64xf32>
  %a7 = tile.run "a7" @sum(%x, %x) into(%e6) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e7 = tile.empty in @dram : tensor<64xf32>
  %a8 = tile.run "a8" @sum(%x, %x) into(%e7) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e8 = tile.empty in @dram : tensor<64xf32>
  %b1 = tile.run "b1" @sum(%a1, %a2) into(%e8) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e9 = tile.empty in @dram : tensor<64xf32>
  %b2 = tile.run "b2" @sum(%a3, %a4) into(%e9) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e10 = tile.empty in @dram : tensor<64xf32>
  %b3 = tile.run "b3" @sum(%a5, %a6) into(%e10) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e11 = tile.empty in @dram : tensor<64xf32>
  %b4 = tile.run "b4" @sum(%a7, %a8) into(%e11) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e12 = tile.empty in @dram : tensor<64xf32>
  %c1 = tile.run "c1" @sum(%b1, %b2) into(%e12) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e13 = tile.empty in @dram : tensor<64xf32>
  %c2 = tile.run "c2" @sum(%b3, %b4) into(%e13) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e14 = tile.empty in @dram : tensor<64xf32>
  %d1 = tile.run "d1" @sum(%c1, %c2) into(%e14) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %d1 : tensor<64xf32>
}

tile.kernel @sum {
^bb0(%x: tensor<64xf32>, %y: tensor<64xf32>, %o: tensor<64xf32>):
  %a = tile.load %x to @vreg : tensor<64xf32>
  %b = tile.load %y to @vreg : tensor<64xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>, %r: tensor<64xf32>):
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p, %q : tensor<64xf32>, tensor<64xf32>) outs(%r : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32, %w: f32):
      %z = arith.addf %u, %v : f32
      linalg.yield %z : f32
    } -> tensor<64xf32>
    tile.yield %s : tensor<64xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}
