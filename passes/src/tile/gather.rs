//! Boxes in registers as loads of pieces that lanes gather from each other.
//!
//! ```text
//! a lane's slots       [0 1] [2 3] [4 5] [6 7]      of a 16 x 16 operand
//! pieces               rows 0-7, rows 8-15, and of each the second half: a lane gives the address of one
//! ```

use weft_dialects::device::Gathering;

/// The place of each lane's piece, for each load: the first one brings the first slots of the list, and so
/// on. `places` says for each slot where each lane's element lies. `None` where slots are no whole
/// loads, or lanes want what no piece has.
pub fn loads(gathering: &Gathering, places: &[Option<Vec<i64>>]) -> Option<Vec<Vec<i64>>> {
    let whole = !places.is_empty() && places.len().is_multiple_of(gathering.slots());
    let mut loads = places.chunks(gathering.slots()).map(|own| pieces(gathering, own));
    whole.then(|| loads.by_ref().collect())?
}

/// The piece of each lane; one that gives nothing to anyone has the first that is known.
fn pieces(gathering: &Gathering, places: &[Option<Vec<i64>>]) -> Option<Vec<i64>> {
    let mut known = vec![None; places.first()?.as_ref()?.len()];
    for (slot, places) in places.iter().enumerate() {
        for (place, &[from, at]) in places.as_ref()?.iter().zip(gathering.got(slot)) {
            let begin = place - at as i64;
            let whole = begin.rem_euclid(gathering.piece as i64) == 0;
            if !whole || *known[from as usize].get_or_insert(begin) != begin {
                return None;
            }
        }
    }
    let spare = known.iter().flatten().next().copied()?;
    let found: Vec<_> = known.into_iter().map(|own| own.unwrap_or(spare)).collect();
    digits(&found).map(|_| found)
}

/// A part of a number's binary form, `number / shift mod size`, and what each step of it adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    /// What the number is divided by.
    pub shift: u64,
    /// How many values it has.
    pub size: u64,
    /// What each adds.
    pub step: i64,
}

/// What has to be added to the first of `numbers` for the others, by the digits of their places in the list;
/// `None` where they are no sums of these.
///
/// ```
/// # use weft_passes::tile::gather::{Digit, digits};
/// let found = digits(&[5, 69, 133, 197, 13, 77, 141, 205]);
/// let digit = |shift, size, step| Digit { shift, size, step };
/// assert_eq!(found, Some(vec![digit(1, 4, 64), digit(4, 2, 8)]));
/// assert_eq!(digits(&[0, 1, 1, 0]), None);
/// ```
pub fn digits(numbers: &[i64]) -> Option<Vec<Digit>> {
    let first = *numbers.first().filter(|_| numbers.len().is_power_of_two())?;
    let mut found: Vec<Digit> = Vec::new();
    for shift in (0..numbers.len().ilog2()).map(|bit| 1u64 << bit) {
        let step = numbers[shift as usize] - first;
        match found.last_mut().filter(|last| last.step * last.size as i64 == step) {
            Some(last) if last.shift * last.size == shift => last.size *= 2,
            _ if step != 0 => found.push(Digit { shift, size: 2, step }),
            _ => {}
        }
    }
    let sum = |at: u64| {
        let own = found.iter().map(|own| (at / own.shift % own.size) as i64 * own.step);
        first + own.sum::<i64>()
    };
    let right = (0..).zip(numbers).all(|(at, number)| sum(at) == *number);
    right.then_some(found)
}
