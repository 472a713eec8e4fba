// A machine of many units and a fast memory does products with one weight beside each other.
// RUN: weft-opt %s --graph-batch-products=remarks=true 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>

// Units enough for both at once, and a memory that is fast enough: one after the other is later.
//      REMARK: remark: "a" stays apart from 1 products with its weight: the model would not take less than 5 cycles
// CHECK-LABEL: graph.model @many
// CHECK-COUNT-2: graph.op "MatMul"
//   CHECK-NOT:   graph.op "Concat"
device.machine @few arch("x86-64") features([]) {
  device.memory @dram scope("device") capacity_bytes(1048576) bytes_per_cycle(1024)
  device.memory @vreg scope("thread") capacity_bytes(2048) register_bytes(32)
  device.unit @core count(16) clock_mhz(1000)
  device.move @load from @dram to @vreg strided fills
  device.move @store from @vreg to @dram strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf"]) reductions([])
}
graph.model @many inputs ["x", "y"] outputs ["c", "d"] {
^bb0(%x: tensor<2x4xf32>, %y: tensor<2x4xf32>):
  %w = graph.weight "w" in "model" hash "c0ffee" : tensor<4x4xf32>
  %a = graph.op "MatMul" "a"(%x, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>, %q: tensor<4x4xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x4xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  %c = graph.op "Neg" "c"(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>):
    %e = tensor.empty() : tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      %n = arith.negf %i : f32
      linalg.yield %n : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  %b = graph.op "MatMul" "b"(%y, %w) : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>, %q: tensor<4x4xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x4xf32>
    %f = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<2x4xf32>) {
    ^bb0(%o: f32):
      linalg.yield %z : f32
    } -> tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%p, %q : tensor<2x4xf32>, tensor<4x4xf32>) outs(%f : tensor<2x4xf32>) {
    ^bb0(%i: f32, %j: f32, %o: f32):
      %m = arith.mulf %i, %j : f32
      %s = arith.addf %o, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  %d = graph.op "Neg" "d"(%b) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>):
    %e = tensor.empty() : tensor<2x4xf32>
    %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<2x4xf32>) outs(%e : tensor<2x4xf32>) {
    ^bb0(%i: f32, %o: f32):
      %n = arith.negf %i : f32
      linalg.yield %n : f32
    } -> tensor<2x4xf32>
    graph.yield %r : tensor<2x4xf32>
  }
  graph.output %c, %d : tensor<2x4xf32>, tensor<2x4xf32>
}
