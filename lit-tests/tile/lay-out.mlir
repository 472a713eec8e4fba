// Tensors between sums over channels lie in panels of lanes; who cannot read them so is told.
// RUN: weft-opt %s --split-input-file --tile-lay-out='tensors=all remarks=true' 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --implicit-check-not=remark < %t
// RUN: weft-opt %s --split-input-file --tile-lay-out='remarks=true' 2>&1 | FileCheck %s --check-prefix=CHEAPER

#x = affine_map<(o, p, c) -> (c, p)>
#w = affine_map<(o, p, c) -> (o, c)>
#y = affine_map<(o, p, c) -> (o, p)>
#id = affine_map<(c, p) -> (c, p)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf", "arith.maximumf"]) reductions(["arith.addf"])
}

// The input and the output of the graph lie as they did, so one kernel was written for those who
// write panels, and one for those who read them.
//       CHECK-DAG: #[[X:.+]] = affine_map<(d0, d1, d2, d3) -> (d2, d1, d3)>
// CHECK-LABEL: tile.graph @two
//       CHECK:   %[[ROOM:.+]] = tile.empty in @dram : tensor<2x9x8xf32>
//       CHECK:   %[[W:.+]] = tile.view %arg1 : tensor<16x16xf32> to tensor<2x8x16xf32>
//       CHECK:   %[[H:.+]] = tile.run "a" @mix_panels(%arg0, %[[W]]) into(%[[ROOM]]) : (tensor<16x9xf32>, tensor<2x8x16xf32>, tensor<2x9x8xf32>) -> tensor<2x9x8xf32>
//       CHECK:   %[[V:.+]] = tile.view %arg1 : tensor<16x16xf32> to tensor<16x2x8xf32>
//       CHECK:   %[[Y:.+]] = tile.run "b" @mix_panels_1(%[[H]], %[[V]]) into(%{{.+}}) : (tensor<2x9x8xf32>, tensor<16x2x8xf32>, tensor<16x9xf32>) -> tensor<16x9xf32>
//       CHECK:   tile.output %[[Y]]
//   CHECK-NOT: tile.kernel @mix {
//       CHECK: tile.kernel @mix_panels_1 {
//       CHECK:   indexing_maps = [#[[X]],
//       CHECK:   iterator_types = ["parallel", "parallel", "reduction", "reduction"]
//     CHEAPER: remark: 1 tensors of @{{.+}} lie in {{panels|the model.s order}} with {{[0-9]+}} cycles predicted; second in {{panels|the model.s order}} with {{[0-9]+}}
tile.graph @two inputs ["x", "w"] outputs ["y"] : (tensor<16x9xf32>, tensor<16x16xf32>) -> tensor<16x9xf32> {
^bb0(%x: tensor<16x9xf32>, %w: tensor<16x16xf32>):
  %e = tile.empty in @dram : tensor<1x16x9xf32>
  %f = tile.view %e : tensor<1x16x9xf32> to tensor<16x9xf32>
  %h = tile.run "a" @mix(%x, %w) into(%f) : (tensor<16x9xf32>, tensor<16x16xf32>, tensor<16x9xf32>) -> tensor<16x9xf32>
  %g = tile.empty in @dram : tensor<16x9xf32>
  %y = tile.run "b" @mix(%h, %w) into(%g) : (tensor<16x9xf32>, tensor<16x16xf32>, tensor<16x9xf32>) -> tensor<16x9xf32>
  tile.output %y : tensor<16x9xf32>
}
tile.kernel @mix {
^bb0(%x: tensor<16x9xf32>, %w: tensor<16x16xf32>, %o: tensor<16x9xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<16x9xf32>, tensor<16x16xf32>) outs(%o : tensor<16x9xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<16x9xf32>
  tile.yield %r : tensor<16x9xf32>
}

// -----

#x = affine_map<(o, p, c) -> (c, p)>
#w = affine_map<(o, p, c) -> (o, c)>
#y = affine_map<(o, p, c) -> (o, p)>
#id = affine_map<(c, p) -> (c, p)>

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf", "arith.maximumf"]) reductions(["arith.addf"])
}

// Who asks for the number of a channel would be given another one.
// CHECK-LABEL: tile.graph @counted
//       CHECK:   tile.run "a" @count(%arg0)
//       CHECK:   tile.run "b" @mix(
//      REMARK: remark: @count keeps a tensor in the model's order: the kernel asks for the number of a point [coordinates]
tile.graph @counted inputs ["x", "w"] outputs ["y"] : (tensor<16x9xf32>, tensor<16x16xf32>) -> tensor<16x9xf32> {
^bb0(%x: tensor<16x9xf32>, %w: tensor<16x16xf32>):
  %e = tile.empty in @dram : tensor<16x9xf32>
  %h = tile.run "a" @count(%x) into(%e) : (tensor<16x9xf32>, tensor<16x9xf32>) -> tensor<16x9xf32>
  %g = tile.empty in @dram : tensor<16x9xf32>
  %y = tile.run "b" @mix(%h, %w) into(%g) : (tensor<16x9xf32>, tensor<16x16xf32>, tensor<16x9xf32>) -> tensor<16x9xf32>
  tile.output %y : tensor<16x9xf32>
}
tile.kernel @count {
^bb0(%x: tensor<16x9xf32>, %o: tensor<16x9xf32>):
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<16x9xf32>) outs(%o : tensor<16x9xf32>) {
  ^bb0(%p: f32, %v: f32):
    %n = linalg.index 0 : index
    %i = arith.index_cast %n : index to i32
    %f = arith.sitofp %i : i32 to f32
    %s = arith.addf %p, %f : f32
    linalg.yield %s : f32
  } -> tensor<16x9xf32>
  tile.yield %r : tensor<16x9xf32>
}
tile.kernel @mix {
^bb0(%x: tensor<16x9xf32>, %w: tensor<16x16xf32>, %o: tensor<16x9xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<16x9xf32>, tensor<16x16xf32>) outs(%o : tensor<16x9xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<16x9xf32>
  tile.yield %r : tensor<16x9xf32>
}

// -----

#x = affine_map<(o, p, c) -> (c, p)>
#w = affine_map<(o, p, c) -> (o, c)>
#y = affine_map<(o, p, c) -> (o, p)>
#id = affine_map<(p) -> (p)>

// Lanes get registers from banks, and moves bring any box there: all channels of a pixel are
// neighbours, however many they are. What rectifies each element wherever it lies follows.
device.machine @banks arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @spad scope("core") capacity_bytes(65536) bytes_per_cycle(64) banks(8) bank_bytes(4)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.engine @dma on @core queue(8)
  device.move @in from @dram to @spad engine(@dma) bytes_per_cycle(16) latency_cycles(100) strided
  device.move @out from @spad to @dram engine(@dma) bytes_per_cycle(16) latency_cycles(100) strided
  device.move @vld from @spad to @vreg issue_cycles(1.0) latency_cycles(4) strided
  device.move @vst from @vreg to @spad issue_cycles(1.0) latency_cycles(4) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf", "arith.maximumf"]) reductions(["arith.addf"])
}

// CHECK-LABEL: tile.graph @whole
//       CHECK:   tile.run "a" @mix_panels(%{{.+}} -> tensor<9x12xf32>
//       CHECK:   tile.run "r" @rectify(
//       CHECK:   tile.run "b" @mix_panels_1(%{{.+}}, %arg1) into(%{{.+}}) : (tensor<9x12xf32>, tensor<12x12xf32>, tensor<12x9xf32>)
tile.graph @whole inputs ["x", "w"] outputs ["y"] : (tensor<12x9xf32>, tensor<12x12xf32>) -> tensor<12x9xf32> {
^bb0(%x: tensor<12x9xf32>, %w: tensor<12x12xf32>):
  %e = tile.empty in @dram : tensor<12x9xf32>
  %h = tile.run "a" @mix(%x, %w) into(%e) : (tensor<12x9xf32>, tensor<12x12xf32>, tensor<12x9xf32>) -> tensor<12x9xf32>
  %f = tile.empty in @dram : tensor<12x9xf32>
  %i = tile.view %h : tensor<12x9xf32> to tensor<108xf32>
  %j = tile.view %f : tensor<12x9xf32> to tensor<108xf32>
  %k = tile.run "r" @rectify(%i) into(%j) : (tensor<108xf32>, tensor<108xf32>) -> tensor<108xf32>
  %l = tile.view %k : tensor<108xf32> to tensor<12x9xf32>
  %g = tile.empty in @dram : tensor<12x9xf32>
  %y = tile.run "b" @mix(%l, %w) into(%g) : (tensor<12x9xf32>, tensor<12x12xf32>, tensor<12x9xf32>) -> tensor<12x9xf32>
  tile.output %y : tensor<12x9xf32>
}
tile.kernel @mix {
^bb0(%x: tensor<12x9xf32>, %w: tensor<12x12xf32>, %o: tensor<12x9xf32>):
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<12x9xf32>, tensor<12x12xf32>) outs(%o : tensor<12x9xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<12x9xf32>
  tile.yield %r : tensor<12x9xf32>
}
tile.kernel @rectify {
^bb0(%x: tensor<108xf32>, %o: tensor<108xf32>):
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<108xf32>) outs(%o : tensor<108xf32>) {
  ^bb0(%p: f32, %v: f32):
    %z = arith.constant 0.0 : f32
    %m = arith.maximumf %p, %z : f32
    linalg.yield %m : f32
  } -> tensor<108xf32>
  tile.yield %r : tensor<108xf32>
}
