// GraphTurbo's buffer scopes: what all rTasks of a cluster read is brought to the memory that its
// units share, once; what one cluster alone touches lies there and nowhere else.
// RUN: weft-opt %s '--pass-pipeline=builtin.module(tile-to-task{remarks=true})' -o %t.mlir 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: FileCheck %s < %t.mlir
// RUN: weft-opt %t.mlir --task-check-order -o /dev/null
// RUN: weft-opt %s '--pass-pipeline=builtin.module(tile-to-task{near=none})' | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt %s '--pass-pipeline=builtin.module(tile-to-task{near=all})' 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: sed 's/capacity_bytes(4096) within/capacity_bytes(1024) within/' %s > %t.small.mlir
// RUN: weft-opt %t.small.mlir '--pass-pipeline=builtin.module(tile-to-task{remarks=true})' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FULL
// RUN: weft-opt %t.mlir --tile-to-device | FileCheck %s --check-prefix=CODE

#row = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>
#id = affine_map<(i) -> (i)>
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @near scope("cluster") capacity_bytes(4096) within(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(4) cluster(@pair) handover_cycles(100)
  device.unit @pair count(2)
  device.engine @dma on @pair queue(4)
  device.move @fetch from @dram to @near engine(@dma) bytes_per_cycle(16) latency_cycles(20) strided
  device.move @ld from @dram to @vreg issue_cycles(1.0) latency_cycles(4)
  device.move @st from @vreg to @dram issue_cycles(1.0) latency_cycles(4)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions([])
}

// SAYS: "scale" argument 0 of 32768 bytes is read from the device's memory: the cluster reads it no more than once [again: 16384 bytes of 32768]
// SAYS: "scale" argument 1 of 2048 bytes is copied to @near 2 times, for 32768 bytes that units read there
// SAYS: "twice" argument 0 of 256 bytes is read from the device's memory: the cluster reads it no more than once [again: 256 bytes of 256]
// SAYS: "twice" argument 1 of 256 bytes is in @near of cluster 0, whose units alone use it
// FULL: "scale" argument 1 of 2048 bytes is read from the device's memory: no memory is free while it is needed [room: @near holds 1024]
// WORD: tile-to-task: unknown value 'all' for option 'near'; expected 'auto' or 'none'

// The clusters are numbered behind the units.
// CHECK-LABEL: task.program @g on @core units 4 arena 0
//  CHECK-SAME:   cluster_arena = 2304
//   CHECK-DAG:   %[[W:.+]] = task.input 1 "w"
//   CHECK-DAG:   %[[N:.+]] = task.buffer at {{.+}} in @near of 0 : memref<512xf32>
//   CHECK-DAG:   %[[M:.+]] = task.buffer at {{.+}} in @near of 1 : memref<512xf32>
//   CHECK-DAG:   %[[T:.+]] = task.range "scale" @fetch_512xf32[0 to 4] on 4(%[[W]], %[[N]]) after()
//   CHECK-DAG:   %[[S:.+]] = task.range "scale" @fetch_512xf32[0 to 4] on 5(%[[W]], %[[M]]) after()
//   CHECK-DAG:   task.range "scale" @scale[0 to 4] on 0(%{{.+}}, %[[N]], %{{.+}}) after(%[[T]])
//   CHECK-DAG:   task.range "scale" @scale[12 to 16] on 3(%{{.+}}, %[[M]], %{{.+}}) after(%[[S]])
//   CHECK-DAG:   %[[K:.+]] = task.buffer at {{.+}} in @near of 0 : memref<64xf32>
//   CHECK-DAG:   task.range "twice" @twice[0 to 1] on {{[01]}}(%{{.+}}, %[[K]]) after()
//   CHECK-DAG:   task.range "again" @twice[0 to 1] on {{[01]}}(%[[K]], %{{.+}})
//   NONE-NOT:   in @near of
//   NONE-NOT:   cluster_arena
//       NONE:   task.range "scale" @scale[12 to 16] on 3

// A piece for each rTask, so that others use the memory between them.
// CODE-LABEL: device.kernel @fetch_512xf32 tasks 4
//       CODE:   %[[DONE:.+]] = device.transfer @fetch %{{.+}}[%{{.+}}] to %{{.+}}[%{{.+}}] sizes [160]
//       CODE:   device.wait %[[DONE]]
//       CODE:   device.transfer @fetch %{{.+}} sizes [32]
tile.graph @g inputs ["x", "w", "u"] outputs ["y", "v"] : (tensor<16x512xf32>, tensor<512xf32>, tensor<64xf32>) -> (tensor<16x512xf32>, tensor<64xf32>) {
^bb0(%x: tensor<16x512xf32>, %w: tensor<512xf32>, %u: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<16x512xf32>
  %y = tile.run "scale" @scale(%x, %w) into(%e) : (tensor<16x512xf32>, tensor<512xf32>, tensor<16x512xf32>) -> tensor<16x512xf32>
  %f = tile.empty in @dram : tensor<64xf32>
  %t = tile.run "twice" @twice(%u) into(%f) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %h = tile.empty in @dram : tensor<64xf32>
  %v = tile.run "again" @twice(%t) into(%h) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y, %v : tensor<16x512xf32>, tensor<64xf32>
}

tile.kernel @scale {
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

tile.kernel @twice {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %a = tile.load %x to @vreg : tensor<64xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [64]>, #tile.rtile<"vreg" [16]>] : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<64xf32>) outs(%q : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    tile.yield %r : tensor<64xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}
