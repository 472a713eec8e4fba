// A chip of 32 cores in the manner of the STCP920, on which GraphTurbo was measured: each core has
// a local buffer and units that multiply matrices, compute on lanes and transfer, side by side;
// eight cores are a cluster, with a buffer and an engine that fills it.
//
// Published are the cores, the clock and 128 TFLOPS of f16, 256 TOPS of i8. The other numbers are
// parameters, chosen so that a core's units keep pace with each other; none is a measurement.

device.machine @stcp920_like arch("stcp920-like") features([]) {
  // The operations that lowerings are written in, on addresses: @ib[c] += @l1[a] * @l1[b].
  irdl.dialect @stcp {
    irdl.operation @mme_f32 attributes {encoding = "mme.f32 {0}, {1}, {2}"} {
      %address = irdl.is index
      irdl.operands(a: %address, b: %address, c: %address)
    }
    irdl.operation @mme_f16 attributes {encoding = "mme.f16 {0}, {1}, {2}"} {
      %address = irdl.is index
      irdl.operands(a: %address, b: %address, c: %address)
    }
    irdl.operation @mme_i8 attributes {encoding = "mme.i8 {0}, {1}, {2}"} {
      %address = irdl.is index
      irdl.operands(a: %address, b: %address, c: %address)
    }
  }

  device.memory @ddr scope("device") capacity_bytes(17179869184) bytes_per_cycle(128) transaction_bytes(64)
  // What the eight cores of a cluster share, on the way from and to @ddr: the same transfers reach it.
  device.memory @llb scope("cluster") capacity_bytes(8388608) within(@ddr) bytes_per_cycle(512)
  // The local buffer, and the sums of the matrix unit.
  device.memory @l1 scope("core") capacity_bytes(1048576) bytes_per_cycle(256) banks(16) bank_bytes(16)
  device.memory @ib scope("core") capacity_bytes(262144) bytes_per_cycle(256) banks(16) bank_bytes(16)
  // 32 registers of the lanes.
  device.memory @vreg scope("thread") capacity_bytes(8192) register_bytes(256)

  device.unit @core count(32) clock_mhz(1000) cluster(@cluster) handover_cycles(500)
  device.unit @cluster count(4) clock_mhz(1000)
  // Transfers of a cluster.
  device.engine @sdma on @cluster queue(32)
  // Transfers in and out, layouts within the core, and the matrix unit.
  device.engine @dma_in on @core queue(32)
  device.engine @dma_out on @core queue(32)
  device.engine @mte on @core queue(32)
  device.engine @mme on @core queue(256)

  device.move @fetch from @ddr to @llb engine(@sdma) bytes_per_cycle(128) latency_cycles(200) strided
    encoding("fetch.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @load from @ddr to @l1 engine(@dma_in) bytes_per_cycle(64) latency_cycles(200) strided
    encoding("load.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @load_acc from @ddr to @ib engine(@dma_in) bytes_per_cycle(64) latency_cycles(200) strided
    encoding("load.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @store from @l1 to @ddr engine(@dma_out) bytes_per_cycle(64) latency_cycles(200) strided
    encoding("store.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @store_acc from @ib to @ddr engine(@dma_out) bytes_per_cycle(64) latency_cycles(200) strided
    encoding("store.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @layout from @l1 to @l1 engine(@mte) bytes_per_cycle(128) latency_cycles(20) strided fills
    encoding("layout.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @begin from @l1 to @ib engine(@mte) bytes_per_cycle(128) latency_cycles(20) strided fills
    encoding("begin.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @drain from @ib to @l1 engine(@mte) bytes_per_cycle(128) latency_cycles(20) strided
    encoding("drain.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @vld from @l1 to @vreg issue_cycles(1.0) latency_cycles(4) strided encoding("vld {to}, {from}")
  device.move @vst from @vreg to @l1 issue_cycles(1.0) latency_cycles(4) strided encoding("vst {from}, {to}")

  device.lanes @vme on @core in @vreg issue_cycles(1.0) latency_cycles(4)
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
      "math.ctpop", "math.ctlz", "math.cttz", "math.exp", "math.log", "math.rsqrt", "math.tanh"
    ]) reductions([
      "arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf", "arith.maxnumf",
      "arith.minnumf", "arith.addi", "arith.muli", "arith.maxsi", "arith.minsi", "arith.maxui",
      "arith.minui", "arith.andi", "arith.ori", "arith.xori"
    ])

  // c += a * b.
  device.instruction @mme_f32 on @core engine(@mme) operands([@l1, @l1, @ib])
    issue_cycles(8.0) latency_cycles(16) accuracy(["accumulation_order"]) encoding("mme.f32 {0}, {1}, {2}")
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
    "stcp.mme_f32"(%a, %b, %c) : (index, index, index) -> ()
    device.yield
  }

  // The same for halves, summed in 32 bits.
  device.instruction @mme_f16 on @core engine(@mme) operands([@l1, @l1, @ib])
    issue_cycles(2.0) latency_cycles(16) accuracy(["accumulation_order"]) encoding("mme.f16 {0}, {1}, {2}")
  meaning {
  ^bb0(%a: tensor<16x16xf16>, %b: tensor<16x16xf16>, %c: tensor<16x16xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
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
  ^bb0(%a: index, %b: index, %c: index):
    "stcp.mme_f16"(%a, %b, %c) : (index, index, index) -> ()
    device.yield
  }

  // And for signed bytes.
  device.instruction @mme_i8 on @core engine(@mme) operands([@l1, @l1, @ib])
    issue_cycles(1.0) latency_cycles(16) encoding("mme.i8 {0}, {1}, {2}")
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
    "stcp.mme_i8"(%a, %b, %c) : (index, index, index) -> ()
    device.yield
  }
}
