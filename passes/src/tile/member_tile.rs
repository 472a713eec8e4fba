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
use super::propagate::{Chain, Tiles, reach};
use super::rtiles::task_memory;
use super::schedule::schedule;
use super::stage_tile::{Around, stage_tile};
use super::why::Why;
use super::write_compute::{Tiling, rewrite};
use crate::nest::{Access, Border, Nest};

/// The instruction that computes a tile of a group's member, and the tile's rTiles.
pub(super) struct TileChoice<'c> {
    tiled: Tiled<'c>,
    tiles: Vec<RTile>,
    /// Why it was chosen.
    pub why: Why,
    /// Bytes that an instruction of axes moves to and from the shared memory; none for lanes,
    /// whose tensors come once.
    pub shared_bytes: Option<u64>,
}

impl TileChoice<'_> {
    /// Sizes of the register tile.
    pub fn registers(&self) -> &[u64] {
        self.tiles.last().map_or(&[], |tile| &tile.sizes)
    }
}

/// Chooses for a tile of `sizes`, which has the nest `nest`. Where tiles are staged, those of others
/// take some of that memory. Nothing where blocks, or instructions that find nothing there, are the
/// best, or what is left there is too little.
pub(super) fn choose_tile<'c>(
    chooser: &Chooser<'c>,
    nest: &Nest<'c>,
    sizes: &[u64],
    beside: Near<'_>,
) -> Option<TileChoice<'c>> {
    let fixed = vec![Layout::Fixed; nest.inputs.len()];
    let search = Search { apart: true, near: Some(beside), ..Search::default() };
    let machine = chooser.machine;
    let choice = chooser.choose(nest, &fixed, search).ok()?;
    let mut inner = choice.tiled.tile(nest);
    let outer = RTile { memory: task_memory(machine).to_owned(), sizes: sizes.to_vec() };
    let lanes = match &choice.tiled {
        Tiled::Lanes(lanes) => lanes,
        Tiled::Matrix(matrix)
            if !isa::hands_over(machine, beside.memory, nest, &matrix.mapping) =>
        {
            return None;
        }
        Tiled::Matrix(matrix) => {
            let tile = (&outer.sizes[..], &inner.sizes[..]);
            let moved = isa::traffic(machine, nest, &matrix.mapping, tile, Some(beside));
            let shared = machine.shared()?.name;
            let is_shared = |name: &&String| {
                let way = machine.move_named(name);
                way.is_some_and(|way| way.source() == shared || way.target() == shared)
            };
            let shared_bytes =
                Some(moved.iter().filter(|(name, _)| is_shared(name)).map(|own| own.1).sum());
            let (tiles, why) = (vec![outer, inner], choice.why);
            return Some(TileChoice { tiles, why, tiled: choice.tiled, shared_bytes });
        }
        Tiled::Block(_) | Tiled::Moved(..) => return None,
    };
    let staged = match lanes.stage.clone() {
        Some(mut stage) => {
            let left = stage.memory.capacity_bytes().checked_sub(beside.taken)?;
            stage.memory = stage.memory.with_capacity(left);
            let restart = lanes.restart(machine, nest)?;
            let around = Around { registers: &inner.sizes, task: &outer.sizes, restart };
            Some(stage_tile(machine, nest, &around, &stage).ok()?)
        }
        None => None,
    };
    for (inner, staged) in inner.sizes.iter_mut().zip(staged.iter().flat_map(|one| &one.sizes)) {
        *inner = (*inner).min(*staged);
    }
    let tiles = [Some(outer), staged, Some(inner)].into_iter().flatten().collect();
    Some(TileChoice { tiles, why: choice.why, tiled: choice.tiled, shared_bytes: None })
}

/// Writes rTiles and the schedule for a tile of `kernel` that waits near a unit, which looks like
/// `tile_nest`, or for the last member of a group, which is done as it stands.
pub(super) fn construct_tile<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    kernel: Op<'c>,
    tile_nest: Option<&Nest<'c>>,
    tile: &TileChoice<'c>,
) -> Result<(), Failed> {
    let nest = read(kernel)?;
    let schedule = schedule(machine, tile_nest.unwrap_or(&nest), &tile.tiled, &tile.tiles);
    let (tiled, tiles) = (&tile.tiled, &tile.tiles[..]);
    let tiling = Tiling { tiled, tiles, schedule: &schedule, why: Some(tile.why) };
    rewrite(context, machine, kernel, &nest, &tiling);
    Ok(())
}

/// Returns whether the tensor of a member's access is handed over inside the group.
pub(super) fn inside(chain: &Chain<'_, '_>, leaves: &[bool], member: usize, access: usize) -> bool {
    match access < chain.nests[member].reads().len() {
        true => chain.links.iter().any(|link| link.reader == member && link.read == access),
        false => member + 1 < chain.nests.len() && !leaves[member],
    }
}

/// A tile of a member as a nest: what is handed over is a tensor of a tile's size.
pub(super) fn tile_nest<'c>(
    chain: &Chain<'_, 'c>,
    leaves: &[bool],
    member: usize,
    tiles: &Tiles,
) -> Nest<'c> {
    let mut nest = chain.nests[member].clone();
    let shape = |(position, access): (usize, &Access<'c>)| {
        let waits = inside(chain, leaves, member, position) && Border::of(access).is_none();
        waits.then(|| reach(access, &tiles.spans[member]))
    };
    let shapes: Vec<_> = nest.accesses().into_iter().enumerate().map(shape).collect();
    for (access, shape) in nest.accesses_mut().into_iter().zip(shapes) {
        access.shape = shape.unwrap_or_else(|| access.shape.clone());
    }
    for (axis, span) in nest.axes.iter_mut().zip(&tiles.spans[member]) {
        axis.extent = span.size;
    }
    nest
}
