// Rows as parts of their sums of exponentials.
func.func @softmax(%x: tensor<45x203xf32>) -> tensor<45x203xf32> {
  %n = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %m = tosa.reduce_max %x {axis = 1 : i32} : (tensor<45x203xf32>) -> tensor<45x1xf32>
  %d = tosa.sub %x, %m : (tensor<45x203xf32>, tensor<45x1xf32>) -> tensor<45x203xf32>
  %e = tosa.exp %d : (tensor<45x203xf32>) -> tensor<45x203xf32>
  %t = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<45x203xf32>) -> tensor<45x1xf32>
  %r = tosa.reciprocal %t : (tensor<45x1xf32>) -> tensor<45x1xf32>
  %p = tosa.mul %e, %r, %n : (tensor<45x203xf32>, tensor<45x1xf32>, tensor<1xi8>) -> tensor<45x203xf32>
  return %p : tensor<45x203xf32>
}
