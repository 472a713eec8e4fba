// Rows that do not fit near a unit are folded in parts; short ones, and those of which no parts are
// equal, stay whole.
// RUN: weft-opt %s --split-input-file --tile-split-rows=remarks=true 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not=remark < %t
// RUN: weft-opt %s --split-input-file --tile-split-rows=parts=1 | FileCheck %s --check-prefix=WHOLE
// RUN: not weft-opt %s --split-input-file --tile-split-rows=parts=some 2>&1 | FileCheck %s --check-prefix=SOME

// WHOLE-NOT: _parts
// SOME: error: unknown value '{{.+}}' for option 'parts' of tile-split-rows
// SOME: help: write auto, or how many parts

#in = affine_map<(i, k) -> (i, k)>
#i = affine_map<(i, k) -> (i)>
#o = affine_map<(i) -> (i)>

device.machine @small arch("small") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(16384) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(1024) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "math.exp"]) reductions(["arith.addf", "arith.maximumf"])
}

// 8192 bytes of 16384 are for what waits, a row has 16384.
// CHECK-LABEL: tile.graph @long
//       CHECK:   %[[X:.+]] = tile.view %arg0 : tensor<3x4096xf32> to tensor<3x4x1024xf32>
//       CHECK:   %[[MS:.+]] = tile.run "s" @largest_parts(%[[X]]) into(%{{.+}}) : (tensor<3x4x1024xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
//       CHECK:   %[[ES:.+]] = tile.run "s" @shifted_parts(%{{.+}}, %[[MS]])
//       CHECK:   %[[LS:.+]] = tile.run "s" @total_parts(%[[ES]])
//       CHECK:   %[[M:.+]] = tile.run "s" @largest_whole(%[[MS]])
//       CHECK:   %[[W:.+]] = tile.run "s" @shifted_weights(%[[MS]], %[[M]])
//       CHECK:   %[[L:.+]] = tile.run "s" @total_whole(%[[LS]], %[[W]])
//       CHECK:   %[[E:.+]] = tile.run "s" @shifted(%arg0, %[[M]])
//       CHECK:   tile.run "s" @shares(%[[E]], %[[L]])
//      REMARK: remark: @largest: a softmax of 4096 elements is done in 4 parts
tile.graph @long inputs ["x"] outputs ["y"] : (tensor<3x4096xf32>) -> tensor<3x4096xf32> {
^bb0(%x: tensor<3x4096xf32>):
  %0 = tile.empty in @dram : tensor<3xf32>
  %m = tile.run "s" @largest(%x) into(%0) : (tensor<3x4096xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = tile.empty in @dram : tensor<3x4096xf32>
  %e = tile.run "s" @shifted(%x, %m) into(%1) : (tensor<3x4096xf32>, tensor<3xf32>, tensor<3x4096xf32>) -> tensor<3x4096xf32>
  %2 = tile.empty in @dram : tensor<3xf32>
  %l = tile.run "s" @total(%e) into(%2) : (tensor<3x4096xf32>, tensor<3xf32>) -> tensor<3xf32>
  %3 = tile.empty in @dram : tensor<3x4096xf32>
  %y = tile.run "s" @shares(%e, %l) into(%3) : (tensor<3x4096xf32>, tensor<3xf32>, tensor<3x4096xf32>) -> tensor<3x4096xf32>
  tile.output %y : tensor<3x4096xf32>
}
// A part begins with the lowest number, the whole row with what it began with.
//       CHECK: tile.kernel @largest_parts attributes {cut} {
//       CHECK:   arith.constant -3.40282347E+38 : f32
//       CHECK: tile.kernel @shifted_weights {
//       CHECK:   arith.subf
//       CHECK:   math.exp
//       CHECK: tile.kernel @total_whole {
//       CHECK:   arith.mulf
//       CHECK:   arith.addf
tile.kernel @largest {
^bb0(%x: tensor<3x4096xf32>, %o: tensor<3xf32>):
  %s = linalg.generic {indexing_maps = [#o], iterator_types = ["parallel"]} outs(%o : tensor<3xf32>) {
  ^bb0(%v: f32):
    %c = arith.constant 0xFF800000 : f32
    linalg.yield %c : f32
  } -> tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#in, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x4096xf32>) outs(%s : tensor<3xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.maximumf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<3xf32>
  tile.yield %r : tensor<3xf32>
}
tile.kernel @shifted {
^bb0(%x: tensor<3x4096xf32>, %m: tensor<3xf32>, %o: tensor<3x4096xf32>):
  %r = linalg.generic {indexing_maps = [#in, #i, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<3x4096xf32>, tensor<3xf32>) outs(%o : tensor<3x4096xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %u = arith.subf %p, %q : f32
    %e = math.exp %u : f32
    linalg.yield %e : f32
  } -> tensor<3x4096xf32>
  tile.yield %r : tensor<3x4096xf32>
}
tile.kernel @total {
^bb0(%x: tensor<3x4096xf32>, %o: tensor<3xf32>):
  %s = linalg.generic {indexing_maps = [#o], iterator_types = ["parallel"]} outs(%o : tensor<3xf32>) {
  ^bb0(%v: f32):
    %c = arith.constant 0.0 : f32
    linalg.yield %c : f32
  } -> tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#in, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x4096xf32>) outs(%s : tensor<3xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.addf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<3xf32>
  tile.yield %r : tensor<3xf32>
}
tile.kernel @shares {
^bb0(%x: tensor<3x4096xf32>, %m: tensor<3xf32>, %o: tensor<3x4096xf32>):
  %r = linalg.generic {indexing_maps = [#in, #i, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<3x4096xf32>, tensor<3xf32>) outs(%o : tensor<3x4096xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %u = arith.divf %p, %q : f32
    linalg.yield %u : f32
  } -> tensor<3x4096xf32>
  tile.yield %r : tensor<3x4096xf32>
}

// -----

// As long as that, and its length is a prime.
// CHECK-LABEL: tile.graph @prime
//   CHECK-NOT: _parts
//      REMARK: remark: @largest: rows stay whole: 4099 elements have no 5 to 10 equal parts
#in = affine_map<(i, k) -> (i, k)>
#i = affine_map<(i, k) -> (i)>
#o = affine_map<(i) -> (i)>
device.machine @small arch("small") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(16384) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(1024) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "math.exp"]) reductions(["arith.addf", "arith.maximumf"])
}
tile.graph @prime inputs ["x"] outputs ["e", "l"] : (tensor<3x4099xf32>) -> (tensor<3x4099xf32>, tensor<3xf32>) {
^bb0(%x: tensor<3x4099xf32>):
  %0 = tile.empty in @dram : tensor<3xf32>
  %m = tile.run "s" @largest(%x) into(%0) : (tensor<3x4099xf32>, tensor<3xf32>) -> tensor<3xf32>
  %1 = tile.empty in @dram : tensor<3x4099xf32>
  %e = tile.run "s" @shifted(%x, %m) into(%1) : (tensor<3x4099xf32>, tensor<3xf32>, tensor<3x4099xf32>) -> tensor<3x4099xf32>
  %2 = tile.empty in @dram : tensor<3xf32>
  %l = tile.run "s" @total(%e) into(%2) : (tensor<3x4099xf32>, tensor<3xf32>) -> tensor<3xf32>
  tile.output %e, %l : tensor<3x4099xf32>, tensor<3xf32>
}
tile.kernel @largest {
^bb0(%x: tensor<3x4099xf32>, %o: tensor<3xf32>):
  %s = linalg.generic {indexing_maps = [#o], iterator_types = ["parallel"]} outs(%o : tensor<3xf32>) {
  ^bb0(%v: f32):
    %c = arith.constant 0xFF800000 : f32
    linalg.yield %c : f32
  } -> tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#in, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x4099xf32>) outs(%s : tensor<3xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.maximumf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<3xf32>
  tile.yield %r : tensor<3xf32>
}
tile.kernel @shifted {
^bb0(%x: tensor<3x4099xf32>, %m: tensor<3xf32>, %o: tensor<3x4099xf32>):
  %r = linalg.generic {indexing_maps = [#in, #i, #in], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<3x4099xf32>, tensor<3xf32>) outs(%o : tensor<3x4099xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %u = arith.subf %p, %q : f32
    %e = math.exp %u : f32
    linalg.yield %e : f32
  } -> tensor<3x4099xf32>
  tile.yield %r : tensor<3x4099xf32>
}
tile.kernel @total {
^bb0(%x: tensor<3x4099xf32>, %o: tensor<3xf32>):
  %s = linalg.generic {indexing_maps = [#o], iterator_types = ["parallel"]} outs(%o : tensor<3xf32>) {
  ^bb0(%v: f32):
    %c = arith.constant 0.0 : f32
    linalg.yield %c : f32
  } -> tensor<3xf32>
  %r = linalg.generic {indexing_maps = [#in, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<3x4099xf32>) outs(%s : tensor<3xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.addf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<3xf32>
  tile.yield %r : tensor<3xf32>
}
