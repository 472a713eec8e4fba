// Transfers of a later layer begin while an earlier one is computed, as soon as their buffers are free.
// RUN: weft-opt %s --split-input-file --device-overlap-layers | FileCheck %s
// RUN: weft-opt %s --split-input-file --device-overlap-layers=transfers=text | FileCheck %s --check-prefix=TEXT
// RUN: weft-opt %s --split-input-file --device-overlap-layers=remarks=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=SAYS
// RUN: not weft-opt %s --split-input-file --device-overlap-layers=transfers=late 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: device-overlap-layers: unknown value 'late' for option 'transfers'; expected 'early' or 'text'

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @spad scope("core") capacity_bytes(512) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(256) register_bytes(32)
  device.unit @core count(2)
  device.engine @dma on @core queue(4)
  device.engine @dmo on @core queue(4)
  device.engine @set on @core queue(4)
  device.move @in from @dram to @spad engine(@dma) bytes_per_cycle(16) latency_cycles(100) strided
  device.move @out from @spad to @dram engine(@dmo) bytes_per_cycle(16) latency_cycles(100) strided
  device.move @lay from @spad to @spad engine(@set) bytes_per_cycle(16) latency_cycles(10) strided fills
  device.move @vld from @spad to @vreg issue_cycles(1.0) latency_cycles(4) strided
  device.move @vst from @vreg to @spad issue_cycles(1.0) latency_cycles(4) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.negf"]) reductions(["arith.addf"])
}

// The second layer's buffer has a place, and lies where the first one's does not; the loop's number is a
// number. Its wait stays.
// SAYS: remark: @two: 2 of 2 transfers begin earlier
// CHECK-LABEL: device.kernel @two
//       CHECK:   %[[B:.+]] = device.alloc at 64 : memref<16xf32, "spad">
//       CHECK:   %[[A:.+]] = device.alloc at 0 : memref<16xf32, "spad">
//       CHECK:   device.transfer @in %arg1[%{{.+}}] to %[[A]]
//       CHECK:   %[[T:.+]] = device.transfer @in %arg2[%{{.+}}] to %[[B]]
//       CHECK:   scf.for
//       CHECK:     device.wait
//       CHECK:     device.copy @vld %[[A]]
//       CHECK:   scf.for
//  CHECK-NEXT:     device.wait %[[T]]
//       CHECK:     device.copy @vld %[[B]]
//  TEXT-LABEL: device.kernel @two
//        TEXT:   scf.for
//        TEXT:     device.alloc : memref
//        TEXT:   scf.for
//        TEXT:     device.transfer
device.kernel @two tasks 1 {
^bb0(%task: index, %x: memref<64xf32>, %w: memref<64xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = device.alloc : memref<8xf32, "vreg">
  %c2 = arith.constant 2 : index
  scf.for %i0 = %c0 to %c1 step %c1 {
    %b0 = device.alloc : memref<16xf32, "spad">
    %t0 = device.transfer @in %x[%c0] to %b0[%c0] sizes [16] from_strides [1] to_strides [1] : memref<64xf32> to memref<16xf32, "spad"> -> !device.token
    device.wait %t0
    device.copy @vld %b0[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  }
  scf.for %i1 = %c1 to %c2 step %c1 {
    %b1 = device.alloc : memref<16xf32, "spad">
    %t1 = device.transfer @in %w[%i1] to %b1[%c0] sizes [16] from_strides [1] to_strides [1] : memref<64xf32> to memref<16xf32, "spad"> -> !device.token
    device.wait %t1
    device.copy @vld %b1[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  }
}

// What one engine fills another one loads into behind a wait; both begin early, the fill as early as it can.
// SAYS: remark: @padded: 3 of 3 transfers begin earlier
// CHECK-LABEL: device.kernel @padded
//       CHECK:   %[[F:.+]] = device.fill @lay
//       CHECK:   device.wait %[[F]]
//  CHECK-NEXT:   device.transfer @in %arg2
//       CHECK:   scf.for
//       CHECK:   scf.for
//       CHECK:     device.wait
device.kernel @padded tasks 1 {
^bb0(%task: index, %x: memref<64xf32>, %w: memref<64xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = device.alloc : memref<8xf32, "vreg">
  scf.for %i0 = %c0 to %c1 step %c1 {
    %b0 = device.alloc : memref<16xf32, "spad">
    %t0 = device.transfer @in %x[%c0] to %b0[%c0] sizes [16] from_strides [1] to_strides [1] : memref<64xf32> to memref<16xf32, "spad"> -> !device.token
    device.wait %t0
    device.copy @vld %b0[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  }
  scf.for %i1 = %c0 to %c1 step %c1 {
    %b1 = device.alloc : memref<16xf32, "spad">
    %f = device.fill @lay %b1[%c0] sizes [16] strides [1] value 0.0 : f32 : memref<16xf32, "spad"> -> !device.token
    device.wait %f
    %t1 = device.transfer @in %w[%c0] to %b1[%c0] sizes [16] from_strides [1] to_strides [1] : memref<64xf32> to memref<16xf32, "spad"> -> !device.token
    device.wait %t1
    device.copy @vld %b1[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  }
}

// A buffer that does not fit beside the first layer's waits until that is done, not longer.
// SAYS: remark: @full: 1 of 2 transfers begin earlier
// CHECK-LABEL: device.kernel @full
//       CHECK:   %[[W:.+]] = device.alloc at 0 : memref<80xf32, "spad">
//       CHECK:   scf.for
//       CHECK:   device.transfer @in %arg2[%{{.+}}] to %[[W]]
//       CHECK:   scf.for
//       CHECK:   scf.for
device.kernel @full tasks 1 {
^bb0(%task: index, %x: memref<64xf32>, %w: memref<80xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = device.alloc : memref<8xf32, "vreg">
  %a = device.alloc at 0 : memref<64xf32, "spad">
  %t = device.transfer @in %x[%c0] to %a[%c0] sizes [64] from_strides [1] to_strides [1] : memref<64xf32> to memref<64xf32, "spad"> -> !device.token
  device.wait %t
  scf.for %i = %c0 to %c2 step %c1 {
    device.copy @vld %a[%c0] to %r[%c0] count 8 : memref<64xf32, "spad"> to memref<8xf32, "vreg">
  }
  scf.for %i = %c0 to %c2 step %c1 {
    device.apply @valu lanes 8 ins(%r[%c0]) outs(%r[%c0]) : (memref<8xf32, "vreg">) -> memref<8xf32, "vreg"> {
    ^bb0(%v: f32):
      %n = arith.negf %v : f32
      device.yield %n : f32
    }
  }
  scf.for %i = %c0 to %c1 step %c1 {
    %b = device.alloc : memref<80xf32, "spad">
    %u = device.transfer @in %w[%c0] to %b[%c0] sizes [80] from_strides [1] to_strides [1] : memref<80xf32> to memref<80xf32, "spad"> -> !device.token
    device.wait %u
    device.copy @vld %b[%c0] to %r[%c0] count 8 : memref<80xf32, "spad"> to memref<8xf32, "vreg">
  }
}

// What a layer wrote outside may be what the next one reads: not before it is there.
// SAYS: remark: @stores: 1 of 3 transfers begin earlier
// CHECK-LABEL: device.kernel @stores
//       CHECK:   device.transfer @out
//       CHECK:   device.transfer @in %arg2
device.kernel @stores tasks 1 {
^bb0(%task: index, %x: memref<64xf32>, %w: memref<64xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = device.alloc : memref<8xf32, "vreg">
  scf.for %i0 = %c0 to %c1 step %c1 {
    %b0 = device.alloc : memref<16xf32, "spad">
    %t0 = device.transfer @in %x[%c0] to %b0[%c0] sizes [16] from_strides [1] to_strides [1] : memref<64xf32> to memref<16xf32, "spad"> -> !device.token
    device.wait %t0
    device.copy @vld %b0[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
    %s = device.transfer @out %b0[%c0] to %w[%c0] sizes [16] from_strides [1] to_strides [1] : memref<16xf32, "spad"> to memref<64xf32> -> !device.token
    device.wait %s
  }
  scf.for %i1 = %c0 to %c1 step %c1 {
    %b1 = device.alloc : memref<16xf32, "spad">
    %t1 = device.transfer @in %w[%c0] to %b1[%c0] sizes [16] from_strides [1] to_strides [1] : memref<64xf32> to memref<16xf32, "spad"> -> !device.token
    device.wait %t1
    device.copy @vld %b1[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  }
}

// A place in the queue is waited for, too: half of it is for what the text begins.
// SAYS: remark: @queue: 4 of 4 transfers begin earlier
// CHECK-LABEL: device.kernel @queue
// CHECK-COUNT-2: device.transfer @in
//       CHECK:   scf.for
//       CHECK:   }
//       CHECK:   device.transfer @in
//       CHECK:   scf.for
//       CHECK:   }
//       CHECK:   device.transfer @in
device.kernel @queue tasks 1 {
^bb0(%task: index, %x: memref<64xf32>, %w: memref<64xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = device.alloc : memref<8xf32, "vreg">
  scf.for %i0 = %c0 to %c1 step %c1 {
    %b0 = device.alloc : memref<16xf32, "spad">
    %t0 = device.transfer @in %x[%c0] to %b0[%c0] sizes [16] from_strides [1] to_strides [1] : memref<64xf32> to memref<16xf32, "spad"> -> !device.token
    device.wait %t0
    device.copy @vld %b0[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  }
  scf.for %i1 = %c0 to %c1 step %c1 {
    %b1 = device.alloc : memref<16xf32, "spad">
    %t1 = device.transfer @in %w[%c0] to %b1[%c0] sizes [16] from_strides [1] to_strides [1] : memref<64xf32> to memref<16xf32, "spad"> -> !device.token
    device.wait %t1
    device.copy @vld %b1[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  }
  scf.for %i2 = %c0 to %c1 step %c1 {
    %b2 = device.alloc : memref<16xf32, "spad">
    %t2 = device.transfer @in %w[%c0] to %b2[%c0] sizes [16] from_strides [1] to_strides [1] : memref<64xf32> to memref<16xf32, "spad"> -> !device.token
    device.wait %t2
    device.copy @vld %b2[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  }
  scf.for %i3 = %c0 to %c1 step %c1 {
    %b3 = device.alloc : memref<16xf32, "spad">
    %t3 = device.transfer @in %w[%c0] to %b3[%c0] sizes [16] from_strides [1] to_strides [1] : memref<64xf32> to memref<16xf32, "spad"> -> !device.token
    device.wait %t3
    device.copy @vld %b3[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  }
}

// Nobody waits for the first fill: who waits for what the same engine does later has waited for it, so
// that does not begin before.
// CHECK-LABEL: device.kernel @in_turn
//       CHECK:   scf.for
//       CHECK:     device.fill @lay %{{.+}} value 1.0
//       CHECK:   device.fill @lay %{{.+}} value 2.0
device.kernel @in_turn tasks 1 {
^bb0(%task: index, %x: memref<64xf32>):
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = device.alloc : memref<8xf32, "vreg">
  %c2 = arith.constant 2 : index
  %a = device.alloc at 0 : memref<16xf32, "spad">
  scf.for %i = %c0 to %c2 step %c1 {
    %f = device.fill @lay %a[%c0] sizes [16] strides [1] value 1.0 : f32 : memref<16xf32, "spad"> -> !device.token
  }
  scf.for %i = %c0 to %c1 step %c1 {
    %b = device.alloc : memref<16xf32, "spad">
    %g = device.fill @lay %b[%c0] sizes [16] strides [1] value 2.0 : f32 : memref<16xf32, "spad"> -> !device.token
    device.wait %g
    device.copy @vld %a[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
    device.copy @vld %b[%c0] to %r[%c0] count 8 : memref<16xf32, "spad"> to memref<8xf32, "vreg">
  }
}
