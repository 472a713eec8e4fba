// A machine of two cores, for tests in which it only has to be there.
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.move @load from @dram to @vreg
  device.move @stream from @vreg to @dram strided streams
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations(["arith.addf"]) reductions(["arith.addf"])
  device.instruction @add on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}
