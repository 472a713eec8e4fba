// Constant operands are laid out in panels for the lanes that read them.
// RUN: not weft-opt %s --tile-pack-weights --split-input-file 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REFUSED < %t

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
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

// The columns are cut in panels of one register; each panel is contiguous.
//   CHECK-DAG: #[[FROM:.+]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
//   CHECK-DAG: #[[TO:.+]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: tile.graph @g
//       CHECK:   %[[W:.+]] = graph.weight "w"
//       CHECK:   %[[CUT:.+]] = tile.view %[[W]] : tensor<6x32xf32> to tensor<6x4x8xf32>
//       CHECK:   %[[PANELS:.+]] = tile.run "fc" @mm_pack_1(%[[CUT]])
//       CHECK:   tile.run "fc" @mm(%arg0, %[[PANELS]]) into(%{{.+}}) : (tensor<4x6xf32>, tensor<4x6x8xf32>, tensor<4x4x8xf32>)
//       CHECK: tile.kernel @mm_pack_1 {
//       CHECK:   linalg.generic {indexing_maps = [#[[FROM]], #[[TO]]]
//       CHECK: tile.kernel @mm {
//       CHECK:   iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<4x6xf32>) -> tensor<4x32xf32> {
^bb0(%x: tensor<4x6xf32>):
  %w = graph.weight "w" in "model" hash "00" : tensor<6x32xf32>
  %e = tile.empty in @dram : tensor<4x32xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x6xf32>, tensor<6x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  tile.output %y : tensor<4x32xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x32xf32>, %o: tensor<4x32xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x32xf32>) outs(%o : tensor<4x32xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x32xf32>
  tile.yield %r : tensor<4x32xf32>
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
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

// What comes from the caller lies as it lies.
// CHECK-LABEL: tile.graph @g
//   CHECK-NOT:   tile.view
//       CHECK:   tile.run "fc" @mm(%arg0, %arg1)
//   CHECK-NOT: tile.kernel @mm_pack
tile.graph @g inputs ["x", "w"] outputs ["y"] : (tensor<4x6xf32>, tensor<6x32xf32>) -> tensor<4x32xf32> {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x32xf32>):
  %e = tile.empty in @dram : tensor<4x32xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x6xf32>, tensor<6x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  tile.output %y : tensor<4x32xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x32xf32>, %o: tensor<4x32xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x32xf32>) outs(%o : tensor<4x32xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x32xf32>
  tile.yield %r : tensor<4x32xf32>
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
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

// Every part of 30 columns leaves many lanes without a point.
// CHECK-LABEL: tile.graph @g
//       CHECK:   %[[W:.+]] = graph.weight "w"
//       CHECK:   tile.run "fc" @mm(%arg0, %[[W]])
//   CHECK-NOT: tile.kernel @mm_pack
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<4x6xf32>) -> tensor<4x30xf32> {
^bb0(%x: tensor<4x6xf32>):
  %w = graph.weight "w" in "model" hash "00" : tensor<6x30xf32>
  %e = tile.empty in @dram : tensor<4x30xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x6xf32>, tensor<6x30xf32>, tensor<4x30xf32>) -> tensor<4x30xf32>
  tile.output %y : tensor<4x30xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x30xf32>, %o: tensor<4x30xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x30xf32>) outs(%o : tensor<4x30xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x30xf32>
  tile.yield %r : tensor<4x30xf32>
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64) transaction_bytes(64)
  device.memory @l1 scope("core") capacity_bytes(4096) caches(@l2) bytes_per_cycle(64) transaction_bytes(64) way_bytes(1024)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
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

// What the caller gives is laid out in every run where many rows read it: 512 of them read
// rows of 1 KiB that nothing brings near in time.
// CHECK-LABEL: tile.graph @g
//       CHECK:   %[[CUT:.+]] = tile.view %arg1 : tensor<256x256xf32> to tensor<256x32x8xf32>
//       CHECK:   %[[PANELS:.+]] = tile.run "fc" @mm_pack_1(%[[CUT]])
//       CHECK:   tile.run "fc" @mm(%arg0, %[[PANELS]])
tile.graph @g inputs ["x", "w"] outputs ["y"] : (tensor<512x256xf32>, tensor<256x256xf32>) -> tensor<512x256xf32> {
^bb0(%x: tensor<512x256xf32>, %w: tensor<256x256xf32>):
  %e = tile.empty in @dram : tensor<512x256xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<512x256xf32>, tensor<256x256xf32>, tensor<512x256xf32>) -> tensor<512x256xf32>
  tile.output %y : tensor<512x256xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<512x256xf32>, %w: tensor<256x256xf32>, %o: tensor<512x256xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x256xf32>, tensor<256x256xf32>) outs(%o : tensor<512x256xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<512x256xf32>
  tile.yield %r : tensor<512x256xf32>
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64) transaction_bytes(64)
  device.memory @l1 scope("core") capacity_bytes(4096) caches(@l2) bytes_per_cycle(64) transaction_bytes(64) way_bytes(1024)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
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

// Four rows do not pay for it.
// CHECK-LABEL: tile.graph @g
//       CHECK:   tile.run "fc" @mm(%arg0, %arg1)
//   CHECK-NOT: tile.kernel @mm_pack
tile.graph @g inputs ["x", "w"] outputs ["y"] : (tensor<4x256xf32>, tensor<256x256xf32>) -> tensor<4x256xf32> {
^bb0(%x: tensor<4x256xf32>, %w: tensor<256x256xf32>):
  %e = tile.empty in @dram : tensor<4x256xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x256xf32>, tensor<256x256xf32>, tensor<4x256xf32>) -> tensor<4x256xf32>
  tile.output %y : tensor<4x256xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<4x256xf32>, %w: tensor<256x256xf32>, %o: tensor<4x256xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x256xf32>, tensor<256x256xf32>) outs(%o : tensor<4x256xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x256xf32>
  tile.yield %r : tensor<4x256xf32>
}

// -----

// REFUSED: the module has no device.machine
// REFUSED: help: put one in with device-load-machine
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<4x6xf32>) -> tensor<4x32xf32> {
^bb0(%x: tensor<4x6xf32>):
  %w = graph.weight "w" in "model" hash "00" : tensor<6x32xf32>
  %e = tile.empty in @dram : tensor<4x32xf32>
  %y = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x6xf32>, tensor<6x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
  tile.output %y : tensor<4x32xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<4x6xf32>, %w: tensor<6x32xf32>, %o: tensor<4x32xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x6xf32>, tensor<6x32xf32>) outs(%o : tensor<4x32xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x32xf32>
  tile.yield %r : tensor<4x32xf32>
}
