// Taps of a window share what they read. Kept for the next tap it would push sums out of the
// registers that the tile fills with them: nothing of a register's width goes to the stack, until the
// transpose behind the last sum.

// RUN: weft kernel 'O[f,y,x] += I[c,y+r,x+s] * W[c,r,s,f]' --shape f=64,y=7,x=7,c=64,r=3,s=3 --device x86-avx512 --emit asm -o %t.s
// RUN: sed -n '/vfmadd231ps/,/\tj/p' %t.s > %t.sums.s
// RUN: FileCheck %s --implicit-check-not='{{rsp.*zmm|zmm.*rsp}}' < %t.sums.s

// CHECK-COUNT-28: vfmadd231ps
