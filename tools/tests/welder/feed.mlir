func.func @feed(%x: tensor<1x35x24xf32>, %w: tensor<1x24x50xf32>, %b: tensor<1x1x50xf32>, %v: tensor<1x50x24xf32>) -> tensor<1x35x24xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %n = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %h = tosa.matmul %x, %w, %z, %z : (tensor<1x35x24xf32>, tensor<1x24x50xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x35x50xf32>
  %a = tosa.add %h, %b : (tensor<1x35x50xf32>, tensor<1x1x50xf32>) -> tensor<1x35x50xf32>
  %s = tosa.sigmoid %a : (tensor<1x35x50xf32>) -> tensor<1x35x50xf32>
  %g = tosa.mul %a, %s, %n : (tensor<1x35x50xf32>, tensor<1x35x50xf32>, tensor<1xi8>) -> tensor<1x35x50xf32>
  %o = tosa.matmul %g, %v, %z, %z : (tensor<1x35x50xf32>, tensor<1x50x24xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x35x24xf32>
  return %o : tensor<1x35x24xf32>
}
