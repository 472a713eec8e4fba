// Nests for which the machine has no instruction, and no lanes that do what they do.
// RUN: not weft-opt %s --tile-construct-rtiles --split-input-file 2>&1 | FileCheck %s --check-prefix=REFUSED

device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @l2 scope("core") capacity_bytes(65536) caches(@dram) bytes_per_cycle(64)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions(["arith.addf"])
  device.instruction @fma on @core operands([@dram, @vreg, @vreg]) issue_cycles(0.5) latency_cycles(4) accuracy(["rounding"])
  meaning {
  ^bb0(%a: tensor<f32>, %b: tensor<8xf32>, %c: tensor<8xf32>):
    %d = linalg.generic {indexing_maps = [affine_map<(i) -> ()>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%a, %b : tensor<f32>, tensor<8xf32>) outs(%c : tensor<8xf32>) {
    ^bb0(%x: f32, %y: f32, %z: f32):
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    } -> tensor<8xf32>
    device.yield %d : tensor<8xf32>
  } lowering {
  ^bb0(%a: f32, %b: vector<8xf32>, %c: vector<8xf32>):
    %s = vector.broadcast %a : f32 to vector<8xf32>
    %d = vector.fma %s, %b, %c : vector<8xf32>
    device.yield %d : vector<8xf32>
  }
}

// Neither a lane unit nor an instruction multiplies alone.
// REFUSED: @row_product cannot run on @toy: @valu does not apply arith.mulf on f32
// REFUSED: note: @fma means another body
// REFUSED: help: give the machine a device.instruction that means this body, or a lane unit with the operation
tile.kernel @row_product {
^bb0(%x: tensor<4x40xf32>, %o: tensor<4xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x40xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.mulf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  tile.yield %r : tensor<4xf32>
}

// -----

// REFUSED: the module has no device.machine
// REFUSED: help: put one in with device-load-machine
tile.kernel @row_sum {
^bb0(%x: tensor<4x40xf32>, %o: tensor<4xf32>):
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x40xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%p: f32, %v: f32):
    %u = arith.addf %v, %p : f32
    linalg.yield %u : f32
  } -> tensor<4xf32>
  tile.yield %r : tensor<4xf32>
}
