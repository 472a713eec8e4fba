// What lives at one time has to fit.
// RUN: not weft-opt %s --device-lower-to-vendor 2>&1 | FileCheck %s

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  // The memory that is too small.
  device.memory @spad scope("core") capacity_bytes(128)
  device.unit @core count(1)
}

device.kernel @too_much tasks 1 {
^bb0(%task: index, %x: memref<4xf32>):
  %a = device.alloc : memref<16xf32, "spad">
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %c1 step %c1 {
    %b = device.alloc : memref<16xf32, "spad">
  }
  // CHECK: [[@LINE+1]]:8: error: the buffers that are live in @spad at one time take 192 bytes
  %d = device.alloc : memref<32xf32, "spad">
  // CHECK: note: it holds 128
  // CHECK: help: give the kernel smaller tiles, or the memory more bytes
}
