//! Placement of tensors in the memory that the units of a cluster share, GraphTurbo's global
//! buffer, decided when jobs have their units.
//!
//! ```text
//! kept      all that touch it are units of one cluster: it lies there and nowhere else
//! fetched   units of a cluster read more bytes of it than it has: the cluster brings it once,
//!           ahead where it is known before the program starts, behind who makes it otherwise
//! ```
//!
//! Tensors get their places in the order in which they are needed, each where the bytes have been
//! free for the longest, so that a cluster brings what is needed next while its units still work
//! on what was brought before. What finds no place stays in the memory that all share; one that is
//! read again much later may be brought twice.
//!
//! ```text
//! shelf.rs      the memory of a cluster, and how long it takes to bring something there
//! wish.rs       which tensors may lie there, and who uses them when
//! traffic.rs    when turns happen that wait for each other's bytes
//! room.rs       places
//! report.rs     what is said of it
//! ```

mod report;
mod room;
mod shelf;
mod traffic;
mod wish;

use std::collections::{BTreeMap, HashMap};

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::ty;
use weft_dialects::task::Clusters;
use weft_runtime::plan::ALIGN;

use super::kernels::Kernels;
use super::schedule::Turn;
use super::values::{Arg, Job, Lowered, Place, Storage};
use report::{Fate, line};
use room::Room;
pub(crate) use shelf::Shelf;
use traffic::Traffic;
use wish::{How, Uses, Wish, wishes_of};

/// The buffers that ranges are given instead of a storage.
#[derive(Default)]
pub(crate) struct Near {
    /// By job, storage and cluster.
    instead: HashMap<(usize, usize, u64), usize>,
    clusters: Option<Clusters>,
    /// Tensors that are kept.
    kept: usize,
    bytes: u64,
    /// The decision on each request.
    told: Vec<(Wish, Fate)>,
}

impl Near {
    /// Returns the storage that a range of `job` on a unit uses instead of `storage`.
    pub fn storage(&self, job: usize, storage: usize, unit: u64) -> usize {
        let Some(clusters) = self.clusters else { return storage };
        self.instead.get(&(job, storage, clusters.of(unit))).copied().unwrap_or(storage)
    }

    /// Returns the number of clusters whose memory is used.
    pub fn clusters(&self) -> u64 {
        self.clusters.map_or(0, |clusters| clusters.count())
    }

    /// Bytes that are needed in the memory of each.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the decision on each tensor, with a job that touches it.
    pub fn report(&self, lowered: &Lowered<'_>, shelf: &Shelf<'_>) -> Vec<(usize, String)> {
        let mut told: Vec<_> = self.told.iter().collect();
        told.sort_by_key(|(wish, _)| (wish.storage, wish.uses[0].turn));
        let of_one = told.chunk_by(|one, other| one.0.storage == other.0.storage);
        of_one.map(|own| line(own, lowered, shelf)).collect()
    }

    /// Returns whether some tensor lies there and nowhere else.
    pub fn keeps(&self) -> bool {
        self.kept > 0
    }
}

/// Decides what lies near, and gives the turns in which clusters bring it, each with the number of
/// the turn that it comes before.
///
/// # Errors
/// Reported: no kernel can be made that brings it.
pub(crate) fn near<'c>(
    lowered: &mut Lowered<'c>,
    kernels: &mut Kernels<'c>,
    turns: &[Turn],
    shelf: &Shelf<'c>,
) -> Result<(Near, Vec<(usize, Turn)>), Failed> {
    let mut near = Near { clusters: Some(shelf.clusters), ..Near::default() };
    let mut fetches = Vec::new();
    let mut room = vec![Room::default(); shelf.clusters.count() as usize];
    let uses = Uses::of(lowered, kernels, turns, shelf.clusters);
    let traffic = Traffic::of(turns, &uses.bytes, shelf.rate);
    // In the order in which they are first needed.
    let mut wishes: BTreeMap<(usize, usize, u64), Wish> = BTreeMap::new();
    let key = |wish: &Wish| (wish.uses[0].turn, wish.storage, wish.cluster);
    wishes.extend(
        wishes_of(lowered, turns, &uses, shelf.shared).into_iter().map(|wish| (key(&wish), wish)),
    );
    // When the launch of each turn begins.
    let launched: Vec<u64> = turns
        .iter()
        .scan(0, |begin, turn| {
            *begin = if turn.launch { turn.span.0 } else { *begin };
            Some(*begin)
        })
        .collect();
    // When each cluster is done with what it was given to bring.
    let mut free = vec![0; shelf.clusters.count() as usize];
    while let Some((_, wish)) = wishes.pop_first() {
        let (first, last) = (wish.uses[0].turn, wish.uses[wish.uses.len() - 1].turn);
        if wish.how != How::Kept && wish.read() <= wish.bytes {
            near.told.push((wish, Fate::Once));
            continue;
        }
        if wish.how == How::Part {
            near.told.push((wish, Fate::Part));
            continue;
        }
        let room = &mut room[wish.cluster as usize];
        let Some(place) = room.find(wish.bytes, first, shelf.bytes) else {
            let parts = wish.clone().cut();
            if parts.is_none() {
                near.told.push((wish, Fate::Full));
            }
            wishes.extend(parts.into_iter().flatten().map(|part| (key(&part), part)));
            continue;
        };
        if wish.how != How::Kept {
            let from = match wish.how {
                How::Behind => turns[first].span.0,
                _ => place.before.map_or(0, |turn| turns[turn].span.1),
            };
            let from = from.max(launched[first]);
            let begin = traffic.when(from).max(free[wish.cluster as usize]);
            let done = begin + shelf.brings(wish.bytes, wish.sharers);
            let (start, end) = (turns[first].span.0, turns[last].span.1);
            let waits = done.saturating_sub(traffic.when(start));
            // The time that readers take beyond their own, because all load their inputs at once.
            let saves = traffic.when(end).saturating_sub(traffic.when(start) + end - start);
            if waits > 0 && (saves <= waits || wish.read() < 2 * wish.bytes) {
                near.told.push((wish, Fate::Idle { saves, waits }));
                continue;
            }
            free[wish.cluster as usize] = done;
        }
        let offset = room.take(place, wish.bytes, (first, last));
        let place = Place::Near { memory: shelf.memory, cluster: wish.cluster, offset };
        near.bytes = near.bytes.max(offset + wish.bytes.next_multiple_of(ALIGN));
        if wish.how == How::Kept {
            lowered.storages[wish.storage].place = place;
            near.kept += 1;
            near.told.push((wish, Fate::Given));
            continue;
        }
        let Storage { ty, bytes, .. } = lowered.storages[wish.storage];
        let copy = lowered.storages.len();
        lowered.storages.push(Storage { ty, bytes, place });
        let readers = wish.uses.iter().map(|own| turns[own.turn].job);
        near.instead.extend(readers.map(|job| ((job, wish.storage, wish.cluster), copy)));
        let (name, op) = (lowered.jobs[turns[first].job].name, lowered.jobs[turns[first].job].op);
        let (count, elem) = (ty::count(ty).ok_or(Failed)?, ty::elem(ty).ok_or(Failed)?);
        let kernel = kernels.copying(op, count, elem, Some(&shelf.fetch))?;
        let flat = ty::tensor(&[count], elem);
        let args = [wish.storage, copy].map(|storage| Arg { storage, ty: flat, at: 0 }).to_vec();
        let job = lowered.jobs.len();
        lowered.jobs.push(Job { name, op, kernel, others: Vec::new(), args });
        let units = vec![shelf.clusters.number(wish.cluster) as usize];
        fetches.push((first, Turn { job, kernel: 0, units, past: 0, launch: false, span: (0, 0) }));
        near.told.push((wish, Fate::Given));
    }
    if near.bytes == 0 {
        near.clusters = None;
    }
    fetches.sort_by_key(|(before, _)| *before);
    Ok((near, fetches))
}
