// A text that declares its own dialect parses, prints and parses back.
// RUN: weft-opt %s --verify-roundtrip | FileCheck %s
// RUN: weft-opt %s | weft-opt | FileCheck %s
// RUN: weft-opt %s --emit-bytecode | weft-opt | FileCheck %s

// CHECK: irdl.dialect @toy
// CHECK: irdl.operation @mac attributes {encoding = "mac {2}, {0}, {1}"}
irdl.dialect @toy {
  irdl.operation @mac attributes {encoding = "mac {2}, {0}, {1}"} {
    %address = irdl.is index
    irdl.operands(a: %address, b: %address, c: %address)
  }
  irdl.type @weights
}

// CHECK-LABEL: @uses
//       CHECK:   "toy.mac"(%arg0, %arg0, %arg1) : (index, index, index) -> ()
func.func @uses(%a: index, %c: index, %w: !toy.weights) {
  "toy.mac"(%a, %a, %c) : (index, index, index) -> ()
  return
}
