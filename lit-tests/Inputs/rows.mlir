// Two cores behind caches of 16 KiB, that do what a softmax does.
device.machine @small arch("small") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(16384) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(1024) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.maximumf", "math.exp"]) reductions(["arith.addf", "arith.maximumf"])
}
