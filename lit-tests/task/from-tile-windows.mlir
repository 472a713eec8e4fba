// Kernels that write windows of one tensor share its buffer and do not wait for
// each other; who reads a window waits for its writer.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task --task-check-order -o /dev/null

#id = affine_map<(i) -> (i)>
// CHECK-LABEL: task.program @concat on @core units 2 arena 0
//       CHECK:   %[[Y:.+]] = task.output 0 "y" : memref<64xf32>
//   CHECK-NOT:   task.buffer
//       CHECK:   %[[L:.+]] = task.range "low" @low[0 to 2] on 0(%{{.+}}, %[[Y]]) after()
//       CHECK:   %[[H:.+]] = task.range "high" @high[0 to 2] on 1(%{{.+}}, %[[Y]]) after()
//       CHECK:   task.range "all" @twice[0 to 4] on {{.}}(%[[Y]], %{{.+}}) after(%[[L]], %[[H]])
//       CHECK:   task.range "part" @take[0 to 2] on {{.}}(%[[Y]], %{{.+}}) after(%[[L]])
tile.graph @concat inputs ["x"] outputs ["y", "z", "p"] : (tensor<32xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<32xf32>) {
^bb0(%x: tensor<32xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %l = tile.run "low" @low(%x) into(%e) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  %y = tile.run "high" @high(%x) into(%l) : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32>
  %f = tile.empty in @dram : tensor<64xf32>
  %z = tile.run "all" @twice(%y) into(%f) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %g = tile.empty in @dram : tensor<32xf32>
  %p = tile.run "part" @take(%y) into(%g) : (tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32>
  tile.output %y, %z, %p : tensor<64xf32>, tensor<64xf32>, tensor<32xf32>
}

tile.kernel @low {
^bb0(%x: tensor<32xf32>, %o: tensor<64xf32>):
  %a = tile.load %x to @vreg : tensor<32xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<32xf32>, %q: tensor<64xf32>):
    %w = tensor.extract_slice %q[0] [32] [1] : tensor<64xf32> to tensor<32xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<32xf32>) outs(%w : tensor<32xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %k = tensor.insert_slice %r into %q[0] [32] [1] : tensor<32xf32> into tensor<64xf32>
    tile.yield %k : tensor<64xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}

tile.kernel @high {
^bb0(%x: tensor<32xf32>, %o: tensor<64xf32>):
  %a = tile.load %x to @vreg : tensor<32xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<32xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<32xf32>, %q: tensor<64xf32>):
    %w = tensor.extract_slice %q[32] [32] [1] : tensor<64xf32> to tensor<32xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<32xf32>) outs(%w : tensor<32xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    %k = tensor.insert_slice %r into %q[32] [32] [1] : tensor<32xf32> into tensor<64xf32>
    tile.yield %k : tensor<64xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}

tile.kernel @twice {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %a = tile.load %x to @vreg : tensor<64xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<64xf32>) outs(%q : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    tile.yield %r : tensor<64xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}

tile.kernel @take {
^bb0(%x: tensor<64xf32>, %o: tensor<32xf32>):
  %a = tile.load %x to @vreg : tensor<64xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<64xf32>, tensor<32xf32>) -> tensor<32xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<32xf32>):
    %w = tensor.extract_slice %p[0] [32] [1] : tensor<64xf32> to tensor<32xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%w : tensor<32xf32>) outs(%q : tensor<32xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    tile.yield %r : tensor<32xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<32xf32>
  tile.yield %s : tensor<32xf32>
}
