//! Constraints of moves.

use super::super::{Boxes, Gathering, Machine, Memory, Move};
use super::{check_cycles, check_encoding, check_engine, types};
use crate::ir::{Block, Diagnostics, Op, Type, ty};
use crate::verify::{check_memory, check_positive};

/// C1. Both memories belong to the machine.
pub(super) fn move_c1(op: Op<'_>, diag: &mut Diagnostics) {
    check_memory(op, "source", diag);
    check_memory(op, "target", diag);
}

/// C2. Cycles, bandwidth and least bytes are above zero.
pub(super) fn move_c2(op: Op<'_>, diag: &mut Diagnostics) {
    check_cycles(op, diag);
    check_positive(op, "least_bytes", diag);
    check_positive(op, "bytes_per_cycle", diag);
}

/// C3. The engine belongs to the machine.
pub(super) fn move_c3(op: Op<'_>, diag: &mut Diagnostics) {
    check_engine(op, diag);
}

/// C4. Every name in braces of an encoding is one of those above.
pub(super) fn move_c4(op: Op<'_>, diag: &mut Diagnostics) {
    const NAMES: [&str; 7] = ["from", "to", "sizes", "from_strides", "to_strides", "value", "type"];
    check_encoding(op, &|name| NAMES.contains(&name), &NAMES.join(", "), diag);
}

/// C5. What gathers goes to a register file of lanes, is done by no engine, and has a lowering, from a
/// pointer to one vector; of other moves those to and from tile registers may have one, from the pointer to
/// the first row and the distance of rows to a vector with all bytes of the register, or from that vector,
/// pointer and distance. Its map gives every lane and slot a lane, and a place in a piece that is a power
/// of two of elements.
pub(super) fn move_c5(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(way), Some(machine)) = (Move::read(op), Machine::of(op)) else { return };
    let lowering = way.lowering();
    if way.gathers().is_none() {
        if let Some(lowering) = lowering {
            tile_lowering(op, machine, &way, lowering, diag);
        }
        return;
    }
    if let Some(engine) = way.engine() {
        diag.error(op, format!("device.move gathers, and is done by @{engine}"))
            .help("lanes wait for what they gather: leave the engine out");
    }
    let Some(target) = machine.memory(way.target()) else { return };
    let Some(lanes) = target.lanes().filter(|_| target.is_registers()) else {
        diag.error(op, format!("device.move gathers to @{}, which has no lanes", target.name))
            .help("what is gathered goes to registers of lanes");
        return;
    };
    let args = lowering.map(|own| types(&own.args())).unwrap_or_default();
    let yields = lowering.and_then(Block::terminator).map(|end| types(&end.operands()));
    let pointer = |ty: &Type<'_>| ty.to_string().starts_with("!llvm.ptr");
    let (true, Some([slots])) = (args.len() == 1 && args.iter().all(pointer), yields.as_deref())
    else {
        diag.error(op, "device.move gathers, and has no lowering from a pointer to one vector")
            .help(
                "write `lowering { ^bb0(%at: !llvm.ptr<3>): ... device.yield %d : vector<8xi16> }`",
            );
        return;
    };
    if let Err(wrong) = Gathering::read(&way, lanes, *slots) {
        diag.error(op, format!("the map of what device.move gathers {wrong}")).help(
            "it maps (lane, slot) to a lane and a place in the piece whose address that gives",
        );
    }
}

/// The part of C5 on tile registers.
fn tile_lowering<'c>(
    op: Op<'c>,
    machine: Machine<'c>,
    way: &Move<'c>,
    lowering: Block<'c>,
    diag: &mut Diagnostics,
) {
    let tile = |name: &str| machine.memory(name).filter(Memory::holds_tiles);
    let (from, to) = (tile(way.source()), tile(way.target()));
    let args = types(&lowering.args());
    let yields = lowering.terminator().map(|end| types(&end.operands())).unwrap_or_default();
    let is = |ty: &Type<'_>, name: &str| ty.to_string() == name;
    let place =
        |args: &[Type<'_>]| matches!(args, [at, by] if is(at, "!llvm.ptr") && is(by, "i64"));
    let whole = |ty: &Type<'_>, memory: &Memory<'_>| {
        let bytes = ty::count(*ty).zip(ty::elem(*ty).and_then(ty::byte_size));
        bytes.map(|(count, size)| count * size) == memory.register_bytes()
    };
    let (fits, wanted) = match (from, to) {
        (None, Some(to)) => {
            let one = matches!(&yields[..], [vector] if whole(vector, &to));
            (
                one && place(&args),
                "(%at: !llvm.ptr, %distance: i64), which yields a register's bytes",
            )
        }
        (Some(from), None) => {
            let first = args.split_first();
            let fits = first.is_some_and(|(own, rest)| whole(own, &from) && place(rest));
            let wanted = "(%tile, %at: !llvm.ptr, %distance: i64), the first with a register's bytes, which yields nothing";
            (fits && yields.is_empty(), wanted)
        }
        _ => {
            diag.error(op, "device.move has a lowering, gathers nothing and moves no tiles").help(
                "say what lanes get, `gathers(affine_map<(lane, slot) -> (...)>)`, or leave the lowering out",
            );
            return;
        }
    };
    if !fits {
        let args: Vec<_> = args.iter().map(Type::to_string).collect();
        let yields: Vec<_> = yields.iter().map(Type::to_string).collect();
        let what = format!("({}) and yields ({})", args.join(", "), yields.join(", "));
        diag.error(op, format!("the lowering of device.move takes {what}"))
            .help(format!("a lowering of {wanted}"));
    }
}

/// C6. What brings boxes is done by an engine, steps, and says all numbers of them, above zero; the swizzle where there
/// is one, `units` and `meet_cycles` both or none, and all three numbers of a producer or none, its
/// registers in whole shares, without `units`.
pub(super) fn move_c6(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(boxes) = op.attr("boxes") else { return };
    if let Err(wrong) = Boxes::read(boxes) {
        diag.error(op, format!("`boxes` of device.move {wrong}")).help(
            "write `boxes({dims = 5, points = 256, step_bytes = 16, line_bytes = 128, swizzle = [3, 4, 3], \
             align_bytes = 1024})`, the swizzle where there is one, and `units` with `meet_cycles` where boxes go to several, or `producer_lanes`, \
             `producer_bytes` and `share_bytes` where a group of its own asks for them",
        );
    }
    if op.attr("engine").is_none() || op.attr("strided").is_none() {
        diag.error(op, "device.move brings boxes, and is not done by an engine that steps")
            .help("name its `engine`, and say `strided`");
    }
}
