// Buffers whose lives do not meet share bytes; who overwrites them waits for their readers.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task=units=1 | FileCheck %s --check-prefix=ONE
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task --task-check-order -o /dev/null

#id = affine_map<(i) -> (i)>
// On two units "d" starts at once, beside "a": what both made lives at the same time as what "b"
// and "c" make. The buffer of "e" lies where that of "a" was, which "b" has read by then; it
// waits for no more than it reads.
// CHECK-LABEL: task.program @reuse on @core units 2 arena 1024
//       CHECK:   %[[B0:.+]] = task.buffer at 0 in @dram
//  CHECK-NEXT:   %[[A:.+]] = task.range "a" @twice[0 to 4] on 0(%{{.+}}, %[[B0]]) after()
//  CHECK-NEXT:   %[[B3:.+]] = task.buffer at 256 in @dram
//  CHECK-NEXT:   %[[D:.+]] = task.range "d" @twice[0 to 4] on 1(%{{.+}}, %[[B3]]) after()
//  CHECK-NEXT:   %[[B1:.+]] = task.buffer at 512 in @dram
//  CHECK-NEXT:   %[[B:.+]] = task.range "b" @twice[0 to 4] on 0(%[[B0]], %[[B1]]) after(%[[A]])
//  CHECK-NEXT:   %[[B2:.+]] = task.buffer at 768 in @dram
//  CHECK-NEXT:   %[[C:.+]] = task.range "c" @twice[0 to 4] on 0(%[[B1]], %[[B2]]) after(%[[B]])
//  CHECK-NEXT:   %[[B4:.+]] = task.buffer at 0 in @dram
//  CHECK-NEXT:   %[[E:.+]] = task.range "e" @add[0 to 4] on 0(%[[B2]], %[[B3]], %[[B4]]) after(%[[D]], %[[C]])
//  CHECK-NEXT:   task.range "f" @twice[0 to 4] on 0(%[[B4]], %{{.+}}) after(%[[E]])

// On one unit there is nothing to keep apart: "c" overwrites what "b" read.
// ONE-LABEL: task.program @reuse on @core units 1 arena 768
//       ONE:   task.buffer at 0
//       ONE:   task.buffer at 256
//       ONE:   task.buffer at 0
//       ONE:   task.buffer at 256
tile.graph @reuse inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %e0 = tile.empty in @dram : tensor<64xf32>
  %a = tile.run "a" @twice(%x) into(%e0) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e1 = tile.empty in @dram : tensor<64xf32>
  %b = tile.run "b" @twice(%a) into(%e1) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e2 = tile.empty in @dram : tensor<64xf32>
  %c = tile.run "c" @twice(%b) into(%e2) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e3 = tile.empty in @dram : tensor<64xf32>
  %d = tile.run "d" @twice(%x) into(%e3) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e4 = tile.empty in @dram : tensor<64xf32>
  %s = tile.run "e" @add(%c, %d) into(%e4) : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %e5 = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "f" @twice(%s) into(%e5) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
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
