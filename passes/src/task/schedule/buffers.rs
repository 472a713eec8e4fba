//! The place of every buffer in the arena of its memory.

use super::super::values::{Lowered, StorageClass};
use super::Arena;
use super::policy::Turn;
use crate::arena::{self, Life};

/// Places the buffers of every memory for jobs in their turns: an offset for each storage, and
/// the arenas.
pub(super) fn arenas(lowered: &Lowered<'_>, turns: &[Turn], lag: u32) -> (Vec<u64>, Vec<Arena>) {
    let all = lives(lowered, turns);
    let mut offsets = vec![0; all.len()];
    let mut arenas: Vec<Arena> = Vec::new();
    let memories = lowered.storages.iter().filter_map(|storage| storage.class.memory());
    for memory in memories.collect::<std::collections::BTreeSet<_>>() {
        let here = |storage: usize| lowered.storages[storage].class.memory() == Some(memory);
        let mut own = all.clone();
        let elsewhere = own.iter_mut().enumerate().filter(|(storage, _)| !here(*storage));
        elsewhere.for_each(|(_, life)| life.bytes = 0);
        let arena = arena::place(&own, lag);
        assert_eq!(
            arena::clash(&own, &arena),
            None,
            "buffers whose live ranges overlap have no byte in common"
        );
        for (storage, offset) in arena.offsets.into_iter().enumerate().filter(|(s, _)| here(*s)) {
            offsets[storage] = offset;
        }
        arenas.push((memory.to_owned(), arena.bytes));
    }
    (offsets, arenas)
}

/// The life of each storage in an arena, from the turn that first touches it until nothing that
/// touches it is under way, by estimate: so that units do not wait for each other because of
/// memory that is used again. Others take no bytes of it.
fn lives(lowered: &Lowered<'_>, turns: &[Turn]) -> Vec<Life> {
    let mut lives = vec![Life { first: u32::MAX, last: 0, bytes: 0 }; lowered.storages.len()];
    for (number, turn) in turns.iter().enumerate() {
        for arg in &lowered.jobs[turn.job].args {
            let life = &mut lives[arg.storage];
            life.first = life.first.min(number as u32);
            life.last = life.last.max(turn.past - 1);
        }
    }
    for (life, storage) in lives.iter_mut().zip(&lowered.storages) {
        if life.first == u32::MAX {
            life.first = 0;
        } else if matches!(storage.class, StorageClass::Arena(_)) {
            life.bytes = storage.bytes;
        }
    }
    lives
}
