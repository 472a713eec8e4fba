//! Operators that only move elements: transposes, gathers, slices, parts side by side.

use super::*;

pub fn transpose(dims: &[usize], order: &[usize], elem: &'static str) -> Case {
    let mut text = Text::default();
    let x = text.input(dims, elem, Data::Quarters);
    let out: Vec<usize> = order.iter().map(|&axis| dims[axis]).collect();
    let empty = text.empty(&out, elem);
    let axes: Vec<String> = (0..dims.len()).map(|axis| format!("d{axis}")).collect();
    let write: Vec<&str> = order.iter().map(|&axis| axes[axis].as_str()).collect();
    let (write, axes) = (write.join(", "), axes.join(", "));
    let kinds = "p".repeat(dims.len());
    let body = format!(
        "%c = arith.constant {} : {elem}\n      %r = {} %a, %c : {elem}",
        if elem.starts_with('i') { "1" } else { "1.0" },
        arithmetic(elem).0
    );
    let result = text.nest(&axes, &kinds, &[(&x, &axes)], (&empty, &write), &body);
    text.finish(format!("transpose {dims:?} to {order:?} {elem}"), &result, EXACT)
}

#[test]
fn transposes() {
    check(&[
        transpose(&[1, 1], &[1, 0], "f32"),
        transpose(&[3, 17], &[1, 0], "f32"),
        transpose(&[37, 40], &[1, 0], "f32"),
        transpose(&[2, 3, 5], &[2, 0, 1], "f32"),
        transpose(&[2, 9, 4, 16], &[0, 2, 1, 3], "f32"),
        transpose(&[1, 7, 1, 19], &[3, 2, 1, 0], "f32"),
        transpose(&[11, 23], &[1, 0], "i64"),
        transpose(&[33, 7], &[1, 0], "f16"),
        transpose(&[33, 35], &[1, 0], "i8"),
        transpose(&[16, 16], &[1, 0], "i32"),
        transpose(&[18, 2, 33], &[2, 1, 0], "f32"),
        transpose(&[9, 31], &[1, 0], "f64"),
    ]);
}

pub fn gather(rows: usize, columns: usize, count: usize, elem: &'static str) -> Case {
    let mut text = Text::default();
    let table = text.input(&[rows, columns], elem, Data::Quarters);
    let wanted = text.input(&[count], "i64", Data::Below(rows));
    let empty = text.empty(&[count, columns], elem);
    let body = format!(
        "%row = arith.index_cast %a : i64 to index\n      %column = linalg.index 1 : index\n      \
         %r = tensor.extract {}[%row, %column] : {}",
        table.name,
        table.ty()
    );
    let result = text.nest("i, j", "pp", &[(&wanted, "i")], (&empty, "i, j"), &body);
    text.finish(format!("gather {count} of {rows}x{columns} {elem}"), &result, EXACT)
}

#[test]
fn gathers() {
    check(&[
        gather(1, 1, 1, "f32"),
        gather(7, 17, 5, "f32"),
        gather(100, 32, 13, "f32"),
        gather(13, 1, 40, "f32"),
        gather(9, 5, 3, "i64"),
        gather(9, 33, 3, "f16"),
    ]);
}

/// Windows: slices with steps, and padding by another amount on every side.
pub fn window(extent: usize, low: usize, high: usize, step: usize) -> Case {
    let mut text = Text::default();
    let x = text.input(&[3, extent], "f32", Data::Quarters);
    let padded = extent + low + high;
    let line = format!(
        "%pad = arith.constant 1.5 : f32\n    {{r}} = tensor.pad {} low[1, {low}] high[0, {high}] \
         {{\n    ^bb0(%i: index, %j: index):\n      tensor.yield %pad : f32\n    }} : {} to {{t}}",
        x.name,
        x.ty()
    );
    let wide = text.line(&[4, padded], "f32", &line);
    let kept = (padded - 1).div_ceil(step);
    let line = format!(
        "{{r}} = tensor.extract_slice {}[0, 1] [4, {kept}] [1, {step}] : {} to {{t}}",
        wide.name,
        wide.ty()
    );
    let result = text.line(&[4, kept], "f32", &line);
    text.finish(format!("pad {extent} by {low}, {high}, step {step}"), &result, EXACT)
}

#[test]
fn windows() {
    check(&[
        window(1, 1, 0, 1),
        window(5, 2, 3, 2),
        window(16, 1, 1, 1),
        window(33, 0, 7, 3),
        window(100, 17, 1, 5),
    ]);
}

/// Two matrices side by side.
fn concat(rows: usize, left: usize, right: usize, elem: &'static str) -> Case {
    let mut text = Text::default();
    let a = text.input(&[rows, left], elem, Data::Quarters);
    let b = text.input(&[rows, right], elem, Data::Quarters);
    let dims = [rows, left + right];
    let mut whole = text.empty(&dims, elem);
    for (part, at) in [(&a, 0), (&b, left)] {
        let line = format!(
            "{{r}} = tensor.insert_slice {} into {}[0, {at}] [{rows}, {}] [1, 1] : {} into {{t}}",
            part.name,
            whole.name,
            part.dims[1],
            part.ty()
        );
        whole = text.line(&dims, elem, &line);
    }
    text.finish(format!("concat {rows}x{left} and {right} {elem}"), &whole, EXACT)
}

/// A number as another type.
fn cast(extent: usize, from: &'static str, op: &str, to: &'static str) -> Case {
    let mut text = Text::default();
    let x = text.input(&[extent], from, Data::Quarters);
    let empty = text.empty(&[extent], to);
    let body = format!("%r = {op} %a : {from} to {to}");
    let result = text.nest("i", "p", &[(&x, "i")], (&empty, "i"), &body);
    text.finish(format!("{op} of {extent}, {from} to {to}"), &result, EXACT)
}

#[test]
fn parts_and_types() {
    let mut cases = vec![
        concat(1, 1, 1, "f32"),
        concat(3, 17, 5, "f32"),
        concat(5, 16, 33, "i64"),
        concat(7, 3, 9, "i8"),
        concat(9, 8, 8, "f16"),
    ];
    for (from, op, to) in [
        ("i8", "arith.extsi", "i32"),
        ("i8", "arith.extui", "i64"),
        ("i64", "arith.trunci", "i8"),
        ("i32", "arith.sitofp", "f32"),
        ("i8", "arith.sitofp", "f16"),
        ("i64", "arith.sitofp", "f64"),
        ("i16", "arith.uitofp", "f32"),
        ("f32", "arith.fptosi", "i32"),
        ("f64", "arith.fptosi", "i64"),
        ("f16", "arith.extf", "f32"),
        ("f32", "arith.truncf", "f16"),
        ("f32", "arith.truncf", "bf16"),
        ("bf16", "arith.extf", "f32"),
        ("f64", "arith.truncf", "f32"),
    ] {
        cases.push(cast(37, from, op, to));
    }
    check(&cases);
}
