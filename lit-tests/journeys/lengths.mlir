// Rows whose number callers decide: y = relu(x . w), and the sum of its rows, in every dialect.
//
// README: read this after mlp.mlir. `seq` is a name that the model's author gave to a dimension. All
// tensors are laid out for the most rows that there may be, 40; how many there are in a run is a
// number that code asks for. So one program does all of them, and what is proved about it for 40 rows
// (that buffers do not overlap, that waits keep every order) holds for fewer.
//
// RUN: weft-opt %s | FileCheck %s --check-prefix=GRAPH
// RUN: weft-opt %s --graph-to-tile --tile-fuse-elementwise --tile-pack-weights --tile-construct-rtiles -o %t.tile
// RUN: FileCheck %s --check-prefix=TILE < %t.tile
//
// An rTask of 8 rows in the place of all 40, so that both units have work.
// RUN: sed 's/"l2"\[40, 6/"l2"[8, 6/' %t.tile > %t.edited
// RUN: weft-opt %t.edited --tile-to-task=split-cycles=0 -o %t.task
// RUN: FileCheck %s --check-prefix=TASK < %t.task
// RUN: weft-opt %t.task --task-check-order --device-expand-math --tile-to-device -o %t.device
// RUN: FileCheck %s --check-prefix=DEVICE < %t.device
//
// RUN: weft-opt %t.tile --verify-roundtrip -o /dev/null
// RUN: weft-opt %t.task --verify-roundtrip -o /dev/null
// RUN: weft-opt %t.device --verify-roundtrip -o /dev/null

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf", "arith.maximumf"]) reductions(["arith.addf"])
  device.instruction @fma on @core operands([@dram, @vreg, @vreg]) issue_cycles(0.5) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f32>, %b: tensor<8xf32>, %c: tensor<8xf32>):
    %d = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<f32>, tensor<8xf32>) outs(%c : tensor<8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    device.yield %d : tensor<8xf32>
  } lowering {
  ^bb0(%a: f32, %b: vector<8xf32>, %c: vector<8xf32>):
    %s = vector.broadcast %a : f32 to vector<8xf32>
    %d = vector.fma %s, %b, %c : vector<8xf32>
    device.yield %d : vector<8xf32>
  }
}

graph.symbol "seq" from 1 to 40
graph.model @rows inputs ["x"] outputs ["y", "z"] lengths [["seq", ""], ["seq", ""], [""]] {
^bb0(%x: tensor<40x24xf32>):
  %w = graph.constant dense<1.0> : tensor<24x48xf32> -> tensor<24x48xf32>
  %h = graph.op "MatMul" "mm"(%x, %w) : (tensor<40x24xf32>, tensor<24x48xf32>) -> tensor<40x48xf32> {
  ^bb0(%a: tensor<40x24xf32>, %b: tensor<24x48xf32>):
    %e = tensor.empty() : tensor<40x48xf32>
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {graph.lengths = ["seq", ""], indexing_maps = [affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<40x48xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<40x48xf32>
    %r = linalg.generic {graph.lengths = ["seq", "", ""],
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<40x24xf32>, tensor<24x48xf32>) outs(%f : tensor<40x48xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32):
      %u = arith.mulf %p, %q : f32
      %v = arith.addf %s, %u : f32
      linalg.yield %v : f32
    } -> tensor<40x48xf32>
    graph.yield %r : tensor<40x48xf32>
  }
  %y = graph.op "Relu" "relu"(%h) : (tensor<40x48xf32>) -> tensor<40x48xf32> {
  ^bb0(%a: tensor<40x48xf32>):
    %e = tensor.empty() : tensor<40x48xf32>
    %r = linalg.generic {graph.lengths = ["seq", ""], indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<40x48xf32>) outs(%e : tensor<40x48xf32>) {
    ^bb0(%p: f32, %o: f32):
      %z = arith.constant 0.0 : f32
      %t = arith.maximumf %p, %z : f32
      linalg.yield %t : f32
    } -> tensor<40x48xf32>
    graph.yield %r : tensor<40x48xf32>
  }
  %c = graph.op "ReduceSum" "sum"(%y) : (tensor<40x48xf32>) -> tensor<48xf32> {
  ^bb0(%a: tensor<40x48xf32>):
    %e = tensor.empty() : tensor<48xf32>
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [affine_map<(n) -> (n)>], iterator_types = ["parallel"]} outs(%e : tensor<48xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<48xf32>
    %r = linalg.generic {graph.lengths = ["", "seq"], indexing_maps = [affine_map<(j, i) -> (i, j)>, affine_map<(j, i) -> (j)>], iterator_types = ["parallel", "reduction"]} ins(%a : tensor<40x48xf32>) outs(%f : tensor<48xf32>) {
    ^bb0(%p: f32, %o: f32):
      %t = arith.addf %p, %o : f32
      linalg.yield %t : f32
    } -> tensor<48xf32>
    graph.yield %r : tensor<48xf32>
  }
  graph.output %y, %c : tensor<40x48xf32>, tensor<48xf32>
}

// =====================================================================================
// graph: the name with the numbers that it may stand for, the ports' lengths, and for each nest how
// many points of an axis there are. Empty where it is all of them. A sum adds up what is there.

//       GRAPH: graph.symbol "seq" from 1 to 40
//       GRAPH: graph.model @rows inputs ["x"] outputs ["y", "z"] lengths {{.}}["seq", ""], ["seq", ""], [""]] {
//       GRAPH:   linalg.generic {{.+}} iterator_types = ["parallel", "parallel", "reduction"]} {{.+}} {graph.lengths = ["seq", "", ""]}
//       GRAPH:   linalg.generic {{.+}} iterator_types = ["parallel", "reduction"]} {{.+}} {graph.lengths = ["", "seq"]}

// =====================================================================================
// tile: tiles are chosen for 40 rows, for 25 of them and for 5. Weights are packed as always; their layout knows no length.

//        TILE: graph.symbol "seq" from 1 to 40
//        TILE: tile.graph @rows {{.+}} lengths
//        TILE: tile.kernel @matmul_0_relu {
//        TILE:   tile.compute {{.+}} on @fma lanes 3 tiles [#tile.rtile<"l2"[40, 6, 24, 8]>, #tile.rtile<"vreg"[5, 2, 1, 8]>]
//        TILE:     linalg.generic {{.+}} {graph.lengths = ["seq", "", "", ""]}

// =====================================================================================
// task: a unit does a part of as many rTasks as there are. What comes behind waits for every part,
// for any of them may have the rows that it reads.

//        TASK: task.program @rows {{.+}} lengths
//        TASK:   %[[ONE:.+]] = task.range "mm+relu" @matmul_0_relu[0 to 5] part 0 of 2 on 0({{.+}}) after()
//        TASK:   %[[TWO:.+]] = task.range "mm+relu" @matmul_0_relu[0 to 5] part 1 of 2 on 1({{.+}}) after()
//        TASK:   task.range "sum" @reducesum_0[0 to 1] on {{.}}({{.+}}) after(%[[ONE]], %[[TWO]])

// =====================================================================================
// device: how many rTasks there are, and loops up to the length: whole tiles of 5 rows; where more
// than half of one is left, a tile of 4, whose rows behind the last are the last once more; then tiles of 2
// and 1, which have code of their own. No row behind the last is touched.

//      DEVICE: device.kernel @reducesum_0 tasks 1 length "1" {
//      DEVICE:   %[[ROWS:.+]] = device.length "seq"
//      DEVICE:   scf.for %{{.+}} = %{{.+}} to %[[ROWS]] step
//      DEVICE: device.kernel @matmul_0_relu tasks 5 length "ceil(seq, 8)" {
//      DEVICE:   device.length "seq"
//      DEVICE:   arith.minui
//      DEVICE:   scf.for
//      DEVICE:   device.alloc : memref<5x2x1x8xf32, "vreg">
//      DEVICE:   scf.if
//      DEVICE:   device.alloc : memref<4x2x1x8xf32, "vreg">
//      DEVICE:   arith.minui
//      DEVICE:   device.alloc : memref<2x2x1x8xf32, "vreg">
//      DEVICE:   device.alloc : memref<2x1x8xf32, "vreg">
