//! The rTile of an instruction that has axes of its own, and what it costs.
//!
//! ```text
//! t = [64, 64, 128]     held in the memories of the operands, in whole instructions
//! cycles = tiles · (reduction steps · (instructions · issue + moves in) + moves out)
//! ```
//!
//! A tile grows from one instruction, one axis at a time, while it fits and gets cheaper;
//! the axis that saves most for a byte goes first (Roller, OSDI'22 section 4.2: aligned
//! shapes only, grown by what they reuse).

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;
use weft_dialects::tile::RTile;

use super::mapping::{self, Begin, Mapping, mappings, padding_is_neutral};
use super::way::move_cycles;
use crate::nest::Nest;

/// A mapped instruction with the rTile that feeds it.
#[derive(Clone, Debug)]
pub struct Matrix<'c> {
    /// Which axes are which.
    pub mapping: Mapping<'c>,
    /// The tile held near the instruction: its memory is that of the accumulator.
    pub tile: RTile,
    /// Predicted cycles on one unit.
    pub cycles: f64,
}

/// The cheapest way for each instruction that means the body; or why there is none.
pub fn choices<'c>(machine: Machine<'c>, nest: &Nest<'c>) -> Vec<Result<Matrix<'c>, String>> {
    let instructions = machine.instructions();
    let with_axes = instructions.iter().filter(|instruction| mapping::has_axes(instruction));
    with_axes
        .map(|instruction| {
            let mut best: Option<Matrix<'c>> = None;
            let mut reason = String::new();
            for mapping in mappings(instruction, nest)? {
                match tile(machine, nest, mapping) {
                    Ok(found) if best.as_ref().is_none_or(|best| found.cycles < best.cycles) => {
                        best = Some(found);
                    }
                    Ok(_) => {}
                    Err(why) => reason = why,
                }
            }
            best.ok_or(reason)
        })
        .collect()
}

/// The memory of each operand of the instruction.
fn memories<'m, 'c>(mapping: &'m Mapping<'c>) -> &'m [&'c str] {
    &mapping.instruction.operands
}

/// Whether something is left over of a whole number of instructions.
fn is_ragged(nest: &Nest<'_>, mapping: &Mapping<'_>) -> bool {
    (0..mapping.axes.len()).any(|own| mapping.is_ragged(nest, own))
}

/// What the machine lacks to bring operands to the instruction and its result back.
fn lacks(machine: Machine<'_>, nest: &Nest<'_>, mapping: &Mapping<'_>) -> Option<String> {
    let name = mapping.instruction.name;
    let Some(shared) = machine.shared() else { return Some("there is no shared memory".into()) };
    let Some(begin) = mapping::begin(nest) else {
        return Some(format!(
            "@{name} folds into what is there, and how the output starts is computed"
        ));
    };
    if nest.outputs.len() != 1 {
        return Some(format!("@{name} has one result, the nest {}", nest.outputs.len()));
    }
    for (operand, &memory) in memories(mapping).iter().enumerate() {
        let result = mapping.binding[operand] >= nest.inputs.len();
        let load = machine.move_between(shared.name, memory);
        let needs_load = !result || begin != Begin::Number;
        let usable =
            |way: Option<weft_dialects::device::Move<'_>>| way.is_some_and(|way| way.strided);
        if needs_load && !usable(load) {
            return Some(format!("no strided move goes from @{} to @{memory}", shared.name));
        }
        if result && !usable(machine.move_between(memory, shared.name)) {
            return Some(format!("no strided move goes from @{memory} to @{}", shared.name));
        }
        let fills = is_ragged(nest, mapping) || (result && begin == Begin::Number);
        if fills && machine.fill_of(memory).is_none() {
            return Some(format!("no move fills @{memory}, which padding and starts need"));
        }
    }
    if !padding_is_neutral(nest, mapping) {
        return Some(format!("zeros as padding would change what @{name} folds"));
    }
    None
}

/// The cheapest tile of a mapping that fits.
fn tile<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    mapping: Mapping<'c>,
) -> Result<Matrix<'c>, String> {
    if let Some(lack) = lacks(machine, nest, &mapping) {
        return Err(lack);
    }
    let sizes: Vec<u64> = (0..nest.axes.len())
        .map(|axis| mapping.quantum(axis).min(nest.axes[axis].extent))
        .collect();
    if !fits(machine, nest, &mapping, &sizes) {
        let name = mapping.instruction.name;
        return Err(format!("the operands of one @{name} do not fit their memories"));
    }
    // What it costs by itself decides whether it is taken; how far its tile grows, how soon
    // all units together are done.
    let (_, cycles) = grown(machine, nest, &mapping, &sizes, &cycles);
    let (sizes, _) = grown(machine, nest, &mapping, &sizes, &elapsed);
    let last = mapping.binding.iter().position(|&operand| operand >= nest.inputs.len());
    let memory = last.map_or("", |operand| memories(&mapping)[operand]).to_owned();
    Ok(Matrix { mapping, tile: RTile { memory, sizes }, cycles })
}

/// What a tile of these sizes costs.
type Cost<'f> = &'f dyn Fn(Machine<'_>, &Nest<'_>, &Mapping<'_>, &[u64]) -> f64;

/// A tile that grew from `sizes` as long as it got cheaper, and its cost.
fn grown(
    machine: Machine<'_>,
    nest: &Nest<'_>,
    mapping: &Mapping<'_>,
    sizes: &[u64],
    cost: Cost<'_>,
) -> (Vec<u64>, f64) {
    let (mut sizes, mut least) = (sizes.to_vec(), cost(machine, nest, mapping, sizes));
    while let Some((fewer, wider)) = best_step(machine, nest, mapping, &sizes, least, cost) {
        (sizes, least) = (wider, fewer);
    }
    (sizes, least)
}

/// The tile with one axis doubled that fits and saves the most cycles for a byte more.
fn best_step(
    machine: Machine<'_>,
    nest: &Nest<'_>,
    mapping: &Mapping<'_>,
    sizes: &[u64],
    least: f64,
    cost: Cost<'_>,
) -> Option<(f64, Vec<u64>)> {
    let bytes = |sizes: &[u64]| -> u64 {
        let operands = 0..mapping.binding.len();
        operands.map(|n| held(nest, mapping, sizes, n) * elem_bytes(mapping, n)).sum()
    };
    let wider = (0..sizes.len()).filter(|&axis| sizes[axis] < nest.axes[axis].extent).map(|axis| {
        let mut wider = sizes.to_vec();
        wider[axis] = (wider[axis] * 2).min(nest.axes[axis].extent);
        wider
    });
    let saved = wider
        .filter(|wider| fits(machine, nest, mapping, wider))
        .map(|wider| (cost(machine, nest, mapping, &wider), wider))
        .filter(|(cycles, _)| *cycles < least);
    let gain = |(cycles, wider): &(f64, Vec<u64>)| {
        (least - cycles) / bytes(wider).saturating_sub(bytes(sizes)).max(1) as f64
    };
    saved.max_by(|one, other| gain(one).total_cmp(&gain(other)))
}

/// Points that operand `operand` holds for a tile, whole instructions of them.
fn held(nest: &Nest<'_>, mapping: &Mapping<'_>, sizes: &[u64], operand: usize) -> u64 {
    let along = |&own: &usize| {
        let points = mapping.axes[own].map_or(1, |axis| sizes[axis]);
        points.next_multiple_of(mapping.extents[own])
    };
    let blocks: u64 = mapping.dims[operand].iter().map(along).product();
    mapping.around(nest, operand).into_iter().map(|axis| sizes[axis]).product::<u64>() * blocks
}

fn elem_bytes(mapping: &Mapping<'_>, operand: usize) -> u64 {
    let ty = mapping.instruction.operand_types()[operand];
    ty::elem(ty).and_then(ty::byte_size).unwrap_or(8)
}

/// Whether every memory holds its operands. Of registers some are left for addresses.
fn fits(machine: Machine<'_>, nest: &Nest<'_>, mapping: &Mapping<'_>, sizes: &[u64]) -> bool {
    const REGISTERS_FOR_TILES: f64 = 0.75;
    memories(mapping).iter().all(|name| {
        let Some(memory) = machine.memory(name) else { return false };
        let operands = memories(mapping).iter().enumerate().filter(|(_, other)| *other == name);
        let bytes: u64 = operands
            .map(|(operand, _)| {
                // What streams through is held twice: one is used while the other fills.
                let copies = copies(machine, nest, mapping, sizes, operand);
                copies * held(nest, mapping, sizes, operand) * elem_bytes(mapping, operand)
            })
            .sum();
        let room = memory.capacity_bytes as f64;
        let room = if memory.is_registers() { room * REGISTERS_FOR_TILES } else { room };
        bytes as f64 <= room
    })
}

/// How many tiles of an operand are held: two where an engine brings the next one in
/// while this one is used, and one more for what is left over of the steps.
fn copies(
    machine: Machine<'_>,
    nest: &Nest<'_>,
    mapping: &Mapping<'_>,
    sizes: &[u64],
    operand: usize,
) -> u64 {
    let input = mapping.binding[operand] < nest.inputs.len();
    let memory = mapping.instruction.operands[operand];
    let way = machine.shared().and_then(|shared| machine.move_between(shared.name, memory));
    let streams = input && way.is_some_and(|way| way.engine.is_some());
    let reductions = || (0..sizes.len()).filter(|&axis| nest.reduces(axis));
    let steps = reductions().any(|axis| nest.axes[axis].extent > sizes[axis]);
    let ragged = reductions().any(|axis| !nest.axes[axis].extent.is_multiple_of(sizes[axis]));
    1 + u64::from(streams && steps) + u64::from(streams && ragged)
}

/// Cycles of the whole nest on one unit.
fn cycles(machine: Machine<'_>, nest: &Nest<'_>, mapping: &Mapping<'_>, sizes: &[u64]) -> f64 {
    tiles(nest, sizes) as f64 * tile_cycles(machine, nest, mapping, sizes)
}

/// Cycles until all units together are done: tiles go out in waves.
fn elapsed(machine: Machine<'_>, nest: &Nest<'_>, mapping: &Mapping<'_>, sizes: &[u64]) -> f64 {
    let units = machine.units().first().map_or(1, |unit| unit.count.max(1));
    tiles(nest, sizes).div_ceil(units) as f64 * tile_cycles(machine, nest, mapping, sizes)
}

/// How many tiles there are.
fn tiles(nest: &Nest<'_>, sizes: &[u64]) -> u64 {
    let parallel = (0..sizes.len()).filter(|&axis| !nest.reduces(axis));
    parallel.map(|axis| nest.axes[axis].extent.div_ceil(sizes[axis])).product()
}

/// Cycles of one tile.
fn tile_cycles(machine: Machine<'_>, nest: &Nest<'_>, mapping: &Mapping<'_>, sizes: &[u64]) -> f64 {
    let reductions = (0..sizes.len()).filter(|&axis| nest.reduces(axis));
    let steps: u64 = reductions.map(|axis| nest.axes[axis].extent.div_ceil(sizes[axis])).product();
    let instructions: f64 =
        (0..sizes.len()).map(|axis| sizes[axis].div_ceil(mapping.quantum(axis)) as f64).product();
    let compute = instructions * mapping.instruction.issue_cycles;
    let Some(shared) = machine.shared() else { return f64::INFINITY };
    let (mut stream, mut finish, mut overlap) = (0.0, 0.0, true);
    for (operand, &memory) in memories(mapping).iter().enumerate() {
        let input = mapping.binding[operand] < nest.inputs.len();
        let way = if input {
            machine.move_between(shared.name, memory)
        } else {
            machine.move_between(memory, shared.name)
        };
        let Some(way) = way else { return f64::INFINITY };
        let bytes = (held(nest, mapping, sizes, operand) * elem_bytes(mapping, operand)) as f64;
        let cycles = transfer_cycles(machine, &way, bytes);
        if input {
            stream += cycles;
            overlap &= way.engine.is_some();
        } else {
            finish += 2.0 * cycles;
        }
    }
    let latency = mapping.instruction.latency_cycles as f64;
    let step = if overlap { compute.max(stream) } else { compute + stream } + latency;
    steps as f64 * step + stream + finish
}

/// Cycles of one transfer: its bytes by the slowest rate on the way, registers by their
/// own time, and the time until it is there.
pub fn transfer_cycles(
    machine: Machine<'_>,
    way: &weft_dialects::device::Move<'_>,
    bytes: f64,
) -> f64 {
    let ends = [way.source, way.target];
    let register =
        ends.iter().find_map(|name| machine.memory(name).and_then(|memory| memory.register_bytes));
    let issue = match register {
        Some(register) => (bytes / register as f64).ceil() * way.issue_cycles.unwrap_or(1.0),
        None => way.issue_cycles.unwrap_or(0.0),
    };
    let latency = way.latency_cycles.unwrap_or(0) as f64;
    // Registers are many: the next move begins before this one has arrived.
    let latency = if register.is_some() { 0.0 } else { latency };
    move_cycles(machine, way, bytes).max(issue) + latency
}
