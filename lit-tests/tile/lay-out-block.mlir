// Where groups of lanes share tiles, channels of a pixel are neighbours between two convolutions: rows of a
// tile come as whole transactions.
// RUN: weft-opt %s --device-load-machine=file=%devices/a100.mlir --tile-lay-out=remarks=true --tile-pack-weights --tile-construct-rtiles -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s < %t.mlir

// REMARK: remark: 1 tensors of @one, @two lie in panels with {{[0-9]+}} cycles predicted; second in the model's order

// The second one reads them along axis 4, which is the channels.
// CHECK: tile.run "two" @two_panels(%{{.+}}, %{{.+}}) into(%{{.+}}) : (tensor<8x18x18x128xf16>,
// CHECK: tile.kernel @two_panels {
// CHECK:   tile.compute {{.+}} on @mma_m16n8k16_f16 axes {{.+}} layouts [array<i64: 4, {{.+}}>,

#p = affine_map<(n, c, h, w) -> (n, c, h, w)>
#x = affine_map<(n, o, h, w, c, r, s) -> (n, c, h + r, w + s)>
#w = affine_map<(n, o, h, w, c, r, s) -> (o, c, r, s)>
#y = affine_map<(n, o, h, w, c, r, s) -> (n, o, h, w)>
tile.graph @g inputs ["x"] outputs ["y"] : (tensor<8x128x20x20xf16>) -> tensor<8x128x16x16xf16> {
^bb0(%x: tensor<8x128x20x20xf16>):
  %f = graph.weight "f" in "model" hash "00" : tensor<128x128x3x3xf16>
  %g = graph.weight "g" in "model" hash "01" : tensor<128x128x3x3xf16>
  %e = tile.empty in @global : tensor<8x128x18x18xf16>
  %h = tile.run "one" @one(%x, %f) into(%e) : (tensor<8x128x20x20xf16>, tensor<128x128x3x3xf16>, tensor<8x128x18x18xf16>) -> tensor<8x128x18x18xf16>
  %d = tile.empty in @global : tensor<8x128x16x16xf16>
  %y = tile.run "two" @two(%h, %g) into(%d) : (tensor<8x128x18x18xf16>, tensor<128x128x3x3xf16>, tensor<8x128x16x16xf16>) -> tensor<8x128x16x16xf16>
  tile.output %y : tensor<8x128x16x16xf16>
}
tile.kernel @one {
^bb0(%x: tensor<8x128x20x20xf16>, %w: tensor<128x128x3x3xf16>, %o: tensor<8x128x18x18xf16>):
  %e = tensor.empty() : tensor<8x128x18x18xf32>
  %s = linalg.generic {indexing_maps = [#p], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<8x128x18x18xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<8x128x18x18xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<8x128x20x20xf16>, tensor<128x128x3x3xf16>) outs(%s : tensor<8x128x18x18xf32>) {
  ^bb0(%p: f16, %q: f16, %v: f32):
    %a = arith.extf %p : f16 to f32
    %b = arith.extf %q : f16 to f32
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<8x128x18x18xf32>
  %c = linalg.generic {indexing_maps = [#p, #p], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%r : tensor<8x128x18x18xf32>) outs(%o : tensor<8x128x18x18xf16>) {
  ^bb0(%p: f32, %v: f16):
    %t = arith.truncf %p : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8x128x18x18xf16>
  tile.yield %c : tensor<8x128x18x18xf16>
}
tile.kernel @two {
^bb0(%x: tensor<8x128x18x18xf16>, %w: tensor<128x128x3x3xf16>, %o: tensor<8x128x16x16xf16>):
  %e = tensor.empty() : tensor<8x128x16x16xf32>
  %s = linalg.generic {indexing_maps = [#p], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<8x128x16x16xf32>) {
  ^bb0(%v: f32):
    %z = arith.constant 0.0 : f32
    linalg.yield %z : f32
  } -> tensor<8x128x16x16xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<8x128x18x18xf16>, tensor<128x128x3x3xf16>) outs(%s : tensor<8x128x16x16xf32>) {
  ^bb0(%p: f16, %q: f16, %v: f32):
    %a = arith.extf %p : f16 to f32
    %b = arith.extf %q : f16 to f32
    %t = arith.mulf %a, %b : f32
    %u = arith.addf %v, %t : f32
    linalg.yield %u : f32
  } -> tensor<8x128x16x16xf32>
  %c = linalg.generic {indexing_maps = [#p, #p], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%r : tensor<8x128x16x16xf32>) outs(%o : tensor<8x128x16x16xf16>) {
  ^bb0(%p: f32, %v: f16):
    %t = arith.truncf %p : f32 to f16
    linalg.yield %t : f16
  } -> tensor<8x128x16x16xf16>
  tile.yield %c : tensor<8x128x16x16xf16>
}
