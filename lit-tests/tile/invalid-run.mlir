// Runs that do not fit their kernels.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

tile.kernel @other {
  tile.yield
}

// run_c1: the symbol is a kernel.
// CHECK: tile.run calls @add, which is not a kernel
tile.graph @run_c1 inputs ["x"] outputs [] : (tensor<4xf32>) -> () {
^bb0(%x: tensor<4xf32>):
  %y = tile.run "add" @add() into(%x) : (tensor<4xf32>) -> tensor<4xf32>
  tile.output
}

// -----

tile.kernel @add {
^bb0(%o: tensor<8xf32>):
  tile.yield %o : tensor<8xf32>
}

// run_c1: the kernel takes these types. Also outside a tile-graph.
// CHECK: tile.run gives tensor<4xf32> to @add, whose argument 0 is tensor<8xf32>
func.func @run_c1(%x: tensor<4xf32>) {
  %y = tile.run "add" @add() into(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

device.kernel @add tasks 1 {
^bb0(%task: index, %x: memref<4xf32>, %o: memref<4xf32>):
}

// run_c1: a device.kernel takes memrefs after the number of the rTask.
// CHECK: tile.run gives 1 value to @add, which takes 2
func.func @run_c1(%x: tensor<4xf32>) {
  %y = tile.run "add" @add() into(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// run_c3: one place per operand, inside of it.
// CHECK: tile.run sees 2 operands from 1 place on
// CHECK: help: give one element number per operand, 0 for the first
func.func @run_c3(%x: tensor<4xf32>) {
  %y = tile.run "add" @add(%x) into(%x) at [1] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
tile.kernel @add {
^bb0(%x: tensor<4xf32>, %o: tensor<4xf32>):
  tile.yield %x : tensor<4xf32>
}

// -----

// CHECK: tile.run sees tensor<4xf32> from element 4 on
// CHECK: help: its elements are 0 to 3
func.func @run_c3(%x: tensor<4xf32>) {
  %y = tile.run "add" @add(%x) into(%x) at [0, 4] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
tile.kernel @add stitched {
^bb0(%x: tensor<4xf32>, %o: tensor<4xf32>):
  tile.yield %x : tensor<4xf32>
}

// -----

// run_c4: a kernel that passes may join and cut sees all.
// CHECK: tile.run sees its operands from elements on, and @add is not stitched
// CHECK: help: only stitched kernels see part of a tensor; leave out `at`
func.func @run_c4(%x: tensor<4xf32>) {
  %y = tile.run "add" @add(%x) into(%x) at [0, 2] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}
tile.kernel @add {
^bb0(%x: tensor<4xf32>, %o: tensor<4xf32>):
  tile.yield %x : tensor<4xf32>
}

// -----

// run_c2: one result per tensor after `into`.
// CHECK: tile.run overwrites 2 tensors and has 1 result
func.func @run_c2(%x: tensor<4xf32>) {
  %y = tile.run "add" @add() into(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// run_c2: a result has the type of the tensor it overwrites.
// CHECK: tile.run overwrites tensor<4xf32> with tensor<8xf32>
func.func @run_c2(%x: tensor<4xf32>) {
  %y = tile.run "add" @add() into(%x) : (tensor<4xf32>) -> tensor<8xf32>
  return
}
