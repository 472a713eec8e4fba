// What a device.kernel may not take.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// kernel_c1: the first argument is the number of the rTask.
// CHECK: device.kernel takes first memref<4xf32>
device.kernel @kernel_c1 tasks 1 {
^bb0(%x: memref<4xf32>):
}

// -----

// kernel_c1: the others are memrefs of static shape.
// CHECK: device.kernel takes memref<?xf32> at 1
// CHECK: device.kernel takes f32 at 2
device.kernel @kernel_c1 tasks 1 {
^bb0(%task: index, %x: memref<?xf32>, %y: f32):
}

// -----

// kernel_c2: there is an rTask.
// CHECK: device.kernel has tasks 0
device.kernel @kernel_c2 tasks 0 {
^bb0(%task: index):
}
