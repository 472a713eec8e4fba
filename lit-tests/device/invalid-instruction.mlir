// What a device.instruction may not say.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

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
