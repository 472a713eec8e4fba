// A block tile whose inputs an engine brings to rooms of their own, several steps ahead: one wait and
// one barrier a step. The code counts, for each wait, the copies that were begun later.
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=4096,n=4096,k=4096 --dtype f16 --device a100 --emit tile -o %t.mlir
// RUN: sed -i 's/"smem".256, 128, 16./"smem"[128, 128, 16]/; s/stages = 2/ahead = @stage_ahead, stages = 3/; s/layouts .array<i64: 2, 16, 1, 3, 3>/layouts [array<i64: 2, 24>/' %t.mlir
// RUN: weft compile %t.mlir --emit device -o - | FileCheck %s
// RUN: weft compile %t.mlir --emit ptx -o - | FileCheck %s --check-prefix=PTX
//
//       CHECK: device.kernel @expression_0
//       CHECK:   %[[A:.+]] = device.alloc : memref<3x128x24xf16, "smem">
//       CHECK:   %[[B:.+]] = device.alloc : memref<3x16x136xf16, "smem">
// CHECK-COUNT-4: device.transfer @stage_ahead {{.+}} -> !device.token
//       CHECK:   scf.for {{.+}} iter_args(%[[FIRST:.+]] = %{{.+}}, %[[SECOND:.+]] = %{{.+}}, %{{.+}} = %{{.+}}, %{{.+}} = %{{.+}})
//       CHECK:     device.wait %[[FIRST]], %[[SECOND]]
//  CHECK-NEXT:     device.barrier "core"
// CHECK-COUNT-2:   device.transfer @stage_ahead
//       CHECK:     device.invoke @mma_m16n8k16_f16
//   CHECK-NOT:     device.barrier
//       CHECK:   device.wait

//         PTX: cp.async.cg.shared.global
//         PTX: cp.async.commit_group
//         PTX: cp.async.wait_group 2
//    PTX-NEXT: bar.sync
//         PTX: cp.async.cg.shared.global
//         PTX: mma.sync

// What an engine cannot do is refused.
//
// RUN: sed 's/, stages = 3/, stages = 1/' %t.mlir > %t.one.mlir
// RUN: not weft compile %t.one.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=ONE
// ONE: error: @expression_0 has a schedule with @stage_ahead `ahead`, and one stage
// ONE: help: leave it out, or give 2 `stages` or more
//
// RUN: sed 's/ahead = @stage_ahead/ahead = @stage/' %t.mlir > %t.way.mlir
// RUN: not weft compile %t.way.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=WAY
// WAY: error: the schedule brings later steps by @stage, which waits for each
// WAY: help: name a move that has an `engine`, or leave it out
//
// RUN: sed 's/layouts .array<i64: 2, 24>/layouts [array<i64: 0, 136>/' %t.mlir > %t.turned.mlir
// RUN: not weft compile %t.turned.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=TURNED
// TURNED: error: @expression_0 has a schedule with @stage_ahead `ahead`, which cannot write the tile of input 0
// TURNED: help: let the tile lie as the tensor does, 4 bytes side by side in both, or leave `ahead` out

// Without a barrier behind the wait others read what only some have waited for.
//
// RUN: weft compile %t.mlir --emit device -o %t.device.mlir
// RUN: sed '/device.wait/{n;/device.barrier/d}' %t.device.mlir > %t.race.mlir
// RUN: not weft-opt %t.race.mlir 2>&1 | FileCheck %s --check-prefix=RACE
// RACE: error: device.transfer reads memref<3x128x24xf16, "smem">, which other groups may be using
