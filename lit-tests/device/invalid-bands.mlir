// Bands of rTasks that are none, and clusters that they cut.
// RUN: not weft-opt %s 2>&1 | FileCheck %s

device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @smem scope("core") capacity_bytes(65536)
  device.unit @core count(4)
  device.engine @tensor_copies on @core queue(8)
  device.move @in from @dram to @smem engine(@tensor_copies) strided
    boxes({dims = 3, points = 256, step_bytes = 16, line_bytes = 128, align_bytes = 1024, units = 2, meet_cycles = 100})
}

// kernel_c10
// CHECK: device.kernel has bands that are not [rTasks, all, distance]
// CHECK: help: give three numbers: 2 rTasks or more, as many or more in all, and 2 or more between the numbers of two
device.kernel @form tasks 4 bands [4, 2, 1] {
^bb0(%task: index, %x: memref<16x64xf16>):
}

// CHECK: device.kernel has 9 rTasks, and bands of 2 that are 2 apart
// CHECK: help: their number is a multiple of 4
device.kernel @rest tasks 9 bands [2, 2, 2] {
^bb0(%task: index, %x: memref<16x64xf16>):
}

// CHECK: device.kernel has bands [3, 4, 2], and clusters of 2 that are 2 apart
// CHECK: help: where they are as far apart, let bands be multiples of 2; else let clusters lie between the rTasks of a band, or bands between theirs
device.kernel @cut tasks 8 cluster [2, 2] bands [3, 4, 2] {
^bb0(%task: index, %x: memref<16x64xf16>):
}

// CHECK: device.kernel has bands [2, 2, 3], and clusters of 2 that are 1 apart
device.kernel @between tasks 12 cluster [2, 1] bands [2, 2, 3] {
^bb0(%task: index, %x: memref<16x64xf16>):
}

// In a band, between its rTasks, and with bands between theirs.
// CHECK-NOT: error:
device.kernel @good tasks 8 cluster [2, 2] bands [2, 4, 2] {
^bb0(%task: index, %x: memref<16x64xf16>):
}
device.kernel @inside tasks 8 cluster [2, 1] bands [3, 4, 2] {
^bb0(%task: index, %x: memref<16x64xf16>):
}
device.kernel @around tasks 16 cluster [2, 8] bands [3, 4, 2] {
^bb0(%task: index, %x: memref<16x64xf16>):
}
