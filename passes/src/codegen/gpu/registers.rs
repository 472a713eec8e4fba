//! Boxes of elements between memory and the registers of a thread.
//!
//! The slots of a thread that can hold elements of a box are known when the code is
//! written; only which element it is depends on the lane. Slots whose elements lie side by
//! side for every lane are moved by one wide access.

use weft_dialects::device::{Fill, View};
use weft_dialects::ir::{Builder, Diagnostics, Op, Type, Val, ty};

use super::boxes::{Steps, both, choose, compare, is_zero, or_zeros, when};
use super::exchange::Exchange;
use super::layout::Layout;
use super::storage::{self, Thread};
use super::together::{End, elements, wide_load, wide_store};
use super::zeros;
use crate::nest::{emit_sum, row_major};
use crate::tile::banks;

/// Registers as one side of a move.
pub struct Registers<'a, 'c> {
    pub shape: &'a [u64],
    pub layout: &'a Layout<'c>,
    /// The elements of this thread.
    pub slots: Val<'c>,
    pub view: &'a View<'c>,
}

/// The sides of a box in registers.
#[derive(Clone, Copy)]
pub struct Sides<'a> {
    pub sizes: &'a [u64],
    /// Elements between neighbours along each side.
    pub steps: &'a [i64],
}

/// One slot that may hold an element of the box.
pub struct Slot<'c> {
    /// The index of the slot.
    pub place: Vec<Val<'c>>,
    /// Which element of the box it holds.
    pub point: Vec<Val<'c>>,
    /// The condition that it holds one; `None` if it always does.
    pub condition: Option<Val<'c>>,
    /// The index for every lane, where it is known at compile time.
    pub points: Option<Vec<Vec<i64>>>,
}

/// Puts a box into the slots of registers.
pub fn load<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    registers: &Registers<'_, 'c>,
    slots: &[Slot<'c>],
    from: &End<'_, 'c>,
    moved: &Steps<'_, 'c>,
) {
    for run in runs(thread, slots, from, moved) {
        let (first, count) = (run[0], run.len() as u64);
        let inside = moved.inside(b, &first.point);
        let condition = and(b, first.condition, inside);
        let at = super::boxes::address(b, from.base, &first.point, from.steps);
        // What is left out is zero before the load, or behind it.
        let pads = inside.filter(|_| moved.pads);
        let has_predicates = thread.isa.has_predicates();
        let before = condition.filter(|_| {
            pads.is_some() && (has_predicates || zeros::lie_beside(thread.context, from.flat))
        });
        let value = match before {
            Some(condition) if !has_predicates => {
                let at = from.stored(b, at);
                zeros::read(b, [from.flat, at], count, condition)
            }
            Some(condition) => {
                let elem = ty::elem(from.flat.ty()).expect("a load is of a memref");
                let ty = if count == 1 { elem } else { ty::vector(count, elem) };
                or_zeros(b, condition, ty, |b| {
                    let at = from.stored(b, at);
                    wide_load(b, from.flat, at, count)
                })
            }
            None => {
                // The tensor's first element is there, wherever the box begins.
                let spare = if moved.limits.is_empty() { from.base } else { b.index(0) };
                let at = choose(b, condition, at, Some(spare));
                let at = from.stored(b, at);
                wide_load(b, from.flat, at, count)
            }
        };
        for (slot, mut value) in run.iter().zip(elements(b, value, count)) {
            if let Some(inside) = pads.filter(|_| before.is_none()) {
                let zero = b.number(value.ty(), 0.0);
                value = choose(b, Some(inside), value, Some(zero));
            }
            let kept = if moved.pads { slot.condition } else { condition };
            let old = kept.map(|_| storage::load(b, registers.slots, &slot.place));
            let value = choose(b, kept, value, old);
            storage::store(b, value, registers.slots, &slot.place);
        }
    }
}

/// Takes a box out of the slots of registers; to a `far` memory, whose accesses are of whole transactions, lanes
/// exchange what they hold first.
pub fn store<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    registers: &Registers<'_, 'c>,
    slots: &[Slot<'c>],
    (to, far): (&End<'_, 'c>, bool),
    moved: &Steps<'_, 'c>,
) {
    let runs = runs(thread, slots, to, moved);
    let mut rest = &runs[..];
    while let Some(run) = rest.first() {
        if let Some(exchange) = far.then(|| Exchange::of(thread, rest, to, moved)).flatten() {
            exchange.store(b, thread, registers, to, moved);
            rest = &rest[exchange.count()..];
            continue;
        }
        rest = &rest[1..];
        let values: Vec<_> =
            run.iter().map(|slot| storage::load(b, registers.slots, &slot.place)).collect();
        let first = run[0];
        let inside = moved.inside(b, &first.point);
        let condition = and(b, first.condition, inside);
        when(b, condition, |b| {
            let at = to.place(b, &first.point);
            let (mut value, count) = (values[0], values.len() as u64);
            if count > 1 {
                let vector = ty::vector(count, value.ty());
                value = b.op("vector.from_elements", &values, &[vector]).result(0);
            }
            wide_store(b, value, to.flat, at, count);
        });
    }
}

/// Puts a box of registers into others, whose lanes have the same of its elements: no lane gives another
/// anything.
pub fn keep<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    op: Op<'c>,
    [from, to]: [&Registers<'_, 'c>; 2],
    moved: &Steps<'_, 'c>,
    diag: &mut Diagnostics,
) {
    let mut slots = |own: &Registers<'_, 'c>, steps| {
        own.slots(b, thread, op, Sides { sizes: moved.sizes, steps }, diag)
    };
    let (Some(held), Some(wanted)) = (slots(from, moved.from), slots(to, moved.to)) else { return };
    for slot in wanted {
        let same = |own: &&Slot<'c>| own.points.is_some() && own.points == slot.points;
        let Some(own) = held.iter().find(same).filter(|_| moved.limits.is_empty()) else {
            diag.error(op, "lanes have other elements of the box there than here")
                .help("move it by a memory that the threads share");
            return;
        };
        let value = storage::load(b, from.slots, &own.place);
        storage::store(b, value, to.slots, &slot.place);
    }
}

fn and<'c>(b: &mut Builder<'c>, x: Option<Val<'c>>, y: Option<Val<'c>>) -> Option<Val<'c>> {
    match (x, y) {
        (Some(x), Some(y)) => Some(both(b, x, y)),
        (x, y) => x.or(y),
    }
}

/// Cuts slots into those that one access moves: neighbours in memory for every lane, in
/// whole runs, as many as a power of two.
fn runs<'s, 'c>(
    thread: &Thread<'c>,
    slots: &'s [Slot<'c>],
    end: &End<'_, 'c>,
    moved: &Steps<'_, 'c>,
) -> Vec<Vec<&'s Slot<'c>>> {
    let bytes = ty::elem(end.flat.ty()).and_then(ty::byte_size).unwrap_or(1);
    let kept = end.swizzle.map_or(u64::MAX, |swizzle| 1 << swizzle.keep);
    let most = moved.run.min(thread.widest(bytes)).min(kept).max(1);
    let runs = banks::runs(&offsets(slots, end), most).into_iter();
    runs.map(|run| run.into_iter().map(|slot| &slots[slot]).collect()).collect()
}

/// For each slot how far behind the beginning of a box each lane's element lies; `None` where that is known
/// of no lane before it runs.
pub fn offsets<'c>(slots: &[Slot<'c>], end: &End<'_, 'c>) -> Vec<Option<Vec<i64>>> {
    let of_slot = |slot: &Slot<'c>| {
        let sum = |point: &Vec<i64>| point.iter().zip(end.steps).map(|(t, step)| t * step).sum();
        slot.points.as_ref().map(|points| points.iter().map(sum).collect())
    };
    slots.iter().map(of_slot).collect()
}

/// A step along the leading dimensions of registers, which are written out.
struct Round<'c> {
    /// Its position along each side of the box that runs there.
    known: Vec<i64>,
    /// The index of that slot in the registers.
    place: Vec<Val<'c>>,
}

impl<'c> Registers<'_, 'c> {
    /// Puts one number everywhere in a box.
    pub fn fill(
        &self,
        b: &mut Builder<'c>,
        thread: &Thread<'c>,
        fill: &Fill<'c>,
        value: Val<'c>,
        diag: &mut Diagnostics,
    ) {
        let sides = Sides { sizes: &fill.sizes, steps: &fill.strides };
        let slots = self.slots(b, thread, fill.op, sides, diag);
        for slot in slots.into_iter().flatten() {
            let kept = slot.condition.map(|_| storage::load(b, self.slots, &slot.place));
            let value = choose(b, slot.condition, value, kept);
            storage::store(b, value, self.slots, &slot.place);
        }
    }

    /// Every slot of this thread that can hold an element of the box; `None` where that is reported.
    pub fn slots(
        &self,
        b: &mut Builder<'c>,
        thread: &Thread<'c>,
        op: Op<'c>,
        sides: Sides<'_>,
        diag: &mut Diagnostics,
    ) -> Option<Vec<Slot<'c>>> {
        let Sides { sizes, steps } = sides;
        let Some(along) = self.along(sides) else {
            diag.error(op, format!("steps {steps:?} in a register of {:?}", self.shape))
                .help("each side of a box runs along one dimension of the register; of those along one, the faster is all of what the slower steps over");
            return None;
        };
        let lead = self.shape.len() - self.layout.shape.len();
        // The sides that run along leading dimensions are written out.
        let is_outer = |side: &usize| along[*side].is_some_and(|along| along.dim < lead);
        let outer: Vec<usize> = (0..sizes.len()).filter(is_outer).collect();
        let rounds: u64 = outer.iter().map(|&side| sizes[side]).product();
        let mut found = Vec::new();
        for number in 0..rounds {
            let known = vec![0; sizes.len()];
            let mut round = Round { known, place: self.view.indices[..lead].to_vec() };
            let mut rest = number;
            for &side in outer.iter().rev() {
                round.known[side] = (rest % sizes[side]) as i64;
                rest /= sizes[side];
                let Along { dim, step, .. } =
                    along[side].expect("outer sides run along a dimension");
                let place = round.known[side] * step as i64;
                round.place[dim] = emit_sum(b, &[(round.place[dim], 1)], place);
            }
            for slot in 0..self.layout.slots {
                found.extend(self.slot(b, thread.place.lane, (sizes, &along), &round, slot));
            }
        }
        Some(found)
    }

    /// For each side of the box where it runs in the registers; none for one element.
    fn along(&self, Sides { sizes, steps }: Sides<'_>) -> Option<Vec<Option<Along>>> {
        let own = row_major(self.shape);
        let lead = self.shape.len() - self.layout.shape.len();
        let along = |(&size, &step): (&u64, &i64)| {
            if size == 1 {
                return Some(None);
            }
            let mut dims = (0..own.len()).rev().filter(|&dim| self.shape[dim] > 1);
            let dim = dims.find(|&dim| {
                let reach = own[dim] * self.shape[dim] as i64;
                own[dim] <= step && step < reach && step % own[dim] == 0
            })?;
            let step = (step / own[dim]) as u64;
            ((size - 1) * step < self.shape[dim]).then_some(Some(Along { dim, step, size }))
        };
        let along: Vec<_> = sizes.iter().zip(steps).map(along).collect::<Option<_>>()?;
        let whole = |dim: usize| {
            let own: Vec<Along> = slower_first(&along, dim).collect();
            let parts = own.windows(2).all(|pair| pair[1].size * pair[1].step == pair[0].step);
            let all = own.first().is_none_or(|first| first.size * first.step == self.shape[dim]);
            own.len() < 2 && own.first().is_none_or(|only| only.step == 1)
                || parts && all && own.last().is_some_and(|last| last.step == 1)
        };
        (lead..self.shape.len()).all(whole).then_some(along)
    }

    /// Returns the part of a slot in a box whose sides have these sizes and run along these
    /// dimensions.
    fn slot(
        &self,
        b: &mut Builder<'c>,
        lane: Val<'c>,
        (sizes, along): (&[u64], &[Option<Along>]),
        Round { known, place }: &Round<'c>,
        slot: u64,
    ) -> Option<Slot<'c>> {
        let lead = self.shape.len() - self.layout.shape.len();
        let mut point: Vec<_> = known.iter().map(|&step| b.index(step)).collect();
        let lanes = self.layout.places(slot);
        let mut points = Some(vec![known.clone(); lanes.len()]);
        let mut condition = None;
        for (inner, &extent) in self.layout.shape.iter().enumerate() {
            let dim = lead + inner;
            let own: Vec<usize> =
                (0..sizes.len()).filter(|&side| runs_along(along[side], dim)).collect();
            let size: u64 = own.iter().map(|&side| sizes[side]).product();
            let begin = self.view.indices[dim];
            let (low, high) = self.layout.reach(inner, slot);
            let front = is_zero(begin);
            if front && low >= size as i64 {
                return None;
            }
            let mut at = self.layout.place(b, inner, lane, slot);
            if !front {
                at = emit_sum(b, &[(at, 1), (begin, -1)], 0);
            }
            let always = (front && high < size as i64) || (extent == 1 && high == 0);
            if !always {
                // A place before the box is a large number without a sign.
                let size = b.index(size as i64);
                let inside = compare(b, "ult", at, size);
                condition = and(b, condition, Some(inside));
                points = None;
            }
            let alone = own.len() == 1;
            for side in own {
                let along = along[side].expect("it runs along the dimension");
                point[side] = if alone { at } else { digit(b, at, along, extent) };
                for (point, lane) in points.iter_mut().flatten().zip(lanes) {
                    point[side] = lane[inner] / along.step as i64 % along.size as i64;
                }
            }
        }
        let mut place = place.clone();
        place.push(b.index(slot as i64));
        Some(Slot { place, point, condition, points })
    }
}

/// The dimension of registers along which a side of a box runs.
#[derive(Clone, Copy)]
struct Along {
    /// The dimension.
    dim: usize,
    /// Distance of its points there.
    step: u64,
    /// Number of its points.
    size: u64,
}

fn runs_along(along: Option<Along>, dim: usize) -> bool {
    along.is_some_and(|along| along.dim == dim)
}

/// The sides along a dimension.
fn slower_first(along: &[Option<Along>], dim: usize) -> impl Iterator<Item = Along> {
    let mut own: Vec<Along> =
        along.iter().flatten().filter(|one| one.dim == dim).copied().collect();
    own.sort_by_key(|one| std::cmp::Reverse(one.step));
    own.into_iter()
}

/// The point along one of several sides of the place `at` in a dimension of `extent`.
fn digit<'c>(b: &mut Builder<'c>, at: Val<'c>, along: Along, extent: u64) -> Val<'c> {
    let Along { step, size, .. } = along;
    let index = Type::index(b.context());
    let mut digit = at;
    if step > 1 {
        let step = b.index(step as i64);
        digit = b.op("arith.divui", &[digit, step], &[index]).result(0);
    }
    // The slowest side goes to the end.
    if size * step < extent {
        let size = b.index(size as i64);
        digit = b.op("arith.remui", &[digit, size], &[index]).result(0);
    }
    digit
}
