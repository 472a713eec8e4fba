// A schedule names axes, memories and moves that are there: the field, its value and what is accepted.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// CHECK: error: the schedule's `order` has 1 of 2 axes
// CHECK: help: name all of the parallel axes, [0, 1]
// CHECK: error: the schedule's `grow` names axis 2
// CHECK: help: name each at most once of the parallel axes without lanes, [0]
// CHECK: error: the schedule's `rows` names axis 1
// CHECK: help: name each at most once of the parallel axes without lanes, [0]
// CHECK: error: the schedule's `unroll` names axis 0
// CHECK: help: name each at most once of the reduction axes without lanes, [2]
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf"]) reductions(["arith.addf"])
}
tile.kernel @axes {
^bb0(%x: tensor<4x8x2xf32>, %o: tensor<4x8xf32>):
  %c = tile.compute ins(%x) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [4, 8, 2]>, #tile.rtile<"vreg" [2, 4, 1]>]
    schedule <order = [0], grow = 2, rows = [1], unroll = [0]> : (tensor<4x8x2xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%p: tensor<4x8x2xf32>, %q: tensor<4x8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p : tensor<4x8x2xf32>) outs(%q : tensor<4x8xf32>) {
    ^bb0(%u: f32, %v: f32):
      %t = arith.addf %v, %u : f32
      linalg.yield %t : f32
    } -> tensor<4x8xf32>
    tile.yield %r : tensor<4x8xf32>
  }
  tile.yield %c : tensor<4x8xf32>
}

// -----

// CHECK: error: the schedule's `order` names axis 0 twice
// CHECK: error: the schedule stores by @store, which does not stream registers
// CHECK: help: name a move from @vreg that has `streams`, or leave it out
// CHECK: error: the schedule's `border` is @dram, which is not a cache of a unit
// CHECK: help: the machine has none; write the padded tensor first
// CHECK: error: the schedule has phases [2] for 0 inputs with borders
// CHECK: error: the schedule has 2 stages for lanes
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.negf"]) reductions([])
}
tile.kernel @names {
^bb0(%x: tensor<4x8xf32>, %o: tensor<4x8xf32>):
  %c = tile.compute ins(%x) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [4, 8]>, #tile.rtile<"vreg" [1, 4]>]
    schedule <order = [0, 0], stream = @store, border = @dram, phases = [2], stages = 2> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<4x8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x8xf32>) outs(%q : tensor<4x8xf32>) {
    ^bb0(%u: f32, %v: f32):
      %t = arith.negf %u : f32
      linalg.yield %t : f32
    } -> tensor<4x8xf32>
    tile.yield %r : tensor<4x8xf32>
  }
  tile.yield %c : tensor<4x8xf32>
}

// -----

// CHECK: error: the schedule's `neighbours` is 0
// CHECK: help: give each lane a point, by a number from 1 on, or leave it out
// CHECK: error: the schedule has 17 stages
// CHECK: help: give a number from 1, one step at a time, to 16
tile.kernel @stages {
^bb0(%x: tensor<8xf32>, %o: tensor<8xf32>):
  %c = tile.compute ins(%x) outs(%o) on @valu axes [0] tiles [#tile.rtile<"dram" [8]>, #tile.rtile<"vreg" [4]>]
    schedule <stages = 17, neighbours = 0> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<8xf32>, %q: tensor<8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<8xf32>) outs(%q : tensor<8xf32>) {
    ^bb0(%u: f32, %v: f32):
      linalg.yield %u : f32
    } -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  tile.yield %c : tensor<8xf32>
}

// -----

// CHECK: error: the schedule has `cluster`, which an instruction with axes cannot follow
// CHECK: error: the schedule has `bands`, which an instruction with axes cannot follow
// CHECK: error: the schedule's `cluster` is [2, 2]
// CHECK: help: give 1 number, above 1 along one of the axes [0], or leave it out
// CHECK: error: the schedule's `bands` is [1]
tile.kernel @clusters {
^bb0(%x: tensor<8xf32>, %o: tensor<8xf32>):
  %c = tile.compute ins(%x) outs(%o) on @valu axes [0] tiles [#tile.rtile<"dram" [8]>, #tile.rtile<"vreg" [4]>]
    schedule <cluster = [2, 2], bands = [1]> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<8xf32>, %q: tensor<8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<8xf32>) outs(%q : tensor<8xf32>) {
    ^bb0(%u: f32, %v: f32):
      linalg.yield %u : f32
    } -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  tile.yield %c : tensor<8xf32>
}

// -----

// What no code would follow is refused.
// CHECK: error: the schedule has `order`, which a move cannot follow
// CHECK: help: leave the schedule out
// CHECK: error: the schedule has `stream`, which a move cannot follow
// CHECK: error: the schedule's `border` is @vreg, which is not a cache of a unit
// CHECK: help: name one of @l1
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @l1 scope("core") capacity_bytes(4096) caches(@dram) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.move @past from @vreg to @dram issue_cycles(1.0) latency_cycles(2) streams
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf"]) reductions(["arith.addf"])
}
tile.kernel @copied {
^bb0(%x: tensor<4x8xf32>, %o: tensor<4x8xf32>):
  %c = tile.compute ins(%x) outs(%o) on @load tiles [#tile.rtile<"vreg" [4, 8]>]
    schedule <order = [1, 0], stream = @past> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<4x8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x8xf32>) outs(%q : tensor<4x8xf32>) {
    ^bb0(%u: f32, %v: f32):
      linalg.yield %u : f32
    } -> tensor<4x8xf32>
    tile.yield %r : tensor<4x8xf32>
  }
  tile.yield %c : tensor<4x8xf32>
}
tile.kernel @registers {
^bb0(%x: tensor<4x8xf32>, %o: tensor<4x8xf32>):
  %c = tile.compute ins(%x) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [4, 8]>, #tile.rtile<"vreg" [1, 4]>]
    schedule <border = @vreg> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<4x8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x8xf32>) outs(%q : tensor<4x8xf32>) {
    ^bb0(%u: f32, %v: f32):
      linalg.yield %u : f32
    } -> tensor<4x8xf32>
    tile.yield %r : tensor<4x8xf32>
  }
  tile.yield %c : tensor<4x8xf32>
}

// -----

// CHECK: error: the schedule has `rows`, which an instruction with axes cannot follow
// CHECK: help: leave it out; there are `order`, `stages` and `operands`
// CHECK: error: the schedule has `unroll`, which an instruction with axes cannot follow
tile.kernel @matrix {
^bb0(%x: tensor<4x8xf32>, %o: tensor<4xf32>):
  %c = tile.compute ins(%x) outs(%o) on @mac axes [0, 1] tiles [#tile.rtile<"dram" [4, 8]>, #tile.rtile<"acc" [2, 8]>]
    schedule <order = [0], rows = [0], unroll = [1], stages = 2> : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4x8xf32>) outs(%q : tensor<4xf32>) {
    ^bb0(%u: f32, %v: f32):
      %t = arith.addf %v, %u : f32
      linalg.yield %t : f32
    } -> tensor<4xf32>
    tile.yield %r : tensor<4xf32>
  }
  tile.yield %c : tensor<4xf32>
}

// -----

// CHECK: error: the schedule has `spread`, which a group of lanes by itself cannot follow
// CHECK: error: the schedule spreads lanes by [2, 3] over tiles of [2, 4]
// CHECK: help: give a divisor of each size of the last rTile
// CHECK: error: the schedule has `order`, which lanes whose groups share tiles cannot follow
// CHECK: help: leave it out; there are `spread`, `stages`, `ahead` and `operands`
// CHECK: error: the schedule spreads lanes by [1, 2]; @vreg has 4
// CHECK: help: give numbers whose product is 4
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @vreg scope("warp") capacity_bytes(512) register_bytes(16) lanes(4)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf"]) reductions(["arith.addf"])
}
tile.kernel @alone {
^bb0(%x: tensor<4x8xf32>, %o: tensor<4x8xf32>):
  %c = tile.compute ins(%x) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [4, 8]>, #tile.rtile<"vreg" [2, 4]>]
    schedule <spread = [2, 3]> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<4x8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x8xf32>) outs(%q : tensor<4x8xf32>) {
    ^bb0(%u: f32, %v: f32):
      linalg.yield %u : f32
    } -> tensor<4x8xf32>
    tile.yield %r : tensor<4x8xf32>
  }
  tile.yield %c : tensor<4x8xf32>
}
tile.kernel @shared {
^bb0(%x: tensor<4x8xf32>, %o: tensor<4x8xf32>):
  %c = tile.compute ins(%x) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [4, 8]>, #tile.rtile<"vreg" [2, 4]>]
    layouts [array<i64: 1, 8>] schedule <order = [1, 0], spread = [1, 2]> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<4x8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4x8xf32>) outs(%q : tensor<4x8xf32>) {
    ^bb0(%u: f32, %v: f32):
      linalg.yield %u : f32
    } -> tensor<4x8xf32>
    tile.yield %r : tensor<4x8xf32>
  }
  tile.yield %c : tensor<4x8xf32>
}
