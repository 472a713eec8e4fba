//! Checks that every range comes after one that writes what it reads (program C5).
//!
//! Storage is cut into segments wherever a buffer begins or ends. For each list of
//! waits the segments are kept that some range before it writes; a read of a buffer
//! needs one of its own among them. This says nothing against a program that is
//! right: which bytes an rTask touches, and so every other order that the data
//! needs, is only known to who looks into kernels.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::{Buffer, Port, Program, Range};
use crate::device;
use crate::ir::{Block, Op, Val, parts};
use crate::tile;
use crate::verify::Kernels;

/// An error in the order of a range.
pub(super) enum Finding<'c> {
    /// It reads bytes that another range writes, and comes after no writer.
    Unordered {
        /// The range.
        range: Op<'c>,
        /// The last one in the text that writes there.
        writer: Op<'c>,
    },
    /// It reads bytes that no earlier range writes.
    Unwritten {
        /// The range.
        range: Op<'c>,
        /// The operation that makes the buffer.
        buffer: Op<'c>,
    },
    /// It reads bytes of a buffer that were last written through another one.
    Overwritten {
        /// The range.
        range: Op<'c>,
        /// The range that wrote there.
        writer: Op<'c>,
        /// The operation that makes the buffer that is read.
        buffer: Op<'c>,
    },
    /// It writes a buffer that shares bytes with another of its operands.
    Overlap {
        /// The range.
        range: Op<'c>,
        /// The operation that makes the buffer that is written.
        buffer: Op<'c>,
        /// The operation that makes the other one.
        other: Op<'c>,
    },
    /// It writes a read-only buffer.
    ReadOnly {
        /// The range.
        range: Op<'c>,
        /// The operation that makes the buffer.
        buffer: Op<'c>,
    },
}

/// Returns the errors in the order of the ranges of `body`, in the order of the text;
/// no more than `limit` findings.
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

/// SegmentSet of storage, numbered; no two overlap.
type Segment = usize;

/// The bytes of each buffer.
#[derive(Default)]
struct Storage<'c> {
    pieces: Segment,
    places: FxHashMap<Val<'c>, BufferSegments<'c>>,
    /// What the caller has written, and ranges may write over.
    given: Vec<Segment>,
}

#[derive(Clone)]
struct BufferSegments<'c> {
    pieces: std::ops::Range<Segment>,
    /// The operation that makes it.
    made_by: Op<'c>,
    /// True if ranges may write it.
    writable: bool,
}

impl<'c> Storage<'c> {
    fn of(body: Block<'c>) -> Self {
        let mut storage = Self::default();
        storage.add_arenas(body);
        let outputs = || body.iter().filter_map(Port::output);
        let shared = |op| {
            let input = Port::input(op)?;
            outputs().find(|output| output.within == Some(input.index))
        };
        for op in body.iter() {
            if Port::output(op).is_some_and(|port| port.within.is_some()) {
                continue;
            }
            if let Some(output) = shared(op) {
                storage.add_shared(op, output.op);
                continue;
            }
            match op.name() {
                "task.output" => storage.add_own(op, true),
                "task.input" | "task.weight" | "task.literal" | "task.constant" => {
                    storage.add_own(op, false);
                }
                "task.view" => storage.add_view(op),
                _ => {}
            }
        }
        storage
    }

    /// Cuts each memory's arena wherever a buffer begins or ends.
    fn add_arenas(&mut self, body: Block<'c>) {
        let buffers: Vec<_> = body.iter().filter_map(Buffer::of).collect();
        let place = |buffer: &Buffer<'c>| (buffer.memory, buffer.cluster);
        let mut memories: Vec<_> = buffers.iter().map(place).collect();
        memories.sort_unstable();
        memories.dedup();
        for memory in memories {
            let own = |buffer: &&Buffer<'c>| place(buffer) == memory;
            self.add_arena(&buffers.iter().filter(own).copied().collect::<Vec<_>>());
        }
    }

    fn add_arena(&mut self, buffers: &[Buffer<'c>]) {
        let span =
            |buffer: &Buffer<'c>| (buffer.offset, buffer.offset.saturating_add(buffer.bytes));
        let mut cuts: Vec<_> = buffers.iter().map(span).flat_map(|(from, to)| [from, to]).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let first = self.pieces;
        let piece = |byte| first + cuts.partition_point(|&cut| cut < byte);
        for buffer in buffers {
            let (from, to) = span(buffer);
            if let Some(&value) = buffer.op.results().first() {
                let pieces = piece(from)..piece(to);
                let place = BufferSegments { pieces, made_by: buffer.op, writable: true };
                self.places.insert(value, place);
            }
        }
        self.pieces += cuts.len();
    }

    fn add_own(&mut self, op: Op<'c>, writable: bool) {
        for value in op.results() {
            let pieces = self.pieces..self.pieces + 1;
            self.pieces += 1;
            self.places.insert(value, BufferSegments { pieces, made_by: op, writable });
        }
    }

    /// An input, and the output that lies in it.
    fn add_shared(&mut self, input: Op<'c>, output: Op<'c>) {
        let pieces = self.pieces..self.pieces + 1;
        self.given.push(self.pieces);
        self.pieces += 1;
        for value in [input, output].into_iter().flat_map(Op::results) {
            let pieces = pieces.clone();
            self.places.insert(value, BufferSegments { pieces, made_by: output, writable: true });
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

/// Ranges with the same waits come after the same ranges.
type Class = usize;

/// One bit per segment.
type SegmentSet = Vec<u64>;

/// The use of an argument by a kernel.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Unused,
    Reads,
    Writes,
}

struct Walk<'c, 'k> {
    storage: Storage<'c>,
    kernels: &'k Kernels<'c>,
    roles: FxHashMap<&'c str, Rc<[Role]>>,
    /// The range of each token.
    numbers: FxHashMap<Val<'c>, usize>,
    /// The class of each range, and what it writes.
    ranges: Vec<(Class, Vec<std::ops::Range<Segment>>)>,
    classes: FxHashMap<Vec<usize>, Class>,
    /// The bytes that are written before each class.
    written: Vec<SegmentSet>,
    /// Per segment, the range that wrote it last in the text, and through which buffer.
    last_writer: Vec<Option<(Op<'c>, Op<'c>)>>,
    findings: Vec<Finding<'c>>,
}

impl<'c, 'k> Walk<'c, 'k> {
    fn new(storage: Storage<'c>, kernels: &'k Kernels<'c>) -> Self {
        Self {
            last_writer: vec![None; storage.pieces],
            storage,
            kernels,
            roles: FxHashMap::default(),
            numbers: FxHashMap::default(),
            ranges: Vec::new(),
            classes: FxHashMap::default(),
            written: Vec::new(),
            findings: Vec::new(),
        }
    }

    fn range(&mut self, range: &Range<'c>) {
        let class = self.class(&range.waits);
        // Nothing is known of a kernel that the text does not have.
        let roles = self.roles(range.kernel).unwrap_or_default();
        self.check_overlap(range, &roles);
        let mut writes = Vec::new();
        for (buffer, role) in range.buffers.iter().zip(roles.iter()) {
            let Some(place) = self.storage.places.get(buffer).cloned() else { continue };
            match role {
                Role::Reads if place.writable => self.check_read(range.op, class, &place),
                Role::Writes if place.writable => writes.push((place.pieces, place.made_by)),
                Role::Writes => {
                    let (range, buffer) = (range.op, place.made_by);
                    self.findings.push(Finding::ReadOnly { range, buffer });
                }
                Role::Reads | Role::Unused => {}
            }
        }
        for (pieces, buffer) in &writes {
            for piece in pieces.clone() {
                self.last_writer[piece] = Some((range.op, *buffer));
            }
        }
        let writes = writes.into_iter().map(|(pieces, _)| pieces).collect();
        if let Some(&token) = range.op.results().first() {
            self.numbers.insert(token, self.ranges.len());
        }
        self.ranges.push((class, writes));
    }

    fn check_read(&mut self, range: Op<'c>, class: Class, place: &BufferSegments<'c>) {
        let written = &self.written[class];
        let mut pieces = place.pieces.clone();
        if pieces.is_empty() || pieces.any(|piece| written[piece / 64] >> (piece % 64) & 1 == 1) {
            let buffer = place.made_by;
            let through_another =
                |piece: Segment| self.last_writer[piece].filter(|(_, via)| *via != buffer);
            if let Some((writer, _)) = place.pieces.clone().find_map(through_another) {
                self.findings.push(Finding::Overwritten { range, writer, buffer });
            }
            return;
        }
        let writer = place
            .pieces
            .clone()
            .find_map(|piece| self.last_writer[piece])
            .map(|(writer, _)| writer);
        self.findings.push(match writer {
            Some(writer) => Finding::Unordered { range, writer },
            None => Finding::Unwritten { range, buffer: place.made_by },
        });
    }

    /// Kernels count on it that what they write is nothing else that they touch.
    fn check_overlap(&mut self, range: &Range<'c>, roles: &[Role]) {
        let touched: Vec<(Role, BufferSegments<'c>)> = range
            .buffers
            .iter()
            .zip(roles)
            .filter(|(_, role)| **role != Role::Unused)
            .filter_map(|(buffer, role)| Some((*role, self.storage.places.get(buffer)?.clone())))
            .collect();
        for (number, (role, place)) in touched.iter().enumerate() {
            let meets = |(other, (_, there)): &(usize, &(Role, BufferSegments<'c>))| {
                *other != number
                    && place.pieces.start < there.pieces.end
                    && there.pieces.start < place.pieces.end
            };
            if *role != Role::Writes {
                continue;
            }
            if let Some((_, (_, other))) = touched.iter().enumerate().find(meets) {
                let (range, buffer, other) = (range.op, place.made_by, other.made_by);
                self.findings.push(Finding::Overlap { range, buffer, other });
                return;
            }
        }
    }

    /// Returns the use of each argument by a kernel; `None` if the text has no such kernel.
    fn roles(&mut self, name: &'c str) -> Option<Rc<[Role]>> {
        if let Some(roles) = self.roles.get(name) {
            return Some(roles.clone());
        }
        let kernel = self.kernels.get(name)?;
        let skipped = usize::from(kernel.is("device.kernel"));
        let args = kernel.first_block(0).map(Block::args).unwrap_or_default();
        let written = written_arguments(kernel);
        if kernel.is("task.program") {
            let role = |writes| if writes { Role::Writes } else { Role::Reads };
            let roles: Rc<[Role]> = written.into_iter().map(role).collect();
            self.roles.insert(name, roles.clone());
            return Some(roles);
        }
        let role = |(arg, writes): (&Val<'c>, bool)| match writes {
            true => Role::Writes,
            false if arg.uses().is_empty() => Role::Unused,
            false => Role::Reads,
        };
        let roles: Rc<[Role]> = args.iter().skip(skipped).zip(written).map(role).collect();
        self.roles.insert(name, roles.clone());
        Some(roles)
    }

    /// The class of a list of waits.
    fn class(&mut self, waits: &[Val<'c>]) -> Class {
        let mut numbers: Vec<_> =
            waits.iter().filter_map(|wait| self.numbers.get(wait).copied()).collect();
        numbers.sort_unstable();
        numbers.dedup();
        if let Some(&class) = self.classes.get(&numbers) {
            return class;
        }
        let mut written: SegmentSet = vec![0; self.storage.pieces.div_ceil(64)];
        for piece in &self.storage.given {
            written[piece / 64] |= 1 << (piece % 64);
        }
        let mut before: Vec<Class> = numbers.iter().map(|&number| self.ranges[number].0).collect();
        before.sort_unstable();
        before.dedup();
        for class in before {
            for (word, earlier) in written.iter_mut().zip(&self.written[class]) {
                *word |= earlier;
            }
        }
        for &number in &numbers {
            for piece in self.ranges[number].1.iter().cloned().flatten() {
                written[piece / 64] |= 1 << (piece % 64);
            }
        }
        self.written.push(written);
        self.classes.insert(numbers, self.written.len() - 1);
        self.written.len() - 1
    }
}

/// For each argument of a kernel (not the rTask's number) whether the kernel writes it.
pub fn written_arguments(kernel: Op<'_>) -> Vec<bool> {
    if let Some(body) = Program::of(kernel) {
        let states = body.input_types.len().saturating_sub(body.output_types.len());
        return (0..body.input_types.len()).map(|place| place >= states).collect();
    }
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
            let views =
                op.results().into_iter().filter(|result| parts::rank(result.ty()).is_some());
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
        "device.copy" => device::Copy::of(op).map(|copy| copy.target.memref).into_iter().collect(),
        "device.transfer" => {
            let transfer = device::Transfer::of(op);
            transfer.map(|transfer| transfer.target.memref).into_iter().collect()
        }
        "device.fill" => device::Fill::of(op).map(|fill| fill.target.memref).into_iter().collect(),
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
