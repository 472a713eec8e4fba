// An x86-64 core with AVX-512 (F, BW, DQ, VL).
//
// What the processor is; how it is used is decided in passes. Counts and cache
// sizes marked `host` are read from the machine that compiles for itself.

// The width of a register, in elements: change these and @vreg together.
!f32_lanes = tensor<16xf32>
!f32_vector = vector<16xf32>
!f64_lanes = tensor<8xf64>
!f64_vector = vector<8xf64>
!i32_lanes = tensor<16xi32>
!i32_vector = vector<16xi32>
!i8_quads = tensor<16x4xi8>
!i8_vector = vector<64xi8>
!bf16_pairs = tensor<16x2xbf16>
!bf16_vector = vector<32xbf16>
!i32_tile = vector<256xi32>
!i8_tile = vector<1024xi8>
!f32_tile = vector<256xf32>
!bf16_tile = vector<512xbf16>

// Of the processors with AVX-512 that LLVM has a model of, one whose order spills no sums of large tiles.
device.machine @x86_avx512 arch("x86-64") tune("icelake-server") features(["avx2", "fma", "f16c", "bmi2", "avx512f", "avx512bw", "avx512dq", "avx512vl"]) {
  device.memory @dram scope("device") capacity_bytes(8589934592) bytes_per_cycle(12) transaction_bytes(64) jump_cycles(45) prefetch_streams(16) host("memory")
  device.memory @l3 scope("device") capacity_bytes(33554432) caches(@dram) bytes_per_cycle(28) transaction_bytes(64) jump_cycles(45) prefetch_streams(16) host("l3")
  device.memory @l2 scope("core") capacity_bytes(1048576) caches(@l3) bytes_per_cycle(60) transaction_bytes(64) way_bytes(65536) host("l2")
  device.memory @l1 scope("core") capacity_bytes(32768) caches(@l2) bytes_per_cycle(128) transaction_bytes(64) way_bytes(4096) host("l1d")
  // 32 registers of 64 bytes.
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)

  // Eight tile registers of 16 rows of 64 bytes, where the processor has AMX.
  device.memory @tmm scope("thread") capacity_bytes(8192) register_bytes(1024) row_bytes(64)

  // Workers that sleep between runs: waking one takes microseconds.
  // A wait across workers that spin takes 124 ns (bench/results/pool.json).
  device.unit @core count(2) clock_mhz(3800) handover_cycles(20000) wait_cycles(470) host("cores")

  // Two loads and one store of a register every cycle.
  device.move @load from @dram to @vreg issue_cycles(5.000000e-01) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.000000e+00) latency_cycles(7) strided
  // The same past the caches: a line is written without being read first.
  device.move @stream from @vreg to @dram issue_cycles(1.000000e+00) latency_cycles(7) strided streams
  // Lanes of several registers into one, by shuffles that neighbours share.
  device.move @gather from @vreg to @vreg issue_cycles(4.000000e+00) latency_cycles(12) strided

  // Tile registers: rows of 64 bytes, two loads a cycle and one store. The latency of the store was not measured.
  device.move @tile_load from @dram to @tmm issue_cycles(8.000000e+00) latency_cycles(45) strided fills
  lowering {
  ^bb0(%at: !llvm.ptr, %distance: i64):
    %rows = llvm.mlir.constant(16 : i16) : i16
    %bytes = llvm.mlir.constant(64 : i16) : i16
    %t = llvm.call_intrinsic "llvm.x86.tileloadd64.internal"(%rows, %bytes, %at, %distance) : (i16, i16, !llvm.ptr, i64) -> !llvm.x86_amx
    %v = llvm.call_intrinsic "llvm.x86.cast.tile.to.vector.v256i32"(%t) : (!llvm.x86_amx) -> !i32_tile
    device.yield %v : !i32_tile
  }
  device.move @tile_store from @tmm to @dram issue_cycles(1.600000e+01) latency_cycles(20) strided
  lowering {
  ^bb0(%v: !i32_tile, %at: !llvm.ptr, %distance: i64):
    %rows = llvm.mlir.constant(16 : i16) : i16
    %bytes = llvm.mlir.constant(64 : i16) : i16
    %t = llvm.call_intrinsic "llvm.x86.cast.vector.to.tile.v256i32"(%v) : (!i32_tile) -> !llvm.x86_amx
    llvm.call_intrinsic "llvm.x86.tilestored64.internal"(%rows, %bytes, %at, %distance, %t) : (i16, i16, !llvm.ptr, i64, !llvm.x86_amx) -> ()
    device.yield
  }

  // Divisions and roots of f32 as in LLVM's model of Skylake, by llvm-mca
  // -mcpu=skylake-avx512 -instruction-tables (6 and 10 on Zen 4).
  // `member_cycles` as on Zen 3 (x86-avx2.mlir), not measured with AVX-512.
  device.lanes @valu on @core in @vreg issue_cycles(5.000000e-01) latency_cycles(4)
    types([f64, f32, f16, bf16, i64, i32, i16, i8])
    operations([
      "arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf", "arith.maximumf",
      "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.remf", "arith.cmpf",
      "arith.select", "arith.extf", "arith.truncf", "arith.sitofp", "arith.uitofp",
      "arith.fptosi", "arith.fptoui", "arith.bitcast", "arith.addi", "arith.subi", "arith.muli",
      "arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.floordivsi",
      "arith.ceildivsi", "arith.ceildivui", "arith.andi", "arith.ori", "arith.xori",
      "arith.shli", "arith.shrsi", "arith.shrui", "arith.maxsi", "arith.minsi", "arith.maxui",
      "arith.minui", "arith.cmpi", "arith.extsi", "arith.extui", "arith.trunci",
      "arith.index_cast", "arith.index_castui", "math.fma", "math.sqrt", "math.absf",
      "math.absi", "math.floor", "math.ceil", "math.trunc", "math.roundeven", "math.copysign",
      "math.ctpop", "math.ctlz", "math.cttz", "llvm.intr.ldexp"
    ]) reductions([
      "arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
      "arith.minnumf", "arith.addi", "arith.muli", "arith.maxsi", "arith.minsi", "arith.maxui",
      "arith.minui", "arith.andi", "arith.ori", "arith.xori"
    ])
    operation_cycles({arith.divf = 10.0, math.sqrt = 12.0}) member_cycles(20.0)

  // c += a * b with one a for all lanes; fused, so it rounds once where the meaning rounds twice.
  device.instruction @vfma_f32 on @core operands([@dram, @vreg, @vreg])
    issue_cycles(5.000000e-01) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f32>, %b: !f32_lanes, %c: !f32_lanes):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : tensor<f32>, !f32_lanes) outs(%c : !f32_lanes) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> !f32_lanes
    device.yield %d : !f32_lanes
  } lowering {
  ^bb0(%a: f32, %b: !f32_vector, %c: !f32_vector):
    %s = vector.broadcast %a : f32 to !f32_vector
    %d = vector.fma %s, %b, %c : !f32_vector
    device.yield %d : !f32_vector
  }

  // c += a * b, lane by lane.
  device.instruction @vfmavv_f32 on @core operands([@vreg, @vreg, @vreg])
    issue_cycles(5.000000e-01) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: !f32_lanes, %b: !f32_lanes, %c: !f32_lanes):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : !f32_lanes, !f32_lanes) outs(%c : !f32_lanes) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> !f32_lanes
    device.yield %d : !f32_lanes
  } lowering {
  ^bb0(%a: !f32_vector, %b: !f32_vector, %c: !f32_vector):
    %d = vector.fma %a, %b, %c : !f32_vector
    device.yield %d : !f32_vector
  }

  // The same for f64.
  device.instruction @vfma_f64 on @core operands([@dram, @vreg, @vreg])
    issue_cycles(5.000000e-01) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f64>, %b: !f64_lanes, %c: !f64_lanes):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : tensor<f64>, !f64_lanes) outs(%c : !f64_lanes) {
    ^bb0(%x: f64, %y: f64, %z: f64):
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %z, %p : f64
      linalg.yield %s : f64
    } -> !f64_lanes
    device.yield %d : !f64_lanes
  } lowering {
  ^bb0(%a: f64, %b: !f64_vector, %c: !f64_vector):
    %s = vector.broadcast %a : f64 to !f64_vector
    %d = vector.fma %s, %b, %c : !f64_vector
    device.yield %d : !f64_vector
  }

  // The same for f64, lane by lane.
  device.instruction @vfmavv_f64 on @core operands([@vreg, @vreg, @vreg])
    issue_cycles(5.000000e-01) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: !f64_lanes, %b: !f64_lanes, %c: !f64_lanes):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : !f64_lanes, !f64_lanes) outs(%c : !f64_lanes) {
    ^bb0(%x: f64, %y: f64, %z: f64):
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %z, %p : f64
      linalg.yield %s : f64
    } -> !f64_lanes
    device.yield %d : !f64_lanes
  } lowering {
  ^bb0(%a: !f64_vector, %b: !f64_vector, %c: !f64_vector):
    %d = vector.fma %a, %b, %c : !f64_vector
    device.yield %d : !f64_vector
  }

  // Four products of bytes added to each of 16 sums. Ice Lake and Zen 4 on, two a cycle. The number in the
  // intrinsic's name is the width of a register in bits.
  device.instruction @vpdpbusd on @core operands([@dram, @vreg, @vreg])
    issue_cycles(5.000000e-01) latency_cycles(5) requires(["avx512vnni"])
  meaning {
  ^bb0(%a: tensor<4xi8>, %b: !i8_quads, %c: !i32_lanes):
    %d = linalg.generic {
      indexing_maps = [affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%a, %b : tensor<4xi8>, !i8_quads) outs(%c : !i32_lanes) {
    ^bb0(%x: i8, %y: i8, %z: i32):
      %u = arith.extui %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %z, %p : i32
      linalg.yield %s : i32
    } -> !i32_lanes
    device.yield %d : !i32_lanes
  } lowering {
  ^bb0(%a: vector<4xi8>, %b: !i8_vector, %c: !i32_vector):
    %w = vector.bitcast %a : vector<4xi8> to vector<1xi32>
    %s = vector.broadcast %w : vector<1xi32> to !i32_vector
    %q = vector.bitcast %s : !i32_vector to !i8_vector
    %d = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"(%c, %q, %b) : (!i32_vector, !i8_vector, !i8_vector) -> !i32_vector
    device.yield %d : !i32_vector
  }

  // Two products of bf16 added to each of 16 sums of f32. Cooper Lake and Zen 4 on: two a cycle on Zen 4, one in two
  // cycles on Sapphire Rapids. Of factors that are no normal numbers it takes zeros, and it adds both products before
  // the sum.
  device.instruction @vdpbf16ps on @core operands([@dram, @vreg, @vreg])
    issue_cycles(1.000000e+00) latency_cycles(6) requires(["avx512bf16"])
    accuracy(["rounding", "accumulation_order", "flush_to_zero"])
  meaning {
  ^bb0(%a: tensor<2xbf16>, %b: !bf16_pairs, %c: !f32_lanes):
    %d = linalg.generic {
      indexing_maps = [affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%a, %b : tensor<2xbf16>, !bf16_pairs) outs(%c : !f32_lanes) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> !f32_lanes
    device.yield %d : !f32_lanes
  } lowering {
  ^bb0(%a: vector<2xbf16>, %b: !bf16_vector, %c: !f32_vector):
    %w = vector.bitcast %a : vector<2xbf16> to vector<1xi32>
    %s = vector.broadcast %w : vector<1xi32> to !i32_vector
    %q = vector.bitcast %s : !i32_vector to !bf16_vector
    %d = llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"(%c, %q, %b) : (!f32_vector, !bf16_vector, !bf16_vector) -> !f32_vector
    device.yield %d : !f32_vector
  }

  // Products of bytes of tiles: 64 for each of 16 x 16 sums. Sapphire Rapids on, one in 16 cycles.
  device.instruction @tdpbusd on @core operands([@tmm, @tmm, @tmm])
    issue_cycles(1.600000e+01) latency_cycles(52) requires(["amx-int8", "amx-tile"])
  meaning {
  ^bb0(%a: tensor<16x16x4xi8>, %b: tensor<16x16x4xi8>, %c: tensor<16x16xi32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(m, n, k, q) -> (m, k, q)>, affine_map<(m, n, k, q) -> (k, n, q)>, affine_map<(m, n, k, q) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]
    } ins(%a, %b : tensor<16x16x4xi8>, tensor<16x16x4xi8>) outs(%c : tensor<16x16xi32>) {
    ^bb0(%x: i8, %y: i8, %z: i32):
      %u = arith.extui %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %z, %p : i32
      linalg.yield %s : i32
    } -> tensor<16x16xi32>
    device.yield %d : tensor<16x16xi32>
  } lowering {
  ^bb0(%a: !i8_tile, %b: !i8_tile, %c: !i32_tile):
    %side = llvm.mlir.constant(16 : i16) : i16
    %bytes = llvm.mlir.constant(64 : i16) : i16
    %aw = vector.bitcast %a : !i8_tile to !i32_tile
    %bw = vector.bitcast %b : !i8_tile to !i32_tile
    %at = llvm.call_intrinsic "llvm.x86.cast.vector.to.tile.v256i32"(%aw) : (!i32_tile) -> !llvm.x86_amx
    %bt = llvm.call_intrinsic "llvm.x86.cast.vector.to.tile.v256i32"(%bw) : (!i32_tile) -> !llvm.x86_amx
    %ct = llvm.call_intrinsic "llvm.x86.cast.vector.to.tile.v256i32"(%c) : (!i32_tile) -> !llvm.x86_amx
    %dt = llvm.call_intrinsic "llvm.x86.tdpbusd.internal"(%side, %bytes, %bytes, %ct, %at, %bt) : (i16, i16, i16, !llvm.x86_amx, !llvm.x86_amx, !llvm.x86_amx) -> !llvm.x86_amx
    %d = llvm.call_intrinsic "llvm.x86.cast.tile.to.vector.v256i32"(%dt) : (!llvm.x86_amx) -> !i32_tile
    device.yield %d : !i32_tile
  }

  // Products of bf16 of tiles: 32 for each of 16 x 16 sums of f32. Numbers that are no normal ones count as zeros, and
  // pairs are added before the sum.
  device.instruction @tdpbf16ps on @core operands([@tmm, @tmm, @tmm])
    issue_cycles(1.600000e+01) latency_cycles(52) requires(["amx-bf16", "amx-tile"])
    accuracy(["rounding", "accumulation_order", "flush_to_zero"])
  meaning {
  ^bb0(%a: tensor<16x16x2xbf16>, %b: tensor<16x16x2xbf16>, %c: tensor<16x16xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(m, n, k, q) -> (m, k, q)>, affine_map<(m, n, k, q) -> (k, n, q)>, affine_map<(m, n, k, q) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "reduction"]
    } ins(%a, %b : tensor<16x16x2xbf16>, tensor<16x16x2xbf16>) outs(%c : tensor<16x16xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x16xf32>
    device.yield %d : tensor<16x16xf32>
  } lowering {
  ^bb0(%a: !bf16_tile, %b: !bf16_tile, %c: !f32_tile):
    %side = llvm.mlir.constant(16 : i16) : i16
    %bytes = llvm.mlir.constant(64 : i16) : i16
    %aw = vector.bitcast %a : !bf16_tile to !i32_tile
    %bw = vector.bitcast %b : !bf16_tile to !i32_tile
    %cw = vector.bitcast %c : !f32_tile to !i32_tile
    %at = llvm.call_intrinsic "llvm.x86.cast.vector.to.tile.v256i32"(%aw) : (!i32_tile) -> !llvm.x86_amx
    %bt = llvm.call_intrinsic "llvm.x86.cast.vector.to.tile.v256i32"(%bw) : (!i32_tile) -> !llvm.x86_amx
    %ct = llvm.call_intrinsic "llvm.x86.cast.vector.to.tile.v256i32"(%cw) : (!i32_tile) -> !llvm.x86_amx
    %dt = llvm.call_intrinsic "llvm.x86.tdpbf16ps.internal"(%side, %bytes, %bytes, %ct, %at, %bt) : (i16, i16, i16, !llvm.x86_amx, !llvm.x86_amx, !llvm.x86_amx) -> !llvm.x86_amx
    %dw = llvm.call_intrinsic "llvm.x86.cast.tile.to.vector.v256i32"(%dt) : (!llvm.x86_amx) -> !i32_tile
    %d = vector.bitcast %dw : !i32_tile to !f32_tile
    device.yield %d : !f32_tile
  }
}
