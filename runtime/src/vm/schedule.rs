//! Chooses the strips of a nest.
//!
//! Three shapes are known. Points along parallel axes make the best strips: loops over the
//! other axes run around them, in order, so each output element still accumulates in
//! lexicographic order. Where few points are parallel, a strip runs along the accumulating
//! axes; what does not depend on the accumulators is done for the whole strip, the rest point
//! by point. Where neither is possible a strip is one point.

use super::axes::{Axis, accesses, axes, indices, loaded_at};
use super::error::ProgramLocation;
use super::eval;
use super::inst::{BinaryOp, Inst};
use super::nest::*;
use super::program::{Nest, Reg, TensorDecl, TensorId};
use super::ty::Ty;

/// Bytes that the registers of a strip should not exceed.
const REGISTER_BYTES: usize = 256 << 10;

/// Fewer parallel points than this, and a longer accumulating strip is preferred.
const FEW_POINTS: u64 = 64;

impl Scheduled {
    /// Schedules a nest that was validated; `types` are those of its registers.
    pub fn new(
        tensors: &[TensorDecl],
        nest: &Nest,
        types: &[Ty],
        place: ProgramLocation,
    ) -> Scheduled {
        let kind = if nest.extents.contains(&0) {
            Kind::Nothing
        } else {
            let axes = axes(nest);
            match copy(tensors, nest, &axes) {
                Some(copy) => Kind::Copy(copy),
                None => match multiply(nest, types, &axes) {
                    Some(multiply) => Kind::Multiply(multiply),
                    None => Kind::Strips(Box::new(strips(nest, types, axes))),
                },
            }
        };
        Scheduled { place, kind }
    }
}

/// The nest as a reordering copy between two tensors, if it is one.
fn copy(tensors: &[TensorDecl], nest: &Nest, axes: &[Axis]) -> Option<Copy> {
    let ([load], [(store, 0)]) = (&nest.loads[..], &nest.stores[..]) else {
        return None;
    };
    let plain = nest.body.is_empty() && nest.scatters.is_empty() && load.tensor != store.tensor;
    if !plain || axes.iter().any(|axis| !axis.parallel) {
        return None;
    }
    let mut axes: Vec<CopyAxis> = axes
        .iter()
        .map(|axis| CopyAxis { extent: axis.extent, from: axis.strides[0], to: axis.strides[1] })
        .collect();
    axes.sort_by_key(|axis| std::cmp::Reverse(axis.to.unsigned_abs()));
    Some(Copy {
        from: load.tensor,
        to: store.tensor,
        bytes: tensors[load.tensor as usize].ty.bytes(),
        from_offset: load.offset,
        to_offset: store.offset,
        axes,
    })
}

/// More points than this are done in strips.
const MULTIPLY_POINTS: u64 = 1 << 15;

/// A short innermost loop costs more than strips do.
const MULTIPLY_INNER: u64 = 4;

/// The nest as a few products that are added to sums, if it is one.
fn multiply(nest: &Nest, types: &[Ty], axes: &[Axis]) -> Option<Multiply> {
    let ([_, _, _], [mul, add], [(store, stored)], []) =
        (&nest.loads[..], &nest.body[..], &nest.stores[..], &nest.scatters[..])
    else {
        return None;
    };
    let (
        Inst::Binary { op: BinaryOp::MulF, a, b },
        Inst::Binary { op: BinaryOp::AddF, a: x, b: y },
    ) = (*mul, *add)
    else {
        return None;
    };
    // Loads are registers 0 to 2, the product is 3, the sum is 4.
    let sum = nest.loads.iter().position(|load| load == store)? as Reg;
    let owned = nest.loads.iter().filter(|load| load.tensor == store.tensor).count() == 1;
    let operands = [a, b].iter().all(|r| *r < 3 && *r != sum) && a != b;
    let adds = (x, y) == (sum, 3) || (x, y) == (3, sum);
    let points = axes.iter().fold(1u64, |n, axis| n.saturating_mul(axis.extent));
    let float = matches!(types[4], Ty::F32 | Ty::F64);
    if !(owned && operands && adds && float && *stored == 4) || points > MULTIPLY_POINTS {
        return None;
    }
    let step = |axis: &Axis, r: Reg| axis.strides[r as usize];
    let inner = axes.iter().position(|axis| {
        axis.extent >= MULTIPLY_INNER
            && axis.parallel
            && step(axis, sum) == 1
            && [a, b].iter().all(|r| matches!(step(axis, *r), 0 | 1))
    })?;
    let around: Vec<&Axis> =
        axes.iter().enumerate().filter(|(i, _)| *i != inner).map(|(_, axis)| axis).collect();
    let access = |r: Reg| MultiplyAccess {
        tensor: nest.loads[r as usize].tensor,
        offset: nest.loads[r as usize].offset,
        strides: around.iter().map(|axis| step(axis, r)).collect(),
        step: step(&axes[inner], r),
    };
    Some(Multiply {
        ty: types[4],
        sum: access(sum),
        left: access(a),
        right: access(b),
        points: axes[inner].extent as usize,
        extents: around.iter().map(|axis| axis.extent).collect(),
        sum_first: x == sum,
    })
}

fn strips(nest: &Nest, types: &[Ty], axes: Vec<Axis>) -> Strips {
    let accumulators = find_accumulators(nest);
    let width: usize = types.iter().map(|ty| ty.bytes()).sum();
    let points_max = (REGISTER_BYTES / width.max(1)).clamp(32, STRIP_POINTS);

    let product = |parallel: bool| {
        let chosen = axes.iter().filter(|axis| axis.parallel == parallel);
        chosen.fold(1u64, |n, axis| n.saturating_mul(axis.extent))
    };
    let (parallel, serial) = (product(true), product(false));
    // Along accumulating axes only if every store is one and none is in the way.
    let all = nest.scatters.is_empty()
        && !nest.stores.is_empty()
        && accumulators.len() == nest.stores.len();
    let fixed = |axis: &Axis| accumulators.iter().all(|a| axis.strides[a.load as usize] == 0);
    let along = all
        && parallel < FEW_POINTS
        && serial > 2 * parallel
        && axes.iter().rfind(|axis| !axis.parallel).is_some_and(fixed);

    let order: Vec<usize> = if along {
        let serial = (0..axes.len()).rev().filter(|&i| !axes[i].parallel);
        serial.take_while(|&i| fixed(&axes[i])).collect()
    } else {
        let mut order: Vec<usize> = (0..axes.len()).filter(|&i| axes[i].parallel).collect();
        order.sort_by_key(|&i| (cost(&axes[i]), std::cmp::Reverse(i)));
        order
    };
    let shape = Shape::new(&axes, order, points_max);
    let (loops, chunked) = shape.loops(&axes, along);
    let (points, last_points) = shape.points();

    let mut addresses: Vec<Address> = Vec::new();
    let index_addresses = indices(nest).map(|_| (TensorId::MAX, 0));
    let bases = accesses(nest).map(|a| (a.tensor, a.offset)).chain(index_addresses);
    for (i, (tensor, offset)) in bases.enumerate() {
        addresses.push(Address { tensor, offset, pattern: shape.pattern(&axes, i) });
    }

    let first = nest.loads.len() + nest.stores.len();
    let is_accumulator = |load: usize| accumulators.iter().any(|a| a.load as usize == load);
    let loads = (0..nest.loads.len())
        .filter(|&i| !is_accumulator(i))
        .map(|i| Load { reg: i as Reg, pure: !written(nest, nest.loads[i].tensor) })
        .collect();
    let stores = nest.stores.iter().enumerate().filter(|(_, (access, _))| {
        !accumulators.iter().any(|a| nest.loads[a.load as usize] == *access)
    });
    let stores =
        stores.map(|(i, (_, value))| Store { address: nest.loads.len() + i, value: *value });

    let mut strips = Strips {
        loops,
        chunked,
        points,
        last_points,
        addresses,
        types: types.to_vec(),
        constants: Vec::new(),
        loads,
        indices: indices(nest).enumerate().map(|(i, (reg, _))| (reg, first + i)).collect(),
        ops: Vec::new(),
        stores: stores.collect(),
        scatters: nest.scatters.clone(),
        accumulators,
        tail: None,
    };
    lower_body(nest, &mut strips, along);
    strips
}

/// Returns the cost of an axis as the inside of a strip: large strides and few points cost most.
fn cost(axis: &Axis) -> usize {
    let far = |stride: &i64| match stride.unsigned_abs() {
        0 => 0,
        1 if *stride == 1 => 0,
        1..16 => 3,
        _ => 5,
    };
    let short = if axis.extent < 8 { axis.strides.len() } else { 0 };
    axis.strides.iter().map(far).sum::<usize>() + short
}

/// The points of a strip: whole inner axes, and a part of the last one.
struct Shape {
    /// Axis numbers, fastest first.
    inner: Vec<usize>,
    /// Axes that stay loops.
    outer: Vec<usize>,
    /// Points taken of the last inner axis, and its extent.
    chunk: u64,
    extent: u64,
    /// Points of the other inner axes together.
    before: u64,
}

impl Shape {
    fn new(axes: &[Axis], order: Vec<usize>, points_max: usize) -> Shape {
        let points_max = points_max as u64;
        let (mut inner, mut before, mut points) = (Vec::new(), 1u64, 1u64);
        for axis in order {
            // Half full is full: a chunk of at least two points is then left for the last axis.
            if points > points_max / 2 {
                break;
            }
            inner.push(axis);
            before = points;
            points = points.saturating_mul(axes[axis].extent);
        }
        let extent = inner.last().map_or(1, |&axis| axes[axis].extent);
        let chunk = extent.min(points_max / before);
        let outer = (0..axes.len()).filter(|i| !inner.contains(i)).collect();
        Shape { inner, outer, chunk, extent, before }
    }

    fn points(&self) -> (usize, usize) {
        let rest = self.extent - (self.extent.div_ceil(self.chunk) - 1) * self.chunk;
        ((self.before * self.chunk) as usize, (self.before * rest) as usize)
    }

    /// The loops around the strip, and which of them steps through the parts.
    fn loops(&self, axes: &[Axis], along: bool) -> (Vec<Loop>, Option<usize>) {
        let mut loops = Vec::new();
        let mut push = |axis: usize| {
            loops.push(Loop { count: axes[axis].extent, strides: axes[axis].strides.clone() });
            loops.len()
        };
        let mut place = 0;
        for &axis in self.outer.iter().filter(|&&i| axes[i].parallel) {
            place = push(axis);
        }
        for &axis in self.outer.iter().filter(|&&i| !axes[i].parallel) {
            let n = push(axis);
            // Pieces of an accumulating axis come in its order, after the axes outside of it.
            if along {
                place = n;
            }
        }
        let count = self.extent.div_ceil(self.chunk);
        if count == 1 {
            return (loops, None);
        }
        let axis = &axes[self.inner[self.inner.len() - 1]];
        let strides = axis.strides.iter().map(|s| s.wrapping_mul(self.chunk as i64)).collect();
        loops.insert(place, Loop { count, strides });
        (loops, Some(place))
    }

    fn pattern(&self, axes: &[Axis], address: usize) -> Pattern {
        let mut table = vec![0i64];
        for (i, &axis) in self.inner.iter().enumerate() {
            let last = i + 1 == self.inner.len();
            let count = if last { self.chunk } else { axes[axis].extent };
            let (stride, len) = (axes[axis].strides[address], table.len());
            for round in 1..count as i64 {
                for j in 0..len {
                    table.push(table[j].wrapping_add(stride.wrapping_mul(round)));
                }
            }
        }
        let step = table.get(1).copied().unwrap_or(0);
        if table.iter().enumerate().all(|(i, &t)| t == step.wrapping_mul(i as i64)) {
            return match step {
                0 => Pattern::Uniform,
                1 => Pattern::Unit,
                _ => Pattern::Strided(step),
            };
        }
        let len = self.inner.first().map_or(1, |&axis| axes[axis].extent) as usize;
        if step == 1 && len >= 8 {
            return Pattern::Runs { len, starts: table.into_iter().step_by(len).collect() };
        }
        Pattern::Table(table)
    }
}

fn written(nest: &Nest, tensor: TensorId) -> bool {
    nest.stores.iter().any(|(access, _)| access.tensor == tensor)
        || nest.scatters.iter().any(|scatter| scatter.tensor == tensor)
}

/// Pairs of a load and a store that own their tensor within the nest.
fn find_accumulators(nest: &Nest) -> Vec<Accumulator> {
    let mut found: Vec<Accumulator> = Vec::new();
    for (access, value) in &nest.stores {
        let tensor = access.tensor;
        let users = accesses(nest).filter(|a| a.tensor == tensor).count();
        let others = loaded_at(nest, tensor) || nest.scatters.iter().any(|s| s.tensor == tensor);
        let Some(load) = nest.loads.iter().position(|load| load == access) else {
            continue;
        };
        if users != 2 || others {
            continue;
        }
        let load = load as Reg;
        let swap = (*value as usize).checked_sub(nest.loads.len()).is_some_and(|i| {
            let mut reads = false;
            nest.body[i].for_each_operand(|r| reads |= r == load);
            reads && !found.iter().any(|a| a.value == *value)
        });
        found.push(Accumulator { load, value: *value, swap });
    }
    // A value that is itself a load would be overwritten while values move to their loads.
    if found.iter().any(|a| (a.value as usize) < nest.loads.len()) {
        found.clear();
    }
    found
}

fn lower_body(nest: &Nest, strips: &mut Strips, along: bool) {
    let loads = nest.loads.len();
    // Registers that depend on an accumulator, if those are dealt with point by point.
    let mut tainted = vec![false; strips.types.len()];
    let mut uses = vec![0u32; strips.types.len()];
    for accumulator in strips.accumulators.iter() {
        tainted[accumulator.load as usize] = along;
        uses[accumulator.value as usize] += 2;
    }
    for (_, value) in &nest.stores {
        uses[*value as usize] += 2;
    }
    for scatter in &nest.scatters {
        uses[scatter.address as usize] += 2;
        uses[scatter.value as usize] += 2;
    }
    for inst in &nest.body {
        inst.for_each_operand(|r| uses[r as usize] += 1);
    }

    let (mut ops, mut tail): (Vec<Op>, Vec<Op>) = (Vec::new(), Vec::new());
    for (i, inst) in nest.body.iter().enumerate() {
        let dst = (loads + i) as Reg;
        match *inst {
            Inst::Const(scalar) => {
                strips.constants.push((dst, scalar));
                continue;
            }
            Inst::Index(_) => continue,
            _ => {}
        }
        let mut depends = false;
        inst.for_each_operand(|r| depends |= tainted[r as usize]);
        tainted[dst as usize] = depends;
        let volatile = matches!(inst, Inst::LoadAt { tensor, .. } if written(nest, *tensor));
        let mut op = Op { kind: OpKind::Plain(*inst), dst, number: i as u32, volatile };
        if depends {
            tail.push(op);
            continue;
        }
        // A product with one use is added in the same pass.
        if let Some((mul, kind)) = mul_add(nest, inst, strips.types[dst as usize], &uses)
            && let Some(at) = ops.iter().position(|op| op.dst == mul)
        {
            ops.remove(at);
            op.kind = kind;
        }
        ops.push(op);
    }
    strips.ops = ops;
    if along {
        strips.tail = Some(match folds(&strips.accumulators, &tail, &strips.types, &tainted) {
            Some(folds) => Tail::Folds(folds),
            None => {
                let mut inputs = Vec::new();
                let mut add = |r: Reg| {
                    if !tainted[r as usize] && !inputs.contains(&r) {
                        inputs.push(r);
                    }
                };
                tail.iter().for_each(|op| op.kind.for_each_operand(&mut add));
                strips.accumulators.iter().for_each(|a| add(a.value));
                Tail::Ops { inputs, ops: tail }
            }
        });
    }
}

fn mul_add(nest: &Nest, inst: &Inst, ty: Ty, uses: &[u32]) -> Option<(Reg, OpKind)> {
    let Inst::Binary { op: BinaryOp::AddF, a: left, b: right } = *inst else {
        return None;
    };
    let product = |r: Reg| {
        let i = (r as usize).checked_sub(nest.loads.len())?;
        match nest.body[i] {
            Inst::Binary { op: BinaryOp::MulF, a, b } if uses[r as usize] == 1 => Some((a, b)),
            _ => None,
        }
    };
    if !matches!(ty, Ty::F32 | Ty::F64) {
        return None;
    }
    // The right operand first: it is the product in accumulations.
    if let Some((a, b)) = product(right) {
        return Some((right, OpKind::MulAdd { a, b, c: left }));
    }
    let (a, b) = product(left)?;
    Some((left, OpKind::MulAdd { a, b, c: right }))
}

/// The tail as one fold per accumulator, if it is no more than that.
fn folds(
    accumulators: &[Accumulator],
    tail: &[Op],
    types: &[Ty],
    tainted: &[bool],
) -> Option<Vec<Fold>> {
    if tail.len() != accumulators.len() {
        return None;
    }
    let fold = |accumulator: &Accumulator| {
        let op = tail.iter().find(|op| op.dst == accumulator.value)?;
        let OpKind::Plain(Inst::Binary { op, a, b }) = op.kind else {
            return None;
        };
        let (x, first) = if a == accumulator.load { (b, true) } else { (a, false) };
        let folds = (a == accumulator.load || b == accumulator.load)
            && !tainted[x as usize]
            && eval::folds(op, types[accumulator.load as usize]);
        folds.then_some(Fold { op, load: accumulator.load, x, first })
    };
    accumulators.iter().map(fold).collect()
}
