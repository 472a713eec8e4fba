//! What lanes do to the sums of a block tile in the registers of a group: how they begin, and the epilogue.

use std::collections::HashMap;

use weft_dialects::device::build;
use weft_dialects::ir::{Block, Builder, Val};

use super::block::Blocks;
use super::body::{LaneBody, write_body};
use super::index::Sum;
use super::transfer::{Boxed, Pending, Transfer, Within, alloc, at_place, first};
use super::view::View;
use crate::nest::{Access, Epilogue};
use crate::tile::block::{Held, M, N};

impl<'c> Blocks<'_, 'c> {
    /// The epilogue on the sums of this group.
    pub(super) fn finish(&self, b: &mut Builder<'c>, [sums, stored]: [Val<'c>; 2], at: &[Sum<'c>]) {
        if let Some(Epilogue { inputs, body }) = &self.nest.epilogue {
            self.by_lanes(b, (inputs, *body), (Some(sums), stored), at);
        }
    }

    /// A body on the elements of this group, one operand of the instruction at a time: inputs are brought
    /// to registers in the order of the sums, which are the argument behind them if there are any, and what
    /// is made lies in the same order.
    pub(super) fn by_lanes(
        &self,
        b: &mut Builder<'c>,
        (inputs, body): (&[Access<'c>], Block<'c>),
        (sums, made): (Option<Val<'c>>, Val<'c>),
        at: &[Sum<'c>],
    ) {
        let unit = self.unit.expect("it was checked");
        let held = self.block.held_output(self.nest.inputs.len());
        let repeats = [M, N].map(|side| self.block.repeats(side));
        let one = held.one_operand(repeats.iter().map(Vec::len).sum());
        let lanes = one.shape.iter().product();
        self.each_operand(b, &mut |b, places| {
            let mut own = at.to_vec();
            for side in [M, N] {
                let along = places[side].iter().zip(&repeats[side]);
                let points = along.fold(Sum::default(), |sum, (place, (_, apart))| {
                    sum.plus(place, *apart as i64)
                });
                own = self.moved(b, &own, side, &points);
            }
            let args = body.args();
            let used = |number: usize| !args[number].uses().is_empty();
            let mut views = Vec::new();
            for (number, input) in inputs.iter().enumerate().filter(|(n, _)| used(*n)) {
                views.push((number, self.bring_for_lanes(b, input, &one, &own)));
            }
            let made = at_place(b, made, places.iter().flatten());
            let sums = sums.map(|memref| View { memref, ..made.clone() });
            if let Some(sums) = sums.filter(|_| used(inputs.len())) {
                views.push((inputs.len(), sums));
            }
            self.apply(b, unit, LaneBody { body, lanes }, &views, made);
        });
    }

    /// One operand's elements of an input, in registers.
    fn bring_for_lanes(
        &self,
        b: &mut Builder<'c>,
        input: &Access<'c>,
        one: &Held,
        at: &[Sum<'c>],
    ) -> View<'c> {
        let register = alloc(b, &one.shape, input.elem(), self.ways.registers.name);
        let sides = self.held_sides(one);
        let near = Boxed { view: first(b, register), strides: sides.near.clone() };
        let far = Boxed { view: self.view(b, input, at), strides: self.far(input, &sides) };
        let limits = self.limits(b, input, (&sides, [M, N]), at);
        let within = Within { limits, pads: true, run: 1, ..Within::default() };
        let mut pending = Pending::default();
        let operand = Transfer { from: &far, to: &near, sizes: &sides.sizes, within: &within };
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
}
