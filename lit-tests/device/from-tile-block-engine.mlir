// A block tile whose inputs an engine brings to rooms of their own, several steps ahead: one wait and
// one barrier a step. The code counts, for each wait, the copies that were begun later.
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=4096,n=4096,k=4096 --dtype f16 --device a100 --emit tile -o %t.mlir
// RUN: sed -i 's/tiles .#tile.rtile<"smem".*because/tiles [#tile.rtile<"smem"[128, 128, 16]>, #tile.rtile<"reg"[64, 64, 16]>] layouts [array<i64: 2, 24>, array<i64: 1, 136>] schedule <interleave = [1], ahead = @stage_ahead, stages = 3> because/' %t.mlir
// RUN: weft compile %t.mlir --emit device -o - | FileCheck %s
// RUN: weft compile %t.mlir --emit ptx -o - | FileCheck %s --check-prefix=PTX
//
//       CHECK: device.kernel @expression_0_1
//       CHECK:   %[[A:.+]] = device.alloc : memref<3x128x24xf16, "smem">
//       CHECK:   %[[B:.+]] = device.alloc : memref<3x16x136xf16, "smem">
// CHECK-COUNT-4: device.transfer @stage_ahead {{.+}} -> !device.token
//       CHECK:   device.wait
//  CHECK-NEXT:   device.barrier "core"
//       CHECK:   device.transfer @matrix_load %[[A]][
//       CHECK:   scf.for {{.+}} iter_args(%[[FIRST:.+]] = %{{.+}}, %[[SECOND:.+]] = %{{.+}})
// CHECK-COUNT-2:   device.transfer @stage_ahead
//       CHECK:     device.wait %[[FIRST]], %[[SECOND]]
//  CHECK-NEXT:     device.barrier "core"
//       CHECK:     device.invoke @mma_m16n8k16_f16
//   CHECK-NOT:     device.barrier "core"
//       CHECK:   device.wait

//         PTX: cp.async.cg.shared.global
//         PTX: cp.async.commit_group
//         PTX: cp.async.wait_group 2
//    PTX-NEXT: bar.sync
//         PTX: cp.async.cg.shared.global
//         PTX: mma.sync

// More than a kernel has of the shared memory without asking is asked for when it is launched.
//
// RUN: sed 's/, stages = 3/, stages = 6/' %t.mlir > %t.six.mlir
// RUN: weft compile %t.six.mlir --emit ptx -o - | FileCheck %s --check-prefix=ASKS
// ASKS: // launch expression_0_1 threads 128 groups 1 shared 63488
// ASKS: .extern .shared .align 1024 .b8 expression_0_1$shared[];

// RUN: sed 's/, stages = 3/, stages = 16/' %t.mlir > %t.many.mlir
// RUN: not weft compile %t.many.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: @expression_0_1 has tiles of 6144 and 4352 bytes in 16 rooms: 167936 bytes of @smem, which has 166912
// MANY: help: give fewer `stages`, or a smaller first rTile

// What an engine cannot do is refused.
//
// RUN: sed 's/, stages = 3/, stages = 1/' %t.mlir > %t.one.mlir
// RUN: not weft compile %t.one.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: error: @expression_0_1 has a schedule with @stage_ahead `ahead`, and one stage
// ONE: help: leave it out, or give 2 `stages` or more
//
// RUN: sed 's/ahead = @stage_ahead/ahead = @stage/' %t.mlir > %t.way.mlir
// RUN: not weft compile %t.way.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=WAY
// WAY: error: the schedule brings later steps by @stage, which waits for each
// WAY: help: name a move that has an `engine`, or leave it out
//
// RUN: sed 's/layouts .array<i64: 2, 24>/layouts [array<i64: 0, 136>/' %t.mlir > %t.turned.mlir
// RUN: not weft compile %t.turned.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=TURNED
// TURNED: error: @expression_0_1 has a schedule with @stage_ahead `ahead`, which cannot write the tile of input 0
// TURNED: help: let the tile lie as the tensor does, 4 bytes side by side in both, or leave `ahead` out

// Without a barrier behind the wait others read what only some have waited for.
//
// RUN: weft compile %t.mlir --emit device -o %t.device.mlir
// RUN: sed '/device.wait/{n;/device.barrier/d}' %t.device.mlir > %t.race.mlir
// RUN: not weft-opt %t.race.mlir 2>&1 | FileCheck %s --check-prefix=RACE
// RACE: error: device.transfer reads memref<3x128x24xf16, "smem">, which other groups may be using
