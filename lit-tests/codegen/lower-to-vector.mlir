// RUN: weft-opt %s --device-lower-to-vector --split-input-file | FileCheck %s

// Registers become arrays at the entry, tasks a loop; a whole register is one load. What has several
// dimensions is read and written with one index.
//      CHECK: #[[ROW:.+]] = affine_map<(d0) -> (d0 * 8)>
// CHECK-LABEL: func.func @scale(
//  CHECK-SAME:   %[[BEGIN:.+]]: index, %[[END:.+]]: index, %[[X:.+]]: memref<32xf32>, %[[S:.+]]: memref<4xf32>)
//       CHECK:   %[[R:.+]] = memref.alloca() {alignment = 64 : i64} : memref<8xf32>
//       CHECK:   scf.for %[[TASK:.+]] = %[[BEGIN]] to %[[END]]
//       CHECK:     %[[AT:.+]] = affine.apply #[[ROW]](%[[TASK]])
//       CHECK:     %[[V:.+]] = vector.load %[[X]][%[[AT]]] : memref<32xf32>, vector<8xf32>
//       CHECK:     vector.store %[[V]], %[[R]]
// A factor that is the same in every lane stays a scalar until it meets one that is not.
//       CHECK:     %[[F:.+]] = memref.load %[[S]][%[[TASK]]]
//       CHECK:     %[[TWICE:.+]] = arith.addf %[[F]], %[[F]] : f32
//       CHECK:     %[[ALL:.+]] = vector.broadcast %[[TWICE]] : f32 to vector<8xf32>
//       CHECK:     arith.mulf %{{.+}}, %[[ALL]] : vector<8xf32>
device.machine @toy arch("x86-64") features(["avx2", "fma"]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(1)
  device.move @load from @dram to @vreg strided
  device.move @store from @vreg to @dram strided
  device.lanes @valu on @core in @vreg issue_cycles(0.5) latency_cycles(4) types([f32, i32])
    operations(["arith.addf", "arith.mulf"]) reductions([])
}
device.kernel @scale tasks 4 {
^bb0(%task: index, %x: memref<4x8xf32>, %s: memref<4xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<8xf32, "vreg">
  device.copy @load %x[%task, %c0] to %r[%c0] count 8 : memref<4x8xf32> to memref<8xf32, "vreg">
  device.apply @valu lanes 8 ins(%r[%c0], %s[%task]) outs(%r[%c0])
    : (memref<8xf32, "vreg">, memref<4xf32>) -> (memref<8xf32, "vreg">) {
  ^bb0(%a: f32, %f: f32):
    %twice = arith.addf %f, %f : f32
    %b = arith.mulf %a, %twice : f32
    device.yield %b : f32
  }
  device.copy @store %r[%c0] to %x[%task, %c0] count 8 : memref<8xf32, "vreg"> to memref<4x8xf32>
}

// -----

// A short copy touches nothing behind its end: in pieces, or under a mask.
// CHECK-LABEL: func.func @tail(
//       CHECK:   vector.load %{{.+}} : memref<5xf32>, vector<4xf32>
//       CHECK:   memref.load %{{.+}} : memref<5xf32>
//       CHECK:   vector.store %{{.+}} : memref<8xf32>, vector<8xf32>
device.machine @toy arch("x86-64") features(["avx2"]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(1)
  device.move @load from @dram to @vreg
}
device.kernel @tail tasks 1 {
^bb0(%task: index, %x: memref<5xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<8xf32, "vreg">
  device.copy @load %x[%c0] to %r[%c0] count 5 : memref<5xf32> to memref<8xf32, "vreg">
}

// -----

// CHECK-LABEL: func.func @masked_tail(
//       CHECK:   %[[MASK:.+]] = arith.constant dense<[true, true, true, true, true, false{{(, false)+}}]> : vector<16xi1>
//       CHECK:   vector.maskedload %{{.+}}, %[[MASK]]
device.machine @toy arch("x86-64") features(["avx512f"]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(1)
  device.move @load from @dram to @vreg
}
device.kernel @masked_tail tasks 1 {
^bb0(%task: index, %x: memref<5xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<16xf32, "vreg">
  device.copy @load %x[%c0] to %r[%c0] count 5 : memref<5xf32> to memref<16xf32, "vreg">
}

// -----

// Every second element: two whole loads, thinned out; the second ends with the last element.
// CHECK-LABEL: func.func @thinned(
//       CHECK:   %[[SEVEN:.+]] = arith.constant 7 : index
//       CHECK:   %[[AT:.+]] = arith.addi %{{.+}}, %[[SEVEN]] : index
//       CHECK:   vector.load %{{.+}}[%[[AT]]] : memref<15xf32>, vector<8xf32>
//       CHECK:   vector.shuffle %{{.+}} [0, 1, 2, 3, 9, 11, 13, 15]
device.machine @toy arch("x86-64") features(["avx2"]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(1)
  device.move @load from @dram to @vreg strided
}
device.kernel @thinned tasks 1 {
^bb0(%task: index, %x: memref<15xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<8xf32, "vreg">
  device.copy @load %x[%c0] to %r[%c0] count 8 from_step 2 : memref<15xf32> to memref<8xf32, "vreg">
}

// -----

// A load that goes up with the lane is one load; bf16 travels as its bits.
// CHECK-LABEL: func.func @neighbours(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: memref<64xi16>
//       CHECK:   %[[AT:.+]] = arith.addi %{{.+}}, %{{.+}} : index
//       CHECK:   vector.load %[[X]][%[[AT]]] : memref<64xi16>, vector<8xi16>
//       CHECK:   arith.extui %{{.+}} : vector<8xi16> to vector<8xi32>
device.machine @toy arch("x86-64") features(["avx2"]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(1)
  device.lanes @valu on @core in @vreg issue_cycles(0.5) latency_cycles(4) types([f32, bf16])
    operations(["arith.extf"]) reductions([])
}
device.kernel @neighbours tasks 8 {
^bb0(%task: index, %x: memref<64xbf16>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<8xf32, "vreg">
  device.apply @valu lanes 8 ins(%r[%c0]) outs(%r[%c0]) : (memref<8xf32, "vreg">) -> (memref<8xf32, "vreg">) {
  ^bb0(%old: f32):
    %lane = device.lane
    %i = arith.addi %task, %lane : index
    %a = memref.load %x[%i] : memref<64xbf16>
    %b = arith.extf %a : bf16 to f32
    device.yield %b : f32
  }
}

// -----

// Lanes are combined in halves.
// CHECK-LABEL: func.func @sum(
//       CHECK:   vector.shuffle %{{.+}} [4, 5, 6, 7]
//       CHECK:   arith.addf %{{.+}} : vector<4xf32>
//       CHECK:   arith.addf %{{.+}} : vector<2xf32>
//       CHECK:   arith.addf %{{.+}} : f32
//       CHECK:   memref.store
device.machine @toy arch("x86-64") features(["avx2"]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(1)
  device.lanes @valu on @core in @vreg issue_cycles(0.5) latency_cycles(4) types([f32])
    operations([]) reductions(["arith.addf"])
}
device.kernel @sum tasks 1 {
^bb0(%task: index, %s: memref<1xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<8xf32, "vreg">
  device.combine @valu lanes 8 ins(%r[%c0]) outs(%s[%c0]) : (memref<8xf32, "vreg">) -> (memref<1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    device.yield %c : f32
  }
}

// -----

// What lies in a cache is lent by the worker: rooms that share bytes in one piece, others apart.
// CHECK-LABEL: func.func @near(
//  CHECK-SAME:   %{{.+}}: memref<8xf32>, %[[AC:.+]]: memref<96xi8>, %[[B:.+]]: memref<32xi8>, %[[D:.+]]: memref<64xi8>)
//       CHECK:   memref.alloca() {alignment = 64 : i64} : memref<8xf32>
//   CHECK-DAG:   memref.view %[[AC]][%{{.+}}][] : memref<96xi8> to memref<20xf32>
//   CHECK-DAG:   memref.view %[[B]][%{{.+}}][] : memref<32xi8> to memref<8xf32>
//   CHECK-DAG:   memref.view %[[AC]][%{{.+}}][] : memref<96xi8> to memref<8xf32>
//   CHECK-DAG:   memref.view %[[D]][%{{.+}}][] : memref<64xi8> to memref<16xf32>
//   CHECK-DAG:   memref.view %[[D]][%{{.+}}][] : memref<64xi8> to memref<16xf32>
device.machine @toy arch("x86-64") features(["avx2"]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(1)
  device.move @load from @dram to @vreg
  device.move @store from @vreg to @dram
}
device.kernel @near tasks 1 {
^bb0(%task: index, %x: memref<8xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<8xf32, "vreg">
  %a = device.alloc at 0 : memref<20xf32, "l2">
  %b = device.alloc at 128 : memref<8xf32, "l2">
  %c = device.alloc at 64 : memref<8xf32, "l2">
  %d = device.alloc : memref<2x8xf32, "l2">
  device.copy @store %r[%c0] to %a[%c0] count 8 : memref<8xf32, "vreg"> to memref<20xf32, "l2">
  device.copy @store %r[%c0] to %b[%c0] count 8 : memref<8xf32, "vreg"> to memref<8xf32, "l2">
  device.copy @store %r[%c0] to %c[%c0] count 8 : memref<8xf32, "vreg"> to memref<8xf32, "l2">
  device.copy @store %r[%c0] to %d[%c0, %c0] count 8 : memref<8xf32, "vreg"> to memref<2x8xf32, "l2">
  // Used when %d was.
  %e = device.alloc : memref<16xf32, "l2">
  device.copy @store %r[%c0] to %e[%c0] count 8 : memref<8xf32, "vreg"> to memref<16xf32, "l2">
}

// -----

// One index of three dimensions: what earlier operations computed goes into it, and the index of a
// register loop comes last, so that all its rounds share the rest.
//       CHECK: #[[AT:.+]] = affine_map<(d0, d1) -> (d0 * 40 + d1 * 8 + 16)>
// CHECK-LABEL: func.func @one_index(
//  CHECK-SAME:   %[[X:[a-z0-9]+]]: memref<160xf32>
//       CHECK:   scf.for %[[TASK:.+]] =
//       CHECK:     affine.for %[[ROW:.+]] = 0 to 3
//       CHECK:       %[[HERE:.+]] = affine.apply #[[AT]](%[[TASK]], %[[ROW]])
//       CHECK:       vector.load %[[X]][%[[HERE]]] : memref<160xf32>, vector<8xf32>
device.machine @toy arch("x86-64") features(["avx2"]) {
  device.memory @dram scope("device") capacity_bytes(1048576)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(1)
  device.move @load from @dram to @vreg
}
device.kernel @one_index tasks 4 {
^bb0(%task: index, %x: memref<4x5x8xf32>):
  %c0 = arith.constant 0 : index
  %r = device.alloc : memref<3x8xf32, "vreg">
  affine.for %row = 0 to 3 {
    %further = affine.apply affine_map<(d0) -> (d0 + 2)>(%row)
    device.copy @load %x[%task, %further, %c0] to %r[%row, %c0] count 8 : memref<4x5x8xf32> to memref<3x8xf32, "vreg">
  }
}
