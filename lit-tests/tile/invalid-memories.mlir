// Memories that the machine does not have.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}

// empty_c1: the machine has the memory.
// CHECK: tile.empty names @spad, which is no memory of the machine @toy
// CHECK: help: it has @dram
func.func @empty_c1() {
  %e = tile.empty in @spad : tensor<4xf32>
  return
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}

// connect_c1, connect_c2: a memory of the machine, and something that a run makes.
// CHECK: tile.connect names @l2, which is no memory of the machine @toy
// CHECK: tile.connect hands over what an argument gives
// CHECK: help: an edge leads from a tile.run to others
func.func @connect(%x: tensor<4xf32>) {
  %e = tile.connect %x in @l2 : tensor<4xf32>
  return
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}

// load_c1: the machine has the memory.
// CHECK: tile.load names @spad, which is no memory of the machine @toy
func.func @load_c1(%x: tensor<4xf32>) {
  %a = tile.load %x to @spad : tensor<4xf32>
  return
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}

// store_c1: the machine has the memory.
// CHECK: tile.store names @spad, which is no memory of the machine @toy
func.func @store_c1(%x: tensor<4xf32>) {
  %a = tile.store %x from @spad to %x : tensor<4xf32>
  return
}
