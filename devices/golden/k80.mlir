// NVIDIA K80, as Roller saw it.
//
// Source: the constants of the published implementation (Zhu et al., "ROLLER: Fast and Efficient
// Tensor Compilation for Deep Learning", OSDI 2022). They were measured or chosen by its authors and
// are not the chip's limits: this machine is for comparing candidates with the published ones.
// What is not among them, as latencies, is that of the chip's own file.

device.machine @k80_roller arch("sm_37") features(["ptx64"]) {
  device.memory @global scope("device") capacity_bytes(12884901888) gbytes_per_second(191) transaction_bytes(32)
  // All cores together.
  device.memory @smem scope("core") capacity_bytes(49152) gbytes_per_second(2540) transaction_bytes(256) banks(32) bank_bytes(8)
  // 96 registers of 32 bits a thread, 32768 a block.
  device.memory @reg scope("warp") capacity_bytes(12288) register_bytes(128) lanes(32) core_bytes(131072)
  device.unit @sm count(26) clock_mhz(824) partitions(4) block_lanes(512) handover_cycles(50)

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
    issue_cycles(5.000000e-01) latency_cycles(4) gflops(4113) accuracy(["rounding"])
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
    issue_cycles(5.000000e-01) latency_cycles(4) gflops(4113) accuracy(["rounding"])
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
}
