// What payloads cannot hold is refused by name.
// RUN: not weft-opt %s --graph-simplify-payloads --split-input-file 2>&1 | FileCheck %s

// A loop in a body is no straight line.
// CHECK: a payload cannot hold scf.for in the body of a nest
// CHECK: help: bodies hold arith, math, tensor.extract and scf.if
graph.model @loop inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<4xf32>):
  %y = graph.op "Loop" "loop"(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%t: tensor<4xf32>):
    %a = arith.constant 0 : index
    %b = arith.constant 3 : index
    %c = arith.constant 1 : index
    %e = tensor.empty() : tensor<4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = scf.for %i = %a to %b step %c iter_args(%n = %in) -> (f32) {
        %m = arith.addf %n, %in : f32
        scf.yield %m : f32
      }
      linalg.yield %s : f32
    } -> tensor<4xf32>
    graph.yield %r : tensor<4xf32>
  }
  graph.output %y : tensor<4xf32>
}

// -----

// Four bits are no byte.
// CHECK: a payload cannot hold a tensor of i4
// CHECK: help: elements are i1, i8, i16, i32, i64, index, f16, bf16, f32 and f64
graph.model @narrow inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<4xi8>):
  %y = graph.op "Narrow" "narrow"(%x) : (tensor<4xi8>) -> tensor<4xi8> {
  ^bb0(%t: tensor<4xi8>):
    %c = arith.constant dense<1> : tensor<4xi4>
    graph.yield %t : tensor<4xi8>
  }
  graph.output %y : tensor<4xi8>
}

// -----

// Whatever could be undone where its branch is not taken may stand there, and nothing else.
// CHECK: a payload cannot hold scf.while in a branch of a nest's body
graph.model @branch inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<4xf32>):
  %y = graph.op "Branch" "branch"(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%t: tensor<4xf32>):
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %c = arith.cmpf ogt, %in, %z : f32
      %s = scf.if %c -> (f32) {
        %w = scf.while (%a = %in) : (f32) -> f32 {
          %d = arith.cmpf ogt, %a, %z : f32
          scf.condition(%d) %a : f32
        } do {
        ^bb0(%a: f32):
          scf.yield %a : f32
        }
        scf.yield %w : f32
      } else {
        scf.yield %in : f32
      }
      linalg.yield %s : f32
    } -> tensor<4xf32>
    graph.yield %r : tensor<4xf32>
  }
  graph.output %y : tensor<4xf32>
}

// -----

// CHECK: a payload cannot hold a tensor.from_elements of 65 computed numbers
graph.model @many inputs ["x"] outputs ["y"] {
^bb0(%x: tensor<4xf32>):
  %y = graph.op "Many" "many"(%x) : (tensor<4xf32>) -> tensor<65xf32> {
  ^bb0(%t: tensor<4xf32>):
    %i = arith.constant 0 : index
    %s = tensor.extract %t[%i] : tensor<4xf32>
    %r = tensor.from_elements %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s : tensor<65xf32>
    graph.yield %r : tensor<65xf32>
  }
  graph.output %y : tensor<65xf32>
}
