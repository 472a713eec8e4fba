//! Boxes that the threads of a block move together, and the part of each thread.
//!
//! ```text
//! chunk c of the box, `run` elements of its last side, is moved by thread c mod threads
//! ```
//!
//! So neighbours move neighbours: a row of the box is read as whole transactions, and where
//! the machine has wide accesses a thread moves a chunk by one.

use weft_dialects::device::View;
use weft_dialects::ir::{Builder, Type, Val, attr, ty};

use super::boxes::{Steps, address, both, choose, compare, when};
use super::storage::{Storage, Thread, load, store, swizzled};
use crate::nest::emit_sum;
use crate::tile::banks::Swizzle;

/// Rounds that are written out, all loads of them before the first store, so that one
/// latency is waited for instead of many.
const WRITTEN_OUT: u64 = 32;

/// One end of a box in memory.
pub struct End<'a, 'c> {
    /// `memref<elements x elem, space>`.
    pub flat: Val<'c>,
    /// The first element of the box.
    pub base: Val<'c>,
    /// The swizzle, if elements are not stored in order.
    pub swizzle: Option<Swizzle>,
    /// Elements between neighbours along each side.
    pub steps: &'a [i64],
}

impl<'a, 'c> End<'a, 'c> {
    /// A box that begins at a view of a memory.
    pub fn new(
        b: &mut Builder<'c>,
        thread: &Thread<'c>,
        view: &View<'c>,
        steps: &'a [i64],
    ) -> Option<Self> {
        let Storage::Memory { flat, shape, swizzle, .. } = thread.storage(view) else {
            return None;
        };
        let base = thread.linear(b, shape, &view.indices);
        Some(Self { flat: *flat, base, swizzle: *swizzle, steps })
    }

    /// The place of the element of a point.
    pub fn place(&self, b: &mut Builder<'c>, point: &[Val<'c>]) -> Val<'c> {
        let at = address(b, self.base, point, self.steps);
        self.stored(b, at)
    }

    /// The place of an element.
    pub fn stored(&self, b: &mut Builder<'c>, at: Val<'c>) -> Val<'c> {
        swizzled(b, at, self.swizzle)
    }

    /// Elements that a chunk has here side by side, at most `run`.
    pub fn wide(&self, run: u64) -> u64 {
        let whole = self.swizzle.is_none_or(|swizzle| 1 << swizzle.keep >= run);
        let side_by_side = self.steps.last() == Some(&1);
        if whole && side_by_side { run } else { 1 }
    }
}

/// The elements that a thread moves at once.
fn chunk(thread: &Thread<'_>, moved: &Steps<'_, '_>, from: &End<'_, '_>) -> u64 {
    let bytes = ty::elem(from.flat.ty()).and_then(ty::byte_size).unwrap_or(1);
    let last = moved.sizes.last().copied().unwrap_or(1);
    let mut run = moved.run.min(thread.widest(bytes)).max(1);
    while !last.is_multiple_of(run) {
        run /= 2;
    }
    from.wide(run)
}

/// A box from memory to memory.
pub fn copy<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    moved: &Steps<'_, 'c>,
    from: &End<'_, 'c>,
    to: &End<'_, 'c>,
) {
    let chunks = Chunks::new(moved, from, chunk(thread, moved, from));
    let (total, rounds) = (chunks.total(), chunks.rounds(thread));
    if rounds > WRITTEN_OUT {
        in_turn(b, thread, total, |b, number| {
            let chunk = chunks.read(b, number, None);
            chunk.write(b, moved, to);
        });
        return;
    }
    let read: Vec<_> = (0..rounds)
        .map(|round| {
            let (number, there) = chunks.turn(b, thread, round);
            chunks.read(b, number, there)
        })
        .collect();
    for chunk in read {
        chunk.write(b, moved, to);
    }
}

/// Begins a box from memory to memory; false where its chunks are none that copies take.
pub fn begin<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    moved: &Steps<'_, 'c>,
    from: &End<'_, 'c>,
    to: &End<'_, 'c>,
) -> bool {
    let run = chunk(thread, moved, from);
    let bytes = run * ty::elem(from.flat.ty()).and_then(ty::byte_size).unwrap_or(1);
    if to.wide(run) != run || !thread.isa.copies_ahead(bytes) {
        return false;
    }
    let chunks = Chunks::new(moved, from, run);
    for round in 0..chunks.rounds(thread) {
        let (number, there) = chunks.turn(b, thread, round);
        when(b, there, |b| {
            let (point, inside, at) = chunks.place(b, number, None);
            let place = to.place(b, &point);
            thread.isa.copy_ahead(b, [from.flat, at], [to.flat, place], bytes, inside);
        });
    }
    true
}

/// A number to every element of a box.
pub fn fill<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    sizes: &[u64],
    to: &End<'_, 'c>,
    value: Val<'c>,
) {
    in_turn(b, thread, sizes.iter().product(), |b, number| {
        let point = point(b, sizes, number);
        let at = to.place(b, &point);
        store(b, value, to.flat, &[at]);
    });
}

/// A run of elements that a thread moves at once.
struct Chunk<'c> {
    /// The point of its first element.
    point: Vec<Val<'c>>,
    /// One element, or a vector of them.
    value: Val<'c>,
    run: u64,
    /// The condition that this thread has a chunk; `None` if it always has.
    there: Option<Val<'c>>,
    /// The condition that the chunk is inside the limits; `None` if it always is.
    inside: Option<Val<'c>>,
}

/// A box in memory as what threads move at once.
struct Chunks<'a, 'c> {
    moved: &'a Steps<'a, 'c>,
    from: &'a End<'a, 'c>,
    /// Number of them along each side.
    sides: Vec<u64>,
    /// Elements of each.
    run: u64,
}

impl<'a, 'c> Chunks<'a, 'c> {
    fn new(moved: &'a Steps<'a, 'c>, from: &'a End<'a, 'c>, run: u64) -> Self {
        let mut sides = moved.sizes.to_vec();
        if let Some(last) = sides.last_mut() {
            *last /= run;
        }
        Self { moved, from, sides, run }
    }

    fn total(&self) -> u64 {
        self.sides.iter().product()
    }

    /// Rounds in which all threads of a block move a chunk each.
    fn rounds(&self, thread: &Thread<'c>) -> u64 {
        self.total().div_ceil(thread.groups * thread.lanes)
    }

    /// The number of this thread's chunk in a round, and the condition that there is one; `None` if
    /// there always is.
    fn turn(
        &self,
        b: &mut Builder<'c>,
        thread: &Thread<'c>,
        round: u64,
    ) -> (Val<'c>, Option<Val<'c>>) {
        let (threads, total) = (thread.groups * thread.lanes, self.total());
        let number = emit_sum(b, &[(thread.number(), 1)], (round * threads) as i64);
        let there = ((round + 1) * threads > total).then(|| {
            let total = b.index(total as i64);
            compare(b, "ult", number, total)
        });
        (number, there)
    }

    /// The first point of the chunk of a number, the condition that it is inside the limits, and
    /// where it is read: at the tensor's first element, if it is not inside or not `there`.
    fn place(
        &self,
        b: &mut Builder<'c>,
        number: Val<'c>,
        there: Option<Val<'c>>,
    ) -> (Vec<Val<'c>>, Option<Val<'c>>, Val<'c>) {
        let Self { moved, from, run, .. } = *self;
        let mut point = point(b, &self.sides, number);
        if let Some(last) = point.last_mut().filter(|_| run > 1) {
            *last = emit_sum(b, &[(*last, run as i64)], 0);
        }
        let inside = moved.inside(b, &point);
        let readable = match (inside, there) {
            (Some(inside), Some(there)) => Some(both(b, inside, there)),
            (inside, there) => inside.or(there),
        };
        let at = address(b, from.base, &point, from.steps);
        // The tensor's first element is there, wherever the box begins.
        let spare = if moved.limits.is_empty() { from.base } else { b.index(0) };
        let at = choose(b, readable, at, Some(spare));
        (point, inside, from.stored(b, at))
    }

    /// Reads the chunk of a number, if it is `there`.
    fn read(&self, b: &mut Builder<'c>, number: Val<'c>, there: Option<Val<'c>>) -> Chunk<'c> {
        let Self { moved, from, run, .. } = *self;
        let (point, inside, at) = self.place(b, number, there);
        let mut value = wide_load(b, from.flat, at, run);
        if moved.pads {
            let zero = inside.map(|_| zero(b, value.ty()));
            value = choose(b, inside, value, zero);
        }
        Chunk { point, value, run, there, inside }
    }
}

impl<'c> Chunk<'c> {
    fn write(self, b: &mut Builder<'c>, moved: &Steps<'_, 'c>, to: &End<'_, 'c>) {
        let Self { mut point, value, run, there, inside } = self;
        let condition = match (inside.filter(|_| !moved.pads), there) {
            (Some(inside), Some(there)) => Some(both(b, inside, there)),
            (inside, there) => inside.or(there),
        };
        when(b, condition, |b| {
            if to.wide(run) == run {
                let at = to.place(b, &point);
                wide_store(b, value, to.flat, at, run);
                return;
            }
            let last = *point.last().expect("a run goes along a side");
            for (n, value) in elements(b, value, run).into_iter().enumerate() {
                *point.last_mut().expect("it has a last side") =
                    emit_sum(b, &[(last, 1)], n as i64);
                let at = to.place(b, &point);
                store(b, value, to.flat, &[at]);
            }
        });
    }
}

/// `body` for every number below `total`, dealt out to the threads of the block.
fn in_turn<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    total: u64,
    body: impl FnOnce(&mut Builder<'c>, Val<'c>),
) {
    let (total, step) = (b.index(total as i64), b.index((thread.groups * thread.lanes) as i64));
    let first = thread.number();
    super::boxes::count(b, first, total, step, body);
}

/// The point of a box that a number stands for, row-major.
fn point<'c>(b: &mut Builder<'c>, sizes: &[u64], number: Val<'c>) -> Vec<Val<'c>> {
    let index = Type::index(b.context());
    let mut rest = number;
    let mut point = vec![rest; sizes.len()];
    for side in (0..sizes.len()).rev() {
        if side == 0 {
            point[side] = rest;
            break;
        }
        let size = b.index(sizes[side] as i64);
        point[side] = b.op("arith.remui", &[rest, size], &[index]).result(0);
        rest = b.op("arith.divui", &[rest, size], &[index]).result(0);
    }
    point
}

/// `run` elements from a place on: one, or a vector.
pub fn wide_load<'c>(b: &mut Builder<'c>, flat: Val<'c>, at: Val<'c>, run: u64) -> Val<'c> {
    if run == 1 {
        return load(b, flat, &[at]);
    }
    let elem = ty::elem(flat.ty()).expect("a load is of a memref");
    let vector = ty::vector(run, elem);
    b.op_with("vector.load", &[flat, at], &[vector], &[alignment(b, elem, run)], 0).result(0)
}

/// Writes what [`wide_load`] gives.
pub fn wide_store<'c>(b: &mut Builder<'c>, value: Val<'c>, flat: Val<'c>, at: Val<'c>, run: u64) {
    if run == 1 {
        store(b, value, flat, &[at]);
        return;
    }
    let elem = ty::elem(flat.ty()).expect("a store is to a memref");
    b.op_with("vector.store", &[value, flat, at], &[], &[alignment(b, elem, run)], 0);
}

fn alignment<'c>(
    b: &Builder<'c>,
    elem: Type<'c>,
    run: u64,
) -> (&'static str, weft_dialects::ir::Attribute<'c>) {
    let bytes = ty::byte_size(elem).unwrap_or(1) * run;
    ("alignment", attr::of_int(b.context(), bytes as i64))
}

/// The elements of what [`wide_load`] gives.
pub fn elements<'c>(b: &mut Builder<'c>, value: Val<'c>, run: u64) -> Vec<Val<'c>> {
    if run == 1 {
        return vec![value];
    }
    let elem = ty::elem(value.ty()).expect("a run is a vector");
    b.op("vector.to_elements", &[value], &vec![elem; run as usize]).results()
}

fn zero<'c>(b: &mut Builder<'c>, ty: Type<'c>) -> Val<'c> {
    let Some(elem) = ty::elem(ty).filter(|_| ty::is_vector(ty)) else { return b.number(ty, 0.0) };
    let zero = b.number(elem, 0.0);
    b.op("vector.broadcast", &[zero], &[ty]).result(0)
}
