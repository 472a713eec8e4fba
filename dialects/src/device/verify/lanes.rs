//! Constraints of the operations that lanes do.

use super::super::{Lanes, Machine};
use super::program::check_indices;
use crate::ir::{Block, Diagnostics, Op, Type, Val, ty};
use crate::verify::{check_fact, check_positive, count, int, symbol};

/// Inputs, their indices, outputs, their indices.
fn lane_parts<'c>(op: Op<'c>) -> Option<[Vec<Val<'c>>; 4]> {
    op.segments()?.try_into().ok()
}

/// The lane unit that an operation names; reports where the machine has none such.
fn lanes_unit<'c>(op: Op<'c>, diag: &mut Diagnostics) -> Option<Lanes<'c>> {
    let (machine, name) = (Machine::of(op)?, symbol(op, "lanes_unit")?);
    check_fact(op, machine, "device.lanes", name, diag)?;
    machine.lanes_unit(name)
}

/// C1. The machine has the lane unit, which lists every operation of the body and
/// its element types. Constants, arithmetic on indices, `arith.index_cast` of
/// indices, `memref.load` and `device.lane` need no instruction; masks (`i1`)
/// come with every unit.
pub(super) fn apply_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(unit) = lanes_unit(op, diag) else { return };
    for inner in op.first_block(0).into_iter().flat_map(Block::iter) {
        if needs_no_instruction(inner) {
            continue;
        }
        if !unit.operations().contains(&inner.name()) {
            let (name, unit_name) = (inner.name(), unit.name);
            diag.error(
                inner,
                format!("device.apply uses {name} on @{unit_name}, which does not list it"),
            )
            .note(unit.op(), "the lane unit is here")
            .help(format!("its operations are {}", unit.operations().join(", ")));
            continue;
        }
        let values = inner.operands().into_iter().chain(inner.results());
        let stranger =
            values.map(|value| value.ty()).find(|&ty| !ty::is_index(ty) && !unit.has_type(ty));
        if let Some(ty) = stranger {
            let (name, unit_name) = (inner.name(), unit.name);
            let types: Vec<_> = unit.types().iter().map(ToString::to_string).collect();
            diag.error(
                inner,
                format!("device.apply uses {name} on {ty}, which @{unit_name} does not list"),
            )
            .note(unit.op(), "the lane unit is here")
            .help(format!("its types are {}", types.join(", ")));
        }
    }
}

/// Returns whether an operation of a body is free on every lane unit.
fn needs_no_instruction(op: Op<'_>) -> bool {
    let types: Vec<_> =
        op.operands().into_iter().chain(op.results()).map(|value| value.ty()).collect();
    match op.name() {
        "arith.constant" | "memref.load" | "device.lane" | "device.yield" => true,
        "arith.index_cast" | "arith.index_castui" => types.iter().any(|&ty| ty::is_index(ty)),
        // The addresses of one lane; comparisons of them give masks.
        _ => {
            types.iter().any(|&ty| ty::is_index(ty))
                && types.iter().all(|&ty| ty::is_index(ty) || ty::is_int(ty, 1))
        }
    }
}

/// C2. The body has one argument per input, of its element type, and yields one
/// value per output, of its element type.
pub(super) fn apply_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let Some([inputs, _, outputs, _]) = lane_parts(op) else { return };
    let elems = |views: &[Val<'_>]| -> Vec<String> {
        views.iter().filter_map(|view| ty::elem(view.ty())).map(|ty| ty.to_string()).collect()
    };
    check_body(op, &elems(&inputs), &elems(&outputs), diag);
}

/// Checks what the body of an operation on lanes takes and yields.
fn check_body(op: Op<'_>, takes: &[String], yields: &[String], diag: &mut Diagnostics) {
    let texts = |values: Vec<Val<'_>>| -> Vec<String> {
        values.into_iter().map(|value| value.ty().to_string()).collect()
    };
    let Some(body) = op.first_block(0) else { return };
    let args = texts(body.args());
    if args != takes {
        let (given, wanted) = (args.join(", "), takes.join(", "));
        diag.error(op, format!("the body of {} takes ({given}) of ({wanted})", op.name()))
            .help(format!("its arguments are ({wanted})"));
    }
    let Some(end) = body.terminator() else { return };
    if !end.is("device.yield") {
        diag.error(op, format!("the body of {} ends in {}", op.name(), end.name()))
            .note(end, "the body ends here")
            .help("end it with device.yield");
        return;
    }
    let values = texts(end.operands());
    if values != yields {
        let (given, wanted) = (values.join(", "), yields.join(", "));
        diag.error(op, format!("the body of {} yields ({given}) for ({wanted})", op.name()))
            .note(end, "the values are yielded here")
            .help(format!("it yields ({wanted})"));
    }
}

/// C3. Outputs are in the unit's registers, and the lanes fit one register, or are a whole
/// operand of an instruction in registers that are spread over lanes.
pub(super) fn apply_c3(op: Op<'_>, diag: &mut Diagnostics) {
    check_positive(op, "lanes", diag);
    let Some([inputs, _, outputs, _]) = lane_parts(op) else { return };
    // C1 reports a unit that is not there.
    let unit = symbol(op, "lanes_unit").and_then(|name| Machine::of(op)?.lanes_unit(name));
    let Some(unit) = unit else { return };
    for output in &outputs {
        if ty::memory(output.ty()) != Some(unit.memory()) {
            let (ty, memory) = (output.ty(), unit.memory());
            diag.error(op, format!("device.apply writes {ty}, @{} works in @{memory}", unit.name))
                .note(unit.op(), "the lane unit is here")
                .help(format!("write a register of @{memory}, and copy it from there"));
        }
    }
    check_lanes(op, &unit, &inputs, diag);
    check_lanes(op, &unit, &outputs, diag);
}

/// Checks that the lanes of each view in the unit's registers fit one of them.
fn check_lanes<'c>(op: Op<'c>, unit: &Lanes<'c>, views: &[Val<'c>], diag: &mut Diagnostics) {
    let Some(lanes) = int(op, "lanes").and_then(|lanes| u64::try_from(lanes).ok()) else { return };
    for view in views.iter().filter(|view| ty::memory(view.ty()) == Some(unit.memory())) {
        let Some(elem) = ty::elem(view.ty()) else { continue };
        let room = unit.lanes_for(elem).unwrap_or(0);
        if lanes > room && !is_block(op, view.ty(), lanes) {
            let (name, memory) = (op.name(), unit.memory());
            diag.error(op, format!("{name} works on {lanes} lanes of {elem} in @{memory}"))
                .note(unit.op(), "the lane unit is here")
                .help(format!("a register holds {room} lanes of {elem}"));
        }
    }
}

/// Tests that so many elements are the last dimensions of a memref in registers that are spread over
/// the lanes of a group.
fn is_block(op: Op<'_>, ty: Type<'_>, elements: u64) -> bool {
    let memory = ty::memory(ty).and_then(|name| Machine::of(op)?.memory(name));
    let spread = memory.is_some_and(|memory| memory.lanes().is_some());
    let blocks = ty::shape(ty).unwrap_or_default().into_iter().rev().scan(1, |block, extent| {
        *block *= extent;
        Some(*block)
    });
    let whole = op.is("device.apply") || op.attr("along").is_some();
    spread && whole && blocks.skip(1).any(|block| block == elements)
}

/// C4. One index per dimension.
pub(super) fn apply_c4(op: Op<'_>, diag: &mut Diagnostics) {
    if let Some([inputs, from, outputs, to]) = lane_parts(op) {
        check_indices(op, &inputs, &from, diag);
        check_indices(op, &outputs, &to, diag);
    }
}

/// C1. The lane unit lists the body's only operation among its reductions, and its
/// element type; the lanes of the input fit one of its registers, or are a whole operand with `along`.
pub(super) fn combine_c1(op: Op<'_>, diag: &mut Diagnostics) {
    check_positive(op, "lanes", diag);
    let Some(unit) = lanes_unit(op, diag) else { return };
    let Some(body) = op.first_block(0) else { return };
    let inner: Vec<_> = body.iter().filter(|op| !op.is("device.yield")).collect();
    let [inner] = inner.as_slice() else {
        let found = count(inner.len(), "operation");
        diag.error(op, format!("the body of device.combine has {found}"))
            .help("it combines two lanes by one operation");
        return;
    };
    let elem = inner.results().first().map(|result| result.ty());
    if !elem.is_some_and(|elem| unit.reduces(inner.name(), elem)) {
        let name = inner.name();
        let elem = elem.map_or("nothing".into(), |elem| elem.to_string());
        diag.error(
            *inner,
            format!("device.combine uses {name} on {elem}, which @{} does not list", unit.name),
        )
        .note(unit.op(), "the lane unit is here")
        .help(format!("its reductions are {}", unit.reductions().join(", ")));
    }
    let Some([inputs, _, _, _]) = lane_parts(op) else { return };
    for input in inputs.iter().filter(|input| ty::memory(input.ty()) != Some(unit.memory())) {
        let (ty, memory) = (input.ty(), unit.memory());
        diag.error(op, format!("device.combine reads {ty}, @{} works in @{memory}", unit.name))
            .note(unit.op(), "the lane unit is here")
            .help(format!("copy it to a register of @{memory} first"));
    }
    check_lanes(op, &unit, &inputs, diag);
}

/// C2. One input and one output of one element type, with one index per dimension;
/// the body takes two of that type and yields one. With `along` the last dimensions of both are the
/// same operand, which has that dimension.
pub(super) fn combine_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let Some([inputs, from, outputs, to]) = lane_parts(op) else { return };
    let ([input], [output]) = (inputs.as_slice(), outputs.as_slice()) else {
        let (inputs, outputs) = (count(inputs.len(), "input"), count(outputs.len(), "output"));
        diag.error(op, format!("device.combine has {inputs} and {outputs}"))
            .help("it has one of each");
        return;
    };
    let (input, output) = (input.ty(), output.ty());
    let (Some(elem), Some(other)) = (ty::elem(input), ty::elem(output)) else { return };
    if elem != other {
        diag.error(op, format!("device.combine takes {input} and gives {output}"))
            .help("both have one element type");
        return;
    }
    let elem = elem.to_string();
    check_body(op, &[elem.clone(), elem.clone()], &[elem], diag);
    check_indices(op, &inputs, &from, diag);
    check_indices(op, &outputs, &to, diag);
    if let Some(along) = int(op, "along") {
        let elements = int(op, "lanes").and_then(|lanes| u64::try_from(lanes).ok()).unwrap_or(0);
        let [read, written] = [input, output].map(|ty| operand(ty, elements));
        let dims = read.as_ref().map_or(0, Vec::len) as i64;
        if read.is_none() || read != written {
            diag.error(op, format!("device.combine goes along an operand of {elements} elements"))
                .note(op, format!("its registers are {input} and {output}"))
                .help("the last dimensions of both are the operand");
        } else if !(0..dims).contains(&along) {
            diag.error(op, format!("device.combine goes along dimension {along} of {dims}"))
                .help(format!("give one from 0 to {}", dims - 1));
        }
    }
}

/// The last dimensions of a memref that are so many elements together.
fn operand(ty: Type<'_>, elements: u64) -> Option<Vec<u64>> {
    let shape = ty::shape(ty)?;
    let all = |first: &usize| shape[*first..].iter().product::<u64>() == elements;
    (0..shape.len()).rev().find(all).map(|first| shape[first..].to_vec())
}
