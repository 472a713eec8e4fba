// The lanes of a group lie over rows and columns as the schedule's `spread` says: each reads the rows and
// the columns of its own points, and stores these.
// RUN: weft-opt %s --tile-to-device | FileCheck %s
// RUN: sed 's/spread = .8, 4, 1./spread = [4, 8, 1]/' %s | weft-opt --tile-to-device | FileCheck %s --check-prefix=WIDE

device.machine @warps arch("sm_80") features(["ptx80"]) {
  device.memory @global scope("device") capacity_bytes(1073741824) bytes_per_cycle(64)
  device.memory @smem scope("core") capacity_bytes(32768) bytes_per_cycle(128) banks(32) bank_bytes(4)
  device.memory @reg scope("warp") capacity_bytes(32640) register_bytes(128) lanes(32)
  device.unit @sm count(4) clock_mhz(1000)
  device.move @load from @global to @reg issue_cycles(1.0) latency_cycles(400) strided fills
  device.move @store from @reg to @global issue_cycles(1.0) latency_cycles(400) strided
  device.move @stage from @global to @smem issue_cycles(2.0) latency_cycles(400) strided fills
  device.move @near from @smem to @reg issue_cycles(1.0) latency_cycles(20) strided
  device.lanes @valu on @sm in @reg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions([])
  device.instruction @fmavv on @sm operands([@reg, @reg, @reg])
    fragments([affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>])
    issue_cycles(1.0) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<32xf32>, %b: tensor<32xf32>, %c: tensor<32xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : tensor<32xf32>, tensor<32xf32>) outs(%c : tensor<32xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    device.yield %d : tensor<32xf32>
  } lowering {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = math.fma %a, %b, %c : f32
    device.yield %d : f32
  }
}

// A lane has 4 rows and 4 columns; of 8 by 4 lanes, rows are 4 apart in 8 places.
// CHECK-LABEL: device.kernel @mm
//       CHECK:   device.transfer @near {{.+}} sizes [4, 8, 4] from_strides [32, 128, 0] to_strides [32, 4, 1]
//       CHECK:   device.transfer @near {{.+}} sizes [4, 8, 4] from_strides [1, 0, 4] to_strides [32, 4, 1]
//       CHECK:   device.transfer @store {{.+}} sizes [4, 4, 8, 4] from_strides [128, 32, 4, 1] to_strides [256, 1, 1024, 4]
//  WIDE-LABEL: device.kernel @mm
//        WIDE:   device.transfer @near {{.+}} sizes [2, 4, 4, 8] from_strides [512, 32, 128, 0] to_strides [128, 32, 8, 1]
//        WIDE:   device.transfer @near {{.+}} sizes [2, 4, 8] from_strides [1, 0, 2] to_strides [32, 8, 1]
tile.kernel @mm {
^bb0(%a: tensor<64x256xf32>, %b: tensor<256x256xf32>, %c: tensor<64x256xf32>):
  %a1 = tile.load %a to @smem : tensor<64x256xf32>
  %a2 = tile.load %a1 to @reg : tensor<64x256xf32>
  %b1 = tile.load %b to @smem : tensor<256x256xf32>
  %b2 = tile.load %b1 to @reg : tensor<256x256xf32>
  %r = tile.compute ins(%a2, %b2) outs(%c) on @fmavv lanes 1
      tiles [#tile.rtile<"smem" [64, 32, 32]>, #tile.rtile<"reg" [32, 16, 1]>]
      layouts [array<i64: 2, 32>, array<i64: 1, 32>] schedule <spread = [8, 4, 1]>
      : (tensor<64x256xf32>, tensor<256x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32> {
  ^bb0(%x: tensor<64x256xf32>, %y: tensor<256x256xf32>, %z: tensor<64x256xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %y : tensor<64x256xf32>, tensor<256x256xf32>) outs(%z : tensor<64x256xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32):
      %u = arith.mulf %p, %q : f32
      %v = arith.addf %s, %u : f32
      linalg.yield %v : f32
    } -> tensor<64x256xf32>
    tile.yield %d : tensor<64x256xf32>
  }
  %o = tile.store %r from @reg to %c : tensor<64x256xf32>
  tile.yield %o : tensor<64x256xf32>
}
