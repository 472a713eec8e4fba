// What a device.move may not say.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// move_c1: both memories belong to the machine.
// CHECK: device.move names @l2, which is no memory of the machine @toy
// CHECK: device.move names @l1, which is no memory of the machine @toy
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.move @load from @l2 to @l1
}

// -----

// move_c2: cycles and bandwidth are above zero.
// CHECK: device.move has issue_cycles 0
// CHECK: device.move has latency_cycles -1
// CHECK: device.move has bytes_per_cycle 0
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.move @load from @dram to @vreg bytes_per_cycle(0) issue_cycles(0.0) latency_cycles(-1)
}

// -----

// move_c2: bandwidth is above zero.
// CHECK: device.move has bytes_per_cycle 0
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.move @in from @dram to @spad bytes_per_cycle(0)
}

// -----

// move_c3: the engine belongs to the machine.
// CHECK: device.move names @dma, which is no engine of the machine @m
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.move @in from @dram to @spad engine(@dma)
}

// -----

// move_c4: names in braces are known.
// CHECK: the encoding "in {source}" asks for `source`
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.move @in from @dram to @spad encoding("in {source}")
}
