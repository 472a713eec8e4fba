//! A softmax between two products in one pass over the rows (`tile/one_pass.rs`): blocks whose groups have
//! whole rows, a piece of them at a time, in registers.
//!
//! ```text
//! queries near; m = lowest; l = 0; o = 0
//! for (pieces) {
//!   keys and values near, those of the next piece on their way
//!   s = start; fold queries and keys; epilogue
//!   n = max(m, s along the row)     lanes fold what they have, then lanes of a row exchange
//!   w = exp(m - n); l = w l; o = w o; m = n
//!   e = exp(s - n); l = l + e       each lane has its own part of l
//!   p = e as the factor             the same registers under other names
//!   fold p and values into o }
//! l along the row; o = o / l; epilogue; store
//! ```

use std::collections::HashMap;

use weft_dialects::device::{Machine, Move, Scope, build};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Block as Body, Builder, Mapping, Report, Type, Val, attr, ty};
use weft_dialects::tile::Compute;

use super::Here;
use super::block::Blocks;
use super::block_ahead::Ahead;
use super::block_fold::{Fold, Part};
use super::block_legal::{self, CheckedPair};
use super::body::write_body;
use super::index::{Sum, scf_for, scf_for_carrying, unrolled, unrolled_all};
use super::transfer::{Boxed, Pending, Transfer, Within, alloc, first, wait};
use super::view::View;
use crate::math::POWER;
use crate::nest::{Nest, copy_constants, row_major};
use crate::tile::block::{Held, K, M, N};
use crate::tile::one_pass::{OnePass, lowest_of};
use crate::tile::propagate::links;
use crate::tile::relabel;

/// Whether what some compute of a kernel makes stays in registers.
pub(super) fn is_one_pass(machine: Machine<'_>, members: &[(Compute<'_>, Nest<'_>)]) -> bool {
    let waits = |(_, nest): &(Compute<'_>, Nest<'_>)| {
        let empty = nest.outputs[0].argument().def()?;
        machine.memory(weft_dialects::tile::Empty::of(empty)?.memory)
    };
    members.iter().filter_map(waits).any(|memory| memory.is_registers())
}

/// Writes a kernel of a softmax between two products, whose tile begins at `starts`; gives the number of its
/// groups.
pub(super) fn write<'c>(
    here: &Here<'c>,
    b: &mut Builder<'c>,
    members: &[(Compute<'c>, Nest<'c>)],
    starts: &[Sum<'c>],
) -> Result<u64, Failed> {
    let Here { context, machine, kernel, .. } = *here;
    let nests: Vec<&Nest<'c>> = members.iter().map(|(_, nest)| nest).collect();
    let refuse = |what: &str, help: &str| {
        Report::new(kernel.location(), format!("@{}: {what}", kernel.symbol())).help(help);
        Failed
    };
    let one_pass = OnePass::of(&nests, &links(&nests)).map_err(|why| {
        refuse(why, "only a softmax between two products hands over in registers")
    })?;
    let own = |member: usize| (&members[member].0, &members[member].1);
    let (scores, values) = (own(one_pass.scores), own(one_pass.values));
    let CheckedPair { pair, ways, lying } =
        block_legal::check_pair(machine, kernel, [scores, values], &one_pass)?;
    let units = machine.lanes_units().into_iter();
    let unit = units.into_iter().find(|unit| unit.memory() == ways.registers.name);
    let unit = unit.filter(|unit| one_pass.reorders(&nests, unit));
    let (Some(unit), Some(keep)) = (unit, relabel(machine, ways.registers.name)) else {
        let help = "give its lane unit the reductions, and a strided move from the registers to themselves";
        return Err(refuse("lanes do not fold rows in registers", help));
    };
    let memrefs = [scores.1, values.1].map(|nest| here.memrefs_of(nest));
    let [first, last] = lying;
    let unit = unit.name;
    let both = [
        (scores.1, &memrefs[0], (pair.scores.clone(), first)),
        (values.1, &memrefs[1], (pair.values.clone(), last)),
    ];
    let [scores, values] = both.map(|(nest, memrefs, (block, lying))| {
        Blocks::of(context, nest, memrefs, (block, ways.clone(), lying), Some(unit))
    });
    let pass = Pass {
        scores,
        values,
        rows: pair.rows,
        nests: &nests,
        one_pass: &one_pass,
        unit,
        keep,
        scale: one_pass.scale(&nests),
    };
    pass.write(b, starts);
    Ok(pass.values.groups())
}

/// A kernel that is being written.
struct Pass<'p, 'c> {
    scores: Blocks<'p, 'c>,
    values: Blocks<'p, 'c>,
    /// The side of both products that is rows.
    rows: usize,
    nests: &'p [&'p Nest<'c>],
    one_pass: &'p OnePass,
    unit: &'c str,
    /// From registers to others of the same lanes.
    keep: Move<'c>,
    /// What rows' greatest elements are multiplied with before they are taken from scores that are, too.
    scale: Option<f64>,
}

/// What a group has in registers.
struct Registers<'c> {
    /// The first product's sums, and what becomes of them.
    sums: Val<'c>,
    stored: Val<'c>,
    /// The exponentials, where the second product takes them in another type.
    narrow: Val<'c>,
    /// The same, as its factor.
    factor: Val<'c>,
    /// The second product's sums.
    made: Val<'c>,
    rows: Rows<'c>,
}

/// Numbers of each row, as operands of the sums that have one value along it.
struct Rows<'c> {
    greatest: Val<'c>,
    before: Val<'c>,
    /// The greatest of a piece, in the lanes that found it.
    found: Val<'c>,
    weight: Val<'c>,
    total: Val<'c>,
    /// The greatest times the scale of exponents.
    scaled: Val<'c>,
}

/// The tiles near the groups.
struct Near<'c> {
    queries: Val<'c>,
    keys: Val<'c>,
    values: Val<'c>,
}

impl<'c> Pass<'_, 'c> {
    fn write(&self, b: &mut Builder<'c>, starts: &[Sum<'c>]) {
        let (values, rows) = (&self.values, self.rows);
        let own = self.own();
        let group = values.group(b);
        let begin = Sum::default().plus(&group[rows], values.block.group[rows] as i64);
        let first = self.first_of(starts);
        let [mine, first_own] =
            [values.moved(b, starts, rows, &begin), self.scores.moved(b, &first, rows, &begin)];
        let held = self.registers(b);
        values.start(b, held.made, &mine);
        let lowest = lowest_of(self.nests[self.one_pass.largest]).unwrap_or(0.0);
        // As low as it may be for its product with the scale to be a number; no score is.
        let begin = self.scale.map_or(lowest, |scale| lowest / (2.0 * scale.abs().max(1.0)));
        self.fill(b, held.rows.greatest, begin);
        if let Some(scale) = self.scale {
            self.fill(b, held.rows.scaled, begin * scale);
        }
        self.fill(b, held.rows.total, 0.0);
        let rooms = values.block.rooms();
        let near = Near {
            queries: self.scores.rooms_of(b, rows, 1),
            keys: self.scores.rooms_of(b, own, rooms),
            values: values.rooms_of(b, own, rooms),
        };
        self.scores.bring(
            b,
            (&self.scores.ways.stage, rows),
            &first,
            (near.queries, &Sum::number(0)),
        );
        let piece = self.scores.block.tile[own];
        let steps = self.steps();
        let at = |step: &Sum<'c>| self.at(starts, &first, step, piece);
        if let Some(way) = values.ways.ahead.as_ref().filter(|_| values.block.ahead) {
            self.by_engine(b, way, (starts, &first, &first_own), &held, &near, &group);
            self.finish(b, &held, &mine);
            return;
        }
        let put = values.ways.put.as_ref().filter(|_| values.block.stages > 1);
        let Some(put) = put else {
            scf_for(b, &Sum::number(0), &Sum::number(steps as i64), 1, |b, step| {
                let (zero, step) = (Sum::number(0), Sum::value(step));
                let [of_keys, of_values] = at(&step);
                values.barrier(b);
                self.scores.bring(b, (&values.ways.stage, own), &of_keys, (near.keys, &zero));
                values.bring(b, (&values.ways.stage, own), &of_values, (near.values, &zero));
                values.barrier(b);
                let own = self.place_of(&first_own, &step, piece);
                self.step(b, &held, &near, &group, (&own, &zero));
            });
            self.finish(b, &held, &mine);
            return;
        };
        let ahead = [self.scores.ahead(b, own), values.ahead(b, own)];
        self.fetch(b, &ahead, &at(&Sum::number(0)));
        self.put(b, put, &ahead, &near, &Sum::number(0));
        values.barrier(b);
        scf_for(b, &Sum::number(0), &Sum::number(steps as i64), 1, |b, step| {
            let step = Sum::value(step);
            let next = self.next(b, &step);
            self.fetch(b, &ahead, &at(&next));
            // Else the code generator moves these to where they are used.
            build::barrier(b, Scope::Thread);
            let rooms = [0, 1].map(|later| values.room_of(b, &step, later));
            let own = self.place_of(&first_own, &step, piece);
            self.step(b, &held, &near, &group, (&own, &rooms[0]));
            self.put(b, put, &ahead, &near, &rooms[1]);
            values.barrier(b);
        });
        self.finish(b, &held, &mine);
    }

    /// All pieces, which an engine brings while the one before is worked on.
    fn by_engine(
        &self,
        b: &mut Builder<'c>,
        way: &Move<'c>,
        (starts, first, mine): (&[Sum<'c>], &[Sum<'c>], &[Sum<'c>]),
        held: &Registers<'c>,
        near: &Near<'c>,
        group: &[Sum<'c>; 2],
    ) {
        let (own, piece) = (self.own(), self.values.block.tile[K]);
        let bring = |b: &mut Builder<'c>, step: &Sum<'c>, room: &Sum<'c>| {
            let [keys, values] = self.at(starts, first, step, piece);
            let mut tokens = self.scores.bring(b, (way, own), &keys, (near.keys, room));
            tokens.extend(self.values.bring(b, (way, own), &values, (near.values, room)));
            tokens
        };
        let zero = Sum::number(0);
        let begun = bring(b, &zero, &zero);
        let ends = [zero, Sum::number(self.steps() as i64)];
        let last = scf_for_carrying(b, &ends[0], &ends[1], 1, &begun, |b, step, begun| {
            let step = Sum::value(step);
            let rooms = [0, 1].map(|later| self.values.room_of(b, &step, later));
            // All groups' parts of this piece are there, and all have read the one before.
            wait(b, begun);
            self.values.barrier(b);
            let next = self.next(b, &step);
            let tokens = bring(b, &next, &rooms[1]);
            let at = self.place_of(mine, &step, piece);
            self.step(b, held, near, group, (&at, &rooms[0]));
            tokens
        });
        wait(b, &last);
    }

    /// How many pieces there are.
    fn steps(&self) -> u64 {
        self.scores.nest.axes[self.one_pass.along[0]].extent / self.values.block.tile[K]
    }

    /// The piece behind another; behind the last one it comes again, for a branch would cost every step.
    fn next(&self, b: &mut Builder<'c>, step: &Sum<'c>) -> Sum<'c> {
        let index = Type::index(b.context());
        let next = step.clone().plus(&Sum::number(1), 1).emit(b);
        let most = b.index(self.steps() as i64 - 1);
        Sum::value(b.op("arith.minui", &[next, most], &[index]).result(0))
    }

    /// The side of both products that is not rows.
    fn own(&self) -> usize {
        M + N - self.rows
    }

    /// Where the first product's tile begins.
    fn first_of(&self, starts: &[Sum<'c>]) -> Vec<Sum<'c>> {
        let mut first = vec![Sum::number(0); self.scores.nest.axes.len()];
        for &[own, read] in &self.one_pass.rows {
            first[own] = starts[read].clone();
        }
        first
    }

    /// Where the keys and the values of a piece begin.
    fn at(
        &self,
        starts: &[Sum<'c>],
        first: &[Sum<'c>],
        step: &Sum<'c>,
        piece: u64,
    ) -> [Vec<Sum<'c>>; 2] {
        let mut values = starts.to_vec();
        values[self.one_pass.along[1]] = Sum::default().plus(step, piece as i64);
        [self.place_of(first, step, piece), values]
    }

    /// The same for the first product alone, from some place on.
    fn place_of(&self, first: &[Sum<'c>], step: &Sum<'c>, piece: u64) -> Vec<Sum<'c>> {
        let mut at = first.to_vec();
        at[self.one_pass.along[0]] = Sum::default().plus(step, piece as i64);
        at
    }

    fn fetch(&self, b: &mut Builder<'c>, ahead: &[Ahead<'c>; 2], at: &[Vec<Sum<'c>>; 2]) {
        self.scores.fetch_one(b, &ahead[0], &at[0]);
        self.values.fetch_one(b, &ahead[1], &at[1]);
    }

    fn put(
        &self,
        b: &mut Builder<'c>,
        way: &Move<'c>,
        ahead: &[Ahead<'c>; 2],
        near: &Near<'c>,
        room: &Sum<'c>,
    ) {
        self.scores.put_one(b, way, &ahead[0], (near.keys, room));
        self.values.put_one(b, way, &ahead[1], (near.values, room));
    }

    fn registers(&self, b: &mut Builder<'c>) -> Registers<'c> {
        let (scores, values) = (&self.scores, &self.values);
        let memory = scores.ways.registers.name;
        let of_scores = scores.block.held_output(scores.nest.inputs.len());
        let sums = alloc(b, &of_scores.shape, scores.nest.sum_type(0), memory);
        let stored = scores.room_for_stored(b, sums);
        let elem = values.input(self.rows).elem();
        let exponential = self.nests[self.one_pass.shifted].outputs[0].elem();
        let narrow = match elem == exponential {
            true => sums,
            false => alloc(b, &of_scores.shape, elem, memory),
        };
        let factor = alloc(b, &self.factor_shape(), elem, memory);
        let of_values = values.block.held_output(values.nest.inputs.len());
        let made = alloc(b, &of_values.shape, values.nest.sum_type(0), memory);
        let mut row = || alloc(b, &self.row_shape(), exponential, memory);
        let rows = Rows {
            greatest: row(),
            before: row(),
            found: row(),
            weight: row(),
            total: row(),
            scaled: row(),
        };
        Registers { sums, stored, narrow, factor, made, rows }
    }

    /// Operands of the factor for every step of the instruction along a piece.
    fn factor_shape(&self) -> Vec<u64> {
        let mut shape = self.values.block.held_input(self.rows).shape;
        shape.insert(0, self.values.block.tile[K] / self.values.block.quanta()[K]);
        shape
    }

    /// An operand of the sums for each that a group has along its rows.
    fn row_shape(&self) -> Vec<u64> {
        let counts = self.scores.block.repeats(self.rows).into_iter().map(|(count, _)| count);
        counts.chain(self.operand_shape()).collect()
    }

    /// An operand of the sums.
    fn operand_shape(&self) -> Vec<u64> {
        let held = self.scores.block.held_output(self.scores.nest.inputs.len());
        let sides = [M, N].map(|side| self.scores.block.repeats(side).len());
        held.shape[sides[0] + sides[1]..].to_vec()
    }

    fn fill(&self, b: &mut Builder<'c>, memref: Val<'c>, number: f64) {
        let (view, shape) = (first(b, memref), ty::shape(memref.ty()).unwrap_or_default());
        let elem = ty::elem(memref.ty()).expect("it was allocated");
        let number = attr::of_float(b.context(), elem, number);
        Pending::default().fill(b, &self.scores.ways.fill, &view, &shape, number);
    }

    /// One piece, whose scores begin at a place, with keys and values in a room.
    fn step(
        &self,
        b: &mut Builder<'c>,
        held: &Registers<'c>,
        near: &Near<'c>,
        group: &[Sum<'c>; 2],
        (at, room): (&[Sum<'c>], &Sum<'c>),
    ) {
        let (scores, values, own) = (&self.scores, &self.values, self.own());
        let mut tiles = [near.queries; 2];
        tiles[own] = near.keys;
        scores.start(b, held.sums, at);
        let fold = Fold { group: group.clone(), tiles, sums: held.sums };
        scores.fold(b, &fold, room);
        scores.finish(b, [held.sums, held.stored], at);
        self.exponentials(b, held);
        self.relabel(b, held);
        let fold = Fold { group: group.clone(), tiles: [near.values; 2], sums: held.made };
        let quantum = values.block.quanta()[K];
        unrolled(b, values.block.tile[K] / quantum, |b, step| {
            let k = Sum::default().plus(&step, quantum as i64);
            let other = values.part(b, &fold, own, &k, room);
            let mut parts = [M, N].map(|_| Part { memref: other, step: None });
            parts[self.rows] = Part { memref: held.factor, step: Some(step.clone()) };
            values.invoke(b, &parts, held.made);
        });
    }

    /// The exponentials of a piece, and what they change of what was summed up.
    fn exponentials(&self, b: &mut Builder<'c>, held: &Registers<'c>) {
        let OnePass { largest, shifted, total, score, .. } = *self.one_pass;
        let [largest, shifted, total] = [largest, shifted, total].map(|member| self.nests[member]);
        let rows = &held.rows;
        let lowest = lowest_of(largest).unwrap_or(0.0);
        self.fill(b, rows.found, lowest);
        self.each_score(b, &mut |b, element, row| {
            let found = row(b, rows.found);
            let own = [element(b, held.stored), found.clone()];
            self.lanes(b, &own, found, &|b, args| plain(b, largest.body, args));
        });
        self.each_row(b, &mut |b, row| {
            let [greatest, before, found] =
                [rows.greatest, rows.before, rows.found].map(|own| row(b, own));
            let weight = row(b, rows.weight);
            let last = match self.scale {
                Some(_) => row(b, rows.scaled),
                None => greatest.clone(),
            };
            self.lanes(b, &[last.clone()], before.clone(), &|_, args| args[0]);
            self.along_rows(b, largest, found, greatest.clone());
            if let Some(scale) = self.scale {
                self.lanes(b, &[greatest], last.clone(), &|b, args| {
                    let scale = b.number(args[0].ty(), scale);
                    product(b, &[args[0], scale])
                });
            }
            self.lanes(b, &[before, last], weight.clone(), &|b, args| {
                if self.scale.is_some() {
                    let ty = [args[0].ty()];
                    let less = b.op("arith.subf", args, &ty).result(0);
                    return b.op(POWER, &[less], &ty).result(0);
                }
                let mut values = vec![None; shifted.body.args().len()];
                (values[score], values[1 - score]) = (Some(args[0]), Some(args[1]));
                wide(b, shifted.body, score, &values)
            });
            let total = row(b, rows.total);
            self.lanes(b, &[total.clone(), weight], total, &product);
        });
        self.each_score(b, &mut |b, element, row| {
            let greatest = if self.scale.is_some() { rows.scaled } else { rows.greatest };
            let (stored, greatest) = (element(b, held.stored), row(b, greatest));
            let exponential = element(b, held.sums);
            self.lanes(b, &[stored, greatest], exponential.clone(), &|b, args| {
                if let Some(scale) = self.scale {
                    return scaled_power(b, args, scale);
                }
                let mut values = vec![args[0]; 2];
                values[1 - score] = args[1];
                plain(b, shifted.body, &values)
            });
            let own = row(b, rows.total);
            self.lanes(b, &[exponential.clone(), own.clone()], own, &|b, args| {
                plain(b, total.body, args)
            });
            if held.narrow != held.sums {
                let narrow = element(b, held.narrow);
                let elem = ty::elem(held.narrow.ty()).expect("it was allocated");
                self.lanes(b, &[exponential], narrow, &|b, args| {
                    b.op("arith.truncf", &[args[0]], &[elem]).result(0)
                });
            }
        });
        self.each_value(b, &mut |b, element, row| {
            let (made, weight) = (element(b, held.made), row(b, rows.weight));
            self.lanes(b, &[made.clone(), weight], made, &product);
        });
    }

    /// The exponentials as a factor of the second product.
    fn relabel(&self, b: &mut Builder<'c>, held: &Registers<'c>) {
        let (scores, values) = (&self.scores.block, &self.values.block);
        let from = scores.held_output(self.scores.nest.inputs.len());
        let mut to = values.held_input(self.rows);
        // The steps along a piece come first.
        let steps = values.tile[K] / values.quanta()[K];
        to.sizes.insert(0, steps);
        for (side, along) in to.along.iter_mut().enumerate() {
            along.insert(0, if side == K { values.quanta()[K] as i64 } else { 0 });
        }
        let from = Runs::of(&from, [self.rows, self.own()]);
        let to = Runs::of(&to, [self.rows, K]);
        let sides: Vec<[u64; 3]> =
            (0..2).flat_map(|side| common(&from.0[side], &to.0[side])).collect();
        let sizes: Vec<u64> = sides.iter().map(|[size, ..]| *size).collect();
        let boxed = |b: &mut Builder<'c>, memref, end: usize| Boxed {
            view: first(b, memref),
            strides: sides.iter().map(|side| side[end] as i64).collect(),
        };
        let (from, to) = (boxed(b, held.narrow, 1), boxed(b, held.factor, 2));
        let moved = Transfer { from: &from, to: &to, sizes: &sizes, within: &Within::default() };
        Pending::default().transfer_within(b, &self.keep, moved);
    }

    /// What is summed up becomes the result.
    fn finish(&self, b: &mut Builder<'c>, held: &Registers<'c>, at: &[Sum<'c>]) {
        let total = self.nests[self.one_pass.total];
        let rows = &held.rows;
        // The weights are no longer needed.
        self.fill(b, rows.weight, 0.0);
        self.each_row(b, &mut |b, row| {
            let [own, whole] = [rows.total, rows.weight].map(|memref| row(b, memref));
            self.along_rows(b, total, own, whole.clone());
            if let Some(epilogue) = &total.epilogue {
                self.lanes(b, &[whole.clone()], whole, &|b, args| plain(b, epilogue.body, args));
            }
        });
        self.each_value(b, &mut |b, element, row| {
            let (made, whole) = (element(b, held.made), row(b, rows.weight));
            self.lanes(b, &[made.clone(), whole], made, &|b, args| {
                b.op(self.one_pass.by, args, &[args[0].ty()]).result(0)
            });
        });
        self.values.finish_and_store(b, held.made, at);
    }

    /// `body` for each operand of the scores; it is given where an operand is in registers of the sums'
    /// form, and in those of rows.
    fn each_score(&self, b: &mut Builder<'c>, body: &mut EachOperand<'_, 'c>) {
        self.each(b, &self.scores, body);
    }

    /// The same for the second product's sums.
    fn each_value(&self, b: &mut Builder<'c>, body: &mut EachOperand<'_, 'c>) {
        self.each(b, &self.values, body);
    }

    fn each(&self, b: &mut Builder<'c>, blocks: &Blocks<'_, 'c>, body: &mut EachOperand<'_, 'c>) {
        blocks.each_operand(b, &mut |b, places| {
            let all: Vec<Sum<'c>> = places.iter().flatten().cloned().collect();
            let row = places[self.rows].clone();
            body(b, &|b, memref| at_place(b, memref, &all), &|b, memref| at_place(b, memref, &row));
        });
    }

    /// `body` for each operand that a group has along its rows.
    fn each_row(
        &self,
        b: &mut Builder<'c>,
        body: &mut dyn FnMut(&mut Builder<'c>, &dyn Fn(&mut Builder<'c>, Val<'c>) -> View<'c>),
    ) {
        let counts: Vec<u64> =
            self.scores.block.repeats(self.rows).into_iter().map(|(count, _)| count).collect();
        unrolled_all(b, &counts, &mut |b, place| {
            body(b, &|b, memref| at_place(b, memref, place));
        });
    }

    /// What lanes do to operands of the sums' form.
    fn lanes(
        &self,
        b: &mut Builder<'c>,
        reads: &[View<'c>],
        made: View<'c>,
        body: &dyn Fn(&mut Builder<'c>, &[Val<'c>]) -> Val<'c>,
    ) {
        let elements = self.operand_shape().iter().product();
        let applied = build::apply(b, self.unit, elements, reads, &[made]);
        let mut inside = b.into_block(applied);
        let value = body(&mut inside, &applied.args());
        build::yield_values(&mut inside, &[value]);
    }

    /// Folds an operand along its rows, together with what the other one has.
    fn along_rows(&self, b: &mut Builder<'c>, fold: &Nest<'c>, from: View<'c>, to: View<'c>) {
        let fold = crate::tile::combine(fold).expect("it was checked").op.name();
        let elem = ty::elem(to.memref.ty()).expect("it was allocated");
        let shape = self.operand_shape();
        let along = self.scores.block.sum_dim(self.own()).expect("the instruction has the side");
        let elements = shape.iter().product();
        let block = build::combine_along(b, self.unit, (elements, along), from, to);
        let mut inside = b.into_block(block);
        let value = inside.op(fold, &block.args(), &[elem]).result(0);
        build::yield_values(&mut inside, &[value]);
    }
}

/// What is done for an operand, given where it is in registers, and its rows in others.
type EachOperand<'f, 'c> = dyn FnMut(
        &mut Builder<'c>,
        &dyn Fn(&mut Builder<'c>, Val<'c>) -> View<'c>,
        &dyn Fn(&mut Builder<'c>, Val<'c>) -> View<'c>,
    ) + 'f;

/// The view of an operand in registers.
fn at_place<'c>(b: &mut Builder<'c>, memref: Val<'c>, place: &[Sum<'c>]) -> View<'c> {
    let mut view = first(b, memref);
    for (index, place) in view.indices.iter_mut().zip(place) {
        *index = place.emit(b);
    }
    view
}

/// A scalar body on its first arguments.
fn plain<'c>(b: &mut Builder<'c>, body: Body<'c>, args: &[Val<'c>]) -> Val<'c> {
    let mut values: Vec<Option<Val<'c>>> = args.iter().copied().map(Some).collect();
    values.resize(body.args().len(), None);
    write_body(b, body, &values, &[], None, &HashMap::new())[0]
}

/// The same on an argument that is widened already, where the body begins with that.
fn wide<'c>(
    b: &mut Builder<'c>,
    body: Body<'c>,
    arg: usize,
    values: &[Option<Val<'c>>],
) -> Val<'c> {
    let mut map = Mapping::default();
    for (old, new) in body.args().into_iter().zip(values) {
        if let Some(new) = new {
            map.set(old, *new);
        }
    }
    copy_constants(b, body, &mut map);
    for op in body.ops() {
        if op.is("linalg.yield") {
            return map.get(op.operand(0));
        }
        match values[arg].filter(|_| op.is("arith.extf") && op.operand(0) == body.arg(arg)) {
            Some(value) => map.set(op.result(0), value),
            None => {
                b.clone_op(op, &mut map);
            }
        }
    }
    unreachable!("a body yields")
}

/// `2^(c x - m)`, rounded once before the power.
fn scaled_power<'c>(b: &mut Builder<'c>, args: &[Val<'c>], scale: f64) -> Val<'c> {
    let ty = [args[1].ty()];
    let x = match args[0].ty() == ty[0] {
        true => args[0],
        false => b.op("arith.extf", &[args[0]], &ty).result(0),
    };
    let scale = b.number(ty[0], scale);
    let less = b.op("arith.negf", &[args[1]], &ty).result(0);
    let exponent = b.op("math.fma", &[x, scale, less], &ty).result(0);
    b.op(POWER, &[exponent], &ty).result(0)
}

fn product<'c>(b: &mut Builder<'c>, args: &[Val<'c>]) -> Val<'c> {
    b.op("arith.mulf", args, &[args[0].ty()]).result(0)
}

/// For both sides of what is held its parts: points, points between them, elements between them.
struct Runs([Vec<[u64; 3]>; 2]);

impl Runs {
    fn of(held: &Held, sides: [usize; 2]) -> Self {
        let near = row_major(&held.sizes);
        Self(sides.map(|side| {
            let own = (0..held.sizes.len()).filter(|&own| held.along[side][own] != 0);
            own.map(|own| [held.sizes[own], held.along[side][own] as u64, near[own] as u64])
                .collect()
        }))
    }
}

/// Parts of a side that are parts on both ends: points, elements between them here and there.
fn common(from: &[[u64; 3]], to: &[[u64; 3]]) -> Vec<[u64; 3]> {
    let ends = |own: &[[u64; 3]]| -> Vec<u64> {
        own.iter().flat_map(|[size, step, _]| [*step, size * step]).collect()
    };
    let mut cuts = [ends(from), ends(to)].concat();
    cuts.sort_unstable();
    cuts.dedup();
    let apart = |own: &[[u64; 3]], begin: u64, end: u64| {
        let part = own.iter().find(|[size, step, _]| *step <= begin && end <= size * step);
        part.map_or(0, |[_, step, near]| begin / step * near)
    };
    let parts = cuts.windows(2).map(|cut| {
        let (begin, end) = (cut[0], cut[1]);
        [end / begin, apart(from, begin, end), apart(to, begin, end)]
    });
    let mut parts: Vec<_> = parts.filter(|[size, ..]| *size > 1).collect();
    parts.reverse();
    parts
}
