// What lines of a cache add to the cost of a tile.
//
// A register that begins at any element takes two accesses as often as it ends in another line: of 16
// lanes in 15 of 16 cases. Windows begin at any element, rows of 64 elements at a line: each of four
// steps loads four registers and a weight, every half cycle.
// RUN: weft kernel 'O[x] += I[x+s] * W[s]' --shape x=64,s=4 --device x86-avx512 --emit tile -o - 2>/dev/null | FileCheck %s --check-prefix=ANY
// RUN: weft kernel 'O[x] += I[s,x] * W[s]' --shape x=64,s=4 --device x86-avx512 --emit tile -o - 2>/dev/null | FileCheck %s --check-prefix=LINE
// ANY: "vreg"[64, 1]{{.+}} loads 18,
// LINE: "vreg"[64, 1]{{.+}} loads 10,
//
// Of the nearest cache, here 4 KiB of four ways, a fourth is for what is stored: what a tile reads stays
// in the rest. 80 steps read 2880 bytes, 96 read 3456.
// RUN: weft kernel 'O[m,n] += A[m,k] * B[k,n]' --shape m=1,n=8,k=80 --device %S/../Inputs/fma-caches.mlir --emit tile -o - 2>/dev/null | FileCheck %s --check-prefix=STAYS
// RUN: weft kernel 'O[m,n] += A[m,k] * B[k,n]' --shape m=1,n=8,k=96 --device %S/../Inputs/fma-caches.mlir --emit tile -o - 2>/dev/null | FileCheck %s --check-prefix=LEAVES
// STAYS-NOT: transfers
// LEAVES: transfers 5{{[0-9]}},
//
// Bytes that would fit do not stay where their lines share sets: rows of 24 planes that are 64 KiB apart
// meet in a few of 64. Without that, 357 thousand cycles of transfers.
// RUN: weft kernel 'O[c,y,x] += I[d,y+p,x+q] * W[c,d,p,q]' --shape c=12,d=24,y=126,x=126,p=3,q=3 --device x86-avx512 --emit tile -o - 2>/dev/null | FileCheck %s --check-prefix=SETS
// SETS: "vreg"[4, 6, 16, 1, 1, 1]{{.+}} transfers 498{{[0-9][0-9][0-9]}},
