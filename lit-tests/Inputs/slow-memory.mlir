// Two cores behind a slow memory: what is moved decides.
device.machine @few arch("x86-64") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(4)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(32)
  device.unit @core count(2) clock_mhz(1000)
  device.move @load from @dram to @vreg strided fills
  device.move @store from @vreg to @dram strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}
