// Facts of registers and of groups of lanes.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// memory_c6, memory_c7: only registers have these.
// CHECK: device.memory has access_bytes(16) and no lanes
// CHECK: device.memory has reserved_bytes(64) and no registers
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536) access_bytes(16) reserved_bytes(64)
  device.unit @core count(4)
}

// -----

// memory_c7: tiles are left some of them.
// CHECK: device.memory reserves 512 bytes of 512
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16) reserved_bytes(512)
  device.unit @core count(4)
}

// -----

// unit_c1: counts and cycles are above zero.
// CHECK: device.unit has groups 0
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(4) groups(0)
}
