//! The peak rate of the machine, and the intensity from which it is reached.

use std::collections::BTreeMap;

use weft_dialects::device::{Instruction, Machine, Memory, Scope};
use weft_dialects::ir::ty;

use super::facts::multiply_adds;
use super::sheet::Section;

/// The fastest instruction of each pair of element types, and how many multiply-adds per
/// byte of each memory it takes until that memory is not what one waits for.
pub fn section(machine: Machine<'_>) -> Section {
    let mut section = Section::new(
        "roofline",
        "peak multiply-adds, and how many per byte of each memory it takes to reach them",
        &["types", "by", "peak", "reached from"],
    );
    for (types, (rate, instruction)) in peaks(machine) {
        let ridges: Vec<_> = machine
            .memories()
            .iter()
            .filter_map(|memory| {
                let bytes = bandwidth(machine, memory, instruction.unit())?;
                Some(format!("@{} {:.1}", memory.name, rate / bytes))
            })
            .collect();
        let peak = format!("{:.1} G a second", rate / 1e9);
        section.row([types, format!("@{}", instruction.name), peak, ridges.join(", ")]);
    }
    section
}

/// Of each pair of element types the fastest instruction, and the multiply-adds of all units
/// in a second.
pub(crate) fn peaks(machine: Machine<'_>) -> BTreeMap<String, (f64, Instruction<'_>)> {
    let mut peaks: BTreeMap<String, (f64, Instruction<'_>)> = BTreeMap::new();
    for instruction in machine.instructions() {
        let Some(rate) = peak(machine, &instruction) else { continue };
        let Some(types) = types(&instruction) else { continue };
        if peaks.get(&types).is_none_or(|(best, _)| rate > *best) {
            peaks.insert(types, (rate, instruction));
        }
    }
    peaks
}

/// `f16 -> f32`, or `f32` where both are one.
fn types(instruction: &Instruction<'_>) -> Option<String> {
    let types = instruction.operand_types();
    let elem = |ty: &_| ty::elem(*ty).map(|elem| elem.to_string());
    let (first, last) = (elem(types.first()?)?, elem(types.last()?)?);
    Some(if first == last { last } else { format!("{first} -> {last}") })
}

/// Multiply-adds of all units in a second: as measured, two operations each, or by the clock.
pub fn peak(machine: Machine<'_>, instruction: &Instruction<'_>) -> Option<f64> {
    if let Some(measured) = instruction.gflops() {
        return Some(measured as f64 * 1e9 / 2.0);
    }
    let unit = machine.unit(instruction.unit())?;
    let hertz = unit.clock_mhz()? as f64 * 1e6;
    let each = multiply_adds(instruction)? as f64 / instruction.issue_cycles();
    (instruction.issue_cycles() > 0.0).then_some(each * hertz * unit.count() as f64)
}

/// Bytes of a memory in a second: of all of them, where every unit has its own.
pub(crate) fn bandwidth(machine: Machine<'_>, memory: &Memory<'_>, unit: &str) -> Option<f64> {
    if let Some(measured) = memory.gbytes_per_second() {
        return Some(measured as f64 * 1e9);
    }
    let unit = machine.unit(unit)?;
    let hertz = unit.clock_mhz()? as f64 * 1e6;
    let copies = if memory.scope() <= Scope::Core { unit.count() } else { 1 };
    Some(memory.bytes_per_cycle()? as f64 * hertz * copies as f64)
}
