//! Elementwise operations and functions.

use super::*;

/// `op(x, y)`, `y` broadcast where its extent is 1 or the dimension is not there.
pub fn elementwise(x: &[usize], y: &[usize], op: &str, elem: &'static str) -> Case {
    let mut text = Text::default();
    let a = text.input(x, elem, Data::Quarters);
    let b = text.input(y, elem, Data::Quarters);
    let empty = text.empty(x, elem);
    let axes: Vec<String> = (0..x.len()).map(|axis| format!("d{axis}")).collect();
    let skipped = x.len() - y.len();
    let read: Vec<&str> = y
        .iter()
        .zip(&axes[skipped..])
        .map(|(&extent, axis)| if extent == 1 { "0" } else { axis.as_str() })
        .collect();
    let (read, axes) = (read.join(", "), axes.join(", "));
    let body = format!("%r = {op} %a, %b : {elem}");
    let kinds = "p".repeat(x.len());
    let result = text.nest(&axes, &kinds, &[(&a, &axes), (&b, &read)], (&empty, &axes), &body);
    text.finish(format!("{op} of {x:?} and {y:?} {elem}"), &result, EXACT)
}

fn function(dims: &[usize], function: &str, elem: &'static str) -> Case {
    let mut text = Text::default();
    let x = text.input(dims, elem, Data::Smooth);
    let empty = text.empty(dims, elem);
    let axes: Vec<String> = (0..dims.len()).map(|axis| format!("d{axis}")).collect();
    let (axes, kinds) = (axes.join(", "), "p".repeat(dims.len()));
    let body = format!("%r = {function} %a : {elem}");
    let result = text.nest(&axes, &kinds, &[(&x, &axes)], (&empty, &axes), &body);
    text.finish(format!("{function} of {dims:?} {elem}"), &result, close(1))
}

#[test]
fn elementwise_operations() {
    let mut cases = vec![
        elementwise(&[], &[], "arith.addf", "f32"),
        elementwise(&[1], &[1], "arith.mulf", "f32"),
        elementwise(&[3, 17], &[17], "arith.addf", "f32"),
        elementwise(&[3, 17], &[3, 1], "arith.subf", "f32"),
        elementwise(&[2, 3, 5, 7], &[3, 1, 7], "arith.mulf", "f32"),
        elementwise(&[2, 3, 5, 7], &[1, 5, 1], "arith.addf", "f32"),
        elementwise(&[37, 31], &[1, 1], "arith.maximumf", "f32"),
        elementwise(&[1000], &[1], "arith.minimumf", "f32"),
        elementwise(&[5, 13], &[5, 13], "arith.addf", "f16"),
        elementwise(&[5, 13], &[13], "arith.mulf", "bf16"),
        elementwise(&[5, 13], &[5, 1], "arith.subf", "f64"),
        elementwise(&[5, 13], &[13], "arith.muli", "i32"),
        elementwise(&[41], &[41], "arith.subi", "i64"),
        elementwise(&[67], &[67], "arith.maxsi", "i8"),
        elementwise(&[35], &[1], "arith.xori", "i16"),
        elementwise(&[20_011], &[20_011], "arith.addf", "f32"),
    ];
    for (number, name) in [
        "math.exp",
        "math.tanh",
        "math.erf",
        "math.sqrt",
        "math.log",
        "math.absf",
        "math.floor",
        "math.sin",
        "math.cos",
    ]
    .into_iter()
    .enumerate()
    {
        cases.push(function(&[3, 2 * number + 1], name, "f32"));
    }
    cases.push(function(&[19], "math.exp", "f64"));
    cases.push(function(&[19], "math.tanh", "f64"));
    check(&cases);
}
