// Parts of a tile that lanes gather from each other's pieces, by a move of the machine that says so: tiles lie as
// their tensors do, an engine brings them, and nothing is packed.
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=4096,n=4096,k=4096 --dtype f16 --device a100 --emit tile -o %t.mlir
// RUN: FileCheck %s --check-prefix=TILE < %t.mlir
// RUN: weft compile %t.mlir --emit device -o %t.device.mlir
// RUN: FileCheck %s < %t.device.mlir
// RUN: weft compile %t.mlir --emit ptx -o - | FileCheck %s --check-prefix=PTX
//
//  TILE: layouts [array<i64: 2, {{.+}}>, array<i64: 1, {{.+}}>] schedule <ahead = @stage_ahead, stages = 3>
//
//       CHECK: device.kernel @expression_0_1
//       CHECK:   %[[A:.+]] = device.alloc {{.+}}, "smem">
//       CHECK:   %[[B:.+]] = device.alloc {{.+}}, "smem">
//       CHECK:   scf.for
//   CHECK-NOT:     @smem_load
//       CHECK:     device.transfer @matrix_load %[[A]][{{.+}} run 8
//       CHECK:     device.transfer @matrix_load_turned %[[B]][{{.+}} run 8
// What is brought ahead is begun beside the first instructions.
//       CHECK:     device.barrier "thread"
//       CHECK:     device.transfer @stage_ahead
//       CHECK:     device.invoke @mma_m16n8k16_f16
//
// Of the address what is constant is the offset of the access; the loop over steps stays one.
//
//     PTX-NOT: ld.shared
//         PTX: .pragma "nounroll"
//     PTX-NOT: ld.shared
//         PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16 {{.+}}, [%r{{[0-9]+}}+1024]
//         PTX: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
//         PTX: cp.async.cg.shared.global [%r{{[0-9]+}}+
//         PTX: mma.sync

// Where pieces are not whole each lane loads its own part.
//
// RUN: sed 's/layouts .array<i64: 2, [0-9, ]*>/layouts [array<i64: 2, 32, 2, 2, 3>/' %t.mlir > %t.cut.mlir
// RUN: weft compile %t.cut.mlir --emit device -o - | FileCheck %s --check-prefix=CUT
//
//     CUT-NOT: @matrix_load %
//         CUT: device.transfer @smem_load
//     CUT-NOT: @matrix_load %
//         CUT: device.transfer @matrix_load_turned

// A program that asks for what lanes cannot get is refused.
//
// RUN: sed 's/device.transfer @matrix_load_turned/device.transfer @matrix_load/' %t.device.mlir > %t.turned.mlir
// RUN: not weft-opt --device-lower-to-threads %t.turned.mlir 2>&1 | FileCheck %s --check-prefix=TURNED
// TURNED: error: lanes cannot gather this box by @matrix_load in pieces of 8 elements of 2 bytes
// TURNED: help: load it by a move of which each lane does its part alone, or lay the memory out so that pieces are whole
