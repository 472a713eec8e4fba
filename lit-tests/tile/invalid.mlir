// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// graph_c1: one input name and one type per block argument.
// CHECK: tile.graph names 1 input, gives 2 types and has 1 argument
tile.graph @graph_c1 inputs ["x"] outputs [] : (tensor<4xf32>, tensor<4xf32>) -> () {
^bb0(%x: tensor<4xf32>):
  tile.output
}

// -----

// graph_c1: an argument has the payload type of its graph type.
// CHECK: the input "x" is tensor<4xi1>, its argument is tensor<4xi1>
// CHECK: help: the payload type of tensor<4xi1> is tensor<4xi8>
tile.graph @graph_c1 inputs ["x"] outputs [] : (tensor<4xi1>) -> () {
^bb0(%x: tensor<4xi1>):
  tile.output
}

// -----

// graph_c1: the signature is a function type.
// CHECK: tile.graph has the signature f32
tile.graph @graph_c1 inputs [] outputs [] : f32 {
  tile.output
}

// -----

// graph_c2: one value per output.
// CHECK: tile.graph names 1 output, has 1 type and gives 0 values
tile.graph @graph_c2 inputs [] outputs ["y"] : () -> tensor<4xf32> {
  tile.output
}

// -----

// graph_c2: a value has the payload type of its result.
// CHECK: the output "y" is tensor<4xui8>, its value is tensor<4xui8>
tile.graph @graph_c2 inputs ["x"] outputs ["y"] : (tensor<4xui8>) -> tensor<4xui8> {
^bb0(%x: tensor<4xi8>):
  %y = builtin.unrealized_conversion_cast %x : tensor<4xi8> to tensor<4xui8>
  tile.output %y : tensor<4xui8>
}

// -----

// graph_c2: the body ends in tile.output.
// CHECK: tile.graph ends in tile.yield
tile.graph @graph_c2 inputs [] outputs [] : () -> () {
  tile.yield
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}

// empty_c1: the machine has the memory.
// CHECK: tile.empty names @spad, which is no memory of the machine @toy
// CHECK: help: it has @dram
func.func @empty_c1() {
  %e = tile.empty in @spad : tensor<4xf32>
  return
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}

// connect_c1, connect_c2: a memory of the machine, and something that a run makes.
// CHECK: tile.connect names @l2, which is no memory of the machine @toy
// CHECK: tile.connect hands over what an argument gives
// CHECK: help: an edge leads from a tile.run to others
func.func @connect(%x: tensor<4xf32>) {
  %e = tile.connect %x in @l2 : tensor<4xf32>
  return
}

// -----

// view_c1: the same number of elements.
// CHECK: tile.view shows tensor<4xf32> as tensor<2x3xf32>
func.func @view_c1(%x: tensor<4xf32>) {
  %v = tile.view %x : tensor<4xf32> to tensor<2x3xf32>
  return
}

// -----

// view_c1: the same element type.
// CHECK: tile.view shows tensor<4xf32> as tensor<4xi32>
func.func @view_c1(%x: tensor<4xf32>) {
  %v = tile.view %x : tensor<4xf32> to tensor<4xi32>
  return
}

// -----

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

// -----

// kernel_c1: a yielded value has the type of the argument it overwrites.
// CHECK: tile.kernel overwrites its argument 1, tensor<8xf32>, with tensor<4xf32>
tile.kernel @kernel_c1 {
^bb0(%x: tensor<4xf32>, %o: tensor<8xf32>):
  tile.yield %x : tensor<4xf32>
}

// -----

// kernel_c1: each value overwrites an argument.
// CHECK: tile.kernel has 1 argument and yields 2 values
tile.kernel @kernel_c1 {
^bb0(%x: tensor<4xf32>):
  tile.yield %x, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// kernel_c1: the body ends in tile.yield.
// CHECK: tile.kernel ends in device.yield
tile.kernel @kernel_c1 {
^bb0(%x: tensor<4xf32>):
  device.yield
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}

// load_c1: the machine has the memory.
// CHECK: tile.load names @spad, which is no memory of the machine @toy
func.func @load_c1(%x: tensor<4xf32>) {
  %a = tile.load %x to @spad : tensor<4xf32>
  return
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}

// store_c1: the machine has the memory.
// CHECK: tile.store names @spad, which is no memory of the machine @toy
func.func @store_c1(%x: tensor<4xf32>) {
  %a = tile.store %x from @spad to %x : tensor<4xf32>
  return
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations([]) reductions([])
}

// compute_c1: an rTile names a memory of the machine.
// CHECK: tile.compute names @l2, which is no memory of the machine @toy
// CHECK: help: it has @dram, @vreg
func.func @compute_c1(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @valu tiles [#tile.rtile<"l2"[4]>] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    tile.yield %a : tensor<4xf32>
  }
  return
}

// -----

// compute_c1: one size per axis.
// CHECK: the rTile in @l2 has 2 sizes for a nest of 1
// CHECK: note: the nest is here
func.func @compute_c1(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @valu tiles [#tile.rtile<"l2"[4, 4]>] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : tensor<4xf32>) {
    ^bb0(%q: f32):
      linalg.yield %q : f32
    } -> tensor<4xf32>
    tile.yield %s : tensor<4xf32>
  }
  return
}

// -----

// compute_c1: lanes run along an axis.
// CHECK: lanes run along axis 1 of a nest with axes below 1
func.func @compute_c1(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @valu lanes 1 tiles [#tile.rtile<"l2"[4]>] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    tile.yield %a : tensor<4xf32>
  }
  return
}

// -----

// compute_c1: an axis of the instruction is an axis, none, or several.
// CHECK: axis 1 of the instruction is "j"
// CHECK: axis 2 of the instruction is axis 0 of 1
// CHECK: name each axis of the nest at most once
func.func @compute_c1(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @mac axes [[0], "j", [0]] tiles [#tile.rtile<"l2"[4]>] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : tensor<4xf32>) {
    ^bb0(%q: f32):
      linalg.yield %q : f32
    } -> tensor<4xf32>
    tile.yield %s : tensor<4xf32>
  }
  return
}

// -----

// compute_c2: sizes are at least 1.
// CHECK: the rTile in @l2 has a size of 0
func.func @compute_c2(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @valu tiles [#tile.rtile<"l2"[0]>] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    tile.yield %a : tensor<4xf32>
  }
  return
}

// -----

// compute_c2: an inner rTile is no larger than an outer one.
// CHECK: the rTile in @vreg is 8 long on axis 1, in one of 4 in @l2
func.func @compute_c2(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @valu tiles [#tile.rtile<"l2"[4, 4]>, #tile.rtile<"vreg"[1, 8]>] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    tile.yield %a : tensor<4xf32>
  }
  return
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations([]) reductions([])
}

// compute_c3: `on` names an instruction or lane unit.
// CHECK: tile.compute runs on @mma, which the machine @toy does not have
// CHECK: help: it has @valu
func.func @compute_c3(%x: tensor<4xf32>) {
  %r = tile.compute ins() outs(%x) on @mma tiles [] : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    tile.yield %a : tensor<4xf32>
  }
  return
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations([]) reductions([])
}

// compute_c4: 16 x 16 accumulators of 4 bytes; the reduction takes no room.
// CHECK: the accumulators of [16, 16, 4] take 1024 bytes of @vreg, which has 512
func.func @compute_c4(%x: tensor<64x64xf32>) {
  %r = tile.compute ins(%x, %x) outs(%x) on @valu tiles [#tile.rtile<"vreg"[16, 16, 4]>] : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>):
    %s = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %t: f32):
      linalg.yield %t : f32
    } -> tensor<64x64xf32>
    tile.yield %s : tensor<64x64xf32>
  }
  return
}

// compute_c5: one layout per input, of two numbers or five.
// CHECK: tile.compute has 1 layout for 2 inputs
func.func @compute_c5(%x: tensor<64x64xf32>) {
  %r = tile.compute ins(%x, %x) outs(%x) on @valu tiles [#tile.rtile<"vreg"[1, 16, 4]>] layouts [array<i64: 2, 16, 1>] : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>):
    %s = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %t: f32):
      linalg.yield %t : f32
    } -> tensor<64x64xf32>
    tile.yield %s : tensor<64x64xf32>
  }
  return
}
