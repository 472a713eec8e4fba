// A block tile whose instruction takes both factors where they lie in shared memory, and an engine does:
// the instructions of a step go on while groups begin to bring the tiles of a later one, piece by piece, and
// wait for each other.
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=4096,n=4096,k=4096 --dtype f16 --device h200 --emit tile -o %t.mlir
// RUN: sed -i 's/on @wgmma.*because/on @wgmma_m64n128k16_f16_kn axes [0, 1, 2] tiles [#tile.rtile<"smem"[128, 128, 64]>, #tile.rtile<"acc"[64, 128, 16]>] layouts [array<i64: 2, 64, 3, 3, 3>, array<i64: 1, 64, 3, 3, 3>] schedule <ahead = @stage_ahead, stages = 4> because/' %t.mlir
// RUN: weft compile %t.mlir --emit device -o - | FileCheck %s
// RUN: weft compile %t.mlir --emit ptx -o - | FileCheck %s --check-prefix=PTX
//
//       CHECK: device.kernel @expression_0_1 tasks 1024 groups 2
//       CHECK:   %[[A:.+]] = device.alloc swizzle [3, 3, 3] : memref<4x1x128x64xf16, "smem">
//       CHECK:   %[[B:.+]] = device.alloc swizzle [3, 3, 3] : memref<4x2x64x64xf16, "smem">
//       CHECK:   device.transfer @stage_ahead %arg1[%{{.+}}, %{{.+}}] to %[[A]][%{{.+}}] sizes [32, 1, 64] from_strides [4096, 64, 1] to_strides [64, 8192, 1] run 8
//       CHECK:   scf.for {{.+}} iter_args(%[[FIRST:.+]] = %{{.+}}, %[[SECOND:.+]] = %{{.+}}, %[[BEFORE:.+]] = %{{.+}})
//  CHECK-NEXT:     device.wait %[[FIRST]]
//  CHECK-NEXT:     device.barrier "core"
//       CHECK:     device.transfer @stage_ahead {{.+}} to %[[A]]
//       CHECK:     device.transfer @stage_ahead {{.+}} to %[[B]]
//       CHECK:     device.invoke @wgmma_m64n128k16_f16_kn(%[[A]][{{.+}}], %[[B]][{{.+}}], {{.+}}) {{.+}} -> !device.token
//       CHECK:     device.transfer @stage_ahead
// CHECK-COUNT-2:     device.invoke
//       CHECK:     device.transfer @stage_ahead {{.+}} to %[[A]]
//       CHECK:     %[[LAST:.+]] = device.transfer @stage_ahead {{.+}} to %[[B]]
//       CHECK:     %[[TOKEN:.+]] = device.invoke
//       CHECK:     device.wait %[[BEFORE]]
//  CHECK-NEXT:     scf.yield %[[SECOND]], %[[LAST]], %[[TOKEN]]

// What is brought for the step is 8 groups of copies before those of the next one, and the instructions of
// the step before are 4 before those of this one. Copies are shown to the engine that reads them; no element
// is loaded from shared memory.
//
//     PTX: // launch expression_0_1 threads 256 groups 1 shared 131072
//     PTX: .entry expression_0_1(
//     PTX: cp.async.wait_group 8;
// PTX-NEXT: fence.proxy.async.shared::cta
// PTX-NEXT: bar.sync
// PTX-NOT: ld.shared
//     PTX: cp.async.cg.shared.global
//     PTX: wgmma.fence.sync.aligned
//     PTX: wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
//     PTX: wgmma.commit_group.sync.aligned
//     PTX: cp.async.cg.shared.global
//     PTX: wgmma.mma_async
//     PTX: wgmma.wait_group.sync.aligned 4;

// Threads that store the tiles themselves show them to the engine that reads them.
//
// RUN: sed 's/ schedule <ahead = @stage_ahead, stages = 4>//' %t.mlir > %t.plain.mlir
// RUN: weft compile %t.plain.mlir --emit ptx -o - | FileCheck %s --check-prefix=PLAIN
// PLAIN: .entry expression_0_1(
// PLAIN: st.shared.v4
// PLAIN: fence.proxy.async.shared::cta
// PLAIN: bar.sync
// PLAIN: wgmma.mma_async
// PLAIN: wgmma.wait_group.sync.aligned 0;

// What the instruction does not take is refused.
//
// RUN: sed 's/array<i64: 2, 64, 3, 3, 3>/array<i64: 2, 72>/' %t.mlir > %t.pitch.mlir
// RUN: not weft compile %t.pitch.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=PITCH
// PITCH: error: @expression_0_1 has a layout of input 0 that @wgmma_m64n128k16_f16_kn does not take
// PITCH: help: give [2, 64, 3, 3, 3]
//
// RUN: sed 's/stages = 4/stages = 2/' %t.mlir > %t.two.mlir
// RUN: not weft compile %t.two.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=TWO
// TWO: error: @expression_0_1 has a schedule of 2 `stages`, and @wgmma_m64n128k16_f16_kn takes tiles where they lie, those of the step before, too
// TWO: help: give 1, or 3 or more with @stage_boxes or @stage_boxes_apart or @stage_ahead `ahead`
//
// RUN: sed 's/stages = 4/stages = 8/' %t.mlir > %t.room.mlir
// RUN: not weft compile %t.room.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=ROOM
// ROOM: error: @expression_0_1 has tiles of 16384 and 16384 bytes in 8 rooms: 262144 bytes of @smem, which has 232448

// Without the wait for the instructions of the step before a room is filled that they may still read; without
// that for a step's copies the instructions read what is not there yet.
//
// RUN: weft compile %t.mlir --emit device -o %t.device.mlir
// RUN: sed '/device.invoke/,/scf.yield/{/device.wait/d}' %t.device.mlir > %t.early.mlir
// RUN: not weft-opt %t.early.mlir 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: device.transfer writes memref<4x1x128x64xf16, "smem">, which other groups may be using
//
// RUN: sed '/scf.for/,/device.barrier/{/device.wait/d}' %t.device.mlir > %t.late.mlir
// RUN: not weft-opt %t.late.mlir 2>&1 | FileCheck %s --check-prefix=LATE
// LATE: error: device.invoke reads memref<4x1x128x64xf16, "smem">, which other groups may be using

// So it is with one group, whose warps do not go in step.
//
// RUN: sed 's/"smem".128, 128, 64./"smem"[64, 128, 64]/' %t.mlir > %t.alone.mlir
// RUN: weft compile %t.alone.mlir --emit device -o %t.alone.device.mlir
// RUN: sed '/scf.for/,/device.barrier/{/device.wait/d}' %t.alone.device.mlir > %t.alone.late.mlir
// RUN: not weft-opt %t.alone.late.mlir 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: device.invoke reads memref<4x1x64x64xf16, "smem">, which other groups may be using

// A wait on one way only is none.
//
// RUN: sed '/device.invoke/,/scf.yield/{s/device.wait \(.*\)/%%yes = arith.constant true scf.if %%yes { device.wait \1 }/}' %t.device.mlir > %t.if.mlir
// RUN: not weft-opt %t.if.mlir 2>&1 | FileCheck %s --check-prefix=IF
// IF: error: scf.if begins something, or waits for it, on one way only
// IF: help: begin what an engine does, and wait for it, under no condition

// An instruction whose sums lie in other registers than its tiles is refused.
//
// RUN: sed '/tile.compute/{s/on @wgmma_m64n128k16_f16_kn/on @mma_m16n8k16_f16/;s/ schedule <ahead = @stage_ahead, stages = 4>//}' %t.mlir > %t.other.mlir
// RUN: not weft compile %t.other.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: @expression_0_1 has layouts, and no tiles that groups can share

// An instruction that takes a factor from registers goes on with what another product left there, and is
// nothing for a product alone.
//
// RUN: sed '/tile.compute/{s/on @wgmma_m64n128k16_f16_kn/on @wgmma_m64n128k16_f16_rkn/;s/"smem".128, 128, 64./"smem"[128, 128, 128]/;s/layouts .array<i64: 2, 64, 3, 3, 3>/layouts [array<i64: 2, 136>/}' %t.mlir > %t.held.mlir
// RUN: not weft compile %t.held.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=HELD
// HELD: error: @expression_0_1 is on @wgmma_m64n128k16_f16_rkn, which takes a factor from registers
// HELD: help: nothing makes that here; name an instruction that takes both from shared memory
