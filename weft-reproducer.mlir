// weft-opt weft-reproducer.mlir --pass-pipeline='builtin.module(tile-construct-rtiles)'
#map = affine_map<(d0) -> ()>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0, d1 + 992)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1 + 992)>
#map7 = affine_map<(d0, d1, d2) -> (d1, d0 * 16 + d2)>
#map8 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d1 * 16 + d2)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d0, d2)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 16 + d3)>
"builtin.module"() ({
  "device.machine"() <{arch = "x86-64", features = ["avx2", "fma", "f16c", "bmi2", "avx512f", "avx512bw", "avx512dq", "avx512vl"], sym_name = "x86_avx512"}> ({
    "device.memory"() <{bytes_per_cycle = 12 : i64, capacity_bytes = 25276510208 : i64, scope = "device", sym_name = "dram", transaction_bytes = 64 : i64}> : () -> ()
    "device.memory"() <{bytes_per_cycle = 28 : i64, caches = @dram, capacity_bytes = 33554432 : i64, scope = "device", sym_name = "l3", transaction_bytes = 64 : i64}> : () -> ()
    "device.memory"() <{bytes_per_cycle = 60 : i64, caches = @l3, capacity_bytes = 1048576 : i64, scope = "core", sym_name = "l2", transaction_bytes = 64 : i64, way_bytes = 65536 : i64}> : () -> ()
    "device.memory"() <{bytes_per_cycle = 128 : i64, caches = @l2, capacity_bytes = 49152 : i64, scope = "core", sym_name = "l1", transaction_bytes = 64 : i64, way_bytes = 4096 : i64}> : () -> ()
    "device.memory"() <{capacity_bytes = 2048 : i64, register_bytes = 64 : i64, scope = "thread", sym_name = "vreg"}> : () -> ()
    "device.unit"() <{clock_mhz = 3800 : i64, count = 2 : i64, handover_cycles = 20000 : i64, sym_name = "core"}> : () -> ()
    "device.move"() <{issue_cycles = 5.000000e-01 : f64, latency_cycles = 7 : i64, source = @dram, strided, sym_name = "load", target = @vreg}> : () -> ()
    "device.move"() <{issue_cycles = 1.000000e+00 : f64, latency_cycles = 7 : i64, source = @vreg, strided, sym_name = "store", target = @dram}> : () -> ()
    "device.lanes"() <{issue_cycles = 5.000000e-01 : f64, latency_cycles = 4 : i64, memory = @vreg, operations = ["arith.addf", "arith.subf", "arith.mulf", "arith.divf", "arith.negf", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.remf", "arith.cmpf", "arith.select", "arith.extf", "arith.truncf", "arith.sitofp", "arith.uitofp", "arith.fptosi", "arith.fptoui", "arith.bitcast", "arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.divui", "arith.remsi", "arith.remui", "arith.floordivsi", "arith.ceildivsi", "arith.ceildivui", "arith.andi", "arith.ori", "arith.xori", "arith.shli", "arith.shrsi", "arith.shrui", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "arith.cmpi", "arith.extsi", "arith.extui", "arith.trunci", "arith.index_cast", "arith.index_castui", "math.fma", "math.sqrt", "math.absf", "math.absi", "math.floor", "math.ceil", "math.trunc", "math.roundeven", "math.copysign", "math.ctpop", "math.ctlz", "math.cttz"], reductions = ["arith.addf", "arith.mulf", "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.addi", "arith.muli", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui", "arith.andi", "arith.ori", "arith.xori"], sym_name = "valu", types = [f64, f32, f16, bf16, i64, i32, i16, i8], unit = @core}> : () -> ()
    "device.instruction"() <{accuracy = ["rounding"], issue_cycles = 5.000000e-01 : f64, latency_cycles = 4 : i64, operands = [@dram, @vreg, @vreg], sym_name = "vfma_f32", unit = @core}> ({
    ^bb0(%arg53: tensor<f32>, %arg54: tensor<16xf32>, %arg55: tensor<16xf32>):
      %35 = "linalg.generic"(%arg53, %arg54, %arg55) <{indexing_maps = [#map, #map1, #map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
      ^bb0(%arg56: f32, %arg57: f32, %arg58: f32):
        %36 = "arith.mulf"(%arg56, %arg57) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        %37 = "arith.addf"(%arg58, %36) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "linalg.yield"(%37) : (f32) -> ()
      }) : (tensor<f32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
      "device.yield"(%35) : (tensor<16xf32>) -> ()
    }, {
    ^bb0(%arg50: f32, %arg51: vector<16xf32>, %arg52: vector<16xf32>):
      %33 = "vector.broadcast"(%arg50) : (f32) -> vector<16xf32>
      %34 = "vector.fma"(%33, %arg51, %arg52) : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
      "device.yield"(%34) : (vector<16xf32>) -> ()
    }) : () -> ()
    "device.instruction"() <{accuracy = ["rounding"], issue_cycles = 5.000000e-01 : f64, latency_cycles = 4 : i64, operands = [@vreg, @vreg, @vreg], sym_name = "vfmavv_f32", unit = @core}> ({
    ^bb0(%arg44: tensor<16xf32>, %arg45: tensor<16xf32>, %arg46: tensor<16xf32>):
      %30 = "linalg.generic"(%arg44, %arg45, %arg46) <{indexing_maps = [#map1, #map1, #map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
      ^bb0(%arg47: f32, %arg48: f32, %arg49: f32):
        %31 = "arith.mulf"(%arg47, %arg48) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        %32 = "arith.addf"(%arg49, %31) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "linalg.yield"(%32) : (f32) -> ()
      }) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
      "device.yield"(%30) : (tensor<16xf32>) -> ()
    }, {
    ^bb0(%arg41: vector<16xf32>, %arg42: vector<16xf32>, %arg43: vector<16xf32>):
      %29 = "vector.fma"(%arg41, %arg42, %arg43) : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
      "device.yield"(%29) : (vector<16xf32>) -> ()
    }) : () -> ()
    "device.instruction"() <{accuracy = ["rounding"], issue_cycles = 5.000000e-01 : f64, latency_cycles = 4 : i64, operands = [@dram, @vreg, @vreg], sym_name = "vfma_f64", unit = @core}> ({
    ^bb0(%arg35: tensor<f64>, %arg36: tensor<8xf64>, %arg37: tensor<8xf64>):
      %26 = "linalg.generic"(%arg35, %arg36, %arg37) <{indexing_maps = [#map, #map1, #map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
      ^bb0(%arg38: f64, %arg39: f64, %arg40: f64):
        %27 = "arith.mulf"(%arg38, %arg39) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        %28 = "arith.addf"(%arg40, %27) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        "linalg.yield"(%28) : (f64) -> ()
      }) : (tensor<f64>, tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
      "device.yield"(%26) : (tensor<8xf64>) -> ()
    }, {
    ^bb0(%arg32: f64, %arg33: vector<8xf64>, %arg34: vector<8xf64>):
      %24 = "vector.broadcast"(%arg32) : (f64) -> vector<8xf64>
      %25 = "vector.fma"(%24, %arg33, %arg34) : (vector<8xf64>, vector<8xf64>, vector<8xf64>) -> vector<8xf64>
      "device.yield"(%25) : (vector<8xf64>) -> ()
    }) : () -> ()
    "device.instruction"() <{accuracy = ["rounding"], issue_cycles = 5.000000e-01 : f64, latency_cycles = 4 : i64, operands = [@vreg, @vreg, @vreg], sym_name = "vfmavv_f64", unit = @core}> ({
    ^bb0(%arg26: tensor<8xf64>, %arg27: tensor<8xf64>, %arg28: tensor<8xf64>):
      %21 = "linalg.generic"(%arg26, %arg27, %arg28) <{indexing_maps = [#map1, #map1, #map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
      ^bb0(%arg29: f64, %arg30: f64, %arg31: f64):
        %22 = "arith.mulf"(%arg29, %arg30) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        %23 = "arith.addf"(%arg31, %22) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        "linalg.yield"(%23) : (f64) -> ()
      }) : (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
      "device.yield"(%21) : (tensor<8xf64>) -> ()
    }, {
    ^bb0(%arg23: vector<8xf64>, %arg24: vector<8xf64>, %arg25: vector<8xf64>):
      %20 = "vector.fma"(%arg23, %arg24, %arg25) : (vector<8xf64>, vector<8xf64>, vector<8xf64>) -> vector<8xf64>
      "device.yield"(%20) : (vector<8xf64>) -> ()
    }) : () -> ()
  }) : () -> ()
  "tile.graph"() <{inputs = ["x"], outputs = ["y"], signature = (tensor<128x4032xf32>) -> tensor<128x1000xf32>, sym_name = "core_M1"}> ({
  ^bb0(%arg22: tensor<128x4032xf32>):
    %12 = "graph.weight"() <{file = "model", hash = "0bab519e186826ce801f66eea80febc9", tensor = "c_1"}> : () -> tensor<4032x1000xf32>
    %13 = "tile.empty"() <{memory = @dram}> : () -> tensor<128x1000xf32>
    %14 = "tile.empty"() <{memory = @dram}> : () -> tensor<62x4032x16xf32>
    %15 = "tile.run"(%12, %14) <{kernel = @matmul_0_packed_pack_1, name = "matmul_2", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4032x1000xf32>, tensor<62x4032x16xf32>) -> tensor<62x4032x16xf32>
    %16 = "tile.run"(%arg22, %15, %13) <{kernel = @matmul_0, name = "matmul_2", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<128x4032xf32>, tensor<62x4032x16xf32>, tensor<128x1000xf32>) -> tensor<128x1000xf32>
    %17 = "tile.empty"() <{memory = @dram}> : () -> tensor<4032x8xf32>
    %18 = "tile.run"(%12, %17) <{kernel = @matmul_0_rest_pack_1, name = "matmul_2", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4032x1000xf32>, tensor<4032x8xf32>) -> tensor<4032x8xf32>
    %19 = "tile.run"(%arg22, %18, %16) <{kernel = @matmul_0_rest, name = "matmul_2", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<128x4032xf32>, tensor<4032x8xf32>, tensor<128x1000xf32>) -> tensor<128x1000xf32>
    "tile.output"(%19) : (tensor<128x1000xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_0_rest_pack_1"}> ({
  ^bb0(%arg18: tensor<4032x1000xf32>, %arg19: tensor<4032x8xf32>):
    %11 = "linalg.generic"(%arg18, %arg19) <{indexing_maps = [#map2, #map3], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg20: f32, %arg21: f32):
      "linalg.yield"(%arg20) : (f32) -> ()
    }) : (tensor<4032x1000xf32>, tensor<4032x8xf32>) -> tensor<4032x8xf32>
    "tile.yield"(%11) : (tensor<4032x8xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_0_rest"}> ({
  ^bb0(%arg11: tensor<128x4032xf32>, %arg12: tensor<4032x8xf32>, %arg13: tensor<128x1000xf32>):
    %6 = "linalg.generic"(%arg13) <{indexing_maps = [#map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg17: f32):
      %10 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%10) : (f32) -> ()
    }) : (tensor<128x1000xf32>) -> tensor<128x1000xf32>
    %7 = "linalg.generic"(%arg11, %arg12, %6) <{indexing_maps = [#map4, #map5, #map6], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg14: f32, %arg15: f32, %arg16: f32):
      %8 = "arith.mulf"(%arg14, %arg15) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %9 = "arith.addf"(%arg16, %8) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%9) : (f32) -> ()
    }) : (tensor<128x4032xf32>, tensor<4032x8xf32>, tensor<128x1000xf32>) -> tensor<128x1000xf32>
    "tile.yield"(%7) : (tensor<128x1000xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_0_packed_pack_1"}> ({
  ^bb0(%arg7: tensor<4032x1000xf32>, %arg8: tensor<62x4032x16xf32>):
    %5 = "linalg.generic"(%arg7, %arg8) <{indexing_maps = [#map7, #map8], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg9: f32, %arg10: f32):
      "linalg.yield"(%arg9) : (f32) -> ()
    }) : (tensor<4032x1000xf32>, tensor<62x4032x16xf32>) -> tensor<62x4032x16xf32>
    "tile.yield"(%5) : (tensor<62x4032x16xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_0"}> ({
  ^bb0(%arg0: tensor<128x4032xf32>, %arg1: tensor<62x4032x16xf32>, %arg2: tensor<128x1000xf32>):
    %0 = "linalg.generic"(%arg2) <{indexing_maps = [#map9], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg6: f32):
      %4 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%4) : (f32) -> ()
    }) : (tensor<128x1000xf32>) -> tensor<128x1000xf32>
    %1 = "linalg.generic"(%arg0, %arg1, %0) <{indexing_maps = [#map10, #map11, #map12], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg3: f32, %arg4: f32, %arg5: f32):
      %2 = "arith.mulf"(%arg3, %arg4) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %3 = "arith.addf"(%arg5, %2) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%3) : (f32) -> ()
    }) : (tensor<128x4032xf32>, tensor<62x4032x16xf32>, tensor<128x1000xf32>) -> tensor<128x1000xf32>
    "tile.yield"(%1) : (tensor<128x1000xf32>) -> ()
  }) : () -> ()
}) : () -> ()

