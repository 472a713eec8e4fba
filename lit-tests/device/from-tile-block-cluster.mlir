// Two rTasks that have the same tile of an input run at the same time, and each brings half of it for both.
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=4000,n=4000,k=4000 --dtype f16 --device h200 --emit tile -o %t.mlir
// RUN: sed -i 's/on @wgmma.*because/on @wgmma_m64n128k16_f16_kn axes [0, 1, 2] tiles [#tile.rtile<"smem"[128, 128, 64]>, #tile.rtile<"acc"[64, 128, 16]>] layouts [array<i64: 2, 64, 3, 3, 3>, array<i64: 1, 64, 3, 3, 3>] schedule <ahead = @stage_boxes, cluster = [2, 1, 1], stages = 4> because/' %t.mlir
// RUN: weft compile %t.mlir --emit device -o %t.device.mlir
// RUN: FileCheck %s < %t.device.mlir
// RUN: weft compile %t.mlir --emit ptx -o - | FileCheck %s --check-prefix=PTX
//
// There are 32 rTasks along n: those of a cluster, which differ along m, are so far apart.
//
//      CHECK: device.kernel @expression_0_1 tasks 1024 groups 2 cluster [2, 32]
//      CHECK:   device.transfer @stage_boxes %arg1[{{.+}}] sizes [128, 1, 64] {{.+}} pads run 8 : memref
//      CHECK:   device.transfer @stage_boxes %arg2[{{.+}}] sizes [64, 2, 64] {{.+}} pads run 8 together : memref
//      CHECK:   scf.for
//      CHECK:     device.wait
// CHECK-NEXT:     device.barrier "cluster"
//  CHECK-NOT:     device.barrier "core"

// Barriers are ready in both blocks before a box counts at them; of the second tensor each begins one panel of two.
//
//     PTX: // box expression_0_1 operand 0 {{.+}} points 64x128
//     PTX: // box expression_0_1 operand 1 {{.+}} points 64x64
//     PTX: .reqnctapercluster 2
//     PTX: fence.mbarrier_init.release.cluster
//     PTX: barrier.cluster.arrive.aligned
//     PTX: barrier.cluster.wait.aligned
// PTX-NOT: multicast
//     PTX: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [
//     PTX: cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [
//     PTX: wgmma.mma_async
//     PTX: .pragma "nounroll"
//     PTX: barrier.cluster.arrive.aligned
//     PTX: ret;

// Along n the first input is the one that both bring: their numbers follow each other.
//
// RUN: sed 's/cluster = \[2, 1, 1\]/cluster = [1, 2, 1]/' %t.mlir > %t.columns.mlir
// RUN: weft compile %t.columns.mlir --emit device -o - | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: device.kernel @expression_0_1 tasks 1024 groups 2 cluster [2, 1]
// COLUMNS: device.transfer @stage_boxes %arg1[{{.+}} together : memref
// COLUMNS: device.transfer @stage_boxes %arg2[{{.+}} pads run 8 : memref

// A barrier of the block is none for what the other one uses; and without clusters there are none to bring together.
//
// RUN: sed 's/device.barrier "cluster"/device.barrier "core"/' %t.device.mlir > %t.core.mlir
// RUN: not weft-opt %t.core.mlir 2>&1 | FileCheck %s --check-prefix=CORE
// CORE: device.transfer writes memref<4x2x64x64xf16, "smem">, which other rTasks of the cluster may be using
// CORE: help: put device.barrier "cluster" between
//
// RUN: sed 's/ cluster \[2, 32\]//' %t.device.mlir > %t.alone.mlir
// RUN: not weft-opt %t.alone.mlir 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: device.transfer is `together`, and its kernel has no cluster
//
// RUN: sed 's/ cluster \[2, 32\]/ cluster [2, 16]/' %t.device.mlir > %t.others.mlir
// RUN: not weft-opt %t.others.mlir 2>&1 | FileCheck %s --check-prefix=OTHERS
// OTHERS: device.transfer takes what differs between rTasks of a cluster

// A launch takes whole clusters: without one range there are two, of which none does.
//
// RUN: sed '/@expression_0_1\[992 to 1000\]/d' %t.device.mlir > %t.cut.mlir
// RUN: not weft compile %t.cut.mlir --emit ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=CUT
// CUT: error: a launch takes rTasks 0 to 992 of @expression_0_1, whose clusters or bands are whole every 64 rTasks
// CUT: help: let ranges of the kernel follow each other

// Clusters that cannot be: of too many, of rTasks that are not whole clusters, by pieces, and along what reduces.
//
// RUN: sed 's/cluster = \[2, 1, 1\]/cluster = [4, 1, 1]/' %t.mlir > %t.four.mlir
// RUN: not weft compile %t.four.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=FOUR
// FOUR: @expression_0_1 has a schedule whose `cluster` is [4, 1, 1]
// FOUR: help: boxes go to 2 units at once
//
// RUN: sed 's/smem"\[128, 128, 64\]/smem"[192, 128, 64]/' %t.mlir > %t.odd.mlir
// RUN: not weft compile %t.odd.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=ODD
// ODD: @expression_0_1 has a schedule whose `cluster` is [2, 1, 1]
// ODD: help: there are 21 rTasks along axis 0
//
// RUN: sed 's/ahead = @stage_boxes/ahead = @stage_ahead/' %t.mlir > %t.pieces.mlir
// RUN: not weft compile %t.pieces.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=PIECES
// PIECES: @expression_0_1 has a schedule whose `cluster` is [2, 1, 1]
// PIECES: help: no move `ahead` brings boxes to several units
//
// RUN: sed 's/cluster = \[2, 1, 1\]/cluster = [1, 1, 2]/' %t.mlir > %t.sum.mlir
// RUN: not weft compile %t.sum.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: the schedule's `cluster` is [1, 1, 2]
// SUM: help: give 3 numbers, above 1 along one of the axes [0, 1], or leave it out
