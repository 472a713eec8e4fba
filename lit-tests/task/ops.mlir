// RUN: weft-opt %s --verify-roundtrip | FileCheck %s
// RUN: weft-opt %s --mlir-print-op-generic | weft-opt | FileCheck %s
// RUN: weft-opt %s --emit-bytecode | weft-opt | FileCheck %s

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}

tile.kernel @add {
^bb0(%x: tensor<16xf32>, %w: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

tile.kernel @pack {
^bb0(%x: tensor<16xf32>, %o: tensor<16xf32>):
  tile.yield %x : tensor<16xf32>
}

// CHECK-LABEL: task.program @program on @core units 2 arena 64 : (tensor<4x4xf32>) -> tensor<16xf32> {
task.program @program on @core units 2 arena 64 : (tensor<4x4xf32>) -> tensor<16xf32> {
  // CHECK: %[[X:.+]] = task.input 0 "x" : memref<4x4xf32>
  %x = task.input 0 "x" : memref<4x4xf32>
  // CHECK: %[[Y:.+]] = task.output 0 "y" : memref<16xf32>
  %y = task.output 0 "y" : memref<16xf32>
  // CHECK: %[[W:.+]] = task.weight "w" in "model" hash "9f86d0" : memref<16xf32>
  %w = task.weight "w" in "model" hash "9f86d0" : memref<16xf32>
  // CHECK: %[[L:.+]] = task.literal dense<1.000000e+00> : tensor<16xf32> -> memref<16xf32>
  %l = task.literal dense<1.0> : tensor<16xf32> -> memref<16xf32>
  // CHECK: %[[P:.+]] = task.constant "packed" @pack(%[[W]]) : (memref<16xf32>) -> memref<16xf32>
  %p = task.constant "packed" @pack(%w) : (memref<16xf32>) -> memref<16xf32>
  // Here the result starts as a copy of the last operand.
  // CHECK: task.constant "windowed" @pack(%[[W]], %[[P]]) : (memref<16xf32>, memref<16xf32>) -> memref<16xf32>
  %q = task.constant "windowed" @pack(%w, %p) : (memref<16xf32>, memref<16xf32>) -> memref<16xf32>
  // CHECK: %[[B:.+]] = task.buffer at 0 in @dram : memref<16xf32>
  %b = task.buffer at 0 in @dram : memref<16xf32>
  // CHECK: %[[V:.+]] = task.view %[[X]] : memref<4x4xf32> to memref<16xf32>
  %v = task.view %x : memref<4x4xf32> to memref<16xf32>
  // CHECK: %[[T0:.+]] = task.range "first" @add[0 to 2] on 0(%[[V]], %[[P]], %[[B]]) after() : memref<16xf32>, memref<16xf32>, memref<16xf32>
  %t0 = task.range "first" @add[0 to 2] on 0 (%v, %p, %b) after() : memref<16xf32>, memref<16xf32>, memref<16xf32>
  // CHECK: %[[T1:.+]] = task.range "first" @add[2 to 4] on 1(%[[V]], %[[P]], %[[B]]) after() : memref<16xf32>, memref<16xf32>, memref<16xf32>
  %t1 = task.range "first" @add[2 to 4] on 1 (%v, %p, %b) after() : memref<16xf32>, memref<16xf32>, memref<16xf32>
  // CHECK: task.launch
  task.launch
  // CHECK: task.range "second" @add[0 to 4] on 0(%[[B]], %[[L]], %[[Y]]) after(%[[T0]], %[[T1]]) : memref<16xf32>, memref<16xf32>, memref<16xf32>
  %t2 = task.range "second" @add[0 to 4] on 0 (%b, %l, %y) after(%t0, %t1) : memref<16xf32>, memref<16xf32>, memref<16xf32>
  // CHECK: task.range "third" @add[0 to 1] on 0(%[[B]], %[[L]], %[[Y]]) at [8, 0, 8] after(%[[T0]], %[[T1]]) cycles(3) : memref<16xf32>, memref<16xf32>, memref<16xf32>
  %t3 = task.range "third" @add[0 to 1] on 0 (%b, %l, %y) at [8, 0, 8] after(%t0, %t1) cycles(3) : memref<16xf32>, memref<16xf32>, memref<16xf32>
}

// A token keeps its type wherever it goes.
// CHECK-LABEL: func.func @token(%{{.+}}: !task.token)
func.func @token(%t: !task.token) {
  return
}
