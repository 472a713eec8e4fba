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

use std::collections::{BTreeMap, BTreeSet, HashMap};

use weft_dialects::device::{Machine, Move, Scope, Unit};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::ty;
use weft_dialects::task::Clusters;
use weft_runtime::plan::ALIGN;

use super::copy;
use super::kernels::Kernels;
use super::schedule::{Turn, pieces};
use super::values::{Arg, Job, Lowered, Place, Storage};
use crate::codegen;
use crate::remarks::Refused;
use crate::tile::move_cycles;

/// The memory of a cluster, and what fills it.
pub(crate) struct Shelf<'c> {
    machine: Machine<'c>,
    pub memory: &'c str,
    /// The memory that all share.
    shared: &'c str,
    /// What it holds.
    pub bytes: u64,
    /// From the memory that all share, by an engine of the cluster.
    pub fetch: Move<'c>,
    /// Bytes a cycle of the memory that all share.
    rate: f64,
    pub clusters: Clusters,
}

impl<'c> Shelf<'c> {
    /// The memory of a cluster with addresses within those of the memory that all share, where an
    /// engine of the cluster moves from there; for a program on `units` of a kind. Only a simulated
    /// machine runs what clusters do.
    pub fn of(machine: Machine<'c>, unit: &Unit<'c>, units: u64) -> Option<Self> {
        let clusters = Clusters { units, each: machine.cluster_units(unit)? };
        let shared = machine.shared()?;
        let rate = shared.bytes_per_cycle().map_or(f64::INFINITY, |rate| rate as f64);
        let shared = shared.name;
        let of_cluster = |fetch: &Move<'c>| {
            let engine = fetch.engine().and_then(|name| machine.engine(name));
            engine.is_some_and(|engine| Some(engine.unit()) == unit.cluster())
        };
        let simulated = !codegen::has_code(machine);
        machine.memories().into_iter().filter(|_| simulated).find_map(|memory| {
            let own = memory.scope() == Scope::Cluster && memory.within() == Some(shared);
            let fetch = machine.move_between(shared, memory.name).filter(|_| own)?;
            let bytes = memory.capacity_bytes();
            let shelf = Self { machine, memory: memory.name, shared, bytes, fetch, rate, clusters };
            Some(shelf).filter(|shelf| of_cluster(&shelf.fetch))
        })
    }

    /// Cycles until so many bytes have come where so many clusters bring them: what its own moves
    /// take, piece by piece, or all of them in the memory that all share.
    fn brings(&self, bytes: u64, clusters: u64) -> u64 {
        let latency = self.fetch.latency_cycles().unwrap_or(0);
        let piece = copy::piece_bytes(&self.fetch).unwrap_or(bytes).max(1);
        let own = move_cycles(self.machine, &self.fetch, bytes as f64) as u64;
        let all = ((bytes * clusters) as f64 / self.rate) as u64;
        (own + bytes.div_ceil(piece) * latency).max(all + latency)
    }
}

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

/// What becomes of a tensor that wants a place near.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Given,
    /// Units of the cluster read no more than what it has.
    Once,
    /// They hardly read it twice, or the cycles that they wait for each other's bytes are not above
    /// those that they would wait for it.
    Idle {
        saves: u64,
        waits: u64,
    },
    /// There is no room for it.
    Full,
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

/// What the units of a cluster read of a tensor in one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Use {
    turn: usize,
    /// Bytes, each as often as it is read.
    read: u64,
}

/// A tensor that wants a place in the memory of a cluster.
#[derive(Clone, Debug)]
struct Wish {
    storage: usize,
    cluster: u64,
    bytes: u64,
    how: How,
    /// In the order of turns.
    uses: Vec<Use>,
    /// A job that touches it.
    job: usize,
    /// How many clusters touch the tensor.
    sharers: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    /// It lies there and nowhere else.
    Kept,
    /// It is brought while units do something else.
    Ahead,
    /// It is made by the program, so units wait until it is brought.
    Behind,
}

impl Wish {
    /// Bytes that units of the cluster read, each as often as it is read.
    fn read(&self) -> u64 {
        self.uses.iter().map(|own| own.read).sum()
    }

    /// Those before and behind the longest time in which nobody reads it.
    fn cut(mut self) -> Option<[Self; 2]> {
        let gaps = self.uses.windows(2).map(|pair| pair[1].turn - pair[0].turn);
        let (widest, _) =
            gaps.enumerate().max_by_key(|(_, gap)| *gap).filter(|_| self.how != How::Kept)?;
        let behind = self.uses.split_off(widest + 1);
        let later = Self { uses: behind, ..self.clone() };
        Some([self, later])
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
            // What its readers take beyond their own time, for all bring what they need at once.
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

/// Every tensor that may lie near, for each cluster that uses it.
fn wishes_of(lowered: &Lowered<'_>, turns: &[Turn], uses: &Uses, shared: &str) -> Vec<Wish> {
    let Uses { reads, writes, .. } = uses;
    let mut users: BTreeMap<usize, BTreeSet<u64>> = BTreeMap::new();
    for &(storage, cluster) in reads.keys().chain(writes.keys()) {
        users.entry(storage).or_default().insert(cluster);
    }
    let mut wishes = Vec::new();
    for (storage, clusters) in users {
        let Storage { bytes, place, .. } = lowered.storages[storage];
        // What lies with the host is brought by moves of its own.
        if matches!(place, Place::Arena(memory) if memory != shared) {
            continue;
        }
        let written = |cluster: &u64| writes.get(&(storage, *cluster)).into_iter().flatten();
        let mut written: Vec<usize> = clusters.iter().flat_map(written).copied().collect();
        written.sort_unstable();
        let sharers = clusters.len() as u64;
        for &cluster in &clusters {
            let wish = |how, uses: Vec<Use>| {
                let job = turns[uses[0].turn].job;
                Wish { storage, cluster, bytes, how, uses, job, sharers }
            };
            let uses = reads.get(&(storage, cluster)).cloned().unwrap_or_default();
            if matches!(place, Place::Arena(_)) && clusters.len() == 1 {
                let mut uses = uses;
                uses.extend(written.iter().map(|&turn| Use { turn, read: 0 }));
                uses.sort_by_key(|own| own.turn);
                wishes.push(wish(How::Kept, uses));
                continue;
            }
            let how = if written.is_empty() { How::Ahead } else { How::Behind };
            // What is brought holds until somebody writes the tensor again.
            let version = |own: &Use| written.partition_point(|&turn| turn <= own.turn);
            let versions = uses.chunk_by(|one, other| version(one) == version(other));
            wishes.extend(versions.map(|uses| wish(how, uses.to_vec())));
        }
    }
    wishes.retain(|wish| wish.bytes > 0);
    wishes
}

/// Who reads and writes what, and when.
#[derive(Default)]
struct Uses {
    /// By storage and cluster, in the order of turns.
    reads: BTreeMap<(usize, u64), Vec<Use>>,
    /// The turns, by storage and cluster.
    writes: BTreeMap<(usize, u64), Vec<usize>>,
    /// What each turn reads and writes.
    bytes: Vec<u64>,
}

impl Uses {
    fn of(
        lowered: &Lowered<'_>,
        kernels: &Kernels<'_>,
        turns: &[Turn],
        clusters: Clusters,
    ) -> Self {
        let mut uses = Self::default();
        // What an rTask of a kernel touches of each argument, and whether the kernel writes it.
        let mut known: HashMap<(usize, u64), Vec<(u64, bool)>> = HashMap::new();
        for (number, turn) in turns.iter().enumerate() {
            let job = &lowered.jobs[turn.job];
            let facts = kernels.facts(job.kernel);
            let parts = pieces(facts.tasks, turn.units.len() as u64);
            uses.bytes.push(0);
            for ((begin, end), &unit) in parts.into_iter().zip(&turn.units) {
                let cluster = clusters.of(unit as u64);
                let own = known.entry((job.kernel, begin)).or_insert_with(|| {
                    let inputs = job.args.len() - facts.keeps.len();
                    let mut own: Vec<_> =
                        (0..job.args.len()).map(|arg| (0, arg >= inputs)).collect();
                    for region in facts.touches.of_tasks(begin, (begin + 1).min(end)) {
                        own[region.arg].0 += region.box_bytes();
                    }
                    own
                });
                for (arg, &(bytes, written)) in job.args.iter().zip(own.iter()) {
                    let key = (arg.storage, cluster);
                    let read = bytes.saturating_mul(end - begin);
                    uses.bytes[number] += read;
                    if written {
                        uses.writes.entry(key).or_default().push(number);
                        continue;
                    }
                    let own = uses.reads.entry(key).or_default();
                    match own.last_mut().filter(|last| last.turn == number) {
                        Some(last) => last.read += read,
                        None => own.push(Use { turn: number, read }),
                    }
                }
            }
        }
        uses
    }
}

/// What became of the wishes of one tensor.
fn line(told: &[&(Wish, Fate)], lowered: &Lowered<'_>, shelf: &Shelf<'_>) -> (usize, String) {
    let (wish, fate) = &told.iter().find(|own| own.1 == Fate::Given).unwrap_or(&told[0]);
    let Wish { storage, bytes, cluster, job, .. } = *wish;
    let memory = shelf.memory;
    let argument = lowered.jobs[job].args.iter().position(|arg| arg.storage == storage);
    let what = format!("argument {} of {bytes} bytes", argument.unwrap_or(0));
    let refused = |refused: Refused, values: String| {
        format!("{what} is read where all units reach it: {}", refused.met(values))
    };
    let line = match (fate, wish.how) {
        (Fate::Given, How::Kept) => {
            format!("{what} lies in @{memory} of cluster {cluster}, whose units alone touch it")
        }
        (Fate::Given, _) => {
            let given = told.iter().filter(|own| own.1 == Fate::Given);
            let (times, read) = given.fold((0, 0), |all, own| (all.0 + 1, all.1 + own.0.read()));
            format!(
                "{what} is brought to @{memory} {times} times, for {read} bytes that units read there"
            )
        }
        (Fate::Idle { saves, waits }, _) => {
            let why = Refused::by("worth", "bringing it near saves less than it takes");
            let read = wish.read();
            refused(why, format!("{read} bytes in a cluster, saves {saves} cycles, waits {waits}"))
        }
        (Fate::Once, _) => {
            let why = Refused::by("again", "a cluster reads no more than what it has");
            refused(why, format!("{} bytes of {bytes}", wish.read()))
        }
        (Fate::Full, _) => {
            let why = Refused::by("room", "there is no room for it where it is needed");
            refused(why, format!("@{memory} holds {}", shelf.bytes))
        }
    };
    (job, line)
}

/// When something happens that is estimated as if each turn had the memory that all share for
/// itself: where several move more than that gives, time passes more slowly for all of them.
struct Traffic {
    /// Estimated times, ascending, and what they are then.
    passed: Vec<(u64, f64)>,
}

impl Traffic {
    /// Of turns that move these bytes, evenly while they last, through a memory of this rate.
    fn of(turns: &[Turn], bytes: &[u64], rate: f64) -> Self {
        // The bytes a cycle that begin or end at a time.
        let mut changes: Vec<(u64, f64)> = Vec::new();
        for (turn, &bytes) in turns.iter().zip(bytes) {
            let (begin, end) = (turn.span.0, turn.span.1.max(turn.span.0 + 1));
            let own = bytes as f64 / (end - begin) as f64;
            changes.extend([(begin, own), (end, -own)]);
        }
        changes.sort_by_key(|(time, _)| *time);
        let (mut now, mut passed) = (0.0, vec![(0, 0.0)]);
        for (time, change) in changes {
            let (before, then) = passed[passed.len() - 1];
            let slower = f64::max(1.0, now / rate);
            passed.push((time, then + slower * (time - before) as f64));
            now += change;
        }
        Self { passed }
    }

    /// When what is estimated for a time happens.
    fn when(&self, time: u64) -> u64 {
        let behind = self.passed.partition_point(|own| own.0 <= time);
        let (from, then) = self.passed[behind.max(1) - 1];
        let more = (time - from) as f64;
        let slower = self
            .passed
            .get(behind)
            .map_or(1.0, |&(to, later)| (later - then) / (to - from).max(1) as f64);
        // No time passes faster than it is estimated, rounding included.
        (then + slower * more).ceil() as u64
    }
}

/// Bytes of the memory of one cluster that are taken from a turn to another.
#[derive(Clone, Default)]
struct Room {
    /// Begin, end, and the last turn in which they are used.
    taken: Vec<(u64, u64, usize)>,
}

/// A place in it, and the last turn in which others use some of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    at: u64,
    before: Option<usize>,
}

impl Room {
    /// A place for `bytes` that are free from turn `first` on, below `most`: the one whose bytes have
    /// been free for the longest, the lowest of those. Places are asked for in the order of `first`.
    fn find(&self, bytes: u64, first: usize, most: u64) -> Option<Found> {
        let bytes = bytes.next_multiple_of(ALIGN);
        let ends = |&(begin, end, _): &(u64, u64, usize)| [begin.checked_sub(bytes), Some(end)];
        let places = std::iter::once(0).chain(self.taken.iter().flat_map(ends).flatten());
        let places = places.filter(|at| at.checked_add(bytes).is_some_and(|end| end <= most));
        let before = |at: u64| {
            let over = self.taken.iter().filter(|own| own.0 < at + bytes && at < own.1);
            over.map(|own| own.2).max()
        };
        let found = places.map(|at| (before(at), at));
        let free = found.filter(|(before, _)| before.is_none_or(|turn| turn < first));
        free.min().map(|(before, at)| Found { at, before })
    }

    /// Takes a place that was found; says where it begins.
    fn take(&mut self, Found { at, .. }: Found, bytes: u64, (first, last): (usize, usize)) -> u64 {
        let bytes = bytes.next_multiple_of(ALIGN);
        // Nobody comes to what others have taken since.
        self.taken.retain(|own| own.2 >= first || own.0 < at || at + bytes < own.1);
        self.taken.push((at, at + bytes, last));
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_has_been_free_for_the_longest_is_taken_first() {
        let mut room = Room::default();
        let mut take = |bytes, (first, last)| {
            let found = room.find(bytes, first, 192)?;
            Some((room.take(found, bytes, (first, last)), found.before))
        };
        assert_eq!(take(64, (0, 0)), Some((0, None)));
        assert_eq!(take(64, (1, 1)), Some((64, None)));
        assert_eq!(take(64, (2, 9)), Some((128, None)));
        // The bytes of the first one, not those of the second.
        assert_eq!(take(64, (3, 3)), Some((0, Some(0))));
        assert_eq!(take(128, (4, 4)), Some((0, Some(3))));
        assert_eq!(take(128, (4, 4)), None);
    }

    #[test]
    fn what_passes_beyond_a_rate_takes_longer() {
        let turn = |span| Turn { job: 0, kernel: 0, units: vec![], past: 0, launch: false, span };
        let traffic = Traffic::of(&[turn((0, 100)), turn((50, 150))], &[1000, 2000], 10.0);
        // 10 bytes a cycle, 30 where both move, then 20.
        assert_eq!(
            [25, 50, 75, 100, 150, 200].map(|time| traffic.when(time)),
            [25, 50, 125, 200, 300, 350]
        );
    }

    #[test]
    fn the_widest_gap_is_cut() {
        let uses = [0, 2, 9, 10].map(|turn| Use { turn, read: 64 }).to_vec();
        let wish =
            Wish { storage: 0, cluster: 0, bytes: 100, how: How::Ahead, uses, job: 0, sharers: 1 };
        let [one, other] = wish.clone().cut().expect("it has several uses");
        assert_eq!([one.uses.len(), other.uses.len(), other.uses[0].turn], [2, 2, 9]);
        assert_eq!([one.read(), other.read()], [128, 128]);
        assert!(Wish { how: How::Kept, ..wish }.cut().is_none());
    }

    proptest! {
        /// GT-7: nothing that lives at once lies in the same bytes, and all of it fits.
        #[test]
        fn what_lives_at_once_lies_apart(
            mut wanted in prop::collection::vec((1u64..500, 0usize..40, 0usize..12), 0..60),
            most in 0u64..2000,
        ) {
            wanted.sort_by_key(|(_, first, _)| *first);
            let mut room = Room::default();
            let mut placed: Vec<(u64, u64, usize, usize)> = Vec::new();
            for (bytes, first, more) in wanted {
                let Some(found) = room.find(bytes, first, most) else { continue };
                let at = room.take(found, bytes, (first, first + more));
                prop_assert!(at % ALIGN == 0 && at + bytes <= most);
                for &(begin, end, from, to) in &placed {
                    let apart = to < first || first + more < from;
                    prop_assert!(apart || end <= at || at + bytes <= begin);
                }
                placed.push((at, at + bytes, first, first + more));
            }
        }
    }
}
