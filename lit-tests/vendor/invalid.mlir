// What a declared dialect does not allow is an error at its place.
// RUN: split-file %s %t
// RUN: not weft-opt %t/undeclared.mlir 2>&1 | FileCheck %s --check-prefix=UNDECLARED
// RUN: not weft-opt %t/constraint.mlir 2>&1 | FileCheck %s --check-prefix=CONSTRAINT
// RUN: not weft-opt %t/type.mlir 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not weft-opt %t/native.mlir 2>&1 | FileCheck %s --check-prefix=NATIVE

//--- undeclared.mlir
irdl.dialect @toy {
  irdl.operation @mac {
    %address = irdl.is index
    irdl.operands(a: %address)
  }
}
func.func @f(%a: index) {
  // UNDECLARED: undeclared.mlir:9:3: error: unregistered operation 'toy.mad'
  "toy.mad"(%a) : (index) -> ()
  return
}

//--- constraint.mlir
irdl.dialect @toy {
  irdl.operation @mac {
    %address = irdl.is index
    irdl.operands(a: %address)
  }
}
func.func @f(%a: index) {
  // CONSTRAINT: constraint.mlir:9:3: error: op expects exactly 1 operands, but got 2
  "toy.mac"(%a, %a) : (index, index) -> ()
  return
}

//--- type.mlir
irdl.dialect @toy {
  irdl.operation @mac {
    %address = irdl.is index
    irdl.operands(a: %address)
  }
}
func.func @f(%a: f32) {
  // TYPE: type.mlir:9:3: error: expected 'index' but got 'f32'
  "toy.mac"(%a) : (f32) -> ()
  return
}

//--- native.mlir
// NATIVE: native.mlir:6:5: error: the pattern @calls calls a function
// NATIVE: help: use operations of pdl alone: a machine file has no native code
device.machine @toy arch("toy") features([]) {
  pdl.pattern @calls : benefit(1) {
    %mac = pdl.operation "toy.mac"
    pdl.rewrite %mac with "somebody"
  }
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(1)
}
