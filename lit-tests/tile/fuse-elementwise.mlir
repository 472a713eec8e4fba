// What is done to each element is done where the element is made, and why not elsewhere.
// RUN: weft-opt %s --split-input-file --tile-fuse-elementwise=remarks=true 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not=remark < %t
// RUN: weft-opt %s --split-input-file --tile-fuse-elementwise=fuse=false | FileCheck %s --check-prefix=OFF

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#d = affine_map<(i) -> (i)>

// A product, minus a residual, no less than zero. The residual lies as the reader says, in one
// dimension; the joined kernel sees it in two. What was for the old kernels is gone.
// CHECK-LABEL: tile.graph @joined
//       CHECK:   %[[R:.+]] = tile.view %arg2 : tensor<12xf32> to tensor<4x3xf32>
//       CHECK:   %[[Y:.+]] = tile.run "fc+sub+relu" @mm_sub_relu(%arg0, %arg1, %[[R]]) into(%{{.+}}) : (tensor<4x5xf32>, tensor<5x3xf32>, tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
//       CHECK:   tile.view %[[Y]] : tensor<4x3xf32> to tensor<12xf32>
//   CHECK-NOT:   tile.run
//   CHECK-NOT: tile.kernel @mm {
//       CHECK: tile.kernel @mm_sub_relu {
//       CHECK:   ^bb0(%{{.+}}, %{{.+}}, %[[RES:.+]]: tensor<4x3xf32>, %[[O:.+]]: tensor<4x3xf32>):
//       CHECK:   %[[SUM:.+]] = linalg.generic {{.+}}"reduction"]
//       CHECK:   linalg.generic {{.+}} ins(%[[RES]] : tensor<4x3xf32>) outs(%[[SUM]] : tensor<4x3xf32>)
//       CHECK:   ^bb0(%[[IN:.+]]: f32, %[[OUT:.+]]: f32):
//       CHECK:     %[[D:.+]] = arith.subf %[[OUT]], %[[IN]]
//       CHECK:     arith.maximumf %[[D]], %{{.+}}
//   OFF-LABEL: tile.graph @joined
// OFF-COUNT-3:   tile.run
tile.graph @joined inputs ["x", "w", "r"] outputs ["y"] : (tensor<4x5xf32>, tensor<5x3xf32>, tensor<12xf32>) -> tensor<12xf32> {
^bb0(%x: tensor<4x5xf32>, %w: tensor<5x3xf32>, %r: tensor<12xf32>):
  %e = tile.empty in @dram : tensor<4x3xf32>
  %h = tile.run "fc" @mm(%x, %w) into(%e) : (tensor<4x5xf32>, tensor<5x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %v = tile.view %h : tensor<4x3xf32> to tensor<12xf32>
  %f = tile.empty in @dram : tensor<12xf32>
  %s = tile.run "sub" @sub(%v, %r) into(%f) : (tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %g = tile.empty in @dram : tensor<12xf32>
  %y = tile.run "relu" @relu(%s) into(%g) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  tile.output %y : tensor<12xf32>
}
tile.kernel @mm {
^bb0(%x: tensor<4x5xf32>, %w: tensor<5x3xf32>, %o: tensor<4x3xf32>):
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x5xf32>, tensor<5x3xf32>) outs(%o : tensor<4x3xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<4x3xf32>
  tile.yield %r : tensor<4x3xf32>
}
tile.kernel @sub {
^bb0(%x: tensor<12xf32>, %y: tensor<12xf32>, %o: tensor<12xf32>):
  %r = linalg.generic {indexing_maps = [#d, #d, #d], iterator_types = ["parallel"]} ins(%x, %y : tensor<12xf32>, tensor<12xf32>) outs(%o : tensor<12xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.subf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<12xf32>
  tile.yield %r : tensor<12xf32>
}
tile.kernel @relu {
^bb0(%x: tensor<12xf32>, %o: tensor<12xf32>):
  %z = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [#d, #d], iterator_types = ["parallel"]} ins(%x : tensor<12xf32>) outs(%o : tensor<12xf32>) {
  ^bb0(%p: f32, %v: f32):
    %t = arith.maximumf %p, %z : f32
    linalg.yield %t : f32
  } -> tensor<12xf32>
  tile.yield %r : tensor<12xf32>
}

// -----

#d = affine_map<(i) -> (i)>
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>

// What two read, and what would be read across the rows, stays apart.
// CHECK-LABEL: tile.graph @apart
// CHECK-COUNT-3: tile.run
//      REMARK: remark: @twice stays apart from @double: something else reads it, too
//      REMARK: remark: @turn stays apart from @twice: an input does not lie in the order of the output
//      REMARK: remark: @turn stays apart from @double: something else reads it, too
tile.graph @apart inputs ["x"] outputs ["y"] : (tensor<4x3xf32>) -> tensor<3x4xf32> {
^bb0(%x: tensor<4x3xf32>):
  %e = tile.empty in @dram : tensor<12xf32>
  %v = tile.view %x : tensor<4x3xf32> to tensor<12xf32>
  %a = tile.run "a" @double(%v) into(%e) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %f = tile.empty in @dram : tensor<12xf32>
  %b = tile.run "b" @twice(%a) into(%f) : (tensor<12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %p = tile.view %a : tensor<12xf32> to tensor<3x4xf32>
  %q = tile.view %b : tensor<12xf32> to tensor<4x3xf32>
  %g = tile.empty in @dram : tensor<3x4xf32>
  %y = tile.run "c" @turn(%p, %q) into(%g) : (tensor<3x4xf32>, tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  tile.output %y : tensor<3x4xf32>
}
tile.kernel @double {
^bb0(%x: tensor<12xf32>, %o: tensor<12xf32>):
  %r = linalg.generic {indexing_maps = [#d, #d], iterator_types = ["parallel"]} ins(%x : tensor<12xf32>) outs(%o : tensor<12xf32>) {
  ^bb0(%p: f32, %v: f32):
    %t = arith.addf %p, %p : f32
    linalg.yield %t : f32
  } -> tensor<12xf32>
  tile.yield %r : tensor<12xf32>
}
tile.kernel @twice {
^bb0(%x: tensor<12xf32>, %o: tensor<12xf32>):
  %r = linalg.generic {indexing_maps = [#d, #d], iterator_types = ["parallel"]} ins(%x : tensor<12xf32>) outs(%o : tensor<12xf32>) {
  ^bb0(%p: f32, %v: f32):
    %t = arith.mulf %p, %p : f32
    linalg.yield %t : f32
  } -> tensor<12xf32>
  tile.yield %r : tensor<12xf32>
}
tile.kernel @turn {
^bb0(%x: tensor<3x4xf32>, %y: tensor<4x3xf32>, %o: tensor<3x4xf32>):
  %r = linalg.generic {indexing_maps = [#ij, #ji, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<3x4xf32>, tensor<4x3xf32>) outs(%o : tensor<3x4xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  } -> tensor<3x4xf32>
  tile.yield %r : tensor<3x4xf32>
}
