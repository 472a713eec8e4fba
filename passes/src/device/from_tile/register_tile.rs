//! The code of one register tile: start, fold, finish, store.

use weft_dialects::device::build;
use weft_dialects::ir::{Builder, Type, Val, attr, ty};

use super::Plan;
use super::bordered::phase;
use super::index::{Sum, scf_if, unrolled, unrolled_all};
use super::tiles::{Points, compare};
use super::view::{View, copy_from, copy_to};
use crate::nest::{Access, Epilogue, Start};

/// One register tile at a place, of a size that is smaller at ragged ends.
pub(super) struct RegisterTile<'p, 'c> {
    pub(super) plan: &'p Plan<'c>,
    /// First point of the tile on each axis.
    pub(super) at: Vec<Sum<'c>>,
    /// Its size on each axis.
    pub(super) sizes: Vec<u64>,
    /// Parallel axes of more than one point that no lanes run along.
    pub(super) rows: Vec<usize>,
    /// Registers side by side along the lanes.
    pub(super) vectors: u64,
    /// Points side by side that each lane has; at ragged ends one.
    pub(super) neighbours: u64,
    /// The part of a reduction that is added to what the output holds.
    pub(super) part: Option<Part<'c>>,
    /// Axes with their last point, which stands for all rows behind it.
    pub(super) ends: Vec<(usize, Val<'c>)>,
}

/// A part of a reduction: what came before it waits in the output.
#[derive(Clone, Copy)]
pub(super) struct Part<'c> {
    /// The axis that is done in parts.
    pub axis: usize,
    /// The first point; the first part begins at zero.
    pub begin: Val<'c>,
    /// Behind the last point.
    pub end: Val<'c>,
}

/// A register of the tile: its place on the row axes, and which along the lanes.
#[derive(Clone, Copy)]
pub(super) struct At<'a, 'c> {
    pub(super) rows: &'a [Sum<'c>],
    pub(super) vector: &'a Vector<'c>,
}

/// A register along the lanes.
pub(super) struct Vector<'c> {
    /// Which it is of the tile's.
    pub(super) number: Sum<'c>,
    /// Points from the tile's first to that of its first lane.
    pub(super) first: Sum<'c>,
    /// Lanes that hold points.
    pub(super) count: u64,
}

impl<'c> Vector<'c> {
    /// The register of that number, all of whose lanes hold points.
    pub(super) fn whole(number: Sum<'c>, lanes: u64) -> Self {
        let first = Sum::number(0).plus(&number, lanes as i64);
        Self { number, first, count: lanes }
    }
}

impl<'c> Plan<'c> {
    /// Elements of an access in each lane.
    pub(super) fn points_in_lane(&self, access: &Access<'c>) -> u64 {
        let deep = self.depth.filter(|&axis| access.uses(axis));
        deep.map_or(1, |axis| self.nest.axes[axis].extent)
    }
}

impl<'p, 'c> RegisterTile<'p, 'c> {
    pub fn new(plan: &'p Plan<'c>, Points { at, sizes, ends }: Points<'_, 'c>) -> Self {
        let lanes_axis = plan.lanes_axis;
        let mut rows = plan.nest.rows(sizes, lanes_axis);
        let order = &plan.schedule.rows;
        rows.sort_by_key(|row| order.iter().position(|axis| axis == row).unwrap_or(order.len()));
        let vectors = lanes_axis.map_or(1, |axis| sizes[axis].div_ceil(plan.lanes));
        let own = plan.schedule.neighbours;
        let whole = lanes_axis.is_some_and(|axis| sizes[axis].is_multiple_of(own * plan.lanes));
        let neighbours = if whole { own } else { 1 };
        let (at, sizes, ends) = (at.to_vec(), sizes.to_vec(), ends.to_vec());
        Self { plan, at, sizes, rows, vectors, neighbours, part: None, ends }
    }

    /// The same, with only a part of a reduction.
    pub fn part(self, part: Part<'c>) -> Self {
        Self { part: Some(part), ..self }
    }

    /// Writes the tile.
    pub fn write(&self, b: &mut Builder<'c>) {
        let nest = &self.plan.nest;
        let shape = self.register_shape(self.plan.lanes);
        let accumulators: Vec<Val<'c>> = (0..nest.outputs.len())
            .map(|output| self.alloc(b, &shape, nest.sum_type(output)))
            .collect();
        if self.lanes_reduce() {
            self.fold_across_lanes(b, &accumulators);
            return;
        }
        self.start_all(b, &accumulators);
        let mut reductions = self.reductions();
        let windows = self.windows();
        if let Some(windows) = &windows {
            reductions.retain(|axis| !windows.taps.contains(axis));
        }
        self.reduce(b, &reductions, &self.at, &mut |b, place| match &windows {
            Some(windows) => self.slide(b, windows, place, &accumulators),
            None => self.step(b, place, &accumulators),
        });
        self.conclude(b, accumulators);
    }

    /// Writes the tile of sums that are whole already, and lie elsewhere.
    pub fn finish(&self, b: &mut Builder<'c>, sums: &Access<'c>) {
        let shape = self.register_shape(self.plan.lanes);
        let own = self.alloc(b, &shape, self.plan.nest.sum_type(0));
        self.each_register(b, &mut |b, at| {
            let (point, register) = (self.point(b, &self.at, at), self.register(b, own, at));
            self.load(b, sums, &point, &register, at.vector.count);
        });
        self.conclude(b, vec![own]);
    }

    /// The epilogue, and stores.
    fn conclude(&self, b: &mut Builder<'c>, accumulators: Vec<Val<'c>>) {
        let nest = &self.plan.nest;
        let shape = self.register_shape(self.plan.lanes);
        let mut stored = accumulators;
        if nest.casts_sums() {
            let sums =
                std::mem::replace(&mut stored[0], self.alloc(b, &shape, nest.outputs[0].elem()));
            self.finish_all(b, [sums, stored[0]]);
        } else {
            self.finish_all(b, [stored[0]; 2]);
        }
        if let Some(rows) = self.transposed() {
            for (output, stored) in nest.outputs.iter().zip(&stored) {
                self.store_transposed(b, output, *stored, rows);
            }
            return;
        }
        self.each_register(b, &mut |b, at| {
            for (output, stored) in nest.outputs.iter().zip(&stored) {
                self.store(b, output, *stored, at);
            }
        });
    }

    /// The epilogue on all sums, behind the last part of the reduction; to where the second one is.
    fn finish_all(&self, b: &mut Builder<'c>, registers: [Val<'c>; 2]) {
        if self.plan.nest.epilogue.is_none() {
            return;
        }
        let all = |b: &mut Builder<'c>| {
            self.each_register(b, &mut |b, at| self.finish_one(b, registers, at))
        };
        let Some(part) = &self.part else { return all(b) };
        let extent = self.plan.nest.axes[part.axis].extent;
        let is_last = compare(b, "eq", &Sum::value(part.end), &Sum::number(extent as i64));
        scf_if(b, is_last, |b| all(b));
    }

    /// The epilogue on one register of sums.
    fn finish_one(&self, b: &mut Builder<'c>, registers: [Val<'c>; 2], at: At<'_, 'c>) {
        let Some(Epilogue { inputs, body }) = &self.plan.nest.epilogue else { return };
        let point = self.point(b, &self.at, at);
        let mut views = self.bring(b, inputs, &point, at.vector.count);
        let [sums, stored] = registers.map(|memref| self.register(b, memref, at));
        views.push(sums);
        let body = self.lane_body(*body, at.vector.count);
        self.apply(b, body, &views, &[stored], &point);
    }

    /// Gives every accumulator its first value, or what earlier parts of the reduction left.
    fn start_all(&self, b: &mut Builder<'c>, accumulators: &[Val<'c>]) {
        let starts = &self.plan.nest.starts;
        if starts.iter().all(|start| matches!(start, Start::Unread)) {
            return;
        }
        let first = |b: &mut Builder<'c>| {
            self.each_register(b, &mut |b, at| {
                for (output, accumulator) in accumulators.iter().enumerate() {
                    self.start(b, output, *accumulator, at);
                }
            });
        };
        let Some(part) = &self.part else { return first(b) };
        let (begin, zero) = (Sum::value(part.begin), Sum::number(0));
        let is_first = compare(b, "eq", &begin, &zero);
        let is_later = compare(b, "ne", &begin, &zero);
        scf_if(b, is_first, |b| first(b));
        scf_if(b, is_later, |b| {
            self.each_register(b, &mut |b, at| {
                for (output, accumulator) in self.plan.nest.outputs.iter().zip(accumulators) {
                    let (point, register) =
                        (self.point(b, &self.at, at), self.register(b, *accumulator, at));
                    self.load(b, output, &point, &register, at.vector.count);
                }
            });
        });
    }

    /// Which of the rows are stored along, behind a transpose of registers.
    fn transposed(&self) -> Option<usize> {
        let axis = self.plan.schedule.transpose?;
        self.rows.iter().position(|row| *row == axis)
    }

    /// Stores one lane of all these rows at a time, as many rows as a register has lanes.
    fn store_transposed(
        &self,
        b: &mut Builder<'c>,
        output: &Access<'c>,
        accumulator: Val<'c>,
        along: usize,
    ) {
        let axis = self.rows[along];
        let mut others: Vec<u64> = self.rows.iter().map(|&axis| self.sizes[axis]).collect();
        let size = std::mem::replace(&mut others[along], 1);
        for first in (0..size).step_by(self.plan.lanes as usize) {
            let count = self.plan.lanes.min(size - first);
            let by = self.plan.store_of(output, Some(axis), count, self.part.is_some());
            unrolled_all(b, &others, &mut |b, rows| {
                let mut rows = rows.to_vec();
                rows[along] = Sum::number(first as i64);
                self.each_vector(b, &mut |b, vector| {
                    let at = At { rows: &rows, vector };
                    for lane in 0..vector.count {
                        self.store_lane(b, (output, accumulator), at, lane, (by, count, along));
                    }
                });
            });
        }
    }

    /// Stores this lane of `count` registers from one on, those of the rows `along`.
    fn store_lane(
        &self,
        b: &mut Builder<'c>,
        (output, accumulator): (&Access<'c>, Val<'c>),
        at: At<'_, 'c>,
        lane: u64,
        (by, count, along): (&'c str, u64, usize),
    ) {
        let mut point = self.point(b, &self.at, at);
        let lanes_axis = self.plan.lanes_axis.expect("there are lanes");
        point[lanes_axis] = point[lanes_axis].clone().plus(&Sum::number(lane as i64), 1);
        let mut source = self.register(b, accumulator, at);
        *source.indices.last_mut().expect("a register has lanes") = b.index(lane as i64);
        let target = View { memref: self.memref(output), indices: self.indices(b, output, &point) };
        copy_from(b, by, &source, &target, count, Some((along, 1)));
    }

    fn lanes_reduce(&self) -> bool {
        self.plan.lanes_axis.is_some_and(|axis| self.plan.nest.reduces(axis))
    }

    pub(super) fn reductions(&self) -> Vec<usize> {
        let looped = |&axis: &usize| self.plan.nest.reduces(axis) && self.plan.depth != Some(axis);
        (0..self.sizes.len()).filter(looped).collect()
    }

    /// Shape of the tile in registers of `lanes` lanes.
    fn register_shape(&self, lanes: u64) -> Vec<u64> {
        let mut shape: Vec<u64> = self.rows.iter().map(|&axis| self.sizes[axis]).collect();
        shape.extend([self.vectors, lanes]);
        shape
    }

    pub(super) fn alloc(&self, b: &mut Builder<'c>, shape: &[u64], elem: Type<'c>) -> Val<'c> {
        let memory = attr::of_string(self.plan.context, self.plan.registers);
        let ty = ty::memref(shape, elem, Some(memory));
        build::alloc(b, ty)
    }

    /// Unrolled loops over the registers of the tile.
    pub(super) fn each_register(
        &self,
        b: &mut Builder<'c>,
        body: &mut dyn FnMut(&mut Builder<'c>, At<'_, 'c>),
    ) {
        let sizes: Vec<u64> = self.rows.iter().map(|&axis| self.sizes[axis]).collect();
        unrolled_all(b, &sizes, &mut |b, rows| {
            self.each_vector(b, &mut |b, vector| body(b, At { rows, vector }));
        });
    }

    /// Unrolled loop along the lanes; the last register may hold fewer points.
    pub(super) fn each_vector(
        &self,
        b: &mut Builder<'c>,
        body: &mut dyn FnMut(&mut Builder<'c>, &Vector<'c>),
    ) {
        let (lanes, neighbours) = (self.plan.lanes, self.neighbours as i64);
        let points = self.plan.lanes_axis.map_or(1, |axis| self.sizes[axis]);
        if neighbours > 1 {
            let runs = points / (lanes * self.neighbours);
            unrolled_all(b, &[runs, self.neighbours], &mut |b, at| {
                let along =
                    |lanes: i64| Sum::number(0).plus(&at[0], neighbours * lanes).plus(&at[1], 1);
                body(b, &Vector { number: along(1), first: along(lanes as i64), count: lanes });
            });
            return;
        }
        let whole = points / lanes;
        unrolled(b, whole, |b, number| body(b, &Vector::whole(number, lanes)));
        if !points.is_multiple_of(lanes) {
            let last = Vector::whole(Sum::number(whole as i64), lanes);
            body(b, &Vector { count: points % lanes, ..last });
        }
    }

    /// The point of a register's first lane, with the axes in `place` elsewhere.
    pub(super) fn point(
        &self,
        b: &mut Builder<'c>,
        place: &[Sum<'c>],
        at: At<'_, 'c>,
    ) -> Vec<Sum<'c>> {
        let mut point = place.to_vec();
        for (axis, row) in self.rows.iter().zip(at.rows) {
            point[*axis] = self.row(b, *axis, &point[*axis], row);
        }
        if let Some(axis) = self.plan.lanes_axis {
            point[axis] = point[axis].clone().plus(&at.vector.first, 1);
        }
        point
    }

    /// A row of the tile; where that is behind the last point of its axis, the last one again.
    pub(super) fn row(
        &self,
        b: &mut Builder<'c>,
        axis: usize,
        first: &Sum<'c>,
        row: &Sum<'c>,
    ) -> Sum<'c> {
        let row = first.clone().plus(row, 1);
        match self.ends.iter().find(|(own, _)| *own == axis) {
            Some((_, end)) => {
                let (row, index) = (row.emit(b), Type::index(b.context()));
                Sum::value(b.op("arith.minui", &[row, *end], &[index]).result(0))
            }
            None => row,
        }
    }

    pub(super) fn indices(
        &self,
        b: &mut Builder<'c>,
        access: &Access<'c>,
        point: &[Sum<'c>],
    ) -> Vec<Val<'c>> {
        let mut indices: Vec<_> =
            self.place(access, point).into_iter().map(|at| at.emit(b)).collect();
        let Some(steps) = self.phases(access) else { return indices };
        let lanes_axis = self.plan.lanes_axis.expect("phases are those of lanes");
        indices.pop();
        let last = access.index.last().expect("a border has a dimension");
        indices.extend(phase(b, last, point, lanes_axis, steps));
        indices
    }

    /// Index of an access at a point: in its tensor, or in the buffer that holds a tile of it.
    pub(super) fn place(&self, access: &Access<'c>, point: &[Sum<'c>]) -> Vec<Sum<'c>> {
        let Some(local_tile) = self.plan.local_tiles.get(&access.tensor) else {
            return access.index.iter().map(|index| Sum::of(index, point)).collect();
        };
        // Local tiles begin at a point of the whole nest.
        let point = point.iter().zip(&self.plan.origin);
        let point: Vec<_> = point.map(|(at, origin)| at.clone().plus(origin, 1)).collect();
        let index = access.index.iter().zip(&local_tile.starts);
        index.map(|(index, start)| Sum::of(index, &point).plus(start, -1)).collect()
    }

    /// In how many phases the elements of the last dimension are laid out.
    fn phases(&self, access: &Access<'c>) -> Option<i64> {
        self.plan.phases.get(&access.tensor).copied()
    }

    pub(super) fn memref(&self, access: &Access<'c>) -> Val<'c> {
        // A piece that was brought near is a memref itself.
        self.plan.memrefs.get(&access.tensor).copied().unwrap_or(access.tensor)
    }

    pub(super) fn on_lanes(&self, access: &Access<'c>) -> bool {
        self.plan.lanes_axis.is_some_and(|axis| access.uses(axis))
    }

    /// The view of a register of the tile.
    pub(super) fn register(
        &self,
        b: &mut Builder<'c>,
        memref: Val<'c>,
        at: At<'_, 'c>,
    ) -> View<'c> {
        let mut indices: Vec<_> = at.rows.iter().map(|row| row.emit(b)).collect();
        indices.push(at.vector.number.emit(b));
        indices.push(b.index(0));
        View { memref, indices }
    }

    /// Copies the elements of `count` lanes of an access from a point on into `target`.
    pub(super) fn load(
        &self,
        b: &mut Builder<'c>,
        access: &Access<'c>,
        point: &[Sum<'c>],
        target: &View<'c>,
        count: u64,
    ) {
        let source = View { memref: self.memref(access), indices: self.indices(b, access, point) };
        let along = self.along(access);
        // Lanes without a point are never stored, so they may hold anything that can be read.
        let has_slack = along.is_none() && self.plan.has_slack.contains(&access.tensor);
        let count = if has_slack { self.plan.lanes } else { count };
        let count = count * self.plan.points_in_lane(access);
        copy_from(b, self.plan.load_of(access), &source, target, count, along);
    }

    fn store(
        &self,
        b: &mut Builder<'c>,
        output: &Access<'c>,
        accumulator: Val<'c>,
        at: At<'_, 'c>,
    ) {
        let point = self.point(b, &self.at, at);
        let source = self.register(b, accumulator, at);
        let target = View { memref: self.memref(output), indices: self.indices(b, output, &point) };
        let along = self.along(output);
        let by =
            self.plan.store_of(output, self.plan.lanes_axis, at.vector.count, self.part.is_some());
        copy_to(b, by, &source, &target, at.vector.count, along);
    }

    /// The dimension the lanes run along in a tensor, and how far apart they are.
    pub(super) fn along(&self, access: &Access<'c>) -> Option<(usize, i64)> {
        // Lanes of a depth lie one behind the other.
        let plain = self.phases(access).is_none() && self.plan.points_in_lane(access) == 1;
        let axis = self.plan.lanes_axis.filter(|_| plain)?;
        let dim = access.index.iter().position(|index| index.coefficients[axis] != 0)?;
        Some((dim, access.index[dim].coefficients[axis] * self.neighbours as i64))
            .filter(|&(dim, step)| dim + 1 != access.index.len() || step != 1)
    }

    /// Gives an accumulator's register its first value.
    fn start(&self, b: &mut Builder<'c>, output: usize, accumulator: Val<'c>, at: At<'_, 'c>) {
        let access = &self.plan.nest.outputs[output];
        let point = self.point(b, &self.at, at);
        let register = self.register(b, accumulator, at);
        match &self.plan.nest.starts[output] {
            Start::Unread => {}
            Start::Held => self.load(b, access, &point, &register, at.vector.count),
            Start::From { inputs, body } => {
                let views = self.bring(b, inputs, &point, at.vector.count);
                let body = self.lane_body(*body, at.vector.count);
                self.apply(b, body, &views, &[register], &point);
            }
        }
    }

    /// One view per access: brought to a register of its own where it has lanes.
    pub(super) fn bring(
        &self,
        b: &mut Builder<'c>,
        accesses: &[Access<'c>],
        point: &[Sum<'c>],
        count: u64,
    ) -> Vec<View<'c>> {
        accesses
            .iter()
            .map(|access| {
                if self.on_lanes(access) {
                    let elements = self.plan.lanes * self.plan.points_in_lane(access);
                    let memref = self.alloc(b, &[elements], access.elem());
                    let register = View { memref, indices: vec![b.index(0)] };
                    self.load(b, access, point, &register, count);
                    register
                } else {
                    let indices = self.indices(b, access, point);
                    View { memref: self.memref(access), indices }
                }
            })
            .collect()
    }
}
