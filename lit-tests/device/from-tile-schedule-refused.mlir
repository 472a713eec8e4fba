// What a schedule says has to be possible for its nest: the field, its value and what is accepted.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/gather.mlir --tile-to-device --split-input-file 2>&1 | FileCheck %s

// CHECK: error: @along: the schedule's `transpose` is 0, which registers cannot be stored along
// CHECK: help: name an axis along which all outputs lie side by side
tile.kernel @along {
^bb0(%a0: tensor<8x8xf32>, %o: tensor<8x8xf32>):
  %l0 = tile.load %a0 to @vreg : tensor<8x8xf32>
  %c = tile.compute ins(%l0) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [8, 8]>, #tile.rtile<"vreg" [4, 4]>] schedule <transpose = 0> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%p0: tensor<8x8xf32>, %q: tensor<8x8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p0 : tensor<8x8xf32>) outs(%q : tensor<8x8xf32>) {
    ^bb0(%u0: f32, %v: f32):
      linalg.yield %u0 : f32
    } -> tensor<8x8xf32>
    tile.yield %r : tensor<8x8xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<8x8xf32>
  tile.yield %s : tensor<8x8xf32>
}

// -----

// CHECK: error: @wide: the schedule's `transpose` is 0 in a register tile of [8, 4]
// CHECK: help: let the register tile have at most 4 points along axis 0
tile.kernel @wide {
^bb0(%a0: tensor<8x8xf32>, %o: tensor<8x8xf32>):
  %l0 = tile.load %a0 to @vreg : tensor<8x8xf32>
  %c = tile.compute ins(%l0) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [8, 8]>, #tile.rtile<"vreg" [8, 4]>] schedule <transpose = 0> : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> {
  ^bb0(%p0: tensor<8x8xf32>, %q: tensor<8x8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]} ins(%p0 : tensor<8x8xf32>) outs(%q : tensor<8x8xf32>) {
    ^bb0(%u0: f32, %v: f32):
      linalg.yield %u0 : f32
    } -> tensor<8x8xf32>
    tile.yield %r : tensor<8x8xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<8x8xf32>
  tile.yield %s : tensor<8x8xf32>
}

// -----

// Five numbers are no whole registers.
// CHECK: error: @rest: the schedule's `combine_rows` is 0, whose lanes cannot be combined together
tile.kernel @rest {
^bb0(%a0: tensor<4x5xf32>, %o: tensor<4xf32>):
  %l0 = tile.load %a0 to @vreg : tensor<4x5xf32>
  %c = tile.compute ins(%l0) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [4, 5]>, #tile.rtile<"vreg" [4, 4]>] schedule <combine_rows = 0> : (tensor<4x5xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4x5xf32>, %q: tensor<4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%p0 : tensor<4x5xf32>) outs(%q : tensor<4xf32>) {
    ^bb0(%u0: f32, %v: f32):
      %t = arith.addf %v, %u0 : f32
      linalg.yield %t : f32
    } -> tensor<4xf32>
    tile.yield %r : tensor<4xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<4xf32>
  tile.yield %s : tensor<4xf32>
}

// -----

// Backwards a sum would add its points in another order.
// CHECK: error: @backwards: the schedule's `slide` is [2], which no windows slide along
// CHECK: help: name the innermost reductions
tile.kernel @backwards {
^bb0(%a0: tensor<4x4xf32>, %a1: tensor<2xf32>, %o: tensor<3x4xf32>):
  %l0 = tile.load %a0 to @vreg : tensor<4x4xf32>
  %l1 = tile.load %a1 to @vreg : tensor<2xf32>
  %c = tile.compute ins(%l0, %l1) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [3, 4, 2]>, #tile.rtile<"vreg" [3, 4, 1]>] schedule <slide = [2]> : (tensor<4x4xf32>, tensor<2xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%p0: tensor<4x4xf32>, %p1: tensor<2xf32>, %q: tensor<3x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, p) -> (i - p + 1, j)>, affine_map<(i, j, p) -> (p)>, affine_map<(i, j, p) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p0, %p1 : tensor<4x4xf32>, tensor<2xf32>) outs(%q : tensor<3x4xf32>) {
    ^bb0(%u0: f32, %u1: f32, %v: f32):
      %t = arith.addf %v, %u0 : f32
      linalg.yield %t : f32
    } -> tensor<3x4xf32>
    tile.yield %r : tensor<3x4xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<3x4xf32>
  tile.yield %s : tensor<3x4xf32>
}

// -----

// CHECK: error: @outer: the schedule's `slide` is [2], which no windows slide along
tile.kernel @outer {
^bb0(%a0: tensor<4x5xf32>, %a1: tensor<2x2xf32>, %o: tensor<3x4xf32>):
  %l0 = tile.load %a0 to @vreg : tensor<4x5xf32>
  %l1 = tile.load %a1 to @vreg : tensor<2x2xf32>
  %c = tile.compute ins(%l0, %l1) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [3, 4, 2, 2]>, #tile.rtile<"vreg" [3, 4, 1, 1]>] schedule <slide = [2]> : (tensor<4x5xf32>, tensor<2x2xf32>, tensor<3x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%p0: tensor<4x5xf32>, %p1: tensor<2x2xf32>, %q: tensor<3x4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j, p, q) -> (i + p, j + q)>, affine_map<(i, j, p, q) -> (p, q)>, affine_map<(i, j, p, q) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%p0, %p1 : tensor<4x5xf32>, tensor<2x2xf32>) outs(%q : tensor<3x4xf32>) {
    ^bb0(%u0: f32, %u1: f32, %v: f32):
      %t = arith.addf %v, %u0 : f32
      linalg.yield %t : f32
    } -> tensor<3x4xf32>
    tile.yield %r : tensor<3x4xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<3x4xf32>
  tile.yield %s : tensor<3x4xf32>
}

// -----

// CHECK: error: @long: the schedule's `unroll` is [1], which are 65536 steps
// CHECK: help: write out at most 16384 steps
tile.kernel @long {
^bb0(%a0: tensor<4x65536xf32>, %o: tensor<4xf32>):
  %l0 = tile.load %a0 to @vreg : tensor<4x65536xf32>
  %c = tile.compute ins(%l0) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [4, 65536]>, #tile.rtile<"vreg" [4, 1]>] schedule <unroll = [1]> : (tensor<4x65536xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p0: tensor<4x65536xf32>, %q: tensor<4xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%p0 : tensor<4x65536xf32>) outs(%q : tensor<4xf32>) {
    ^bb0(%u0: f32, %v: f32):
      %t = arith.addf %v, %u0 : f32
      linalg.yield %t : f32
    } -> tensor<4xf32>
    tile.yield %r : tensor<4xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<4xf32>
  tile.yield %s : tensor<4xf32>
}

// -----

// CHECK: error: @nothing: the schedule's `border` is @l2, and lanes read past no ends
// CHECK: help: leave it out
tile.kernel @nothing {
^bb0(%a0: tensor<8xf32>, %o: tensor<8xf32>):
  %l0 = tile.load %a0 to @vreg : tensor<8xf32>
  %c = tile.compute ins(%l0) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [8]>, #tile.rtile<"vreg" [4]>] schedule <border = @l2> : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p0: tensor<8xf32>, %q: tensor<8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p0 : tensor<8xf32>) outs(%q : tensor<8xf32>) {
    ^bb0(%u0: f32, %v: f32):
      linalg.yield %u0 : f32
    } -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<8xf32>
  tile.yield %s : tensor<8xf32>
}

// -----

// CHECK: error: @steps: the schedule has 2 `phases` for lanes in steps of 1
// CHECK: help: give 1
tile.kernel @steps {
^bb0(%a0: tensor<3x12xf32>, %a1: tensor<3xf32>, %o: tensor<3x12xf32>):
  %l0 = tile.load %a0 to @vreg : tensor<3x12xf32>
  %l1 = tile.load %a1 to @vreg : tensor<3xf32>
  %c = tile.compute ins(%l0, %l1) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [3, 12, 3]>, #tile.rtile<"vreg" [1, 4, 1]>] schedule <border = @l2, phases = [2]> : (tensor<3x12xf32>, tensor<3xf32>, tensor<3x12xf32>) -> tensor<3x12xf32> {
  ^bb0(%p0: tensor<3x12xf32>, %p1: tensor<3xf32>, %q: tensor<3x12xf32>):
    %pad = tensor.pad %p0 low[0, 1] high[0, 1] {
    ^bb0(%i: index, %j: index):
      %zero = arith.constant 0.0 : f32
      tensor.yield %zero : f32
    } : tensor<3x12xf32> to tensor<3x14xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(c, j, q) -> (c, j + q)>, affine_map<(c, j, q) -> (q)>, affine_map<(c, j, q) -> (c, j)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%pad, %p1 : tensor<3x14xf32>, tensor<3xf32>) outs(%q : tensor<3x12xf32>) {
    ^bb0(%u0: f32, %u1: f32, %v: f32):
      %t = arith.addf %v, %u0 : f32
      linalg.yield %t : f32
    } -> tensor<3x12xf32>
    tile.yield %r : tensor<3x12xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<3x12xf32>
  tile.yield %s : tensor<3x12xf32>
}

// -----

// CHECK: error: @first: the schedule's `grow` is 0, whose loop is the outermost
// CHECK: help: let an axis along which tiles end ragged come before it in `order`
tile.kernel @first {
^bb0(%a0: tensor<5x8xf32>, %o: tensor<5x8xf32>):
  %l0 = tile.load %a0 to @vreg : tensor<5x8xf32>
  %c = tile.compute ins(%l0) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [5, 8]>, #tile.rtile<"vreg" [2, 4]>] schedule <grow = 0> : (tensor<5x8xf32>, tensor<5x8xf32>) -> tensor<5x8xf32> {
  ^bb0(%p0: tensor<5x8xf32>, %q: tensor<5x8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%p0 : tensor<5x8xf32>) outs(%q : tensor<5x8xf32>) {
    ^bb0(%u0: f32, %v: f32):
      linalg.yield %u0 : f32
    } -> tensor<5x8xf32>
    tile.yield %r : tensor<5x8xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<5x8xf32>
  tile.yield %s : tensor<5x8xf32>
}
