#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>

// Rows minus their mean, over their deviation; the sum is read by what comes after, too.
func.func @norm(%a: tensor<45x40xf32>, %b: tensor<45x40xf32>) -> (tensor<45x40xf32>, tensor<45x40xf32>) {
  %zero = arith.constant 0.0 : f32
  %little = arith.constant 4.0e-4 : f32
  %count = arith.constant 40.0 : f32
  %er = tensor.empty() : tensor<45xf32>
  %ex = tensor.empty() : tensor<45x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<45xf32>) -> tensor<45xf32>
  %eq = tensor.empty() : tensor<45xf32>
  %zq = linalg.fill ins(%little : f32) outs(%eq : tensor<45xf32>) -> tensor<45xf32>
  %x = linalg.add ins(%a, %b : tensor<45x40xf32>, tensor<45x40xf32>) outs(%ex : tensor<45x40xf32>) -> tensor<45x40xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<45x40xf32>) outs(%zr : tensor<45xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<45xf32>
  %q = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]} ins(%x, %s : tensor<45x40xf32>, tensor<45xf32>) outs(%zq : tensor<45xf32>) {
  ^bb0(%p: f32, %m: f32, %o: f32):
    %c = arith.divf %m, %count : f32
    %d = arith.subf %p, %c : f32
    %e = arith.mulf %d, %d : f32
    %t = arith.addf %o, %e : f32
    linalg.yield %t : f32
  } -> tensor<45xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%x, %s, %q : tensor<45x40xf32>, tensor<45xf32>, tensor<45xf32>) outs(%ex : tensor<45x40xf32>) {
  ^bb0(%p: f32, %m: f32, %v: f32, %o: f32):
    %c = arith.divf %m, %count : f32
    %d = arith.subf %p, %c : f32
    %w = arith.divf %v, %count : f32
    %r = math.sqrt %w : f32
    %t = arith.divf %d, %r : f32
    linalg.yield %t : f32
  } -> tensor<45x40xf32>
  return %y, %x : tensor<45x40xf32>, tensor<45x40xf32>
}
