//! Constraints of the `device` dialect.

mod alike;
mod arena;
mod bands;
mod cluster;
mod groups;
mod instruction;
mod lanes;
mod machine;
mod moves;
mod producer;
mod program;
mod rooms;
mod transfer;
mod turns;

use alike::*;
use arena::*;
use bands::*;
use cluster::*;
use groups::*;
use instruction::*;
use lanes::*;
use machine::*;
use moves::*;
use producer::*;
use program::*;
use transfer::*;
use turns::*;

use super::{Machine, Scope, used};
use crate::ir::{Block, Diagnostics, Op, Type, Val, attr};
use crate::verify::{Table, check_fact, check_positive, check_table, symbol, text};

const TABLE: Table = &[
    ("device.machine", &[machine_c1, machine_c2, machine_c3, machine_c4, machine_c5]),
    (
        "device.memory",
        &[
            memory_c1, memory_c2, memory_c3, memory_c4, memory_c5, memory_c6, memory_c7, memory_c8,
            memory_c9,
        ],
    ),
    ("device.unit", &[unit_c1, unit_c2, unit_c3]),
    ("device.engine", &[engine_c1, engine_c2, engine_c3]),
    ("device.move", &[move_c1, move_c2, move_c3, move_c4, move_c5, move_c6]),
    ("device.lanes", &[lanes_c1, lanes_c2, lanes_c3, lanes_c4]),
    (
        "device.instruction",
        &[
            instruction_c1,
            instruction_c2,
            instruction_c3,
            instruction_c4,
            instruction_c5,
            instruction_c6,
            instruction_c7,
            instruction_c8,
            instruction_c9,
            instruction_c10,
        ],
    ),
    (
        "device.kernel",
        &[
            kernel_c1, kernel_c2, kernel_c3, kernel_c4, kernel_c5, kernel_c6, kernel_c7, kernel_c8,
            kernel_c9, kernel_c10, kernel_c11,
        ],
    ),
    ("device.alloc", &[alloc_c1, alloc_c2, alloc_c3, alloc_c4, alloc_c5, alloc_c6, alloc_c7]),
    ("device.copy", &[copy_c1, copy_c2, copy_c3, copy_c4, copy_c5]),
    (
        "device.transfer",
        &[
            transfer_c1,
            transfer_c2,
            transfer_c3,
            transfer_c4,
            transfer_c5,
            transfer_c6,
            transfer_c7,
            transfer_c8,
            transfer_c9,
            transfer_c10,
        ],
    ),
    ("device.fill", &[fill_c1, fill_c2, fill_c3, fill_c4, fill_c5]),
    ("device.invoke", &[invoke_c1, invoke_c2, invoke_c3, invoke_c4, invoke_c5]),
    ("device.apply", &[apply_c1, apply_c2, apply_c3, apply_c4]),
    ("device.combine", &[combine_c1, combine_c2]),
    ("device.mark", &[mark_c1]),
    ("device.arrive", &[arrive_c1, arrive_c2]),
    ("device.length", &[length_c1]),
    ("device.barrier", &[barrier_c1]),
];

/// Checks `op` against the constraints of its description.
pub(crate) fn check(op: Op<'_>, diag: &mut Diagnostics) {
    // A machine that is wrong is refused before anything is made of it: its own verifier uses
    // nothing.
    match used::is_kind(op) {
        true => used::quietly(|| check_table(TABLE, op, diag)),
        false => check_table(TABLE, op, diag),
    }
}

fn check_scope(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(scope) = text(op, "scope") else { return };
    if Scope::parse(scope).is_none() {
        let scopes: Vec<_> = Scope::ALL.iter().map(|scope| scope.name()).collect();
        diag.error(op, format!("{} has the scope \"{scope}\"", op.name()))
            .help(format!("scopes are {}", scopes.join(", ")));
    }
}

fn check_cycles(op: Op<'_>, diag: &mut Diagnostics) {
    let cycles = op.attr("issue_cycles").and_then(attr::float);
    if let Some(cycles) = cycles.filter(|cycles| cycles.is_nan() || *cycles <= 0.0) {
        diag.error(op, format!("{} has issue_cycles {cycles}", op.name()))
            .help("it has to be above zero");
    }
    check_positive(op, "latency_cycles", diag);
}

/// Bytes of a register of the memory `name`, where that is a register file.
fn register_bytes(op: Op<'_>, name: &str) -> Option<u64> {
    let memory = Machine::of(op)?.memory(name)?;
    memory.register_bytes().filter(|&bytes| bytes > 0)
}

fn region_args<'c>(op: Op<'c>, region: usize) -> Vec<Type<'c>> {
    types(&op.first_block(region).map(Block::args).unwrap_or_default())
}

fn types<'c>(values: &[Val<'c>]) -> Vec<Type<'c>> {
    values.iter().map(|value| value.ty()).collect()
}

/// Checks that the machine has the engine that a move or an instruction names.
fn check_engine(op: Op<'_>, diag: &mut Diagnostics) {
    if let (Some(machine), Some(engine)) = (Machine::of(op), symbol(op, "engine")) {
        check_fact(op, machine, "device.engine", engine, diag);
    }
}

/// Checks that what a move or an instruction gives is a token exactly where an
/// engine does it.
fn check_token(op: Op<'_>, kind: &str, name: &str, diag: &mut Diagnostics) {
    let Some(machine) = Machine::of(op) else { return };
    let found = match kind {
        "device.move" => machine.move_named(name).map(|way| way.engine()),
        _ => machine.instruction(name).map(|instruction| instruction.engine()),
    };
    let (Some(engine), Some(fact)) = (found, machine.fact(kind, name)) else { return };
    let token = !op.results().is_empty();
    match engine {
        Some(engine) if !token => {
            diag.error(op, format!("{} gives no token, @{name} is done by @{engine}", op.name()))
                .note(fact, "it is here")
                .help("write `-> !device.token`, and wait for it");
        }
        None if token => {
            diag.error(op, format!("{} gives a token, @{name} has no engine", op.name()))
                .note(fact, "it is here")
                .help("leave out the token: without an engine the operation is done before the next one starts");
        }
        _ => {}
    }
}

/// Checks that every name in braces of an encoding is `known`.
fn check_encoding(
    op: Op<'_>,
    known: &dyn Fn(&str) -> bool,
    accepted: &str,
    diag: &mut Diagnostics,
) {
    let Some(encoding) = text(op, "encoding") else { return };
    let mut rest = encoding;
    while let Some((_, behind)) = rest.split_once('{') {
        let (name, after) = behind.split_once('}').unwrap_or((behind, ""));
        if !known(name) {
            diag.error(op, format!("the encoding \"{encoding}\" asks for `{name}`"))
                .help(format!("it may have {accepted} in braces"));
        }
        rest = after;
    }
}
