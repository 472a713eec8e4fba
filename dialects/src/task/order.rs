//! Whether tokens order every two ranges that touch the same bytes (program C5).
//!
//! The text is walked once. For each piece of storage three lists are kept: who
//! wrote it last (one run), who has read it since, and who touched it before
//! that. A new range need only be ordered after these: what they replaced they
//! are themselves ordered after, and order is transitive. Lists are shared
//! chains, so pieces of one buffer and ranges of one run are checked once.

use std::collections::BTreeMap;
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{Buffer, Range};
use crate::device;
use crate::ir::{Block, Op, Val, parts};
use crate::tile;
use crate::verify::Kernels;

/// What is wrong.
pub(super) enum Finding<'c> {
    /// Two ranges touch the same bytes and no token orders them.
    Conflict {
        /// The one that comes first in the text.
        earlier: Op<'c>,
        /// The other.
        later: Op<'c>,
        /// What they do.
        kind: Kind,
    },
    /// A range writes what nobody may write.
    ReadOnly {
        /// The range.
        range: Op<'c>,
        /// What makes the buffer.
        buffer: Op<'c>,
    },
}

/// What two ranges in conflict do, the later one first.
pub(super) enum Kind {
    ReadAfterWrite,
    WriteAfterRead,
    WriteAfterWrite,
}

/// What is wrong with the order of the ranges of `body`, in the order of the text;
/// no more than about `limit` findings.
pub(super) fn findings<'c>(
    body: Block<'c>,
    kernels: &Kernels<'c>,
    limit: usize,
) -> Vec<Finding<'c>> {
    let mut walk = Walk::new(Storage::of(body), kernels);
    for range in body.iter().filter_map(Range::of) {
        walk.range(&range);
        if walk.findings.len() >= limit {
            break;
        }
    }
    walk.findings.truncate(limit);
    walk.findings
}

/// Pieces of storage, numbered; no two overlap.
type Piece = usize;

/// Where each buffer lies.
#[derive(Default)]
struct Storage<'c> {
    pieces: Piece,
    places: FxHashMap<Val<'c>, Place<'c>>,
}

#[derive(Clone)]
struct Place<'c> {
    pieces: std::ops::Range<Piece>,
    /// What makes it, where nobody may write it.
    read_only: Option<Op<'c>>,
}

impl<'c> Storage<'c> {
    fn of(body: Block<'c>) -> Self {
        let mut storage = Self::default();
        storage.add_arena(body);
        for op in body.iter() {
            match op.name() {
                "task.output" => storage.add_own(op, None),
                "task.input" | "task.weight" | "task.literal" | "task.constant" => {
                    storage.add_own(op, Some(op));
                }
                "task.view" => storage.add_view(op),
                _ => {}
            }
        }
        storage
    }

    /// Cuts the arena wherever a buffer begins or ends.
    fn add_arena(&mut self, body: Block<'c>) {
        let buffers: Vec<_> = body.iter().filter_map(Buffer::of).collect();
        let span = |buffer: &Buffer<'c>| (buffer.offset, buffer.offset.saturating_add(buffer.bytes));
        let mut cuts: Vec<_> = buffers.iter().map(span).flat_map(|(from, to)| [from, to]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let piece = |byte| cuts.partition_point(|&cut| cut < byte);
        for buffer in &buffers {
            let (from, to) = span(buffer);
            if let Some(&value) = buffer.op.results().first() {
                let place = Place { pieces: piece(from)..piece(to), read_only: None };
                self.places.insert(value, place);
            }
        }
        self.pieces = cuts.len();
    }

    fn add_own(&mut self, op: Op<'c>, read_only: Option<Op<'c>>) {
        for value in op.results() {
            let pieces = self.pieces..self.pieces + 1;
            self.pieces += 1;
            self.places.insert(value, Place { pieces, read_only });
        }
    }

    fn add_view(&mut self, op: Op<'c>) {
        if let (Some(source), Some(&result)) = (op.operands().first(), op.results().first())
            && let Some(place) = self.places.get(source).cloned()
        {
            self.places.insert(result, place);
        }
    }
}

/// A list of ranges, the last one first: the number of a link in [`Chains`].
type Chain = usize;
const EMPTY: Chain = 0;

/// Lists that share their tails; equal histories have equal numbers.
struct Chains {
    links: Vec<(Chain, usize)>,
    known: FxHashMap<(Chain, usize), Chain>,
}

impl Chains {
    fn new() -> Self {
        Self { links: vec![(EMPTY, 0)], known: FxHashMap::default() }
    }

    fn push(&mut self, chain: Chain, range: usize) -> Chain {
        let links = &mut self.links;
        *self.known.entry((chain, range)).or_insert_with(|| {
            links.push((chain, range));
            links.len() - 1
        })
    }

    fn join(&mut self, mut chain: Chain, mut more: Chain) -> Chain {
        if chain == EMPTY {
            return more;
        }
        while more != EMPTY {
            let (rest, range) = self.links[more];
            chain = self.push(chain, range);
            more = rest;
        }
        chain
    }
}

/// What happened to a piece of storage so far.
#[derive(Clone, Copy, PartialEq, Eq)]
struct History {
    /// The run that wrote it last.
    run: Option<usize>,
    /// The ranges of that run.
    writers: Chain,
    /// Who read it since that run began.
    readers: Chain,
    /// Who touched it before.
    before: Chain,
}

/// What one range does with a place.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Access {
    first: Piece,
    end: Piece,
    writes: bool,
}

/// The ranges of one run, by first rTask and number, with the end.
#[derive(Default)]
struct Members {
    ends: BTreeMap<(u64, usize), u64>,
    /// Whether two of them do the same rTask, so that ends are not in order.
    overlap: bool,
}

impl Members {
    fn insert(&mut self, begin: u64, end: u64, number: usize) {
        self.overlap |= !self.overlapping(begin, end).is_empty();
        self.ends.insert((begin, number), end);
    }

    /// Those that do one of the rTasks from `begin` to `end`.
    fn overlapping(&self, begin: u64, end: u64) -> Vec<usize> {
        self.ends
            .range(..(end, 0))
            .rev()
            .take_while(|(_, other)| self.overlap || **other > begin)
            .filter(|(_, other)| **other > begin)
            .map(|(&(_, number), _)| number)
            .collect()
    }
}

/// Ranges with the same waits come after the same ranges.
type Class = usize;

struct Walk<'c, 'k> {
    storage: Storage<'c>,
    kernels: &'k Kernels<'c>,
    written: FxHashMap<&'c str, Rc<[bool]>>,
    history: Vec<History>,
    chains: Chains,
    numbers: FxHashMap<Val<'c>, usize>,
    ops: Vec<Op<'c>>,
    accesses: Vec<Vec<Access>>,
    classes: Vec<Class>,
    class_of: FxHashMap<Vec<usize>, Class>,
    /// For each class a bit per range that it comes after.
    after: Vec<Vec<u64>>,
    /// Chains known to lie wholly before a class.
    settled: FxHashSet<(Class, Chain)>,
    runs: FxHashMap<(&'c str, &'c str, Vec<Val<'c>>), usize>,
    /// The ranges of each run.
    members: Vec<Members>,
    findings: Vec<Finding<'c>>,
}

impl<'c, 'k> Walk<'c, 'k> {
    fn new(storage: Storage<'c>, kernels: &'k Kernels<'c>) -> Self {
        let untouched = History { run: None, writers: EMPTY, readers: EMPTY, before: EMPTY };
        Self {
            history: vec![untouched; storage.pieces],
            storage,
            kernels,
            written: FxHashMap::default(),
            chains: Chains::new(),
            numbers: FxHashMap::default(),
            ops: Vec::new(),
            accesses: Vec::new(),
            classes: Vec::new(),
            class_of: FxHashMap::default(),
            after: Vec::new(),
            settled: FxHashSet::default(),
            runs: FxHashMap::default(),
            members: Vec::new(),
            findings: Vec::new(),
        }
    }

    fn range(&mut self, range: &Range<'c>) {
        let number = self.ops.len();
        let class = self.class(&range.waits);
        let accesses = self.accesses(range);
        let writes = accesses.iter().any(|access| access.writes);
        self.ops.push(range.op);
        self.classes.push(class);
        self.accesses.push(accesses.clone());
        let run = self.run(range);
        if writes {
            self.check_run(run, number, range);
        }
        self.members[run].insert(range.begin, range.end, number);
        for access in accesses {
            // Neighbours often share their history: what was done for one holds for the next.
            let mut last: Option<(History, History)> = None;
            for piece in access.first..access.end {
                let old = self.history[piece];
                let new = match last {
                    Some((before, after)) if before == old => after,
                    _ => self.touch(number, run, access.writes, old),
                };
                self.history[piece] = new;
                last = Some((old, new));
            }
        }
        if let Some(&token) = range.op.results().first() {
            self.numbers.insert(token, number);
        }
    }

    /// Checks an access to a piece with this history, and continues it.
    fn touch(&mut self, number: usize, run: usize, writes: bool, old: History) -> History {
        if !writes {
            self.check_after(number, old.writers);
            return History { readers: self.chains.push(old.readers, number), ..old };
        }
        if old.run == Some(run) {
            // Its own run writes other parts; `check_run` looks at those of the same rTasks.
            self.check_after(number, old.before);
            self.check_after(number, old.readers);
            return History { writers: self.chains.push(old.writers, number), ..old };
        }
        self.check_after(number, old.writers);
        self.check_after(number, old.readers);
        let before = self.chains.join(old.writers, old.readers);
        let writers = self.chains.push(EMPTY, number);
        History { run: Some(run), writers, readers: EMPTY, before }
    }

    /// Checks that the range comes after every one in the chain.
    fn check_after(&mut self, number: usize, chain: Chain) {
        let class = self.classes[number];
        let mut next = chain;
        while next != EMPTY && !self.settled.contains(&(class, next)) {
            let (rest, earlier) = self.chains.links[next];
            if !self.is_after(class, earlier) {
                self.report(earlier, number);
            }
            next = rest;
        }
        // Also after a report: once is enough.
        self.settled.insert((class, chain));
    }

    /// Checks the range against those of its run that do the same rTasks: only
    /// different rTasks of one run are known to write different parts.
    fn check_run(&mut self, run: usize, number: usize, range: &Range<'c>) {
        let class = self.classes[number];
        let overlapping = self.members[run].overlapping(range.begin, range.end);
        for earlier in overlapping {
            if !self.is_after(class, earlier) {
                self.report(earlier, number);
            }
        }
    }

    fn is_after(&self, class: Class, earlier: usize) -> bool {
        self.after[class].get(earlier / 64).is_some_and(|word| word >> (earlier % 64) & 1 == 1)
    }

    fn report(&mut self, earlier: usize, later: usize) {
        let kind = match (self.overwrites(earlier, later), self.overwrites(later, earlier)) {
            (true, false) => Kind::ReadAfterWrite,
            (false, _) => Kind::WriteAfterRead,
            (true, true) => Kind::WriteAfterWrite,
        };
        let (earlier, later) = (self.ops[earlier], self.ops[later]);
        self.findings.push(Finding::Conflict { earlier, later, kind });
    }

    /// Whether `one` writes what `other` touches.
    fn overwrites(&self, one: usize, other: usize) -> bool {
        self.accesses[one].iter().filter(|access| access.writes).any(|access| {
            let overlaps = |with: &Access| access.first < with.end && with.first < access.end;
            self.accesses[other].iter().any(overlaps)
        })
    }

    /// What the range reads and writes; a place that it does both with is written.
    fn accesses(&mut self, range: &Range<'c>) -> Vec<Access> {
        let Some(written) = self.written(range.kernel) else { return Vec::new() };
        let mut accesses: Vec<Access> = Vec::new();
        for (place, buffer) in range.buffers.iter().enumerate() {
            let writes = written.get(place).copied().unwrap_or(false);
            let Some(Place { pieces, read_only }) = self.storage.places.get(buffer) else {
                continue;
            };
            match read_only {
                Some(buffer) if writes => {
                    self.findings.push(Finding::ReadOnly { range: range.op, buffer: *buffer });
                    continue;
                }
                Some(_) => continue,
                None => {}
            }
            accesses.push(Access { first: pieces.start, end: pieces.end, writes });
        }
        accesses.sort_unstable_by_key(|access| (!access.writes, access.first, access.end));
        accesses.dedup();
        let (writes, reads): (Vec<_>, Vec<_>) =
            accesses.into_iter().partition(|access| access.writes);
        let mut all = writes.clone();
        for read in reads {
            all.extend(uncovered(read, &writes));
        }
        all
    }

    /// Which arguments the kernel writes; `None` where the text has no such kernel.
    fn written(&mut self, kernel: &'c str) -> Option<Rc<[bool]>> {
        if let Some(written) = self.written.get(kernel) {
            return Some(written.clone());
        }
        let written: Rc<[bool]> = written_arguments(self.kernels.get(kernel)?).into();
        self.written.insert(kernel, written.clone());
        Some(written)
    }

    /// The class of a list of waits.
    fn class(&mut self, waits: &[Val<'c>]) -> Class {
        let mut numbers: Vec<_> =
            waits.iter().filter_map(|wait| self.numbers.get(wait).copied()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if let Some(&class) = self.class_of.get(&numbers) {
            return class;
        }
        let mut after = vec![0u64; numbers.last().map_or(0, |last| last / 64 + 1)];
        let mut classes: Vec<_> = numbers.iter().map(|&number| self.classes[number]).collect();
        classes.sort_unstable();
        classes.dedup();
        for class in classes {
            for (word, earlier) in after.iter_mut().zip(&self.after[class]) {
                *word |= earlier;
            }
        }
        for number in &numbers {
            after[number / 64] |= 1 << (number % 64);
        }
        self.after.push(after);
        self.class_of.insert(numbers, self.after.len() - 1);
        self.after.len() - 1
    }

    /// The run of a range: those of one name, kernel and list of buffers.
    fn run(&mut self, range: &Range<'c>) -> usize {
        let next = self.members.len();
        let key = (range.name, range.kernel, range.buffers.clone());
        let run = *self.runs.entry(key).or_insert(next);
        if run == next {
            self.members.push(Members::default());
        }
        run
    }
}

/// What is left of a read where the same range also writes.
fn uncovered(read: Access, writes: &[Access]) -> Vec<Access> {
    let mut left = vec![read];
    for write in writes {
        left = left
            .into_iter()
            .flat_map(|part| {
                let head = Access { end: part.end.min(write.first), ..part };
                let tail = Access { first: part.first.max(write.end), ..part };
                [head, tail]
            })
            .filter(|part| part.first < part.end)
            .collect();
    }
    left
}

/// For each argument of a kernel (not the rTask's number) whether the kernel writes it.
pub(super) fn written_arguments(kernel: Op<'_>) -> Vec<bool> {
    if let Some(kernel) = tile::Kernel::of(kernel) {
        let (inputs, outputs) = (kernel.inputs().len(), kernel.outputs().len());
        return (0..inputs + outputs).map(|place| place >= inputs).collect();
    }
    let Some(kernel) = device::Kernel::of(kernel) else { return Vec::new() };
    let args = kernel.args();
    let mut written = vec![false; args.len()];
    // Memrefs that show an argument, by that argument's place.
    let mut shown: FxHashMap<Val<'_>, usize> =
        args.into_iter().enumerate().map(|(place, arg)| (arg, place)).collect();
    kernel.op.walk(&mut |op| {
        if op == kernel.op {
            return;
        }
        for target in written_memrefs(op) {
            if let Some(&place) = shown.get(&target) {
                written[place] = true;
            }
        }
        if let Some(place) = op.operands().first().and_then(|source| shown.get(source).copied()) {
            let views = op.results().into_iter().filter(|result| parts::rank(result.ty()).is_some());
            views.for_each(|view| {
                shown.insert(view, place);
            });
        }
    });
    written
}

/// The memrefs that an operation of a device kernel writes.
fn written_memrefs<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    /// Operations that only read the memrefs they are given.
    const READERS: [&str; 7] = [
        "memref.prefetch",
        "vector.load",
        "vector.maskedload",
        "vector.gather",
        "vector.expandload",
        "vector.transfer_read",
        "device.yield",
    ];
    match op.name() {
        "device.copy" => {
            device::Copy::of(op).map(|copy| copy.target.memref).into_iter().collect()
        }
        "device.apply" => {
            let outputs = device::Apply::of(op).map(|apply| apply.outputs).unwrap_or_default();
            outputs.into_iter().map(|view| view.memref).collect()
        }
        "device.combine" => {
            device::Combine::of(op).map(|combine| combine.output.memref).into_iter().collect()
        }
        "device.invoke" => {
            let Some(invoke) = device::Invoke::of(op) else { return Vec::new() };
            let machine = device::Machine::of(op);
            let instruction = machine.and_then(|machine| machine.instruction(invoke.instruction));
            // Without the machine every view may be a result.
            let results = instruction.map_or(usize::MAX, |instruction| instruction.result_count());
            invoke.views.into_iter().rev().take(results).map(|view| view.memref).collect()
        }
        name if READERS.contains(&name) => Vec::new(),
        "memref.atomic_rmw" | "memref.generic_atomic_rmw" => op.operands(),
        // Loads and views write nothing; what a view gives is followed.
        name if name.starts_with("memref.") && !op.results().is_empty() => Vec::new(),
        "memref.copy" => op.operands().into_iter().skip(1).take(1).collect(),
        // Stores, and what is not known to only read.
        _ => op.operands(),
    }
}
