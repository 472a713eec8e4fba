// Kernels that differ only in where they begin are one, and its ranges say from where on they see a buffer.
// RUN: split-file %s %t
// RUN: weft-opt %t/rows.mlir --device-load-machine=file=%S/../Inputs/two-cores.mlir --task-share-kernels --task-check-order | FileCheck %s --check-prefix=ROWS
// RUN: weft-opt %t/alone.mlir --device-load-machine=file=%S/../Inputs/two-cores.mlir --task-share-kernels | FileCheck %s --check-prefix=ALONE
// RUN: weft compile %t/steps.mlir --device x86-avx2 --emit task -o - | FileCheck %s --check-prefix=STEPS
// RUN: weft compile %t/steps.mlir --device x86-avx2 --emit llvm -o - | FileCheck %s --check-prefix=LEFT
// RUN: weft run %t/zeros.mlir --outputs %t/zeros.npz
// RUN: weft run %t/steps.mlir --expect %t/zeros.npz | FileCheck %s --check-prefix=RIGHT

//--- rows.mlir

// Rows that are read, and rows that are written; what a range saw from a place on before, it sees from there on.
//  ROWS-NOT: tile.kernel
//      ROWS: tile.kernel @read_0
//  ROWS-NOT: tile.kernel
//      ROWS: tile.kernel @write_1
//  ROWS-NOT: tile.kernel
//      ROWS: task.range "a" @read_0[0 to 1] on 0(%[[X:.+]], %{{.+}}) after()
//      ROWS: task.range "b" @read_0[0 to 1] on 0(%[[X]], %{{.+}}) at [16, 0] after()
//      ROWS: task.range "c" @read_0[0 to 1] on 1(%[[X]], %{{.+}}) at [48, 0] after()
//      ROWS: task.range "d" @write_1[0 to 1] on 0(%{{.+}}, %[[Y:.+]]) at [0, 16] after
//      ROWS: task.range "e" @write_1[0 to 1] on 1(%{{.+}}, %[[Y]]) at [0, 32] after
tile.kernel @read_0 {
^bb0(%x: tensor<4x16xf32>, %o: tensor<16xf32>):
  %a = tile.load %x to @vreg : tensor<4x16xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[16]>, #tile.rtile<"vreg"[16]>] : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<4x16xf32>, %q: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<4x16xf32>) outs(%q : tensor<16xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<16xf32>
  tile.yield %s : tensor<16xf32>
}
tile.kernel @read_1 {
^bb0(%x: tensor<4x16xf32>, %o: tensor<16xf32>):
  %a = tile.load %x to @vreg : tensor<4x16xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[16]>, #tile.rtile<"vreg"[16]>] : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<4x16xf32>, %q: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (1, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<4x16xf32>) outs(%q : tensor<16xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<16xf32>
  tile.yield %s : tensor<16xf32>
}
tile.kernel @read_2 {
^bb0(%x: tensor<4x16xf32>, %o: tensor<16xf32>):
  %a = tile.load %x to @vreg : tensor<4x16xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[16]>, #tile.rtile<"vreg"[16]>] : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<4x16xf32>, %q: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (2, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<4x16xf32>) outs(%q : tensor<16xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<16xf32>
  tile.yield %s : tensor<16xf32>
}
tile.kernel @write_1 {
^bb0(%x: tensor<16xf32>, %o: tensor<4x16xf32>):
  %a = tile.load %x to @vreg : tensor<16xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[16]>, #tile.rtile<"vreg"[16]>] : (tensor<16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32> {
  ^bb0(%p: tensor<16xf32>, %q: tensor<4x16xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (1, i)>], iterator_types = ["parallel"]} ins(%p : tensor<16xf32>) outs(%q : tensor<4x16xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<4x16xf32>
    tile.yield %r : tensor<4x16xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<4x16xf32>
  tile.yield %s : tensor<4x16xf32>
}
tile.kernel @write_2 {
^bb0(%x: tensor<16xf32>, %o: tensor<4x16xf32>):
  %a = tile.load %x to @vreg : tensor<16xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[16]>, #tile.rtile<"vreg"[16]>] : (tensor<16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32> {
  ^bb0(%p: tensor<16xf32>, %q: tensor<4x16xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (2, i)>], iterator_types = ["parallel"]} ins(%p : tensor<16xf32>) outs(%q : tensor<4x16xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<4x16xf32>
    tile.yield %r : tensor<4x16xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<4x16xf32>
  tile.yield %s : tensor<4x16xf32>
}
task.program @rows on @core units 2 arena 192 : (tensor<4x16xf32>) -> tensor<4x16xf32> {
  %x = task.input 0 "x" : memref<4x16xf32>
  %y = task.output 0 "y" : memref<4x16xf32>
  %a = task.buffer at 0 in @dram : memref<16xf32>
  %b = task.buffer at 64 in @dram : memref<16xf32>
  %c = task.buffer at 128 in @dram : memref<16xf32>
  %t0 = task.range "a" @read_0[0 to 1] on 0(%x, %a) after() : memref<4x16xf32>, memref<16xf32>
  %t1 = task.range "b" @read_1[0 to 1] on 0(%x, %b) after() : memref<4x16xf32>, memref<16xf32>
  %t2 = task.range "c" @read_2[0 to 1] on 1(%x, %c) at [16, 0] after() : memref<4x16xf32>, memref<16xf32>
  %t3 = task.range "d" @write_1[0 to 1] on 0(%a, %y) after(%t0) : memref<16xf32>, memref<4x16xf32>
  %t4 = task.range "e" @write_2[0 to 1] on 1(%b, %y) after(%t1) : memref<16xf32>, memref<4x16xf32>
}

//--- alone.mlir

// A row of 32 bytes begins where no buffer does; all of it is read at an address; constants keep their kernel.
//     ALONE: tile.kernel @short_0
//     ALONE: tile.kernel @short_1
//     ALONE: tile.kernel @asked_0
//     ALONE: tile.kernel @asked_1
//     ALONE: tile.kernel @folded_0
//     ALONE: tile.kernel @folded_1
// ALONE-NOT: {{ at \[}}
tile.kernel @short_0 {
^bb0(%x: tensor<4x8xf32>, %o: tensor<8xf32>):
  %a = tile.load %x to @vreg : tensor<4x8xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[16]>, #tile.rtile<"vreg"[16]>] : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<4x8xf32>) outs(%q : tensor<8xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<8xf32>
  tile.yield %s : tensor<8xf32>
}
tile.kernel @short_1 {
^bb0(%x: tensor<4x8xf32>, %o: tensor<8xf32>):
  %a = tile.load %x to @vreg : tensor<4x8xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[16]>, #tile.rtile<"vreg"[16]>] : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%p: tensor<4x8xf32>, %q: tensor<8xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (1, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<4x8xf32>) outs(%q : tensor<8xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    tile.yield %r : tensor<8xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<8xf32>
  tile.yield %s : tensor<8xf32>
}
tile.kernel @asked_0 {
^bb0(%x: tensor<4x16xf32>, %o: tensor<16xf32>):
  %a = tile.load %x to @vreg : tensor<4x16xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[16]>, #tile.rtile<"vreg"[16]>] : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<4x16xf32>, %q: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<4x16xf32>) outs(%q : tensor<16xf32>) {
    ^bb0(%u: f32, %v: f32):
      %z = arith.constant 0 : index
      %w = tensor.extract %p[%z, %z] : tensor<4x16xf32>
      %s = arith.addf %u, %w : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<16xf32>
  tile.yield %s : tensor<16xf32>
}
tile.kernel @asked_1 {
^bb0(%x: tensor<4x16xf32>, %o: tensor<16xf32>):
  %a = tile.load %x to @vreg : tensor<4x16xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[16]>, #tile.rtile<"vreg"[16]>] : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<4x16xf32>, %q: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (1, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<4x16xf32>) outs(%q : tensor<16xf32>) {
    ^bb0(%u: f32, %v: f32):
      %z = arith.constant 0 : index
      %w = tensor.extract %p[%z, %z] : tensor<4x16xf32>
      %s = arith.addf %u, %w : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<16xf32>
  tile.yield %s : tensor<16xf32>
}
tile.kernel @folded_0 {
^bb0(%x: tensor<4x16xf32>, %o: tensor<16xf32>):
  %a = tile.load %x to @vreg : tensor<4x16xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[16]>, #tile.rtile<"vreg"[16]>] : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<4x16xf32>, %q: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<4x16xf32>) outs(%q : tensor<16xf32>) {
    ^bb0(%u: f32, %v: f32):
      %k = arith.addf %u, %u : f32
      %s = arith.addf %k, %u : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<16xf32>
  tile.yield %s : tensor<16xf32>
}
tile.kernel @folded_1 {
^bb0(%x: tensor<4x16xf32>, %o: tensor<16xf32>):
  %a = tile.load %x to @vreg : tensor<4x16xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram"[16]>, #tile.rtile<"vreg"[16]>] : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<16xf32> {
  ^bb0(%p: tensor<4x16xf32>, %q: tensor<16xf32>):
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (1, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%p : tensor<4x16xf32>) outs(%q : tensor<16xf32>) {
    ^bb0(%u: f32, %v: f32):
      %k = arith.addf %u, %u : f32
      %s = arith.addf %k, %u : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    tile.yield %r : tensor<16xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<16xf32>
  tile.yield %s : tensor<16xf32>
}
task.program @alone on @core units 2 arena 320 : (tensor<4x8xf32>, tensor<4x16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<4x8xf32>
  %w = task.input 1 "w" : memref<4x16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %a = task.buffer at 0 in @dram : memref<8xf32>
  %b = task.buffer at 64 in @dram : memref<8xf32>
  %c = task.buffer at 128 in @dram : memref<16xf32>
  %d = task.buffer at 192 in @dram : memref<16xf32>
  %e = task.buffer at 256 in @dram : memref<16xf32>
  %l = task.literal dense<1.0> : tensor<4x16xf32> -> memref<4x16xf32>
  %k = task.constant "k" @folded_1(%l) : (memref<4x16xf32>) -> memref<16xf32>
  %t0 = task.range "a" @short_0[0 to 1] on 0(%x, %a) after() : memref<4x8xf32>, memref<8xf32>
  %t1 = task.range "b" @short_1[0 to 1] on 0(%x, %b) after() : memref<4x8xf32>, memref<8xf32>
  %t2 = task.range "c" @asked_0[0 to 1] on 0(%w, %c) after() : memref<4x16xf32>, memref<16xf32>
  %t3 = task.range "d" @asked_1[0 to 1] on 1(%w, %d) after() : memref<4x16xf32>, memref<16xf32>
  %t4 = task.range "e" @folded_0[0 to 1] on 1(%w, %e) after() : memref<4x16xf32>, memref<16xf32>
  %t5 = task.range "f" @folded_1[0 to 1] on 1(%w, %y) after() : memref<4x16xf32>, memref<16xf32>
}

//--- zeros.mlir

func.func @zeros() -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %z : tensor<4x16xf32>
}

//--- steps.mlir

// Steps that read a row each, less the same steps on rows of 17 elements, which do not begin where buffers do.
// STEPS-COUNT-2: task.range "steps" @[[STEP:func_[0-9_]+]][0 to 1] on {{.+}} at [{{.*}}, 16
//     RIGHT: result0
// From row 2 on there are 128 bytes behind the tensor of rows.
//      LEFT: define {{.+}} dereferenceable(64) %2, {{.+}} dereferenceable(128) %3, {{.+}} dereferenceable(64) %4)
func.func @steps(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4x16xf32>
  %r = tensor.empty() : tensor<1x16xf32>
  %p = tensor.empty() : tensor<16x17xf32>
  %w = tensor.empty() : tensor<4x17xf32>
  %same = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%p : tensor<16x17xf32>) {
  ^bb0(%a: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %c = arith.cmpi eq, %i, %j : index
    %s = arith.select %c, %one, %zero : f32
    linalg.yield %s : f32
  } -> tensor<16x17xf32>
  %z = linalg.fill ins(%zero : f32) outs(%w : tensor<4x17xf32>) -> tensor<4x17xf32>
  %wide = linalg.matmul ins(%x, %same : tensor<4x16xf32>, tensor<16x17xf32>) outs(%z : tensor<4x17xf32>) -> tensor<4x17xf32>
  %nx0 = tensor.extract_slice %x[0, 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<1x16xf32>
  %ns0 = linalg.tanh ins(%nx0 : tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %ni0 = tensor.insert_slice %ns0 into %e[0, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<4x16xf32>
  %nx1 = tensor.extract_slice %x[1, 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<1x16xf32>
  %na1 = linalg.add ins(%ns0, %nx1 : tensor<1x16xf32>, tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %ns1 = linalg.tanh ins(%na1 : tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %ni1 = tensor.insert_slice %ns1 into %ni0[1, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<4x16xf32>
  %nx2 = tensor.extract_slice %x[2, 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<1x16xf32>
  %na2 = linalg.add ins(%ns1, %nx2 : tensor<1x16xf32>, tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %ns2 = linalg.tanh ins(%na2 : tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %ni2 = tensor.insert_slice %ns2 into %ni1[2, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<4x16xf32>
  %nx3 = tensor.extract_slice %x[3, 0] [1, 16] [1, 1] : tensor<4x16xf32> to tensor<1x16xf32>
  %na3 = linalg.add ins(%ns2, %nx3 : tensor<1x16xf32>, tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %ns3 = linalg.tanh ins(%na3 : tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %ni3 = tensor.insert_slice %ns3 into %ni2[3, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<4x16xf32>
  %wx0 = tensor.extract_slice %wide[0, 0] [1, 16] [1, 1] : tensor<4x17xf32> to tensor<1x16xf32>
  %ws0 = linalg.tanh ins(%wx0 : tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %wi0 = tensor.insert_slice %ws0 into %w[0, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<4x17xf32>
  %wx1 = tensor.extract_slice %wide[1, 0] [1, 16] [1, 1] : tensor<4x17xf32> to tensor<1x16xf32>
  %wa1 = linalg.add ins(%ws0, %wx1 : tensor<1x16xf32>, tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %ws1 = linalg.tanh ins(%wa1 : tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %wi1 = tensor.insert_slice %ws1 into %wi0[1, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<4x17xf32>
  %wx2 = tensor.extract_slice %wide[2, 0] [1, 16] [1, 1] : tensor<4x17xf32> to tensor<1x16xf32>
  %wa2 = linalg.add ins(%ws1, %wx2 : tensor<1x16xf32>, tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %ws2 = linalg.tanh ins(%wa2 : tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %wi2 = tensor.insert_slice %ws2 into %wi1[2, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<4x17xf32>
  %wx3 = tensor.extract_slice %wide[3, 0] [1, 16] [1, 1] : tensor<4x17xf32> to tensor<1x16xf32>
  %wa3 = linalg.add ins(%ws2, %wx3 : tensor<1x16xf32>, tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %ws3 = linalg.tanh ins(%wa3 : tensor<1x16xf32>) outs(%r : tensor<1x16xf32>) -> tensor<1x16xf32>
  %wi3 = tensor.insert_slice %ws3 into %wi2[3, 0] [1, 16] [1, 1] : tensor<1x16xf32> into tensor<4x17xf32>
  %ww = tensor.extract_slice %wi3[0, 0] [4, 16] [1, 1] : tensor<4x17xf32> to tensor<4x16xf32>
  %d = linalg.sub ins(%ni3, %ww : tensor<4x16xf32>, tensor<4x16xf32>) outs(%e : tensor<4x16xf32>) -> tensor<4x16xf32>
  return %d : tensor<4x16xf32>
}
