// N-2. What a pass may get wrong, a checker sees. Every line below puts one fault in the text that a
// stage made: the next tool refuses it and says why, or the answer differs from the right one.
//
// tile: a tile is larger than what is around it, or than the registers.
// RUN: weft-opt %s --graph-to-tile --tile-construct-rtiles -o %t.tile
// RUN: sed 's/"spad"\[1728, 3\]/"spad"[4096, 3]/' %t.tile | not weft-opt 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: sed 's/"vreg"\[64, 1\]/"vreg"[256, 1]/' %t.tile | not weft-opt 2>&1 | FileCheck %s --check-prefix=REGISTERS
// LARGE: error: the rTile in @spad is 4096 long on axis 0, in one of 4000 in @dram
// REGISTERS: error: the accumulators of [256, 1] take 1024 bytes of @vreg, which has 512

// task: a wait is dropped or goes in a circle, more units spin than there are, buffers overlap.
// RUN: weft-opt %t.tile --tile-to-task=policy=text -o %t.task
// RUN: sed '/"rest"/s/after(%[0-9]*)/after()/' %t.task | not weft-opt 2>&1 | FileCheck %s --check-prefix=DROPPED
// RUN: sed '/"square"/s/after(%[0-9]*)/after(%%7)/' %t.task | not weft-opt 2>&1 | FileCheck %s --check-prefix=CIRCLE
// RUN: sed 's/units 2/units 3/' %t.task | not weft-opt 2>&1 | FileCheck %s --check-prefix=UNITS
// RUN: sed 's/at 16000 in/at 15936 in/' %t.task | not weft-opt 2>&1 | FileCheck %s --check-prefix=OVERLAP
// RUN: sed 's/arena 32000/arena 31999/' %t.task | not weft-opt 2>&1 | FileCheck %s --check-prefix=ARENA
// DROPPED: error: "rest"[0 to 1] reads what "square"[0 to 1] writes, and no token orders them
// CIRCLE: error: "square"[0 to 1] waits for "rest"[0 to 1], and "rest"[0 to 1] for "square"[0 to 1]
// UNITS: error: task.program needs 3 of @core, the machine has 2
// OVERLAP: error: "square"[0 to 1] writes bytes that another operand also holds
// ARENA: error: task.buffer ends at byte 32000 of an arena of 31999

// device: a halo is one element short, nobody waits for a transfer, two operands change places.
// RUN: weft-opt %t.task --tile-to-device -o %t.device.mlir
// RUN: weft simulate %t.device.mlir --outputs %t.right.npz
// RUN: sed 's/sizes \[1730\]/sizes [1729]/' %t.device.mlir > %t.halo.mlir
// RUN: not weft simulate %t.halo.mlir 2>&1 | FileCheck %s --check-prefix=HALO
// RUN: sed '/device.wait/d' %t.device.mlir > %t.wait.mlir
// RUN: not weft simulate %t.wait.mlir 2>&1 | FileCheck %s --check-prefix=WAIT
// RUN: sed 's/ins(\(%[0-9]*\[[^]]*\]\), \(%[0-9]*\[[^]]*\]\)) outs/ins(\2, \1) outs/' %t.device.mlir > %t.swapped.mlir
// RUN: not weft simulate %t.swapped.mlir --expect %t.right.npz 2>&1 | FileCheck %s --check-prefix=SWAPPED
// HALO: device.copy @load {{.+}} reads elements 1729 to 1730 of buffer {{.+}} in @spad, which nothing has written
// WAIT: device.copy @load {{.+}} in @spad, which operation {{.+}}, device.transfer @in still writes on engine dma
// SWAPPED: error: output `y` differs in 4000 of 4000 elements

// Without a fault, all of them are content.
// RUN: weft-opt %t.tile -o /dev/null
// RUN: weft-opt %t.task --task-check-order -o /dev/null
// RUN: weft simulate %t.device.mlir --expect %t.right.npz | FileCheck %s --check-prefix=RIGHT
// RIGHT: as expected

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
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf", "arith.subf"]) reductions(["arith.addf"])
}



// A weighted sum of three neighbours, less its square.
#m = affine_map<(i) -> (i)>
#window = affine_map<(i, r) -> (i + r)>
#tap = affine_map<(i, r) -> (r)>
#point = affine_map<(i, r) -> (i)>

graph.model @rest inputs ["x", "w"] outputs ["y"] {
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
  %g = graph.op "Square" "square"(%h) : (tensor<4000xf32>) -> tensor<4000xf32> {
  ^bb0(%a: tensor<4000xf32>):
    %e = tensor.empty() : tensor<4000xf32>
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%a : tensor<4000xf32>) outs(%e : tensor<4000xf32>) {
    ^bb0(%p: f32, %o: f32):
      %t = arith.mulf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<4000xf32>
    graph.yield %r : tensor<4000xf32>
  }
  %y = graph.op "Sub" "rest"(%h, %g) : (tensor<4000xf32>, tensor<4000xf32>) -> tensor<4000xf32> {
  ^bb0(%a: tensor<4000xf32>, %b: tensor<4000xf32>):
    %e = tensor.empty() : tensor<4000xf32>
    %r = linalg.generic {indexing_maps = [#m, #m, #m], iterator_types = ["parallel"]} ins(%a, %b : tensor<4000xf32>, tensor<4000xf32>) outs(%e : tensor<4000xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.subf %p, %q : f32
      linalg.yield %t : f32
    } -> tensor<4000xf32>
    graph.yield %r : tensor<4000xf32>
  }
  graph.output %y : tensor<4000xf32>
}
