//! Constraints of `device.transfer`, `device.fill` and `device.mark`.

use super::super::tokens::arrival_of_round;
use super::super::{Fill, Kernel, Machine, Move, TensorBox, Transfer, View};
use super::program::place;
use super::{check_engine, check_token};
use crate::ir::{Diagnostics, Op, attr, parts, ty};
use crate::verify::{check_fact, count, symbol};

/// C1. The machine has the move, between the memories of the two types. A cache
/// counts as what it caches.
pub(super) fn transfer_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(transfer), Some(way)) = (Transfer::of(op), move_of(op, diag)) else { return };
    check_end(op, &way, "from", way.source(), &transfer.source, diag);
    check_end(op, &way, "to", way.target(), &transfer.target, diag);
}

/// The move that is named; reports one that is not there.
fn move_of<'c>(op: Op<'c>, diag: &mut Diagnostics) -> Option<Move<'c>> {
    let (machine, name) = (Machine::of(op)?, symbol(op, "move")?);
    check_fact(op, machine, "device.move", name, diag)?;
    machine.move_named(name)
}

fn check_end(
    op: Op<'_>,
    way: &Move<'_>,
    side: &str,
    memory: &str,
    view: &View<'_>,
    diag: &mut Diagnostics,
) {
    let Some(machine) = Machine::of(op) else { return };
    let (ty, what, name) = (view.memref.ty(), op.name(), way.name);
    let behind = machine.behind(memory).map_or(memory, |memory| memory.name);
    if place(machine, ty) != Some(behind) {
        diag.error(op, format!("{what} goes {side} {ty}, @{name} {side} @{memory}"))
            .note(way.op(), "the move is here")
            .help("name a move between the memories of the types");
    }
}

/// C2. Both types have the same element type.
pub(super) fn transfer_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(transfer) = Transfer::of(op) else { return };
    let (source, target) = (transfer.source.memref.ty(), transfer.target.memref.ty());
    if ty::elem(source) != ty::elem(target) {
        diag.error(op, format!("device.transfer goes from {source} to {target}"))
            .help("a transfer keeps the element type; convert it with device.apply");
    }
}

/// C3. There is one index per dimension, and one stride of each side per size;
/// sizes are above zero.
pub(super) fn transfer_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(transfer) = Transfer::of(op) else { return };
    check_box(op, &transfer.source, &transfer.sizes, &transfer.from_strides, diag);
    check_box(op, &transfer.target, &transfer.sizes, &transfer.to_strides, diag);
}

fn check_box(op: Op<'_>, view: &View<'_>, sizes: &[u64], strides: &[i64], diag: &mut Diagnostics) {
    let (ty, name) = (view.memref.ty(), op.name());
    if parts::rank(ty).is_some_and(|rank| rank != view.indices.len()) {
        let given = count(view.indices.len(), "index");
        diag.error(op, format!("{name} gives {given} to {ty}"))
            .help("give one index per dimension");
    }
    if sizes.len() != strides.len() {
        let (sizes, strides) = (count(sizes.len(), "size"), count(strides.len(), "stride"));
        diag.error(op, format!("{name} has {sizes} and {strides}"))
            .help("give one stride per size");
    }
    if sizes.contains(&0) {
        diag.error(op, format!("{name} has the sizes {sizes:?}")).help("sizes are above zero");
    }
}

/// C4. What is not side by side needs a strided move.
pub(super) fn transfer_c4(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(transfer) = Transfer::of(op) else { return };
    let way = Machine::of(op).and_then(|machine| machine.move_named(transfer.move_name));
    let Some(way) = way.filter(|way| !way.strided()) else { return };
    for strides in [&transfer.from_strides, &transfer.to_strides] {
        if !is_dense(&transfer.sizes, strides) {
            let (sizes, name) = (&transfer.sizes, way.name);
            diag.error(op, format!("a box {sizes:?} goes by {strides:?}, @{name} cannot step"))
                .note(way.op(), "the move is here")
                .help("use a strided move, or one transfer for each row");
        }
    }
}

/// Returns whether the elements of a box lie one after the other.
fn is_dense(sizes: &[u64], strides: &[i64]) -> bool {
    let mut behind = 1i64;
    sizes.iter().zip(strides).rev().all(|(&size, &stride)| {
        let dense = size == 1 || stride == behind;
        behind = behind.saturating_mul(size as i64);
        dense
    })
}

/// C5. It gives a token if, and only if, an engine does the move.
pub(super) fn transfer_c5(op: Op<'_>, diag: &mut Diagnostics) {
    if let Some(name) = symbol(op, "move") {
        check_token(op, "device.move", name, diag);
    }
}

/// C6. The box fits both types, at least without what limits leave out.
pub(super) fn transfer_c6(op: Op<'_>, diag: &mut Diagnostics) {
    // The elements within limits are known only at run time.
    let Some(transfer) = Transfer::of(op).filter(|transfer| transfer.limits.is_empty()) else {
        return;
    };
    check_room(op, &transfer.source, &transfer.sizes, &transfer.from_strides, diag);
    check_room(op, &transfer.target, &transfer.sizes, &transfer.to_strides, diag);
}

/// C7. Each limit has one step per size, none below zero; the run is a power of two.
pub(super) fn transfer_c7(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(Ok([.., bounds, _])) = op.segments().map(<[_; 6]>::try_from) else { return };
    let sizes = op.attr("sizes").and_then(attr::ints).map_or(0, |sizes| sizes.len());
    let steps = op.attr("limit_steps").and_then(attr::ints).unwrap_or_default();
    if steps.len() != bounds.len() * sizes || steps.iter().any(|&step| step < 0) {
        let (bounds, sizes) = (count(bounds.len(), "limit"), count(sizes, "side"));
        diag.error(op, format!("device.transfer has {bounds}, {sizes} and the steps {steps:?}"))
            .help("give each limit one step per side, none below zero");
    }
    let run = op.attr("run").and_then(attr::int).unwrap_or(1);
    if !u64::try_from(run).is_ok_and(u64::is_power_of_two) {
        diag.error(op, format!("device.transfer has runs of {run}"))
            .help("a run is a power of two");
    }
}

/// C8. A move of boxes brings what is some of one shape, and pads where there are limits.
pub(super) fn transfer_c8(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(transfer), Some(machine)) = (Transfer::of(op), Machine::of(op)) else { return };
    let Some(way) = machine.move_named(transfer.move_name) else { return };
    let Some(boxes) = way.boxes() else { return };
    if let Err(wrong) = TensorBox::of(&transfer, &boxes, 1) {
        diag.error(op, format!("what @{} brings {wrong}", way.name))
            .note(way.op(), "the move is here")
            .help("bring it by a move that takes elements one by one, or let the target lie as boxes do");
    }
    if !transfer.limits.is_empty() && !transfer.pads {
        diag.error(op, format!("@{} writes zeros where limits leave elements out", way.name))
            .note(way.op(), "the move is here")
            .help("write `pads`");
    }
}

/// C9. What is brought together comes by a move of boxes that serves several units, and the slowest side of the box is
/// as many points as the cluster has rTasks, or a multiple; as many as the move serves at most, to a buffer with bytes of
/// its own.
pub(super) fn transfer_c9(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(transfer), Some(machine)) = (Transfer::of(op), Machine::of(op)) else { return };
    let Some(way) = machine.move_named(transfer.move_name).filter(|_| transfer.together) else {
        return;
    };
    let Some(boxes) = way.boxes().filter(|boxes| boxes.units.is_some()) else {
        diag.error(op, format!("@{} brings nothing to several units at once", way.name))
            .note(way.op(), "the move is here")
            .help("leave `together` out, or name a move with `boxes` to several `units`");
        return;
    };
    let kernel = std::iter::successors(op.parent(), |own| own.parent()).find_map(Kernel::of);
    let cluster = kernel.and_then(|kernel| kernel.cluster);
    let shares = cluster.map_or(1, |cluster| cluster.count);
    if let Some(most) = boxes.units.filter(|most| *most < shares) {
        diag.error(
            op,
            format!("@{} brings boxes to {most} units, of {shares} of a cluster", way.name),
        )
        .note(way.op(), "the move is here")
        .help("leave `together` out, or let fewer rTasks be a cluster");
    }
    if transfer.target.memref.def().is_some_and(|alloc| alloc.attr("offset").is_some()) {
        diag.error(op, "device.transfer brings a box together to a place of the arena").help(
            "other rTasks may use what shares its bytes: give it a buffer of its own, without `at`",
        );
    }
    let whole = TensorBox::of(&transfer, &boxes, 1).is_ok();
    if let Some(wrong) = TensorBox::of(&transfer, &boxes, shares).err().filter(|_| whole) {
        diag.error(op, format!("what @{} brings together {wrong}", way.name))
            .note(way.op(), "the move is here")
            .help("bring it for each rTask, without `together`");
    }
}

/// C10. Only a transfer of boxes is `after` a token: one that the loop around it carries, which is that of `device.ready`
/// in the first round and that of an arrival in the round before in others.
pub(super) fn transfer_c10(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(transfer), Some(machine)) = (Transfer::of(op), Machine::of(op)) else { return };
    let Some(after) = transfer.after else { return };
    let Some(way) = machine.move_named(transfer.move_name) else { return };
    if way.boxes().is_none() {
        diag.error(
            op,
            format!("@{} is after an arrival, and every lane asks for its part", way.name),
        )
        .note(way.op(), "the move is here")
        .help("put device.barrier \"core\" in front of it, or name a move of boxes");
    }
    if arrival_of_round(op, after).is_none() {
        diag.error(op, "device.transfer is after what is no arrival of the round before").help(
            "let the loop around it carry a token: of device.ready at first, then of device.arrive in its own body",
        );
    }
}

fn check_room(op: Op<'_>, view: &View<'_>, sizes: &[u64], strides: &[i64], diag: &mut Diagnostics) {
    let reach = sizes.iter().zip(strides).fold(1u64, |reach, (&size, stride)| {
        reach.saturating_add(size.saturating_sub(1).saturating_mul(stride.unsigned_abs()))
    });
    let ty = view.memref.ty();
    if let Some(room) = ty::shape(ty).map(|shape| shape.iter().product::<u64>())
        && reach > room
    {
        let name = op.name();
        diag.error(op, format!("{name} spans {reach} elements of {ty}, which has {room}"))
            .help("make the box smaller, or its strides");
    }
}

/// C1. The machine has the move, which fills, to the memory of the type.
pub(super) fn fill_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(fill), Some(way)) = (Fill::of(op), move_of(op, diag)) else { return };
    check_end(op, &way, "to", way.target(), &fill.target, diag);
    if !way.fills() {
        diag.error(op, format!("device.fill uses @{}, which does not fill", way.name))
            .note(way.op(), "the move is here")
            .help("name a move that `fills`");
    }
}

/// C2. The number has the element type.
pub(super) fn fill_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(fill) = Fill::of(op) else { return };
    let (ty, value) = (fill.target.memref.ty(), ty::of_attr(fill.value));
    if ty::elem(ty) != value {
        diag.error(op, format!("device.fill writes {} to {ty}", fill.value))
            .help("write the number in the element type");
    }
}

/// C3. There is one index per dimension, and one stride per size; sizes are above zero.
pub(super) fn fill_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(fill) = Fill::of(op) else { return };
    check_box(op, &fill.target, &fill.sizes, &fill.strides, diag);
}

/// C4. It gives a token if, and only if, an engine does the move.
pub(super) fn fill_c4(op: Op<'_>, diag: &mut Diagnostics) {
    if let Some(name) = symbol(op, "move") {
        check_token(op, "device.move", name, diag);
    }
}

/// C5. The box fits the type.
pub(super) fn fill_c5(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(fill) = Fill::of(op) else { return };
    check_room(op, &fill.target, &fill.sizes, &fill.strides, diag);
}

/// C1. The engine belongs to the machine.
pub(super) fn mark_c1(op: Op<'_>, diag: &mut Diagnostics) {
    check_engine(op, diag);
}
