// An elementary function for which the lane unit has an instruction stays.
// RUN: weft-opt %s --device-expand-math | FileCheck %s

#id = affine_map<(i) -> (i)>

device.machine @dsp arch("dsp") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg strided
  device.move @store from @vreg to @dram strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf", "math.exp"]) reductions([])
}

// CHECK-LABEL: tile.kernel @exp
//       CHECK:   math.exp
// @valu has no tangent.
//   CHECK-NOT:   math.tanh
tile.kernel @exp {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  %a = tile.load %x to @vreg : tensor<16xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [4]>] : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<16xf32>, %q: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<16xf32>) outs(%q : tensor<16xf32>) {
    ^bb0(%v: f32, %w: f32):
      %e = math.exp %v : f32
      %t = math.tanh %e : f32
      linalg.yield %t : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %r = tile.store %c from @vreg to %o : tensor<16xf32>
  tile.yield %r : tensor<16xf32>
}
