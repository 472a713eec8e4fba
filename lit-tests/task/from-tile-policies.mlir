// Whose order is followed, what waits for what, and where a program is cut in launches.
// RUN: weft-opt %s --tile-to-task=policy=text | FileCheck %s --check-prefix=TEXT
// RUN: weft-opt %s --tile-to-task=policy=critical | FileCheck %s --check-prefix=CRITICAL
// RUN: weft-opt %s --tile-to-task="policy=wavefront split-cycles=0" | FileCheck %s --check-prefix=WAVES
// RUN: weft-opt %s --tile-to-task="policy=text launches=each" | FileCheck %s --check-prefix=EACH
// RUN: weft-opt %s --tile-to-task="policy=text split-cycles=0" | FileCheck %s --check-prefix=POINTS
// RUN: weft-opt %s --tile-to-task="policy=text split-cycles=0 waits=operators" | FileCheck %s --check-prefix=WHOLE
// RUN: weft-opt %s --tile-to-task="policy=wavefront remarks=true split-cycles=0" 2>&1 | FileCheck %s --check-prefix=SAID
// RUN: not weft-opt %s --tile-to-task=policy=fifo 2>&1 | FileCheck %s --check-prefix=WORD

#id = affine_map<(i) -> (i)>
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(2) wait_cycles(4) launch_cycles(1000)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}

// A short branch, then the first of a chain of two.
tile.graph @g inputs ["x"] outputs ["y", "z"] : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "short" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %f = tile.empty in @dram : tensor<64xf32>
  %h = tile.run "first" @twice(%x) into(%f) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %g = tile.empty in @dram : tensor<64xf32>
  %z = tile.run "second" @twice(%h) into(%g) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y, %z : tensor<64xf32>, tensor<64xf32>
}

// TEXT-NOT: task.launch
// TEXT: task.range "short" @twice[0 to 4] on 0
// TEXT: task.range "first" @twice[0 to 4] on 1
// TEXT: task.range "second" @twice[0 to 4] on 1

// The chain first, and the short branch beside it.
// CRITICAL: task.range "first" @twice[0 to 4] on 0
// CRITICAL: task.range "short" @twice[0 to 4] on 1
// CRITICAL: task.range "second" @twice[0 to 4] on 0

// What a launch costs is more than to wait.
// WAVES-NOT: task.launch
// WAVES: task.range "short" @twice[0 to 2] on 0
// WAVES: task.range "short" @twice[2 to 4] on 1
// WAVES: %[[A:.+]] = task.range "first" @twice[0 to 2] on 0
// WAVES: %[[B:.+]] = task.range "first" @twice[2 to 4] on 1
// WAVES: task.range "second" @twice[0 to 2] on 0({{.*}}) after(%[[A]])
// WAVES: task.range "second" @twice[2 to 4] on 1({{.*}}) after(%[[B]])

// EACH: task.range "short"
// EACH-NEXT: task.launch
// EACH: task.range "first"
// EACH: task.launch
// EACH: task.range "second"

// POINTS: %[[A:.+]] = task.range "first" @twice[0 to 2] on 0
// POINTS: %[[B:.+]] = task.range "first" @twice[2 to 4] on 1
// POINTS: task.range "second" @twice[0 to 2] on 0({{.*}}) after(%[[A]])
// POINTS: task.range "second" @twice[2 to 4] on 1({{.*}}) after(%[[B]])

// WHOLE: %[[A:.+]] = task.range "first" @twice[0 to 2] on 0
// WHOLE: %[[B:.+]] = task.range "first" @twice[2 to 4] on 1
// WHOLE: task.range "second" @twice[0 to 2] on 0({{.*}}) after(%[[A]], %[[B]])
// WHOLE: task.range "second" @twice[2 to 4] on 1({{.*}}) after(%[[A]], %[[B]])

// SAID: remark: order by wavefront with {{[0-9]+}} cycles predicted
// SAID: remark: wave of "short", "first": the most efficient kernels, for the fastest take 8 groups of lanes of 2
// SAID: remark: wave of "second"{{.*}}; joined: {{[0-9]+}} cycles together, {{[0-9]+}} + {{[0-9]+}} apart

// WORD: unknown value 'fifo' for option 'policy' of tile-to-task; expected 'auto', 'text', 'critical', 'wavefront' or 'depth'

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
