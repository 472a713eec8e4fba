//! Writes what was chosen for a kernel: loads, a `tile.compute` around the payload, and stores.

use weft_dialects::device::{Machine, Move};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Attribute, Builder, Context, Mapping, Op, Val, attr};
use weft_dialects::tile::{Compute, RTile, Schedule};

use super::block::{self, Chosen, Core};
use super::construct_rtiles::read;
use super::isa::Bound;
use super::policy::Tiled;
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
    rewrite(context, machine, kernel, &nest, (&moved, &tiles, &Schedule::default()));
    Ok(())
}

/// Puts loads, the compute and stores around the payload.
pub(super) fn rewrite<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    kernel: Op<'c>,
    nest: &Nest<'c>,
    (tiled, tiles, schedule): (&Tiled<'c>, &[RTile], &Schedule),
) {
    let block = kernel.body(0).expect("the kernel was read");
    let payload = block.ops();
    let args = block.args();
    let results = nest.outputs.len();
    let (inputs, inits) = args.split_at(args.len() - results);
    let shared = machine.shared().map_or("dram", |memory| memory.name);
    let registers = &tiles[tiles.len() - 1].memory;

    let mut b = Builder::at_end(context, block).with_location(kernel.location());
    let loaded: Vec<Val<'c>> = inputs
        .iter()
        .map(|arg| {
            path(nest, tiled, *arg, shared).into_iter().fold(*arg, |value, memory| {
                let memory = ("memory", attr::of_symbol(context, memory));
                b.op_with("tile.load", &[value], &[arg.ty()], &[memory], 0).result(0)
            })
        })
        .collect();
    let operands: Vec<_> = loaded.iter().chain(inits).copied().collect();
    let types: Vec<_> = inits.iter().map(|init| init.ty()).collect();
    let rtiles: Vec<_> = tiles.iter().map(|tile| tile.to_attr(context)).collect();
    let mut attributes = vec![
        ("instruction", attr::of_symbol(context, tiled.instruction())),
        ("tiles", attr::of_array(context, &rtiles)),
        ("operandSegmentSizes", attr::of_ints32(context, &[loaded.len() as i32, results as i32])),
    ];
    match tiled {
        Tiled::Lanes(lanes) => {
            if let Some(axis) = lanes.shape.lanes_axis {
                attributes.push(("lanes", attr::of_int(context, axis as i64)));
            }
        }
        Tiled::Matrix(matrix) => {
            attributes.push(("axes", Compute::axes_attr(context, &matrix.mapping.axes)));
        }
        Tiled::Block(chosen) => attributes.extend(block_attributes(context, chosen)),
        Tiled::Moved(..) => {}
    }
    attributes.extend(schedule.to_attr(context).map(|schedule| ("schedule", schedule)));
    let compute = b.op_with("tile.compute", &operands, &types, &attributes, 1);
    let arg_types: Vec<_> = operands.iter().map(|operand| operand.ty()).collect();
    let body = b.block(compute.region(0), &arg_types);
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
        .map(|(result, init)| {
            let memory = ("memory", attr::of_symbol(context, registers));
            b.op_with("tile.store", &[result, *init], &[init.ty()], &[memory], 0).result(0)
        })
        .collect();
    b.op("tile.yield", &stored, &[]);
    for op in payload.into_iter().rev() {
        op.erase();
    }
}

/// What a block tile says beside its tiles: axes or lanes, and layouts.
fn block_attributes<'c>(
    context: &'c Context,
    chosen: &Chosen<'c>,
) -> Vec<(&'static str, Attribute<'c>)> {
    let block = &chosen.block;
    let axes = match &block.core {
        Core::Matrix(mapping, _) => ("axes", Compute::axes_attr(context, &mapping.axes)),
        Core::Lanes(..) => ("lanes", attr::of_int(context, block.axes[block::N] as i64)),
    };
    let layout = |input: usize| {
        let side = block.inputs.iter().position(|own| *own == input).unwrap_or(0);
        attr::of_ints(context, &block::to_numbers(&chosen.lying[side].0))
    };
    vec![axes, ("layouts", attr::of_array(context, &[layout(0), layout(1)]))]
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
            let input = nest.inputs.iter().any(|access| access.tensor == arg);
            let ways = &chosen.ways;
            if input { vec![ways.near.name, ways.registers.name] } else { vec![shared] }
        }
        Tiled::Moved(..) => Vec::new(),
    }
}
