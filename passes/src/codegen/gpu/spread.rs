//! How instructions of matrices and all others are to take turns, where the assembler's scheduler takes
//! advice: between two barriers of a thread others are spread evenly behind those of matrices.
//!
//! ```text
//! device.transfer ..., device.invoke x 8       8 x { one of matrices,
//! device.barrier "thread"                            as many others as take as long }
//! ```

use rustc_hash::FxHashMap;
use weft_dialects::device::{Invoke, Machine, Scope};
use weft_dialects::ir::{Op, affine};

use crate::tile::isa::has_axes;

/// Instructions of matrices before a barrier, and how many others of lanes take as long as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    pub count: u64,
    pub others: u64,
}

/// Those of each barrier of a thread.
pub fn turns<'c>(machine: Machine<'c>, func: Op<'c>) -> FxHashMap<Op<'c>, Turns> {
    let mut found = FxHashMap::default();
    func.walk(&mut |op| {
        if Scope::of_barrier(op) == Some(Scope::Thread) {
            found.insert(op, before(machine, op));
        }
    });
    found
}

/// Those from the barrier before on, or from the beginning of the block.
fn before<'c>(machine: Machine<'c>, barrier: Op<'c>) -> Turns {
    let mut turns = Turns { count: 0, others: 0 };
    let ops = barrier.block().map(|block| block.ops()).unwrap_or_default();
    let own = ops.iter().position(|op| *op == barrier).unwrap_or(0);
    for op in ops[..own].iter().rev() {
        if Scope::of_barrier(*op) == Some(Scope::Thread) {
            break;
        }
        op.walk(&mut |inner| {
            let instruction =
                Invoke::of(inner).and_then(|own| machine.instruction(own.instruction));
            if let Some(instruction) = instruction.filter(has_axes) {
                let lanes = machine.lanes_units().into_iter().map(|unit| unit.issue_cycles());
                let others = instruction.issue_cycles() / lanes.fold(f64::INFINITY, f64::min);
                turns.others = turns.others.max(others as u64);
                turns.count += times(inner, *op);
            }
        });
    }
    turns
}

/// How often an operation is done in one that is around it, or is it.
fn times(op: Op<'_>, around: Op<'_>) -> u64 {
    let (mut times, mut at) = (1, op);
    while at != around {
        let Some(parent) = at.parent() else { break };
        at = parent;
        if at.is("affine.for") {
            times *= affine::rounds(at).map_or(1, |rounds| rounds.len() as u64);
        }
    }
    times
}
