// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// machine_c1: there is a memory that the whole device shares.
// CHECK: device.machine has no memory of scope device
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536) caches(@vreg)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
}

// -----

// machine_c2: there is a unit.
// CHECK: device.machine has no execution unit
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
}

// -----

// memory_c1: sizes are above zero.
// CHECK: device.memory has capacity_bytes 0
// CHECK: device.memory has banks -1
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.memory @spad scope("core") capacity_bytes(0) banks(-1)
}

// -----

// memory_c2: the scope is a known one.
// CHECK: device.memory has the scope "chip"
// CHECK: help: scopes are thread, warp, warpgroup, core, cluster, device, host
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.memory @spad scope("chip") capacity_bytes(1024)
}

// -----

// memory_c3: a cache caches a memory of the machine.
// CHECK: device.memory names @l3, which is no memory of the machine @toy
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.memory @l2 scope("core") capacity_bytes(1024) caches(@l3)
}

// -----

// memory_c3: a row of caches does not lead back to itself.
// CHECK: device.memory @l1 caches @l2, which leads back to @l1
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.memory @l1 scope("core") capacity_bytes(1024) caches(@l2)
  device.memory @l2 scope("core") capacity_bytes(1024) caches(@l1)
}

// -----

// memory_c4: registers divide the capacity.
// CHECK: device.memory has 100 bytes in registers of 16
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.memory @mask scope("thread") capacity_bytes(100) register_bytes(16)
}

// -----

// memory_c5: what the host can be asked for.
// CHECK: device.memory reads "l4" from the host
// CHECK: help: it can read l1d, l2, l3, memory
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.memory @l4 scope("device") capacity_bytes(1024) host("l4")
}

// -----

// unit_c1: count and clock are above zero.
// CHECK: device.unit has count 0
// CHECK: device.unit has clock_mhz 0
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(0) clock_mhz(0)
}

// -----

// unit_c2: `host` is `cores`.
// CHECK: device.unit reads "threads" from the host
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1) host("threads")
}

// -----

// move_c1: both memories belong to the machine.
// CHECK: device.move names @l2, which is no memory of the machine @toy
// CHECK: device.move names @l1, which is no memory of the machine @toy
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.move @load from @l2 to @l1
}

// -----

// move_c2: cycles and bandwidth are above zero.
// CHECK: device.move has issue_cycles 0
// CHECK: device.move has latency_cycles -1
// CHECK: device.move has bytes_per_cycle 0
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.move @load from @dram to @vreg bytes_per_cycle(0) issue_cycles(0.0) latency_cycles(-1)
}

// -----

// lanes_c1: the unit belongs to the machine.
// CHECK: device.lanes names @sm, which is no unit of the machine @toy
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @sm in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations([]) reductions([])
}

// -----

// lanes_c1: the memory is a register file.
// CHECK: device.lanes works in @dram, which has no registers
// CHECK: note: the memory is here
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @dram issue_cycles(1.0) latency_cycles(1) types([f32]) operations([]) reductions([])
}

// -----

// lanes_c2: a register holds a whole number of elements.
// CHECK: device.lanes works on i96 in registers of 16 bytes
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32, i96]) operations([]) reductions([])
}

// -----

// lanes_c3: those of a shuffle are above zero, those of a step zero at least.
// CHECK: device.lanes has shuffle_cycles 0
// CHECK: help: it has to be above zero, and finite
// CHECK: device.lanes has step_cycles -1
// CHECK: help: it has to be zero or more, and finite
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations([]) reductions([])
    shuffle_cycles(0.0) step_cycles(-1.0)
}

// -----

// lanes_c4: cycles are those of operations that it applies.
// CHECK: device.lanes has cycles of arith.divf, which it does not apply
// CHECK: help: name it in operations, too, or leave it out
// CHECK: device.lanes has operation_cycles 7 : i64 of math.sqrt
// CHECK: help: write a number with a point, above zero, such as 10.0
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations(["math.sqrt"]) reductions([])
    operation_cycles({arith.divf = 10.0, math.sqrt = 7})
}

// -----

// lanes_c3: cycles are above zero.
// CHECK: device.lanes has issue_cycles -1
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(-1.0) latency_cycles(1) types([f32]) operations([]) reductions([])
}

// -----

// instruction_c1: unit and memories belong to the machine.
// CHECK: device.instruction names @sm, which is no unit of the machine @toy
// CHECK: device.instruction names @spad, which is no memory of the machine @toy
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @i on @sm operands([@spad, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// -----

// instruction_c1: operands are names of memories.
// CHECK: device.instruction has an operand that names no memory
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @i on @core operands(["dram", @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// -----

// instruction_c2: one memory per argument of the meaning.
// CHECK: device.instruction has 1 operand memory and a meaning of 2 arguments
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @i on @core operands([@vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// -----

// instruction_c3: an operand in a register file fits a register.
// CHECK: device.instruction takes tensor<8xf32> in @vreg
// CHECK: help: a register of @vreg holds 16 bytes
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @i on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<8xf32>):
    device.yield %c : tensor<8xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<8xf32>):
    device.yield %c : vector<8xf32>
  }
}

// -----

// instruction_c4: one argument of the lowering per operand.
// CHECK: the lowering has 1 argument, the meaning 2
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @i on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// -----

// instruction_c4: as many elements, of the same type.
// CHECK: operand 0 is tensor<f32>, and f64 in the lowering
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @i on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f64, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// -----

// instruction_c5: as many results.
// CHECK: the lowering yields 2 for 1 value that it overwrites
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @i on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %c, %c : vector<4xf32>, vector<4xf32>
  }
}

// -----

// instruction_c5: a result has the type of the operand it overwrites.
// CHECK: the meaning overwrites tensor<4xf32> with tensor<f32>
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @i on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %a : tensor<f32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %a : f32
  }
}

// -----

// instruction_c5: no more results than operands.
// CHECK: the meaning yields 3 results of 2 operands
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @i on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c, %c, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %c, %c, %c : vector<4xf32>, vector<4xf32>, vector<4xf32>
  }
}

// -----

// instruction_c5: meaning and lowering yield.
// CHECK: device.instruction has a region without a result
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @i on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    llvm.unreachable
  }
}

// -----

// instruction_c6: cycles are above zero.
// CHECK: device.instruction has issue_cycles 0
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @i on @core operands([@dram, @vreg]) issue_cycles(0.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// -----

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

// -----

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

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
}

// alloc_c1: the machine has it.
// CHECK: device.alloc names @spad, which is no memory of the machine @toy
func.func @alloc_c1() {
  %r = device.alloc : memref<4xf32, "spad">
  return
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
}

// alloc_c2: the room is no larger than the memory.
// CHECK: device.alloc makes memref<64x4xf32, "vreg">, @vreg holds 512 bytes
func.func @alloc_c2() {
  %r = device.alloc : memref<64x4xf32, "vreg">
  return
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
}

// alloc_c3: the last dimension fills at most one register.
// CHECK: device.alloc makes memref<2x8xf32, "vreg"> in registers of 16 bytes
// CHECK: help: the last dimension is at most 4
func.func @alloc_c3() {
  %r = device.alloc : memref<2x8xf32, "vreg">
  return
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.move @load from @dram to @vreg
}

// copy_c1: the machine has the move.
// CHECK: device.copy names @gather, which is no move of the machine @toy
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @gather %x[%c0, %c0] to %r[%c0] count 4 : memref<4x16xf32> to memref<4xf32, "vreg">
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.move @load from @dram to @vreg
}

// copy_c1: the move is between the two memories.
// CHECK: device.copy goes from memref<4xf32, "vreg">, @load from @dram
// CHECK: device.copy goes to memref<4x16xf32>, @load to @vreg
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @load %r[%c0] to %x[%c0, %c0] count 4 : memref<4xf32, "vreg"> to memref<4x16xf32>
}

// -----

// copy_c2: both have one element type.
// CHECK: device.copy goes from memref<16xi32> to memref<4xf32, "vreg">
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<16xi32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @load %x[%c0] to %r[%c0] count 4 : memref<16xi32> to memref<4xf32, "vreg">
}

// -----

// copy_c3: count and steps are above zero.
// CHECK: device.copy has count 0
// CHECK: device.copy has from_step 0
// CHECK: device.copy has to_step -1
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @load %x[%c0, %c0] to %r[%c0] count 0 from_step 0 to_step -1 : memref<4x16xf32> to memref<4xf32, "vreg">
}

// -----

// copy_c3: dimensions are inside the ranks.
// CHECK: device.copy has from_dim 2 of memref<4x16xf32>
// CHECK: device.copy has to_dim -1 of memref<4xf32, "vreg">
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @load %x[%c0, %c0] to %r[%c0] count 4 from_dim 2 to_dim -1 : memref<4x16xf32> to memref<4xf32, "vreg">
}

// -----

// copy_c3: one index per dimension.
// CHECK: device.copy gives 1 index to memref<4x16xf32>
// CHECK: device.copy gives 2 indices to memref<4xf32, "vreg">
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @load %x[%c0] to %r[%c0, %c0] count 4 : memref<4x16xf32> to memref<4xf32, "vreg">
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.move @load from @dram to @vreg
}

// copy_c4: a column needs a strided move.
// CHECK: device.copy steps over elements of memref<4x16xf32>, @load cannot
// CHECK: note: the move is here
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @load %x[%c0, %c0] to %r[%c0] count 4 from_dim 0 : memref<4x16xf32> to memref<4xf32, "vreg">
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.move @stream from @vreg to @dram strided streams
}

// copy_c5: half a register does not go past the caches.
// CHECK: device.copy writes 2 elements by @stream, which streams
// CHECK: note: the move is here
// CHECK: help: give it a whole register that goes to elements side by side
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.copy @stream %r[%c0] to %x[%c0, %c0] count 2 : memref<4xf32, "vreg"> to memref<4x16xf32>
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @add on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// invoke_c1: the machine has the instruction.
// CHECK: device.invoke names @mma, which is no instruction of the machine @toy
// CHECK: help: it has @add
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.invoke @mma(%x[%c0, %c0], %r[%c0]) : memref<4x16xf32>, memref<4xf32, "vreg">
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @add on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// invoke_c2: one view per operand.
// CHECK: device.invoke gives 1 view to @add, which takes 2
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.invoke @add(%r[%c0]) : memref<4xf32, "vreg">
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @add on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// invoke_c2: in the operand's memory.
// CHECK: device.invoke gives memref<4x16xf32> to @add, whose operand 1 is tensor<4xf32> in @vreg
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.invoke @add(%x[%c0, %c0], %x[%c0, %c0]) : memref<4x16xf32>, memref<4x16xf32>
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @add on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// invoke_c2: of its element type.
// CHECK: device.invoke gives memref<16xi32> to @add, whose operand 0 is tensor<f32> in @dram
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<16xi32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.invoke @add(%x[%c0], %r[%c0]) : memref<16xi32>, memref<4xf32, "vreg">
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @spad scope("core") capacity_bytes(512)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @add on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// invoke_c2: one element may lie elsewhere, if a move goes from there to the registers.
// CHECK: device.invoke gives memref<4xf32, "spad"> to @add, whose operand 0 is tensor<f32> in @dram
device.kernel @kernel tasks 1 {
^bb0(%task: index):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  %x = device.alloc : memref<4xf32, "spad">
  device.invoke @add(%x[%c0], %r[%c0]) : memref<4xf32, "spad">, memref<4xf32, "vreg">
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @add on @core operands([@dram, @vreg]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<f32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// invoke_c2: with room for its shape.
// CHECK: device.invoke gives memref<2xf32, "vreg"> to @add, whose operand 1 is tensor<4xf32> in @vreg
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  %s = device.alloc : memref<2xf32, "vreg">
  device.invoke @add(%x[%c0, %c0], %s[%c0]) : memref<4x16xf32>, memref<2xf32, "vreg">
}

// -----

// invoke_c3: one index per dimension.
// CHECK: device.invoke gives 2 indices to 3 dimensions
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.invoke @add(%x[%c0], %r[%c0]) : memref<4x16xf32>, memref<4xf32, "vreg">
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations(["arith.addf"]) reductions(["arith.addf"])
}

// apply_c1: the machine has the lane unit.
// CHECK: device.apply names @salu, which is no lane unit of the machine @toy
// CHECK: help: it has @valu
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @salu lanes 4 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations(["arith.addf"]) reductions(["arith.addf"])
}

// apply_c1: which lists every operation of the body.
// CHECK: device.apply uses arith.mulf on @valu, which does not list it
// CHECK: help: its operations are arith.addf
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 4 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    %d = arith.mulf %a, %a : f32
    device.yield %d : f32
  }
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations(["arith.addf"]) reductions(["arith.addf"])
}

// apply_c1: and its element types.
// CHECK: device.apply uses arith.addf on f64, which @valu does not list
// CHECK: help: its types are f32
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 4 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    %z = arith.constant 0.0 : f64
    %d = arith.addf %z, %z : f64
    device.yield %a : f32
  }
}

// -----

// apply_c2: one argument per input.
// CHECK: the body of device.apply takes (f32, f32) of (f32)
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 4 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32, %b: f32):
    device.yield %a : f32
  }
}

// -----

// apply_c2: one value per output.
// CHECK: the body of device.apply yields () for (f32)
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 4 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    device.yield
  }
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations(["arith.addf"]) reductions(["arith.addf"])
}

// apply_c3: outputs lie in the unit's registers.
// CHECK: device.apply writes memref<4x16xf32>, @valu works in @vreg
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 4 ins(%r[%c0]) outs(%x[%c0, %c0]) : (memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations(["arith.addf"]) reductions(["arith.addf"])
}

// apply_c3: the lanes fit a register.
// CHECK: device.apply works on 8 lanes of f32 in @vreg
// CHECK: help: a register holds 4 lanes of f32
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 8 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

// apply_c3: there is a lane.
// CHECK: device.apply has lanes 0
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 0 ins(%r[%c0]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

// apply_c4: one index per dimension.
// CHECK: device.apply gives 0 indices to 1 dimensions
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.apply @valu lanes 4 ins(%r[]) outs(%r[%c0]) : (memref<4xf32, "vreg">) -> (memref<4xf32, "vreg">) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations(["arith.addf"]) reductions(["arith.addf"])
}

// combine_c1: the unit lists the operation among its reductions.
// CHECK: device.combine uses arith.mulf on f32, which @valu does not list
// CHECK: help: its reductions are arith.addf
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%r[%c0]) outs(%x[%c0, %c0]) : (memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.mulf %a, %b : f32
    device.yield %d : f32
  }
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations(["arith.addf"]) reductions(["arith.addf"])
}

// combine_c1: there is one operation.
// CHECK: the body of device.combine has 0 operations
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%r[%c0]) outs(%x[%c0, %c0]) : (memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    device.yield %a : f32
  }
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations(["arith.addf"]) reductions(["arith.addf"])
}

// combine_c1: the input lies in the unit's registers.
// CHECK: device.combine reads memref<4x16xf32>, @valu works in @vreg
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%x[%c0, %c0]) outs(%x[%c0, %c0]) : (memref<4x16xf32>) -> (memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
}

// -----

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations(["arith.addf"]) reductions(["arith.addf"])
}

// combine_c1: the lanes fit a register.
// CHECK: device.combine works on 8 lanes of f32 in @vreg
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 8 ins(%r[%c0]) outs(%x[%c0, %c0]) : (memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
}

// -----

// combine_c2: one input and one output.
// CHECK: device.combine has 2 inputs and 1 output
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%r[%c0], %r[%c0]) outs(%x[%c0, %c0]) : (memref<4xf32, "vreg">, memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
}

// -----

// combine_c2: of one element type.
// CHECK: device.combine takes memref<4xf32, "vreg"> and gives memref<16xf64>
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<16xf64>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%r[%c0]) outs(%x[%c0]) : (memref<4xf32, "vreg">) -> (memref<16xf64>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
}

// -----

// combine_c2: the body takes two and yields one.
// CHECK: the body of device.combine takes (f32) of (f32, f32)
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%r[%c0]) outs(%x[%c0, %c0]) : (memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

// combine_c2: one index per dimension.
// CHECK: device.combine gives 1 index to 2 dimensions
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<4xf32, "vreg">
  device.combine @valu lanes 4 ins(%r[%c0]) outs(%x[%c0]) : (memref<4xf32, "vreg">) -> (memref<4x16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.addf %a, %b : f32
    device.yield %d : f32
  }
}

// -----

// barrier_c1: the scope is one that a memory can have.
// CHECK: device.barrier has the scope "grid"
func.func @barrier_c1() {
  device.barrier "grid"
  return
}

// -----

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

// -----

// memory_c8: addresses lie within those of the memory that all share.
// CHECK: device.memory @near lies within @spad
// CHECK: that is not the memory of the whole device
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @spad scope("core") capacity_bytes(1024)
  device.memory @near scope("cluster") capacity_bytes(1024) within(@spad)
  device.unit @core count(2)
}

// -----

// memory_c8: a cache has no addresses of its own.
// CHECK: device.memory @l2 lies within @dram, and has no addresses
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @l2 scope("cluster") capacity_bytes(1024) caches(@dram) within(@dram)
  device.unit @core count(2)
}

// -----

// unit_c3: the machine has the cluster.
// CHECK: device.unit names @trio, which is no unit of the machine @toy
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(4) cluster(@trio)
}

// -----

// unit_c3: clusters have the same number of units, and are in none.
// CHECK: device.unit is in @trio, which is in @all
// CHECK: device.unit has 4 units in 3 of @trio
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(4) cluster(@trio)
  device.unit @trio count(3) cluster(@all)
  device.unit @all count(1)
}

// -----

// memory_c8: it is shared by a cluster.
// CHECK: device.memory @one of scope core lies within @dram
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @one scope("core") capacity_bytes(1024) within(@dram)
  device.unit @core count(2)
}

// -----

// memory_c8: there is one.
// CHECK: device.memory @other lies within @dram, and so does @one
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @one scope("cluster") capacity_bytes(1024) within(@dram)
  device.memory @other scope("cluster") capacity_bytes(1024) within(@dram)
  device.unit @core count(2)
}

// -----

// unit_c3: programs run on the first kind of unit.
// CHECK: device.unit is in @pair, which stands before it
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @pair count(2)
  device.unit @core count(4) cluster(@pair)
}
