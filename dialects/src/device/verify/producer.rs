//! Constraints of kernels whose boxes a group of its own asks for, and whose rTasks share a unit.

use super::super::tokens::{Kind, begun};
use super::super::{
    Apply, Combine, Copy, Fill, Invoke, Kernel, Machine, Memory, Producer, Scope, Transfer,
};
use crate::ir::{Diagnostics, Op, Val, ty};
use crate::verify::{int, symbol};

/// C8. Where a group of its own asks for boxes, it asks for all of them. Its lanes and those of the other groups are a
/// block's at most, the others' whole times as many, and what it keeps of the registers is no more than its share. It
/// does not meet others: rTasks are no clusters, boxes are of what the kernel does not write, go to buffers with bytes of
/// their own, and in a loop are `after` an arrival; no number is loaded that the kernel writes. Only there rTasks are
/// `resident`: as many as have room in a unit.
pub(super) fn kernel_c8(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(kernel), Some(machine)) = (Kernel::of(op), Machine::of(op)) else { return };
    let producer = kernel.producer(machine);
    let wrong = match kernel.resident {
        _ if op.attr("resident").is_none() => None,
        None | Some(0) => Some("no `resident` rTask"),
        Some(_) => producer.is_none().then_some("`resident` rTasks, and no group that only asks"),
    };
    if let Some(wrong) = wrong {
        diag.error(op, format!("device.kernel has {wrong}"))
            .help("give 1 or more, with boxes by a move that has a producer, or leave it out");
    }
    let Some(producer) = producer else { return };
    let mut writes = Vec::new();
    op.walk(&mut |inner| {
        writes.extend(written(machine, inner).into_iter().map(|own| (own, inner)))
    });
    let check = Check { machine, kernel: &kernel, producer, writes };
    check.memory(diag);
    check.lanes(diag);
    if kernel.cluster.is_some() {
        diag.error(op, "device.kernel has a cluster, and a group of its own asks for boxes")
            .help("rTasks of a cluster meet, which that group does not: leave one of both out");
    }
    op.walk(&mut |inner| {
        check.transfer(inner, diag);
        check.load(inner, diag);
    });
}

/// What an operation writes.
fn written<'c>(machine: Machine<'c>, op: Op<'c>) -> Vec<Val<'c>> {
    let one = || {
        let target = Transfer::of(op).map(|own| own.target);
        let target = target.or_else(|| Some(Copy::of(op)?.target));
        let target = target.or_else(|| Some(Fill::of(op)?.target));
        target.or_else(|| Some(Combine::of(op)?.output))
    };
    let results = || {
        let mut views = Invoke::of(op)?.views;
        let instruction = machine.instruction(symbol(op, "instruction")?)?;
        let first = views.len().saturating_sub(instruction.result_count());
        Some(views.split_off(first))
    };
    let views = match Apply::of(op) {
        Some(apply) => apply.outputs,
        None => one().map(|view| vec![view]).or_else(results).unwrap_or_default(),
    };
    views.iter().map(|view| view.memref).collect()
}

/// A kernel whose boxes a group of its own asks for.
struct Check<'k, 'c> {
    machine: Machine<'c>,
    kernel: &'k Kernel<'c>,
    producer: Producer,
    /// What is written, and by what.
    writes: Vec<(Val<'c>, Op<'c>)>,
}

impl<'c> Check<'_, 'c> {
    /// The buffers of all resident rTasks fit each memory of a unit.
    fn memory(&self, diag: &mut Diagnostics) {
        let (op, blocks) = (self.kernel.op, self.kernel.resident.unwrap_or(1));
        let near = |memory: &Memory<'c>| memory.scope() == Scope::Core && !memory.is_registers();
        for memory in self.machine.memories().into_iter().filter(near) {
            // What lies at places of one arena may lie over each other.
            let (mut bytes, mut arena) = (0u64, 0u64);
            op.walk(&mut |inner| {
                let own = inner.is("device.alloc").then(|| inner.result(0).ty());
                let own = own.filter(|own| ty::memory(*own) == Some(memory.name));
                let of = |own| Some(ty::count(own)? * ty::byte_size(ty::elem(own)?)?);
                let own = own.and_then(of).unwrap_or(0);
                match int(inner, "offset").and_then(|at| u64::try_from(at).ok()) {
                    Some(at) => arena = arena.max(at.saturating_add(own)),
                    None => bytes += own,
                }
            });
            let bytes = bytes.saturating_add(arena);
            let (name, most) = (memory.name, memory.capacity_bytes());
            if blocks > 1 && bytes.saturating_mul(blocks) > most {
                let what = format!("{blocks} rTasks of {bytes} bytes of @{name} are resident");
                diag.error(op, format!("{what}, which has {most}"))
                    .help("let fewer be `resident`, or give smaller tiles");
            }
        }
    }

    /// Lanes are a block's, and have registers.
    fn lanes(&self, diag: &mut Diagnostics) {
        let (op, own) = (self.kernel.op, self.producer.lanes);
        let Some(registers) = self.kernel.registers(self.machine) else { return };
        let lanes = self.kernel.groups.saturating_mul(registers.lanes().unwrap_or(1));
        let most = self.machine.units().first().map_or(u64::MAX, |unit| unit.block_lanes());
        if lanes + own > most {
            let what = format!("{lanes} lanes and {own} that ask for boxes");
            diag.error(op, format!("device.kernel has {what}, and a block has {most} at most"))
                .help("give fewer groups, or name a move of boxes that groups ask for themselves");
        }
        if !lanes.is_multiple_of(own) {
            let what = format!("{lanes} lanes, and registers are given by {own} at once");
            diag.error(op, format!("device.kernel has {what}"))
                .help("give as many groups as have whole times as many lanes");
        }
        if let Err(sum) = self.kernel.shares(self.machine) {
            diag.error(op, sum).help("let fewer rTasks be `resident`, or give fewer groups");
        }
    }

    fn transfer(&self, op: Op<'c>, diag: &mut Diagnostics) {
        let boxes = begun(self.machine, op) == Some(Kind::Boxes);
        let Some(transfer) = Transfer::of(op).filter(|_| boxes) else { return };
        if transfer.producer(self.machine) != Some(self.producer) {
            let what = "is by another move than those that a group of its own asks for";
            diag.error(op, format!("device.transfer {what}"))
                .help("name one move for all boxes of a kernel");
        }
        let around = std::iter::successors(op.parent(), |own| own.parent());
        let mut around = around.take_while(|own| *own != self.kernel.op);
        if transfer.after.is_none() && around.any(|own| own.name().ends_with(".for")) {
            diag.error(op, "device.transfer is in a loop, and after no arrival").help(
                "carry the token of device.arrive to the next round: the group that asks for boxes comes to no barrier",
            );
        }
        if transfer.target.memref.def().is_some_and(|alloc| alloc.attr("offset").is_some()) {
            diag.error(op, "device.transfer brings a box to a place of the arena, and a group of its own asks for it").help(
                "what shares its bytes may be in use: give it a buffer of its own, without `at`",
            );
        }
        let source = transfer.source.memref;
        if let Some((_, written)) = self.writes.iter().find(|(own, _)| *own == source) {
            diag.error(op, "device.transfer reads what the kernel writes, and the group that asks for it does not know when")
                .note(*written, "it is written here")
                .help("name a move of boxes that groups ask for themselves");
        }
    }

    fn load(&self, op: Op<'c>, diag: &mut Diagnostics) {
        let memref = op.is("memref.load").then(|| op.operand(0));
        let written = memref.and_then(|own| self.writes.iter().find(|(other, _)| *other == own));
        if let Some((_, written)) = written {
            diag.error(op, "memref.load takes what the kernel writes, and the group that asks for boxes does not know when")
                .note(*written, "it is written here")
                .help("name a move of boxes that groups ask for themselves");
        }
    }
}
