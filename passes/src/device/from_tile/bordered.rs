//! Inputs that are read past their ends, laid out with their borders beside their use.
//!
//! ```text
//! fill the buffer with the border's number
//! for (each plane of the rTask) {
//!   for (rows of register tiles) {
//!     copy the rows of the plane that they read and those before did not, inside the border
//!     loops over register tiles, which read the buffer instead of the tensor } }
//! ```
//!
//! The buffer holds one plane: the last dimensions of the tensor, those that have a border.
//! It is written and read again while it is in the cache that the unit has for itself. Its rows
//! begin with registers, and behind it there is room for one more, so that whole registers
//! can be read where only some lanes have points.

use weft_dialects::device::{Machine, build};
use weft_dialects::ir::payload::Scalar;
use weft_dialects::ir::{Builder, Linear, Type, Val, attr, ty};
use weft_dialects::tile::RTile;

use super::index::{Sum, scf_for};
use super::member::LocalTile;
use super::register_tile::RegisterTile;
use super::tiles::{Piece, Points, Tiles};
use super::view::{View, copy_from, copy_to};
use super::{Plan, loops};
use crate::nest::{Access, Border, Loop};

/// The inputs with borders of a kernel, and where their planes lie.
pub(super) struct Bordered<'c> {
    planes: Vec<Plane<'c>>,
    /// Axes along which planes are taken one by one.
    axes: Vec<usize>,
}

struct Plane<'c> {
    /// The access to the padded tensor.
    access: Access<'c>,
    border: Border<'c>,
    source: Val<'c>,
    /// The buffer of the tensor's tile that is there, if it is not the whole.
    part: Option<LocalTile<'c>>,
    buffer: Val<'c>,
    /// Of the buffer.
    shape: Vec<u64>,
    /// In how many phases its rows are laid out.
    phases: u64,
    /// Elements of it that a register holds.
    lanes: u64,
}

impl<'c> Bordered<'c> {
    /// Makes room for the planes of a nest, and makes its accesses read there; `None` where
    /// it has none.
    pub fn new(b: &mut Builder<'c>, machine: Machine<'c>, plan: &mut Plan<'c>) -> Option<Self> {
        let (mut planes, mut axes) = (Vec::new(), Vec::new());
        for access in &mut plan.nest.inputs {
            let Some(border) = Border::of(access) else { continue };
            let memory = plan.schedule.border.as_deref()?;
            let phases = plan.schedule.phases.get(planes.len()).copied().unwrap_or(1);
            let leading = access.shape.len() - border.rank();
            axes.extend(border.plane_axes(access));
            let whole = access.clone();
            access.shape.drain(..leading);
            access.index.drain(..leading);
            let unit = machine.lanes_unit(plan.unit);
            let lanes = unit.and_then(|unit| unit.lanes_for(access.elem())).unwrap_or(1);
            let mut shape = access.shape.clone();
            let row = shape.pop().expect("a border has a dimension");
            if phases > 1 {
                shape.push(phases);
                plan.phases.insert(access.tensor, phases as i64);
            }
            shape.push(row.div_ceil(phases).next_multiple_of(lanes));
            shape[0] += if shape.len() > 1 { 1 } else { lanes };
            plan.has_slack.insert(access.tensor);
            let memory = attr::of_string(b.context(), memory);
            let ty = ty::memref(&shape, access.elem(), Some(memory));
            let buffer = build::alloc(b, ty);
            let (source, part) = match plan.local_tiles.get(&whole.argument()) {
                Some(part) => (part.memref, Some(part.clone())),
                None => (plan.memrefs[&whole.argument()], None),
            };
            plan.memrefs.insert(access.tensor, buffer);
            planes.push(Plane {
                access: whole,
                border,
                source,
                part,
                buffer,
                shape,
                phases,
                lanes,
            });
        }
        (!planes.is_empty()).then_some(Self { planes, axes })
    }

    /// The tile of an rTask that reads one plane.
    pub fn tile(&self, task: &RTile) -> RTile {
        let sizes = task.sizes.iter().enumerate();
        let one = |(axis, &size)| if self.axes.contains(&axis) { 1 } else { size };
        RTile { memory: task.memory.clone(), sizes: sizes.map(one).collect() }
    }

    /// Fills the buffers with what surrounds the planes.
    pub fn surround(&self, b: &mut Builder<'c>, plan: &Plan<'c>) {
        for plane in &self.planes {
            let register = plane.register(b, plan);
            let target = std::slice::from_ref(&register);
            let block = build::apply(b, plan.unit, plane.lanes, &[], target);
            let mut inside = b.into_block(block);
            let value = inside.clone_op(plane.border.value, &mut Default::default()).result(0);
            build::yield_values(&mut inside, &[value]);
            plane.rows(b, &plane.shape, &mut Vec::new(), &mut |b, at, count| {
                let indices = at.iter().map(|at| at.emit(b)).collect();
                let target = View { memref: plane.buffer, indices };
                copy_to(b, plan.way.store.name, &register, &target, count, None);
            });
        }
    }

    /// Writes the code of the planes of some points.
    pub fn write(&self, b: &mut Builder<'c>, plan: &Plan<'c>, points: Points<'_, 'c>) {
        let Points { at, sizes, .. } = points;
        let [plane] = &self.planes[..] else {
            for plane in &self.planes {
                plane.bring(b, plan, at, None);
            }
            self.compute(b, plan, points);
            return;
        };
        let Some(axis) = plane.row_axis(plan) else {
            plane.bring(b, plan, at, None);
            self.compute(b, plan, points);
            return;
        };
        let tile = plan.tile.sizes[axis].min(sizes[axis]);
        let rows = |b: &mut Builder<'c>, done: &Sum<'c>, count: u64| {
            let (mut at, mut sizes) = (at.to_vec(), sizes.to_vec());
            let begin = at[axis].clone().plus(done, 1);
            let new = plane.new_rows(b, plan, axis, [done, &begin], count);
            (at[axis], sizes[axis]) = (begin, count);
            plane.bring(b, plan, &at, Some(new));
            self.compute(b, plan, Points { at: &at, sizes: &sizes, ends: &[] });
        };
        let whole = sizes[axis] / tile * tile;
        if whole > tile {
            scf_for(b, &Sum::number(0), &Sum::number(whole as i64), tile as i64, |b, iv| {
                rows(b, &Sum::value(iv), tile);
            });
        } else {
            rows(b, &Sum::number(0), whole);
        }
        if whole < sizes[axis] {
            rows(b, &Sum::number(whole as i64), sizes[axis] - whole);
        }
    }

    /// Writes the code of some points, whose planes are there.
    fn compute(
        &self,
        b: &mut Builder<'c>,
        plan: &Plan<'c>,
        Points { at, sizes, .. }: Points<'_, 'c>,
    ) {
        let mut nest = plan.nest.clone();
        // These points are there: where a length ends has been looked at.
        for (axis, &size) in nest.axes.iter_mut().zip(sizes) {
            *axis = Loop { extent: size, length: None, ..*axis };
        }
        let order = loops(&plan.schedule, &plan.nest);
        let (grid, starts) = (vec![1; order.len()], vec![Sum::number(0); sizes.len()]);
        let outer = RTile { memory: String::new(), sizes: sizes.to_vec() };
        let cut = plan.tile.sizes.iter().zip(sizes).map(|(tile, size)| *tile.min(size));
        let tile = RTile { memory: plan.tile.memory.clone(), sizes: cut.collect() };
        let piece = Piece { outer: &outer, grid: &grid, starts: &starts };
        let tiles = Tiles {
            nest: &nest,
            tile: &tile,
            piece,
            order: &order,
            grow: plan.grow(),
            repeats: None,
        };
        tiles.write(b, &|b, inner| {
            let both = at.iter().zip(inner.at);
            let at: Vec<_> = both.map(|(at, inner)| at.clone().plus(inner, 1)).collect();
            RegisterTile::new(plan, Points { at: &at, ..inner }).write(b);
        });
    }
}

/// Writes what is done with some elements side by side: where they are, and how many.
type EachRun<'f, 'c> = &'f mut dyn FnMut(&mut Builder<'c>, &[Sum<'c>], u64);

impl<'c> Plane<'c> {
    fn register(&self, b: &mut Builder<'c>, plan: &Plan<'c>) -> View<'c> {
        let memory = attr::of_string(b.context(), plan.registers);
        let ty = ty::memref(&[self.lanes], self.access.elem(), Some(memory));
        let memref = build::alloc(b, ty);
        View { memref, indices: vec![b.index(0)] }
    }

    /// The parallel axis along the first dimension of the plane, if it is one of several and
    /// one axis alone moves there.
    fn row_axis(&self, plan: &Plan<'c>) -> Option<usize> {
        let rows = &self.access.index[self.access.shape.len() - self.border.rank()];
        let used = |axis: &usize| rows.coefficients[*axis] != 0 && !plan.nest.reduces(*axis);
        let mut axes = (0..rows.coefficients.len()).filter(used);
        let axis = axes.next().filter(|_| axes.next().is_none() && self.border.rank() > 1)?;
        (rows.coefficients[axis] > 0 && plan.lanes_axis != Some(axis)).then_some(axis)
    }

    /// The rows of the plane that `count` points from `begin` on along `axis` read; without
    /// those that the `done` points before have read.
    fn new_rows(
        &self,
        b: &mut Builder<'c>,
        plan: &Plan<'c>,
        axis: usize,
        [done, begin]: [&Sum<'c>; 2],
        count: u64,
    ) -> [Val<'c>; 2] {
        let mut rows = self.access.index[self.access.shape.len() - self.border.rank()].clone();
        let step = std::mem::replace(&mut rows.coefficients[axis], 0);
        let (least, most) = rows.range(&plan.nest.extents());
        let low = self.border.low[0] as i64;
        let mut row = |after: i64, offset: i64| {
            let row = Sum::number(step * after + offset - low).plus(begin, step);
            self.inside(b, &row)
        };
        let (all, new, end) = (row(0, least), row(-1, most + 1), row(count as i64 - 1, most + 1));
        let (done, zero) = (done.emit(b), b.index(0));
        let first = Scalar::at(*b).cmpi("eq", done, zero);
        let index = Type::index(b.context());
        [b.op("arith.select", &[first, all, new], &[index]).result(0), end]
    }

    /// The row, or the end of the plane that it lies beyond.
    fn inside(&self, b: &mut Builder<'c>, row: &Sum<'c>) -> Val<'c> {
        let index = Type::index(b.context());
        let (row, zero) = (row.emit(b), b.index(0));
        let end = b.index(self.border.inside[0] as i64);
        let above = b.op("arith.maxsi", &[row, zero], &[index]).result(0);
        b.op("arith.minsi", &[above, end], &[index]).result(0)
    }

    /// Copies the plane of the point `at` inside its border; only `rows`, where they are given.
    fn bring(
        &self,
        b: &mut Builder<'c>,
        plan: &Plan<'c>,
        at: &[Sum<'c>],
        rows: Option<[Val<'c>; 2]>,
    ) {
        let leading = self.access.shape.len() - self.border.rank();
        let before: Vec<_> =
            self.access.index[..leading].iter().map(|index: &Linear| Sum::of(index, at)).collect();
        let rows = rows.or_else(|| {
            let part = self.part.as_ref()?;
            part.rows(b, &self.access.shape_in_memory(), leading)
        });
        let (&row, outer) = self.border.inside.split_last().expect("a border has a dimension");
        let (&low, lows) = self.border.low.split_last().expect("as many as extents");
        for phase in 0..self.phases {
            // The first element of the row that belongs to the phase.
            let first = (phase + self.phases - low % self.phases) % self.phases;
            let count = row.saturating_sub(first).div_ceil(self.phases);
            if count == 0 {
                continue;
            }
            let shape: Vec<u64> = outer.iter().copied().chain([count]).collect();
            let mut copied = |b: &mut Builder<'c>, place: &[Sum<'c>], count: u64| {
                let (at, outer) = place.split_last().expect("a border has a dimension");
                let register = self.register(b, plan);
                let from = Sum::number(first as i64).plus(at, self.phases as i64);
                let mut place: Vec<_> = before.iter().chain(outer).cloned().collect();
                place.push(from);
                if let Some(part) = &self.part {
                    place = part.place(&self.access.shape_in_memory(), &place);
                }
                let indices: Vec<_> = place.iter().map(|at| at.emit(b)).collect();
                let step = (self.phases > 1).then_some((indices.len() - 1, self.phases as i64));
                let source = View { memref: self.source, indices };
                copy_from(b, plan.way.load.name, &source, &register, count, step);
                let inner = outer.iter().zip(lows);
                let mut indices: Vec<_> = inner
                    .map(|(at, &low)| at.clone().plus(&Sum::number(low as i64), 1).emit(b))
                    .collect();
                if self.phases > 1 {
                    indices.push(b.index(phase as i64));
                }
                let to = Sum::number(((low + first) / self.phases) as i64).plus(at, 1);
                indices.push(to.emit(b));
                let target = View { memref: self.buffer, indices };
                copy_to(b, plan.way.store.name, &register, &target, count, None);
            };
            let Some(ends) = rows else {
                self.rows(b, &shape, &mut Vec::new(), &mut copied);
                continue;
            };
            let [begin, end] = ends.map(Sum::value);
            scf_for(b, &begin, &end, 1, |b, iv| {
                self.rows(b, &shape[1..], &mut vec![Sum::value(iv)], &mut copied);
            });
        }
    }

    /// Loops over `shape`, registers of elements at a time, and the rest of each row.
    fn rows(
        &self,
        b: &mut Builder<'c>,
        shape: &[u64],
        at: &mut Vec<Sum<'c>>,
        body: EachRun<'_, 'c>,
    ) {
        let (&extent, rest) = shape.split_first().expect("a border has a dimension");
        if !rest.is_empty() {
            scf_for(b, &Sum::number(0), &Sum::number(extent as i64), 1, |b, iv| {
                at.push(Sum::value(iv));
                self.rows(b, rest, at, body);
                at.pop();
            });
            return;
        }
        let whole = extent - extent % self.lanes;
        if whole > 0 {
            let ends = [Sum::number(0), Sum::number(whole as i64)];
            scf_for(b, &ends[0], &ends[1], self.lanes as i64, |b, iv| {
                at.push(Sum::value(iv));
                body(b, at, self.lanes);
                at.pop();
            });
        }
        if whole < extent {
            at.push(Sum::number(whole as i64));
            body(b, at, extent - whole);
            at.pop();
        }
    }
}

/// The phase, and the place in it, of the element that `index` gives at `point`: the lanes'
/// own part of it is a multiple of the number of phases.
pub(super) fn phase<'c>(
    b: &mut Builder<'c>,
    index: &Linear,
    point: &[Sum<'c>],
    lanes_axis: usize,
    phases: i64,
) -> [Val<'c>; 2] {
    let mut rest = index.clone();
    rest.coefficients[lanes_axis] = 0;
    let (rest, steps) = (Sum::of(&rest, point).emit(b), b.index(phases));
    let ty = Type::index(b.context());
    let phase = b.op("arith.remui", &[rest, steps], &[ty]).result(0);
    let before = b.op("arith.divui", &[rest, steps], &[ty]).result(0);
    let place = point[lanes_axis].clone().plus(&Sum::value(before), 1).emit(b);
    [phase, place]
}
