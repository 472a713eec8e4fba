// Whether tokens keep every order that the data needs, down to the bytes.
// RUN: weft-opt %s --device-load-machine=file=%S/../Inputs/two-cores.mlir --task-check-order --split-input-file --verify-diagnostics -o /dev/null

#id = affine_map<(i) -> (i)>
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

// Each half waits for the half that it reads, and only for that.
task.program @halves on @core units 2 arena 256 : (tensor<64xf32>) -> tensor<64xf32> {
  %x = task.input 0 "x" : memref<64xf32>
  %y = task.output 0 "y" : memref<64xf32>
  %b = task.buffer at 0 in @dram : memref<64xf32>
  %t0 = task.range "a" @twice[0 to 2] on 0(%x, %b) after() : memref<64xf32>, memref<64xf32>
  %t1 = task.range "a" @twice[2 to 4] on 1(%x, %b) after() : memref<64xf32>, memref<64xf32>
  %t2 = task.range "b" @twice[0 to 2] on 0(%b, %y) after(%t0) : memref<64xf32>, memref<64xf32>
  %t3 = task.range "b" @twice[2 to 4] on 1(%b, %y) after(%t1) : memref<64xf32>, memref<64xf32>
}

// -----

#id = affine_map<(i) -> (i)>
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

// The wrong half.
task.program @wrong_half on @core units 2 arena 256 : (tensor<64xf32>) -> tensor<64xf32> {
  %x = task.input 0 "x" : memref<64xf32>
  %y = task.output 0 "y" : memref<64xf32>
  %b = task.buffer at 0 in @dram : memref<64xf32>
  %t0 = task.range "a" @twice[0 to 2] on 0(%x, %b) after() : memref<64xf32>, memref<64xf32>
  // expected-note @below {{the other range is here; one of the two writes}}
  %t1 = task.range "a" @twice[2 to 4] on 1(%x, %b) after() : memref<64xf32>, memref<64xf32>
  %t2 = task.range "b" @twice[0 to 2] on 0(%b, %y) after(%t0) : memref<64xf32>, memref<64xf32>
  // expected-error @below {{"b"[2 to 4] touches what "a"[2 to 4] touches, and no token orders them}}
  // expected-note @below {{help: wait for its token, or for one that is given after it}}
  %t3 = task.range "b" @twice[2 to 4] on 1(%b, %y) after(%t0) : memref<64xf32>, memref<64xf32>
}

// -----

#id = affine_map<(i) -> (i)>
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

// Bytes of the arena that are used again.
task.program @reuse on @core units 2 arena 384 : (tensor<64xf32>) -> tensor<64xf32> {
  %x = task.input 0 "x" : memref<64xf32>
  %y = task.output 0 "y" : memref<64xf32>
  %b = task.buffer at 0 in @dram : memref<64xf32>
  %t0 = task.range "a" @twice[0 to 4] on 0(%x, %b) after() : memref<64xf32>, memref<64xf32>
  // expected-note @below {{the other range is here; one of the two writes}}
  %t1 = task.range "b" @twice[0 to 4] on 0(%b, %y) after(%t0) : memref<64xf32>, memref<64xf32>
  %c = task.buffer at 128 in @dram : memref<64xf32>
  // expected-error @below {{"c"[0 to 1] touches what "b"[0 to 4] touches, and no token orders them}}
  // expected-note @below {{help: wait for its token, or for one that is given after it}}
  %t2 = task.range "c" @twice[0 to 1] on 1(%x, %c) after(%t0) : memref<64xf32>, memref<64xf32>
  // Past the end of the first buffer.
  %t3 = task.range "c" @twice[2 to 4] on 1(%x, %c) after() : memref<64xf32>, memref<64xf32>
}

// -----

#id = affine_map<(i) -> (i)>
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

// Half of a buffer is written again: the other half is what another one left there.
task.program @half_again on @core units 2 arena 384 : (tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %x = task.input 0 "x" : memref<64xf32>
  %y = task.output 0 "y" : memref<64xf32>
  %z = task.output 1 "z" : memref<64xf32>
  %b = task.buffer at 0 in @dram : memref<64xf32>
  %c = task.buffer at 128 in @dram : memref<64xf32>
  %t0 = task.range "a" @twice[0 to 4] on 0(%x, %b) after() : memref<64xf32>, memref<64xf32>
  // expected-note @below {{the other range is here}}
  %t1 = task.range "b" @twice[0 to 4] on 0(%x, %c) after(%t0) : memref<64xf32>, memref<64xf32>
  %t2 = task.range "c" @twice[0 to 4] on 0(%c, %y) after(%t1) : memref<64xf32>, memref<64xf32>
  %t3 = task.range "a" @twice[0 to 2] on 0(%x, %b) after(%t2) : memref<64xf32>, memref<64xf32>
  // expected-error @below {{"d"[0 to 4] uses bytes that "b"[0 to 4] has overwritten}}
  // expected-note @below {{help: place buffers whose live ranges overlap at different bytes}}
  %t4 = task.range "d" @twice[0 to 4] on 0(%b, %z) after(%t3) : memref<64xf32>, memref<64xf32>
}
