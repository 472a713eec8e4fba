//! Constraints of buffers in an arena.

use super::super::{ARENA_ALIGN, Machine};
use crate::ir::{Block, Diagnostics, Op, Val, parts, ty};
use crate::verify::int;

/// C5. A buffer in an arena begins at a multiple of 64 bytes and ends inside the memory, which is
/// no register file; it stands in the kernel's own block.
pub(super) fn alloc_c5(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(offset) = int(op, "offset") else { return };
    if offset < 0 || offset % ARENA_ALIGN != 0 {
        diag.error(op, format!("device.alloc is at byte {offset}"))
            .help(format!("offsets in an arena are multiples of {ARENA_ALIGN}"));
    }
    if !op.parent().is_some_and(|around| around.is("device.kernel")) {
        diag.error(op, "device.alloc has a place in the arena and is inside another operation")
            .help("write it in the kernel's own block, or leave out `at`");
    }
    let ty = op.result(0).ty();
    let memory = ty::memory(ty).and_then(|name| Machine::of(op)?.memory(name));
    let Some(memory) = memory else { return };
    if memory.is_registers() {
        diag.error(op, format!("device.alloc places {ty}, which is in registers"))
            .help("leave out `at`");
    } else if let Some(piece) = ArenaSlot::of(op)
        && piece.end > memory.kernel_bytes()
    {
        let (name, end, capacity) = (memory.name, piece.end, memory.kernel_bytes());
        diag.error(op, format!("device.alloc ends at byte {end}, @{name} holds {capacity}"))
            .note(memory.op(), "the memory is here")
            .help("let buffers whose live ranges do not overlap share bytes, or make them smaller");
    }
}

/// C6. Pieces that share bytes are used one after the other.
pub(super) fn alloc_c6(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(piece), Some(block)) = (ArenaSlot::of(op), op.block()) else { return };
    for other in sharing(op, block) {
        let uses = [other, op].map(|room| used(block, room.result(0)));
        if let [Some((first, last)), Some((begin, end))] = uses
            && first <= end
            && begin <= last
        {
            let shared = piece.begin.max(int(other, "offset").unwrap_or(0) as u64);
            diag.error(op, format!("device.alloc shares byte {shared} with a live buffer"))
                .note(other, "that buffer is here")
                .help(
                    "use one for the last time before the other is used first, or place them apart",
                );
        }
    }
}

/// C7. Lanes that share registers meet between the first operation that uses a buffer and the
/// last, and between buffers that share bytes.
pub(super) fn alloc_c7(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(_), Some(block), Some(machine)) = (ArenaSlot::of(op), op.block(), Machine::of(op))
    else {
        return;
    };
    if !machine.memories().iter().any(|memory| memory.lanes().is_some()) {
        return;
    }
    let barriers: Vec<usize> = (0..)
        .zip(block.ops())
        .filter(|(_, op)| op.is("device.barrier"))
        .map(|(at, _)| at)
        .collect();
    let met = |from: usize, to: usize| barriers.iter().any(|&at| from < at && at < to);
    let Some((first, last)) = used(block, op.result(0)) else { return };
    if first < last && !met(first, last) {
        diag.error(
            op,
            "lanes write and read the buffer of device.alloc with no barrier in between",
        )
        .help("write a device.barrier of their scope between what writes it and what reads it");
    }
    for other in sharing(op, block) {
        let Some((begin, end)) = used(block, other.result(0)) else { continue };
        let apart = end < first && !met(end, first) || last < begin && !met(last, begin);
        if apart {
            diag.error(op, "device.alloc takes the bytes of a buffer that lanes may still use")
                .note(other, "that buffer is here")
                .help("write a device.barrier of their scope between the two");
        }
    }
}

/// Returns the earlier buffers that share bytes with this one.
fn sharing<'c>(op: Op<'c>, block: Block<'c>) -> Vec<Op<'c>> {
    let Some(piece) = ArenaSlot::of(op) else { return Vec::new() };
    let meets = |other: &Op<'c>| {
        let same = ty::memory(other.result(0).ty()) == ty::memory(op.result(0).ty());
        let other = ArenaSlot::of(*other).filter(|_| same);
        other.is_some_and(|other| other.begin < piece.end && piece.begin < other.end)
    };
    let before = block.ops().into_iter().take_while(|other| *other != op);
    before.filter(|other| other.is("device.alloc")).filter(meets).collect()
}

/// The bytes of a buffer in its arena.
struct ArenaSlot {
    begin: u64,
    end: u64,
}

impl ArenaSlot {
    fn of(op: Op<'_>) -> Option<Self> {
        let begin = u64::try_from(int(op, "offset")?).ok()?;
        Some(Self { begin, end: begin.checked_add(parts::bytes(op.result(0).ty())?)? })
    }
}

/// Returns the first and last operation of a block that use a buffer, or contain a use.
fn used<'c>(block: Block<'c>, room: Val<'c>) -> Option<(usize, usize)> {
    let ops = block.ops();
    let mut found: Option<(usize, usize)> = None;
    let place = |op: Op<'c>| {
        let mut around = Some(op);
        while around.is_some_and(|op| op.block() != Some(block)) {
            around = around.and_then(Op::parent);
        }
        ops.iter().position(|op| Some(*op) == around)
    };
    for (user, _) in room.uses() {
        let at = place(user)?;
        // An operation that gives a token may be under way until that is waited for, or until a loop has
        // carried it, which gives another one.
        let waited = |token: Val<'c>| {
            let users = token.uses().into_iter().map(|(user, _)| user);
            users.filter_map(place).min().unwrap_or(ops.len())
        };
        let last = ops[at].results().into_iter().map(waited).max().unwrap_or(at);
        found = Some(found.map_or((at, last), |(a, z)| (a.min(at), z.max(last))));
    }
    found
}
