// What no kernel can be, and why.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/small-cache.mlir --split-input-file --tile-join-kernels 2>&1 | FileCheck %s

// Registers hold pieces of rows between two products, no tiles.
// CHECK: error: @vreg holds no tile of a tensor: a softmax between two products is six computes that read each other
// CHECK: help: a softmax between two products hands over in registers, all of its edges; others name a memory or a cache
#m = affine_map<(m) -> (m)>
#taps = affine_map<(h, r) -> (h + r)>
#h = affine_map<(h, r) -> (h)>
#r = affine_map<(h, r) -> (r)>

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

// A sum beside what makes its terms needs all of them; a tile has one column.
// CHECK: error: kernels cannot be one: a tile of member 1 reads more than the tiles that its makers have
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#own = affine_map<(i) -> (i)>

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

// -----

// A plane with a border is laid out from a tile that waits. What leaves the kernel, too, lies in the shared memory as
// one row, and has no planes.
// CHECK: error: @double is read past its ends in other dimensions than it is made in, and what it makes is also read outside
// CHECK: help: connect all its readers, or none
#m = affine_map<(m) -> (m)>
#window = affine_map<(y, x, r, s) -> (y + r, x + s)>
#taps = affine_map<(y, x, r, s) -> (r, s)>
#point = affine_map<(y, x, r, s) -> (y, x)>
#all = affine_map<(y, x) -> (y, x)>

tile.graph @leaves inputs ["x", "w"] outputs ["h", "y"] : (tensor<16xf32>, tensor<3x3xf32>) -> (tensor<16xf32>, tensor<4x4xf32>) {
^bb0(%x: tensor<16xf32>, %w: tensor<3x3xf32>):
  %e = tile.empty in @dram : tensor<16xf32>
  %h = tile.run "double" @double(%x) into(%e) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  %v = tile.view %h : tensor<16xf32> to tensor<4x4xf32>
  %n = tile.connect %v in @l2 : tensor<4x4xf32>
  %f = tile.empty in @dram : tensor<4x4xf32>
  %y = tile.run "sum" @sum(%n, %w) into(%f) : (tensor<4x4xf32>, tensor<3x3xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  tile.output %h, %y : tensor<16xf32>, tensor<4x4xf32>
}
tile.kernel @double {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  %a = tile.load %x to @vreg : tensor<16xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[16]>, #tile.rtile<"vreg"[8]>] : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%i: tensor<16xf32>, %j: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<16xf32>) outs(%j : tensor<16xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<16xf32>
  tile.yield %s : tensor<16xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<4x4xf32>, %w: tensor<3x3xf32>, %o: tensor<4x4xf32>):
  %a = tile.load %x to @dram : tensor<4x4xf32>
  %b = tile.load %w to @dram : tensor<3x3xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"l2"[4, 4, 3, 3]>, #tile.rtile<"vreg"[1, 4, 1, 1]>] schedule <border = @l2> : (tensor<4x4xf32>, tensor<3x3xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%i: tensor<4x4xf32>, %k: tensor<3x3xf32>, %j: tensor<4x4xf32>):
    %z = arith.constant 0.0 : f32
    %f = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%j : tensor<4x4xf32>) {
    ^bb0(%q: f32):
      linalg.yield %z : f32
    } -> tensor<4x4xf32>
    %g = tensor.pad %i low[1, 1] high[1, 1] {
    ^bb0(%p: index, %q: index):
      tensor.yield %z : f32
    } : tensor<4x4xf32> to tensor<6x6xf32>
    %r = linalg.generic {indexing_maps = [#window, #taps, #point], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%g, %k : tensor<6x6xf32>, tensor<3x3xf32>) outs(%f : tensor<4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %s: f32):
      %t = arith.mulf %p, %q : f32
      %u = arith.addf %s, %t : f32
      linalg.yield %u : f32
    } -> tensor<4x4xf32>
    tile.yield %r : tensor<4x4xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<4x4xf32>
  tile.yield %s : tensor<4x4xf32>
}

// -----

// One kernel of both would begin with its own result.
// CHECK: error: @double writes into what @double makes, and both would be one kernel
// CHECK: help: hand the tensor over in the shared memory
#m = affine_map<(m) -> (m)>

tile.graph @chain inputs ["x"] outputs ["y"] : (tensor<12xf32>) -> tensor<12xf32> {
^bb0(%x: tensor<12xf32>):
  %e = tile.empty in @dram : tensor<12xf32>
  %h = tile.run "one" @double(%x) into(%e) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %n = tile.connect %h in @l2 : tensor<12xf32>
  %y = tile.run "other" @double(%n) into(%h) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  tile.output %y : tensor<12xf32>
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

// Tiles of members follow from extents.
// CHECK: error: @double ends, or begins, where a length says: it hands nothing over
// CHECK: help: take tile.connect away, or compile for numbers instead of lengths
#m = affine_map<(m) -> (m)>
#taps = affine_map<(h, r) -> (h + r)>
#h = affine_map<(h, r) -> (h)>
#r = affine_map<(h, r) -> (r)>

graph.symbol "seq" from 1 to 12
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
    %r = linalg.generic {graph.lengths = ["seq"], indexing_maps = [#m, #m], iterator_types = ["parallel"]} ins(%i : tensor<12xf32>) outs(%j : tensor<12xf32>) {
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
