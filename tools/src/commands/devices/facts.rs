//! The facts of the file: memories, units, engines, moves, lanes, instructions.

use weft_dialects::device::{Instruction, Machine};
use weft_dialects::ir::{Op, Type, affine, attr, ty};

use super::loaded::Loaded;
use super::roofline::peak;
use super::sheet::Section;

/// The sections about the file itself.
pub fn sections(loaded: &Loaded<'_>) -> Vec<Section> {
    let machine = loaded.machine();
    vec![
        memories(loaded),
        units(loaded),
        engines(machine),
        moves(machine),
        lanes(machine),
        instructions(machine),
    ]
}

fn memories(loaded: &Loaded<'_>) -> Section {
    let mut section = Section::new("memories", "", &["memory", "what it is"]);
    for memory in loaded.machine().memories() {
        let mut facts =
            vec![format!("{}{}", bytes(memory.capacity_bytes()), loaded.host(memory.name))];
        facts.push(format!("shared by a {}", memory.scope().name()));
        facts.extend(memory.caches().map(|behind| format!("a cache of @{behind}")));
        facts.extend(memory.within().map(|around| format!("addressed as @{around}")));
        facts.extend(memory.register_bytes().map(|size| {
            format!("{} registers of {size} B", memory.capacity_bytes() / size.max(1))
        }));
        facts.extend(memory.lanes().map(|lanes| format!("over {lanes} lanes")));
        facts.extend(memory.core_bytes().map(|size| format!("{} for a core", bytes(size))));
        facts.extend(memory.gbytes_per_second().map(|rate| format!("{rate} GB/s measured")));
        facts.extend(memory.bytes_per_cycle().map(|rate| format!("{rate} B a cycle")));
        facts.extend(memory.transaction_bytes().map(|size| format!("{size} B an access")));
        if let (Some(banks), Some(width)) = (memory.banks(), memory.bank_bytes()) {
            facts.push(format!("{banks} banks of {width} B"));
        }
        section.row([format!("@{}", memory.name), facts.join(", ")]);
    }
    section
}

fn units(loaded: &Loaded<'_>) -> Section {
    let mut section = Section::new("units", "", &["unit", "what it is"]);
    for unit in loaded.machine().units() {
        let clock = unit.clock_mhz().map_or(String::new(), |clock| format!(" at {clock} MHz"));
        let parts = match unit.partitions() {
            1 => String::new(),
            parts => format!(", {parts} parts that issue side by side"),
        };
        let turns = match unit.turns() {
            1 => String::new(),
            turns => format!(", groups in {turns} turns"),
        };
        let cluster = unit.cluster().zip(loaded.machine().cluster_units(&unit));
        let cluster = cluster.map_or(String::new(), |(c, units)| format!(", {units} in a @{c}"));
        let wait = match unit.wait_cycles() {
            0 => String::new(),
            cycles => format!(", {cycles} cycles to wait for another"),
        };
        let launch = unit.launch_cycles().map_or(String::new(), |c| format!(", {c} to launch"));
        let host = loaded.host(unit.name);
        let count = format!("{}{host}{clock}{cluster}{parts}{turns}{wait}{launch}", unit.count());
        section.row([format!("@{}", unit.name), count]);
    }
    section
}

fn engines(machine: Machine<'_>) -> Section {
    let mut section = Section::new("engines", "", &["engine", "beside", "holds", "does"]);
    for engine in machine.engines() {
        let moves = machine.moves();
        let moves =
            moves.iter().filter(|way| way.engine() == Some(engine.name)).map(|way| way.name);
        let all = machine.instructions();
        let does = all.iter().filter(|one| one.engine() == Some(engine.name)).map(|one| one.name);
        let does: Vec<_> = moves.chain(does).map(|name| format!("@{name}")).collect();
        section.row([
            format!("@{}", engine.name),
            format!("@{}", engine.unit()),
            format!("{} orders", engine.queue()),
            does.join(", "),
        ]);
    }
    section
}

fn moves(machine: Machine<'_>) -> Section {
    let mut section = Section::new("moves", "", &["move", "how"]);
    for way in machine.moves() {
        let mut facts = vec![format!("@{} -> @{}", way.source(), way.target())];
        facts.extend(way.engine().map(|engine| format!("by the engine @{engine}")));
        facts.extend(way.bytes_per_cycle().map(|rate| format!("{rate} B a cycle")));
        facts.extend(way.issue_cycles().map(|cycles| format!("every {cycles} cycles")));
        facts.extend(way.latency_cycles().map(|cycles| format!("there after {cycles}")));
        facts.extend(way.strided().then(|| "strided".to_owned()));
        facts.extend(way.fills().then(|| "fills".to_owned()));
        facts.extend(way.streams().then(|| "streams past the caches".to_owned()));
        let pieces = way.gathering(machine).map(|own| own.piece * own.elem_bytes);
        facts.extend(pieces.map(|bytes| format!("lanes gather pieces of {bytes} B")));
        section.row([format!("@{}", way.name), facts.join(", ")]);
    }
    section
}

fn lanes(machine: Machine<'_>) -> Section {
    let mut section = Section::new("lanes", "", &["lane unit", "how", "types", "does"]);
    for lanes in machine.lanes_units() {
        let types: Vec<_> = lanes
            .types()
            .iter()
            .map(|&ty| match lanes.lanes_for(ty) {
                Some(count) => format!("{count}x{ty}"),
                None => ty.to_string(),
            })
            .collect();
        let (unit, memory) = (lanes.unit(), lanes.memory());
        let cycles =
            format!("every {} cycles, after {}", lanes.issue_cycles(), lanes.latency_cycles());
        let (operations, reductions) = (lanes.operations().len(), lanes.reductions().len());
        section.row([
            format!("@{}", lanes.name),
            format!("on @{unit} in @{memory}: {cycles}"),
            types.join(" "),
            format!("{operations} operations, {reductions} of them along lanes"),
        ]);
    }
    section
}

fn instructions(machine: Machine<'_>) -> Section {
    let mut section = Section::new("instructions", "", &["instruction", "operands", "cost"]);
    for instruction in machine.instructions() {
        let operands: Vec<_> = instruction
            .operand_types()
            .into_iter()
            .zip(instruction.operands())
            .map(|(ty, memory)| format!("{} in @{memory}", shape(ty)))
            .collect();
        let unit = instruction.engine().unwrap_or(instruction.unit());
        let mut facts = vec![format!(
            "every {} cycles, after {}",
            instruction.issue_cycles(),
            instruction.latency_cycles()
        )];
        facts.extend(multiply_adds(&instruction).map(|count| format!("{count} multiply-adds")));
        facts.extend(
            peak(machine, &instruction).map(|rate| format!("{:.1} G a second", rate / 1e9)),
        );
        if !instruction.accuracy().is_empty() {
            facts.push(format!("may differ in {}", instruction.accuracy().join(", ")));
        }
        let name = format!("@{} on @{unit}", instruction.name);
        section.row([name, operands.join(", "), facts.join(", ")]);
    }
    section
}

/// Multiply-adds that the meaning does, where it is one nest that does nothing else.
pub fn multiply_adds(instruction: &Instruction<'_>) -> Option<u64> {
    let ops = instruction.meaning()?.ops();
    let generics: Vec<_> = ops.into_iter().filter(|op| op.is("linalg.generic")).collect();
    let [generic] = generics[..] else { return None };
    let body: Vec<_> = generic.body(0)?.ops();
    let has = |names: [&str; 2]| body.iter().any(|op| names.contains(&op.name()));
    let folds = has(["arith.mulf", "arith.muli"]) && has(["arith.addf", "arith.addi"]);
    extents(generic).filter(|_| folds).map(|extents| extents.into_iter().product())
}

/// The points of each axis of a nest: an axis is as long as a dimension that it indexes
/// alone.
pub fn extents(generic: Op<'_>) -> Option<Vec<u64>> {
    let maps = generic.attr("indexing_maps").and_then(attr::array)?;
    let axes = affine::axes(*maps.first()?)?;
    let mut extents = vec![None; axes];
    for (map, operand) in maps.into_iter().zip(generic.operands()) {
        let shape = ty::shape(operand.ty())?;
        for (index, dim) in affine::linear(map)?.iter().zip(shape) {
            if let Some(axis) = index.as_axis() {
                extents[axis] = Some(dim);
            }
        }
    }
    extents.into_iter().collect()
}

/// `16x16xf32`, or `f32` for a scalar.
pub fn shape(tensor: Type<'_>) -> String {
    let dims = ty::shape(tensor).unwrap_or_default();
    let dims: String = dims.iter().map(|dim| format!("{dim}x")).collect();
    format!(
        "{dims}{}",
        ty::elem(tensor).map_or_else(|| tensor.to_string(), |elem| elem.to_string())
    )
}

/// A size in the largest unit that is whole, or nearly so.
fn bytes(size: u64) -> String {
    const UNITS: [(&str, u64); 3] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    match UNITS.iter().find(|(_, unit)| size >= *unit) {
        Some((name, unit)) if size.is_multiple_of(*unit) => format!("{} {name}", size / unit),
        Some((name, unit)) => format!("{:.1} {name}", size as f64 / *unit as f64),
        None => format!("{size} B"),
    }
}
