// What the next tile does not share with the last one has to be brought next to the registers.
// Lanes along the sum would bring rows of both operands for few products each: one is laid out
// for lanes along its rows instead.
// RUN: weft kernel 'C[m,n] += A[m,k] * B[n,k]' --shape m=512,n=509,k=1760 --device x86-avx512 --emit tile -o - | FileCheck %s --check-prefix=ROWS

// ROWS: tile.compute {{.+}} on @vfma_f32

// With two columns the small operand stays, and the other is brought once for both: a tile has
// both columns, with lanes along the sum.
// RUN: weft kernel 'C[m,n] += A[m,k] * B[n,k]' --shape m=512,n=2,k=1536 --device x86-avx512 --emit tile -o - | FileCheck %s --check-prefix=SUM

// SUM: tile.compute {{.+}} on @vfmavv_f32 {{.+}} tiles [{{.+}} #tile.rtile<"vreg"[{{[0-9]+}}, 2, 48]>]
