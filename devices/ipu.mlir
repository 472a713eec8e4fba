// Many cores with local memory only, in the manner of Graphcore's first IPU: 1216 tiles
// of 256 KiB, which read each other's memory over an exchange. @remote is all of them
// together. Rates of the exchange and of local memory are those that Roller published
// for the chip: 7.68 and 7.59 TB/s.

device.machine @ipu arch("ipu") features([]) {
  // The operation that lowerings are written in, on addresses of @local.
  irdl.dialect @ipu {
    irdl.operation @amp attributes {encoding = "f32sisoamp {2}, {0}, {1}"} {
      %address = irdl.is index
      irdl.operands(a: %address, b: %address, c: %address)
    }
  }

  device.memory @remote scope("device") capacity_bytes(318767104) bytes_per_cycle(4864)
  device.memory @local scope("core") capacity_bytes(262144) bytes_per_cycle(16) banks(2) bank_bytes(8)
  // 16 registers of 8 bytes.
  device.memory @areg scope("thread") capacity_bytes(128) register_bytes(8)

  // A wait is a message through the exchange and its answer; that the host starts a program in
  // 10 microseconds is a parameter, no measurement.
  device.unit @tile count(1216) clock_mhz(1600) handover_cycles(500) wait_cycles(260) launch_cycles(16000)
  device.engine @exchange on @tile queue(4)

  device.move @receive from @remote to @local engine(@exchange) bytes_per_cycle(4) latency_cycles(130) strided fills
    encoding("exchange.receive.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @send from @local to @remote engine(@exchange) bytes_per_cycle(4) latency_cycles(130) strided
    encoding("exchange.send.{type} {to}, {from}, {sizes}, {from_strides}, {to_strides}")
  device.move @ld64 from @local to @areg issue_cycles(1.0) latency_cycles(6) strided encoding("ld64 {to}, {from}")
  device.move @st64 from @areg to @local issue_cycles(1.0) latency_cycles(6) strided encoding("st64 {from}, {to}")

  device.lanes @alu on @tile in @areg issue_cycles(1.0) latency_cycles(6)
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

  // The accumulating matrix product of a tile: 16 rows of 4 weights and one vector.
  device.instruction @amp on @tile operands([@local, @local, @local])
    issue_cycles(4.0) latency_cycles(6) accuracy(["accumulation_order"]) encoding("f32sisoamp {2}, {0}, {1}")
  meaning {
  ^bb0(%w: tensor<16x4xf32>, %x: tensor<4xf32>, %c: tensor<16xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%w, %x : tensor<16x4xf32>, tensor<4xf32>) outs(%c : tensor<16xf32>) {
    ^bb0(%p: f32, %q: f32, %r: f32):
      %t = arith.mulf %p, %q : f32
      %s = arith.addf %r, %t : f32
      linalg.yield %s : f32
    } -> tensor<16xf32>
    device.yield %d : tensor<16xf32>
  } lowering {
  ^bb0(%w: index, %x: index, %c: index):
    "ipu.amp"(%w, %x, %c) : (index, index, index) -> ()
    device.yield
  }
}
