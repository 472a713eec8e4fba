// Of a tensor that is filled before a box of it is written, only what lies around the box is filled.
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-fill-borders=borders=all | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-fill-borders=remarks=true 2>%t | FileCheck %s --check-prefix=CHEAPER
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not=remark < %t
// RUN: weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-fill-borders=borders=none | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt %s --device-load-machine=file=%devices/x86-avx2.mlir --tile-fill-borders=borders=some 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: tile-fill-borders: unknown value 'some' for option 'borders'; expected 'cheaper', 'all' or 'none'

#d3 = affine_map<(c, y, x) -> (c, y, x)>
#d2 = affine_map<(i, j) -> (i, j)>

// One row and one column on each side: the rows in steps of 61, then the columns of all channels' rows.
// CHECK-LABEL: tile.graph @even
//       CHECK:   %[[E:.+]] = tile.empty in @dram : tensor<16x62x62xf32>
//       CHECK:   %[[ROWS:.+]] = tile.run "pad" @inside_border() into(%[[E]])
//       CHECK:   %[[SEEN:.+]] = tile.view %[[ROWS]] : tensor<16x62x62xf32> to tensor<992x62xf32>
//       CHECK:   %[[FILLED:.+]] = tile.run "pad" @inside_border_1() into(%[[SEEN]])
//       CHECK:   %[[INIT:.+]] = tile.view %[[FILLED]]
//       CHECK:   tile.run "pad" @inside(%arg0) into(%[[INIT]])
// What merely copies waits for what the fill brings now, so behind caches all is filled still.
// CHEAPER-LABEL: tile.graph @even
//       CHEAPER:   tile.run "pad" @fill() into
//  CHEAPER-NEXT:   tile.run "pad" @inside(%arg0) into
tile.graph @even inputs ["x"] outputs ["y"] : (tensor<16x60x60xf32>) -> tensor<16x62x62xf32> {
^bb0(%x: tensor<16x60x60xf32>):
  %g = tile.empty in @dram : tensor<16x62x62xf32>
  %f = tile.run "pad" @fill() into(%g) : (tensor<16x62x62xf32>) -> tensor<16x62x62xf32>
  %y = tile.run "pad" @inside(%x) into(%f) : (tensor<16x60x60xf32>, tensor<16x62x62xf32>) -> tensor<16x62x62xf32>
  tile.output %y : tensor<16x62x62xf32>
}

// Two rows before and none behind, no columns: one part.
// CHECK-LABEL: tile.graph @above
//       CHECK:   tile.run "pad" @below_border() into
//  CHECK-NEXT:   tile.view
//  CHECK-NEXT:   tile.run "pad" @below(%arg0) into
tile.graph @above inputs ["x"] outputs ["y"] : (tensor<6000x8xf32>) -> tensor<6002x8xf32> {
^bb0(%x: tensor<6000x8xf32>):
  %g = tile.empty in @dram : tensor<6002x8xf32>
  %f = tile.run "pad" @fill_rows() into(%g) : (tensor<6002x8xf32>) -> tensor<6002x8xf32>
  %y = tile.run "pad" @below(%x) into(%f) : (tensor<6000x8xf32>, tensor<6002x8xf32>) -> tensor<6002x8xf32>
  tile.output %y : tensor<6002x8xf32>
}

// Somebody else reads what was filled, too.
// CHECK-LABEL: tile.graph @read
//       CHECK:   tile.run "pad" @fill_rows() into
//  CHECK-NEXT:   tile.run "pad" @below(%arg0) into
tile.graph @read inputs ["x"] outputs ["y", "z"] : (tensor<6000x8xf32>) -> (tensor<6002x8xf32>, tensor<6002x8xf32>) {
^bb0(%x: tensor<6000x8xf32>):
  %g = tile.empty in @dram : tensor<6002x8xf32>
  %f = tile.run "pad" @fill_rows() into(%g) : (tensor<6002x8xf32>) -> tensor<6002x8xf32>
  %y = tile.run "pad" @below(%x) into(%f) : (tensor<6000x8xf32>, tensor<6002x8xf32>) -> tensor<6002x8xf32>
  tile.output %y, %f : tensor<6002x8xf32>, tensor<6002x8xf32>
}

// What is added to the fill needs all of it.
// CHECK-LABEL: tile.graph @added
//       CHECK:   tile.run "pad" @fill_rows() into
tile.graph @added inputs ["x"] outputs ["y"] : (tensor<6000x8xf32>) -> tensor<6002x8xf32> {
^bb0(%x: tensor<6000x8xf32>):
  %g = tile.empty in @dram : tensor<6002x8xf32>
  %f = tile.run "pad" @fill_rows() into(%g) : (tensor<6002x8xf32>) -> tensor<6002x8xf32>
  %y = tile.run "add" @add_below(%x) into(%f) : (tensor<6000x8xf32>, tensor<6002x8xf32>) -> tensor<6002x8xf32>
  tile.output %y : tensor<6002x8xf32>
}

// A product computes longer than its tensors come and go.
// REMARK: remark: @product: before it a border is filled with {{[0-9]+}} cycles predicted; second all of the tensor with {{[0-9]+}}
//   CHEAPER-LABEL: tile.graph @computed
//         CHEAPER:   tile.run "pad" @product_border() into
//         CHEAPER:   tile.run "pad" @product_border_1() into
//    CHEAPER-NEXT:   tile.run "mm" @product(%arg0, %arg1) into
//      NONE-LABEL: tile.graph @computed
//            NONE:   tile.run "pad" @fill_all() into
//       NONE-NEXT:   tile.run "mm" @product(%arg0, %arg1) into
tile.graph @computed inputs ["a", "b"] outputs ["y"] : (tensor<510x510xf32>, tensor<510x510xf32>) -> tensor<512x512xf32> {
^bb0(%a: tensor<510x510xf32>, %b: tensor<510x510xf32>):
  %g = tile.empty in @dram : tensor<512x512xf32>
  %f = tile.run "pad" @fill_all() into(%g) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %y = tile.run "mm" @product(%a, %b) into(%f) : (tensor<510x510xf32>, tensor<510x510xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  tile.output %y : tensor<512x512xf32>
}

//   CHECK-NOT: tile.kernel @fill {
tile.kernel @fill_all {
^bb0(%o: tensor<512x512xf32>):
  %r = linalg.generic {indexing_maps = [#d2], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<512x512xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<512x512xf32>
  tile.yield %r : tensor<512x512xf32>
}
tile.kernel @product {
^bb0(%a: tensor<510x510xf32>, %b: tensor<510x510xf32>, %o: tensor<512x512xf32>):
  %s = tensor.extract_slice %o[1, 1] [510, 510] [1, 1] : tensor<512x512xf32> to tensor<510x510xf32>
  %f = linalg.generic {indexing_maps = [#d2], iterator_types = ["parallel", "parallel"]} outs(%s : tensor<510x510xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<510x510xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<510x510xf32>, tensor<510x510xf32>) outs(%f : tensor<510x510xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<510x510xf32>
  %i = tensor.insert_slice %r into %o[1, 1] [510, 510] [1, 1] : tensor<510x510xf32> into tensor<512x512xf32>
  tile.yield %i : tensor<512x512xf32>
}
tile.kernel @fill {
^bb0(%o: tensor<16x62x62xf32>):
  %r = linalg.generic {indexing_maps = [#d3], iterator_types = ["parallel", "parallel", "parallel"]} outs(%o : tensor<16x62x62xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<16x62x62xf32>
  tile.yield %r : tensor<16x62x62xf32>
}
tile.kernel @inside {
^bb0(%x: tensor<16x60x60xf32>, %o: tensor<16x62x62xf32>):
  %r = linalg.generic {indexing_maps = [#d3, affine_map<(c, y, x) -> (c, y + 1, x + 1)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<16x60x60xf32>) outs(%o : tensor<16x62x62xf32>) {
  ^bb0(%p: f32, %v: f32):
    linalg.yield %p : f32
  } -> tensor<16x62x62xf32>
  tile.yield %r : tensor<16x62x62xf32>
}
tile.kernel @fill_rows {
^bb0(%o: tensor<6002x8xf32>):
  %r = linalg.generic {indexing_maps = [#d2], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<6002x8xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 1.0 : f32
    linalg.yield %z : f32
  } -> tensor<6002x8xf32>
  tile.yield %r : tensor<6002x8xf32>
}
tile.kernel @below {
^bb0(%x: tensor<6000x8xf32>, %o: tensor<6002x8xf32>):
  %r = linalg.generic {indexing_maps = [#d2, affine_map<(i, j) -> (i + 2, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<6000x8xf32>) outs(%o : tensor<6002x8xf32>) {
  ^bb0(%p: f32, %v: f32):
    linalg.yield %p : f32
  } -> tensor<6002x8xf32>
  tile.yield %r : tensor<6002x8xf32>
}
tile.kernel @add_below {
^bb0(%x: tensor<6000x8xf32>, %o: tensor<6002x8xf32>):
  %r = linalg.generic {indexing_maps = [#d2, affine_map<(i, j) -> (i + 2, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<6000x8xf32>) outs(%o : tensor<6002x8xf32>) {
  ^bb0(%p: f32, %v: f32):
    %s = arith.addf %p, %v : f32
    linalg.yield %s : f32
  } -> tensor<6002x8xf32>
  tile.yield %r : tensor<6002x8xf32>
}

// The rows and the columns of the border.
// CHECK: tile.kernel @inside_border {
// CHECK:   tensor.insert_slice %{{.+}} into %{{.+}}[0, 0, 0] [16, 2, 62] [1, 61, 1]
// CHECK: tile.kernel @inside_border_1 {
// CHECK:   tensor.insert_slice %{{.+}} into %{{.+}}[0, 0] [992, 2] [1, 61] : tensor<992x2xf32> into tensor<992x62xf32>
// CHECK: tile.kernel @below_border {
// CHECK:   tensor.insert_slice %{{.+}} into %{{.+}}[0] [16] [1] : tensor<16xf32> into tensor<48016xf32>
