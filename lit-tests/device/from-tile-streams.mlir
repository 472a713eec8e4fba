// What the schedule streams is stored past the caches, a whole register at a time.
// RUN: weft-opt %s --tile-to-device -o %t
// RUN: FileCheck %s < %t
// RUN: weft-opt %t --device-lower-to-vector | FileCheck %s --check-prefix=CODE

#id = affine_map<(i) -> (i)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(512) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.move @stream from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided streams
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.negf"]) reductions([])
}

// 66 numbers in and 66 out: the last two do not fill a register.
// CHECK-LABEL: device.kernel @large
//       CHECK:   device.copy @stream {{.+}} to %arg2{{.+}} count 4 :
//       CHECK:   device.copy @store {{.+}} to %arg2{{.+}} count 2

// Code decides by where the result begins; what was streamed is seen before the kernel ends.
//  CODE-LABEL: func.func @large
//        CODE:   memref.extract_aligned_pointer_as_index
//        CODE:   scf.if
//        CODE:     vector.store {{.+}} {alignment = 16 : i64, nontemporal = true}
//        CODE:     llvm.fence seq_cst
//        CODE:   else
//    CODE-NOT:     nontemporal
tile.kernel @large {
^bb0(%x: tensor<66xf32>, %o: tensor<66xf32>):
  %a = tile.load %x to @vreg : tensor<66xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [66]>, #tile.rtile<"vreg" [4]>] schedule <stream = @stream> : (tensor<66xf32>, tensor<66xf32>) -> tensor<66xf32> {
  ^bb0(%p: tensor<66xf32>, %q: tensor<66xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<66xf32>) outs(%q : tensor<66xf32>) {
    ^bb0(%u: f32, %v: f32):
      %n = arith.negf %u : f32
      linalg.yield %n : f32
    } -> tensor<66xf32>
    tile.yield %r : tensor<66xf32>
  }
  %r = tile.store %c from @vreg to %o : tensor<66xf32>
  tile.yield %r : tensor<66xf32>
}

// Rows of 33: only the first begins at a multiple of a register.
// CHECK-LABEL: device.kernel @odd_rows
//   CHECK-NOT:   @stream
tile.kernel @odd_rows {
^bb0(%x: tensor<4x33xf32>, %o: tensor<4x33xf32>):
  %a = tile.load %x to @vreg : tensor<4x33xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [4, 33]>, #tile.rtile<"vreg" [1, 4]>] schedule <stream = @stream> : (tensor<4x33xf32>, tensor<4x33xf32>) -> tensor<4x33xf32> {
  ^bb0(%p: tensor<4x33xf32>, %q: tensor<4x33xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x33xf32>) outs(%q : tensor<4x33xf32>) {
    ^bb0(%u: f32, %v: f32):
      %n = arith.negf %u : f32
      linalg.yield %n : f32
    } -> tensor<4x33xf32>
    tile.yield %r : tensor<4x33xf32>
  }
  %r = tile.store %c from @vreg to %o : tensor<4x33xf32>
  tile.yield %r : tensor<4x33xf32>
}
