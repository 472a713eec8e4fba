// What does not fit the device's memory is done tile by tile: what a tile needs of the input is
// brought in, all kernels are done on them, what they give is taken out.
// RUN: weft-opt %s --tile-stream-host | FileCheck %s
// RUN: weft-opt %s --tile-stream-host=remarks=true -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: weft-opt %s --tile-stream-host=capacity-bytes=4096 | FileCheck %s --check-prefix=FITS
// RUN: not weft-opt %s --tile-stream-host=capacity-bytes=100 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: not weft-opt %s --tile-stream-host=capacity-bytes=few 2>&1 | FileCheck %s --check-prefix=FEW

#window = affine_map<(i, c, k) -> (i + k, c)>
#taps = affine_map<(i, c, k) -> (k)>
#out = affine_map<(i, c, k) -> (i, c)>

device.machine @small arch("small") features([]) {
  device.memory @dram scope("device") capacity_bytes(1000) bytes_per_cycle(16)
  device.memory @host scope("host") capacity_bytes(1073741824) bytes_per_cycle(4)
  device.memory @vreg scope("thread") capacity_bytes(512) register_bytes(32)
  device.unit @core count(2)
  device.move @bring from @host to @dram bytes_per_cycle(4)
  device.move @take from @dram to @host bytes_per_cycle(4)
  device.move @load from @dram to @vreg issue_cycles(0.5) latency_cycles(7) strided
  device.move @store from @vreg to @dram issue_cycles(1.0) latency_cycles(7) strided
  device.lanes @valu on @core in @vreg issue_cycles(1.0) latency_cycles(4) types([f32]) operations(["arith.addf", "arith.mulf"]) reductions(["arith.addf"])
}

// Twice a sum over three neighbouring rows of eight numbers; what lies in between takes 1088
// bytes, too much for 1000. Rows need their neighbours and columns do not: one column at a time,
// the next one coming in while this one is computed, moves every number once.

//   CHECK-LABEL: tile.graph @sums
//         CHECK:   %[[X0:.+]] = tile.run "first" @stream_in(%{{.+}}) into(%{{.+}}) {move = @bring}
//         CHECK:   %[[X1:.+]] = tile.run "first" @stream_in_1(%{{.+}}) into(%{{.+}}) {move = @bring}
//         CHECK:   %[[H0:.+]] = tile.run "first" @sum_streamed(%[[X0]], %{{.+}}) into
//         CHECK:   %[[Y0:.+]] = tile.run "second" @again_streamed(%[[H0]], %{{.+}}) into
//         CHECK:   %[[Y:.+]] = tile.empty in @host : tensor<32x8xf32>
//         CHECK:   %[[PART:.+]] = tile.run "second" @stream_out(%[[Y0]]) into(%[[Y]]) {move = @take}
//         CHECK:   tile.run "first" @sum_streamed(%[[X1]], %{{.+}}) into
//         CHECK:   tile.run "second" @stream_out_1(%{{.+}}) into(%[[PART]]) {move = @take}

// FITS-NOT: move =

// REMARK: remark: activations do not wait in the device's memory [capacity: 1088 bytes at once, it holds 1000]
// REMARK: remark: "first" to "second": 8 tiles, 1 along 1 with {{[0-9]+}} cycles predicted; second {{.+}} along {{.+}} with {{[0-9]+}}; 1152 bytes in, 1024 out, 704 at once

// SMALL: error: the smallest tile of "first" takes 192 bytes of @dram, which holds 100
// SMALL: note: the memory is here
// SMALL: help: without streaming all activations take 1088 bytes at once

// FEW: error: tile-stream-host: unknown value 'few' for option 'capacity-bytes'; expected a number

tile.kernel @sum {
^bb0(%x: tensor<36x8xf32>, %w: tensor<3xf32>, %o: tensor<34x8xf32>):
  %s = linalg.generic {indexing_maps = [#window, #taps, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<36x8xf32>, tensor<3xf32>) outs(%o : tensor<34x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %c, %m : f32
    linalg.yield %n : f32
  } -> tensor<34x8xf32>
  tile.yield %s : tensor<34x8xf32>
}

tile.kernel @again {
^bb0(%x: tensor<34x8xf32>, %w: tensor<3xf32>, %o: tensor<32x8xf32>):
  %s = linalg.generic {indexing_maps = [#window, #taps, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<34x8xf32>, tensor<3xf32>) outs(%o : tensor<32x8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %n = arith.addf %c, %m : f32
    linalg.yield %n : f32
  } -> tensor<32x8xf32>
  tile.yield %s : tensor<32x8xf32>
}

tile.graph @sums inputs ["x"] outputs ["y"] : (tensor<36x8xf32>) -> tensor<32x8xf32> {
^bb0(%x: tensor<36x8xf32>):
  %w = graph.weight "w" in "model" hash "c0ffee" : tensor<3xf32>
  %e = tile.empty in @dram : tensor<34x8xf32>
  %h = tile.run "first" @sum(%x, %w) into(%e) : (tensor<36x8xf32>, tensor<3xf32>, tensor<34x8xf32>) -> tensor<34x8xf32>
  %f = tile.empty in @dram : tensor<32x8xf32>
  %y = tile.run "second" @again(%h, %w) into(%f) : (tensor<34x8xf32>, tensor<3xf32>, tensor<32x8xf32>) -> tensor<32x8xf32>
  tile.output %y : tensor<32x8xf32>
}
