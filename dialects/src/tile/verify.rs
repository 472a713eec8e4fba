//! Constraints of the `tile` dialect.

use super::verify_schedule::{
    compute_c6, compute_c7, compute_c8, compute_c9, compute_c10, compute_c11, compute_c12,
};
use super::{Run, axes, mapped_axes, nest, places};
use crate::aliases;
use crate::device::{ARENA_ALIGN, Machine};
use crate::finds;
use crate::ir::{Block, Diagnostics, Op, Type, Val, affine, attr, parts, ty};
use crate::lengths::{check_ports, check_shifts};
use crate::repeat;
use crate::verify::{
    Kernels, Table, check_fact, check_memory, check_places, check_table, check_view, count, int,
    symbol,
};

const TABLE: Table = &[
    ("tile.graph", &[graph_c1, graph_c2, graph_c3, graph_c4, graph_c5, runs]),
    ("tile.find", &[finds::check, finds::check_before]),
    ("tile.empty", &[empty_c1, empty_c2]),
    ("tile.view", &[view_c1]),
    ("tile.connect", &[connect_c1, connect_c2]),
    ("tile.run", &[run_alone, run_c2, run_c3, run_c5]),
    ("tile.kernel", &[kernel_c1]),
    ("tile.load", &[load_c1]),
    ("tile.store", &[store_c1]),
    (
        "tile.compute",
        &[
            compute_c1,
            compute_c2,
            compute_c3,
            compute_c4,
            compute_c5,
            compute_c6,
            compute_c7,
            compute_c8,
            compute_c9,
            compute_c10,
            compute_c11,
            compute_c12,
        ],
    ),
];

/// Checks `op` against the constraints of its description.
pub(crate) fn check(op: Op<'_>, diag: &mut Diagnostics) {
    check_table(TABLE, op, diag);
}

/// C1. One input name per block argument, of the payload type of its graph type.
fn graph_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let names = op.attr("inputs").and_then(attr::strings).unwrap_or_default();
    let args = op.first_block(0).map(Block::args).unwrap_or_default();
    let Some(signature) = op.attr("signature").and_then(attr::type_of) else { return };
    let Some((inputs, _)) = ty::function(signature) else {
        diag.error(op, format!("tile.graph has the signature {signature}"))
            .help("write a function type");
        return;
    };
    if names.len() != args.len() || inputs.len() != args.len() {
        let names = count(names.len(), "input");
        let (types, args) = (count(inputs.len(), "type"), count(args.len(), "argument"));
        diag.error(op, format!("tile.graph names {names}, gives {types} and has {args}"))
            .help("give one name and one graph type per block argument");
        return;
    }
    for ((name, input), arg) in names.iter().zip(inputs).zip(args) {
        let payload = parts::payload(input);
        if arg.ty() != payload {
            let arg = arg.ty();
            diag.error(op, format!("the input \"{name}\" is {input}, its argument is {arg}"))
                .help(format!("the payload type of {input} is {payload}"));
        }
    }
}

/// C2. The body ends in `tile.output`, with the payload types of the results.
fn graph_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let names = op.attr("outputs").and_then(attr::strings).unwrap_or_default();
    let Some(end) = op.first_block(0).and_then(Block::terminator) else { return };
    // C1 reports a signature that is no function type.
    let signature = op.attr("signature").and_then(attr::type_of);
    let Some((_, results)) = signature.and_then(ty::function) else { return };
    if !end.is("tile.output") {
        diag.error(op, format!("tile.graph ends in {}", end.name()))
            .note(end, "the body ends here")
            .help("end it with tile.output");
        return;
    }
    let values = end.operands();
    if names.len() != values.len() || results.len() != values.len() {
        let names = count(names.len(), "output");
        let (types, values) = (count(results.len(), "type"), count(values.len(), "value"));
        diag.error(op, format!("tile.graph names {names}, has {types} and gives {values}"))
            .note(end, "the values leave here")
            .help("give one name and one graph type per value");
        return;
    }
    for ((name, result), value) in names.iter().zip(results).zip(values) {
        let payload = parts::payload(result);
        if value.ty() != payload {
            let value = value.ty();
            diag.error(op, format!("the output \"{name}\" is {result}, its value is {value}"))
                .note(end, "the values leave here")
                .help(format!("the payload type of {result} is {payload}"));
        }
    }
}

/// C3. There are lengths for every port or for none, one for each dimension, of symbols of the
/// module.
fn graph_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let signature = op.attr("signature").and_then(attr::type_of);
    if let Some((inputs, outputs)) = signature.and_then(ty::function) {
        check_ports(op, &[inputs, outputs].concat(), diag);
    }
}

/// C4. An alias is of an input and an output of one type, each in no other.
fn graph_c4(op: Op<'_>, diag: &mut Diagnostics) {
    let signature = op.attr("signature").and_then(attr::type_of);
    if let Some((inputs, outputs)) = signature.and_then(ty::function) {
        aliases::check(op, [&inputs, &outputs], diag);
    }
}

/// C5. What is repeated has an end, a name for its round, and its states behind its other inputs.
fn graph_c5(op: Op<'_>, diag: &mut Diagnostics) {
    let signature = op.attr("signature").and_then(attr::type_of);
    if let Some((inputs, outputs)) = signature.and_then(ty::function) {
        repeat::check(op, [&inputs, &outputs], diag);
    }
}

/// C1. The machine has the memory.
fn empty_c1(op: Op<'_>, diag: &mut Diagnostics) {
    check_memory(op, "memory", diag);
}

/// C2. `at` is a multiple of 64 from 0 on.
fn empty_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let wrong = |at: &i64| *at < 0 || at % ARENA_ALIGN != 0;
    if let Some(at) = op.attr("at").and_then(attr::int).filter(wrong) {
        diag.error(op, format!("a tile begins at byte {at} of its memory"))
            .help(format!("`at` is a multiple of {ARENA_ALIGN} from 0 on"));
    }
}

/// C1. Both shapes have the same number of elements and the same element type.
fn view_c1(op: Op<'_>, diag: &mut Diagnostics) {
    check_view(op, diag);
}

/// C1. The machine has the memory.
fn connect_c1(op: Op<'_>, diag: &mut Diagnostics) {
    check_memory(op, "memory", diag);
}

/// C2. What is connected is the result of a run, or a view of one.
fn connect_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(&source) = op.operands().first() else { return };
    let mut maker = source.def();
    while let Some(view) = maker.and_then(super::View::of) {
        maker = view.source.def();
    }
    let maker = maker.map_or("an argument", |op| op.name());
    if maker != "tile.run" {
        diag.error(op, format!("tile.connect hands over what {maker} gives"))
            .help("an edge leads from a tile.run to others; use the tensor itself here");
    }
}

/// The runs of a tile-graph, which share one table of kernels.
fn runs(op: Op<'_>, diag: &mut Diagnostics) {
    let kernels = Kernels::around(op);
    let body = op.first_block(0);
    let runs = body.into_iter().flat_map(Block::iter).filter(|op| op.is("tile.run"));
    runs.for_each(|run| {
        run_c1(run, &kernels, diag);
        run_c4(run, &kernels, diag);
    });
    repeat::check_calls(op, diag);
}

/// A run outside a tile-graph.
fn run_alone(op: Op<'_>, diag: &mut Diagnostics) {
    if !op.parent().is_some_and(|parent| parent.is("tile.graph")) {
        run_c1(op, &Kernels::around(op), diag);
        run_c4(op, &Kernels::around(op), diag);
    }
}

/// C1. Each symbol is a `tile.kernel` or a `device.kernel` with these operand types.
fn run_c1<'c>(op: Op<'c>, kernels: &Kernels<'c>, diag: &mut Diagnostics) {
    let types = types(&op.operands());
    for kernel in symbol(op, "kernel").into_iter().chain(Run::others(op)) {
        kernels.check_call(op, kernel, &types, diag);
    }
}

/// C2. The results have the types of the tensors after `into`.
fn run_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(Ok([_, inits])) = op.segments().map(<[_; 2]>::try_from) else { return };
    let (inits, results) = (types(&inits), types(&op.results()));
    if inits.len() != results.len() {
        let (inits, results) = (count(inits.len(), "tensor"), count(results.len(), "result"));
        diag.error(op, format!("tile.run overwrites {inits} and has {results}"))
            .help("give one tensor after `into` per result");
        return;
    }
    for (init, result) in inits.into_iter().zip(results).filter(|(init, result)| init != result) {
        diag.error(op, format!("tile.run overwrites {init} with {result}"))
            .help("a result has the type of the tensor that it overwrites");
    }
}

/// C3. There is one place for each operand, inside of it.
fn run_c3(op: Op<'_>, diag: &mut Diagnostics) {
    check_places(op, &op.operands(), diag);
}

/// C5. There is one shift for each operand, of symbols of the module.
fn run_c5(op: Op<'_>, diag: &mut Diagnostics) {
    check_shifts(op, op.operands().len(), diag);
}

/// C4. Only a stitched kernel, or code, sees its operands from elements on.
fn run_c4<'c>(op: Op<'c>, kernels: &Kernels<'c>, diag: &mut Diagnostics) {
    if places(op, 0).iter().all(|&place| place == 0) {
        return;
    }
    let Some(kernel) = symbol(op, "kernel").and_then(|name| kernels.get(name)) else { return };
    if kernel.is("tile.kernel") && kernel.attr("stitched").is_none() {
        let what = format!("tile.run sees its operands from elements on, and @{}", kernel.symbol());
        diag.error(op, format!("{what} is not stitched"))
            .note(kernel, "the kernel is here")
            .help("only stitched kernels see part of a tensor; leave out `at`");
    }
}

/// C1. Every yielded value has the type of the argument it overwrites.
fn kernel_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(body) = op.first_block(0) else { return };
    let Some(end) = body.terminator() else { return };
    if !end.is("tile.yield") {
        diag.error(op, format!("tile.kernel ends in {}", end.name()))
            .note(end, "the body ends here")
            .help("end it with tile.yield");
        return;
    }
    let (args, values) = (types(&body.args()), types(&end.operands()));
    let Some(first) = args.len().checked_sub(values.len()) else {
        let (args, values) = (count(args.len(), "argument"), count(values.len(), "value"));
        diag.error(op, format!("tile.kernel has {args} and yields {values}"))
            .note(end, "the values are yielded here")
            .help("each value overwrites an argument of its own");
        return;
    };
    for (place, (&arg, &value)) in args[first..].iter().zip(&values).enumerate() {
        if arg != value {
            let place = first + place;
            diag.error(
                op,
                format!("tile.kernel overwrites its argument {place}, {arg}, with {value}"),
            )
            .note(end, "the values are yielded here")
            .help("a yielded value has the type of the argument that it overwrites");
        }
    }
}

/// C1. The machine has the memory.
fn load_c1(op: Op<'_>, diag: &mut Diagnostics) {
    check_memory(op, "memory", diag);
}

/// C1. The machine has the memory.
fn store_c1(op: Op<'_>, diag: &mut Diagnostics) {
    check_memory(op, "memory", diag);
}

/// Memory and sizes of each rTile of a compute, also of sizes that C2 refuses.
pub(super) fn tiles<'c>(op: Op<'c>) -> Vec<(&'c str, Vec<i64>)> {
    let tiles = op.attr("tiles").and_then(attr::array).unwrap_or_default();
    tiles.into_iter().filter_map(parts::rtile).collect()
}

/// C1. Each rTile names a memory of the machine and has one size per axis, of
/// which `lanes` is one; so are those of `axes`, each at most once.
fn compute_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let tiles = tiles(op);
    if let Some(machine) = Machine::of(op) {
        for (memory, _) in &tiles {
            check_fact(op, machine, "device.memory", memory, diag);
        }
    }
    let nest = op.first_block(0).and_then(nest);
    let axes = nest
        .and_then(|nest| nest.attr("iterator_types").and_then(attr::array))
        .map(|kinds| kinds.len())
        .or(tiles.first().map(|(_, sizes)| sizes.len()));
    let Some(axes) = axes else { return };
    for (memory, sizes) in &tiles {
        if sizes.len() != axes {
            let sizes = count(sizes.len(), "size");
            let what = format!("the rTile in @{memory} has {sizes} for a nest of {axes}");
            let report = diag.error(op, what).help("give one size per axis of the nest");
            if let Some(nest) = nest {
                report.note(nest, "the nest is here");
            }
        }
    }
    check_axes(op, axes, diag);
    if let Some(lanes) = int(op, "lanes")
        && !usize::try_from(lanes).is_ok_and(|lanes| lanes < axes)
    {
        diag.error(op, format!("lanes run along axis {lanes} of a nest with axes below {axes}"))
            .help("name an axis of the nest, from zero");
    }
}

/// C1, of `axes`: each is one or more axes of the nest, or none, and none is there twice.
fn check_axes(op: Op<'_>, axes: usize, diag: &mut Diagnostics) {
    let mut seen = Vec::new();
    for (place, own) in op.attr("axes").and_then(attr::array).unwrap_or_default().iter().enumerate()
    {
        let Some(mapped) = mapped_axes(*own) else {
            diag.error(op, format!("axis {place} of the instruction is {own}"))
                .help("write the number of an axis, -1 for one point, or a list of axes");
            continue;
        };
        for axis in mapped {
            let known = usize::try_from(axis).is_ok_and(|axis| axis < axes);
            if !known || seen.contains(&axis) {
                diag.error(op, format!("axis {place} of the instruction is axis {axis} of {axes}"))
                    .help("name each axis of the nest at most once, or -1 for one point");
            }
            seen.push(axis);
        }
    }
}

/// C2. Sizes are at least 1, and an inner rTile is no larger than an outer one.
fn compute_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let tiles = tiles(op);
    for (memory, sizes) in &tiles {
        for size in sizes.iter().filter(|&&size| size < 1) {
            diag.error(op, format!("the rTile in @{memory} has a size of {size}"))
                .help("sizes are at least 1");
        }
    }
    for ((outside, outer), (inside, inner)) in tiles.iter().zip(tiles.iter().skip(1)) {
        for (axis, (outer, inner)) in outer.iter().zip(inner).enumerate() {
            if inner > outer {
                let what = format!("the rTile in @{inside} is {inner} long on axis {axis}");
                diag.error(op, format!("{what}, in one of {outer} in @{outside}"))
                    .help("an inner rTile is no larger than the one around it");
            }
        }
    }
}

/// C3. `on` names an instruction, a lane unit or a move of the machine.
fn compute_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(machine) = Machine::of(op) else { return };
    let Some(name) = symbol(op, "instruction") else { return };
    let kinds = ["device.instruction", "device.lanes", "device.move"];
    if kinds.iter().any(|kind| machine.fact(kind, name).is_some()) {
        return;
    }
    let own = kinds.into_iter().flat_map(|kind| machine.facts(kind));
    let own: Vec<_> = own.map(|fact| format!("@{}", fact.symbol())).collect();
    let what = format!("tile.compute runs on @{name}, which the machine @{}", machine.name());
    diag.error(op, format!("{what} does not have"))
        .note(machine.raw(), "the machine is here")
        .help(format!("it has {}", if own.is_empty() { "none".into() } else { own.join(", ") }));
}

/// C4. The register rTile's accumulators fit the register memory.
fn compute_c4(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(machine) = Machine::of(op) else { return };
    let Some((memory, sizes)) = tiles(op).pop() else { return };
    let Some(registers) = machine.memory(memory).filter(|memory| memory.is_registers()) else {
        return;
    };
    let Some(nest) = op.first_block(0).and_then(nest) else { return };
    if axes(nest).is_some_and(|axes| axes.len() != sizes.len()) {
        return;
    }
    if let Some(bytes) = accumulator_bytes(nest, &sizes)
        && bytes > registers.capacity_bytes()
    {
        let capacity = registers.capacity_bytes();
        let what = format!("the accumulators of {sizes:?} take {bytes} bytes of @{memory}");
        diag.error(op, format!("{what}, which has {capacity}"))
            .note(registers.op(), "the registers are here")
            .help("make the register rTile smaller");
    }
}

/// C5. There is one layout per input of the nest: two numbers, or five.
fn compute_c5(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(layouts) = op.attr("layouts").and_then(attr::array) else { return };
    let Some(nest) = op.first_block(0).and_then(nest) else { return };
    let inputs = nest.segments().and_then(|parts| parts.first().map(Vec::len)).unwrap_or(0);
    let numbers = |layout: &_| attr::ints(*layout).map(|numbers| numbers.len());
    let good = layouts.iter().all(|layout| matches!(numbers(layout), Some(0 | 2 | 5)));
    if layouts.len() != inputs || !good {
        let (given, inputs) = (count(layouts.len(), "layout"), count(inputs, "input"));
        diag.error(op, format!("tile.compute has {given} for {inputs}"))
            .help("a layout is [inner axis, pitch], and [bits, keep, shift] of a swizzle behind; nothing for an input that is held in registers");
    }
}

/// Returns the bytes of a nest's outputs that one tile of its axes touches.
fn accumulator_bytes(nest: Op<'_>, sizes: &[i64]) -> Option<u64> {
    let [inputs, outputs] = <[_; 2]>::try_from(nest.segments()?).ok()?;
    let maps = nest.attr("indexing_maps").and_then(attr::array)?;
    let mut sum = 0u64;
    for (output, map) in outputs.iter().zip(maps.into_iter().skip(inputs.len())) {
        let accesses = affine::linear(map)?;
        // No more than there are points, however far apart they lie.
        let along = (0..sizes.len())
            .filter(|&axis| accesses.iter().any(|access| access.coefficients[axis] != 0));
        let points =
            along.map(|axis| u64::try_from(sizes[axis]).unwrap_or(0)).fold(1, u64::saturating_mul);
        let mut elements = 1u64;
        for access in accesses {
            let reaches = access.coefficients.iter().zip(sizes).map(|(&coefficient, &size)| {
                coefficient.unsigned_abs().saturating_mul(u64::try_from(size - 1).unwrap_or(0))
            });
            elements = elements.saturating_mul(reaches.fold(1, u64::saturating_add));
        }
        let size = ty::byte_size(ty::elem(output.ty())?)?;
        sum = sum.saturating_add(elements.min(points).saturating_mul(size));
    }
    Some(sum)
}

fn types<'c>(values: &[Val<'c>]) -> Vec<Type<'c>> {
    values.iter().map(|value| value.ty()).collect()
}
