//! GridSample: every element is read at a place that a tensor of coordinates says.

use weft_dialects::ir::Linear;

use super::{Operator, op};
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{Calc, Num, Tensor, computed};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] =
    &[op("GridSample", 16, 2, &["align_corners", "mode", "padding_mode"], grid_sample)];

/// The interpolation of an element between others.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Nearest,
    Linear,
    Cubic,
}

/// The elements outside of the tensor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outside {
    Zeros,
    Border,
    Reflection,
}

/// One of the places along an axis that an element is made of.
pub struct Tap<'c> {
    place: Num<'c>,
    /// The condition that the place is inside; `None` where that does not matter.
    inside: Option<Num<'c>>,
    /// Its weight; 1 by default.
    weight: Option<Num<'c>>,
}

fn grid_sample(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let grid = node.typed(1, "grid", ElementType::FLOATS)?;
    let mode = match node.string("mode", "linear")? {
        "nearest" => Mode::Nearest,
        "linear" | "bilinear" => Mode::Linear,
        "cubic" | "bicubic" => Mode::Cubic,
        other => {
            let report = node.report(format!("has mode {other:?}"));
            return Err(report.help("nearest, linear or cubic").invalid());
        }
    };
    let outside = match node.string("padding_mode", "zeros")? {
        "zeros" => Outside::Zeros,
        "border" => Outside::Border,
        "reflection" => Outside::Reflection,
        other => {
            let report = node.report(format!("has padding_mode {other:?}"));
            return Err(report.help("zeros, border or reflection").invalid());
        }
    };
    let corners = node.flag("align_corners", false)?;
    let rank = x.rank();
    let fits = (3..=5).contains(&rank)
        && grid.rank() == rank
        && grid.dims()[0] == x.dims()[0]
        && grid.dims()[rank - 1] == rank as i64 - 2
        && !x.dims().contains(&0);
    if !fits {
        return Err(node
            .report(format!("reads {} at {}", x.ty, grid.ty))
            .help("batch, channels and one to three dimensions; for each batch and place, as many coordinates")
            .invalid());
    }
    let element = x.element();
    let dims = [&x.dims()[..2], &grid.dims()[1..rank - 1]].concat();
    let result = node.ty(element, dims.clone())?;
    Ok(Plan::new(vec![x.clone(), grid.clone()], vec![result], move |b, args| {
        let x = &args[0];
        let spatial = rank - 2;
        // Coordinates are in the opposite order of the dimensions.
        let inputs: Vec<_> = (0..spatial)
            .map(|d| {
                let mut read = vec![Linear::axis(rank, 0)];
                read.extend((2..rank).map(|axis| Linear::axis(rank, axis)));
                read.push(Linear::constant(rank, (spatial - 1 - d) as i64));
                (&args[1], read)
            })
            .collect();
        vec![b.map_at(element, &dims, &inputs, |calc, given| {
            let number = computed(element);
            let taps: Vec<_> = (0..spatial)
                .map(|d| {
                    let extent = x.dims()[2 + d];
                    let at = calc.cast(given[d], number);
                    let at = denormalized(calc, at, extent, corners);
                    taps(calc, at, extent, mode, outside, corners)
                })
                .collect();
            let lead = [calc.index(0), calc.index(1)];
            weighed(calc, x, &lead, &taps)
        })]
    }))
}

/// A coordinate from -1 to 1 as one that counts elements.
fn denormalized<'c>(calc: &mut Calc<'_, 'c>, at: Num<'c>, extent: i64, corners: bool) -> Num<'c> {
    let (one, half) = (calc.like(at, 1.0), calc.like(at, 0.5));
    let length = calc.like(at, if corners { extent - 1 } else { extent } as f64);
    let sum = calc.add(at, one);
    let wide = calc.mul(sum, length);
    let wide = if corners { wide } else { calc.sub(wide, one) };
    calc.mul(wide, half)
}

/// The places around `at`, and what they count.
pub fn taps<'c>(
    calc: &mut Calc<'_, 'c>,
    at: Num<'c>,
    extent: i64,
    mode: Mode,
    outside: Outside,
    corners: bool,
) -> Vec<Tap<'c>> {
    let base = calc.math(if mode == Mode::Nearest { "roundeven" } else { "floor" }, at);
    let part = calc.sub(at, base);
    let whole = calc.cast(base, ElementType::I32);
    let whole = calc.coordinate(whole);
    let (first, weights) = match mode {
        Mode::Nearest => (0, vec![None]),
        Mode::Linear => {
            let one = calc.like(part, 1.0);
            (0, vec![Some(calc.sub(one, part)), Some(part)])
        }
        Mode::Cubic => {
            (-1, (-1..3).map(|offset| Some(cubic(calc, part, f64::from(offset)))).collect())
        }
    };
    let mut taps = Vec::new();
    for (at, weight) in weights.into_iter().enumerate() {
        let offset = calc.at(first + at as i64);
        let place = calc.add(whole, offset);
        let (zero, last) = (calc.at(0), calc.at(extent - 1));
        let inside = (outside == Outside::Zeros).then(|| {
            let (after, before) = (calc.ge(place, zero), calc.le(place, last));
            calc.and(after, before)
        });
        let place = match outside {
            Outside::Reflection => reflected(calc, place, extent, corners),
            _ => place,
        };
        let place = calc.max(place, zero);
        taps.push(Tap { place: calc.min(place, last), inside, weight });
    }
    taps
}

/// Returns the weight of the place at `offset` for one that is `part` behind the middle pair's
/// first.
fn cubic<'c>(calc: &mut Calc<'_, 'c>, part: Num<'c>, offset: f64) -> Num<'c> {
    const A: f64 = -0.75;
    let offset_number = calc.like(part, offset);
    let distance = calc.sub(part, offset_number);
    let d = calc.abs(distance);
    // A polynomial in the distance, by Horner's rule.
    let terms = if offset == 0.0 || offset == 1.0 {
        [A + 2.0, -(A + 3.0), 0.0, 1.0]
    } else {
        [A, -5.0 * A, 8.0 * A, -4.0 * A]
    };
    let mut sum = calc.like(part, terms[0]);
    for term in &terms[1..] {
        let term = calc.like(part, *term);
        let product = calc.mul(sum, d);
        sum = calc.add(product, term);
    }
    sum
}

/// A place, mirrored at the borders until it is inside.
fn reflected<'c>(calc: &mut Calc<'_, 'c>, place: Num<'c>, extent: i64, corners: bool) -> Num<'c> {
    // The mirrors stand on the outer elements, or behind them.
    let last = if corners { 2 * (extent - 1) } else { 2 * extent - 1 };
    let period = calc.at(if corners { last.max(1) } else { 2 * extent });
    let rest = calc.rem(place, period);
    let positive = calc.add(rest, period);
    let rest = calc.rem(positive, period);
    let (length, last) = (calc.at(extent), calc.at(last));
    let (beyond, mirrored) = (calc.ge(rest, length), calc.sub(last, rest));
    calc.select(beyond, mirrored, rest)
}

/// The sum over all combinations of places, behind those of the first dimensions.
pub fn weighed<'c>(
    calc: &mut Calc<'_, 'c>,
    x: &Tensor<'c>,
    lead: &[Num<'c>],
    taps: &[Vec<Tap<'c>>],
) -> Num<'c> {
    let mut sum: Option<Num<'c>> = None;
    let count: usize = taps.iter().map(Vec::len).product();
    for mut at in 0..count {
        let (mut place, mut weight) = (lead.to_vec(), None);
        let mut inside: Option<Num<'c>> = None;
        for axis in taps {
            let tap = &axis[at % axis.len()];
            at /= axis.len();
            place.push(tap.place);
            weight = match (weight, tap.weight) {
                (Some(all), Some(own)) => Some(calc.mul(all, own)),
                (all, own) => all.or(own),
            };
            inside = match (inside, tap.inside) {
                (Some(all), Some(own)) => Some(calc.and(all, own)),
                (all, own) => all.or(own),
            };
        }
        let found = calc.extract(x, &place);
        let mut found = calc.loaded(found);
        if let Some(inside) = inside {
            let zero = calc.like(found, 0.0);
            found = calc.select(inside, found, zero);
        }
        if let Some(weight) = weight {
            found = calc.mul(found, weight);
        }
        sum = Some(sum.map_or(found, |sum| calc.add(sum, found)));
    }
    sum.expect("there is a place")
}
