//! The epilogue of a block tile, on the sums of a group in its registers.

use std::collections::HashMap;

use weft_dialects::device::{Limit, build};
use weft_dialects::ir::{Builder, Val};

use super::block::Blocks;
use super::body::{LaneBody, write_body};
use super::index::Sum;
use super::transfer::{Boxed, Pending, Transfer, Within, alloc, first};
use super::view::View;
use crate::nest::{Access, Epilogue, row_major};
use crate::tile::block::{Held, M, N};

impl<'c> Blocks<'_, 'c> {
    /// The epilogue on the sums of this group, one operand of the instruction at a time: inputs are
    /// brought to registers in the order of the sums, and what is stored lies in the same order.
    pub(super) fn finish(&self, b: &mut Builder<'c>, [sums, stored]: [Val<'c>; 2], at: &[Sum<'c>]) {
        let (Some(Epilogue { inputs, body }), Some(unit)) = (&self.nest.epilogue, self.unit) else {
            return;
        };
        let held = self.block.held_output(self.nest.inputs.len());
        let repeats = [M, N].map(|side| self.block.repeats(side));
        let one = held.one_operand(repeats.iter().map(Vec::len).sum());
        let lanes = one.shape.iter().product();
        self.each_operand(b, &mut |b, places| {
            let mut own = at.to_vec();
            for side in [M, N] {
                for (place, (_, apart)) in places[side].iter().zip(&repeats[side]) {
                    let begin = &mut own[self.block.axes[side]];
                    *begin = begin.clone().plus(place, *apart as i64);
                }
            }
            let args = body.args();
            let used = |number: usize| !args[number].uses().is_empty();
            let mut views = Vec::new();
            for (number, input) in inputs.iter().enumerate().filter(|(n, _)| used(*n)) {
                views.push((number, self.bring_for_epilogue(b, input, &one, &own)));
            }
            let mut indices = first(b, sums).indices;
            for (index, place) in indices.iter_mut().zip(places.iter().flatten()) {
                *index = place.emit(b);
            }
            let [sums, stored] =
                [sums, stored].map(|memref| View { memref, indices: indices.clone() });
            if used(inputs.len()) {
                views.push((inputs.len(), sums));
            }
            self.apply(b, unit, LaneBody { body: *body, lanes }, &views, stored);
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
        let apart = self.strides(input);
        let far = Boxed { view: self.view(b, input, at), strides: one.strides(apart) };
        // Where it does not move along an axis what is behind that one's end is there, too.
        let moves = [M, N].into_iter().filter(|axis| apart[*axis] != 0);
        let limits = moves.filter_map(|axis| {
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
}
