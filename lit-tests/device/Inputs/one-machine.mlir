// A machine for the tests of device-load-machine.
device.machine @small arch("small") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
}
