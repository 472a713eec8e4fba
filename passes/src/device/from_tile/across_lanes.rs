//! A reduction along the lanes: every lane folds apart, and what they have is combined at
//! the end.

use weft_dialects::device::build;
use weft_dialects::ir::{Builder, Type, Val};

use super::body::LaneBody;
use super::index::{Sum, scf_for, unrolled_all};
use super::lengths;
use super::register_tile::RegisterTile;
use super::tiles::Points;
use super::view::{View, copy_from, copy_to};
use crate::nest::{Access, Epilogue, Start};
use crate::tile::{Identity, combine, identity};

impl<'p, 'c> RegisterTile<'p, 'c> {
    /// A reduction along the lanes: partial results in every lane, combined at the
    /// end; what does not fill a register is folded one by one.
    pub fn fold_across_lanes(&self, b: &mut Builder<'c>, accumulators: &[Val<'c>]) {
        let plan = self.plan;
        let axis = plan.lanes_axis.expect("lanes reduce");
        let fold = combine(&plan.nest).expect("the policy lets only folds reduce along lanes").op;
        let [accumulator] = accumulators[..] else { unreachable!("a fold has one output") };
        let elem = plan.nest.sum_type(0);
        let neutral = identity(fold.name(), elem).expect("the fold has a neutral element");
        self.each_register(b, &mut |b, at| {
            let register = self.register(b, accumulator, at);
            let block = build::apply(b, plan.unit, plan.lanes, &[], &[register]);
            let mut inside = b.into_block(block);
            let value = match neutral {
                Identity::Float(value) => inside.number(elem, value),
                Identity::Int(value) => inside.integer(elem, value),
            };
            build::yield_values(&mut inside, &[value]);
        });
        let others: Vec<usize> = self.reductions().into_iter().filter(|&r| r != axis).collect();
        let extent = lengths::end(b, &plan.nest.axes[axis]);
        let width = self.sizes[axis];
        let registers = lengths::whole(b, &extent, plan.lanes);
        let wide = lengths::whole(b, &extent, width);
        self.reduce(b, &others, &self.at, &mut |b, place| {
            let mut place = place.to_vec();
            scf_for(b, &Sum::number(0), &wide, width as i64, |b, iv| {
                place[axis] = Sum::value(iv);
                self.step(b, &place, accumulators);
            });
            // Whole registers that are left, into the first accumulator.
            let one = self.narrow(axis, plan.lanes);
            scf_for(b, &wide, &registers, plan.lanes as i64, |b, iv| {
                place[axis] = Sum::value(iv);
                one.step(b, &place, accumulators);
            });
        });
        if self.combine_rows(b, accumulator, fold.name(), elem) {
            return;
        }
        let scalar = self.combine_lanes(b, accumulator, fold.name(), elem);
        let tail = self.narrow(axis, 1);
        if registers != extent {
            self.reduce(b, &others, &self.at, &mut |b, place| {
                let mut place = place.to_vec();
                scf_for(b, &registers, &extent, 1, |b, iv| {
                    place[axis] = Sum::value(iv);
                    tail.fold_points(b, &place, scalar);
                });
            });
        }
        tail.each_row(b, &mut |b, rows| {
            let point = tail.row_point(b, &tail.at, rows);
            let mut source = tail.scalar_view(b, scalar, rows);
            let output = &plan.nest.outputs[0];
            if let Some(Epilogue { inputs, body }) = &plan.nest.epilogue {
                let mut views = self.elements(b, inputs, &point);
                views.push(source.clone());
                if plan.nest.casts_sums() {
                    let memref = self.alloc(b, &[1], output.elem());
                    source = View { memref, indices: vec![b.index(0)] };
                }
                let body = LaneBody { body: *body, lanes: 1 };
                self.apply(b, body, &views, std::slice::from_ref(&source), &point);
            }
            let target =
                View { memref: self.memref(output), indices: self.indices(b, output, &point) };
            copy_to(b, plan.plain_store_of(output), &source, &target, 1, None);
        });
    }

    /// The same tile with another size along one axis.
    fn narrow(&self, axis: usize, size: u64) -> RegisterTile<'p, 'c> {
        let mut sizes = self.sizes.clone();
        sizes[axis] = size;
        RegisterTile::new(self.plan, Points { at: &self.at, sizes: &sizes, ends: &self.ends })
    }

    fn each_row(&self, b: &mut Builder<'c>, body: &mut dyn FnMut(&mut Builder<'c>, &[Sum<'c>])) {
        let sizes: Vec<u64> = self.rows.iter().map(|&axis| self.sizes[axis]).collect();
        unrolled_all(b, &sizes, body);
    }

    fn row_point(&self, b: &mut Builder<'c>, place: &[Sum<'c>], rows: &[Sum<'c>]) -> Vec<Sum<'c>> {
        let mut point = place.to_vec();
        for (axis, row) in self.rows.iter().zip(rows) {
            point[*axis] = self.row(b, *axis, &point[*axis], row);
        }
        point
    }

    fn scalar_view(&self, b: &mut Builder<'c>, memref: Val<'c>, rows: &[Sum<'c>]) -> View<'c> {
        let mut indices: Vec<_> = rows.iter().map(|row| row.emit(b)).collect();
        indices.push(b.index(0));
        View { memref, indices }
    }

    /// One element per row: its start, and every lane of its accumulators.
    fn combine_lanes(
        &self,
        b: &mut Builder<'c>,
        accumulator: Val<'c>,
        fold: &str,
        elem: Type<'c>,
    ) -> Val<'c> {
        let plan = self.plan;
        let mut shape: Vec<u64> = self.rows.iter().map(|&axis| self.sizes[axis]).collect();
        shape.push(1);
        let scalar = self.alloc(b, &shape, elem);
        self.each_row(b, &mut |b, rows| {
            let point = self.row_point(b, &self.at, rows);
            let target = self.scalar_view(b, scalar, rows);
            match &plan.nest.starts[0] {
                Start::Unread => {}
                Start::Held => {
                    let output = &plan.nest.outputs[0];
                    let source = View {
                        memref: self.memref(output),
                        indices: self.indices(b, output, &point),
                    };
                    copy_from(b, plan.load_of(output), &source, &target, 1, None);
                }
                Start::From { inputs, body } => {
                    let views = self.elements(b, inputs, &point);
                    let body = LaneBody { body: *body, lanes: 1 };
                    self.apply(b, body, &views, std::slice::from_ref(&target), &point);
                }
            }
            let source = self.fold_vectors(b, accumulator, (fold, elem), rows);
            let block = build::combine(b, plan.unit, plan.lanes, source, target);
            let mut inside = b.into_block(block);
            let value = inside.op(fold, &block.args(), &[elem]).result(0);
            build::yield_values(&mut inside, &[value]);
        });
        scalar
    }

    /// The element of each access at a point, where it lies.
    fn elements(
        &self,
        b: &mut Builder<'c>,
        accesses: &[Access<'c>],
        point: &[Sum<'c>],
    ) -> Vec<View<'c>> {
        let element = |access: &Access<'c>| {
            let indices = self.indices(b, access, point);
            View { memref: self.memref(access), indices }
        };
        accesses.iter().map(element).collect()
    }

    /// Folds one point per row into its element.
    fn fold_points(&self, b: &mut Builder<'c>, place: &[Sum<'c>], scalar: Val<'c>) {
        self.each_row(b, &mut |b, rows| {
            let point = self.row_point(b, place, rows);
            let target = self.scalar_view(b, scalar, rows);
            let mut views = self.elements(b, &self.plan.nest.inputs, &point);
            views.push(target.clone());
            let body = LaneBody { body: self.plan.nest.body, lanes: 1 };
            self.apply(b, body, &views, &[target], &point);
        });
    }
}
