// Edges go near a unit where that is predicted to pay, or wherever tiles fit; both say why.
// RUN: weft compile %S/../../tools/tests/welder/attention.mlir --device x86-avx2 --emit tile -o - --pass-option tile-connect-edges.joining=all --pass-option tile-connect-edges.remarks=true 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t
// RUN: weft compile %S/../../tools/tests/welder/attention.mlir --device x86-avx2 --emit tile -o - --pass-option tile-connect-edges.joining=base | FileCheck %s --check-prefix=BASE
// RUN: not weft compile %S/../../tools/tests/welder/attention.mlir --device x86-avx2 --emit tile -o - --pass-option tile-connect-edges.joining=some 2>&1 | FileCheck %s --check-prefix=SOME

// Scores, the largest of each row, exponentials, their sums: all hand over in @l1.
// CHECK: %[[S:.+]] = tile.run "attention" @func_0_near(
// CHECK: %[[N:.+]] = tile.connect %{{.+}} in @l1
// CHECK: tile.run "attention" @func_1_near(%[[N]])
// CHECK-COUNT-4: tile.connect
// CHECK: tile.output

// REMARK: remark: @func_0 to @func_1: in @l1 with {{[0-9]+}} cycles predicted; second apart with {{[0-9]+}}; near with tiles of [{{.+}}] and {{[0-9]+}} bytes that wait

// BASE-NOT: tile.connect

// SOME: error: tile-connect-edges: unknown value 'some' for option 'joining'; expected 'full', 'all', 'base' or 'none'
