//! Which part of a buffer an access lies in, where that is known: one room of several.
//!
//! ```text
//! memref<2x64x72xf16>      two rooms
//! [3 mod 2, ...]           the room of a number
//! [(i + 1) mod 2, ...]     the room of a round of a loop, and that of the round behind it is another
//! ```

use crate::ir::{Op, Val, affine, attr, ty};

/// A buffer, by its number, and the part of it that an access may lie in.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Place<'c> {
    pub buffer: usize,
    /// `None` where it may be any.
    room: Option<Room<'c>>,
}

/// The room `round + later` of a buffer, of `count` that come by turns.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Room<'c> {
    /// The number of a loop's round; `None` for zero.
    round: Option<Val<'c>>,
    later: i64,
    count: i64,
}

impl<'c> Place<'c> {
    /// All of a buffer.
    pub fn whole(buffer: usize) -> Self {
        Self { buffer, room: None }
    }

    /// Where a box of elements lies that begins at `indices` and reaches `span` elements further.
    pub fn of(buffer: usize, memref: Val<'c>, indices: &[Val<'c>], span: i64) -> Self {
        Self { buffer, room: Room::of(memref, indices, span) }
    }

    /// Whether two accesses may touch the same element.
    pub fn meets(&self, other: &Self) -> bool {
        let apart = match (self.room, other.room) {
            (Some(one), Some(other)) => {
                one.round == other.round && (one.later - other.later) % one.count != 0
            }
            _ => false,
        };
        self.buffer == other.buffer && !apart
    }

    /// The same as a loop sees it whose first round has a number.
    pub fn in_first_round(mut self, round: Val<'c>, number: Option<i64>) -> Self {
        if let (Some(room), Some(number)) = (&mut self.room, number)
            && room.round.is_none()
        {
            (room.round, room.later) = (Some(round), room.later - number);
        }
        self
    }

    /// The same as the next round of a loop sees it.
    pub fn in_next_round(mut self, round: Val<'c>, step: Option<i64>) -> Self {
        let Some(room) = self.room.as_mut().filter(|room| room.round == Some(round)) else {
            return self;
        };
        match step {
            Some(step) => room.later -= step,
            None => self.room = None,
        }
        self
    }

    /// The same behind a loop.
    pub fn behind(mut self, round: Val<'c>) -> Self {
        if self.room.is_some_and(|room| room.round == Some(round)) {
            self.room = None;
        }
        self
    }
}

impl<'c> Room<'c> {
    fn of(memref: Val<'c>, indices: &[Val<'c>], span: i64) -> Option<Self> {
        let shape = ty::shape(memref.ty())?;
        let (&count, rest) = shape.split_first()?;
        let whole: u64 = rest.iter().product();
        if rest.is_empty() || count < 2 || span >= whole as i64 {
            return None;
        }
        let count = count as i64;
        let first = *indices.first()?;
        if let Some(later) = number(first) {
            return (0..count).contains(&later).then_some(Self { round: None, later, count });
        }
        let turns = first.def().filter(|op| op.is("arith.remui"))?;
        if number(turns.operand(1)) != Some(count) {
            return None;
        }
        let (round, later) = moved(turns.operand(0))?;
        // The remainder of a number below zero is another one.
        (later >= 0).then_some(Self { round: Some(round), later, count })
    }
}

/// A value that is known.
pub(super) fn number(value: Val<'_>) -> Option<i64> {
    let op = value.def().filter(|op| op.is("arith.constant"))?;
    op.attr("value").and_then(attr::int)
}

/// A loop's round, and how much is added to it.
fn moved(value: Val<'_>) -> Option<(Val<'_>, i64)> {
    let Some(op) = value.def() else { return is_round(value).then_some((value, 0)) };
    if !op.is("affine.apply") || op.operands().len() != 1 {
        return None;
    }
    let [sum] = &affine::linear(op.attr("map")?)?[..] else { return None };
    let round = op.operand(0);
    let plain = sum.coefficients == [1] && round.def().is_none() && is_round(round);
    plain.then_some((round, sum.constant))
}

/// Whether a value is the number of a loop's round, none of which is below zero.
fn is_round(value: Val<'_>) -> bool {
    let owner = value.owner_block().and_then(|block| block.parent());
    let counts = |op: Op<'_>| op.is("scf.for") && number(op.operand(0)).is_some_and(|low| low >= 0);
    value.index() == 0 && owner.is_some_and(counts)
}
