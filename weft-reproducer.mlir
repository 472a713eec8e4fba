// weft-opt weft-reproducer.mlir --pass-pipeline='builtin.module(tile-to-device)'
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d1)>
#map2 = affine_map<(d0, d1) -> (d0)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  device.machine @ipu arch("ipu") features([]) {
    device.memory @remote scope("device") capacity_bytes(318767104) bytes_per_cycle(4864)
    device.memory @local scope("core") capacity_bytes(262144) bytes_per_cycle(16) banks(2) bank_bytes(8)
    device.memory @areg scope("core") capacity_bytes(128) register_bytes(8)
    device.unit @tile count(1216) clock_mhz(1600)
    device.engine @exchange on @tile queue(4)
    device.move @receive from @remote to @local engine(@exchange) bytes_per_cycle(4) latency_cycles(130) strided fills encoding("exchange.receive {to}, {from}, {sizes}, {from_strides}, {to_strides}")
    device.move @send from @local to @remote engine(@exchange) bytes_per_cycle(4) latency_cycles(130) strided encoding("exchange.send {to}, {from}, {sizes}, {from_strides}, {to_strides}")
    device.move @ld64 from @local to @areg issue_cycles(1.000000e+00) latency_cycles(6) strided encoding("ld64 {to}, {from}")
    device.move @st64 from @areg to @local issue_cycles(1.000000e+00) latency_cycles(6) strided encoding("st64 {from}, {to}")
    device.lanes @alu on @tile in @areg issue_cycles(1.000000e+00) latency_cycles(6) types([f64, f32, f16, bf16, i64, i32, i16, i8]) operations(["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.remf", "arith.cmpf", "arith.select", "arith.extf", "arith.truncf", "arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui", "arith.bitcast", "arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.floordivsi", "arith.ceildivsi", "arith.ceildivui", "arith.andi", "arith.ori", "arith.xori", "arith.shli", "arith.shrsi", "arith.shrui", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "arith.cmpi", "arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui", "math.fma", "math.sqrt", "math.absf", "math.absi", "math.floor", "math.ceil", "math.trunc", "math.roundeven", "math.copysign", "math.ctpop", "math.ctlz", "math.cttz"]) reductions(["arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.addi", "arith.muli", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "arith.andi", "arith.ori", "arith.xori"])
    device.instruction @amp on @tile operands([@local, @local, @local]) issue_cycles(4.000000e+00) latency_cycles(6) accuracy(["accumulation_order"]) encoding("f32sisoamp {2}, {0}, {1}") meaning {
    ^bb0(%arg0: tensor<16x4xf32>, %arg1: tensor<4xf32>, %arg2: tensor<16xf32>):
      %0 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "reduction"]} ins(%arg0, %arg1 : tensor<16x4xf32>, tensor<4xf32>) outs(%arg2 : tensor<16xf32>) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %1 = arith.mulf %in, %in_0 : f32
        %2 = arith.addf %out, %1 : f32
        linalg.yield %2 : f32
      } -> tensor<16xf32>
      device.yield %0 : tensor<16xf32>
    } lowering {
    ^bb0(%arg0: index, %arg1: index, %arg2: index):
      device.yield
    }
  }
  task.program @kernel on @tile units 1216 arena 0 : (tensor<35x40xf32>, tensor<40x70xf32>) -> tensor<35x70xf32> {
    %0 = task.input 0 "A" : memref<35x40xf32>
    %1 = task.input 1 "B" : memref<40x70xf32>
    %2 = task.output 0 "C" : memref<35x70xf32>
    %3 = task.range "C" @expression_0[0 to 2] on 0(%0, %1, %2) after() : memref<35x40xf32>, memref<40x70xf32>, memref<35x70xf32>
  }
  tile.kernel @expression_0 {
  ^bb0(%arg0: tensor<35x40xf32>, %arg1: tensor<40x70xf32>, %arg2: tensor<35x70xf32>):
    %0 = tile.load %arg0 to @local : tensor<35x40xf32>
    %1 = tile.load %arg1 to @local : tensor<40x70xf32>
    %2 = tile.compute ins(%0, %1) outs(%arg2) on @amp axes [1, 2] tiles [#tile.rtile<"remote"[35, 64, 40]>, #tile.rtile<"local"[35, 32, 8]>] : (tensor<35x40xf32>, tensor<40x70xf32>, tensor<35x70xf32>) -> tensor<35x70xf32> {
    ^bb0(%arg3: tensor<35x40xf32>, %arg4: tensor<40x70xf32>, %arg5: tensor<35x70xf32>):
      %4 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel", "parallel"]} outs(%arg5 : tensor<35x70xf32>) {
      ^bb0(%out: f32):
        %cst = arith.constant 0.000000e+00 : f32
        linalg.yield %cst : f32
      } -> tensor<35x70xf32>
      %5 = linalg.generic {indexing_maps = [#map3, #map4, #map5], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg3, %arg4 : tensor<35x40xf32>, tensor<40x70xf32>) outs(%4 : tensor<35x70xf32>) {
      ^bb0(%in: f32, %in_0: f32, %out: f32):
        %6 = arith.mulf %in, %in_0 : f32
        %7 = arith.addf %out, %6 : f32
        linalg.yield %7 : f32
      } -> tensor<35x70xf32>
      tile.yield %5 : tensor<35x70xf32>
    }
    %3 = tile.store %2 from @local to %arg2 : tensor<35x70xf32>
    tile.yield %3 : tensor<35x70xf32>
  }
}

