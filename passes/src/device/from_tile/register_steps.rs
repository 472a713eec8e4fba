//! The steps of a register tile's reductions: what is loaded once, and what lanes compute of it.

use weft_dialects::device::build;
use weft_dialects::ir::{Block, Builder, Val};

use super::body::{LaneBody, write_body};
use super::index::{Sum, scf_for, unrolled, unrolled_all};
use super::lengths;
use super::register_tile::{At, RegisterTile};
use super::view::View;
use crate::nest::Loop;

impl<'c> RegisterTile<'_, 'c> {
    /// Loops over reduction axes, outermost first; `body` gets the place on every axis.
    pub(super) fn reduce(
        &self,
        b: &mut Builder<'c>,
        axes: &[usize],
        place: &[Sum<'c>],
        body: &mut dyn FnMut(&mut Builder<'c>, &[Sum<'c>]),
    ) {
        let Some((&axis, rest)) = axes.split_first() else {
            body(b, place);
            return;
        };
        let Loop { extent, length, .. } = self.plan.nest.axes[axis];
        if extent == 1 && length.is_none() {
            self.reduce(b, rest, place, body);
            return;
        }
        let mut place = place.to_vec();
        if let Some(part) = self.part.filter(|part| part.axis == axis) {
            scf_for(b, &Sum::value(part.begin), &Sum::value(part.end), 1, |b, iv| {
                place[axis] = Sum::value(iv);
                self.reduce(b, rest, &place, body);
            });
            return;
        }
        // Addresses become constants, and nothing waits for a loop.
        if self.plan.schedule.unroll.contains(&axis) {
            unrolled(b, extent, |b, at| {
                place[axis] = at;
                self.reduce(b, rest, &place, body);
            });
            return;
        }
        let end = lengths::end(b, &self.plan.nest.axes[axis]);
        scf_for(b, &Sum::number(0), &end, 1, |b, iv| {
            place[axis] = Sum::value(iv);
            self.reduce(b, rest, &place, body);
        });
    }

    /// One step of the reductions for the whole tile: each register is loaded once.
    pub(super) fn step(&self, b: &mut Builder<'c>, place: &[Sum<'c>], accumulators: &[Val<'c>]) {
        let nest = &self.plan.nest;
        // Inputs on lanes that several rows use, by the rows they move along.
        let loaded: Vec<Option<(Val<'c>, Vec<usize>)>> = nest
            .inputs
            .iter()
            .map(|access| {
                let moves = |axis: &usize| access.uses(*axis);
                let shared = self.on_lanes(access) && !self.rows.iter().all(moves);
                shared.then(|| {
                    let rows: Vec<usize> = self.rows.iter().copied().filter(moves).collect();
                    let mut shape: Vec<u64> = rows.iter().map(|&axis| self.sizes[axis]).collect();
                    let elements = self.plan.lanes * self.plan.points_in_lane(access);
                    shape.extend([self.vectors, elements]);
                    let memref = self.alloc(b, &shape, access.elem());
                    let sizes = &shape[..rows.len()];
                    unrolled_all(b, sizes, &mut |b, at_rows| {
                        self.each_vector(b, &mut |b, vector| {
                            let mut point = place.to_vec();
                            for (axis, row) in rows.iter().zip(at_rows) {
                                point[*axis] = self.row(b, *axis, &point[*axis], row);
                            }
                            let axis = self.plan.lanes_axis.expect("there are lanes");
                            point[axis] = point[axis].clone().plus(&vector.first, 1);
                            let at = At { rows: at_rows, vector };
                            let target = self.register(b, memref, at);
                            self.load(b, access, &point, &target, vector.count);
                        });
                    });
                    (memref, rows)
                })
            })
            .collect();
        self.each_register(b, &mut |b, at| {
            let point = self.point(b, place, at);
            let inputs: Vec<View<'c>> = nest
                .inputs
                .iter()
                .zip(&loaded)
                .map(|(access, loaded)| match loaded {
                    Some((memref, rows)) => {
                        let own: Vec<Sum<'c>> = self
                            .rows
                            .iter()
                            .zip(at.rows)
                            .filter(|(axis, _)| rows.contains(axis))
                            .map(|(_, row)| row.clone())
                            .collect();
                        self.register(b, *memref, At { rows: &own, ..at })
                    }
                    // An operand that one register uses is loaded for it, and then forgotten.
                    None => {
                        let access = std::slice::from_ref(access);
                        self.bring(b, access, &point, at.vector.count).remove(0)
                    }
                })
                .collect();
            let outputs: Vec<View<'c>> =
                accumulators.iter().map(|accumulator| self.register(b, *accumulator, at)).collect();
            self.compute(b, &inputs, &outputs, &point, at.vector.count);
        });
    }

    /// The body on one register: the instruction, or the lane unit.
    pub(super) fn compute(
        &self,
        b: &mut Builder<'c>,
        inputs: &[View<'c>],
        outputs: &[View<'c>],
        point: &[Sum<'c>],
        count: u64,
    ) {
        match &self.plan.instruction {
            Some((name, binding)) => {
                let all: Vec<&View<'c>> = inputs.iter().chain(outputs).collect();
                let views: Vec<_> = binding.iter().map(|&operand| all[operand].clone()).collect();
                build::invoke(b, name, &views, false);
            }
            None => {
                let reads: Vec<View<'c>> = inputs.iter().chain(outputs).cloned().collect();
                let body = self.lane_body(self.plan.nest.body, count);
                self.apply(b, body, &reads, outputs, point);
            }
        }
    }

    /// A body on a register of `count` points: all lanes do it, unless it may fail where there
    /// is no point.
    pub(super) fn lane_body(&self, body: Block<'c>, count: u64) -> LaneBody<'c> {
        const MAY_FAIL: [&str; 8] = [
            "arith.divsi",
            "arith.divui",
            "arith.remsi",
            "arith.remui",
            "arith.floordivsi",
            "arith.ceildivsi",
            "arith.ceildivui",
            "tensor.extract",
        ];
        let may_fail = body.ops().iter().any(|op| MAY_FAIL.contains(&op.name()));
        LaneBody { body, lanes: if may_fail { count } else { self.plan.lanes } }
    }

    /// `device.apply` of a scalar body; views beyond its arguments are left out.
    pub(super) fn apply(
        &self,
        b: &mut Builder<'c>,
        LaneBody { body, lanes }: LaneBody<'c>,
        inputs: &[View<'c>],
        outputs: &[View<'c>],
        point: &[Sum<'c>],
    ) {
        // Only what the body reads: an output's value so far may not be there yet.
        let args = body.args();
        let used: Vec<usize> =
            (0..inputs.len().min(args.len())).filter(|&n| !args[n].uses().is_empty()).collect();
        let reads: Vec<View<'c>> = used.iter().map(|&number| inputs[number].clone()).collect();
        let numbers = self.asked_numbers(b, body, point);
        let block = build::apply(b, self.plan.unit, lanes, &reads, outputs);
        let mut values = vec![None; args.len()];
        for (number, arg) in used.iter().zip(block.args()) {
            values[*number] = Some(arg);
        }
        let mut inside = b.into_block(block);
        let along = self.plan.lanes_axis.filter(|_| lanes > 1);
        let along = along.map(|axis| (axis, self.neighbours));
        let results = write_body(&mut inside, body, &values, &numbers, along, &self.plan.memrefs);
        build::yield_values(&mut inside, &results);
    }

    /// Values of the axes that `linalg.index` asks for, at the first lane.
    fn asked_numbers(
        &self,
        b: &mut Builder<'c>,
        body: Block<'c>,
        point: &[Sum<'c>],
    ) -> Vec<Option<Val<'c>>> {
        let mut numbers = vec![None; point.len()];
        for axis in body.ops().into_iter().filter_map(crate::nest::index_axis) {
            let place = point[axis].clone().plus(&self.plan.origin[axis], 1);
            numbers[axis] = Some(place.emit(b));
        }
        numbers
    }
}
