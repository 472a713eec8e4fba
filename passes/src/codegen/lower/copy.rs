//! `device.copy`: moves between memory and registers.
//!
//! A register is moved whole where it can be: a short copy into the front of a
//! register fills the rest with zeros, a short copy out of it leaves the rest of
//! memory alone. Nothing outside the elements named is read or written.

use weft_dialects::device::{Copy, Machine, View};
use weft_dialects::ir::{Builder, Type, Val, attr, ty};

use super::super::target;
use super::view::{self, elem, last_extent};

/// Strides up to this one are read by whole vectors that are then thinned out.
const THINNED_STRIDE: u64 = 4;

/// One end of a copy.
struct End<'a, 'c> {
    view: &'a View<'c>,
    dim: usize,
    step: u64,
    registers: bool,
    masks: bool,
}

impl<'a, 'c> End<'a, 'c> {
    fn new(machine: Machine<'c>, view: &'a View<'c>, dim: usize, step: u64) -> Self {
        let memory = machine.memory_of(view.memref.ty());
        Self {
            view,
            dim,
            step,
            registers: memory.is_some_and(|memory| memory.is_registers()),
            masks: target::masks(machine, ty::bits(elem(view)).unwrap_or(8)),
        }
    }

    /// Returns the distance of the elements in memory.
    fn stride(&self) -> u64 {
        let shape = ty::shape(self.view.memref.ty()).unwrap_or_default();
        self.step * shape.iter().skip(self.dim + 1).product::<u64>()
    }

    /// The lanes of the register that the copy begins at the front of.
    fn register(&self) -> Option<u64> {
        let front = self.view.indices.last().is_none_or(|&index| is_zero(index));
        (self.registers && self.stride() == 1 && front).then(|| last_extent(self.view))
    }

    /// The view of the element `by` steps further.
    fn at(&self, b: &mut Builder<'c>, by: u64) -> View<'c> {
        view::shifted(b, self.view, self.dim, by * self.step)
    }
}

/// Puts reads and writes before the operation.
pub fn expand<'c>(b: &mut Builder<'c>, machine: Machine<'c>, copy: &Copy<'c>) {
    let from = End::new(machine, &copy.source, copy.from_dim, copy.from_step);
    let to = End::new(machine, &copy.target, copy.to_dim, copy.to_step);
    let streams = machine.move_named(copy.move_name).is_some_and(|way| way.streams());
    if let Some(lanes) = to.register().filter(|&lanes| lanes >= copy.count) {
        let line = read_lane(b, &from, copy.count).filter(|_| last_extent(from.view) == lanes);
        let value = line.unwrap_or_else(|| read(b, &from, lanes, copy.count));
        view::store(b, value, to.view);
    } else if let Some(lanes) = from.register().filter(|&lanes| lanes >= copy.count) {
        let value = view::load(b, from.view, lanes);
        if streams && lanes == copy.count {
            view::store_past_caches(b, value, to.view);
        } else {
            write(b, &to, value, copy.count);
        }
    } else {
        let bytes = ty::byte_size(elem(from.view)).unwrap_or(1);
        let lanes = target::register_bytes(machine) / bytes;
        // A line has as many lanes as the registers it is read of, and all of it would be stored.
        let whole = streams && last_extent(from.view) == copy.count;
        match read_lane(b, &from, copy.count).filter(|_| whole) {
            Some(line) => view::store_past_caches(b, line, to.view),
            None => through_registers(b, &from, &to, copy.count, lanes),
        }
    }
}

/// Copies `lanes` elements at a time, first in a loop, then the rest.
fn through_registers<'c>(
    b: &mut Builder<'c>,
    from: &End<'_, 'c>,
    to: &End<'_, 'c>,
    count: u64,
    lanes: u64,
) {
    let whole = count - count % lanes;
    if whole > lanes {
        let [zero, end, step] = [0, whole, lanes].map(|value| b.index(value as i64));
        let index = Type::index(b.context());
        let round = b.op_with("scf.for", &[zero, end, step], &[], &[], 1);
        let body = b.block(round.region(0), &[index]);
        let mut inner = b.into_block(body);
        let [source, target] = [from, to].map(|end| moved(&mut inner, end, body.arg(0)));
        piece(&mut inner, &End { view: &source, ..*from }, &End { view: &target, ..*to }, lanes);
        inner.op("scf.yield", &[], &[]);
    } else if whole == lanes {
        piece(b, from, to, lanes);
    }
    if count > whole {
        let [source, target] = [from, to].map(|end| end.at(b, whole));
        piece(b, &End { view: &source, ..*from }, &End { view: &target, ..*to }, count - whole);
    }
}

fn piece<'c>(b: &mut Builder<'c>, from: &End<'_, 'c>, to: &End<'_, 'c>, count: u64) {
    let few = count.next_power_of_two();
    let line = match few < last_extent(from.view) {
        true => read_few(b, from, (count, few)),
        false => read_lane(b, from, count),
    };
    let value = line.unwrap_or_else(|| read(b, from, count, count));
    write(b, to, value, count);
}

/// The same lane of `count` registers, as the first lanes of a register: one line of a square
/// that is turned. The steps that lines share are equal operations, of which one remains.
fn read_lane<'c>(b: &mut Builder<'c>, from: &End<'_, 'c>, count: u64) -> Option<Val<'c>> {
    let (lane, lanes) = lane_of(from, count)?;
    let lines = rows(b, from, count, lanes);
    Some(turned(b, &lines, lane))
}

/// The same of fewer registers than half a register has lanes, as a vector of `few` lanes: squares of so
/// many lanes each are turned side by side, and the one that has the lane is taken out.
fn read_few<'c>(
    b: &mut Builder<'c>,
    from: &End<'_, 'c>,
    (count, few): (u64, u64),
) -> Option<Val<'c>> {
    let (lane, lanes) = lane_of(from, count)?;
    let lines = rows(b, from, count, few);
    let line = turned(b, &lines, lane % few);
    let first = lane / few * few;
    let chosen: Vec<_> = (first..(first + few).min(lanes)).map(|t| t as i64).collect();
    Some(view::shuffle(b, line, line, &chosen))
}

/// The lane that a copy reads of several registers, and how many lanes they have; `None` where it reads
/// along one.
fn lane_of(from: &End<'_, '_>, count: u64) -> Option<(u64, u64)> {
    let (&last, lanes) = (from.view.indices.last()?, last_extent(from.view));
    let lane = last.def().and_then(|op| op.attr("value")).and_then(attr::int)?;
    let across = from.registers && from.step == 1 && from.dim + 1 < from.view.indices.len();
    let turns = across && lanes.is_power_of_two() && lanes >= 2 && (2..=lanes).contains(&count);
    turns.then_some((lane as u64, lanes))
}

/// The registers that a copy across them reads, zeros behind the last up to `all`.
fn rows<'c>(b: &mut Builder<'c>, from: &End<'_, 'c>, count: u64, all: u64) -> Vec<Val<'c>> {
    let lanes = last_extent(from.view);
    let mut rows = from.view.clone();
    *rows.indices.last_mut().expect("a register has lanes") = b.index(0);
    let mut line = |number: u64| {
        let row = view::shifted(b, &rows, from.dim, number);
        if number < count { view::load(b, &row, lanes) } else { view::zeros(b, elem(&rows), lanes) }
    };
    (0..all).map(&mut line).collect()
}

/// Line `lane` of squares of `lines`, side by side, after their lines and lanes have changed
/// places: halves of pairs of lines are exchanged, then quarters, and so on.
fn turned<'c>(b: &mut Builder<'c>, lines: &[Val<'c>], lane: u64) -> Val<'c> {
    let lanes = ty::count(lines[0].ty()).expect("a register has lanes");
    let mut lines = lines.to_vec();
    let mut half = lines.len() as u64 / 2;
    while half > 0 {
        // Only the lines that the one asked for is made of: half of those before.
        let upper = lane & half != 0;
        lines = (0..half)
            .map(|number| {
                let [low, high] = [number, number + half].map(|line| lines[line as usize]);
                let chosen = (0..lanes).map(|t| match (t & half != 0, upper) {
                    (false, false) => t,
                    (true, false) => lanes + t - half,
                    (false, true) => t + half,
                    (true, true) => lanes + t,
                });
                view::shuffle(b, low, high, &chosen.map(|t| t as i64).collect::<Vec<_>>())
            })
            .collect();
        half /= 2;
    }
    lines[0]
}

/// The view of the element `by` elements further, at run time.
fn moved<'c>(b: &mut Builder<'c>, end: &End<'_, 'c>, by: Val<'c>) -> View<'c> {
    let index = Type::index(b.context());
    let step = b.index(end.step as i64);
    let far = b.op("arith.muli", &[by, step], &[index]).result(0);
    let mut view = end.view.clone();
    view.indices[end.dim] = b.op("arith.addi", &[view.indices[end.dim], far], &[index]).result(0);
    view
}

/// `count` elements as the first of `lanes` lanes, zeros behind them.
fn read<'c>(b: &mut Builder<'c>, from: &End<'_, 'c>, lanes: u64, count: u64) -> Val<'c> {
    let stride = from.stride();
    if stride == 1 || count == 1 {
        return read_dense(b, from, lanes, count);
    }
    if stride <= THINNED_STRIDE && !from.registers && count >= 4 {
        return read_thinned(b, from, lanes, count);
    }
    let mut values: Vec<_> = (0..count)
        .map(|t| {
            let view = from.at(b, t);
            view::load(b, &view, 1)
        })
        .collect();
    let zero = view::zeros(b, elem(from.view), 1);
    values.resize(lanes as usize, zero);
    view::from_lanes(b, &values)
}

fn read_dense<'c>(b: &mut Builder<'c>, from: &End<'_, 'c>, lanes: u64, count: u64) -> Val<'c> {
    if count == lanes {
        return view::load(b, from.view, lanes);
    }
    if from.masks && !from.registers && !count.is_power_of_two() {
        return view::load_masked(b, from.view, lanes, count);
    }
    let mut sum = view::zeros(b, elem(from.view), lanes);
    for (begin, size) in powers_of_two(count) {
        let part = view::shifted(b, from.view, from.dim, begin);
        let part = view::load(b, &part, size);
        let wide = widened(b, part, size, lanes);
        let inside = begin..begin + size;
        let chosen: Vec<_> = (0..lanes)
            .map(|t| (if inside.contains(&t) { lanes + t - begin } else { t }) as i64)
            .collect();
        sum = view::shuffle(b, sum, wide, &chosen);
    }
    sum
}

/// Whole vectors over the span of the elements, thinned out by shuffles. The last
/// vector ends with the last element, so nothing behind it is touched.
fn read_thinned<'c>(b: &mut Builder<'c>, from: &End<'_, 'c>, lanes: u64, count: u64) -> Val<'c> {
    let (stride, span) = (from.stride(), (count - 1) * from.stride() + 1);
    let dense = End { dim: from.view.indices.len() - 1, step: 1, ..*from };
    let starts: Vec<_> = (0..span.div_ceil(lanes))
        .map(|part| (part * lanes).min(span.saturating_sub(lanes)))
        .collect();
    let mut sum = view::zeros(b, elem(from.view), lanes);
    for (part, &start) in starts.iter().enumerate() {
        let view = view::shifted(b, from.view, dense.dim, start);
        let loaded = read_dense(b, &End { view: &view, ..dense }, lanes, span.min(lanes));
        let chosen: Vec<_> = (0..lanes)
            .map(|t| {
                let here = t < count && t * stride / lanes == part as u64;
                (if here { lanes + t * stride - start } else { t }) as i64
            })
            .collect();
        sum = view::shuffle(b, sum, loaded, &chosen);
    }
    sum
}

/// Writes the first `count` lanes.
fn write<'c>(b: &mut Builder<'c>, to: &End<'_, 'c>, value: Val<'c>, count: u64) {
    let lanes = if ty::is_vector(value.ty()) { ty::count(value.ty()).unwrap_or(1) } else { 1 };
    if lanes == 1 {
        return view::store(b, value, to.view);
    }
    if to.stride() != 1 && count > 1 {
        for t in 0..count {
            let (one, view) = (view::lane(b, value, t), to.at(b, t));
            view::store(b, one, &view);
        }
    } else if count == lanes {
        view::store(b, value, to.view);
    } else if to.masks && !to.registers && !count.is_power_of_two() {
        view::store_masked(b, value, to.view, count);
    } else {
        for (begin, size) in powers_of_two(count) {
            let target = view::shifted(b, to.view, to.dim, begin);
            let part = if size == 1 {
                view::lane(b, value, begin)
            } else {
                let chosen: Vec<_> = (begin..begin + size).map(|t| t as i64).collect();
                view::shuffle(b, value, value, &chosen)
            };
            view::store(b, part, &target);
        }
    }
}

/// A scalar or short vector as the first lanes of a longer vector.
fn widened<'c>(b: &mut Builder<'c>, part: Val<'c>, size: u64, lanes: u64) -> Val<'c> {
    if size == 1 {
        return view::splat(b, part, lanes);
    }
    let chosen: Vec<_> = (0..lanes).map(|t| if t < size { t as i64 } else { -1 }).collect();
    view::shuffle(b, part, part, &chosen)
}

/// `13` as `(0, 8), (8, 4), (12, 1)`.
fn powers_of_two(count: u64) -> Vec<(u64, u64)> {
    let mut begin = 0;
    let sizes = (0..u64::BITS).rev().map(|bit| 1 << bit).filter(|size| count & size != 0);
    sizes
        .map(|size| {
            begin += size;
            (begin - size, size)
        })
        .collect()
}

fn is_zero(index: Val<'_>) -> bool {
    index.def().and_then(|op| op.attr("value")).and_then(attr::int) == Some(0)
}
