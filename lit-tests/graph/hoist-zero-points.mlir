// Zero points and signs go behind the sums, so that an instruction means the product. The interpreter gives the same.
// RUN: weft-opt %s --check-eval
// RUN: weft-opt %s --graph-hoist-zero-points | FileCheck %s --check-prefix=WITHOUT
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/dots.mlir --graph-hoist-zero-points=hoist=false | FileCheck %s --check-prefix=WITHOUT
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/dots.mlir --graph-hoist-zero-points=remarks=true 2>&1 | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/dots.mlir --graph-hoist-zero-points --check-eval

// CHECK-COUNT-6: remark: has its zero points behind the sums, for @dot
//     CHECK-NOT: remark:

#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
#n = affine_map<(i, j, k) -> ()>
#r = affine_map<(i, j, k) -> (i)>
#l = affine_map<(i, j, k) -> (j)>

// (200 - 100) * (3 + 2) + (7 - 100) * (-128 + 2) = 12218, and (200 - 100) * (-1 + 2) + (7 - 100) * (5 + 2) = -551.
// Each factor is multiplied with, and summed alone for the other's zero point.
//   WITHOUT-LABEL: @both
//         WITHOUT:   arith.subi
//     CHECK-LABEL: @both
//           CHECK:   %[[A:.+]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.+}}, %{{.+}} : tensor<1x2xi8>, tensor<2x2xi8>)
//           CHECK:     arith.extui
//           CHECK:     arith.extsi
//       CHECK-NOT:     arith.subi
//           CHECK:     linalg.yield
//           CHECK:   linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.+}} : tensor<1x2xi8>)
//           CHECK:   linalg.generic {{.*}} ins(%{{.+}} : tensor<2x2xi8>)
//           CHECK:   linalg.generic {{.*}} ins(%[[A]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} : tensor<1x2xi32>, tensor<1xi32>, tensor<2xi32>, tensor<i8>, tensor<i8>)
func.func @both() -> tensor<1x2xi32> attributes {check.expect = [dense<[[12218, -551]]> : tensor<1x2xi32>]} {
  %zero = arith.constant 0 : i32
  %x = arith.constant dense<[[200, 7]]> : tensor<1x2xi8>
  %y = arith.constant dense<[[3, -1], [-128, 5]]> : tensor<2x2xi8>
  %p = arith.constant dense<100> : tensor<i8>
  %q = arith.constant dense<-2> : tensor<i8>
  %e = tensor.empty() : tensor<1x2xi32>
  %s = linalg.fill ins(%zero : i32) outs(%e : tensor<1x2xi32>) -> tensor<1x2xi32>
  %o = linalg.generic {indexing_maps = [#a, #b, #n, #n, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y, %p, %q : tensor<1x2xi8>, tensor<2x2xi8>, tensor<i8>, tensor<i8>) outs(%s : tensor<1x2xi32>) {
  ^bb0(%l: i8, %m: i8, %u: i8, %v: i8, %n: i32):
    %0 = arith.extui %l : i8 to i32
    %1 = arith.extui %u : i8 to i32
    %2 = arith.subi %0, %1 : i32
    %3 = arith.extsi %m : i8 to i32
    %4 = arith.extsi %v : i8 to i32
    %5 = arith.subi %3, %4 : i32
    %6 = arith.muli %5, %2 : i32
    %7 = arith.addi %6, %n : i32
    linalg.yield %7 : i32
  } -> tensor<1x2xi32>
  return %o : tensor<1x2xi32>
}

// Two signed factors: the first loses its sign, 128 times the other's sums come off.
//     CHECK-LABEL: @signed
//           CHECK:   %[[FLIP:.+]] = linalg.generic {{.*}} ins(%{{.+}} : tensor<1x2xi8>)
//           CHECK:     arith.constant -128 : i8
//           CHECK:     arith.xori
//           CHECK:   linalg.generic {{.*}} ins(%[[FLIP]], %{{.+}} : tensor<1x2xi8>, tensor<2x1xi8>)
//           CHECK:     arith.extui
//           CHECK:     arith.constant 128 : i32
func.func @signed(%x: tensor<1x2xi8>) -> tensor<1x1xi32> {
  %zero = arith.constant 0 : i32
  %y = arith.constant dense<[[3], [-128]]> : tensor<2x1xi8>
  %e = tensor.empty() : tensor<1x1xi32>
  %s = linalg.fill ins(%zero : i32) outs(%e : tensor<1x1xi32>) -> tensor<1x1xi32>
  %o = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<1x2xi8>, tensor<2x1xi8>) outs(%s : tensor<1x1xi32>) {
  ^bb0(%l: i8, %m: i8, %n: i32):
    %0 = arith.extsi %l : i8 to i32
    %1 = arith.extsi %m : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %n, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<1x1xi32>
  return %o : tensor<1x1xi32>
}

// Of two constants each takes the other's place, with a zero point for each row and for each column:
// (-128 - 5) * (200 - 9) + (127 - 5) * (0 - 9) = -26501, and with -3 in the second row (-3 + 128) * 191 + (0 + 128) * -9 = 22723.
//     CHECK-LABEL: @wrong_way
//       CHECK-NOT:   arith.xori
//           CHECK:   return
func.func @wrong_way() -> tensor<2x1xi32> attributes {check.expect = [dense<[[-26501], [22723]]> : tensor<2x1xi32>]} {
  %zero = arith.constant 0 : i32
  %x = arith.constant dense<[[-128, 127], [-3, 0]]> : tensor<2x2xi8>
  %y = arith.constant dense<[[200], [0]]> : tensor<2x1xi8>
  %p = arith.constant dense<[5, -128]> : tensor<2xi8>
  %q = arith.constant dense<[9]> : tensor<1xi8>
  %e = tensor.empty() : tensor<2x1xi32>
  %s = linalg.fill ins(%zero : i32) outs(%e : tensor<2x1xi32>) -> tensor<2x1xi32>
  %o = linalg.generic {indexing_maps = [#a, #b, #r, #l, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y, %p, %q : tensor<2x2xi8>, tensor<2x1xi8>, tensor<2xi8>, tensor<1xi8>) outs(%s : tensor<2x1xi32>) {
  ^bb0(%l: i8, %m: i8, %u: i8, %v: i8, %n: i32):
    %0 = arith.extsi %l : i8 to i32
    %1 = arith.extsi %u : i8 to i32
    %2 = arith.subi %0, %1 : i32
    %3 = arith.extui %m : i8 to i32
    %4 = arith.extui %v : i8 to i32
    %5 = arith.subi %3, %4 : i32
    %6 = arith.muli %2, %5 : i32
    %7 = arith.addi %n, %6 : i32
    linalg.yield %7 : i32
  } -> tensor<2x1xi32>
  return %o : tensor<2x1xi32>
}

// What comes in every run stays the factor for all lanes, and both change their signs.
//     CHECK-LABEL: @both_signs
//   CHECK-COUNT-2:   arith.xori
//           CHECK:   return
func.func @both_signs(%x: tensor<1x2xi8>) -> tensor<1x1xi32> {
  %zero = arith.constant 0 : i32
  %y = arith.constant dense<[[3], [200]]> : tensor<2x1xi8>
  %e = tensor.empty() : tensor<1x1xi32>
  %s = linalg.fill ins(%zero : i32) outs(%e : tensor<1x1xi32>) -> tensor<1x1xi32>
  %o = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<1x2xi8>, tensor<2x1xi8>) outs(%s : tensor<1x1xi32>) {
  ^bb0(%l: i8, %m: i8, %n: i32):
    %0 = arith.extsi %l : i8 to i32
    %1 = arith.extui %m : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %n, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<1x1xi32>
  return %o : tensor<1x1xi32>
}

// A zero point of zero is none: no sums of one factor alone.
//     CHECK-LABEL: @nothing
//           CHECK:   linalg.generic
//       CHECK-NOT:   linalg.generic
//           CHECK:   return
func.func @nothing() -> tensor<1x1xi32> attributes {check.expect = [dense<215> : tensor<1x1xi32>]} {
  %zero = arith.constant 0 : i32
  %x = arith.constant dense<[[200, 5]]> : tensor<1x2xi8>
  %y = arith.constant dense<[[1], [3]]> : tensor<2x1xi8>
  %p = arith.constant dense<0> : tensor<i8>
  %e = tensor.empty() : tensor<1x1xi32>
  %s = linalg.fill ins(%zero : i32) outs(%e : tensor<1x1xi32>) -> tensor<1x1xi32>
  %o = linalg.generic {indexing_maps = [#a, #b, #n, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y, %p : tensor<1x2xi8>, tensor<2x1xi8>, tensor<i8>) outs(%s : tensor<1x1xi32>) {
  ^bb0(%l: i8, %m: i8, %u: i8, %n: i32):
    %0 = arith.extui %l : i8 to i32
    %1 = arith.extui %u : i8 to i32
    %2 = arith.subi %0, %1 : i32
    %3 = arith.extsi %m : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.addi %n, %4 : i32
    linalg.yield %5 : i32
  } -> tensor<1x1xi32>
  return %o : tensor<1x1xi32>
}

// Sums wrap: 2^31 - 1 + (255 - 0) * 127 from where they start.
//     CHECK-LABEL: @wraps
func.func @wraps() -> tensor<1x1xi32> attributes {check.expect = [dense<-2147451264> : tensor<1x1xi32>]} {
  %start = arith.constant dense<2147483647> : tensor<1x1xi32>
  %x = arith.constant dense<-1> : tensor<1x1xi8>
  %y = arith.constant dense<127> : tensor<1x1xi8>
  %p = arith.constant dense<0> : tensor<i8>
  %o = linalg.generic {indexing_maps = [#a, #b, #n, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y, %p : tensor<1x1xi8>, tensor<1x1xi8>, tensor<i8>) outs(%start : tensor<1x1xi32>) {
  ^bb0(%l: i8, %m: i8, %u: i8, %n: i32):
    %0 = arith.extui %l : i8 to i32
    %1 = arith.extui %u : i8 to i32
    %2 = arith.subi %0, %1 : i32
    %3 = arith.extsi %m : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.addi %n, %4 : i32
    linalg.yield %5 : i32
  } -> tensor<1x1xi32>
  return %o : tensor<1x1xi32>
}

// What the instruction means already stays, and so do: a zero point that moves along the reduction, a square, a factor
// that is subtracted from the other, too, sums of other types.
//     CHECK-LABEL: @others
//       CHECK-NOT:   arith.xori
//   CHECK-COUNT-2:   arith.subi
//       CHECK-NOT:   arith.xori
//           CHECK:   return
func.func @others(%x: tensor<1x4xi8>, %y: tensor<4x1xi8>, %p: tensor<4xi8>, %s: tensor<1x1xi32>, %t: tensor<1x1xi16>)
    -> (tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi16>) {
  %same = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<1x4xi8>, tensor<4x1xi8>) outs(%s : tensor<1x1xi32>) {
  ^bb0(%l: i8, %m: i8, %n: i32):
    %0 = arith.extui %l : i8 to i32
    %1 = arith.extsi %m : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %n, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<1x1xi32>
  %moves = linalg.generic {indexing_maps = [#a, #b, affine_map<(i, j, k) -> (k)>, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y, %p : tensor<1x4xi8>, tensor<4x1xi8>, tensor<4xi8>) outs(%s : tensor<1x1xi32>) {
  ^bb0(%l: i8, %m: i8, %u: i8, %n: i32):
    %0 = arith.extui %l : i8 to i32
    %1 = arith.extui %u : i8 to i32
    %2 = arith.subi %0, %1 : i32
    %3 = arith.extsi %m : i8 to i32
    %4 = arith.muli %2, %3 : i32
    %5 = arith.addi %n, %4 : i32
    linalg.yield %5 : i32
  } -> tensor<1x1xi32>
  %square = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<1x4xi8>, tensor<4x1xi8>) outs(%s : tensor<1x1xi32>) {
  ^bb0(%l: i8, %m: i8, %n: i32):
    %0 = arith.extsi %l : i8 to i32
    %1 = arith.muli %0, %0 : i32
    %2 = arith.addi %n, %1 : i32
    linalg.yield %2 : i32
  } -> tensor<1x1xi32>
  %both = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<1x4xi8>, tensor<4x1xi8>) outs(%s : tensor<1x1xi32>) {
  ^bb0(%l: i8, %m: i8, %n: i32):
    %0 = arith.extsi %l : i8 to i32
    %1 = arith.extsi %m : i8 to i32
    %2 = arith.subi %1, %0 : i32
    %3 = arith.muli %0, %2 : i32
    %4 = arith.addi %n, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<1x1xi32>
  %half = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<1x4xi8>, tensor<4x1xi8>) outs(%t : tensor<1x1xi16>) {
  ^bb0(%l: i8, %m: i8, %n: i16):
    %0 = arith.extsi %l : i8 to i16
    %1 = arith.extsi %m : i8 to i16
    %2 = arith.muli %0, %1 : i16
    %3 = arith.addi %n, %2 : i16
    linalg.yield %3 : i16
  } -> tensor<1x1xi16>
  return %same, %moves, %square, %both, %half : tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi32>, tensor<1x1xi16>
}
