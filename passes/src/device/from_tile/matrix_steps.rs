//! The steps of a matrix instruction's reductions: one at a time, or with the inputs of later ones
//! on their way.

use weft_dialects::ir::{Builder, Type, Val, ty};

use super::index::{Sum, scf_for_carrying, scf_if_giving};
use super::matrix::Matrix;
use super::staged::each_step;
use super::tiles::{Points, compare};
use super::transfer::{Pending, first, ready, wait};

impl<'c> Matrix<'_, 'c> {
    /// Loops over the steps of the reductions, outermost first. With several stages the
    /// innermost loop brings the inputs of later steps while it folds its own.
    pub(super) fn steps(
        &self,
        b: &mut Builder<'c>,
        axes: &[usize],
        points: Points<'_, 'c>,
        rooms: &[Val<'c>],
    ) {
        let Some((&axis, rest)) = axes.split_first() else {
            self.step(b, points, rooms);
            return;
        };
        let Points { at, sizes, .. } = points;
        let (extent, size) = (self.nest.axes[axis].extent, sizes[axis]);
        let looped = |axis: &usize| self.nest.axes[*axis].extent > sizes[*axis];
        let whole = extent - extent % size;
        let ahead = self.stages > 1 && whole > size && !rest.iter().any(looped);
        let mut one = |b: &mut Builder<'c>, place, size| {
            let (mut at, mut sizes) = (at.to_vec(), sizes.to_vec());
            at[axis] = place;
            sizes[axis] = size;
            self.steps(b, rest, Points { at: &at, sizes: &sizes, ends: &[] }, rooms);
        };
        if !ahead {
            each_step(b, extent, size, &mut one);
            return;
        }
        self.steps_ahead(b, axis, whole / size, points, rooms);
        if whole < extent {
            one(b, Sum::number(whole as i64), extent - whole);
        }
    }

    /// One step: brings its inputs and folds them in.
    fn step(&self, b: &mut Builder<'c>, points: Points<'_, 'c>, rooms: &[Val<'c>]) {
        let mut pending = Pending::default();
        let mut buffers = rooms.to_vec();
        let mut brought = Vec::new();
        for operand in self.inputs() {
            let shape = self.block_shape(operand, points.sizes);
            buffers[operand] = self.room(b, operand, &shape);
            brought.push((operand, first(b, buffers[operand])));
        }
        self.bring(b, &mut pending, &brought, points);
        pending.wait(b);
        let places: Vec<_> = buffers.iter().map(|buffer| first(b, *buffer)).collect();
        let tokens = self.fold(b, &places, points.sizes);
        wait(b, &tokens);
    }

    /// `count` steps of one size along `axis`, with room for the inputs of several stages: those
    /// of later steps fill while one is used. What blocks have beyond the points of a step is the same in each, and
    /// filled once.
    ///
    /// ```text
    /// fill; loads = bring steps 0 .. stages - 1
    /// for i { next = bring step i + stages - 1, if there is one, when its room is free again
    ///         wait for the first of loads; fold; loads = the others, next }
    /// ```
    fn steps_ahead(
        &self,
        b: &mut Builder<'c>,
        axis: usize,
        count: u64,
        Points { at, sizes, .. }: Points<'_, 'c>,
        held: &[Val<'c>],
    ) {
        let size = sizes[axis] as i64;
        let index = Type::index(self.context);
        let stages = self.stages.min(count);
        let rooms: Vec<(usize, Val<'c>)> = self
            .inputs()
            .into_iter()
            .map(|operand| {
                let mut shape = vec![stages];
                shape.extend(self.block_shape(operand, sizes));
                (operand, self.room(b, operand, &shape))
            })
            .collect();
        let mut filled = Pending::default();
        for (operand, buffer) in &rooms {
            let shape = ty::shape(buffer.ty()).expect("a buffer has a shape");
            let place = first(b, *buffer);
            self.pad(b, &mut filled, *operand, (&place, &shape), sizes);
        }
        self.settle(b, &mut filled, rooms.iter().map(|(operand, _)| *operand), sizes);
        let bring = |b: &mut Builder<'c>, room: Val<'c>, place: Sum<'c>| {
            let mut pending = Pending::default();
            let mut at = at.to_vec();
            at[axis] = place;
            let view = |(operand, buffer): &(usize, Val<'c>)| {
                let mut view = first(b, *buffer);
                view.indices[0] = room;
                (*operand, view)
            };
            let places: Vec<_> = rooms.iter().map(view).collect();
            self.load(b, &mut pending, &places, Points { at: &at, sizes, ends: &[] });
            pending.take()
        };
        let mut carried = Vec::new();
        for step in 0..stages as i64 - 1 {
            let room = b.index(step);
            carried.extend(bring(b, room, Sum::number(step * size)));
        }
        let loads = carried.len();
        let each = loads / (stages as usize - 1);
        let by_engine = self.mapping.instruction.engine().is_some();
        carried.extend(by_engine.then(|| ready(b)));
        let bounds = [Sum::number(0), Sum::number(count as i64)];
        let last = scf_for_carrying(b, &bounds[0], &bounds[1], 1, &carried, |b, step, carried| {
            let (loaded, folded) = carried.split_at(loads);
            let (loaded, later) = loaded.split_at(each);
            let rounds = b.index(stages as i64);
            let room = b.op("arith.remui", &[step, rounds], &[index]).result(0);
            let next = Sum::value(step).plus(&Sum::number(stages as i64 - 1), 1).emit(b);
            let other = b.op("arith.remui", &[next, rounds], &[index]).result(0);
            let more = compare(b, "ult", &Sum::value(next), &Sum::number(count as i64));
            // The room is free when the step before this one is folded in.
            wait(b, folded);
            let next = scf_if_giving(b, more, loaded, |b| {
                bring(b, other, Sum::default().plus(&Sum::value(next), size))
            });
            wait(b, loaded);
            let mut places: Vec<_> = held.iter().map(|room| first(b, *room)).collect();
            for (operand, buffer) in &rooms {
                places[*operand] = first(b, *buffer);
                places[*operand].indices[0] = room;
            }
            let folded = self.fold(b, &places, sizes);
            later.iter().copied().chain(next).chain(folded).collect()
        });
        wait(b, &last[loads..]);
    }
}
