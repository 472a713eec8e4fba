// What device.lanes may not say.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

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
