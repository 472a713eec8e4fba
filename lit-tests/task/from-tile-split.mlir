// Runs are cut in ranges where the work is worth it, and placed on units.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task=split-cycles=10 | FileCheck %s
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task | FileCheck %s --check-prefix=WHOLE
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task="split-cycles=10 units=1" | FileCheck %s --check-prefix=ONE
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task="split-cycles=40 remarks=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --tile-to-task=split-cycles=10 --task-check-order -o /dev/null

#id = affine_map<(i) -> (i)>
// Four rTasks each: two for each unit. A range waits for what it reads, not for the
// other half.

// CHECK-LABEL: task.program @chain on @core units 2 arena 256
//  CHECK-DAG:   %[[X:.+]] = task.input 0 "x"
//  CHECK-DAG:   %[[Y:.+]] = task.output 0 "y"
//      CHECK:   %[[B:.+]] = task.buffer at 0 in @dram : memref<64xf32>
// CHECK-NEXT:   %[[A0:.+]] = task.range "a" @twice[0 to 2] on 0(%[[X]], %[[B]]) after()
// CHECK-NEXT:   %[[A1:.+]] = task.range "a" @twice[2 to 4] on 1(%[[X]], %[[B]]) after()
// CHECK-NEXT:   task.range "b" @twice[0 to 2] on 0(%[[B]], %[[Y]]) after(%[[A0]]) cycles(16) :
// CHECK-NEXT:   task.range "b" @twice[2 to 4] on 1(%[[B]], %[[Y]]) after(%[[A1]])

// Below the threshold a run stays whole, and a chain stays on one unit.
// All of it reads and writes 64 elements of 4 bytes, at 16 bytes a cycle.
// WHOLE-LABEL: task.program @chain
//       WHOLE:   %[[A:.+]] = task.range "a" @twice[0 to 4] on 0({{.+}}) after() cycles(32) :
//  WHOLE-NEXT:   task.range "b" @twice[0 to 4] on 0({{.+}}) after(%[[A]])

// ONE-LABEL: task.program @chain on @core units 1
//       ONE:   task.range "a" @twice[0 to 4] on 0
//       ONE:   task.range "b" @twice[0 to 4] on 0

// REMARK: remark: "a" @twice is whole on unit 0: 32 cycles are not above 40
tile.graph @chain inputs ["x"] outputs ["y"] : (tensor<64xf32>) -> tensor<64xf32> {
^bb0(%x: tensor<64xf32>):
  %e = tile.empty in @dram : tensor<64xf32>
  %a = tile.run "a" @twice(%x) into(%e) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  %f = tile.empty in @dram : tensor<64xf32>
  %y = tile.run "b" @twice(%a) into(%f) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
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
