// RUN: not weft-opt %s --device-lower-to-threads --split-input-file 2>&1 | FileCheck %s

// CHECK: no threads on the architecture "x86-64"
// CHECK: help: `sm_` and `gfx` begin the names
device.machine @m arch("x86-64") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.unit @core count(1)
}
device.kernel @k tasks 1 {
^bb0(%task: index):
}

// -----

// CHECK: blocks do not wait for each other
device.machine @m arch("sm_80") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @reg scope("warp") capacity_bytes(4096) register_bytes(128) lanes(32)
  device.unit @sm count(1)
}
device.kernel @k tasks 1 {
^bb0(%task: index):
  device.barrier "device"
}

// -----

// No lane gives another what it has: the first 16 of one register are not the last 16 of another.
// CHECK: lanes have other elements of the box there than here
// CHECK: help: move it by a memory that the threads share
device.machine @m arch("sm_80") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @reg scope("warp") capacity_bytes(4096) register_bytes(128) lanes(32)
  device.unit @sm count(1)
  device.move @move from @reg to @reg strided
}
device.kernel @k tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %a = device.alloc : memref<32xf32, "reg">
  %b = device.alloc : memref<32xf32, "reg">
  %c16 = arith.constant 16 : index
  device.copy @move %a[%c0] to %b[%c0] count 32 : memref<32xf32, "reg"> to memref<32xf32, "reg">
  device.copy @move %a[%c0] to %b[%c16] count 16 : memref<32xf32, "reg"> to memref<32xf32, "reg">
}
