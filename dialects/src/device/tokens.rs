//! Tokens of what an engine does, by the number of later ones.
//!
//! ```text
//! %t = device.transfer A      begins A
//! %u = device.transfer B      begins B
//! device.wait %t              behind it at most 1 is under way
//! ```
//!
//! An engine does one after the other. Of what was begun behind a token's operation, that counts which is
//! begun on every way from there: to wait for more is right, too.

use super::{Invoke, Machine, Transfer};
use crate::ir::{Block, Op, Val};

/// Later ones than any is waited for.
const MANY: u64 = 1 << 20;

/// What an engine does: transfers and instructions go on beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Transfers.
    Copies,
    /// Instructions.
    Instructions,
}

/// What an operation only begins, for an engine does it.
pub fn begun(machine: Machine<'_>, op: Op<'_>) -> Option<Kind> {
    if let Some(transfer) = Transfer::of(op) {
        let way = machine.move_named(transfer.move_name)?;
        return way.engine().map(|_| Kind::Copies);
    }
    let instruction = machine.instruction(Invoke::of(op)?.instruction)?;
    instruction.engine().map(|_| Kind::Instructions)
}

/// What may be under way behind a `device.wait`, for each kind that one of its tokens is of.
pub fn under_way<'c>(machine: Machine<'c>, wait: Op<'c>) -> Vec<(Kind, u64)> {
    let order = Order { machine };
    let of = |kind: Kind| {
        let tokens = wait.operands().into_iter();
        let own = tokens.filter(|token| order.is_of(*token, kind, &mut Vec::new()));
        let later = own.map(|token| order.later(token, kind, wait, &mut Vec::new()));
        Some((kind, later.min()?))
    };
    [Kind::Copies, Kind::Instructions].into_iter().filter_map(of).collect()
}

struct Order<'c> {
    machine: Machine<'c>,
}

impl<'c> Order<'c> {
    /// Whether a token is that of such an operation, on some way; `seen` are the arguments of loops on it.
    fn is_of(&self, token: Val<'c>, kind: Kind, seen: &mut Vec<Val<'c>>) -> bool {
        let round = match token.def() {
            Some(giver) if giver.name().ends_with(".for") => Some((giver, token.index())),
            Some(giver) => return begun(self.machine, giver) == Some(kind),
            None => carried(token),
        };
        let Some((round, number)) = round.filter(|_| !seen.contains(&token)) else { return false };
        seen.push(token);
        let first = round.operands().get(3 + number).copied();
        let end = round.body(0).and_then(Block::terminator).map(|end| end.operand(number));
        first.into_iter().chain(end).any(|own| self.is_of(own, kind, seen))
    }

    /// Operations of a kind that are begun between that of a token and an operation, at least; `seen` are
    /// the arguments of loops on the way.
    fn later(&self, token: Val<'c>, kind: Kind, until: Op<'c>, seen: &mut Vec<Val<'c>>) -> u64 {
        if let Some(giver) = token.def() {
            if giver.is("device.ready") {
                return MANY;
            }
            let handed = match giver.name().ends_with(".for") {
                true => self.handed(giver, token.index(), kind, seen).unwrap_or(0),
                false => 0,
            };
            return handed
                + self.begun(kind, until, |block, _| {
                    block.ops().iter().position(|op| *op == giver).map(|place| place + 1)
                });
        }
        let Some((round, number)) = carried(token) else { return 0 };
        if seen.contains(&token) {
            return MANY;
        }
        seen.push(token);
        let handed = self.handed(round, number, kind, seen).unwrap_or(0);
        seen.pop();
        handed + self.begun(kind, until, |_, op| (op.parent() == Some(round)).then_some(0))
    }

    /// What is begun behind the operation of what a loop carries, until a round begins or the loop ends.
    fn handed(
        &self,
        round: Op<'c>,
        number: usize,
        kind: Kind,
        seen: &mut Vec<Val<'c>>,
    ) -> Option<u64> {
        // Behind its bounds and its step.
        let first = *round.operands().get(3 + number)?;
        let end = round.body(0)?.terminator()?;
        let before = self.later(first, kind, round, seen);
        Some(before.min(self.later(end.operand(number), kind, end, seen)))
    }

    /// What is begun on the way to `until`, from the place in a block that `from` gives for it, or for
    /// the operation of it that `until` is in.
    fn begun(
        &self,
        kind: Kind,
        until: Op<'c>,
        from: impl Fn(Block<'c>, Op<'c>) -> Option<usize>,
    ) -> u64 {
        let (mut count, mut at) = (0, until);
        loop {
            let Some(block) = at.block() else { return count };
            let ops = block.ops();
            let end = ops.iter().position(|op| *op == at).unwrap_or(0);
            let begin = from(block, at);
            let own = &ops[begin.unwrap_or(0).min(end)..end];
            let of_kind = |op: &&Op<'c>| begun(self.machine, **op) == Some(kind);
            count += own.iter().filter(of_kind).count() as u64;
            match at.parent().filter(|_| begin.is_none()) {
                Some(parent) => at = parent,
                None => return count,
            }
        }
    }
}

/// The loop whose round hands on a value, and its number among those.
fn carried(value: Val<'_>) -> Option<(Op<'_>, usize)> {
    let round = value.owner_block()?.parent()?;
    // Behind the number of the round.
    round.name().ends_with(".for").then_some((round, value.index().checked_sub(1)?))
}
