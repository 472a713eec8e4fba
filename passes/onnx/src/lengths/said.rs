//! Operators that are told how long their results are.

use weft_dialects::graph::Dims;
use weft_runtime::length::Length;

use super::{Input, Symbols};
use crate::plan::Plan;

/// The operators that say it.
pub const SAYING: [&str; 5] = ["ConstantOfShape", "Reshape", "Expand", "Range", "Slice"];

/// The lengths of the first result of an operator whose arguments follow from lengths; `None` where
/// the payload says them.
///
/// # Errors
/// Why they are not known.
pub fn said(
    operator: &str,
    symbols: &Symbols,
    inputs: &[Option<Input<'_>>],
    plan: &Plan,
) -> Result<Option<Dims>, String> {
    let follow =
        |at: usize| inputs.get(at).copied().flatten().is_some_and(|own| own.numbers.is_some());
    if !(0..inputs.len()).any(follow) {
        return Ok(None);
    }
    let elements = |at: usize| inputs.get(at).copied().flatten().and_then(|own| own.elements());
    let extents = plan.results[0].dims();
    match operator {
        "ConstantOfShape" => {
            let shape = elements(0).map(|shape| dims(&shape));
            shape.map(|shape| laid_out(symbols, shape, extents)).transpose()
        }
        // Held against what becomes of the elements by whoever asks.
        "Reshape" if follow(1) => {
            let shape = elements(1).unwrap_or_default();
            let own = shape.iter().zip(extents).map(|(length, &extent)| {
                let open = length.as_number().is_some_and(|number| number != extent);
                if open { None } else { fixed(length) }
            });
            Ok(Some(own.collect()))
        }
        "Expand" if follow(1) => {
            let mut shape = dims(&elements(1).unwrap_or_default());
            let own = inputs[0].map(|input| input.dims.clone()).unwrap_or_default();
            while shape.len() < own.len() {
                shape.insert(0, None);
            }
            let lead = shape.len() - own.len();
            for (place, length) in own.into_iter().enumerate() {
                shape[lead + place] = shape[lead + place].clone().or(length);
            }
            laid_out(symbols, shape, extents).map(Some)
        }
        "Range" => {
            let ends = [0, 1, 2].map(|at| elements(at).and_then(|own| own.first().cloned()));
            let [Some(start), Some(limit), Some(step)] = ends else {
                return Err("its ends are only known at run time".to_owned());
            };
            let Some(by) = step.as_number().filter(|&by| by > 0) else {
                return Err(format!("it goes from `{start}` in steps of `{step}`"));
            };
            let count = limit.plus(&start, -1).ceil_div(by);
            // It is laid out from the greatest start to the greatest limit.
            match symbols.range(&count) {
                Some([least, most]) if least >= 0 && most <= extents[0] => {
                    Ok(Some(vec![fixed(&count)]))
                }
                _ => Err(format!(
                    "it goes from `{start}` to `{limit}`, which may be more than {}",
                    extents[0]
                )),
            }
        }
        "Slice" => {
            let own = sliced(symbols, inputs, extents)?;
            laid_out(symbols, own, extents).map(Some)
        }
        _ => Ok(None),
    }
}

/// Lengths of which none is ever more than there is for the greatest of each symbol.
fn laid_out(symbols: &Symbols, dims: Dims, extents: &[i64]) -> Result<Dims, String> {
    let fits = |length: &Length, extent: i64| {
        symbols.range(length).is_some_and(|[least, most]| least >= 0 && most <= extent)
    };
    for (length, &extent) in dims.iter().zip(extents) {
        if let Some(length) = length.as_ref().filter(|length| !fits(length, extent)) {
            return Err(format!(
                "it makes `{length}` elements, which may be others than 0 to {extent}"
            ));
        }
    }
    Ok(dims)
}

/// A number is no length: all of it is there.
fn fixed(length: &Length) -> Option<Length> {
    length.as_number().is_none().then(|| length.clone())
}

fn dims(shape: &[Length]) -> Dims {
    shape.iter().map(fixed).collect()
}

/// From numbers on to ends that follow from lengths, in steps of one.
fn sliced(
    symbols: &Symbols,
    inputs: &[Option<Input<'_>>],
    extents: &[i64],
) -> Result<Dims, String> {
    let data = inputs[0].ok_or("it has no data")?;
    let elements = |at: usize| inputs.get(at).copied().flatten().and_then(|own| own.elements());
    let (Some(starts), Some(ends)) = (elements(1), elements(2)) else {
        return Err("its ends are only known at run time".to_owned());
    };
    let number = |at: usize, place: usize, fallback: i64| match elements(at) {
        Some(all) => all.get(place).and_then(Length::as_number),
        None => Some(fallback),
    };
    let mut dims = data.dims.clone();
    for (place, (start, end)) in starts.iter().zip(&ends).enumerate() {
        let rank = extents.len() as i64;
        let (axis, step) = (number(3, place, place as i64), number(4, place, 1));
        let (Some(axis), Some(step)) = (axis, step) else {
            return Err("its axes or steps follow from lengths".to_owned());
        };
        let axis = (if axis < 0 { axis + rank } else { axis }) as usize;
        let whole = dims[axis].clone().unwrap_or_else(|| Length::number(data.ty.dims()[axis]));
        // A constant end behind all of it is the end of it; another one the payload cuts at.
        let end = match end.as_number() {
            Some(end) if end >= data.ty.dims()[axis] => whole,
            Some(end) if start.as_number().is_none() => {
                return Err(format!("it begins at `{start}` and ends at {end}"));
            }
            Some(_) => continue,
            None => symbols.least(end, &whole),
        };
        match (start.as_number(), step) {
            (Some(0), 1) => dims[axis] = fixed(&end),
            (Some(start), 1) if start > 0 => {
                let rest = end.plus(&Length::number(start), -1);
                let none = Length::default();
                let some = symbols.range(&rest).is_some_and(|[least, _]| least >= 0);
                dims[axis] = fixed(&if some { rest } else { rest.greatest(&none) });
            }
            _ => return Err(format!("it begins at `{start}`, in steps of {step}")),
        }
    }
    Ok(dims)
}
