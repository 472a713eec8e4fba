//! A block tile: groups of lanes that share the tiles of the inputs.
//!
//! ```text
//! sums of this group = start                      in its registers
//! for (steps of k) {
//!   barrier; all groups bring the tiles of A and B near; barrier
//!   for (instructions along k, written out) {
//!     this group's part of A and B to its registers; fold }
//! }
//! epilogue on the sums of this group              in its registers
//! sums of this group to the output
//! ```
//!
//! What lies behind the end of a tensor is brought as zero, which folds into sums that
//! nobody stores; so every block runs the same code.

use std::collections::HashMap;

use weft_dialects::device::{Machine, Move, Scope, build};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Context, Op, Report, Type, Val, attr, ty};
use weft_dialects::tile::Compute;

use super::block_fold::Fold;
use super::block_legal;
use super::block_sides::Side;
use super::index::{Sum, scf_for};
use super::transfer::{Boxed, Pending, Transfer, Within, alloc, first};
use super::view::View;
use crate::nest::{Access, Nest, Start};
use crate::tile::block::{self, Block, K, Lying, M, N, Ways, power_of_two_in};

/// How the block tiles of a kernel are written.
pub(super) struct Blocks<'p, 'c> {
    pub(super) context: &'c Context,
    pub(super) nest: &'p Nest<'c>,
    memrefs: &'p HashMap<Val<'c>, Val<'c>>,
    pub(super) block: Block<'c>,
    pub(super) ways: Ways<'c>,
    lying: Vec<Lying>,
    /// The lane unit that applies a computed start and the epilogue.
    pub(super) unit: Option<&'c str>,
}

impl<'p, 'c> Blocks<'p, 'c> {
    /// Reads what the tile program chose; reports what does not fit the machine.
    pub fn new(
        context: &'c Context,
        machine: Machine<'c>,
        kernel: Op<'c>,
        compute: &Compute<'c>,
        nest: &'p Nest<'c>,
        memrefs: &'p HashMap<Val<'c>, Val<'c>>,
    ) -> Result<Self, Failed> {
        let registers = compute.tiles.last().map_or("", |tile| tile.memory.as_str());
        let (block, ways, lying) = block_legal::check(machine, kernel, compute, nest)?;
        let unit = block::lane_unit(machine, nest, registers).map(|unit| unit.name);
        if !block::bodies(nest).is_empty() && unit.is_none() {
            let name = kernel.symbol();
            let what = format!("no lanes in @{registers} do the start or the epilogue of @{name}");
            Report::new(kernel.location(), what)
                .help("give it a kernel of its own, or the lane unit its operations");
            return Err(Failed);
        }
        Ok(Self::of(context, nest, memrefs, (block, ways, lying), unit))
    }

    /// The same of what was checked.
    pub fn of(
        context: &'c Context,
        nest: &'p Nest<'c>,
        memrefs: &'p HashMap<Val<'c>, Val<'c>>,
        (block, ways, lying): block_legal::Checked<'c>,
        unit: Option<&'c str>,
    ) -> Self {
        Self { context, nest, memrefs, block, ways, lying, unit }
    }

    /// How many groups run an rTask.
    pub fn groups(&self) -> u64 {
        self.block.groups().iter().product()
    }

    /// The code of one block, whose tile begins at `starts`.
    pub fn write(&self, b: &mut Builder<'c>, starts: &[Sum<'c>]) {
        let group = self.group(b);
        let held = self.block.held_output(self.nest.inputs.len());
        let sums = alloc(b, &held.shape, self.nest.sum_type(0), self.ways.registers.name);
        let mut own = starts.to_vec();
        for side in [M, N] {
            let begin = Sum::default().plus(&group[side], self.block.group[side] as i64);
            own = self.moved(b, &own, side, &begin);
        }
        self.start(b, sums, &own);
        let tiles = [M, N].map(|side| self.room(b, side));
        let fold = Fold { group, tiles, sums };
        match (self.block.stages, &self.ways.put, self.ways.brings(self.block.ahead)) {
            (_, _, ahead) if self.block.is_direct() => {
                self.steps_direct(b, ahead, starts, &fold);
            }
            (2.., _, Some(way)) => self.steps_by_engine(b, way, starts, &fold),
            (2, Some(put), _) => self.steps_ahead(b, put, starts, &fold),
            (3.., Some(put), _) => self.steps_in_rooms(b, put, starts, &fold),
            _ => {
                self.each_step(b, starts, &mut |b, at| {
                    self.step(b, at, tiles);
                    self.fold(b, &fold, &Sum::number(0));
                });
            }
        }
        self.finish_and_store(b, sums, &own);
    }

    /// The epilogue on the sums of this group, and what it makes to the output.
    pub(super) fn finish_and_store(&self, b: &mut Builder<'c>, sums: Val<'c>, own: &[Sum<'c>]) {
        let output = &self.nest.outputs[0];
        let stored = self.room_for_stored(b, sums);
        self.finish(b, [sums, stored], own);
        let mut pending = Pending::default();
        let (near, far, sizes, within) = self.output_ends(b, output, stored, own);
        let sums = Transfer { from: &near, to: &far, sizes: &sizes, within: &within };
        pending.transfer_within(b, &self.ways.store, sums);
    }

    /// Registers for what is stored of the sums: those of these, unless it is of another type.
    pub(super) fn room_for_stored(&self, b: &mut Builder<'c>, sums: Val<'c>) -> Val<'c> {
        let held = self.block.held_output(self.nest.inputs.len());
        let elem = self.nest.outputs[0].elem();
        match self.nest.casts_sums() {
            true => alloc(b, &held.shape, elem, self.ways.registers.name),
            false => sums,
        }
    }

    /// Where this group is among those of the block, along m and n.
    pub(super) fn group(&self, b: &mut Builder<'c>) -> [Sum<'c>; 2] {
        let index = Type::index(self.context);
        let [rows, columns] = self.block.groups();
        if rows * columns == 1 {
            return [Sum::number(0), Sum::number(0)];
        }
        let group = build::group(b);
        if columns == 1 {
            return [Sum::value(group), Sum::number(0)];
        }
        let count = b.index(columns as i64);
        let column = b.op("arith.remui", &[group, count], &[index]).result(0);
        let row = b.op("arith.divui", &[group, count], &[index]).result(0);
        [Sum::value(row), Sum::value(column)]
    }

    /// Rooms for the tile of an input near the lanes.
    fn room(&self, b: &mut Builder<'c>, side: usize) -> Val<'c> {
        self.rooms_of(b, side, self.block.rooms())
    }

    /// The same, so many of them.
    pub(super) fn rooms_of(&self, b: &mut Builder<'c>, side: usize, rooms: u64) -> Val<'c> {
        let lying = self.lying(side);
        let (rows, _) = self.block.rows_columns(side, lying.inner);
        let memory = attr::of_string(self.context, self.ways.near.name);
        let mut shape = match self.block.direct[side] {
            Some(_) => self.block.panels(side, &lying).to_vec(),
            None => vec![rows, lying.layout.pitch],
        };
        if rooms > 1 {
            shape.insert(0, rooms);
        }
        let ty = ty::memref(&shape, self.input(side).elem(), Some(memory));
        match lying.layout.swizzle {
            Some(swizzle) => {
                build::alloc_swizzled(b, [swizzle.bits, swizzle.keep, swizzle.shift], ty)
            }
            None => build::alloc(b, ty),
        }
    }

    pub(super) fn lying(&self, side: usize) -> Lying {
        self.lying[self.block.inputs[side]]
    }

    pub(super) fn input(&self, side: usize) -> &Access<'c> {
        &self.nest.inputs[self.block.inputs[side]]
    }

    /// Gives the sums of this group their first values.
    pub(super) fn start(&self, b: &mut Builder<'c>, sums: Val<'c>, at: &[Sum<'c>]) {
        if let Some((inputs, body)) = block::computed_start(self.nest) {
            self.by_lanes(b, (inputs, body), (None, sums), at);
            return;
        }
        let mut pending = Pending::default();
        let held = self.block.held_output(self.nest.inputs.len());
        let from = match &self.nest.starts[0] {
            Start::From { inputs, body } => match body.terminator().map(|end| end.operand(0)) {
                Some(value) if value.def().is_some() => {
                    let number = value.def().and_then(|op| op.attr("value"));
                    let place = first(b, sums);
                    let number = number.expect("how it begins was checked");
                    pending.fill(b, &self.ways.fill, &place, &held.shape, number);
                    return;
                }
                _ => &inputs[0],
            },
            _ => &self.nest.outputs[0],
        };
        let (near, far, sizes, mut within) = self.output_ends(b, from, sums, at);
        within.pads = true;
        let sums = Transfer { from: &far, to: &near, sizes: &sizes, within: &within };
        pending.transfer_within(b, &self.ways.fetch, sums);
    }

    /// The sums and the box of a tensor where they begin or go, and its sizes.
    fn output_ends(
        &self,
        b: &mut Builder<'c>,
        access: &Access<'c>,
        sums: Val<'c>,
        at: &[Sum<'c>],
    ) -> (Boxed<'c>, Boxed<'c>, Vec<u64>, Within<'c>) {
        let sides = self.held_sides(&self.block.held_output(self.nest.inputs.len()));
        let near = Boxed { view: first(b, sums), strides: sides.near.clone() };
        let strides = self.far(access, &sides);
        let far = Boxed { view: self.view(b, access, at), strides };
        let limits = self.limits(b, access, (&sides, [M, N]), at);
        let (run, side) = self.block.run(self.nest, access, [N, M]);
        let run = power_of_two_in(run, self.block.group[side]);
        (near, far, sides.sizes, Within { limits, run, ..Within::default() })
    }

    pub(super) fn view(
        &self,
        b: &mut Builder<'c>,
        access: &Access<'c>,
        at: &[Sum<'c>],
    ) -> View<'c> {
        let indices = access.index.iter().map(|index| Sum::of(index, at).emit(b)).collect();
        View { memref: self.memrefs[&access.tensor], indices }
    }

    /// Loops over all steps of the reductions.
    pub(super) fn each_step(
        &self,
        b: &mut Builder<'c>,
        starts: &[Sum<'c>],
        body: &mut dyn FnMut(&mut Builder<'c>, &[Sum<'c>]),
    ) {
        let others = |axis: &usize| self.nest.reduces(*axis) && *axis != self.block.axes[K];
        let reductions: Vec<usize> = (0..self.nest.axes.len()).filter(others).collect();
        self.steps(b, &reductions, &mut starts.to_vec(), body);
    }

    /// Loops over single points of the reductions in `axes`, and steps of k inside them.
    fn steps(
        &self,
        b: &mut Builder<'c>,
        axes: &[usize],
        at: &mut Vec<Sum<'c>>,
        body: &mut dyn FnMut(&mut Builder<'c>, &[Sum<'c>]),
    ) {
        let (axis, step, rest) = match axes.split_first() {
            Some((&axis, rest)) => (axis, 1, Some(rest)),
            None => (self.block.axes[K], self.block.tile[K], None),
        };
        let extent = self.nest.axes[axis].extent;
        let bounds = [Sum::number(0), Sum::number(extent as i64)];
        scf_for(b, &bounds[0], &bounds[1], step as i64, |b, iv| {
            at[axis] = Sum::value(iv);
            match rest {
                Some(rest) => self.steps(b, rest, at, body),
                None => body(b, at),
            }
        });
    }

    /// Brings the tiles of one step of k.
    pub(super) fn step(&self, b: &mut Builder<'c>, at: &[Sum<'c>], tiles: [Val<'c>; 2]) {
        // The others may still read the tiles of the step before.
        self.barrier(b);
        for side in [M, N] {
            let way = (&self.ways.stage, side, None);
            self.bring(b, way, at, (tiles[side], &Sum::number(0)));
        }
        self.barrier(b);
    }

    pub(super) fn barrier(&self, b: &mut Builder<'c>) {
        build::barrier(b, Scope::Core);
    }

    /// All groups that use what is brought: those of a cluster, where its rTasks bring a tile together.
    pub(super) fn meet(&self, b: &mut Builder<'c>) {
        let scope = if self.block.cluster.is_some() { Scope::Cluster } else { Scope::Core };
        build::barrier(b, scope);
    }

    /// All groups together: the tile of an input to one of its rooms, zeros behind its end. Gives the
    /// token of an engine, which begins after an arrival of all groups, where one is said.
    pub(super) fn bring(
        &self,
        b: &mut Builder<'c>,
        (way, side, after): (&Move<'c>, usize, Option<Val<'c>>),
        at: &[Sum<'c>],
        (tile, room): (Val<'c>, &Sum<'c>),
    ) -> Vec<Val<'c>> {
        if self.block.direct[side].is_some() {
            let all = &self.pieces(side, 1)[0];
            let way = (way, side, after);
            return Vec::from_iter(self.bring_piece(b, way, all, at, (tile, room)));
        }
        let (access, lying) = (self.input(side), self.lying(side));
        let (mut run, along) = self.block.run(self.nest, access, [side, K]);
        if self.block.axes[along] == lying.inner {
            run = power_of_two_in(run, lying.layout.pitch);
        }
        // Along what lies side by side in the tensor last, so that neighbours read it.
        let sides = [if along == K { side } else { K }, along];
        let near = self.block.apart(side, &lying);
        let sides = self.sides(&sides.map(|side| Side {
            along: Some(side),
            count: self.block.tile[side],
            step: 1,
            near: near[side],
        }));
        let from = Boxed { view: self.view(b, access, at), strides: self.far(access, &sides) };
        let begin = [b.index(0), b.index(0)];
        let to = Boxed { view: self.in_room(b, (tile, room), &begin), strides: sides.near.clone() };
        let within = Within {
            limits: self.limits(b, access, (&sides, [side, K]), at),
            pads: true,
            run,
            after,
            ..Within::default()
        };
        let mut pending = Pending::default();
        let tile = Transfer { from: &from, to: &to, sizes: &sides.sizes, within: &within };
        pending.transfer_within(b, way, tile);
        pending.take()
    }

    /// The room of a step that is so many later than another.
    pub(super) fn room_of(&self, b: &mut Builder<'c>, step: &Sum<'c>, later: i64) -> Sum<'c> {
        let step = step.clone().plus(&Sum::number(later), 1).emit(b);
        let rooms = b.index(self.block.rooms() as i64);
        Sum::value(b.op("arith.remui", &[step, rooms], &[Type::index(self.context)]).result(0))
    }

    /// The view of an input's tile, in one of its rooms, from a row and a column on; of a panel where it
    /// lies in panels.
    pub(super) fn in_room(
        &self,
        b: &mut Builder<'c>,
        (tile, room): (Val<'c>, &Sum<'c>),
        place: &[Val<'c>],
    ) -> View<'c> {
        let mut indices = place.to_vec();
        if ty::shape(tile.ty()).is_some_and(|shape| shape.len() > place.len()) {
            indices.insert(0, room.emit(b));
        }
        View { memref: tile, indices }
    }
}
