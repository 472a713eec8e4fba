//! Tiles of kernels that become one: what they take where others' tiles wait beside them.

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Context, Op};
use weft_dialects::tile::RTile;

use super::chooser::Chooser;
use super::construct_rtiles::read;
use super::isa::{self, Near, Search};
use super::layout::Layout;
use super::policy::Tiled;
use super::rtiles::task_memory;
use super::schedule::schedule;
use super::task_tile;
use super::write_compute::rewrite;
use crate::nest::Nest;

/// The instruction that computes a tile of a group's member, and the tile's rTiles.
pub(super) struct NearTile<'c> {
    tiled: Tiled<'c>,
    tiles: Vec<RTile>,
    /// Predicted cycles on one unit.
    pub cycles: f64,
    /// Bytes that an instruction of axes moves to and from the shared memory; none for lanes,
    /// whose tensors come once.
    pub far_bytes: Option<u64>,
}

impl NearTile<'_> {
    /// Sizes of the register tile.
    pub fn registers(&self) -> &[u64] {
        self.tiles.last().map_or(&[], |tile| &tile.sizes)
    }
}

/// Chooses for a tile of `sizes`, which looks like `near`. Where tiles are staged, those of others
/// take some of that memory. Nothing where blocks, or instructions that find nothing there, are the
/// best, or what is left there is too little.
pub(super) fn near_tile<'c>(
    chooser: &Chooser<'c>,
    near: &Nest<'c>,
    sizes: &[u64],
    beside: Near<'_>,
) -> Option<NearTile<'c>> {
    let fixed = vec![Layout::Fixed; near.inputs.len()];
    let search = Search { apart: true, near: Some(beside), ..Search::default() };
    let machine = chooser.machine;
    let choice = chooser.choose(near, &fixed, search).ok()?;
    let mut inner = choice.tiled.tile(near);
    let outer = RTile { memory: task_memory(machine).to_owned(), sizes: sizes.to_vec() };
    let lanes = match &choice.tiled {
        Tiled::Lanes(lanes) => lanes,
        Tiled::Matrix(matrix)
            if !isa::hands_over(machine, beside.memory, near, &matrix.mapping) =>
        {
            return None;
        }
        Tiled::Matrix(matrix) => {
            let tile = (&outer.sizes[..], &inner.sizes[..]);
            let moved = isa::traffic(machine, near, &matrix.mapping, tile, Some(beside));
            let shared = machine.shared()?.name;
            let far = |name: &&String| {
                let way = machine.move_named(name);
                way.is_some_and(|way| way.source() == shared || way.target() == shared)
            };
            let far_bytes = Some(moved.iter().filter(|(name, _)| far(name)).map(|own| own.1).sum());
            let (tiles, cycles) = (vec![outer, inner], choice.cycles);
            return Some(NearTile { tiles, cycles, tiled: choice.tiled, far_bytes });
        }
        Tiled::Block(_) | Tiled::Moved(..) => return None,
    };
    let staged = match lanes.stage.clone() {
        Some(mut stage) => {
            let left = stage.memory.capacity_bytes().checked_sub(beside.taken)?;
            stage.memory = stage.memory.with_capacity(left);
            Some(task_tile::stage_tile(near, &inner, &outer, &stage).ok()?)
        }
        None => None,
    };
    for (inner, staged) in inner.sizes.iter_mut().zip(staged.iter().flat_map(|one| &one.sizes)) {
        *inner = (*inner).min(*staged);
    }
    let tiles = [Some(outer), staged, Some(inner)].into_iter().flatten().collect();
    Some(NearTile { tiles, cycles: choice.cycles, tiled: choice.tiled, far_bytes: None })
}

/// Writes rTiles and the schedule for a tile of `kernel` that waits near a unit, which looks like
/// `near`, or for the last member of a group, which is done as it stands.
pub(super) fn construct_tile<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    kernel: Op<'c>,
    near: Option<&Nest<'c>>,
    tile: &NearTile<'c>,
) -> Result<(), Failed> {
    let nest = read(kernel)?;
    let schedule = schedule(machine, near.unwrap_or(&nest), &tile.tiled, &tile.tiles);
    rewrite(context, machine, kernel, &nest, (&tile.tiled, &tile.tiles, &schedule));
    Ok(())
}
