// Outer products of a processor in the manner of SVE and SME, of 512-bit vectors: nothing is
// summed inside one, so the sum is a loop around it. Only what matching reads.

device.machine @sve arch("sve") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @z scope("thread") capacity_bytes(2048) register_bytes(64)
  device.memory @za scope("thread") capacity_bytes(4096) register_bytes(1024)
  device.unit @core count(1)
  device.move @ld1 from @dram to @z issue_cycles(1.0) latency_cycles(6) strided
  device.move @st1 from @za to @dram issue_cycles(16.0) latency_cycles(6) strided

  device.instruction @fmopa_f32 on @core operands([@z, @z, @za]) issue_cycles(1.0) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<16xf32>, %b: tensor<16xf32>, %c: tensor<16x16xf32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%a, %b : tensor<16xf32>, tensor<16xf32>) outs(%c : tensor<16x16xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<16x16xf32>
    device.yield %d : tensor<16x16xf32>
  } lowering {
  ^bb0(%a: vector<16xf32>, %b: vector<16xf32>, %c: vector<256xf32>):
    device.yield %c : vector<256xf32>
  }

  // Four products of signed bytes are added to each sum.
  device.instruction @smopa_i8 on @core operands([@z, @z, @za]) issue_cycles(1.0) latency_cycles(4)
  meaning {
  ^bb0(%a: tensor<16x4xi8>, %b: tensor<16x4xi8>, %c: tensor<16x16xi32>):
    %d = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%a, %b : tensor<16x4xi8>, tensor<16x4xi8>) outs(%c : tensor<16x16xi32>) {
    ^bb0(%x: i8, %y: i8, %z: i32):
      %u = arith.extsi %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %z, %p : i32
      linalg.yield %s : i32
    } -> tensor<16x16xi32>
    device.yield %d : tensor<16x16xi32>
  } lowering {
  ^bb0(%a: vector<64xi8>, %b: vector<64xi8>, %c: vector<256xi32>):
    device.yield %c : vector<256xi32>
  }
}
