// What a device.machine lacks.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// machine_c1: there is a memory that the whole device shares.
// CHECK: device.machine has no memory of scope device
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536) caches(@vreg)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
}

// -----

// machine_c2: there is a unit.
// CHECK: device.machine has no execution unit
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
}
