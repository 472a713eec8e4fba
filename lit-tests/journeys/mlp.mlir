// One layer on its way down: relu(x . w + b), in every dialect in turn.
//
// README: the best first reading. The program below is what somebody wrote; the text
// that each stage makes of it stands in comments beside it, and is checked. To see all of a
// stage, run its line:
//
// RUN: weft-opt %s | FileCheck %s --check-prefix=GRAPH
// RUN: weft-opt %s --graph-to-tile --tile-fuse-elementwise --tile-pack-weights --tile-construct-rtiles -o %t.tile
// RUN: FileCheck %s --check-prefix=TILE < %t.tile
// RUN: weft-opt %t.tile --tile-to-task -o %t.task
// RUN: FileCheck %s --check-prefix=TASK < %t.task
// RUN: weft-opt %t.task --device-expand-math --tile-to-device -o %t.device
// RUN: FileCheck %s --check-prefix=DEVICE < %t.device
//
// Every stage is text like this one, so each can be edited before the next pass runs.
// RUN: weft-opt %t.tile --verify-roundtrip -o /dev/null
// RUN: weft-opt %t.task --verify-roundtrip -o /dev/null
// RUN: weft-opt %t.device --verify-roundtrip -o /dev/null

// The machine is part of the program. This one has 2 cores and 16 registers of 8 floats.
// Its lane unit applies an operation to all lanes of a register; @fma multiplies a
// register by one number and adds, which its meaning says in the language of kernels.
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

// =====================================================================================
// graph: what is computed. Operators on whole tensors; no memory, no machine.
//
// What an operator computes is its payload. Nothing below this stage reads "Gemm".
// Weights are names: the file, the tensor, a hash of its content.

//       GRAPH: graph.model @layer inputs ["x"] outputs ["y"] {
//       GRAPH:   %[[W:.+]] = graph.weight "w" in "model" hash "c0ffee" : tensor<6x32xf32>
//       GRAPH:   %[[H:.+]] = graph.op "Gemm" "fc"(%{{.+}}, %[[W]], %{{.+}})
//       GRAPH:   graph.op "Relu" "relu"(%[[H]])
graph.model @layer inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<4x6xf32>):
  %w = graph.weight "w" in "model" hash "c0ffee" : tensor<6x32xf32>
  %b = graph.weight "b" in "model" hash "5eed" : tensor<32xf32>
  %h = graph.op "Gemm" "fc"(%x, %w, %b) : (tensor<4x6xf32>, tensor<6x32xf32>, tensor<32xf32>) -> tensor<4x32xf32> {
  ^bb0(%a: tensor<4x6xf32>, %m: tensor<6x32xf32>, %c: tensor<32xf32>):
    %e = tensor.empty() : tensor<4x32xf32>
    // The bias in every row ...
    %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%c : tensor<32xf32>) outs(%e : tensor<4x32xf32>) {
    ^bb0(%p: f32, %o: f32):
      linalg.yield %p : f32
    } -> tensor<4x32xf32>
    // ... is where the sums start.
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %m : tensor<4x6xf32>, tensor<6x32xf32>) outs(%s : tensor<4x32xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.mulf %p, %q : f32
      %u = arith.addf %o, %t : f32
      linalg.yield %u : f32
    } -> tensor<4x32xf32>
    graph.yield %r : tensor<4x32xf32>
  }
  %y = graph.op "Relu" "relu"(%h) : (tensor<4x32xf32>) -> tensor<4x32xf32> {
  ^bb0(%a: tensor<4x32xf32>):
    %e = tensor.empty() : tensor<4x32xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<4x32xf32>) outs(%e : tensor<4x32xf32>) {
    ^bb0(%p: f32, %o: f32):
      %z = arith.constant 0.0 : f32
      %t = arith.maximumf %p, %z : f32
      linalg.yield %t : f32
    } -> tensor<4x32xf32>
    graph.yield %r : tensor<4x32xf32>
  }
  graph.output %y : tensor<4x32xf32>
}

// =====================================================================================
// tile: how a piece is done. Three loop nests became one kernel: the bias starts the sum, and
// relu is done to a sum before it is stored. The kernel hangs in a tile-graph.

//        TILE: tile.graph @layer
//        TILE:   %[[W:.+]] = graph.weight "w"

// The weight is known, so it may lie as its readers like it: the 32 columns in four
// panels of one register, a kernel of its own.
//        TILE:   %[[CUT:.+]] = tile.view %[[W]] : tensor<6x32xf32> to tensor<6x4x8xf32>
//        TILE:   %[[PANELS:.+]] = tile.run "fc+relu" @gemm_0_relu_pack_1(%[[CUT]])
//        TILE:   tile.run "fc+relu" @gemm_0_relu(%arg0, %[[PANELS]], %{{.+}})
//    TILE-NOT:   tile.run

// @fma means the body of the sum. Axes: row, panel, sum, column of a panel. The lanes run along
// the columns; the rTile in registers is 2 rows of all 4 panels, which are 8 sums under way.
//        TILE: tile.kernel @gemm_0_relu {
//        TILE:   tile.load %arg0 to @dram : tensor<4x6xf32>
//        TILE:   tile.load %arg1 to @vreg : tensor<4x6x8xf32>
//        TILE:   tile.compute {{.+}} on @fma lanes 3 tiles [#tile.rtile<"l2"[4, 4, 6, 8]>, #tile.rtile<"vreg"[2, 4, 1, 8]>]

// The epilogue: no instruction is a maximum, so the lane unit will do it.
//        TILE:     %[[SUM:.+]] = linalg.generic {{.+}}"reduction"
//        TILE:     linalg.generic {{.+}} outs(%[[SUM]] : tensor<4x4x8xf32>)
//        TILE:       arith.maximumf

// =====================================================================================
// task: who does it, when. Kernels are as before; around them stand buffers with places,
// ranges of rTasks on units, and what each waits for.

//        TASK: task.program @layer on @core units 2 arena 0
//        TASK:   %[[X:.+]] = task.input 0 "x" : memref<4x6xf32>
//        TASK:   %[[Y:.+]] = task.output 0 "y" : memref<4x32xf32>

// What depends on weights alone is no task: it is evaluated when the artifact is written.
//        TASK:   %[[PANELS:.+]] = task.constant "fc+relu" @gemm_0_relu_pack_1(

// Nothing is in between: the range reads and writes the caller's own memory.
//        TASK:   %[[TO:.+]] = task.view %[[Y]] : memref<4x32xf32> to memref<4x4x8xf32>
//        TASK:   task.range "fc+relu" @gemm_0_relu[0 to 1] on 0(%[[X]], %[[PANELS]], %{{.+}}, %[[TO]]) after()

// =====================================================================================
// device: with which instructions. The task program is as it was; kernels are loops, moves
// and instructions of the machine. Loops over registers are affine.for, and are unrolled.

//      DEVICE: task.program @layer
//      DEVICE: device.kernel @gemm_0_relu tasks 1 {
//      DEVICE: ^bb0(%{{.+}}: index, %[[X:.+]]: memref<4x6xf32>, %[[W:.+]]: memref<4x6x8xf32>, %[[BIAS:.+]]: memref<4x8xf32>, %[[O:.+]]: memref<4x4x8xf32>):
//      DEVICE:   scf.for %[[TWO:.+]] = {{.+}} {

// 2 rows of 4 registers of 8 lanes start with the bias.
//      DEVICE:     %[[C:.+]] = device.alloc : memref<2x4x1x8xf32, "vreg">
//      DEVICE:     device.copy @load %[[BIAS]][%{{.+}}] to {{.+}} count 8
//      DEVICE:     device.apply @valu lanes 8 {{.+}} outs(%[[C]][

// For every element of the sum: a register of each panel, used by both rows.
//      DEVICE:     scf.for %[[K:.+]] = {{.+}} {
//      DEVICE:       %[[B:.+]] = device.alloc : memref<4x1x8xf32, "vreg">
//      DEVICE:       affine.for %[[PANEL:.+]] = 0 to 4 {
//      DEVICE:         device.copy @load %[[W]][%[[PANEL]], %[[K]], %{{.+}}] to %[[B]][%[[PANEL]]{{.+}} count 8
//      DEVICE:       affine.for %[[R:.+]] = 0 to 2 {
//      DEVICE:         affine.for %[[COLUMN:.+]] = 0 to 4 {
//      DEVICE:           %[[ROW:.+]] = affine.apply #{{.+}}(%[[TWO]], %[[R]])
//      DEVICE:           device.invoke @fma(%[[X]][%[[ROW]], %[[K]]], %[[B]][%[[COLUMN]], {{.+}}], %[[C]][%[[R]], %[[COLUMN]], {{.+}}])

// The epilogue on each register, and away with it.
//      DEVICE:     device.apply @valu lanes 8 ins(%[[C]]{{.+}}) outs(%[[C]]
//      DEVICE:       arith.maximumf
//      DEVICE:     device.copy @store %[[C]]{{.+}} to %[[O]]{{.+}} count 8

// From here the code generator inlines what @fma lowers to, and LLVM does the rest:
// `weft compile FILE --emit asm` shows it.
