// A product on its way down to a machine whose groups of lanes share a memory of banks.
//
// README: the third reading, after mlp.mlir and padding.mlir. It shows a block tile: which
// layout keeps lanes out of each other's way, what all groups do together, and what each
// does for itself.
//
// RUN: weft-opt %s --graph-to-tile --tile-construct-rtiles=remarks=true -o %t.tile 2> %t.said
// RUN: FileCheck %s --check-prefix=SAID < %t.said
// RUN: FileCheck %s --check-prefix=TILE < %t.tile
// RUN: weft-opt %t.tile --tile-to-task --device-expand-math --tile-to-device -o %t.device
// RUN: FileCheck %s --check-prefix=DEVICE < %t.device
// RUN: weft-opt %t.device --verify-roundtrip -o /dev/null
// RUN: weft-opt %s --graph-to-tile --tile-construct-rtiles=groups=apart | FileCheck %s --check-prefix=APART

device.machine @warps arch("sm_80") features(["ptx80"]) {
  device.memory @global scope("device") capacity_bytes(1073741824) bytes_per_cycle(64)
  device.memory @smem scope("core") capacity_bytes(32768) bytes_per_cycle(128) banks(32) bank_bytes(4)
  device.memory @reg scope("warp") capacity_bytes(32640) register_bytes(128) lanes(32)
  device.unit @sm count(4) clock_mhz(1000)
  device.move @load from @global to @reg issue_cycles(1.0) latency_cycles(2000) strided fills
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

graph.model @product inputs ["a", "b"] outputs ["c"] {
^bb0(%a: tensor<199x256xf32>, %b: tensor<256x256xf32>):
  %c = graph.op "MatMul" "mm"(%a, %b) : (tensor<199x256xf32>, tensor<256x256xf32>) -> tensor<199x256xf32> {
  ^bb0(%x: tensor<199x256xf32>, %y: tensor<256x256xf32>):
    %e = tensor.empty() : tensor<199x256xf32>
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<199x256xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<199x256xf32>
    %r = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %y : tensor<199x256xf32>, tensor<256x256xf32>) outs(%f : tensor<199x256xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32):
      %u = arith.mulf %p, %q : f32
      %v = arith.addf %s, %u : f32
      linalg.yield %v : f32
    } -> tensor<199x256xf32>
    graph.yield %r : tensor<199x256xf32>
  }
  graph.output %c : tensor<199x256xf32>
}

// =====================================================================================
// tile: blocks of several groups. Each input has a layout: the axis whose neighbours lie
// side by side and the elements from row to row, by which its banks are met in turn.

// SAID: remark: @matmul_0: @fmavv, blocks of {{.+}}, groups of
// SAID: remark: @matmul_0: the input along m in @smem: {{.+}} turns of banks a step (before {{.+}}, at least {{.+}})
// SAID: remark: @matmul_0: the input along n in @smem: {{.+}} turns of banks a step (before {{.+}}, at least {{.+}})

// TILE: tile.load %{{.+}} to @smem
// TILE: tile.load %{{.+}} to @reg
// TILE: tile.compute {{.+}} on @fmavv lanes 1 tiles [#tile.rtile<"smem"[{{.+}}]>, #tile.rtile<"reg"[{{.+}}, 1]>] layouts [array<i64: {{.+}}>, array<i64: {{.+}}>]

// Where groups are to stay apart, each has the tile that it works on to itself.
// APART-NOT: layouts

// =====================================================================================
// device: every group runs the whole body. Between memories they all move together, and a
// barrier stands before and behind; to and from registers each moves its own. What lies
// behind the 199 rows is brought as zero, and never stored.

//       DEVICE: device.kernel @matmul_0 tasks {{.+}} groups {{.+}} {
//       DEVICE:   device.group
//       DEVICE:   device.fill @load
//       DEVICE:   device.alloc {{.*}}: memref<{{.+}}, "smem">
//       DEVICE:   scf.for
//       DEVICE:     device.barrier "core"
//       DEVICE:     device.transfer @stage {{.+}} limits(%{{.+}}) steps [{{.+}}] pads
//       DEVICE:     device.transfer @stage
//       DEVICE:     device.barrier "core"
//       DEVICE:     affine.for
//       DEVICE:       device.transfer @near
//       DEVICE:       device.transfer @near
//       DEVICE:       device.invoke @fmavv
//       DEVICE:   device.transfer @store {{.+}} limits(%{{.+}}) steps [1, 0, 0]
