//! Tokens of what an engine does, as what a thread waits by: the number of later ones.
//!
//! ```text
//! %t = device.transfer A      copy A; close its group
//! %u = device.transfer B      copy B; close its group
//! device.wait %t              wait until at most 1 group is under way
//! ```
//!
//! Groups end in the order in which they were closed, those of copies and those of instructions apart.
//! Of what was begun behind a token's operation, that counts which is begun on every way from there: to
//! wait for more is right, too.

use rustc_hash::FxHashMap;
use weft_dialects::device::tokens::under_way;
pub use weft_dialects::device::tokens::{Kind, begun};
use weft_dialects::device::{Invoke, Machine, token};
use weft_dialects::ir::{Builder, Context, Op, Type, Val};

/// The waits of a function.
#[derive(Default)]
pub struct Waits<'c> {
    /// For each kind that one waits for the groups that may still be under way behind it.
    under_way: FxHashMap<Op<'c>, Vec<(Kind, u64)>>,
    /// Where instructions that are only begun leave their results.
    pub results: Vec<Val<'c>>,
}

impl<'c> Waits<'c> {
    /// Reads the tokens of a function, and takes them out of it: loops hand on numbers in their place,
    /// which nobody reads.
    pub fn take(context: &'c Context, machine: Machine<'c>, func: Op<'c>) -> Self {
        let (mut waits, mut givers) = (Vec::new(), Vec::new());
        func.walk(&mut |op| {
            if op.is("device.wait") && !op.operands().is_empty() {
                waits.push(op);
            }
            // Those of boxes and of arrivals are numbers already.
            let numbers = [Some(Kind::Boxes), Some(Kind::Arrivals)];
            let kind = begun(machine, op);
            let other = kind.is_some() && !numbers.contains(&kind);
            if op.is("device.ready") || other {
                givers.push(op);
            }
        });
        if givers.is_empty() && waits.is_empty() {
            return Self::default();
        }
        let found = waits.iter().map(|wait| (*wait, under_way(machine, *wait))).collect();
        let mut results = Vec::new();
        for giver in givers.iter().filter(|op| begun(machine, **op) == Some(Kind::Instructions)) {
            let memref = Invoke::of(*giver).and_then(|invoke| Some(invoke.views.last()?.memref));
            results.extend(memref.filter(|memref| !results.contains(memref)));
        }
        take_out(context, func, &givers);
        Self { under_way: found, results }
    }

    /// The groups of each kind that may be under way behind a wait.
    pub fn under_way(&self, wait: Op<'c>) -> Option<&[(Kind, u64)]> {
        self.under_way.get(&wait).map(Vec::as_slice)
    }
}

/// Puts a number in the place of each token.
fn take_out<'c>(context: &'c Context, func: Op<'c>, givers: &[Op<'c>]) {
    for giver in givers {
        let mut b = Builder::before(context, *giver);
        let none = b.index(0);
        giver.result(0).replace_with(none);
    }
    let (index, token) = (Type::index(context), token(context));
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
