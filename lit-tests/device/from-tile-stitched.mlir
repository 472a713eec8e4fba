// The text says where the tensors of an instance lie in its core's memory; what cannot be is refused. An
// input of 502 elements, its sums and their squares, 500 each: the squares take the place of the input,
// which nobody reads any more.
// DEFINE: %{task} = weft-opt %S/../tile/split-instances.mlir --graph-to-tile --tile-split-instances=instances=all --tile-construct-rtiles --tile-to-task
// RUN: %{task} | FileCheck %s --check-prefix=TEXT
// RUN: %{task} | weft-opt --tile-to-device | FileCheck %s --check-prefix=PLACED
// RUN: %{task} | sed 's/@spad at [0-9]*/@spad/' | weft-opt --tile-to-device | FileCheck %s --check-prefix=BEHIND
// RUN: %{task} | sed 's/@spad at 2048/@spad at 1024/' | not weft-opt --tile-to-device 2>&1 | FileCheck %s --check-prefix=OVER
// RUN: %{task} | sed 's/@spad at 2048/@spad at 16000/' | not weft-opt --tile-to-device 2>&1 | FileCheck %s --check-prefix=END

// TEXT: tile.empty in @spad at 0 : tensor<502xf32>
// TEXT: tile.empty in @spad at 4096 : tensor<3xf32>
// TEXT: tile.empty in @spad at 2048 : tensor<500xf32>
// TEXT: tile.empty in @spad at 0 : tensor<500xf32>

// PLACED:      device.alloc at 0 : memref<502xf32, "spad">
// PLACED-NEXT: device.alloc at 4096 : memref<3xf32, "spad">
// PLACED-NEXT: device.alloc at 2048 : memref<500xf32, "spad">
// PLACED-NEXT: device.alloc at 0 : memref<500xf32, "spad">

// Without a place no tensor shares bytes with another.
// BEHIND:      device.alloc at 0 : memref<502xf32, "spad">
// BEHIND-NEXT: device.alloc at 2048 : memref<3xf32, "spad">
// BEHIND-NEXT: device.alloc at 2112 : memref<500xf32, "spad">
// BEHIND-NEXT: device.alloc at 4160 : memref<500xf32, "spad">

// OVER: error: @square_0_instance_0: two tensors share bytes 1024 to 2008 of @spad while both are of use
// OVER: note: the memory is here

// END: error: @square_0_instance_0: a tensor has 2000 bytes at 16000 of @spad, which holds 16384
