//! Constraints of the machine half.

use super::super::{Machine, Scope};
use super::{check_cycles, check_encoding, check_scope};
use crate::ir::{Block, Diagnostics, Op, attr, ty};
use crate::verify::{check_fact, check_positive, int, symbol, text};

/// C1. There is a memory of scope `device` that is no cache.
pub(super) fn machine_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let machine = Machine::new(op);
    let shared = machine.facts("device.memory").any(|memory| {
        text(memory, "scope") == Some(Scope::Device.name()) && memory.attr("caches").is_none()
    });
    if !shared {
        diag.error(op, "device.machine has no memory of scope device")
            .help("give it a device.memory of scope(\"device\") that is not a cache");
    }
}

/// C2. There is a unit.
pub(super) fn machine_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let machine = Machine::new(op);
    if machine.facts("device.unit").next().is_none() {
        diag.error(op, "device.machine has no execution unit").help("give it a device.unit");
    }
}

/// C3. A `pdl.pattern` calls no native function, since a machine file has none.
pub(super) fn machine_c3(op: Op<'_>, diag: &mut Diagnostics) {
    for pattern in Machine::new(op).facts("pdl.pattern") {
        pattern.walk(&mut |inner| {
            let native = match inner.name() {
                "pdl.apply_native_constraint" | "pdl.apply_native_rewrite" => true,
                // One without a body names a function that rewrites.
                "pdl.rewrite" => inner.attr("name").is_some(),
                _ => false,
            };
            if native {
                diag.error(inner, format!("the pattern @{} calls a function", pattern.symbol()))
                    .help("use operations of pdl alone: a machine file has no native code");
            }
        });
    }
}

/// C4. The operations of a pattern that bear the name of a dialect of the machine are
/// declared there.
pub(super) fn machine_c4(op: Op<'_>, diag: &mut Diagnostics) {
    let machine = Machine::new(op);
    let declared = machine.vendor_operations();
    let dialects: Vec<_> = machine.facts("irdl.dialect").map(|op| op.symbol()).collect();
    for pattern in machine.facts("pdl.pattern") {
        pattern.walk(&mut |inner| {
            let Some(name) = text(inner, "opName") else { return };
            let own = name.split_once('.').is_some_and(|(first, _)| dialects.contains(&first));
            if own && !declared.iter().any(|(known, _)| known == name) {
                let known: Vec<_> = declared.iter().map(|(known, _)| known.as_str()).collect();
                diag.error(
                    inner,
                    format!(
                        "the pattern @{} names {name}, which nobody declares",
                        pattern.symbol()
                    ),
                )
                .help(format!("the machine's operations are {}", known.join(", ")));
            }
        });
    }
}

/// C5. Every number in braces of a vendor operation's encoding is that of an operand.
pub(super) fn machine_c5(op: Op<'_>, diag: &mut Diagnostics) {
    for (_, operation) in Machine::new(op).vendor_operations() {
        let body = operation.first_block(0);
        let listed = body.into_iter().flat_map(Block::iter).find(|op| op.is("irdl.operands"));
        let operands = listed.map_or(0, |listed| listed.operands().len());
        let known = |name: &str| name.parse::<usize>().is_ok_and(|number| number < operands);
        check_encoding(operation, &known, &format!("numbers below {operands}"), diag);
    }
}

/// C1. Capacities, bandwidths, transaction, jump, way, banks, register size and lanes are above zero.
pub(super) fn memory_c1(op: Op<'_>, diag: &mut Diagnostics) {
    for name in [
        "capacity_bytes",
        "register_bytes",
        "row_bytes",
        "lanes",
        "access_bytes",
        "reserved_bytes",
        "core_bytes",
        "bytes_per_cycle",
        "store_bytes_per_cycle",
        "gbytes_per_second",
        "transaction_bytes",
        "jump_cycles",
        "prefetch_streams",
        "way_bytes",
        "banks",
        "bank_bytes",
        "static_bytes",
    ] {
        check_positive(op, name, diag);
    }
}

/// C2. The scope is one of those above.
pub(super) fn memory_c2(op: Op<'_>, diag: &mut Diagnostics) {
    check_scope(op, diag);
}

/// C3. A cache caches a memory of the machine, and a row of caches does not lead
/// back to itself.
pub(super) fn memory_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(machine) = Machine::of(op) else { return };
    let Some(cached) = symbol(op, "caches") else { return };
    let mut next = check_fact(op, machine, "device.memory", cached, diag);
    // As many steps as there are memories, for a circle need not come back here.
    for _ in machine.facts("device.memory") {
        let Some(memory) = next else { return };
        if memory == op {
            let name = op.symbol();
            diag.error(
                op,
                format!("device.memory @{name} caches @{cached}, which leads back to @{name}"),
            )
            .help("a chain of caches ends at a memory that is not a cache");
            return;
        }
        next = symbol(memory, "caches").and_then(|name| machine.fact("device.memory", name));
    }
}

/// C4. Registers divide the capacity.
pub(super) fn memory_c4(op: Op<'_>, diag: &mut Diagnostics) {
    if let (Some(capacity), Some(register)) = (int(op, "capacity_bytes"), int(op, "register_bytes"))
        && register > 0
        && capacity % register != 0
    {
        diag.error(op, format!("device.memory has {capacity} bytes in registers of {register}"))
            .help("a register file holds a whole number of registers");
    }
}

/// C5. `host` is one of those above.
pub(super) fn memory_c5(op: Op<'_>, diag: &mut Diagnostics) {
    check_host(op, &["l1d", "l2", "l3", "memory"], diag);
}

fn check_host(op: Op<'_>, known: &[&str], diag: &mut Diagnostics) {
    if let Some(host) = text(op, "host").filter(|host| !known.contains(host)) {
        diag.error(op, format!("{} reads \"{host}\" from the host", op.name()))
            .help(format!("it can read {}", known.join(", ")));
    }
}

/// C6. Only registers are spread over lanes, 1,024 at most, and only these have `access_bytes`.
pub(super) fn memory_c6(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(lanes) = int(op, "lanes") else {
        if let Some(bytes) = int(op, "access_bytes") {
            diag.error(op, format!("device.memory has access_bytes({bytes}) and no lanes"))
                .help("say over how many lanes a register is spread, or leave it out");
        }
        return;
    };
    if int(op, "register_bytes").is_none() {
        diag.error(op, format!("device.memory has lanes({lanes}) and no registers"))
            .help("give the size of a register with register_bytes, or leave the lanes out");
    }
    check_most(op, "lanes", 1024, diag);
}

/// C7. Only registers have a part in `core_bytes` and `reserved_bytes`, which are less than all.
pub(super) fn memory_c7(op: Op<'_>, diag: &mut Diagnostics) {
    for name in ["core_bytes", "reserved_bytes"] {
        if let (Some(bytes), None) = (int(op, name), int(op, "register_bytes")) {
            diag.error(op, format!("device.memory has {name}({bytes}) and no registers"))
                .help("the size of other memories is capacity_bytes");
        }
    }
    if let (Some(reserved), Some(all)) = (int(op, "reserved_bytes"), int(op, "capacity_bytes"))
        && reserved >= all
    {
        diag.error(op, format!("device.memory reserves {reserved} bytes of {all}"))
            .help("leave some to tiles");
    }
}

/// Refuses a number so large that it cannot be meant, and that lists are made of.
fn check_most(op: Op<'_>, name: &str, most: i64, diag: &mut Diagnostics) {
    if let Some(value) = int(op, name).filter(|&value| value > most) {
        diag.error(op, format!("{} has {name} {value}", op.name()))
            .help(format!("it has to be at most {most}"));
    }
}

/// C8. What has addresses within those of another memory is shared by a cluster, is no cache and
/// no registers, and the only one; the other is the one that the whole device shares.
pub(super) fn memory_c8(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(machine), Some(within)) = (Machine::of(op), symbol(op, "within")) else { return };
    let Some(around) = check_fact(op, machine, "device.memory", within, diag) else { return };
    let name = op.symbol();
    if op.attr("caches").is_some() || op.attr("register_bytes").is_some() {
        diag.error(
            op,
            format!("device.memory @{name} lies within @{within}, and has no addresses"),
        )
        .help("a cache and registers have no addresses; leave one of the two clauses out");
    }
    let scope = text(op, "scope").unwrap_or("");
    if scope != Scope::Cluster.name() {
        diag.error(op, format!("device.memory @{name} of scope {scope} lies within @{within}"))
            .help("only a memory of scope cluster may be `within` another");
    }
    if machine.shared().is_none_or(|shared| shared.name != within) {
        diag.error(op, format!("device.memory @{name} lies within @{within}"))
            .note(around, "that is not the memory of the whole device")
            .help("name the first memory of scope(\"device\") that is not a cache");
    }
    let mut inside = machine.facts("device.memory").filter(|own| own.attr("within").is_some());
    if let Some(first) = inside.next().filter(|first| *first != op) {
        let other = first.symbol();
        diag.error(
            op,
            format!("device.memory @{name} lies within @{within}, and so does @{other}"),
        )
        .note(first, "the other one is here")
        .help("only one memory of a cluster can hold buffers of a program");
    }
}

/// C9. Rows divide a register, which is spread over no lanes.
pub(super) fn memory_c9(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(row) = int(op, "row_bytes").filter(|&row| row > 0) else { return };
    match int(op, "register_bytes") {
        Some(register) if register % row == 0 => {}
        Some(register) => {
            diag.error(
                op,
                format!("device.memory has registers of {register} bytes in rows of {row}"),
            )
            .help("a register holds a whole number of rows");
        }
        None => {
            diag.error(op, "device.memory has rows, and no registers")
                .help("give it `register_bytes`, or leave `row_bytes` out");
        }
    }
    if let Some(lanes) = int(op, "lanes") {
        diag.error(op, format!("device.memory has registers in rows, spread over {lanes} lanes"))
            .help("a register is a tile of one thread, or spread over lanes: leave one of the two out");
    }
}

/// C1. The machine has the unit.
pub(super) fn engine_c1(op: Op<'_>, diag: &mut Diagnostics) {
    if let (Some(machine), Some(unit)) = (Machine::of(op), symbol(op, "unit")) {
        check_fact(op, machine, "device.unit", unit, diag);
    }
}

/// C2. The queue is longer than zero.
pub(super) fn engine_c2(op: Op<'_>, diag: &mut Diagnostics) {
    check_positive(op, "queue", diag);
}

/// C3. A move or an instruction is done by it.
pub(super) fn engine_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(machine) = Machine::of(op) else { return };
    let mut users = machine.facts("device.move").chain(machine.facts("device.instruction"));
    if !users.any(|user| symbol(user, "engine") == Some(op.symbol())) {
        let name = op.symbol();
        diag.error(op, format!("the engine @{name} has no moves or instructions"))
            .help(format!("write engine(@{name}) at a move or an instruction, or remove it"));
    }
}

/// C1. Count, clock, partitions, lanes of a block, groups, barrier, turns, handover, wait and launch are
/// above zero, and there are at most 65,536 units.
pub(super) fn unit_c1(op: Op<'_>, diag: &mut Diagnostics) {
    check_most(op, "count", 65_536, diag);
    let facts = [
        "count",
        "clock_mhz",
        "partitions",
        "block_lanes",
        "groups",
        "barrier_cycles",
        "turns",
        "handover_cycles",
        "wait_cycles",
        "launch_cycles",
    ];
    for fact in facts {
        check_positive(op, fact, diag);
    }
}

/// C2. `host` is `cores`.
pub(super) fn unit_c2(op: Op<'_>, diag: &mut Diagnostics) {
    check_host(op, &["cores"], diag);
}

/// C3. The machine has the cluster behind the unit, it is in none itself, and their number divides
/// that of the units.
pub(super) fn unit_c3(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(machine), Some(name)) = (Machine::of(op), symbol(op, "cluster")) else { return };
    let Some(cluster) = check_fact(op, machine, "device.unit", name, diag) else { return };
    if let Some(outer) = symbol(cluster, "cluster") {
        diag.error(op, format!("device.unit is in @{name}, which is in @{outer}"))
            .note(cluster, "the cluster is here")
            .help("a cluster cannot be in another cluster");
    }
    // The first kind of unit is the one that programs run on.
    let mut units = machine.facts("device.unit");
    if units.find(|unit| *unit == op || *unit == cluster) == Some(cluster) {
        diag.error(op, format!("device.unit is in @{name}, which stands before it"))
            .note(cluster, "the cluster is here")
            .help("write the units before their cluster");
    }
    if let (Some(units), Some(clusters)) = (int(op, "count"), int(cluster, "count"))
        && clusters > 0
        && units % clusters != 0
    {
        diag.error(op, format!("device.unit has {units} units in {clusters} of @{name}"))
            .note(cluster, "the cluster is here")
            .help("every cluster has the same number of units");
    }
}

/// C1. The unit and the memory belong to the machine, and the memory is a register file.
pub(super) fn lanes_c1(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(machine) = Machine::of(op) else { return };
    if let Some(unit) = symbol(op, "unit") {
        check_fact(op, machine, "device.unit", unit, diag);
    }
    let Some(memory) = symbol(op, "memory") else { return };
    if let Some(fact) = check_fact(op, machine, "device.memory", memory, diag)
        && fact.attr("register_bytes").is_none()
    {
        diag.error(op, format!("device.lanes works in @{memory}, which has no registers"))
            .note(fact, "the memory is here")
            .help("name a memory with register_bytes");
    }
}

/// C2. Every type fits a register a whole number of times.
pub(super) fn lanes_c2(op: Op<'_>, diag: &mut Diagnostics) {
    let Some(memory) = symbol(op, "memory").and_then(|name| Machine::of(op)?.memory(name)) else {
        return;
    };
    // Spread over lanes, a register holds one of any type for each.
    let Some(register) = memory.register_bytes().filter(|_| memory.lanes().is_none()) else {
        return;
    };
    let types = op.attr("types").and_then(attr::array).unwrap_or_default();
    for ty in types.into_iter().filter_map(attr::type_of) {
        let bytes = ty::byte_size(ty).filter(|&bytes| bytes > 0);
        if !bytes.is_some_and(|bytes| bytes <= register && register % bytes == 0) {
            diag.error(op, format!("device.lanes works on {ty} in registers of {register} bytes"))
                .help("a register holds a whole number of integers or floats");
        }
    }
}

/// C3. Cycles are above zero; those of a step, a tile and a member may be zero.
pub(super) fn lanes_c3(op: Op<'_>, diag: &mut Diagnostics) {
    check_cycles(op, diag);
    let clauses = [
        ("shuffle_cycles", false),
        ("step_cycles", true),
        ("tile_cycles", true),
        ("member_cycles", true),
    ];
    for (clause, may_be_zero) in clauses {
        let cycles = op.attr(clause).and_then(attr::float);
        let is_wrong =
            |cycles: &f64| !cycles.is_finite() || *cycles < 0.0 || *cycles == 0.0 && !may_be_zero;
        if let Some(cycles) = cycles.filter(is_wrong) {
            let least = if may_be_zero { "zero or more" } else { "above zero" };
            diag.error(op, format!("device.lanes has {clause} {cycles}"))
                .help(format!("it has to be {least}, and finite"));
        }
    }
}

/// C4. `operation_cycles` are numbers above zero, of operations in `operations`.
pub(super) fn lanes_c4(op: Op<'_>, diag: &mut Diagnostics) {
    let applied = op.attr("operations").and_then(attr::strings).unwrap_or_default();
    for (name, value) in op.attr("operation_cycles").and_then(attr::entries).unwrap_or_default() {
        if !applied.contains(&name) {
            diag.error(op, format!("device.lanes has cycles of {name}, which it does not apply"))
                .help("name it in operations, too, or leave it out");
        }
        if attr::float(value).is_none_or(|cycles| !cycles.is_finite() || cycles <= 0.0) {
            diag.error(op, format!("device.lanes has operation_cycles {value} of {name}"))
                .help("write a number with a point, above zero, such as 10.0");
        }
    }
}
