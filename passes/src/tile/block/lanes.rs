//! What lanes of a register file move at once.

use std::sync::Arc;

use weft_dialects::device::{Machine, Scope};

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
}

impl<'c> Lanes<'c> {
    pub(super) fn of(machine: Machine<'c>, registers: &str) -> Option<Self> {
        let memory = machine.memory(registers)?;
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
            count: memory.lanes()?,
            access_bytes: memory.access_bytes(),
            transaction_bytes,
            gathers: own.filter_map(|way| Gather::of(machine, &way)).collect(),
        })
    }
}
