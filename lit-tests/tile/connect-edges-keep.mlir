// Rows that a maximum and what takes it off both read come from the memory of the device once: a copy in the memory of a
// block hands them over. Where a unit has caches, they are read again from there; rows that do not fit stay where they are;
// and so does a tensor whose readers do not read each other.
//
// RUN: weft compile %s --device h200 --emit tile --pass-option tile-connect-edges.remarks=true -o %t.tile 2> %t.said
// RUN: FileCheck %s < %t.tile
// RUN: FileCheck %s --check-prefix=SAID < %t.said
// RUN: weft compile %s --device a100 --emit tile -o - | FileCheck %s
// RUN: weft compile %s --device x86-avx512 --emit tile -o - | FileCheck %s --check-prefix=APART
// RUN: weft compile %s --device h200 --emit tile --pass-option tile-connect-edges.joining=none -o - | FileCheck %s --check-prefix=APART
// RUN: sed 's/4096x2048/512x40960/g; s/4096xf32/512xf32/g' %s > %t.wide.mlir
// RUN: weft compile %t.wide.mlir --device h200 --emit tile -o - | FileCheck %s --check-prefix=APART
// RUN: sed 's/4096x2048/512x40960/g; s/4096xf32/512xf32/g' %S/../Inputs/rows-and-more.mlir > %t.more.mlir
// RUN: weft compile %t.more.mlir --device h200 --emit tile -o - | FileCheck %s --check-prefix=APART
// RUN: weft compile %S/../Inputs/rows-and-more.mlir --device h200 --emit tile -o - | FileCheck %s --check-prefix=MORE
//
// A reader that has nothing to do with the others reads the rows themselves.
//   MORE-LABEL: tile.graph @rows
//         MORE:   %[[KEPT:.+]] = tile.run "rows" @copy_near(%arg0)
//         MORE:   tile.connect %[[KEPT]] in @smem
//         MORE:   %[[ALL:.+]] = tile.view %arg0
//         MORE:   tile.run "rows" @{{.+}}(%[[ALL]])
//         MORE:   tile.output
//     MORE-NOT: tile.kernel @copy {
//
//  CHECK-LABEL: tile.graph @rows
//        CHECK:   %[[KEPT:.+]] = tile.run "rows" @[[COPY:copy_near]](%arg0)
//        CHECK:   %[[FIRST:.+]] = tile.connect %[[KEPT]] in @smem
//        CHECK:   tile.run "rows" @{{.+}}(%[[FIRST]])
//        CHECK:   %[[SECOND:.+]] = tile.connect %[[KEPT]] in @smem
//        CHECK:   tile.run "rows" @{{.+}}(%[[SECOND]],
//        CHECK:   tile.output
//  CHECK-LABEL: tile.graph @apart
//    CHECK-NOT:   @copy
//        CHECK:   tile.output
// The kernel that copies were tried with is gone, that of the group is there.
//    CHECK-NOT: tile.kernel @copy {
//    CHECK-DAG: tile.kernel @[[COPY]] {
//    APART-NOT: @copy
//         SAID: remark: what @{{.+}} reads is kept in @smem for @
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

func.func @rows(%x: tensor<4096x2048xf32>) -> tensor<4096x2048xf32> {
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
  return %y : tensor<4096x2048xf32>
}

func.func @apart(%x: tensor<4096x2048xf32>) -> (tensor<4096xf32>, tensor<4096xf32>) {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<4096xf32>
  %first = linalg.fill ins(%least : f32) outs(%rows : tensor<4096xf32>) -> tensor<4096xf32>
  %sums = linalg.fill ins(%zero : f32) outs(%rows : tensor<4096xf32>) -> tensor<4096xf32>
  %most = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4096x2048xf32>) outs(%first : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.maximumf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<4096xf32>
  %sum = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4096x2048xf32>) outs(%sums : tensor<4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    %m = arith.addf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<4096xf32>
  return %most, %sum : tensor<4096xf32>, tensor<4096xf32>
}
