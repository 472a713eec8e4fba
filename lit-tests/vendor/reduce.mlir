// A program with operations of its own can be made smaller.
// RUN: split-file %s %t
// RUN: chmod +x %t/test.sh
// RUN: weft-reduce %t/program.mlir -reduction-tree='traversal-mode=0 test=%t/test.sh' | FileCheck %s

//--- program.mlir
// CHECK: irdl.dialect @toy
// CHECK-NOT: arith.constant
// CHECK: "toy.mac"
irdl.dialect @toy {
  irdl.operation @mac {
    %address = irdl.is index
    irdl.operands(a: %address)
  }
}
func.func @f(%a: index) {
  %0 = arith.constant 1.0 : f32
  "toy.mac"(%a) : (index) -> ()
  return
}

//--- test.sh
#!/bin/sh
weft-opt "$1" | grep -q '"toy.mac"' && exit 1 || exit 0
