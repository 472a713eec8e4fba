// Fragments of operands that miss, repeat or leave their elements.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

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
