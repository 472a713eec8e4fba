// What is brought near before something computes with it: blocks for an instruction that
// has axes of its own, tiles for lanes whose registers are not next to the shared memory.
// RUN: weft-opt %s --tile-construct-rtiles --tile-to-device | FileCheck %s
// RUN: weft-opt %s --tile-construct-rtiles --tile-to-device --verify-roundtrip -o /dev/null

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @spad scope("core") capacity_bytes(2048) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.engine @dma on @core queue(8)
  device.engine @array on @core queue(8)
  device.move @in from @dram to @spad engine(@dma) bytes_per_cycle(16) latency_cycles(20) strided fills
  device.move @out from @spad to @dram engine(@dma) bytes_per_cycle(16) latency_cycles(20) strided
  device.move @vload from @spad to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @vstore from @vreg to @spad issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf", "arith.mulf", "arith.maximumf"]) reductions(["arith.addf"])
  device.instruction @mac on @core engine(@array) operands([@spad, @spad, @spad]) issue_cycles(4.0) latency_cycles(8)
  meaning {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>):
    %d = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    device.yield %d : tensor<4x4xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: index):
    device.yield
  }
}

// The weight lies transposed, which the transfer turns; 10 columns are 3 blocks, of which
// the last is zero but for two. What the output holds is where the sum starts.
// CHECK-LABEL: device.kernel @mm tasks
//       CHECK: ^bb0(%{{.+}}: index, %[[X:.+]]: memref<8x64xf32>, %[[W:.+]]: memref<10x64xf32>, %[[O:.+]]: memref<8x10xf32>):
//       CHECK:   %[[C:.+]] = device.alloc : memref<2x3x4x4xf32, "spad">
//       CHECK:   %[[F:.+]] = device.fill @in %[[C]]{{.+}} sizes [2, 3, 4, 4] strides [48, 16, 4, 1] value 0.0
//       CHECK:   %[[C0:.+]] = device.transfer @in %[[O]]{{.+}} to %[[C]]{{.+}} sizes [2, 2, 4, 4] from_strides [40, 4, 10, 1] to_strides [48, 16, 4, 1]
//       CHECK:   %[[C1:.+]] = device.transfer @in %[[O]]{{.+}} to %[[C]]{{.+}} sizes [2, 4, 2] from_strides [40, 10, 1] to_strides [48, 4, 1]
// The same engine brings the inputs later: who waits for them has waited for this.
//   CHECK-NOT:   device.wait

// Two rooms for the inputs: the next step is brought into one while the other is used. What no step
// brings is zero in both from the start.
//       CHECK:   %[[A:.+]] = device.alloc : memref<2x2x{{.+}}x4x4xf32, "spad">
//       CHECK:   %[[B:.+]] = device.alloc : memref<2x{{.+}}x3x4x4xf32, "spad">
//       CHECK:   device.fill @in %[[B]]{{.+}} sizes [2, {{[0-9]+}}, 3, 4, 4]
//       CHECK:   %[[READY:.+]] = device.ready
//       CHECK:   scf.for %{{.+}} iter_args({{.+}}, %[[FOLDED:.+]] = %[[READY]])
//       CHECK:     device.wait %[[FOLDED]]
//       CHECK:     scf.if
//       CHECK:       device.transfer @in %[[X]]
//   CHECK-NOT:       device.fill
//       CHECK:       device.transfer @in %[[W]]{{.+}} sizes [{{.+}}, 2, 4, 4] from_strides [4, 256, 1, 64]
//       CHECK:     } else {
//       CHECK:     device.wait
//       CHECK:     %[[T:.+]] = device.invoke @mac(%[[A]][{{.+}}], %[[B]][{{.+}}], %[[C]][{{.+}}]) {{.+}} -> !device.token
//       CHECK:     scf.yield %[[T]]
//       CHECK:   device.transfer @out %[[C]]{{.+}} to %[[O]]
tile.kernel @mm {
^bb0(%x: tensor<8x64xf32>, %w: tensor<10x64xf32>, %o: tensor<8x10xf32>):
  %r = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x64xf32>, tensor<10x64xf32>) outs(%o : tensor<8x10xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<8x10xf32>
  tile.yield %r : tensor<8x10xf32>
}

// A maximum over windows: the window of the image waits whole, registers come from it.
// CHECK-LABEL: device.kernel @pool tasks
//       CHECK: ^bb0(%{{.+}}: index, %[[X:.+]]: memref<34xf32>, %{{.+}}: memref<3xf32>, %[[O:.+]]: memref<32xf32>):
//       CHECK:   %[[Y:.+]] = device.alloc : memref<32xf32, "spad">
//       CHECK:   %[[I:.+]] = device.alloc : memref<34xf32, "spad">
//       CHECK:   %[[T:.+]] = device.transfer @in %[[X]]{{.+}} to %[[I]]{{.+}} sizes [34] from_strides [1] to_strides [1]
//       CHECK:   device.wait %[[T]]
//       CHECK:   device.copy @vload %[[I]]
//       CHECK:   device.apply @valu
//       CHECK:   device.copy @vstore %{{.+}} to %[[Y]]
//       CHECK:   device.transfer @out %[[Y]]{{.+}} to %[[O]]
tile.kernel @pool {
^bb0(%x: tensor<34xf32>, %h: tensor<3xf32>, %o: tensor<32xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, w) -> (i + w)>, affine_map<(i, w) -> (w)>, affine_map<(i, w) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x, %h : tensor<34xf32>, tensor<3xf32>) outs(%o : tensor<32xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.maximumf %v, %p : f32
    linalg.yield %t : f32
  } -> tensor<32xf32>
  tile.yield %r : tensor<32xf32>
}
