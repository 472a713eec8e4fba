//! The memory of a kernel outside of registers: a worker lends it, so that a caller's stack
//! need not hold it.
//!
//! ```text
//! %a = device.alloc at 0 : memref<64x8xf32, "l2">        func.func @k(..., %s: memref<2048xi8>, %t: memref<64xi8>)
//! %b = device.alloc at 2048 : memref<8xf32, "l2">   ->     %a = memref.view %s[0]
//! %c = device.alloc at 0 : memref<32x8xf32, "l2">          %b = memref.view %t[0]
//!                                                          %c = memref.view %s[0]
//! ```
//!
//! Buffers without an offset are given one, where they share bytes with others that are used at
//! another time. Buffers that share bytes are views of one argument; those that share none with each
//! other are views of several, for code is better where it knows that arguments overlap no others.

use std::collections::{BTreeMap, HashMap};

use weft_dialects::device::{Kernel, Machine};
use weft_dialects::ir::{Builder, Context, Op, Type, Val, attr, ty};
use weft_runtime::plan::ALIGN;

use crate::arena::{self, Life};

/// The attribute of a `device.alloc` for its part of the scratch memory, and its offset there.
const PLACE: &str = "scratch";

/// The scratch memory of a kernel, divided into buffers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scratch {
    /// The offset and size of each buffer.
    pub pieces: Vec<(u64, u64)>,
}

impl Scratch {
    /// Returns the bytes of all parts.
    pub fn bytes(&self) -> u64 {
        self.pieces.last().map_or(0, |(offset, bytes)| offset + bytes)
    }
}

/// Returns the scratch memory that a kernel needs.
pub fn scratch<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> Scratch {
    placed(machine, kernel).0
}

/// Writes the place of each buffer at its `device.alloc`.
pub(super) fn write_places<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    kernel: &Kernel<'c>,
) -> Scratch {
    let (scratch, slots) = placed(machine, kernel);
    for (alloc, piece, offset) in slots {
        alloc.set_attr(PLACE, attr::of_ints(context, &[piece as i64, offset as i64]));
    }
    scratch
}

/// Returns the part of the scratch memory that a buffer is in, and its offset there.
pub(super) fn place(alloc: Op<'_>) -> Option<(usize, u64)> {
    let place = alloc.attr(PLACE).and_then(attr::ints)?;
    Some((place[0] as usize, place[1] as u64))
}

/// A buffer in an arena: its first byte, the one behind its last, and the operation that makes it.
type ArenaSlot<'c> = (u64, u64, Op<'c>);

/// Returns the scratch memory; and each buffer with its part of it, and its offset there.
fn placed<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> (Scratch, Vec<(Op<'c>, usize, u64)>) {
    let mut arenas: BTreeMap<&str, Vec<ArenaSlot<'c>>> = BTreeMap::new();
    let mut alone: Vec<Op<'c>> = Vec::new();
    kernel.op.walk(&mut |op| {
        if !op.is("device.alloc") {
            return;
        }
        let memref = op.result(0).ty();
        let memory = machine.memory_of(memref);
        let Some(memory) = memory.filter(|memory| !memory.is_registers()) else { return };
        match op.attr("offset").and_then(attr::int) {
            Some(offset) => {
                let slot = (offset as u64, offset as u64 + bytes(memref), op);
                arenas.entry(memory.name).or_default().push(slot);
            }
            None => alone.push(op),
        }
    });
    let arenas = arenas.into_values().chain([together(kernel, &alone)]).flat_map(apart);
    let (mut scratch, mut slots) = (Scratch::default(), Vec::new());
    for piece in arenas {
        let begin = piece.iter().map(|slot| slot.0).min().unwrap_or(0);
        let end = piece.iter().map(|slot| slot.1).max().unwrap_or(0);
        for (offset, _, op) in piece {
            slots.push((op, scratch.pieces.len(), offset - begin));
        }
        let at = scratch.bytes().next_multiple_of(ALIGN);
        scratch.pieces.push((at, end - begin));
    }
    (scratch, slots)
}

/// Places the buffers that are in no arena in one of their own.
fn together<'c>(kernel: &Kernel<'c>, allocs: &[Op<'c>]) -> Vec<ArenaSlot<'c>> {
    let ops = kernel.body.ops();
    let order: HashMap<Op<'c>, u32> = ops.into_iter().zip(0..).collect();
    let at = |op: Op<'c>| {
        let mut around = op;
        while let (None, Some(parent)) = (order.get(&around), around.parent()) {
            around = parent;
        }
        order.get(&around).copied().unwrap_or(0)
    };
    let life = |alloc: &Op<'c>| {
        let slot = alloc.result(0);
        let uses = || slot.uses().into_iter().map(|(user, _)| at(user));
        let own = at(*alloc);
        let (first, last) = (uses().min().unwrap_or(own), uses().max().unwrap_or(own));
        Life { first, last, bytes: bytes(slot.ty()) }
    };
    let lives: Vec<Life> = allocs.iter().map(life).collect();
    let offsets = arena::place(&lives, 0).offsets;
    let slots = allocs.iter().zip(&lives).zip(offsets);
    slots.map(|((op, life), offset)| (offset, offset + life.bytes, *op)).collect()
}

/// Groups buffers so that none shares a byte with one of another group.
fn apart<'c>(mut slots: Vec<ArenaSlot<'c>>) -> Vec<Vec<ArenaSlot<'c>>> {
    slots.sort_by_key(|slot| (slot.0, slot.1));
    let mut groups: Vec<Vec<ArenaSlot<'c>>> = Vec::new();
    let mut reach = 0;
    for slot in slots {
        match groups.last_mut() {
            Some(group) if slot.0 < reach => group.push(slot),
            _ => groups.push(vec![slot]),
        }
        reach = reach.max(slot.1);
    }
    groups
}

fn bytes(memref: Type<'_>) -> u64 {
    let size = ty::elem(memref).and_then(ty::byte_size);
    ty::count(memref).zip(size).map_or(0, |(count, size)| count * size)
}

/// Returns the types of a function's arguments for the parts.
pub(super) fn types<'c>(context: &'c Context, scratch: &Scratch) -> Vec<Type<'c>> {
    let byte = ty::int(context, 8);
    scratch.pieces.iter().map(|&(_, bytes)| ty::memref(&[bytes], byte, None)).collect()
}

/// Writes a buffer as a view of the argument for its part of the scratch memory.
pub(super) fn view<'c>(
    b: &mut Builder<'c>,
    piece: Val<'c>,
    offset: u64,
    memref: Type<'c>,
) -> Val<'c> {
    let offset = b.index(offset as i64);
    b.op("memref.view", &[piece, offset], &[memref]).result(0)
}
