//! Boxes of elements between memories and registers: copies, transfers and fills.
//!
//! A thread reads and writes what it holds (`registers.rs`); between memories the threads
//! share the work (`together.rs`). Reads never leave the box: a thread that has nothing to
//! read takes the box's first element and drops it.

use weft_dialects::device::{Copy, Fill, Limit, Transfer, View};
use weft_dialects::ir::{Builder, Diagnostics, Op, Type, Val, attr, ty};

use super::gathered;
use super::registers::{self, Registers, Sides};
use super::storage::{Storage, Thread, store};
use super::together::{self, End};
use super::tokens::{Kind, begun};
use crate::nest::{emit_sum, row_major};

/// The sides of a box, its steps at both ends, and what is left out.
pub struct Steps<'a, 'c> {
    pub sizes: &'a [u64],
    pub from: &'a [i64],
    pub to: &'a [i64],
    pub limits: &'a [Limit<'c>],
    /// True if targets of what is left out take zero.
    pub pads: bool,
    /// Elements side by side that may be moved together.
    pub run: u64,
}

impl<'a, 'c> Steps<'a, 'c> {
    /// Those of a transfer.
    pub fn of(transfer: &'a Transfer<'c>) -> Self {
        let Transfer { sizes, from_strides: from, to_strides: to, limits, pads, run, .. } =
            transfer;
        Self { sizes, from, to, limits, pads: *pads, run: *run }
    }

    /// Returns whether a point of the box is not left out, where that is not always so.
    pub fn inside(&self, b: &mut Builder<'c>, point: &[Val<'c>]) -> Option<Val<'c>> {
        let mut inside = None;
        for limit in self.limits {
            let zero = b.index(0);
            let sum = address(b, zero, point, &limit.steps);
            let holds = compare(b, "ult", sum, limit.bound);
            inside = Some(match inside {
                None => holds,
                Some(before) => both(b, before, holds),
            });
        }
        inside
    }
}

/// Puts a copy before the operation.
pub fn copy<'c>(b: &mut Builder<'c>, thread: &Thread<'c>, copy: &Copy<'c>, diag: &mut Diagnostics) {
    let stride = |view: &View<'c>, dim: usize, step: u64| {
        let own = row_major(&shape(thread.storage(view)));
        step as i64 * own.get(dim).copied().unwrap_or(1)
    };
    let from = [stride(&copy.source, copy.from_dim, copy.from_step)];
    let to = [stride(&copy.target, copy.to_dim, copy.to_step)];
    if let Storage::Registers { slots, shape, layout } = thread.storage(&copy.target)
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
    let sizes = [copy.count];
    let moved = Steps { sizes: &sizes, from: &from, to: &to, limits: &[], pads: false, run: 1 };
    move_box(b, thread, copy.op, [&copy.source, &copy.target], &moved, diag);
}

/// Puts a transfer before the operation.
pub fn transfer<'c>(
    b: &mut Builder<'c>,
    thread: &Thread<'c>,
    transfer: &Transfer<'c>,
    diag: &mut Diagnostics,
) {
    if begun(thread.machine, transfer.op) == Some(Kind::Boxes) {
        thread.boxes.bring(b, thread, transfer, diag);
        return;
    }
    let ends = [&transfer.source, &transfer.target];
    move_box(b, thread, transfer.op, ends, &Steps::of(transfer), diag);
}

/// Puts a fill before the operation.
pub fn fill<'c>(b: &mut Builder<'c>, thread: &Thread<'c>, fill: &Fill<'c>, diag: &mut Diagnostics) {
    let value = constant(b, fill);
    match thread.storage(&fill.target) {
        Storage::Memory { ours, .. } => {
            let end = End::new(b, thread, &fill.target, &fill.strides).expect("it is a memory");
            around(b, thread, *ours, |b| together::fill(b, thread, &fill.sizes, &end, value));
        }
        Storage::Registers { slots, shape, layout } => {
            let registers = Registers { shape, layout, slots: *slots, view: &fill.target };
            registers.fill(b, thread, fill, value, diag);
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
    moved: &Steps<'_, 'c>,
    diag: &mut Diagnostics,
) {
    let (from_storage, to_storage) = (thread.storage(source), thread.storage(target));
    let from = End::new(b, thread, source, moved.from);
    let to = End::new(b, thread, target, moved.to);
    // An engine's transfer is only begun: a group of copies of its own.
    if begun(thread.machine, op) == Some(Kind::Copies) {
        let ends = from.zip(to);
        if !ends.is_some_and(|(from, to)| together::begin(b, thread, moved, &from, &to)) {
            diag.error(op, "threads cannot begin this transfer and go on")
                .help("give 4, 8 or 16 bytes side by side at both ends, in memories that threads share, on an architecture with asynchronous copies");
        }
        thread.isa.close_copies(b);
        return;
    }
    let ours = matches!(to_storage, Storage::Memory { ours: true, .. });
    match (from_storage, from, to_storage, to) {
        (_, Some(from), _, Some(to)) => {
            around(b, thread, ours, |b| together::copy(b, thread, moved, &from, &to));
        }
        (_, Some(from), Storage::Registers { slots, shape, layout }, _) => {
            let registers = Registers { shape, layout, slots: *slots, view: target };
            let sides = Sides { sizes: moved.sizes, steps: moved.to };
            let Some(slots) = registers.slots(b, thread, op, sides, diag) else { return };
            let way = op.attr("move").and_then(attr::symbol);
            let way = way.and_then(|name| thread.machine.move_named(name));
            let own = (&registers, &slots[..]);
            match way.as_ref().and_then(|way| Some((way, way.gathering(thread.machine)?))) {
                Some((way, gathering)) => {
                    if !gathered::load(b, thread, (way, &gathering), own, &from) {
                        let (piece, bytes) = (gathering.piece, gathering.elem_bytes);
                        let what = format!("lanes cannot gather this box by @{}", way.name);
                        diag.error(op, format!("{what} in pieces of {piece} elements of {bytes} bytes"))
                            .help("load it by a move of which each lane does its part alone, or lay the memory out so that pieces are whole");
                    }
                }
                None => registers::load(b, thread, &registers, &slots, &from, moved),
            }
        }
        (Storage::Registers { slots, shape, layout }, _, _, Some(to)) => {
            let registers = Registers { shape, layout, slots: *slots, view: source };
            let sides = Sides { sizes: moved.sizes, steps: moved.from };
            around(b, thread, ours, |b| {
                if let Some(slots) = registers.slots(b, thread, op, sides, diag) {
                    registers::store(b, thread, &registers, &slots, (&to, !ours), moved);
                }
            });
        }
        (
            Storage::Registers { slots: held, shape: own, layout: spread },
            _,
            Storage::Registers { slots, shape, layout },
            _,
        ) => {
            let from = Registers { shape: own, layout: spread, slots: *held, view: source };
            let to = Registers { shape, layout, slots: *slots, view: target };
            registers::keep(b, thread, op, [&from, &to], moved, diag);
        }
        _ => unreachable!("what is in no registers is in a memory"),
    }
}

/// The slot of a lane-by-lane register.
pub fn lane_place<'c>(b: &mut Builder<'c>, view: &View<'c>) -> Vec<Val<'c>> {
    let lead = view.indices.len().saturating_sub(1);
    let mut place = view.indices[..lead].to_vec();
    place.push(b.index(0));
    place
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
        thread.isa.barrier(b, weft_dialects::device::Scope::Warp, None);
    }
    body(b);
    if ours {
        thread.isa.barrier(b, weft_dialects::device::Scope::Warp, None);
    }
}

/// `base` and as many `steps` as the point says.
pub fn address<'c>(
    b: &mut Builder<'c>,
    base: Val<'c>,
    point: &[Val<'c>],
    steps: &[i64],
) -> Val<'c> {
    let terms: Vec<_> = std::iter::once((base, 1))
        .chain(point.iter().copied().zip(steps.iter().copied()))
        .collect();
    emit_sum(b, &terms, 0)
}

/// `arith.cmpi` by its predicate's name.
pub fn compare<'c>(b: &mut Builder<'c>, predicate: &str, x: Val<'c>, y: Val<'c>) -> Val<'c> {
    let number = match predicate {
        "eq" => 0,
        "ne" => 1,
        "slt" => 2,
        "ult" => 6,
        "sge" => 5,
        _ => unreachable!("a comparison that no caller asks for"),
    };
    let predicate = [("predicate", attr::of_int(b.context(), number))];
    let bit = ty::int(b.context(), 1);
    b.op_with("arith.cmpi", &[x, y], &[bit], &predicate, 0).result(0)
}

/// Both conditions.
pub fn both<'c>(b: &mut Builder<'c>, x: Val<'c>, y: Val<'c>) -> Val<'c> {
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

/// What `then` gives under a condition, and zeros without.
pub fn or_zeros<'c>(
    b: &mut Builder<'c>,
    condition: Val<'c>,
    ty: Type<'c>,
    then: impl FnOnce(&mut Builder<'c>) -> Val<'c>,
) -> Val<'c> {
    let op = b.op_with("scf.if", &[condition], &[ty], &[], 2);
    let block = b.block(op.region(0), &[]);
    let mut inside = b.into_block(block);
    let value = then(&mut inside);
    inside.op("scf.yield", &[value], &[]);
    let block = b.block(op.region(1), &[]);
    let mut outside = b.into_block(block);
    let mut zero = outside.number(ty::elem(ty).unwrap_or(ty), 0.0);
    if ty::elem(ty).is_some() {
        zero = outside.op("vector.broadcast", &[zero], &[ty]).result(0);
    }
    outside.op("scf.yield", &[zero], &[]);
    op.result(0)
}

/// `body` for every number from `first` below `end`, `step` apart.
pub fn count<'c>(
    b: &mut Builder<'c>,
    first: Val<'c>,
    end: Val<'c>,
    step: Val<'c>,
    body: impl FnOnce(&mut Builder<'c>, Val<'c>),
) {
    let round = b.op_with("scf.for", &[first, end, step], &[], &[], 1);
    let block = b.block(round.region(0), &[first.ty()]);
    let mut inside = b.into_block(block);
    body(&mut inside, block.arg(0));
    inside.op("scf.yield", &[], &[]);
}

/// Returns whether a value is the constant zero.
pub fn is_zero(index: Val<'_>) -> bool {
    index.def().and_then(|op| op.attr("value")).and_then(attr::int) == Some(0)
}

fn shape(storage: &Storage<'_>) -> Vec<u64> {
    match storage {
        Storage::Memory { shape, .. } | Storage::Registers { shape, .. } => shape.clone(),
    }
}
