// Zeros stand in for points that are not there only where they change nothing.
// RUN: weft-opt %s --tile-construct-rtiles=remarks=true -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t

#mk = affine_map<(m, k) -> (m, k)>
#m = affine_map<(m, k) -> (m)>

// c[m] += a[m, k] * b[m]: b does not move along k, so it is no zero behind its end.
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @spad scope("core") capacity_bytes(8192) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @in from @dram to @spad bytes_per_cycle(16) strided fills
  device.move @out from @spad to @dram bytes_per_cycle(16) strided
  device.move @vload from @spad to @vreg issue_cycles(9.0) latency_cycles(2) strided
  device.move @vstore from @vreg to @spad issue_cycles(9.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(9.0) latency_cycles(3) types([f32])
    operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
  device.instruction @scale on @core operands([@spad, @spad, @spad]) issue_cycles(1.0) latency_cycles(2)
  meaning {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>):
    %d = linalg.generic {indexing_maps = [#mk, #m, #m], iterator_types = ["parallel", "reduction"]} ins(%a, %b : tensor<4x4xf32>, tensor<4xf32>) outs(%c : tensor<4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    device.yield %d : tensor<4xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: index):
    device.yield
  }
}

// Whole instructions: nothing is padded.
// CHECK-LABEL: tile.kernel @whole
//       CHECK:   on @scale axes [0, 1]
tile.kernel @whole {
^bb0(%x: tensor<64x64xf32>, %w: tensor<64xf32>, %o: tensor<64xf32>):
  %r = linalg.generic {indexing_maps = [#mk, #m, #m], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<64x64xf32>, tensor<64xf32>) outs(%o : tensor<64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<64xf32>
  tile.yield %r : tensor<64xf32>
}

// Rows that are not there are not stored.
// CHECK-LABEL: tile.kernel @ragged_rows
//       CHECK:   on @scale axes [0, 1]
tile.kernel @ragged_rows {
^bb0(%x: tensor<62x64xf32>, %w: tensor<62xf32>, %o: tensor<62xf32>):
  %r = linalg.generic {indexing_maps = [#mk, #m, #m], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<62x64xf32>, tensor<62xf32>) outs(%o : tensor<62xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<62xf32>
  tile.yield %r : tensor<62xf32>
}

// Infinity times a zero that was put there is no number.
// CHECK-LABEL: tile.kernel @ragged_sum
//       CHECK:   on @valu lanes
//      REMARK: remark: @ragged_sum: zeros as padding would change what @scale folds
tile.kernel @ragged_sum {
^bb0(%x: tensor<64x62xf32>, %w: tensor<64xf32>, %o: tensor<64xf32>):
  %r = linalg.generic {indexing_maps = [#mk, #m, #m], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<64x62xf32>, tensor<64xf32>) outs(%o : tensor<64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<64xf32>
  tile.yield %r : tensor<64xf32>
}
