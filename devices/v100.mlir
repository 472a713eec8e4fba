// NVIDIA V100, 32 GB, SXM2.
//
// What the chip is; how it is used is decided in passes. Sources: "NVIDIA Tesla V100 GPU
// Architecture" (white paper, 2017): counts, clocks, rates; "CUDA C++ Programming Guide", table
// "Technical Specifications per Compute Capability": registers, shared memory; "Parallel Thread
// Execution ISA": fragments. Cycles are those of a multiprocessor; latencies as Jia et al.,
// "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (2018), measured them.

device.machine @v100 arch("sm_70") features(["ptx64"]) {
  // 900 GB/s at 1530 MHz.
  device.memory @global scope("device") capacity_bytes(34359738368) bytes_per_cycle(588) transaction_bytes(32)
  device.memory @l2 scope("device") capacity_bytes(6291456) caches(@global) bytes_per_cycle(2048) transaction_bytes(32)
  // What one block may have of the 128 KiB that shared memory has in common with level 1.
  device.memory @smem scope("core") capacity_bytes(98304) bytes_per_cycle(128) banks(32) bank_bytes(4) static_bytes(49152)
  // 255 registers of 32 bits for each of the 32 threads of a warp.
  device.memory @reg scope("warp") capacity_bytes(32640) register_bytes(128) lanes(32) core_bytes(262144)
  // Starting a warp costs little, and many hide latency.
  // A wait is a store and a load past the unit's own caches; empty launches of one stream come
  // about 3 microseconds after each other (makers' developer forums).
  // A barrier of eight groups: a tenth of a load from far away, an estimate.
  device.unit @sm count(80) clock_mhz(1530) partitions(4) block_lanes(1024) groups(8) barrier_cycles(38) handover_cycles(50) wait_cycles(750) launch_cycles(4590)

  // One address per lane: a warp's request goes through the load unit in a cycle where it hits.
  device.move @load from @global to @reg issue_cycles(1.000000e+00) latency_cycles(375) strided fills
  device.move @store from @reg to @global issue_cycles(1.000000e+00) latency_cycles(375) strided
  device.move @stage from @global to @smem issue_cycles(2.000000e+00) latency_cycles(375) strided fills
  device.move @unstage from @smem to @global issue_cycles(2.000000e+00) latency_cycles(375) strided
  device.move @smem_load from @smem to @reg issue_cycles(1.000000e+00) latency_cycles(19) strided
  device.move @smem_store from @reg to @smem issue_cycles(1.000000e+00) latency_cycles(19) strided
  // Registers of the same thread under other names: what one instruction left is what another takes.
  device.move @relabel from @reg to @reg strided

  // 64 lanes in f32 and i32 a cycle.
  device.lanes @valu on @sm in @reg issue_cycles(5.000000e-01) latency_cycles(4)
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
    operation_cycles({math.exp2 = 2.0})

  // c += a * b with one a for all lanes; fused, so it rounds once where the meaning rounds twice.
  device.instruction @fma_f32 on @sm operands([@global, @reg, @reg])
    fragments([unit, affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>])
    issue_cycles(5.000000e-01) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f32>, %b: tensor<32xf32>, %c: tensor<32xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : tensor<f32>, tensor<32xf32>) outs(%c : tensor<32xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    device.yield %d : tensor<32xf32>
  } lowering {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = math.fma %a, %b, %c : f32
    device.yield %d : f32
  }

  // c += a * b, lane by lane.
  device.instruction @fmavv_f32 on @sm operands([@reg, @reg, @reg])
    fragments([affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>])
    issue_cycles(5.000000e-01) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<32xf32>, %b: tensor<32xf32>, %c: tensor<32xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : tensor<32xf32>, tensor<32xf32>) outs(%c : tensor<32xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<32xf32>
    device.yield %d : tensor<32xf32>
  } lowering {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %d = math.fma %a, %b, %c : f32
    device.yield %d : f32
  }

  // The same for f64.
  device.instruction @fma_f64 on @sm operands([@global, @reg, @reg])
    fragments([unit, affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>])
    issue_cycles(1.000000e+00) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f64>, %b: tensor<32xf64>, %c: tensor<32xf64>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : tensor<f64>, tensor<32xf64>) outs(%c : tensor<32xf64>) {
    ^bb0(%x: f64, %y: f64, %z: f64):
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %z, %p : f64
      linalg.yield %s : f64
    } -> tensor<32xf64>
    device.yield %d : tensor<32xf64>
  } lowering {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %d = math.fma %a, %b, %c : f64
    device.yield %d : f64
  }

  // The same for f64, lane by lane.
  device.instruction @fmavv_f64 on @sm operands([@reg, @reg, @reg])
    fragments([affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>])
    issue_cycles(1.000000e+00) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<32xf64>, %b: tensor<32xf64>, %c: tensor<32xf64>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]
    } ins(%a, %b : tensor<32xf64>, tensor<32xf64>) outs(%c : tensor<32xf64>) {
    ^bb0(%x: f64, %y: f64, %z: f64):
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %z, %p : f64
      linalg.yield %s : f64
    } -> tensor<32xf64>
    device.yield %d : tensor<32xf64>
  } lowering {
  ^bb0(%a: f64, %b: f64, %c: f64):
    %d = math.fma %a, %b, %c : f64
    device.yield %d : f64
  }

  // PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type": a warp does four
  // products of 8 x 8 x 4, each in a pair of quads (lanes 0-3 with 16-19, and so on). Here
  // they are the quarters of one sum of 16 x 16, so two quad pairs hold the same factor.
  device.instruction @mma_m16n16k4_f16 on @sm operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (8 * ((l floordiv 8) mod 2) + 4 * (l floordiv 16) + l mod 4, s)>,
      affine_map<(l, s) -> (s, 8 * ((l floordiv 4) mod 2) + 4 * (l floordiv 16) + l mod 4)>,
      affine_map<(l, s) -> (8 * ((l floordiv 8) mod 2) + 4 * (l floordiv 16) + l mod 2 + 2 * ((s floordiv 2) mod 2), 8 * ((l floordiv 4) mod 2) + 4 * (s floordiv 4) + 2 * ((l floordiv 2) mod 2) + s mod 2)>
    ])
    issue_cycles(2.000000e+00) latency_cycles(33) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<16x4xf16>, %b: tensor<4x16xf16>, %c: tensor<16x16xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x4xf16>, tensor<4x16xf16>) outs(%c : tensor<16x16xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x16xf32>
    device.yield %d : tensor<16x16xf32>
  } lowering {
  ^bb0(%a: vector<4xf16>, %b: vector<4xf16>, %c: vector<8xf32>):
    %a0 = vector.extract_strided_slice %a {offsets = [0], sizes = [2], strides = [1]} : vector<4xf16> to vector<2xf16>
    %a1 = vector.extract_strided_slice %a {offsets = [2], sizes = [2], strides = [1]} : vector<4xf16> to vector<2xf16>
    %b0 = vector.extract_strided_slice %b {offsets = [0], sizes = [2], strides = [1]} : vector<4xf16> to vector<2xf16>
    %b1 = vector.extract_strided_slice %b {offsets = [2], sizes = [2], strides = [1]} : vector<4xf16> to vector<2xf16>
    %ce:8 = vector.to_elements %c : vector<8xf32>
    %r = nvvm.mma.sync A[%a0, %a1] B[%b0, %b1] C[%ce#0, %ce#1, %ce#2, %ce#3, %ce#4, %ce#5, %ce#6, %ce#7]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 8, n = 8, k = 4>}
      : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %d0 = llvm.extractvalue %r[0] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %d1 = llvm.extractvalue %r[1] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %d2 = llvm.extractvalue %r[2] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %d3 = llvm.extractvalue %r[3] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %d4 = llvm.extractvalue %r[4] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %d5 = llvm.extractvalue %r[5] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %d6 = llvm.extractvalue %r[6] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %d7 = llvm.extractvalue %r[7] : !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32)>
    %d = vector.from_elements %d0, %d1, %d2, %d3, %d4, %d5, %d6, %d7 : vector<8xf32>
    device.yield %d : vector<8xf32>
  }
}
