// A toy: four cores, each with an array of 4x4x4 multiply-adds, a scratchpad that a DMA
// engine fills, and a vector unit of 16 bytes for everything else.

device.machine @toy arch("toy") features([]) {
  // The operations that lowerings are written in: c += a * b, and c += a * a, at addresses
  // of @spad.
  irdl.dialect @toy {
    irdl.operation @mac attributes {encoding = "mac {2}, {0}, {1}"} {
      %address = irdl.is index
      irdl.operands(a: %address, b: %address, c: %address)
    }
    irdl.operation @square attributes {encoding = "msq {1}, {0}"} {
      %address = irdl.is index
      irdl.operands(a: %address, c: %address)
    }
  }
  // A block times itself is read once.
  pdl.pattern @mac_of_one : benefit(1) {
    %index = pdl.type : index
    %a = pdl.operand : %index
    %c = pdl.operand : %index
    %mac = pdl.operation "toy.mac"(%a, %a, %c : !pdl.value, !pdl.value, !pdl.value)
    pdl.rewrite %mac {
      %square = pdl.operation "toy.square"(%a, %c : !pdl.value, !pdl.value)
      pdl.replace %mac with %square
    }
  }

  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @spad scope("core") capacity_bytes(131072) bytes_per_cycle(64) banks(16) bank_bytes(4)
  // 32 registers of 16 bytes.
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)

  device.unit @core count(4) clock_mhz(1000) handover_cycles(500)
  device.engine @dma on @core queue(8)
  device.engine @mac on @core queue(4)

  device.move @in from @dram to @spad engine(@dma) bytes_per_cycle(16) latency_cycles(200) strided fills
    encoding("dma.in.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @out from @spad to @dram engine(@dma) bytes_per_cycle(16) latency_cycles(200) strided
    encoding("dma.out.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @vload from @spad to @vreg issue_cycles(1.0) latency_cycles(2) strided encoding("vld.{type} {to}, {from}, {sizes}")
  device.move @vstore from @vreg to @spad issue_cycles(1.0) latency_cycles(2) strided encoding("vst.{type} {to}, {from}, {sizes}")

  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(3)
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

  // c += a * b on blocks of 4 x 4.
  device.instruction @mac4x4x4 on @core engine(@mac) operands([@spad, @spad, @spad])
    issue_cycles(4.0) latency_cycles(8) accuracy(["accumulation_order"]) encoding("mac {2}, {0}, {1}")
  meaning {
  ^bb0(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %c: tensor<4x4xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<4x4xf32>
    device.yield %d : tensor<4x4xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: index):
    "toy.mac"(%a, %b, %c) : (index, index, index) -> ()
    device.yield
  }
}
