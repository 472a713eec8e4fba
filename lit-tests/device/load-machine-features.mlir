// Instructions that need features beside those of the file are there where the machine has these.
// RUN: split-file %s %t
// RUN: weft-opt %t/module.mlir --device-load-machine=file=%t/machine.mlir | FileCheck %s --check-prefix=FILE
// RUN: weft compile %t/module.mlir --device %t/machine.mlir --emit tile -o - | FileCheck %s --check-prefix=FILE
// RUN: weft compile %t/module.mlir --device %t/machine.mlir+dots --emit tile -o - | FileCheck %s --check-prefix=MORE
// RUN: not weft compile %t/module.mlir --device %t/machine.mlir+dots+quads --emit tile -o - 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not weft compile %t/module.mlir --device toy+dots --emit tile -o - 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: weft devices x86-avx512 | FileCheck %s --check-prefix=SAID

//  FILE: device.machine @small arch("small") features(["lanes"]) {
//  FILE: device.instruction @always
//  FILE-NOT: requires
//  FILE-NOT: device.instruction @dot

//  MORE: device.machine @small arch("small") features(["lanes", "dots"]) {
//  MORE-NOT: requires
//  MORE: device.instruction @dot

// UNKNOWN: error: no instruction of {{.+}}machine.mlir requires the feature `quads`
// UNKNOWN: help: one of: dots, lanes

// NONE: error: no instruction of toy requires the feature `dots`
// NONE: help: leave it out

// SAID: leaves out @vpdpbusd, which requires avx512vnni; @vdpbf16ps, which requires avx512bf16

//--- module.mlir
func.func @m(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

//--- machine.mlir
device.machine @small arch("small") features(["lanes"]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.instruction @always on @core operands([@vreg, @vreg]) issue_cycles(1.0) latency_cycles(2) requires(["lanes"]) meaning {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    device.yield %a : tensor<4xf32>
  } lowering {
  ^bb0(%a: vector<4xf32>, %b: vector<4xf32>):
    device.yield %a : vector<4xf32>
  }
  device.instruction @dot on @core operands([@vreg, @vreg]) issue_cycles(1.0) latency_cycles(2) requires(["dots"]) meaning {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    device.yield %b : tensor<4xf32>
  } lowering {
  ^bb0(%a: vector<4xf32>, %b: vector<4xf32>):
    device.yield %b : vector<4xf32>
  }
}
