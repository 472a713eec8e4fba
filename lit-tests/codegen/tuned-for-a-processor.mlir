// Instructions are ordered for the processor that the machine's file names. In the order for another, 40
// registers of this tile of sliding windows go to the stack and come back.

// RUN: weft kernel 'O[c,y,x] += I[d,y+p,x+q] * W[c,d,p,q]' --shape c=16,d=16,y=160,x=160,p=3,q=3 --device x86-avx512 --emit tile -o %t.chosen.mlir
// RUN: sed '/^ *%.*tile.compute/{s/"vreg"\[[^]]*\]/"vreg"[1, 10, 32, 1, 1, 1]/;s/"l2"\[[^]]*\]/"l2"[16, 160, 160, 16, 3, 3]/;s/schedule <[^>]*>/schedule <order = [1, 2, 0], slide = [4, 5], unroll = [5]>/}' %t.chosen.mlir > %t.tile.mlir
// RUN: weft compile %t.tile.mlir --emit asm -o %t.s
// RUN: FileCheck %s --implicit-check-not='{{rsp.*zmm|zmm.*rsp}}' < %t.s
// CHECK-COUNT-180: vfmadd231ps

// RUN: weft compile %t.tile.mlir --emit llvm -o - | FileCheck %s --check-prefix=LLVM
// LLVM: "tune-cpu"="icelake-server"

// RUN: sed 's/icelake-server/icelake-servant/' %t.tile.mlir > %t.unknown.mlir
// RUN: not weft compile %t.unknown.mlir --emit asm -o /dev/null 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: tune("icelake-servant") names no processor that LLVM has for x86_64-unknown-linux-gnu
