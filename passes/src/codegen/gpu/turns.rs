//! Groups that go through an rTask by turns, those of each one barrier behind the ones before.
//!
//! ```text
//! turns 2, groups 0 to 3     begin; A; meet; B; meet; C; meet
//! groups 4 to 7              meet;  begin; A; meet; B; meet; C
//! ```
//!
//! Barriers only count who comes, so all that is different is in front of an rTask and behind it. Nothing goes over a
//! barrier, else what others are to wait for would be done beside it. Between barriers behind which a group multiplies
//! it comes first where both want to issue: its instructions are few and take long.

use rustc_hash::FxHashMap;
use weft_dialects::device::{Kernel, Scope};
use weft_dialects::ir::{Builder, Op, Val, ty};

use super::boxes::{compare, when};
use super::isa::Isa;

/// Meets as often as a group's turn says, in front of an rTask or behind it; `part` is who meets.
pub fn shift<'c>(
    b: &mut Builder<'c>,
    isa: Isa,
    kernel: &Kernel<'c>,
    (group, part): (Val<'c>, Option<u64>),
    is_before: bool,
) {
    let each = kernel.groups / kernel.turns;
    for turn in 1..kernel.turns {
        let first = b.integer(ty::int(b.context(), 32), (turn * each) as i64);
        let comes = match is_before {
            true => compare(b, "sge", group, first),
            false => compare(b, "slt", group, first),
        };
        when(b, Some(comes), |b| isa.barrier(b, Scope::Core, part));
    }
}

/// For each barrier of a function whether instructions of matrices come behind it, up to the next one.
pub fn multiplies(func: Op<'_>) -> FxHashMap<Op<'_>, bool> {
    let meets = |op: Op<'_>| Scope::of_barrier(op) >= Some(Scope::Core);
    let mut found = FxHashMap::default();
    func.walk(&mut |op| {
        let Some(block) = op.block().filter(|_| meets(op)) else { return };
        let ops = block.ops();
        let own = ops.iter().position(|other| *other == op).unwrap_or(0);
        // Behind the last barrier of a loop's round comes the next one.
        let is_round = block.parent().is_some_and(|around| around.is("scf.for"));
        let next = if is_round { &ops[..own] } else { &[] };
        let behind = ops[own + 1..].iter().chain(next).take_while(|other| !meets(**other));
        let mut multiplies = false;
        behind.for_each(|other| other.walk(&mut |inner| multiplies |= inner.is("device.invoke")));
        found.insert(op, multiplies);
    });
    found
}
