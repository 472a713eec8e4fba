//! Tokens of what an engine does, by the number of later ones.
//!
//! ```text
//! %t = device.transfer A      begins A
//! %u = device.transfer B      begins B
//! device.wait %t              behind it at most 1 is under way
//! ```
//!
//! An engine does one after the other, but for boxes of a tensor. Of what was begun behind a token's operation, that counts which is
//! begun on every way from there: to wait for more is right, too.

use super::{Invoke, Machine, Transfer};
use crate::ir::{Block, Op, Val};

/// Operands of a loop in front of what it carries: its bounds and its step.
pub(super) const BOUNDS: usize = 3;

/// Later ones than any is waited for.
const MANY: u64 = 1 << 20;

/// What an engine does: transfers and instructions go on beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Transfers, one after the other.
    Copies,
    /// Transfers of boxes, which end in any order.
    Boxes,
    /// Instructions.
    Instructions,
    /// Groups that come to a place of the program, and go on.
    Arrivals,
}

/// What an operation only begins, for an engine does it.
pub fn begun(machine: Machine<'_>, op: Op<'_>) -> Option<Kind> {
    if let Some(transfer) = Transfer::of(op) {
        let way = machine.move_named(transfer.move_name)?;
        let kind = if way.boxes().is_some() { Kind::Boxes } else { Kind::Copies };
        return way.engine().map(|_| kind);
    }
    if op.is("device.arrive") {
        return Some(Kind::Arrivals);
    }
    let instruction = machine.instruction(Invoke::of(op)?.instruction)?;
    instruction.engine().map(|_| Kind::Instructions)
}

/// What may be under way behind a `device.wait`, for each kind that one of its tokens is of and that ends in order.
pub fn under_way<'c>(machine: Machine<'c>, wait: Op<'c>) -> Vec<(Kind, u64)> {
    let order = Order { machine };
    let of = |kind: Kind| {
        let later = awaited(&order, wait, kind).into_iter().map(|(_, later)| later.least);
        Some((kind, later.min()?))
    };
    [Kind::Copies, Kind::Instructions].into_iter().filter_map(of).collect()
}

/// The tokens of boxes that a `device.wait` waits for, and of each how many were begun later, where that is the same on
/// every way.
pub fn boxes<'c>(machine: Machine<'c>, wait: Op<'c>) -> Vec<(Val<'c>, Option<u64>)> {
    let all = awaited(&Order { machine }, wait, Kind::Boxes).into_iter();
    let exact = |later: Later| Some(later.least).filter(|least| *least == later.most);
    all.map(|(token, later)| (token, exact(later))).collect()
}

/// Whether nothing but what begins boxes gives a token.
pub fn is_only_of_boxes<'c>(machine: Machine<'c>, token: Val<'c>) -> bool {
    let other = |giver: Op<'c>| begun(machine, giver) != Some(Kind::Boxes);
    !Order { machine }.has_giver(token, &other, &mut Vec::new())
}

/// Whether an arrival gives a token on some way.
pub fn is_of_arrival<'c>(machine: Machine<'c>, token: Val<'c>) -> bool {
    let arrives = |giver: Op<'c>| giver.is("device.arrive");
    Order { machine }.has_giver(token, &arrives, &mut Vec::new())
}

/// The arrival of the round before that an operation's token is: the loop around it hands it on, and has `device.ready` at
/// first.
pub fn arrival_of_round<'c>(op: Op<'c>, token: Val<'c>) -> Option<Op<'c>> {
    let (round, number) = carried(token).filter(|(round, _)| op.parent() == Some(*round))?;
    let first = round.operands().get(BOUNDS + number)?.def()?;
    let arrival = round.body(0)?.terminator()?.operand(number).def()?;
    let own = arrival.is("device.arrive") && arrival.parent() == Some(round);
    (own && first.is("device.ready")).then_some(arrival)
}

/// How many of a kind were begun behind an operation, over all ways.
#[derive(Clone, Copy)]
struct Later {
    least: u64,
    most: u64,
}

impl Later {
    const NONE: Self = Self { least: 0, most: 0 };
    /// A way that nothing was begun on, so that nothing has to be waited for.
    const DONE: Self = Self { least: MANY, most: 0 };

    fn then(self, other: Self) -> Self {
        Self { least: self.least + other.least, most: self.most + other.most }
    }

    fn or(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }
}

/// The tokens of a kind that are waited for, and how many of it were begun behind each.
fn awaited<'c>(order: &Order<'c>, wait: Op<'c>, kind: Kind) -> Vec<(Val<'c>, Later)> {
    let tokens = wait.operands().into_iter();
    let suits = |giver: Op<'c>| begun(order.machine, giver) == Some(kind);
    let own = tokens.filter(|token| order.has_giver(*token, &suits, &mut Vec::new()));
    own.map(|token| (token, order.later(token, kind, wait, &mut Vec::new()))).collect()
}

struct Order<'c> {
    machine: Machine<'c>,
}

impl<'c> Order<'c> {
    /// Whether a token is given by such an operation on some way; `seen` are the arguments of loops on it.
    fn has_giver(
        &self,
        token: Val<'c>,
        suits: &dyn Fn(Op<'c>) -> bool,
        seen: &mut Vec<Val<'c>>,
    ) -> bool {
        let round = match token.def() {
            Some(giver) if giver.name().ends_with(".for") => Some((giver, token.index())),
            Some(giver) => return suits(giver),
            None => carried(token),
        };
        let Some((round, number)) = round.filter(|_| !seen.contains(&token)) else { return false };
        seen.push(token);
        let first = round.operands().get(BOUNDS + number).copied();
        let end = round.body(0).and_then(Block::terminator).map(|end| end.operand(number));
        first.into_iter().chain(end).any(|own| self.has_giver(own, suits, seen))
    }

    /// Operations of a kind that are begun between that of a token and an operation; `seen` are the arguments of loops
    /// on the way.
    fn later(&self, token: Val<'c>, kind: Kind, until: Op<'c>, seen: &mut Vec<Val<'c>>) -> Later {
        if let Some(giver) = token.def() {
            if giver.is("device.ready") {
                return Later::DONE;
            }
            let handed = match giver.name().ends_with(".for") {
                true => self.handed(giver, token.index(), kind, seen).unwrap_or(Later::NONE),
                false => Later::NONE,
            };
            return handed.then(self.begun(kind, until, |block, _| {
                block.ops().iter().position(|op| *op == giver).map(|place| place + 1)
            }));
        }
        let Some((round, number)) = carried(token) else { return Later::NONE };
        if seen.contains(&token) {
            return Later::DONE;
        }
        seen.push(token);
        let handed = self.handed(round, number, kind, seen).unwrap_or(Later::NONE);
        seen.pop();
        let own = self.begun(kind, until, |_, op| (op.parent() == Some(round)).then_some(0));
        handed.then(own)
    }

    /// What is begun behind the operation of what a loop carries, until a round begins or the loop ends.
    fn handed(
        &self,
        round: Op<'c>,
        number: usize,
        kind: Kind,
        seen: &mut Vec<Val<'c>>,
    ) -> Option<Later> {
        let first = *round.operands().get(BOUNDS + number)?;
        let end = round.body(0)?.terminator()?;
        let before = self.later(first, kind, round, seen);
        Some(before.or(self.later(end.operand(number), kind, end, seen)))
    }

    /// What is begun on the way to `until`, from the place in a block that `from` gives for it, or for
    /// the operation of it that `until` is in. What is begun inside of an operation on the way may not be.
    fn begun(
        &self,
        kind: Kind,
        until: Op<'c>,
        from: impl Fn(Block<'c>, Op<'c>) -> Option<usize>,
    ) -> Later {
        let (mut count, mut at) = (Later::NONE, until);
        loop {
            let Some(block) = at.block() else { return count };
            let ops = block.ops();
            let end = ops.iter().position(|op| *op == at).unwrap_or(0);
            let begin = from(block, at);
            let own = &ops[begin.unwrap_or(0).min(end)..end];
            for op in own {
                if begun(self.machine, *op) == Some(kind) {
                    count = count.then(Later { least: 1, most: 1 });
                } else if op.region_count() > 0 && self.begins_inside(*op, kind) {
                    count.most += MANY;
                }
            }
            match at.parent().filter(|_| begin.is_none()) {
                Some(parent) => at = parent,
                None => return count,
            }
        }
    }

    /// Whether something of a kind is begun inside of an operation.
    fn begins_inside(&self, op: Op<'c>, kind: Kind) -> bool {
        let mut found = false;
        op.walk(&mut |inner| found |= begun(self.machine, inner) == Some(kind));
        found
    }
}

/// The loop whose round hands on a value, and its number among those.
fn carried(value: Val<'_>) -> Option<(Op<'_>, usize)> {
    let round = value.owner_block()?.parent()?;
    // Behind the number of the round.
    round.name().ends_with(".for").then_some((round, value.index().checked_sub(1)?))
}
