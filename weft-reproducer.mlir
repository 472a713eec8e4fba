// weft-opt weft-reproducer.mlir --pass-pipeline='builtin.module(tile-construct-rtiles)'
#map = affine_map<(d0) -> ()>
#map1 = affine_map<(d0) -> (d0)>
#map2 = affine_map<(d0, d1) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0)>
#map4 = affine_map<(d0, d1) -> (d1)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map7 = affine_map<(d0, d1) -> (d1, d0)>
#map8 = affine_map<(d0, d1) -> (d0, d1 + 96)>
#map9 = affine_map<(d0, d1) -> (d0, d1 + 192)>
#map10 = affine_map<(d0, d1, d2) -> (d0, d2, d1)>
#map11 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map12 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map13 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map15 = affine_map<(d0, d1) -> (d0 + 11, d1)>
#map16 = affine_map<(d0, d1, d2) -> (d0, d1 + 3, d2)>
#map17 = affine_map<(d0, d1, d2) -> (d0, d1 + 11, d2)>
#map18 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map19 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map20 = affine_map<(d0, d1) -> (d0 + 3, d1)>
#map21 = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#map22 = affine_map<(d0, d1, d2, d3) -> (d0, d2)>
#map23 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
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
    ^bb0(%arg324: tensor<f32>, %arg325: tensor<16xf32>, %arg326: tensor<16xf32>):
      %589 = "linalg.generic"(%arg324, %arg325, %arg326) <{indexing_maps = [#map, #map1, #map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
      ^bb0(%arg327: f32, %arg328: f32, %arg329: f32):
        %590 = "arith.mulf"(%arg327, %arg328) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        %591 = "arith.addf"(%arg329, %590) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "linalg.yield"(%591) : (f32) -> ()
      }) : (tensor<f32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
      "device.yield"(%589) : (tensor<16xf32>) -> ()
    }, {
    ^bb0(%arg321: f32, %arg322: vector<16xf32>, %arg323: vector<16xf32>):
      %587 = "vector.broadcast"(%arg321) : (f32) -> vector<16xf32>
      %588 = "vector.fma"(%587, %arg322, %arg323) : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
      "device.yield"(%588) : (vector<16xf32>) -> ()
    }) : () -> ()
    "device.instruction"() <{accuracy = ["rounding"], issue_cycles = 5.000000e-01 : f64, latency_cycles = 4 : i64, operands = [@vreg, @vreg, @vreg], sym_name = "vfmavv_f32", unit = @core}> ({
    ^bb0(%arg315: tensor<16xf32>, %arg316: tensor<16xf32>, %arg317: tensor<16xf32>):
      %584 = "linalg.generic"(%arg315, %arg316, %arg317) <{indexing_maps = [#map1, #map1, #map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
      ^bb0(%arg318: f32, %arg319: f32, %arg320: f32):
        %585 = "arith.mulf"(%arg318, %arg319) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        %586 = "arith.addf"(%arg320, %585) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
        "linalg.yield"(%586) : (f32) -> ()
      }) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
      "device.yield"(%584) : (tensor<16xf32>) -> ()
    }, {
    ^bb0(%arg312: vector<16xf32>, %arg313: vector<16xf32>, %arg314: vector<16xf32>):
      %583 = "vector.fma"(%arg312, %arg313, %arg314) : (vector<16xf32>, vector<16xf32>, vector<16xf32>) -> vector<16xf32>
      "device.yield"(%583) : (vector<16xf32>) -> ()
    }) : () -> ()
    "device.instruction"() <{accuracy = ["rounding"], issue_cycles = 5.000000e-01 : f64, latency_cycles = 4 : i64, operands = [@dram, @vreg, @vreg], sym_name = "vfma_f64", unit = @core}> ({
    ^bb0(%arg306: tensor<f64>, %arg307: tensor<8xf64>, %arg308: tensor<8xf64>):
      %580 = "linalg.generic"(%arg306, %arg307, %arg308) <{indexing_maps = [#map, #map1, #map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
      ^bb0(%arg309: f64, %arg310: f64, %arg311: f64):
        %581 = "arith.mulf"(%arg309, %arg310) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        %582 = "arith.addf"(%arg311, %581) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        "linalg.yield"(%582) : (f64) -> ()
      }) : (tensor<f64>, tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
      "device.yield"(%580) : (tensor<8xf64>) -> ()
    }, {
    ^bb0(%arg303: f64, %arg304: vector<8xf64>, %arg305: vector<8xf64>):
      %578 = "vector.broadcast"(%arg303) : (f64) -> vector<8xf64>
      %579 = "vector.fma"(%578, %arg304, %arg305) : (vector<8xf64>, vector<8xf64>, vector<8xf64>) -> vector<8xf64>
      "device.yield"(%579) : (vector<8xf64>) -> ()
    }) : () -> ()
    "device.instruction"() <{accuracy = ["rounding"], issue_cycles = 5.000000e-01 : f64, latency_cycles = 4 : i64, operands = [@vreg, @vreg, @vreg], sym_name = "vfmavv_f64", unit = @core}> ({
    ^bb0(%arg297: tensor<8xf64>, %arg298: tensor<8xf64>, %arg299: tensor<8xf64>):
      %575 = "linalg.generic"(%arg297, %arg298, %arg299) <{indexing_maps = [#map1, #map1, #map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
      ^bb0(%arg300: f64, %arg301: f64, %arg302: f64):
        %576 = "arith.mulf"(%arg300, %arg301) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        %577 = "arith.addf"(%arg302, %576) <{fastmath = #arith.fastmath<none>}> : (f64, f64) -> f64
        "linalg.yield"(%577) : (f64) -> ()
      }) : (tensor<8xf64>, tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
      "device.yield"(%575) : (tensor<8xf64>) -> ()
    }, {
    ^bb0(%arg294: vector<8xf64>, %arg295: vector<8xf64>, %arg296: vector<8xf64>):
      %574 = "vector.fma"(%arg294, %arg295, %arg296) : (vector<8xf64>, vector<8xf64>, vector<8xf64>) -> vector<8xf64>
      "device.yield"(%574) : (vector<8xf64>) -> ()
    }) : () -> ()
  }) : () -> ()
  "tile.graph"() <{inputs = ["x"], outputs = ["y"], signature = (tensor<1x14x14x96xf32>) -> tensor<1x7x7x192xf32>, sym_name = "swin"}> ({
  ^bb0(%arg293: tensor<1x14x14x96xf32>):
    %187 = "graph.weight"() <{file = "model", hash = "0a72beb819805d8d67a774115d24970d", tensor = "c_1"}> : () -> tensor<96xf32>
    %188 = "graph.weight"() <{file = "model", hash = "981fc83456290d4238bea2917b1c54dd", tensor = "c_2"}> : () -> tensor<96xf32>
    %189 = "tile.view"(%arg293) : (tensor<1x14x14x96xf32>) -> tensor<196x96xf32>
    %190 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14xf32>
    %191 = "tile.view"(%190) : (tensor<1x14x14xf32>) -> tensor<196xf32>
    %192 = "tile.run"(%189, %191) <{kernel = @layernormalization_0_layernormalization, name = "layernormalization_3", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<196x96xf32>, tensor<196xf32>) -> tensor<196xf32>
    %193 = "tile.view"(%arg293) : (tensor<1x14x14x96xf32>) -> tensor<196x96xf32>
    %194 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14xf32>
    %195 = "tile.view"(%194) : (tensor<1x14x14xf32>) -> tensor<196xf32>
    %196 = "tile.run"(%193, %192, %195) <{kernel = @layernormalization_2_layernormalization_layernormalization, name = "layernormalization_3", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<196x96xf32>, tensor<196xf32>, tensor<196xf32>) -> tensor<196xf32>
    %197 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x96xf32>
    %198 = "tile.view"(%arg293) : (tensor<1x14x14x96xf32>) -> tensor<196x96xf32>
    %199 = "tile.view"(%197) : (tensor<1x14x14x96xf32>) -> tensor<196x96xf32>
    %200 = "tile.run"(%198, %196, %192, %187, %188, %199) <{kernel = @layernormalization_4, name = "layernormalization_3", operandSegmentSizes = array<i32: 5, 1>}> : (tensor<196x96xf32>, tensor<196xf32>, tensor<196xf32>, tensor<96xf32>, tensor<96xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    %201 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x2x2x7x7x96xf32>
    %202 = "tile.view"(%200) : (tensor<196x96xf32>) -> tensor<2x7x2x672xf32>
    %203 = "tile.view"(%201) : (tensor<1x2x2x7x7x96xf32>) -> tensor<2x2x7x672xf32>
    %204 = "tile.run"(%202, %203) <{kernel = @transpose_0, name = "transpose_6", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<2x7x2x672xf32>, tensor<2x2x7x672xf32>) -> tensor<2x2x7x672xf32>
    %205 = "graph.weight"() <{file = "model", hash = "65082c65565d9db96b55407ebc611e75", tensor = "c_9"}> : () -> tensor<169x3xf32>
    %206 = "graph.weight"() <{file = "model", hash = "43db3dd951f5fd002e47bcc88a36a1ce", tensor = "c_10"}> : () -> tensor<49x49xi64>
    %207 = "tile.empty"() <{memory = @dram}> : () -> tensor<49x49x3xf32>
    %208 = "tile.view"(%206) : (tensor<49x49xi64>) -> tensor<2401xi64>
    %209 = "tile.view"(%207) : (tensor<49x49x3xf32>) -> tensor<2401x3xf32>
    %210 = "tile.run"(%208, %205, %209) <{kernel = @gather_0, name = "gather_11", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<2401xi64>, tensor<169x3xf32>, tensor<2401x3xf32>) -> tensor<2401x3xf32>
    %211 = "tile.empty"() <{memory = @dram}> : () -> tensor<3x49x49xf32>
    %212 = "tile.view"(%211) : (tensor<3x49x49xf32>) -> tensor<3x2401xf32>
    %213 = "tile.run"(%210, %212) <{kernel = @transpose_1, name = "transpose_12", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<2401x3xf32>, tensor<3x2401xf32>) -> tensor<3x2401xf32>
    %214 = "graph.weight"() <{file = "model", hash = "4d920f4c3f739819affe1997b23f6a14", tensor = "c_13"}> : () -> tensor<96x288xf32>
    %215 = "tile.view"(%204) : (tensor<2x2x7x672xf32>) -> tensor<196x96xf32>
    %216 = "graph.weight"() <{file = "model", hash = "0e08d176db67bc7fa35afcebbd7d31bb", tensor = "c_15"}> : () -> tensor<288xf32>
    %217 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x49x288xf32>
    %218 = "tile.view"(%217) : (tensor<4x49x288xf32>) -> tensor<196x288xf32>
    %219 = "tile.view"(%214) : (tensor<96x288xf32>) -> tensor<96x18x16xf32>
    %220 = "tile.empty"() <{memory = @dram}> : () -> tensor<18x96x16xf32>
    %221 = "tile.run"(%219, %220) <{kernel = @matmul_0_add_pack_1, name = "matmul_14+add_16", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<96x18x16xf32>, tensor<18x96x16xf32>) -> tensor<18x96x16xf32>
    %222 = "tile.view"(%216) : (tensor<288xf32>) -> tensor<18x16xf32>
    %223 = "tile.view"(%218) : (tensor<196x288xf32>) -> tensor<196x18x16xf32>
    %224 = "tile.run"(%215, %221, %222, %223) <{kernel = @matmul_0_add, name = "matmul_14+add_16", operandSegmentSizes = array<i32: 3, 1>}> : (tensor<196x96xf32>, tensor<18x96x16xf32>, tensor<18x16xf32>, tensor<196x18x16xf32>) -> tensor<196x18x16xf32>
    %225 = "tile.view"(%224) : (tensor<196x18x16xf32>) -> tensor<196x288xf32>
    %226 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x49x96xf32>
    %227 = "tile.view"(%226) : (tensor<4x49x96xf32>) -> tensor<196x96xf32>
    %228 = "tile.run"(%225, %227) <{kernel = @split_0, name = "split_17", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<196x288xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    %229 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x49x96xf32>
    %230 = "tile.view"(%229) : (tensor<4x49x96xf32>) -> tensor<196x96xf32>
    %231 = "tile.run"(%225, %230) <{kernel = @split_1, name = "split_17", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<196x288xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    %232 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x49x96xf32>
    %233 = "tile.view"(%232) : (tensor<4x49x96xf32>) -> tensor<196x96xf32>
    %234 = "tile.run"(%225, %233) <{kernel = @split_2, name = "split_17", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<196x288xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    %235 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x32xf32>
    %236 = "tile.view"(%228) : (tensor<196x96xf32>) -> tensor<4x49x3x32xf32>
    %237 = "tile.run"(%236, %235) <{kernel = @transpose_2, name = "transpose_22", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4x49x3x32xf32>, tensor<4x3x49x32xf32>) -> tensor<4x3x49x32xf32>
    %238 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x32xf32>
    %239 = "tile.view"(%231) : (tensor<196x96xf32>) -> tensor<4x49x3x32xf32>
    %240 = "tile.run"(%239, %238) <{kernel = @transpose_2, name = "transpose_25", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4x49x3x32xf32>, tensor<4x3x49x32xf32>) -> tensor<4x3x49x32xf32>
    %241 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x32xf32>
    %242 = "tile.view"(%234) : (tensor<196x96xf32>) -> tensor<4x49x3x32xf32>
    %243 = "tile.run"(%242, %241) <{kernel = @transpose_2, name = "transpose_28", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4x49x3x32xf32>, tensor<4x3x49x32xf32>) -> tensor<4x3x49x32xf32>
    %244 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x32x49xf32>
    %245 = "tile.view"(%240) : (tensor<4x3x49x32xf32>) -> tensor<12x49x32xf32>
    %246 = "tile.view"(%244) : (tensor<4x3x32x49xf32>) -> tensor<12x32x49xf32>
    %247 = "tile.run"(%245, %246) <{kernel = @transpose_3, name = "transpose_29", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<12x49x32xf32>, tensor<12x32x49xf32>) -> tensor<12x32x49xf32>
    %248 = "tile.view"(%237) : (tensor<4x3x49x32xf32>) -> tensor<12x49x32xf32>
    %249 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x49xf32>
    %250 = "tile.view"(%249) : (tensor<4x3x49x49xf32>) -> tensor<12x49x49xf32>
    %251 = "tile.run"(%248, %247, %250) <{kernel = @matmul_1_mul, name = "matmul_30+mul_32", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<12x49x32xf32>, tensor<12x32x49xf32>, tensor<12x49x49xf32>) -> tensor<12x49x49xf32>
    %252 = "tile.view"(%251) : (tensor<12x49x49xf32>) -> tensor<28812xf32>
    %253 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x49xf32>
    %254 = "tile.view"(%252) : (tensor<28812xf32>) -> tensor<4x7203xf32>
    %255 = "tile.view"(%213) : (tensor<3x2401xf32>) -> tensor<7203xf32>
    %256 = "tile.view"(%253) : (tensor<4x3x49x49xf32>) -> tensor<4x7203xf32>
    %257 = "tile.run"(%254, %255, %256) <{kernel = @add_1, name = "add_33", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<4x7203xf32>, tensor<7203xf32>, tensor<4x7203xf32>) -> tensor<4x7203xf32>
    %258 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49xf32>
    %259 = "tile.view"(%257) : (tensor<4x7203xf32>) -> tensor<588x49xf32>
    %260 = "tile.view"(%258) : (tensor<4x3x49xf32>) -> tensor<588xf32>
    %261 = "tile.run"(%259, %260) <{kernel = @softmax_0, name = "softmax_34", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<588x49xf32>, tensor<588xf32>) -> tensor<588xf32>
    %262 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x49xf32>
    %263 = "tile.view"(%257) : (tensor<4x7203xf32>) -> tensor<588x49xf32>
    %264 = "tile.view"(%262) : (tensor<4x3x49x49xf32>) -> tensor<588x49xf32>
    %265 = "tile.run"(%263, %261, %264) <{kernel = @softmax_1, name = "softmax_34", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<588x49xf32>, tensor<588xf32>, tensor<588x49xf32>) -> tensor<588x49xf32>
    %266 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49xf32>
    %267 = "tile.view"(%266) : (tensor<4x3x49xf32>) -> tensor<588xf32>
    %268 = "tile.run"(%265, %267) <{kernel = @softmax_2, name = "softmax_34", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<588x49xf32>, tensor<588xf32>) -> tensor<588xf32>
    %269 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x49xf32>
    %270 = "tile.view"(%269) : (tensor<4x3x49x49xf32>) -> tensor<588x49xf32>
    %271 = "tile.run"(%265, %268, %270) <{kernel = @softmax_3, name = "softmax_34", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<588x49xf32>, tensor<588xf32>, tensor<588x49xf32>) -> tensor<588x49xf32>
    %272 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x32xf32>
    %273 = "tile.view"(%271) : (tensor<588x49xf32>) -> tensor<12x49x49xf32>
    %274 = "tile.view"(%243) : (tensor<4x3x49x32xf32>) -> tensor<12x49x32xf32>
    %275 = "tile.view"(%272) : (tensor<4x3x49x32xf32>) -> tensor<12x49x32xf32>
    %276 = "tile.run"(%273, %274, %275) <{kernel = @matmul_2, name = "matmul_35", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<12x49x49xf32>, tensor<12x49x32xf32>, tensor<12x49x32xf32>) -> tensor<12x49x32xf32>
    %277 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x49x3x32xf32>
    %278 = "tile.view"(%276) : (tensor<12x49x32xf32>) -> tensor<4x3x49x32xf32>
    %279 = "tile.run"(%278, %277) <{kernel = @transpose_4, name = "transpose_36", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4x3x49x32xf32>, tensor<4x49x3x32xf32>) -> tensor<4x49x3x32xf32>
    %280 = "graph.weight"() <{file = "model", hash = "fce16ff6b3b85fe3a0bc0c3c806208d1", tensor = "c_39"}> : () -> tensor<96x96xf32>
    %281 = "tile.view"(%279) : (tensor<4x49x3x32xf32>) -> tensor<196x96xf32>
    %282 = "graph.weight"() <{file = "model", hash = "d5cfae7e6b2f360f5852ad91e2adcdc0", tensor = "c_41"}> : () -> tensor<96xf32>
    %283 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x49x96xf32>
    %284 = "tile.view"(%283) : (tensor<4x49x96xf32>) -> tensor<196x96xf32>
    %285 = "tile.view"(%280) : (tensor<96x96xf32>) -> tensor<96x6x16xf32>
    %286 = "tile.empty"() <{memory = @dram}> : () -> tensor<6x96x16xf32>
    %287 = "tile.run"(%285, %286) <{kernel = @matmul_3_add_pack_1, name = "matmul_40+add_42", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<96x6x16xf32>, tensor<6x96x16xf32>) -> tensor<6x96x16xf32>
    %288 = "tile.view"(%282) : (tensor<96xf32>) -> tensor<6x16xf32>
    %289 = "tile.view"(%284) : (tensor<196x96xf32>) -> tensor<196x6x16xf32>
    %290 = "tile.run"(%281, %287, %288, %289) <{kernel = @matmul_3_add, name = "matmul_40+add_42", operandSegmentSizes = array<i32: 3, 1>}> : (tensor<196x96xf32>, tensor<6x96x16xf32>, tensor<6x16xf32>, tensor<196x6x16xf32>) -> tensor<196x6x16xf32>
    %291 = "tile.view"(%290) : (tensor<196x6x16xf32>) -> tensor<196x96xf32>
    %292 = "tile.view"(%291) : (tensor<196x96xf32>) -> tensor<2x2x7x672xf32>
    %293 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x96xf32>
    %294 = "tile.view"(%arg293) : (tensor<1x14x14x96xf32>) -> tensor<2x7x2x672xf32>
    %295 = "tile.view"(%293) : (tensor<1x14x14x96xf32>) -> tensor<2x7x2x672xf32>
    %296 = "tile.run"(%292, %294, %295) <{kernel = @transpose_5_add, name = "transpose_45+add_48", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<2x2x7x672xf32>, tensor<2x7x2x672xf32>, tensor<2x7x2x672xf32>) -> tensor<2x7x2x672xf32>
    %297 = "tile.view"(%296) : (tensor<2x7x2x672xf32>) -> tensor<18816xf32>
    %298 = "graph.weight"() <{file = "model", hash = "0a47b2469d77beabf0d7b602f23f3de9", tensor = "c_49"}> : () -> tensor<96xf32>
    %299 = "graph.weight"() <{file = "model", hash = "fa20cb3aa98dcf8db3ad94865448512d", tensor = "c_50"}> : () -> tensor<96xf32>
    %300 = "tile.view"(%297) : (tensor<18816xf32>) -> tensor<196x96xf32>
    %301 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14xf32>
    %302 = "tile.view"(%301) : (tensor<1x14x14xf32>) -> tensor<196xf32>
    %303 = "tile.run"(%300, %302) <{kernel = @layernormalization_0_layernormalization, name = "layernormalization_51", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<196x96xf32>, tensor<196xf32>) -> tensor<196xf32>
    %304 = "tile.view"(%297) : (tensor<18816xf32>) -> tensor<196x96xf32>
    %305 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14xf32>
    %306 = "tile.view"(%305) : (tensor<1x14x14xf32>) -> tensor<196xf32>
    %307 = "tile.run"(%304, %303, %306) <{kernel = @layernormalization_2_layernormalization_layernormalization, name = "layernormalization_51", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<196x96xf32>, tensor<196xf32>, tensor<196xf32>) -> tensor<196xf32>
    %308 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x96xf32>
    %309 = "tile.view"(%297) : (tensor<18816xf32>) -> tensor<196x96xf32>
    %310 = "tile.view"(%308) : (tensor<1x14x14x96xf32>) -> tensor<196x96xf32>
    %311 = "tile.run"(%309, %307, %303, %298, %299, %310) <{kernel = @layernormalization_4, name = "layernormalization_51", operandSegmentSizes = array<i32: 5, 1>}> : (tensor<196x96xf32>, tensor<196xf32>, tensor<196xf32>, tensor<96xf32>, tensor<96xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    %312 = "graph.weight"() <{file = "model", hash = "23bb4ab5ec45dc997728d7a18ff145d1", tensor = "c_52"}> : () -> tensor<96x384xf32>
    %313 = "graph.weight"() <{file = "model", hash = "52fa21e1daf7cc3016381d7f8c53a0fc", tensor = "c_54"}> : () -> tensor<384xf32>
    %314 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x384xf32>
    %315 = "tile.view"(%314) : (tensor<1x14x14x384xf32>) -> tensor<196x384xf32>
    %316 = "tile.view"(%312) : (tensor<96x384xf32>) -> tensor<96x24x16xf32>
    %317 = "tile.empty"() <{memory = @dram}> : () -> tensor<24x96x16xf32>
    %318 = "tile.run"(%316, %317) <{kernel = @matmul_4_add_gelu_pack_1, name = "matmul_53+add_55+gelu_56", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<96x24x16xf32>, tensor<24x96x16xf32>) -> tensor<24x96x16xf32>
    %319 = "tile.view"(%313) : (tensor<384xf32>) -> tensor<24x16xf32>
    %320 = "tile.view"(%315) : (tensor<196x384xf32>) -> tensor<196x24x16xf32>
    %321 = "tile.run"(%311, %318, %319, %320) <{kernel = @matmul_4_add_gelu, name = "matmul_53+add_55+gelu_56", operandSegmentSizes = array<i32: 3, 1>}> : (tensor<196x96xf32>, tensor<24x96x16xf32>, tensor<24x16xf32>, tensor<196x24x16xf32>) -> tensor<196x24x16xf32>
    %322 = "tile.view"(%321) : (tensor<196x24x16xf32>) -> tensor<196x384xf32>
    %323 = "tile.view"(%322) : (tensor<196x384xf32>) -> tensor<75264xf32>
    %324 = "graph.weight"() <{file = "model", hash = "a2a88a0d6807f9b82ec229e01f3f7391", tensor = "c_57"}> : () -> tensor<384x96xf32>
    %325 = "tile.view"(%323) : (tensor<75264xf32>) -> tensor<196x384xf32>
    %326 = "graph.weight"() <{file = "model", hash = "dd477284e6ec7573ecb8c773e691d8f1", tensor = "c_59"}> : () -> tensor<96xf32>
    %327 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x96xf32>
    %328 = "tile.view"(%296) : (tensor<2x7x2x672xf32>) -> tensor<196x96xf32>
    %329 = "tile.view"(%327) : (tensor<1x14x14x96xf32>) -> tensor<196x96xf32>
    %330 = "tile.view"(%324) : (tensor<384x96xf32>) -> tensor<384x6x16xf32>
    %331 = "tile.empty"() <{memory = @dram}> : () -> tensor<6x384x16xf32>
    %332 = "tile.run"(%330, %331) <{kernel = @matmul_5_add_add_pack_1, name = "matmul_58+add_60+add_61", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<384x6x16xf32>, tensor<6x384x16xf32>) -> tensor<6x384x16xf32>
    %333 = "tile.view"(%326) : (tensor<96xf32>) -> tensor<6x16xf32>
    %334 = "tile.view"(%328) : (tensor<196x96xf32>) -> tensor<196x6x16xf32>
    %335 = "tile.view"(%329) : (tensor<196x96xf32>) -> tensor<196x6x16xf32>
    %336 = "tile.run"(%325, %332, %333, %334, %335) <{kernel = @matmul_5_add_add, name = "matmul_58+add_60+add_61", operandSegmentSizes = array<i32: 4, 1>}> : (tensor<196x384xf32>, tensor<6x384x16xf32>, tensor<6x16xf32>, tensor<196x6x16xf32>, tensor<196x6x16xf32>) -> tensor<196x6x16xf32>
    %337 = "tile.view"(%336) : (tensor<196x6x16xf32>) -> tensor<196x96xf32>
    %338 = "tile.view"(%337) : (tensor<196x96xf32>) -> tensor<18816xf32>
    %339 = "graph.weight"() <{file = "model", hash = "6c58d8a4747191c27b2f4d85256ac930", tensor = "c_62"}> : () -> tensor<96xf32>
    %340 = "graph.weight"() <{file = "model", hash = "2a2c27d6fb9d174ea387d669af3cf898", tensor = "c_63"}> : () -> tensor<96xf32>
    %341 = "tile.view"(%338) : (tensor<18816xf32>) -> tensor<196x96xf32>
    %342 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14xf32>
    %343 = "tile.view"(%342) : (tensor<1x14x14xf32>) -> tensor<196xf32>
    %344 = "tile.run"(%341, %343) <{kernel = @layernormalization_0_layernormalization, name = "layernormalization_64", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<196x96xf32>, tensor<196xf32>) -> tensor<196xf32>
    %345 = "tile.view"(%338) : (tensor<18816xf32>) -> tensor<196x96xf32>
    %346 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14xf32>
    %347 = "tile.view"(%346) : (tensor<1x14x14xf32>) -> tensor<196xf32>
    %348 = "tile.run"(%345, %344, %347) <{kernel = @layernormalization_2_layernormalization_layernormalization, name = "layernormalization_64", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<196x96xf32>, tensor<196xf32>, tensor<196xf32>) -> tensor<196xf32>
    %349 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x96xf32>
    %350 = "tile.view"(%338) : (tensor<18816xf32>) -> tensor<196x96xf32>
    %351 = "tile.view"(%349) : (tensor<1x14x14x96xf32>) -> tensor<196x96xf32>
    %352 = "tile.run"(%350, %348, %344, %339, %340, %351) <{kernel = @layernormalization_4, name = "layernormalization_64", operandSegmentSizes = array<i32: 5, 1>}> : (tensor<196x96xf32>, tensor<196xf32>, tensor<196xf32>, tensor<96xf32>, tensor<96xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    %353 = "tile.view"(%352) : (tensor<196x96xf32>) -> tensor<14x1344xf32>
    %354 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x3x14x96xf32>
    %355 = "tile.view"(%352) : (tensor<196x96xf32>) -> tensor<18816xf32>
    %356 = "tile.view"(%354) : (tensor<1x3x14x96xf32>) -> tensor<4032xf32>
    %357 = "tile.run"(%355, %356) <{kernel = @slice_1, name = "slice_72", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<18816xf32>, tensor<4032xf32>) -> tensor<4032xf32>
    %358 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x96xf32>
    %359 = "tile.view"(%358) : (tensor<1x14x14x96xf32>) -> tensor<11x1344xf32>
    %360 = "tile.run"(%353, %359) <{kernel = @slice_0_concat, name = "slice_68+concat_73", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<14x1344xf32>, tensor<11x1344xf32>) -> tensor<11x1344xf32>
    %361 = "tile.view"(%360) : (tensor<11x1344xf32>) -> tensor<18816xf32>
    %362 = "tile.view"(%357) : (tensor<4032xf32>) -> tensor<3x1344xf32>
    %363 = "tile.view"(%361) : (tensor<18816xf32>) -> tensor<14x1344xf32>
    %364 = "tile.run"(%362, %363) <{kernel = @concat_1, name = "concat_73", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<3x1344xf32>, tensor<14x1344xf32>) -> tensor<14x1344xf32>
    %365 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x11x96xf32>
    %366 = "tile.view"(%364) : (tensor<14x1344xf32>) -> tensor<14x14x96xf32>
    %367 = "tile.view"(%365) : (tensor<1x14x11x96xf32>) -> tensor<14x11x96xf32>
    %368 = "tile.run"(%366, %367) <{kernel = @slice_2, name = "slice_77", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<14x14x96xf32>, tensor<14x11x96xf32>) -> tensor<14x11x96xf32>
    %369 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x3x96xf32>
    %370 = "tile.view"(%369) : (tensor<1x14x3x96xf32>) -> tensor<14x288xf32>
    %371 = "tile.run"(%364, %370) <{kernel = @slice_3, name = "slice_81", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<14x1344xf32>, tensor<14x288xf32>) -> tensor<14x288xf32>
    %372 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x96xf32>
    %373 = "tile.view"(%368) : (tensor<14x11x96xf32>) -> tensor<14x1056xf32>
    %374 = "tile.view"(%372) : (tensor<1x14x14x96xf32>) -> tensor<14x1344xf32>
    %375 = "tile.run"(%373, %374) <{kernel = @concat_2, name = "concat_82", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<14x1056xf32>, tensor<14x1344xf32>) -> tensor<14x1344xf32>
    %376 = "tile.view"(%371) : (tensor<14x288xf32>) -> tensor<14x3x96xf32>
    %377 = "tile.view"(%375) : (tensor<14x1344xf32>) -> tensor<14x14x96xf32>
    %378 = "tile.run"(%376, %377) <{kernel = @concat_3, name = "concat_82", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<14x3x96xf32>, tensor<14x14x96xf32>) -> tensor<14x14x96xf32>
    %379 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x2x2x7x7x96xf32>
    %380 = "tile.view"(%378) : (tensor<14x14x96xf32>) -> tensor<2x7x2x672xf32>
    %381 = "tile.view"(%379) : (tensor<1x2x2x7x7x96xf32>) -> tensor<2x2x7x672xf32>
    %382 = "tile.run"(%380, %381) <{kernel = @transpose_0, name = "transpose_85", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<2x7x2x672xf32>, tensor<2x2x7x672xf32>) -> tensor<2x2x7x672xf32>
    %383 = "graph.weight"() <{file = "model", hash = "655f11070756551be5f059a19feb2b68", tensor = "c_88"}> : () -> tensor<169x3xf32>
    %384 = "graph.weight"() <{file = "model", hash = "43db3dd951f5fd002e47bcc88a36a1ce", tensor = "c_89"}> : () -> tensor<49x49xi64>
    %385 = "tile.empty"() <{memory = @dram}> : () -> tensor<49x49x3xf32>
    %386 = "tile.view"(%384) : (tensor<49x49xi64>) -> tensor<2401xi64>
    %387 = "tile.view"(%385) : (tensor<49x49x3xf32>) -> tensor<2401x3xf32>
    %388 = "tile.run"(%386, %383, %387) <{kernel = @gather_0, name = "gather_90", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<2401xi64>, tensor<169x3xf32>, tensor<2401x3xf32>) -> tensor<2401x3xf32>
    %389 = "tile.empty"() <{memory = @dram}> : () -> tensor<3x49x49xf32>
    %390 = "tile.view"(%389) : (tensor<3x49x49xf32>) -> tensor<3x2401xf32>
    %391 = "tile.run"(%388, %390) <{kernel = @transpose_1, name = "transpose_91", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<2401x3xf32>, tensor<3x2401xf32>) -> tensor<3x2401xf32>
    %392 = "graph.weight"() <{file = "model", hash = "675590610f40ff55f8e2de949101bd47", tensor = "c_92"}> : () -> tensor<4x1x49x49xf32>
    %393 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x49xf32>
    %394 = "tile.view"(%392) : (tensor<4x1x49x49xf32>) -> tensor<4x2401xf32>
    %395 = "tile.view"(%393) : (tensor<4x3x49x49xf32>) -> tensor<4x3x2401xf32>
    %396 = "tile.run"(%391, %394, %395) <{kernel = @add_5, name = "add_93", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<3x2401xf32>, tensor<4x2401xf32>, tensor<4x3x2401xf32>) -> tensor<4x3x2401xf32>
    %397 = "graph.weight"() <{file = "model", hash = "93c5d313466f0cb6bdad72259f686687", tensor = "c_94"}> : () -> tensor<96x288xf32>
    %398 = "tile.view"(%382) : (tensor<2x2x7x672xf32>) -> tensor<196x96xf32>
    %399 = "graph.weight"() <{file = "model", hash = "20d63ffae7312213769d5fc98bc95170", tensor = "c_96"}> : () -> tensor<288xf32>
    %400 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x49x288xf32>
    %401 = "tile.view"(%400) : (tensor<4x49x288xf32>) -> tensor<196x288xf32>
    %402 = "tile.view"(%397) : (tensor<96x288xf32>) -> tensor<96x18x16xf32>
    %403 = "tile.empty"() <{memory = @dram}> : () -> tensor<18x96x16xf32>
    %404 = "tile.run"(%402, %403) <{kernel = @matmul_0_add_pack_1, name = "matmul_95+add_97", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<96x18x16xf32>, tensor<18x96x16xf32>) -> tensor<18x96x16xf32>
    %405 = "tile.view"(%399) : (tensor<288xf32>) -> tensor<18x16xf32>
    %406 = "tile.view"(%401) : (tensor<196x288xf32>) -> tensor<196x18x16xf32>
    %407 = "tile.run"(%398, %404, %405, %406) <{kernel = @matmul_0_add, name = "matmul_95+add_97", operandSegmentSizes = array<i32: 3, 1>}> : (tensor<196x96xf32>, tensor<18x96x16xf32>, tensor<18x16xf32>, tensor<196x18x16xf32>) -> tensor<196x18x16xf32>
    %408 = "tile.view"(%407) : (tensor<196x18x16xf32>) -> tensor<196x288xf32>
    %409 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x49x96xf32>
    %410 = "tile.view"(%409) : (tensor<4x49x96xf32>) -> tensor<196x96xf32>
    %411 = "tile.run"(%408, %410) <{kernel = @split_0, name = "split_98", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<196x288xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    %412 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x49x96xf32>
    %413 = "tile.view"(%412) : (tensor<4x49x96xf32>) -> tensor<196x96xf32>
    %414 = "tile.run"(%408, %413) <{kernel = @split_1, name = "split_98", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<196x288xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    %415 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x49x96xf32>
    %416 = "tile.view"(%415) : (tensor<4x49x96xf32>) -> tensor<196x96xf32>
    %417 = "tile.run"(%408, %416) <{kernel = @split_2, name = "split_98", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<196x288xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    %418 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x32xf32>
    %419 = "tile.view"(%411) : (tensor<196x96xf32>) -> tensor<4x49x3x32xf32>
    %420 = "tile.run"(%419, %418) <{kernel = @transpose_2, name = "transpose_103", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4x49x3x32xf32>, tensor<4x3x49x32xf32>) -> tensor<4x3x49x32xf32>
    %421 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x32xf32>
    %422 = "tile.view"(%414) : (tensor<196x96xf32>) -> tensor<4x49x3x32xf32>
    %423 = "tile.run"(%422, %421) <{kernel = @transpose_2, name = "transpose_106", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4x49x3x32xf32>, tensor<4x3x49x32xf32>) -> tensor<4x3x49x32xf32>
    %424 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x32xf32>
    %425 = "tile.view"(%417) : (tensor<196x96xf32>) -> tensor<4x49x3x32xf32>
    %426 = "tile.run"(%425, %424) <{kernel = @transpose_2, name = "transpose_109", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4x49x3x32xf32>, tensor<4x3x49x32xf32>) -> tensor<4x3x49x32xf32>
    %427 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x32x49xf32>
    %428 = "tile.view"(%423) : (tensor<4x3x49x32xf32>) -> tensor<12x49x32xf32>
    %429 = "tile.view"(%427) : (tensor<4x3x32x49xf32>) -> tensor<12x32x49xf32>
    %430 = "tile.run"(%428, %429) <{kernel = @transpose_3, name = "transpose_110", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<12x49x32xf32>, tensor<12x32x49xf32>) -> tensor<12x32x49xf32>
    %431 = "tile.view"(%420) : (tensor<4x3x49x32xf32>) -> tensor<12x49x32xf32>
    %432 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x49xf32>
    %433 = "tile.view"(%396) : (tensor<4x3x2401xf32>) -> tensor<12x49x49xf32>
    %434 = "tile.view"(%432) : (tensor<4x3x49x49xf32>) -> tensor<12x49x49xf32>
    %435 = "tile.run"(%431, %430, %433, %434) <{kernel = @matmul_1_mul_add, name = "matmul_111+mul_113+add_114", operandSegmentSizes = array<i32: 3, 1>}> : (tensor<12x49x32xf32>, tensor<12x32x49xf32>, tensor<12x49x49xf32>, tensor<12x49x49xf32>) -> tensor<12x49x49xf32>
    %436 = "tile.view"(%435) : (tensor<12x49x49xf32>) -> tensor<28812xf32>
    %437 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49xf32>
    %438 = "tile.view"(%436) : (tensor<28812xf32>) -> tensor<588x49xf32>
    %439 = "tile.view"(%437) : (tensor<4x3x49xf32>) -> tensor<588xf32>
    %440 = "tile.run"(%438, %439) <{kernel = @softmax_0, name = "softmax_115", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<588x49xf32>, tensor<588xf32>) -> tensor<588xf32>
    %441 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x49xf32>
    %442 = "tile.view"(%436) : (tensor<28812xf32>) -> tensor<588x49xf32>
    %443 = "tile.view"(%441) : (tensor<4x3x49x49xf32>) -> tensor<588x49xf32>
    %444 = "tile.run"(%442, %440, %443) <{kernel = @softmax_1, name = "softmax_115", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<588x49xf32>, tensor<588xf32>, tensor<588x49xf32>) -> tensor<588x49xf32>
    %445 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49xf32>
    %446 = "tile.view"(%445) : (tensor<4x3x49xf32>) -> tensor<588xf32>
    %447 = "tile.run"(%444, %446) <{kernel = @softmax_2, name = "softmax_115", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<588x49xf32>, tensor<588xf32>) -> tensor<588xf32>
    %448 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x49xf32>
    %449 = "tile.view"(%448) : (tensor<4x3x49x49xf32>) -> tensor<588x49xf32>
    %450 = "tile.run"(%444, %447, %449) <{kernel = @softmax_3, name = "softmax_115", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<588x49xf32>, tensor<588xf32>, tensor<588x49xf32>) -> tensor<588x49xf32>
    %451 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x3x49x32xf32>
    %452 = "tile.view"(%450) : (tensor<588x49xf32>) -> tensor<12x49x49xf32>
    %453 = "tile.view"(%426) : (tensor<4x3x49x32xf32>) -> tensor<12x49x32xf32>
    %454 = "tile.view"(%451) : (tensor<4x3x49x32xf32>) -> tensor<12x49x32xf32>
    %455 = "tile.run"(%452, %453, %454) <{kernel = @matmul_2, name = "matmul_116", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<12x49x49xf32>, tensor<12x49x32xf32>, tensor<12x49x32xf32>) -> tensor<12x49x32xf32>
    %456 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x49x3x32xf32>
    %457 = "tile.view"(%455) : (tensor<12x49x32xf32>) -> tensor<4x3x49x32xf32>
    %458 = "tile.run"(%457, %456) <{kernel = @transpose_4, name = "transpose_117", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<4x3x49x32xf32>, tensor<4x49x3x32xf32>) -> tensor<4x49x3x32xf32>
    %459 = "graph.weight"() <{file = "model", hash = "1d62d150530036b24f0a4abb0e6b6bf4", tensor = "c_120"}> : () -> tensor<96x96xf32>
    %460 = "tile.view"(%458) : (tensor<4x49x3x32xf32>) -> tensor<196x96xf32>
    %461 = "graph.weight"() <{file = "model", hash = "2dda146601abebbaeb812b8dddf2ad64", tensor = "c_122"}> : () -> tensor<96xf32>
    %462 = "tile.empty"() <{memory = @dram}> : () -> tensor<4x49x96xf32>
    %463 = "tile.view"(%462) : (tensor<4x49x96xf32>) -> tensor<196x96xf32>
    %464 = "tile.view"(%459) : (tensor<96x96xf32>) -> tensor<96x6x16xf32>
    %465 = "tile.empty"() <{memory = @dram}> : () -> tensor<6x96x16xf32>
    %466 = "tile.run"(%464, %465) <{kernel = @matmul_3_add_pack_1, name = "matmul_121+add_123", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<96x6x16xf32>, tensor<6x96x16xf32>) -> tensor<6x96x16xf32>
    %467 = "tile.view"(%461) : (tensor<96xf32>) -> tensor<6x16xf32>
    %468 = "tile.view"(%463) : (tensor<196x96xf32>) -> tensor<196x6x16xf32>
    %469 = "tile.run"(%460, %466, %467, %468) <{kernel = @matmul_3_add, name = "matmul_121+add_123", operandSegmentSizes = array<i32: 3, 1>}> : (tensor<196x96xf32>, tensor<6x96x16xf32>, tensor<6x16xf32>, tensor<196x6x16xf32>) -> tensor<196x6x16xf32>
    %470 = "tile.view"(%469) : (tensor<196x6x16xf32>) -> tensor<196x96xf32>
    %471 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x2x7x2x7x96xf32>
    %472 = "tile.view"(%470) : (tensor<196x96xf32>) -> tensor<2x2x7x672xf32>
    %473 = "tile.view"(%471) : (tensor<1x2x7x2x7x96xf32>) -> tensor<2x7x2x672xf32>
    %474 = "tile.run"(%472, %473) <{kernel = @transpose_5, name = "transpose_126", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<2x2x7x672xf32>, tensor<2x7x2x672xf32>) -> tensor<2x7x2x672xf32>
    %475 = "tile.view"(%474) : (tensor<2x7x2x672xf32>) -> tensor<14x1344xf32>
    %476 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x11x14x96xf32>
    %477 = "tile.view"(%474) : (tensor<2x7x2x672xf32>) -> tensor<18816xf32>
    %478 = "tile.view"(%476) : (tensor<1x11x14x96xf32>) -> tensor<14784xf32>
    %479 = "tile.run"(%477, %478) <{kernel = @slice_5, name = "slice_136", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<18816xf32>, tensor<14784xf32>) -> tensor<14784xf32>
    %480 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x96xf32>
    %481 = "tile.view"(%480) : (tensor<1x14x14x96xf32>) -> tensor<3x1344xf32>
    %482 = "tile.run"(%475, %481) <{kernel = @slice_4_concat, name = "slice_132+concat_137", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<14x1344xf32>, tensor<3x1344xf32>) -> tensor<3x1344xf32>
    %483 = "tile.view"(%482) : (tensor<3x1344xf32>) -> tensor<18816xf32>
    %484 = "tile.view"(%479) : (tensor<14784xf32>) -> tensor<11x1344xf32>
    %485 = "tile.view"(%483) : (tensor<18816xf32>) -> tensor<14x1344xf32>
    %486 = "tile.run"(%484, %485) <{kernel = @concat_5, name = "concat_137", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<11x1344xf32>, tensor<14x1344xf32>) -> tensor<14x1344xf32>
    %487 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x3x96xf32>
    %488 = "tile.view"(%486) : (tensor<14x1344xf32>) -> tensor<14x14x96xf32>
    %489 = "tile.view"(%487) : (tensor<1x14x3x96xf32>) -> tensor<14x3x96xf32>
    %490 = "tile.run"(%488, %489) <{kernel = @slice_6, name = "slice_141", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<14x14x96xf32>, tensor<14x3x96xf32>) -> tensor<14x3x96xf32>
    %491 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x11x96xf32>
    %492 = "tile.view"(%491) : (tensor<1x14x11x96xf32>) -> tensor<14x1056xf32>
    %493 = "tile.run"(%486, %492) <{kernel = @slice_7, name = "slice_145", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<14x1344xf32>, tensor<14x1056xf32>) -> tensor<14x1056xf32>
    %494 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x96xf32>
    %495 = "tile.view"(%490) : (tensor<14x3x96xf32>) -> tensor<14x288xf32>
    %496 = "tile.view"(%494) : (tensor<1x14x14x96xf32>) -> tensor<14x1344xf32>
    %497 = "tile.run"(%495, %496) <{kernel = @concat_6, name = "concat_146", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<14x288xf32>, tensor<14x1344xf32>) -> tensor<14x1344xf32>
    %498 = "tile.view"(%493) : (tensor<14x1056xf32>) -> tensor<14x11x96xf32>
    %499 = "tile.view"(%497) : (tensor<14x1344xf32>) -> tensor<14x14x96xf32>
    %500 = "tile.run"(%498, %499) <{kernel = @concat_7, name = "concat_146", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<14x11x96xf32>, tensor<14x14x96xf32>) -> tensor<14x14x96xf32>
    %501 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x96xf32>
    %502 = "tile.view"(%500) : (tensor<14x14x96xf32>) -> tensor<18816xf32>
    %503 = "tile.view"(%501) : (tensor<1x14x14x96xf32>) -> tensor<18816xf32>
    %504 = "tile.run"(%338, %502, %503) <{kernel = @add_3, name = "add_147", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<18816xf32>, tensor<18816xf32>, tensor<18816xf32>) -> tensor<18816xf32>
    %505 = "graph.weight"() <{file = "model", hash = "c938e2c74b5ea7e251a9fa442dacf032", tensor = "c_148"}> : () -> tensor<96xf32>
    %506 = "graph.weight"() <{file = "model", hash = "d818f4950d03578b2860f99328915c29", tensor = "c_149"}> : () -> tensor<96xf32>
    %507 = "tile.view"(%504) : (tensor<18816xf32>) -> tensor<196x96xf32>
    %508 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14xf32>
    %509 = "tile.view"(%508) : (tensor<1x14x14xf32>) -> tensor<196xf32>
    %510 = "tile.run"(%507, %509) <{kernel = @layernormalization_0_layernormalization, name = "layernormalization_150", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<196x96xf32>, tensor<196xf32>) -> tensor<196xf32>
    %511 = "tile.view"(%504) : (tensor<18816xf32>) -> tensor<196x96xf32>
    %512 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14xf32>
    %513 = "tile.view"(%512) : (tensor<1x14x14xf32>) -> tensor<196xf32>
    %514 = "tile.run"(%511, %510, %513) <{kernel = @layernormalization_2_layernormalization_layernormalization, name = "layernormalization_150", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<196x96xf32>, tensor<196xf32>, tensor<196xf32>) -> tensor<196xf32>
    %515 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x96xf32>
    %516 = "tile.view"(%504) : (tensor<18816xf32>) -> tensor<196x96xf32>
    %517 = "tile.view"(%515) : (tensor<1x14x14x96xf32>) -> tensor<196x96xf32>
    %518 = "tile.run"(%516, %514, %510, %505, %506, %517) <{kernel = @layernormalization_4, name = "layernormalization_150", operandSegmentSizes = array<i32: 5, 1>}> : (tensor<196x96xf32>, tensor<196xf32>, tensor<196xf32>, tensor<96xf32>, tensor<96xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    %519 = "graph.weight"() <{file = "model", hash = "2c07cf7ac89dd00fac8cc6f2bb89453d", tensor = "c_151"}> : () -> tensor<96x384xf32>
    %520 = "graph.weight"() <{file = "model", hash = "fdd975d9a4b304be0350914f84c27046", tensor = "c_153"}> : () -> tensor<384xf32>
    %521 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x384xf32>
    %522 = "tile.view"(%521) : (tensor<1x14x14x384xf32>) -> tensor<196x384xf32>
    %523 = "tile.view"(%519) : (tensor<96x384xf32>) -> tensor<96x24x16xf32>
    %524 = "tile.empty"() <{memory = @dram}> : () -> tensor<24x96x16xf32>
    %525 = "tile.run"(%523, %524) <{kernel = @matmul_4_add_gelu_pack_1, name = "matmul_152+add_154+gelu_155", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<96x24x16xf32>, tensor<24x96x16xf32>) -> tensor<24x96x16xf32>
    %526 = "tile.view"(%520) : (tensor<384xf32>) -> tensor<24x16xf32>
    %527 = "tile.view"(%522) : (tensor<196x384xf32>) -> tensor<196x24x16xf32>
    %528 = "tile.run"(%518, %525, %526, %527) <{kernel = @matmul_4_add_gelu, name = "matmul_152+add_154+gelu_155", operandSegmentSizes = array<i32: 3, 1>}> : (tensor<196x96xf32>, tensor<24x96x16xf32>, tensor<24x16xf32>, tensor<196x24x16xf32>) -> tensor<196x24x16xf32>
    %529 = "tile.view"(%528) : (tensor<196x24x16xf32>) -> tensor<196x384xf32>
    %530 = "tile.view"(%529) : (tensor<196x384xf32>) -> tensor<75264xf32>
    %531 = "graph.weight"() <{file = "model", hash = "b050358e31ce32274c5271270bb0ddff", tensor = "c_156"}> : () -> tensor<384x96xf32>
    %532 = "tile.view"(%530) : (tensor<75264xf32>) -> tensor<196x384xf32>
    %533 = "graph.weight"() <{file = "model", hash = "e38276677da621d62b44c700d2c676cc", tensor = "c_158"}> : () -> tensor<96xf32>
    %534 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x14x14x96xf32>
    %535 = "tile.view"(%504) : (tensor<18816xf32>) -> tensor<196x96xf32>
    %536 = "tile.view"(%534) : (tensor<1x14x14x96xf32>) -> tensor<196x96xf32>
    %537 = "tile.view"(%531) : (tensor<384x96xf32>) -> tensor<384x6x16xf32>
    %538 = "tile.empty"() <{memory = @dram}> : () -> tensor<6x384x16xf32>
    %539 = "tile.run"(%537, %538) <{kernel = @matmul_5_add_add_pack_1, name = "matmul_157+add_159+add_160", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<384x6x16xf32>, tensor<6x384x16xf32>) -> tensor<6x384x16xf32>
    %540 = "tile.view"(%533) : (tensor<96xf32>) -> tensor<6x16xf32>
    %541 = "tile.view"(%535) : (tensor<196x96xf32>) -> tensor<196x6x16xf32>
    %542 = "tile.view"(%536) : (tensor<196x96xf32>) -> tensor<196x6x16xf32>
    %543 = "tile.run"(%532, %539, %540, %541, %542) <{kernel = @matmul_5_add_add, name = "matmul_157+add_159+add_160", operandSegmentSizes = array<i32: 4, 1>}> : (tensor<196x384xf32>, tensor<6x384x16xf32>, tensor<6x16xf32>, tensor<196x6x16xf32>, tensor<196x6x16xf32>) -> tensor<196x6x16xf32>
    %544 = "tile.view"(%543) : (tensor<196x6x16xf32>) -> tensor<196x96xf32>
    %545 = "tile.view"(%544) : (tensor<196x96xf32>) -> tensor<18816xf32>
    %546 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x7x7x2x2x96xf32>
    %547 = "tile.view"(%545) : (tensor<18816xf32>) -> tensor<7x2x14x96xf32>
    %548 = "tile.view"(%546) : (tensor<1x7x7x2x2x96xf32>) -> tensor<7x14x2x96xf32>
    %549 = "tile.run"(%547, %548) <{kernel = @transpose_6, name = "transpose_163", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<7x2x14x96xf32>, tensor<7x14x2x96xf32>) -> tensor<7x14x2x96xf32>
    %550 = "graph.weight"() <{file = "model", hash = "bec1c053cd25f48d801a2508d2b9e0f4", tensor = "c_166"}> : () -> tensor<384xf32>
    %551 = "graph.weight"() <{file = "model", hash = "0b2e04e164c7baf4f0e4528b1be3a1eb", tensor = "c_167"}> : () -> tensor<384xf32>
    %552 = "tile.view"(%549) : (tensor<7x14x2x96xf32>) -> tensor<49x384xf32>
    %553 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x7x7xf32>
    %554 = "tile.view"(%553) : (tensor<1x7x7xf32>) -> tensor<49xf32>
    %555 = "tile.run"(%552, %554) <{kernel = @layernormalization_5_layernormalization, name = "layernormalization_168", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<49x384xf32>, tensor<49xf32>) -> tensor<49xf32>
    %556 = "tile.view"(%549) : (tensor<7x14x2x96xf32>) -> tensor<49x384xf32>
    %557 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x7x7xf32>
    %558 = "tile.view"(%557) : (tensor<1x7x7xf32>) -> tensor<49xf32>
    %559 = "tile.run"(%556, %555, %558) <{kernel = @layernormalization_7_layernormalization_layernormalization, name = "layernormalization_168", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<49x384xf32>, tensor<49xf32>, tensor<49xf32>) -> tensor<49xf32>
    %560 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x7x7x384xf32>
    %561 = "tile.view"(%549) : (tensor<7x14x2x96xf32>) -> tensor<49x384xf32>
    %562 = "tile.view"(%560) : (tensor<1x7x7x384xf32>) -> tensor<49x384xf32>
    %563 = "tile.run"(%561, %559, %555, %550, %551, %562) <{kernel = @layernormalization_9, name = "layernormalization_168", operandSegmentSizes = array<i32: 5, 1>}> : (tensor<49x384xf32>, tensor<49xf32>, tensor<49xf32>, tensor<384xf32>, tensor<384xf32>, tensor<49x384xf32>) -> tensor<49x384xf32>
    %564 = "graph.weight"() <{file = "model", hash = "eb45b50be7664e613b85c77bf5874c1b", tensor = "c_169"}> : () -> tensor<384x192xf32>
    %565 = "tile.empty"() <{memory = @dram}> : () -> tensor<1x7x7x192xf32>
    %566 = "tile.view"(%565) : (tensor<1x7x7x192xf32>) -> tensor<49x192xf32>
    %567 = "tile.view"(%564) : (tensor<384x192xf32>) -> tensor<384x12x16xf32>
    %568 = "tile.empty"() <{memory = @dram}> : () -> tensor<12x384x16xf32>
    %569 = "tile.run"(%567, %568) <{kernel = @matmul_6_pack_1, name = "matmul_170", operandSegmentSizes = array<i32: 1, 1>}> : (tensor<384x12x16xf32>, tensor<12x384x16xf32>) -> tensor<12x384x16xf32>
    %570 = "tile.view"(%566) : (tensor<49x192xf32>) -> tensor<49x12x16xf32>
    %571 = "tile.run"(%563, %569, %570) <{kernel = @matmul_6, name = "matmul_170", operandSegmentSizes = array<i32: 2, 1>}> : (tensor<49x384xf32>, tensor<12x384x16xf32>, tensor<49x12x16xf32>) -> tensor<49x12x16xf32>
    %572 = "tile.view"(%571) : (tensor<49x12x16xf32>) -> tensor<49x192xf32>
    %573 = "tile.view"(%572) : (tensor<49x192xf32>) -> tensor<1x7x7x192xf32>
    "tile.output"(%573) : (tensor<1x7x7x192xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "layernormalization_4"}> ({
  ^bb0(%arg281: tensor<196x96xf32>, %arg282: tensor<196xf32>, %arg283: tensor<196xf32>, %arg284: tensor<96xf32>, %arg285: tensor<96xf32>, %arg286: tensor<196x96xf32>):
    %182 = "linalg.generic"(%arg281, %arg282, %arg283, %arg284, %arg285, %arg286) <{indexing_maps = [#map2, #map3, #map3, #map4, #map4, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 5, 1>}> ({
    ^bb0(%arg287: f32, %arg288: f32, %arg289: f32, %arg290: f32, %arg291: f32, %arg292: f32):
      %183 = "arith.subf"(%arg287, %arg289) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %184 = "arith.mulf"(%183, %arg288) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %185 = "arith.mulf"(%184, %arg290) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %186 = "arith.addf"(%185, %arg291) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%186) : (f32) -> ()
    }) : (tensor<196x96xf32>, tensor<196xf32>, tensor<196xf32>, tensor<96xf32>, tensor<96xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    "tile.yield"(%182) : (tensor<196x96xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "transpose_0"}> ({
  ^bb0(%arg277: tensor<2x7x2x672xf32>, %arg278: tensor<2x2x7x672xf32>):
    %181 = "linalg.generic"(%arg277, %arg278) <{indexing_maps = [#map5, #map6], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg279: f32, %arg280: f32):
      "linalg.yield"(%arg279) : (f32) -> ()
    }) : (tensor<2x7x2x672xf32>, tensor<2x2x7x672xf32>) -> tensor<2x2x7x672xf32>
    "tile.yield"(%181) : (tensor<2x2x7x672xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "gather_0"}> ({
  ^bb0(%arg272: tensor<2401xi64>, %arg273: tensor<169x3xf32>, %arg274: tensor<2401x3xf32>):
    %169 = "linalg.generic"(%arg272, %arg274) <{indexing_maps = [#map3, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg275: i64, %arg276: f32):
      %170 = "arith.index_cast"(%arg275) : (i64) -> index
      %171 = "arith.constant"() <{value = 0 : index}> : () -> index
      %172 = "arith.constant"() <{value = 169 : index}> : () -> index
      %173 = "arith.constant"() <{value = 168 : index}> : () -> index
      %174 = "arith.cmpi"(%170, %171) <{predicate = 2 : i64}> : (index, index) -> i1
      %175 = "arith.addi"(%170, %172) <{overflowFlags = #arith.overflow<none>}> : (index, index) -> index
      %176 = "arith.select"(%174, %175, %170) : (i1, index, index) -> index
      %177 = "arith.maxsi"(%176, %171) : (index, index) -> index
      %178 = "arith.minsi"(%177, %173) : (index, index) -> index
      %179 = "linalg.index"() <{dim = 1 : i64}> : () -> index
      %180 = "tensor.extract"(%arg273, %178, %179) : (tensor<169x3xf32>, index, index) -> f32
      "linalg.yield"(%180) : (f32) -> ()
    }) : (tensor<2401xi64>, tensor<2401x3xf32>) -> tensor<2401x3xf32>
    "tile.yield"(%169) : (tensor<2401x3xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "transpose_1"}> ({
  ^bb0(%arg268: tensor<2401x3xf32>, %arg269: tensor<3x2401xf32>):
    %168 = "linalg.generic"(%arg268, %arg269) <{indexing_maps = [#map7, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg270: f32, %arg271: f32):
      "linalg.yield"(%arg270) : (f32) -> ()
    }) : (tensor<2401x3xf32>, tensor<3x2401xf32>) -> tensor<3x2401xf32>
    "tile.yield"(%168) : (tensor<3x2401xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "split_0"}> ({
  ^bb0(%arg264: tensor<196x288xf32>, %arg265: tensor<196x96xf32>):
    %166 = "tensor.extract_slice"(%arg264) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 196, 96>, static_strides = array<i64: 1, 1>}> : (tensor<196x288xf32>) -> tensor<196x96xf32>
    %167 = "linalg.generic"(%166, %arg265) <{indexing_maps = [#map2, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg266: f32, %arg267: f32):
      "linalg.yield"(%arg266) : (f32) -> ()
    }) : (tensor<196x96xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    "tile.yield"(%167) : (tensor<196x96xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "split_1"}> ({
  ^bb0(%arg260: tensor<196x288xf32>, %arg261: tensor<196x96xf32>):
    %165 = "linalg.generic"(%arg260, %arg261) <{indexing_maps = [#map8, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg262: f32, %arg263: f32):
      "linalg.yield"(%arg262) : (f32) -> ()
    }) : (tensor<196x288xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    "tile.yield"(%165) : (tensor<196x96xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "split_2"}> ({
  ^bb0(%arg256: tensor<196x288xf32>, %arg257: tensor<196x96xf32>):
    %164 = "linalg.generic"(%arg256, %arg257) <{indexing_maps = [#map9, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg258: f32, %arg259: f32):
      "linalg.yield"(%arg258) : (f32) -> ()
    }) : (tensor<196x288xf32>, tensor<196x96xf32>) -> tensor<196x96xf32>
    "tile.yield"(%164) : (tensor<196x96xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "transpose_2"}> ({
  ^bb0(%arg252: tensor<4x49x3x32xf32>, %arg253: tensor<4x3x49x32xf32>):
    %163 = "linalg.generic"(%arg252, %arg253) <{indexing_maps = [#map5, #map6], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg254: f32, %arg255: f32):
      "linalg.yield"(%arg254) : (f32) -> ()
    }) : (tensor<4x49x3x32xf32>, tensor<4x3x49x32xf32>) -> tensor<4x3x49x32xf32>
    "tile.yield"(%163) : (tensor<4x3x49x32xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "transpose_3"}> ({
  ^bb0(%arg248: tensor<12x49x32xf32>, %arg249: tensor<12x32x49xf32>):
    %162 = "linalg.generic"(%arg248, %arg249) <{indexing_maps = [#map10, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg250: f32, %arg251: f32):
      "linalg.yield"(%arg250) : (f32) -> ()
    }) : (tensor<12x49x32xf32>, tensor<12x32x49xf32>) -> tensor<12x32x49xf32>
    "tile.yield"(%162) : (tensor<12x32x49xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "add_1"}> ({
  ^bb0(%arg242: tensor<4x7203xf32>, %arg243: tensor<7203xf32>, %arg244: tensor<4x7203xf32>):
    %160 = "linalg.generic"(%arg242, %arg243, %arg244) <{indexing_maps = [#map2, #map4, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg245: f32, %arg246: f32, %arg247: f32):
      %161 = "arith.addf"(%arg245, %arg246) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%161) : (f32) -> ()
    }) : (tensor<4x7203xf32>, tensor<7203xf32>, tensor<4x7203xf32>) -> tensor<4x7203xf32>
    "tile.yield"(%160) : (tensor<4x7203xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "softmax_0"}> ({
  ^bb0(%arg237: tensor<588x49xf32>, %arg238: tensor<588xf32>):
    %156 = "linalg.generic"(%arg238) <{indexing_maps = [#map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg241: f32):
      %159 = "arith.constant"() <{value = 0xFF800000 : f32}> : () -> f32
      "linalg.yield"(%159) : (f32) -> ()
    }) : (tensor<588xf32>) -> tensor<588xf32>
    %157 = "linalg.generic"(%arg237, %156) <{indexing_maps = [#map2, #map3], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg239: f32, %arg240: f32):
      %158 = "arith.maximumf"(%arg240, %arg239) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%158) : (f32) -> ()
    }) : (tensor<588x49xf32>, tensor<588xf32>) -> tensor<588xf32>
    "tile.yield"(%157) : (tensor<588xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "softmax_1"}> ({
  ^bb0(%arg231: tensor<588x49xf32>, %arg232: tensor<588xf32>, %arg233: tensor<588x49xf32>):
    %153 = "linalg.generic"(%arg231, %arg232, %arg233) <{indexing_maps = [#map2, #map3, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg234: f32, %arg235: f32, %arg236: f32):
      %154 = "arith.subf"(%arg234, %arg235) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %155 = "math.exp"(%154) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      "linalg.yield"(%155) : (f32) -> ()
    }) : (tensor<588x49xf32>, tensor<588xf32>, tensor<588x49xf32>) -> tensor<588x49xf32>
    "tile.yield"(%153) : (tensor<588x49xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "softmax_2"}> ({
  ^bb0(%arg226: tensor<588x49xf32>, %arg227: tensor<588xf32>):
    %149 = "linalg.generic"(%arg227) <{indexing_maps = [#map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg230: f32):
      %152 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%152) : (f32) -> ()
    }) : (tensor<588xf32>) -> tensor<588xf32>
    %150 = "linalg.generic"(%arg226, %149) <{indexing_maps = [#map2, #map3], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg228: f32, %arg229: f32):
      %151 = "arith.addf"(%arg229, %arg228) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%151) : (f32) -> ()
    }) : (tensor<588x49xf32>, tensor<588xf32>) -> tensor<588xf32>
    "tile.yield"(%150) : (tensor<588xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "softmax_3"}> ({
  ^bb0(%arg220: tensor<588x49xf32>, %arg221: tensor<588xf32>, %arg222: tensor<588x49xf32>):
    %147 = "linalg.generic"(%arg220, %arg221, %arg222) <{indexing_maps = [#map2, #map3, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg223: f32, %arg224: f32, %arg225: f32):
      %148 = "arith.divf"(%arg223, %arg224) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%148) : (f32) -> ()
    }) : (tensor<588x49xf32>, tensor<588xf32>, tensor<588x49xf32>) -> tensor<588x49xf32>
    "tile.yield"(%147) : (tensor<588x49xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_2"}> ({
  ^bb0(%arg213: tensor<12x49x49xf32>, %arg214: tensor<12x49x32xf32>, %arg215: tensor<12x49x32xf32>):
    %142 = "linalg.generic"(%arg215) <{indexing_maps = [#map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg219: f32):
      %146 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%146) : (f32) -> ()
    }) : (tensor<12x49x32xf32>) -> tensor<12x49x32xf32>
    %143 = "linalg.generic"(%arg213, %arg214, %142) <{indexing_maps = [#map12, #map13, #map14], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg216: f32, %arg217: f32, %arg218: f32):
      %144 = "arith.mulf"(%arg216, %arg217) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %145 = "arith.addf"(%arg218, %144) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%145) : (f32) -> ()
    }) : (tensor<12x49x49xf32>, tensor<12x49x32xf32>, tensor<12x49x32xf32>) -> tensor<12x49x32xf32>
    "tile.yield"(%143) : (tensor<12x49x32xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "transpose_4"}> ({
  ^bb0(%arg209: tensor<4x3x49x32xf32>, %arg210: tensor<4x49x3x32xf32>):
    %141 = "linalg.generic"(%arg209, %arg210) <{indexing_maps = [#map5, #map6], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg211: f32, %arg212: f32):
      "linalg.yield"(%arg211) : (f32) -> ()
    }) : (tensor<4x3x49x32xf32>, tensor<4x49x3x32xf32>) -> tensor<4x49x3x32xf32>
    "tile.yield"(%141) : (tensor<4x49x3x32xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "transpose_5"}> ({
  ^bb0(%arg205: tensor<2x2x7x672xf32>, %arg206: tensor<2x7x2x672xf32>):
    %140 = "linalg.generic"(%arg205, %arg206) <{indexing_maps = [#map5, #map6], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg207: f32, %arg208: f32):
      "linalg.yield"(%arg207) : (f32) -> ()
    }) : (tensor<2x2x7x672xf32>, tensor<2x7x2x672xf32>) -> tensor<2x7x2x672xf32>
    "tile.yield"(%140) : (tensor<2x7x2x672xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "add_3"}> ({
  ^bb0(%arg199: tensor<18816xf32>, %arg200: tensor<18816xf32>, %arg201: tensor<18816xf32>):
    %138 = "linalg.generic"(%arg199, %arg200, %arg201) <{indexing_maps = [#map1, #map1, #map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg202: f32, %arg203: f32, %arg204: f32):
      %139 = "arith.addf"(%arg202, %arg203) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%139) : (f32) -> ()
    }) : (tensor<18816xf32>, tensor<18816xf32>, tensor<18816xf32>) -> tensor<18816xf32>
    "tile.yield"(%138) : (tensor<18816xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "slice_1"}> ({
  ^bb0(%arg195: tensor<18816xf32>, %arg196: tensor<4032xf32>):
    %136 = "tensor.extract_slice"(%arg195) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 4032>, static_strides = array<i64: 1>}> : (tensor<18816xf32>) -> tensor<4032xf32>
    %137 = "linalg.generic"(%136, %arg196) <{indexing_maps = [#map1, #map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg197: f32, %arg198: f32):
      "linalg.yield"(%arg197) : (f32) -> ()
    }) : (tensor<4032xf32>, tensor<4032xf32>) -> tensor<4032xf32>
    "tile.yield"(%137) : (tensor<4032xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "concat_1"}> ({
  ^bb0(%arg191: tensor<3x1344xf32>, %arg192: tensor<14x1344xf32>):
    %135 = "linalg.generic"(%arg191, %arg192) <{indexing_maps = [#map2, #map15], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg193: f32, %arg194: f32):
      "linalg.yield"(%arg193) : (f32) -> ()
    }) : (tensor<3x1344xf32>, tensor<14x1344xf32>) -> tensor<14x1344xf32>
    "tile.yield"(%135) : (tensor<14x1344xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "slice_2"}> ({
  ^bb0(%arg187: tensor<14x14x96xf32>, %arg188: tensor<14x11x96xf32>):
    %134 = "linalg.generic"(%arg187, %arg188) <{indexing_maps = [#map16, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg189: f32, %arg190: f32):
      "linalg.yield"(%arg189) : (f32) -> ()
    }) : (tensor<14x14x96xf32>, tensor<14x11x96xf32>) -> tensor<14x11x96xf32>
    "tile.yield"(%134) : (tensor<14x11x96xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "slice_3"}> ({
  ^bb0(%arg183: tensor<14x1344xf32>, %arg184: tensor<14x288xf32>):
    %132 = "tensor.extract_slice"(%arg183) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 14, 288>, static_strides = array<i64: 1, 1>}> : (tensor<14x1344xf32>) -> tensor<14x288xf32>
    %133 = "linalg.generic"(%132, %arg184) <{indexing_maps = [#map2, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg185: f32, %arg186: f32):
      "linalg.yield"(%arg185) : (f32) -> ()
    }) : (tensor<14x288xf32>, tensor<14x288xf32>) -> tensor<14x288xf32>
    "tile.yield"(%133) : (tensor<14x288xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "concat_2"}> ({
  ^bb0(%arg179: tensor<14x1056xf32>, %arg180: tensor<14x1344xf32>):
    %129 = "tensor.extract_slice"(%arg180) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 14, 1056>, static_strides = array<i64: 1, 1>}> : (tensor<14x1344xf32>) -> tensor<14x1056xf32>
    %130 = "linalg.generic"(%arg179, %129) <{indexing_maps = [#map2, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg181: f32, %arg182: f32):
      "linalg.yield"(%arg181) : (f32) -> ()
    }) : (tensor<14x1056xf32>, tensor<14x1056xf32>) -> tensor<14x1056xf32>
    %131 = "tensor.insert_slice"(%130, %arg180) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 14, 1056>, static_strides = array<i64: 1, 1>}> : (tensor<14x1056xf32>, tensor<14x1344xf32>) -> tensor<14x1344xf32>
    "tile.yield"(%131) : (tensor<14x1344xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "concat_3"}> ({
  ^bb0(%arg175: tensor<14x3x96xf32>, %arg176: tensor<14x14x96xf32>):
    %128 = "linalg.generic"(%arg175, %arg176) <{indexing_maps = [#map11, #map17], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg177: f32, %arg178: f32):
      "linalg.yield"(%arg177) : (f32) -> ()
    }) : (tensor<14x3x96xf32>, tensor<14x14x96xf32>) -> tensor<14x14x96xf32>
    "tile.yield"(%128) : (tensor<14x14x96xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "add_5"}> ({
  ^bb0(%arg169: tensor<3x2401xf32>, %arg170: tensor<4x2401xf32>, %arg171: tensor<4x3x2401xf32>):
    %126 = "linalg.generic"(%arg169, %arg170, %arg171) <{indexing_maps = [#map18, #map19, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg172: f32, %arg173: f32, %arg174: f32):
      %127 = "arith.addf"(%arg172, %arg173) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%127) : (f32) -> ()
    }) : (tensor<3x2401xf32>, tensor<4x2401xf32>, tensor<4x3x2401xf32>) -> tensor<4x3x2401xf32>
    "tile.yield"(%126) : (tensor<4x3x2401xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "slice_5"}> ({
  ^bb0(%arg165: tensor<18816xf32>, %arg166: tensor<14784xf32>):
    %124 = "tensor.extract_slice"(%arg165) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0>, static_sizes = array<i64: 14784>, static_strides = array<i64: 1>}> : (tensor<18816xf32>) -> tensor<14784xf32>
    %125 = "linalg.generic"(%124, %arg166) <{indexing_maps = [#map1, #map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg167: f32, %arg168: f32):
      "linalg.yield"(%arg167) : (f32) -> ()
    }) : (tensor<14784xf32>, tensor<14784xf32>) -> tensor<14784xf32>
    "tile.yield"(%125) : (tensor<14784xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "concat_5"}> ({
  ^bb0(%arg161: tensor<11x1344xf32>, %arg162: tensor<14x1344xf32>):
    %123 = "linalg.generic"(%arg161, %arg162) <{indexing_maps = [#map2, #map20], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg163: f32, %arg164: f32):
      "linalg.yield"(%arg163) : (f32) -> ()
    }) : (tensor<11x1344xf32>, tensor<14x1344xf32>) -> tensor<14x1344xf32>
    "tile.yield"(%123) : (tensor<14x1344xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "slice_6"}> ({
  ^bb0(%arg157: tensor<14x14x96xf32>, %arg158: tensor<14x3x96xf32>):
    %122 = "linalg.generic"(%arg157, %arg158) <{indexing_maps = [#map17, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg159: f32, %arg160: f32):
      "linalg.yield"(%arg159) : (f32) -> ()
    }) : (tensor<14x14x96xf32>, tensor<14x3x96xf32>) -> tensor<14x3x96xf32>
    "tile.yield"(%122) : (tensor<14x3x96xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "slice_7"}> ({
  ^bb0(%arg153: tensor<14x1344xf32>, %arg154: tensor<14x1056xf32>):
    %120 = "tensor.extract_slice"(%arg153) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 14, 1056>, static_strides = array<i64: 1, 1>}> : (tensor<14x1344xf32>) -> tensor<14x1056xf32>
    %121 = "linalg.generic"(%120, %arg154) <{indexing_maps = [#map2, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg155: f32, %arg156: f32):
      "linalg.yield"(%arg155) : (f32) -> ()
    }) : (tensor<14x1056xf32>, tensor<14x1056xf32>) -> tensor<14x1056xf32>
    "tile.yield"(%121) : (tensor<14x1056xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "concat_6"}> ({
  ^bb0(%arg149: tensor<14x288xf32>, %arg150: tensor<14x1344xf32>):
    %117 = "tensor.extract_slice"(%arg150) <{operandSegmentSizes = array<i32: 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 14, 288>, static_strides = array<i64: 1, 1>}> : (tensor<14x1344xf32>) -> tensor<14x288xf32>
    %118 = "linalg.generic"(%arg149, %117) <{indexing_maps = [#map2, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg151: f32, %arg152: f32):
      "linalg.yield"(%arg151) : (f32) -> ()
    }) : (tensor<14x288xf32>, tensor<14x288xf32>) -> tensor<14x288xf32>
    %119 = "tensor.insert_slice"(%118, %arg150) <{operandSegmentSizes = array<i32: 1, 1, 0, 0, 0>, static_offsets = array<i64: 0, 0>, static_sizes = array<i64: 14, 288>, static_strides = array<i64: 1, 1>}> : (tensor<14x288xf32>, tensor<14x1344xf32>) -> tensor<14x1344xf32>
    "tile.yield"(%119) : (tensor<14x1344xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "concat_7"}> ({
  ^bb0(%arg145: tensor<14x11x96xf32>, %arg146: tensor<14x14x96xf32>):
    %116 = "linalg.generic"(%arg145, %arg146) <{indexing_maps = [#map11, #map16], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg147: f32, %arg148: f32):
      "linalg.yield"(%arg147) : (f32) -> ()
    }) : (tensor<14x11x96xf32>, tensor<14x14x96xf32>) -> tensor<14x14x96xf32>
    "tile.yield"(%116) : (tensor<14x14x96xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "transpose_6"}> ({
  ^bb0(%arg141: tensor<7x2x14x96xf32>, %arg142: tensor<7x14x2x96xf32>):
    %115 = "linalg.generic"(%arg141, %arg142) <{indexing_maps = [#map5, #map6], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg143: f32, %arg144: f32):
      "linalg.yield"(%arg143) : (f32) -> ()
    }) : (tensor<7x2x14x96xf32>, tensor<7x14x2x96xf32>) -> tensor<7x14x2x96xf32>
    "tile.yield"(%115) : (tensor<7x14x2x96xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "layernormalization_9"}> ({
  ^bb0(%arg129: tensor<49x384xf32>, %arg130: tensor<49xf32>, %arg131: tensor<49xf32>, %arg132: tensor<384xf32>, %arg133: tensor<384xf32>, %arg134: tensor<49x384xf32>):
    %110 = "linalg.generic"(%arg129, %arg130, %arg131, %arg132, %arg133, %arg134) <{indexing_maps = [#map2, #map3, #map3, #map4, #map4, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 5, 1>}> ({
    ^bb0(%arg135: f32, %arg136: f32, %arg137: f32, %arg138: f32, %arg139: f32, %arg140: f32):
      %111 = "arith.subf"(%arg135, %arg137) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %112 = "arith.mulf"(%111, %arg136) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %113 = "arith.mulf"(%112, %arg138) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %114 = "arith.addf"(%113, %arg139) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%114) : (f32) -> ()
    }) : (tensor<49x384xf32>, tensor<49xf32>, tensor<49xf32>, tensor<384xf32>, tensor<384xf32>, tensor<49x384xf32>) -> tensor<49x384xf32>
    "tile.yield"(%110) : (tensor<49x384xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "layernormalization_0_layernormalization"}> ({
  ^bb0(%arg123: tensor<196x96xf32>, %arg124: tensor<196xf32>):
    %103 = "linalg.generic"(%arg124) <{indexing_maps = [#map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg128: f32):
      %109 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%109) : (f32) -> ()
    }) : (tensor<196xf32>) -> tensor<196xf32>
    %104 = "linalg.generic"(%arg123, %103) <{indexing_maps = [#map2, #map3], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg126: f32, %arg127: f32):
      %108 = "arith.addf"(%arg127, %arg126) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%108) : (f32) -> ()
    }) : (tensor<196x96xf32>, tensor<196xf32>) -> tensor<196xf32>
    %105 = "linalg.generic"(%104) <{indexing_maps = [#map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg125: f32):
      %106 = "arith.constant"() <{value = 9.600000e+01 : f32}> : () -> f32
      %107 = "arith.divf"(%arg125, %106) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%107) : (f32) -> ()
    }) : (tensor<196xf32>) -> tensor<196xf32>
    "tile.yield"(%105) : (tensor<196xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "layernormalization_2_layernormalization_layernormalization"}> ({
  ^bb0(%arg115: tensor<196x96xf32>, %arg116: tensor<196xf32>, %arg117: tensor<196xf32>):
    %89 = "linalg.generic"(%arg117) <{indexing_maps = [#map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg122: f32):
      %102 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%102) : (f32) -> ()
    }) : (tensor<196xf32>) -> tensor<196xf32>
    %90 = "linalg.generic"(%arg115, %arg116, %89) <{indexing_maps = [#map2, #map3, #map3], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg119: f32, %arg120: f32, %arg121: f32):
      %99 = "arith.subf"(%arg119, %arg120) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %100 = "arith.mulf"(%99, %99) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %101 = "arith.addf"(%arg121, %100) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%101) : (f32) -> ()
    }) : (tensor<196x96xf32>, tensor<196xf32>, tensor<196xf32>) -> tensor<196xf32>
    %91 = "linalg.generic"(%90) <{indexing_maps = [#map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg118: f32):
      %92 = "arith.constant"() <{value = 9.600000e+01 : f32}> : () -> f32
      %93 = "arith.divf"(%arg118, %92) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %94 = "arith.constant"() <{value = 9.99999974E-6 : f32}> : () -> f32
      %95 = "arith.constant"() <{value = 1.000000e+00 : f32}> : () -> f32
      %96 = "arith.addf"(%93, %94) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %97 = "math.sqrt"(%96) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      %98 = "arith.divf"(%95, %97) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%98) : (f32) -> ()
    }) : (tensor<196xf32>) -> tensor<196xf32>
    "tile.yield"(%91) : (tensor<196xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_1_mul"}> ({
  ^bb0(%arg107: tensor<12x49x32xf32>, %arg108: tensor<12x32x49xf32>, %arg109: tensor<12x49x49xf32>):
    %81 = "linalg.generic"(%arg109) <{indexing_maps = [#map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg114: f32):
      %88 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%88) : (f32) -> ()
    }) : (tensor<12x49x49xf32>) -> tensor<12x49x49xf32>
    %82 = "linalg.generic"(%arg107, %arg108, %81) <{indexing_maps = [#map12, #map13, #map14], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg111: f32, %arg112: f32, %arg113: f32):
      %86 = "arith.mulf"(%arg111, %arg112) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %87 = "arith.addf"(%arg113, %86) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%87) : (f32) -> ()
    }) : (tensor<12x49x32xf32>, tensor<12x32x49xf32>, tensor<12x49x49xf32>) -> tensor<12x49x49xf32>
    %83 = "linalg.generic"(%82) <{indexing_maps = [#map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg110: f32):
      %84 = "arith.constant"() <{value = 0.176776692 : f32}> : () -> f32
      %85 = "arith.mulf"(%arg110, %84) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%85) : (f32) -> ()
    }) : (tensor<12x49x49xf32>) -> tensor<12x49x49xf32>
    "tile.yield"(%83) : (tensor<12x49x49xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "transpose_5_add"}> ({
  ^bb0(%arg101: tensor<2x2x7x672xf32>, %arg102: tensor<2x7x2x672xf32>, %arg103: tensor<2x7x2x672xf32>):
    %79 = "linalg.generic"(%arg101, %arg102, %arg103) <{indexing_maps = [#map5, #map6, #map6], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg104: f32, %arg105: f32, %arg106: f32):
      %80 = "arith.addf"(%arg105, %arg104) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%80) : (f32) -> ()
    }) : (tensor<2x2x7x672xf32>, tensor<2x7x2x672xf32>, tensor<2x7x2x672xf32>) -> tensor<2x7x2x672xf32>
    "tile.yield"(%79) : (tensor<2x7x2x672xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "slice_0_concat"}> ({
  ^bb0(%arg97: tensor<14x1344xf32>, %arg98: tensor<11x1344xf32>):
    %78 = "linalg.generic"(%arg97, %arg98) <{indexing_maps = [#map20, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg99: f32, %arg100: f32):
      "linalg.yield"(%arg99) : (f32) -> ()
    }) : (tensor<14x1344xf32>, tensor<11x1344xf32>) -> tensor<11x1344xf32>
    "tile.yield"(%78) : (tensor<11x1344xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_1_mul_add"}> ({
  ^bb0(%arg87: tensor<12x49x32xf32>, %arg88: tensor<12x32x49xf32>, %arg89: tensor<12x49x49xf32>, %arg90: tensor<12x49x49xf32>):
    %69 = "linalg.generic"(%arg90) <{indexing_maps = [#map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg96: f32):
      %77 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%77) : (f32) -> ()
    }) : (tensor<12x49x49xf32>) -> tensor<12x49x49xf32>
    %70 = "linalg.generic"(%arg87, %arg88, %69) <{indexing_maps = [#map12, #map13, #map14], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg93: f32, %arg94: f32, %arg95: f32):
      %75 = "arith.mulf"(%arg93, %arg94) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %76 = "arith.addf"(%arg95, %75) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%76) : (f32) -> ()
    }) : (tensor<12x49x32xf32>, tensor<12x32x49xf32>, tensor<12x49x49xf32>) -> tensor<12x49x49xf32>
    %71 = "linalg.generic"(%arg89, %70) <{indexing_maps = [#map11, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg91: f32, %arg92: f32):
      %72 = "arith.constant"() <{value = 0.176776692 : f32}> : () -> f32
      %73 = "arith.mulf"(%arg92, %72) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %74 = "arith.addf"(%73, %arg91) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%74) : (f32) -> ()
    }) : (tensor<12x49x49xf32>, tensor<12x49x49xf32>) -> tensor<12x49x49xf32>
    "tile.yield"(%71) : (tensor<12x49x49xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "slice_4_concat"}> ({
  ^bb0(%arg83: tensor<14x1344xf32>, %arg84: tensor<3x1344xf32>):
    %68 = "linalg.generic"(%arg83, %arg84) <{indexing_maps = [#map15, #map2], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg85: f32, %arg86: f32):
      "linalg.yield"(%arg85) : (f32) -> ()
    }) : (tensor<14x1344xf32>, tensor<3x1344xf32>) -> tensor<3x1344xf32>
    "tile.yield"(%68) : (tensor<3x1344xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "layernormalization_5_layernormalization"}> ({
  ^bb0(%arg77: tensor<49x384xf32>, %arg78: tensor<49xf32>):
    %61 = "linalg.generic"(%arg78) <{indexing_maps = [#map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg82: f32):
      %67 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%67) : (f32) -> ()
    }) : (tensor<49xf32>) -> tensor<49xf32>
    %62 = "linalg.generic"(%arg77, %61) <{indexing_maps = [#map2, #map3], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg80: f32, %arg81: f32):
      %66 = "arith.addf"(%arg81, %arg80) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%66) : (f32) -> ()
    }) : (tensor<49x384xf32>, tensor<49xf32>) -> tensor<49xf32>
    %63 = "linalg.generic"(%62) <{indexing_maps = [#map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg79: f32):
      %64 = "arith.constant"() <{value = 3.840000e+02 : f32}> : () -> f32
      %65 = "arith.divf"(%arg79, %64) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%65) : (f32) -> ()
    }) : (tensor<49xf32>) -> tensor<49xf32>
    "tile.yield"(%63) : (tensor<49xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "layernormalization_7_layernormalization_layernormalization"}> ({
  ^bb0(%arg69: tensor<49x384xf32>, %arg70: tensor<49xf32>, %arg71: tensor<49xf32>):
    %47 = "linalg.generic"(%arg71) <{indexing_maps = [#map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg76: f32):
      %60 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%60) : (f32) -> ()
    }) : (tensor<49xf32>) -> tensor<49xf32>
    %48 = "linalg.generic"(%arg69, %arg70, %47) <{indexing_maps = [#map2, #map3, #map3], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg73: f32, %arg74: f32, %arg75: f32):
      %57 = "arith.subf"(%arg73, %arg74) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %58 = "arith.mulf"(%57, %57) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %59 = "arith.addf"(%arg75, %58) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%59) : (f32) -> ()
    }) : (tensor<49x384xf32>, tensor<49xf32>, tensor<49xf32>) -> tensor<49xf32>
    %49 = "linalg.generic"(%48) <{indexing_maps = [#map1], iterator_types = [#linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg72: f32):
      %50 = "arith.constant"() <{value = 3.840000e+02 : f32}> : () -> f32
      %51 = "arith.divf"(%arg72, %50) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %52 = "arith.constant"() <{value = 9.99999974E-6 : f32}> : () -> f32
      %53 = "arith.constant"() <{value = 1.000000e+00 : f32}> : () -> f32
      %54 = "arith.addf"(%51, %52) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %55 = "math.sqrt"(%54) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      %56 = "arith.divf"(%53, %55) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%56) : (f32) -> ()
    }) : (tensor<49xf32>) -> tensor<49xf32>
    "tile.yield"(%49) : (tensor<49xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_6_pack_1"}> ({
  ^bb0(%arg65: tensor<384x12x16xf32>, %arg66: tensor<12x384x16xf32>):
    %46 = "linalg.generic"(%arg65, %arg66) <{indexing_maps = [#map21, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg67: f32, %arg68: f32):
      "linalg.yield"(%arg67) : (f32) -> ()
    }) : (tensor<384x12x16xf32>, tensor<12x384x16xf32>) -> tensor<12x384x16xf32>
    "tile.yield"(%46) : (tensor<12x384x16xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_6"}> ({
  ^bb0(%arg58: tensor<49x384xf32>, %arg59: tensor<12x384x16xf32>, %arg60: tensor<49x12x16xf32>):
    %41 = "linalg.generic"(%arg60) <{indexing_maps = [#map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg64: f32):
      %45 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%45) : (f32) -> ()
    }) : (tensor<49x12x16xf32>) -> tensor<49x12x16xf32>
    %42 = "linalg.generic"(%arg58, %arg59, %41) <{indexing_maps = [#map22, #map23, #map12], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg61: f32, %arg62: f32, %arg63: f32):
      %43 = "arith.mulf"(%arg61, %arg62) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %44 = "arith.addf"(%arg63, %43) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%44) : (f32) -> ()
    }) : (tensor<49x384xf32>, tensor<12x384x16xf32>, tensor<49x12x16xf32>) -> tensor<49x12x16xf32>
    "tile.yield"(%42) : (tensor<49x12x16xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_0_add_pack_1"}> ({
  ^bb0(%arg54: tensor<96x18x16xf32>, %arg55: tensor<18x96x16xf32>):
    %40 = "linalg.generic"(%arg54, %arg55) <{indexing_maps = [#map21, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg56: f32, %arg57: f32):
      "linalg.yield"(%arg56) : (f32) -> ()
    }) : (tensor<96x18x16xf32>, tensor<18x96x16xf32>) -> tensor<18x96x16xf32>
    "tile.yield"(%40) : (tensor<18x96x16xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_0_add"}> ({
  ^bb0(%arg44: tensor<196x96xf32>, %arg45: tensor<18x96x16xf32>, %arg46: tensor<18x16xf32>, %arg47: tensor<196x18x16xf32>):
    %33 = "linalg.generic"(%arg47) <{indexing_maps = [#map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg53: f32):
      %39 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%39) : (f32) -> ()
    }) : (tensor<196x18x16xf32>) -> tensor<196x18x16xf32>
    %34 = "linalg.generic"(%arg44, %arg45, %33) <{indexing_maps = [#map22, #map23, #map12], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg50: f32, %arg51: f32, %arg52: f32):
      %37 = "arith.mulf"(%arg50, %arg51) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %38 = "arith.addf"(%arg52, %37) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%38) : (f32) -> ()
    }) : (tensor<196x96xf32>, tensor<18x96x16xf32>, tensor<196x18x16xf32>) -> tensor<196x18x16xf32>
    %35 = "linalg.generic"(%arg46, %34) <{indexing_maps = [#map18, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg48: f32, %arg49: f32):
      %36 = "arith.addf"(%arg49, %arg48) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%36) : (f32) -> ()
    }) : (tensor<18x16xf32>, tensor<196x18x16xf32>) -> tensor<196x18x16xf32>
    "tile.yield"(%35) : (tensor<196x18x16xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_3_add_pack_1"}> ({
  ^bb0(%arg40: tensor<96x6x16xf32>, %arg41: tensor<6x96x16xf32>):
    %32 = "linalg.generic"(%arg40, %arg41) <{indexing_maps = [#map21, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg42: f32, %arg43: f32):
      "linalg.yield"(%arg42) : (f32) -> ()
    }) : (tensor<96x6x16xf32>, tensor<6x96x16xf32>) -> tensor<6x96x16xf32>
    "tile.yield"(%32) : (tensor<6x96x16xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_3_add"}> ({
  ^bb0(%arg30: tensor<196x96xf32>, %arg31: tensor<6x96x16xf32>, %arg32: tensor<6x16xf32>, %arg33: tensor<196x6x16xf32>):
    %25 = "linalg.generic"(%arg33) <{indexing_maps = [#map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg39: f32):
      %31 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%31) : (f32) -> ()
    }) : (tensor<196x6x16xf32>) -> tensor<196x6x16xf32>
    %26 = "linalg.generic"(%arg30, %arg31, %25) <{indexing_maps = [#map22, #map23, #map12], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg36: f32, %arg37: f32, %arg38: f32):
      %29 = "arith.mulf"(%arg36, %arg37) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %30 = "arith.addf"(%arg38, %29) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%30) : (f32) -> ()
    }) : (tensor<196x96xf32>, tensor<6x96x16xf32>, tensor<196x6x16xf32>) -> tensor<196x6x16xf32>
    %27 = "linalg.generic"(%arg32, %26) <{indexing_maps = [#map18, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg34: f32, %arg35: f32):
      %28 = "arith.addf"(%arg35, %arg34) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%28) : (f32) -> ()
    }) : (tensor<6x16xf32>, tensor<196x6x16xf32>) -> tensor<196x6x16xf32>
    "tile.yield"(%27) : (tensor<196x6x16xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_4_add_gelu_pack_1"}> ({
  ^bb0(%arg26: tensor<96x24x16xf32>, %arg27: tensor<24x96x16xf32>):
    %24 = "linalg.generic"(%arg26, %arg27) <{indexing_maps = [#map21, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg28: f32, %arg29: f32):
      "linalg.yield"(%arg28) : (f32) -> ()
    }) : (tensor<96x24x16xf32>, tensor<24x96x16xf32>) -> tensor<24x96x16xf32>
    "tile.yield"(%24) : (tensor<24x96x16xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_4_add_gelu"}> ({
  ^bb0(%arg16: tensor<196x96xf32>, %arg17: tensor<24x96x16xf32>, %arg18: tensor<24x16xf32>, %arg19: tensor<196x24x16xf32>):
    %9 = "linalg.generic"(%arg19) <{indexing_maps = [#map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg25: f32):
      %23 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%23) : (f32) -> ()
    }) : (tensor<196x24x16xf32>) -> tensor<196x24x16xf32>
    %10 = "linalg.generic"(%arg16, %arg17, %9) <{indexing_maps = [#map22, #map23, #map12], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg22: f32, %arg23: f32, %arg24: f32):
      %21 = "arith.mulf"(%arg22, %arg23) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %22 = "arith.addf"(%arg24, %21) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%22) : (f32) -> ()
    }) : (tensor<196x96xf32>, tensor<24x96x16xf32>, tensor<196x24x16xf32>) -> tensor<196x24x16xf32>
    %11 = "linalg.generic"(%arg18, %10) <{indexing_maps = [#map18, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg20: f32, %arg21: f32):
      %12 = "arith.addf"(%arg21, %arg20) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %13 = "arith.constant"() <{value = 0.707106769 : f32}> : () -> f32
      %14 = "arith.mulf"(%12, %13) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %15 = "math.erf"(%14) <{fastmath = #arith.fastmath<none>}> : (f32) -> f32
      %16 = "arith.constant"() <{value = 1.000000e+00 : f32}> : () -> f32
      %17 = "arith.addf"(%16, %15) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %18 = "arith.constant"() <{value = 5.000000e-01 : f32}> : () -> f32
      %19 = "arith.mulf"(%12, %18) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %20 = "arith.mulf"(%19, %17) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%20) : (f32) -> ()
    }) : (tensor<24x16xf32>, tensor<196x24x16xf32>) -> tensor<196x24x16xf32>
    "tile.yield"(%11) : (tensor<196x24x16xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_5_add_add_pack_1"}> ({
  ^bb0(%arg12: tensor<384x6x16xf32>, %arg13: tensor<6x384x16xf32>):
    %8 = "linalg.generic"(%arg12, %arg13) <{indexing_maps = [#map21, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%arg14: f32, %arg15: f32):
      "linalg.yield"(%arg14) : (f32) -> ()
    }) : (tensor<384x6x16xf32>, tensor<6x384x16xf32>) -> tensor<6x384x16xf32>
    "tile.yield"(%8) : (tensor<6x384x16xf32>) -> ()
  }) : () -> ()
  "tile.kernel"() <{sym_name = "matmul_5_add_add"}> ({
  ^bb0(%arg0: tensor<196x384xf32>, %arg1: tensor<6x384x16xf32>, %arg2: tensor<6x16xf32>, %arg3: tensor<196x6x16xf32>, %arg4: tensor<196x6x16xf32>):
    %0 = "linalg.generic"(%arg4) <{indexing_maps = [#map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 0, 1>}> ({
    ^bb0(%arg11: f32):
      %7 = "arith.constant"() <{value = 0.000000e+00 : f32}> : () -> f32
      "linalg.yield"(%7) : (f32) -> ()
    }) : (tensor<196x6x16xf32>) -> tensor<196x6x16xf32>
    %1 = "linalg.generic"(%arg0, %arg1, %0) <{indexing_maps = [#map22, #map23, #map12], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<reduction>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg8: f32, %arg9: f32, %arg10: f32):
      %5 = "arith.mulf"(%arg8, %arg9) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %6 = "arith.addf"(%arg10, %5) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%6) : (f32) -> ()
    }) : (tensor<196x384xf32>, tensor<6x384x16xf32>, tensor<196x6x16xf32>) -> tensor<196x6x16xf32>
    %2 = "linalg.generic"(%arg2, %arg3, %1) <{indexing_maps = [#map18, #map11, #map11], iterator_types = [#linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>, #linalg.iterator_type<parallel>], operandSegmentSizes = array<i32: 2, 1>}> ({
    ^bb0(%arg5: f32, %arg6: f32, %arg7: f32):
      %3 = "arith.addf"(%arg7, %arg5) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      %4 = "arith.addf"(%arg6, %3) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32
      "linalg.yield"(%4) : (f32) -> ()
    }) : (tensor<6x16xf32>, tensor<196x6x16xf32>, tensor<196x6x16xf32>) -> tensor<196x6x16xf32>
    "tile.yield"(%2) : (tensor<196x6x16xf32>) -> ()
  }) : () -> ()
}) : () -> ()

