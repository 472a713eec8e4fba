//! Every form that a verifier accepts in a function on tensors is compiled right or refused by name.

use crate::check::{holds, holds_or_refused};

/// A function from one tensor to one, with these lines between.
fn function(lines: &str) -> String {
    format!("func.func @main(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {{\n{lines}\n}}\n")
}

/// A function whose only nest has this body, which gives `%r` from `%in`.
fn body(lines: &str) -> String {
    function(&format!(
        "  %e = tensor.empty() : tensor<6x8xf32>
  %y = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]}} ins(%x : tensor<6x8xf32>) outs(%e : tensor<6x8xf32>) {{
  ^bb0(%in: f32, %out: f32):
{lines}
    linalg.yield %r : f32
  }} -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>"
    ))
}

#[test]
fn bodies() {
    let context = weft::context();
    holds(
        &context,
        &body(
            "    %z = arith.constant 0.0 : f32
    %c = arith.cmpf ogt, %in, %z : f32
    %r = scf.if %c -> (f32) {
      %d = arith.cmpf ogt, %in, %in : f32
      %s = scf.if %d -> (f32) { scf.yield %z : f32 } else { scf.yield %in : f32 }
      scf.yield %s : f32
    } else {
      %n = arith.negf %in : f32
      scf.yield %n : f32
    }",
        ),
        "branches in a branch",
    );
    let refused: &[(&str, &str)] = &[
        (
            "    %l = arith.constant 0 : index
    %h = arith.constant 3 : index
    %s = arith.constant 1 : index
    %r = scf.for %i = %l to %h step %s iter_args(%a = %in) -> (f32) {
      %b = arith.addf %a, %in : f32
      scf.yield %b : f32
    }",
            "scf.for",
        ),
        (
            "    %r = scf.while (%a = %in) : (f32) -> f32 {
      %c = arith.cmpf ogt, %a, %a : f32
      scf.condition(%c) %a : f32
    } do {
    ^bb0(%b: f32):
      scf.yield %b : f32
    }",
            "scf.while",
        ),
        ("    %r = scf.execute_region -> f32 { scf.yield %in : f32 }", "scf.execute_region"),
        (
            "    %c = arith.constant true
    %r = scf.if %c -> (f32) {
      %v = scf.execute_region -> f32 { scf.yield %in : f32 }
      scf.yield %v : f32
    } else { scf.yield %in : f32 }",
            "scf.execute_region",
        ),
        ("    %s, %r = math.sincos %in : f32", "math.sincos"),
        (
            "    %b = arith.bitcast %in : f32 to i32
    %s, %c = arith.addui_extended %b, %b : i32, i1
    %r = arith.bitcast %s : i32 to f32",
            "arith.addui_extended",
        ),
        (
            "    %k = complex.create %in, %in : complex<f32>
    %r = complex.re %k : complex<f32>",
            "complex",
        ),
        (
            "    %v = vector.broadcast %in : f32 to vector<4xf32>
    %r = vector.reduction <add>, %v : vector<4xf32> into f32",
            "vector.",
        ),
        ("    %r = math.clampf %in to [%in, %in] : f32", "math.clampf"),
        ("    %r = ub.poison : f32", "ub.poison"),
        ("    %r = llvm.intr.exp2(%in) : (f32) -> f32", "llvm.intr.exp2"),
        (
            "    %t = tensor.from_elements %in, %in : tensor<2xf32>
    %i = arith.constant 1 : index
    %r = tensor.extract %t[%i] : tensor<2xf32>",
            "tensor.from_elements",
        ),
    ];
    for (lines, word) in refused {
        holds_or_refused(&context, &body(lines), word, &[word]);
    }
}

/// What is computed between nests.
#[test]
fn scalars_between_nests() {
    let context = weft::context();
    holds(
        &context, &function(
            "  %i = arith.constant 2 : index
  %j = arith.constant 7 : index
  %a = tensor.extract %x[%i, %j] : tensor<6x8xf32>
  %z = arith.constant 0.0 : f32
  %c = arith.cmpf olt, %a, %z : f32
  %s = scf.if %c -> (f32) {
    %n = arith.negf %a : f32
    scf.yield %n : f32
  } else {
    %b = tensor.extract %x[%i, %i] : tensor<6x8xf32>
    scf.yield %b : f32
  }
  %e = tensor.empty() : tensor<6x8xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = [\"parallel\", \"parallel\"]} ins(%s, %x : f32, tensor<6x8xf32>) outs(%e : tensor<6x8xf32>) {
  ^bb0(%k: f32, %in: f32, %out: f32):
    %p = arith.addf %k, %in : f32
    %q = arith.addf %p, %a : f32
    linalg.yield %q : f32
  } -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>",
        ),
        "a scalar by a branch",
    );
}

#[test]
fn tensors() {
    let context = weft::context();
    holds(
        &context,
        &function(
            "  %z = arith.constant 1.0 : f32
  %p = tensor.pad %x low[-1, 2] high[3, -2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %z : f32
  } : tensor<6x8xf32> to tensor<8x8xf32>
  %y = tensor.extract_slice %p[1, 0] [6, 8] [1, 1] : tensor<8x8xf32> to tensor<6x8xf32>
  return %y : tensor<6x8xf32>",
        ),
        "a border below zero",
    );
    holds(
        &context,
        &function(
            "  %p = tensor.pad %x low[0, 0] high[-6, 0] {
  ^bb0(%i: index, %j: index):
    %z = arith.constant 1.0 : f32
    tensor.yield %z : f32
  } : tensor<6x8xf32> to tensor<0x8xf32>
  %y = tensor.concat dim(0) %p, %x : (tensor<0x8xf32>, tensor<6x8xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>",
        ),
        "nothing and all of it",
    );
    holds(
        &context,
        "func.func private @twice(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %y = arith.addf %x, %x : tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}
func.func @main(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %y = call @twice(%x) : (tensor<6x8xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>
}
",
        "a call",
    );
}

#[test]
fn refused_tensors() {
    let context = weft::context();
    let refused: &[(&str, &str)] = &[
        (
            "  %c = arith.constant true
  %y = scf.if %c -> (tensor<6x8xf32>) { scf.yield %x : tensor<6x8xf32> } else {
    %z = arith.negf %x : tensor<6x8xf32>
    scf.yield %z : tensor<6x8xf32>
  }
  return %y : tensor<6x8xf32>",
            "scf.if",
        ),
        (
            "  %l = arith.constant 0 : index
  %h = arith.constant 3 : index
  %s = arith.constant 1 : index
  %y = scf.for %i = %l to %h step %s iter_args(%a = %x) -> (tensor<6x8xf32>) {
    %b = arith.addf %a, %a : tensor<6x8xf32>
    scf.yield %b : tensor<6x8xf32>
  }
  return %y : tensor<6x8xf32>",
            "scf.for",
        ),
        (
            "  %i = arith.constant 0 : index
  %a = tensor.extract %x[%i, %i] : tensor<6x8xf32>
  %b = arith.fptosi %a : f32 to i32
  %c = arith.index_cast %b : i32 to index
  %s = tensor.extract_slice %x[%c, 0] [1, 8] [1, 1] : tensor<6x8xf32> to tensor<1x8xf32>
  %y = tensor.insert_slice %s into %x[0, 0] [1, 8] [1, 1] : tensor<1x8xf32> into tensor<6x8xf32>
  return %y : tensor<6x8xf32>",
            "slice",
        ),
        (
            "  %i = arith.constant dense<1> : tensor<6x1xindex>
  %g = tensor.gather %x[%i] gather_dims([0]) : (tensor<6x8xf32>, tensor<6x1xindex>) -> tensor<6x1x8xf32>
  %y = tensor.collapse_shape %g [[0, 1], [2]] : tensor<6x1x8xf32> into tensor<6x8xf32>
  return %y : tensor<6x8xf32>",
            "tensor.gather",
        ),
        (
            "  %e = tensor.empty() : tensor<6x8xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<6x8xf32>) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>",
            "linalg.softmax",
        ),
        (
            "  %b = tensor.bitcast %x : tensor<6x8xf32> to tensor<6x8xi32>
  %y = tensor.bitcast %b : tensor<6x8xi32> to tensor<6x8xf32>
  return %y : tensor<6x8xf32>",
            "tensor.bitcast",
        ),
        (
            "  %c = arith.constant sparse<[[0, 0], [1, 2]], [1.0, 2.0]> : tensor<6x8xf32>
  %y = arith.addf %x, %c : tensor<6x8xf32>
  return %y : tensor<6x8xf32>",
            "literal",
        ),
        (
            "  %d = tensor.cast %x : tensor<6x8xf32> to tensor<?x8xf32>
  %y = tensor.cast %d : tensor<?x8xf32> to tensor<6x8xf32>
  return %y : tensor<6x8xf32>",
            "tensor.cast",
        ),
        (
            "  %e = tensor.empty() : tensor<3x2x2x4xf32>
  %p = linalg.pack %x inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %e : tensor<6x8xf32> -> tensor<3x2x2x4xf32>
  %f = tensor.empty() : tensor<6x8xf32>
  %y = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [2, 4] into %f : tensor<3x2x2x4xf32> -> tensor<6x8xf32>
  return %y : tensor<6x8xf32>",
            "linalg.pack",
        ),
    ];
    for (lines, word) in refused {
        holds_or_refused(&context, &function(lines), word, &[word]);
    }
}

/// Programs that are no function from tensors to tensors.
#[test]
fn functions() {
    let context = weft::context();
    let refused: &[(&str, &str, &str)] = &[
        ("memref", "func.func @main(%x: memref<4xf32>) { return }", "memref<4xf32>"),
        ("number", "func.func @main(%x: f32) -> f32 { return %x : f32 }", "f32"),
        (
            "open",
            "func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> { return %x : tensor<?xf32> }",
            "tensor<?xf32>",
        ),
        (
            "rankless",
            "func.func @main(%x: tensor<*xf32>) -> tensor<*xf32> { return %x : tensor<*xf32> }",
            "tensor<*xf32>",
        ),
        (
            "two blocks",
            "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  cf.br ^bb1\n^bb1:\n  return %x : tensor<4xf32>\n}",
            "",
        ),
        ("nothing", "func.func private @main(tensor<4xf32>) -> tensor<4xf32>", "no model"),
        ("empty", "module {}", "no model"),
    ];
    for (what, text, word) in refused {
        holds_or_refused(&context, text, what, &[word]);
    }
}
