// Two cores that add, with moves to and from their registers.
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}
