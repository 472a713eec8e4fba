// WE-6, WE-12. A softmax of rows: every loop nest is a kernel, elementwise ones are joined with what
// makes their input, or all are one, whose rows wait in the memory of a block.
//
// DEFINE: %{softmax} = weft compile %S/../../tools/tests/welder/softmax.mlir --device v100 --emit task -o -
// RUN: %{softmax} --pass-option tile-fuse-elementwise.fuse=false --pass-option tile-connect-edges.joining=none | FileCheck %s --check-prefix=NONE
// RUN: %{softmax} --pass-option tile-connect-edges.joining=base | FileCheck %s --check-prefix=BASE
// RUN: %{softmax} | FileCheck %s --check-prefix=FULL

// What one kernel hands to the next lies in the arena: 45 rows of 203 numbers are 36540 bytes, of which
// two live at once.
// NONE:         task.program {{.+}} arena 73280 :
// NONE-COUNT-6: {{^}}  tile.kernel @
// NONE-NOT:     tile.kernel

// Once, and two numbers a row.
// BASE:         task.program {{.+}} arena 36928 :
// BASE-COUNT-4: {{^}}  tile.kernel @
// BASE-NOT:     tile.kernel

// Nothing.
// FULL:         task.program {{.+}} arena 0 :
// FULL-COUNT-1: {{^}}  tile.kernel @
// FULL-NOT:     tile.kernel
