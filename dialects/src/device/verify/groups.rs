//! What several groups of lanes do to memory that they share is in order.

use super::super::tokens::{Kind, begun, boxes, is_of_arrival, under_way};
use super::super::{
    Apply, Combine, Copy, Fill, Invoke, Kernel, Layout, Machine, Scope, Transfer, View,
};
use super::rooms::{Place, number};
use crate::ir::{Block, Diagnostics, Op, Type, Val, ty};

/// Who else may be using a buffer, and what helps.
type Others = (&'static str, &'static str);
const GROUPS: Others = (
    "groups",
    "put device.barrier \"core\" between a write to shared memory and its use, and wait for engines; a box may be \
     begun after an arrival",
);
const PRODUCER: Others = (
    "groups than the one that asks for boxes",
    "carry the token of device.arrive to the next round and begin the transfer `after` it; the group that asks comes to no \
     barrier",
);
const RTASKS: Others = (
    "rTasks of the cluster",
    "put device.barrier \"cluster\" between the last use of a buffer and the next box that rTasks bring to it together",
);

/// Rounds of a loop that are looked at one by one: a schedule has no more stages.
const MOST_ROOMS: u64 = 16;

/// Whether all groups of a block meet at an operation, or more.
pub(super) fn is_wide_barrier(op: Op<'_>) -> bool {
    Scope::of_barrier(op).is_some_and(|scope| scope >= Scope::Core)
}

/// Whether groups share a memref.
pub(super) fn is_shared(machine: Machine<'_>, memref: Val<'_>) -> bool {
    let memory = ty::memory(memref.ty()).and_then(|name| machine.memory(name));
    memory.is_none_or(|memory| !memory.is_registers())
}

/// C4. Between a write to memory that the groups share and what reads it, and between that and the next write, stands a
/// barrier of scope "core", as many as a kernel has turns. An engine reads and writes until a token is waited for that was
/// given with it or later; of boxes its own, for which all groups wait. Accesses to different rooms of a buffer need none. A
/// transfer that is after an arrival is in order behind what groups did before they arrived. Behind a barrier it is not,
/// if a group of its own asks for it. Between the use of what rTasks of a cluster bring together and the next that is
/// brought there stands a barrier of scope "cluster". A kernel waits for every box.
pub(super) fn kernel_c4(op: Op<'_>, diag: &mut Diagnostics) {
    let (Some(kernel), Some(machine)) = (Kernel::of(op), Machine::of(op)) else { return };
    let (mut buffers, mut boxes, mut instructions) = (Vec::new(), false, false);
    op.walk(&mut |inner| {
        if inner.is("device.alloc") && is_shared(machine, inner.result(0)) {
            buffers.push(inner.result(0));
        }
        boxes |= begun(machine, inner) == Some(Kind::Boxes);
        instructions |=
            begun(machine, inner) == Some(Kind::Instructions) && is_spread(machine, inner);
    });
    // A group for whose lanes an engine computes may be several of those that go in step.
    if kernel.groups <= 1 && !instructions && !boxes {
        return;
    }
    let mut order = Order { machine, buffers, reported: Vec::new() };
    let is_asked_apart = kernel.producer(machine).is_some();
    let mut state = State { is_asked_apart, turns: kernel.turns, ..State::default() };
    order.block(kernel.body, &mut state, diag);
    if state.begun.iter().any(|own| own.kind == Kind::Boxes && !own.done) {
        diag.error(op, "device.kernel ends, and a box may still be on its way")
            .help("wait for the token of each transfer of boxes, behind a loop for those of its last rounds");
    }
}

/// The accesses to shared buffers since the last barrier, and those that are under way.
#[derive(Clone, Default, PartialEq)]
struct State<'c> {
    written: Vec<Access<'c>>,
    read: Vec<Access<'c>>,
    /// All of them since the last barrier of the cluster, and what engines did: other rTasks may write there.
    since_cluster_met: Vec<Place<'c>>,
    /// All of them: a group that only asks for boxes knows of each by an arrival or not at all.
    unseen: Vec<Access<'c>>,
    /// Whether there is such a group.
    is_asked_apart: bool,
    /// Turns of the groups: the last ones are so many barriers behind the first ones, less one.
    turns: u64,
    /// In the order in which they were begun.
    begun: Vec<Begun<'c>>,
}

/// Where something was read or written, barriers since then, and whether all groups arrived since, in the loop that is
/// looked at.
#[derive(Clone, Copy, PartialEq)]
struct Access<'c> {
    place: Place<'c>,
    barriers: u64,
    arrived: bool,
}

impl<'c> Access<'c> {
    /// Those of a moment.
    fn now(places: impl IntoIterator<Item = Place<'c>>) -> impl Iterator<Item = Self> {
        places.into_iter().map(|place| Self { place, barriers: 0, arrived: false })
    }
}

/// What an engine reads and writes until it is waited for.
#[derive(Clone, PartialEq)]
struct Begun<'c> {
    kind: Kind,
    reads: Vec<Place<'c>>,
    writes: Vec<Place<'c>>,
    /// Whether it was waited for, while some that were begun before were not.
    done: bool,
}

impl<'c> State<'c> {
    fn map(&mut self, place: impl Fn(Place<'c>) -> Place<'c>) {
        let begun = self.begun.iter_mut().flat_map(|own| [&mut own.reads, &mut own.writes]);
        for places in std::iter::once(&mut self.since_cluster_met).chain(begun) {
            for own in std::mem::take(places) {
                add(places, [place(own)]);
            }
        }
        for accesses in [&mut self.written, &mut self.read, &mut self.unseen] {
            for own in std::mem::take(accesses) {
                add(accesses, [Access { place: place(own.place), ..own }]);
            }
        }
    }

    /// What other rTasks of a cluster, and a group that only asks for boxes, do not learn by a barrier of the block.
    fn keep<'p>(&mut self, places: impl Iterator<Item = &'p Place<'c>> + Clone)
    where
        'c: 'p,
    {
        add(&mut self.since_cluster_met, places.clone().copied());
        if self.is_asked_apart {
            add(&mut self.unseen, Access::now(places.copied()));
        }
    }

    /// All groups come to a barrier: what was done as many barriers before as there are turns is done.
    fn meet(&mut self) {
        for accesses in [&mut self.written, &mut self.read] {
            accesses.iter_mut().for_each(|own| own.barriers += 1);
            accesses.retain(|own| own.barriers < self.turns);
        }
    }

    /// All groups come here, each at its time; or there is no arrival yet.
    fn arrive(&mut self, arrived: bool) {
        for accesses in [&mut self.written, &mut self.read, &mut self.unseen] {
            for own in std::mem::take(accesses) {
                add(accesses, [Access { arrived, ..own }]);
            }
        }
    }

    /// What an engine has done once only the last ones of a kind are under way: others know it behind the
    /// next barrier.
    fn done(&mut self, kind: Kind, under_way: u64) {
        let all = self.begun.iter().filter(|own| own.kind == kind).count() as u64;
        let mut first = all.saturating_sub(under_way);
        for own in std::mem::take(&mut self.begun) {
            if own.kind == kind && first > 0 {
                first -= 1;
                self.keep(own.reads.iter().chain(&own.writes));
                add(&mut self.read, Access::now(own.reads));
                add(&mut self.written, Access::now(own.writes));
            } else {
                self.begun.push(own);
            }
        }
    }

    /// What an engine has done that was waited for itself, behind which so many of its kind were begun: all groups
    /// wait for it, and none has to tell others.
    fn done_alone(&mut self, kind: Kind, later: u64) {
        let own: Vec<usize> =
            (0..self.begun.len()).filter(|&n| self.begun[n].kind == kind).collect();
        let Some(place) = (own.len() as u64).checked_sub(later + 1) else { return };
        let waited = &mut self.begun[own[place as usize]];
        waited.done = true;
        waited.reads.clear();
        let written = std::mem::take(&mut waited.writes);
        self.keep(written.iter());
        // Those behind it are counted from the last one.
        let mut first = true;
        self.begun.retain(|begun| {
            first &= begun.kind != kind || begun.done;
            !(first && begun.kind == kind)
        });
    }
}

/// Adds what is not there.
fn add<T: PartialEq>(known: &mut Vec<T>, more: impl IntoIterator<Item = T>) {
    for own in more {
        if !known.contains(&own) {
            known.push(own);
        }
    }
}

struct Order<'c> {
    machine: Machine<'c>,
    buffers: Vec<Val<'c>>,
    reported: Vec<Op<'c>>,
}

impl<'c> Order<'c> {
    fn block(&mut self, block: Block<'c>, state: &mut State<'c>, diag: &mut Diagnostics) {
        for op in block.ops() {
            self.op(op, state, diag);
        }
    }

    fn op(&mut self, op: Op<'c>, state: &mut State<'c>, diag: &mut Diagnostics) {
        if is_wide_barrier(op) {
            state.meet();
            if Scope::of_barrier(op) > Some(Scope::Core) {
                state.since_cluster_met.clear();
            }
            return;
        }
        if op.is("device.arrive") {
            state.arrive(true);
            return;
        }
        if op.is("device.wait") {
            if op.operands().iter().any(|token| is_of_arrival(self.machine, *token))
                && !self.reported.contains(&op)
            {
                self.reported.push(op);
                diag.error(op, "device.wait waits for an arrival")
                    .help("all wait for each other by device.barrier; an arrival is for what is begun `after` it");
            }
            for (kind, under_way) in under_way(self.machine, op) {
                state.done(kind, under_way);
            }
            // A token that stands for different boxes on different ways ends none for certain.
            for later in boxes(self.machine, op).into_iter().filter_map(|(_, later)| later) {
                state.done_alone(Kind::Boxes, later);
            }
            return;
        }
        if op.name().starts_with("device.") {
            self.access(op, state, diag);
            return;
        }
        let regions: Vec<_> = (0..op.region_count()).filter_map(|n| op.first_block(n)).collect();
        if op.name().ends_with(".for") {
            for block in regions {
                self.rounds(op, block, state, diag);
            }
            return;
        }
        let before = state.clone();
        for block in regions {
            let mut branch = before.clone();
            self.block(block, &mut branch, diag);
            add(&mut state.read, branch.read);
            add(&mut state.written, branch.written);
            add(&mut state.since_cluster_met, branch.since_cluster_met);
            add(&mut state.unseen, branch.unseen);
            if branch.begun != before.begun && !self.reported.contains(&op) {
                self.reported.push(op);
                let what =
                    format!("{} begins something, or waits for it, on one way only", op.name());
                diag.error(op, what)
                    .help("begin what an engine does, and wait for it, under no condition");
            }
        }
    }

    /// The rounds of a loop: the end of one comes before the beginning of the next, until nothing
    /// changes from one to the next.
    fn rounds(
        &mut self,
        op: Op<'c>,
        block: Block<'c>,
        state: &mut State<'c>,
        diag: &mut Diagnostics,
    ) {
        let round = block.arg(0);
        let bound = |place: usize| op.operands().get(place).copied().and_then(number);
        let (low, high, step) = (bound(0), bound(1), bound(2));
        // A loop without a round has no barriers.
        let span = low.zip(high).map_or(0, |(low, high)| (high - low).max(0));
        // At least so many: none where bounds are not known.
        let least = (span as u64).div_ceil(step.unwrap_or(1).max(1) as u64);
        let kept = if least > 0 { Vec::new() } else { state.since_cluster_met.clone() };
        let mut ends = if least == 0 { vec![state.clone()] } else { Vec::new() };
        state.arrive(false);
        state.map(|place| place.in_first_round(round, low));
        // A room is another one's again after as many rounds as there are rooms.
        let shapes = self.buffers.iter().filter_map(|buffer| ty::shape(buffer.ty()));
        let most = shapes.filter_map(|shape| shape.first().copied()).max().unwrap_or(1);
        for rounds in 1..=most.clamp(1, MOST_ROOMS) + state.turns + 1 {
            let before = state.clone();
            self.block(block, state, diag);
            state.map(|place| place.in_next_round(round, step));
            if *state == before {
                break;
            }
            if rounds >= least {
                ends.push(state.clone());
            }
        }
        state.map(|place| place.behind(round));
        // Behind a loop of few rounds that many barriers were not there.
        for mut end in ends {
            end.map(|place| place.behind(round));
            add(&mut state.read, end.read);
            add(&mut state.written, end.written);
            add(&mut state.unseen, end.unseen);
        }
        add(&mut state.since_cluster_met, kept);
    }

    fn access(&mut self, op: Op<'c>, state: &mut State<'c>, diag: &mut Diagnostics) {
        let (reads, writes) = self.touched(op);
        let transfer = Transfer::of(op);
        // Behind the arrival of the round before what was done before it is done.
        let is_after = transfer.as_ref().is_some_and(|own| own.after.is_some());
        let meets = |own: &Place<'c>, before: &[Place<'c>]| before.iter().any(|b| own.meets(b));
        let clashes = |own: &Place<'c>, before: &[Access<'c>]| {
            before.iter().any(|b| own.meets(&b.place) && !(is_after && b.arrived))
        };
        let kind = begun(self.machine, op);
        let under_way = |own: &Place<'c>, kind: Option<Kind>| {
            state.begun.iter().any(|b| Some(b.kind) != kind && meets(own, &b.writes))
        };
        let written = |own: &Place<'c>| clashes(own, &state.written) || under_way(own, None);
        // An engine does one after the other, but for boxes.
        let in_order = kind.filter(|kind| *kind != Kind::Boxes);
        let rewritten = |own: &Place<'c>| clashes(own, &state.written) || under_way(own, in_order);
        let read = |own: &Place<'c>| {
            clashes(own, &state.read) || state.begun.iter().any(|b| meets(own, &b.reads))
        };
        let is_apart = transfer.as_ref().is_some_and(|own| own.producer(self.machine).is_some());
        let unseen = |own: &Place<'c>| is_apart && clashes(own, &state.unseen);
        let together = transfer.is_some_and(|own| own.together);
        let in_others = |own: &Place<'c>| together && meets(own, &state.since_cluster_met);
        let early = reads.iter().find(|own| written(own)).map(|own| (own, GROUPS));
        let late = || {
            let own = writes.iter().find(|own| rewritten(own) || read(own));
            own.map(|own| (own, GROUPS))
                .or_else(|| writes.iter().find(|own| unseen(own)).map(|own| (own, PRODUCER)))
                .or_else(|| writes.iter().find(|own| in_others(own)).map(|own| (own, RTASKS)))
        };
        let clash = early.map(|own| (own, "reads")).or_else(|| late().map(|own| (own, "writes")));
        if let Some(((own, (who, help)), verb)) = clash
            && !self.reported.contains(&op)
        {
            self.reported.push(op);
            let (name, ty) = (op.name(), self.buffers[own.buffer].ty());
            diag.error(op, format!("{name} {verb} {ty}, which other {who} may be using"))
                .help(help);
        }
        match kind {
            Some(kind) => state.begun.push(Begun { kind, reads, writes, done: false }),
            None => {
                state.keep(reads.iter().chain(&writes));
                add(&mut state.read, Access::now(reads));
                add(&mut state.written, Access::now(writes));
            }
        }
    }

    /// Returns what an operation of a program reads of the buffers, and what it writes.
    fn touched(&self, op: Op<'c>) -> (Vec<Place<'c>>, Vec<Place<'c>>) {
        if let Some(transfer) = Transfer::of(op) {
            let own = |view: &View<'c>, strides: &[i64]| {
                let reach = transfer.sizes.iter().zip(strides);
                let span = reach.map(|(size, stride)| (*size as i64 - 1) * stride.abs()).sum();
                let buffer = self.number(view.memref)?;
                Some(Place::of(buffer, view.memref, &view.indices, span))
            };
            let read = own(&transfer.source, &transfer.from_strides);
            let written = own(&transfer.target, &transfer.to_strides);
            return (read.into_iter().collect(), written.into_iter().collect());
        }
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        if let Some(copy) = Copy::of(op) {
            (reads, writes) = (vec![copy.source.memref], vec![copy.target.memref]);
        } else if let Some(fill) = Fill::of(op) {
            writes = vec![fill.target.memref];
        } else if let Some(invoke) = Invoke::of(op) {
            return self.operands(&invoke);
        } else if let Some(apply) = Apply::of(op) {
            reads = apply.inputs.iter().map(|view| view.memref).collect();
        } else if let Some(combine) = Combine::of(op) {
            (reads, writes) = (vec![combine.input.memref], vec![combine.output.memref]);
        }
        let places = |memrefs: Vec<Val<'c>>| {
            memrefs.into_iter().filter_map(|memref| self.number(memref)).map(Place::whole).collect()
        };
        (places(reads), places(writes))
    }

    /// Returns what an instruction reads of the buffers, and what it writes.
    fn operands(&self, invoke: &Invoke<'c>) -> (Vec<Place<'c>>, Vec<Place<'c>>) {
        let Some(instruction) = self.machine.instruction(invoke.instruction) else {
            return Default::default();
        };
        let place = |((view, ty), layout): ((&View<'c>, Type<'c>), &Option<Layout>)| {
            let buffer = self.number(view.memref)?;
            let span = reach(view, ty, layout.as_ref());
            Some(match span {
                Some(span) => Place::of(buffer, view.memref, &view.indices, span),
                None => Place::whole(buffer),
            })
        };
        let all: Vec<_> = invoke
            .views
            .iter()
            .zip(instruction.operand_types())
            .zip(instruction.layouts())
            .map(place)
            .collect();
        let first = all.len().saturating_sub(instruction.result_count());
        let writes = all[first..].iter().flatten().copied().collect();
        (all.into_iter().flatten().collect(), writes)
    }

    fn number(&self, memref: Val<'c>) -> Option<usize> {
        self.buffers.iter().position(|buffer| *buffer == memref)
    }
}

/// Whether the registers of an instruction's result are spread over lanes.
fn is_spread<'c>(machine: Machine<'c>, op: Op<'c>) -> bool {
    let memref = Invoke::of(op).and_then(|invoke| Some(invoke.views.last()?.memref));
    let memory = memref.and_then(|memref| machine.memory_of(memref.ty()));
    memory.is_some_and(|memory| memory.lanes().is_some())
}

/// Elements from the first one of a room to the last one of an operand that lies in it, where that is
/// known.
fn reach(view: &View<'_>, operand: Type<'_>, layout: Option<&Layout>) -> Option<i64> {
    let (shape, own) = (ty::shape(view.memref.ty())?, ty::shape(operand)?);
    let mut extents = own;
    if let (Some(layout), [rows, columns]) = (layout, &extents[..]) {
        let panels = columns.div_ceil(layout.pitch);
        extents = vec![panels, *rows, (*columns).min(layout.pitch)];
    }
    if extents.len() >= shape.len() || view.indices.len() != shape.len() {
        return None;
    }
    // What a buffer's other dimensions hold is one room: it stays inside if it does along each.
    let inside =
        shape.iter().zip(&view.indices).rev().enumerate().all(|(place, (&size, &index))| {
            let extent = extents.iter().rev().nth(place).copied().unwrap_or(1);
            number(index).is_none_or(|begin| begin as u64 + extent <= size)
        });
    inside.then_some(0)
}
