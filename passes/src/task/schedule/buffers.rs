//! The place of every buffer in the arena of its memory.

use super::super::arena::{self, Life};
use super::super::values::{Lowered, Place};

/// Places the buffers of every memory for jobs that run in `order`: an offset for each storage,
/// and the arenas.
pub(super) fn arenas(
    lowered: &Lowered<'_>,
    order: &[usize],
    lag: u32,
) -> (Vec<u64>, Vec<(String, u64)>) {
    let all = lives(lowered, order);
    let mut offsets = vec![0; all.len()];
    let mut arenas: Vec<(String, u64)> = Vec::new();
    let memories = lowered.storages.iter().filter_map(|storage| storage.place.memory());
    for memory in memories.collect::<std::collections::BTreeSet<_>>() {
        let here = |storage: usize| lowered.storages[storage].place.memory() == Some(memory);
        let mut own = all.clone();
        let elsewhere = own.iter_mut().enumerate().filter(|(storage, _)| !here(*storage));
        elsewhere.for_each(|(_, life)| life.bytes = 0);
        let arena = arena::place(&own, lag);
        assert_eq!(arena::clash(&own, &arena), None, "buffers that live at once lie apart");
        for (storage, offset) in arena.offsets.into_iter().enumerate().filter(|(s, _)| here(*s)) {
            offsets[storage] = offset;
        }
        arenas.push((memory.to_owned(), arena.bytes));
    }
    (offsets, arenas)
}

/// The life of each storage in an arena; others take no bytes of it.
fn lives(lowered: &Lowered<'_>, order: &[usize]) -> Vec<Life> {
    let mut lives = vec![Life { first: u32::MAX, last: 0, bytes: 0 }; lowered.storages.len()];
    for (number, &job) in order.iter().enumerate() {
        for arg in &lowered.jobs[job].args {
            let life = &mut lives[arg.storage];
            life.first = life.first.min(number as u32);
            life.last = life.last.max(number as u32);
        }
    }
    for (life, storage) in lives.iter_mut().zip(&lowered.storages) {
        if life.first == u32::MAX {
            life.first = 0;
        } else if matches!(storage.place, Place::Arena(_)) {
            life.bytes = storage.bytes;
        }
    }
    lives
}
