//! Constraints of the `graph` dialect.

use crate::aliases;
use crate::finds;
use crate::ir::{Block, Diagnostics, Op, Type, Val, attr, parts, ty};
use crate::lengths::{check_attr, check_ports, check_symbol};
use crate::repeat;
use crate::verify::{Table, check_table, count};
use melior::ir::AttributeLike;

const TABLE: Table = &[
    ("graph.model", &[model_c1, model_c2, model_c3, model_c4, model_c5]),
    ("graph.symbol", &[check_symbol]),
    ("graph.length", &[length_c1]),
    ("graph.find", &[finds::check, finds::check_before]),
    ("graph.call", &[repeat::check_call]),
    ("graph.weight", &[weight_c1]),
    ("graph.constant", &[constant_c1]),
    ("graph.op", &[op_c1, op_c2]),
];

/// Checks `op` against the constraints of its description.
pub(crate) fn check(op: Op<'_>, diag: &mut Diagnostics) {
    check_table(TABLE, op, diag);
}

/// C1. One input name per block argument, all different.
fn model_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let names = op.attr("inputs").and_then(attr::strings).unwrap_or_default();
    let args = op.first_block(0).map(Block::args).unwrap_or_default();
    if names.len() != args.len() {
        let (names, args) = (count(names.len(), "input"), count(args.len(), "argument"));
        diag.error(op, format!("graph.model has {names} and {args}"))
            .help("give one name per block argument");
    }
    for (place, name) in names.iter().enumerate() {
        if names[..place].contains(name) {
            diag.error(op, format!("graph.model has two inputs named \"{name}\""))
                .help("give each input a name of its own");
        }
    }
}

/// C2. The body ends in `graph.output`, with one value per output name.
fn model_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let names = op.attr("outputs").and_then(attr::strings).unwrap_or_default();
    let Some(end) = op.first_block(0).and_then(Block::terminator) else { return };
    if !end.is("graph.output") {
        diag.error(op, format!("graph.model ends in {}", end.name()))
            .note(end, "the body ends here")
            .help("end it with graph.output");
        return;
    }
    let values = end.operands().len();
    if values != names.len() {
        let (names, values) = (count(names.len(), "output"), count(values, "value"));
        diag.error(op, format!("graph.model names {names} and gives {values}"))
            .note(end, "the values leave here")
            .help("give one value per output name");
    }
}

/// C3. There are lengths for every port or for none, one for each dimension, of symbols of the
/// module.
fn model_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(block) = op.first_block(0) else { return };
    let results = block.terminator().map(|end| end.operands()).unwrap_or_default();
    let types: Vec<_> = block.args().iter().chain(&results).map(|value| value.ty()).collect();
    check_ports(op, &types, diag);
}

/// C4. An alias is of an input and an output of one type, each in no other.
fn model_c4<'c>(op: Op<'c>, diag: &mut Diagnostics) {
    let Some(block) = op.first_block(0) else { return };
    let results = block.terminator().map(|end| end.operands()).unwrap_or_default();
    let types = |values: &[Val<'c>]| values.iter().map(|value| value.ty()).collect::<Vec<_>>();
    aliases::check(op, [&types(&block.args()), &types(&results)], diag);
}

/// C5. What is repeated has an end, a name for its round, and its states behind its other inputs.
fn model_c5<'c>(op: Op<'c>, diag: &mut Diagnostics) {
    let Some(block) = op.first_block(0) else { return };
    let results = block.terminator().map(|end| end.operands()).unwrap_or_default();
    let types = |values: &[Val<'c>]| values.iter().map(|value| value.ty()).collect::<Vec<_>>();
    repeat::check(op, [&types(&block.args()), &types(&results)], diag);
    repeat::check_calls(op, diag);
}

/// C1. It is of symbols of the module.
fn length_c1(op: Op<'_>, diag: &mut Diagnostics) {
    check_attr(op, "length", diag);
}

/// C1. The shape is static.
fn weight_c1(op: Op<'_>, diag: &mut Diagnostics) {
    if let Some(result) = op.results().first()
        && ty::shape(result.ty()).is_none()
    {
        diag.error(op, format!("graph.weight has the type {}", result.ty()))
            .help("a weight has the static shape of the tensor in its file");
    }
}

/// C1. The literal has the type of the result.
fn constant_c1(op: Op<'_>, diag: &mut Diagnostics) {
    if let (Some(value), Some(result)) = (op.attr("value"), op.results().first())
        && value.r#type() != result.ty()
    {
        let (value, result) = (value.r#type(), result.ty());
        diag.error(op, format!("graph.constant writes {value} and gives {result}"))
            .help("both types have to be the same");
    }
}

/// C1. The payload has one argument per operand, of its payload type.
fn op_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let args = op.first_block(0).map(Block::args).unwrap_or_default();
    let operands = op.operands();
    if args.len() != operands.len() {
        let (operands, args) = (count(operands.len(), "operand"), count(args.len(), "argument"));
        diag.error(op, format!("graph.op has {operands} and a payload of {args}"))
            .help("the payload has one argument per operand");
        return;
    }
    for (place, (operand, arg)) in operands.iter().zip(&args).enumerate() {
        let payload = parts::payload(operand.ty());
        if arg.ty() != payload {
            let (given, arg) = (operand.ty(), arg.ty());
            diag.error(
                op,
                format!("graph.op takes {given}, its payload's argument {place} is {arg}"),
            )
            .help(format!("the payload type of {given} is {payload}"));
        }
    }
}

/// C2. The payload yields one value per result, of its payload type.
fn op_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(end) = op.first_block(0).and_then(Block::terminator) else { return };
    if !end.is("graph.yield") {
        diag.error(op, format!("the payload of graph.op ends in {}", end.name()))
            .note(end, "the payload ends here")
            .help("end it with graph.yield");
        return;
    }
    check_yield(op, end, diag);
}

fn check_yield<'c>(op: Op<'c>, end: Op<'c>, diag: &mut Diagnostics) {
    let types = |values: Vec<Val<'c>>| values.into_iter().map(|value| value.ty()).collect();
    let (given, wanted): (Vec<Type<'c>>, Vec<Type<'c>>) =
        (types(end.operands()), types(op.results()));
    if given.len() != wanted.len() {
        let (wanted, given) = (count(wanted.len(), "result"), count(given.len(), "value"));
        diag.error(op, format!("graph.op has {wanted} and its payload yields {given}"))
            .note(end, "the values are yielded here")
            .help("the payload yields one value per result");
        return;
    }
    for (place, (&given, &wanted)) in given.iter().zip(&wanted).enumerate() {
        let payload = parts::payload(wanted);
        if given != payload {
            diag.error(op, format!("graph.op gives {wanted}, its payload yields {given}"))
                .note(end, format!("value {place} is yielded here"))
                .help(format!("the payload type of {wanted} is {payload}"));
        }
    }
}
