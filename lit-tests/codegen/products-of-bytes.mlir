// Products of bytes, summed in 32 bits, by what each file for a processor has for them. Whether an instruction does as it
// means is what `weft devices` tries.
// RUN: weft compile %s --device x86-avx2 --emit asm -o - | FileCheck %s --check-prefixes=PAIRS,BOTH
// RUN: weft compile %s --device x86-avx2+avxvnni --emit asm -o - | FileCheck %s --check-prefixes=QUADS,BOTH
// RUN: weft compile %s --device x86-avx512+avx512vnni --emit asm -o - | FileCheck %s --check-prefixes=WIDE,BOTH

// PAIRS-NOT: vpdpbusd
//     PAIRS: vpmaddwd {{.*}}%ymm
// QUADS-NOT: vpmaddwd
//     QUADS: vpdpbusd {{.*}}%ymm
//      WIDE: vpdpbusd {{.*}}%zmm
//  BOTH-NOT: vpmulld
func.func @m(%x: tensor<64x128xi8>, %w: tensor<128x64xi8>) -> tensor<64x64xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x64xi32>
  %s = linalg.fill ins(%zero : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]
  } ins(%x, %w : tensor<64x128xi8>, tensor<128x64xi8>) outs(%s : tensor<64x64xi32>) {
  ^bb0(%p: i8, %q: i8, %v: i32):
    %a = arith.extui %p : i8 to i32
    %b = arith.extsi %q : i8 to i32
    %c = arith.muli %a, %b : i32
    %d = arith.addi %v, %c : i32
    linalg.yield %d : i32
  } -> tensor<64x64xi32>
  return %y : tensor<64x64xi32>
}
