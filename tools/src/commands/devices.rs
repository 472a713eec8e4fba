//! `weft devices`: the machines, and what a machine file says.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use weft_dialects::device::{Instruction, Machine, Memory, Scope};
use weft_dialects::ir::{Context, Module, Op, Type, affine, attr, empty_module, module_op, ty};
use weft_passes::device::load_machine;

use super::compile::write;
use crate::source::parse_text;
use crate::{Collector, Device, Failure, MACHINES};

/// Lists the machines, or checks and describes one.
#[derive(Clone, Debug, clap::Args)]
pub struct Args {
    /// A name from the list, or a file.
    pub machine: Option<String>,
}

/// Does it.
///
/// # Errors
/// A machine that is not there, or a file with mistakes.
pub fn run(args: &Args) -> Result<(), Failure> {
    let context = crate::context();
    let text = match &args.machine {
        None => list(&context)?,
        Some(name) => describe(&context, &Device::Named(name.clone()))?,
    };
    write(Path::new("-"), text.as_bytes())
}

/// A machine file, parsed, checked, and with what the host knows better.
struct Loaded<'c> {
    module: Module<'c>,
    /// What the host was asked, by the name of the memory or unit.
    asked: BTreeMap<String, String>,
}

impl<'c> Loaded<'c> {
    fn of(context: &'c Context, device: &Device) -> Result<Self, Failure> {
        let (text, name) = device.text(context)?;
        let collector = Collector::listen(context);
        let text = collector.source(&name, &text);
        let file = parse_text(context, &collector, &text)?;
        let module = empty_module(context);
        load_machine::load(context, module_op(&module), &text, &name)
            .map_err(|_| collector.failure())?;
        if !module_op(&module).verify() {
            return Err(collector.failure());
        }
        let mut asked = BTreeMap::new();
        module_op(&file).walk(&mut |op| {
            if let Some(fact) = op.attr("host").and_then(attr::string) {
                asked.insert(op.symbol().to_owned(), fact.to_owned());
            }
        });
        Ok(Self { module, asked })
    }

    fn machine(&self) -> Machine<'c> {
        Machine::of(module_op(&self.module)).expect("a machine was loaded")
    }

    fn host(&self, name: &str) -> &'static str {
        if self.asked.contains_key(name) { " (the host's)" } else { "" }
    }
}

fn list(context: &Context) -> Result<String, Failure> {
    let host = Device::Host.text(context);
    let mut text = String::new();
    for (name, _) in MACHINES {
        let loaded = Loaded::of(context, &Device::Named((*name).to_owned()))?;
        let machine = loaded.machine();
        let units: Vec<_> =
            machine.units().iter().map(|unit| format!("{} @{}", unit.count, unit.name)).collect();
        let this = match &host {
            Ok((_, host)) if host == name => "  <- the host",
            _ => "",
        };
        let (memories, instructions) = (machine.memories().len(), machine.instructions().len());
        let facts =
            format!("{}, {memories} memories, {instructions} instructions", units.join(", "));
        line(&mut text, format_args!("{name:<14} {:<8} {facts}{this}", machine.arch()));
    }
    if let Err(failure) = host {
        line(&mut text, format_args!("{failure}"));
    }
    Ok(text)
}

fn describe(context: &Context, device: &Device) -> Result<String, Failure> {
    let loaded = Loaded::of(context, device)?;
    let machine = loaded.machine();
    let mut text = String::new();
    line(&mut text, format_args!("@{}: {}", machine.name(), machine.arch()));
    if !machine.features().is_empty() {
        line(&mut text, format_args!("needs {}", machine.features().join(", ")));
    }
    memories(&mut text, &loaded);
    units(&mut text, &loaded);
    instructions(&mut text, machine);
    roofline(&mut text, machine);
    Ok(text)
}

fn line(text: &mut String, what: std::fmt::Arguments<'_>) {
    writeln!(text, "{what}").expect("a string takes everything");
}

fn memories(text: &mut String, loaded: &Loaded<'_>) {
    line(text, format_args!("\nmemories"));
    for memory in loaded.machine().memories() {
        let mut facts =
            vec![format!("{}{}", bytes(memory.capacity_bytes), loaded.host(memory.name))];
        facts.push(format!("shared by a {}", memory.scope.name()));
        facts.extend(memory.caches.map(|behind| format!("a cache of @{behind}")));
        facts.extend(
            memory.register_bytes.map(|size| {
                format!("{} registers of {size} B", memory.capacity_bytes / size.max(1))
            }),
        );
        facts.extend(memory.bytes_per_cycle.map(|rate| format!("{rate} B a cycle")));
        facts.extend(memory.transaction_bytes.map(|size| format!("{size} B an access")));
        if let (Some(banks), Some(width)) = (memory.banks, memory.bank_bytes) {
            facts.push(format!("{banks} banks of {width} B"));
        }
        line(text, format_args!("  @{:<8} {}", memory.name, facts.join(", ")));
    }
}

fn units(text: &mut String, loaded: &Loaded<'_>) {
    let machine = loaded.machine();
    line(text, format_args!("\nunits"));
    for unit in machine.units() {
        let clock = unit.clock_mhz.map_or(String::new(), |clock| format!(" at {clock} MHz"));
        line(
            text,
            format_args!("  @{:<8} {}{}{clock}", unit.name, unit.count, loaded.host(unit.name)),
        );
    }
    line(text, format_args!("\nmoves"));
    for way in machine.moves() {
        let mut facts = vec![format!("@{} -> @{}", way.source, way.target)];
        facts.extend(way.engine.map(|engine| format!("by the engine {engine}")));
        facts.extend(way.bytes_per_cycle.map(|rate| format!("{rate} B a cycle")));
        facts.extend(way.issue_cycles.map(|cycles| format!("every {cycles} cycles")));
        facts.extend(way.latency_cycles.map(|cycles| format!("there after {cycles}")));
        facts.extend(way.strided.then(|| "strided".to_owned()));
        line(text, format_args!("  @{:<8} {}", way.name, facts.join(", ")));
    }
    line(text, format_args!("\nlanes"));
    for lanes in machine.lanes_units() {
        let types: Vec<_> = lanes
            .types
            .iter()
            .map(|&ty| match lanes.lanes_for(ty) {
                Some(count) => format!("{count}x{ty}"),
                None => ty.to_string(),
            })
            .collect();
        let (unit, memory) = (lanes.unit, lanes.memory);
        let cycles = format!("every {} cycles, after {}", lanes.issue_cycles, lanes.latency_cycles);
        line(text, format_args!("  @{:<8} on @{unit} in @{memory}: {cycles}", lanes.name));
        line(text, format_args!("    {}", types.join(" ")));
        let (operations, reductions) = (lanes.operations.len(), lanes.reductions.len());
        line(text, format_args!("    {operations} operations, {reductions} of them along lanes"));
    }
}

fn instructions(text: &mut String, machine: Machine<'_>) {
    line(text, format_args!("\ninstructions"));
    for instruction in machine.instructions() {
        let operands: Vec<_> = instruction
            .operand_types()
            .into_iter()
            .zip(&instruction.operands)
            .map(|(ty, memory)| format!("{} in @{memory}", shape(ty)))
            .collect();
        let (name, unit) = (instruction.name, instruction.unit);
        line(text, format_args!("  @{name} on @{unit}: {}", operands.join(", ")));
        let mut facts = vec![format!(
            "every {} cycles, after {}",
            instruction.issue_cycles, instruction.latency_cycles
        )];
        facts.extend(multiply_adds(&instruction).map(|count| format!("{count} multiply-adds")));
        facts.extend(
            peak(machine, &instruction).map(|rate| format!("{:.1} G a second", rate / 1e9)),
        );
        if !instruction.accuracy.is_empty() {
            facts.push(format!("may differ in {}", instruction.accuracy.join(", ")));
        }
        line(text, format_args!("    {}", facts.join(", ")));
    }
}

/// The fastest instruction of each element type, and how many multiply-adds per byte of each
/// memory it takes until that is not what one waits for.
fn roofline(text: &mut String, machine: Machine<'_>) {
    let mut peaks: BTreeMap<String, (f64, &str)> = BTreeMap::new();
    for instruction in machine.instructions() {
        let Some(rate) = peak(machine, &instruction) else {
            continue;
        };
        let Some(elem) = instruction.operand_types().last().copied().and_then(ty::elem) else {
            continue;
        };
        let best = peaks.entry(elem.to_string()).or_insert((rate, instruction.unit));
        if rate > best.0 {
            *best = (rate, instruction.unit);
        }
    }
    if peaks.is_empty() {
        return;
    }
    line(text, format_args!("\npeak, and the multiply-adds per byte from which it is reached"));
    for (elem, (rate, unit)) in peaks {
        let ridges: Vec<_> = machine
            .memories()
            .iter()
            .filter_map(|memory| {
                let bytes = bandwidth(machine, memory, unit)?;
                Some(format!("@{} {:.1}", memory.name, rate / bytes))
            })
            .collect();
        line(text, format_args!("  {elem:<5} {:.1} G a second: {}", rate / 1e9, ridges.join(", ")));
    }
}

/// Multiply-adds of all units in a second.
fn peak(machine: Machine<'_>, instruction: &Instruction<'_>) -> Option<f64> {
    let unit = machine.unit(instruction.unit)?;
    let hertz = unit.clock_mhz? as f64 * 1e6;
    let each = multiply_adds(instruction)? as f64 / instruction.issue_cycles;
    (instruction.issue_cycles > 0.0).then_some(each * hertz * unit.count as f64)
}

/// Bytes of a memory in a second: of all of them, where every unit has its own.
fn bandwidth(machine: Machine<'_>, memory: &Memory<'_>, unit: &str) -> Option<f64> {
    let unit = machine.unit(unit)?;
    let hertz = unit.clock_mhz? as f64 * 1e6;
    let copies = if memory.scope <= Scope::Core { unit.count } else { 1 };
    Some(memory.bytes_per_cycle? as f64 * hertz * copies as f64)
}

/// Multiply-adds that the meaning does, where it is one nest that does nothing else.
fn multiply_adds(instruction: &Instruction<'_>) -> Option<u64> {
    let ops = instruction.meaning()?.ops();
    let generics: Vec<_> = ops.into_iter().filter(|op| op.is("linalg.generic")).collect();
    let [generic] = generics[..] else { return None };
    let body: Vec<_> = generic.body(0)?.ops();
    let has = |names: [&str; 2]| body.iter().any(|op| names.contains(&op.name()));
    let folds = has(["arith.mulf", "arith.muli"]) && has(["arith.addf", "arith.addi"]);
    folds.then(|| points(generic)).flatten()
}

/// Points of a nest: each axis is as long as a dimension that it indexes alone.
fn points(generic: Op<'_>) -> Option<u64> {
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
    extents.into_iter().product()
}

/// `16x16xf32`, or `f32` for a scalar.
fn shape(tensor: Type<'_>) -> String {
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
