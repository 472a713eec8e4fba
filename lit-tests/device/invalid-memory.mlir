// What a device.memory may not say.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// memory_c1: sizes are above zero.
// CHECK: device.memory has capacity_bytes 0
// CHECK: device.memory has banks -1
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.memory @spad scope("core") capacity_bytes(0) banks(-1)
}

// -----

// memory_c2: the scope is a known one.
// CHECK: device.memory has the scope "chip"
// CHECK: help: scopes are thread, warp, warpgroup, core, cluster, device, host
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.memory @spad scope("chip") capacity_bytes(1024)
}

// -----

// memory_c3: a cache caches a memory of the machine.
// CHECK: device.memory names @l3, which is no memory of the machine @toy
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.memory @l2 scope("core") capacity_bytes(1024) caches(@l3)
}

// -----

// memory_c3: a row of caches does not lead back to itself.
// CHECK: device.memory @l1 caches @l2, which leads back to @l1
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.memory @l1 scope("core") capacity_bytes(1024) caches(@l2)
  device.memory @l2 scope("core") capacity_bytes(1024) caches(@l1)
}

// -----

// memory_c4: registers divide the capacity.
// CHECK: device.memory has 100 bytes in registers of 16
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.memory @mask scope("thread") capacity_bytes(100) register_bytes(16)
}

// -----

// memory_c5: what the host can be asked for.
// CHECK: device.memory reads "l4" from the host
// CHECK: help: it can read l1d, l2, l3, memory
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.memory @l4 scope("device") capacity_bytes(1024) host("l4")
}

// -----

// memory_c7: only registers have a part in core_bytes.
// CHECK: device.memory has core_bytes(64) and no registers
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024) core_bytes(64)
  device.unit @core count(2)
}

// -----

// memory_c6: only registers are spread over lanes.
// CHECK: device.memory has lanes(32) and no registers
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024) lanes(32)
  device.unit @core count(1)
}

// -----

// memory_c9: rows divide a register of one thread.
// CHECK: device.memory has registers of 64 bytes in rows of 24
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.unit @core count(1)
  device.memory @tile scope("thread") capacity_bytes(512) register_bytes(64) row_bytes(24)
}

// -----

// memory_c9: only registers have rows.
// CHECK: device.memory has rows, and no registers
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.unit @core count(1)
  device.memory @spad scope("core") capacity_bytes(512) row_bytes(16)
}

// -----

// memory_c9: no rows over lanes.
// CHECK: device.memory has registers in rows, spread over 32 lanes
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.unit @core count(1)
  device.memory @reg scope("warp") capacity_bytes(512) register_bytes(64) row_bytes(16) lanes(32)
}
