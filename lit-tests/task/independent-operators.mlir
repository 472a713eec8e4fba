// RM-10. Two operators that know nothing of each other are done at the same time, on a unit each,
// and take as long as one. Where the second reads what the first makes, they take as long as two.
//
// RUN: split-file %s %t
// RUN: cat %t/kernel.mlir %t/independent.mlir | weft-opt --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task=remarks=true -o %t/independent.task 2> %t/independent.said
// RUN: FileCheck %s --check-prefix=UNITS < %t/independent.task
// RUN: FileCheck %s --check-prefix=AS-ONE < %t/independent.said
// RUN: cat %t/kernel.mlir %t/chain.mlir | weft-opt --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task=remarks=true 2>&1 | FileCheck %s --check-prefix=AS-TWO
//
// One unit does them one after the other.
// RUN: cat %t/kernel.mlir %t/independent.mlir | weft-opt --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task="units=1 remarks=true" 2>&1 | FileCheck %s --check-prefix=AS-TWO

// AS-ONE: order by {{.+}} with 100 cycles predicted
// AS-TWO: order by {{.+}} with 200 cycles predicted

// Neither waits for the other.
// UNITS: task.range "y" @twice[0 to 4] on 0({{.+}}) after() cycles(100)
// UNITS: task.range "z" @twice[0 to 4] on 1({{.+}}) after() cycles(100)

//--- independent.mlir

tile.graph @g inputs ["x"] outputs ["y", "z"] : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "y" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %f = tile.empty in @dram : tensor<64xf32>
  %z = tile.run "z" @twice(%x) into(%f) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y, %z : tensor<64xf32>, tensor<64xf32>
}

//--- chain.mlir

tile.graph @g inputs ["x"] outputs ["y", "z"] : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "y" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %f = tile.empty in @dram : tensor<64xf32>
  %z = tile.run "z" @twice(%y) into(%f) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  tile.output %y, %z : tensor<64xf32>, tensor<64xf32>
}

//--- kernel.mlir

#id = affine_map<(i) -> (i)>
// Four rTasks, 100 cycles together.
tile.kernel @twice cycles(100) {
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
