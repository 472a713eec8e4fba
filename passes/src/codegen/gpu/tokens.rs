//! Tokens of copies that an engine does, as what a thread waits by: the number of later ones.
//!
//! ```text
//! %t = device.transfer A      copy A; close its group
//! %u = device.transfer B      copy B; close its group
//! device.wait %t              wait until at most 1 group is under way
//! ```
//!
//! Groups end in the order in which they were closed. Of the transfers that were begun behind a
//! token's, those count that are begun on every way from there: to wait for more is right, too.

use rustc_hash::FxHashMap;
use weft_dialects::device::{Machine, Transfer};
use weft_dialects::ir::{Block, Builder, Context, Op, Type, Val};

/// Later groups than any is waited for.
const MANY: u64 = 1 << 20;

/// The waits of a function, and the groups that may still be under way behind each.
#[derive(Default)]
pub struct Waits<'c>(FxHashMap<Op<'c>, u64>);

impl<'c> Waits<'c> {
    /// Reads the tokens of a function, and takes them out of it: loops hand on numbers in their place,
    /// which nobody reads.
    pub fn take(context: &'c Context, machine: Machine<'c>, func: Op<'c>) -> Self {
        let (mut waits, mut givers) = (Vec::new(), Vec::new());
        func.walk(&mut |op| {
            if op.is("device.wait") && !op.operands().is_empty() {
                waits.push(op);
            }
            if op.is("device.ready") || is_begun(machine, op) {
                givers.push(op);
            }
        });
        if givers.is_empty() {
            return Self::default();
        }
        let order = Order { machine };
        let under_way = |wait: &Op<'c>| {
            let tokens = wait.operands();
            let later = tokens.iter().map(|token| order.later(*token, *wait, &mut Vec::new()));
            (*wait, later.min().unwrap_or(0))
        };
        let found = waits.iter().map(under_way).collect();
        take_out(context, func, &givers);
        Self(found)
    }

    /// The groups that may be under way behind a wait.
    pub fn under_way(&self, wait: Op<'c>) -> Option<u64> {
        self.0.get(&wait).copied()
    }
}

/// Whether a transfer is only begun.
pub fn is_begun(machine: Machine<'_>, op: Op<'_>) -> bool {
    let way = Transfer::of(op).and_then(|transfer| machine.move_named(transfer.move_name));
    way.is_some_and(|way| way.engine().is_some())
}

struct Order<'c> {
    machine: Machine<'c>,
}

impl<'c> Order<'c> {
    /// Transfers that are begun between that of a token and an operation, at least; `seen` are the
    /// arguments of loops on the way.
    fn later(&self, token: Val<'c>, until: Op<'c>, seen: &mut Vec<Val<'c>>) -> u64 {
        if let Some(giver) = token.def() {
            if giver.is("device.ready") {
                return MANY;
            }
            let handed = match giver.name().ends_with(".for") {
                true => self.handed(giver, token.index(), seen).unwrap_or(0),
                false => 0,
            };
            return handed
                + self.begun(until, |block, _| {
                    block.ops().iter().position(|op| *op == giver).map(|place| place + 1)
                });
        }
        let Some((round, number)) = carried(token) else { return 0 };
        if seen.contains(&token) {
            return MANY;
        }
        seen.push(token);
        let handed = self.handed(round, number, seen).unwrap_or(0);
        seen.pop();
        handed + self.begun(until, |_, op| (op.parent() == Some(round)).then_some(0))
    }

    /// Transfers that are begun behind that of what a loop carries, until a round begins or the
    /// loop ends.
    fn handed(&self, round: Op<'c>, number: usize, seen: &mut Vec<Val<'c>>) -> Option<u64> {
        // Behind its bounds and its step.
        let first = *round.operands().get(3 + number)?;
        let end = round.body(0)?.terminator()?;
        let before = self.later(first, round, seen);
        Some(before.min(self.later(end.operand(number), end, seen)))
    }

    /// Transfers that are begun on the way to `until`, from the place in a block that `from` gives
    /// for it, or for the operation of it that `until` is in.
    fn begun(&self, until: Op<'c>, from: impl Fn(Block<'c>, Op<'c>) -> Option<usize>) -> u64 {
        let (mut count, mut at) = (0, until);
        loop {
            let Some(block) = at.block() else { return count };
            let ops = block.ops();
            let end = ops.iter().position(|op| *op == at).unwrap_or(0);
            let begin = from(block, at);
            let own = &ops[begin.unwrap_or(0).min(end)..end];
            count += own.iter().filter(|op| is_begun(self.machine, **op)).count() as u64;
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

/// Puts a number in the place of each token.
fn take_out<'c>(context: &'c Context, func: Op<'c>, givers: &[Op<'c>]) {
    for giver in givers {
        let mut b = Builder::before(context, *giver);
        let none = b.index(0);
        giver.result(0).replace_with(none);
    }
    let index = Type::index(context);
    let token = givers[0].result(0).ty();
    let mut rounds = Vec::new();
    func.walk(&mut |op| {
        if op.name().ends_with(".for") {
            rounds.push(op);
        }
    });
    for round in rounds {
        let args = round.body(0).map(|body| body.args()).unwrap_or_default();
        for value in round.results().into_iter().chain(args).filter(|value| value.ty() == token) {
            value.set_ty(index);
        }
    }
}
