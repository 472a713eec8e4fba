// What is the greatest of each row is taken off it; and all of the rows are doubled.
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

func.func @rows(%x: tensor<4096x2048xf32>) -> (tensor<4096x2048xf32>, tensor<4096x2048xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %rows = tensor.empty() : tensor<4096xf32>
  %first = linalg.fill ins(%least : f32) outs(%rows : tensor<4096xf32>) -> tensor<4096xf32>
  %most = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4096x2048xf32>) outs(%first : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<4096xf32>
  %room = tensor.empty() : tensor<4096x2048xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x, %most : tensor<4096x2048xf32>, tensor<4096xf32>) outs(%room : tensor<4096x2048xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    linalg.yield %d : f32
  } -> tensor<4096x2048xf32>
  %more = tensor.empty() : tensor<4096x2048xf32>
  %z = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4096x2048xf32>) outs(%more : tensor<4096x2048xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.addf %a, %a : f32
    linalg.yield %d : f32
  } -> tensor<4096x2048xf32>
  return %y, %z : tensor<4096x2048xf32>, tensor<4096x2048xf32>
}
