// What an instruction may not say of how its operands lie, and operands that do not lie so.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// instruction_c10: one layout or `unit` per operand.
// CHECK: device.instruction has 1 layout for 2 operands
// CHECK: help: give one layout or `unit` per operand
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @i on @core operands([@dram, @vreg]) layouts([[4, 1, 1, 1]]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<4x4xf32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: index, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// -----

// instruction_c10: a layout is one or two dimensions and a swizzle, of an operand that is an address.
// CHECK: the layout of operand 0 is [4, 1, 1], of tensor<4x4xf32> that is index in the lowering
// CHECK: the layout of operand 1 is [4, 1, 1, 1], of tensor<4xf32> that is vector<4xf32> in the lowering
// CHECK: help: it is [rows, pitch, bits, keep, shift] or the same without rows
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.instruction @i on @core operands([@dram, @vreg]) layouts([[4, 1, 1], [4, 1, 1, 1]]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<4x4xf32>, %c: tensor<4xf32>):
    device.yield %c : tensor<4xf32>
  } lowering {
  ^bb0(%a: index, %c: vector<4xf32>):
    device.yield %c : vector<4xf32>
  }
}

// -----

// invoke_c2: the buffer has as many panels as the operand's columns need.
// CHECK: device.invoke gives memref<1x8x4xf32, "spad"> to @i, whose operand 0 is tensor<8x8xf32> in @spad
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @spad scope("core") capacity_bytes(4096) banks(4) bank_bytes(4)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @in from @dram to @spad
  device.move @up from @spad to @vreg
  device.move @out from @vreg to @dram
  device.instruction @i on @core operands([@spad, @vreg]) layouts([[8, 4, 1, 1, 1], unit]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<8x8xf32>, %c: tensor<8xf32>):
    device.yield %c : tensor<8xf32>
  } lowering {
  ^bb0(%a: index, %c: vector<8xf32>):
    device.yield %c : vector<8xf32>
  }
}
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<8xf32, "vreg">
  %a = device.alloc swizzle [1, 1, 1] : memref<1x8x4xf32, "spad">
  device.invoke @i(%a[%c0, %c0, %c0], %r[%c0]) : memref<1x8x4xf32, "spad">, memref<8xf32, "vreg">
}

// -----

// invoke_c5: its last dimensions are those of the layout.
// CHECK: device.invoke gives memref<2x16x4xf32, "spad"> with swizzle [1, 1, 1] to @i
// CHECK: help: operand 0 is in a buffer with last dimensions [8, 4] and swizzle [1, 1, 1]
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @spad scope("core") capacity_bytes(4096) banks(4) bank_bytes(4)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @in from @dram to @spad
  device.move @up from @spad to @vreg
  device.move @out from @vreg to @dram
  device.instruction @i on @core operands([@spad, @vreg]) layouts([[8, 4, 1, 1, 1], unit]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<8x8xf32>, %c: tensor<8xf32>):
    device.yield %c : tensor<8xf32>
  } lowering {
  ^bb0(%a: index, %c: vector<8xf32>):
    device.yield %c : vector<8xf32>
  }
}
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<8xf32, "vreg">
  %a = device.alloc swizzle [1, 1, 1] : memref<2x16x4xf32, "spad">
  device.invoke @i(%a[%c0, %c0, %c0], %r[%c0]) : memref<2x16x4xf32, "spad">, memref<8xf32, "vreg">
}

// -----

// invoke_c5: so is its swizzle.
// CHECK: device.invoke gives memref<2x8x4xf32, "spad"> with no swizzle to @i
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @spad scope("core") capacity_bytes(4096) banks(4) bank_bytes(4)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @in from @dram to @spad
  device.move @up from @spad to @vreg
  device.move @out from @vreg to @dram
  device.instruction @i on @core operands([@spad, @vreg]) layouts([[8, 4, 1, 1, 1], unit]) issue_cycles(1.0) latency_cycles(1)
  meaning {
  ^bb0(%a: tensor<8x8xf32>, %c: tensor<8xf32>):
    device.yield %c : tensor<8xf32>
  } lowering {
  ^bb0(%a: index, %c: vector<8xf32>):
    device.yield %c : vector<8xf32>
  }
}
device.kernel @kernel tasks 1 {
^bb0(%task: index, %x: memref<4x16xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<8xf32, "vreg">
  %a = device.alloc : memref<2x8x4xf32, "spad">
  device.invoke @i(%a[%c0, %c0, %c0], %r[%c0]) : memref<2x8x4xf32, "spad">, memref<8xf32, "vreg">
}
