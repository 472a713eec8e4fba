// What there was to choose from, on a machine of threads in step.
// RUN: weft-opt %s --device-load-machine=file=%devices/golden/v100.mlir --tile-construct-rtiles=remarks=true -o /dev/null 2>&1 | FileCheck %s

// CHECK: remark: @mm: reuse tile [{{[0-9]+, [0-9]+, [0-9]+}}] of [d0, d1, d2] in @smem, [{{[0-9]+, [0-9]+}}] in @reg: {{[0-9]+}} B of traffic and {{[0-9]+}} B of @smem a block, {{.+}} % of waste, {{.+}} ms predicted
tile.kernel @mm {
^bb0(%a: tensor<1024x512xf32>, %b: tensor<512x1000xf32>, %c: tensor<1024x1000xf32>):
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<1024x512xf32>, tensor<512x1000xf32>) outs(%c : tensor<1024x1000xf32>) {
  ^bb0(%x: f32, %y: f32, %sum: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %sum, %p : f32
    linalg.yield %s : f32
  } -> tensor<1024x1000xf32>
  tile.yield %0 : tensor<1024x1000xf32>
}

// CHECK: remark: @few: no aligned tile: no tile of [3] has a multiple of 32 threads that computes at most twice of it along an axis; a last axis of {{[0-9]+}} would do
tile.kernel @few {
^bb0(%x: tensor<3xf32>, %y: tensor<3xf32>):
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]} ins(%x : tensor<3xf32>) outs(%y : tensor<3xf32>) {
  ^bb0(%a: f32, %unused: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<3xf32>
  tile.yield %0 : tensor<3xf32>
}
