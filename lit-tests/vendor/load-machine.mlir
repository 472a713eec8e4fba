// A machine comes with its dialect and patterns, and with meanings that passes can read.
// RUN: weft-opt %s --device-load-machine=file=%S/Inputs/beside.mlir | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%S/Inputs/beside.mlir | weft-opt --verify-roundtrip | FileCheck %s

// CHECK-LABEL: module {
//  CHECK-NEXT:   device.machine @small
//  CHECK-NEXT:     irdl.dialect @vendor
//       CHECK:     pdl.pattern @nothing
//       CHECK:     device.memory @dram
//       CHECK:     linalg.generic
//   CHECK-NOT:     linalg.matmul
//       CHECK:     "vendor.mac"(%{{.+}}, %{{.+}}, %{{.+}}) : (index, index, index) -> ()
func.func private @rest()
