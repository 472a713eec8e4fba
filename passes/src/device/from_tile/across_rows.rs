//! Lanes of the registers of several rows, combined for all rows at once.
//!
//! ```text
//! y[i] = Σ lanes of a[i]      turn the square a, then add its lines: y = a[., 0] + a[., 1] + ...
//! ```
//!
//! Turned, lines are what rows were lanes of, so one operation on registers serves all rows and
//! the results lie side by side. Only where the machine moves lanes between registers.

use weft_dialects::device::build;
use weft_dialects::ir::{Builder, Type, Val};

use super::body::LaneBody;
use super::index::Sum;
use super::register_tile::{At, RegisterTile, Vector};
use super::view::{View, copy_from, copy_to};
use crate::nest::{Access, Epilogue, Start};

impl<'p, 'c> RegisterTile<'p, 'c> {
    /// The row axis whose registers' lanes are combined together.
    fn rows_at_once(&self) -> Option<usize> {
        self.plan.schedule.combine_rows.filter(|axis| self.rows == [*axis])
    }

    /// Combines the lanes of every row's registers and stores the results; whether that was done.
    pub fn combine_rows(
        &self,
        b: &mut Builder<'c>,
        accumulator: Val<'c>,
        fold: &str,
        elem: Type<'c>,
    ) -> bool {
        let Some((axis, gather)) = self.rows_at_once().zip(self.plan.gather) else { return false };
        let (lanes, rows) = (self.plan.lanes, self.sizes[axis]);
        for row in 0..rows {
            self.fold_vectors(b, accumulator, (fold, elem), &[Sum::number(row as i64)]);
        }
        let mut lines: Vec<View<'c>> = (0..lanes)
            .map(|lane| {
                let line = self.whole_register(b, elem);
                let indices = [0, 0, lane as i64].map(|index| b.index(index)).to_vec();
                let source = View { memref: accumulator, indices };
                copy_from(b, gather, &source, &line, rows, Some((0, 1)));
                line
            })
            .collect();
        while lines.len() > 1 {
            let upper = lines.split_off(lines.len() / 2);
            for (line, other) in lines.iter().zip(&upper) {
                self.fold_registers(b, fold, elem, [line, other]);
            }
        }
        let mut result = lines.remove(0);
        if let Start::From { body, .. } = &self.plan.nest.starts[0] {
            let start = self.whole_register(b, elem);
            let body = LaneBody { body: *body, lanes };
            self.apply(b, body, &[], std::slice::from_ref(&start), &self.at);
            self.fold_registers(b, fold, elem, [&result, &start]);
        }
        if let Some(Epilogue { inputs, body }) = &self.plan.nest.epilogue {
            let mut views: Vec<_> = inputs
                .iter()
                .map(|input| {
                    let (source, aside) = self.beside_rows(b, input, axis);
                    if !input.uses(axis) {
                        return source;
                    }
                    let register = self.whole_register(b, input.elem());
                    copy_from(b, self.plan.load_of(input), &source, &register, rows, aside);
                    register
                })
                .collect();
            views.push(result.clone());
            if self.plan.nest.casts_sums() {
                result = self.whole_register(b, self.plan.nest.outputs[0].elem());
            }
            let body = self.lane_body(*body, rows);
            self.apply(b, body, &views, std::slice::from_ref(&result), &self.at);
        }
        let output = &self.plan.nest.outputs[0];
        let (target, aside) = self.beside_rows(b, output, axis);
        copy_to(b, self.plan.plain_store_of(output), &result, &target, rows, aside);
        true
    }

    /// First element of an access, and the dimension and distance of its rows, unless they are
    /// neighbours.
    fn beside_rows(
        &self,
        b: &mut Builder<'c>,
        access: &Access<'c>,
        axis: usize,
    ) -> (View<'c>, Option<(usize, i64)>) {
        let view = View { memref: self.memref(access), indices: self.indices(b, access, &self.at) };
        let dim = access.index.iter().position(|index| index.coefficients[axis] != 0);
        let step = dim.map(|dim| (dim, access.index[dim].coefficients[axis]));
        (view, step.filter(|&(dim, step)| dim + 1 != access.index.len() || step != 1))
    }

    fn whole_register(&self, b: &mut Builder<'c>, elem: Type<'c>) -> View<'c> {
        let memref = self.alloc(b, &[self.plan.lanes], elem);
        View { memref, indices: vec![b.index(0)] }
    }

    /// Folds all registers along the lanes of some rows into the first, which is returned.
    pub(super) fn fold_vectors(
        &self,
        b: &mut Builder<'c>,
        accumulator: Val<'c>,
        (fold, elem): (&str, Type<'c>),
        rows: &[Sum<'c>],
    ) -> View<'c> {
        let register = |b: &mut Builder<'c>, number: Sum<'c>| {
            let vector = &Vector::whole(number, self.plan.lanes);
            self.register(b, accumulator, At { rows, vector })
        };
        let first = register(b, Sum::number(0));
        // Halves first, so that few wait for each other.
        let mut count = self.vectors;
        while count > 1 {
            let half = count.div_ceil(2);
            for number in half..count {
                let other = register(b, Sum::number(number as i64));
                let own = register(b, Sum::number((number - half) as i64));
                self.fold_registers(b, fold, elem, [&own, &other]);
            }
            count = half;
        }
        first
    }

    /// Folds the second register into the first, lane by lane.
    fn fold_registers(
        &self,
        b: &mut Builder<'c>,
        fold: &str,
        elem: Type<'c>,
        registers: [&View<'c>; 2],
    ) {
        let reads = registers.map(View::clone);
        let target = std::slice::from_ref(registers[0]);
        let block = build::apply(b, self.plan.unit, self.plan.lanes, &reads, target);
        let mut inside = b.into_block(block);
        let value = inside.op(fold, &block.args(), &[elem]).result(0);
        build::yield_values(&mut inside, &[value]);
    }
}
