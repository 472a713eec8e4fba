//! One compute of a kernel of several, on tiles that wait near the unit.

use std::collections::HashMap;

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Report, Type, Val};
use weft_dialects::tile::{Compute, RTile};

use super::index::{Sum, scf_for};
use super::matrix::{Ends, Matrix};
use super::tiles::{Piece, Tiles};
use super::{Here, loops};
use crate::nest::Nest;
use crate::tile::propagate::groups;
use crate::tile::{beside, way_of, ways};

/// A tile of a tensor, in a memory near the unit.
#[derive(Clone)]
pub(super) struct LocalTile<'c> {
    pub memory: &'c str,
    pub memref: Val<'c>,
    /// From there to the registers, and back.
    pub moves: [&'c str; 2],
    /// The dimensions in which the tensor is handed over.
    pub handed: Vec<u64>,
    /// First element of the tile along each.
    pub starts: Vec<Sum<'c>>,
    /// Its extent along each.
    pub sizes: Vec<u64>,
}

impl<'c> LocalTile<'c> {
    /// The index in the local tile of an index in the tensor, seen in `shape`.
    pub fn place(&self, shape: &[u64], place: &[Sum<'c>]) -> Vec<Sum<'c>> {
        let merge = |(dims, start): (Vec<(usize, u64)>, &Sum<'c>)| {
            let at = Sum::default().plus(start, -1);
            dims.into_iter().fold(at, |at, (dim, step)| at.plus(&place[dim], step as i64))
        };
        groups(shape, &self.handed).into_iter().zip(&self.starts).map(merge).collect()
    }

    /// First row and the one behind the last of those that are in it whole, along dimension
    /// `dim` of `shape`; `None` where all do.
    pub fn rows(&self, b: &mut Builder<'c>, shape: &[u64], dim: usize) -> Option<[Val<'c>; 2]> {
        let groups = groups(shape, &self.handed);
        let group = groups.iter().position(|dims| dims.iter().any(|&(own, _)| own == dim))?;
        let (_, step) = *groups[group].iter().find(|&&(own, _)| own == dim)?;
        if self.sizes[group] == self.handed[group] {
            return None;
        }
        let (index, steps) = (Type::index(b.context()), b.index(step as i64));
        let mut row = |add: i64| {
            let at = self.starts[group].clone().plus(&Sum::number(add), 1).emit(b);
            b.op("arith.divui", &[at, steps], &[index]).result(0)
        };
        Some([row(step as i64 - 1), row(self.sizes[group] as i64)])
    }
}

/// The local tiles of a kernel, by the tensor.
pub(super) type LocalTiles<'c> = HashMap<Val<'c>, LocalTile<'c>>;

/// The part of a member that is computed at once.
pub(super) struct MemberTile {
    /// True if the member's parallel axes are to be as long as this piece.
    pub cut: bool,
    pub outer: RTile,
    pub inner: RTile,
    /// Pieces along each parallel axis.
    pub grid: Vec<u64>,
}

impl MemberTile {
    /// Leaves of a nest what one piece has along the axes that do not reduce.
    fn of(&self, nest: &Nest<'_>) -> Vec<u64> {
        let axes = 0..nest.axes.len();
        let left = |axis: usize| match nest.reduces(axis) {
            true => nest.axes[axis].extent,
            false => nest.axes[axis].extent.min(self.outer.sizes[axis]),
        };
        axes.map(left).collect()
    }

    fn cut<'c>(&self, mut nest: Nest<'c>) -> Nest<'c> {
        let extents = self.of(&nest);
        for (axis, extent) in nest.axes.iter_mut().zip(extents) {
            axis.extent = extent;
        }
        nest
    }
}

/// Writes a piece of a member, whose nest sees what waits as it is handed over.
pub(super) fn write<'c>(
    here: &Here<'c>,
    b: &mut Builder<'c>,
    (compute, nest): (&Compute<'c>, Nest<'c>),
    tile: &MemberTile,
    local_tiles: &LocalTiles<'c>,
    starts: &[Sum<'c>],
) -> Result<(), Failed> {
    let staged = way_of(here.machine, compute).is_some_and(|way| way.stage.is_some());
    let member = Member { here, compute, tile, local_tiles, starts };
    let mut written = Ok(());
    let mut one = |b: &mut Builder<'c>| {
        written = match &compute.axes {
            Some(_) => member.matrix(b, &nest),
            None => member.lanes(b, nest.clone()),
        };
    };
    // A loop, even of one round, frees what a member took before the next one begins.
    if compute.axes.is_some() || staged {
        let ends = [Sum::number(0), Sum::number(1)];
        scf_for(b, &ends[0], &ends[1], 1, |b, _| one(b));
    } else {
        one(b);
    }
    written
}

/// A member of which one piece is written.
struct Member<'m, 'c> {
    here: &'m Here<'c>,
    compute: &'m Compute<'c>,
    tile: &'m MemberTile,
    local_tiles: &'m LocalTiles<'c>,
    /// First point of the piece along each axis.
    starts: &'m [Sum<'c>],
}

impl<'m, 'c> Member<'m, 'c> {
    fn piece(&self) -> Piece<'m, 'c> {
        Piece { outer: &self.tile.outer, grid: &self.tile.grid, starts: self.starts }
    }

    /// The memrefs of the tensors that wait near the unit.
    fn near(&self) -> impl Iterator<Item = (Val<'c>, Val<'c>)> {
        self.local_tiles.iter().map(|(tensor, local_tile)| (*tensor, local_tile.memref))
    }

    /// Writes a member that lanes do.
    fn lanes(&self, b: &mut Builder<'c>, nest: Nest<'c>) -> Result<(), Failed> {
        let mut plan = self.here.plan(self.compute, nest)?;
        plan.local_tiles.clone_from(self.local_tiles);
        plan.memrefs.extend(self.near());
        if self.tile.cut {
            // It is read again at once.
            plan.stream = None;
            plan.nest = self.tile.cut(plan.nest);
            plan.tile = self.tile.inner.clone();
        }
        self.here.lanes(b, self.compute, plan, self.piece())
    }

    /// Writes a member that an instruction of axes does.
    fn matrix(&self, b: &mut Builder<'c>, nest: &Nest<'c>) -> Result<(), Failed> {
        let Here { context, machine, kernel, .. } = *self.here;
        let mut memrefs = self.here.memrefs_of(nest);
        memrefs.extend(self.near());
        // The instruction was chosen for a nest of one tile.
        let one = self.tile.cut(nest.clone());
        let around = if self.tile.cut { &one } else { nest };
        let ends = Ends { memrefs: &memrefs, local_tiles: self.local_tiles };
        let matrix = Matrix::new(context, machine, kernel, self.compute, &one, ends)?;
        let order = loops(&self.compute.schedule, around);
        Tiles {
            repeats: None,
            nest: around,
            tile: &self.tile.inner,
            piece: self.piece(),
            order: &order,
            grow: None,
        }
        .write(b, &|b, points| matrix.write(b, points));
        Ok(())
    }
}

/// The moves between a tile in `memory` and the registers of lanes: those of the way
/// that tensors come, unless it lies beside.
pub(super) fn moves<'c>(here: &Here<'c>, memory: &'c str) -> Result<[&'c str; 2], Failed> {
    let Here { machine, kernel, .. } = *here;
    let unit = machine.lanes_units().into_iter().next();
    let registers = unit.map_or("", |unit| unit.memory());
    let behind = |name: &str| machine.behind(name).map(|memory| memory.name);
    let mut ways = ways(machine, registers).into_iter();
    let along = ways.find(|way| behind(memory) == behind(way.load.source()));
    let moves = match along {
        Some(way) => Some([way.load, way.store]),
        None => beside(machine, memory, registers),
    };
    moves.map(|moves| moves.map(|way| way.name)).ok_or_else(|| {
        let what = format!("nothing moves between @{memory} and @{registers} both ways");
        Report::new(kernel.location(), what)
            .help("let tiles wait where the machine has strided moves from and to registers");
        Failed
    })
}
