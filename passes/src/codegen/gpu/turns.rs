//! Groups that go through an rTask by turns, those of each one barrier behind the ones before.
//!
//! ```text
//! turns 2, groups 0 to 3     begin; A; meet; B; meet; C; meet
//! groups 4 to 7              meet;  begin; A; meet; B; meet; C
//! ```
//!
//! Barriers only count who comes, so all that is different is in front of an rTask and behind it. Nothing goes over a
//! barrier, else what others are to wait for would be done beside it. Where a group multiplies up to the next barrier it
//! comes first when others want to issue, too: its instructions are few and take long.

use rustc_hash::FxHashMap;
use weft_dialects::device::{Kernel, Scope};
use weft_dialects::ir::{Builder, Diagnostics, Op, Val, ty};

use super::boxes::{compare, when};
use super::isa::Isa;

/// Reports turns that are not of whole warps, which come to barriers as one.
pub fn check(isa: Isa, kernel: &Kernel<'_>, lanes: u64, diag: &mut Diagnostics) {
    let (own, warp) = (kernel.groups / kernel.turns * lanes, isa.warp() as u64);
    if !own.is_multiple_of(warp) {
        diag.error(kernel.op, format!("a turn of {own} threads, and warps of {warp} go in step"))
            .help("leave `turns` out, or give more groups");
    }
}

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
        when(b, Some(comes), |b| meet(b, isa, part, false));
    }
    if kernel.turns > 1 && !is_before {
        isa.comes_first(b, false);
    }
}

/// Meets, and multiplies behind that or does not.
pub fn meet(b: &mut Builder<'_>, isa: Isa, part: Option<u64>, multiplies: bool) {
    isa.barrier(b, Scope::Thread, None);
    isa.barrier(b, Scope::Core, part);
    isa.comes_first(b, multiplies);
    isa.barrier(b, Scope::Thread, None);
}

/// For each barrier of a function whether instructions come behind it, up to the next one.
pub fn multiplies(func: Op<'_>) -> FxHashMap<Op<'_>, bool> {
    let mut found = FxHashMap::default();
    func.walk(&mut |op| {
        let Some(block) = op.block().filter(|_| meets(op)) else { return };
        let ops = block.ops();
        let own = ops.iter().position(|other| *other == op).unwrap_or(0);
        // Behind the last barrier of a loop's round comes the next one.
        let is_round = block.parent().is_some_and(|around| around.is("scf.for"));
        let next = if is_round { &ops[..own] } else { &[] };
        let behind: Vec<Op<'_>> = ops[own + 1..].iter().chain(next).copied().collect();
        found.insert(op, multiplies_until_met(&behind) == Some(true));
    });
    found
}

fn meets(op: Op<'_>) -> bool {
    Scope::of_barrier(op) >= Some(Scope::Core)
}

/// Whether an instruction comes before a barrier; `None` if neither does.
fn multiplies_until_met(ops: &[Op<'_>]) -> Option<bool> {
    ops.iter().find_map(|op| {
        if op.is("device.invoke") || meets(*op) {
            return Some(!meets(*op));
        }
        let blocks = (0..op.region_count()).filter_map(|region| op.first_block(region));
        blocks.into_iter().find_map(|block| multiplies_until_met(&block.ops()))
    })
}
