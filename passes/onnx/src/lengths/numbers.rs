//! Shapes as tensors: integers that follow from lengths.
//!
//! ```text
//! Shape(x) = [seq, 768]; Gather(.., 0) = seq; Unsqueeze, Concat = [1, seq, 12, 64]
//! ```

use weft_runtime::length::Length;

use super::{Input, Symbols};
use crate::elements::{Elements, Scalar};
use crate::plan::{Plan, ValueId};

/// The elements of each result of an operator that calculates with shapes; `None` of another one, and
/// of what is no sum or product of lengths: then it is calculated when it runs.
///
/// # Errors
/// Why they are not known.
pub fn numbers(
    operator: &str,
    symbols: &Symbols,
    inputs: &[Option<Input<'_>>],
    plan: &Plan,
) -> Result<Option<Vec<Vec<Length>>>, String> {
    let first = inputs.first().copied().flatten();
    if let ("Shape" | "Size", Some(input)) = (operator, first) {
        let extents = input.ty.dims().iter().zip(input.dims);
        let dims: Vec<Length> = extents
            .map(|(&extent, length)| length.clone().unwrap_or_else(|| Length::number(extent)))
            .collect();
        return Ok(Some(vec![match operator {
            "Size" => {
                vec![dims.iter().fold(Length::number(1), |all, dim| all.times(dim))]
            }
            // `start` and `end` cut some off: those that are left have their extents.
            _ => picked(&dims, &input, plan)?,
        }]));
    }
    if !inputs.iter().flatten().any(|input| input.numbers.is_some()) {
        return Ok(None);
    }
    let moved: Option<&[usize]> = match operator {
        "Gather" | "GatherElements" | "Slice" | "Squeeze" | "Unsqueeze" | "Reshape" | "Flatten"
        | "Identity" | "Cast" | "Transpose" | "Expand" | "Split" | "Tile" => Some(&[0]),
        "Where" => Some(&[1, 2]),
        _ => None,
    };
    if operator == "Concat" {
        let parts: Option<Vec<_>> = inputs.iter().map(|input| input.as_ref()?.elements()).collect();
        return Ok(parts.map(|parts| vec![parts.concat()]));
    }
    if let Some(moved) = moved {
        let asked = inputs.iter().enumerate().any(|(at, input)| {
            input.is_some_and(|input| input.numbers.is_some()) && !moved.contains(&at)
        });
        return Ok(if asked { None } else { follow(inputs, moved, plan) });
    }
    let all: Option<Vec<Vec<Length>>> =
        inputs.iter().map(|input| input.as_ref()?.elements()).collect();
    let Some(all) = all else { return Ok(None) };
    let found = calculated(operator, symbols, &all).ok().flatten();
    Ok(found.map(|result| vec![result]))
}

/// The extents that a Shape gives of a tensor.
fn picked(dims: &[Length], input: &Input<'_>, plan: &Plan) -> Result<Vec<Length>, String> {
    let all = plan.results[0].elements();
    if all == dims.len() {
        return Ok(dims.to_vec());
    }
    // Extents that differ from each other say which are left.
    let fold = plan.fold.as_ref().ok_or("its attributes are not understood here")?;
    let left = fold(&[Elements::from_ints(&[])]).remove(0).ints().unwrap_or_default();
    let extents = input.ty.dims();
    let places = (0..=extents.len() - all).filter(|&at| extents[at..at + all] == left[..]);
    match places.collect::<Vec<_>>()[..] {
        [at] => Ok(dims[at..at + all].to_vec()),
        _ => Err("it takes some of several equal extents".to_owned()),
    }
}

/// The elements of an operator that moves elements: it is done to their numbers. `None` where it does
/// more, or some are only known at run time.
fn follow(inputs: &[Option<Input<'_>>], moved: &[usize], plan: &Plan) -> Option<Vec<Vec<Length>>> {
    let fold = plan.fold.as_ref()?;
    let mut all: Vec<Length> = Vec::new();
    let mut marked: Vec<(ValueId, Elements)> = Vec::new();
    for &at in moved {
        let Some(input) = inputs.get(at).copied().flatten() else { continue };
        let (known, own) = (input.known?, input.elements()?);
        let first = all.len() as i128;
        let marks = (0..own.len() as i128).map(|place| Scalar::Int(first + place));
        marked.push((input.id, Elements::from_scalars(known.ty().clone(), marks)));
        all.extend(own);
    }
    let operands = plan.operands.iter().map(|operand| {
        let known = operand.known.as_ref()?;
        let own = marked.iter().find(|(id, _)| *id == operand.id);
        Some(own.map_or_else(|| known.clone(), |(_, marks)| marks.reshaped(known.ty().clone())))
    });
    let results = fold(&operands.collect::<Option<Vec<_>>>()?);
    let places = results.iter().map(|result| {
        let own = result.ints()?.into_iter().map(|mark| all.get(mark as usize).cloned());
        own.collect::<Option<Vec<_>>>()
    });
    places.collect()
}

/// The elements of an operator that calculates; `None` of one that is not understood here.
fn calculated(
    operator: &str,
    symbols: &Symbols,
    inputs: &[Vec<Length>],
) -> Result<Option<Vec<Length>>, String> {
    let quotient = |one: &Length, other: &Length| match other.as_number() {
        Some(by) if by > 0 => Ok(one.floor_div(by)),
        // What is multiplied by it before, as the size of a whole is by that of a part.
        _ => exact(one, other).ok_or_else(|| format!("`{one}` is divided by `{other}`")),
    };
    let fold = |all: &[Length], start: Length, next: fn(&Length, &Length) -> Length| {
        vec![all.iter().fold(start, |sum, own| next(&sum, own))]
    };
    Ok(Some(match (operator, inputs) {
        ("Add", [one, other]) => pairs(one, other, |x, y| Ok(x.plus(y, 1)))?,
        ("Sub", [one, other]) => pairs(one, other, |x, y| Ok(x.plus(y, -1)))?,
        ("Mul", [one, other]) => pairs(one, other, |x, y| Ok(x.times(y)))?,
        ("Div", [one, other]) => pairs(one, other, quotient)?,
        ("Min", [one, other]) => pairs(one, other, |x, y| Ok(x.least(y)))?,
        ("Max", [one, other]) => pairs(one, other, |x, y| Ok(x.greatest(y)))?,
        ("Neg", [one]) => one.iter().map(|x| Length::default().plus(x, -1)).collect(),
        ("ReduceProd", [one, ..]) => fold(one, Length::number(1), Length::times),
        ("ReduceSum", [one, ..]) => fold(one, Length::default(), |x, y| x.plus(y, 1)),
        ("Equal", [one, other]) => pairs(one, other, |x, y| equal(symbols, x, y))?,
        _ => return Ok(None),
    }))
}

/// Element by element; of one element, that one each time.
fn pairs(
    one: &[Length],
    other: &[Length],
    next: impl Fn(&Length, &Length) -> Result<Length, String>,
) -> Result<Vec<Length>, String> {
    let count = if one.len() == 1 { other.len() } else { one.len() };
    if ![1, count].contains(&one.len()) || ![1, count].contains(&other.len()) {
        return Err(format!("{} elements meet {}", one.len(), other.len()));
    }
    let at = |all: &[Length], place: usize| all[if all.len() == 1 { 0 } else { place }].clone();
    (0..count).map(|place| next(&at(one, place), &at(other, place))).collect()
}

/// The factor by which `part` is in `whole`, where it is one of a few.
fn exact(whole: &Length, part: &Length) -> Option<Length> {
    let names = whole.symbols().into_iter().map(Length::symbol);
    let factors = names.chain([Length::number(1)]);
    factors.into_iter().find(|factor| factor.times(part) == *whole)
}

/// 1 where both are equal in every run, 0 where they are in none.
fn equal(symbols: &Symbols, one: &Length, other: &Length) -> Result<Length, String> {
    let apart = one.plus(other, -1);
    let ends = symbols.range(&apart).ok_or_else(|| format!("`{apart}` exceeds 63 bits"))?;
    match ends {
        [0, 0] => Ok(Length::number(1)),
        [low, high] if low > 0 || high < 0 => Ok(Length::number(0)),
        _ => Err(format!("whether `{one}` is `{other}` is only known at run time")),
    }
}

#[cfg(test)]
mod tests {
    use weft_runtime::length::Symbol;

    use super::*;

    fn read(text: &str) -> Length {
        text.parse().expect("a length")
    }

    fn calculate(operator: &str, inputs: &[&[&str]]) -> Result<Vec<String>, String> {
        let symbols = Symbols::of(&[Symbol { name: "n".into(), least: 2, most: 9, multiple: 1 }]);
        let inputs: Vec<Vec<Length>> =
            inputs.iter().map(|input| input.iter().map(|text| read(text)).collect()).collect();
        let found = calculated(operator, &symbols, &inputs)?.expect("it is understood");
        Ok(found.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn sums_and_products_of_lengths() {
        assert_eq!(calculate("Add", &[&["n", "3"], &["1"]]), Ok(vec!["n + 1".into(), "4".into()]));
        assert_eq!(calculate("Div", &[&["12 * n"], &["4"]]), Ok(vec!["3 * n".into()]));
        assert_eq!(calculate("Div", &[&["n * n"], &["n"]]), Ok(vec!["n".into()]));
        assert_eq!(calculate("ReduceProd", &[&["n", "3", "2"]]), Ok(vec!["6 * n".into()]));
        assert_eq!(
            calculate("Equal", &[&["n", "n"], &["-1", "n"]]),
            Ok(vec!["0".into(), "1".into()])
        );
    }

    #[test]
    fn what_only_a_run_knows_is_refused() {
        let told = calculate("Equal", &[&["n"], &["4"]]).expect_err("it may be");
        assert!(told.contains("whether `n` is `4`"), "{told}");
        let told = calculate("Div", &[&["7"], &["n"]]).expect_err("no length");
        assert!(told.contains("`7` is divided by `n`"), "{told}");
    }
}
