//! Products of matrices.

use super::*;
use crate::convolutions::{Conv, conv};
use crate::reductions::folded;

/// `out[i, j] = bias[j] + sum over k of x[i, k] * y[k, j]`, with variations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Matmul {
    pub mnk: (usize, usize, usize),
    pub transposed_x: bool,
    pub transposed_y: bool,
    pub bias: bool,
    pub constant_y: bool,
    pub epilogue: bool,
    /// What sums become when they are stored, or their epilogue has been done.
    pub cast: bool,
}

pub fn matmul(shape: Matmul, elem: &'static str) -> Case {
    let (m, n, k) = shape.mnk;
    let (mul, add, zero) = arithmetic(elem);
    let mut text = Text::default();
    let (x_dims, x_index) = if shape.transposed_x { ([k, m], "k, i") } else { ([m, k], "i, k") };
    let (y_dims, y_index) = if shape.transposed_y { ([n, k], "j, k") } else { ([k, n], "k, j") };
    let x = text.input(&x_dims, elem, Data::Quarters);
    let y = if shape.constant_y {
        text.constant(&y_dims, elem)
    } else {
        text.input(&y_dims, elem, Data::Quarters)
    };
    let start = if shape.bias {
        let bias = text.input(&[n], elem, Data::Quarters);
        let empty = text.empty(&[m, n], elem);
        let body = format!("%r = {add} %a, %a : {elem}");
        text.nest("i, j", "pp", &[(&bias, "j")], (&empty, "i, j"), &body)
    } else {
        text.fill(&[m, n], elem, zero)
    };
    let body = format!("%p = {mul} %a, %b : {elem}\n      %r = {add} %o, %p : {elem}");
    let inputs = [(&x, x_index), (&y, y_index)];
    let mut result = text.nest("i, j, k", "ppr", &inputs, (&start, "i, j"), &body);
    if shape.epilogue {
        result = text.epilogue(&result);
    }
    if shape.cast {
        result = text.cast(&result);
    }
    text.finish(format!("matmul {shape:?} {elem}"), &result, EXACT)
}

/// A product with `flags`: `x` and `y` transposed, `b`ias, `c`onstant y, `e`pilogue, sums s`t`ored
/// as another type.
pub fn with(m: usize, n: usize, k: usize, flags: &str) -> Matmul {
    Matmul {
        mnk: (m, n, k),
        transposed_x: flags.contains('x'),
        transposed_y: flags.contains('y'),
        bias: flags.contains('b'),
        constant_y: flags.contains('c'),
        epilogue: flags.contains('e'),
        cast: flags.contains('t'),
    }
}

#[test]
fn matmuls() {
    let plain = |m, n, k| Matmul { mnk: (m, n, k), ..Matmul::default() };
    let mut cases = vec![];
    for (m, n, k) in [
        (1, 1, 1),
        (1, 16, 1),
        (1, 17, 5),
        (3, 1, 7),
        (13, 31, 37),
        (40, 40, 40),
        (1, 1, 40),
        (2, 129, 3),
    ] {
        cases.push(matmul(plain(m, n, k), "f32"));
    }
    for (m, n, k, flags) in [
        (2, 3, 5, "y"),
        (5, 7, 11, "b"),
        (16, 16, 16, "b"),
        (17, 33, 40, "c"),
        (7, 32, 13, "cb"),
        (1, 40, 33, "y"),
        (31, 15, 29, "x"),
        (12, 32, 64, "c"),
        (37, 97, 19, "xyb"),
        (64, 130, 96, "cyb"),
        (1, 48, 7, "cb"),
        (9, 64, 1, "cx"),
        // Packed in every run, and in panels that are no whole registers.
        (150, 256, 200, "y"),
        (130, 250, 140, ""),
        (64, 254, 300, "c"),
        // Lanes along the sum, of which the columns are packed.
        (90, 2, 1000, "c"),
        (33, 3, 515, "cb"),
        // What becomes of the sums, in registers, in panels, and of sums along lanes.
        (5, 7, 11, "e"),
        (37, 97, 19, "xye"),
        (33, 70, 40, "ceb"),
        (130, 250, 140, "e"),
        (90, 2, 1000, "ce"),
        (1, 48, 333, "cye"),
        (40, 1, 512, "e"),
    ] {
        cases.push(matmul(with(m, n, k, flags), "f32"));
    }
    for (m, n, k, flags) in [
        // Sums of another type than what is stored: in registers, in panels, along lanes, one point.
        (5, 7, 11, "t"),
        (37, 97, 19, "xyet"),
        (33, 70, 40, "cebt"),
        (130, 250, 140, "t"),
        (90, 2, 1000, "cet"),
        (48, 48, 333, "cyt"),
        (40, 1, 512, "t"),
        (1, 1, 1, "bt"),
    ] {
        cases.push(matmul(with(m, n, k, flags), "f32"));
        cases.push(matmul(with(m, n, k, flags), "i32"));
    }
    for elem in ["f64", "i32", "i64", "f16", "i16", "i8"] {
        cases.push(matmul(plain(5, 19, 7), elem));
        cases.push(matmul(with(3, 16, 9, "cb"), elem));
    }
    check(&cases);
}

/// Caches so small that reductions are done in parts, with sums waiting in the output: starts,
/// the last part and the last tiles of all sizes.
#[test]
fn products_in_parts() {
    let mut cases = vec![];
    for (m, n, k, flags) in [
        (37, 97, 300, ""),
        (64, 64, 1000, "b"),
        (33, 70, 777, "yb"),
        (41, 130, 513, "xc"),
        (100, 24, 2048, "c"),
        (7, 509, 640, "cb"),
        (41, 130, 700, "cbe"),
        // These have no room for sums that wait.
        (41, 130, 700, "cbet"),
    ] {
        cases.push(matmul(with(m, n, k, flags), "f32"));
        cases.push(matmul(with(m, n / 2, k, flags), "i32"));
    }
    cases.push(conv(
        Conv {
            counts: [1, 70, 40, 1],
            image: [9, 7],
            kernel: [3, 3],
            stride: 1,
            dilation: 1,
            padding: 0,
            constant: true,
            epilogue: true,
        },
        "f32",
    ));
    let small = [
        (
            "@l2 scope(\"core\") capacity_bytes(1048576)",
            "@l2 scope(\"core\") capacity_bytes(65536)",
        ),
        ("bytes_per_cycle(20)", "bytes_per_cycle(2)"),
    ];
    check_on_other(&cases, &small);
}

/// So many units, to which work is handed over so fast, that few long sums are shared out.
#[test]
fn sums_shared_out() {
    let mut cases = vec![];
    for (m, n, k, flags) in [
        (1, 1, 4096, ""),
        (3, 5, 1024, "b"),
        (2, 16, 768, "cbe"),
        (4, 7, 2000, "xe"),
        (1, 40, 900, "cye"),
        (2, 16, 768, "cbet"),
        (4, 7, 2000, "t"),
    ] {
        cases.push(matmul(with(m, n, k, flags), "f32"));
        cases.push(matmul(with(m, n, k, flags), "i32"));
    }
    for (columns, fold) in [(4096, "sum"), (1000, "max"), (997, "min")] {
        cases.push(folded(3, columns, 1, fold, "f32", true));
        cases.push(folded(columns, 2, 0, fold, "i32", true));
    }
    check_on_other(
        &cases,
        &[("count(2)", "count(64)"), ("handover_cycles(20000)", "handover_cycles(1)")],
    );
}
