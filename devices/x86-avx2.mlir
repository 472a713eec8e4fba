// An x86-64 core with AVX2 and FMA.
//
// What the processor is; how it is used is decided in passes. Counts and cache
// sizes marked `host` are read from the machine that compiles for itself.

// The width of a register, in elements: change these and @vreg together.
!f32_lanes = tensor<8xf32>
!f32_vector = vector<8xf32>
!f64_lanes = tensor<4xf64>
!f64_vector = vector<4xf64>
!i32_lanes = tensor<8xi32>
!i32_vector = vector<8xi32>
!i8_quads = tensor<8x4xi8>
!i8_vector = vector<32xi8>
!i16_vector = vector<16xi16>

device.machine @x86_avx2 arch("x86-64") features(["avx2", "fma", "f16c", "bmi2"]) {
  // Rates of one core by bench/rates.c on Zen 3. @l3 gives 17 to 25 bytes a cycle, and takes 16 to 21, as others
  // that share it allow.
  device.memory @dram scope("device") capacity_bytes(8589934592) bytes_per_cycle(7) store_bytes_per_cycle(5) transaction_bytes(64) jump_cycles(45) prefetch_streams(16) host("memory")
  device.memory @l3 scope("device") capacity_bytes(33554432) caches(@dram) bytes_per_cycle(20) store_bytes_per_cycle(18) transaction_bytes(64) jump_cycles(45) prefetch_streams(16) host("l3")
  device.memory @l2 scope("core") capacity_bytes(1048576) caches(@l3) bytes_per_cycle(32) store_bytes_per_cycle(31) transaction_bytes(64) way_bytes(65536) host("l2")
  device.memory @l1 scope("core") capacity_bytes(32768) caches(@l2) bytes_per_cycle(64) transaction_bytes(64) way_bytes(4096) host("l1d")
  // 16 registers of 32 bytes.
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)

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

  // Divisions and roots of f32 as in LLVM's model of Skylake, by llvm-mca
  // -mcpu=skylake-avx512 -instruction-tables (3 and 5 on Zen 4).
  // `member_cycles` by `weft bench` on Zen 3: rows of a softmax of 1536 x 32 in tiles of 6 take 2.6 to 4 us more
  // than in tiles of 12, for 512 more tiles of members, so 17 to 27 cycles each.
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
      "math.ctpop", "math.ctlz", "math.cttz"
    ]) reductions([
      "arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
      "arith.minnumf", "arith.addi", "arith.muli", "arith.maxsi", "arith.minsi", "arith.maxui",
      "arith.minui", "arith.andi", "arith.ori", "arith.xori"
    ])
    operation_cycles({arith.divf = 5.0, math.sqrt = 6.0}) member_cycles(20.0)

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

  // Four products of bytes added to each of 8 sums: AVX-VNNI, of Alder Lake, Sapphire Rapids and Zen 5 on, two a
  // cycle. The number in the intrinsic's name is the width of a register in bits; AVX-512 calls it the same.
  device.instruction @vpdpbusd on @core operands([@dram, @vreg, @vreg])
    issue_cycles(5.000000e-01) latency_cycles(5) requires(["avxvnni"])
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
    %d = llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"(%c, %q, %b) : (!i32_vector, !i8_vector, !i8_vector) -> !i32_vector
    device.yield %d : !i32_vector
  }

  // The same without AVX-VNNI, exactly: bytes of even and odd places are widened to 16 bits, and pairs of products of
  // those added up. Rows and columns of a tile share what is widened; two vpmaddwd and two vpaddd remain.
  device.instruction @vpmaddwd on @core operands([@dram, @vreg, @vreg])
    issue_cycles(2.000000e+00) latency_cycles(7)
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
    %byte = arith.constant dense<8> : !i16_vector
    %low = arith.constant dense<255> : !i16_vector
    %w = vector.bitcast %a : vector<4xi8> to vector<1xi32>
    %s = vector.broadcast %w : vector<1xi32> to !i32_vector
    %q = vector.bitcast %s : !i32_vector to !i16_vector
    %a_even = arith.andi %q, %low : !i16_vector
    %a_odd = arith.shrui %q, %byte : !i16_vector
    %r = vector.bitcast %b : !i8_vector to !i16_vector
    %up = arith.shli %r, %byte : !i16_vector
    %b_even = arith.shrsi %up, %byte : !i16_vector
    %b_odd = arith.shrsi %r, %byte : !i16_vector
    %even = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%a_even, %b_even) : (!i16_vector, !i16_vector) -> !i32_vector
    %odd = llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"(%a_odd, %b_odd) : (!i16_vector, !i16_vector) -> !i32_vector
    %part = arith.addi %c, %even : !i32_vector
    %d = arith.addi %part, %odd : !i32_vector
    device.yield %d : !i32_vector
  }
}
