// What a device.engine may not say.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// engine_c1: the machine has the unit.
// CHECK: device.engine names @dsp, which is no unit of the machine @m
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.engine @dma on @dsp queue(1)
  device.move @in from @dram to @spad engine(@dma)
}

// -----

// engine_c2: the queue is longer than zero.
// CHECK: device.engine has queue 0
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.engine @dma on @core queue(0)
  device.move @in from @dram to @spad engine(@dma)
}

// -----

// engine_c3: a move or an instruction is done by it.
// CHECK: the engine @dma has no moves or instructions
// CHECK: write engine(@dma) at a move or an instruction
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.unit @core count(1)
  device.engine @dma on @core queue(1)
}
