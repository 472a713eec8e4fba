//! Every element type through every conversion, constant, kernel boundary and reduction.

use crate::body::{Body, is_float};
use crate::check::{holds, holds_or_refused};
use crate::program::{TYPES, tensor};

const DIMS: [usize; 2] = [5, 19];

/// A nest over one tensor: from `%x` of one type to another.
fn nest(from: &str, to: &str, body: &str, value: &str) -> String {
    let (x, y) = (tensor(&DIMS, from), tensor(&DIMS, to));
    format!(
        "linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], \
         iterator_types = [\"parallel\", \"parallel\"]}} ins(%x : {x}) outs(%e_{to} : {y}) {{\n  \
         ^bb0(%in: {from}, %out: {to}):\n{body}    linalg.yield {value} : {to}\n  }} -> {y}"
    )
}

/// One program a type: it becomes every other one.
#[test]
fn every_conversion() {
    let context = weft::context();
    for from in TYPES {
        let (mut lines, mut names, mut types) = (String::new(), Vec::new(), Vec::new());
        for to in TYPES {
            let mut body = Body::new();
            let value = body.cast("%in", from, to);
            let ty = tensor(&DIMS, to);
            lines += &format!("  %e_{to} = tensor.empty() : {ty}\n");
            lines += &format!("  %y_{to} = {}\n", nest(from, to, &body.lines, &value));
            names.push(format!("%y_{to}"));
            types.push(ty);
        }
        let (names, types) = (names.join(", "), types.join(", "));
        let text = format!(
            "func.func @main(%x: {}) -> ({types}) {{\n{lines}  return {names} : {types}\n}}\n",
            tensor(&DIMS, from)
        );
        holds(&context, &text, &format!("conversions of {from}"));
    }
}

fn number(elem: &str, at: usize) -> String {
    match elem {
        "i1" => (at % 3 == 1).to_string(),
        elem if is_float(elem) => format!("{}.0", at as i64 % 7 - 3),
        _ => (at as i64 % 7 - 3).to_string(),
    }
}

/// A literal of all numbers and one of a single number, returned as they are and read by a kernel.
#[test]
fn every_constant() {
    let context = weft::context();
    for elem in TYPES {
        let ty = tensor(&[21], elem);
        let numbers: Vec<_> = (0..21).map(|at| number(elem, at)).collect();
        let text = format!(
            "#m = affine_map<(i) -> (i)>\n\
             func.func @main(%x: {ty}) -> ({ty}, {ty}, {ty}) {{\n  \
             %all = arith.constant dense<[{}]> : {ty}\n  %one = arith.constant dense<{}> : {ty}\n  \
             %e = tensor.empty() : {ty}\n  \
             %r = linalg.generic {{indexing_maps = [#m, #m, #m, #m], iterator_types = [\"parallel\"]}} \
             ins(%x, %all, %one : {ty}, {ty}, {ty}) outs(%e : {ty}) {{\n  \
             ^bb0(%a: {elem}, %b: {elem}, %c: {elem}, %o: {elem}):\n    \
             %z = arith.constant {}\n    \
             %q = arith.{} {}%b, %c : {elem}\n    %s = arith.select %q, %a, %b : {elem}\n    \
             linalg.yield %s : {elem}\n  }} -> {ty}\n  \
             return %r, %all, %one : {ty}, {ty}, {ty}\n}}\n",
            numbers.join(", "),
            number(elem, 1),
            if elem == "i1" { "true".to_owned() } else { format!("{} : {elem}", number(elem, 2)) },
            if is_float(elem) { "cmpf" } else { "cmpi" },
            if is_float(elem) { "oeq, " } else { "eq, " },
        );
        holds(&context, &text, &format!("constants of {elem}"));
    }
}

/// Rows are folded by one kernel, and what another makes of the result is spread over the rows.
#[test]
fn every_reduction_between_kernels() {
    let context = weft::context();
    for elem in TYPES {
        let folds: &[(&str, usize)] = match elem {
            "i1" => &[("andi", 1), ("ori", 0), ("xori", 0), ("addi", 0), ("muli", 1), ("maxui", 0)],
            elem if is_float(elem) => &[("addf", 3), ("maximumf", 0), ("minimumf", 6)],
            _ => &[("addi", 3), ("muli", 4), ("andi", 2), ("ori", 3), ("maxsi", 0), ("minui", 2)],
        };
        for (fold, start) in folds {
            let (whole, rows) = (tensor(&DIMS, elem), tensor(&DIMS[..1], elem));
            let compare = if is_float(elem) { "cmpf ole," } else { "cmpi ule," };
            let start = match elem {
                "i1" => number(elem, *start),
                _ => format!("{} : {elem}", number(elem, *start)),
            };
            let text = format!(
                "#all = affine_map<(i, j) -> (i, j)>\n#row = affine_map<(i, j) -> (i)>\n\
                 func.func @main(%x: {whole}) -> ({whole}, {rows}) {{\n  \
                 %z = arith.constant {start}\n  %e = tensor.empty() : {rows}\n  \
                 %f = linalg.fill ins(%z : {elem}) outs(%e : {rows}) -> {rows}\n  \
                 %s = linalg.generic {{indexing_maps = [#all, #row], iterator_types = [\"parallel\", \
                 \"reduction\"]}} ins(%x : {whole}) outs(%f : {rows}) {{\n  \
                 ^bb0(%a: {elem}, %o: {elem}):\n    %r = arith.{fold} %a, %o : {elem}\n    \
                 linalg.yield %r : {elem}\n  }} -> {rows}\n  \
                 %w = tensor.empty() : {whole}\n  \
                 %y = linalg.generic {{indexing_maps = [#all, #row, #all], iterator_types = \
                 [\"parallel\", \"parallel\"]}} ins(%x, %s : {whole}, {rows}) outs(%w : {whole}) {{\n  \
                 ^bb0(%a: {elem}, %b: {elem}, %o: {elem}):\n    %c = arith.{compare} %a, %b : {elem}\n    \
                 %r = arith.select %c, %a, %b : {elem}\n    linalg.yield %r : {elem}\n  }} -> {whole}\n  \
                 return %y, %s : {whole}, {rows}\n}}\n"
            );
            holds(&context, &text, &format!("{fold} of {elem}"));
        }
    }
}

/// Types without a form in memory, or without arithmetic: as an argument, between kernels, and in
/// a body.
#[test]
fn other_types_are_refused_by_name() {
    let context = weft::context();
    const OTHERS: &[&str] = &[
        "i2",
        "i4",
        "i7",
        "i24",
        "i48",
        "i65",
        "i128",
        "index",
        "ui8",
        "si16",
        "f8E4M3FN",
        "f8E5M2",
        "f4E2M1FN",
        "tf32",
        "f80",
        "f128",
        "complex<f32>",
    ];
    let map = "affine_map<(i) -> (i)>";
    let generic = |from: &str, to: &str, body: &str| {
        format!(
            "linalg.generic {{indexing_maps = [{map}, {map}], iterator_types = [\"parallel\"]}} \
             ins(%x : tensor<9x{from}>) outs(%e : tensor<9x{to}>) {{\n  ^bb0(%in: {from}, %out: {to}):\n\
             {body}  }} -> tensor<9x{to}>"
        )
    };
    for elem in OTHERS {
        let ty = format!("tensor<9x{elem}>");
        let copy = generic(elem, elem, &format!("    linalg.yield %in : {elem}\n"));
        let text = format!(
            "func.func @main(%x: {ty}) -> {ty} {{\n  %e = tensor.empty() : {ty}\n  %r = {copy}\n  \
             return %r : {ty}\n}}\n"
        );
        holds_or_refused(&context, &text, &format!("an argument of {elem}"), &[&ty]);
        let literal = if elem.starts_with('f') || *elem == "tf32" { "1.0" } else { "1" };
        let literal = if elem.starts_with('c') { "(1.0, 1.0)" } else { literal };
        let text = format!(
            "func.func @main(%y: tensor<9xf32>) -> tensor<9xf32> {{\n  \
             %x = arith.constant dense<{literal}> : {ty}\n  %e = tensor.empty() : {ty}\n  %r = {copy}\n  \
             %i = arith.constant 3 : index\n  %z = tensor.extract %r[%i] : {ty}\n  \
             %w = tensor.splat %z : {ty}\n  %s = tensor.insert %z into %w[%i] : {ty}\n  \
             %q = tensor.empty() : tensor<9xf32>\n  \
             %t = linalg.generic {{indexing_maps = [{map}, {map}, {map}], iterator_types = \
             [\"parallel\"]}} ins(%y, %s : tensor<9xf32>, {ty}) outs(%q : tensor<9xf32>) {{\n  \
             ^bb0(%a: f32, %b: {elem}, %o: f32):\n    linalg.yield %a : f32\n  }} -> tensor<9xf32>\n  \
             return %t : tensor<9xf32>\n}}\n"
        );
        holds_or_refused(&context, &text, &format!("{elem} between kernels"), &[elem]);
        if elem.starts_with('i') && *elem != "index" {
            let wide: u32 = elem[1..].parse().expect("a width");
            let [there, back] = if wide > 32 { ["extsi", "trunci"] } else { ["trunci", "extsi"] };
            let body = format!(
                "    %n = arith.{there} %in : i32 to {elem}\n    %m = arith.addi %n, %n : {elem}\n    \
                 %r = arith.{back} %m : {elem} to i32\n    linalg.yield %r : i32\n"
            );
            let inside = generic("i32", "i32", &body);
            let text = format!(
                "func.func @main(%x: tensor<9xi32>) -> tensor<9xi32> {{\n  \
                 %e = tensor.empty() : tensor<9xi32>\n  %r = {inside}\n  return %r : tensor<9xi32>\n}}\n"
            );
            holds_or_refused(&context, &text, &format!("{elem} in a body"), &[elem]);
        }
    }
}

/// Truths as arguments and results of a model, written at the stage `graph` as well.
#[test]
fn truths_are_bytes_at_every_stage() {
    let context = weft::context();
    let text = r#"
graph.model @main inputs ["mask"] outputs ["other"] {
^bb0(%mask: tensor<3x5xi1>):
  %other = graph.op "Not" "not"(%mask) : (tensor<3x5xi1>) -> tensor<3x5xi1> {
  ^bb0(%m: tensor<3x5xi8>):
    %e = tensor.empty() : tensor<3x5xi1>
    %k = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<3x5xi8>) outs(%e : tensor<3x5xi1>) {
    ^bb0(%in: i8, %out: i1):
      %z = arith.constant 0 : i8
      %t = arith.cmpi eq, %in, %z : i8
      linalg.yield %t : i1
    } -> tensor<3x5xi1>
    %s = tensor.empty() : tensor<3x5xi8>
    %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%k : tensor<3x5xi1>) outs(%s : tensor<3x5xi8>) {
    ^bb0(%in: i1, %out: i8):
      %b = arith.extui %in : i1 to i8
      linalg.yield %b : i8
    } -> tensor<3x5xi8>
    graph.yield %r : tensor<3x5xi8>
  }
  graph.output %other : tensor<3x5xi1>
}
"#;
    holds(&context, text, "a mask at the stage graph");
}
