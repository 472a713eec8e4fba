// The end of an axis that instructions do not divide is a kernel of its own where that is
// cheaper; the second begins with what the first leaves.
// RUN: weft-opt %s --tile-peel | FileCheck %s
// RUN: weft-opt %s --tile-peel=remarks=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: weft-opt %s --tile-peel=ends=none | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt %s --tile-peel=ends=some 2>&1 | FileCheck %s --check-prefix=SOME

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// An array of 16 x 16 x 16, and a core that does one point at a time.
device.machine @array arch("array") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @spad scope("core") capacity_bytes(65536) bytes_per_cycle(64)
  device.memory @xreg scope("thread") capacity_bytes(256) register_bytes(8) lanes(1)
  device.unit @core count(1) handover_cycles(500)
  device.engine @dma on @core queue(8)
  device.move @in from @dram to @spad engine(@dma) bytes_per_cycle(16) latency_cycles(20) strided fills
  device.move @out from @spad to @dram engine(@dma) bytes_per_cycle(16) latency_cycles(20) strided
  device.move @lw from @dram to @xreg issue_cycles(1.0) latency_cycles(3) strided
  device.move @sw from @xreg to @dram issue_cycles(1.0) latency_cycles(3) strided
  device.lanes @scalar on @core in @xreg issue_cycles(1.0) latency_cycles(4) types([f32])
    operations(["arith.addf", "arith.mulf", "arith.maximumf"]) reductions(["arith.addf"])
  device.instruction @mac on @core operands([@spad, @spad, @spad]) issue_cycles(2048.0) latency_cycles(8)
  meaning {
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>):
    %d = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%c : tensor<16x16xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x16xf32>
    device.yield %d : tensor<16x16xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: index):
    device.yield
  }
}

// SOME: error: unknown value 'some' for option 'ends' of tile-peel
// SOME: help: some is neither cheaper, all nor none

// Both runs write the same tensor: a kernel that writes a window leaves the rest as it was.
// CHECK-LABEL: tile.graph @model
//       CHECK:   %[[FIRST:.+]] = tile.run "mm" @mm(%arg0, %arg1) into(%{{.+}})
//       CHECK:   %[[LAST:.+]] = tile.run "mm" @mm_rest(%arg0, %arg1) into(%[[FIRST]])
//       CHECK:   tile.output %[[LAST]]
//  NONE-LABEL: tile.graph @model
//  NONE-COUNT-1: tile.run
//    NONE-NOT: tile.run
tile.graph @model inputs ["x", "w"] outputs ["y"] : (tensor<65x64xf32>, tensor<64x64xf32>) -> tensor<65x64xf32> {
^bb0(%x: tensor<65x64xf32>, %w: tensor<64x64xf32>):
  %e = tile.empty in @dram : tensor<65x64xf32>
  %y = tile.run "mm" @mm(%x, %w) into(%e) : (tensor<65x64xf32>, tensor<64x64xf32>, tensor<65x64xf32>) -> tensor<65x64xf32>
  tile.output %y : tensor<65x64xf32>
}

// REMARK: remark: @mm: the last 1 points of axis 0 are computed apart with {{[0-9]+}} cycles predicted; second all at once with {{[0-9]+}}
tile.kernel @mm {
^bb0(%x: tensor<65x64xf32>, %w: tensor<64x64xf32>, %o: tensor<65x64xf32>):
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<65x64xf32>, tensor<64x64xf32>) outs(%o : tensor<65x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<65x64xf32>
  tile.yield %r : tensor<65x64xf32>
}

// 15 of 16 rows are used: padding is cheaper.
// CHECK-LABEL: tile.kernel @padded
//       CHECK:   tensor<79x64xf32>, tensor<64x64xf32>) outs(%{{.+}} : tensor<79x64xf32>)
//   CHECK-NOT: tile.kernel @padded_rest
tile.kernel @padded {
^bb0(%x: tensor<79x64xf32>, %w: tensor<64x64xf32>, %o: tensor<79x64xf32>):
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<79x64xf32>, tensor<64x64xf32>) outs(%o : tensor<79x64xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<79x64xf32>
  tile.yield %r : tensor<79x64xf32>
}

// Nothing but lanes computes it, and they end with the row.
// CHECK-LABEL: tile.kernel @relu
//   CHECK-NOT: tile.kernel @relu_rest
tile.kernel @relu {
^bb0(%x: tensor<4097xf32>, %o: tensor<4097xf32>):
  %z = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4097xf32>) outs(%o : tensor<4097xf32>) {
  ^bb0(%p: f32, %v: f32):
    %t = arith.maximumf %p, %z : f32
    linalg.yield %t : f32
  } -> tensor<4097xf32>
  tile.yield %r : tensor<4097xf32>
}

// CHECK-LABEL: tile.kernel @mm {
//       CHECK:   %[[X:.+]] = tensor.extract_slice %arg0[0, 0] [64, 64] [1, 1]
//       CHECK:   tensor.insert_slice %{{.+}} into %arg2[0, 0] [64, 64] [1, 1]
// CHECK-LABEL: tile.kernel @mm_rest {
//       CHECK:   tensor.extract_slice %arg0[64, 0] [1, 64] [1, 1]
//       CHECK:   tensor.insert_slice %{{.+}} into %arg2[64, 0] [1, 64] [1, 1]
