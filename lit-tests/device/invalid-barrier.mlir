// Barriers of a scope that no memory has.
// RUN: not weft-opt %s --split-input-file 2>&1 | FileCheck %s

// barrier_c1: the scope is one that a memory can have.
// CHECK: device.barrier has the scope "grid"
func.func @barrier_c1() {
  device.barrier "grid"
  return
}
