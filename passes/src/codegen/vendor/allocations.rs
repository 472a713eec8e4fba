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

/// The address and layout of an allocation.
#[derive(Clone, Debug)]
pub struct Allocation<'c> {
    /// The `device.alloc`.
    pub op: Op<'c>,
    /// Bytes from the beginning of the memory.
    pub address: u64,
    /// Bytes between neighbours along each dimension.
    pub strides: Vec<u64>,
}

/// The allocations of a kernel, by what they give.
#[derive(Debug, Default)]
pub struct Allocations<'c> {
    /// In the order of the text.
    allocations: Vec<Allocation<'c>>,
    places: HashMap<Val<'c>, usize>,
}

impl<'c> Allocations<'c> {
    /// Returns the allocation of a memref, if it was allocated in the kernel.
    pub fn of(&self, memref: Val<'c>) -> Option<&Allocation<'c>> {
        self.places.get(&memref).map(|&place| &self.allocations[place])
    }

    /// Writes each address at its allocation.
    pub fn write(&self, context: &Context) {
        for allocation in &self.allocations {
            allocation.op.set_attr(ADDRESS, attr::of_int(context, allocation.address as i64));
        }
    }
}

/// Places every allocation.
///
/// # Errors
/// Reported: a memory that does not hold what lives in it at one time.
pub fn place<'c>(machine: Machine<'c>, kernel: &Kernel<'c>) -> Result<Allocations<'c>, Failed> {
    let mut allocations = Allocations::default();
    block(machine, kernel.body, &mut HashMap::new(), &mut allocations)?;
    Ok(allocations)
}

/// Places the allocations of a block on top of `taken`, which it leaves as it was.
fn block<'c>(
    machine: Machine<'c>,
    body: Block<'c>,
    taken: &mut HashMap<&'c str, u64>,
    allocations: &mut Allocations<'c>,
) -> Result<(), Failed> {
    let before = taken.clone();
    let mut arenas: HashMap<&str, u64> = HashMap::new();
    for op in body.iter() {
        if op.is("device.alloc") {
            let allocation = match piece(op) {
                Some((name, offset, _)) => {
                    let pieces = body.iter().filter_map(piece).filter(|piece| piece.0 == name);
                    let bytes = pieces.map(|(_, offset, bytes)| offset + bytes).max();
                    let begin = arenas.get(name).copied();
                    let mut allocation = match begin {
                        // It has its address already.
                        Some(_) => alloc(machine, op, 0, &mut HashMap::new())?,
                        None => alloc(machine, op, bytes.unwrap_or(0), taken)?,
                    };
                    allocation.address = *arenas.entry(name).or_insert(allocation.address) + offset;
                    allocation
                }
                None => alloc(machine, op, 0, taken)?,
            };
            allocations.places.insert(op.result(0), allocations.allocations.len());
            allocations.allocations.push(allocation);
        }
        for region in 0..op.region_count() {
            for inner in op.region(region).blocks() {
                block(machine, inner, taken, allocations)?;
            }
        }
    }
    *taken = before;
    Ok(())
}

/// Returns the memory of a buffer in an arena, its offset there, and its size.
fn piece<'c>(op: Op<'c>) -> Option<(&'c str, u64, u64)> {
    let offset = op.is("device.alloc").then(|| op.attr("offset")).flatten().and_then(attr::int)?;
    let memref = op.result(0).ty();
    Some((ty::memory(memref)?, offset as u64, ty::count(memref)? * elem_bytes(memref)))
}

/// Places an allocation, of at least `least` bytes.
fn alloc<'c>(
    machine: Machine<'c>,
    op: Op<'c>,
    least: u64,
    taken: &mut HashMap<&'c str, u64>,
) -> Result<Allocation<'c>, Failed> {
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
        let (name, capacity) = (memory.name, memory.capacity_bytes());
        Report::new(
            op.location(),
            format!("the buffers that are live in @{name} at one time take {top} bytes"),
        )
        .note(memory.op(), format!("it holds {capacity}"))
        .help("give the kernel smaller tiles, or the memory more bytes");
        return Err(Failed);
    }
    Ok(Allocation { op, address, strides })
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
