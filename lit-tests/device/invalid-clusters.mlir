// Clusters, and memories that they share, that do not fit the machine.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// memory_c8: addresses lie within those of the memory that all share.
// CHECK: device.memory @near lies within @spad
// CHECK: that is not the memory of the whole device
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @spad scope("core") capacity_bytes(1024)
  device.memory @near scope("cluster") capacity_bytes(1024) within(@spad)
  device.unit @core count(2)
}

// -----

// memory_c8: a cache has no addresses of its own.
// CHECK: device.memory @l2 lies within @dram, and has no addresses
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @l2 scope("cluster") capacity_bytes(1024) caches(@dram) within(@dram)
  device.unit @core count(2)
}

// -----

// unit_c3: the machine has the cluster.
// CHECK: device.unit names @trio, which is no unit of the machine @toy
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(4) cluster(@trio)
}

// -----

// unit_c3: clusters have the same number of units, and are in none.
// CHECK: device.unit is in @trio, which is in @all
// CHECK: device.unit has 4 units in 3 of @trio
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(4) cluster(@trio)
  device.unit @trio count(3) cluster(@all)
  device.unit @all count(1)
}

// -----

// memory_c8: it is shared by a cluster.
// CHECK: device.memory @one of scope core lies within @dram
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @one scope("core") capacity_bytes(1024) within(@dram)
  device.unit @core count(2)
}

// -----

// memory_c8: there is one.
// CHECK: device.memory @other lies within @dram, and so does @one
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @one scope("cluster") capacity_bytes(1024) within(@dram)
  device.memory @other scope("cluster") capacity_bytes(1024) within(@dram)
  device.unit @core count(2)
}

// -----

// unit_c3: programs run on the first kind of unit.
// CHECK: device.unit is in @pair, which stands before it
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @pair count(2)
  device.unit @core count(4) cluster(@pair)
}
