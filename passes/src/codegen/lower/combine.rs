//! `device.combine`: the lanes of a register as one element.
//!
//! Halves are combined until one lane is left, so the order is fixed here and
//! does not depend on what LLVM makes of a reduction.

use weft_dialects::device::Combine;
use weft_dialects::ir::{Builder, Diagnostics, Val};

use super::lanewise::Lanewise;
use super::view;

/// Puts the tree of shuffles before the operation.
pub fn expand<'c>(b: &mut Builder<'c>, combine: &Combine<'c>, diag: &mut Diagnostics) {
    if combine.along.is_some() {
        diag.error(combine.op, "registers of a processor are spread over no lanes of a group")
            .help("leave `along` out, and combine the lanes of one register");
        return;
    }
    let mut rest = view::load(b, &combine.input, combine.lanes);
    let mut result = view::load(b, &combine.output, 1);
    let mut lanes = combine.lanes;
    while lanes > 1 {
        if lanes % 2 == 1 {
            let odd = view::lane(b, rest, lanes - 1);
            result = pair(*b, combine, [odd, result], 1, diag);
        }
        lanes /= 2;
        let halves = [0, lanes].map(|begin| part(b, rest, begin, lanes));
        rest = pair(*b, combine, halves, lanes, diag);
    }
    let result = pair(*b, combine, [rest, result], 1, diag);
    view::store(b, result, &combine.output);
}

/// `lanes` lanes of a vector from `begin`; the scalar where it is one.
fn part<'c>(b: &mut Builder<'c>, vector: Val<'c>, begin: u64, lanes: u64) -> Val<'c> {
    if lanes == 1 {
        return view::lane(b, vector, begin);
    }
    let chosen: Vec<_> = (begin..begin + lanes).map(|lane| lane as i64).collect();
    view::shuffle(b, vector, vector, &chosen)
}

/// The body on two values of `lanes` lanes.
fn pair<'c>(
    b: Builder<'c>,
    combine: &Combine<'c>,
    values: [Val<'c>; 2],
    lanes: u64,
    diag: &mut Diagnostics,
) -> Val<'c> {
    let mut lanewise = Lanewise::new(b, lanes);
    for (arg, value) in combine.body.args().into_iter().zip(values) {
        lanewise.set(arg, value);
    }
    lanewise.run(combine.body, diag)[0]
}
