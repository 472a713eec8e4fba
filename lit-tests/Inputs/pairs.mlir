// Four cores in clusters of two, which share a memory and an engine that fetches.
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @near scope("cluster") capacity_bytes(4096) within(@dram)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(4) cluster(@pair)
  device.unit @pair count(2)
  device.engine @dma on @pair queue(4)
  device.move @fetch from @dram to @near engine(@dma) strided
}
