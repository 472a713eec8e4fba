//! Constraints of kernels whose rTasks share a unit, and whose boxes a group of its own asks for.

use super::super::tokens::{Kind, begun};
use super::super::{Asker, Copy, Fill, Kernel, Machine, Memory, Scope, Transfer};
use crate::ir::{Diagnostics, Op, ty};

/// C8. As many rTasks as are `resident` have room in a unit. Where a group of its own asks for boxes, it asks for all of
/// them, its lanes and those of the other groups are a block's at most, and what it keeps of the registers is no more than
/// its share. It does not meet others: rTasks are no clusters, boxes are of what the kernel does not write, and what is brought
/// in a loop is `after` an arrival.
pub(super) fn kernel_c8(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(kernel), Some(machine)) = (Kernel::of(op), Machine::of(op)) else { return };
    if op.attr("resident").is_some() && kernel.resident.is_none_or(|own| own == 0) {
        diag.error(op, "device.kernel has no `resident` rTask").help("give 1 or more");
        return;
    }
    let asker = kernel.asker(machine);
    let groups = Groups { machine, kernel: &kernel, blocks: kernel.resident.unwrap_or(1) };
    groups.check_memory(diag);
    let Some(asker) = asker else { return };
    groups.check_lanes(asker, diag);
    if kernel.cluster.is_some() {
        diag.error(op, "device.kernel has a cluster, and a group of its own asks for boxes")
            .help("rTasks of a cluster meet, which that group does not: leave one of both out");
    }
    op.walk(&mut |inner| groups.check_transfer(inner, asker, diag));
}

struct Groups<'k, 'c> {
    machine: Machine<'c>,
    kernel: &'k Kernel<'c>,
    /// In a unit at the same time.
    blocks: u64,
}

impl<'c> Groups<'_, 'c> {
    /// The buffers of all blocks fit each memory of a unit.
    fn check_memory(&self, diag: &mut Diagnostics) {
        let (op, blocks) = (self.kernel.op, self.blocks);
        if blocks < 2 {
            return;
        }
        let near = |memory: &Memory<'c>| memory.scope() == Scope::Core && !memory.is_registers();
        for memory in self.machine.memories().into_iter().filter(near) {
            let mut bytes = 0;
            op.walk(&mut |inner| {
                let own = inner.is("device.alloc").then(|| inner.result(0).ty());
                let own = own.filter(|own| ty::memory(*own) == Some(memory.name));
                let of = |own| Some(ty::count(own)? * ty::byte_size(ty::elem(own)?)?);
                bytes += own.and_then(of).unwrap_or(0);
            });
            let (name, most) = (memory.name, memory.capacity_bytes());
            if bytes.saturating_mul(blocks) > most {
                diag.error(
                    op,
                    format!(
                        "{blocks} rTasks of {bytes} bytes of @{name} are resident, which has {most}"
                    ),
                )
                .help("let fewer be `resident`, or give smaller tiles");
            }
        }
    }

    /// Lanes are a block's, and have registers.
    fn check_lanes(&self, asker: Asker, diag: &mut Diagnostics) {
        let op = self.kernel.op;
        let Some(registers) = self.kernel.registers(self.machine) else { return };
        let lanes = self.kernel.groups.saturating_mul(registers.lanes().unwrap_or(1));
        let most = self.machine.units().first().map_or(u64::MAX, |unit| unit.block_lanes());
        if lanes + asker.lanes > most {
            let what = format!("{lanes} lanes and {} that ask for boxes", asker.lanes);
            diag.error(op, format!("device.kernel has {what}, and a block has {most} at most"))
                .help("give fewer groups, or name a move of boxes that groups ask for themselves");
        }
        if let Err(sum) = self.kernel.shares(self.machine) {
            diag.error(op, sum).help("let fewer rTasks be `resident`, or give fewer groups");
        }
    }

    fn check_transfer(&self, op: Op<'c>, asker: Asker, diag: &mut Diagnostics) {
        if begun(self.machine, op) != Some(Kind::Boxes) {
            return;
        }
        let Some(transfer) = Transfer::of(op) else { return };
        if transfer.asker(self.machine) != Some(asker) {
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
        let source = transfer.source.memref;
        let mut written = None;
        self.kernel.op.walk(&mut |inner| {
            let target = Transfer::of(inner).map(|own| own.target.memref);
            let target = target.or_else(|| Some(Copy::of(inner)?.target.memref));
            let target = target.or_else(|| Some(Fill::of(inner)?.target.memref));
            written = written.or((target == Some(source)).then_some(inner));
        });
        if let Some(written) = written {
            diag.error(op, "device.transfer reads what the kernel writes, and the group that asks for it does not know when")
                .note(written, "it is written here")
                .help("name a move of boxes that groups ask for themselves");
        }
    }
}
