// A convolution with padding on its way down, for a machine that has no multiply-add.
//
// README: the second reading, after mlp.mlir. It shows windows, who waits for whom, and
// sums on a lane unit.
//
// RUN: weft-opt %s | FileCheck %s --check-prefix=GRAPH
// RUN: weft-opt %s --graph-to-tile --tile-pack-weights --tile-construct-rtiles -o %t.tile
// RUN: FileCheck %s --check-prefix=TILE < %t.tile
// RUN: weft-opt %t.tile --tile-to-task -o %t.task
// RUN: FileCheck %s --check-prefix=TASK < %t.task
// RUN: weft-opt %t.task --device-expand-math --tile-to-device -o %t.device
// RUN: FileCheck %s --check-prefix=DEVICE < %t.device
// RUN: weft-opt %t.device --verify-roundtrip -o /dev/null

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}

// =====================================================================================
// graph: one operator, whose payload is a padded image and a sum over a window that
// slides. An index is an expression of the axes: row y + v, column x + u.

//       GRAPH: #[[SLIDE:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
//       GRAPH: graph.model @edges inputs ["image"] outputs ["y"] {
//       GRAPH:   graph.op "Conv" "conv"
//       GRAPH:     tensor.pad
//       GRAPH:     linalg.generic {indexing_maps = [#[[SLIDE]], {{.+}}]
graph.model @edges inputs ["image"] outputs ["y"] {
^bb0(%image: tensor<1x1x6x16xf32>):
  %w = graph.weight "w" in "model" hash "c0ffee" : tensor<4x1x3x3xf32>
  %y = graph.op "Conv" "conv"(%image, %w) : (tensor<1x1x6x16xf32>, tensor<4x1x3x3xf32>) -> tensor<1x4x6x16xf32> {
  ^bb0(%a: tensor<1x1x6x16xf32>, %f: tensor<4x1x3x3xf32>):
    %z = arith.constant 0.0 : f32
    %p = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %z : f32
    } : tensor<1x1x6x16xf32> to tensor<1x1x8x18xf32>
    %e = tensor.empty() : tensor<1x4x6x16xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(n, o, y, x) -> (n, o, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<1x4x6x16xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<1x4x6x16xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(n, o, y, x, c, v, u) -> (n, c, y + v, x + u)>, affine_map<(n, o, y, x, c, v, u) -> (o, c, v, u)>, affine_map<(n, o, y, x, c, v, u) -> (n, o, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%p, %f : tensor<1x1x8x18xf32>, tensor<4x1x3x3xf32>) outs(%s : tensor<1x4x6x16xf32>) {
    ^bb0(%g: f32, %h: f32, %o: f32):
      %t = arith.mulf %g, %h : f32
      %m = arith.addf %o, %t : f32
      linalg.yield %m : f32
    } -> tensor<1x4x6x16xf32>
    graph.yield %r : tensor<1x4x6x16xf32>
  }
  graph.output %y : tensor<1x4x6x16xf32>
}

// =====================================================================================
// tile: padding is two kernels, one that fills the whole and one that copies the image into
// a window of it. Axes of one point are gone: there is one image, of one channel.

//   TILE-DAG: #[[INSIDE:.+]] = affine_map<(d0, d1) -> (d0 + 1, d1 + 1)>
//   TILE-DAG: #[[SLIDE:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d1 + d3, d2 + d4)>
//       TILE: tile.graph @edges
//       TILE:   %[[FILLED:.+]] = tile.run "conv" @conv_0() into(
//       TILE:   %[[WHOLE:.+]] = tile.view %[[FILLED]] : tensor<144xf32> to tensor<8x18xf32>
//       TILE:   %[[PADDED:.+]] = tile.run "conv" @conv_1(%{{.+}}) into(%[[WHOLE]])
//       TILE:   tile.run "conv" @conv_2(%[[PADDED]], %{{.+}})
//       TILE: tile.kernel @conv_1 {
//       TILE:   linalg.generic {indexing_maps = [#{{.+}}, #[[INSIDE]]]

// Axes of the sum: channel, y, x, and the window's v and u. The lanes run along x, where
// neighbours lie side by side; six rows are under way in twelve registers.
//       TILE: tile.kernel @conv_2 {
//       TILE:   tile.compute {{.+}} on @valu lanes 2 tiles [{{.+}}, #tile.rtile<"vreg"[1, 6, 16, 1, 1]>]
//       TILE:     linalg.generic {indexing_maps = [#[[SLIDE]], {{.+}}]

// =====================================================================================
// task: both kernels of the padding write the same buffer, seen in two shapes. A token
// says who has written: the copy waits for the fill, the sum for the copy.

//       TASK: task.program @edges
//       TASK:   %[[PLACE:.+]] = task.buffer at 0 in @dram : memref<144xf32>
//       TASK:   %[[FILLED:.+]] = task.range "conv" @conv_0[0 to 1] on 0(%[[PLACE]]) after()
//       TASK:   %[[WHOLE:.+]] = task.view %[[PLACE]] : memref<144xf32> to memref<8x18xf32>
//       TASK:   %[[PADDED:.+]] = task.range "conv" @conv_1[0 to 1] on 0(%{{.+}}, %[[WHOLE]]) after(%[[FILLED]])
//       TASK:   task.range "conv" @conv_2[0 to 1] on 0(%{{.+}}) after(%[[PADDED]])

// =====================================================================================
// device: every window is a load at a shifted place. The twelve sums start at zero, stay in
// registers over the whole window, and are stored once. Windows slide over the six rows, so
// all is written out, and what two or three rows read is loaded once.

//     DEVICE: device.kernel @conv_2 tasks 1 {
//     DEVICE: ^bb0(%{{.+}}: index, %[[IMAGE:.+]]: memref<8x18xf32>, %[[W:.+]]: memref<4x3x3xf32>, %[[Y:.+]]: memref<4x6x16xf32>):
//     DEVICE:   scf.for %[[CHANNEL:.+]] = {{.+}} {
//     DEVICE:     %[[SUMS:.+]] = device.alloc : memref<6x2x8xf32, "vreg">
//     DEVICE:     device.apply @valu lanes 8 ins() outs(%[[SUMS]]
//     DEVICE:     affine.for %[[HALF:.+]] = 0 to 2 {
//     DEVICE:       %[[SHIFTED:.+]] = affine.apply {{.+}}(%[[HALF]])
//     DEVICE:       device.copy @load %[[IMAGE]][%{{.+}}, %[[SHIFTED]]] to %[[READ:[0-9]+]][{{.+}} count 8

// One weight for all lanes.
//     DEVICE:       device.apply @valu lanes 8 ins(%[[READ]][{{.+}}], %[[W]][%[[CHANNEL]], %{{.+}}, %{{.+}}], %[[SUMS]][{{.+}}]) outs(%[[SUMS]]
//     DEVICE:           arith.mulf
//     DEVICE:           arith.addf
//     DEVICE:     device.copy @store %[[SUMS]]{{.+}} to %[[Y]]{{.+}} count 8
