//! Constraints of `#tile.schedule` on a `tile.compute`.

use super::nest;
use super::verify::tiles;
use crate::device::{Machine, Memory, Scope};
use crate::ir::parts::{self, ScheduleFields};
use crate::ir::{Attribute, Diagnostics, Op, Val, attr};
use crate::verify::{check_fact, count, int};

/// The most stages: more are no pipeline but a copy of the tensor.
const MOST_STAGES: i64 = 16;

fn fields(op: Op<'_>) -> Option<ScheduleFields<'_>> {
    parts::schedule(op.attr("schedule")?)
}

/// Returns whether each axis of the nest is parallel.
fn kinds(op: Op<'_>) -> Option<Vec<bool>> {
    let kinds = op.first_block(0).and_then(nest)?.attr("iterator_types").and_then(attr::array)?;
    Some(kinds.into_iter().map(attr::is_parallel).collect())
}

/// C6. The axes of each field of `schedule` are of the nest, each once; those of `order` are all
/// that do not reduce, those of `grow`, `rows`, `transpose` and `combine_rows` some of these, and
/// those of `slide` and `unroll` reduce; none of the latter six has the lanes. Those of `interleave`
/// may be any.
pub(super) fn compute_c6(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(fields), Some(kinds)) = (fields(op), kinds(op)) else { return };
    let list = |axes: Option<Attribute<'_>>| axes.and_then(attr::ints).unwrap_or_default();
    let one = |axis: Option<i64>| axis.into_iter().collect::<Vec<_>>();
    let own = [
        ("order", list(fields.order), Some(true)),
        ("grow", one(fields.grow), Some(true)),
        ("rows", list(fields.rows), Some(true)),
        ("slide", list(fields.slide), Some(false)),
        ("unroll", list(fields.unroll), Some(false)),
        ("transpose", one(fields.transpose), Some(true)),
        ("combine_rows", one(fields.combine_rows), Some(true)),
        ("interleave", list(fields.interleave), None),
    ];
    let lanes = int(op, "lanes");
    for (field, axes, parallel) in own {
        let has_kind = |axis: i64| {
            let kind = usize::try_from(axis).ok().and_then(|axis| kinds.get(axis));
            let own = kind.is_some_and(|kind| parallel.is_none_or(|parallel| parallel == *kind));
            own && (field == "order" || lanes != Some(axis))
        };
        let accepted: Vec<i64> = (0..kinds.len() as i64).filter(|&axis| has_kind(axis)).collect();
        let kind = match parallel {
            Some(true) => "parallel ",
            Some(false) => "reduction ",
            None => "",
        };
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
            .help(format!("name {each} the {kind}axes{without}, {accepted:?}"));
    }
}

/// C7. `stream` is a streaming move of the machine from the registers, `border` a cache of a unit,
/// `ahead` a move of an engine, and there is one number of phases for each input with a border.
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
            let what = format!("the schedule stores by @{stream}, which does not stream registers");
            diag.error(op, what)
                .note(fact, "the move is here")
                .help(format!("name a move from @{registers} that has `streams`, or leave it out"));
        }
    }
    if let (Some(ahead), Some(machine)) = (fields.ahead.and_then(attr::symbol), machine)
        && let Some(fact) = check_fact(op, machine, "device.move", ahead, diag)
        && machine.move_named(ahead).is_none_or(|way| way.engine().is_none())
    {
        let what = format!("the schedule brings later steps by @{ahead}, which waits for each");
        diag.error(op, what)
            .note(fact, "the move is here")
            .help("name a move that has an `engine`, or leave it out");
    }
    if let (Some(border), Some(machine)) = (fields.border.and_then(attr::symbol), machine)
        && let Some(fact) = check_fact(op, machine, "device.memory", border, diag)
        && machine.memory(border).is_none_or(|memory| !is_cache_of_a_unit(&memory))
    {
        let memories = machine.memories().into_iter().filter(is_cache_of_a_unit);
        let names: Vec<_> = memories.map(|memory| format!("@{}", memory.name)).collect();
        let help = match &names[..] {
            [] => "the machine has none; write the padded tensor first".to_owned(),
            _ => format!("name one of {}", names.join(", ")),
        };
        diag.error(
            op,
            format!("the schedule's `border` is @{border}, which is not a cache of a unit"),
        )
        .note(fact, "the memory is here")
        .help(help);
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

fn is_cache_of_a_unit(memory: &Memory<'_>) -> bool {
    memory.is_cache() && memory.scope() == Scope::Core
}

/// Returns whether a value is a tensor with a border.
fn is_padded(value: Val<'_>) -> bool {
    value.def().is_some_and(|op| op.is("tensor.pad") || op.is("tensor.insert_slice"))
}

/// C8. There are 1 to 16 stages, and more than one only with `axes` or `layouts`; `neighbours`, `turns` and
/// `resident` are 1 at least.
pub(super) fn compute_c8(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(fields) = fields(op) else { return };
    if fields.neighbours < 1 {
        diag.error(op, format!("the schedule's `neighbours` is {}", fields.neighbours))
            .help("give each lane a point, by a number from 1 on, or leave it out");
    }
    for (name, number) in [("turns", fields.turns), ("resident", fields.resident)] {
        if number < 1 {
            diag.error(op, format!("the schedule's `{name}` is {number}"))
                .help("give a number from 1 on, or leave it out");
        }
    }
    let stages = fields.stages;
    if !(1..=MOST_STAGES).contains(&stages) {
        diag.error(op, format!("the schedule has {stages} stages"))
            .help(format!("give a number from 1, one step at a time, to {MOST_STAGES}"));
    } else if stages > 1 && op.attr("axes").is_none() && op.attr("layouts").is_none() {
        diag.error(op, format!("the schedule has {stages} stages for lanes"))
            .help("only inputs of an instruction with `axes`, or of groups that share tiles (`layouts`), are loaded ahead; leave it out");
    }
}

/// C9. Lanes have every field but `stages` and `spread`, an instruction with `axes` has `order`,
/// `stages` and `operands`, lanes whose groups share tiles (`layouts`) have `spread`, `stages`,
/// `ahead` and `operands`, other instructions whose groups do have `interleave`, `stages`, `ahead`, `cluster`,
/// `bands`, `turns`, `resident` and `operands`, and moves have none.
pub(super) fn compute_c9(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(fields) = fields(op) else { return };
    let by = Machine::of(op).zip(op.attr("instruction").and_then(attr::symbol));
    let is_move = by.is_some_and(|(machine, name)| machine.move_named(name).is_some());
    let (with_axes, share) = (op.attr("axes").is_some(), op.attr("layouts").is_some());
    let (what, accepted): (&str, &[&str]) = match (share, with_axes) {
        (true, false) => {
            ("lanes whose groups share tiles", &["spread", "stages", "ahead", "operands"])
        }
        (true, true) => (
            "groups of lanes that share tiles",
            &["interleave", "stages", "ahead", "cluster", "bands", "turns", "resident", "operands"],
        ),
        (false, true) => ("an instruction with axes", &["order", "stages", "operands"]),
        (false, false) if is_move => ("a move", &[]),
        (false, false) => ("a group of lanes by itself", &OF_LANES),
    };
    let has = |axes: Option<Attribute<'_>>| {
        axes.and_then(attr::ints).is_some_and(|axes| !axes.is_empty())
    };
    let said = [
        ("order", has(fields.order)),
        ("grow", fields.grow.is_some()),
        ("rows", has(fields.rows)),
        ("slide", has(fields.slide)),
        ("unroll", has(fields.unroll)),
        ("transpose", fields.transpose.is_some()),
        ("combine_rows", fields.combine_rows.is_some()),
        ("stream", fields.stream.is_some()),
        ("ahead", fields.ahead.is_some()),
        ("cluster", has(fields.cluster)),
        ("bands", has(fields.bands)),
        ("border", fields.border.is_some()),
        ("phases", has(fields.phases)),
        ("spread", has(fields.spread)),
        ("interleave", has(fields.interleave)),
        ("operands", has(fields.operands)),
        ("neighbours", fields.neighbours != 1),
        ("turns", fields.turns != 1),
        ("resident", fields.resident != 1),
    ];
    for (field, _) in said.into_iter().filter(|(field, said)| *said && !accepted.contains(field)) {
        let names: Vec<_> = accepted.iter().map(|name| format!("`{name}`")).collect();
        let help = match &names[..] {
            [] => "leave the schedule out".to_owned(),
            [one] => format!("leave it out; there is {one}"),
            [first @ .., last] => {
                format!("leave it out; there are {} and {last}", first.join(", "))
            }
        };
        diag.error(op, format!("the schedule has `{field}`, which {what} cannot follow"))
            .help(help);
    }
}

/// The fields that each group of lanes follows for itself.
const OF_LANES: [&str; 12] = [
    "order",
    "grow",
    "rows",
    "slide",
    "unroll",
    "transpose",
    "combine_rows",
    "stream",
    "border",
    "phases",
    "operands",
    "neighbours",
];

/// C10. `spread` has one number from 1 on for each axis, which divides the last rTile's; their
/// product are the lanes of its memory.
pub(super) fn compute_c10(op: Op<'_>, diag: &mut Diagnostics) {
    let spread = fields(op).and_then(|fields| fields.spread).and_then(attr::ints);
    let (Some(spread), Some((memory, sizes))) = (spread, tiles(op).pop()) else { return };
    let divides = |(&lanes, &size): (&i64, &i64)| lanes >= 1 && size % lanes == 0;
    if spread.len() != sizes.len() || !spread.iter().zip(&sizes).all(divides) {
        diag.error(op, format!("the schedule spreads lanes by {spread:?} over tiles of {sizes:?}"))
            .help("give a divisor of each size of the last rTile");
        return;
    }
    let lanes = Machine::of(op).and_then(|machine| machine.memory(memory)?.lanes());
    let product = spread.iter().try_fold(1i64, |product, own| product.checked_mul(*own));
    if let Some(lanes) = lanes
        && product != i64::try_from(lanes).ok()
    {
        diag.error(op, format!("the schedule spreads lanes by {spread:?}; @{memory} has {lanes}"))
            .help(format!("give numbers whose product is {lanes}"));
    }
}

/// C11. `operands` has one number for each operand of the instruction, of an operand of the nest
/// or -1.
pub(super) fn compute_c11(op: Op<'_>, diag: &mut Diagnostics) {
    let operands = fields(op).and_then(|fields| fields.operands).and_then(attr::ints);
    let by = Machine::of(op).zip(op.attr("instruction").and_then(attr::symbol));
    let instruction = by.and_then(|(machine, name)| machine.instruction(name));
    let own = op.first_block(0).and_then(nest).map(|nest| nest.operands().len() as i64);
    let (Some(operands), Some(own)) = (operands, own) else { return };
    let Some(instruction) = instruction else {
        diag.error(op, format!("the schedule has operands {operands:?} of no instruction"))
            .help("leave `operands` out: lanes do the operations of the body one by one");
        return;
    };
    let count = instruction.operands().len();
    if operands.len() != count || operands.iter().any(|number| !(-1..own).contains(number)) {
        let what = format!("the schedule has operands {operands:?} of @{}", instruction.name);
        diag.error(op, what).note(instruction.op(), "the instruction is here").help(format!(
            "give {count} numbers: from 0 to {} for those of the nest, or -1 for ones",
            own - 1
        ));
    }
}

/// C12. `cluster` has one number from 1 on for each axis, above 1 along one that does not reduce; so has `bands`.
pub(super) fn compute_c12(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(fields), Some(kinds)) = (fields(op), kinds(op)) else { return };
    for (name, own) in [("cluster", fields.cluster), ("bands", fields.bands)] {
        let Some(own) = own.and_then(attr::ints) else { continue };
        let along: Vec<usize> = (0..own.len()).filter(|&axis| own[axis] != 1).collect();
        let fits = own.len() == kinds.len() && own.iter().all(|own| *own > 0);
        if !fits || along.len() != 1 || !kinds[along[0]] {
            let parallel: Vec<usize> = (0..kinds.len()).filter(|&axis| kinds[axis]).collect();
            let count = count(kinds.len(), "number");
            diag.error(op, format!("the schedule's `{name}` is {own:?}")).help(format!(
                "give {count}, above 1 along one of the axes {parallel:?}, or leave it out"
            ));
        }
    }
}
