// NVIDIA V100, as Roller saw it.
//
// Source: the constants of the published implementation (Zhu et al., "ROLLER: Fast and Efficient
// Tensor Compilation for Deep Learning", OSDI 2022). They were measured or chosen by its authors and
// are not the chip's limits: this machine is for comparing candidates with the published ones.
// What is not among them, as latencies, is that of the chip's own file.

device.machine @v100_roller arch("sm_70") features(["ptx64"]) {
  device.memory @global scope("device") capacity_bytes(34359738368) gbytes_per_second(750) transaction_bytes(32)
  // All cores together.
  device.memory @smem scope("core") capacity_bytes(49152) gbytes_per_second(12080) transaction_bytes(128) banks(32) bank_bytes(4)
  // 96 registers of 32 bits a thread, 32768 a block.
  device.memory @reg scope("warp") capacity_bytes(12288) register_bytes(128) lanes(32) core_bytes(131072)
  device.unit @sm count(80) clock_mhz(1530) partitions(4) block_lanes(512) handover_cycles(50)

  // One address per lane: a warp's request goes through the load unit in a cycle where it hits.
  device.move @load from @global to @reg issue_cycles(1.000000e+00) latency_cycles(375) strided fills
  device.move @store from @reg to @global issue_cycles(1.000000e+00) latency_cycles(375) strided
  device.move @stage from @global to @smem issue_cycles(2.000000e+00) latency_cycles(375) strided fills
  device.move @unstage from @smem to @global issue_cycles(2.000000e+00) latency_cycles(375) strided
  device.move @smem_load from @smem to @reg issue_cycles(1.000000e+00) latency_cycles(19) strided
  device.move @smem_store from @reg to @smem issue_cycles(1.000000e+00) latency_cycles(19) strided

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
      "math.ctpop", "math.ctlz", "math.cttz"
    ]) reductions([
      "arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
      "arith.minnumf", "arith.addi", "arith.muli", "arith.maxsi", "arith.minsi", "arith.maxui",
      "arith.minui", "arith.andi", "arith.ori", "arith.xori"
    ])

  // c += a * b with one a for all lanes; fused, so it rounds once where the meaning rounds twice.
  device.instruction @fma_f32 on @sm operands([@global, @reg, @reg])
    fragments([unit, affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>])
    issue_cycles(5.000000e-01) latency_cycles(4) gflops(12480) accuracy(["rounding"])
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
    issue_cycles(5.000000e-01) latency_cycles(4) gflops(12480) accuracy(["rounding"])
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

  // PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16 floating point type": a warp does four
  // products of 8 x 8 x 4, each in a pair of quads (lanes 0-3 with 16-19, and so on). Here
  // they are the quarters of one sum of 16 x 16, so two quad pairs hold the same factor.
  device.instruction @mma_m16n16k4_f16 on @sm operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (8 * ((l floordiv 8) mod 2) + 4 * (l floordiv 16) + l mod 4, s)>,
      affine_map<(l, s) -> (s, 8 * ((l floordiv 4) mod 2) + 4 * (l floordiv 16) + l mod 4)>,
      affine_map<(l, s) -> (8 * ((l floordiv 8) mod 2) + 4 * (l floordiv 16) + l mod 2 + 2 * ((s floordiv 2) mod 2), 8 * ((l floordiv 4) mod 2) + 4 * (s floordiv 4) + 2 * ((l floordiv 2) mod 2) + s mod 2)>
    ])
    issue_cycles(2.000000e+00) latency_cycles(33) gflops(125000) accuracy(["accumulation_order", "rounding"])
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
