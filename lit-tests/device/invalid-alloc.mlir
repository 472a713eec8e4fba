// What a device.alloc may not make.
// RUN: not weft-opt %s --device-load-machine=file=%S/../Inputs/toy.mlir --split-input-file 2>&1 | FileCheck %s

// alloc_c1: the shape is static.
// CHECK: device.alloc makes memref<?xf32, "vreg">
func.func @alloc_c1() {
  %r = "device.alloc"() : () -> memref<?xf32, "vreg">
  return
}

// -----

// alloc_c1: the type names a memory.
// CHECK: device.alloc makes memref<4xf32>, which names no memory
func.func @alloc_c1() {
  %r = device.alloc : memref<4xf32>
  return
}

// -----

// alloc_c1: the machine has it.
// CHECK: device.alloc names @spad, which is no memory of the machine @toy
func.func @alloc_c1() {
  %r = device.alloc : memref<4xf32, "spad">
  return
}

// -----

// alloc_c2: the room is no larger than the memory.
// CHECK: device.alloc makes memref<64x4xf32, "vreg">, @vreg holds 512 bytes
func.func @alloc_c2() {
  %r = device.alloc : memref<64x4xf32, "vreg">
  return
}

// -----

// alloc_c3: the last dimension fills at most one register.
// CHECK: device.alloc makes memref<2x8xf32, "vreg"> in registers of 16 bytes
// CHECK: help: the last dimension is at most 4
func.func @alloc_c3() {
  %r = device.alloc : memref<2x8xf32, "vreg">
  return
}
