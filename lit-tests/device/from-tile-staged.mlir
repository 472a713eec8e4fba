// Tiles go to the registers by the memory that one of their rTiles names, of two that could stage them.
// RUN: weft-opt %s --tile-to-device | FileCheck %s --check-prefixes=CHECK,NEAR
// RUN: sed 's/"near" \[8\]/"wide" [8]/' %s | weft-opt --tile-to-device | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: sed 's/"near" \[8\]/"acc" [8]/' %s | not weft-opt --tile-to-device 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: sed 's/@valu lanes 0 tiles/@twice lanes 0 tiles/; s/because "told"/schedule <operands = [0, 0, 1]>/' %s | not weft-opt --tile-to-device 2>&1 | FileCheck %s --check-prefix=BODY
// RUN: sed 's/because "told"/schedule <operands = [0, 1]>/' %s | not weft-opt 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: sed 's/@valu lanes 0 tiles/@twice lanes 0 tiles/; s/because "told"/schedule <operands = [0, 2, 1]>/' %s | not weft-opt 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: sed 's/because "rows"/schedule <order = [1, 0], grow = 0>/' %s | not weft-opt --tile-to-device 2>&1 | FileCheck %s --check-prefix=GROW

// CHECK-LABEL: device.kernel @negated
//        NEAR:   device.alloc : memref<8xf32, "near">
//        NEAR:   device.transfer @near_in
//        NEAR:   device.copy @near_load
//        NEAR:   device.copy @near_store
//        NEAR:   device.transfer @near_out
//        WIDE:   device.alloc : memref<8xf32, "wide">
//        WIDE:   device.transfer @wide_in
//        WIDE:   device.copy @wide_load
//        WIDE:   device.copy @wide_store
//        WIDE:   device.transfer @wide_out

// NOWHERE: error: @negated: the rTile in @acc lies between @dram and @vreg, and nothing moves through @acc
// NOWHERE: help: let it lie in @near or @wide

// BODY: error: @twice does not mean what @negated computes
// BODY: help: name an instruction of the same body and operands, or a lane unit

// LANES: error: the schedule has operands [0, 1] of no instruction
// LANES: help: leave `operands` out: lanes do the operations of the body one by one

// COUNT: error: the schedule has operands [0, 2, 1] of @twice
// COUNT: help: give 3 numbers: from 0 to 1 for those of the nest, or -1 for ones

// GROW: error: @rows: the schedule's `grow` is 0, and tiles are staged
// GROW: help: leave it out where tiles wait in a memory on the way to the registers

device.machine @two arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @near scope("core") capacity_bytes(1024) bytes_per_cycle(64)
  device.memory @wide scope("core") capacity_bytes(4096) bytes_per_cycle(32)
  device.memory @acc scope("core") capacity_bytes(4096) bytes_per_cycle(32)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.engine @dma on @core queue(4)
  device.move @near_in from @dram to @near engine(@dma) bytes_per_cycle(16) latency_cycles(20) strided fills
  device.move @near_out from @near to @dram engine(@dma) bytes_per_cycle(16) latency_cycles(20) strided
  device.move @near_load from @near to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @near_store from @vreg to @near issue_cycles(1.0) latency_cycles(2) strided
  device.move @wide_in from @dram to @wide engine(@dma) bytes_per_cycle(16) latency_cycles(20) strided fills
  device.move @wide_out from @wide to @dram engine(@dma) bytes_per_cycle(16) latency_cycles(20) strided
  device.move @wide_load from @wide to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @wide_store from @vreg to @wide issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.negf", "arith.addf"]) reductions(["arith.addf"])
  device.instruction @twice on @core operands([@vreg, @vreg, @vreg]) issue_cycles(1.0) latency_cycles(3)
  meaning {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%c : tensor<4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %s = arith.addf %x, %y : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    device.yield %d : tensor<4xf32>
  } lowering {
  ^bb0(%a: vector<4xf32>, %b: vector<4xf32>, %c: vector<4xf32>):
    %s = arith.addf %a, %b : vector<4xf32>
    device.yield %s : vector<4xf32>
  }
}
tile.kernel @negated {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %c = tile.compute ins(%x) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [64]>, #tile.rtile<"near" [8]>, #tile.rtile<"vreg" [4]>]
    because "told" : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<64xf32>) outs(%q : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      %t = arith.negf %u : f32
      linalg.yield %t : f32
    } -> tensor<64xf32>
    tile.yield %r : tensor<64xf32>
  }
  tile.yield %c : tensor<64xf32>
}
tile.kernel @rows {
^bb0(%x: tensor<3x64xf32>, %o: tensor<3x64xf32>):
  %c = tile.compute ins(%x) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [3, 64]>, #tile.rtile<"near" [1, 12]>, #tile.rtile<"vreg" [1, 4]>]
    because "rows" : (tensor<3x64xf32>, tensor<3x64xf32>) -> tensor<3x64xf32> {
  ^bb0(%p: tensor<3x64xf32>, %q: tensor<3x64xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<3x64xf32>) outs(%q : tensor<3x64xf32>) {
    ^bb0(%u: f32, %v: f32):
      %n = arith.negf %u : f32
      linalg.yield %n : f32
    } -> tensor<3x64xf32>
    tile.yield %r : tensor<3x64xf32>
  }
  tile.yield %c : tensor<3x64xf32>
}
