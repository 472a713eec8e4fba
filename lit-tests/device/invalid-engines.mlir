// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// memory_c7: only registers have a part in core_bytes.
// CHECK: device.memory has core_bytes(64) and no registers
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024) core_bytes(64)
  device.unit @core count(2)
}

// -----

// unit_c1: a unit has parts, if any are counted.
// CHECK: device.unit has partitions 0
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.unit @core count(2) partitions(0)
}

// -----

// memory_c6: only registers are spread over lanes.
// CHECK: device.memory has lanes(32) and no registers
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024) lanes(32)
  device.unit @core count(1)
}

// -----

// engine_c1: the machine has the unit.
// CHECK: device.engine names @dsp, which is no unit of the machine @m
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.engine @dma on @dsp queue(1)
  device.move @in from @dram to @spad engine(@dma)
}

// -----

// engine_c2: the queue is longer than zero.
// CHECK: device.engine has queue 0
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.engine @dma on @core queue(0)
  device.move @in from @dram to @spad engine(@dma)
}

// -----

// engine_c3: a move or an instruction is done by it.
// CHECK: the engine @dma has no moves or instructions
// CHECK: write engine(@dma) at a move or an instruction
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.unit @core count(1)
  device.engine @dma on @core queue(1)
}

// -----

// move_c2: bandwidth is above zero.
// CHECK: device.move has bytes_per_cycle 0
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.move @in from @dram to @spad bytes_per_cycle(0)
}

// -----

// move_c3: the engine belongs to the machine.
// CHECK: device.move names @dma, which is no engine of the machine @m
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.move @in from @dram to @spad engine(@dma)
}

// -----

// move_c4: names in braces are known.
// CHECK: the encoding "in {source}" asks for `source`
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(64)
  device.unit @core count(1)
  device.move @in from @dram to @spad encoding("in {source}")
}

// -----

// instruction_c8: a fragment that misses elements.
// CHECK: the fragment of operand 0 misses element [1] of tensor<8xf32>
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @reg scope("warp") capacity_bytes(64) register_bytes(16) lanes(4)
  device.unit @core count(1)
  device.instruction @neg on @core operands([@reg]) fragments([affine_map<(l, s) -> (2 * l)>]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<8xf32>):
    device.yield %a : tensor<8xf32>
  } lowering {
  ^bb0(%a: vector<2xf32>):
    device.yield %a : vector<2xf32>
  }
}

// -----

// instruction_c8: a fragment that repeats elements.
// CHECK: the fragment of operand 0 has element [0] of tensor<3xf32> 2 times, not 1
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @reg scope("warp") capacity_bytes(64) register_bytes(16) lanes(4)
  device.unit @core count(1)
  device.instruction @neg on @core operands([@reg]) fragments([affine_map<(l, s) -> (l mod 3)>]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<3xf32>):
    device.yield %a : tensor<3xf32>
  } lowering {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

// instruction_c8: a fragment that leaves the operand.
// CHECK: the fragment of operand 0 gives [4] to lane 3, slot 0, which is outside of tensor<4xf32>
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @reg scope("warp") capacity_bytes(64) register_bytes(16) lanes(4)
  device.unit @core count(1)
  device.instruction @neg on @core operands([@reg]) fragments([affine_map<(l, s) -> (l + l floordiv 3)>]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<4xf32>):
    device.yield %a : tensor<4xf32>
  } lowering {
  ^bb0(%a: f32):
    device.yield %a : f32
  }
}

// -----

// instruction_c9: numbers in braces are those of operands.
// CHECK: the encoding "neg {1}" asks for `1`
device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.unit @core count(1)
  device.instruction @neg on @core operands([@dram]) issue_cycles(1.0) latency_cycles(1) encoding("neg {1}")
  meaning {
  ^bb0(%a: tensor<4xf32>):
    device.yield %a : tensor<4xf32>
  } lowering {
  ^bb0(%a: index):
    device.yield
  }
}

// -----

device.machine @m arch("m") features([]) {
  device.memory @dram scope("device") capacity_bytes(1024)
  device.memory @spad scope("core") capacity_bytes(4096)
  device.unit @core count(1)
  device.engine @dma on @core queue(1)
  device.move @in from @dram to @spad engine(@dma)
  device.move @out from @spad to @dram
}

// transfer_c1: between the memories of the two types.
// CHECK: device.transfer goes to memref<16xf32>, @in to @spad
device.kernel @transfer_c1 tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %t = device.transfer @in %x[%task] to %x[%task] sizes [4] from_strides [1] to_strides [1] : memref<16xf32> to memref<16xf32> -> !device.token
}

// transfer_c2: of one element type.
// CHECK: device.transfer goes from memref<16xf32> to memref<16xf16, "spad">
device.kernel @transfer_c2 tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf16, "spad">
  %t = device.transfer @in %x[%task] to %s[%task] sizes [4] from_strides [1] to_strides [1] : memref<16xf32> to memref<16xf16, "spad"> -> !device.token
}

// transfer_c3: one stride per size.
// CHECK: device.transfer has 2 sizes and 1 stride
device.kernel @transfer_c3 tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf32, "spad">
  %t = device.transfer @in %x[%task] to %s[%task] sizes [1, 4] from_strides [1] to_strides [4, 1] : memref<16xf32> to memref<16xf32, "spad"> -> !device.token
}

// transfer_c4: steps need a strided move.
// CHECK: a box [4] goes by [2], @in cannot step
device.kernel @transfer_c4 tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf32, "spad">
  %t = device.transfer @in %x[%task] to %s[%task] sizes [4] from_strides [2] to_strides [1] : memref<16xf32> to memref<16xf32, "spad"> -> !device.token
}

// transfer_c5: an engine gives a token.
// CHECK: device.transfer gives no token, @in is done by @dma
device.kernel @transfer_c5 tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf32, "spad">
  device.transfer @in %x[%task] to %s[%task] sizes [4] from_strides [1] to_strides [1] : memref<16xf32> to memref<16xf32, "spad">
}

// transfer_c5: nothing else does.
// CHECK: device.transfer gives a token, @out has no engine
device.kernel @transfer_c5_no_engine tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf32, "spad">
  %t = device.transfer @out %s[%task] to %x[%task] sizes [4] from_strides [1] to_strides [1] : memref<16xf32, "spad"> to memref<16xf32> -> !device.token
}

// transfer_c6: the box fits.
// CHECK: device.transfer spans 17 elements of memref<16xf32>, which has 16
device.kernel @transfer_c6 tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<32xf32, "spad">
  %t = device.transfer @in %x[%task] to %s[%task] sizes [17] from_strides [1] to_strides [1] : memref<16xf32> to memref<32xf32, "spad"> -> !device.token
}

// fill_c1: the move fills.
// CHECK: device.fill uses @in, which does not fill
// fill_c2: the number has the element type.
// CHECK: device.fill writes 0 : i32 to memref<16xf32, "spad">
device.kernel @fill tasks 1 {
^bb0(%task: index, %x: memref<16xf32>):
  %s = device.alloc : memref<16xf32, "spad">
  %t = device.fill @in %s[%task] sizes [4] strides [1] value 0 : i32 : memref<16xf32, "spad"> -> !device.token
}

// -----

// machine_c4: a pattern names what the machine's dialect declares.
// CHECK: the pattern @fuse names vendor.sqare, which nobody declares
// CHECK: the machine's operations are vendor.mul
// machine_c5: numbers in braces are those of operands.
// CHECK: the encoding "mul {0}, {7}" asks for `7`
device.machine @m arch("m") features([]) {
  irdl.dialect @vendor {
    irdl.operation @mul attributes {encoding = "mul {0}, {7}"} {
      %address = irdl.is index
      irdl.operands(a: %address, b: %address)
    }
  }
  pdl.pattern @fuse : benefit(1) {
    %a = pdl.operand
    %mul = pdl.operation "vendor.mul"(%a, %a : !pdl.value, !pdl.value)
    pdl.rewrite %mul {
      %square = pdl.operation "vendor.sqare"(%a : !pdl.value)
      pdl.replace %mul with %square
    }
  }
  device.memory @dram scope("device") capacity_bytes(1024)
  device.unit @core count(1)
}
