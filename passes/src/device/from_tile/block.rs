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

use weft_dialects::device::{Limit, Machine, Scope, build};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Context, Op, Report, Type, Val, attr, ty};
use weft_dialects::tile::Compute;

use super::body::{LaneBody, write_body};
use super::index::{Sum, scf_for, unrolled};
use super::transfer::{Boxed, Pending, Transfer, Within, alloc, first};
use super::view::View;
use crate::nest::{Access, Epilogue, Nest, Start, row_major};
use crate::tile::block::{
    self, Block, Held, K, Lying, M, N, Ways, near_run, of_numbers, power_of_two_in,
};

/// How the block tiles of a kernel are written.
pub(super) struct Blocks<'p, 'c> {
    context: &'c Context,
    nest: &'p Nest<'c>,
    memrefs: &'p HashMap<Val<'c>, Val<'c>>,
    block: Block<'c>,
    ways: Ways<'c>,
    lying: Vec<Lying>,
    /// The lane unit that applies the epilogue.
    unit: Option<&'c str>,
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
        let numbers = compute.layouts.iter().flatten();
        let lying: Option<Vec<Lying>> = numbers.map(|layout| of_numbers(layout)).collect();
        let block = Block::of(machine, nest, compute);
        let (Some(block), Some(ways), Some(lying)) = (block, Ways::of(machine, registers), lying)
        else {
            Report::new(
                kernel.location(),
                format!("@{} has layouts, and no tiles that groups can share", kernel.symbol()),
            )
            .help("the first rTile is whole ones of the last, that whole instructions, and the machine has moves by the memory of the first");
            return Err(Failed);
        };
        let fits = (0..2).all(|side| {
            let lying = lying[block.inputs[side]];
            let axes = [block.axes[side], block.axes[K]];
            let (_, columns) = block.rows_columns(side, lying.inner);
            axes.contains(&lying.inner) && lying.layout.pitch >= columns
        });
        if !fits {
            Report::new(
                kernel.location(),
                format!("the layouts of @{} do not hold its tiles", kernel.symbol()),
            )
            .help("the inner axis is one of the input's, the pitch no less than the tile along it");
            return Err(Failed);
        }
        let unit = block::lane_unit(machine, nest, registers).map(|unit| unit.name);
        if nest.epilogue.is_some() && unit.is_none() {
            let what = format!("no lanes in @{registers} do the epilogue of @{}", kernel.symbol());
            Report::new(kernel.location(), what)
                .help("give the epilogue a kernel of its own, or the lane unit its operations");
            return Err(Failed);
        }
        Ok(Self { context, nest, memrefs, block, ways, lying, unit })
    }

    /// How many groups run an rTask.
    pub fn groups(&self) -> u64 {
        self.block.groups().iter().product()
    }

    /// The code of one block, whose tile begins at `starts`.
    pub fn write(&self, b: &mut Builder<'c>, starts: &[Sum<'c>]) {
        let group = self.group(b);
        let held = self.block.held_output(self.nest.inputs.len());
        let output = &self.nest.outputs[0];
        let sums = alloc(b, &held.shape, output.elem(), self.ways.registers.name);
        let mut own = starts.to_vec();
        for axis in [M, N] {
            let place = &mut own[self.block.axes[axis]];
            *place = place.clone().plus(&group[axis], self.block.group[axis] as i64);
        }
        self.start(b, sums, &own);
        let tiles = [M, N].map(|side| self.room(b, side));
        let reductions: Vec<usize> = (0..self.nest.axes.len())
            .filter(|&axis| self.nest.reduces(axis) && axis != self.block.axes[K])
            .collect();
        let mut at = starts.to_vec();
        self.steps(b, &reductions, &mut at, &mut |b, at| {
            self.step(b, at, &group, tiles, sums);
        });
        self.finish(b, sums, &own);
        let mut pending = Pending::default();
        let (near, far, within) = self.output_ends(b, output, sums, &own);
        let sums = Transfer { from: &near, to: &far, sizes: &held.sizes, within: &within };
        pending.transfer_within(b, &self.ways.store, sums);
    }

    /// Where this group is among those of the block, along m and n.
    fn group(&self, b: &mut Builder<'c>) -> [Sum<'c>; 2] {
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

    /// Room for the tile of an input near the lanes.
    fn room(&self, b: &mut Builder<'c>, side: usize) -> Val<'c> {
        let lying = self.lying(side);
        let (rows, _) = self.block.rows_columns(side, lying.inner);
        let memory = attr::of_string(self.context, self.ways.near.name);
        let shape = [rows, lying.layout.pitch];
        let ty = ty::memref(&shape, self.input(side).elem(), Some(memory));
        match lying.layout.swizzle {
            Some(swizzle) => {
                build::alloc_swizzled(b, [swizzle.bits, swizzle.keep, swizzle.shift], ty)
            }
            None => build::alloc(b, ty),
        }
    }

    fn lying(&self, side: usize) -> Lying {
        self.lying[self.block.inputs[side]]
    }

    fn input(&self, side: usize) -> &Access<'c> {
        &self.nest.inputs[self.block.inputs[side]]
    }

    /// Gives the sums of this group their first values.
    fn start(&self, b: &mut Builder<'c>, sums: Val<'c>, at: &[Sum<'c>]) {
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
        let (near, far, mut within) = self.output_ends(b, from, sums, at);
        within.pads = true;
        let sums = Transfer { from: &far, to: &near, sizes: &held.sizes, within: &within };
        pending.transfer_within(b, &self.ways.fetch, sums);
    }

    /// The epilogue on the sums of this group, one operand of the instruction at a time: inputs are
    /// brought to registers in the order of the sums.
    fn finish(&self, b: &mut Builder<'c>, sums: Val<'c>, at: &[Sum<'c>]) {
        let (Some(Epilogue { inputs, body }), Some(unit)) = (&self.nest.epilogue, self.unit) else {
            return;
        };
        let held = self.block.held_output(self.nest.inputs.len());
        let one = held.one_operand();
        let lanes = one.shape.iter().product();
        let [rows, columns] = self.block.counts();
        unrolled(b, rows, |b, row| {
            unrolled(b, columns, |b, column| {
                let mut own = at.to_vec();
                for (axis, step) in [(M, &row), (N, &column)] {
                    let apart = held.along[axis][if axis == M { 0 } else { 1 }];
                    let place = &mut own[self.block.axes[axis]];
                    *place = place.clone().plus(step, apart);
                }
                let args = body.args();
                let used = |number: usize| !args[number].uses().is_empty();
                let mut views = Vec::new();
                for (number, input) in inputs.iter().enumerate().filter(|(n, _)| used(*n)) {
                    views.push((number, self.bring_for_epilogue(b, input, &one, &own)));
                }
                let mut view = first(b, sums);
                for (index, step) in view.indices.iter_mut().zip([&row, &column]) {
                    *index = step.emit(b);
                }
                if used(inputs.len()) {
                    views.push((inputs.len(), view.clone()));
                }
                self.apply(b, unit, LaneBody { body: *body, lanes }, &views, view);
            });
        });
    }

    /// One operand's elements of an input, in registers.
    fn bring_for_epilogue(
        &self,
        b: &mut Builder<'c>,
        input: &Access<'c>,
        one: &Held,
        at: &[Sum<'c>],
    ) -> View<'c> {
        let register = alloc(b, &one.shape, input.elem(), self.ways.registers.name);
        let near = Boxed { view: first(b, register), strides: row_major(&one.sizes) };
        let strides = one.strides(self.strides(input));
        let far = Boxed { view: self.view(b, input, at), strides };
        let limits = [M, N].into_iter().filter_map(|axis| {
            Some(Limit { bound: self.left(b, axis, at)?, steps: one.along[axis].clone() })
        });
        let within = Within { limits: limits.collect(), pads: true, run: 1 };
        let mut pending = Pending::default();
        let operand = Transfer { from: &far, to: &near, sizes: &one.sizes, within: &within };
        pending.transfer_within(b, &self.ways.fetch, operand);
        near.view
    }

    /// A scalar body on elements of registers; `views` with the number of the argument each is.
    fn apply(
        &self,
        b: &mut Builder<'c>,
        unit: &str,
        LaneBody { body, lanes }: LaneBody<'c>,
        views: &[(usize, View<'c>)],
        output: View<'c>,
    ) {
        let reads: Vec<View<'c>> = views.iter().map(|(_, view)| view.clone()).collect();
        let applied = build::apply(b, unit, lanes, &reads, &[output]);
        let mut values = vec![None; body.args().len()];
        for ((number, _), arg) in views.iter().zip(applied.args()) {
            values[*number] = Some(arg);
        }
        let mut inside = b.into_block(applied);
        let results = write_body(&mut inside, body, &values, &[], None, &HashMap::new());
        build::yield_values(&mut inside, &results);
    }

    /// The sums and the box of a tensor where they begin or go.
    fn output_ends(
        &self,
        b: &mut Builder<'c>,
        access: &Access<'c>,
        sums: Val<'c>,
        at: &[Sum<'c>],
    ) -> (Boxed<'c>, Boxed<'c>, Within<'c>) {
        let held = self.block.held_output(self.nest.inputs.len());
        let near = Boxed { view: first(b, sums), strides: row_major(&held.sizes) };
        let strides = held.strides(self.strides(access));
        let far = Boxed { view: self.view(b, access, at), strides };
        let limits = [M, N]
            .into_iter()
            .filter_map(|axis| {
                let bound = self.left(b, axis, at)?;
                Some(Limit { bound, steps: held.along[axis].clone() })
            })
            .collect();
        let (run, side) = self.block.run(self.nest, access, [N, M]);
        let run = power_of_two_in(run, self.block.group[side]);
        (near, far, Within { limits, pads: false, run })
    }

    /// Elements between neighbours along m, n and k in a tensor.
    fn strides(&self, access: &Access<'c>) -> [i64; 3] {
        self.block.axes.map(|axis| access.stride(self.nest.axes.len(), axis))
    }

    fn view(&self, b: &mut Builder<'c>, access: &Access<'c>, at: &[Sum<'c>]) -> View<'c> {
        let indices = access.index.iter().map(|index| Sum::of(index, at).emit(b)).collect();
        View { memref: self.memrefs[&access.tensor], indices }
    }

    /// Points that are left along an axis from a place on, where a tile may pass the end.
    fn left(&self, b: &mut Builder<'c>, axis: usize, at: &[Sum<'c>]) -> Option<Val<'c>> {
        let own = self.block.axes[axis];
        let extent = self.nest.axes[own].extent;
        if extent.is_multiple_of(self.block.tile[axis]) {
            return None;
        }
        let end = Sum::number(extent as i64);
        // A group may begin behind the end: nothing is left for it then.
        let index = Type::index(self.context);
        let (end, begin) = (end.emit(b), at[own].emit(b));
        let begin = b.op("arith.minui", &[begin, end], &[index]).result(0);
        Some(b.op("arith.subi", &[end, begin], &[index]).result(0))
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

    /// One step of k: brings its tiles, and folds them in.
    fn step(
        &self,
        b: &mut Builder<'c>,
        at: &[Sum<'c>],
        group: &[Sum<'c>; 2],
        tiles: [Val<'c>; 2],
        sums: Val<'c>,
    ) {
        // The others may still read the tiles of the step before.
        self.barrier(b);
        for side in [M, N] {
            self.bring(b, side, at, tiles[side]);
        }
        self.barrier(b);
        let quantum = self.block.quanta()[K];
        unrolled(b, self.block.tile[K] / quantum, |b, step| {
            let parts = [M, N].map(|side| self.part(b, side, &group[side], &step, tiles[side]));
            self.fold(b, parts, sums);
        });
    }

    fn barrier(&self, b: &mut Builder<'c>) {
        build::barrier(b, Scope::Core);
    }

    /// All groups together: the tile of an input, zeros behind its end.
    fn bring(&self, b: &mut Builder<'c>, side: usize, at: &[Sum<'c>], tile: Val<'c>) {
        let (access, lying) = (self.input(side), self.lying(side));
        let (mut run, along) = self.block.run(self.nest, access, [side, K]);
        if self.block.axes[along] == lying.inner {
            run = power_of_two_in(run, lying.layout.pitch);
        }
        // Along what lies side by side in the tensor last, so that neighbours read it.
        let sides = [if along == K { side } else { K }, along];
        let (far, near) = (self.strides(access), self.block.apart(side, &lying));
        let of = |strides: [i64; 3]| sides.map(|side| strides[side]).to_vec();
        let from = Boxed { view: self.view(b, access, at), strides: of(far) };
        let to = Boxed { view: first(b, tile), strides: of(near) };
        let limits = (0..2)
            .filter_map(|place| {
                let steps = (0..2).map(|own| i64::from(own == place)).collect();
                Some(Limit { bound: self.left(b, sides[place], at)?, steps })
            })
            .collect();
        let sizes = sides.map(|side| self.block.tile[side]);
        let within = Within { limits, pads: true, run };
        let mut pending = Pending::default();
        let tile = Transfer { from: &from, to: &to, sizes: &sizes, within: &within };
        pending.transfer_within(b, &self.ways.stage, tile);
    }

    /// This group's part of an input, for one instruction along k.
    fn part(
        &self,
        b: &mut Builder<'c>,
        side: usize,
        group: &Sum<'c>,
        step: &Sum<'c>,
        tile: Val<'c>,
    ) -> Val<'c> {
        let (held, lying) = (self.block.held_input(side), self.lying(side));
        let elem = self.input(side).elem();
        let part = alloc(b, &held.shape, elem, self.ways.registers.name);
        let own = Sum::default().plus(group, self.block.group[side] as i64).emit(b);
        let k = Sum::default().plus(step, self.block.quanta()[K] as i64).emit(b);
        let indices = if lying.inner == self.block.axes[K] { vec![own, k] } else { vec![k, own] };
        let strides = held.strides(self.block.apart(side, &lying));
        let from = Boxed { view: View { memref: tile, indices }, strides };
        let to = Boxed { view: first(b, part), strides: row_major(&held.sizes) };
        let run = near_run(&self.block, side, lying.inner, ty::byte_size(elem).unwrap_or(1));
        let run = power_of_two_in(run, lying.layout.pitch);
        let within = Within { run, ..Within::default() };
        let mut pending = Pending::default();
        let moved = Transfer { from: &from, to: &to, sizes: &held.sizes, within: &within };
        pending.transfer_within(b, &self.ways.load, moved);
        part
    }

    /// The instruction on every pair of blocks.
    fn fold(&self, b: &mut Builder<'c>, parts: [Val<'c>; 2], sums: Val<'c>) {
        let [rows, columns] = self.block.counts();
        unrolled(b, rows, |b, row| {
            unrolled(b, columns, |b, column| {
                let mut views = vec![None; 3];
                let output = self.nest.inputs.len();
                let bound = [
                    (self.block.inputs[M], parts[M], vec![row.clone()]),
                    (self.block.inputs[N], parts[N], vec![column.clone()]),
                    (output, sums, vec![row.clone(), column]),
                ];
                for (bound, memref, place) in bound {
                    let mut view = first(b, memref);
                    for (index, place) in view.indices.iter_mut().zip(place) {
                        *index = place.emit(b);
                    }
                    views[self.block.operand(bound)] = Some(view);
                }
                let views: Vec<View<'c>> = views.into_iter().flatten().collect();
                build::invoke(b, self.block.instruction().name, &views, false);
            });
        });
    }
}
