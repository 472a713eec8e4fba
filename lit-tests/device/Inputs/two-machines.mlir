// One machine too many.
device.machine @first arch("small") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}
device.machine @second arch("small") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}
