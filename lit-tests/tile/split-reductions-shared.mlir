// Parts of a product are a tensor more that passes the memory that all units share: where units wait
// for that, its sums stay whole.
// RUN: weft-opt %s --tile-split-reductions=remarks=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=FAST
// RUN: sed 's/bytes_per_cycle(4096)/bytes_per_cycle(16)/' %s > %t.slow.mlir
// RUN: weft-opt %t.slow.mlir --tile-split-reductions=remarks=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=SLOW

// FAST: remark: @product: axis 2 is reduced in {{[0-9]+}} parts side by side with
// SLOW: remark: @product: its reduction is done whole: no number of equal parts takes less [parts: {{[0-9]+}} cycles in {{[0-9]+}}, {{[0-9]+}} cycles whole]

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

device.machine @toy arch("toy") features([]) {
  irdl.dialect @toy {
    irdl.operation @mac attributes {encoding = "mac {0}, {1}, {2}"} {
      %address = irdl.is index
      irdl.operands(a: %address, b: %address, c: %address)
    }
  }
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(4096) transaction_bytes(64)
  device.memory @spad scope("core") capacity_bytes(262144) bytes_per_cycle(256)
  device.memory @acc scope("core") capacity_bytes(65536) bytes_per_cycle(256)
  device.memory @vreg scope("thread") capacity_bytes(8192) register_bytes(64)
  device.unit @core count(16) handover_cycles(50)
  device.engine @in on @core queue(4)
  device.engine @out on @core queue(4)
  device.engine @mte on @core queue(4)
  device.engine @mme on @core queue(64)
  device.move @load from @dram to @spad engine(@in) bytes_per_cycle(64) latency_cycles(20) strided
  device.move @store from @spad to @dram engine(@out) bytes_per_cycle(64) latency_cycles(20) strided
  device.move @store_acc from @acc to @dram engine(@out) bytes_per_cycle(64) latency_cycles(20) strided
  device.move @begin from @spad to @acc engine(@mte) bytes_per_cycle(64) latency_cycles(20) strided fills
  device.move @ld from @spad to @vreg issue_cycles(1.0) latency_cycles(4) strided
  device.move @st from @vreg to @spad issue_cycles(1.0) latency_cycles(4) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
  device.instruction @mac on @core engine(@mme) operands([@spad, @spad, @acc])
    issue_cycles(16.0) latency_cycles(16) accuracy(["accumulation_order"])
  meaning {
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>):
    %d = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%c : tensor<16x16xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x16xf32>
    device.yield %d : tensor<16x16xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: index):
    "toy.mac"(%a, %b, %c) : (index, index, index) -> ()
    device.yield
  }
}

tile.graph @g inputs ["x", "w"] outputs ["y"] : (tensor<32x4096xf32>, tensor<4096x32xf32>) -> tensor<32x32xf32> {
^bb0(%x: tensor<32x4096xf32>, %w: tensor<4096x32xf32>):
  %e = tile.empty in @dram : tensor<32x32xf32>
  %y = tile.run "s" @product(%x, %w) into(%e) : (tensor<32x4096xf32>, tensor<4096x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  tile.output %y : tensor<32x32xf32>
}
tile.kernel @product {
^bb0(%x: tensor<32x4096xf32>, %w: tensor<4096x32xf32>, %o: tensor<32x32xf32>):
  %z = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<32x32xf32>) {
  ^bb0(%v: f32):
    %c = arith.constant 0.0 : f32
    linalg.yield %c : f32
  } -> tensor<32x32xf32>
  %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<32x4096xf32>, tensor<4096x32xf32>) outs(%z : tensor<32x32xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<32x32xf32>
  tile.yield %r : tensor<32x32xf32>
}
