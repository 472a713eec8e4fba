// IM-2. A body says what is computed, in whatever words: factors and summands may change places, in
// the instruction as in the kernel. A body that means something else is not taken.
// RUN: weft-opt %s --tile-construct-rtiles | FileCheck %s

#x = affine_map<(i, j, k) -> (i, k)>
#w = affine_map<(i, j, k) -> (k, j)>
#o = affine_map<(i, j, k) -> (i, j)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(1024) register_bytes(32)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.negf"]) reductions(["arith.addf"])
  device.instruction @fma on @core operands([@dram, @vreg, @vreg]) issue_cycles(0.5) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f32>, %b: tensor<8xf32>, %c: tensor<8xf32>):
    %d = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<f32>, tensor<8xf32>) outs(%c : tensor<8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %t = arith.mulf %y, %x : f32
      %u = arith.addf %t, %z : f32
      linalg.yield %u : f32
    } -> tensor<8xf32>
    device.yield %d : tensor<8xf32>
  } lowering {
  ^bb0(%a: f32, %b: vector<8xf32>, %c: vector<8xf32>):
    device.yield %c : vector<8xf32>
  }
  device.instruction @fnma on @core operands([@dram, @vreg, @vreg]) issue_cycles(0.5) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f32>, %b: tensor<8xf32>, %c: tensor<8xf32>):
    %d = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<f32>, tensor<8xf32>) outs(%c : tensor<8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %t = arith.mulf %x, %y : f32
      %u = arith.subf %z, %t : f32
      linalg.yield %u : f32
    } -> tensor<8xf32>
    device.yield %d : tensor<8xf32>
  } lowering {
  ^bb0(%a: f32, %b: vector<8xf32>, %c: vector<8xf32>):
    device.yield %c : vector<8xf32>
  }
}

// w · x + o, as in the instruction.
// CHECK-LABEL: tile.kernel @as_it_is_written 
//       CHECK:   tile.compute {{.+}} on @fma lanes 1
tile.kernel @as_it_is_written {
^bb0(%x: tensor<6x32xf32>, %w: tensor<32x64xf32>, %o: tensor<6x64xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x32xf32>, tensor<32x64xf32>) outs(%o : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %q, %p : f32
    %u = arith.addf %t, %v : f32
    linalg.yield %u : f32
  } -> tensor<6x64xf32>
  tile.yield %r : tensor<6x64xf32>
}

// x · w + o
// CHECK-LABEL: tile.kernel @factors_change_places 
//       CHECK:   tile.compute {{.+}} on @fma lanes 1
tile.kernel @factors_change_places {
^bb0(%x: tensor<6x32xf32>, %w: tensor<32x64xf32>, %o: tensor<6x64xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x32xf32>, tensor<32x64xf32>) outs(%o : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %t, %v : f32
    linalg.yield %u : f32
  } -> tensor<6x64xf32>
  tile.yield %r : tensor<6x64xf32>
}

// o + w · x
// CHECK-LABEL: tile.kernel @summands_change_places 
//       CHECK:   tile.compute {{.+}} on @fma lanes 1
tile.kernel @summands_change_places {
^bb0(%x: tensor<6x32xf32>, %w: tensor<32x64xf32>, %o: tensor<6x64xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x32xf32>, tensor<32x64xf32>) outs(%o : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %q, %p : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<6x64xf32>
  tile.yield %r : tensor<6x64xf32>
}

// o + x · w
// CHECK-LABEL: tile.kernel @both_change_places 
//       CHECK:   tile.compute {{.+}} on @fma lanes 1
tile.kernel @both_change_places {
^bb0(%x: tensor<6x32xf32>, %w: tensor<32x64xf32>, %o: tensor<6x64xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x32xf32>, tensor<32x64xf32>) outs(%o : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<6x64xf32>
  tile.yield %r : tensor<6x64xf32>
}

// o - w · x is what the other instruction means.
// CHECK-LABEL: tile.kernel @takes_away 
//       CHECK:   tile.compute {{.+}} on @fnma lanes 1
tile.kernel @takes_away {
^bb0(%x: tensor<6x32xf32>, %w: tensor<32x64xf32>, %o: tensor<6x64xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x32xf32>, tensor<32x64xf32>) outs(%o : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %q, %p : f32
    %u = arith.subf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<6x64xf32>
  tile.yield %r : tensor<6x64xf32>
}

// x · w - o: minuend and subtrahend do not change places.
// CHECK-LABEL: tile.kernel @takes_away_the_sum 
//       CHECK:   tile.compute {{.+}} on @valu lanes 1
tile.kernel @takes_away_the_sum {
^bb0(%x: tensor<6x32xf32>, %w: tensor<32x64xf32>, %o: tensor<6x64xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x32xf32>, tensor<32x64xf32>) outs(%o : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.subf %t, %v : f32
    linalg.yield %u : f32
  } -> tensor<6x64xf32>
  tile.yield %r : tensor<6x64xf32>
}

// (x + w) · o: the same operations the other way round.
// CHECK-LABEL: tile.kernel @multiplies_the_sum 
//       CHECK:   tile.compute {{.+}} on @valu lanes 1
tile.kernel @multiplies_the_sum {
^bb0(%x: tensor<6x32xf32>, %w: tensor<32x64xf32>, %o: tensor<6x64xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x32xf32>, tensor<32x64xf32>) outs(%o : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.addf %p, %q : f32
    %u = arith.mulf %t, %v : f32
    linalg.yield %u : f32
  } -> tensor<6x64xf32>
  tile.yield %r : tensor<6x64xf32>
}

// x + w + o: no product.
// CHECK-LABEL: tile.kernel @adds_both 
//       CHECK:   tile.compute {{.+}} on @valu lanes 1
tile.kernel @adds_both {
^bb0(%x: tensor<6x32xf32>, %w: tensor<32x64xf32>, %o: tensor<6x64xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x32xf32>, tensor<32x64xf32>) outs(%o : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.addf %p, %q : f32
    %u = arith.addf %t, %v : f32
    linalg.yield %u : f32
  } -> tensor<6x64xf32>
  tile.yield %r : tensor<6x64xf32>
}

// x · x + o: one factor is a number of the row, not of each lane.
// CHECK-LABEL: tile.kernel @adds_the_product_of_one 
//       CHECK:   tile.compute {{.+}} on @valu lanes 1
tile.kernel @adds_the_product_of_one {
^bb0(%x: tensor<6x32xf32>, %w: tensor<32x64xf32>, %o: tensor<6x64xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x32xf32>, tensor<32x64xf32>) outs(%o : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %p : f32
    %u = arith.addf %t, %v : f32
    linalg.yield %u : f32
  } -> tensor<6x64xf32>
  tile.yield %r : tensor<6x64xf32>
}

// max(x · w, o)
// CHECK-LABEL: tile.kernel @keeps_the_largest 
//       CHECK:   tile.compute {{.+}} on @valu lanes 1
tile.kernel @keeps_the_largest {
^bb0(%x: tensor<6x32xf32>, %w: tensor<32x64xf32>, %o: tensor<6x64xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x32xf32>, tensor<32x64xf32>) outs(%o : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.maximumf %t, %v : f32
    linalg.yield %u : f32
  } -> tensor<6x64xf32>
  tile.yield %r : tensor<6x64xf32>
}

// x · w + x · w + o: the product is used twice.
// CHECK-LABEL: tile.kernel @doubles_the_product 
//       CHECK:   tile.compute {{.+}} on @valu lanes 1
tile.kernel @doubles_the_product {
^bb0(%x: tensor<6x32xf32>, %w: tensor<32x64xf32>, %o: tensor<6x64xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<6x32xf32>, tensor<32x64xf32>) outs(%o : tensor<6x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %s = arith.mulf %p, %q : f32
    %t = arith.addf %s, %s : f32
    %u = arith.addf %t, %v : f32
    linalg.yield %u : f32
  } -> tensor<6x64xf32>
  tile.yield %r : tensor<6x64xf32>
}
