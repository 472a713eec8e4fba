// What a device.unit may not say.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// unit_c1: count and clock are above zero.
// CHECK: device.unit has count 0
// CHECK: device.unit has clock_mhz 0
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(0) clock_mhz(0)
}

// -----

// unit_c2: `host` is `cores`.
// CHECK: device.unit reads "threads" from the host
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1) host("threads")
}

// -----

// unit_c1: a unit has parts, if any are counted.
// CHECK: device.unit has partitions 0
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.unit @core count(2) partitions(0)
}
