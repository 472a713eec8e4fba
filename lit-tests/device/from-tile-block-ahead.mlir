// A block tile whose inputs are brought a step ahead, and operands of several instructions that one
// access takes.
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=4096,n=4096,k=4096 --dtype f16 --device a100 --emit tile -o %t.chosen.mlir
// RUN: sed 's/tiles .#tile.rtile<"smem".*because/tiles [#tile.rtile<"smem"[256, 128, 32]>, #tile.rtile<"reg"[64, 64, 16]>] layouts [array<i64: 2, 32, 2, 3, 3>, array<i64: 2, 32, 3, 3, 3>] schedule <stages = 3> because/' %t.chosen.mlir > %t.rooms.mlir
// RUN: weft compile %t.rooms.mlir --emit device -o - | FileCheck %s --check-prefix=ROOMS
//
// Both inputs lie along k, the second one turned on its way through registers.
//
//       ROOMS: device.kernel @expression_0_1 tasks {{.+}} groups 8 {
//       ROOMS:   %[[A:.+]] = device.alloc swizzle [2, 3, 3] : memref<2x256x32xf16, "smem">
//       ROOMS:   %[[B:.+]] = device.alloc swizzle [3, 3, 3] : memref<2x128x32xf16, "smem">
//       ROOMS:   device.barrier "core"
// What the first instructions take is there when the loop begins.
//       ROOMS:   device.transfer @matrix_load %[[A]][
//       ROOMS:   device.transfer @matrix_load %[[B]][
//       ROOMS:   scf.for
//   ROOMS-NOT:     device.barrier "core"
//       ROOMS:     device.transfer @matrix_load %[[A]][
//       ROOMS:     device.transfer @matrix_load %[[B]][
//       ROOMS:     device.barrier "thread"
// The other room is filled and the step after the next fetched while this one's are folded.
//       ROOMS:     device.transfer @smem_store {{.+}} to %[[A]][
//       ROOMS:     device.transfer @smem_store {{.+}} to %[[B]][
//       ROOMS:     device.transfer @load
//       ROOMS:     device.invoke @mma_m16n8k16_f16
//       ROOMS:     device.barrier "core"
//       ROOMS:     device.transfer @matrix_load %[[A]][
//       ROOMS:     device.transfer @matrix_load %[[B]][
//       ROOMS:     device.invoke @mma_m16n8k16_f16
//   ROOMS-NOT:     device.barrier "core"
//       ROOMS:   }

// With four stages two steps are on their way, in registers of their own, and a round of the loop is two steps.
//
// RUN: sed 's/stages = 3/stages = 4/' %t.rooms.mlir > %t.two.mlir
// RUN: weft compile %t.two.mlir --emit device -o - | FileCheck %s --check-prefix=TWO
//
//       TWO: device.kernel @expression_0_1
//       TWO:   %[[FIRST:.+]] = device.alloc : memref<{{.+}}xf16, "reg">
//       TWO:   %[[OTHER:.+]] = device.alloc : memref<{{.+}}xf16, "reg">
//       TWO:   %[[SECOND:.+]] = device.alloc : memref<{{.+}}xf16, "reg">
// Three are fetched before the loop, for the first one is in its room by then.
//       TWO:   device.transfer @load {{.+}} to %[[FIRST]][
//       TWO:   device.transfer @smem_store %[[FIRST]][
//       TWO:   device.transfer @load {{.+}} to %[[SECOND]][
//       TWO:   device.transfer @load {{.+}} to %[[FIRST]][
//       TWO:   scf.for {{.+}} step %c2
//       TWO:     device.transfer @smem_store %[[SECOND]][
//       TWO:     device.transfer @load {{.+}} to %[[SECOND]][
//       TWO:     device.barrier "core"
//       TWO:     device.transfer @smem_store %[[FIRST]][
//       TWO:     device.transfer @load {{.+}} to %[[FIRST]][
//       TWO:     device.barrier "core"
//   TWO-NOT:     device.barrier "core"
//       TWO:   }

// With one room there are two barriers a step.
//
// RUN: sed 's/tiles .#tile.rtile<"smem".*because/tiles [#tile.rtile<"smem"[256, 128, 16]>, #tile.rtile<"reg"[64, 64, 16]>] layouts [array<i64: 2, 16, 1, 3, 3>, array<i64: 1, 136>] schedule <interleave = [1], stages = 2> because/' %t.chosen.mlir > %t.mlir
// RUN: weft compile %t.mlir --emit device -o - | FileCheck %s
//
//       CHECK: device.kernel @expression_0_1 tasks {{.+}} groups 8 {
// What a group brings, in registers: rounds, runs of a lane, elements of a run, lanes.
//       CHECK:   %[[A:.+]] = device.alloc : memref<{{.+}}x32xf16, "reg">
//       CHECK:   %[[B:.+]] = device.alloc : memref<{{.+}}x32xf16, "reg">
//       CHECK:   device.transfer @load {{.+}} to %[[A]][
//       CHECK:   device.transfer @load {{.+}} to %[[B]][
//       CHECK:   scf.for %[[STEP:.+]] = 
//       CHECK:     device.barrier "core"
//       CHECK:     device.transfer @smem_store %[[A]][
//       CHECK:     device.transfer @smem_store %[[B]][
//       CHECK:     device.barrier "core"
//       CHECK:     arith.minui
//       CHECK:     device.transfer @load {{.+}} to %[[A]][
//       CHECK:     device.transfer @load {{.+}} to %[[B]][
//       CHECK:     device.barrier "thread"
// Eight columns, one of each instruction, lie side by side.
//       CHECK:     device.transfer @smem_load {{.+}} sizes [8, 16, 8] from_strides [1, {{.+}}, 8] {{.+}} run 8
//       CHECK:       device.invoke @mma_m16n8k16_f16

// What cannot be is refused, with what is accepted.
//
// RUN: sed 's/stages = 2/stages = 5/' %t.mlir > %t.five.mlir
// RUN: not weft compile %t.five.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=FIVE
// FIVE: error: @expression_0_1 has a schedule of 5 `stages`, 3 of them in @reg, and 256 steps
// FIVE: help: give 1 to 3, or 2 more than a number that divides 256

// RUN: sed 's/interleave = .1./interleave = [2]/' %t.mlir > %t.deep.mlir
// RUN: not weft compile %t.deep.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: error: @expression_0_1 has a schedule whose `interleave` is [2], which changes nothing that a lane takes
// DEEP: help: give some of [0, 1], along which a lane has several operands

// RUN: sed 's/"smem".256, 128, 16./"smem"[64, 64, 16]/' %t.mlir > %t.uneven.mlir
// RUN: sed -i 's/"reg".64, 64, 16./"reg"[16, 16, 16]/' %t.uneven.mlir
// RUN: not weft compile %t.uneven.mlir -o %t.weft 2>&1 | FileCheck %s --check-prefix=UNEVEN
// UNEVEN: error: @expression_0_1 has a schedule of 2 `stages`, and 16 groups cannot share out a tile of 64 x 16 evenly
// UNEVEN: help: give 1, or sizes of the first rTile that are multiples of what all lanes move at once
