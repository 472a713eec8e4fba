//! What lanes of a register file hold and move at once.

use std::sync::Arc;

use weft_dialects::device::{Instruction, Machine, Scope};

use super::fragments::Fragments;
use super::gathered::Gather;

/// The lanes of a register file.
#[derive(Clone)]
pub(super) struct Lanes<'c> {
    pub(super) count: u64,
    /// Bytes that a lane moves at once, and those of a transaction of the memory behind.
    pub(super) access_bytes: u64,
    pub(super) transaction_bytes: u64,
    /// Moves by which they gather pieces of others, from memories that groups share.
    pub(super) gathers: Arc<[Gather<'c>]>,
    /// What they hold of each operand of an instruction.
    pub(super) fragments: Fragments,
}

impl<'c> Lanes<'c> {
    /// Those of the registers that an instruction's last operand lies in.
    pub(super) fn of(machine: Machine<'c>, instruction: &Instruction<'c>) -> Option<Self> {
        let &registers = instruction.operands().last()?;
        let memory = machine.memory(registers)?;
        let count = memory.lanes()?;
        let transaction_bytes =
            machine.shared().and_then(|shared| shared.transaction_bytes()).unwrap_or(0);
        let near = |name: &str| {
            machine
                .memory(name)
                .is_some_and(|own| own.scope() == Scope::Core && own.banks().is_some())
        };
        let moves = machine.moves().into_iter();
        let own = moves.filter(|way| way.target() == registers && near(way.source()));
        Some(Self {
            count,
            access_bytes: memory.access_bytes(),
            transaction_bytes,
            gathers: own.filter_map(|way| Gather::of(machine, &way)).collect(),
            fragments: Fragments::of(instruction),
        })
    }
}
