// Units that the machine does not have.
// RUN: not weft-opt %s --tile-to-task=unit=warp 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not weft-opt %s --tile-to-task=units=0 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not weft-opt %s --tile-to-task=units=3 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not weft-opt %s --tile-to-task=units=two 2>&1 | FileCheck %s --check-prefix=WORD
// RUN: weft-opt %s --tile-to-task="unit=dma units=3" | FileCheck %s

// NAME: toy has no unit @warp
// NAME: help: its units are: core, dma
// NONE: units=0, and toy has 2 of @core
// NONE: help: expected a number from 1 to 2
// MANY: units=3, and toy has 2 of @core
// WORD: unknown value 'two' for option 'units' of tile-to-task; expected a whole number
// CHECK: task.program @g on @dma units 3

#id = affine_map<(i) -> (i)>
device.machine @toy arch("toy") features([]) {
  device.memory @dram scope("device") capacity_bytes(1073741824) bytes_per_cycle(16)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(64)
  device.unit @core count(2)
  device.unit @dma count(4)
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}

tile.graph @g inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "a" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y : tensor<64xf32>
}

tile.kernel @twice {
^bb0(%x: tensor<64xf32>, %o: tensor<64xf32>):
  %a = tile.load %x to @vreg : tensor<64xf32>
  %c = tile.compute ins(%a) outs(%o) on @valu lanes 0 tiles [#tile.rtile<"dram" [16]>, #tile.rtile<"vreg" [16]>] : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%p: tensor<64xf32>, %q: tensor<64xf32>):
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%p : tensor<64xf32>) outs(%q : tensor<64xf32>) {
    ^bb0(%u: f32, %v: f32):
      %s = arith.addf %u, %u : f32
      linalg.yield %s : f32
    } -> tensor<64xf32>
    tile.yield %r : tensor<64xf32>
  }
  %s = tile.store %c from @vreg to %o : tensor<64xf32>
  tile.yield %s : tensor<64xf32>
}
