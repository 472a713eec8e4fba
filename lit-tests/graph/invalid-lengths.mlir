// Symbols and lengths that say nothing.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// symbol_c1: some length is allowed.
// CHECK: graph.symbol allows no length: seq from 5 to 7 in multiples of 8
graph.symbol "seq" from 5 to 7 multiple 8

// -----

// symbol_c1: it is a name.
// CHECK: graph.symbol is named "past + 1"
graph.symbol "past + 1" from 1 to 7

// -----

// symbol_c1: nothing is below zero.
// CHECK: graph.symbol has a number below zero
graph.symbol "seq" from -1 to 7

// -----

// symbol_c2: each name is there once.
// CHECK: the module has two symbols named seq
graph.symbol "seq" from 1 to 7
graph.symbol "seq" from 1 to 8

// -----

// model_c3: there are lengths for every port.
// CHECK: graph.model has 1 list of lengths and 2 ports
graph.symbol "seq" from 1 to 4
graph.model @model_c3 inputs ["x"] outputs ["y"] lengths [["seq"]] {
^bb0(%x: tensor<4xf32>):
  graph.output %x : tensor<4xf32>
}

// -----

// model_c3: there is a length for every dimension.
// CHECK: graph.model has 2 lengths for a port of type tensor<4xf32>
graph.symbol "seq" from 1 to 4
graph.model @model_c3 inputs ["x"] outputs ["y"] lengths [["seq", ""], ["seq"]] {
^bb0(%x: tensor<4xf32>):
  graph.output %x : tensor<4xf32>
}

// -----

// model_c3: lengths are of the module's symbols.
// CHECK: the module has no symbol n, of which "2 * n" is made
// CHECK: help: it has seq
graph.symbol "seq" from 1 to 4
graph.model @model_c3 inputs ["x"] outputs ["y"] lengths [["2 * n"], ["seq"]] {
^bb0(%x: tensor<4xf32>):
  graph.output %x : tensor<4xf32>
}

// -----

// model_c3: lengths are sums of products.
// CHECK: `seq +` is no length: a number, a name or a parenthesis was expected at ``
graph.symbol "seq" from 1 to 4
graph.model @model_c3 inputs ["x"] outputs ["y"] lengths [["seq +"], ["seq"]] {
^bb0(%x: tensor<4xf32>):
  graph.output %x : tensor<4xf32>
}

// -----

// kernel_c11: a kernel whose code asks for a length has one.
// CHECK: @k has no length, and its code asks for one
graph.symbol "seq" from 1 to 4
device.kernel @k tasks 1 {
^bb0(%task: index, %x: memref<4xf32>):
  %n = device.length "seq"
}

// -----

// length_c1: it is of the module's symbols.
// CHECK: the module has no symbol n, of which "n" is made
graph.symbol "seq" from 1 to 4
device.kernel @k tasks 1 length "1" {
^bb0(%task: index, %x: memref<4xf32>):
  %n = device.length "n"
}

// -----

// range_c4: a part is one of those that there are.
// CHECK: task.range does part 2 of 2
graph.symbol "seq" from 1 to 4
task.program @range_c4 on @core units 2 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t = task.range "a" @a[0 to 1] part 2 of 2 on 0 (%y) after() : memref<4xf32>
}

// -----

// range_c4: a part is of all rTasks.
// CHECK: task.range does a part of rTasks 0 to 1
// CHECK: help: a part is of all rTasks, 0 to 2
graph.symbol "seq" from 1 to 4
task.program @range_c4 on @core units 2 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t = task.range "a" @a[0 to 1] part 0 of 2 on 0 (%y) after() : memref<4xf32>
}
device.kernel @a tasks 2 length "ceil(seq, 2)" {
^bb0(%task: index, %y: memref<4xf32>):
}

// -----

// find_c1: it is of the module's symbols.
// CHECK: the module has no symbol m, which graph.find finds
// CHECK: help: it has n
graph.symbol "n" from 0 to 4
graph.model @find_c1 inputs ["m"] outputs ["m"] {
^bb0(%m: tensor<1xi64>):
  graph.find "m" %m : tensor<1xi64>
  graph.output %m : tensor<1xi64>
}

// -----

// find_c1: it is found once.
// CHECK: n is found twice
// CHECK: note: the first time is here
graph.symbol "n" from 0 to 4
graph.model @find_c1 inputs ["m"] outputs ["m"] {
^bb0(%m: tensor<1xi64>):
  graph.find "n" %m : tensor<1xi64>
  graph.find "n" %m : tensor<1xi64>
  graph.output %m : tensor<1xi64>
}

// -----

// find_c2: it is one integer of 64 bits.
// CHECK: graph.find reads n from tensor<2xi64>
// CHECK: help: a length is one integer of 64 bits
graph.symbol "n" from 0 to 4
graph.model @find_c2 inputs ["m"] outputs ["m"] {
^bb0(%m: tensor<2xi64>):
  graph.find "n" %m : tensor<2xi64>
  graph.output %m : tensor<2xi64>
}

// -----

// find_c3: the range before it makes the number.
// CHECK: task.find reads n behind a range that does not make it
// CHECK: note: the range is here
graph.symbol "n" from 0 to 4
task.program @find_c3 on @core units 1 arena 64 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %n = task.buffer at 0 in @dram : memref<1xi64>
  %t = task.range "a" @a[0 to 1] on 0 (%y) after() : memref<4xf32>
  task.find "n" in %n after(%t) : memref<1xi64>
}
