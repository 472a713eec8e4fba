// AMD Instinct MI50, 32 GB.
//
// What the chip is; how it is used is decided in passes. Sources: "AMD Radeon Instinct MI50
// Accelerator" (data sheet): counts, clock, memory; "Vega 7nm Instruction Set Architecture":
// registers, local data share.
// Cycles are those of a compute unit, whose four SIMDs work side by side; latencies are
// measured ones, rounded.
// There are no matrix instructions.

device.machine @mi50 arch("gfx906") features([]) {
  // 1024 GB/s at 1725 MHz.
  device.memory @global scope("device") capacity_bytes(34359738368) bytes_per_cycle(593) transaction_bytes(64)
  device.memory @l2 scope("device") capacity_bytes(4194304) caches(@global) bytes_per_cycle(1024) transaction_bytes(64)
  device.memory @lds scope("core") capacity_bytes(65536) bytes_per_cycle(128) banks(32) bank_bytes(4)
  // 256 registers of 32 bits for each of the 64 lanes of a wavefront.
  device.memory @reg scope("warp") capacity_bytes(65536) register_bytes(256) lanes(64) core_bytes(262144)
  // Starting a wavefront costs little, and many hide latency.
  // A wait is a store and a load past the unit's own caches; empty launches of one stream come
  // about 3 microseconds after each other (makers' developer forums).
  // A barrier of eight groups: a tenth of a load from far away, an estimate.
  device.unit @cu count(60) clock_mhz(1725) partitions(4) block_lanes(1024) groups(8) barrier_cycles(50) handover_cycles(50) wait_cycles(1000) launch_cycles(5175)

  // One address per lane: a warp's request goes through the load unit in a cycle where it hits.
  device.move @load from @global to @reg issue_cycles(4.000000e+00) latency_cycles(500) strided fills
  device.move @store from @reg to @global issue_cycles(4.000000e+00) latency_cycles(500) strided
  device.move @stage from @global to @lds issue_cycles(5.000000e+00) latency_cycles(500) strided fills
  device.move @unstage from @lds to @global issue_cycles(5.000000e+00) latency_cycles(500) strided
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
    issue_cycles(2.000000e+00) latency_cycles(4) accuracy(["rounding"])
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
    issue_cycles(2.000000e+00) latency_cycles(4) accuracy(["rounding"])
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
}
