//! Constraints of `#tile.schedule` on a `tile.compute`.

use super::nest;
use super::verify::tiles;
use crate::device::Machine;
use crate::ir::parts::{self, ScheduleFields};
use crate::ir::{Attribute, Diagnostics, Op, Val, attr};
use crate::verify::{check_fact, int};

/// The most stages: more are no pipeline but a copy of the tensor.
const MOST_STAGES: i64 = 16;

fn fields(op: Op<'_>) -> Option<ScheduleFields<'_>> {
    parts::schedule(op.attr("schedule")?)
}

/// Whether each axis of the nest is parallel.
fn kinds(op: Op<'_>) -> Option<Vec<bool>> {
    let kinds = op.first_block(0).and_then(nest)?.attr("iterator_types").and_then(attr::array)?;
    Some(kinds.into_iter().map(attr::is_parallel).collect())
}

/// C6. The axes of each field of `schedule` are of the nest, each once; those of `order` are all
/// that do not reduce, those of `rows`, `transpose` and `combine_rows` some of these, and those
/// of `slide` and `unroll` reduce; none of the latter five has the lanes.
pub(super) fn compute_c6(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(fields), Some(kinds)) = (fields(op), kinds(op)) else { return };
    let list = |axes: Option<Attribute<'_>>| axes.and_then(attr::ints).unwrap_or_default();
    let one = |axis: Option<i64>| axis.into_iter().collect::<Vec<_>>();
    let own = [
        ("order", list(fields.order), true),
        ("rows", list(fields.rows), true),
        ("slide", list(fields.slide), false),
        ("unroll", list(fields.unroll), false),
        ("transpose", one(fields.transpose), true),
        ("combine_rows", one(fields.combine_rows), true),
    ];
    let lanes = int(op, "lanes");
    for (field, axes, parallel) in own {
        let has_kind = |axis: i64| {
            let kind = usize::try_from(axis).ok().and_then(|axis| kinds.get(axis));
            kind == Some(&parallel) && (field == "order" || lanes != Some(axis))
        };
        let accepted: Vec<i64> = (0..kinds.len() as i64).filter(|&axis| has_kind(axis)).collect();
        let kind = if parallel { "parallel" } else { "reduction" };
        let repeated = (1..axes.len()).find(|&at| axes[..at].contains(&axes[at]));
        let wrong = axes.iter().copied().find(|&axis| !has_kind(axis));
        let what = if let Some(axis) = wrong {
            format!("names axis {axis}")
        } else if let Some(at) = repeated {
            format!("names axis {} twice", axes[at])
        } else if field == "order" && !axes.is_empty() && axes.len() < accepted.len() {
            format!("has {} of {} axes", axes.len(), accepted.len())
        } else {
            continue;
        };
        let without = if field == "order" { "" } else { " without lanes" };
        let each = if field == "order" { "all of" } else { "each at most once of" };
        diag.error(op, format!("the schedule's `{field}` {what}"))
            .help(format!("name {each} the {kind} axes{without}, {accepted:?}"));
    }
}

/// C7. `stream` is a streaming move of the machine from the registers, `border` a memory of it
/// that is not shared by units, and there is one number of phases for each input with a border.
pub(super) fn compute_c7(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(fields) = fields(op) else { return };
    let machine = Machine::of(op);
    if let (Some(stream), Some(machine)) = (fields.stream.and_then(attr::symbol), machine)
        && let Some(fact) = check_fact(op, machine, "device.move", stream, diag)
    {
        let registers = tiles(op).pop().map(|(memory, _)| memory);
        let from = machine.move_named(stream).filter(|way| way.streams());
        if from.is_none_or(|way| Some(way.source()) != registers) {
            let registers = registers.unwrap_or("");
            let what = format!("the schedule stores by @{stream}, which streams no registers");
            diag.error(op, what)
                .note(fact, "the move is here")
                .help(format!("name a move from @{registers} that has `streams`, or leave it out"));
        }
    }
    if let (Some(border), Some(machine)) = (fields.border.and_then(attr::symbol), machine)
        && let Some(fact) = check_fact(op, machine, "device.memory", border, diag)
        && machine.shared().is_some_and(|shared| shared.name == border)
    {
        diag.error(op, format!("the schedule lays out borders in @{border}, which units share"))
            .note(fact, "the memory is here")
            .help("name a memory that each unit has for itself");
    }
    let bordered = op.first_block(0).and_then(nest).map(|nest| {
        let inputs = nest.segments().and_then(|parts| parts.into_iter().next());
        inputs.unwrap_or_default().into_iter().filter(|input| is_padded(*input)).count()
    });
    let phases = fields.phases.and_then(attr::ints).unwrap_or_default();
    let positive = phases.iter().all(|&number| number >= 1);
    if let Some(bordered) = bordered
        && (!positive || !phases.is_empty() && phases.len() != bordered)
    {
        diag.error(
            op,
            format!("the schedule has phases {phases:?} for {bordered} inputs with borders"),
        )
        .help("give a number from 1 on for each input that is read past its ends, or none");
    }
}

/// Whether a value is a tensor with a border.
fn is_padded(value: Val<'_>) -> bool {
    value.def().is_some_and(|op| op.is("tensor.pad") || op.is("tensor.insert_slice"))
}

/// C8. There are 1 to 16 stages, and more than one only with `axes`.
pub(super) fn compute_c8(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(fields) = fields(op) else { return };
    let stages = fields.stages;
    if !(1..=MOST_STAGES).contains(&stages) {
        diag.error(op, format!("the schedule has {stages} stages"))
            .help(format!("give 1, which is a step at a time, to {MOST_STAGES}"));
    } else if stages > 1 && op.attr("axes").is_none() {
        diag.error(op, format!("the schedule has {stages} stages for lanes"))
            .help("only inputs of an instruction with `axes` are brought ahead; leave it out");
    }
}
