//! Reductions, and softmax.

use super::*;
use crate::elementwise::elementwise;

/// Folds the rows (`along` 0) or the columns (`along` 1) of a matrix.
pub fn reduction(
    rows: usize,
    columns: usize,
    along: usize,
    fold: &str,
    elem: &'static str,
) -> Case {
    folded(rows, columns, along, fold, elem, false)
}

pub fn folded(
    rows: usize,
    columns: usize,
    along: usize,
    fold: &str,
    elem: &'static str,
    epilogue: bool,
) -> Case {
    let (_, add, zero) = arithmetic(elem);
    let is_int = elem.starts_with('i');
    let (op, start) = match fold {
        "sum" => (add, zero),
        "max" if is_int => ("arith.maxsi", "-100"),
        "max" => ("arith.maximumf", "-100.0"),
        _ if is_int => ("arith.minsi", "100"),
        _ => ("arith.minimumf", "100.0"),
    };
    let mut text = Text::default();
    let x = text.input(&[rows, columns], elem, Data::Quarters);
    let (kept, kinds, out) = if along == 0 { (columns, "rp", "j") } else { (rows, "pr", "i") };
    let start = text.fill(&[kept], elem, start);
    let body = format!("%r = {op} %o, %a : {elem}");
    let mut result = text.nest("i, j", kinds, &[(&x, "i, j")], (&start, out), &body);
    if epilogue {
        result = text.epilogue(&result);
    }
    let name = format!("{fold} of {rows}x{columns} along {along} {elem}, {epilogue}");
    text.finish(name, &result, EXACT)
}

#[test]
fn reductions() {
    let mut cases = vec![];
    let shapes =
        [(1, 1), (1, 40), (40, 1), (3, 17), (5, 16), (16, 33), (31, 37), (2, 15), (7, 130)];
    for (rows, columns) in shapes {
        for along in [0, 1] {
            let fold = if (rows + along) % 2 == 0 { "sum" } else { "max" };
            cases.push(reduction(rows, columns, along, fold, "f32"));
        }
    }
    for elem in ["f64", "i32", "i64", "i16", "i8", "f16"] {
        cases.push(reduction(3, 19, 1, "sum", elem));
        cases.push(reduction(3, 37, 1, "min", elem));
        cases.push(reduction(5, 35, 0, "max", elem));
    }
    cases.push(reduction(13, 11, 1, "min", "bf16"));
    for (rows, columns) in [(1, 40), (4, 64), (13, 32), (16, 48), (37, 16), (33, 50), (3, 7)] {
        cases.push(folded(rows, columns, rows % 2, "sum", "f32", true));
        cases.push(folded(rows, columns, 1, "max", "f32", true));
        cases.push(folded(columns, rows, 1, "sum", "i32", true));
    }
    // Nothing to fold gives the start; nothing to keep gives nothing.
    cases.push(reduction(3, 0, 1, "sum", "f32"));
    cases.push(reduction(0, 3, 1, "sum", "f32"));
    check(&cases);
}

#[test]
fn every_tail() {
    let mut cases = vec![];
    for extent in 1..=40 {
        cases.push(reduction(2, extent, extent % 2, "sum", "f32"));
        cases.push(elementwise(&[extent], &[extent], "arith.addf", "f32"));
    }
    check(&cases);
}

/// `exp(x - max) / sum` over the last axis.
pub fn softmax(rows: usize, columns: usize, elem: &'static str) -> Case {
    let mut text = Text::default();
    let x = text.input(&[rows, columns], elem, Data::Smooth);
    let low = text.fill(&[rows], elem, "-1.0e+30");
    let fold = |op: &str| format!("%r = arith.{op} %o, %a : {elem}");
    let max = text.nest("i, j", "pr", &[(&x, "i, j")], (&low, "i"), &fold("maximumf"));
    let empty = text.empty(&[rows, columns], elem);
    let body = format!("%d = arith.subf %a, %b : {elem}\n      %r = math.exp %d : {elem}");
    let exp = text.nest("i, j", "pp", &[(&x, "i, j"), (&max, "i")], (&empty, "i, j"), &body);
    let zero = text.fill(&[rows], elem, "0.0");
    let sum = text.nest("i, j", "pr", &[(&exp, "i, j")], (&zero, "i"), &fold("addf"));
    let body = format!("%r = arith.divf %a, %b : {elem}");
    let inputs = [(&exp, "i, j"), (&sum, "i")];
    let result = text.nest("i, j", "pp", &inputs, (&empty, "i, j"), &body);
    text.finish(format!("softmax of {rows}x{columns} {elem}"), &result, close(1))
}

#[test]
fn softmaxes() {
    let shapes = [(1, 1), (1, 17), (3, 5), (7, 16), (33, 40), (12, 128)];
    let mut cases: Vec<Case> =
        shapes.into_iter().map(|(rows, columns)| softmax(rows, columns, "f32")).collect();
    cases.push(softmax(5, 13, "f64"));
    check(&cases);
}
