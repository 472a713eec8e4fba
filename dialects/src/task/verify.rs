//! Constraints of the `task` dialect.

use super::{Buffer, Clusters, Port, Program, Range, forward, order, viewed};
use crate::device::{Machine, Scope};
use crate::finds::{self, Find};
use crate::ir::{Block, Diagnostics, Op, Type, attr, parts, ty};
use crate::lengths;
use crate::repeat;
use crate::tile::Kernel;
use crate::verify::{
    Kernels, Table, check_fact, check_memory, check_places, check_table, check_view, int,
    kernel_types, same_elements, symbol,
};
use melior::ir::AttributeLike;

const TABLE: Table = &[
    (
        "task.program",
        &[
            program_c1, program_c2, program_c3, program_c4, program_c6, program_c7, program_c8,
            calls, program_c9, program_c5,
        ],
    ),
    ("task.output", &[output_c1]),
    ("task.literal", &[literal_c1]),
    ("task.constant", &[constant_c1]),
    ("task.buffer", &[buffer_c1, buffer_c2]),
    ("task.view", &[view_c1]),
    ("task.find", &[finds::check, find_c3]),
];

/// The most errors about the order of a program that are reported.
const REPORTED: usize = 10;

/// Checks `op` against the constraints of its description.
pub(crate) fn check(op: Op<'_>, diag: &mut Diagnostics) {
    check_table(TABLE, op, diag);
}

/// C1. The machine has the unit, and at least that many of it.
fn program_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(units) = int(op, "units") else { return };
    if units < 1 {
        diag.error(op, format!("task.program has {units} units")).help("give it at least one");
    }
    let (Some(machine), Some(unit)) = (Machine::of(op), symbol(op, "unit")) else { return };
    let Some(fact) = check_fact(op, machine, "device.unit", unit, diag) else { return };
    if let Some(count) = machine.unit(unit).map(|unit| unit.count())
        && i64::try_from(count).is_ok_and(|count| count < units)
    {
        diag.error(op, format!("task.program needs {units} of @{unit}, the machine has {count}"))
            .note(fact, "the unit is here")
            .help(format!("place the ranges on at most {count} units"));
    }
}

/// C2. Every range's unit is below `units`, or the number of a cluster.
fn program_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(units) = int(op, "units") else { return };
    let clusters = clusters(op).map_or(0, |clusters| clusters.count() as i64);
    for range in inside(op, "task.range") {
        if let Some(unit) = int(range, "unit")
            && !(0..units.saturating_add(clusters)).contains(&unit)
        {
            let mut help = format!("units are numbered from 0 to {}", units.saturating_sub(1));
            if clusters > 0 {
                let last = units.saturating_add(clusters - 1);
                help += &format!(", their clusters from {units} to {last}");
            }
            diag.error(range, format!("task.range runs on unit {unit} of {units}"))
                .note(op, "the program is here")
                .help(help);
        }
    }
}

/// The clusters of a program's units.
fn clusters(op: Op<'_>) -> Option<Clusters> {
    Program::of(op)?.clusters(Machine::of(op)?)
}

/// C3. Every buffer ends inside the arena: that of the host or of a cluster where its memory is.
fn program_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(arena) = int(op, "arena") else { return };
    let of_a = |name: &str| int(op, name).unwrap_or(0);
    let (host_arena, cluster_arena) = (of_a("host_arena"), of_a("cluster_arena"));
    if let Some(arena) = [arena, host_arena, cluster_arena].into_iter().find(|&arena| arena < 0) {
        diag.error(op, format!("task.program has an arena of {arena} bytes"))
            .help("an arena has zero bytes or more");
        return;
    }
    let machine = Machine::of(op);
    for buffer in inside(op, "task.buffer") {
        let Some(kind) = buffer.results().first().map(|result| result.ty()) else { continue };
        if parts::bytes(kind).is_none() {
            diag.error(buffer, format!("task.buffer has the type {kind}"))
                .help("a buffer has a static shape of integers or floats");
        }
        let Some(buffer) = Buffer::of(buffer) else { continue };
        let end = buffer.offset.saturating_add(buffer.bytes);
        let memory = machine.and_then(|machine| machine.memory(buffer.memory));
        let arena = match memory.map(|memory| memory.scope()) {
            Some(Scope::Host) => host_arena,
            Some(Scope::Cluster) => cluster_arena,
            _ => arena,
        };
        if end > arena.unsigned_abs() {
            diag.error(buffer.op, format!("task.buffer ends at byte {end} of an arena of {arena}"))
                .note(op, "the program is here")
                .help("place it earlier, or make the arena larger");
        }
    }
}

/// C4. Every input and output of the signature is there once, as a memref of its payload type.
fn program_c4(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(signature) = op.attr("signature").and_then(attr::type_of) else { return };
    let Some((inputs, outputs)) = ty::function(signature) else {
        diag.error(op, format!("task.program has the signature {signature}"))
            .help("write a function type");
        return;
    };
    check_ports(op, "task.input", &inputs, diag);
    check_ports(op, "task.output", &outputs, diag);
}

fn check_ports<'c>(op: Op<'c>, kind: &'static str, types: &[Type<'c>], diag: &mut Diagnostics) {
    let mut seen: Vec<Option<Op<'c>>> = vec![None; types.len()];
    for port in inside(op, kind) {
        let (Some(index), Some(result)) = (int(port, "index"), port.results().first().copied())
        else {
            continue;
        };
        let place = usize::try_from(index).ok().and_then(|index| seen.get_mut(index));
        let (Some(place), Some(&graph)) = (place, types.get(index as usize)) else {
            diag.error(port, format!("{kind} {index} of a signature that has {}", types.len()))
                .note(op, "the program is here")
                .help("number them from zero, in the order of the signature");
            continue;
        };
        if let Some(earlier) = place.replace(port) {
            diag.error(port, format!("{kind} {index} is there twice"))
                .note(earlier, "the first one is here");
        }
        let payload = parts::payload(graph);
        if !same_elements(payload, result.ty()) {
            let given = result.ty();
            diag.error(port, format!("{kind} {index} is {given}, the signature has {graph}"))
                .help(format!("its elements are those of the payload type {payload}"));
        }
    }
    for index in (0..types.len()).filter(|&index| seen[index].is_none()) {
        let ty = types[index];
        diag.error(
            op,
            format!("the signature has {ty} at {index}, and there is no {kind} {index}"),
        )
        .help(format!("write one {kind} for each type of the signature"));
    }
}

/// C1. The program has the input that it lies in, of its type, and no other output lies there.
fn output_c1<'c>(op: Op<'c>, diag: &mut Diagnostics) {
    let Some((port, index)) = Port::output(op).and_then(|port| Some((port, port.within?))) else {
        return;
    };
    let Some(program) = op.parent() else { return };
    let inputs = inside(program, "task.input").filter_map(Port::input);
    let of = |port: &Port<'c>| port.op.results().first().map(|result| result.ty());
    match inputs.into_iter().find(|input| input.index == index) {
        None => {
            let what =
                format!("task.output {} lies in input {index}, which is not there", port.index);
            diag.error(op, what).help("name an input by its number");
        }
        Some(input) if of(&input) != of(&port) => {
            let types =
                [of(&port), of(&input)].map(|ty| ty.map_or(String::new(), |ty| ty.to_string()));
            let what = format!("task.output {} of {} lies in {}", port.index, types[0], types[1]);
            diag.error(op, what).note(input.op, "the input is here").help("both have one type");
        }
        Some(_) => {}
    }
    let mut others = inside(program, "task.output").filter_map(Port::output);
    let earlier = others.find(|other| other.within == Some(index));
    if let Some(earlier) = earlier.filter(|earlier| earlier.op != op) {
        diag.error(op, format!("two outputs lie in input {index}"))
            .note(earlier.op, "the first one is here")
            .help("let one lie there");
    }
}

/// C3. It comes behind one range, which has the buffer and is no part of several.
fn find_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(find) = Find::of(op) else { return };
    let Some(range) = find.after.and_then(|token| token.def()).and_then(Range::of) else { return };
    let count = viewed(find.count);
    if range.part.is_some() || !range.buffers.iter().any(|buffer| viewed(*buffer) == count) {
        let what = format!("task.find reads {} behind a range that does not make it", find.symbol);
        diag.error(op, what)
            .note(range.op, "the range is here")
            .help("name the token of the range that writes the buffer, and does so alone");
    }
}

/// C6. Whatever a statement uses is made before it in the text, tokens among them: that order
/// satisfies every wait, and no wait goes in a circle.
fn program_c6(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(body) = op.first_block(0) else { return };
    for finding in forward::findings(body, REPORTED) {
        match finding {
            forward::Finding::Circle { range, other } if range == other => {
                diag.error(range, format!("{} waits for itself", label(range)))
                    .help("wait for ranges that come before it in the text");
            }
            forward::Finding::Circle { range, other } => {
                let (this, that) = (label(range), label(other));
                diag.error(range, format!("{this} waits for {that}, and {that} for {this}"))
                    .note(other, "the other range is here")
                    .help("remove one of the waits, so that they form no cycle");
            }
            forward::Finding::Early { user, maker } => {
                let (this, that) = (label(user), label(maker));
                diag.error(user, format!("{this} uses what {that} makes later in the text"))
                    .note(maker, "it is made here")
                    .help("move it behind what it uses: units follow the order of the text");
            }
        }
    }
}

/// C7. A range touches no buffer in the memory of another cluster than its unit's.
fn program_c7(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(clusters) = clusters(op) else { return };
    for range in inside(op, "task.range").filter_map(Range::of) {
        for &value in &range.buffers {
            let buffer = viewed(value).def().and_then(Buffer::of);
            let Some((buffer, own)) = buffer.and_then(|own| Some((own, own.cluster?))) else {
                continue;
            };
            let unit = range.unit;
            let of = clusters.of(unit);
            if of != own {
                let (this, memory) = (label(range.op), buffer.memory);
                diag.error(range.op, format!("{this} on unit {unit} is of cluster {of}"))
                    .note(buffer.op, format!("this buffer lies in @{memory} of cluster {own}"))
                    .help("a unit reaches the memory of its own cluster only");
            }
        }
    }
}

/// C8. There are lengths for every port or for none, one for each dimension, of symbols of the
/// module.
fn program_c8(op: Op<'_>, diag: &mut Diagnostics) {
    let signature = op.attr("signature").and_then(attr::type_of);
    if let Some((inputs, outputs)) = signature.and_then(ty::function) {
        lengths::check_ports(op, &[inputs, outputs].concat(), diag);
    }
}

/// C9. What is repeated has an end, a name for its round, and its states behind its other inputs.
fn program_c9(op: Op<'_>, diag: &mut Diagnostics) {
    let signature = op.attr("signature").and_then(attr::type_of);
    if let Some((inputs, outputs)) = signature.and_then(ty::function) {
        repeat::check(op, [&inputs, &outputs], diag);
    }
    repeat::check_calls(op, diag);
}

/// The calls of a program, which share one table of kernels.
fn calls(op: Op<'_>, diag: &mut Diagnostics) {
    let kernels = Kernels::around(op);
    for constant in inside(op, "task.constant") {
        constant_c2(constant, &kernels, diag);
    }
    for range in inside(op, "task.range") {
        range_c1(range, &kernels, diag);
        range_c2(range, &kernels, diag);
        range_c3(range, diag);
        range_c4(range, &kernels, diag);
        range_c5(range, diag);
    }
}

/// C5. Every range that reads an output or a buffer comes, through tokens, after
/// one that writes there, nothing else having been written over it, and none writes an
/// input, a weight, a literal, a constant or bytes that another of its operands holds.
fn program_c5(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(body) = op.first_block(0) else { return };
    for finding in order::findings(body, &Kernels::around(op), REPORTED) {
        match finding {
            order::Finding::Unordered { range, writer } => {
                let (this, that) = (label(range), label(writer));
                diag.error(
                    range,
                    format!("{this} reads what {that} writes, and no token orders them"),
                )
                .note(writer, "the other range is here")
                .help("wait for its token, or for one that is given after it");
            }
            order::Finding::Unwritten { range, buffer } => {
                let (this, what) = (label(range), buffer.name());
                diag.error(range, format!("{this} reads a {what} that no earlier range writes"))
                    .note(buffer, "it is made here")
                    .help("the order of the text is one in which everything is written first");
            }
            order::Finding::Overwritten { range, writer, buffer } => {
                let (this, that) = (label(range), label(writer));
                diag.error(range, format!("{this} reads a buffer that {that} has overwritten"))
                    .note(writer, "the other range is here")
                    .note(buffer, "the buffer is made here")
                    .help("place buffers whose live ranges overlap at different bytes");
            }
            order::Finding::Overlap { range, buffer, other } => {
                let this = label(range);
                diag.error(range, format!("{this} writes bytes that another operand also holds"))
                    .note(buffer, "what it writes is made here")
                    .note(other, "the other operand is made here")
                    .help("place the two buffers at different bytes");
            }
            order::Finding::ReadOnly { range, buffer } => {
                let (this, what) = (label(range), buffer.name());
                diag.error(range, format!("{this} writes a {what}"))
                    .note(buffer, "it is made here")
                    .help("only outputs and buffers are written");
            }
        }
    }
}

/// Returns the name of a range in messages: operator and rTasks.
fn label(range: Op<'_>) -> String {
    match Range::of(range) {
        Some(range) => format!("\"{}\"[{} to {}]", range.name, range.begin, range.end),
        None => range.name().to_owned(),
    }
}

/// C1. The literal has the shape and element type of the buffer.
fn literal_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(value), Some(result)) = (op.attr("value"), op.results().first().copied()) else {
        return;
    };
    if !same_elements(value.r#type(), result.ty()) {
        let (value, result) = (value.r#type(), result.ty());
        diag.error(op, format!("task.literal writes {value} into {result}"))
            .help("shapes and element types have to be the same");
    }
}

/// C1. The operands are weights, literals, constants or views of them.
fn constant_c1(op: Op<'_>, diag: &mut Diagnostics) {
    const FIXED: [&str; 3] = ["task.weight", "task.literal", "task.constant"];
    for operand in op.operands() {
        if let Some(source) = viewed(operand).def()
            && !FIXED.contains(&source.name())
        {
            diag.error(op, format!("task.constant takes a {}", source.name()))
                .note(source, "it is made here")
                .help("its operands are weights, literals, constants and views of them");
        }
    }
}

/// C2. The symbol is a `tile.kernel` of these types; a result has the type of what
/// it starts as.
fn constant_c2<'c>(op: Op<'c>, kernels: &Kernels<'c>, diag: &mut Diagnostics) {
    let Some(name) = symbol(op, "kernel") else { return };
    if let Some(kernel) = kernels.get(name)
        && !kernel.is("tile.kernel")
    {
        diag.error(op, format!("task.constant calls @{name}, which is a {}", kernel.name()))
            .note(kernel, "the kernel is here")
            .help("a constant is evaluated by a tile.kernel, without the machine");
        return;
    }
    let taken = kernels.get(name).map_or(0, |kernel| kernel_types(kernel).len());
    let (operands, results) = (op.operands(), op.results());
    // With a start for each result these are the last operands already.
    let inputs =
        operands.len() - if operands.len() == taken { results.len().min(taken) } else { 0 };
    let starts: Vec<_> = operands[inputs..].iter().map(|start| start.ty()).collect();
    let results: Vec<_> = results.into_iter().map(|result| result.ty()).collect();
    for (start, result) in starts.iter().zip(&results).filter(|(start, result)| start != result) {
        diag.error(op, format!("task.constant initializes {result} with {start}"))
            .help("a result has the type of its initial value");
    }
    let types: Vec<_> = operands[..inputs].iter().map(|value| value.ty()).chain(results).collect();
    kernels.check_call(op, name, &types, diag);
}

/// C1. The offset is a multiple of 64 bytes.
fn buffer_c1(op: Op<'_>, diag: &mut Diagnostics) {
    if let Some(offset) = int(op, "offset").filter(|&offset| offset < 0 || offset % 64 != 0) {
        diag.error(op, format!("task.buffer begins at byte {offset}"))
            .help("offsets are multiples of 64, from zero");
    }
}

/// C2. The machine has the memory, and says of which cluster where that is shared by one.
fn buffer_c2(op: Op<'_>, diag: &mut Diagnostics) {
    check_memory(op, "memory", diag);
    let Some(buffer) = Buffer::of(op) else { return };
    let memory = Machine::of(op).and_then(|machine| machine.memory(buffer.memory));
    let Some(memory) = memory else { return };
    let shared_by_cluster = memory.scope() == Scope::Cluster;
    if shared_by_cluster && memory.within().is_none() {
        let name = memory.name;
        diag.error(op, format!("task.buffer is in @{name}, which holds no arguments of kernels"))
            .note(memory.op(), "the memory is here")
            .help("a memory of a cluster says `within` which memory's addresses its own are");
        return;
    }
    if shared_by_cluster != buffer.cluster.is_some() {
        let (name, scope) = (memory.name, memory.scope().name());
        let said = if shared_by_cluster { "no cluster" } else { "a cluster" };
        diag.error(op, format!("task.buffer in @{name} of scope {scope} names {said}"))
            .note(memory.op(), "the memory is here")
            .help("`of N` names the cluster of a memory that one shares, and of no other");
    }
}

/// C1. Both shapes have the same number of elements and the same element type.
fn view_c1(op: Op<'_>, diag: &mut Diagnostics) {
    check_view(op, diag);
}

/// C1. Begin is less than end, and end at most the kernel's number of rTasks.
fn range_c1<'c>(op: Op<'c>, kernels: &Kernels<'c>, diag: &mut Diagnostics) {
    let (Some(begin), Some(end)) = (int(op, "begin"), int(op, "end")) else { return };
    if begin < 0 || begin >= end {
        diag.error(op, format!("task.range goes from rTask {begin} to {end}"))
            .help("begin is zero or more, and less than end");
        return;
    }
    let Some(kernel) = symbol(op, "kernel").and_then(|name| kernels.get(name)) else { return };
    if let Some(tasks) = tasks(kernel).filter(|&tasks| end > tasks) {
        let name = kernel.symbol();
        diag.error(op, format!("task.range goes to rTask {end}, @{name} has {tasks}"))
            .note(kernel, "the kernel is here")
            .help(format!("end is at most {tasks}"));
    }
}

/// C2. The symbol is a kernel whose arguments have the types of the buffers.
fn range_c2<'c>(op: Op<'c>, kernels: &Kernels<'c>, diag: &mut Diagnostics) {
    let Some(name) = symbol(op, "kernel") else { return };
    let Some(Ok([buffers, _])) = op.segments().map(<[_; 2]>::try_from) else { return };
    let types: Vec<_> = buffers.iter().map(|buffer| buffer.ty()).collect();
    kernels.check_call(op, name, &types, diag);
}

/// C3. There is one place for each buffer, inside of it.
fn range_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(Ok([buffers, _])) = op.segments().map(<[_; 2]>::try_from) else { return };
    check_places(op, &buffers, diag);
}

/// C5. There is one shift for each buffer, of symbols of the module.
fn range_c5(op: Op<'_>, diag: &mut Diagnostics) {
    if let Some(Ok([buffers, _])) = op.segments().map(<[_; 2]>::try_from) {
        lengths::check_shifts(op, buffers.len(), diag);
    }
}

/// C4. A part is one of those that there are, of all rTasks of the kernel.
fn range_c4<'c>(op: Op<'c>, kernels: &Kernels<'c>, diag: &mut Diagnostics) {
    let (Some(part), Some(parts)) = (int(op, "part"), int(op, "parts")) else { return };
    if part < 0 || part >= parts {
        diag.error(op, format!("task.range does part {part} of {parts}"))
            .help("parts are numbered from 0");
    }
    let (Some(begin), Some(end)) = (int(op, "begin"), int(op, "end")) else { return };
    let kernel = symbol(op, "kernel").and_then(|name| kernels.get(name));
    let Some(tasks) = kernel.and_then(tasks) else { return };
    if begin != 0 || end != tasks {
        diag.error(op, format!("task.range does a part of rTasks {begin} to {end}"))
            .help(format!("a part is of all rTasks, 0 to {tasks}"));
    }
}

/// Number of rTasks of a kernel.
fn tasks(kernel: Op<'_>) -> Option<i64> {
    match Kernel::of(kernel) {
        Some(kernel) => kernel.tasks().and_then(|tasks| i64::try_from(tasks).ok()),
        None if kernel.is("task.program") => Some(1),
        None => int(kernel, "tasks"),
    }
}

/// The operations of the name `kind` directly in the body of `op`.
fn inside<'c>(op: Op<'c>, kind: &'static str) -> impl Iterator<Item = Op<'c>> {
    op.first_block(0).into_iter().flat_map(Block::iter).filter(move |op| op.is(kind))
}
