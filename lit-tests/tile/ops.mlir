// RUN: weft-opt %s --verify-roundtrip | FileCheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | FileCheck %s
// RUN: weft-opt %s --emit-bytecode | weft-opt | FileCheck %s

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @l2 scope("core") capacity_bytes(4096) caches(@dram)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations(["arith.addf"]) reductions([])
}

// CHECK-LABEL: tile.graph @graph inputs ["x"] outputs ["y"] : (tensor<4x8xf32>) -> tensor<32xf32> {
tile.graph @graph inputs ["x"] outputs ["y"] : (tensor<4x8xf32>) -> tensor<32xf32> {
^bb0(%x: tensor<4x8xf32>):
  // CHECK: %[[V:.+]] = tile.view %{{.+}} : tensor<4x8xf32> to tensor<32xf32>
  %v = tile.view %x : tensor<4x8xf32> to tensor<32xf32>
  // CHECK: %[[E:.+]] = tile.empty in @dram : tensor<32xf32>
  %e = tile.empty in @dram : tensor<32xf32>
  // CHECK: %[[Y:.+]] = tile.run "double_1" @double(%[[V]]) into(%[[E]]) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  %y = tile.run "double_1" @double(%v) into(%e) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  // CHECK: %[[N:.+]] = tile.connect %[[Y]] in @l2 : tensor<32xf32>
  %n = tile.connect %y in @l2 : tensor<32xf32>
  %f = tile.empty in @dram : tensor<32xf32>
  // CHECK: %[[Z:.+]] = tile.run "double_2" @double(%[[N]])
  %z = tile.run "double_2" @double(%n) into(%f) : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
  // CHECK: tile.output %[[Z]] : tensor<32xf32>
  tile.output %z : tensor<32xf32>
}

// CHECK-LABEL: tile.kernel @double {
tile.kernel @double {
^bb0(%x: tensor<32xf32>, %o: tensor<32xf32>):
  // CHECK: %[[A:.+]] = tile.load %{{.+}} to @vreg : tensor<32xf32>
  %a = tile.load %x to @vreg : tensor<32xf32>
  // CHECK: %[[C:.+]] = tile.compute ins(%[[A]]) outs(%{{.+}}) on @valu lanes 0 tiles [#tile.rtile<"l2"[16]>, #tile.rtile<"vreg"[8]>] : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32> {
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"l2"[16]>, #tile.rtile<"vreg"[8]>] : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32> {
  ^bb0(%b: tensor<32xf32>, %d: tensor<32xf32>):
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%b : tensor<32xf32>) outs(%d : tensor<32xf32>) {
    ^bb0(%p: f32, %q: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    } -> tensor<32xf32>
    // CHECK: tile.yield %{{.+}} : tensor<32xf32>
    tile.yield %s : tensor<32xf32>
  }
  // CHECK: %[[R:.+]] = tile.store %[[C]] from @vreg to %{{.+}} : tensor<32xf32>
  %r = tile.store %c from @vreg to %o : tensor<32xf32>
  // CHECK: tile.yield %[[R]] : tensor<32xf32>
  tile.yield %r : tensor<32xf32>
}

// Before tiles are chosen the body is the payload; without lanes every point is done alone.
// CHECK-LABEL: tile.kernel @payload {
tile.kernel @payload {
^bb0(%x: tensor<4xf32>, %o: tensor<4xf32>):
  tile.yield %x : tensor<4xf32>
}

// CHECK-LABEL: tile.kernel @scalar {
tile.kernel @scalar {
^bb0(%x: tensor<4xf32>, %o: tensor<4xf32>):
  // CHECK: tile.compute ins(%{{.+}}) outs(%{{.+}}) on @valu tiles [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  %c = tile.compute ins(%x) outs(%o) on @valu tiles [] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    tile.yield %a : tensor<4xf32>
  }
  tile.yield %c : tensor<4xf32>
}

// Callers see graph types, the body payload types.
// CHECK-LABEL: tile.graph @graph_types inputs ["b"] outputs ["c"] : (tensor<4xi1>) -> tensor<4xui8> {
tile.graph @graph_types inputs ["b"] outputs ["c"] : (tensor<4xi1>) -> tensor<4xui8> {
// CHECK: ^bb0(%{{.+}}: tensor<4xi8>):
^bb0(%b: tensor<4xi8>):
  tile.output %b : tensor<4xi8>
}
