//! The rTiles of a nest whose instruction and register tile are chosen: the rTask's around it, a
//! part of a long reduction, and what waits on the way.

use weft_dialects::device::{Machine, Scope};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Op, Report};
use weft_dialects::tile::{RTile, Schedule};

use super::copy_tile::copy_tile;
use super::lane_facts::Private;
use super::parts::Parts;
use super::policy::{Lanes, Tiled};
use super::stage_tile::{Around, stage_tile};
use super::task_tile::task_tile;
use super::why::Why;
use super::write_compute::Tiling;
use crate::nest::Nest;
use crate::nest::grid::task_grid;

/// Parts of a reduction are for tiles that wait longer than this part of their time for far memories.
/// Caches fetch ahead, so that less is waited for than is counted: with half of it BERT and a perceptron
/// of 128 rows take 1 to 2 % longer (AVX2), MobileNetV2 3 to 5 % with 3 % of it (AVX-512; `weft bench`
/// in turns).
const MOST_WAIT: f64 = 0.25;

/// The instruction that computes a nest, and its rTiles, the rTask's first.
pub(super) struct Tile<'c> {
    pub tiled: Tiled<'c>,
    pub tiles: Vec<RTile>,
    /// Why it was chosen.
    pub why: Why,
}

impl<'c> Tile<'c> {
    /// The rTiles around that in the registers; reports what does not fit.
    pub fn of(
        machine: Machine<'c>,
        kernel: Op<'c>,
        nest: &Nest<'c>,
        tiled: Tiled<'c>,
        why: Why,
    ) -> Result<Self, Failed> {
        Self::fitting(machine, nest, tiled, why).map_err(|reason| {
            let name = kernel.symbol();
            Report::new(kernel.location(), format!("@{name} does not fit: {reason}"))
                .help("give the memory more bytes, or cut the tensor before");
            Failed
        })
    }

    /// As [`Tile::of`].
    ///
    /// # Errors
    /// The tensors that do not fit.
    pub fn fitting(
        machine: Machine<'c>,
        nest: &Nest<'c>,
        tiled: Tiled<'c>,
        why: Why,
    ) -> Result<Self, String> {
        if let Tiled::Block(chosen) = &tiled {
            let tiles = chosen.block.rtiles(nest, &chosen.ways).to_vec();
            return Ok(Self { tiled, tiles, why });
        }
        let unit = machine.units().into_iter().next().ok_or("the machine has no units")?;
        let (inner, cycles) = (tiled.tile(nest), why.cost.cycles);
        let outer = copy_tile(machine, nest, &inner)
            .unwrap_or_else(|| task_tile(machine, nest, &inner, &unit, cycles));
        let (outer, part) = match &tiled {
            Tiled::Lanes(lanes) => in_parts(machine, nest, lanes, cycles, &inner, outer),
            _ => (outer, None),
        };
        let mut tiles: Vec<RTile> =
            [Some(outer), part, Some(inner)].into_iter().flatten().collect();
        if let Tiled::Lanes(lanes) = &tiled
            && let Some(stage) = &lanes.stage
        {
            let restart = lanes.restart(machine, nest).unwrap_or(0.0);
            let around = Around { registers: &tiles[1].sizes, task: &tiles[0].sizes, restart };
            let staged = stage_tile(machine, nest, &around, stage)?;
            // Staged tiles may be smaller than those that the registers would hold.
            for (inner, staged) in tiles[1].sizes.iter_mut().zip(&staged.sizes) {
                *inner = (*inner).min(*staged);
            }
            tiles.insert(1, staged);
        }
        Ok(Self { tiled, tiles, why })
    }

    /// All that is written of it.
    pub fn tiling<'t>(&'t self, schedule: &'t Schedule) -> Tiling<'t, 'c> {
        Tiling { tiled: &self.tiled, tiles: &self.tiles, schedule, why: Some(self.why) }
    }

    /// Number of rTasks.
    pub fn tasks(&self, nest: &Nest<'_>) -> u64 {
        task_grid(nest, &self.tiles[0]).iter().product()
    }
}

/// An rTask and the part of a reduction that its tiles do together, if that is worth it.
///
/// `cycles` are those of the whole nest. The rTask is cut along its innermost loop where what
/// that loop runs over would leave the cache otherwise.
fn in_parts<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    lanes: &Lanes<'c>,
    cycles: f64,
    registers: &RTile,
    task: RTile,
) -> (RTile, Option<RTile>) {
    let private = Private::of(machine).filter(|_| !nest.has_lengths());
    let part = private.and_then(|private| {
        let parts = Parts::of(nest, &private, lanes.shape.lanes_axis)?.growing(lanes.shape.grow);
        let share = |axis: usize| {
            let whole = nest.axes[axis].extent.max(1);
            registers.sizes[axis].min(whole) as f64 / whole as f64
        };
        let tiles = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis)).map(share);
        let most = cycles * tiles.product::<f64>() * MOST_WAIT;
        let waits = parts.waits(&registers.sizes, &task.sizes);
        if waits <= most {
            return None;
        }
        let restart = lanes.restart(machine, nest)?;
        let (task, length) = parts.cut(&registers.sizes, &task.sizes)?;
        let saves = parts.rounds(length) * restart < waits;
        saves.then(|| {
            let memory = private.name.to_owned();
            let mut part = RTile { memory, sizes: task.clone() };
            part.sizes[parts.axis] = length;
            (task, part)
        })
    });
    match part {
        Some((sizes, part)) => (RTile { sizes, ..task }, Some(part)),
        None => (task, None),
    }
}

/// The memory an rTask's tile is kept in: the largest cache of one core, or the
/// shared memory where there is none.
pub(super) fn task_memory(machine: Machine<'_>) -> &str {
    machine
        .memories()
        .iter()
        .filter(|memory| memory.is_cache() && memory.scope() == Scope::Core)
        .max_by_key(|memory| memory.capacity_bytes())
        .map(|memory| memory.name)
        .or_else(|| machine.shared().map(|memory| memory.name))
        .unwrap_or("dram")
}
