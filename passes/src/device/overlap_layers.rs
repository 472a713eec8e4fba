//! `device-overlap-layers`: transfers of later layers begin while earlier ones are computed.
//!
//! ```text
//! scf.for (layer 1) { compute }                     %a = device.alloc at 4096
//! scf.for (layer 2) {                               %t = device.transfer @load %w to %a
//!   %a = device.alloc                          ->   scf.for (layer 1) { compute }
//!   %t = device.transfer @load %w to %a             scf.for (layer 2) {
//!   device.wait %t                                    device.wait %t
//!   compute }                                         compute }
//! ```
//!
//! A kernel of several layers brings each one's weights, biases and further inputs when it comes to that layer, and
//! waits for them (GraphTurbo's across-layer instruction scheduling, section 4.2 (6) of its algorithm boxes: list
//! scheduling with engines as resources and the capacity of buffers as a constraint). Here every transfer from outside
//! the core, and every fill, is begun as early as
//!
//! - the bytes that it overwrites are of no use any more: a buffer of its own gets a place in the arena, beside
//!   whatever is of use from then on;
//! - what it reads has been written;
//! - its engine has begun what begins early before it in the text, and what nobody waits for, for who waits for
//!   something later there has waited for that;
//! - half of the queue of its engine is free, for a core waits for a place in a queue, too.
//!
//! Waits stay where they are. Only where a core takes its instructions in order and its tiles wait in a memory of its
//! own, as for `device-order-instructions`.

use std::collections::{HashMap, HashSet};

use weft_dialects::device::{ARENA_ALIGN, Fill, Kernel, Machine, Transfer, build};
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Block, Builder, Context, Mapping, Op, Val, attr, remark, ty};

use super::order_instructions::{in_order, is_index, number};

/// The pass.
pub const PASS: Pass = Pass {
    name: "device-overlap-layers",
    description: "Begin transfers of later layers while earlier ones are computed",
    options: &[
        PassOption {
            name: "transfers",
            description: "early: as soon as their buffers are free; text: as it is written",
            fallback: "early",
        },
        PassOption {
            name: "remarks",
            description: "say of each kernel how many transfers begin earlier",
            fallback: "false",
        },
    ],
    statistics: &[("early", "transfers and fills that begin earlier")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let as_written = run.word("transfers", &[("early", false), ("text", true)])?;
    let remarks = run.flag("remarks")?;
    if as_written {
        return Ok(());
    }
    let Some((machine, _)) = Machine::of(run.module).and_then(in_order) else {
        return Ok(());
    };
    let ops = run.module.body(0).map(|block| block.ops()).unwrap_or_default();
    for kernel in ops.into_iter().filter_map(Kernel::of) {
        let mut layers = Layers::of(run.context, machine, &kernel);
        let early = layers.overlap();
        run.count("early", early);
        if remarks && early > 0 {
            let told = format!("{early} of {} transfers begin earlier", layers.seen);
            remark(kernel.op, &format!("@{}: {told}", kernel.name));
        }
    }
    Ok(())
}

/// Where buffers lie, and from which operation of the kernel's block to which they are of use.
#[derive(Clone, Copy, Debug)]
struct Room<'c> {
    memory: &'c str,
    begin: u64,
    end: u64,
    first: usize,
    last: usize,
}

impl Room<'_> {
    fn meets(&self, other: &Self) -> bool {
        self.memory == other.memory && self.begin < other.end && other.begin < self.end
    }
}

/// A transfer or fill that begins before an operation of the kernel's block.
struct Early<'c> {
    engine: &'c str,
    before: usize,
    /// The operation of the kernel's block in which it is waited for.
    waited: usize,
}

/// A kernel's block.
struct Layers<'c> {
    context: &'c Context,
    machine: Machine<'c>,
    block: Block<'c>,
    /// Its operations as they were written, without buffers.
    ops: Vec<Op<'c>>,
    at: HashMap<Op<'c>, usize>,
    /// The place in the text of each operation, inside of others, too.
    order: HashMap<Op<'c>, usize>,
    /// Buffers with a place, by the value of each.
    rooms: HashMap<Val<'c>, Room<'c>>,
    /// Those that begin earlier, by operation.
    early: HashMap<Op<'c>, Early<'c>>,
    /// The place of the last one, by engine.
    latest: HashMap<&'c str, usize>,
    /// Transfers and fills that were looked at.
    seen: usize,
}

impl<'c> Layers<'c> {
    fn of(context: &'c Context, machine: Machine<'c>, kernel: &Kernel<'c>) -> Self {
        let block = kernel.body;
        let ops: Vec<_> = block.ops().into_iter().filter(|op| !op.is("device.alloc")).collect();
        let at = ops.iter().enumerate().map(|(at, op)| (*op, at)).collect();
        let mut order = HashMap::new();
        kernel.op.walk_all(&mut |op| {
            order.insert(op, order.len());
        });
        let mut own = Self {
            context,
            machine,
            block,
            ops,
            at,
            order,
            rooms: HashMap::new(),
            early: HashMap::new(),
            latest: HashMap::new(),
            seen: 0,
        };
        for op in block.ops().into_iter().filter(|op| op.is("device.alloc")) {
            let offset =
                op.attr("offset").and_then(attr::int).and_then(|at| u64::try_from(at).ok());
            if let Some((begin, (memory, bytes))) = offset.zip(own.bytes(op.result(0))) {
                let (first, last) = own.used(op.result(0)).unwrap_or((0, 0));
                let room = Room { memory, begin, end: begin + bytes, first, last };
                own.rooms.insert(op.result(0), room);
            }
        }
        own
    }

    /// The memory and bytes of a buffer that is in no registers.
    fn bytes(&self, buffer: Val<'c>) -> Option<(&'c str, u64)> {
        let memory = self.machine.memory(ty::memory(buffer.ty())?)?;
        let bytes = ty::count(buffer.ty())? * ty::byte_size(ty::elem(buffer.ty())?)?;
        (!memory.is_registers()).then_some((memory.name, bytes))
    }

    /// Bytes of a memory that buffers without a place have at once, but for one of them.
    fn loose(&self, block: Block<'c>, memory: &str, but: Val<'c>) -> u64 {
        let (mut own, mut inside) = (0, 0);
        for op in block.ops() {
            let loose = op.is("device.alloc") && op.attr("offset").is_none() && op.result(0) != but;
            let there = loose.then(|| self.bytes(op.result(0))).flatten();
            let bytes = there.filter(|(there, _)| *there == memory).map_or(0, |(_, bytes)| bytes);
            own += bytes.next_multiple_of(ARENA_ALIGN as u64);
            let blocks = (0..op.region_count()).flat_map(|region| op.region(region).blocks());
            let most = blocks.map(|inner| self.loose(inner, memory, but)).max();
            inside = most.unwrap_or(0).max(inside);
        }
        own + inside
    }

    /// The operation of the kernel's block that an operation is, or is in, or before which it begins now.
    fn around(&self, op: Op<'c>) -> Option<usize> {
        if let Some(early) = self.early.get(&op) {
            return Some(early.before);
        }
        let mut around = Some(op);
        while let Some(op) = around {
            if let Some(&at) = self.at.get(&op) {
                return Some(at);
            }
            around = op.parent();
        }
        None
    }

    /// The operation of the kernel's block in which what an operation begins is waited for; behind all where
    /// nobody waits.
    fn waited(&self, op: Op<'c>) -> usize {
        let waits = op.results().into_iter().map(|token| {
            let users = token.uses().into_iter().filter_map(|(user, _)| self.around(user));
            users.min().unwrap_or(self.ops.len())
        });
        waits.max().unwrap_or(0)
    }

    /// The last operation of the kernel's block in which something goes on that an operation inside begins.
    fn last(&self, op: Op<'c>) -> Option<usize> {
        let at = self.around(op)?;
        Some(at.max(self.waited(op)).max(self.waited(self.ops[at])))
    }

    /// The first and the last operation of the kernel's block in which a buffer is of use.
    fn used(&self, buffer: Val<'c>) -> Option<(usize, usize)> {
        let mut found: Option<(usize, usize)> = None;
        for (user, _) in buffer.uses() {
            let (at, last) = (self.around(user)?, self.last(user)?);
            found = Some(found.map_or((at, last), |(first, end)| (first.min(at), last.max(end))));
        }
        found
    }

    fn precedes(&self, one: Op<'c>, other: Op<'c>) -> bool {
        self.order.get(&one) < self.order.get(&other)
    }

    /// Begins what can begin earlier; returns how many do.
    fn overlap(&mut self) -> u64 {
        let mut may = HashSet::new();
        self.collect(self.block, &mut may);
        self.seen = may.len();
        let mut all: Vec<Op<'c>> = self.order.keys().copied().collect();
        all.retain(|op| Begun::of(self.machine, *op).is_some());
        all.sort_by_key(|op| self.order[op]);
        let mut early = 0;
        for op in all {
            if may.contains(&op) && self.begin(op).is_some() {
                early += 1;
            } else if op.results().iter().any(|token| token.uses().is_empty()) {
                // Who waits for what the same engine begins later has waited for this.
                let behind = self.around(op).map_or(self.ops.len(), |at| at + 1);
                let engine = Begun::of(self.machine, op).map(|own| own.engine);
                engine.into_iter().for_each(|engine| {
                    self.latest.insert(engine, behind);
                });
            }
        }
        early
    }

    /// Transfers and fills of a block and of loops of one round there.
    fn collect(&self, block: Block<'c>, found: &mut HashSet<Op<'c>>) {
        for op in block.ops() {
            let inner = one_round(op).and_then(|_| op.first_block(0));
            inner.into_iter().for_each(|inner| self.collect(inner, found));
            found.extend(Some(op).filter(|op| Begun::of(self.machine, *op).is_some()));
        }
    }

    /// Begins a transfer or fill earlier; `None` where it stays.
    fn begin(&mut self, op: Op<'c>) -> Option<()> {
        let begun = Begun::of(self.machine, op)?;
        let outside = |own: &Val<'c>| own.def().is_none() && own.owner_block() == Some(self.block);
        let known = op.operands().into_iter().all(|own| is_known(own, self.block));
        if !known || !begun.source.as_ref().is_none_or(outside) {
            return None;
        }
        // A buffer in which nothing is yet may lie elsewhere.
        let users = begun.target.uses().into_iter().map(|(user, _)| user);
        let starts = users.into_iter().all(|user| !self.precedes(user, op));
        let room = self.rooms.get(&begun.target).copied();
        if starts {
            self.rooms.remove(&begun.target);
        }
        let before = self.before(op, &begun, room.filter(|_| !starts));
        match before {
            Some(before) => self.write(op, &begun, before),
            None => self.rooms.extend(room.map(|room| (begun.target, room))),
        }
        before.map(drop)
    }

    /// The least operation of the kernel's block before which a transfer or fill can begin; its buffer has the place
    /// that is given, or gets one.
    fn before(&mut self, op: Op<'c>, begun: &Begun<'c>, placed: Option<Room<'c>>) -> Option<usize> {
        let &Begun { engine, target, source } = begun;
        let alloc = target.def().filter(|def| def.is("device.alloc"))?;
        let (memory, bytes) = self.bytes(target)?;
        let (at, waited, last) = (self.around(op)?, self.waited(op), self.used(target)?.1);
        let mut least = self.latest.get(engine).copied().unwrap_or(0);
        least = least.max(self.written(source, op)?).max(self.free_from(target, placed, op)?);
        let half = self.machine.engine(engine)?.queue() / 2;
        let under_way = |before: usize| {
            let others = self.early.values().filter(|own| own.engine == engine);
            others.filter(|own| own.before <= before && before <= own.waited).count() as u64
        };
        let mut places = (least..at).filter(|&before| under_way(before) < half);
        let whole = self.machine.memory(memory)?.kernel_bytes();
        let holds = whole.saturating_sub(self.loose(self.block, memory, target));
        let (before, room) = match placed {
            Some(room) => {
                let before = places.next()?;
                (before, Room { first: room.first.min(before), ..room })
            }
            None => places.find_map(|before| {
                let begin = self.offset(memory, bytes, (before, last));
                let end = begin + bytes;
                (end <= holds).then_some((before, Room { memory, begin, end, first: before, last }))
            })?,
        };
        alloc.set_attr("offset", attr::of_int(self.context, room.begin as i64));
        self.rooms.insert(target, room);
        self.early.insert(op, Early { engine, before, waited });
        self.latest.insert(engine, before);
        Some(before)
    }

    /// The least operation of the kernel's block before which the bytes of a buffer are of no use for what stands
    /// before `op` in the text.
    fn free_from(&self, target: Val<'c>, placed: Option<Room<'c>>, op: Op<'c>) -> Option<usize> {
        let mut least = 0;
        for user in self.sharing(target, placed).filter(|user| self.precedes(*user, op)) {
            least = least.max(match self.early.get(&user) {
                Some(early) => early.before,
                None => self.last(user)? + 1,
            });
        }
        Some(least)
    }

    /// What uses a buffer, or one that shares bytes with its place.
    fn sharing(&self, target: Val<'c>, placed: Option<Room<'c>>) -> impl Iterator<Item = Op<'c>> {
        let shares = |(value, room): &(&Val<'c>, &Room<'c>)| {
            **value == target || placed.is_some_and(|placed| placed.meets(room))
        };
        let mut buffers: Vec<Val<'c>> =
            self.rooms.iter().filter(shares).map(|(value, _)| *value).collect();
        if placed.is_none() {
            buffers.push(target);
        }
        buffers.into_iter().flat_map(|buffer| buffer.uses()).map(|(user, _)| user)
    }

    /// The least operation of the kernel's block before which all is written that stands before `op` in the text and
    /// writes to what lies outside; what reads nothing has no such.
    fn written(&self, source: Option<Val<'c>>, op: Op<'c>) -> Option<usize> {
        let mut least = 0;
        let args = source.and_then(Val::owner_block).map_or(Vec::new(), Block::args);
        for user in args.into_iter().flat_map(|arg| arg.uses()).map(|(user, _)| user) {
            let reads = |own: Transfer<'c>| own.target.memref.def().is_some();
            let reads = is_index(user) || Transfer::of(user).is_some_and(reads);
            if !reads && self.precedes(user, op) {
                least = least.max(self.last(user)? + 1);
            }
        }
        Some(least)
    }

    /// The first place for a buffer that is of use from one operation of the kernel's block to another.
    fn offset(&self, memory: &str, bytes: u64, (first, last): (usize, usize)) -> u64 {
        let alive =
            |room: &&Room<'c>| room.memory == memory && room.first <= last && first <= room.last;
        let mut taken: Vec<(u64, u64)> =
            self.rooms.values().filter(alive).map(|room| (room.begin, room.end)).collect();
        taken.sort_unstable();
        let mut free = 0;
        for (begin, end) in taken {
            if free + bytes <= begin {
                break;
            }
            free = free.max(end.next_multiple_of(ARENA_ALIGN as u64));
        }
        free
    }

    /// Moves a transfer or fill, with copies of the index arithmetic that it needs, before an operation of the
    /// kernel's block, and its buffer to the front.
    fn write(&self, op: Op<'c>, begun: &Begun<'c>, before: usize) {
        let front = self.block.ops()[0];
        begun
            .target
            .def()
            .filter(|alloc| *alloc != front)
            .into_iter()
            .for_each(|alloc| alloc.move_before(front));
        let mut b = Builder::before(self.context, self.ops[before]).with_location(op.location());
        let mut map = Mapping::default();
        for (place, operand) in op.operands().into_iter().enumerate() {
            if ty::shape(operand.ty()).is_none() {
                let own = copied(&mut b, operand, &mut map);
                op.set_operand(place, own);
            }
        }
        // What another engine begins to write there before is waited for.
        let placed = self.rooms.get(&begun.target).copied();
        let mut tokens: Vec<Val<'c>> = Vec::new();
        for user in self.sharing(begun.target, placed).filter(|user| self.precedes(*user, op)) {
            let other = self.early.get(&user).is_some_and(|own| own.engine != begun.engine);
            let new = |token: &Val<'c>| other && !tokens.contains(token);
            let found: Vec<_> = user.results().into_iter().filter(new).collect();
            tokens.extend(found);
        }
        if !tokens.is_empty() {
            tokens.sort_by_key(|token| token.def().and_then(|own| self.order.get(&own)));
            build::wait(&mut b, &tokens);
        }
        op.move_before(self.ops[before]);
    }
}

/// A transfer or fill that an engine does.
struct Begun<'c> {
    engine: &'c str,
    target: Val<'c>,
    source: Option<Val<'c>>,
}

impl<'c> Begun<'c> {
    fn of(machine: Machine<'c>, op: Op<'c>) -> Option<Self> {
        let (way, target, source) = match (Transfer::of(op), Fill::of(op)) {
            (Some(own), _) if own.limits.is_empty() && own.after.is_none() => {
                (own.move_name, own.target.memref, Some(own.source.memref))
            }
            (_, Some(own)) => (own.move_name, own.target.memref, None),
            _ => return None,
        };
        let engine = machine.move_named(way)?.engine()?;
        Some(Self { engine, target, source })
    }
}

/// The number of a loop's only round; none where it has more or none, or gives results.
fn one_round(op: Op<'_>) -> Option<i64> {
    if !op.is("scf.for") || !op.results().is_empty() {
        return None;
    }
    let [from, to, step] = [0, 1, 2].map(|place| number(op.operand(place)));
    let (from, to, step) = (from?, to?, step?);
    (from < to && to <= from.saturating_add(step)).then_some(from)
}

/// Returns whether a value is an argument of the kernel, a buffer, or index arithmetic of constants, of the rTask's
/// number and of loops of one round.
fn is_known<'c>(value: Val<'c>, kernel: Block<'c>) -> bool {
    let Some(op) = value.def() else {
        let block = value.owner_block();
        let round = || block.and_then(Block::parent).and_then(one_round).is_some();
        return block == Some(kernel) || value.index() == 0 && round();
    };
    let known = || op.operands().into_iter().all(|own| is_known(own, kernel));
    op.is("device.alloc") || is_index(op) && known()
}

/// Copies index arithmetic; loops of one round are in that.
fn copied<'c>(b: &mut Builder<'c>, value: Val<'c>, map: &mut Mapping<'c>) -> Val<'c> {
    let Some(op) = value.def() else {
        let round = value.owner_block().and_then(Block::parent).and_then(one_round);
        return round.map_or(value, |round| b.index(round));
    };
    for operand in op.operands() {
        let own = copied(b, operand, map);
        map.set(operand, own);
    }
    b.clone_op(op, map).result(value.index())
}
