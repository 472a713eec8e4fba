// Row by row all units of an A100 would read 108 tiles of a wide factor at the same time, and one of the other. In bands of two rows they
// read half as many, and what the memory behind gives is enough.
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=4096,n=128256,k=4096 --dtype f16 --device a100 --emit tile -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// CHECK: tiles [#tile.rtile<"smem"[256, 128, 32]>
// CHECK-SAME: schedule <ahead = @stage_ahead, bands = [2, 1, 1], stages = 3>
//
// There are 16 rows of 1002 rTasks.
//
// RUN: weft compile %t.mlir --emit device -o - | FileCheck %s --check-prefix=DEVICE
// DEVICE: device.kernel @expression_0{{.*}} tasks 16032 groups 8 bands [2, 16, 1002]

// A tall one has few columns, and units read few tiles of both as they come.
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=128256,n=4096,k=4096 --dtype f16 --device a100 --emit tile -o - | FileCheck %s --check-prefix=TALL
// TALL-NOT: bands

// Rows of 1002 rTasks follow each other as they are, and there are 16 of them.
//
// RUN: sed 's/bands = \[2, 1, 1\]/bands = [1, 8, 1]/' %t.mlir > %t.columns.mlir
// RUN: not weft compile %t.columns.mlir --emit device -o - 2>&1 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: has a schedule whose `bands` are [1, 8, 1]
// COLUMNS: help: rTasks along axis 1 follow each other already; give others, or leave `bands` out
//
// RUN: sed 's/bands = \[2, 1, 1\]/bands = [17, 1, 1]/' %t.mlir > %t.many.mlir
// RUN: not weft compile %t.many.mlir --emit device -o - 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: has a schedule whose `bands` are [17, 1, 1]
// MANY: help: there are 16 rTasks along axis 0; give others, or leave `bands` out
