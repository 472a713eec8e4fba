//! What lies in the memory that the units of a cluster share: GraphTurbo's scope of the global
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
//! wish.rs       which tensors may lie there, and who uses them when
//! traffic.rs    when turns happen that wait for each other's bytes
//! room.rs       places
//! report.rs     what is said of it
//! ```

mod report;
mod room;
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
use crate::tile::shelf::Shelf;
use report::{Fate, line};
use room::{Found, Room};
use traffic::Traffic;
use wish::{How, Uses, Wish, wishes_of};

/// What ranges are given instead of a storage.
#[derive(Default)]
pub(crate) struct Near {
    /// By job, storage and cluster.
    instead: HashMap<(usize, usize, u64), usize>,
    clusters: Option<Clusters>,
    /// Tensors that are kept.
    kept: usize,
    bytes: u64,
    /// What became of each wish.
    told: Vec<(Wish, Fate)>,
}

impl Near {
    /// Where a range of `job` on a unit finds what lies in `storage`.
    pub fn storage(&self, job: usize, storage: usize, unit: u64) -> usize {
        let Some(clusters) = self.clusters else { return storage };
        self.instead.get(&(job, storage, clusters.of(unit))).copied().unwrap_or(storage)
    }

    /// How many clusters there are whose memory is used.
    pub fn clusters(&self) -> u64 {
        self.clusters.map_or(0, |clusters| clusters.count())
    }

    /// Bytes that are needed in the memory of each.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What was decided of each tensor, with a job that touches it.
    pub fn report(&self, lowered: &Lowered<'_>, shelf: &Shelf<'_>) -> Vec<(usize, String)> {
        let mut told: Vec<_> = self.told.iter().collect();
        told.sort_by_key(|(wish, _)| (wish.storage, wish.uses[0].turn));
        let of_one = told.chunk_by(|one, other| one.0.storage == other.0.storage);
        of_one.map(|own| line(own, lowered, shelf)).collect()
    }

    /// Whether some tensor lies there and nowhere else.
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
    let uses = Uses::of(lowered, kernels, turns, shelf.clusters);
    // In the order in which they are first needed.
    let mut wishes: BTreeMap<(usize, usize, u64), Wish> = BTreeMap::new();
    let key = |wish: &Wish| (wish.uses[0].turn, wish.storage, wish.cluster);
    wishes.extend(
        wishes_of(lowered, turns, &uses, shelf.shared).into_iter().map(|wish| (key(&wish), wish)),
    );
    let mut placing = Placing::new(lowered, turns, shelf, &uses);
    let mut fetches = Vec::new();
    while let Some((_, wish)) = wishes.pop_first() {
        let fate = match placing.find(&wish) {
            Ok(found) => {
                let place = placing.take(&wish, found);
                match wish.how {
                    How::Kept => placing.keep(&wish, place),
                    _ => fetches.push(placing.fetch(kernels, &wish, place)?),
                }
                Fate::Given
            }
            Err(Fate::Full) => {
                if let Some(parts) = wish.clone().cut() {
                    wishes.extend(parts.into_iter().map(|part| (key(&part), part)));
                    continue;
                }
                Fate::Full
            }
            Err(fate) => fate,
        };
        placing.near.told.push((wish, fate));
    }
    let mut near = placing.near;
    if near.bytes == 0 {
        near.clusters = None;
    }
    fetches.sort_by_key(|(before, _)| *before);
    Ok((near, fetches))
}

/// Tensors on their way to places near, in the order in which they are first needed.
struct Placing<'a, 'c> {
    lowered: &'a mut Lowered<'c>,
    turns: &'a [Turn],
    shelf: &'a Shelf<'c>,
    traffic: Traffic,
    /// When the launch of each turn begins.
    launched: Vec<u64>,
    /// Places in the memory of each cluster.
    rooms: Vec<Room>,
    /// When each cluster is done with what it was given to bring.
    free: Vec<u64>,
    near: Near,
}

impl<'a, 'c> Placing<'a, 'c> {
    fn new(
        lowered: &'a mut Lowered<'c>,
        turns: &'a [Turn],
        shelf: &'a Shelf<'c>,
        uses: &Uses,
    ) -> Self {
        let launched = turns.iter().scan(0, |begin, turn| {
            *begin = if turn.launch { turn.span.0 } else { *begin };
            Some(*begin)
        });
        let clusters = shelf.clusters.count() as usize;
        Self {
            lowered,
            turns,
            shelf,
            traffic: Traffic::of(turns, &uses.bytes, shelf.rate),
            launched: launched.collect(),
            rooms: vec![Room::default(); clusters],
            free: vec![0; clusters],
            near: Near { clusters: Some(shelf.clusters), ..Near::default() },
        }
    }

    /// Where a tensor finds room, in time where it is brought; or why it does not come near.
    fn find(&mut self, wish: &Wish) -> Result<Found, Fate> {
        if wish.how != How::Kept && wish.read() <= wish.bytes {
            return Err(Fate::Once);
        }
        if wish.how == How::Part {
            return Err(Fate::Part);
        }
        let cluster = wish.cluster as usize;
        let found = self.rooms[cluster].find(wish.bytes, wish.first(), self.shelf.bytes);
        let found = found.ok_or(Fate::Full)?;
        if wish.how != How::Kept {
            self.free[cluster] = self.brought(wish, found.before)?;
        }
        Ok(found)
    }

    /// When a cluster has brought a tensor to a place that others use up to the turn `before`; or
    /// that those who read it would only wait for it.
    fn brought(&self, wish: &Wish, before: Option<usize>) -> Result<u64, Fate> {
        let (turns, traffic) = (self.turns, &self.traffic);
        let (first, last) = (wish.first(), wish.last());
        let from = match wish.how {
            How::Behind => turns[first].span.0,
            _ => before.map_or(0, |turn| turns[turn].span.1),
        };
        let from = from.max(self.launched[first]);
        let begin = traffic.when(from).max(self.free[wish.cluster as usize]);
        let done = begin + self.shelf.brings(wish.bytes, wish.sharers);
        let (start, end) = (turns[first].span.0, turns[last].span.1);
        let waits = done.saturating_sub(traffic.when(start));
        // What its readers take beyond their own time, for all bring what they need at once.
        let saves = traffic.when(end).saturating_sub(traffic.when(start) + end - start);
        match waits > 0 && (saves <= waits || wish.read() < 2 * wish.bytes) {
            true => Err(Fate::Idle { saves, waits }),
            false => Ok(done),
        }
    }

    fn take(&mut self, wish: &Wish, found: Found) -> Place<'c> {
        let room = &mut self.rooms[wish.cluster as usize];
        let offset = room.take(found, wish.bytes, (wish.first(), wish.last()));
        self.near.bytes = self.near.bytes.max(offset + wish.bytes.next_multiple_of(ALIGN));
        Place::Near { memory: self.shelf.memory, cluster: wish.cluster, offset }
    }

    /// The tensor lies at the place, and nowhere else.
    fn keep(&mut self, wish: &Wish, place: Place<'c>) {
        self.lowered.storages[wish.storage].place = place;
        self.near.kept += 1;
    }

    /// Lets the cluster bring a copy of the tensor to the place, which its units read instead: the
    /// turn in which it does, and the one that it comes before.
    fn fetch(
        &mut self,
        kernels: &mut Kernels<'c>,
        wish: &Wish,
        place: Place<'c>,
    ) -> Result<(usize, Turn), Failed> {
        let (lowered, turns) = (&mut *self.lowered, self.turns);
        let Storage { ty, bytes, .. } = lowered.storages[wish.storage];
        let copy = lowered.storages.len();
        lowered.storages.push(Storage { ty, bytes, place });
        let readers = wish.uses.iter().map(|own| turns[own.turn].job);
        self.near.instead.extend(readers.map(|job| ((job, wish.storage, wish.cluster), copy)));
        let first = wish.first();
        let Job { name, op, .. } = lowered.jobs[turns[first].job];
        let (count, elem) = (ty::count(ty).ok_or(Failed)?, ty::elem(ty).ok_or(Failed)?);
        let kernel = kernels.copying(op, count, elem, Some(&self.shelf.fetch))?;
        let flat = ty::tensor(&[count], elem);
        let args = [wish.storage, copy].map(|storage| Arg { storage, ty: flat, at: 0 }).to_vec();
        let job = lowered.jobs.len();
        lowered.jobs.push(Job { name, op, kernel, others: Vec::new(), args });
        let units = vec![self.shelf.clusters.number(wish.cluster) as usize];
        Ok((first, Turn { job, kernel: 0, units, past: 0, launch: false, span: (0, 0) }))
    }
}
