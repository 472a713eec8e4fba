// Two cores with an instruction that multiplies and adds, behind caches, the nearest of four ways.
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64) transaction_bytes(64)
  device.memory @l1 scope("core") capacity_bytes(4096) caches(@l2) bytes_per_cycle(64) transaction_bytes(64) way_bytes(1024)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
  device.instruction @fma on @core operands([@dram, @vreg, @vreg]) issue_cycles(0.5) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f32>, %b: tensor<8xf32>, %c: tensor<8xf32>):
    %d = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<f32>, tensor<8xf32>) outs(%c : tensor<8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    device.yield %d : tensor<8xf32>
  } lowering {
  ^bb0(%a: f32, %b: vector<8xf32>, %c: vector<8xf32>):
    %s = vector.broadcast %a : f32 to vector<8xf32>
    %d = vector.fma %s, %b, %c : vector<8xf32>
    device.yield %d : vector<8xf32>
  }
}
