//! Boxes of elements between memories and registers: copies, transfers and fills.
//!
//! A thread reads and writes what it holds; between memories the threads of a
//! group share the work. Reads never leave the box: a thread that has nothing to
//! read takes the box's first element and drops it.

use weft_dialects::device::{Copy, Fill, Transfer, View};
use weft_dialects::ir::{Builder, Diagnostics, Op, Type, Val, attr, ty};

use super::layout::Layout;
use super::room::{Room, Thread, load, store};
use crate::nest::{emit_sum, row_major};

/// The sides of a box, and its steps at both ends.
struct Steps<'a> {
    sizes: &'a [u64],
    from: &'a [i64],
    to: &'a [i64],
}

/// Puts a copy before the operation.
pub fn copy<'c>(b: &mut Builder<'c>, thread: &Thread<'c>, copy: &Copy<'c>, diag: &mut Diagnostics) {
    let stride = |view: &View<'c>, dim: usize, step: u64| {
        let own = row_major(&shape(thread.room(view)));
        step as i64 * own.get(dim).copied().unwrap_or(1)
    };
    let from = [stride(&copy.source, copy.from_dim, copy.from_step)];
    let to = [stride(&copy.target, copy.to_dim, copy.to_step)];
    if let Room::Registers { slots, shape, layout } = thread.room(&copy.target)
        && layout.is_lanewise()
        && to == [1]
        && copy.count < shape.last().copied().unwrap_or(1)
        && copy.target.indices.last().is_some_and(|&index| is_zero(index))
    {
        // A register that is not filled keeps zeros in its other lanes.
        let place = lane_place(b, &copy.target);
        let zero = b.number(ty::elem(slots.ty()).expect("slots are a memref"), 0.0);
        store(b, zero, *slots, &place);
    }
    let moved = Steps { sizes: &[copy.count], from: &from, to: &to };
    move_box(b, thread, copy.op, [&copy.source, &copy.target], &moved, diag);
}

/// Puts a transfer before the operation.
pub fn transfer<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    transfer: &Transfer<'c>,
    diag: &mut Diagnostics,
) {
    let Transfer { source, target, sizes, from_strides, to_strides, .. } = transfer;
    let moved = Steps { sizes, from: from_strides, to: to_strides };
    move_box(b, thread, transfer.op, [source, target], &moved, diag);
}

/// Puts a fill before the operation.
pub fn fill<'c>(b: &mut Builder<'c>, thread: &Thread<'c>, fill: &Fill<'c>, diag: &mut Diagnostics) {
    let value = constant(b, fill);
    match thread.room(&fill.target) {
        Room::Memory { flat, shape, ours } => {
            let base = thread.linear(b, shape, &fill.target.indices);
            around(b, thread, *ours, |b| {
                together(b, thread, &fill.sizes, |b, at| {
                    let to = address(b, base, at, &fill.strides);
                    store(b, value, *flat, &[to]);
                });
            });
        }
        Room::Registers { slots, shape, layout } => {
            let registers = Registers { shape, layout, view: &fill.target };
            registers.each(b, thread, fill.op, &fill.sizes, &fill.strides, diag, &mut |b, at| {
                let kept = at.condition.map(|_| load(b, *slots, &at.place));
                let value = choose(b, at.condition, value, kept);
                store(b, value, *slots, &at.place);
            });
        }
    }
}

/// The number that a fill writes, in the type that memory holds it in.
fn constant<'c>(b: &mut Builder<'c>, fill: &Fill<'c>) -> Val<'c> {
    let ty = ty::of_attr(fill.value).expect("the number of a fill has a type");
    let context = b.context();
    if ty == Type::bfloat16(context) {
        let number = attr::float(fill.value).unwrap_or(0.0) as f32;
        return b.integer(ty::int(context, 16), i64::from(number.to_bits() >> 16));
    }
    b.op_with("arith.constant", &[], &[ty], &[("value", fill.value)], 0).result(0)
}

fn move_box<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    op: Op<'c>,
    [source, target]: [&View<'c>; 2],
    moved: &Steps<'_>,
    diag: &mut Diagnostics,
) {
    match (thread.room(source), thread.room(target)) {
        (
            Room::Memory { flat: from, shape: from_shape, .. },
            Room::Memory { flat: to, shape: to_shape, ours },
        ) => {
            let read = thread.linear(b, from_shape, &source.indices);
            let written = thread.linear(b, to_shape, &target.indices);
            around(b, thread, *ours, |b| {
                together(b, thread, moved.sizes, |b, at| {
                    let place = address(b, read, at, moved.from);
                    let value = load(b, *from, &[place]);
                    let place = address(b, written, at, moved.to);
                    store(b, value, *to, &[place]);
                });
            });
        }
        (Room::Memory { flat, shape: memory, .. }, Room::Registers { slots, shape, layout }) => {
            let base = thread.linear(b, memory, &source.indices);
            let registers = Registers { shape, layout, view: target };
            registers.each(b, thread, op, moved.sizes, moved.to, diag, &mut |b, at| {
                let place = address(b, base, &at.point, moved.from);
                let place = choose(b, at.condition, place, Some(base));
                let value = load(b, *flat, &[place]);
                let kept = at.condition.map(|_| load(b, *slots, &at.place));
                let value = choose(b, at.condition, value, kept);
                store(b, value, *slots, &at.place);
            });
        }
        (Room::Registers { slots, shape, layout }, Room::Memory { flat, shape: memory, ours }) => {
            let base = thread.linear(b, memory, &target.indices);
            let registers = Registers { shape, layout, view: source };
            around(b, thread, *ours, |b| {
                registers.each(b, thread, op, moved.sizes, moved.from, diag, &mut |b, at| {
                    let value = load(b, *slots, &at.place);
                    let place = address(b, base, &at.point, moved.to);
                    when(b, at.condition, |b| store(b, value, *flat, &[place]));
                });
            });
        }
        (Room::Registers { .. }, Room::Registers { .. }) => {
            diag.error(op, "a box cannot go from registers to registers")
                .help("move it by a memory that the threads share");
        }
    }
}

/// Registers as one side of a move.
struct Registers<'a, 'c> {
    shape: &'a [u64],
    layout: &'a Layout<'c>,
    view: &'a View<'c>,
}

/// One slot that may hold an element of the box.
struct At<'c> {
    /// Where the slot is.
    place: Vec<Val<'c>>,
    /// Which element of the box it holds.
    point: Vec<Val<'c>>,
    /// Whether it does, where that is not always so.
    condition: Option<Val<'c>>,
}

impl<'c> Registers<'_, 'c> {
    /// Calls `body` for every slot of this thread that can hold an element of the box.
    #[expect(clippy::too_many_arguments, reason = "a box is sizes and steps, at an operation")]
    fn each(
        &self,
        b: &mut Builder<'c>,
        thread: &Thread<'c>,
        op: Op<'c>,
        sizes: &[u64],
        steps: &[i64],
        diag: &mut Diagnostics,
        body: &mut dyn FnMut(&mut Builder<'c>, At<'c>),
    ) {
        let Some(along) = self.sides(sizes, steps) else {
            diag.error(op, format!("steps {steps:?} in a register of {:?}", self.shape))
                .help("each side of a box runs along one dimension of the register");
            return;
        };
        let lead = self.shape.len() - self.layout.shape.len();
        // The sides that run along leading dimensions are written out.
        let outer: Vec<usize> =
            (0..sizes.len()).filter(|&side| along[side].is_some_and(|dim| dim < lead)).collect();
        let rounds: u64 = outer.iter().map(|&side| sizes[side]).product();
        for round in 0..rounds {
            let mut point: Vec<Option<Val<'c>>> = vec![None; sizes.len()];
            let mut place = self.view.indices[..lead].to_vec();
            let mut rest = round;
            for &side in outer.iter().rev() {
                let step = (rest % sizes[side]) as i64;
                rest /= sizes[side];
                point[side] = Some(b.index(step));
                let dim = along[side].expect("outer sides run along a dimension");
                place[dim] = emit_sum(b, &[(place[dim], 1)], step);
            }
            for slot in 0..self.layout.slots {
                if let Some(at) = self.slot(b, thread, sizes, &along, &point, &place, slot) {
                    body(b, at);
                }
            }
        }
    }

    /// For each side of the box the dimension that it runs along; none for one element.
    fn sides(&self, sizes: &[u64], steps: &[i64]) -> Option<Vec<Option<usize>>> {
        let own = row_major(self.shape);
        let dim_of = |step: i64| {
            let mut dims = (0..own.len()).rev().filter(|&dim| self.shape[dim] > 1);
            dims.find(|&dim| own[dim] == step)
        };
        sizes
            .iter()
            .zip(steps)
            .map(|(&size, &step)| {
                if size == 1 {
                    return Some(None);
                }
                dim_of(step).filter(|&dim| size <= self.shape[dim]).map(Some)
            })
            .collect()
    }

    #[expect(clippy::too_many_arguments, reason = "what `each` has found out so far")]
    fn slot(
        &self,
        b: &mut Builder<'c>,
        thread: &Thread<'c>,
        sizes: &[u64],
        along: &[Option<usize>],
        point: &[Option<Val<'c>>],
        place: &[Val<'c>],
        slot: u64,
    ) -> Option<At<'c>> {
        let lead = self.shape.len() - self.layout.shape.len();
        let mut point = point.to_vec();
        let mut condition = None;
        for (inner, &extent) in self.layout.shape.iter().enumerate() {
            let dim = lead + inner;
            let side = along.iter().position(|&along| along == Some(dim));
            let size = side.map_or(1, |side| sizes[side]);
            let begin = self.view.indices[dim];
            let (low, high) = self.layout.reach(inner, slot);
            let front = is_zero(begin);
            if front && low >= size as i64 {
                return None;
            }
            let mut at = self.layout.place(b, inner, thread.lane, slot);
            if !front {
                at = emit_sum(b, &[(at, 1), (begin, -1)], 0);
            }
            let always = (front && high < size as i64) || (extent == 1 && high == 0);
            if !always {
                // A place before the box is a large number without a sign.
                let size = b.index(size as i64);
                let inside = compare(b, "ult", at, size);
                condition = Some(match condition {
                    None => inside,
                    Some(before) => both(b, before, inside),
                });
            }
            if let Some(side) = side {
                point[side] = Some(at);
            }
        }
        let zero = b.index(0);
        let point = point.into_iter().map(|step| step.unwrap_or(zero)).collect();
        let mut place = place.to_vec();
        place.push(b.index(slot as i64));
        Some(At { place, point, condition })
    }
}

/// The slot of a lane-by-lane register.
pub fn lane_place<'c>(b: &mut Builder<'c>, view: &View<'c>) -> Vec<Val<'c>> {
    let lead = view.indices.len().saturating_sub(1);
    let mut place = view.indices[..lead].to_vec();
    place.push(b.index(0));
    place
}

/// `body` at every point of a box, the points dealt out to the threads of the group.
fn together<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    sizes: &[u64],
    body: impl FnOnce(&mut Builder<'c>, &[Val<'c>]),
) {
    let (total, step) = (b.index(sizes.iter().product::<u64>() as i64), thread.lanes as i64);
    let step = b.index(step);
    let round = b.op_with("scf.for", &[thread.lane, total, step], &[], &[], 1);
    let index = Type::index(b.context());
    let block = b.block(round.region(0), &[index]);
    let mut inside = b.into_block(block);
    let mut rest = block.arg(0);
    let mut point = vec![rest; sizes.len()];
    for side in (0..sizes.len()).rev() {
        if side == 0 {
            point[side] = rest;
            break;
        }
        let size = inside.index(sizes[side] as i64);
        point[side] = inside.op("arith.remui", &[rest, size], &[index]).result(0);
        rest = inside.op("arith.divui", &[rest, size], &[index]).result(0);
    }
    body(&mut inside, &point);
    inside.op("scf.yield", &[], &[]);
}

/// Writes to memory that only a warp shares, between waits for its threads: what
/// goes in step in the program need not do so on the chip.
fn around<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    ours: bool,
    body: impl FnOnce(&mut Builder<'c>),
) {
    if ours {
        thread.isa.barrier(b, weft_dialects::device::Scope::Warp);
    }
    body(b);
    if ours {
        thread.isa.barrier(b, weft_dialects::device::Scope::Warp);
    }
}

fn address<'c>(b: &mut Builder<'c>, base: Val<'c>, point: &[Val<'c>], steps: &[i64]) -> Val<'c> {
    let terms: Vec<_> = std::iter::once((base, 1))
        .chain(point.iter().copied().zip(steps.iter().copied()))
        .collect();
    emit_sum(b, &terms, 0)
}

/// `arith.cmpi` by its predicate's name.
pub fn compare<'c>(b: &mut Builder<'c>, predicate: &str, x: Val<'c>, y: Val<'c>) -> Val<'c> {
    let number = match predicate {
        "ult" => 6,
        "slt" => 2,
        "sge" => 5,
        _ => unreachable!("a comparison that no caller asks for"),
    };
    let predicate = [("predicate", attr::of_int(b.context(), number))];
    let bit = ty::int(b.context(), 1);
    b.op_with("arith.cmpi", &[x, y], &[bit], &predicate, 0).result(0)
}

fn both<'c>(b: &mut Builder<'c>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
    let bit = ty::int(b.context(), 1);
    b.op("arith.andi", &[x, y], &[bit]).result(0)
}

/// `yes` where the condition holds, `no` elsewhere; `yes` without a condition.
pub fn choose<'c>(
    b: &mut Builder<'c>,
    condition: Option<Val<'c>>,
    yes: Val<'c>,
    no: Option<Val<'c>>,
) -> Val<'c> {
    match (condition, no) {
        (Some(condition), Some(no)) => {
            b.op("arith.select", &[condition, yes, no], &[yes.ty()]).result(0)
        }
        _ => yes,
    }
}

/// `body` under a condition, or always.
pub fn when<'c>(
    b: &mut Builder<'c>,
    condition: Option<Val<'c>>,
    body: impl FnOnce(&mut Builder<'c>),
) {
    let Some(condition) = condition else {
        body(b);
        return;
    };
    let op = b.op_with("scf.if", &[condition], &[], &[], 2);
    let block = b.block(op.region(0), &[]);
    let mut inside = b.into_block(block);
    body(&mut inside);
    inside.op("scf.yield", &[], &[]);
}

/// Whether a value is the constant zero.
pub fn is_zero(index: Val<'_>) -> bool {
    index.def().and_then(|op| op.attr("value")).and_then(attr::int) == Some(0)
}

fn shape(room: &Room<'_>) -> Vec<u64> {
    match room {
        Room::Memory { shape, .. } | Room::Registers { shape, .. } => shape.clone(),
    }
}
