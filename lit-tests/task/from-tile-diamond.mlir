// Independent runs go to different units, and their reader waits for both.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task --task-check-order -o /dev/null

#id = affine_map<(i) -> (i)>
// CHECK-LABEL: task.program @diamond on @core units 2 arena 768
//       CHECK:   %[[A:.+]] = task.range "a" @twice[0 to 4] on 0({{.+}}) after()
//       CHECK:   %[[L:.+]] = task.range "left" @twice[0 to 4] on 0({{.+}}) after(%[[A]])
//       CHECK:   %[[R:.+]] = task.range "right" @twice[0 to 4] on 1({{.+}}) after(%[[A]])
//       CHECK:   task.range "join" @add[0 to 4] on {{[01]}}({{.+}}) after(%[[L]], %[[R]])
tile.graph @diamond inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %e0 = tile.empty in @dram : tensor<64xf32>
  %a = tile.run "a" @twice(%x) into(%e0) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e1 = tile.empty in @dram : tensor<64xf32>
  %l = tile.run "left" @twice(%a) into(%e1) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e2 = tile.empty in @dram : tensor<64xf32>
  %r = tile.run "right" @twice(%a) into(%e2) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e3 = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "join" @add(%l, %r) into(%e3) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y : tensor<64xf32>
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

tile.kernel @add {
^bb0(%x: tensor<64xf32>, %y: tensor<64xf32>, %o: tensor<64xf32>):
  %a = tile.load %x to @vreg : tensor<64xf32>
  %b = tile.load %y to @vreg : tensor<64xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>, %z: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%p, %q : tensor<64xf32>, tensor<64xf32>) outs(%z : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32, %w: f32):
      %s = arith.addf %u, %v : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    tile.yield %r : tensor<64xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}
