// What is written in parts is brought near when all of them are there, and not before.
// RUN: weft-opt %s '--pass-pipeline=builtin.module(tile-to-task{remarks=true policy=text})' -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: FileCheck %s < %t.mlir
// RUN: weft-opt %t.mlir --task-check-order -o /dev/null

#row = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>
#id = affine_map<(i) -> (i)>
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(1)
  device.memory @near scope("cluster") capacity_bytes(4096) within(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(4) cluster(@pair) handover_cycles(100)
  device.unit @pair count(2)
  device.engine @dma on @pair queue(4)
  device.move @fetch from @dram to @near engine(@dma) bytes_per_cycle(16) latency_cycles(20) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions([])
}

// SAYS: "second" argument 1 of 2048 bytes is copied to @near 2 times

// CHECK:     %[[B:.+]] = task.buffer at 0 in @dram : memref<512xf32>
// CHECK:     %[[L:.+]] = task.range "low" @half
// CHECK-NOT: @fetch
// CHECK:     task.range "first" @scale[0 to 4] on 0(%{{.+}}, %[[B]], %{{.+}}) after(%[[L]])
// CHECK:     %[[H:.+]] = task.range "high" @other
// CHECK:     task.range "second" @fetch_512xf32[0 to 4] on 4(%[[B]], %{{.+}}) after(%[[L]], %[[H]])
// CHECK:     task.range "second" @all
tile.graph @g inputs ["x", "u", "v"] outputs ["y", "z"] : (tensor<16x256xf32>, tensor<16x512xf32>, tensor<256xf32>) -> (tensor<16x256xf32>, tensor<16x512xf32>) {
^bb0(%x: tensor<16x256xf32>, %u: tensor<16x512xf32>, %v: tensor<256xf32>):
  %e = tile.empty in @dram : tensor<512xf32>
  %l = tile.run "low" @half(%v) into(%e) : (tensor<256xf32>, tensor<512xf32>) -> tensor<512xf32>
  %f = tile.empty in @dram : tensor<16x256xf32>
  %y = tile.run "first" @scale(%x, %l) into(%f) : (tensor<16x256xf32>, tensor<512xf32>, tensor<16x256xf32>) -> tensor<16x256xf32>
  %w = tile.run "high" @other(%v) into(%l) : (tensor<256xf32>, tensor<512xf32>) -> tensor<512xf32>
  %g = tile.empty in @dram : tensor<16x512xf32>
  %z = tile.run "second" @all(%u, %w) into(%g) : (tensor<16x512xf32>, tensor<512xf32>, tensor<16x512xf32>) -> tensor<16x512xf32>
  tile.output %y, %z : tensor<16x256xf32>, tensor<16x512xf32>
}

tile.kernel @half {
^bb0(%x: tensor<256xf32>, %o: tensor<512xf32>):
  %a = tile.load %x to @vreg : tensor<256xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [256]>, #tile.rtile<"vreg" [16]>] : (tensor<256xf32>, tensor<512xf32>) -> tensor<512xf32> {
  ^bb0(%p: tensor<256xf32>, %q: tensor<512xf32>):
    %w = tensor.extract_slice %q[0] [256] [1] : tensor<512xf32> to tensor<256xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<256xf32>) outs(%w : tensor<256xf32>) {
    ^bb0(%m: f32, %n: f32):
      %s = arith.addf %m, %m : f32
      linalg.yield %s : f32
    } -> tensor<256xf32>
    %k = tensor.insert_slice %r into %q[0] [256] [1] : tensor<256xf32> into tensor<512xf32>
    tile.yield %k : tensor<512xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<512xf32>
  tile.yield %s : tensor<512xf32>
}

tile.kernel @other {
^bb0(%x: tensor<256xf32>, %o: tensor<512xf32>):
  %a = tile.load %x to @vreg : tensor<256xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [256]>, #tile.rtile<"vreg" [16]>] : (tensor<256xf32>, tensor<512xf32>) -> tensor<512xf32> {
  ^bb0(%p: tensor<256xf32>, %q: tensor<512xf32>):
    %w = tensor.extract_slice %q[256] [256] [1] : tensor<512xf32> to tensor<256xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<256xf32>) outs(%w : tensor<256xf32>) {
    ^bb0(%m: f32, %n: f32):
      %s = arith.addf %m, %m : f32
      linalg.yield %s : f32
    } -> tensor<256xf32>
    %k = tensor.insert_slice %r into %q[256] [256] [1] : tensor<256xf32> into tensor<512xf32>
    tile.yield %k : tensor<512xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<512xf32>
  tile.yield %s : tensor<512xf32>
}

tile.kernel @scale {
^bb0(%x: tensor<16x256xf32>, %w: tensor<512xf32>, %o: tensor<16x256xf32>):
  %a = tile.load %x to @vreg : tensor<16x256xf32>
  %b = tile.load %w to @vreg : tensor<512xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [1, 256]>, #tile.rtile<"vreg" [1, 16]>] : (tensor<16x256xf32>, tensor<512xf32>, tensor<16x256xf32>) -> tensor<16x256xf32> {
  ^bb0(%p: tensor<16x256xf32>, %q: tensor<512xf32>, %r: tensor<16x256xf32>):
    %h = tensor.extract_slice %q[0] [256] [1] : tensor<512xf32> to tensor<256xf32>
    %s = linalg.generic {indexing_maps = [#row, #col, #row], iterator_types = ["parallel", "parallel"]} ins(%p, %h : tensor<16x256xf32>, tensor<256xf32>) outs(%r : tensor<16x256xf32>) {
    ^bb0(%m: f32, %n: f32, %k: f32):
      %z = arith.mulf %m, %n : f32
      linalg.yield %z : f32
    } -> tensor<16x256xf32>
    tile.yield %s : tensor<16x256xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<16x256xf32>
  tile.yield %s : tensor<16x256xf32>
}

tile.kernel @all {
^bb0(%x: tensor<16x512xf32>, %w: tensor<512xf32>, %o: tensor<16x512xf32>):
  %a = tile.load %x to @vreg : tensor<16x512xf32>
  %b = tile.load %w to @vreg : tensor<512xf32>
  %c = tile.compute ins(%a, %b) outs(%o) on @valu lanes 1 tiles [#tile.rtile<"dram" [1, 512]>, #tile.rtile<"vreg" [1, 16]>] : (tensor<16x512xf32>, tensor<512xf32>, tensor<16x512xf32>) -> tensor<16x512xf32> {
  ^bb0(%p: tensor<16x512xf32>, %q: tensor<512xf32>, %r: tensor<16x512xf32>):
    %s = linalg.generic {indexing_maps = [#row, #col, #row], iterator_types = ["parallel", "parallel"]} ins(%p, %q : tensor<16x512xf32>, tensor<512xf32>) outs(%r : tensor<16x512xf32>) {
    ^bb0(%m: f32, %n: f32, %k: f32):
      %z = arith.mulf %m, %n : f32
      linalg.yield %z : f32
    } -> tensor<16x512xf32>
    tile.yield %s : tensor<16x512xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<16x512xf32>
  tile.yield %s : tensor<16x512xf32>
}
