//! Indices of what a machine names.

use std::collections::BTreeMap;

use weft_dialects::device::Machine;

/// By name, the place in each list of the machine.
pub(super) struct Names<'c> {
    pub memories: BTreeMap<&'c str, u32>,
    pub engines: BTreeMap<&'c str, u32>,
    pub moves: BTreeMap<&'c str, u32>,
    pub instructions: BTreeMap<&'c str, u32>,
    pub lanes: BTreeMap<&'c str, u32>,
}

impl<'c> Names<'c> {
    pub fn of(machine: Machine<'c>) -> Self {
        Self {
            memories: numbered(machine.memories().into_iter().map(|memory| memory.name)),
            engines: numbered(machine.engines().into_iter().map(|engine| engine.name)),
            moves: numbered(machine.moves().into_iter().map(|way| way.name)),
            instructions: numbered(machine.instructions().into_iter().map(|one| one.name)),
            lanes: numbered(machine.lanes_units().into_iter().map(|unit| unit.name)),
        }
    }
}

fn numbered<'c>(names: impl Iterator<Item = &'c str>) -> BTreeMap<&'c str, u32> {
    names.enumerate().map(|(number, name)| (name, number as u32)).collect()
}
