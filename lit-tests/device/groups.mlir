// RUN: weft-opt %s --verify-roundtrip | FileCheck %s

device.machine @warps arch("toy") features([]) {
  device.memory @global scope("device") capacity_bytes(65536)
  // CHECK: device.memory @smem scope("core") capacity_bytes(4096) banks(32) bank_bytes(4) static_bytes(2048)
  device.memory @smem scope("core") capacity_bytes(4096) banks(32) bank_bytes(4) static_bytes(2048)
  device.memory @reg scope("warp") capacity_bytes(4096) register_bytes(128) lanes(32)
  device.unit @core count(2)
  device.move @stage from @global to @smem strided fills
  device.move @near from @smem to @reg strided
  device.move @store from @reg to @global strided
}

// While a room is read, the other is filled: one barrier a round.
// CHECK-LABEL: device.kernel @rooms tasks 1 groups 2 {
device.kernel @rooms tasks 1 groups 2 {
^bb0(%task: index, %x: memref<16xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %s = device.alloc : memref<2x16xf32, "smem">
  %r = device.alloc : memref<1x16xf32, "reg">
  device.transfer @stage %x[%c0] to %s[%c0, %c0] sizes [16] from_strides [1] to_strides [1] : memref<16xf32> to memref<2x16xf32, "smem">
  device.barrier "core"
  scf.for %k = %c0 to %c4 step %c1 {
    %room = arith.remui %k, %c2 : index
    %next = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
    %other = arith.remui %next, %c2 : index
    device.transfer @near %s[%room, %c0] to %r[%c0, %c0] sizes [16] from_strides [1] to_strides [1] : memref<2x16xf32, "smem"> to memref<1x16xf32, "reg">
    device.transfer @stage %x[%c0] to %s[%other, %c0] sizes [16] from_strides [1] to_strides [1] : memref<16xf32> to memref<2x16xf32, "smem">
    device.barrier "core"
  }
}

// Two groups bring a tile together; each takes rows of its own out of it.
// CHECK-LABEL: device.kernel @rows tasks 2 groups 2 {
device.kernel @rows tasks 2 groups 2 {
^bb0(%task: index, %x: memref<24x64xf32>, %y: memref<24x64xf32>):
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  // CHECK: %[[G:.+]] = device.group
  %group = device.group
  // CHECK: device.alloc swizzle [2, 2, 5] : memref<16x32xf32, "smem">
  %s = device.alloc swizzle [2, 2, 5] : memref<16x32xf32, "smem">
  %r = device.alloc : memref<4x32xf32, "reg">
  scf.for %k = %c0 to %c16 step %c4 {
    %left = arith.subi %c16, %k : index
    device.barrier "core"
    // CHECK: device.transfer @stage {{.+}} sizes [16, 32] from_strides [64, 1] to_strides [32, 1] limits(%{{.+}}) steps [1, 0] pads run 4 :
    device.transfer @stage %x[%k, %c0] to %s[%c0, %c0] sizes [16, 32] from_strides [64, 1] to_strides [32, 1] limits(%left) steps [1, 0] pads run 4 : memref<24x64xf32> to memref<16x32xf32, "smem">
    device.barrier "core"
    %row = arith.muli %group, %c4 : index
    device.transfer @near %s[%row, %c0] to %r[%c0, %c0] sizes [4, 32] from_strides [32, 1] to_strides [32, 1] : memref<16x32xf32, "smem"> to memref<4x32xf32, "reg">
    // CHECK: sizes [4, 32] from_strides [32, 1] to_strides [64, 1] limits(%{{.+}}, %{{.+}}) steps [1, 0, 0, 1] :
    device.transfer @store %r[%c0, %c0] to %y[%row, %c0] sizes [4, 32] from_strides [32, 1] to_strides [64, 1] limits(%left, %c16) steps [1, 0, 0, 1] : memref<4x32xf32, "reg"> to memref<24x64xf32>
  }
}
