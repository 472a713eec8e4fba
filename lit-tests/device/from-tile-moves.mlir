// A kernel on a move is a copy, piece by piece; nothing else is.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/pairs.mlir --tile-to-device --split-input-file -o %t.mlir 2>&1 | FileCheck %s --check-prefix=NOT
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/pairs.mlir --tile-to-device --split-input-file 2>/dev/null | FileCheck %s

#id = affine_map<(i) -> (i)>
// CHECK-LABEL: device.kernel @pieces tasks 4
//       CHECK:   %[[DONE:.+]] = device.transfer @fetch %{{.+}} sizes [16]
//       CHECK:   device.wait %[[DONE]]
tile.kernel @pieces {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %c = tile.compute ins(%x) outs(%o) on @fetch tiles [#tile.rtile<"near" [16]>] : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<64xf32>) outs(%q : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      linalg.yield %u : f32
    } -> tensor<64xf32>
    tile.yield %r : tensor<64xf32>
  }
  %s = tile.store %c from @near to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}

// -----

#id = affine_map<(i) -> (i)>
// NOT: error: @twice is no copy that @fetch does
// NOT: help: a kernel on a move gives the elements of its one input, as they are
tile.kernel @twice {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %c = tile.compute ins(%x) outs(%o) on @fetch tiles [#tile.rtile<"near" [16]>] : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<64xf32>) outs(%q : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      %t = arith.addf %u, %u : f32
      linalg.yield %t : f32
    } -> tensor<64xf32>
    tile.yield %r : tensor<64xf32>
  }
  %s = tile.store %c from @near to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}
