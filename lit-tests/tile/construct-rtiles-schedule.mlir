// What is decided about a nest beside its instruction and its rTiles is written into its schedule.
// RUN: weft-opt %s --tile-construct-rtiles --split-input-file | FileCheck %s

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(16384) caches(@dram) bytes_per_cycle(64) transaction_bytes(64)
  device.memory @vreg scope("thread") capacity_bytes(1024) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.move @stream from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided streams
  device.move @gather from @vreg to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf", "arith.negf", "arith.mulf"]) reductions(["arith.addf"])
}

// More than the cache holds: stored past it.
// CHECK-LABEL: tile.kernel @large
//       CHECK:   schedule <stream = @stream>
tile.kernel @large {
^bb0(%x: tensor<4096xf32>, %o: tensor<4096xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4096xf32>) outs(%o : tensor<4096xf32>) {
  ^bb0(%u: f32, %v: f32):
    %n = arith.negf %u : f32
    linalg.yield %n : f32
  } -> tensor<4096xf32>
  tile.yield %r : tensor<4096xf32>
}

// Both tensors stay in the cache, from which the next kernel reads.
// CHECK-LABEL: tile.kernel @small
//   CHECK-NOT:   schedule
//       CHECK:   tile.yield
tile.kernel @small {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) {
  ^bb0(%u: f32, %v: f32):
    %n = arith.negf %u : f32
    linalg.yield %n : f32
  } -> tensor<64xf32>
  tile.yield %r : tensor<64xf32>
}

// Read along i, written along j.
// CHECK-LABEL: tile.kernel @transpose
//       CHECK:   lanes 1 {{.+}} schedule <transpose = 0>
tile.kernel @transpose {
^bb0(%x: tensor<16x16xf32>, %o: tensor<16x16xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x16xf32>) outs(%o : tensor<16x16xf32>) {
  ^bb0(%u: f32, %v: f32):
    linalg.yield %u : f32
  } -> tensor<16x16xf32>
  tile.yield %r : tensor<16x16xf32>
}

// Rows of whole registers that start alike.
// CHECK-LABEL: tile.kernel @sums
//       CHECK:   lanes 1 {{.+}} schedule <{{.*}}combine_rows = 0
tile.kernel @sums {
^bb0(%x: tensor<4x64xf32>, %o: tensor<4xf32>):
  %zero = arith.constant 0.0 : f32
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%o : tensor<4xf32>) {
  ^bb0(%unread: f32):
    linalg.yield %zero : f32
  } -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x64xf32>) outs(%s : tensor<4xf32>) {
  ^bb0(%u: f32, %v: f32):
    %t = arith.addf %v, %u : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  tile.yield %r : tensor<4xf32>
}

// What is added to sums that are there differs from row to row.
// CHECK-LABEL: tile.kernel @held
//   CHECK-NOT:   combine_rows
//       CHECK:   tile.yield
tile.kernel @held {
^bb0(%x: tensor<4x64xf32>, %o: tensor<4xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x64xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%u: f32, %v: f32):
    %t = arith.addf %v, %u : f32
    linalg.yield %t : f32
  } -> tensor<4xf32>
  tile.yield %r : tensor<4xf32>
}

// Three rows of windows of three read five rows: each is loaded once.
// CHECK-LABEL: tile.kernel @windows
//       CHECK:   schedule <slide = [2], unroll = [2]>
tile.kernel @windows {
^bb0(%x: tensor<14x64xf32>, %w: tensor<3xf32>, %o: tensor<12x64xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, p) -> (i + p, j)>, affine_map<(i, j, p) -> (p)>, affine_map<(i, j, p) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<14x64xf32>, tensor<3xf32>) outs(%o : tensor<12x64xf32>) {
  ^bb0(%u: f32, %f: f32, %v: f32):
    %m = arith.mulf %u, %f : f32
    %t = arith.addf %v, %m : f32
    linalg.yield %t : f32
  } -> tensor<12x64xf32>
  tile.yield %r : tensor<12x64xf32>
}

// Backwards a sum would add its points in another order.
// CHECK-LABEL: tile.kernel @backwards
//   CHECK-NOT:   slide
//       CHECK:   tile.yield
tile.kernel @backwards {
^bb0(%x: tensor<14x64xf32>, %w: tensor<3xf32>, %o: tensor<12x64xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, p) -> (i - p + 2, j)>, affine_map<(i, j, p) -> (p)>, affine_map<(i, j, p) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<14x64xf32>, tensor<3xf32>) outs(%o : tensor<12x64xf32>) {
  ^bb0(%u: f32, %f: f32, %v: f32):
    %m = arith.mulf %u, %f : f32
    %t = arith.addf %v, %m : f32
    linalg.yield %t : f32
  } -> tensor<12x64xf32>
  tile.yield %r : tensor<12x64xf32>
}

// Lanes in steps of two over a border: even and odd elements lie apart, in the unit's cache.
// CHECK-LABEL: tile.kernel @bordered
//       CHECK:   schedule <{{.*}}border = @l2, phases = [2]>
tile.kernel @bordered {
^bb0(%x: tensor<4x64xf32>, %w: tensor<3xf32>, %o: tensor<4x32xf32>):
  %p = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    %zero = arith.constant 0.0 : f32
    tensor.yield %zero : f32
  } : tensor<4x64xf32> to tensor<4x66xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(c, j, q) -> (c, j * 2 + q)>, affine_map<(c, j, q) -> (q)>, affine_map<(c, j, q) -> (c, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %w : tensor<4x66xf32>, tensor<3xf32>) outs(%o : tensor<4x32xf32>) {
  ^bb0(%u: f32, %f: f32, %v: f32):
    %m = arith.mulf %u, %f : f32
    %t = arith.addf %v, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x32xf32>
  tile.yield %r : tensor<4x32xf32>
}

// A few rows by many columns: the panel of %b stays in the cache while the loop over rows, the
// innermost one, goes over those of %a.
// CHECK-LABEL: tile.kernel @product
//       CHECK:   schedule <order = [1, 0]>
tile.kernel @product {
^bb0(%a: tensor<8x32xf32>, %b: tensor<32x16xf32>, %o: tensor<8x16xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<8x32xf32>, tensor<32x16xf32>) outs(%o : tensor<8x16xf32>) {
  ^bb0(%u: f32, %f: f32, %v: f32):
    %m = arith.mulf %u, %f : f32
    %t = arith.addf %v, %m : f32
    linalg.yield %t : f32
  } -> tensor<8x16xf32>
  tile.yield %r : tensor<8x16xf32>
}
