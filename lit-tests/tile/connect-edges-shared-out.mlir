// Two kernels that take as long together as apart on one unit are joined where one handover between
// units is less than two: rows of a softmax stay with the unit that has found their maximum. On one
// unit nothing is saved, and a group that would lose there stays apart.
//
// RUN: weft compile %s --device x86-avx512 --emit tile --remarks --pass-option tile-connect-edges.remarks=true -o /dev/null 2>&1 | FileCheck %s
// RUN: weft compile %s --device x86-avx512 --emit task -o - | FileCheck %s --check-prefix=TASK
//
// CHECK: in @l1 with [[#]] cycles predicted; second apart with [[#]]
// TASK: task.range {{.+}}[0 to 1] on 0
// TASK: task.range {{.+}}[1 to 2] on 1
// TASK-NOT: task.range
// TASK: tile.kernel
// TASK: tile.empty in @l1 at 0

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @rows(%x: tensor<64x2048xf32>) -> tensor<64x2048xf32> {
  %least = arith.constant 0xFF800000 : f32
  %rows = tensor.empty() : tensor<64xf32>
  %first = linalg.fill ins(%least : f32) outs(%rows : tensor<64xf32>) -> tensor<64xf32>
  %most = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x2048xf32>) outs(%first : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<64xf32>
  %room = tensor.empty() : tensor<64x2048xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %most : tensor<64x2048xf32>, tensor<64xf32>) outs(%room : tensor<64x2048xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<64x2048xf32>
  return %e : tensor<64x2048xf32>
}
