// Tiles of a processor in the manner of AMX: eight registers of sixteen rows of 64 bytes, whose
// second factor lies in pairs (or fours) of rows. Only what matching reads.

#rows = affine_map<(m, n, ko, ki) -> (m, 2 * ko + ki)>
#pairs = affine_map<(m, n, ko, ki) -> (ko, n, ki)>
#sums = affine_map<(m, n, ko, ki) -> (m, n)>
#rows4 = affine_map<(m, n, ko, ki) -> (m, 4 * ko + ki)>

device.machine @amx arch("amx") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @tmm scope("thread") capacity_bytes(8192) register_bytes(1024)
  device.unit @core count(1)
  device.move @tileload from @dram to @tmm issue_cycles(8.0) latency_cycles(45) strided
  device.move @tilestore from @tmm to @dram issue_cycles(16.0) latency_cycles(45) strided

  device.instruction @tdpbf16ps on @core operands([@tmm, @tmm, @tmm]) issue_cycles(16.0) latency_cycles(52)
    accuracy(["accumulation_order", "rounding", "flush_to_zero"])
  meaning {
  ^bb0(%a: tensor<16x32xbf16>, %b: tensor<16x16x2xbf16>, %c: tensor<16x16xf32>):
    %d = linalg.generic {indexing_maps = [#rows, #pairs, #sums], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<16x32xbf16>, tensor<16x16x2xbf16>) outs(%c : tensor<16x16xf32>) {
    ^bb0(%x: bf16, %y: bf16, %z: f32):
      %u = arith.extf %x : bf16 to f32
      %v = arith.extf %y : bf16 to f32
      %p = arith.mulf %u, %v : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x16xf32>
    device.yield %d : tensor<16x16xf32>
  } lowering {
  ^bb0(%a: vector<512xbf16>, %b: vector<512xbf16>, %c: vector<256xf32>):
    device.yield %c : vector<256xf32>
  }

  // Unsigned by signed bytes.
  device.instruction @tdpbusd on @core operands([@tmm, @tmm, @tmm]) issue_cycles(16.0) latency_cycles(52)
  meaning {
  ^bb0(%a: tensor<16x64xi8>, %b: tensor<16x16x4xi8>, %c: tensor<16x16xi32>):
    %d = linalg.generic {indexing_maps = [#rows4, #pairs, #sums], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<16x64xi8>, tensor<16x16x4xi8>) outs(%c : tensor<16x16xi32>) {
    ^bb0(%x: i8, %y: i8, %z: i32):
      %u = arith.extui %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %z, %p : i32
      linalg.yield %s : i32
    } -> tensor<16x16xi32>
    device.yield %d : tensor<16x16xi32>
  } lowering {
  ^bb0(%a: vector<1024xi8>, %b: vector<1024xi8>, %c: vector<256xi32>):
    device.yield %c : vector<256xi32>
  }
}
