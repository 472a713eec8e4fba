// What no kernel can be, and why.
// RUN: not weft-opt %s --split-input-file --tile-join-kernels 2>&1 | FileCheck %s

// Five sums read seven doubles: 28 bytes.
// CHECK: error: tiles of 28 bytes wait in @l2, which holds 16
// CHECK: note: {{.*}}the first rTile of this one's kernel decides them
// CHECK: they are 28 of @double at 0; take a smaller rTile or another memory
#m = affine_map<(m) -> (m)>
#taps = affine_map<(h, r) -> (h + r)>
#h = affine_map<(h, r) -> (h)>
#r = affine_map<(h, r) -> (r)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(16) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}

tile.graph @chain inputs ["x", "w"] outputs ["y"] : (tensor<12xf32>, tensor<3xf32>) -> tensor<10xf32> {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>):
  %e = tile.empty in @dram : tensor<12xf32>
  %h = tile.run "double" @double(%x) into(%e) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %n = tile.connect %h in @l2 : tensor<12xf32>
  %f = tile.empty in @dram : tensor<10xf32>
  %y = tile.run "sum" @sum(%n, %w) into(%f) : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32>
  tile.output %y : tensor<10xf32>
}
tile.kernel @double {
^bb0(%x: tensor<12xf32>, %o: tensor<12xf32>):
  %a = tile.load %x to @vreg : tensor<12xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[12]>, #tile.rtile<"vreg"[8]>] : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32> {
  ^bb0(%i: tensor<12xf32>, %j: tensor<12xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<12xf32>) outs(%j : tensor<12xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<12xf32>
    tile.yield %r : tensor<12xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<12xf32>
  tile.yield %s : tensor<12xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>, %o: tensor<10xf32>):
  %a = tile.load %x to @vreg : tensor<12xf32>
  %b = tile.load %w to @dram : tensor<3xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[5, 3]>, #tile.rtile<"vreg"[5, 1]>] : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32> {
  ^bb0(%i: tensor<12xf32>, %k: tensor<3xf32>, %j: tensor<10xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%j : tensor<10xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<10xf32>
    %r = linalg.generic {indexing_maps = [#taps, #r, #h], iterator_types = ["parallel", "reduction"]} ins(%i, %k : tensor<12xf32>, tensor<3xf32>) outs(%f : tensor<10xf32>) {
    ^bb0(%p: f32, %v: f32, %q: f32):
      %u = arith.mulf %p, %v : f32
      %t = arith.addf %q, %u : f32
      linalg.yield %t : f32
    } -> tensor<10xf32>
    tile.yield %r : tensor<10xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<10xf32>
  tile.yield %s : tensor<10xf32>
}

// -----

// Registers hold values of one compute.
// CHECK: error: @vreg holds registers of one compute, no tile of a tensor
#m = affine_map<(m) -> (m)>
#taps = affine_map<(h, r) -> (h + r)>
#h = affine_map<(h, r) -> (h)>
#r = affine_map<(h, r) -> (r)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(4096) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}

tile.graph @chain inputs ["x", "w"] outputs ["y"] : (tensor<12xf32>, tensor<3xf32>) -> tensor<10xf32> {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>):
  %e = tile.empty in @dram : tensor<12xf32>
  %h = tile.run "double" @double(%x) into(%e) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %n = tile.connect %h in @vreg : tensor<12xf32>
  %f = tile.empty in @dram : tensor<10xf32>
  %y = tile.run "sum" @sum(%n, %w) into(%f) : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32>
  tile.output %y : tensor<10xf32>
}
tile.kernel @double {
^bb0(%x: tensor<12xf32>, %o: tensor<12xf32>):
  %a = tile.load %x to @vreg : tensor<12xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[12]>, #tile.rtile<"vreg"[8]>] : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32> {
  ^bb0(%i: tensor<12xf32>, %j: tensor<12xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<12xf32>) outs(%j : tensor<12xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<12xf32>
    tile.yield %r : tensor<12xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<12xf32>
  tile.yield %s : tensor<12xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>, %o: tensor<10xf32>):
  %a = tile.load %x to @vreg : tensor<12xf32>
  %b = tile.load %w to @dram : tensor<3xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[5, 3]>, #tile.rtile<"vreg"[5, 1]>] : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32> {
  ^bb0(%i: tensor<12xf32>, %k: tensor<3xf32>, %j: tensor<10xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%j : tensor<10xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<10xf32>
    %r = linalg.generic {indexing_maps = [#taps, #r, #h], iterator_types = ["parallel", "reduction"]} ins(%i, %k : tensor<12xf32>, tensor<3xf32>) outs(%f : tensor<10xf32>) {
    ^bb0(%p: f32, %v: f32, %q: f32):
      %u = arith.mulf %p, %v : f32
      %t = arith.addf %q, %u : f32
      linalg.yield %t : f32
    } -> tensor<10xf32>
    tile.yield %r : tensor<10xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<10xf32>
  tile.yield %s : tensor<10xf32>
}

// -----

// The doubles are also given, and windows of two tiles share two of them.
// CHECK: error: @double makes some elements for several tiles, and what it makes is also read outside
// CHECK: connect all its readers, or none
#m = affine_map<(m) -> (m)>
#taps = affine_map<(h, r) -> (h + r)>
#h = affine_map<(h, r) -> (h)>
#r = affine_map<(h, r) -> (r)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(4096) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}

tile.graph @chain inputs ["x", "w"] outputs ["y", "h"] : (tensor<12xf32>, tensor<3xf32>) -> (tensor<10xf32>, tensor<12xf32>) {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>):
  %e = tile.empty in @dram : tensor<12xf32>
  %h = tile.run "double" @double(%x) into(%e) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %n = tile.connect %h in @l2 : tensor<12xf32>
  %f = tile.empty in @dram : tensor<10xf32>
  %y = tile.run "sum" @sum(%n, %w) into(%f) : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32>
  tile.output %y, %h : tensor<10xf32>, tensor<12xf32>
}
tile.kernel @double {
^bb0(%x: tensor<12xf32>, %o: tensor<12xf32>):
  %a = tile.load %x to @vreg : tensor<12xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[12]>, #tile.rtile<"vreg"[8]>] : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32> {
  ^bb0(%i: tensor<12xf32>, %j: tensor<12xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<12xf32>) outs(%j : tensor<12xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<12xf32>
    tile.yield %r : tensor<12xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<12xf32>
  tile.yield %s : tensor<12xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>, %o: tensor<10xf32>):
  %a = tile.load %x to @vreg : tensor<12xf32>
  %b = tile.load %w to @dram : tensor<3xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[5, 3]>, #tile.rtile<"vreg"[5, 1]>] : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32> {
  ^bb0(%i: tensor<12xf32>, %k: tensor<3xf32>, %j: tensor<10xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%j : tensor<10xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<10xf32>
    %r = linalg.generic {indexing_maps = [#taps, #r, #h], iterator_types = ["parallel", "reduction"]} ins(%i, %k : tensor<12xf32>, tensor<3xf32>) outs(%f : tensor<10xf32>) {
    ^bb0(%p: f32, %v: f32, %q: f32):
      %u = arith.mulf %p, %v : f32
      %t = arith.addf %q, %u : f32
      linalg.yield %t : f32
    } -> tensor<10xf32>
    tile.yield %r : tensor<10xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<10xf32>
  tile.yield %s : tensor<10xf32>
}

// -----

// Nobody makes a tile of what leaves the graph nearby.
// CHECK: error: nothing can take a tile from @l2
#m = affine_map<(m) -> (m)>
#taps = affine_map<(h, r) -> (h + r)>
#h = affine_map<(h, r) -> (h)>
#r = affine_map<(h, r) -> (r)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(4096) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}

tile.graph @leaves inputs ["x"] outputs ["y"] : (tensor<12xf32>) -> tensor<12xf32> {
^bb0(%x: tensor<12xf32>):
  %e = tile.empty in @dram : tensor<12xf32>
  %h = tile.run "double" @double(%x) into(%e) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %n = tile.connect %h in @l2 : tensor<12xf32>
  tile.output %n : tensor<12xf32>
}
tile.kernel @double {
^bb0(%x: tensor<12xf32>, %o: tensor<12xf32>):
  %a = tile.load %x to @vreg : tensor<12xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[12]>, #tile.rtile<"vreg"[8]>] : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32> {
  ^bb0(%i: tensor<12xf32>, %j: tensor<12xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<12xf32>) outs(%j : tensor<12xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<12xf32>
    tile.yield %r : tensor<12xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<12xf32>
  tile.yield %s : tensor<12xf32>
}

// -----

// Doubled once more in the shared memory, and then needed nearby.
// CHECK: error: @sum and @double cannot be one kernel: "again" lies between them
// CHECK: an edge of theirs is handed over near a unit here
// CHECK: hand over all edges on the way, or none
#m = affine_map<(m) -> (m)>
#taps = affine_map<(h, r) -> (h + r)>
#h = affine_map<(h, r) -> (h)>
#r = affine_map<(h, r) -> (r)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(4096) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}

tile.graph @chain inputs ["x", "w"] outputs ["y"] : (tensor<12xf32>, tensor<3xf32>) -> tensor<10xf32> {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>):
  %e = tile.empty in @dram : tensor<12xf32>
  %h = tile.run "double" @double(%x) into(%e) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %d = tile.empty in @dram : tensor<12xf32>
  %g = tile.run "again" @double(%h) into(%d) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %n = tile.connect %h in @l2 : tensor<12xf32>
  %f = tile.empty in @dram : tensor<10xf32>
  %y = tile.run "sum" @sum(%n, %w, %g) into(%f) : (tensor<12xf32>, tensor<3xf32>, tensor<12xf32>, tensor<10xf32>) -> tensor<10xf32>
  tile.output %y : tensor<10xf32>
}
tile.kernel @double {
^bb0(%x: tensor<12xf32>, %o: tensor<12xf32>):
  %a = tile.load %x to @vreg : tensor<12xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[12]>, #tile.rtile<"vreg"[8]>] : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32> {
  ^bb0(%i: tensor<12xf32>, %j: tensor<12xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<12xf32>) outs(%j : tensor<12xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<12xf32>
    tile.yield %r : tensor<12xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<12xf32>
  tile.yield %s : tensor<12xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>, %unread: tensor<12xf32>, %o: tensor<10xf32>):
  %a = tile.load %x to @vreg : tensor<12xf32>
  %b = tile.load %w to @dram : tensor<3xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[5, 3]>, #tile.rtile<"vreg"[5, 1]>] : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32> {
  ^bb0(%i: tensor<12xf32>, %k: tensor<3xf32>, %j: tensor<10xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%j : tensor<10xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<10xf32>
    %r = linalg.generic {indexing_maps = [#taps, #r, #h], iterator_types = ["parallel", "reduction"]} ins(%i, %k : tensor<12xf32>, tensor<3xf32>) outs(%f : tensor<10xf32>) {
    ^bb0(%p: f32, %v: f32, %q: f32):
      %u = arith.mulf %p, %v : f32
      %t = arith.addf %q, %u : f32
      linalg.yield %t : f32
    } -> tensor<10xf32>
    tile.yield %r : tensor<10xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<10xf32>
  tile.yield %s : tensor<10xf32>
}

// -----

// A memory in which lanes stage nothing.
// CHECK: error: lanes find no tiles in @l2
// CHECK: help: hand the tensor over in the shared memory
#m = affine_map<(m) -> (m)>
#taps = affine_map<(h, r) -> (h + r)>
#h = affine_map<(h, r) -> (h)>
#r = affine_map<(h, r) -> (r)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(4096) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}

tile.graph @chain inputs ["x", "w"] outputs ["y"] : (tensor<12xf32>, tensor<3xf32>) -> tensor<10xf32> {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>):
  %e = tile.empty in @dram : tensor<12xf32>
  %h = tile.run "double" @double(%x) into(%e) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %n = tile.connect %h in @l2 : tensor<12xf32>
  %f = tile.empty in @dram : tensor<10xf32>
  %y = tile.run "sum" @sum(%n, %w) into(%f) : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32>
  tile.output %y : tensor<10xf32>
}
tile.kernel @double {
^bb0(%x: tensor<12xf32>, %o: tensor<12xf32>):
  %a = tile.load %x to @vreg : tensor<12xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[12]>, #tile.rtile<"vreg"[8]>] : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32> {
  ^bb0(%i: tensor<12xf32>, %j: tensor<12xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<12xf32>) outs(%j : tensor<12xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<12xf32>
    tile.yield %r : tensor<12xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<12xf32>
  tile.yield %s : tensor<12xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>, %o: tensor<10xf32>):
  %a = tile.load %x to @vreg : tensor<12xf32>
  %b = tile.load %w to @dram : tensor<3xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[5, 3]>, #tile.rtile<"vreg"[5, 1]>] : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32> {
  ^bb0(%i: tensor<12xf32>, %k: tensor<3xf32>, %j: tensor<10xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%j : tensor<10xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<10xf32>
    %r = linalg.generic {indexing_maps = [#taps, #r, #h], iterator_types = ["parallel", "reduction"]} ins(%i, %k : tensor<12xf32>, tensor<3xf32>) outs(%f : tensor<10xf32>) {
    ^bb0(%p: f32, %v: f32, %q: f32):
      %u = arith.mulf %p, %v : f32
      %t = arith.addf %q, %u : f32
      linalg.yield %t : f32
    } -> tensor<10xf32>
    tile.yield %r : tensor<10xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<10xf32>
  tile.yield %s : tensor<10xf32>
}

// -----

// What a block has without asking is less than the memory: 28 bytes do not fit 24 of its 64.
// CHECK: error: tiles of 28 bytes wait in @smem, which holds 24
// CHECK: they are 28 of @double at 0; take a smaller rTile or another memory
#m = affine_map<(m) -> (m)>
#taps = affine_map<(h, r) -> (h + r)>
#h = affine_map<(h, r) -> (h)>
#r = affine_map<(h, r) -> (r)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @smem scope("core") capacity_bytes(64) bytes_per_cycle(64) static_bytes(24)
  device.memory @reg scope("warp") capacity_bytes(512) register_bytes(32) lanes(8)
  device.unit @core count(2)
  device.move @load from @dram to @reg issue_cycles(0.5) latency_cycles(70) strided
  device.move @store from @reg to @dram issue_cycles(1.0) latency_cycles(70) strided
  device.move @near_load from @smem to @reg issue_cycles(0.5) latency_cycles(7) strided
  device.move @near_store from @reg to @smem issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @reg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}

tile.graph @chain inputs ["x", "w"] outputs ["y"] : (tensor<12xf32>, tensor<3xf32>) -> tensor<10xf32> {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>):
  %e = tile.empty in @dram : tensor<12xf32>
  %h = tile.run "double" @double(%x) into(%e) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %n = tile.connect %h in @smem : tensor<12xf32>
  %f = tile.empty in @dram : tensor<10xf32>
  %y = tile.run "sum" @sum(%n, %w) into(%f) : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32>
  tile.output %y : tensor<10xf32>
}
tile.kernel @double {
^bb0(%x: tensor<12xf32>, %o: tensor<12xf32>):
  %a = tile.load %x to @reg : tensor<12xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[12]>, #tile.rtile<"reg"[8]>] : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32> {
  ^bb0(%i: tensor<12xf32>, %j: tensor<12xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<12xf32>) outs(%j : tensor<12xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<12xf32>
    tile.yield %r : tensor<12xf32>
  }
  %s = tile.store %c from @reg to %o : tensor<12xf32>
  tile.yield %s : tensor<12xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>, %o: tensor<10xf32>):
  %a = tile.load %x to @reg : tensor<12xf32>
  %b = tile.load %w to @dram : tensor<3xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[5, 3]>, #tile.rtile<"reg"[5, 1]>] : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32> {
  ^bb0(%i: tensor<12xf32>, %k: tensor<3xf32>, %j: tensor<10xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%j : tensor<10xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<10xf32>
    %r = linalg.generic {indexing_maps = [#taps, #r, #h], iterator_types = ["parallel", "reduction"]} ins(%i, %k : tensor<12xf32>, tensor<3xf32>) outs(%f : tensor<10xf32>) {
    ^bb0(%p: f32, %v: f32, %q: f32):
      %u = arith.mulf %p, %v : f32
      %t = arith.addf %q, %u : f32
      linalg.yield %t : f32
    } -> tensor<10xf32>
    tile.yield %r : tensor<10xf32>
  }
  %s = tile.store %c from @reg to %o : tensor<10xf32>
  tile.yield %s : tensor<10xf32>
}

// -----

// Nothing moves elements from there to the registers.
// CHECK: error: lanes find no tiles in @smem
// CHECK: hand the tensor over in the shared memory
#m = affine_map<(m) -> (m)>
#taps = affine_map<(h, r) -> (h + r)>
#h = affine_map<(h, r) -> (h)>
#r = affine_map<(h, r) -> (r)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @smem scope("core") capacity_bytes(64) bytes_per_cycle(64) static_bytes(24)
  device.memory @reg scope("warp") capacity_bytes(512) register_bytes(32) lanes(8)
  device.unit @core count(2)
  device.move @load from @dram to @reg issue_cycles(0.5) latency_cycles(70) strided
  device.move @store from @reg to @dram issue_cycles(1.0) latency_cycles(70) strided
  device.move @near_store from @reg to @smem issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @reg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}

tile.graph @chain inputs ["x", "w"] outputs ["y"] : (tensor<12xf32>, tensor<3xf32>) -> tensor<10xf32> {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>):
  %e = tile.empty in @dram : tensor<12xf32>
  %h = tile.run "double" @double(%x) into(%e) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %n = tile.connect %h in @smem : tensor<12xf32>
  %f = tile.empty in @dram : tensor<10xf32>
  %y = tile.run "sum" @sum(%n, %w) into(%f) : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32>
  tile.output %y : tensor<10xf32>
}
tile.kernel @double {
^bb0(%x: tensor<12xf32>, %o: tensor<12xf32>):
  %a = tile.load %x to @reg : tensor<12xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[12]>, #tile.rtile<"reg"[8]>] : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32> {
  ^bb0(%i: tensor<12xf32>, %j: tensor<12xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<12xf32>) outs(%j : tensor<12xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<12xf32>
    tile.yield %r : tensor<12xf32>
  }
  %s = tile.store %c from @reg to %o : tensor<12xf32>
  tile.yield %s : tensor<12xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<12xf32>, %w: tensor<3xf32>, %o: tensor<10xf32>):
  %a = tile.load %x to @reg : tensor<12xf32>
  %b = tile.load %w to @dram : tensor<3xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[5, 3]>, #tile.rtile<"reg"[5, 1]>] : (tensor<12xf32>, tensor<3xf32>, tensor<10xf32>) -> tensor<10xf32> {
  ^bb0(%i: tensor<12xf32>, %k: tensor<3xf32>, %j: tensor<10xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#m], iterator_types = ["parallel"]} outs(%j : tensor<10xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<10xf32>
    %r = linalg.generic {indexing_maps = [#taps, #r, #h], iterator_types = ["parallel", "reduction"]} ins(%i, %k : tensor<12xf32>, tensor<3xf32>) outs(%f : tensor<10xf32>) {
    ^bb0(%p: f32, %v: f32, %q: f32):
      %u = arith.mulf %p, %v : f32
      %t = arith.addf %q, %u : f32
      linalg.yield %t : f32
    } -> tensor<10xf32>
    tile.yield %r : tensor<10xf32>
  }
  %s = tile.store %c from @reg to %o : tensor<10xf32>
  tile.yield %s : tensor<10xf32>
}

// -----

// A sum beside what makes its terms needs all of them; a tile has one column.
// CHECK: error: kernels cannot be one: a tile of member 1 reads more than the tiles that its makers have
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#own = affine_map<(i) -> (i)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(4096) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}

tile.graph @beside inputs ["x"] outputs ["s", "y"] : (tensor<8x4xf32>) -> (tensor<8xf32>, tensor<8x4xf32>) {
^bb0(%x: tensor<8x4xf32>):
  %e = tile.empty in @dram : tensor<8x4xf32>
  %h = tile.run "double" @double(%x) into(%e) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %n = tile.connect %h in @l2 : tensor<8x4xf32>
  %f = tile.empty in @dram : tensor<8xf32>
  %s = tile.run "sum" @sum(%n) into(%f) : (tensor<8x4xf32>, tensor<8xf32>) -> tensor<8xf32>
  %g = tile.empty in @dram : tensor<8x4xf32>
  %y = tile.run "double" @double(%n) into(%g) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  tile.output %s, %y : tensor<8xf32>, tensor<8x4xf32>
}
tile.kernel @double {
^bb0(%x: tensor<8x4xf32>, %o: tensor<8x4xf32>):
  %a = tile.load %x to @vreg : tensor<8x4xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[8, 1]>, #tile.rtile<"vreg"[8, 1]>] : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32> {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8x4xf32>):
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<8x4xf32>) outs(%j : tensor<8x4xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x4xf32>
    tile.yield %r : tensor<8x4xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<8x4xf32>
  tile.yield %s : tensor<8x4xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<8x4xf32>, %o: tensor<8xf32>):
  %a = tile.load %x to @vreg : tensor<8x4xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[8, 4]>, #tile.rtile<"vreg"[8, 1]>] : (tensor<8x4xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%i: tensor<8x4xf32>, %j: tensor<8xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#own], iterator_types = ["parallel"]} outs(%j : tensor<8xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<8xf32>
    %r = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%i : tensor<8x4xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %q : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<8xf32>
  tile.yield %s : tensor<8xf32>
}
