// Allocations get addresses, invocations the vendor's operations on them.
// RUN: weft-opt %s --device-lower-to-vendor | FileCheck %s
// RUN: weft-opt %s --device-lower-to-vendor | weft-opt --verify-roundtrip | FileCheck %s

device.machine @toy arch("toy") features([]) {
  irdl.dialect @toy {
    irdl.operation @mac {
      %address = irdl.is index
      irdl.operands(a: %address, b: %address, c: %address)
    }
    irdl.operation @square {
      %address = irdl.is index
      irdl.operands(a: %address, c: %address)
    }
  }
  pdl.pattern @mac_of_one : benefit(1) {
    %index = pdl.type : index
    %a = pdl.operand : %index
    %c = pdl.operand : %index
    %mac = pdl.operation "toy.mac"(%a, %a, %c : !pdl.value, !pdl.value, !pdl.value)
    pdl.rewrite %mac {
      %square = pdl.operation "toy.square"(%a, %c : !pdl.value, !pdl.value)
      pdl.replace %mac with %square
    }
  }
  device.memory @dram scope("device") capacity_bytes(65536)
  device.memory @spad scope("core") capacity_bytes(1024)
  device.memory @vreg scope("core") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.engine @array on @core queue(4)
  device.instruction @mac on @core engine(@array) operands([@spad, @spad, @spad])
    issue_cycles(4.0) latency_cycles(8)
  meaning {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>, affine_map<(m) -> (m)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%c : tensor<4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<4xf32>
    device.yield %d : tensor<4xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: index):
    "toy.mac"(%a, %b, %c) : (index, index, index) -> ()
    device.yield
  }
}

// What a block allocates lies behind what the block around it has, and its room is used
// again by the next block.
// CHECK-LABEL: device.kernel @addresses
//       CHECK:   device.alloc {address = 0 : i64} : memref<8x4xf32, "spad">
//       CHECK:   scf.for %[[I:.+]] =
//       CHECK:     device.alloc {address = 128 : i64} : memref<4xf32, "spad">
//       CHECK:     device.alloc {address = 144 : i64} : memref<2x2x4xf32, "spad">
//   CHECK-DAG:     %[[B:.+]] = affine.apply #{{.+}}(%[[I]])
//       CHECK:     "toy.mac"(%{{.+}}, %{{.+}}, %[[B]]) : (index, index, index) -> ()
//       CHECK:     %[[T:.+]] = device.mark @array
//       CHECK:     device.wait %[[T]]
//       CHECK:   scf.for
//       CHECK:     device.alloc {address = 128 : i64} : memref<4xf32, "spad">
device.kernel @addresses tasks 1 {
^bb0(%task: index, %x: memref<4xf32>):
  %c = device.alloc : memref<8x4xf32, "spad">
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c8 step %c1 {
    %a = device.alloc : memref<4xf32, "spad">
    %b = device.alloc : memref<2x2x4xf32, "spad">
    %t = device.invoke @mac(%a[%c0], %b[%c1, %c0, %c0], %c[%i, %c0])
      : memref<4xf32, "spad">, memref<2x2x4xf32, "spad">, memref<8x4xf32, "spad"> -> !device.token
    device.wait %t
  }
  scf.for %i = %c0 to %c8 step %c1 {
    %a = device.alloc : memref<4xf32, "spad">
  }
}

// The vendor's pattern sees that both operands are at one address.
// CHECK-LABEL: device.kernel @patterns
//       CHECK:   "toy.square"(%[[A:.+]], %{{.+}}) : (index, index) -> ()
//   CHECK-NOT:   toy.mac
device.kernel @patterns tasks 1 {
^bb0(%task: index, %x: memref<4xf32>):
  %c0 = arith.constant 0 : index
  %a = device.alloc : memref<4xf32, "spad">
  %c = device.alloc : memref<4xf32, "spad">
  %t = device.invoke @mac(%a[%c0], %a[%c0], %c[%c0])
    : memref<4xf32, "spad">, memref<4xf32, "spad">, memref<4xf32, "spad"> -> !device.token
  device.wait %t
}
