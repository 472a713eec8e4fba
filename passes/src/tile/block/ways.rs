//! The memories and moves of a block tile.

use weft_dialects::device::{Instruction, Machine, Memory, Move, Scope};

use super::{Supply, direct};

/// The memories and moves of a block tile.
#[derive(Clone, Debug)]
pub struct Ways<'c> {
    /// The memory that the groups of a core share.
    pub near: Memory<'c>,
    /// The registers of one group.
    pub registers: Memory<'c>,
    /// From the machine's shared memory to `near`.
    pub stage: Move<'c>,
    /// From `near` to the registers, for instructions that take their factors there.
    pub load: Option<Move<'c>>,
    /// From the registers to the machine's shared memory.
    pub store: Move<'c>,
    /// Back from there.
    pub fetch: Move<'c>,
    /// What fills the registers.
    pub fill: Move<'c>,
    /// From the registers to `near`, for what is brought ahead.
    pub put: Option<Move<'c>>,
    /// From the machine's shared memory to `near`, by an engine: pieces that threads ask for.
    pub ahead: Option<Move<'c>>,
    /// The same in boxes of a tensor.
    pub boxes: Option<Move<'c>>,
    /// The same, for which a group of its own asks.
    pub boxes_apart: Option<Move<'c>>,
}

impl<'c> Ways<'c> {
    /// Those of a machine whose groups have registers of lanes and a memory of banks to share.
    pub fn of(machine: Machine<'c>, registers: &str) -> Option<Self> {
        let registers = machine.memory(registers).filter(|memory| memory.lanes().is_some())?;
        let shared = machine.shared()?;
        let strided = |from: &str, to: &str| {
            machine.move_between(from, to).filter(|way| way.strided() && way.engine().is_none())
        };
        let near = machine.memories().into_iter().find(|memory| {
            let core =
                memory.scope() == Scope::Core && !memory.is_cache() && !memory.is_registers();
            core && memory.banks().is_some() && strided(shared.name, memory.name).is_some()
        })?;
        let name = registers.name;
        let by_engine = |supply: Supply| {
            machine.moves().into_iter().find(|way| {
                let between = way.source() == shared.name && way.target() == near.name;
                let suits = between && way.strided() && way.engine().is_some();
                let own = match way.boxes() {
                    None => Supply::Pieces,
                    Some(boxes) if boxes.producer.is_some() => Supply::BoxesApart,
                    Some(_) => Supply::Boxes,
                };
                suits && own == supply
            })
        };
        Some(Self {
            stage: strided(shared.name, near.name)?,
            load: strided(near.name, name),
            store: strided(name, shared.name)?,
            fetch: strided(shared.name, name)?,
            fill: machine.fill_of(name)?,
            put: strided(name, near.name),
            ahead: by_engine(Supply::Pieces),
            boxes: by_engine(Supply::Boxes),
            boxes_apart: by_engine(Supply::BoxesApart),
            registers,
            near,
        })
    }
}

/// The instructions of a machine that take their factors from a block's tiles.
pub struct Takers<'c> {
    machine: Machine<'c>,
    /// The ways to each register file that was asked about.
    ways: Vec<(&'c str, Option<Ways<'c>>)>,
}

impl<'c> Takers<'c> {
    /// Those of a machine.
    pub fn of(machine: Machine<'c>) -> Self {
        Self { machine, ways: Vec::new() }
    }

    /// Whether an instruction is one: by way of registers, or where the tiles lie; one of the factors may
    /// be what another product leaves in registers (`pair.rs`).
    pub fn take(&mut self, instruction: &Instruction<'c>) -> bool {
        let Some(&registers) = instruction.operands().last() else { return false };
        let known = self.ways.iter().position(|(own, _)| *own == registers);
        let place = known.unwrap_or(self.ways.len());
        if known.is_none() {
            self.ways.push((registers, Ways::of(self.machine, registers)));
        }
        let Some(ways) = &self.ways[place].1 else { return false };
        let held = instruction.operands().iter().all(|memory| *memory == registers)
            && instruction.engine().is_none()
            && instruction.fragments().iter().all(Option::is_some);
        held && ways.load.is_some() || direct::lies_near(instruction, ways)
    }
}
