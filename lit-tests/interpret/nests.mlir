// Loop nests: maps, accumulation, value semantics, gathers, nothing at all.
// RUN: weft-opt %s --check-eval

func.func @matmul() -> tensor<2x2xi32> attributes {check.expect = [
    dense<[[119, 122], [143, 150]]> : tensor<2x2xi32>]} {
  %a = arith.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %b = arith.constant dense<[[5, 6], [7, 8]]> : tensor<2x2xi32>
  %c = arith.constant dense<100> : tensor<2x2xi32>
  %0 = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x2xi32>, tensor<2x2xi32>) outs(%c : tensor<2x2xi32>) {
  ^bb0(%x: i32, %y: i32, %sum: i32):
    %p = arith.muli %x, %y : i32
    %s = arith.addi %sum, %p : i32
    linalg.yield %s : i32
  } -> tensor<2x2xi32>
  return %0 : tensor<2x2xi32>
}

// linalg.matmul carries its maps, so it is read like any other nest.
func.func @named() -> tensor<1x1xf32> attributes {check.expect = [
    dense<11.0> : tensor<1x1xf32>]} {
  %a = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %b = arith.constant dense<[[3.0], [4.0]]> : tensor<2x1xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x1xf32>) -> tensor<1x1xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<1x2xf32>, tensor<2x1xf32>)
                     outs(%f : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// y[i] = sum over w of x[2 i + w].
func.func @window_with_stride() -> tensor<2xi32> attributes {check.expect = [
    dense<[6, 12]> : tensor<2xi32>]} {
  %x = arith.constant dense<[1, 2, 3, 4, 5]> : tensor<5xi32>
  %w = tensor.empty() : tensor<3xi32>
  %y = arith.constant dense<0> : tensor<2xi32>
  %0 = linalg.generic {
      indexing_maps = [affine_map<(i, w) -> (i * 2 + w)>, affine_map<(i, w) -> (w)>,
                       affine_map<(i, w) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<5xi32>, tensor<3xi32>) outs(%y : tensor<2xi32>) {
  ^bb0(%a: i32, %unused: i32, %sum: i32):
    %s = arith.addi %sum, %a : i32
    linalg.yield %s : i32
  } -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// What starts two sums is not changed by the first.
func.func @start_is_a_value() -> (tensor<i32>, tensor<i32>, tensor<i32>) attributes {check.expect = [
    dense<16> : tensor<i32>, dense<16> : tensor<i32>, dense<10> : tensor<i32>]} {
  %x = arith.constant dense<[1, 2, 3]> : tensor<3xi32>
  %e = tensor.empty() : tensor<i32>
  %ten = arith.constant 10 : i32
  %start = linalg.fill ins(%ten : i32) outs(%e : tensor<i32>) -> tensor<i32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                       iterator_types = ["reduction"]}
      ins(%x : tensor<3xi32>) outs(%start : tensor<i32>) {
  ^bb0(%a: i32, %sum: i32):
    %s = arith.addi %sum, %a : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
                       iterator_types = ["reduction"]}
      ins(%x : tensor<3xi32>) outs(%start : tensor<i32>) {
  ^bb0(%a: i32, %sum: i32):
    %s = arith.addi %sum, %a : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %0, %1, %start : tensor<i32>, tensor<i32>, tensor<i32>
}

// A sum over nothing is what it starts from, also where the body never reads that.
func.func @zero_sizes() -> (tensor<2xf32>, tensor<2xf32>, tensor<0x2xf32>) attributes {
    check.expect = [dense<7.0> : tensor<2xf32>, dense<7.0> : tensor<2xf32>,
                    dense<> : tensor<0x2xf32>]} {
  %x = arith.constant dense<> : tensor<2x0xf32>
  %y = arith.constant dense<7.0> : tensor<2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x0xf32>) outs(%y : tensor<2xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %s = arith.addf %sum, %a : f32
    linalg.yield %s : f32
  } -> tensor<2xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x0xf32>) outs(%y : tensor<2xf32>) {
  ^bb0(%a: f32, %sum: f32):
    linalg.yield %a : f32
  } -> tensor<2xf32>
  %e = tensor.empty() : tensor<0x2xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x0xf32>) outs(%e : tensor<0x2xf32>) {
  ^bb0(%a: f32, %old: f32):
    linalg.yield %a : f32
  } -> tensor<0x2xf32>
  return %0, %1, %2 : tensor<2xf32>, tensor<2xf32>, tensor<0x2xf32>
}

// y[i, j] = x[n[i], j], and the number of the element beside it.
func.func @gather() -> (tensor<3x2xf32>, tensor<3x2xi32>) attributes {check.expect = [
    dense<[[5.0, 6.0], [1.0, 2.0], [5.0, 6.0]]> : tensor<3x2xf32>,
    dense<[[0, 1], [2, 3], [4, 5]]> : tensor<3x2xi32>]} {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %n = arith.constant dense<[2, 0, 2]> : tensor<3xi64>
  %e = tensor.empty() : tensor<3x2xf32>
  %f = tensor.empty() : tensor<3x2xi32>
  %two = arith.constant 2 : index
  %0:2 = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%n : tensor<3xi64>) outs(%e, %f : tensor<3x2xf32>, tensor<3x2xi32>) {
  ^bb0(%row: i64, %old: f32, %old2: i32):
    %r = arith.index_cast %row : i64 to index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %v = tensor.extract %x[%r, %j] : tensor<3x2xf32>
    %at = arith.muli %i, %two : index
    %number = arith.addi %at, %j : index
    %number32 = arith.index_cast %number : index to i32
    linalg.yield %v, %number32 : f32, i32
  } -> (tensor<3x2xf32>, tensor<3x2xi32>)
  return %0#0, %0#1 : tensor<3x2xf32>, tensor<3x2xi32>
}
