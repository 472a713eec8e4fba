// Where the assembler's scheduler takes advice, instructions of matrices and as many others as take as
// long come by turns: those of a part of a step, up to the next barrier of a thread. An MFMA of 8 cycles of
// a unit leaves time for 8 instructions of lanes, of one cycle each in the machine's file.
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=4096,n=4096,k=4096 --dtype f16 --device mi300x --emit llvm -o - | FileCheck %s
//
//          CHECK: define {{.+}} @expression_0_1(
// CHECK-COUNT-16: call void @llvm.amdgcn.sched.group.barrier(i32 8, i32 1, i32 0)
//     CHECK-NEXT: call void @llvm.amdgcn.sched.group.barrier(i32 150, i32 8, i32 0)
//      CHECK-NOT: sched.group.barrier
//          CHECK: call void @llvm.amdgcn.sched.barrier(i32 0)
// CHECK-COUNT-16: call void @llvm.amdgcn.sched.group.barrier(i32 8, i32 1, i32 0)
