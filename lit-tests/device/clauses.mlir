// Clauses of memories, units, moves and lanes stand in any order and are printed in one.
// RUN: split-file %s %t
// RUN: weft-opt %t/any-order.mlir | FileCheck %s
// RUN: not weft-opt %t/twice.mlir 2>&1 | FileCheck %s --check-prefix=TWICE

//--- any-order.mlir

// CHECK: device.memory @near scope("cluster") capacity_bytes(65536) within(@dram) bytes_per_cycle(64) transaction_bytes(64)
// CHECK: device.unit @core count(8) clock_mhz(1000) cluster(@cluster) wait_cycles(5) launch_cycles(9)
// CHECK: device.move @load from @dram to @vreg issue_cycles(5.000000e-01) latency_cycles(7) strided fills
// CHECK: reductions([]) operation_cycles({arith.divf = 1.000000e+01 : f64}) shuffle_cycles(2.000000e+00) step_cycles(0.000000e+00) tile_cycles(3.000000e+00) member_cycles(9.000000e+01)
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) transaction_bytes(64) bytes_per_cycle(16)
  device.memory @near scope("cluster") capacity_bytes(65536) transaction_bytes(64) bytes_per_cycle(64) within(@dram)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(8) launch_cycles(9) wait_cycles(5) cluster(@cluster) clock_mhz(1000)
  device.unit @cluster count(2)
  device.move @load from @dram to @vreg fills strided latency_cycles(7) issue_cycles(0.5)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(1) types([f32]) operations(["arith.divf"]) reductions([])
    member_cycles(90.0) tile_cycles(3.0) step_cycles(0.0) operation_cycles({arith.divf = 10.0}) shuffle_cycles(2.0)
}

//--- twice.mlir

// TWICE: `clock_mhz` clause can appear at most once
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.unit @core count(8) clock_mhz(1000) clock_mhz(2000)
}
