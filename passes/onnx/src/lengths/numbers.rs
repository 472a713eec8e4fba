//! Shapes as tensors: integers that follow from lengths.
//!
//! ```text
//! Shape(x) = [seq, 768]; Gather(.., 0) = seq; Unsqueeze, Concat = [1, seq, 12, 64]
//! ```

use weft_runtime::length::Length;

use super::{Input, Symbols};
use crate::elements::{Elements, Scalar};
use crate::plan::{Plan, ValueId};
use crate::types::ElementType;

/// The elements of each result of an operator that calculates with shapes; `None` of another one, and
/// of what is no sum or product of lengths: then it is calculated when it runs.
pub fn numbers(
    operator: &str,
    symbols: &Symbols,
    inputs: &[Option<Input<'_>>],
    plan: &Plan,
) -> Option<Vec<Vec<Length>>> {
    let first = inputs.first().copied().flatten();
    if let ("Shape" | "Size", Some(input)) = (operator, first) {
        let extents = input.ty.dims().iter().zip(input.dims);
        let dims: Vec<Length> = extents
            .map(|(&extent, length)| length.clone().unwrap_or_else(|| Length::number(extent)))
            .collect();
        return Some(vec![match operator {
            "Size" => {
                vec![dims.iter().fold(Length::number(1), |all, dim| all.times(dim))]
            }
            _ => dims[plan.tells.clone().unwrap_or(0..dims.len())].to_vec(),
        }]);
    }
    if !inputs.iter().flatten().any(|input| input.numbers.is_some()) {
        return None;
    }
    let moved: Option<&[usize]> = match operator {
        "Gather" | "GatherElements" | "Slice" | "Squeeze" | "Unsqueeze" | "Reshape" | "Flatten"
        | "Identity" | "Cast" | "Transpose" | "Expand" | "Split" | "Tile" => Some(&[0]),
        "Where" => Some(&[1, 2]),
        _ => None,
    };
    if operator == "Concat" {
        let parts: Option<Vec<_>> = inputs.iter().map(|input| input.as_ref()?.elements()).collect();
        return parts.map(|parts| vec![parts.concat()]);
    }
    if let Some(moved) = moved {
        let asked = inputs.iter().enumerate().any(|(at, input)| {
            input.is_some_and(|input| input.numbers.is_some()) && !moved.contains(&at)
        });
        return if asked { None } else { follow(inputs, moved, plan) };
    }
    let all: Option<Vec<Vec<Length>>> =
        inputs.iter().map(|input| input.as_ref()?.elements()).collect();
    let found = all.and_then(|all| calculated(operator, symbols, &all));
    // Elements are told here without their dimensions: what these do to them is not known.
    let whole = found.filter(|found| found.len() == plan.results[0].elements());
    whole.map(|result| vec![result])
}

/// The elements of an operator that moves elements: it is done to their numbers. `None` where it does
/// more, or some are only known at run time.
fn follow(inputs: &[Option<Input<'_>>], moved: &[usize], plan: &Plan) -> Option<Vec<Vec<Length>>> {
    let fold = plan.fold.as_ref()?;
    // Marks stay what they are as integers only; a truth, or eight bits, would be another mark.
    let wide = [ElementType::I32, ElementType::I64];
    if !plan.results.iter().all(|ty| wide.contains(&ty.element())) {
        return None;
    }
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

/// The elements of an operator that calculates; `None` of one that is not understood here, and of what
/// only a run knows.
fn calculated(operator: &str, symbols: &Symbols, inputs: &[Vec<Length>]) -> Option<Vec<Length>> {
    let quotient = |one: &Length, other: &Length| match other.as_number() {
        // Below zero a quotient is rounded towards it, and a length is not.
        Some(by) if by > 0 && symbols.range(one).is_some_and(|[least, _]| least >= 0) => {
            Some(one.floor_div(by))
        }
        // What is multiplied by it before, as the size of a whole is by that of a part.
        _ => exact(one, other),
    };
    let fold = |all: &[Length], start: Length, next: fn(&Length, &Length) -> Length| {
        Some(vec![all.iter().fold(start, |sum, own| next(&sum, own))])
    };
    match (operator, inputs) {
        ("Add", [one, other]) => pairs(one, other, |x, y| Some(x.plus(y, 1))),
        ("Sub", [one, other]) => pairs(one, other, |x, y| Some(x.plus(y, -1))),
        ("Mul", [one, other]) => pairs(one, other, |x, y| Some(x.times(y))),
        ("Div", [one, other]) => pairs(one, other, quotient),
        ("Min", [one, other]) => pairs(one, other, |x, y| Some(x.least(y))),
        ("Max", [one, other]) => pairs(one, other, |x, y| Some(x.greatest(y))),
        ("Neg", [one]) => Some(one.iter().map(|x| Length::default().plus(x, -1)).collect()),
        ("ReduceProd", [one, ..]) => fold(one, Length::number(1), Length::times),
        ("ReduceSum", [one, ..]) => fold(one, Length::default(), |x, y| x.plus(y, 1)),
        ("ReduceMax", [one, ..]) => fold(one, one.first()?.clone(), Length::greatest),
        ("Equal", [one, other]) => pairs(one, other, |x, y| equal(symbols, x, y)),
        _ => None,
    }
}

/// Element by element; of one element, that one each time.
fn pairs(
    one: &[Length],
    other: &[Length],
    next: impl Fn(&Length, &Length) -> Option<Length>,
) -> Option<Vec<Length>> {
    let count = if one.len() == 1 { other.len() } else { one.len() };
    if ![1, count].contains(&one.len()) || ![1, count].contains(&other.len()) {
        return None;
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
fn equal(symbols: &Symbols, one: &Length, other: &Length) -> Option<Length> {
    match symbols.range(&one.plus(other, -1))? {
        [0, 0] => Some(Length::number(1)),
        [low, high] if low > 0 || high < 0 => Some(Length::number(0)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use weft_runtime::length::Symbol;

    use super::*;

    fn read(text: &str) -> Length {
        text.parse().expect("a length")
    }

    fn calculate(operator: &str, inputs: &[&[&str]]) -> Option<Vec<String>> {
        let symbols = Symbols::of(&[Symbol { name: "n".into(), least: 2, most: 9, multiple: 1 }]);
        let inputs: Vec<Vec<Length>> =
            inputs.iter().map(|input| input.iter().map(|text| read(text)).collect()).collect();
        let found = calculated(operator, &symbols, &inputs)?;
        Some(found.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn sums_and_products_of_lengths() {
        assert_eq!(
            calculate("Add", &[&["n", "3"], &["1"]]),
            Some(vec!["n + 1".into(), "4".into()])
        );
        assert_eq!(calculate("Div", &[&["12 * n"], &["4"]]), Some(vec!["3 * n".into()]));
        assert_eq!(calculate("Div", &[&["n * n"], &["n"]]), Some(vec!["n".into()]));
        assert_eq!(calculate("ReduceProd", &[&["n", "3", "2"]]), Some(vec!["6 * n".into()]));
        assert_eq!(
            calculate("Equal", &[&["n", "n"], &["-1", "n"]]),
            Some(vec!["0".into(), "1".into()])
        );
    }

    #[test]
    fn what_only_a_run_knows_is_left_to_it() {
        assert_eq!(calculate("Equal", &[&["n"], &["4"]]), None);
        assert_eq!(calculate("Div", &[&["7"], &["n"]]), None);
        assert_eq!(calculate("Add", &[&["n", "1"], &["1", "2", "3"]]), None);
        // n - 3 may be -1, whose half is 0 and not -1.
        assert_eq!(calculate("Div", &[&["n - 3"], &["2"]]), None);
        assert_eq!(calculate("Div", &[&["n - 2"], &["2"]]), Some(vec!["floor(n, 2) - 1".into()]));
    }
}
