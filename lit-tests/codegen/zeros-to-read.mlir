// What a ragged tile leaves out is read from zeros where loads have no predicates, so that no value is chosen behind its
// load, which would be waited for there.
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=300,n=1000,k=700 --dtype f16 --device mi300x --emit llvm -o - | FileCheck %s --implicit-check-not='select i1 {{.+}}, half' --implicit-check-not='select i1 {{.+}} x half>'
//
// CHECK: @weft.zeros = private unnamed_addr addrspace(1) constant [16 x i8] zeroinitializer, align 16
// CHECK: %[[FROM:.+]] = select i1 {{.+}}, ptr addrspace(1) {{.+}}, ptr addrspace(1) @weft.zeros
// CHECK: load {{.+}}, ptr addrspace(1) %[[FROM]]

// NVIDIA's loads have them.
//
// RUN: weft kernel 'C[m,n] += A[m,k] * B[k,n]' --shape m=300,n=1000,k=700 --dtype f16 --device v100 --emit llvm -o - | FileCheck %s --check-prefix=PREDICATES --implicit-check-not=weft.zeros
//
// PREDICATES: define {{.+}}@expression_0_1
