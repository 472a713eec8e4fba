//! Kernels whose stores go past the caches: a second form of them for memrefs that do not begin
//! at a multiple of a register's bytes.
//!
//! ```text
//! if (every memref that is streamed to begins at such a multiple) { rTasks; fence }
//! else { rTasks, with the first move between the memories }
//! ```
//!
//! Such stores are not in order with others: the fence is what a token promises.

use weft_dialects::device::{Kernel, Machine};
use weft_dialects::ir::payload::Scalar;
use weft_dialects::ir::{Builder, Context, Op, Type, Val, attr};

/// The arguments of a kernel that moves which stream write to.
pub fn targets<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> Vec<Val<'c>> {
    let mut targets = Vec::new();
    kernel.op.walk(&mut |op| {
        let copy = weft_dialects::device::Copy::of(op);
        if let Some(copy) = copy.filter(|copy| streams(machine, copy.move_name)) {
            targets.push(copy.target.memref);
        }
    });
    let mut args = kernel.body.args();
    args.retain(|arg| targets.contains(arg));
    args
}

fn streams(machine: Machine<'_>, name: &str) -> bool {
    machine.move_named(name).is_some_and(|way| way.streams())
}

/// Gives every copy inside `op` a move that does not stream.
pub fn give_up<'c>(context: &'c Context, machine: Machine<'c>, op: Op<'c>) {
    op.walk(&mut |op| {
        let Some(name) = op.attr("move").and_then(attr::symbol) else { return };
        let way = machine.move_named(name).filter(|way| way.streams());
        let other = way.and_then(|way| machine.move_between(way.source(), way.target()));
        if let Some(other) = other {
            op.set_attr("move", attr::of_symbol(context, other.name));
        }
    });
}

/// Returns whether every memref begins at a multiple of `bytes`, a power of two.
pub fn aligned<'c>(b: &mut Builder<'c>, memrefs: &[Val<'c>], bytes: u64) -> Val<'c> {
    let index = Type::index(b.context());
    let mut bits = b.index(0);
    for &memref in memrefs {
        let place = b.op("memref.extract_aligned_pointer_as_index", &[memref], &[index]).result(0);
        bits = b.op("arith.ori", &[bits, place], &[index]).result(0);
    }
    let (rest, zero) = (b.index(bytes as i64 - 1), b.index(0));
    let rest = b.op("arith.andi", &[bits, rest], &[index]).result(0);
    Scalar::at(*b).cmpi("eq", rest, zero)
}

/// Waits until all stores so far are seen in order.
pub fn fence(b: &mut Builder<'_>) {
    // Sequentially consistent, by its number in the dialect.
    b.op_with("llvm.fence", &[], &[], &[("ordering", attr::of_int(b.context(), 7))], 0);
}
