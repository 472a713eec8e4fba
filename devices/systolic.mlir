// A systolic array of 16 x 16 in the manner of Gemmini: a scratchpad for operands, an
// accumulator memory for results, engines that load, multiply and store, and a scalar
// core that reaches memory by itself and does what the array cannot.

device.machine @systolic arch("systolic") features([]) {
  // The operations that lowerings are written in: @acc[c] += @spad[a] * @spad[b].
  irdl.dialect @systolic {
    irdl.operation @compute_f32 attributes {encoding = "compute.f32 {0}, {1}, {2}"} {
      %address = irdl.is index
      irdl.operands(a: %address, b: %address, c: %address)
    }
    irdl.operation @compute_i8 attributes {encoding = "compute.i8 {0}, {1}, {2}"} {
      %address = irdl.is index
      irdl.operands(a: %address, b: %address, c: %address)
    }
  }

  device.memory @dram scope("device") capacity_bytes(4294967296) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @spad scope("core") capacity_bytes(262144) bytes_per_cycle(64) banks(4) bank_bytes(16)
  device.memory @acc scope("core") capacity_bytes(65536) bytes_per_cycle(64) banks(2) bank_bytes(64)
  // 32 registers of the scalar core, one element each.
  device.memory @xreg scope("thread") capacity_bytes(256) register_bytes(8) lanes(1)

  device.unit @core count(1) clock_mhz(1000) handover_cycles(500)
  device.engine @loader on @core queue(8)
  device.engine @array on @core queue(16)
  device.engine @storer on @core queue(8)

  device.move @mvin from @dram to @spad engine(@loader) bytes_per_cycle(16) latency_cycles(100) strided fills
    encoding("mvin.{type} {from}, {to}, {sizes}, {from_strides}, {to_strides}")
  device.move @mvin_acc from @dram to @acc engine(@loader) bytes_per_cycle(16) latency_cycles(100) strided fills
    encoding("mvin3.{type} {from}, {to}, {sizes}, {from_strides}, {to_strides}")
  device.move @mvout from @acc to @dram engine(@storer) bytes_per_cycle(16) latency_cycles(100) strided
    encoding("mvout.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @lw from @dram to @xreg issue_cycles(1.0) latency_cycles(3) strided encoding("lw {to}, {from}")
  device.move @sw from @xreg to @dram issue_cycles(1.0) latency_cycles(3) strided encoding("sw {from}, {to}")

  device.lanes @scalar on @core in @xreg issue_cycles(1.0) latency_cycles(4)
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

  // c += a * b, a streamed through weights that stay.
  device.instruction @matmul_f32 on @core engine(@array) operands([@spad, @spad, @acc])
    issue_cycles(16.0) latency_cycles(32) accuracy(["accumulation_order"]) encoding("compute.f32 {0}, {1}, {2}")
  meaning {
  ^bb0(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>, %c: tensor<16x16xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>) outs(%c : tensor<16x16xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x16xf32>
    device.yield %d : tensor<16x16xf32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: index):
    "systolic.compute_f32"(%a, %b, %c) : (index, index, index) -> ()
    device.yield
  }

  // The same for signed bytes, summed in 32 bits.
  device.instruction @matmul_i8 on @core engine(@array) operands([@spad, @spad, @acc])
    issue_cycles(16.0) latency_cycles(32) encoding("compute.i8 {0}, {1}, {2}")
  meaning {
  ^bb0(%a: tensor<16x16xi8>, %b: tensor<16x16xi8>, %c: tensor<16x16xi32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x16xi8>, tensor<16x16xi8>) outs(%c : tensor<16x16xi32>) {
    ^bb0(%x: i8, %y: i8, %z: i32):
      %u = arith.extsi %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %z, %p : i32
      linalg.yield %s : i32
    } -> tensor<16x16xi32>
    device.yield %d : tensor<16x16xi32>
  } lowering {
  ^bb0(%a: index, %b: index, %c: index):
    "systolic.compute_i8"(%a, %b, %c) : (index, index, index) -> ()
    device.yield
  }
}
