//! The epilogue on sums that an instruction leaves in tile registers.
//!
//! ```text
//! room = C                       in the core's smallest cache
//! for (tiles of lanes) output = epilogue(room, inputs)
//! ```

use std::collections::HashMap;

use weft_dialects::ir::{Builder, Context, Linear, Val};
use weft_dialects::tile::{RTile, Schedule};

use super::Plan;
use super::index::Sum;
use super::member::LocalTile;
use super::register_tile::RegisterTile;
use super::tiles::{Piece, Points, Tiles};
use super::transfer::alloc;
use crate::nest::{Access, Nest};
use crate::tile::isa::Finish;

/// Rows of sums that lanes finish at once: enough that none waits for the one before.
const ROWS: u64 = 4;

/// The room in which the sums of a tile wait.
pub(super) struct Room<'c> {
    /// The sums, by the axes of the nest that do not reduce.
    pub access: Access<'c>,
    pub tile: LocalTile<'c>,
}

impl<'c> Room<'c> {
    /// For a tile.
    pub fn new(
        b: &mut Builder<'c>,
        nest: &Nest<'c>,
        finish: &Finish<'c>,
        Points { at, sizes, .. }: Points<'_, 'c>,
    ) -> Self {
        let axes = nest.axes.len();
        let parallel: Vec<usize> = (0..axes).filter(|&axis| !nest.reduces(axis)).collect();
        let of_tile: Vec<u64> = parallel.iter().map(|&axis| sizes[axis]).collect();
        let shape: Vec<u64> = parallel.iter().map(|&axis| nest.axes[axis].extent).collect();
        let memref = alloc(b, &of_tile, nest.sum_type(0), finish.room);
        let index = parallel.iter().map(|&axis| Linear::axis(axes, axis)).collect();
        let tile = LocalTile {
            memory: finish.room,
            memref,
            moves: [finish.way.load.name, finish.way.store.name],
            handed: shape.clone(),
            starts: parallel.iter().map(|&axis| at[axis].clone()).collect(),
            sizes: of_tile,
        };
        Self { access: Access { tensor: memref, shape, index }, tile }
    }

    /// Finishes what waits there, and stores it.
    pub fn finish(
        &self,
        context: &'c Context,
        b: &mut Builder<'c>,
        nest: &Nest<'c>,
        (finish, memrefs): (&Finish<'c>, &HashMap<Val<'c>, Val<'c>>),
        Points { at, sizes, .. }: Points<'_, 'c>,
    ) {
        let mut own = nest.clone();
        let sizes: Vec<u64> =
            (0..sizes.len()).map(|axis| if nest.reduces(axis) { 1 } else { sizes[axis] }).collect();
        for (axis, &size) in own.axes.iter_mut().zip(&sizes) {
            axis.extent = size;
        }
        let tile =
            RTile { memory: finish.registers.to_owned(), sizes: register_tile(&own, finish) };
        let mut memrefs = memrefs.clone();
        memrefs.insert(self.access.tensor, self.tile.memref);
        let plan = Plan {
            context,
            unit: finish.unit,
            instruction: None,
            lanes_axis: Some(finish.lanes_axis),
            depth: None,
            lanes: finish.lanes,
            registers: finish.registers,
            way: finish.way.clone(),
            tile: tile.clone(),
            schedule: Schedule::default(),
            gather: None,
            stream: None,
            memrefs,
            phases: HashMap::new(),
            has_slack: Default::default(),
            local_tiles: HashMap::from([(self.access.tensor, self.tile.clone())]),
            origin: vec![Sum::number(0); sizes.len()],
            nest: own,
        };
        let outer = RTile { memory: String::new(), sizes };
        let order: Vec<usize> =
            (0..outer.sizes.len()).filter(|&axis| !nest.reduces(axis)).collect();
        let grid = vec![1; order.len()];
        let piece = Piece { outer: &outer, grid: &grid, starts: at };
        let tiles = Tiles {
            nest: &plan.nest,
            tile: &tile,
            piece,
            order: &order,
            grow: None,
            repeats: None,
        };
        tiles.write(b, &|b, points| RegisterTile::new(&plan, points).finish(b, &self.access));
    }
}

/// One register along the lanes, and a few rows of the longest other axis.
fn register_tile(nest: &Nest<'_>, finish: &Finish<'_>) -> Vec<u64> {
    let mut sizes = vec![1; nest.axes.len()];
    let others = (0..sizes.len()).filter(|&axis| axis != finish.lanes_axis);
    if let Some(rows) = others.max_by_key(|&axis| nest.axes[axis].extent) {
        sizes[rows] = nest.axes[rows].extent.min(ROWS);
    }
    sizes[finish.lanes_axis] = nest.axes[finish.lanes_axis].extent.min(finish.lanes);
    sizes
}
