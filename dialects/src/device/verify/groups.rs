//! Constraints of kernels whose rTasks several groups of lanes run together.

use std::collections::BTreeSet;

use super::super::{Apply, Combine, Copy, Fill, Invoke, Kernel, Machine, Scope, Transfer};
use crate::ir::{Block, Diagnostics, Op, Val, attr, ty};

/// C3. What groups do together they do alike.
pub(super) fn kernel_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(kernel) = Kernel::of(op).filter(|kernel| kernel.groups > 1) else { return };
    let Some(machine) = Machine::of(op) else { return };
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
        if is_together(self.machine, op) && (differs || apart) {
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
fn is_together(machine: Machine<'_>, op: Op<'_>) -> bool {
    if let Some(transfer) = Transfer::of(op) {
        return is_shared(machine, transfer.source.memref)
            && is_shared(machine, transfer.target.memref);
    }
    if let Some(fill) = Fill::of(op) {
        return is_shared(machine, fill.target.memref);
    }
    is_wide_barrier(op)
}

fn is_wide_barrier(op: Op<'_>) -> bool {
    let scope = op.attr("scope").and_then(attr::string).and_then(Scope::parse);
    op.is("device.barrier") && scope.is_some_and(|scope| scope >= Scope::Core)
}

/// Whether an operation only begins what it does: an engine writes later.
fn is_ahead(op: Op<'_>) -> bool {
    op.is("device.transfer") && !op.results().is_empty()
}

fn is_shared(machine: Machine<'_>, memref: Val<'_>) -> bool {
    let memory = ty::memory(memref.ty()).and_then(|name| machine.memory(name));
    memory.is_none_or(|memory| !memory.is_registers())
}

/// C4. Between a write to memory that the groups share and what reads it, and between that
/// and the next write, stands a barrier of scope "core". What an engine writes is written where its
/// token is waited for, into one of several rooms of a buffer.
pub(super) fn kernel_c4(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(kernel) = Kernel::of(op).filter(|kernel| kernel.groups > 1) else { return };
    let Some(machine) = Machine::of(op) else { return };
    let mut rooms = Vec::new();
    op.walk(&mut |inner| {
        if inner.is("device.alloc") && is_shared(machine, inner.result(0)) {
            rooms.push(inner.result(0));
        }
    });
    let mut fills = Vec::new();
    op.walk(&mut |inner| {
        if let Some(transfer) = Transfer::of(inner).filter(|_| is_ahead(inner)) {
            fills.extend(rooms.iter().position(|room| *room == transfer.target.memref));
        }
    });
    let mut order = Order { machine, rooms, fills, reported: Vec::new() };
    order.block(kernel.body, &mut State::default(), diag);
}

/// The accesses to shared buffers since the last barrier.
#[derive(Clone, Default)]
struct State {
    written: BTreeSet<usize>,
    read: BTreeSet<usize>,
}

struct Order<'c> {
    machine: Machine<'c>,
    rooms: Vec<Val<'c>>,
    /// Those that an engine fills.
    fills: Vec<usize>,
    reported: Vec<Op<'c>>,
}

impl<'c> Order<'c> {
    fn block(&mut self, block: Block<'c>, state: &mut State, diag: &mut Diagnostics) {
        for op in block.ops() {
            self.op(op, state, diag);
        }
    }

    fn op(&mut self, op: Op<'c>, state: &mut State, diag: &mut Diagnostics) {
        if is_wide_barrier(op) {
            *state = State::default();
            return;
        }
        // Only who waited knows that they are written: others know it behind the next barrier.
        if op.is("device.wait") && !op.operands().is_empty() {
            state.written.extend(&self.fills);
            return;
        }
        if op.name().starts_with("device.") {
            let (reads, writes) = self.touched(op);
            let early = reads.iter().find(|room| state.written.contains(room));
            let late = || {
                let before = state.written.union(&state.read).copied().collect::<BTreeSet<_>>();
                writes.iter().copied().find(|room| before.contains(room))
            };
            let clash = early
                .copied()
                .map(|room| (room, "reads"))
                .or_else(|| late().map(|room| (room, "writes")));
            if let Some((room, verb)) = clash
                && !self.reported.contains(&op)
            {
                self.reported.push(op);
                let (name, ty) = (op.name(), self.rooms[room].ty());
                diag.error(op, format!("{name} {verb} {ty}, which other groups may be using"))
                    .help(
                        "put device.barrier \"core\" between a write to shared memory and its use",
                    );
            }
            state.read.extend(reads);
            if !is_ahead(op) {
                state.written.extend(writes);
            }
            return;
        }
        let regions: Vec<_> = (0..op.region_count()).filter_map(|n| op.first_block(n)).collect();
        if op.name().ends_with(".for") {
            // The end of a round comes before the beginning of the next one.
            for block in regions.iter().chain(&regions) {
                self.block(*block, state, diag);
            }
            return;
        }
        let before = state.clone();
        for block in regions {
            let mut branch = before.clone();
            self.block(block, &mut branch, diag);
            state.read.extend(branch.read);
            state.written.extend(branch.written);
        }
    }

    /// Returns the buffers that an operation of a program reads, and those that it writes.
    fn touched(&self, op: Op<'c>) -> (Vec<usize>, Vec<usize>) {
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        if let Some(copy) = Copy::of(op) {
            (reads, writes) = (vec![copy.source.memref], vec![copy.target.memref]);
        } else if let Some(transfer) = Transfer::of(op) {
            (reads, writes) = (vec![transfer.source.memref], vec![transfer.target.memref]);
        } else if let Some(fill) = Fill::of(op) {
            writes = vec![fill.target.memref];
        } else if let Some(invoke) = Invoke::of(op) {
            let instruction = self.machine.instruction(invoke.instruction);
            let results = instruction.map_or(0, |instruction| instruction.result_count());
            let first = invoke.views.len().saturating_sub(results);
            reads = invoke.views.iter().map(|view| view.memref).collect();
            writes = reads[first..].to_vec();
        } else if let Some(apply) = Apply::of(op) {
            reads = apply.inputs.iter().map(|view| view.memref).collect();
        } else if let Some(combine) = Combine::of(op) {
            (reads, writes) = (vec![combine.input.memref], vec![combine.output.memref]);
        }
        let numbers = |memrefs: Vec<Val<'c>>| {
            let room = |memref| self.rooms.iter().position(|room| *room == memref);
            memrefs.into_iter().filter_map(room).collect()
        };
        (numbers(reads), numbers(writes))
    }
}
