// The text says where tiles of a joined kernel lie; what cannot be is refused.
// DEFINE: %{machine} = --device-load-machine=file=%S/../Inputs/small-cache.mlir
// RUN: sed 's/@l2 at 64/@l2 at 512/' %S/from-tile-joined.mlir | weft-opt %{machine} --tile-to-device | FileCheck %s --check-prefix=MOVED
// RUN: sed 's/@l2 at [0-9]*/@l2/' %S/from-tile-joined.mlir | weft-opt %{machine} --tile-to-device | FileCheck %s --check-prefix=BEHIND
// RUN: sed 's/@l2 at 64/@l2 at 0/' %S/from-tile-joined.mlir | not weft-opt %{machine} --tile-to-device 2>&1 | FileCheck %s --check-prefix=OVER
// RUN: sed 's/@l2 at 64/@l2 at 4096/' %S/from-tile-joined.mlir | not weft-opt %{machine} --tile-to-device 2>&1 | FileCheck %s --check-prefix=END
// RUN: sed 's/@l2 at 64/@l2 at 30/' %S/from-tile-joined.mlir | not weft-opt %{machine} --tile-to-device 2>&1 | FileCheck %s --check-prefix=BETWEEN

// MOVED-LABEL: device.kernel @in_turns
// MOVED:         device.alloc at 0 : memref<11xf32, "l2">
// MOVED:         device.alloc at 512 : memref<9xf32, "l2">
// MOVED:         device.alloc at 0 : memref<7xf32, "l2">

// Without it no tile shares bytes with another.
// BEHIND-LABEL: device.kernel @in_turns
// BEHIND:         device.alloc at 0 : memref<11xf32, "l2">
// BEHIND:         device.alloc at 64 : memref<9xf32, "l2">
// BEHIND:         device.alloc at 128 : memref<7xf32, "l2">

// OVER: @in_turns: the tiles of members 0 and 1 share bytes 0 to 36 while both are of use, and 1 may not write over 0: it folds elements
// END: @in_turns: member 1 has 36 bytes at 4096 of @l2, which holds 4096
// BETWEEN: a tile begins at byte 30 of its memory
// BETWEEN: help: `at` is a multiple of 64 from 0 on
