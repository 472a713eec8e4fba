//! Boxes of elements between memory and the registers of a thread.
//!
//! The slots of a thread that can hold elements of a box are known when the code is
//! written; only which element it is depends on the lane. Slots whose elements lie side by
//! side for every lane are moved by one wide access.

use weft_dialects::device::{Fill, View};
use weft_dialects::ir::{Builder, Diagnostics, Op, Val, ty};

use super::boxes::{Steps, both, choose, compare, is_zero, when};
use super::layout::Layout;
use super::storage::{self, Thread};
use super::together::{End, elements, wide_load, wide_store};
use crate::nest::{emit_sum, row_major};
use crate::tile::banks;

/// The most bytes that a thread moves at once.
const WIDEST_BYTES: u64 = 16;

/// Registers as one side of a move.
pub struct Registers<'a, 'c> {
    pub shape: &'a [u64],
    pub layout: &'a Layout<'c>,
    /// The elements of this thread.
    pub slots: Val<'c>,
    pub view: &'a View<'c>,
}

/// One slot that may hold an element of the box.
struct Slot<'c> {
    /// The index of the slot.
    place: Vec<Val<'c>>,
    /// Which element of the box it holds.
    point: Vec<Val<'c>>,
    /// The condition that it holds one; `None` if it always does.
    condition: Option<Val<'c>>,
    /// The index for every lane, where it is known at compile time.
    points: Option<Vec<Vec<i64>>>,
}

/// Puts a box into registers.
pub fn load<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    op: Op<'c>,
    registers: &Registers<'_, 'c>,
    from: &End<'_, 'c>,
    moved: &Steps<'_, 'c>,
    diag: &mut Diagnostics,
) {
    let Some(slots) = registers.slots(b, thread, op, moved.sizes, moved.to, diag) else { return };
    for run in runs(&slots, from, moved) {
        let (first, count) = (&run[0], run.len() as u64);
        let inside = moved.inside(b, &first.point);
        let condition = and(b, first.condition, inside);
        let at = super::boxes::address(b, from.base, &first.point, from.steps);
        // The tensor's first element is there, wherever the box begins.
        let spare = if moved.limits.is_empty() { from.base } else { b.index(0) };
        let at = choose(b, condition, at, Some(spare));
        let at = storage::swizzled(b, at, from.swizzle);
        let value = wide_load(b, from.flat, at, count);
        for (slot, mut value) in run.iter().zip(elements(b, value, count)) {
            if moved.pads
                && let Some(inside) = inside
            {
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

/// Takes a box out of registers.
pub fn store<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    op: Op<'c>,
    registers: &Registers<'_, 'c>,
    to: &End<'_, 'c>,
    moved: &Steps<'_, 'c>,
    diag: &mut Diagnostics,
) {
    let Some(slots) = registers.slots(b, thread, op, moved.sizes, moved.from, diag) else { return };
    for run in runs(&slots, to, moved) {
        let values: Vec<_> =
            run.iter().map(|slot| storage::load(b, registers.slots, &slot.place)).collect();
        let first = &run[0];
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

fn and<'c>(b: &mut Builder<'c>, x: Option<Val<'c>>, y: Option<Val<'c>>) -> Option<Val<'c>> {
    match (x, y) {
        (Some(x), Some(y)) => Some(both(b, x, y)),
        (x, y) => x.or(y),
    }
}

/// Cuts slots into those that one access moves: neighbours in memory for every lane, in
/// whole runs, as many as a power of two.
fn runs<'s, 'c>(
    slots: &'s [Slot<'c>],
    end: &End<'_, 'c>,
    moved: &Steps<'_, 'c>,
) -> Vec<&'s [Slot<'c>]> {
    let bytes = ty::elem(end.flat.ty()).and_then(ty::byte_size).unwrap_or(1);
    let kept = end.swizzle.map_or(u64::MAX, |swizzle| 1 << swizzle.keep);
    let most = moved.run.min(WIDEST_BYTES / bytes).min(kept).max(1);
    let offsets: Vec<Option<Vec<i64>>> = slots
        .iter()
        .map(|slot| {
            let sum =
                |point: &Vec<i64>| point.iter().zip(end.steps).map(|(t, step)| t * step).sum();
            slot.points.as_ref().map(|points| points.iter().map(sum).collect())
        })
        .collect();
    banks::runs(&offsets, most).into_iter().map(|run| &slots[run]).collect()
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
        let slots = self.slots(b, thread, fill.op, &fill.sizes, &fill.strides, diag);
        for slot in slots.into_iter().flatten() {
            let kept = slot.condition.map(|_| storage::load(b, self.slots, &slot.place));
            let value = choose(b, slot.condition, value, kept);
            storage::store(b, value, self.slots, &slot.place);
        }
    }

    /// Every slot of this thread that can hold an element of the box.
    fn slots(
        &self,
        b: &mut Builder<'c>,
        thread: &Thread<'c>,
        op: Op<'c>,
        sizes: &[u64],
        steps: &[i64],
        diag: &mut Diagnostics,
    ) -> Option<Vec<Slot<'c>>> {
        let Some(along) = self.sides(sizes, steps) else {
            diag.error(op, format!("steps {steps:?} in a register of {:?}", self.shape))
                .help("each side of a box runs along one dimension of the register");
            return None;
        };
        let lead = self.shape.len() - self.layout.shape.len();
        // The sides that run along leading dimensions are written out.
        let outer: Vec<usize> =
            (0..sizes.len()).filter(|&side| along[side].is_some_and(|dim| dim < lead)).collect();
        let rounds: u64 = outer.iter().map(|&side| sizes[side]).product();
        let mut found = Vec::new();
        for round in 0..rounds {
            let mut known = vec![0; sizes.len()];
            let mut place = self.view.indices[..lead].to_vec();
            let mut rest = round;
            for &side in outer.iter().rev() {
                known[side] = (rest % sizes[side]) as i64;
                rest /= sizes[side];
                let dim = along[side].expect("outer sides run along a dimension");
                place[dim] = emit_sum(b, &[(place[dim], 1)], known[side]);
            }
            for slot in 0..self.layout.slots {
                found.extend(self.slot(b, thread, sizes, &along, &known, &place, slot));
            }
        }
        Some(found)
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

    #[expect(clippy::too_many_arguments, reason = "what `slots` has found out so far")]
    fn slot(
        &self,
        b: &mut Builder<'c>,
        thread: &Thread<'c>,
        sizes: &[u64],
        along: &[Option<usize>],
        known: &[i64],
        place: &[Val<'c>],
        slot: u64,
    ) -> Option<Slot<'c>> {
        let lead = self.shape.len() - self.layout.shape.len();
        let mut point: Vec<_> = known.iter().map(|&step| b.index(step)).collect();
        let lanes = self.layout.places(slot);
        let mut points = Some(vec![known.to_vec(); lanes.len()]);
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
            let mut at = self.layout.place(b, inner, thread.place.lane, slot);
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
            let Some(side) = side else { continue };
            point[side] = at;
            for (point, lane) in points.iter_mut().flatten().zip(lanes) {
                point[side] = lane[inner];
            }
        }
        let mut place = place.to_vec();
        place.push(b.index(slot as i64));
        Some(Slot { place, point, condition, points })
    }
}
