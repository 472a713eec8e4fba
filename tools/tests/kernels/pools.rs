//! Pools, places of greatest elements, and chains of operators.

use std::fmt::Write;

use super::*;

/// A window of `size` columns takes `step` columns at a time and gives its greatest number.
pub fn pool(rows: usize, columns: usize, size: usize, step: usize, elem: &'static str) -> Case {
    let mut text = Text::default();
    let x = text.input(&[rows, columns], elem, Data::Quarters);
    let is_int = elem.starts_with('i');
    let (op, low) = if is_int { ("arith.maxsi", "-100") } else { ("arith.maximumf", "-100.0") };
    let start = text.fill(&[rows, (columns - size) / step + 1], elem, low);
    // Only its shape is read.
    let window = text.empty(&[size], "i8");
    let read = format!("i, j * {step} + k");
    let inputs = [(&x, read.as_str()), (&window, "k")];
    let body = format!("%r = {op} %o, %a : {elem}");
    let result = text.nest("i, j, k", "ppr", &inputs, (&start, "i, j"), &body);
    text.finish(format!("pool {rows}x{columns} by {size}, {step} {elem}"), &result, EXACT)
}

/// The place of the greatest number of every row, the first one among equals.
pub fn argmax(rows: usize, columns: usize) -> Case {
    let mut text = Text::default();
    let x = text.input(&[rows, columns], "f32", Data::Quarters);
    let greatest = text.fill(&[rows], "f32", "-100.0");
    let place = text.fill(&[rows], "i64", "0");
    let mut both = text.value(&[rows], "i64");
    write!(
        text.payload,
        "    {both}:2 = linalg.generic {{indexing_maps = [affine_map<(i, j) -> (i, j)>, \
         affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = [\"parallel\", \
         \"reduction\"]}} ins({x} : {x_ty}) outs({greatest}, {place} : {f_ty}, {i_ty}) {{\n    \
         ^bb0(%a: f32, %o: f32, %p: i64):\n      %j = linalg.index 1 : index\n      \
         %k = arith.index_cast %j : index to i64\n      %g = arith.cmpf ogt, %a, %o : f32\n      \
         %m = arith.select %g, %a, %o : f32\n      %q = arith.select %g, %k, %p : i64\n      \
         linalg.yield %m, %q : f32, i64\n    }} -> ({f_ty}, {i_ty})\n",
        both = both.name,
        x = x.name,
        greatest = greatest.name,
        place = place.name,
        x_ty = x.ty(),
        f_ty = greatest.ty(),
        i_ty = place.ty(),
    )
    .expect("a string grows");
    both.name.push_str("#1");
    text.finish(format!("argmax of {rows}x{columns}"), &both, EXACT)
}

/// Sums over the second and the last of four axes.
pub fn two_axes(dims: [usize; 4]) -> Case {
    let mut text = Text::default();
    let x = text.input(&dims, "f32", Data::Quarters);
    let start = text.fill(&[dims[0], dims[2]], "f32", "0.0");
    let inputs = [(&x, "i, j, k, l")];
    let body = "%r = arith.addf %o, %a : f32";
    let result = text.nest("i, j, k, l", "prpr", &inputs, (&start, "i, k"), body);
    text.finish(format!("sum of {dims:?} along 1 and 3"), &result, EXACT)
}

/// Several kernels in a row: the sums of the rows of `relu(x * w) * u`.
pub fn chain(m: usize, n: usize, k: usize) -> Case {
    let mut text = Text::default();
    let x = text.input(&[m, k], "f32", Data::Quarters);
    let w = text.constant(&[k, n], "f32");
    let u = text.input(&[n, k], "f32", Data::Quarters);
    let product = "%p = arith.mulf %a, %b : f32\n      %r = arith.addf %o, %p : f32";
    let zero = text.fill(&[m, n], "f32", "0.0");
    let inputs = [(&x, "i, k"), (&w, "k, j")];
    let h = text.nest("i, j, k", "ppr", &inputs, (&zero, "i, j"), product);
    let empty = text.empty(&[m, n], "f32");
    let relu = "%z = arith.constant 0.0 : f32\n      %r = arith.maximumf %a, %z : f32";
    let h = text.nest("i, j", "pp", &[(&h, "i, j")], (&empty, "i, j"), relu);
    let zero = text.fill(&[m, k], "f32", "0.0");
    let inputs = [(&h, "i, k"), (&u, "k, j")];
    let y = text.nest("i, j, k", "ppr", &inputs, (&zero, "i, j"), product);
    let zero = text.fill(&[m], "f32", "0.0");
    let sum = "%r = arith.addf %o, %a : f32";
    let result = text.nest("i, j", "pr", &[(&y, "i, j")], (&zero, "i"), sum);
    text.finish(format!("chain of {m}x{n}x{k}"), &result, EXACT)
}

#[test]
fn pools_and_places() {
    check(&[
        pool(1, 1, 1, 1, "f32"),
        pool(3, 17, 2, 2, "f32"),
        pool(5, 33, 3, 1, "f32"),
        pool(7, 40, 3, 2, "i32"),
        pool(2, 37, 5, 3, "f64"),
        argmax(1, 1),
        argmax(7, 17),
        argmax(33, 5),
        two_axes([1, 3, 5, 7]),
        two_axes([3, 2, 17, 33]),
        two_axes([2, 5, 1, 16]),
    ]);
}

#[test]
fn chains() {
    check(&[
        chain(1, 1, 1),
        chain(3, 17, 5),
        chain(33, 31, 40),
        chain(64, 256, 96),
        chain(1, 300, 130),
        chain(130, 33, 7),
    ]);
}
