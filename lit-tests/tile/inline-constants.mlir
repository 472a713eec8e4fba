// A weight that is made of narrower numbers is made where it is multiplied, where that is faster.
// RUN: weft-opt %s --split-input-file --device-load-machine=file=%devices/x86-avx512.mlir --tile-inline-constants=remarks=true 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not=remark < %t
// RUN: weft-opt %s --split-input-file --device-load-machine=file=%devices/x86-avx512.mlir --tile-inline-constants=inline=always | FileCheck %s --check-prefix=ALWAYS
// RUN: weft-opt %s --split-input-file --device-load-machine=file=%devices/x86-avx512.mlir --tile-inline-constants=inline=none | FileCheck %s --check-prefix=NONE

#bij = affine_map<(b, i, j) -> (b, i, j)>
#bj = affine_map<(b, i, j) -> (b, j)>
#k = affine_map<(j, k) -> (k)>
#kj = affine_map<(j, k) -> (k, j)>
#j = affine_map<(j, k) -> (j)>

// One row: the bytes of the weights take longest. The axis of the sum is cut as blocks are, the product and
// the sum stay one step, and nothing is left of what made the constant.
// CHECK-LABEL: tile.graph @one_row
//       CHECK:   %[[Q:.+]] = graph.weight "q"
//       CHECK:   %[[S:.+]] = graph.weight "s"
//       CHECK:   %[[X:.+]] = tile.view %arg0 : tensor<8192xf32> to tensor<256x32xf32>
//   CHECK-NOT:   tile.run
//       CHECK:   tile.run "w+y" @make_mm(%[[X]], %[[Q]], %[[S]])
//   CHECK-NOT:   tile.run
//   CHECK-NOT: tile.kernel @make {
//       CHECK: tile.kernel @make_mm {
//       CHECK:   linalg.generic {{.+}} iterator_types = ["parallel", "reduction", "reduction"]} ins(%{{.+}} : tensor<256x32xf32>, tensor<256x32x8192xi8>, tensor<256x8192xf32>)
//       CHECK:     %[[W:.+]] = arith.mulf
//       CHECK:     math.fma %{{.+}}, %[[W]], %{{.+}} : f32
//      REMARK: remark: @make_mm makes a constant that it reads
//  NONE-LABEL: tile.graph @one_row
// NONE-COUNT-2:   tile.run
tile.graph @one_row inputs ["x"] outputs ["y"] : (tensor<8192xf32>) -> tensor<8192xf32> {
^bb0(%x: tensor<8192xf32>):
  %q = graph.weight "q" in "m" hash "00" : tensor<256x32x8192xi8>
  %s = graph.weight "s" in "m" hash "01" : tensor<256x8192xf32>
  %e = tile.empty in @dram : tensor<256x32x8192xf32>
  %w = tile.run "w" @make(%q, %s) into(%e) : (tensor<256x32x8192xi8>, tensor<256x8192xf32>, tensor<256x32x8192xf32>) -> tensor<256x32x8192xf32>
  %v = tile.view %w : tensor<256x32x8192xf32> to tensor<8192x8192xf32>
  %f = tile.empty in @dram : tensor<8192xf32>
  %y = tile.run "y" @mm(%x, %v) into(%f) : (tensor<8192xf32>, tensor<8192x8192xf32>, tensor<8192xf32>) -> tensor<8192xf32>
  tile.output %y : tensor<8192xf32>
}
tile.kernel @make {
^bb0(%q: tensor<256x32x8192xi8>, %s: tensor<256x8192xf32>, %o: tensor<256x32x8192xf32>):
  %r = linalg.generic {indexing_maps = [#bij, #bj, #bij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%q, %s : tensor<256x32x8192xi8>, tensor<256x8192xf32>) outs(%o : tensor<256x32x8192xf32>) {
  ^bb0(%a: i8, %b: f32, %c: f32):
    %g = arith.sitofp %a : i8 to f32
    %t = arith.mulf %g, %b : f32
    linalg.yield %t : f32
  } -> tensor<256x32x8192xf32>
  tile.yield %r : tensor<256x32x8192xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<8192xf32>, %w: tensor<8192x8192xf32>, %o: tensor<8192xf32>):
  %r = linalg.generic {indexing_maps = [#k, #kj, #j], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<8192xf32>, tensor<8192x8192xf32>) outs(%o : tensor<8192xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<8192xf32>
  tile.yield %r : tensor<8192xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> ()>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Of many rows the products take longest: a weight that is there is multiplied faster.
// CHECK-LABEL: tile.graph @many_rows
// CHECK-COUNT-2:   tile.run
//   ALWAYS-LABEL: tile.graph @many_rows
// ALWAYS-COUNT-1:   tile.run "w+y"
//     ALWAYS-NOT:   tile.run
tile.graph @many_rows inputs ["x"] outputs ["y"] : (tensor<512x1024xf32>) -> tensor<512x1024xf32> {
^bb0(%x: tensor<512x1024xf32>):
  %q = graph.weight "q" in "m" hash "00" : tensor<1024x1024xi8>
  %s = graph.constant dense<0.5> : tensor<f32> -> tensor<f32>
  %e = tile.empty in @dram : tensor<1024x1024xf32>
  %w = tile.run "w" @make(%q, %s) into(%e) : (tensor<1024x1024xi8>, tensor<f32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %f = tile.empty in @dram : tensor<512x1024xf32>
  %y = tile.run "y" @mm(%x, %w) into(%f) : (tensor<512x1024xf32>, tensor<1024x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  tile.output %y : tensor<512x1024xf32>
}
tile.kernel @make {
^bb0(%q: tensor<1024x1024xi8>, %s: tensor<f32>, %o: tensor<1024x1024xf32>):
  %r = linalg.generic {indexing_maps = [#id, #one, #id], iterator_types = ["parallel", "parallel"]} ins(%q, %s : tensor<1024x1024xi8>, tensor<f32>) outs(%o : tensor<1024x1024xf32>) {
  ^bb0(%a: i8, %b: f32, %c: f32):
    %g = arith.sitofp %a : i8 to f32
    %t = arith.mulf %g, %b : f32
    linalg.yield %t : f32
  } -> tensor<1024x1024xf32>
  tile.yield %r : tensor<1024x1024xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<512x1024xf32>, %w: tensor<1024x1024xf32>, %o: tensor<512x1024xf32>):
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x1024xf32>, tensor<1024x1024xf32>) outs(%o : tensor<512x1024xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<512x1024xf32>
  tile.yield %r : tensor<512x1024xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Not even on request: what is no narrower, what asks for places, what a model is given.
// ALWAYS-LABEL: tile.graph @stays
// ALWAYS-COUNT-6:   tile.run
tile.graph @stays inputs ["x", "z"] outputs ["a", "b", "c"] : (tensor<4x8xf32>, tensor<8x8xi8>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
^bb0(%x: tensor<4x8xf32>, %z: tensor<8x8xi8>):
  %p = graph.weight "p" in "m" hash "00" : tensor<8x8xf32>
  %q = graph.weight "q" in "m" hash "01" : tensor<8x8xi8>
  %e = tile.empty in @dram : tensor<8x8xf32>
  %w0 = tile.run "wide" @negate(%p) into(%e) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %w1 = tile.run "asks" @place(%q) into(%e) : (tensor<8x8xi8>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %w2 = tile.run "given" @widen(%z) into(%e) : (tensor<8x8xi8>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %f = tile.empty in @dram : tensor<4x8xf32>
  %a = tile.run "a" @mm(%x, %w0) into(%f) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %b = tile.run "b" @mm(%x, %w1) into(%f) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %c = tile.run "c" @mm(%x, %w2) into(%f) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  tile.output %a, %b, %c : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
tile.kernel @negate {
^bb0(%p: tensor<8x8xf32>, %o: tensor<8x8xf32>):
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) {
  ^bb0(%a: f32, %c: f32):
    %t = arith.negf %a : f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  tile.yield %r : tensor<8x8xf32>
}
tile.kernel @place {
^bb0(%p: tensor<8x8xi8>, %o: tensor<8x8xf32>):
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x8xi8>) outs(%o : tensor<8x8xf32>) {
  ^bb0(%a: i8, %c: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i8
    %m = arith.addi %a, %n : i8
    %t = arith.sitofp %m : i8 to f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  tile.yield %r : tensor<8x8xf32>
}
tile.kernel @widen {
^bb0(%p: tensor<8x8xi8>, %o: tensor<8x8xf32>):
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x8xi8>) outs(%o : tensor<8x8xf32>) {
  ^bb0(%a: i8, %c: f32):
    %t = arith.sitofp %a : i8 to f32
    linalg.yield %t : f32
  } -> tensor<8x8xf32>
  tile.yield %r : tensor<8x8xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %o: tensor<4x8xf32>):
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%o : tensor<4x8xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<4x8xf32>
  tile.yield %r : tensor<4x8xf32>
}
