// What the door from tile to task does not take.
// RUN: not weft-opt %s --tile-to-task --split-input-file 2>&1 | FileCheck %s

#id = affine_map<(i) -> (i)>
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}

// CHECK: the kernel @twice has no rTiles
// CHECK: help: run tile-construct-rtiles first
tile.kernel @twice {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) {
  ^bb0(%u: f32, %v: f32):
    linalg.yield %u : f32
  } -> tensor<64xf32>
  tile.yield %r : tensor<64xf32>
}
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "a" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y : tensor<64xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// CHECK: the module has no device.machine
// CHECK: help: put one in with device-load-machine
tile.kernel @twice {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) {
  ^bb0(%u: f32, %v: f32):
    linalg.yield %u : f32
  } -> tensor<64xf32>
  tile.yield %r : tensor<64xf32>
}
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "a" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y : tensor<64xf32>
}

// -----

// CHECK: the module has no tile.graph
// CHECK: help: run graph-to-tile first
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}

// -----

#id = affine_map<(i) -> (i)>
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}

// CHECK: the module has a second tile.graph
// CHECK: note: the first one
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
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "a" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y : tensor<64xf32>
}
tile.graph @h inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "a" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y : tensor<64xf32>
}

// -----

#id = affine_map<(i) -> (i)>
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(2)
}

// A copy needs something that moves elements.
// CHECK: @copy_64xf32 cannot run on @toy: the machine has no lane unit
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  tile.output %x : tensor<64xf32>
}
