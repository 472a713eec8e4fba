// GT-6. Two layers in instances are one kernel, and what the first hands to the second never leaves
// the core: bytes of the shared memory, counted by hand, and kernels, against one for each layer.
//
// DEFINE: %{apart} = %S/split-instances.mlir --pass-option tile-fuse-elementwise.fuse=false --pass-option tile-connect-edges.joining=none
// DEFINE: %{split} = --pass-option tile-split-instances.instances
//
// RUN: weft compile %{apart} --emit task -o - %{split}=all | FileCheck %s --check-prefix=ONE
// RUN: weft simulate %{apart} --json %{split}=all | FileCheck %s --check-prefix=INSTANCES
// RUN: weft compile %{apart} --emit task -o - %{split}=none | FileCheck %s --check-prefix=TWO
// RUN: weft simulate %{apart} --json %{split}=none | FileCheck %s --check-prefix=LAYERS

// ONE-COUNT-8: task.range "sum to square" @[[KERNEL:square_0_instance_0]][
// ONE-NOT:     task.range
// ONE:         tile.kernel @[[KERNEL]] stitched
// ONE-NOT:     tile.kernel

// TWO:     task.range "sum" @sum_0[
// TWO:     task.range "square" @square_0[
// TWO-NOT: task.range
// TWO:     tile.kernel @sum_0
// TWO:     tile.kernel @square_0
// TWO-NOT: tile.kernel

// Eight instances read 502 elements and 3 weights each, and write 500.
// INSTANCES: "name": "dram",
// INSTANCES: "read_bytes": 16160,
// INSTANCES: "written_bytes": 16000,

// The sums come in three tiles, of two elements more than they give and 3 weights each: 4006 + 9.
// All 4000 are written, and read again.
// LAYERS: "name": "dram",
// LAYERS: "read_bytes": 32060,
// LAYERS: "written_bytes": 32000,
