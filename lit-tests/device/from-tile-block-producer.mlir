// A group of its own asks for the boxes of later steps, and the others have its registers.
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=4000,n=4000,k=4000 --dtype f16 --device h200 --emit tile -o %t.mlir
// RUN: sed -i 's/on @wgmma.*because/on @wgmma_m64n128k16_f16_kn axes [0, 1, 2] tiles [#tile.rtile<"smem"[128, 128, 64]>, #tile.rtile<"acc"[64, 128, 16]>] layouts [array<i64: 2, 64, 3, 3, 3>, array<i64: 1, 64, 3, 3, 3>] schedule <ahead = @stage_boxes_apart, stages = 3, resident = 2> because/' %t.mlir
// RUN: weft compile %t.mlir --emit device -o %t.device.mlir
// RUN: FileCheck %s < %t.device.mlir
// RUN: weft compile %t.mlir --emit ptx -o - | FileCheck %s --check-prefix=PTX
//
// The text is that of boxes that a group asks for beside its instructions, by another move.
//
//      CHECK: device.kernel @expression_0_1 tasks 1024 groups 2 resident 2 {
//      CHECK:   device.transfer @stage_boxes_apart
//      CHECK:   scf.for
//  CHECK-NOT:     device.barrier
//      CHECK:     device.wait
//      CHECK:     device.transfer @stage_boxes_apart {{.+}} after(
//      CHECK:     device.arrive "core"

// Of 65536 registers each of 2 x 384 threads has 80; then those that ask have 24, and the others 104. Those wait for boxes
// and arrive, these wait for arrivals and begin boxes.
//
//     PTX: // launch expression_0_1 threads 384 groups 1 shared
//     PTX: .reqntid 384
//     PTX: .minnctapersm 2
//     PTX: .maxnreg 80
//     PTX: bar.sync 0
//     PTX: setmaxnreg.inc.sync.aligned.u32 104
// PTX-NOT: cp.async.bulk
//     PTX: mbarrier.try_wait
//     PTX: wgmma.mma_async
//     PTX: mbarrier.arrive.shared
//     PTX: setmaxnreg.dec.sync.aligned.u32 24
// PTX-NOT: wgmma
//     PTX: cp.async.bulk.tensor

// Alone in a unit each has 168, and the others 240 of it.
//
// RUN: sed 's/, resident = 2//' %t.mlir > %t.alone.mlir
// RUN: weft compile %t.alone.mlir --emit ptx -o - | FileCheck %s --check-prefix=ALONE
// ALONE: .maxnreg 168
// ALONE: setmaxnreg.inc.sync.aligned.u32 240

// Three have no room.
//
// RUN: sed 's/resident = 2/resident = 3/' %t.mlir > %t.three.mlir
// RUN: not weft compile %t.three.mlir --emit ptx -o - 2>&1 | FileCheck %s --check-prefix=THREE
// THREE: 3 rTasks of 98304 bytes of @smem are resident, which has 232448
// THREE: Help: let fewer be `resident`, or give smaller tiles

// Groups that ask for themselves share no registers with others, and products do not go by turns.
//
// RUN: sed 's/@stage_boxes_apart, stages = 3/@stage_boxes, stages = 3/' %t.mlir > %t.all.mlir
// RUN: not weft compile %t.all.mlir --emit ptx -o - 2>&1 | FileCheck %s --check-prefix=ALL
// ALL: has a schedule of 2 `resident` rTasks
// ALL: help: registers are shared where a group of its own asks for boxes
// RUN: sed 's/resident = 2/turns = 2/' %t.mlir > %t.turns.mlir
// RUN: not weft compile %t.turns.mlir --emit ptx -o - 2>&1 | FileCheck %s --check-prefix=TURNS
// TURNS: has a schedule of 2 `turns`
// TURNS: help: only groups of a softmax between two products go by turns

// Without the move in the machine file groups ask beside their instructions.
//
// RUN: sed '/device.move @stage_boxes_apart/,/boxes/d' %S/../../devices/h200.mlir > %t.machine.mlir
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=4000,n=4000,k=4000 --dtype f16 --device %t.machine.mlir --emit tile -o - | FileCheck %s --check-prefix=WITHOUT
// WITHOUT: ahead = @stage_boxes,
