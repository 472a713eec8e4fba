// A vector DSP: registers of 64 bytes, a local memory that a DMA engine fills, and a
// multiply-add of a vector by a number.

!f32_lanes = tensor<16xf32>
!f32_vector = vector<16xf32>

device.machine @dsp arch("dsp") features([]) {
  device.memory @ddr scope("device") capacity_bytes(2147483648) bytes_per_cycle(8) transaction_bytes(64)
  device.memory @tcm scope("core") capacity_bytes(262144) bytes_per_cycle(128) banks(32) bank_bytes(4)
  // 32 registers of 64 bytes.
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)

  device.unit @core count(2) clock_mhz(800) handover_cycles(1000)
  device.engine @dma on @core queue(16)

  device.move @fetch from @ddr to @tcm engine(@dma) bytes_per_cycle(8) latency_cycles(150) strided fills
    encoding("fetch.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @flush from @tcm to @ddr engine(@dma) bytes_per_cycle(8) latency_cycles(150) strided
    encoding("flush.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @vload from @tcm to @vreg issue_cycles(1.0) latency_cycles(3) strided encoding("vload {to}, {from}")
  device.move @vstore from @vreg to @tcm issue_cycles(1.0) latency_cycles(3) strided encoding("vstore {to}, {from}")

  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4)
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
      "math.ctpop", "math.ctlz", "math.cttz",
      // Special functions.
      "math.exp", "math.log", "math.rsqrt", "math.tanh"
    ]) reductions([
      "arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
      "arith.minnumf", "arith.addi", "arith.muli", "arith.maxsi", "arith.minsi", "arith.maxui",
      "arith.minui", "arith.andi", "arith.ori", "arith.xori"
    ])

  // c += a * b with one a for all lanes; rounds once where the meaning rounds twice.
  device.instruction @vmac on @core operands([@tcm, @vreg, @vreg])
    issue_cycles(1.0) latency_cycles(4) accuracy(["rounding"]) encoding("vmac {2}, {1}, {0}")
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
}
