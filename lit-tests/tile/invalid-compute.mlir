// Tiles that do not fit their nest, their memories, or one another.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations([]) reductions([])
}

// compute_c1: an rTile names a memory of the machine.
// CHECK: tile.compute names @l2, which is no memory of the machine @toy
// CHECK: help: it has @dram, @vreg
func.func @compute_c1(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @valu tiles [#tile.rtile<"l2"[4]>] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    tile.yield %a : tensor<4xf32>
  }
  return
}

// -----

// compute_c1: one size per axis.
// CHECK: the rTile in @l2 has 2 sizes for a nest of 1
// CHECK: note: the nest is here
func.func @compute_c1(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @valu tiles [#tile.rtile<"l2"[4, 4]>] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : tensor<4xf32>) {
    ^bb0(%q: f32):
      linalg.yield %q : f32
    } -> tensor<4xf32>
    tile.yield %s : tensor<4xf32>
  }
  return
}

// -----

// compute_c1: lanes run along an axis.
// CHECK: lanes run along axis 1 of a nest with axes below 1
func.func @compute_c1(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @valu lanes 1 tiles [#tile.rtile<"l2"[4]>] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    tile.yield %a : tensor<4xf32>
  }
  return
}

// -----

// compute_c1: an axis of the instruction is an axis, none, or several.
// CHECK: axis 1 of the instruction is "j"
// CHECK: axis 2 of the instruction is axis 0 of 1
// CHECK: name each axis of the nest at most once
func.func @compute_c1(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @mac axes [[0], "j", [0]] tiles [#tile.rtile<"l2"[4]>] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : tensor<4xf32>) {
    ^bb0(%q: f32):
      linalg.yield %q : f32
    } -> tensor<4xf32>
    tile.yield %s : tensor<4xf32>
  }
  return
}

// -----

// compute_c2: sizes are at least 1.
// CHECK: the rTile in @l2 has a size of 0
func.func @compute_c2(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @valu tiles [#tile.rtile<"l2"[0]>] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    tile.yield %a : tensor<4xf32>
  }
  return
}

// -----

// compute_c2: an inner rTile is no larger than an outer one.
// CHECK: the rTile in @vreg is 8 long on axis 1, in one of 4 in @l2
func.func @compute_c2(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @valu tiles [#tile.rtile<"l2"[4, 4]>, #tile.rtile<"vreg"[1, 8]>] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    tile.yield %a : tensor<4xf32>
  }
  return
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations([]) reductions([])
}

// compute_c3: `on` names an instruction or lane unit.
// CHECK: tile.compute runs on @mma, which the machine @toy does not have
// CHECK: help: it has @valu
func.func @compute_c3(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @mma tiles [] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    tile.yield %a : tensor<4xf32>
  }
  return
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations([]) reductions([])
}

// compute_c4: 16 x 16 accumulators of 4 bytes; the reduction takes no room.
// CHECK: the accumulators of [16, 16, 4] take 1024 bytes of @vreg, which has 512
func.func @compute_c4(%x: tensor<64x64xf32>) {
  %r = tile.compute ins(%x, %x) outs(%x) on @valu tiles [#tile.rtile<"vreg"[16, 16, 4]>] : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>):
    %s = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %t: f32):
      linalg.yield %t : f32
    } -> tensor<64x64xf32>
    tile.yield %s : tensor<64x64xf32>
  }
  return
}

// compute_c5: one layout per input, of two numbers or five.
// CHECK: tile.compute has 1 layout for 2 inputs
func.func @compute_c5(%x: tensor<64x64xf32>) {
  %r = tile.compute ins(%x, %x) outs(%x) on @valu tiles [#tile.rtile<"vreg"[1, 16, 4]>] layouts [array<i64: 2, 16, 1>] : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>):
    %s = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %t: f32):
      linalg.yield %t : f32
    } -> tensor<64x64xf32>
    tile.yield %s : tensor<64x64xf32>
  }
  return
}
