// A weighted sum of three neighbours and its square, in a local buffer that holds a part of them.
//
// RUN: weft-opt %s --graph-to-tile --tile-split-instances="instances=all remarks=true" -o %t.tile 2> %t.said
// RUN: FileCheck %s --check-prefix=SAID < %t.said
// RUN: FileCheck %s --check-prefix=TILE < %t.tile
// RUN: weft-opt %t.tile --verify-roundtrip --tile-construct-rtiles --tile-connect-edges --tile-join-kernels --tile-to-task -o %t.task
// RUN: FileCheck %s --check-prefix=TASK < %t.task
// RUN: weft-opt %t.task --task-check-order --tile-to-device | FileCheck %s --check-prefix=DEVICE
// RUN: weft-opt %s --graph-to-tile --tile-split-instances=instances=none | FileCheck %s --check-prefix=NONE
// RUN: sed 's/strided fills/fills/' %s | not weft-opt --graph-to-tile --tile-split-instances=instances=all 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not weft-opt %s --graph-to-tile --tile-split-instances=instances=some 2>&1 | FileCheck %s --check-prefix=SOME

device.machine @near arch("near") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @spad scope("core") capacity_bytes(16384) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2) clock_mhz(1000)
  device.engine @dma on @core queue(8)
  device.move @in from @dram to @spad engine(@dma) bytes_per_cycle(8) latency_cycles(20) strided fills
  device.move @out from @spad to @dram engine(@dma) bytes_per_cycle(8) latency_cycles(20) strided
  device.move @load from @spad to @vreg issue_cycles(1.0) latency_cycles(3) strided
  device.move @store from @vreg to @spad issue_cycles(1.0) latency_cycles(3) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}

#m = affine_map<(i) -> (i)>
#window = affine_map<(i, r) -> (i + r)>
#tap = affine_map<(i, r) -> (r)>
#point = affine_map<(i, r) -> (i)>

graph.model @stencil inputs ["x", "w"] outputs ["y"] {
^bb0(%x: tensor<4002xf32>, %w: tensor<3xf32>):
  %h = graph.op "Sum" "sum"(%x, %w) : (tensor<4002xf32>, tensor<3xf32>) -> tensor<4000xf32> {
  ^bb0(%a: tensor<4002xf32>, %b: tensor<3xf32>):
    %e = tensor.empty() : tensor<4000xf32>
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%e : tensor<4000xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<4000xf32>
    %r = linalg.generic {indexing_maps = [#window, #tap, #point], iterator_types = ["parallel", "reduction"]}
        ins(%a, %b : tensor<4002xf32>, tensor<3xf32>) outs(%f : tensor<4000xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      %u = arith.addf %o, %t : f32
      linalg.yield %u : f32
    } -> tensor<4000xf32>
    graph.yield %r : tensor<4000xf32>
  }
  %y = graph.op "Square" "square"(%h) : (tensor<4000xf32>) -> tensor<4000xf32> {
  ^bb0(%a: tensor<4000xf32>):
    %e = tensor.empty() : tensor<4000xf32>
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%a : tensor<4000xf32>) outs(%e : tensor<4000xf32>) {
    ^bb0(%p: f32, %o: f32):
      %t = arith.mulf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<4000xf32>
    graph.yield %r : tensor<4000xf32>
  }
  graph.output %y : tensor<4000xf32>
}

// SAID: remark: "sum" to "square": 8 instances, 500 along 0 with {{[0-9]+}} cycles predicted; second {{.+}} with {{[0-9]+}}; whole {{[0-9]+}}; {{[0-9]+}} bytes at once

// An instance is one kernel: it brings what the sums of its piece read, two elements more
// than it gives, and takes the squares to their place.
// TILE: %[[Y:.+]] = tile.empty in @dram : tensor<4000xf32>
// TILE: %[[FIRST:.+]] = tile.run "sum to square" @[[KERNEL:.+]](%{{.+}}, %{{.+}}) into(%[[Y]]) : (tensor<4002xf32>, tensor<3xf32>, tensor<4000xf32>)
// TILE: tile.run "sum to square" @[[KERNEL]](%{{.+}}, %{{.+}}) into(%[[FIRST]]) at [500, 0, 500] : (tensor<4002xf32>, tensor<3xf32>, tensor<4000xf32>)
// TILE: tile.kernel @[[KERNEL]] stitched {
// TILE:   tile.empty in @spad at 0 : tensor<502xf32>
// TILE:   tile.compute {{.+}} on @in tiles
// TILE:   tile.compute {{.+}} on @in tiles
// TILE:   tile.compute {{.+}} on @valu lanes 0 tiles
// TILE:   tile.compute {{.+}} on @valu lanes 0 tiles
// TILE:   tile.compute {{.+}} on @out tiles

// Instances touch other bytes, so none waits for another.
// TASK: task.range "sum to square" @[[KERNEL:.+]][0 to 1] on 0(%{{.+}}, %{{.+}}, %{{.+}}) after()
// TASK: task.range "sum to square" @[[KERNEL]][0 to 1] on {{.}}(%{{.+}}, %{{.+}}, %{{.+}}) at [500, 0, 500] after()

// DEVICE: device.kernel @{{.+}} tasks 1 {
// DEVICE:   device.alloc at {{.+}} : memref<502xf32, "spad">
// DEVICE:   %[[X:[0-9]+]] = device.transfer @in
// DEVICE:   %[[W:[0-9]+]] = device.transfer @in
// DEVICE:   device.wait %[[X]], %[[W]]
// DEVICE:   device.apply @valu
// DEVICE:   %[[O:[0-9]+]] = device.transfer @out
// DEVICE:   device.wait %[[O]]

// NONE-NOT: stitched

// NOWHERE: error: near has no local buffer for instances
// NOWHERE: help: it is a cache of a core, or a memory of scope "core" with strided moves
// SOME: error: tile-split-instances: unknown value 'some' for option 'instances'; expected 'auto', 'all' or 'none'
