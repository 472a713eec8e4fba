//! From a `task.program` to the plan that the runtime follows.
//!
//! ```text
//! task.range "conv1" @conv[0 to 14] on 0(%x, %w, %y) after(%t0)
//!   ->  Step { unit: 0, kernel: conv, begin: 0, end: 14, buffers: [x, w, y], waits: [..] }
//! ```
//!
//! Tokens name every dependence; a step names only the waits that the order of its
//! unit and its other waits do not keep anyway. Constants that some range reads
//! get a place in the constants; the list of their sources says how to make them.

mod ports;
mod sources;

use std::collections::HashMap;
use std::rc::Rc;

use weft_dialects::device::{self, Machine, Scope};
use weft_dialects::finds::Find;
use weft_dialects::ir::{Op, Type, Val, ty};
use weft_dialects::repeat::{self, Repeat};
use weft_dialects::{lengths, task};
use weft_runtime::length::Length;
use weft_runtime::plan::{
    ALIGN, Alias, Base, Buffer, CodeKind, Kernel, Lengths, Loop, Moved, Plan, PlanError, Port,
    Share, Shift, Step,
};

use crate::arch;
use ports::ports;
use sources::Sources;
pub use sources::{ConstantSource, ConstantValue};

/// A plan, and how to make its constants.
#[derive(Clone, Debug)]
pub struct Planned<'c> {
    /// The schedule that the runtime follows.
    pub plan: Plan,
    /// In an order in which they can be made, without those that are not needed.
    pub constants: Vec<ConstantSource<'c>>,
}

/// Why a program has no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanningError {
    /// An element type that the runtime's callers do not know.
    #[error("the {kind} `{name}` has elements of type {elem}, which no caller can give or take")]
    Type {
        /// `input` or `output`.
        kind: &'static str,
        /// Its name.
        name: String,
        /// The element type.
        elem: String,
    },
    /// A body with buffers elsewhere than in the memory that the device shares.
    #[error(
        "the body `{0}` has buffers in memory of the host or of clusters, and nothing repeats that"
    )]
    Repeated(String),
    /// A program that its verifier would refuse.
    #[error("{0} is not as the verifier of task.program wants it")]
    Broken(String),
    /// A plan that breaks the runtime's rules.
    #[error("the plan is not one that the runtime follows")]
    Plan(#[from] PlanError),
}

/// The plan of `program`, to run on `machine`.
///
/// The caller fills in `build`, and what kernels are lent, once their code is known.
///
/// # Errors
/// The program is none that passes its verifier, or its types have no name outside.
pub fn plan<'c>(
    program: &task::Program<'c>,
    machine: Machine<'c>,
) -> Result<Planned<'c>, PlanningError> {
    let ops = program.body.ops();
    let bodies = repeat::bodies(program.op).into_iter();
    let bodies = bodies.filter_map(|own| Some((task::Program::of(own.op)?, own)));
    let bodies: Vec<_> = bodies.collect();
    // In the order of the text, for that of the constants follows from it.
    let inside = bodies.iter().flat_map(|(body, _)| body.body.ops());
    // A plan has no clusters if they run nothing and their memory is unused.
    let by_cluster = |range: &task::Range<'_>| range.unit >= program.units;
    let used = program.cluster_arena > 0 || program.ranges().iter().any(by_cluster);
    let clusters = program.clusters(machine).filter(|_| used);
    let clusters = clusters.map_or(0, |clusters| clusters.count());
    let units = program.units + clusters;
    let mut planner = Planner {
        machine,
        plan: Plan {
            name: program.name.to_owned(),
            units: units as u32,
            clusters: clusters as u32,
            cluster_bytes: program.cluster_arena,
            arena_bytes: program.arena,
            host_bytes: program.host_arena,
            moved: program
                .moved
                .iter()
                .map(|&(name, bytes)| Moved { name: name.to_owned(), bytes })
                .collect(),
            cpu_features: machine.features().into_iter().map(str::to_owned).collect(),
            device: machine.name().to_owned(),
            code: match arch::is_native(machine) {
                true => CodeKind::Native,
                false => CodeKind::Simulated,
            },
            ..Plan::default()
        },
        sources: Sources::of(&ops.iter().copied().chain(inside).collect::<Vec<_>>())?,
        frame: Frame { args: Vec::new(), arena: 0, end: program.arena },
        first: 0,
        bodies: bodies.iter().map(|own| (own.0.name, own.clone())).collect(),
        places: HashMap::new(),
        buffers: HashMap::new(),
        kernels: HashMap::new(),
        names: HashMap::new(),
        device_kernels: device_kernels(program),
        tables: HashMap::new(),
        steps: HashMap::new(),
        clocks: Vec::new(),
        last: vec![None; units as usize],
        fence: vec![Rc::from([]); units as usize],
        clock_mhz: machine.units().first().and_then(|unit| unit.clock_mhz()),
    };
    planner.plan.inputs = ports("input", &ops, &program.input_types)?;
    planner.plan.outputs = ports("output", &ops, &program.output_types)?;
    planner.plan.lengths = port_lengths(program, &planner.plan);
    let outputs = ops.iter().filter_map(|&op| task::Port::output(op));
    let alias = |port: task::Port<'_>| {
        Some(Alias { input: port.within? as u32, output: port.index as u32 })
    };
    planner.plan.aliases = outputs.filter_map(alias).collect();
    planner.plan.constant_bytes = planner.sources.bytes;
    for op in ops {
        planner.statement(op)?;
    }
    let steps = planner.plan.steps.len() as u32;
    planner.plan.launches.retain(|&step| step < steps);
    planner.plan.validate()?;
    Ok(Planned { plan: planner.plan, constants: planner.sources.list })
}

/// The kernels around a program that are code.
fn device_kernels<'c>(program: &task::Program<'c>) -> HashMap<&'c str, device::Kernel<'c>> {
    let around = program.op.block().map(|block| block.ops()).unwrap_or_default().into_iter();
    let kernels = around.filter_map(device::Kernel::of);
    kernels.map(|kernel| (kernel.name, kernel)).collect()
}

/// The symbols of a program, and the lengths of its ports.
fn port_lengths(program: &task::Program<'_>, plan: &Plan) -> Lengths {
    let all = lengths::of_ports(program.op);
    let of = |ports: &[Port], lengths: &[Vec<Option<Length>>]| {
        let own = ports.iter().zip(lengths);
        let whole = |extent: &u64| Length::number(*extent as i64);
        let of_port = |(port, lengths): (&Port, &Vec<Option<Length>>)| {
            let dims = port.shape.iter().zip(lengths);
            dims.map(|(extent, own)| own.clone().unwrap_or_else(|| whole(extent))).collect()
        };
        own.map(of_port).collect::<Vec<Vec<Length>>>()
    };
    let (inputs, outputs) = all.split_at(all.len().min(plan.inputs.len()));
    let fixed = all.is_empty() && repeat::bodies(program.op).is_empty();
    let symbols = if fixed { Vec::new() } else { lengths::symbols(program.op) };
    let (inputs, outputs) = (of(&plan.inputs, inputs), of(&plan.outputs, outputs));
    Lengths { symbols, inputs, outputs, ..Lengths::default() }
}

fn broken(op: Op<'_>) -> PlanningError {
    PlanningError::Broken(op.text())
}

/// Bytes of a buffer's type.
fn bytes(op: Op<'_>, ty: Type<'_>) -> Result<u64, PlanningError> {
    let elem = ty::elem(ty).and_then(ty::byte_size);
    let bytes = elem.zip(ty::count(ty)).and_then(|(elem, count)| elem.checked_mul(count));
    bytes.ok_or_else(|| broken(op))
}

/// Where a body finds what it works on.
struct Frame {
    /// What it is given.
    args: Vec<Buffer>,
    /// Where its arena begins, and ends.
    arena: u64,
    end: u64,
}

struct Planner<'c> {
    machine: Machine<'c>,
    bodies: HashMap<&'c str, (task::Program<'c>, Repeat<'c>)>,
    /// Of the program that is planned.
    frame: Frame,
    /// The first step behind the last place where all units wait for each other.
    first: u32,
    plan: Plan,
    sources: Sources<'c>,
    /// The buffers behind values and their views.
    places: HashMap<Val<'c>, Buffer>,
    buffers: HashMap<Buffer, u32>,
    kernels: HashMap<&'c str, u32>,
    names: HashMap<&'c str, u32>,
    /// Kernels that are code, by name.
    device_kernels: HashMap<&'c str, device::Kernel<'c>>,
    /// The buffer of lengths that a kernel reads, by its name.
    tables: HashMap<&'c str, Option<u32>>,
    /// By token.
    steps: HashMap<Val<'c>, u32>,
    /// For each step and unit, how many steps of the unit are done when the step is.
    clocks: Vec<Vec<u32>>,
    /// The last step of each unit so far.
    last: Vec<Option<u32>>,
    /// For each unit what its next step waits for: the last steps before the last launch.
    fence: Vec<Rc<[u32]>>,
    /// Of the units, where the machine says so.
    clock_mhz: Option<u64>,
}

impl<'c> Planner<'c> {
    fn statement(&mut self, op: Op<'c>) -> Result<(), PlanningError> {
        if let Some(range) = task::Range::of(op) {
            return match self.bodies.get(range.kernel).cloned() {
                Some((body, repeat)) => self.repeat(&range, &body, &repeat),
                None => self.step(&range),
            };
        }
        if let Some(find) = Find::of(op) {
            return self.find(&find);
        }
        if op.is("task.launch") {
            self.launch();
            return Ok(());
        }
        for value in op.results() {
            if let Some(buffer) = self.place(op, value)? {
                self.places.insert(value, buffer);
            }
        }
        Ok(())
    }

    /// Returns the buffer of a value; `None` for a constant that is not stored.
    fn place(&self, op: Op<'c>, value: Val<'c>) -> Result<Option<Buffer>, PlanningError> {
        if op.is("task.view") {
            return Ok(self.places.get(&task::viewed(value)).copied());
        }
        let port = task::Port::input(op).map(|port| Some(port.index));
        let port = port.or_else(|| task::Port::output(op).map(|port| port.within));
        if let Some(input) = port.filter(|_| op.parent().and_then(Repeat::of).is_some()) {
            let place = input.and_then(|input| self.frame.args.get(input as usize));
            return place.copied().map(Some).ok_or_else(|| broken(op));
        }
        let (base, offset) = if let Some(port) = task::Port::input(op) {
            let own = |alias: &&Alias| u64::from(alias.input) == port.index;
            let alias = self.plan.aliases.iter().find(own);
            (alias.map_or(Base::Input(port.index as u32), |alias| Base::Output(alias.output)), 0)
        } else if let Some(port) = task::Port::output(op) {
            (Base::Output(port.index as u32), 0)
        } else if let Some(buffer) = task::Buffer::of(op) {
            let memory = self.machine.memory(buffer.memory);
            let on_host = memory.is_some_and(|memory| memory.scope() == Scope::Host);
            match buffer.cluster {
                Some(cluster) => (Base::Cluster(cluster as u32), buffer.offset),
                None if on_host => (Base::Host, buffer.offset),
                None => (Base::Arena, self.frame.arena + buffer.offset),
            }
        } else {
            let source = self.sources.of.get(&value).map(|&source| &self.sources.list[source]);
            match source.and_then(|source| source.offset) {
                Some(offset) => (Base::Constant, offset),
                None => return Ok(None),
            }
        };
        Ok(Some(Buffer { base, offset, bytes: bytes(op, value.ty())? }))
    }

    fn step(&mut self, range: &task::Range<'c>) -> Result<(), PlanningError> {
        let unit = range.unit as usize;
        if unit >= self.last.len() {
            return Err(broken(range.op));
        }
        let number = self.plan.steps.len() as u32;
        let shifts = lengths::shifts(range.op, range.buffers.len());
        let seen = range.buffers.iter().zip(&range.at).zip(shifts);
        let buffers = seen.map(|((&value, &at), shift)| match shift {
            Some(shift) => {
                self.shifted(range.op, value, &shift.plus(&Length::number(at as i64), 1))
            }
            None => self.buffer(range.op, value, at),
        });
        let buffers: Vec<u32> = buffers.collect::<Result<_, _>>()?;
        let waits = range.waits.iter().map(|wait| self.steps.get(wait).copied());
        let mut waits = waits.collect::<Option<Vec<_>>>().ok_or_else(|| broken(range.op))?;
        waits.extend(self.fence[unit].iter());
        waits.retain(|wait| *wait >= self.first);
        self.fence[unit] = Rc::from([]);
        let waits = self.reduce(number, unit, waits);
        let buffers = buffers.into_iter().chain(self.lengths_of(range.kernel)).collect();
        let (kernels, names) = (&mut self.plan.kernels, &mut self.plan.ops);
        let kernel = *self.kernels.entry(range.kernel).or_insert_with(|| {
            kernels.push(Kernel { symbol: range.kernel.to_owned(), scratch_bytes: 0 });
            kernels.len() as u32 - 1
        });
        let op = *self.names.entry(range.name).or_insert_with(|| {
            names.push(range.name.to_owned());
            names.len() as u32 - 1
        });
        let (begin, end) = (range.begin, range.end);
        let least_ps = range.cycles.zip(self.clock_mhz.filter(|&mhz| mhz > 0));
        let least_ps = least_ps.map_or(0, |(cycles, mhz)| cycles.saturating_mul(1_000_000) / mhz);
        self.plan.least_ps.push(least_ps);
        self.share(number, range)?;
        self.plan.steps.push(Step { unit: unit as u32, kernel, begin, end, buffers, waits, op });
        self.steps.insert(range.token(), number);
        Ok(())
    }

    /// Plans what is repeated, with all units in step in front of it and behind it.
    fn repeat(
        &mut self,
        range: &task::Range<'c>,
        body: &task::Program<'c>,
        repeat: &Repeat<'c>,
    ) -> Result<(), PlanningError> {
        if body.host_arena > 0 || body.cluster_arena > 0 {
            return Err(PlanningError::Repeated(body.name.to_owned()));
        }
        let args = range.buffers.iter().map(|value| self.places.get(value).copied());
        let args: Vec<_> = args.collect::<Option<_>>().ok_or_else(|| broken(range.op))?;
        let symbols = &self.plan.lengths.symbols;
        let symbol = symbols.iter().position(|symbol| symbol.name == repeat.round);
        let symbol = symbol.ok_or_else(|| broken(body.op))? as u32;
        let arena = self.frame.end.next_multiple_of(ALIGN);
        let state = body.input_types.len().checked_sub(body.output_types.len());
        let state = range.buffers.get(state.ok_or_else(|| broken(body.op))?);
        let condition = state.filter(|_| repeat.conditional);
        let condition = condition.map(|state| self.buffer(range.op, *state, 0)).transpose()?;
        let frame = Frame { args, arena, end: arena + body.arena };
        self.plan.arena_bytes = self.plan.arena_bytes.max(frame.end);
        let outer = std::mem::replace(&mut self.frame, frame);
        let first = self.meet();
        // One around another comes first, also where both have the same steps.
        let number = self.plan.lengths.loops.len();
        let rounds = repeat.rounds.clone();
        self.plan.lengths.loops.push(Loop { first, end: first, symbol, rounds, condition });
        for op in body.body.ops() {
            self.statement(op)?;
        }
        self.frame = outer;
        let end = self.meet();
        self.steps.insert(range.token(), first);
        match first < end {
            true => self.plan.lengths.loops[number].end = end,
            false => self.plan.lengths.loops.truncate(number),
        }
        Ok(())
    }

    /// All units wait for each other: what was before is done. Returns the number of the next step.
    fn meet(&mut self) -> u32 {
        self.first = self.plan.steps.len() as u32;
        self.last.fill(None);
        self.first
    }

    /// The buffer of the lengths that a kernel reads, if it reads some.
    fn lengths_of(&mut self, kernel: &'c str) -> Option<u32> {
        if let Some(known) = self.tables.get(kernel) {
            return *known;
        }
        let read = self.device_kernels.get(kernel).and_then(device::Kernel::lengths_read);
        let read: Vec<Length> = read?.iter().filter_map(|text| text.parse().ok()).collect();
        let table = &mut self.plan.lengths.table;
        let place = Buffer {
            base: Base::Lengths,
            offset: table.len() as u64 * 8,
            bytes: read.len() as u64 * 8,
        };
        let any = !read.is_empty();
        table.extend(read);
        let number = any.then(|| {
            self.plan.buffers.push(place);
            self.plan.buffers.len() as u32 - 1
        });
        self.tables.insert(kernel, number);
        number
    }

    /// Lets a step do its share of the rTasks that there are in a run.
    fn share(&mut self, step: u32, range: &task::Range<'c>) -> Result<(), PlanningError> {
        let Some([part, parts]) = range.part else { return Ok(()) };
        let tasks = match self.device_kernels.get(range.kernel) {
            // How many there are follows from code: before there is any, as many as there may be.
            None => Length::number(range.end as i64),
            Some(kernel) => {
                let tasks = kernel.length.and_then(|text| text.parse().ok());
                tasks.ok_or_else(|| broken(range.op))?
            }
        };
        let (part, parts) = (part as u32, parts as u32);
        self.plan.lengths.shares.push(Share { step, tasks, part, parts });
        Ok(())
    }

    /// Lets a name stand for what a step has calculated.
    fn find(&mut self, find: &Find<'c>) -> Result<(), PlanningError> {
        let step = find.after.and_then(|token| self.steps.get(&token)).copied();
        let symbols = &self.plan.lengths.symbols;
        let symbol = symbols.iter().position(|symbol| symbol.name == find.symbol);
        let (step, symbol) = step.zip(symbol).ok_or_else(|| broken(find.op))?;
        let buffer = self.buffer(find.op, find.count, 0)?;
        let find = weft_runtime::plan::Find { step, symbol: symbol as u32, buffer };
        self.plan.lengths.finds.push(find);
        Ok(())
    }

    /// Begins a launch: what follows waits for everything before.
    fn launch(&mut self) {
        let next = self.plan.steps.len() as u32;
        if next == self.plan.launches.last().copied().unwrap_or(0) {
            return;
        }
        self.plan.launches.push(next);
        let before: Rc<[u32]> = self.last.iter().copied().flatten().collect();
        self.fence.fill(before);
    }

    /// The number of a buffer, or of what lies in it from element `at` on. The whole one is
    /// listed too: it says that a kernel may take its rest for one of its type.
    fn buffer(&mut self, op: Op<'c>, value: Val<'c>, at: u64) -> Result<u32, PlanningError> {
        if at > 0 {
            self.buffer(op, value, 0)?;
        }
        let mut place = *self.places.get(&value).ok_or_else(|| broken(op))?;
        let skipped = ty::elem(value.ty()).and_then(ty::byte_size).unwrap_or(0) * at;
        let left = place.bytes.checked_sub(skipped).ok_or_else(|| broken(op))?;
        (place.offset, place.bytes) = (place.offset + skipped, left);
        let buffers = &mut self.plan.buffers;
        Ok(*self.buffers.entry(place).or_insert_with(|| {
            buffers.push(place);
            buffers.len() as u32 - 1
        }))
    }

    /// The number of a buffer that begins so many elements further on in a run.
    fn shifted(&mut self, op: Op<'c>, value: Val<'c>, by: &Length) -> Result<u32, PlanningError> {
        let whole = self.buffer(op, value, 0)?;
        let size = ty::elem(value.ty()).and_then(ty::byte_size).unwrap_or(0);
        let bytes = by.times(&Length::number(size as i64));
        let same = |own: &Shift| {
            self.plan.buffers[own.buffer as usize] == self.plan.buffers[whole as usize]
                && own.bytes == bytes
        };
        if let Some(known) = self.plan.lengths.shifts.iter().find(|own| same(own)) {
            return Ok(known.buffer);
        }
        let place = self.plan.buffers[whole as usize];
        self.plan.buffers.push(place);
        let buffer = self.plan.buffers.len() as u32 - 1;
        self.plan.lengths.shifts.push(Shift { buffer, bytes });
        Ok(buffer)
    }

    /// Keeps the waits that neither the unit's order nor a later wait implies.
    fn reduce(&mut self, number: u32, unit: usize, mut waits: Vec<u32>) -> Vec<u32> {
        let mut clock = match self.last[unit] {
            Some(before) => self.clocks[before as usize].clone(),
            None => vec![0; self.last.len()],
        };
        waits.sort_unstable();
        waits.dedup();
        let mut kept = Vec::new();
        for &wait in waits.iter().rev() {
            let done = &self.clocks[wait as usize];
            let other = self.plan.steps[wait as usize].unit as usize;
            if clock[other] >= done[other] {
                continue;
            }
            for (own, done) in clock.iter_mut().zip(done) {
                *own = (*own).max(*done);
            }
            kept.push(wait);
        }
        kept.reverse();
        clock[unit] += 1;
        self.clocks.push(clock);
        self.last[unit] = Some(number);
        kept
    }
}
