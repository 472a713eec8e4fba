//! Writes what was chosen for a kernel: loads, a `tile.compute` around the payload, and stores.

use weft_dialects::device::{Machine, Move};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Context, Mapping, Op, Val};
use weft_dialects::tile::build::{self, ComputeOp};
use weft_dialects::tile::{RTile, Schedule};

use super::block::{self, Core};
use super::construct_rtiles::read;
use super::isa::Bound;
use super::policy::Tiled;
use super::why::Why;
use crate::nest::Nest;

/// Makes a kernel that copies or fills the work of a move, at once or `most` points of an axis in
/// an rTask.
pub(crate) fn construct_move<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    kernel: Op<'c>,
    way: &Move<'c>,
    most: Option<u64>,
) -> Result<(), Failed> {
    let nest = read(kernel)?;
    let size = |extent: u64| extent.min(most.unwrap_or(extent));
    let sizes = nest.extents().into_iter().map(size).collect();
    let tile = RTile { memory: way.target().to_owned(), sizes };
    let tiles = [tile.clone()];
    let moved = Tiled::Moved(way.name, tile);
    let schedule = Schedule::default();
    let tiling = Tiling { tiled: &moved, tiles: &tiles, schedule: &schedule, why: None };
    rewrite(context, machine, kernel, &nest, &tiling);
    Ok(())
}

/// What was chosen for a nest.
pub(super) struct Tiling<'t, 'c> {
    pub tiled: &'t Tiled<'c>,
    /// The rTiles, the rTask's first.
    pub tiles: &'t [RTile],
    pub schedule: &'t Schedule,
    /// Why it was; nothing where there was no choice.
    pub why: Option<Why>,
}

/// Puts loads, the compute and stores around the payload.
pub(super) fn rewrite<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    kernel: Op<'c>,
    nest: &Nest<'c>,
    &Tiling { tiled, tiles, schedule, why }: &Tiling<'_, 'c>,
) {
    let shared = machine.shared().map_or("dram", |memory| memory.name);
    let layouts = layouts(tiled);
    let because = why.map(|why| tiled.told(why).to_string());
    let compute = Written {
        instruction: tiled.instruction(),
        lanes: lanes_axis(tiled),
        axes: axes(tiled),
        tiles,
        layouts: layouts.as_deref(),
        schedule,
        because: because.as_deref(),
    };
    around(context, kernel, nest.outputs.len(), &|arg| path(nest, tiled, arg, shared), &compute);
}

/// What is written of a compute beside its operands.
struct Written<'w> {
    instruction: &'w str,
    lanes: Option<usize>,
    axes: Option<&'w [Vec<usize>]>,
    tiles: &'w [RTile],
    layouts: Option<&'w [Vec<i64>]>,
    schedule: &'w Schedule,
    because: Option<&'w str>,
}

/// Puts loads along the memories of each input, a compute and stores around the payload of a kernel.
fn around<'c, 'p>(
    context: &'c Context,
    kernel: Op<'c>,
    results: usize,
    path: &dyn Fn(Val<'c>) -> Vec<&'p str>,
    &Written { instruction, lanes, axes, tiles, layouts, schedule, because }: &Written<'_>,
) {
    let block = kernel.body(0).expect("the kernel was read");
    let payload = block.ops();
    let args = block.args();
    let (inputs, inits) = args.split_at(args.len() - results);
    let registers = &tiles[tiles.len() - 1].memory;

    let mut b = Builder::at_end(context, block).with_location(kernel.location());
    let loaded: Vec<Val<'c>> = inputs
        .iter()
        .map(|arg| {
            let memories = path(*arg).into_iter();
            memories.fold(*arg, |value, memory| build::load(&mut b, value, memory))
        })
        .collect();
    let inputs = &loaded[..];
    let compute =
        ComputeOp { inputs, inits, instruction, lanes, axes, tiles, layouts, schedule, because };
    let (compute, body) = compute.build(&mut b);
    let mut map = Mapping::default();
    for (old, new) in args.iter().zip(body.args()) {
        map.set(*old, new);
    }
    let mut inside = b.into_block(body);
    for op in &payload {
        inside.clone_op(*op, &mut map);
    }
    let stored: Vec<_> = compute
        .results()
        .into_iter()
        .zip(inits)
        .map(|(result, init)| build::store(&mut b, result, registers, *init))
        .collect();
    build::yield_values(&mut b, &stored);
    for op in payload.into_iter().rev() {
        op.erase();
    }
}

/// Puts loads, a compute by lanes on operands of an instruction, and stores around the payload of a kernel
/// that is done on rows in registers.
pub(super) fn rewrite_rows<'c>(
    context: &'c Context,
    kernel: Op<'c>,
    nest: &Nest<'c>,
    unit: &str,
    tiles: &[RTile],
) {
    let registers = tiles[tiles.len() - 1].memory.clone();
    let compute = Written {
        instruction: unit,
        lanes: None,
        axes: None,
        tiles,
        layouts: None,
        schedule: &Schedule::default(),
        because: None,
    };
    around(context, kernel, nest.outputs.len(), &|_| vec![registers.as_str()], &compute);
}

/// The axis that the instruction's lanes run along.
fn lanes_axis(tiled: &Tiled<'_>) -> Option<usize> {
    match tiled {
        Tiled::Lanes(lanes) => lanes.shape.lanes_axis,
        Tiled::Block(chosen) if matches!(chosen.block.core, Core::Lanes(..)) => {
            Some(chosen.block.axes[block::N])
        }
        _ => None,
    }
}

/// The axes of the nest that those of the instruction are.
fn axes<'t>(tiled: &'t Tiled<'_>) -> Option<&'t [Vec<usize>]> {
    match tiled {
        Tiled::Matrix(matrix) => Some(&matrix.mapping.axes),
        Tiled::Block(chosen) => match &chosen.block.core {
            Core::Matrix(mapping, _) => Some(&mapping.axes),
            Core::Lanes(..) => None,
        },
        _ => None,
    }
}

/// Layouts of both inputs' tiles in the memory that groups of lanes share.
fn layouts(tiled: &Tiled<'_>) -> Option<Vec<Vec<i64>>> {
    let Tiled::Block(chosen) = tiled else { return None };
    let layout = |input: usize| {
        let side = chosen.block.inputs.iter().position(|own| *own == input).unwrap_or(0);
        block::to_numbers(&chosen.lying[side].0).to_vec()
    };
    Some(vec![layout(0), layout(1)])
}

/// The memories that the tiles of an argument are brought to, one after the other.
fn path<'c>(nest: &Nest<'c>, tiled: &Tiled<'c>, arg: Val<'c>, shared: &'c str) -> Vec<&'c str> {
    match tiled {
        Tiled::Lanes(lanes) => {
            let captured = nest.captures.iter().any(|capture| capture.tensor == arg);
            let access = nest.accesses().into_iter().find(|access| access.tensor == arg);
            let on_lanes = match (access, lanes.shape.lanes_axis) {
                (Some(access), Some(axis)) => !captured && access.uses(axis),
                _ => false,
            };
            let stage = lanes.stage.as_ref().map(|stage| stage.memory.name);
            let last =
                if on_lanes { Some(lanes.memory) } else { stage.is_none().then_some(shared) };
            stage.into_iter().chain(last).collect()
        }
        Tiled::Matrix(matrix) => {
            let bound = |input: usize| {
                let bound = Bound::Operand(input);
                let mut operands = matrix.mapping.binding.operands.iter();
                let operand = operands.position(|operand| *operand == bound);
                operand.map(|operand| matrix.mapping.instruction.operands()[operand])
            };
            let input = nest.inputs.iter().position(|access| access.tensor == arg);
            vec![input.and_then(bound).unwrap_or(shared)]
        }
        Tiled::Block(chosen) => {
            let input = nest.inputs.iter().position(|access| access.tensor == arg);
            let held = |input: usize| {
                let side = chosen.block.inputs.iter().position(|own| *own == input);
                side.is_some_and(|side| chosen.lying[side].0.is_held())
            };
            let (near, registers) = (chosen.ways.near.name, chosen.ways.registers.name);
            match input {
                Some(input) if held(input) => vec![registers],
                Some(_) => vec![near, registers],
                None => vec![shared],
            }
        }
        Tiled::Moved(..) => Vec::new(),
    }
}
