// AMD Instinct MI300X.
//
// What the chip is; how it is used is decided in passes. Sources: "AMD CDNA 3 Architecture" (white paper,
// 2023): counts, clocks, rates, memories; "AMD Instinct MI300 Instruction Set Architecture":
// registers, matrix instructions; "AMD Matrix Instruction Calculator": fragments.
// Cycles are those of a compute unit, whose four SIMDs work side by side; latencies are
// measured ones, rounded.

device.machine @mi300x arch("gfx942") features([]) {
  // 5.3 TB/s at 2100 MHz.
  device.memory @global scope("device") capacity_bytes(206158430208) bytes_per_cycle(2523) transaction_bytes(64)
  // The Infinity Cache, 17.2 TB/s, and the level 2 of the eight dies.
  device.memory @l3 scope("device") capacity_bytes(268435456) caches(@global) bytes_per_cycle(8192) transaction_bytes(64)
  device.memory @l2 scope("cluster") capacity_bytes(4194304) caches(@l3) bytes_per_cycle(2048) transaction_bytes(128)
  device.memory @lds scope("core") capacity_bytes(65536) bytes_per_cycle(128) banks(32) bank_bytes(4)
  // 512 registers of 32 bits, those for accumulation among them, for each of 64 lanes.
  device.memory @reg scope("warp") capacity_bytes(131072) register_bytes(256) lanes(64) core_bytes(524288)
  // Starting a wavefront costs little, and many hide latency.
  // A wait is a store and a load past the unit's own caches; empty launches of one stream come
  // about 3 microseconds after each other (makers' developer forums).
  // A barrier of eight groups: a tenth of a load from far away, an estimate.
  device.unit @cu count(304) clock_mhz(2100) partitions(4) block_lanes(1024) groups(8) turns(2) barrier_cycles(60) handover_cycles(50) wait_cycles(1200) launch_cycles(6300)

  // One address per lane: a warp's request goes through the load unit in a cycle where it hits.
  device.move @load from @global to @reg issue_cycles(2.000000e+00) latency_cycles(600) strided fills
  device.move @store from @reg to @global issue_cycles(2.000000e+00) latency_cycles(600) strided
  device.move @stage from @global to @lds issue_cycles(3.000000e+00) latency_cycles(600) strided fills
  device.move @unstage from @lds to @global issue_cycles(3.000000e+00) latency_cycles(600) strided
  device.move @lds_load from @lds to @reg issue_cycles(1.000000e+00) latency_cycles(64) strided
  device.move @lds_store from @reg to @lds issue_cycles(1.000000e+00) latency_cycles(64) strided
  // Registers of the same thread under other names: what one instruction left is what another takes.
  device.move @relabel from @reg to @reg strided

  // 64 lanes in f32 a cycle, on four SIMDs that take four cycles each.
  device.lanes @valu on @cu in @reg issue_cycles(1.000000e+00) latency_cycles(4)
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
      "math.ctpop", "math.ctlz", "math.cttz", "math.exp2"
    ]) reductions([
      "arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
      "arith.minnumf", "arith.addi", "arith.muli", "arith.maxsi", "arith.minsi", "arith.maxui",
      "arith.minui", "arith.andi", "arith.ori", "arith.xori"
    ])
    // 16 lanes a cycle.
    operation_cycles({math.exp2 = 4.0})

  // c += a * b with one a for all lanes; fused, so it rounds once where the meaning rounds twice.
  device.instruction @fma_f32 on @cu operands([@global, @reg, @reg])
    fragments([unit, affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>])
    issue_cycles(1.000000e+00) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f32>, %b: tensor<64xf32>, %c: tensor<64xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : tensor<f32>, tensor<64xf32>) outs(%c : tensor<64xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    device.yield %d : tensor<64xf32>
  } lowering {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = math.fma %a, %b, %c : f32
    device.yield %d : f32
  }

  // c += a * b, lane by lane.
  device.instruction @fmavv_f32 on @cu operands([@reg, @reg, @reg])
    fragments([affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>])
    issue_cycles(1.000000e+00) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>, %c: tensor<64xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : tensor<64xf32>, tensor<64xf32>) outs(%c : tensor<64xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    device.yield %d : tensor<64xf32>
  } lowering {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = math.fma %a, %b, %c : f32
    device.yield %d : f32
  }

  // The same for f64.
  device.instruction @fma_f64 on @cu operands([@global, @reg, @reg])
    fragments([unit, affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>])
    issue_cycles(1.000000e+00) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f64>, %b: tensor<64xf64>, %c: tensor<64xf64>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : tensor<f64>, tensor<64xf64>) outs(%c : tensor<64xf64>) {
    ^bb0(%x: f64, %y: f64, %z: f64):
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %z, %p : f64
      linalg.yield %s : f64
    } -> tensor<64xf64>
    device.yield %d : tensor<64xf64>
  } lowering {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %d = math.fma %a, %b, %c : f64
    device.yield %d : f64
  }

  // The same for f64, lane by lane.
  device.instruction @fmavv_f64 on @cu operands([@reg, @reg, @reg])
    fragments([affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>])
    issue_cycles(1.000000e+00) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<64xf64>, %b: tensor<64xf64>, %c: tensor<64xf64>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : tensor<64xf64>, tensor<64xf64>) outs(%c : tensor<64xf64>) {
    ^bb0(%x: f64, %y: f64, %z: f64):
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %z, %p : f64
      linalg.yield %s : f64
    } -> tensor<64xf64>
    device.yield %d : tensor<64xf64>
  } lowering {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %d = math.fma %a, %b, %c : f64
    device.yield %d : f64
  }

  // AMD Matrix Instruction Calculator, v_mfma_f32_16x16x4_f32.
  device.instruction @mfma_16x16x4_f32 on @cu operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l mod 16, l floordiv 16)>,
      affine_map<(l, s) -> (l floordiv 16, l mod 16)>,
      affine_map<(l, s) -> (4 * (l floordiv 16) + s, l mod 16)>
    ])
    issue_cycles(8.000000e+00) latency_cycles(32) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<16x4xf32>, %b: tensor<4x16xf32>, %c: tensor<16x16xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x4xf32>, tensor<4x16xf32>) outs(%c : tensor<16x16xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x16xf32>
    device.yield %d : tensor<16x16xf32>
  } lowering {
  ^bb0(%a: f32, %b: f32, %c: vector<4xf32>):
    %none = arith.constant 0 : i32
    %d = rocdl.mfma.f32.16x16x4f32 %a, %b, %c, %none, %none, %none
      : (f32, f32, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
    device.yield %d : vector<4xf32>
  }

  // v_mfma_f32_32x32x2_f32.
  device.instruction @mfma_32x32x2_f32 on @cu operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l mod 32, l floordiv 32)>,
      affine_map<(l, s) -> (l floordiv 32, l mod 32)>,
      affine_map<(l, s) -> (8 * (s floordiv 4) + 4 * (l floordiv 32) + s mod 4, l mod 32)>
    ])
    issue_cycles(1.600000e+01) latency_cycles(64) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<32x2xf32>, %b: tensor<2x32xf32>, %c: tensor<32x32xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<32x2xf32>, tensor<2x32xf32>) outs(%c : tensor<32x32xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<32x32xf32>
    device.yield %d : tensor<32x32xf32>
  } lowering {
  ^bb0(%a: f32, %b: f32, %c: vector<16xf32>):
    %none = arith.constant 0 : i32
    %d = rocdl.mfma.f32.32x32x2f32 %a, %b, %c, %none, %none, %none
      : (f32, f32, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
    device.yield %d : vector<16xf32>
  }

  // v_mfma_f32_16x16x16_f16.
  device.instruction @mfma_16x16x16_f16 on @cu operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l mod 16, 4 * (l floordiv 16) + s)>,
      affine_map<(l, s) -> (4 * (l floordiv 16) + s, l mod 16)>,
      affine_map<(l, s) -> (4 * (l floordiv 16) + s, l mod 16)>
    ])
    issue_cycles(4.000000e+00) latency_cycles(16) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x16xf16>, tensor<16x16xf16>) outs(%c : tensor<16x16xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x16xf32>
    device.yield %d : tensor<16x16xf32>
  } lowering {
  ^bb0(%a: vector<4xf16>, %b: vector<4xf16>, %c: vector<4xf32>):
    %none = arith.constant 0 : i32
    %d = rocdl.mfma.f32.16x16x16f16 %a, %b, %c, %none, %none, %none
      : (vector<4xf16>, vector<4xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
    device.yield %d : vector<4xf32>
  }

  // v_mfma_f32_32x32x8_f16.
  device.instruction @mfma_32x32x8_f16 on @cu operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l mod 32, 4 * (l floordiv 32) + s)>,
      affine_map<(l, s) -> (4 * (l floordiv 32) + s, l mod 32)>,
      affine_map<(l, s) -> (8 * (s floordiv 4) + 4 * (l floordiv 32) + s mod 4, l mod 32)>
    ])
    issue_cycles(8.000000e+00) latency_cycles(32) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<32x8xf16>, %b: tensor<8x32xf16>, %c: tensor<32x32xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<32x8xf16>, tensor<8x32xf16>) outs(%c : tensor<32x32xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<32x32xf32>
    device.yield %d : tensor<32x32xf32>
  } lowering {
  ^bb0(%a: vector<4xf16>, %b: vector<4xf16>, %c: vector<16xf32>):
    %none = arith.constant 0 : i32
    %d = rocdl.mfma.f32.32x32x8f16 %a, %b, %c, %none, %none, %none
      : (vector<4xf16>, vector<4xf16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
    device.yield %d : vector<16xf32>
  }

  // v_mfma_f32_16x16x16_bf16.
  device.instruction @mfma_16x16x16_bf16 on @cu operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l mod 16, 4 * (l floordiv 16) + s)>,
      affine_map<(l, s) -> (4 * (l floordiv 16) + s, l mod 16)>,
      affine_map<(l, s) -> (4 * (l floordiv 16) + s, l mod 16)>
    ])
    issue_cycles(4.000000e+00) latency_cycles(16) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<16x16xbf16>, %b: tensor<16x16xbf16>, %c: tensor<16x16xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x16xbf16>, tensor<16x16xbf16>) outs(%c : tensor<16x16xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x16xf32>
    device.yield %d : tensor<16x16xf32>
  } lowering {
  ^bb0(%a: vector<4xbf16>, %b: vector<4xbf16>, %c: vector<4xf32>):
    %none = arith.constant 0 : i32
    %aw = arith.bitcast %a : vector<4xbf16> to vector<4xi16>
    %bw = arith.bitcast %b : vector<4xbf16> to vector<4xi16>
    %d = rocdl.mfma.f32.16x16x16bf16.1k %aw, %bw, %c, %none, %none, %none
      : (vector<4xi16>, vector<4xi16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
    device.yield %d : vector<4xf32>
  }

  // v_mfma_f32_32x32x8_bf16.
  device.instruction @mfma_32x32x8_bf16 on @cu operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l mod 32, 4 * (l floordiv 32) + s)>,
      affine_map<(l, s) -> (4 * (l floordiv 32) + s, l mod 32)>,
      affine_map<(l, s) -> (8 * (s floordiv 4) + 4 * (l floordiv 32) + s mod 4, l mod 32)>
    ])
    issue_cycles(8.000000e+00) latency_cycles(32) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<32x8xbf16>, %b: tensor<8x32xbf16>, %c: tensor<32x32xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<32x8xbf16>, tensor<8x32xbf16>) outs(%c : tensor<32x32xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<32x32xf32>
    device.yield %d : tensor<32x32xf32>
  } lowering {
  ^bb0(%a: vector<4xbf16>, %b: vector<4xbf16>, %c: vector<16xf32>):
    %none = arith.constant 0 : i32
    %aw = arith.bitcast %a : vector<4xbf16> to vector<4xi16>
    %bw = arith.bitcast %b : vector<4xbf16> to vector<4xi16>
    %d = rocdl.mfma.f32.32x32x8bf16.1k %aw, %bw, %c, %none, %none, %none
      : (vector<4xi16>, vector<4xi16>, vector<16xf32>, i32, i32, i32) -> vector<16xf32>
    device.yield %d : vector<16xf32>
  }

  // v_mfma_i32_16x16x32_i8. Exact; sums wrap.
  device.instruction @mfma_16x16x32_i8 on @cu operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l mod 16, 8 * (l floordiv 16) + s)>,
      affine_map<(l, s) -> (8 * (l floordiv 16) + s, l mod 16)>,
      affine_map<(l, s) -> (4 * (l floordiv 16) + s, l mod 16)>
    ])
    issue_cycles(4.000000e+00) latency_cycles(16) accuracy(["accumulation_order"])
  meaning {
  ^bb0(%a: tensor<16x32xi8>, %b: tensor<32x16xi8>, %c: tensor<16x16xi32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x32xi8>, tensor<32x16xi8>) outs(%c : tensor<16x16xi32>) {
    ^bb0(%x: i8, %y: i8, %z: i32):
      %u = arith.extsi %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %z, %p : i32
      linalg.yield %s : i32
    } -> tensor<16x16xi32>
    device.yield %d : tensor<16x16xi32>
  } lowering {
  ^bb0(%a: vector<8xi8>, %b: vector<8xi8>, %c: vector<4xi32>):
    %none = arith.constant 0 : i32
    %aw = llvm.bitcast %a : vector<8xi8> to i64
    %bw = llvm.bitcast %b : vector<8xi8> to i64
    %d = rocdl.mfma.i32.16x16x32.i8 %aw, %bw, %c, %none, %none, %none
      : (i64, i64, vector<4xi32>, i32, i32, i32) -> vector<4xi32>
    device.yield %d : vector<4xi32>
  }

  // v_mfma_f64_16x16x4_f64: rows of the sum lie otherwise than for f32.
  device.instruction @mfma_16x16x4_f64 on @cu operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l mod 16, l floordiv 16)>,
      affine_map<(l, s) -> (l floordiv 16, l mod 16)>,
      affine_map<(l, s) -> (4 * s + l floordiv 16, l mod 16)>
    ])
    issue_cycles(8.000000e+00) latency_cycles(32) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<16x4xf64>, %b: tensor<4x16xf64>, %c: tensor<16x16xf64>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x4xf64>, tensor<4x16xf64>) outs(%c : tensor<16x16xf64>) {
    ^bb0(%x: f64, %y: f64, %z: f64):
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %z, %p : f64
      linalg.yield %s : f64
    } -> tensor<16x16xf64>
    device.yield %d : tensor<16x16xf64>
  } lowering {
  ^bb0(%a: f64, %b: f64, %c: vector<4xf64>):
    %none = arith.constant 0 : i32
    %d = rocdl.mfma.f64.16x16x4f64 %a, %b, %c, %none, %none, %none
      : (f64, f64, vector<4xf64>, i32, i32, i32) -> vector<4xf64>
    device.yield %d : vector<4xf64>
  }
}
