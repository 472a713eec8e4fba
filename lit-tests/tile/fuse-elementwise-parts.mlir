// What is copied to a part of a larger tensor is written there by the kernel that makes it: inside a
// border, and between others of a concatenation.
// RUN: weft-opt %s --tile-fuse-elementwise=remarks=true 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not=remark < %t

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#d2 = affine_map<(i, j) -> (i, j)>
#d = affine_map<(i) -> (i)>

// A product inside a border of one, on what fills all of it.
// CHECK-LABEL: tile.graph @bordered
//       CHECK:   %[[F:.+]] = tile.run "pad" @fill() into(%{{.+}})
//       CHECK:   %[[Y:.+]] = tile.run "fc+pad" @mm_inside(%arg0, %arg1) into(%[[F]])
//   CHECK-NOT:   tile.run
//       CHECK:   tile.output %[[Y]]
tile.graph @bordered inputs ["x", "w"] outputs ["y"] : (tensor<4x5xf32>, tensor<5x3xf32>) -> tensor<6x5xf32> {
^bb0(%x: tensor<4x5xf32>, %w: tensor<5x3xf32>):
  %e = tile.empty in @dram : tensor<4x3xf32>
  %h = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x5xf32>, tensor<5x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %g = tile.empty in @dram : tensor<6x5xf32>
  %f = tile.run "pad" @fill() into(%g) : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %y = tile.run "pad" @inside(%h) into(%f) : (tensor<4x3xf32>, tensor<6x5xf32>) -> tensor<6x5xf32>
  tile.output %y : tensor<6x5xf32>
}

// Behind four other rows of the concatenation, which are twelve of its elements.
// CHECK-LABEL: tile.graph @concatenated
//       CHECK:   %[[V:.+]] = tile.view %{{.+}} : tensor<36xf32> to tensor<12x3xf32>
//       CHECK:   tile.run "fc+concat" @mm_behind(%arg0, %arg1) into(%[[V]]) : {{.+}} -> tensor<12x3xf32>
//   CHECK-NOT:   tile.run
tile.graph @concatenated inputs ["x", "w"] outputs ["y"] : (tensor<4x5xf32>, tensor<5x3xf32>) -> tensor<36xf32> {
^bb0(%x: tensor<4x5xf32>, %w: tensor<5x3xf32>):
  %e = tile.empty in @dram : tensor<4x3xf32>
  %h = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x5xf32>, tensor<5x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %v = tile.view %h : tensor<4x3xf32> to tensor<12xf32>
  %g = tile.empty in @dram : tensor<36xf32>
  %y = tile.run "concat" @behind(%v) into(%g) : (tensor<12xf32>, tensor<36xf32>) -> tensor<36xf32>
  tile.output %y : tensor<36xf32>
}

// Five elements behind the beginning no row of three begins.
// REMARK: remark: @across stays apart from @mm: the reader writes no box of its tensor [part: 12 of 36 elements]
// CHECK-LABEL: tile.graph @ragged
// CHECK-COUNT-2: tile.run
tile.graph @ragged inputs ["x", "w"] outputs ["y"] : (tensor<4x5xf32>, tensor<5x3xf32>) -> tensor<36xf32> {
^bb0(%x: tensor<4x5xf32>, %w: tensor<5x3xf32>):
  %e = tile.empty in @dram : tensor<4x3xf32>
  %h = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x5xf32>, tensor<5x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %v = tile.view %h : tensor<4x3xf32> to tensor<12xf32>
  %g = tile.empty in @dram : tensor<36xf32>
  %y = tile.run "concat" @across(%v) into(%g) : (tensor<12xf32>, tensor<36xf32>) -> tensor<36xf32>
  tile.output %y : tensor<36xf32>
}

// The box of the joined kernels: one point from the edges, and four rows on.
//       CHECK: tile.kernel @mm_inside {
//       CHECK:   ^bb0(%{{.+}}, %{{.+}}, %[[O:.+]]: tensor<6x5xf32>):
//       CHECK:   %[[S:.+]] = tensor.extract_slice %[[O]][1, 1] [4, 3] [1, 1]
//       CHECK:   %[[R:.+]] = linalg.generic {{.+}}"reduction"]
//       CHECK:   tensor.insert_slice %{{.+}} into %[[O]][1, 1] [4, 3] [1, 1]
//       CHECK: tile.kernel @mm_behind {
//       CHECK:   ^bb0(%{{.+}}, %{{.+}}, %[[O:.+]]: tensor<12x3xf32>):
//       CHECK:   tensor.extract_slice %[[O]][4, 0] [4, 3] [1, 1]
tile.kernel @mm {
^bb0(%x: tensor<4x5xf32>, %w: tensor<5x3xf32>, %o: tensor<4x3xf32>):
  %f = linalg.generic {indexing_maps = [#d2], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<4x3xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<4x3xf32>
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x5xf32>, tensor<5x3xf32>) outs(%f : tensor<4x3xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %s = arith.addf %v, %t : f32
    linalg.yield %s : f32
  } -> tensor<4x3xf32>
  tile.yield %r : tensor<4x3xf32>
}
tile.kernel @fill {
^bb0(%o: tensor<6x5xf32>):
  %r = linalg.generic {indexing_maps = [#d2], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<6x5xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<6x5xf32>
  tile.yield %r : tensor<6x5xf32>
}
tile.kernel @inside {
^bb0(%x: tensor<4x3xf32>, %o: tensor<6x5xf32>):
  %r = linalg.generic {indexing_maps = [#d2, affine_map<(i, j) -> (i + 1, j + 1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x3xf32>) outs(%o : tensor<6x5xf32>) {
  ^bb0(%p: f32, %v: f32):
    linalg.yield %p : f32
  } -> tensor<6x5xf32>
  tile.yield %r : tensor<6x5xf32>
}
tile.kernel @behind {
^bb0(%x: tensor<12xf32>, %o: tensor<36xf32>):
  %r = linalg.generic {indexing_maps = [#d, affine_map<(i) -> (i + 12)>], iterator_types = ["parallel"]} ins(%x : tensor<12xf32>) outs(%o : tensor<36xf32>) {
  ^bb0(%p: f32, %v: f32):
    linalg.yield %p : f32
  } -> tensor<36xf32>
  tile.yield %r : tensor<36xf32>
}
tile.kernel @across {
^bb0(%x: tensor<12xf32>, %o: tensor<36xf32>):
  %r = linalg.generic {indexing_maps = [#d, affine_map<(i) -> (i + 5)>], iterator_types = ["parallel"]} ins(%x : tensor<12xf32>) outs(%o : tensor<36xf32>) {
  ^bb0(%p: f32, %v: f32):
    linalg.yield %p : f32
  } -> tensor<36xf32>
  tile.yield %r : tensor<36xf32>
}
