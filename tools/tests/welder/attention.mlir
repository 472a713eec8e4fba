func.func @attention(%q: tensor<2x37x19xf32>, %k: tensor<2x19x29xf32>, %v: tensor<2x29x21xf32>) -> tensor<2x37x21xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %n = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %s = tosa.matmul %q, %k, %z, %z : (tensor<2x37x19xf32>, tensor<2x19x29xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x37x29xf32>
  %m = tosa.reduce_max %s {axis = 2 : i32} : (tensor<2x37x29xf32>) -> tensor<2x37x1xf32>
  %d = tosa.sub %s, %m : (tensor<2x37x29xf32>, tensor<2x37x1xf32>) -> tensor<2x37x29xf32>
  %e = tosa.exp %d : (tensor<2x37x29xf32>) -> tensor<2x37x29xf32>
  %t = tosa.reduce_sum %e {axis = 2 : i32} : (tensor<2x37x29xf32>) -> tensor<2x37x1xf32>
  %r = tosa.reciprocal %t : (tensor<2x37x1xf32>) -> tensor<2x37x1xf32>
  %p = tosa.mul %e, %r, %n : (tensor<2x37x29xf32>, tensor<2x37x1xf32>, tensor<1xi8>) -> tensor<2x37x29xf32>
  %o = tosa.matmul %p, %v, %z, %z : (tensor<2x37x29xf32>, tensor<2x29x21xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x37x21xf32>
  return %o : tensor<2x37x21xf32>
}
