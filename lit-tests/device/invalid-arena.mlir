// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// alloc_c5: pieces begin where registers do.
// CHECK: device.alloc is at byte 32
// CHECK: device.alloc is at byte -64
// CHECK: device.alloc has a place in the arena and is inside another operation
// CHECK: device.alloc places memref<1x4xf32, "vreg">, which is in registers
// CHECK: device.alloc ends at byte 1088, @l2 holds 1024
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @l2 scope("core") capacity_bytes(1024) caches(@dram)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
}
device.kernel @alloc_c5_aligned tasks 1 {
^bb0(%task: index):
  %0 = device.alloc at 32 : memref<4xf32, "l2">
}
device.kernel @alloc_c5_below tasks 1 {
^bb0(%task: index):
  %0 = device.alloc at -64 : memref<4xf32, "l2">
}
device.kernel @alloc_c5_inside tasks 1 {
^bb0(%task: index):
  scf.for %i = %task to %task step %task {
    %0 = device.alloc at 0 : memref<4xf32, "l2">
  }
}
device.kernel @alloc_c5_registers tasks 1 {
^bb0(%task: index):
  %0 = device.alloc at 0 : memref<1x4xf32, "vreg">
}
device.kernel @alloc_c5_capacity tasks 1 {
^bb0(%task: index):
  %0 = device.alloc at 64 : memref<256xf32, "l2">
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @l2 scope("core") capacity_bytes(1024) caches(@dram)
  device.memory @l1 scope("core") capacity_bytes(1024) caches(@dram)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.move @load from @dram to @vreg issue_cycles(1.0) latency_cycles(2)
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(2)
}

// One after the other, in another memory, or apart: no bytes are lost.
// CHECK-NOT: error
device.kernel @apart tasks 1 {
^bb0(%task: index):
  %r = device.alloc : memref<4xf32, "vreg">
  %a = device.alloc at 0 : memref<20xf32, "l2">
  %b = device.alloc at 128 : memref<4xf32, "l2">
  %c = device.alloc at 64 : memref<4xf32, "l2">
  %d = device.alloc at 0 : memref<4xf32, "l1">
  device.copy @store %r[%task] to %a[%task] count 1 : memref<4xf32, "vreg"> to memref<20xf32, "l2">
  device.copy @store %r[%task] to %b[%task] count 1 : memref<4xf32, "vreg"> to memref<4xf32, "l2">
  device.copy @store %r[%task] to %d[%task] count 1 : memref<4xf32, "vreg"> to memref<4xf32, "l1">
  device.copy @load %a[%task] to %r[%task] count 1 : memref<20xf32, "l2"> to memref<4xf32, "vreg">
  device.copy @store %r[%task] to %c[%task] count 1 : memref<4xf32, "vreg"> to memref<4xf32, "l2">
  device.copy @load %b[%task] to %r[%task] count 1 : memref<4xf32, "l2"> to memref<4xf32, "vreg">
}

// alloc_c6: %a is read in the loop that writes %c.
// CHECK: error: {{.*}}device.alloc shares byte 64 with a live buffer
// CHECK: that buffer is here
// CHECK: use one for the last time before the other is used first, or place them apart
device.kernel @alloc_c6 tasks 1 {
^bb0(%task: index):
  %r = device.alloc : memref<4xf32, "vreg">
  %a = device.alloc at 0 : memref<20xf32, "l2">
  %c = device.alloc at 64 : memref<4xf32, "l2">
  device.copy @store %r[%task] to %a[%task] count 1 : memref<4xf32, "vreg"> to memref<20xf32, "l2">
  scf.for %i = %task to %task step %task {
    device.copy @load %a[%i] to %r[%i] count 1 : memref<20xf32, "l2"> to memref<4xf32, "vreg">
    device.copy @store %r[%i] to %c[%i] count 1 : memref<4xf32, "vreg"> to memref<4xf32, "l2">
  }
}

// -----

device.machine @warps arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @smem scope("core") capacity_bytes(1024) static_bytes(256)
  device.memory @reg scope("warp") capacity_bytes(512) register_bytes(16) lanes(4)
  device.unit @core count(1)
  device.move @load from @smem to @reg issue_cycles(1.0) latency_cycles(2)
  device.move @store from @reg to @smem issue_cycles(1.0) latency_cycles(2)
}

// CHECK-NOT: error
device.kernel @meeting tasks 1 {
^bb0(%task: index):
  %r = device.alloc : memref<4xf32, "reg">
  %a = device.alloc at 0 : memref<8xf32, "smem">
  %b = device.alloc at 0 : memref<4xf32, "smem">
  device.copy @store %r[%task] to %a[%task] count 4 : memref<4xf32, "reg"> to memref<8xf32, "smem">
  device.barrier "warp"
  device.copy @load %a[%task] to %r[%task] count 4 : memref<8xf32, "smem"> to memref<4xf32, "reg">
  device.barrier "warp"
  device.copy @store %r[%task] to %b[%task] count 4 : memref<4xf32, "reg"> to memref<4xf32, "smem">
}

// alloc_c5: a kernel has less without asking than the memory holds.
// CHECK: error: {{.*}}device.alloc ends at byte 320, @smem holds 256
device.kernel @alloc_c5_static tasks 1 {
^bb0(%task: index):
  %0 = device.alloc at 192 : memref<32xf32, "smem">
}

// alloc_c7: one lane reads what others wrote.
// CHECK: error: {{.*}}lanes write and read the buffer of device.alloc with no barrier in between
// CHECK: write a device.barrier of their scope between what writes it and what reads it
device.kernel @alloc_c7_read tasks 1 {
^bb0(%task: index):
  %r = device.alloc : memref<4xf32, "reg">
  %a = device.alloc at 0 : memref<8xf32, "smem">
  device.copy @store %r[%task] to %a[%task] count 4 : memref<4xf32, "reg"> to memref<8xf32, "smem">
  device.copy @load %a[%task] to %r[%task] count 4 : memref<8xf32, "smem"> to memref<4xf32, "reg">
}

// alloc_c7: or writes where others still read.
// CHECK: error: {{.*}}device.alloc takes the bytes of a buffer that lanes may still use
// CHECK: that buffer is here
// CHECK: write a device.barrier of their scope between the two
device.kernel @alloc_c7_over tasks 1 {
^bb0(%task: index):
  %r = device.alloc : memref<4xf32, "reg">
  %a = device.alloc at 0 : memref<8xf32, "smem">
  %b = device.alloc at 0 : memref<4xf32, "smem">
  device.copy @store %r[%task] to %a[%task] count 4 : memref<4xf32, "reg"> to memref<8xf32, "smem">
  device.barrier "warp"
  device.copy @load %a[%task] to %r[%task] count 4 : memref<8xf32, "smem"> to memref<4xf32, "reg">
  device.copy @store %r[%task] to %b[%task] count 4 : memref<4xf32, "reg"> to memref<4xf32, "smem">
}
