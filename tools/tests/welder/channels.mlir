#image = affine_map<(c, y, x) -> (c, y, x)>
#pixel = affine_map<(c, y, x) -> (y, x)>
#mean = affine_map<(y, x, c) -> (y, x)>
#over = affine_map<(y, x, c) -> (c, y, x)>

// Pixels minus the mean of their channels, over their deviation: what is squared is one row of numbers to its
// kernel, and channels of pixels to the sum.
func.func @channels(%x: tensor<16x24x20xf32>) -> tensor<16x24x20xf32> {
  %zero = arith.constant 0.0 : f32
  %little = arith.constant 4.0e-4 : f32
  %count = arith.constant 16.0 : f32
  %ei = tensor.empty() : tensor<16x24x20xf32>
  %ep = tensor.empty() : tensor<24x20xf32>
  %zp = linalg.fill ins(%zero : f32) outs(%ep : tensor<24x20xf32>) -> tensor<24x20xf32>
  %zq = linalg.fill ins(%little : f32) outs(%ep : tensor<24x20xf32>) -> tensor<24x20xf32>
  %s = linalg.generic {indexing_maps = [#over, #mean], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<16x24x20xf32>) outs(%zp : tensor<24x20xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<24x20xf32>
  %d = linalg.generic {indexing_maps = [#image, #pixel, #image], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %s : tensor<16x24x20xf32>, tensor<24x20xf32>) outs(%ei : tensor<16x24x20xf32>) {
  ^bb0(%p: f32, %m: f32, %o: f32):
    %c = arith.divf %m, %count : f32
    %t = arith.subf %p, %c : f32
    linalg.yield %t : f32
  } -> tensor<16x24x20xf32>
  %q = linalg.mul ins(%d, %d : tensor<16x24x20xf32>, tensor<16x24x20xf32>) outs(%ei : tensor<16x24x20xf32>) -> tensor<16x24x20xf32>
  %v = linalg.generic {indexing_maps = [#over, #mean], iterator_types = ["parallel", "parallel", "reduction"]} ins(%q : tensor<16x24x20xf32>) outs(%zq : tensor<24x20xf32>) {
  ^bb0(%p: f32, %o: f32):
    %t = arith.addf %o, %p : f32
    linalg.yield %t : f32
  } -> tensor<24x20xf32>
  %y = linalg.generic {indexing_maps = [#image, #pixel, #image], iterator_types = ["parallel", "parallel", "parallel"]} ins(%d, %v : tensor<16x24x20xf32>, tensor<24x20xf32>) outs(%ei : tensor<16x24x20xf32>) {
  ^bb0(%p: f32, %m: f32, %o: f32):
    %w = arith.divf %m, %count : f32
    %r = math.sqrt %w : f32
    %t = arith.divf %p, %r : f32
    linalg.yield %t : f32
  } -> tensor<16x24x20xf32>
  return %y : tensor<16x24x20xf32>
}
