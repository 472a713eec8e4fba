// A power of two ends with a scaling by a power of two: one operation of a lane unit that
// lists it, arithmetic for any other.
// RUN: weft-opt %s --device-expand-math | FileCheck %s

#id = affine_map<(i) -> (i)>

device.machine @scaling arch("scaling") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg strided
  device.move @store from @vreg to @dram strided
  device.lanes @vscale on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf", "llvm.intr.ldexp"]) reductions([])
  device.lanes @vadd on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf"]) reductions([])
}

// CHECK-LABEL: tile.kernel @listed
//       CHECK:   %[[N:.+]] = arith.subi
//  CHECK-NEXT:   llvm.intr.ldexp(%{{.+}}, %[[N]])
//   CHECK-NOT:   arith.shli
tile.kernel @listed {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  %a = tile.load %x to @vreg : tensor<16xf32>
  %c = tile.compute ins(%a) outs(%o) on @vscale lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [4]>] : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<16xf32>, %q: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<16xf32>) outs(%q : tensor<16xf32>) {
    ^bb0(%v: f32, %w: f32):
      %e = math.exp2 %v : f32
      linalg.yield %e : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %r = tile.store %c from @vreg to %o : tensor<16xf32>
  tile.yield %r : tensor<16xf32>
}

// CHECK-LABEL: tile.kernel @unlisted
//   CHECK-NOT:   llvm.intr.ldexp
//       CHECK:   arith.shli
tile.kernel @unlisted {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  %a = tile.load %x to @vreg : tensor<16xf32>
  %c = tile.compute ins(%a) outs(%o) on @vadd lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [4]>] : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<16xf32>, %q: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<16xf32>) outs(%q : tensor<16xf32>) {
    ^bb0(%v: f32, %w: f32):
      %e = math.exp2 %v : f32
      linalg.yield %e : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %r = tile.store %c from @vreg to %o : tensor<16xf32>
  tile.yield %r : tensor<16xf32>
}
