// Two cores with an instruction that adds four products of bytes to each of 4 lanes, the first factor without a sign.
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16) transaction_bytes(64)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(16)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([i32, i8])
    operations(["arith.addi", "arith.subi", "arith.muli", "arith.extsi", "arith.extui", "arith.xori"]) reductions(["arith.addi"])
  device.instruction @dot on @core operands([@dram, @vreg, @vreg]) issue_cycles(0.5) latency_cycles(5)
  meaning {
  ^bb0(%a: tensor<4xi8>, %b: tensor<4x4xi8>, %c: tensor<4xi32>):
    %d = linalg.generic {indexing_maps = [affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n)>], iterator_types = ["parallel", "reduction"]} ins(%a, %b : tensor<4xi8>, tensor<4x4xi8>) outs(%c : tensor<4xi32>) {
    ^bb0(%x: i8, %y: i8, %z: i32):
      %u = arith.extui %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %s = arith.addi %z, %p : i32
      linalg.yield %s : i32
    } -> tensor<4xi32>
    device.yield %d : tensor<4xi32>
  } lowering {
  ^bb0(%a: vector<4xi8>, %b: vector<16xi8>, %c: vector<4xi32>):
    %w = vector.bitcast %a : vector<4xi8> to vector<1xi32>
    %s = vector.broadcast %w : vector<1xi32> to vector<4xi32>
    %q = vector.bitcast %s : vector<4xi32> to vector<16xi8>
    %u = arith.extui %q : vector<16xi8> to vector<16xi32>
    %v = arith.extsi %b : vector<16xi8> to vector<16xi32>
    %p = arith.muli %u, %v : vector<16xi32>
    %p0 = vector.shuffle %p, %p [0, 4, 8, 12] : vector<16xi32>, vector<16xi32>
    %p1 = vector.shuffle %p, %p [1, 5, 9, 13] : vector<16xi32>, vector<16xi32>
    %p2 = vector.shuffle %p, %p [2, 6, 10, 14] : vector<16xi32>, vector<16xi32>
    %p3 = vector.shuffle %p, %p [3, 7, 11, 15] : vector<16xi32>, vector<16xi32>
    %c0 = arith.addi %c, %p0 : vector<4xi32>
    %c1 = arith.addi %c0, %p1 : vector<4xi32>
    %c2 = arith.addi %c1, %p2 : vector<4xi32>
    %d = arith.addi %c2, %p3 : vector<4xi32>
    device.yield %d : vector<4xi32>
  }
}
