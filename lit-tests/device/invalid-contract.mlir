// Contracts of kernels that say too little, or what cannot be.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// kernel_c5: each rTask is a point of the grid.
// CHECK: the contract's grid has 4 points, the kernel 2 rTasks
device.kernel @kernel tasks 2 contract grid [4] blocks [array<i64: 2, 16>] places [affine_map<(i) -> (i, 0)>] cycles 10 {
^bb0(%task: index, %x: memref<8x16xf32>):
}

// -----

// kernel_c5: one block for each argument.
// CHECK: the contract has 2 blocks and 1 places for 1 arguments
device.kernel @kernel tasks 4 contract grid [4] blocks [array<i64: 2, 16>, array<i64: 2, 16>] places [affine_map<(i) -> (i, 0)>] cycles 10 {
^bb0(%task: index, %x: memref<8x16xf32>):
}

// -----

// kernel_c5: a block has the argument's rank.
// CHECK: block 0 has 1 dimensions, its place 2, and memref<8x16xf32> has 2
device.kernel @kernel tasks 4 contract grid [4] blocks [array<i64: 2>] places [affine_map<(i) -> (i, 0)>] cycles 10 {
^bb0(%task: index, %x: memref<8x16xf32>):
}

// -----

// kernel_c5: blocks begin inside of their argument.
// CHECK: blocks of 4 along dimension 0 of memref<8x16xf32> lie at 0 to 3
device.kernel @kernel tasks 4 contract grid [4] blocks [array<i64: 4, 16>] places [affine_map<(i) -> (i, 0)>] cycles 10 {
^bb0(%task: index, %x: memref<8x16xf32>):
}

// -----

// kernel_c5: there are no negative sizes.
// CHECK: the contract's numbers are negative, or a place is not affine in the grid
device.kernel @kernel tasks 4 contract grid [4] blocks [array<i64: -2, 16>] places [affine_map<(i) -> (i, 0)>] cycles 10 {
^bb0(%task: index, %x: memref<8x16xf32>):
}

// -----

// kernel_c5: a contract is whole.
// CHECK: the contract has no grid
"device.kernel"() <{sym_name = "kernel", tasks = 4 : i64, cycles = 10 : i64}> ({
^bb0(%task: index, %x: memref<8x16xf32>):
}) : () -> ()
