// A machine comes into the module from its file.
// RUN: split-file %s %t
// RUN: weft-opt %t/module.mlir --device-load-machine=file=%S/Inputs/one-machine.mlir | FileCheck %s
// RUN: not weft-opt %t/module.mlir --device-load-machine=file=%S/Inputs/two-machines.mlir 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not weft-opt %t/module.mlir --device-load-machine=file=%S/Inputs/no-text.mlir 2>&1 | FileCheck %s --check-prefix=CUT
// RUN: not weft-opt %t/module.mlir --device-load-machine=file=%t/none.mlir 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not weft-opt %t/has-one.mlir --device-load-machine=file=%S/Inputs/one-machine.mlir 2>&1 | FileCheck %s --check-prefix=SECOND

//--- module.mlir

// CHECK-LABEL: module {
//  CHECK-NEXT:   device.machine @small arch("small") features([]) {
//       CHECK:     device.memory @vreg
//       CHECK:   func.func private @rest
func.func private @rest()

// TWO: `{{.+}}two-machines.mlir` holds 2 machines
// TWO: help: a machine file holds one device.machine

// CUT: `{{.+}}no-text.mlir` is not a machine file

// MISSING: cannot read the machine file `{{.+}}none.mlir`: No such file or directory
// MISSING: help: give one with device-load-machine{file=...}

//--- has-one.mlir

// SECOND: the module has the machine @present already
// SECOND: note: it is here
// SECOND: help: remove it from the text, or load none
device.machine @present arch("small") features([]) {
  device.memory @dram scope("device") capacity_bytes(65536)
  device.unit @core count(2)
}
