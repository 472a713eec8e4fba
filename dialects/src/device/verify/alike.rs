//! What groups of lanes do together they do alike.

use super::super::{Fill, Kernel, Machine, Transfer};
use super::groups::{is_shared, is_wide_barrier};
use crate::ir::{Block, Diagnostics, Op, Val};

/// C3. What groups do together they do alike.
pub(super) fn kernel_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(kernel), Some(machine)) = (Kernel::of(op), Machine::of(op)) else { return };
    // A group that asks for another one's boxes is one more.
    if kernel.groups <= 1 && kernel.producer(machine).is_none() {
        return;
    }
    let mut alike = Alike { machine, own: Vec::new() };
    alike.block(kernel.body, false, diag);
}

/// Which values differ between groups.
struct Alike<'c> {
    machine: Machine<'c>,
    own: Vec<Val<'c>>,
}

impl<'c> Alike<'c> {
    fn block(&mut self, block: Block<'c>, apart: bool, diag: &mut Diagnostics) {
        for op in block.ops() {
            self.op(op, apart, diag);
        }
    }

    /// `apart` says that groups may be in different places here.
    fn op(&mut self, op: Op<'c>, apart: bool, diag: &mut Diagnostics) {
        let differs = op.operands().iter().any(|value| self.own.contains(value));
        if is_of_all_groups(self.machine, op) && (differs || apart) {
            let what =
                if differs { "takes an index of one group" } else { "is not for all groups" };
            diag.error(op, format!("{} {what}, and all groups do it together", op.name()))
                .help("a group has registers of its own; copies between memories that groups share are done by all of them");
        }
        if differs || op.is("device.group") {
            self.own.extend(op.results());
        }
        if op.name().starts_with("device.") {
            return;
        }
        for region in 0..op.region_count() {
            let Some(block) = op.first_block(region) else { continue };
            if differs {
                self.own.extend(block.args());
            }
            self.block(block, apart || differs, diag);
        }
    }
}

/// Returns whether all groups do an operation together.
fn is_of_all_groups(machine: Machine<'_>, op: Op<'_>) -> bool {
    if let Some(transfer) = Transfer::of(op) {
        return is_shared(machine, transfer.source.memref)
            && is_shared(machine, transfer.target.memref);
    }
    if let Some(fill) = Fill::of(op) {
        return is_shared(machine, fill.target.memref);
    }
    is_wide_barrier(op) || op.is("device.arrive")
}
