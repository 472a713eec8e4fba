//! What a kernel takes that has its schedule: the models by which schedules are chosen, asked about the
//! one that the text has, whoever wrote it.
//!
//! ```text
//! tile.compute ... on @vfma_f32 lanes 1 tiles [..., #tile.rtile<"vreg"[4, 32, 1]>]   lanes: `cost.rs`
//! tile.compute ... on @mac axes [[0], [1], [2]] tiles [...]                          axes: `isa/cost.rs`
//! tile.compute ... tiles [...] layouts [...]                                         blocks: `block/choose.rs`
//! ```

use weft_dialects::device::Machine;
use weft_dialects::tile::{Compute, RTile};

use super::block::{self, Alone, Block};
use super::cost::Model;
use super::instruction::named;
use super::isa;
use super::lane_facts::Facts;
use super::shape::Shape;
use super::way::way_of;
use crate::cost::{Cost, Term};
use crate::nest::Nest;

/// Where the tensors of a kernel lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tensors {
    /// In the memory that all units share.
    Shared,
    /// In the memory from which tiles go to the registers.
    Local,
}

/// What all rTasks of a kernel take on one unit; `None` where its schedule is none of the machine's.
pub(crate) fn cost<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    compute: &Compute<'c>,
    tensors: Tensors,
) -> Option<Cost> {
    let registers = compute.tiles.last()?;
    if let Some(layouts) = &compute.layouts {
        return block::cost(machine, nest, &Block::of_compute(machine, nest, compute)?, layouts);
    }
    let alone = tensors == Tensors::Shared && block::may_share(machine, nest);
    let own = match &compute.axes {
        Some(_) => by_axes(machine, nest, compute, registers, tensors),
        None => by_lanes(machine, nest, compute, registers, tensors),
    };
    own.map(|own| if alone { Alone::of(machine, nest).cost(registers, own) } else { own })
}

/// By an instruction of axes.
fn by_axes<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    compute: &Compute<'_>,
    tile: &RTile,
    tensors: Tensors,
) -> Option<Cost> {
    let mapping = isa::mapping_of(machine, nest, compute)?;
    match tensors {
        Tensors::Shared => Some(isa::cost(machine, nest, &mapping, &tile.sizes)),
        Tensors::Local => {
            let instructions = mapping.instructions(&nest.extents()) as f64;
            Some(Cost::of(Term::Compute, instructions * mapping.instruction.issue_cycles()))
        }
    }
}

/// By an instruction of lanes, or a lane unit.
fn by_lanes<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    compute: &Compute<'_>,
    tile: &RTile,
    tensors: Tensors,
) -> Option<Cost> {
    let lanes_axis = compute.lanes;
    let mapped = named(machine, nest, compute)?;
    let facts = Facts::by(machine, &tile.memory, way_of(machine, compute)?)?;
    let rows = tile
        .sizes
        .iter()
        .enumerate()
        .filter(|&(axis, &size)| size > 1 && Some(axis) != lanes_axis && !nest.reduces(axis));
    let shape = Shape {
        lanes_axis,
        vectors: lanes_axis.map_or(1, |axis| tile.sizes[axis].div_ceil(mapped.lanes)),
        rows: rows.map(|(axis, &size)| (axis, size)).collect(),
        grow: compute.schedule.grow,
    };
    // What is packed lies so in the nest by now.
    let model = Model::new(nest, &facts, &mapped, lanes_axis, &vec![false; nest.inputs.len()]);
    Some(match tensors {
        Tensors::Shared => model.cost(&shape),
        Tensors::Local => model.work(&shape),
    })
}
