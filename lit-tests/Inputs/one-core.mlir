// A core whose registers have 4 lanes, that adds and multiplies, behind a cache.
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(4096) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}
