// NVIDIA H200, SXM.
//
// What the chip is; how it is used is decided in passes. Sources: "NVIDIA H100 Tensor Core GPU
// Architecture" (white paper, 2022) and "NVIDIA H200 Tensor Core GPU" (data sheet, 2024): counts,
// clocks, rates, memories; "CUDA C++ Programming Guide", table "Technical Specifications per
// Compute Capability": registers, shared memory; "Parallel Thread Execution ISA": fragments and
// descriptors. Cycles are those of a multiprocessor; latencies are measured ones, rounded.

// What a lane of a warpgroup holds of a sum.
!slots32 = !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
!slots64 = !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
!slots96 = !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>
!slots128 = !llvm.struct<(f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32)>

device.machine @h200 arch("sm_90a") features(["ptx80"]) {
  // 4.8 TB/s at 1830 MHz.
  device.memory @global scope("device") capacity_bytes(151397597184) bytes_per_cycle(2623) transaction_bytes(32)
  // What tiles of 256 x 128 of a product take from it, measured: there may be a little more.
  device.memory @l2 scope("device") capacity_bytes(52428800) caches(@global) bytes_per_cycle(5700) transaction_bytes(32)
  // What one block may have of the 228 KiB of a multiprocessor.
  device.memory @smem scope("core") capacity_bytes(232448) bytes_per_cycle(128) banks(32) bank_bytes(4) static_bytes(49152)
  // 255 registers of 32 bits for each of the 32 threads of a warp.
  device.memory @reg scope("warp") capacity_bytes(32640) register_bytes(128) lanes(32) core_bytes(262144)
  // The same registers, as the four warps of a warpgroup hold them.
  device.memory @acc scope("warpgroup") capacity_bytes(130560) register_bytes(512) lanes(128) core_bytes(262144)
  // Starting a warp costs little, and many hide latency.
  // Kernels of a recorded graph that wait for each other come about 1.3 microseconds after each other; a step
  // of a program that waits for all other units takes a seventh of a microsecond more (64 products of a matrix
  // and a vector in a row, measured both ways).
  // A barrier of eight groups: a tenth of a load from far away, an estimate.
  device.unit @sm count(132) clock_mhz(1830) partitions(4) block_lanes(1024) groups(8) barrier_cycles(48) handover_cycles(50) wait_cycles(2650) launch_cycles(2380)
  // Copies that threads begin and wait for by groups: "CUDA C++ Programming Guide", asynchronous copies.
  device.engine @copies on @sm queue(64)
  // Boxes of a tensor, which one thread asks for.
  device.engine @tensor_copies on @sm queue(64)
  // What warpgroups begin, and wait for by groups, too.
  device.engine @tensor on @sm queue(64)

  // One address per lane: a warp's request goes through the load unit in a cycle where it hits.
  device.move @load from @global to @reg issue_cycles(1.000000e+00) latency_cycles(480) strided fills
  device.move @store from @reg to @global issue_cycles(1.000000e+00) latency_cycles(480) strided
  device.move @stage from @global to @smem issue_cycles(2.000000e+00) latency_cycles(480) strided fills
  device.move @stage_ahead from @global to @smem engine(@copies) issue_cycles(1.000000e+00) latency_cycles(480) least_bytes(4) strided
  // PTX ISA, "Tensor-map" and "cp.async.bulk.tensor": swizzling in blocks of 128 bytes, whose pattern begins again
  // every 1024 bytes. The latency is an estimate: a load's, and what the engine needs.
  // Clusters of 2 always fit, for processing clusters have an even number of multiprocessors; larger ones leave some of
  // the 132 idle. That two meet in 190 cycles is an estimate: a load from another one's shared memory, about.
  // To ask for a box, or to pass by, and to wait for it is 18 instructions of each warp, counted in assembly.
  device.move @stage_boxes from @global to @smem engine(@tensor_copies) issue_cycles(1.800000e+01) latency_cycles(600) strided
    boxes({dims = 5, points = 256, step_bytes = 16, line_bytes = 128, swizzle = [3, 4, 3], align_bytes = 1024, units = 2, meet_cycles = 190})
  // The same asked for by a warpgroup of its own: "setmaxnreg" is of whole warpgroups, in eights of registers, from 24 on.
  // What is left to the others is to wait: 6 instructions of each warp.
  device.move @stage_boxes_apart from @global to @smem engine(@tensor_copies) issue_cycles(6.000000e+00) latency_cycles(600) strided
    boxes({dims = 5, points = 256, step_bytes = 16, line_bytes = 128, swizzle = [3, 4, 3], align_bytes = 1024, producer_lanes = 128, producer_bytes = 96, share_bytes = 32})
  device.move @unstage from @smem to @global issue_cycles(2.000000e+00) latency_cycles(480) strided
  device.move @smem_load from @smem to @reg issue_cycles(1.000000e+00) latency_cycles(23) strided
  device.move @smem_store from @reg to @smem issue_cycles(1.000000e+00) latency_cycles(23) strided
  // PTX ISA, "ldmatrix": matrices of 8 rows of 16 bytes; thread 8 i + r gives the address of row r of
  // matrix i and gets the same number of bytes of each. Turned, elements of 16 bits change row and place.
  device.move @matrix_load from @smem to @reg issue_cycles(1.000000e+00) latency_cycles(23) strided
    gathers(affine_map<(l, s) -> (8 * (s floordiv 2) + l floordiv 4, 2 * (l mod 4) + s mod 2)>)
  lowering {
  ^bb0(%at: !llvm.ptr<3>):
    %r = nvvm.ldmatrix %at {num = 4 : i32, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}
      : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    %d0 = llvm.extractvalue %r[0] : !llvm.struct<(i32, i32, i32, i32)>
    %d1 = llvm.extractvalue %r[1] : !llvm.struct<(i32, i32, i32, i32)>
    %d2 = llvm.extractvalue %r[2] : !llvm.struct<(i32, i32, i32, i32)>
    %d3 = llvm.extractvalue %r[3] : !llvm.struct<(i32, i32, i32, i32)>
    %w = vector.from_elements %d0, %d1, %d2, %d3 : vector<4xi32>
    %d = vector.bitcast %w : vector<4xi32> to vector<8xi16>
    device.yield %d : vector<8xi16>
  }
  device.move @matrix_load_turned from @smem to @reg issue_cycles(1.000000e+00) latency_cycles(23) strided
    gathers(affine_map<(l, s) -> (8 * (s floordiv 2) + 2 * (l mod 4) + s mod 2, l floordiv 4)>)
  lowering {
  ^bb0(%at: !llvm.ptr<3>):
    %r = nvvm.ldmatrix %at {num = 4 : i32, layout = #nvvm.mma_layout<col>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>, eltType = #nvvm.ld_st_matrix_elt_type<b16>}
      : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32, i32, i32)>
    %d0 = llvm.extractvalue %r[0] : !llvm.struct<(i32, i32, i32, i32)>
    %d1 = llvm.extractvalue %r[1] : !llvm.struct<(i32, i32, i32, i32)>
    %d2 = llvm.extractvalue %r[2] : !llvm.struct<(i32, i32, i32, i32)>
    %d3 = llvm.extractvalue %r[3] : !llvm.struct<(i32, i32, i32, i32)>
    %w = vector.from_elements %d0, %d1, %d2, %d3 : vector<4xi32>
    %d = vector.bitcast %w : vector<4xi32> to vector<8xi16>
    device.yield %d : vector<8xi16>
  }
  // Registers of the same thread under other names: what one instruction left is what another takes.
  device.move @relabel from @reg to @reg strided
  device.move @acc_load from @global to @acc issue_cycles(4.000000e+00) latency_cycles(480) strided fills
  device.move @acc_store from @acc to @global issue_cycles(4.000000e+00) latency_cycles(480) strided
  device.move @acc_relabel from @acc to @acc strided

  // 128 lanes in f32, 64 in i32 a cycle.
  device.lanes @valu on @sm in @reg issue_cycles(2.500000e-01) latency_cycles(4)
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

  // The same lanes on what a warpgroup holds.
  device.lanes @valu_of_groups on @sm in @acc issue_cycles(1.000000e+00) latency_cycles(4)
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
    // 16 lanes a cycle, for the 128 of a group.
    operation_cycles({math.exp2 = 8.0})

  // c += a * b with one a for all lanes; fused, so it rounds once where the meaning rounds twice.
  device.instruction @fma_f32 on @sm operands([@global, @reg, @reg])
    fragments([unit, affine_map<(l, s) -> (l)>, affine_map<(l, s) -> (l)>])
    issue_cycles(2.500000e-01) latency_cycles(4) accuracy(["rounding"])
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
    issue_cycles(2.500000e-01) latency_cycles(4) accuracy(["rounding"])
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
    issue_cycles(5.000000e-01) latency_cycles(4) accuracy(["rounding"])
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
    issue_cycles(5.000000e-01) latency_cycles(4) accuracy(["rounding"])
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

  // Instructions of one warp reach five eighths of the rate that warpgroups do: measured, in papers on Hopper.
  // PTX ISA, "Matrix Fragments for mma.m16n8k16 with floating point type". Products are exact,
  // sums of them are cut, not rounded.
  device.instruction @mma_m16n8k16_f16 on @sm operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>,
      affine_map<(l, s) -> (2 * (l mod 4) + s mod 2 + 8 * (s floordiv 2), l floordiv 4)>,
      affine_map<(l, s) -> (l floordiv 4 + 8 * (s floordiv 2), 2 * (l mod 4) + s mod 2)>
    ])
    issue_cycles(1.600000e+00) latency_cycles(33) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<16x16xf16>, %b: tensor<16x8xf16>, %c: tensor<16x8xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x16xf16>, tensor<16x8xf16>) outs(%c : tensor<16x8xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x8xf32>
    device.yield %d : tensor<16x8xf32>
  } lowering {
  ^bb0(%a: vector<8xf16>, %b: vector<4xf16>, %c: vector<4xf32>):
    %a0 = vector.extract_strided_slice %a {offsets = [0], sizes = [2], strides = [1]} : vector<8xf16> to vector<2xf16>
    %a1 = vector.extract_strided_slice %a {offsets = [2], sizes = [2], strides = [1]} : vector<8xf16> to vector<2xf16>
    %a2 = vector.extract_strided_slice %a {offsets = [4], sizes = [2], strides = [1]} : vector<8xf16> to vector<2xf16>
    %a3 = vector.extract_strided_slice %a {offsets = [6], sizes = [2], strides = [1]} : vector<8xf16> to vector<2xf16>
    %b0 = vector.extract_strided_slice %b {offsets = [0], sizes = [2], strides = [1]} : vector<4xf16> to vector<2xf16>
    %b1 = vector.extract_strided_slice %b {offsets = [2], sizes = [2], strides = [1]} : vector<4xf16> to vector<2xf16>
    %ce:4 = vector.to_elements %c : vector<4xf32>
    %r = nvvm.mma.sync A[%a0, %a1, %a2, %a3] B[%b0, %b1] C[%ce#0, %ce#1, %ce#2, %ce#3]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
      : (vector<2xf16>, vector<2xf16>, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d0 = llvm.extractvalue %r[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d1 = llvm.extractvalue %r[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d2 = llvm.extractvalue %r[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d3 = llvm.extractvalue %r[3] : !llvm.struct<(f32, f32, f32, f32)>
    %d = vector.from_elements %d0, %d1, %d2, %d3 : vector<4xf32>
    device.yield %d : vector<4xf32>
  }

  // The same for bf16.
  device.instruction @mma_m16n8k16_bf16 on @sm operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>,
      affine_map<(l, s) -> (2 * (l mod 4) + s mod 2 + 8 * (s floordiv 2), l floordiv 4)>,
      affine_map<(l, s) -> (l floordiv 4 + 8 * (s floordiv 2), 2 * (l mod 4) + s mod 2)>
    ])
    issue_cycles(1.600000e+00) latency_cycles(33) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<16x16xbf16>, %b: tensor<16x8xbf16>, %c: tensor<16x8xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x16xbf16>, tensor<16x8xbf16>) outs(%c : tensor<16x8xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x8xf32>
    device.yield %d : tensor<16x8xf32>
  } lowering {
  ^bb0(%a: vector<8xbf16>, %b: vector<4xbf16>, %c: vector<4xf32>):
    %aw = vector.bitcast %a : vector<8xbf16> to vector<4xi32>
    %ae:4 = vector.to_elements %aw : vector<4xi32>
    %bw = vector.bitcast %b : vector<4xbf16> to vector<2xi32>
    %be:2 = vector.to_elements %bw : vector<2xi32>
    %ce:4 = vector.to_elements %c : vector<4xf32>
    %r = nvvm.mma.sync A[%ae#0, %ae#1, %ae#2, %ae#3] B[%be#0, %be#1] C[%ce#0, %ce#1, %ce#2, %ce#3]
      {multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = #nvvm.mma_type<bf16>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 16>}
      : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d0 = llvm.extractvalue %r[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d1 = llvm.extractvalue %r[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d2 = llvm.extractvalue %r[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d3 = llvm.extractvalue %r[3] : !llvm.struct<(f32, f32, f32, f32)>
    %d = vector.from_elements %d0, %d1, %d2, %d3 : vector<4xf32>
    device.yield %d : vector<4xf32>
  }

  // PTX ISA, "Matrix Fragments for mma.m16n8k32". Exact; sums wrap.
  device.instruction @mma_m16n8k32_s8 on @sm operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l floordiv 4 + 8 * ((s floordiv 4) mod 2), 4 * (l mod 4) + s mod 4 + 16 * (s floordiv 8))>,
      affine_map<(l, s) -> (4 * (l mod 4) + s mod 4 + 16 * (s floordiv 4), l floordiv 4)>,
      affine_map<(l, s) -> (l floordiv 4 + 8 * (s floordiv 2), 2 * (l mod 4) + s mod 2)>
    ])
    issue_cycles(1.600000e+00) latency_cycles(33) accuracy(["accumulation_order"])
  meaning {
  ^bb0(%a: tensor<16x32xi8>, %b: tensor<32x8xi8>, %c: tensor<16x8xi32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x32xi8>, tensor<32x8xi8>) outs(%c : tensor<16x8xi32>) {
    ^bb0(%x: i8, %y: i8, %z: i32):
      %u = arith.extsi %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %z, %p : i32
      linalg.yield %s : i32
    } -> tensor<16x8xi32>
    device.yield %d : tensor<16x8xi32>
  } lowering {
  ^bb0(%a: vector<16xi8>, %b: vector<8xi8>, %c: vector<4xi32>):
    %aw = vector.bitcast %a : vector<16xi8> to vector<4xi32>
    %ae:4 = vector.to_elements %aw : vector<4xi32>
    %bw = vector.bitcast %b : vector<8xi8> to vector<2xi32>
    %be:2 = vector.to_elements %bw : vector<2xi32>
    %ce:4 = vector.to_elements %c : vector<4xi32>
    %r = nvvm.mma.sync A[%ae#0, %ae#1, %ae#2, %ae#3] B[%be#0, %be#1] C[%ce#0, %ce#1, %ce#2, %ce#3]
      {intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, multiplicandAPtxType = #nvvm.mma_type<s8>, multiplicandBPtxType = #nvvm.mma_type<s8>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 32>}
      : (i32, i32, i32) -> !llvm.struct<(i32, i32, i32, i32)>
    %d0 = llvm.extractvalue %r[0] : !llvm.struct<(i32, i32, i32, i32)>
    %d1 = llvm.extractvalue %r[1] : !llvm.struct<(i32, i32, i32, i32)>
    %d2 = llvm.extractvalue %r[2] : !llvm.struct<(i32, i32, i32, i32)>
    %d3 = llvm.extractvalue %r[3] : !llvm.struct<(i32, i32, i32, i32)>
    %d = vector.from_elements %d0, %d1, %d2, %d3 : vector<4xi32>
    device.yield %d : vector<4xi32>
  }

  // PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f64 floating point type".
  device.instruction @mma_m8n8k4_f64 on @sm operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l floordiv 4, l mod 4)>,
      affine_map<(l, s) -> (l mod 4, l floordiv 4)>,
      affine_map<(l, s) -> (l floordiv 4, 2 * (l mod 4) + s)>
    ])
    issue_cycles(2.000000e+00) latency_cycles(33) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<8x4xf64>, %b: tensor<4x8xf64>, %c: tensor<8x8xf64>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<8x4xf64>, tensor<4x8xf64>) outs(%c : tensor<8x8xf64>) {
    ^bb0(%x: f64, %y: f64, %z: f64):
      %p = arith.mulf %x, %y : f64
      %s = arith.addf %z, %p : f64
      linalg.yield %s : f64
    } -> tensor<8x8xf64>
    device.yield %d : tensor<8x8xf64>
  } lowering {
  ^bb0(%a: f64, %b: f64, %c: vector<2xf64>):
    %ce:2 = vector.to_elements %c : vector<2xf64>
    %r = nvvm.mma.sync A[%a] B[%b] C[%ce#0, %ce#1]
      {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 8, n = 8, k = 4>}
      : (f64, f64, f64) -> !llvm.struct<(f64, f64)>
    %d0 = llvm.extractvalue %r[0] : !llvm.struct<(f64, f64)>
    %d1 = llvm.extractvalue %r[1] : !llvm.struct<(f64, f64)>
    %d = vector.from_elements %d0, %d1 : vector<2xf64>
    device.yield %d : vector<2xf64>
  }

  // PTX ISA, "Matrix Fragments for mma.m16n8k8", .tf32. Its factors are cut to 10 bits
  // of fraction, which is what it means: a product of f32 does not become one of these.
  device.instruction @mma_m16n8k8_tf32 on @sm operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l floordiv 4 + 8 * (s mod 2), l mod 4 + 4 * (s floordiv 2))>,
      affine_map<(l, s) -> (l mod 4 + 4 * s, l floordiv 4)>,
      affine_map<(l, s) -> (l floordiv 4 + 8 * (s floordiv 2), 2 * (l mod 4) + s mod 2)>
    ])
    issue_cycles(1.600000e+00) latency_cycles(33) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<16x8xf32>, %b: tensor<8x8xf32>, %c: tensor<16x8xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x8xf32>, tensor<8x8xf32>) outs(%c : tensor<16x8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      // 13 bits of the fraction do not count.
      %kept = arith.constant -8192 : i32
      %xi = arith.bitcast %x : f32 to i32
      %yi = arith.bitcast %y : f32 to i32
      %xk = arith.andi %xi, %kept : i32
      %yk = arith.andi %yi, %kept : i32
      %u = arith.bitcast %xk : i32 to f32
      %v = arith.bitcast %yk : i32 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x8xf32>
    device.yield %d : tensor<16x8xf32>
  } lowering {
  ^bb0(%a: vector<4xf32>, %b: vector<2xf32>, %c: vector<4xf32>):
    %aw = vector.bitcast %a : vector<4xf32> to vector<4xi32>
    %ae:4 = vector.to_elements %aw : vector<4xi32>
    %bw = vector.bitcast %b : vector<2xf32> to vector<2xi32>
    %be:2 = vector.to_elements %bw : vector<2xi32>
    %ce:4 = vector.to_elements %c : vector<4xf32>
    %r = nvvm.mma.sync A[%ae#0, %ae#1, %ae#2, %ae#3] B[%be#0, %be#1] C[%ce#0, %ce#1, %ce#2, %ce#3]
      {multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>}
      : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d0 = llvm.extractvalue %r[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d1 = llvm.extractvalue %r[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d2 = llvm.extractvalue %r[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d3 = llvm.extractvalue %r[3] : !llvm.struct<(f32, f32, f32, f32)>
    %d = vector.from_elements %d0, %d1, %d2, %d3 : vector<4xf32>
    device.yield %d : vector<4xf32>
  }

  // The same three times: with the factors' upper parts, and with what each cuts off. What is
  // left out of a product of factors of 2^-115 and above is below 2^-19 of it; of an infinity it makes what is
  // no number.
  device.instruction @mma_m16n8k8_tf32x3 on @sm operands([@reg, @reg, @reg])
    fragments([
      affine_map<(l, s) -> (l floordiv 4 + 8 * (s mod 2), l mod 4 + 4 * (s floordiv 2))>,
      affine_map<(l, s) -> (l mod 4 + 4 * s, l floordiv 4)>,
      affine_map<(l, s) -> (l floordiv 4 + 8 * (s floordiv 2), 2 * (l mod 4) + s mod 2)>
    ])
    issue_cycles(4.800000e+00) latency_cycles(99) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<16x8xf32>, %b: tensor<8x8xf32>, %c: tensor<16x8xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(i, j, k) -> (i, k)>,
        affine_map<(i, j, k) -> (k, j)>,
        affine_map<(i, j, k) -> (i, j)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x8xf32>, tensor<8x8xf32>) outs(%c : tensor<16x8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      // 13 bits of the fraction do not count.
      %kept = arith.constant -8192 : i32
      %xi = arith.bitcast %x : f32 to i32
      %yi = arith.bitcast %y : f32 to i32
      %xk = arith.andi %xi, %kept : i32
      %yk = arith.andi %yi, %kept : i32
      %u = arith.bitcast %xk : i32 to f32
      %v = arith.bitcast %yk : i32 to f32
      %xr = arith.subf %x, %u : f32
      %yr = arith.subf %y, %v : f32
      %xri = arith.bitcast %xr : f32 to i32
      %yri = arith.bitcast %yr : f32 to i32
      %xrk = arith.andi %xri, %kept : i32
      %yrk = arith.andi %yri, %kept : i32
      %ur = arith.bitcast %xrk : i32 to f32
      %vr = arith.bitcast %yrk : i32 to f32
      %p = arith.mulf %u, %v : f32
      %q = arith.mulf %u, %vr : f32
      %r = arith.mulf %ur, %v : f32
      %qr = arith.addf %q, %r : f32
      %pqr = arith.addf %p, %qr : f32
      %s = arith.addf %z, %pqr : f32
      linalg.yield %s : f32
    } -> tensor<16x8xf32>
    device.yield %d : tensor<16x8xf32>
  } lowering {
  ^bb0(%a: vector<4xf32>, %b: vector<2xf32>, %c: vector<4xf32>):
    %kept = arith.constant dense<-8192> : vector<4xi32>
    %keptb = arith.constant dense<-8192> : vector<2xi32>
    %aw = vector.bitcast %a : vector<4xf32> to vector<4xi32>
    %ak = arith.andi %aw, %kept : vector<4xi32>
    %au = vector.bitcast %ak : vector<4xi32> to vector<4xf32>
    %ar = arith.subf %a, %au : vector<4xf32>
    %arw = vector.bitcast %ar : vector<4xf32> to vector<4xi32>
    %bw = vector.bitcast %b : vector<2xf32> to vector<2xi32>
    %bk = arith.andi %bw, %keptb : vector<2xi32>
    %bu = vector.bitcast %bk : vector<2xi32> to vector<2xf32>
    %br = arith.subf %b, %bu : vector<2xf32>
    %brw = vector.bitcast %br : vector<2xf32> to vector<2xi32>
    %ae:4 = vector.to_elements %ak : vector<4xi32>
    %are:4 = vector.to_elements %arw : vector<4xi32>
    %be:2 = vector.to_elements %bk : vector<2xi32>
    %bre:2 = vector.to_elements %brw : vector<2xi32>
    %ce:4 = vector.to_elements %c : vector<4xf32>
    %q = nvvm.mma.sync A[%ae#0, %ae#1, %ae#2, %ae#3] B[%bre#0, %bre#1] C[%ce#0, %ce#1, %ce#2, %ce#3]
      {multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>}
      : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %q0 = llvm.extractvalue %q[0] : !llvm.struct<(f32, f32, f32, f32)>
    %q1 = llvm.extractvalue %q[1] : !llvm.struct<(f32, f32, f32, f32)>
    %q2 = llvm.extractvalue %q[2] : !llvm.struct<(f32, f32, f32, f32)>
    %q3 = llvm.extractvalue %q[3] : !llvm.struct<(f32, f32, f32, f32)>
    %r = nvvm.mma.sync A[%are#0, %are#1, %are#2, %are#3] B[%be#0, %be#1] C[%q0, %q1, %q2, %q3]
      {multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>}
      : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %r0 = llvm.extractvalue %r[0] : !llvm.struct<(f32, f32, f32, f32)>
    %r1 = llvm.extractvalue %r[1] : !llvm.struct<(f32, f32, f32, f32)>
    %r2 = llvm.extractvalue %r[2] : !llvm.struct<(f32, f32, f32, f32)>
    %r3 = llvm.extractvalue %r[3] : !llvm.struct<(f32, f32, f32, f32)>
    %p = nvvm.mma.sync A[%ae#0, %ae#1, %ae#2, %ae#3] B[%be#0, %be#1] C[%r0, %r1, %r2, %r3]
      {multiplicandAPtxType = #nvvm.mma_type<tf32>, multiplicandBPtxType = #nvvm.mma_type<tf32>, layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 8>}
      : (i32, i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    %d0 = llvm.extractvalue %p[0] : !llvm.struct<(f32, f32, f32, f32)>
    %d1 = llvm.extractvalue %p[1] : !llvm.struct<(f32, f32, f32, f32)>
    %d2 = llvm.extractvalue %p[2] : !llvm.struct<(f32, f32, f32, f32)>
    %d3 = llvm.extractvalue %p[3] : !llvm.struct<(f32, f32, f32, f32)>
    %d = vector.from_elements %d0, %d1, %d2, %d3 : vector<4xf32>
    device.yield %d : vector<4xf32>
  }

  // PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": "Register Fragments and Shared
  // Memory Matrix Layouts", "Matrix Descriptor Format". Both factors lie in shared memory in rows of
  // 128 bytes, of which 8 are swizzled together: A by its rows, B by rows of k (`kn`) or by its columns
  // (`nk`). Rows of k longer than 128 bytes go on in panels of 64 rows. The four warps of a warpgroup
  // hold 16 rows of the sum each.
  device.instruction @wgmma_m64n256k16_f16_kn on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 64, 3, 3, 3], unit])
    issue_cycles(1.280000e+02) latency_cycles(128) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xf16>, %b: tensor<16x256xf16>, %c: tensor<64x256xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xf16>, tensor<16x256xf16>) outs(%c : tensor<64x256xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x256xf32>
    device.yield %d : tensor<64x256xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<128xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, of B 8192 to
    // the next panel, swizzled in blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %how_b = arith.constant 4611686293338849280 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how_b : i64
    %s = builtin.unrealized_conversion_cast %c : vector<128xf32> to !slots128
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 256, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<f16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<f16>, #nvvm.wgmma_scale_in<one>, <row>] : !slots128 -> !slots128
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots128 to vector<128xf32>
    device.yield %d : vector<128xf32>
  }

  device.instruction @wgmma_m64n256k16_f16_nk on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 3, 3, 3], unit])
    issue_cycles(1.280000e+02) latency_cycles(128) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xf16>, %b: tensor<256x16xf16>, %c: tensor<64x256xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xf16>, tensor<256x16xf16>) outs(%c : tensor<64x256xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x256xf32>
    device.yield %d : tensor<64x256xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<128xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in
    // blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %s = builtin.unrealized_conversion_cast %c : vector<128xf32> to !slots128
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 256, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<f16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<f16>, #nvvm.wgmma_scale_in<one>, <col>] : !slots128 -> !slots128
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots128 to vector<128xf32>
    device.yield %d : vector<128xf32>
  }

  device.instruction @wgmma_m64n256k16_bf16_kn on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 64, 3, 3, 3], unit])
    issue_cycles(1.280000e+02) latency_cycles(128) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xbf16>, %b: tensor<16x256xbf16>, %c: tensor<64x256xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xbf16>, tensor<16x256xbf16>) outs(%c : tensor<64x256xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x256xf32>
    device.yield %d : tensor<64x256xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<128xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, of B 8192 to
    // the next panel, swizzled in blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %how_b = arith.constant 4611686293338849280 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how_b : i64
    %s = builtin.unrealized_conversion_cast %c : vector<128xf32> to !slots128
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 256, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<bf16>, #nvvm.wgmma_scale_in<one>, <row>] : !slots128 -> !slots128
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots128 to vector<128xf32>
    device.yield %d : vector<128xf32>
  }

  device.instruction @wgmma_m64n256k16_bf16_nk on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 3, 3, 3], unit])
    issue_cycles(1.280000e+02) latency_cycles(128) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xbf16>, %b: tensor<256x16xbf16>, %c: tensor<64x256xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xbf16>, tensor<256x16xbf16>) outs(%c : tensor<64x256xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x256xf32>
    device.yield %d : tensor<64x256xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<128xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in
    // blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %s = builtin.unrealized_conversion_cast %c : vector<128xf32> to !slots128
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 256, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !slots128 -> !slots128
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots128 to vector<128xf32>
    device.yield %d : vector<128xf32>
  }

  device.instruction @wgmma_m64n192k16_f16_kn on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 64, 3, 3, 3], unit])
    issue_cycles(9.600000e+01) latency_cycles(96) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xf16>, %b: tensor<16x192xf16>, %c: tensor<64x192xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xf16>, tensor<16x192xf16>) outs(%c : tensor<64x192xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x192xf32>
    device.yield %d : tensor<64x192xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<96xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, of B 8192 to
    // the next panel, swizzled in blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %how_b = arith.constant 4611686293338849280 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how_b : i64
    %s = builtin.unrealized_conversion_cast %c : vector<96xf32> to !slots96
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 192, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<f16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<f16>, #nvvm.wgmma_scale_in<one>, <row>] : !slots96 -> !slots96
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots96 to vector<96xf32>
    device.yield %d : vector<96xf32>
  }

  device.instruction @wgmma_m64n192k16_f16_nk on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 3, 3, 3], unit])
    issue_cycles(9.600000e+01) latency_cycles(96) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xf16>, %b: tensor<192x16xf16>, %c: tensor<64x192xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xf16>, tensor<192x16xf16>) outs(%c : tensor<64x192xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x192xf32>
    device.yield %d : tensor<64x192xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<96xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in
    // blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %s = builtin.unrealized_conversion_cast %c : vector<96xf32> to !slots96
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 192, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<f16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<f16>, #nvvm.wgmma_scale_in<one>, <col>] : !slots96 -> !slots96
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots96 to vector<96xf32>
    device.yield %d : vector<96xf32>
  }

  device.instruction @wgmma_m64n192k16_bf16_kn on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 64, 3, 3, 3], unit])
    issue_cycles(9.600000e+01) latency_cycles(96) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xbf16>, %b: tensor<16x192xbf16>, %c: tensor<64x192xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xbf16>, tensor<16x192xbf16>) outs(%c : tensor<64x192xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x192xf32>
    device.yield %d : tensor<64x192xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<96xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, of B 8192 to
    // the next panel, swizzled in blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %how_b = arith.constant 4611686293338849280 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how_b : i64
    %s = builtin.unrealized_conversion_cast %c : vector<96xf32> to !slots96
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 192, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<bf16>, #nvvm.wgmma_scale_in<one>, <row>] : !slots96 -> !slots96
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots96 to vector<96xf32>
    device.yield %d : vector<96xf32>
  }

  device.instruction @wgmma_m64n192k16_bf16_nk on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 3, 3, 3], unit])
    issue_cycles(9.600000e+01) latency_cycles(96) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xbf16>, %b: tensor<192x16xbf16>, %c: tensor<64x192xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xbf16>, tensor<192x16xbf16>) outs(%c : tensor<64x192xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x192xf32>
    device.yield %d : tensor<64x192xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<96xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in
    // blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %s = builtin.unrealized_conversion_cast %c : vector<96xf32> to !slots96
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 192, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !slots96 -> !slots96
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots96 to vector<96xf32>
    device.yield %d : vector<96xf32>
  }

  device.instruction @wgmma_m64n128k16_f16_kn on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 64, 3, 3, 3], unit])
    issue_cycles(6.400000e+01) latency_cycles(64) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xf16>, %b: tensor<16x128xf16>, %c: tensor<64x128xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xf16>, tensor<16x128xf16>) outs(%c : tensor<64x128xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x128xf32>
    device.yield %d : tensor<64x128xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<64xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, of B 8192 to
    // the next panel, swizzled in blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %how_b = arith.constant 4611686293338849280 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how_b : i64
    %s = builtin.unrealized_conversion_cast %c : vector<64xf32> to !slots64
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 128, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<f16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<f16>, #nvvm.wgmma_scale_in<one>, <row>] : !slots64 -> !slots64
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots64 to vector<64xf32>
    device.yield %d : vector<64xf32>
  }

  device.instruction @wgmma_m64n128k16_f16_nk on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 3, 3, 3], unit])
    issue_cycles(6.400000e+01) latency_cycles(64) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xf16>, %b: tensor<128x16xf16>, %c: tensor<64x128xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xf16>, tensor<128x16xf16>) outs(%c : tensor<64x128xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x128xf32>
    device.yield %d : tensor<64x128xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<64xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in
    // blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %s = builtin.unrealized_conversion_cast %c : vector<64xf32> to !slots64
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 128, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<f16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<f16>, #nvvm.wgmma_scale_in<one>, <col>] : !slots64 -> !slots64
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots64 to vector<64xf32>
    device.yield %d : vector<64xf32>
  }

  device.instruction @wgmma_m64n128k16_bf16_kn on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 64, 3, 3, 3], unit])
    issue_cycles(6.400000e+01) latency_cycles(64) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xbf16>, %b: tensor<16x128xbf16>, %c: tensor<64x128xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xbf16>, tensor<16x128xbf16>) outs(%c : tensor<64x128xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x128xf32>
    device.yield %d : tensor<64x128xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<64xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, of B 8192 to
    // the next panel, swizzled in blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %how_b = arith.constant 4611686293338849280 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how_b : i64
    %s = builtin.unrealized_conversion_cast %c : vector<64xf32> to !slots64
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 128, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<bf16>, #nvvm.wgmma_scale_in<one>, <row>] : !slots64 -> !slots64
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots64 to vector<64xf32>
    device.yield %d : vector<64xf32>
  }

  device.instruction @wgmma_m64n128k16_bf16_nk on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 3, 3, 3], unit])
    issue_cycles(6.400000e+01) latency_cycles(64) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xbf16>, %b: tensor<128x16xbf16>, %c: tensor<64x128xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xbf16>, tensor<128x16xbf16>) outs(%c : tensor<64x128xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x128xf32>
    device.yield %d : tensor<64x128xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<64xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in
    // blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %s = builtin.unrealized_conversion_cast %c : vector<64xf32> to !slots64
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 128, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !slots64 -> !slots64
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots64 to vector<64xf32>
    device.yield %d : vector<64xf32>
  }

  device.instruction @wgmma_m64n64k16_f16_kn on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 64, 3, 3, 3], unit])
    issue_cycles(3.200000e+01) latency_cycles(32) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xf16>, %b: tensor<16x64xf16>, %c: tensor<64x64xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xf16>, tensor<16x64xf16>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    device.yield %d : tensor<64x64xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<32xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, of B 8192 to
    // the next panel, swizzled in blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %how_b = arith.constant 4611686293338849280 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how_b : i64
    %s = builtin.unrealized_conversion_cast %c : vector<32xf32> to !slots32
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 64, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<f16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<f16>, #nvvm.wgmma_scale_in<one>, <row>] : !slots32 -> !slots32
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots32 to vector<32xf32>
    device.yield %d : vector<32xf32>
  }

  device.instruction @wgmma_m64n64k16_f16_nk on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 3, 3, 3], unit])
    issue_cycles(3.200000e+01) latency_cycles(32) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xf16>, %b: tensor<64x16xf16>, %c: tensor<64x64xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xf16>, tensor<64x16xf16>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    device.yield %d : tensor<64x64xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<32xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in
    // blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %s = builtin.unrealized_conversion_cast %c : vector<32xf32> to !slots32
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 64, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<f16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<f16>, #nvvm.wgmma_scale_in<one>, <col>] : !slots32 -> !slots32
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots32 to vector<32xf32>
    device.yield %d : vector<32xf32>
  }

  device.instruction @wgmma_m64n64k16_bf16_kn on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 64, 3, 3, 3], unit])
    issue_cycles(3.200000e+01) latency_cycles(32) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xbf16>, %b: tensor<16x64xbf16>, %c: tensor<64x64xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xbf16>, tensor<16x64xbf16>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    device.yield %d : tensor<64x64xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<32xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, of B 8192 to
    // the next panel, swizzled in blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %how_b = arith.constant 4611686293338849280 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how_b : i64
    %s = builtin.unrealized_conversion_cast %c : vector<32xf32> to !slots32
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 64, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<bf16>, #nvvm.wgmma_scale_in<one>, <row>] : !slots32 -> !slots32
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots32 to vector<32xf32>
    device.yield %d : vector<32xf32>
  }

  device.instruction @wgmma_m64n64k16_bf16_nk on @sm engine(@tensor) operands([@smem, @smem, @acc])
    fragments([
      unit,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([[64, 3, 3, 3], [64, 3, 3, 3], unit])
    issue_cycles(3.200000e+01) latency_cycles(32) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xbf16>, %b: tensor<64x16xbf16>, %c: tensor<64x64xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xbf16>, tensor<64x16xbf16>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    device.yield %d : tensor<64x64xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: vector<32xf32>):
    // Descriptors: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in
    // blocks of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %a0 = arith.index_cast %a : index to i32
    %a1 = arith.andi %a0, %low : i32
    %a2 = arith.shrui %a1, %four : i32
    %aw = arith.extui %a2 : i32 to i64
    %a3 = arith.ori %aw, %how : i64
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %s = builtin.unrealized_conversion_cast %c : vector<32xf32> to !slots32
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %a3, %b3, %s, <m = 64, n = 64, k = 16>,
      D [<f32>, #nvvm.wgmma_scale_out<one>], A [<bf16>, #nvvm.wgmma_scale_in<one>, <row>],
      B [<bf16>, #nvvm.wgmma_scale_in<one>, <col>] : !slots32 -> !slots32
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots32 to vector<32xf32>
    device.yield %d : vector<32xf32>
  }

  // The same with A in the registers of the warpgroup, where an instruction has left its sums: "Register
  // Fragments" of a warp's 16 rows are those of mma.m16n8k16. Rows of k longer than 128 bytes go on in panels of
  // 128 rows.

  device.instruction @wgmma_m64n128k16_f16_rkn on @sm engine(@tensor) operands([@acc, @smem, @acc])
    fragments([
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([unit, [128, 64, 3, 3, 3], unit])
    issue_cycles(64.0) latency_cycles(64) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xf16>, %b: tensor<16x128xf16>, %c: tensor<64x128xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xf16>, tensor<16x128xf16>) outs(%c : tensor<64x128xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x128xf32>
    device.yield %d : tensor<64x128xf32>
  } lowering {
  ^bb0(%a: vector<8xf16>, %b: index, %c: vector<64xf32>):
    // Descriptor: the address in units of 16 bytes, 1024 bytes to the next 8 rows, 16384 to the next
    // panel, swizzled in blocks
    // of 128 bytes.
    %how = arith.constant 4611686293372403712 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %aw = vector.bitcast %a : vector<8xf16> to vector<4xi32>
    %ae:4 = vector.to_elements %aw : vector<4xi32>
    %ce:64 = vector.to_elements %c : vector<64xf32>
    nvvm.wgmma.fence.aligned
    %r = llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44, $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55, $56, $57, $58, $59, $60, $61, $62, $63}, {$128, $129, $130, $131}, $132, p, 1, 1, 1; }", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,r,r,r,r,l" %ce#0, %ce#1, %ce#2, %ce#3, %ce#4, %ce#5, %ce#6, %ce#7, %ce#8, %ce#9, %ce#10, %ce#11, %ce#12, %ce#13, %ce#14, %ce#15, %ce#16, %ce#17, %ce#18, %ce#19, %ce#20, %ce#21, %ce#22, %ce#23, %ce#24, %ce#25, %ce#26, %ce#27, %ce#28, %ce#29, %ce#30, %ce#31, %ce#32, %ce#33, %ce#34, %ce#35, %ce#36, %ce#37, %ce#38, %ce#39, %ce#40, %ce#41, %ce#42, %ce#43, %ce#44, %ce#45, %ce#46, %ce#47, %ce#48, %ce#49, %ce#50, %ce#51, %ce#52, %ce#53, %ce#54, %ce#55, %ce#56, %ce#57, %ce#58, %ce#59, %ce#60, %ce#61, %ce#62, %ce#63, %ae#0, %ae#1, %ae#2, %ae#3, %b3
      : (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i32, i32, i32, i32, i64) -> !slots64
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots64 to vector<64xf32>
    device.yield %d : vector<64xf32>
  }

  device.instruction @wgmma_m64n128k16_f16_rnk on @sm engine(@tensor) operands([@acc, @smem, @acc])
    fragments([
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([unit, [64, 3, 3, 3], unit])
    issue_cycles(64.0) latency_cycles(64) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xf16>, %b: tensor<128x16xf16>, %c: tensor<64x128xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xf16>, tensor<128x16xf16>) outs(%c : tensor<64x128xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x128xf32>
    device.yield %d : tensor<64x128xf32>
  } lowering {
  ^bb0(%a: vector<8xf16>, %b: index, %c: vector<64xf32>):
    // Descriptor: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in blocks
    // of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %aw = vector.bitcast %a : vector<8xf16> to vector<4xi32>
    %ae:4 = vector.to_elements %aw : vector<4xi32>
    %ce:64 = vector.to_elements %c : vector<64xf32>
    nvvm.wgmma.fence.aligned
    %r = llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44, $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55, $56, $57, $58, $59, $60, $61, $62, $63}, {$128, $129, $130, $131}, $132, p, 1, 1, 0; }", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,r,r,r,r,l" %ce#0, %ce#1, %ce#2, %ce#3, %ce#4, %ce#5, %ce#6, %ce#7, %ce#8, %ce#9, %ce#10, %ce#11, %ce#12, %ce#13, %ce#14, %ce#15, %ce#16, %ce#17, %ce#18, %ce#19, %ce#20, %ce#21, %ce#22, %ce#23, %ce#24, %ce#25, %ce#26, %ce#27, %ce#28, %ce#29, %ce#30, %ce#31, %ce#32, %ce#33, %ce#34, %ce#35, %ce#36, %ce#37, %ce#38, %ce#39, %ce#40, %ce#41, %ce#42, %ce#43, %ce#44, %ce#45, %ce#46, %ce#47, %ce#48, %ce#49, %ce#50, %ce#51, %ce#52, %ce#53, %ce#54, %ce#55, %ce#56, %ce#57, %ce#58, %ce#59, %ce#60, %ce#61, %ce#62, %ce#63, %ae#0, %ae#1, %ae#2, %ae#3, %b3
      : (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i32, i32, i32, i32, i64) -> !slots64
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots64 to vector<64xf32>
    device.yield %d : vector<64xf32>
  }

  device.instruction @wgmma_m64n128k16_bf16_rkn on @sm engine(@tensor) operands([@acc, @smem, @acc])
    fragments([
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([unit, [128, 64, 3, 3, 3], unit])
    issue_cycles(64.0) latency_cycles(64) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xbf16>, %b: tensor<16x128xbf16>, %c: tensor<64x128xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xbf16>, tensor<16x128xbf16>) outs(%c : tensor<64x128xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x128xf32>
    device.yield %d : tensor<64x128xf32>
  } lowering {
  ^bb0(%a: vector<8xbf16>, %b: index, %c: vector<64xf32>):
    // Descriptor: the address in units of 16 bytes, 1024 bytes to the next 8 rows, 16384 to the next
    // panel, swizzled in blocks
    // of 128 bytes.
    %how = arith.constant 4611686293372403712 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %aw = vector.bitcast %a : vector<8xbf16> to vector<4xi32>
    %ae:4 = vector.to_elements %aw : vector<4xi32>
    %ce:64 = vector.to_elements %c : vector<64xf32>
    nvvm.wgmma.fence.aligned
    %r = llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44, $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55, $56, $57, $58, $59, $60, $61, $62, $63}, {$128, $129, $130, $131}, $132, p, 1, 1, 1; }", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,r,r,r,r,l" %ce#0, %ce#1, %ce#2, %ce#3, %ce#4, %ce#5, %ce#6, %ce#7, %ce#8, %ce#9, %ce#10, %ce#11, %ce#12, %ce#13, %ce#14, %ce#15, %ce#16, %ce#17, %ce#18, %ce#19, %ce#20, %ce#21, %ce#22, %ce#23, %ce#24, %ce#25, %ce#26, %ce#27, %ce#28, %ce#29, %ce#30, %ce#31, %ce#32, %ce#33, %ce#34, %ce#35, %ce#36, %ce#37, %ce#38, %ce#39, %ce#40, %ce#41, %ce#42, %ce#43, %ce#44, %ce#45, %ce#46, %ce#47, %ce#48, %ce#49, %ce#50, %ce#51, %ce#52, %ce#53, %ce#54, %ce#55, %ce#56, %ce#57, %ce#58, %ce#59, %ce#60, %ce#61, %ce#62, %ce#63, %ae#0, %ae#1, %ae#2, %ae#3, %b3
      : (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i32, i32, i32, i32, i64) -> !slots64
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots64 to vector<64xf32>
    device.yield %d : vector<64xf32>
  }

  device.instruction @wgmma_m64n128k16_bf16_rnk on @sm engine(@tensor) operands([@acc, @smem, @acc])
    fragments([
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([unit, [64, 3, 3, 3], unit])
    issue_cycles(64.0) latency_cycles(64) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xbf16>, %b: tensor<128x16xbf16>, %c: tensor<64x128xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xbf16>, tensor<128x16xbf16>) outs(%c : tensor<64x128xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x128xf32>
    device.yield %d : tensor<64x128xf32>
  } lowering {
  ^bb0(%a: vector<8xbf16>, %b: index, %c: vector<64xf32>):
    // Descriptor: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in blocks
    // of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %aw = vector.bitcast %a : vector<8xbf16> to vector<4xi32>
    %ae:4 = vector.to_elements %aw : vector<4xi32>
    %ce:64 = vector.to_elements %c : vector<64xf32>
    nvvm.wgmma.fence.aligned
    %r = llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40, $41, $42, $43, $44, $45, $46, $47, $48, $49, $50, $51, $52, $53, $54, $55, $56, $57, $58, $59, $60, $61, $62, $63}, {$128, $129, $130, $131}, $132, p, 1, 1, 0; }", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48,49,50,51,52,53,54,55,56,57,58,59,60,61,62,63,r,r,r,r,l" %ce#0, %ce#1, %ce#2, %ce#3, %ce#4, %ce#5, %ce#6, %ce#7, %ce#8, %ce#9, %ce#10, %ce#11, %ce#12, %ce#13, %ce#14, %ce#15, %ce#16, %ce#17, %ce#18, %ce#19, %ce#20, %ce#21, %ce#22, %ce#23, %ce#24, %ce#25, %ce#26, %ce#27, %ce#28, %ce#29, %ce#30, %ce#31, %ce#32, %ce#33, %ce#34, %ce#35, %ce#36, %ce#37, %ce#38, %ce#39, %ce#40, %ce#41, %ce#42, %ce#43, %ce#44, %ce#45, %ce#46, %ce#47, %ce#48, %ce#49, %ce#50, %ce#51, %ce#52, %ce#53, %ce#54, %ce#55, %ce#56, %ce#57, %ce#58, %ce#59, %ce#60, %ce#61, %ce#62, %ce#63, %ae#0, %ae#1, %ae#2, %ae#3, %b3
      : (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i32, i32, i32, i32, i64) -> !slots64
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots64 to vector<64xf32>
    device.yield %d : vector<64xf32>
  }

  device.instruction @wgmma_m64n64k16_f16_rkn on @sm engine(@tensor) operands([@acc, @smem, @acc])
    fragments([
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([unit, [64, 3, 3, 3], unit])
    issue_cycles(32.0) latency_cycles(32) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xf16>, %b: tensor<16x64xf16>, %c: tensor<64x64xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xf16>, tensor<16x64xf16>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    device.yield %d : tensor<64x64xf32>
  } lowering {
  ^bb0(%a: vector<8xf16>, %b: index, %c: vector<32xf32>):
    // Descriptor: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in blocks
    // of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %aw = vector.bitcast %a : vector<8xf16> to vector<4xi32>
    %ae:4 = vector.to_elements %aw : vector<4xi32>
    %ce:32 = vector.to_elements %c : vector<32xf32>
    nvvm.wgmma.fence.aligned
    %r = llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, {$64, $65, $66, $67}, $68, p, 1, 1, 1; }", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,r,r,r,r,l" %ce#0, %ce#1, %ce#2, %ce#3, %ce#4, %ce#5, %ce#6, %ce#7, %ce#8, %ce#9, %ce#10, %ce#11, %ce#12, %ce#13, %ce#14, %ce#15, %ce#16, %ce#17, %ce#18, %ce#19, %ce#20, %ce#21, %ce#22, %ce#23, %ce#24, %ce#25, %ce#26, %ce#27, %ce#28, %ce#29, %ce#30, %ce#31, %ae#0, %ae#1, %ae#2, %ae#3, %b3
      : (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i32, i32, i32, i32, i64) -> !slots32
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots32 to vector<32xf32>
    device.yield %d : vector<32xf32>
  }

  device.instruction @wgmma_m64n64k16_f16_rnk on @sm engine(@tensor) operands([@acc, @smem, @acc])
    fragments([
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([unit, [64, 3, 3, 3], unit])
    issue_cycles(32.0) latency_cycles(32) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xf16>, %b: tensor<64x16xf16>, %c: tensor<64x64xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xf16>, tensor<64x16xf16>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %u = arith.extf %x : f16 to f32
      %v = arith.extf %y : f16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    device.yield %d : tensor<64x64xf32>
  } lowering {
  ^bb0(%a: vector<8xf16>, %b: index, %c: vector<32xf32>):
    // Descriptor: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in blocks
    // of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %aw = vector.bitcast %a : vector<8xf16> to vector<4xi32>
    %ae:4 = vector.to_elements %aw : vector<4xi32>
    %ce:32 = vector.to_elements %c : vector<32xf32>
    nvvm.wgmma.fence.aligned
    %r = llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, {$64, $65, $66, $67}, $68, p, 1, 1, 0; }", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,r,r,r,r,l" %ce#0, %ce#1, %ce#2, %ce#3, %ce#4, %ce#5, %ce#6, %ce#7, %ce#8, %ce#9, %ce#10, %ce#11, %ce#12, %ce#13, %ce#14, %ce#15, %ce#16, %ce#17, %ce#18, %ce#19, %ce#20, %ce#21, %ce#22, %ce#23, %ce#24, %ce#25, %ce#26, %ce#27, %ce#28, %ce#29, %ce#30, %ce#31, %ae#0, %ae#1, %ae#2, %ae#3, %b3
      : (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i32, i32, i32, i32, i64) -> !slots32
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots32 to vector<32xf32>
    device.yield %d : vector<32xf32>
  }

  device.instruction @wgmma_m64n64k16_bf16_rkn on @sm engine(@tensor) operands([@acc, @smem, @acc])
    fragments([
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([unit, [64, 3, 3, 3], unit])
    issue_cycles(32.0) latency_cycles(32) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xbf16>, %b: tensor<16x64xbf16>, %c: tensor<64x64xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (k, n)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xbf16>, tensor<16x64xbf16>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    device.yield %d : tensor<64x64xf32>
  } lowering {
  ^bb0(%a: vector<8xbf16>, %b: index, %c: vector<32xf32>):
    // Descriptor: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in blocks
    // of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %aw = vector.bitcast %a : vector<8xbf16> to vector<4xi32>
    %ae:4 = vector.to_elements %aw : vector<4xi32>
    %ce:32 = vector.to_elements %c : vector<32xf32>
    nvvm.wgmma.fence.aligned
    %r = llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, {$64, $65, $66, $67}, $68, p, 1, 1, 1; }", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,r,r,r,r,l" %ce#0, %ce#1, %ce#2, %ce#3, %ce#4, %ce#5, %ce#6, %ce#7, %ce#8, %ce#9, %ce#10, %ce#11, %ce#12, %ce#13, %ce#14, %ce#15, %ce#16, %ce#17, %ce#18, %ce#19, %ce#20, %ce#21, %ce#22, %ce#23, %ce#24, %ce#25, %ce#26, %ce#27, %ce#28, %ce#29, %ce#30, %ce#31, %ae#0, %ae#1, %ae#2, %ae#3, %b3
      : (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i32, i32, i32, i32, i64) -> !slots32
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots32 to vector<32xf32>
    device.yield %d : vector<32xf32>
  }

  device.instruction @wgmma_m64n64k16_bf16_rnk on @sm engine(@tensor) operands([@acc, @smem, @acc])
    fragments([
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>,
      unit,
      affine_map<(l, s) -> (16 * (l floordiv 32) + (l mod 32) floordiv 4 + 8 * ((s floordiv 2) mod 2), 2 * (l mod 4) + s mod 2 + 8 * (s floordiv 4))>
    ])
    layouts([unit, [64, 3, 3, 3], unit])
    issue_cycles(32.0) latency_cycles(32) accuracy(["accumulation_order", "rounding"])
  meaning {
  ^bb0(%a: tensor<64x16xbf16>, %b: tensor<64x16xbf16>, %c: tensor<64x64xf32>):
    %d = linalg.generic {
      indexing_maps = [
        affine_map<(m, n, k) -> (m, k)>,
        affine_map<(m, n, k) -> (n, k)>,
        affine_map<(m, n, k) -> (m, n)>
      ],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<64x16xbf16>, tensor<64x16xbf16>) outs(%c : tensor<64x64xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<64x64xf32>
    device.yield %d : tensor<64x64xf32>
  } lowering {
  ^bb0(%a: vector<8xbf16>, %b: index, %c: vector<32xf32>):
    // Descriptor: the address in units of 16 bytes, 1024 bytes to the next 8 rows, swizzled in blocks
    // of 128 bytes.
    %how = arith.constant 4611686293305360384 : i64
    %low = arith.constant 262143 : i32
    %four = arith.constant 4 : i32
    %b0 = arith.index_cast %b : index to i32
    %b1 = arith.andi %b0, %low : i32
    %b2 = arith.shrui %b1, %four : i32
    %bw = arith.extui %b2 : i32 to i64
    %b3 = arith.ori %bw, %how : i64
    %aw = vector.bitcast %a : vector<8xbf16> to vector<4xi32>
    %ae:4 = vector.to_elements %aw : vector<4xi32>
    %ce:32 = vector.to_elements %c : vector<32xf32>
    nvvm.wgmma.fence.aligned
    %r = llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, 1, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {$0, $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31}, {$64, $65, $66, $67}, $68, p, 1, 1, 0; }", "=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31,r,r,r,r,l" %ce#0, %ce#1, %ce#2, %ce#3, %ce#4, %ce#5, %ce#6, %ce#7, %ce#8, %ce#9, %ce#10, %ce#11, %ce#12, %ce#13, %ce#14, %ce#15, %ce#16, %ce#17, %ce#18, %ce#19, %ce#20, %ce#21, %ce#22, %ce#23, %ce#24, %ce#25, %ce#26, %ce#27, %ce#28, %ce#29, %ce#30, %ce#31, %ae#0, %ae#1, %ae#2, %ae#3, %b3
      : (f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, f32, i32, i32, i32, i32, i64) -> !slots32
    nvvm.wgmma.commit.group.sync.aligned
    %d = builtin.unrealized_conversion_cast %r : !slots32 to vector<32xf32>
    device.yield %d : vector<32xf32>
  }
}
