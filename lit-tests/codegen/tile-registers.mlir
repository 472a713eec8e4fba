// Products in tile registers of a processor: sums stay in four of them, and factors come by rows.
// RUN: weft compile %s --device x86-avx512+avx512vnni+amx-int8+amx-tile --emit asm -o - | FileCheck %s
// RUN: weft compile %s --device x86-avx512+avx512vnni+amx-int8+amx-tile --emit device -o - | FileCheck %s --check-prefix=DEVICE

// Two rows of tiles and two columns; then bytes are made of the sums by lanes, in the cache.
//   DEVICE: device.alloc : memref<2x2x1x16x16xi32, "tmm">
//   DEVICE: device.alloc : memref<32x2x16xi32, "l1">
//   DEVICE: device.transfer @tile_store {{.+}} to memref<32x2x16xi32, "l1">
//   DEVICE: device.apply @valu
// CHECK: tilezero
// CHECK: tilezero
// CHECK: tilezero
// CHECK: tilezero
// CHECK-NOT: tilestored
// CHECK: tileloadd
// CHECK: tileloadd
// CHECK: tileloadd
// CHECK: tileloadd
// CHECK-COUNT-4: tdpbusd
// CHECK: tilestored
// CHECK: vpaddd
// CHECK: tilerelease
func.func @m(%x: tensor<256x256xi8>, %w: tensor<256x256xi8>, %b: tensor<256xi32>) -> tensor<256x256xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<256x256xi32>
  %s = linalg.fill ins(%zero : i32) outs(%e : tensor<256x256xi32>) -> tensor<256x256xi32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : tensor<256x256xi8>, tensor<256x256xi8>) outs(%s : tensor<256x256xi32>) {
  ^bb0(%p: i8, %q: i8, %v: i32):
    %a = arith.extui %p : i8 to i32
    %c = arith.extsi %q : i8 to i32
    %m = arith.muli %a, %c : i32
    %d = arith.addi %v, %m : i32
    linalg.yield %d : i32
  } -> tensor<256x256xi32>
  %z = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]
  } ins(%y, %b : tensor<256x256xi32>, tensor<256xi32>) outs(%e : tensor<256x256xi32>) {
  ^bb0(%p: i32, %q: i32, %o: i32):
    %r = arith.addi %p, %q : i32
    linalg.yield %r : i32
  } -> tensor<256x256xi32>
  return %z : tensor<256x256xi32>
}
