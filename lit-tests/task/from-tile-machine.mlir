// Plans need a machine, and copies something that moves elements.
// RUN: not weft-opt %s --tile-to-task --split-input-file 2>&1 | FileCheck %s

#id = affine_map<(i) -> (i)>

// CHECK: the module has no device.machine
// CHECK: help: put one in with device-load-machine
tile.kernel @twice {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%o : tensor<64xf32>) {
  ^bb0(%u: f32, %v: f32):
    linalg.yield %u : f32
  } -> tensor<64xf32>
  tile.yield %r : tensor<64xf32>
}
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "a" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y : tensor<64xf32>
}

// -----

#id = affine_map<(i) -> (i)>
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(2)
}

// A copy needs something that moves elements.
// CHECK: @copy_64xf32 cannot run on @toy: the machine has no lane unit
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  tile.output %x : tensor<64xf32>
}
