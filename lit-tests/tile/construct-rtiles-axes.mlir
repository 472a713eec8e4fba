// An instruction with axes of its own is mapped to axes of a nest, and its tiles are
// constructed by what they reuse.
// RUN: weft-opt %s --tile-construct-rtiles | FileCheck %s
// RUN: weft-opt %s --tile-construct-rtiles=remarks=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// An array of 4 x 4 x 4 in a scratchpad, and 4 lanes beside it.
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(16)
  device.memory @spad scope("core") capacity_bytes(8192) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(1)
  device.engine @dma on @core queue(8)
  device.move @in from @dram to @spad engine(@dma) bytes_per_cycle(16) latency_cycles(20) strided fills
  device.move @out from @spad to @dram engine(@dma) bytes_per_cycle(16) latency_cycles(20) strided
  device.move @vload from @spad to @vreg issue_cycles(1.0) latency_cycles(2) strided
  device.move @vstore from @vreg to @spad issue_cycles(1.0) latency_cycles(2) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3) types([f32])
    operations(["arith.addf", "arith.mulf", "arith.maximumf"]) reductions(["arith.addf"])
  device.instruction @mac on @core operands([@spad, @spad, @spad]) issue_cycles(4.0) latency_cycles(8)
  meaning {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>):
    %d = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    device.yield %d : tensor<4x4xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: index):
    device.yield
  }
}

// Rows, columns and the sum are the instruction's own axes; operands wait in its memory.
// CHECK-LABEL: tile.kernel @mm {
//       CHECK:   %[[X:.+]] = tile.load %arg0 to @spad
//       CHECK:   %[[W:.+]] = tile.load %arg1 to @spad
//       CHECK:   tile.compute ins(%[[X]], %[[W]]) outs(%arg2) on @mac axes [0, 1, 2] tiles [#tile.rtile<"dram"[32, 32, 64]>, #tile.rtile<"spad"[32, 32, 4]>]
//       CHECK:   tile.store %{{.+}} from @spad to %arg2
//      REMARK: remark: @mm: @mac, d0 = axis 0, d1 = axis 1, d2 = axis 2, tiles of [32, 32, 4] with {{.+}} cycles predicted; second @valu
tile.kernel @mm {
^bb0(%x: tensor<32x64xf32>, %w: tensor<64x32xf32>, %o: tensor<32x32xf32>):
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<32x64xf32>, tensor<64x32xf32>) outs(%o : tensor<32x32xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<32x32xf32>
  tile.yield %r : tensor<32x32xf32>
}

// Of a 1 x 3 window the rows of the image are columns of the instruction; channels are its
// sum, the window is a loop around it.
// CHECK-LABEL: tile.kernel @conv {
//       CHECK:   tile.compute {{.+}} on @mac axes [0, 1, 2] tiles [#tile.rtile<"dram"[16, 16, 16, 3]>, #tile.rtile<"spad"[16, 16, 8, 1]>]
tile.kernel @conv {
^bb0(%w: tensor<16x16x3xf32>, %i: tensor<16x18xf32>, %o: tensor<16x16xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(f, x, c, r) -> (f, c, r)>, affine_map<(f, x, c, r) -> (c, x + r)>, affine_map<(f, x, c, r) -> (f, x)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%w, %i : tensor<16x16x3xf32>, tensor<16x18xf32>) outs(%o : tensor<16x16xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<16x16xf32>
  tile.yield %r : tensor<16x16xf32>
}

// A vector is one column.
// CHECK-LABEL: tile.kernel @mv {
//       CHECK:   tile.compute {{.+}} on @mac axes [0, -1, 1]
tile.kernel @mv {
^bb0(%x: tensor<32x64xf32>, %w: tensor<64xf32>, %o: tensor<32xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%x, %w : tensor<32x64xf32>, tensor<64xf32>) outs(%o : tensor<32xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<32xf32>
  tile.yield %r : tensor<32xf32>
}

// The body is another one, so lanes do it; tiles wait in the scratchpad on their way.
// CHECK-LABEL: tile.kernel @relu {
//       CHECK:   %[[S:.+]] = tile.load %arg0 to @spad
//       CHECK:   %[[V:.+]] = tile.load %[[S]] to @vreg
//       CHECK:   tile.compute ins(%[[V]]) outs(%arg1) on @valu lanes 0 tiles [#tile.rtile<"dram"[4096]>, #tile.rtile<"spad"[1024]>, #tile.rtile<"vreg"[16]>]
//      REMARK: remark: @conv: @mac, d0 = axis 0, d1 = axis 1, d2 = axis 2 with {{[0-9]+}} cycles: kept
//      REMARK: remark: @conv: @mac, d0 = axis 1, d1 = axis 0, d2 = axis 2 with {{[0-9]+}} cycles: dropped, 
//      REMARK: remark: @relu: @mac means another body [body: it has arith.addf on f32, the kernel arith.maximumf on f32]
tile.kernel @relu {
^bb0(%x: tensor<4096xf32>, %o: tensor<4096xf32>):
  %z = arith.constant 0.0 : f32
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4096xf32>) outs(%o : tensor<4096xf32>) {
  ^bb0(%p: f32, %v: f32):
    %t = arith.maximumf %p, %z : f32
    linalg.yield %t : f32
  } -> tensor<4096xf32>
  tile.yield %r : tensor<4096xf32>
}

// Both axes of a 3 x 2 image are columns of one instruction; nothing else is left of it.
// CHECK-LABEL: tile.kernel @small_image {
//       CHECK:   tile.compute {{.+}} on @mac axes {{\[}}[0], [1, 2], [3]] tiles
tile.kernel @small_image {
^bb0(%w: tensor<16x32x2x2xf32>, %i: tensor<32x4x3xf32>, %o: tensor<16x3x2xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(f, y, x, c, r, s) -> (f, c, r, s)>, affine_map<(f, y, x, c, r, s) -> (c, y + r, x + s)>, affine_map<(f, y, x, c, r, s) -> (f, y, x)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%w, %i : tensor<16x32x2x2xf32>, tensor<32x4x3xf32>) outs(%o : tensor<16x3x2xf32>) {
  ^bb0(%p: f32, %q: f32, %v: f32):
    %t = arith.mulf %p, %q : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<16x3x2xf32>
  tile.yield %r : tensor<16x3x2xf32>
}
