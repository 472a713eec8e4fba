// RUN: not weft-opt %s --device-lower-to-vector 2>&1 | FileCheck %s

device.machine @toy arch("x86-64") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824)
  device.memory @vreg scope("thread") capacity_bytes(16777216) register_bytes(32)
  device.unit @core count(1)
}

// One thread has nobody to wait for.
// CHECK: device.barrier cannot be lowered to code for one thread
device.kernel @meets tasks 1 {
^bb0(%task: index):
  device.barrier "core"
}

// CHECK: the kernel's buffers in registers take 4194304 bytes
// CHECK: help: a kernel names at most 1048576; take smaller tiles
device.kernel @large tasks 1 {
^bb0(%task: index):
  %room = device.alloc : memref<131072x8xf32, "vreg">
}
