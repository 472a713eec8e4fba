//! What lanes do to the rows of a softmax in one pass: in registers, on operands of the products' sums.
//!
//! A number of a row is an operand of the sums that has one value along it, so lanes find it where they have
//! the row's elements.

use std::collections::HashMap;

use weft_dialects::device::build;
use weft_dialects::ir::{Block as Body, Builder, Type, Val, attr, ty};

use super::block::Blocks;
use super::body::{begin_body, write_body};
use super::index::{Sum, unrolled_all};
use super::one_pass::Pass;
use super::transfer::{Pending, alloc, at_place, first};
use super::view::View;
use crate::math::POWER;
use crate::nest::Nest;
use crate::tile::block::{K, M, N};
use crate::tile::one_pass::{Exponent, OnePass, lowest_of};
use crate::tile::row_mask::Asked;

/// `arith.cmpi` by this predicate is less, with signs.
const LESS: i64 = 2;

/// What a group has in registers.
pub(super) struct Registers<'c> {
    /// The first product's sums, and what becomes of them.
    pub sums: Val<'c>,
    pub stored: Val<'c>,
    /// The exponentials, where the second product takes them in another type.
    pub narrow: Val<'c>,
    /// The same, as its factor.
    pub factor: Val<'c>,
    /// The second product's sums.
    pub made: Val<'c>,
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

impl<'c> Pass<'_, 'c> {
    /// The rows before the first piece.
    pub(super) fn begin_rows(&self, b: &mut Builder<'c>, held: &Registers<'c>) {
        let lowest = lowest_of(self.nests[self.one_pass.largest]);
        let apart = self.scale_apart();
        // As low as it may be for its product with the scale to be a number; no score is.
        let begin = apart.map_or(lowest, |scale| lowest / (2.0 * scale.abs().max(1.0)));
        self.fill(b, held.rows.greatest, begin);
        if let Some(scale) = apart {
            self.fill(b, held.rows.scaled, begin * scale);
        }
        self.fill(b, held.rows.total, 0.0);
    }

    /// Registers of a group.
    pub(super) fn registers(&self, b: &mut Builder<'c>) -> Registers<'c> {
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

    /// Scores behind the end of rows, in a piece that begins at a place, count for nothing.
    pub(super) fn mask_end(
        &self,
        b: &mut Builder<'c>,
        held: &Registers<'c>,
        at: &Sum<'c>,
        end: u64,
    ) {
        let (scores, own) = (&self.scores, self.own());
        let along = scores.block.sum_dim(own).expect("the instruction has the side");
        let repeats = scores.block.repeats(own);
        let bit = ty::int(b.context(), 1);
        scores.each_operand(b, &mut |b, places| {
            let counted = places[own].iter().zip(&repeats);
            let begin =
                counted.fold(at.clone(), |sum, (place, (_, apart))| sum.plus(place, *apart as i64));
            let left = Sum::number(end as i64).plus(&begin, -1).emit(b);
            let stored = at_place(b, held.stored, places.iter().flatten());
            self.lanes(b, std::slice::from_ref(&stored), stored.clone(), &|b, args| {
                let place = build::lane_along(b, along);
                let less = [("predicate", attr::of_int(b.context(), LESS))];
                let inside = b.op_with("arith.cmpi", &[place, left], &[bit], &less, 0).result(0);
                let masked = b.number(args[0].ty(), f64::NEG_INFINITY);
                let operands = [inside, args[0], masked];
                b.op("arith.select", &operands, &[args[0].ty()]).result(0)
            });
        });
    }

    /// What becomes of scores by their places, in a piece whose rows and keys begin at `at`.
    pub(super) fn mask_places(&self, b: &mut Builder<'c>, held: &Registers<'c>, at: &[Sum<'c>]) {
        let Some(mask) = &self.one_pass.mask else { return };
        let (scores, sides) = (&self.scores, [self.rows, self.own()]);
        let body = self.nests[mask.member].body;
        let index = [Type::index(b.context())];
        let rows = scores.nest.axes[scores.block.axes[self.rows]].extent;
        scores.each_operand(b, &mut |b, places| {
            let begins = sides.map(|side| {
                let own = at[scores.block.axes[side]].clone();
                let counted = places[side].iter().zip(scores.block.repeats(side));
                let begin =
                    counted.fold(own, |sum, (place, (_, apart))| sum.plus(place, apart as i64));
                begin.emit(b)
            });
            let stored = at_place(b, held.stored, places.iter().flatten());
            self.lanes(b, std::slice::from_ref(&stored), stored.clone(), &|b, args| {
                let [row, key] = std::array::from_fn(|own| {
                    let along =
                        scores.block.sum_dim(sides[own]).expect("the instruction has the side");
                    let place = build::lane_along(b, along);
                    b.op("arith.addi", &[place, begins[own]], &index).result(0)
                });
                let asked = mask.asked.iter().map(|asked| match (*asked)? {
                    Asked::Key => Some(key),
                    Asked::Row(extent) if extent == rows => Some(row),
                    Asked::Row(extent) => {
                        let extent = b.index(extent as i64);
                        Some(b.op("arith.remui", &[row, extent], &index).result(0))
                    }
                    Asked::Single => Some(b.index(0)),
                });
                let numbers: Vec<_> = asked.collect();
                write_body(b, body, &[Some(args[0]), None], &numbers, None, &HashMap::new())[0]
            });
        });
    }

    /// The exponentials of a piece, and what they change of what was summed up.
    pub(super) fn exponentials(&self, b: &mut Builder<'c>, held: &Registers<'c>) {
        let OnePass { shifted, total, score, .. } = *self.one_pass;
        let [shifted, total] = [shifted, total].map(|member| self.nests[member]);
        let rows = &held.rows;
        self.each_row(b, &mut |b, row| {
            let [last, before] = [self.last_greatest(rows), rows.before].map(|own| row(b, own));
            self.lanes(b, std::slice::from_ref(&last), before, &|_, args| args[0]);
        });
        self.find_greatest(b, held);
        self.each_row(b, &mut |b, row| {
            let [greatest, before] = [rows.greatest, rows.before].map(|own| row(b, own));
            let (last, weight) = (row(b, self.last_greatest(rows)), row(b, rows.weight));
            if let Some(scale) = self.scale_apart() {
                self.lanes(b, &[greatest], last.clone(), &|b, args| {
                    let scale = b.number(args[0].ty(), scale);
                    product(b, &[args[0], scale])
                });
            }
            self.lanes(b, &[before, last], weight.clone(), &|b, args| {
                if let Some(exponent) = self.exponent {
                    // What is taken apart is multiplied already.
                    return power_of(b, args, if exponent.apart { 1.0 } else { exponent.scale });
                }
                let mut values = vec![None; shifted.body.args().len()];
                (values[score], values[1 - score]) = (Some(args[0]), Some(args[1]));
                wide(b, shifted.body, score, &values)
            });
            let total = row(b, rows.total);
            self.lanes(b, &[total.clone(), weight], total, &product);
        });
        self.each_score(b, &mut |b, element, row| {
            let (stored, greatest) = (element(b, held.stored), row(b, self.last_greatest(rows)));
            let exponential = element(b, held.sums);
            self.lanes(b, &[stored, greatest], exponential.clone(), &|b, args| {
                match self.exponent {
                    Some(Exponent { scale, apart: true, .. }) => {
                        return scaled_power(b, args, scale);
                    }
                    Some(Exponent { scale, .. }) => return power_of(b, args, scale),
                    None => {}
                }
                let mut values = vec![args[0]; 2];
                values[1 - score] = args[1];
                plain(b, shifted.body, &values)
            });
            // Lanes have parts of the sum until the end.
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

    /// The greatest elements of rows so far, as they are taken from scores.
    fn last_greatest(&self, rows: &Rows<'c>) -> Val<'c> {
        if self.scale_apart().is_some() { rows.scaled } else { rows.greatest }
    }

    /// What greatest elements are multiplied with before they are taken from scores that are, too.
    fn scale_apart(&self) -> Option<f64> {
        self.exponent.filter(|own| own.apart).map(|own| own.scale)
    }

    /// The greatest elements of rows with those of a piece.
    fn find_greatest(&self, b: &mut Builder<'c>, held: &Registers<'c>) {
        let (largest, rows) = (self.nests[self.one_pass.largest], &held.rows);
        if self.folds_operands {
            let elem = ty::elem(rows.greatest.ty()).expect("it was allocated");
            self.each_score(b, &mut |b, element, row| {
                let (mut score, greatest) = (element(b, held.stored), row(b, rows.greatest));
                if held.stored != held.sums {
                    let wide = element(b, held.sums);
                    self.lanes(b, &[score], wide.clone(), &|b, args| {
                        b.op("arith.extf", &[args[0]], &[elem]).result(0)
                    });
                    score = wide;
                }
                self.along_rows(b, largest, score, greatest);
            });
            return;
        }
        self.fill(b, rows.found, lowest_of(largest));
        self.each_score(b, &mut |b, element, row| {
            let found = row(b, rows.found);
            let own = [element(b, held.stored), found.clone()];
            self.lanes(b, &own, found, &|b, args| plain(b, largest.body, args));
        });
        self.each_row(b, &mut |b, row| {
            let [found, greatest] = [rows.found, rows.greatest].map(|own| row(b, own));
            self.along_rows(b, largest, found, greatest);
        });
    }

    /// What is summed up becomes the result.
    pub(super) fn finish(&self, b: &mut Builder<'c>, held: &Registers<'c>, at: &[Sum<'c>]) {
        let total = self.nests[self.one_pass.total];
        let rows = &held.rows;
        // The weights are no longer needed.
        self.fill(b, rows.weight, 0.0);
        self.each_row(b, &mut |b, row| {
            let [own, whole] = [rows.total, rows.weight].map(|memref| row(b, memref));
            self.along_rows(b, total, own, whole.clone());
            if let Some(epilogue) = &total.epilogue {
                let own = std::slice::from_ref(&whole);
                self.lanes(b, own, whole.clone(), &|b, args| plain(b, epilogue.body, args));
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
            let element =
                |b: &mut Builder<'c>, memref| at_place(b, memref, places.iter().flatten());
            let row = |b: &mut Builder<'c>, memref| at_place(b, memref, &places[self.rows]);
            body(b, &element, &row);
        });
    }

    /// `body` for each operand that a group has along its rows.
    fn each_row(
        &self,
        b: &mut Builder<'c>,
        body: &mut dyn FnMut(&mut Builder<'c>, &Where<'_, 'c>),
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

/// Where an operand is in some registers.
type Where<'f, 'c> = dyn Fn(&mut Builder<'c>, Val<'c>) -> View<'c> + 'f;

/// What is done for an operand, given where it is in registers, and its rows in others.
type EachOperand<'f, 'c> = dyn FnMut(&mut Builder<'c>, &Where<'_, 'c>, &Where<'_, 'c>) + 'f;

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
    let mut map = begin_body(b, body, values);
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
    let (x, scale) = (as_wide(b, args[0], ty[0]), b.number(ty[0], scale));
    let less = b.op("arith.negf", &[args[1]], &ty).result(0);
    let exponent = b.op("math.fma", &[x, scale, less], &ty).result(0);
    b.op(POWER, &[exponent], &ty).result(0)
}

/// `2^(c (x - m))`.
fn power_of<'c>(b: &mut Builder<'c>, args: &[Val<'c>], scale: f64) -> Val<'c> {
    let ty = [args[1].ty()];
    let x = as_wide(b, args[0], ty[0]);
    let mut exponent = b.op("arith.subf", &[x, args[1]], &ty).result(0);
    if scale != 1.0 {
        let scale = b.number(ty[0], scale);
        exponent = product(b, &[exponent, scale]);
    }
    b.op(POWER, &[exponent], &ty).result(0)
}

fn as_wide<'c>(b: &mut Builder<'c>, value: Val<'c>, ty: Type<'c>) -> Val<'c> {
    if value.ty() == ty { value } else { b.op("arith.extf", &[value], &[ty]).result(0) }
}

fn product<'c>(b: &mut Builder<'c>, args: &[Val<'c>]) -> Val<'c> {
    b.op("arith.mulf", args, &[args[0].ty()]).result(0)
}
