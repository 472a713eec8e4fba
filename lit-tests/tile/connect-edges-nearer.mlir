// Each edge is weighed in three memories (WE-13): rows of a softmax wait in the nearest cache where it holds some, in
// the larger one where only that does, and in the shared memory where neither does.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx512.mlir --tile-construct-rtiles --tile-connect-edges=remarks=true -o %t.near 2> %t.said
// RUN: FileCheck %s < %t.said
// RUN: FileCheck %s --check-prefix=NEAR < %t.near
// RUN: sed 's/4608x1536/460x15360/g; s/4608x/460x/g' %s | weft-opt --device-load-machine=file=%devices/x86-avx512.mlir --tile-construct-rtiles --tile-connect-edges=remarks=true -o %t.wide 2> %t.said
// RUN: FileCheck %s --check-prefix=WIDE < %t.said
// RUN: FileCheck %s --check-prefix=FARTHER < %t.wide
// RUN: sed 's/4608x1536/4x1536000/g; s/4608x/4x/g' %s | weft-opt --device-load-machine=file=%devices/x86-avx512.mlir --tile-construct-rtiles --tile-connect-edges=remarks=true -o %t.apart 2> %t.said
// RUN: FileCheck %s --check-prefix=APART < %t.said
// RUN: FileCheck %s --check-prefix=NOWHERE < %t.apart

// Two or three rows of 6 KiB are at most half of 32 KiB.
// CHECK: remark: @exp, @sum, @scale are one kernel: tiles of [{{1|2|3}}, 1536]{{.*}}; handed over in @l1
// NEAR-COUNT-2: tile.connect %{{.+}} in @l1
// Rows of 60 KiB do not fit it.
// WIDE: remark: @exp, @sum, @scale are one kernel: tiles of [{{[2-9]}}, 15360]{{.*}}; handed over in @l2
// FARTHER-COUNT-2: tile.connect %{{.+}} in @l2
// Rows of 6 MB do not fit the larger one.
// APART: remark: @exp to @sum: apart with [[#]] cycles predicted; second in @l1 with
// NOWHERE-NOT: tile.connect {{.+}} : tensor<4x1536000xf32>

#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

tile.graph @softmax inputs ["x"] outputs ["y"] : (tensor<4608x1536xf32>) -> tensor<4608x1536xf32> {
^bb0(%x: tensor<4608x1536xf32>):
  %e0 = tile.empty in @dram : tensor<4608x1536xf32>
  %e = tile.run "exp" @exp(%x) into(%e0) : (tensor<4608x1536xf32>, tensor<4608x1536xf32>) -> tensor<4608x1536xf32>
  %s0 = tile.empty in @dram : tensor<4608xf32>
  %s = tile.run "sum" @sum(%e) into(%s0) : (tensor<4608x1536xf32>, tensor<4608xf32>) -> tensor<4608xf32>
  %y0 = tile.empty in @dram : tensor<4608x1536xf32>
  %y = tile.run "scale" @scale(%e, %s) into(%y0) : (tensor<4608x1536xf32>, tensor<4608xf32>, tensor<4608x1536xf32>) -> tensor<4608x1536xf32>
  tile.output %y : tensor<4608x1536xf32>
}
tile.kernel @exp {
^bb0(%x: tensor<4608x1536xf32>, %o: tensor<4608x1536xf32>):
  %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4608x1536xf32>) outs(%o : tensor<4608x1536xf32>) {
  ^bb0(%u: f32, %v: f32):
    %t = math.exp %u : f32
    linalg.yield %t : f32
  } -> tensor<4608x1536xf32>
  tile.yield %r : tensor<4608x1536xf32>
}
tile.kernel @sum {
^bb0(%x: tensor<4608x1536xf32>, %o: tensor<4608xf32>):
  %f = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%o : tensor<4608xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<4608xf32>
  %r = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4608x1536xf32>) outs(%f : tensor<4608xf32>) {
  ^bb0(%u: f32, %v: f32):
    %t = arith.addf %v, %u : f32
    linalg.yield %t : f32
  } -> tensor<4608xf32>
  tile.yield %r : tensor<4608xf32>
}
tile.kernel @scale {
^bb0(%x: tensor<4608x1536xf32>, %s: tensor<4608xf32>, %o: tensor<4608x1536xf32>):
  %r = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<4608x1536xf32>, tensor<4608xf32>) outs(%o : tensor<4608x1536xf32>) {
  ^bb0(%u: f32, %q: f32, %v: f32):
    %t = arith.mulf %u, %q : f32
    linalg.yield %t : f32
  } -> tensor<4608x1536xf32>
  tile.yield %r : tensor<4608x1536xf32>
}
