// Long sums of few results are shared out among the units; others stay.
// RUN: weft-opt %s --split-input-file --tile-split-reductions=remarks=true 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not=remark < %t

#ik = affine_map<(i, k) -> (i, k)>
#i = affine_map<(i, k) -> (i)>
#o = affine_map<(i) -> (i)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(1024) register_bytes(32)
  device.unit @core count(8) handover_cycles(50)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf", "arith.maximumf"]) reductions(["arith.addf"])
}

// Parts begin with what changes nothing, and the sum of the parts with what the sum began with.
// CHECK-LABEL: tile.graph @few
//       CHECK:   %[[CUT:.+]] = tile.view %arg0 : tensor<2x4096xf32> to tensor<2x[[S:[0-9]+]]x[[L:[0-9]+]]xf32>
//       CHECK:   %[[P:.+]] = tile.run "s" @sum_parts(%[[CUT]]) into(%{{.+}}) : (tensor<2x[[S]]x[[L]]xf32>, tensor<[[S]]x2xf32>) -> tensor<[[S]]x2xf32>
//       CHECK:   %[[Y:.+]] = tile.run "s" @sum(%[[P]], %arg1) into(%{{.+}}) : (tensor<[[S]]x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
//      REMARK: remark: @sum: axis 1 is reduced in {{[0-9]+}} parts side by side with {{[0-9]+}} cycles predicted; second {{.+}} with {{[0-9]+}}
tile.graph @few inputs ["x", "b"] outputs ["y"] : (tensor<2x4096xf32>, tensor<2xf32>) -> tensor<2xf32> {
^bb0(%x: tensor<2x4096xf32>, %b: tensor<2xf32>):
  %e = tile.empty in @dram : tensor<2xf32>
  %y = tile.run "s" @sum(%x, %b) into(%e) : (tensor<2x4096xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  tile.output %y : tensor<2xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<2x4096xf32>, %b: tensor<2xf32>, %o: tensor<2xf32>):
  %s = linalg.generic {indexing_maps = [#o, #o], iterator_types = ["parallel"]} ins(%b : tensor<2xf32>) outs(%o : tensor<2xf32>) {
  ^bb0(%p: f32, %v: f32):
    linalg.yield %p : f32
  } -> tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#ik, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x4096xf32>) outs(%s : tensor<2xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.addf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<2xf32>
  %t = linalg.generic {indexing_maps = [#o], iterator_types = ["parallel"]} outs(%r : tensor<2xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    %u = arith.maximumf %v, %z : f32
    linalg.yield %u : f32
  } -> tensor<2xf32>
  tile.yield %t : tensor<2xf32>
}

// The unit does not fold products in another order, and a short sum is not worth it. New kernels
// come behind the old ones.
//       CHECK: tile.kernel @product {
//       CHECK: tile.kernel @short {
//       CHECK: tile.kernel @sum_parts {
//       CHECK:   arith.constant -0.000000e+00 : f32
//       CHECK:   linalg.generic {{.+}}iterator_types = ["parallel", "parallel", "reduction"]}
//       CHECK: tile.kernel @sum {
//       CHECK:   linalg.generic {{.+}}iterator_types = ["parallel", "reduction"]}
//       CHECK:   linalg.generic {{.+}}iterator_types = ["parallel"]}
//       CHECK:     arith.maximumf
//      REMARK: remark: @short: its reduction is done whole: a second kernel takes more [handover: {{[0-9]+}} cycles, 50 for a handover]
tile.kernel @product {
^bb0(%x: tensor<2x4096xf32>, %o: tensor<2xf32>):
  %r = linalg.generic {indexing_maps = [#ik, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x4096xf32>) outs(%o : tensor<2xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.mulf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<2xf32>
  tile.yield %r : tensor<2xf32>
}
tile.kernel @short {
^bb0(%x: tensor<2x32xf32>, %o: tensor<2xf32>):
  %r = linalg.generic {indexing_maps = [#ik, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x32xf32>) outs(%o : tensor<2xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.addf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<2xf32>
  tile.yield %r : tensor<2xf32>
}

// -----

// Parts of what is written inside a border are all of their tensor.
#ijk = affine_map<(i, j, k) -> (i, j, k)>
#ij = affine_map<(i, j, k) -> (i, j)>
#io = affine_map<(i, j) -> (i, j)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(1024) register_bytes(32)
  device.unit @core count(8) handover_cycles(50)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf", "arith.maximumf"]) reductions(["arith.addf"])
}

// CHECK-LABEL: tile.graph @inside
//       CHECK:   tile.run "s" @sum_parts(%{{.+}}) into(%{{.+}}) : (tensor<2x3x[[S:[0-9]+]]x[[L:[0-9]+]]xf32>, tensor<[[S]]x2x3xf32>) -> tensor<[[S]]x2x3xf32>
//       CHECK:   tile.run "s" @sum(%{{.+}}) into(%{{.+}}) : (tensor<[[S]]x2x3xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
//      REMARK: remark: @sum: axis 2 is reduced in {{[0-9]+}} parts side by side
tile.graph @inside inputs ["x"] outputs ["y"] : (tensor<2x3x4096xf32>) -> tensor<4x5xf32> {
^bb0(%x: tensor<2x3x4096xf32>):
  %e = tile.empty in @dram : tensor<4x5xf32>
  %y = tile.run "s" @sum(%x) into(%e) : (tensor<2x3x4096xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  tile.output %y : tensor<4x5xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<2x3x4096xf32>, %o: tensor<4x5xf32>):
  %part = tensor.extract_slice %o[1, 1] [2, 3] [1, 1] : tensor<4x5xf32> to tensor<2x3xf32>
  %s = linalg.generic {indexing_maps = [#io], iterator_types = ["parallel", "parallel"]} outs(%part : tensor<2x3xf32>) {
  ^bb0(%v: f32):
    %zero = arith.constant 0.0 : f32
    linalg.yield %zero : f32
  } -> tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [#ijk, #ij], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<2x3x4096xf32>) outs(%s : tensor<2x3xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.addf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<2x3xf32>
  %w = tensor.insert_slice %r into %o[1, 1] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x5xf32>
  tile.yield %w : tensor<4x5xf32>
}

// -----

// Lanes of few results are split; of results that give every group of lanes a tile they are not, however
// large the fastest tile is.
#pk = affine_map<(i, k) -> (k, i)>
#pi = affine_map<(i, k) -> (i)>

device.machine @lanes arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(64)
  device.memory @vreg scope("warp") capacity_bytes(16384) register_bytes(128) lanes(32)
  device.unit @core count(8) groups(4) handover_cycles(50)
  device.move @load from @dram to @vreg issue_cycles(8.0) latency_cycles(400) strided
  device.move @store from @vreg to @dram issue_cycles(8.0) latency_cycles(400) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf", "arith.maximumf"]) reductions(["arith.addf"])
}

//      REMARK: remark: @narrow: axis 1 is reduced in {{[0-9]+}} parts side by side
//      REMARK: remark: @wide: its reduction is done whole: every unit has a piece [units: 32 pieces for 8 @core with 4 groups each]
tile.kernel @narrow {
^bb0(%x: tensor<4096x16xf32>, %o: tensor<16xf32>):
  %r = linalg.generic {indexing_maps = [#pk, #pi], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4096x16xf32>) outs(%o : tensor<16xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.addf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<16xf32>
  tile.yield %r : tensor<16xf32>
}
tile.kernel @wide {
^bb0(%x: tensor<4096x1024xf32>, %o: tensor<1024xf32>):
  %r = linalg.generic {indexing_maps = [#pk, #pi], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4096x1024xf32>) outs(%o : tensor<1024xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.addf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<1024xf32>
  tile.yield %r : tensor<1024xf32>
}
