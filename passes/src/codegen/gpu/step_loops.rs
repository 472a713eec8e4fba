//! Loops in whose rounds groups meet stay loops.
//!
//! A round of them is hundreds of instructions long and brings its own successor's inputs: nothing is gained by
//! writing rounds out, which assemblers do where they are counted, until code is larger than the cache that
//! holds it.

use weft_dialects::device::Scope;
use weft_dialects::ir::{Context, Op, attr};

/// Says so at each such loop of a function.
pub fn keep<'c>(context: &'c Context, func: Op<'c>) {
    let mut found = Vec::new();
    func.walk(&mut |op| {
        let meets = Scope::of_barrier(op) >= Some(Scope::Core) || op.is("device.arrive");
        found.extend(op.parent().filter(|around| meets && around.is("scf.for")));
    });
    let kept = "#llvm.loop_annotation<unroll = <disable = true>>";
    let Some(kept) = attr::parse(context, kept) else { return };
    for round in found {
        round.set_attr("loop_annotation", kept);
    }
}
