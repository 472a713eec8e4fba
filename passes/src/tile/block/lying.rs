//! How the tiles of a block's inputs lie, and the numbers that say so in the text.

use super::super::banks::{Layout, Swizzle};

/// How the tile of an input lies in the shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lying {
    /// The axis of the nest that runs fastest.
    pub inner: usize,
    /// How its rows lie.
    pub layout: Layout,
}

/// The attribute that says how the tiles of inputs lie, one entry per input:
/// `[inner axis, pitch]`, and `bits, keep, shift` of a swizzle.
pub fn to_numbers(lying: &Lying) -> Vec<i64> {
    let mut numbers = vec![lying.inner as i64, lying.layout.pitch as i64];
    if let Some(Swizzle { bits, keep, shift }) = lying.layout.swizzle {
        numbers.extend([bits, keep, shift].map(i64::from));
    }
    numbers
}

/// What [`to_numbers`] wrote.
pub fn of_numbers(numbers: &[i64]) -> Option<Lying> {
    let (inner, pitch, swizzle) = match *numbers {
        [inner, pitch] => (inner, pitch, None),
        [inner, pitch, bits, keep, shift] => {
            let [bits, keep, shift] =
                [bits, keep, shift].map(|number| u32::try_from(number).unwrap_or(0));
            (inner, pitch, Some(Swizzle { bits, keep, shift }))
        }
        _ => return None,
    };
    let layout = Layout { pitch: u64::try_from(pitch).ok()?, swizzle };
    Some(Lying { inner: usize::try_from(inner).ok()?, layout })
}
