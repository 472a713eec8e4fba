//! The address of each allocation of a kernel in its memory.
//!
//! An allocation lives until the end of its block, so a memory is a stack: the
//! allocations of a block begin after those of the block around it. Buffers of an arena have the
//! offsets that the text states, relative to the first of them.

use std::collections::HashMap;

use weft_dialects::device::{Kernel, Machine, Memory};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Block, Context, Op, Report, Type, Val, attr, ty};

/// The name of an allocation's address, an attribute in bytes.
pub const ADDRESS: &str = "address";

/// An allocation's place, and how its elements lie there.
#[derive(Clone, Debug)]
pub struct Room<'c> {
    /// The `device.alloc`.
    pub op: Op<'c>,
    /// Bytes from the beginning of the memory.
    pub address: u64,
    /// Bytes between neighbours along each dimension.
    pub strides: Vec<u64>,
}

/// The allocations of a kernel, by what they give.
#[derive(Debug, Default)]
pub struct Rooms<'c> {
    /// In the order of the text.
    rooms: Vec<Room<'c>>,
    places: HashMap<Val<'c>, usize>,
}

impl<'c> Rooms<'c> {
    /// The room of a memref, where it was allocated in the kernel.
    pub fn of(&self, memref: Val<'c>) -> Option<&Room<'c>> {
        self.places.get(&memref).map(|&place| &self.rooms[place])
    }

    /// Writes each address at its allocation.
    pub fn write(&self, context: &Context) {
        for room in &self.rooms {
            room.op.set_attr(ADDRESS, attr::of_int(context, room.address as i64));
        }
    }
}

/// Places every allocation.
///
/// # Errors
/// Reported: a memory that does not hold what lives in it at one time.
pub fn place<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> Result<Rooms<'c>, Failed> {
    let mut rooms = Rooms::default();
    block(machine, kernel.body, &mut HashMap::new(), &mut rooms)?;
    Ok(rooms)
}

/// Places the allocations of a block on top of `taken`, which it leaves as it was.
fn block<'c>(
    machine: Machine<'c>,
    body: Block<'c>,
    taken: &mut HashMap<&'c str, u64>,
    rooms: &mut Rooms<'c>,
) -> Result<(), Failed> {
    let before = taken.clone();
    let mut arenas: HashMap<&str, u64> = HashMap::new();
    for op in body.iter() {
        if op.is("device.alloc") {
            let room = match piece(op) {
                Some((name, offset, _)) => {
                    let pieces = body.iter().filter_map(piece).filter(|piece| piece.0 == name);
                    let bytes = pieces.map(|(_, offset, bytes)| offset + bytes).max();
                    let begin = arenas.get(name).copied();
                    let mut room = match begin {
                        // It has its room already.
                        Some(_) => alloc(machine, op, 0, &mut HashMap::new())?,
                        None => alloc(machine, op, bytes.unwrap_or(0), taken)?,
                    };
                    room.address = *arenas.entry(name).or_insert(room.address) + offset;
                    room
                }
                None => alloc(machine, op, 0, taken)?,
            };
            rooms.places.insert(op.result(0), rooms.rooms.len());
            rooms.rooms.push(room);
        }
        for region in 0..op.region_count() {
            for inner in op.region(region).blocks() {
                block(machine, inner, taken, rooms)?;
            }
        }
    }
    *taken = before;
    Ok(())
}

/// The memory of a piece of an arena, where it begins there, and its size.
fn piece<'c>(op: Op<'c>) -> Option<(&'c str, u64, u64)> {
    let offset = op.is("device.alloc").then(|| op.attr("offset")).flatten().and_then(attr::int)?;
    let memref = op.result(0).ty();
    Some((ty::memory(memref)?, offset as u64, ty::count(memref)? * elem_bytes(memref)))
}

/// Places an allocation, with room for `least` bytes.
fn alloc<'c>(
    machine: Machine<'c>,
    op: Op<'c>,
    least: u64,
    taken: &mut HashMap<&'c str, u64>,
) -> Result<Room<'c>, Failed> {
    let memref = op.result(0).ty();
    let Some(memory) = machine.memory_of(memref) else {
        Report::new(op.location(), format!("the machine has no memory for {memref}"));
        return Err(Failed);
    };
    let strides = strides(&memory, memref);
    let sizes = ty::shape(memref).unwrap_or_default();
    let whole = sizes.first().zip(strides.first()).map(|(size, stride)| size * stride);
    let bytes = whole.unwrap_or_else(|| elem_bytes(memref)).max(least);
    // From the first bank on, so that rows do not begin in the middle.
    let banks = memory.bank_bytes().zip(memory.banks()).map(|(bytes, banks)| bytes * banks);
    let align = memory.register_bytes().or(memory.transaction_bytes()).or(banks);
    let align = align.unwrap_or(1).max(elem_bytes(memref));
    let top = taken.entry(memory.name).or_insert(0);
    let address = top.next_multiple_of(align);
    *top = address + bytes;
    if *top > memory.capacity_bytes() {
        let (name, room) = (memory.name, memory.capacity_bytes());
        Report::new(
            op.location(),
            format!("the buffers that are live in @{name} at one time take {top} bytes"),
        )
        .note(memory.op(), format!("it holds {room}"))
        .help("give the kernel smaller tiles, or the memory more bytes");
        return Err(Failed);
    }
    Ok(Room { op, address, strides })
}

/// Bytes between neighbours along each dimension: row-major, but that a row along the last
/// dimension has a register of its own in a register file.
pub fn strides(memory: &Memory<'_>, memref: Type<'_>) -> Vec<u64> {
    let shape = ty::shape(memref).unwrap_or_default();
    let mut strides = vec![elem_bytes(memref); shape.len()];
    for dim in (0..shape.len().saturating_sub(1)).rev() {
        let row = match memory.register_bytes() {
            Some(register) if dim + 2 == shape.len() => register,
            _ => strides[dim + 1] * shape[dim + 1],
        };
        strides[dim] = row;
    }
    strides
}

fn elem_bytes(memref: Type<'_>) -> u64 {
    ty::elem(memref).and_then(ty::byte_size).unwrap_or(1)
}
