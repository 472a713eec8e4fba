// Two cores that add, for plans: who does what, and when.
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}
