// The tiles of a step come as boxes of their tensors by coordinates: one transfer for each tensor, a token for each, for
// boxes come in any order. One thread asks, all wait for the phase of a barrier that counts bytes. Groups do not wait for
// each other: they arrive, and who asks waits for that.
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=4000,n=4000,k=4000 --dtype f16 --device h200 --emit tile -o %t.mlir
// RUN: sed -i 's/on @wgmma.*because/on @wgmma_m64n128k16_f16_kn axes [0, 1, 2] tiles [#tile.rtile<"smem"[128, 128, 64]>, #tile.rtile<"acc"[64, 128, 16]>] layouts [array<i64: 2, 64, 3, 3, 3>, array<i64: 1, 64, 3, 3, 3>] schedule <ahead = @stage_boxes, stages = 4> because/' %t.mlir
// RUN: weft compile %t.mlir --emit device -o - | FileCheck %s
// RUN: weft compile %t.mlir --emit ptx -o - | FileCheck %s --check-prefix=PTX
//
//       CHECK: device.kernel @expression_0_1 tasks 1024 groups 2
//       CHECK:   %[[A:.+]] = device.alloc swizzle [3, 3, 3] : memref<4x1x128x64xf16, "smem">
//       CHECK:   %[[B:.+]] = device.alloc swizzle [3, 3, 3] : memref<4x2x64x64xf16, "smem">
//       CHECK:   device.transfer @stage_boxes %arg1[{{.+}}] to %[[A]][{{.+}}] sizes [128, 1, 64] from_strides [4000, 64, 1] to_strides [64, 8192, 1] limits({{.+}}) steps [1, 0, 0, 0, 64, 1] pads
//       CHECK:   device.transfer @stage_boxes %arg2[{{.+}}] to %[[B]][{{.+}}] sizes [64, 2, 64] from_strides [4000, 64, 1] to_strides [64, 4096, 1]
//       CHECK:   scf.for {{.+}} iter_args(%[[ROWS:.+]] = %{{.+}}, %[[COLUMNS:.+]] = %{{.+}}, %[[LATER:.+]] = %{{.+}}, %[[LAST:.+]] = %{{.+}}, %[[BEFORE:.+]] = %{{.+}}, %[[FREE:.+]] = %{{.+}})
//  CHECK-NEXT:     device.wait %[[ROWS]], %[[COLUMNS]]
//   CHECK-NOT:     device.barrier
//       CHECK:     %[[MORE_A:.+]] = device.transfer @stage_boxes {{.+}} to %[[A]]{{.+}} after(%[[FREE]])
//       CHECK:     %[[MORE_B:.+]] = device.transfer @stage_boxes {{.+}} to %[[B]]{{.+}} after(%[[FREE]])
// CHECK-COUNT-4:     device.invoke
//       CHECK:     device.wait %[[BEFORE]]
//  CHECK-NEXT:     %[[NOW:.+]] = device.arrive "core" -> !device.token
//  CHECK-NEXT:     scf.yield %[[LATER]], %[[LAST]], %[[MORE_A]], %[[MORE_B]], %{{.+}}, %[[NOW]] :

// Barriers are behind the rooms. Of the second tensor there is a box for each panel; what is behind its end comes as zeros.
//
//      PTX: // launch expression_0_1 threads 256 groups 1 shared 131328
// PTX-NEXT: // box expression_0_1 operand 0 bytes 2 extents 4000x4000 strides 8000 points 64x128 swizzle 3
// PTX-NEXT: // box expression_0_1 operand 1 bytes 2 extents 4000x4000 strides 8000 points 64x64 swizzle 3
//      PTX: .param .align 64 .b8 expression_0_1_param_5[128]
//      PTX: .param .align 64 .b8 expression_0_1_param_6[128]
//      PTX: mbarrier.init.shared.b64
//      PTX: fence.mbarrier_init.release.cluster
//      PTX: bar.sync
//      PTX: mbarrier.arrive.expect_tx.shared.b64
//      PTX: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
//      PTX: .pragma "nounroll"
//  PTX-NOT: cp.async.cg
//  PTX-NOT: ld.shared
//      PTX: wgmma.mma_async
//  PTX-NOT: bar.sync
//      PTX: mbarrier.arrive.shared.b64

// A wait for one token is no wait for others.
//
// RUN: weft compile %t.mlir --emit device -o %t.device.mlir
// RUN: sed 's/device.wait %arg5, %arg6/device.wait %arg6/' %t.device.mlir > %t.one.mlir
// RUN: not weft-opt %t.one.mlir 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: device.invoke reads memref<4x1x128x64xf16, "smem">, which other groups may be using

// Nor may a box go to a room that groups have not left.
//
// RUN: sed 's/ after(%arg[0-9]*)//' %t.device.mlir > %t.soon.mlir
// RUN: not weft-opt %t.soon.mlir 2>&1 | FileCheck %s --check-prefix=SOON
// SOON: device.transfer writes memref<4x1x128x64xf16, "smem">, which other groups may be using

// A tile that boxes cannot write, and a move that there is not.
//
// RUN: sed 's/array<i64: 1, 64, 3, 3, 3>/array<i64: 1, 64>/' %t.mlir > %t.plain.mlir
// RUN: not weft compile %t.plain.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=PLAIN
// PLAIN: @expression_0_1 has a layout of input 1 that @wgmma_m64n128k16_f16_kn does not take
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=4000,n=4004,k=4000 --dtype f16 --device h200 --emit tile -o %t.odd.mlir
// RUN: sed -i 's/on @wgmma.*because/on @wgmma_m64n128k16_f16_kn axes [0, 1, 2] tiles [#tile.rtile<"smem"[128, 128, 64]>, #tile.rtile<"acc"[64, 128, 16]>] layouts [array<i64: 2, 64, 3, 3, 3>, array<i64: 1, 64, 3, 3, 3>] schedule <ahead = @stage_boxes, stages = 4> because/' %t.odd.mlir
// RUN: not weft compile %t.odd.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: @expression_0_1 has a schedule with @stage_boxes `ahead`, which cannot write the tile of input 1
// ODD: help: boxes are of rows of 128 bytes
//
// RUN: sed 's/ahead = @stage_boxes/ahead = @smem_load/' %t.mlir > %t.other.mlir
// RUN: not weft compile %t.other.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: the schedule brings later steps by @smem_load, which waits for each
