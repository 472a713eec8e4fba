//! Constraints of `device.instruction`.

use super::super::Machine;
use super::super::instruction::Layout;
use super::{check_cycles, check_encoding, check_engine, region_args, register_bytes, types};
use crate::ir::{Attribute, Block, Diagnostics, Op, Type, affine, attr, ty};
use crate::verify::{check_fact, check_positive, count, elements, same_count, symbol};

/// The memory of each operand of an instruction; `None` for what is no symbol.
fn operand_memories<'c>(op: Op<'c>) -> Vec<Option<&'c str>> {
    let operands = op.attr("operands").and_then(attr::array).unwrap_or_default();
    operands.into_iter().map(attr::symbol).collect()
}

/// C1. The unit and every operand's memory belong to the machine.
pub(super) fn instruction_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(machine) = Machine::of(op) else { return };
    if let Some(unit) = symbol(op, "unit") {
        check_fact(op, machine, "device.unit", unit, diag);
    }
    for memory in operand_memories(op) {
        match memory {
            Some(memory) => {
                check_fact(op, machine, "device.memory", memory, diag);
            }
            None => {
                diag.error(op, "device.instruction has an operand that names no memory")
                    .help("write operands([@memory, ...])");
            }
        }
    }
}

/// C2. One operand memory per argument of the meaning.
pub(super) fn instruction_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let (memories, args) = (operand_memories(op).len(), region_args(op, 0).len());
    if memories != args {
        let (memories, args) = (count(memories, "operand memory"), count(args, "argument"));
        diag.error(op, format!("device.instruction has {memories} and a meaning of {args}"))
            .help("give one memory per argument");
    }
}

/// C3. An operand in a register file is no larger than a register, unless it has a
/// fragment.
pub(super) fn instruction_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let operands = operand_memories(op).into_iter().zip(region_args(op, 0));
    for ((memory, arg), fragment) in operands.zip(fragments(op)) {
        let Some(memory) = memory.filter(|_| fragment.is_none()) else { continue };
        let Some(register) = register_bytes(op, memory) else { continue };
        let bytes = elements(arg).and_then(|(count, elem)| count.checked_mul(ty::byte_size(elem)?));
        if bytes.is_none_or(|bytes| bytes > register) {
            diag.error(op, format!("device.instruction takes {arg} in @{memory}"))
                .help(format!("a register of @{memory} holds {register} bytes"));
        }
    }
}

/// C4. The lowering has one argument per operand, with as many elements, of the
/// same element type; or the slots of its fragment, or an address.
pub(super) fn instruction_c4(op: Op<'_>, diag: &mut Diagnostics) {
    let (meaning, lowering) = (region_args(op, 0), region_args(op, 1));
    if meaning.len() != lowering.len() {
        let (meaning, lowering) = (meaning.len(), count(lowering.len(), "argument"));
        diag.error(op, format!("the lowering has {lowering}, the meaning {meaning}"))
            .help("both have one argument per operand");
        return;
    }
    let places = operand_memories(op).into_iter().zip(fragments(op));
    let pairs = meaning.into_iter().zip(lowering).zip(places);
    for (place, ((meaning, lowering), (memory, fragment))) in pairs.enumerate() {
        let same_elem = elements(meaning).map(|(_, elem)| elem) == elements(lowering).map(|e| e.1);
        let fits = if ty::is_index(lowering) {
            memory.is_some_and(|memory| register_bytes(op, memory).is_none())
        } else if fragment.is_some() {
            // C8 counts the slots.
            same_elem
        } else {
            same_count(meaning, lowering)
        };
        if !fits {
            diag.error(op, format!("operand {place} is {meaning}, and {lowering} in the lowering"))
                .help("both have as many elements, of one type; outside of registers it may be an index, the address");
        }
    }
}

/// C5. Meaning and lowering yield the same number of results, of the shapes and
/// element types of the operands that they overwrite; a lowering that writes to
/// addresses yields nothing for them.
pub(super) fn instruction_c5(op: Op<'_>, diag: &mut Diagnostics) {
    let yields = |region| {
        let end = op.first_block(region).and_then(Block::terminator)?;
        end.is("device.yield").then(|| types(&end.operands()))
    };
    let (Some(meaning), Some(lowering)) = (yields(0), yields(1)) else {
        diag.error(op, "device.instruction has a region without a result")
            .help("end meaning and lowering with device.yield");
        return;
    };
    if meaning.is_empty() {
        diag.error(op, "the meaning yields nothing")
            .help("yield the new values of the last operands, at least one");
        return;
    }
    let args = region_args(op, 0);
    let Some(first) = args.len().checked_sub(meaning.len()) else {
        let (results, args) = (count(meaning.len(), "result"), count(args.len(), "operand"));
        diag.error(op, format!("the meaning yields {results} of {args}"))
            .help("each result overwrites an operand of its own");
        return;
    };
    for (operand, meaning) in args.into_iter().skip(first).zip(&meaning) {
        if operand != *meaning {
            diag.error(op, format!("the meaning overwrites {operand} with {meaning}"))
                .help("a result has the type of the operand that it overwrites");
        }
    }
    // The operands that the lowering overwrites and that are not addresses.
    let values: Vec<_> = region_args(op, 1).into_iter().skip(first).collect();
    let values: Vec<_> = values.into_iter().filter(|ty| !ty::is_index(*ty)).collect();
    if values.len() != lowering.len() {
        let (values, lowering) = (count(values.len(), "value"), lowering.len());
        diag.error(op, format!("the lowering yields {lowering} for {values} that it overwrites"))
            .help("it yields one for every result that has no address");
        return;
    }
    for (value, lowering) in values.into_iter().zip(lowering) {
        if !same_count(value, lowering) {
            diag.error(op, format!("the lowering overwrites {value} with {lowering}"))
                .help("both have as many elements, of one type");
        }
    }
}

/// C6. Cycles and `gflops` are above zero.
pub(super) fn instruction_c6(op: Op<'_>, diag: &mut Diagnostics) {
    check_cycles(op, diag);
    check_positive(op, "gflops", diag);
}

/// C7. The engine belongs to the machine.
pub(super) fn instruction_c7(op: Op<'_>, diag: &mut Diagnostics) {
    check_engine(op, diag);
}

/// The fragment of each operand; none where there is no list of them.
fn fragments(op: Op<'_>) -> Vec<Option<Attribute<'_>>> {
    match op.attr("fragments").and_then(attr::array) {
        Some(maps) => maps.into_iter().map(|map| affine::axes(map).map(|_| map)).collect(),
        None => vec![None; operand_memories(op).len()],
    }
}

/// C8. A fragment gives every element to the same number of slots, and none outside
/// of the operand; there is one fragment or `unit` per operand.
pub(super) fn instruction_c8(op: Op<'_>, diag: &mut Diagnostics) {
    let (fragments, memories) = (fragments(op), operand_memories(op));
    if fragments.len() != memories.len() {
        let (given, wanted) = (count(fragments.len(), "fragment"), memories.len());
        diag.error(op, format!("device.instruction has {given} for {wanted} operands"))
            .help("give one affine_map<(lane, slot) -> (...)> or `unit` per operand");
        return;
    }
    let types = region_args(op, 0).into_iter().zip(region_args(op, 1));
    for (place, ((fragment, memory), types)) in
        fragments.iter().zip(memories).zip(types).enumerate()
    {
        if let Some(fragment) = *fragment
            && let Err(wrong) = check_fragment(op, fragment, memory, types)
        {
            diag.error(op, format!("the fragment of operand {place} {wrong}"))
                .help("it maps (lane, slot) to elements, and every element occurs equally often");
        }
    }
}

/// Reports errors of a fragment of an operand of these types.
fn check_fragment<'c>(
    op: Op<'c>,
    fragment: Attribute<'c>,
    memory: Option<&str>,
    (meaning, lowering): (Type<'c>, Type<'c>),
) -> Result<(), String> {
    let lanes = memory.and_then(|name| Machine::of(op)?.memory(name)?.lanes());
    let Some(lanes) = lanes else {
        return Err("is for an operand whose memory has no lanes".into());
    };
    let (Some(shape), Some((slots, _))) = (ty::shape(meaning), elements(lowering)) else {
        return Ok(());
    };
    // More than a million of either is no operand of one instruction.
    const MOST: u64 = 1 << 20;
    let elements = shape.iter().try_fold(1, |all: u64, &dim| all.checked_mul(dim));
    let places = lanes.checked_mul(slots).filter(|&places| places <= MOST);
    let (Some(elements), Some(_)) = (elements.filter(|&elements| elements <= MOST), places) else {
        return Err(format!("is of {meaning}, which has too many elements to check"));
    };
    let mut held = vec![0u64; elements as usize];
    let points = affine::Points::of(fragment);
    for (lane, slot) in (0..lanes).flat_map(|lane| (0..slots).map(move |slot| (lane, slot))) {
        let element = points.as_ref().and_then(|points| points.at(&[lane as i64, slot as i64]));
        let Some(element) = element else {
            return Err("is not a map of lane and slot".into());
        };
        let inside = element.len() == shape.len()
            && element.iter().zip(&shape).all(|(&at, &dim)| (0..dim as i64).contains(&at));
        if !inside {
            let what = format!("gives {element:?} to lane {lane}, slot {slot}");
            return Err(format!("{what}, which is outside of {meaning}"));
        }
        let address = element.iter().zip(&shape).fold(0, |sum, (&at, &dim)| sum * dim + at as u64);
        held[address as usize] += 1;
    }
    let wanted = lanes * slots / held.len().max(1) as u64;
    let missed = held.iter().position(|&times| times == 0);
    match missed.or_else(|| held.iter().position(|&times| times != wanted)) {
        None => Ok(()),
        Some(address) => {
            let mut rest = address as u64;
            let mut element: Vec<u64> = shape
                .iter()
                .rev()
                .map(|dim| {
                    let at = rest % dim;
                    rest /= dim;
                    at
                })
                .collect();
            element.reverse();
            let times = held[address];
            Err(match times {
                0 => format!("misses element {element:?} of {meaning}"),
                _ => format!("has element {element:?} of {meaning} {times} times, not {wanted}"),
            })
        }
    }
}

/// C9. Every number in braces of an encoding is that of an operand.
pub(super) fn instruction_c9(op: Op<'_>, diag: &mut Diagnostics) {
    let operands = operand_memories(op).len();
    let known = |name: &str| name.parse::<usize>().is_ok_and(|number| number < operands);
    check_encoding(op, &known, &format!("numbers below {operands}"), diag);
}

/// C10. There is one layout or `unit` per operand; a layout is one or two dimensions and a swizzle,
/// of an operand of two dimensions that is an address in the lowering.
pub(super) fn instruction_c10(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(layouts) = op.attr("layouts").and_then(attr::array) else { return };
    let operands = operand_memories(op).len();
    if layouts.len() != operands {
        let given = count(layouts.len(), "layout");
        diag.error(op, format!("device.instruction has {given} for {operands} operands"))
            .help("give one layout or `unit` per operand");
        return;
    }
    let types = region_args(op, 0).into_iter().zip(region_args(op, 1));
    for (place, (layout, (meaning, lowering))) in layouts.into_iter().zip(types).enumerate() {
        if layout.to_string() == "unit" {
            continue;
        }
        let flat = ty::shape(meaning).is_some_and(|shape| shape.len() == 2);
        if Layout::of(layout).is_none() || !flat || !ty::is_index(lowering) {
            let what = format!("the layout of operand {place} is {layout}, of {meaning}");
            diag.error(op, format!("{what} that is {lowering} in the lowering")).help(
                "it is [rows, pitch, bits, keep, shift] or the same without rows, of a tensor of two dimensions whose address the lowering takes",
            );
        }
    }
}
