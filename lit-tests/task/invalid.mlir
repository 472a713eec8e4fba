// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}

// program_c1: the machine has the unit.
// CHECK: task.program names @sm, which is no unit of the machine @toy
// CHECK: help: it has @core
task.program @program_c1 on @sm units 2 arena 0 : () -> () {
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}

// program_c1: the machine has that many units.
// CHECK: task.program needs 4 of @core, the machine has 2
task.program @program_c1 on @core units 4 arena 0 : () -> () {
}

// -----

// program_c1: a program runs on a unit.
// CHECK: task.program has 0 units
task.program @program_c1 on @core units 0 arena 0 : () -> () {
}

// -----

// program_c2: a range's unit is below `units`.
// CHECK: task.range runs on unit 2 of 2
// CHECK: help: units are numbered from 0 to 1
task.program @program_c2 on @core units 2 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t = task.range "a" @a[0 to 1] on 2 (%y) after() : memref<4xf32>
}

// -----

// program_c3: a buffer ends inside the arena.
// CHECK: task.buffer ends at byte 96 of an arena of 64
task.program @program_c3 on @core units 1 arena 64 : () -> () {
  %b = task.buffer at 64 in @dram : memref<8xf32>
}

// -----

// program_c3: a buffer has a size.
// CHECK: task.buffer has the type memref<?xf32>
task.program @program_c3 on @core units 1 arena 64 : () -> () {
  %b = task.buffer at 0 in @dram : memref<?xf32>
}

// -----

// program_c3: an arena has a size.
// CHECK: task.program has an arena of -1 bytes
task.program @program_c3 on @core units 1 arena -1 : () -> () {
}

// -----

// program_c4: every input is there.
// CHECK: the signature has tensor<4xf32> at 0, and there is no task.input 0
task.program @program_c4 on @core units 1 arena 0 : (tensor<4xf32>) -> () {
}

// -----

// program_c4: every output is there once.
// CHECK: task.output 0 is there twice
// CHECK: note: the first one is here
task.program @program_c4 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %x = task.output 0 "y" : memref<4xf32>
  %y = task.output 0 "y" : memref<4xf32>
}

// -----

// program_c4: no more than the signature has.
// CHECK: task.input 1 of a signature that has 0
task.program @program_c4 on @core units 1 arena 0 : () -> () {
  %x = task.input 1 "x" : memref<4xf32>
}

// -----

// program_c4: a memref of the payload type.
// CHECK: task.input 0 is memref<4xi1>, the signature has tensor<4xi1>
// CHECK: help: its elements are those of the payload type tensor<4xi8>
task.program @program_c4 on @core units 1 arena 0 : (tensor<4xi1>) -> () {
  %x = task.input 0 "x" : memref<4xi1>
}

// -----

tile.kernel @copy {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// program_c5: a read comes after a write.
// CHECK: "read"[0 to 1] reads what "write"[0 to 1] writes, and no token orders them
// CHECK: note: the other range is here
// CHECK: help: wait for its token
task.program @program_c5 on @core units 1 arena 64 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %t0 = task.range "write" @copy[0 to 1] on 0 (%x, %b) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "read" @copy[0 to 1] on 0 (%b, %y) after() : memref<16xf32>, memref<16xf32>
}

// -----

tile.kernel @copy {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// program_c5: also where buffers share bytes of the arena, and through a view.
// CHECK: "read"[0 to 1] reads what "write"[0 to 1] writes, and no token orders them
task.program @program_c5 on @core units 1 arena 128 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<32xf32>
  %v = task.view %b : memref<32xf32> to memref<2x16xf32>
  %c = task.buffer at 64 in @dram : memref<16xf32>
  %t0 = task.range "other" @copy[0 to 1] on 0 (%x, %y) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "write" @copy[0 to 1] on 0 (%x, %c) after() : memref<16xf32>, memref<16xf32>
  %t2 = task.range "read" @half[0 to 1] on 0 (%v, %y) after(%t0) : memref<2x16xf32>, memref<16xf32>
}

tile.kernel @half {
^bb0(%x: tensor<2x16xf32>, %o: tensor<16xf32>):
  %s = tensor.extract_slice %x[0, 0] [1, 16] [1, 1] : tensor<2x16xf32> to tensor<16xf32>
  tile.yield %s : tensor<16xf32>
}

// -----

tile.kernel @copy {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// program_c5: what is read was not written over through another buffer.
// CHECK: "read"[0 to 1] reads a buffer that "other"[0 to 1] has overwritten
// CHECK: help: place buffers whose live ranges overlap at different bytes
task.program @program_c5 on @core units 1 arena 128 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %c = task.buffer at 0 in @dram : memref<16xf32>
  %t0 = task.range "write" @copy[0 to 1] on 0 (%x, %b) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "other" @copy[0 to 1] on 0 (%x, %c) after(%t0) : memref<16xf32>, memref<16xf32>
  %t2 = task.range "read" @copy[0 to 1] on 0 (%b, %y) after(%t1) : memref<16xf32>, memref<16xf32>
}

// -----

tile.kernel @copy {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// program_c5: a range does not write where it reads.
// CHECK: "shift"[0 to 1] writes bytes that another operand also holds
// CHECK: help: place the two buffers at different bytes
task.program @program_c5 on @core units 1 arena 192 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %c = task.buffer at 0 in @dram : memref<16xf32>
  %t0 = task.range "write" @copy[0 to 1] on 0 (%x, %b) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "shift" @copy[0 to 1] on 0 (%b, %c) after(%t0) : memref<16xf32>, memref<16xf32>
  %t2 = task.range "read" @copy[0 to 1] on 0 (%c, %y) after(%t1) : memref<16xf32>, memref<16xf32>
}

// -----

// program_c6: no wait goes in a circle.
// CHECK: "a"[0 to 1] waits for "c"[0 to 1], and "c"[0 to 1] for "a"[0 to 1]
// CHECK: help: remove one of the waits, so that they form no cycle
task.program @program_c6 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t0 = task.range "a" @a[0 to 1] on 0 (%y) after(%t2) : memref<4xf32>
  %t1 = task.range "b" @a[0 to 1] on 0 (%y) after(%t0) : memref<4xf32>
  %t2 = task.range "c" @a[0 to 1] on 0 (%y) after(%t1) : memref<4xf32>
}

// -----

// program_c6: nor for what comes later, for a unit goes down the text.
// CHECK: "a"[0 to 1] uses what "b"[0 to 1] makes later in the text
// CHECK: help: move it behind what it uses: units follow the order of the text
task.program @program_c6 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t0 = task.range "a" @a[0 to 1] on 0 (%y) after(%t1) : memref<4xf32>
  %t1 = task.range "b" @a[0 to 1] on 0 (%y) after() : memref<4xf32>
}

// -----

// program_c6: nor for itself.
// CHECK: "a"[0 to 1] waits for itself
task.program @program_c6 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t0 = task.range "a" @a[0 to 1] on 0 (%y) after(%t0) : memref<4xf32>
}

// -----

// program_c6: buffers are there before they are used.
// CHECK: "a"[0 to 1] uses what task.output makes later in the text
task.program @program_c6 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %t0 = task.range "a" @a[0 to 1] on 0 (%y) after() : memref<4xf32>
  %y = task.output 0 "y" : memref<4xf32>
}

// -----

tile.kernel @copy {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// program_c5: what is read was written.
// CHECK: "early"[0 to 1] reads a task.buffer that no earlier range writes
task.program @program_c5 on @core units 1 arena 64 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %t0 = task.range "early" @copy[0 to 1] on 0 (%b, %y) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "late" @copy[0 to 1] on 0 (%x, %b) after() : memref<16xf32>, memref<16xf32>
}

// -----

device.kernel @scale tasks 1 {
^bb0(%task: index, %x: memref<16xf32>, %o: memref<16xf32>):
  %v = memref.subview %o[8] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
  %c0 = arith.constant 0 : index
  %e = memref.load %x[%c0] : memref<16xf32>
  memref.store %e, %v[%c0] : memref<8xf32, strided<[1], offset: 8>>
}

// program_c5: a device.kernel writes what it stores to, also through a view.
// CHECK: "second"[0 to 1] reads what "first"[0 to 1] writes, and no token orders them
task.program @program_c5 on @core units 1 arena 64 : (tensor<16xf32>) -> tensor<16xf32> {
  %x = task.input 0 "x" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %t0 = task.range "first" @scale[0 to 1] on 0 (%x, %b) after() : memref<16xf32>, memref<16xf32>
  %t1 = task.range "second" @scale[0 to 1] on 0 (%b, %y) after() : memref<16xf32>, memref<16xf32>
}

// -----

tile.kernel @copy {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// program_c5: nothing writes an input.
// CHECK: "write"[0 to 1] writes a task.input
// CHECK: help: only outputs and buffers are written
task.program @program_c5 on @core units 1 arena 0 : (tensor<4x4xf32>) -> () {
  %x = task.input 0 "x" : memref<4x4xf32>
  %v = task.view %x : memref<4x4xf32> to memref<16xf32>
  %t0 = task.range "write" @copy[0 to 1] on 0 (%v, %v) after() : memref<16xf32>, memref<16xf32>
}

// -----

// literal_c1: shape and element type of the buffer.
// CHECK: task.literal writes tensor<4xf32> into memref<8xf32>
task.program @literal_c1 on @core units 1 arena 0 : () -> () {
  %l = task.literal dense<1.0> : tensor<4xf32> -> memref<8xf32>
}

// -----

// constant_c1: what is known when the artifact is written.
// CHECK: task.constant takes a task.buffer
task.program @constant_c1 on @core units 1 arena 64 : () -> () {
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %v = task.view %b : memref<16xf32> to memref<4x4xf32>
  %c = task.constant "c" @pack(%v) : (memref<4x4xf32>) -> memref<16xf32>
}

// -----

device.kernel @pack tasks 1 {
^bb0(%task: index, %o: memref<16xf32>):
}

// constant_c2: the symbol is a tile.kernel.
// CHECK: task.constant calls @pack, which is a device.kernel
task.program @constant_c2 on @core units 1 arena 0 : () -> () {
  %c = task.constant "c" @pack() : () -> memref<16xf32>
}

// -----

tile.kernel @pack {
^bb0(%o: tensor<8xf32>):
  tile.yield %o : tensor<8xf32>
}

// constant_c2: of these types.
// CHECK: task.constant gives memref<16xf32> to @pack, whose argument 0 is tensor<8xf32>
task.program @constant_c2 on @core units 1 arena 0 : () -> () {
  %c = task.constant "c" @pack() : () -> memref<16xf32>
}

// -----

tile.kernel @pack {
^bb0(%o: tensor<8xf32>):
  tile.yield %o : tensor<8xf32>
}

// constant_c2: a result has the type of its initial value.
// CHECK: task.constant initializes memref<8xf32> with memref<16xf32>
task.program @constant_c2 on @core units 1 arena 0 : () -> () {
  %w = task.weight "w" in "model" hash "00" : memref<16xf32>
  %c = task.constant "c" @pack(%w) : (memref<16xf32>) -> memref<8xf32>
}

// -----

// buffer_c1: the offset is a multiple of 64.
// CHECK: task.buffer begins at byte 32
task.program @buffer_c1 on @core units 1 arena 96 : () -> () {
  %b = task.buffer at 32 in @dram : memref<16xf32>
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}

// buffer_c2: the machine has the memory.
// CHECK: task.buffer names @spad, which is no memory of the machine @toy
task.program @buffer_c2 on @core units 1 arena 64 : () -> () {
  %b = task.buffer at 0 in @spad : memref<16xf32>
}

// -----

// view_c1: the same number of elements.
// CHECK: task.view shows memref<16xf32> as memref<4x3xf32>
task.program @view_c1 on @core units 1 arena 64 : () -> () {
  %b = task.buffer at 0 in @dram : memref<16xf32>
  %v = task.view %b : memref<16xf32> to memref<4x3xf32>
}

// -----

// range_c1: begin is less than end.
// CHECK: task.range goes from rTask 1 to 1
task.program @range_c1 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t = task.range "a" @a[1 to 1] on 0 (%y) after() : memref<4xf32>
}

// -----

device.kernel @a tasks 2 {
^bb0(%task: index, %x: memref<4xf32>):
}

// range_c1: end is at most the kernel's number of rTasks.
// CHECK: task.range goes to rTask 3, @a has 2
task.program @range_c1 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t = task.range "a" @a[0 to 3] on 0 (%y) after() : memref<4xf32>
}

// -----

// range_c1: a tile.kernel has as many rTasks as first rTiles cover its parallel axes.
// CHECK: task.range goes to rTask 5, @b has 4
task.program @range_c1 on @core units 1 arena 0 : () -> tensor<14xf32> {
  %y = task.output 0 "y" : memref<14xf32>
  %t = task.range "b" @b[0 to 5] on 0 (%y) after() : memref<14xf32>
}

tile.kernel @b {
^bb0(%x: tensor<14xf32>):
  %r = tile.compute ins() outs(%x) on @valu tiles [#tile.rtile<"l2"[4]>] : (tensor<14xf32>) -> tensor<14xf32> {
  ^bb0(%a: tensor<14xf32>):
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%a : tensor<14xf32>) {
    ^bb0(%q: f32):
      linalg.yield %q : f32
    } -> tensor<14xf32>
    tile.yield %s : tensor<14xf32>
  }
  tile.yield %r : tensor<14xf32>
}

// -----

tile.kernel @other {
  tile.yield
}

// range_c2: the symbol is a kernel.
// CHECK: task.range calls @a, which is not a kernel
task.program @range_c2 on @core units 1 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t = task.range "a" @a[0 to 1] on 0 (%y) after() : memref<4xf32>
}

// -----

tile.kernel @a {
^bb0(%x: tensor<4xf32>):
  tile.yield %x : tensor<4xf32>
}

// range_c2: the kernel's arguments have the types of the buffers.
// CHECK: task.range gives memref<8xf32> to @a, whose argument 0 is tensor<4xf32>
// CHECK: note: the kernel is here
task.program @range_c2 on @core units 1 arena 0 : () -> tensor<8xf32> {
  %y = task.output 0 "y" : memref<8xf32>
  %t = task.range "a" @a[0 to 1] on 0 (%y) after() : memref<8xf32>
}

// -----

device.machine @pairs arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @near scope("cluster") capacity_bytes(1024) within(@dram)
  device.unit @core count(4) cluster(@pair)
  device.unit @pair count(2)
}

// program_c2: clusters are numbered behind the units.
// CHECK: task.range runs on unit 6 of 4
// CHECK: help: units are numbered from 0 to 3, their clusters from 4 to 5
task.program @program_c2_clusters on @core units 4 arena 0 : () -> tensor<4xf32> {
  %y = task.output 0 "y" : memref<4xf32>
  %t = task.range "a" @a[0 to 1] on 6 (%y) after() : memref<4xf32>
}

// -----

device.machine @pairs arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @near scope("cluster") capacity_bytes(1024) within(@dram)
  device.unit @core count(4) cluster(@pair)
  device.unit @pair count(2)
}

// program_c3: a buffer near ends inside the arena of its cluster.
// CHECK: task.buffer ends at byte 96 of an arena of 64
task.program @program_c3_clusters on @core units 4 arena 128 : () -> () attributes {cluster_arena = 64} {
  %b = task.buffer at 64 in @near of 1 : memref<8xf32>
}

// -----

device.machine @pairs arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @near scope("cluster") capacity_bytes(1024) within(@dram)
  device.unit @core count(4) cluster(@pair)
  device.unit @pair count(2)
}

// program_c7: a unit reaches the memory of its own cluster.
// CHECK: "a"[0 to 1] on unit 1 is of cluster 0
// CHECK: this buffer lies in @near of cluster 1
// CHECK: "b"[0 to 1] on unit 4 is of cluster 0
// CHECK-NOT: "c"[0 to 1]
task.program @program_c7 on @core units 4 arena 0 : () -> () attributes {cluster_arena = 64} {
  %b = task.buffer at 0 in @near of 1 : memref<4xf32>
  %t = task.range "a" @a[0 to 1] on 1 (%b) after() : memref<4xf32>
  %s = task.range "b" @a[0 to 1] on 4 (%b) after() : memref<4xf32>
  %r = task.range "c" @a[0 to 1] on 3 (%b) after() : memref<4xf32>
}

// -----

device.machine @pairs arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @near scope("cluster") capacity_bytes(1024) within(@dram)
  device.unit @core count(4) cluster(@pair)
  device.unit @pair count(2)
}

// buffer_c2: a memory that a cluster shares is that of one of them.
// CHECK: task.buffer in @near of scope cluster names no cluster
task.program @buffer_c2_clusters on @core units 4 arena 64 : () -> () attributes {cluster_arena = 64} {
  %b = task.buffer at 0 in @near : memref<4xf32>
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}

// buffer_c2: and no other memory is.
// CHECK: task.buffer in @dram of scope device names a cluster
task.program @buffer_c2_device on @core units 2 arena 64 : () -> () {
  %b = task.buffer at 0 in @dram of 1 : memref<4xf32>
}
