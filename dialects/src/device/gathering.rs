//! Moves for which lanes give addresses of pieces, and get elements of the pieces of others.
//!
//! ```text
//! matrices of 8 rows of 8 elements: lane r gives the address of row r
//! lane l gets elements 2 (l mod 4) and the next one of row l / 4
//! ```

use super::Move;
use crate::ir::{Type, affine, ty};

/// What each slot of each lane gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathering {
    /// Elements of a piece, a power of two.
    pub piece: u64,
    /// Bytes of an element.
    pub elem_bytes: u64,
    /// For each slot, and each lane, the lane that gave the address and the place in its piece.
    slots: Vec<Vec<[u64; 2]>>,
}

impl Gathering {
    /// Reads the map of a move to registers of so many lanes, whose lowering yields `slots`.
    ///
    /// # Errors
    /// What is wrong, as the end of a sentence about the map.
    pub(super) fn read(way: &Move<'_>, lanes: u64, slots: Type<'_>) -> Result<Self, String> {
        let points =
            way.gathers().and_then(affine::Points::of).ok_or("is none of lane and slot")?;
        let count = ty::count(slots).filter(|count| (1..=MOST_SLOTS).contains(count));
        let bytes = ty::elem(slots).and_then(ty::byte_size);
        let (Some(count), Some(elem_bytes)) = (count, bytes) else {
            return Err(format!("is for slots of {slots}, not a vector of whole bytes"));
        };
        let got = |lane: u64, slot: u64| {
            let at = points.at(&[lane as i64, slot as i64]).unwrap_or_default();
            let [from, place] = at[..] else {
                return Err("does not give a lane and a place".to_owned());
            };
            match [from, place].map(u64::try_from) {
                [Ok(from), Ok(place)] if from < lanes && place < MOST_SLOTS => Ok([from, place]),
                _ => Err(format!(
                    "gives lane {lane}, slot {slot} place {place} of lane {from}'s, of {lanes} lanes"
                )),
            }
        };
        let of_slot = |slot| (0..lanes).map(|lane| got(lane, slot)).collect::<Result<Vec<_>, _>>();
        let slots = (0..count).map(of_slot).collect::<Result<Vec<_>, _>>()?;
        let piece = 1 + slots.iter().flatten().map(|[_, place]| *place).max().unwrap_or(0);
        match piece.is_power_of_two() {
            true => Ok(Self { piece, elem_bytes, slots }),
            false => Err(format!("takes pieces of {piece} elements, not a power of two")),
        }
    }

    /// For each lane the lane that gave the address of what it gets in a slot, and the place in that piece.
    pub fn got(&self, slot: usize) -> &[[u64; 2]] {
        &self.slots[slot]
    }

    /// Slots of a lane.
    pub fn slots(&self) -> usize {
        self.slots.len()
    }
}

/// Slots of a lane, and elements of a piece, at most: more is no move of one instruction.
const MOST_SLOTS: u64 = 1 << 10;
