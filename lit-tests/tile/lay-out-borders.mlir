// A tensor that is read with a border keeps the model's order where a plane of panels would not fit the
// cache in which it is laid out with that border.
// RUN: weft-opt %s --tile-lay-out='tensors=all remarks=true' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: sed 's/capacity_bytes(8192)/capacity_bytes(65536)/' %s | weft-opt --tile-lay-out='tensors=all' | FileCheck %s --check-prefix=LARGE

#x = affine_map<(o, p, c) -> (c, p)>
#w = affine_map<(o, p, c) -> (o, c)>
#y = affine_map<(o, p, c) -> (o, p)>
#r = affine_map<(c, y, x, r, s) -> (c, y + r, x + s)>
#s = affine_map<(c, y, x, r, s) -> (r, s)>
#o = affine_map<(c, y, x, r, s) -> (c, y, x)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(8192) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf", "arith.maximumf"]) reductions(["arith.addf"])
}

// Two planes of 18 x 18 fit, eight of them side by side do not: 19 * 18 * 8 * 4 bytes.
// REMARK: @pool keeps a tensor in the model's order: a plane with its border would not fit the cache [plane: 10944 of 8192 bytes]
//  CHECK-LABEL: tile.graph @planes
//        CHECK:   tile.run "a" @mix(
//        CHECK:   tile.run "b" @pool_panels({{.+}} : (tensor<2x8x16x16xf32>,
//  LARGE-LABEL: tile.graph @planes
//        LARGE:   tile.run "a" @mix_panels(
//        LARGE:   tile.run "b" @pool_panels({{.+}} : (tensor<2x16x16x8xf32>,
tile.graph @planes inputs ["x", "w", "v", "u"] outputs ["y"] : (tensor<16x256xf32>, tensor<16x16xf32>, tensor<3x3xf32>, tensor<16x16xf32>) -> tensor<16x256xf32> {
^bb0(%x: tensor<16x256xf32>, %w: tensor<16x16xf32>, %v: tensor<3x3xf32>, %u: tensor<16x16xf32>):
  %e = tile.empty in @dram : tensor<16x256xf32>
  %h = tile.run "a" @mix(%x, %w) into(%e) : (tensor<16x256xf32>, tensor<16x16xf32>, tensor<16x256xf32>) -> tensor<16x256xf32>
  %t = tile.view %h : tensor<16x256xf32> to tensor<16x16x16xf32>
  %f = tile.empty in @dram : tensor<16x16x16xf32>
  %p = tile.run "b" @pool(%t, %v) into(%f) : (tensor<16x16x16xf32>, tensor<3x3xf32>, tensor<16x16x16xf32>) -> tensor<16x16x16xf32>
  %q = tile.view %p : tensor<16x16x16xf32> to tensor<16x256xf32>
  %g = tile.empty in @dram : tensor<16x256xf32>
  %y = tile.run "c" @mix(%q, %u) into(%g) : (tensor<16x256xf32>, tensor<16x16xf32>, tensor<16x256xf32>) -> tensor<16x256xf32>
  tile.output %y : tensor<16x256xf32>
}
tile.kernel @mix {
^bb0(%x: tensor<16x256xf32>, %w: tensor<16x16xf32>, %o: tensor<16x256xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<16x256xf32>, tensor<16x16xf32>) outs(%o : tensor<16x256xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<16x256xf32>
  tile.yield %r : tensor<16x256xf32>
}
tile.kernel @pool {
^bb0(%x: tensor<16x16x16xf32>, %w: tensor<3x3xf32>, %o: tensor<16x16x16xf32>):
  %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    %zero = arith.constant 0.0 : f32
    tensor.yield %zero : f32
  } : tensor<16x16x16xf32> to tensor<16x18x18xf32>
  %r = linalg.generic {indexing_maps = [#r, #s, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%p, %w : tensor<16x18x18xf32>, tensor<3x3xf32>) outs(%o : tensor<16x16x16xf32>) {
  ^bb0(%u: f32, %f: f32, %v: f32):
    %m = arith.mulf %u, %f : f32
    %t = arith.addf %v, %m : f32
    linalg.yield %t : f32
  } -> tensor<16x16x16xf32>
  tile.yield %r : tensor<16x16x16xf32>
}
