//! The one kernel that this room writes: it copies a tensor, element by element.
//!
//! Tensors of any shape are copied under their flat view, so one kernel serves
//! each number of elements of each type.

use weft_dialects::device::{Lanes, Machine};
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Builder, Context, Linear, Location, Op, Type, attr, ty};
use weft_dialects::tile::RTile;

/// Elements that one rTask copies at most.
const PIECE: u64 = 16384;

/// How the machine moves elements of a type.
struct Way<'c> {
    instruction: &'c str,
    registers: &'c str,
    /// Elements that move at once; with one there is no lane axis.
    lanes: u64,
}

/// Appends the kernel `name` to `module`; `None` where the machine has no way.
pub(crate) fn emit<'c>(
    context: &'c Context,
    module: Op<'c>,
    machine: Machine<'c>,
    name: &str,
    count: u64,
    elem: Type<'c>,
) -> Option<Op<'c>> {
    let way = way(machine, count, elem)?;
    let shared = machine.shared()?;
    // The memory nearest to the registers holds what one rTask works on.
    let near = machine.memories().into_iter().filter(|memory| !memory.is_registers());
    let near = near.min_by_key(|memory| memory.scope).map_or(shared.name, |memory| memory.name);
    let piece = PIECE.min(count).next_multiple_of(way.lanes);
    let tiles = [
        RTile { memory: near.to_owned(), sizes: vec![piece] },
        RTile { memory: way.registers.to_owned(), sizes: vec![way.lanes] },
    ];
    let tiles: Vec<_> = tiles.iter().map(|tile| tile.to_attr(context)).collect();

    let tensor = ty::tensor(&[count], elem);
    let memory = ("memory", attr::of_symbol(context, way.registers));
    let mut b = Builder::at_end(context, module.body(0)?);
    let kernel =
        b.op_with("tile.kernel", &[], &[], &[("sym_name", attr::of_string(context, name))], 1);
    let block = b.block(kernel.region(0), &[tensor, tensor]);
    let mut b = b.into_block(block);
    let (source, target) = (block.arg(0), block.arg(1));
    let loaded = b.op_with("tile.load", &[source], &[tensor], &[memory], 0).result(0);
    let mut attributes = vec![
        ("instruction", attr::of_symbol(context, way.instruction)),
        ("tiles", attr::of_array(context, &tiles)),
        ("operandSegmentSizes", attr::of_ints32(context, &[1, 1])),
    ];
    if way.lanes > 1 {
        attributes.push(("lanes", attr::of_int(context, 0)));
    }
    let compute = b.op_with("tile.compute", &[loaded, target], &[tensor], &attributes, 1);
    let inside = b.block(compute.region(0), &[tensor, tensor]);
    let mut payload = Payload::new(context, inside, Location::unknown(context));
    let each = || vec![Linear::axis(1, 0)];
    let (read, write) = ((inside.arg(0), each()), (inside.arg(1), each()));
    let copied = payload.generic(&[Axis::Parallel], &[read], &[write], |_, args| vec![args[0]]);
    payload.builder().op("tile.yield", &copied, &[]);
    let stored = [compute.result(0), target];
    let stored = b.op_with("tile.store", &stored, &[tensor], &[memory], 0).result(0);
    b.op("tile.yield", &[stored], &[]);
    Some(kernel)
}

/// A lane unit that knows the type moves whole registers; else any unit moves
/// one element at a time.
fn way<'c>(machine: Machine<'c>, count: u64, elem: Type<'c>) -> Option<Way<'c>> {
    let units = machine.lanes_units();
    let whole = |unit: &Lanes<'c>| {
        let lanes = unit.lanes_for(elem).filter(|&lanes| unit.has_type(elem) && lanes <= count)?;
        Some(Way { instruction: unit.name, registers: unit.memory, lanes })
    };
    if let Some(way) = units.iter().find_map(whole) {
        return Some(way);
    }
    if let Some(unit) = units.first() {
        return Some(Way { instruction: unit.name, registers: unit.memory, lanes: 1 });
    }
    let registers = machine.memories().into_iter().find(|memory| memory.is_registers())?.name;
    let instruction = machine.instructions().first()?.name;
    Some(Way { instruction, registers, lanes: 1 })
}
