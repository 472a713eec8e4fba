//! The functional half: a program's results, and all its errors.

use std::collections::VecDeque;

use super::error::{Bytes, OpLocation, SimulateError};
use super::flights::{Extent, Flights};
use super::frames::{self, ApplyScratch, Frame};
use super::lanes::Lanes;
use super::machine::{MemoryId, Scope};
use super::order::{Clash, Order};
use super::prepare::{Apply, Inst, Ready, ReadyMeaning, Side, Site, SiteKind};
use super::program::Code;
use super::ranges::Ranges;
use super::regions::{Bits, Data, Region};
use super::walker::{Fault, Home, Stop, Token, Walker};
use crate::plan::{Base, Plan};

/// Runs a plan on a simulated machine, with its data.
pub(super) struct Functional<'r, 'c> {
    code: &'c Code,
    plan: &'c Plan,
    /// Per kernel of the plan.
    kernels: &'r [&'r Ready<'c>],
    meanings: &'r [ReadyMeaning<'c>],
    regions: Vec<Region<'r>>,
    walker: Walker,
    flights: Flights,
    order: Order<'c>,
    lanes: Lanes,
    /// The bytes that the step has read and written, per argument.
    touched: Vec<[Touched; 2]>,
    /// Bytes of each region that the step has written so far: who reads them reads its own.
    own: Vec<Bits>,
    frames: Vec<Frame>,
    work: ApplyScratch,
    buffer: Vec<u8>,
    extents: Vec<Extent>,
    step: u32,
    task: u64,
}

/// Bytes of a buffer of the plan, and the first operation that touched any.
#[derive(Debug, Default)]
struct Touched {
    ranges: Ranges,
    first: u32,
}

/// Numbers of the regions after the memories of the machine.
pub(super) struct Numbers {
    pub arena: u32,
    pub host: u32,
    pub constants: u32,
    pub inputs: u32,
    pub outputs: u32,
    pub clusters: u32,
}

impl Numbers {
    pub fn new(code: &Code, plan: &Plan) -> Numbers {
        let arena = code.machine.memories.len() as u32;
        let (host, constants, inputs) = (arena + 1, arena + 2, arena + 3);
        let outputs = inputs + plan.inputs.len() as u32;
        let clusters = outputs + plan.outputs.len() as u32;
        Numbers { arena, host, constants, inputs, outputs, clusters }
    }

    /// Returns the home of a buffer of the plan.
    pub fn home(&self, plan: &Plan, buffer: u32) -> Home {
        let buffer = &plan.buffers[buffer as usize];
        let region = match buffer.base {
            Base::Input(i) => self.inputs + i,
            Base::Output(i) => self.outputs + i,
            Base::Constant => self.constants,
            Base::Arena => self.arena,
            Base::Host => self.host,
            Base::Cluster(i) => self.clusters + i,
        };
        Home { region, begin: buffer.offset, bytes: buffer.bytes }
    }
}

/// The data of a run.
pub(super) struct RunData<'r, 'i> {
    pub constants: &'r [u8],
    pub inputs: &'i [&'r [u8]],
    /// Where results go.
    pub outputs: Vec<&'r mut [u8]>,
}

/// What a step does to a buffer of the plan.
struct BufferAccess {
    /// Its argument that the buffer is.
    argument: usize,
    buffer: u32,
    writes: bool,
}

impl<'r, 'c> Functional<'r, 'c> {
    /// A run on data that has the sizes that the plan says.
    pub fn new(
        code: &'c Code,
        plan: &'c Plan,
        kernels: &'r [&'r Ready<'c>],
        meanings: &'r [ReadyMeaning<'c>],
        data: RunData<'r, '_>,
    ) -> Result<Self, SimulateError> {
        let RunData { constants, inputs, outputs } = data;
        let mut regions = Vec::new();
        for _ in &code.machine.memories {
            let data = Data::Own(Vec::new());
            regions.push(Region { data, written: Some(Bits::default()) });
        }
        let arena = |bytes: u64, name: &str| {
            let data = Data::Own(Vec::new());
            let mut arena = Region { data, written: Some(Bits::default()) };
            arena.grow(bytes, name).map(|()| arena)
        };
        regions.push(arena(plan.arena_bytes, "the arena")?);
        regions.push(arena(plan.host_bytes, "the host arena")?);
        regions.push(Region { data: Data::Read(constants), written: None });
        let given = inputs.iter().map(|bytes| Region { data: Data::Read(bytes), written: None });
        regions.extend(given);
        for bytes in outputs {
            let written = Some(Bits::of(bytes.len() as u64));
            regions.push(Region { data: Data::Write(bytes), written });
        }
        for _ in 0..plan.clusters {
            regions.push(arena(plan.cluster_bytes, "the arena of a cluster")?);
        }
        let own = regions.iter().map(|region| Bits::of(region.bytes().len() as u64)).collect();
        Ok(Functional {
            code,
            plan,
            kernels,
            meanings,
            regions,
            walker: Walker::new(&code.machine),
            flights: Flights::default(),
            order: Order::new(plan),
            lanes: Lanes::new(code.machine.memories.len()),
            touched: Vec::new(),
            own,
            frames: meanings.iter().zip(&code.machine.instructions).map(frames::meaning).collect(),
            work: ApplyScratch::default(),
            buffer: Vec::new(),
            extents: Vec::new(),
            step: 0,
            task: 0,
        })
    }

    /// Runs every step, in an order that the waits allow.
    pub fn run(&mut self) -> Result<(), SimulateError> {
        let plan = self.plan;
        let mut queues = vec![VecDeque::new(); plan.units as usize];
        for (number, step) in plan.steps.iter().enumerate() {
            queues[step.unit as usize].push_back(number as u32);
        }
        let mut done = vec![false; plan.steps.len()];
        loop {
            let mut progress = false;
            for queue in &mut queues {
                while let Some(&step) = queue.front() {
                    let waits = &plan.steps[step as usize].waits;
                    if !waits.iter().all(|&wait| done[wait as usize]) {
                        break;
                    }
                    self.run_step(step)?;
                    done[step as usize] = true;
                    queue.pop_front();
                    progress = true;
                }
            }
            if queues.iter().all(VecDeque::is_empty) {
                return Ok(());
            }
            if !progress {
                let heads = queues.iter().filter_map(|queue| queue.front().copied());
                let missing = |&w: &u32| !done[w as usize];
                return Err(deadlock(plan, heads, missing));
            }
        }
    }

    fn run_step(&mut self, number: u32) -> Result<(), SimulateError> {
        let step = &self.plan.steps[number as usize];
        let ready = self.kernels[step.kernel as usize];
        self.step = number;
        self.order.begin(number);
        let numbers = Numbers::new(self.code, self.plan);
        let homes: Vec<Home> = step.buffers.iter().map(|&b| numbers.home(self.plan, b)).collect();
        self.walker.enter(ready, &homes);
        self.touched.resize_with(homes.len().max(self.touched.len()), Default::default);
        self.touched.iter_mut().flatten().for_each(|touched| touched.ranges.clear());
        for task in step.begin..step.end {
            self.run_task(ready, task)?;
        }
        self.settle(ready, &numbers, &homes)?;
        self.order.end(number);
        Ok(())
    }

    /// Holds what the step touched against what other steps did.
    fn settle(
        &mut self,
        ready: &Ready<'c>,
        numbers: &Numbers,
        homes: &[Home],
    ) -> Result<(), SimulateError> {
        for (argument, home) in homes.iter().enumerate() {
            let near = home.region >= numbers.clusters;
            let arena = near || [numbers.arena, numbers.host].contains(&home.region);
            if !arena && home.region < numbers.outputs {
                continue;
            }
            let buffer = self.plan.steps[self.step as usize].buffers[argument];
            for writes in [false, true] {
                let touched = &mut self.touched[argument][writes as usize];
                if touched.ranges.is_empty() {
                    continue;
                }
                let ranges = touched.ranges.finish();
                let clash = if writes {
                    for &(begin, end) in ranges {
                        self.own[home.region as usize].clear(begin, end);
                    }
                    self.order.write(self.step, home.region, buffer, ranges)
                } else {
                    self.order.read(self.step, home.region, buffer, arena, ranges)
                };
                if let Some(clash) = clash {
                    let site = &ready.sites[touched.first as usize];
                    let access = BufferAccess { argument, buffer, writes };
                    return Err(self.clash(ready, site, access, clash));
                }
            }
        }
        Ok(())
    }

    fn run_task(&mut self, ready: &Ready<'c>, task: u64) -> Result<(), SimulateError> {
        self.task = task;
        self.walker.begin(ready, task);
        self.flights.begin(self.code.machine.engines.len());
        let wide = ready.kernel.group == Scope::Warpgroup;
        if wide {
            self.lanes.barrier();
        }
        loop {
            let stop = match self.walker.next(ready, &self.code.machine) {
                Ok(stop) => stop,
                Err(fault) => return Err(self.fault(ready, fault)),
            };
            match stop {
                Stop::Site(number) => {
                    self.site(ready, number, wide)?;
                }
                Stop::Wait(at) => self.wait(ready, at)?,
                Stop::Barrier(at) => {
                    if let Inst::Barrier(scope) = &ready.code[at as usize]
                        && wide
                        && *scope >= ready.kernel.group
                    {
                        self.lanes.barrier();
                    }
                }
                Stop::Alloc(memref, _) => {
                    let facts = &ready.kernel.memrefs[memref as usize];
                    let home = self.walker.homes[memref as usize];
                    let region = &mut self.regions[home.region as usize];
                    let end = home.begin + facts.bytes();
                    region.grow(end, &self.code.machine.memories[home.region as usize].name)?;
                    if let Some(bits) = &mut region.written {
                        bits.clear(home.begin, end);
                    }
                    if wide {
                        self.lanes.grow(home.region, end);
                    }
                }
                Stop::Free(memref, at) => {
                    if self.flights.count > 0 {
                        self.free(ready, memref, at)?;
                    }
                }
                Stop::End => break,
            }
        }
        if let Some((engine, flight)) = self.flights.oldest() {
            let site = &ready.sites[flight.site as usize];
            return Err(SimulateError::NeverWaited {
                place: self.place(ready, site.at),
                engine: self.code.machine.engines[engine as usize].name.clone(),
            });
        }
        Ok(())
    }

    fn wait(&mut self, ready: &Ready<'c>, at: u32) -> Result<(), SimulateError> {
        let Inst::Wait(tokens) = &ready.code[at as usize] else { return Ok(()) };
        for &token in tokens {
            let Some(given) = self.walker.tokens[token as usize] else {
                return Err(SimulateError::NotGiven { place: self.place(ready, at), token });
            };
            self.flights.done(given.engine, given.number);
        }
        Ok(())
    }

    /// Ends a buffer: no operation may work on it any more.
    fn free(&mut self, ready: &Ready<'c>, memref: u32, at: u32) -> Result<(), SimulateError> {
        let home = self.walker.freed;
        let end = home.begin + ready.kernel.memrefs[memref as usize].bytes();
        let Some((engine, flight)) = self.flights.touching(home.region, home.begin, end) else {
            return Ok(());
        };
        let writes = flight.extents.iter().any(|e| e.region == home.region && e.writes);
        Err(SimulateError::Race {
            place: self.place(ready, at),
            does: "ends",
            bytes: Box::new(self.bytes_at(ready, memref, home, home.begin, end)),
            other: self.label(ready, flight.site),
            other_does: does(writes),
            engine: self.code.machine.engines[engine as usize].name.clone(),
        })
    }

    /// One operation on data.
    fn site(&mut self, ready: &Ready<'c>, number: u32, wide: bool) -> Result<(), SimulateError> {
        let site = &ready.sites[number as usize];
        self.extents.clear();
        for (i, side) in site.sides.iter().enumerate() {
            let Some(offset) = self.walker.offset(side) else {
                return Err(self.outside(ready, site, side));
            };
            let home = self.walker.homes[side.memref as usize];
            if home == Home::NOWHERE {
                return Err(self.nowhere(ready, site.at, side.memref));
            }
            let base = home.begin.wrapping_add_signed(offset);
            let writes = side.uses.writes();
            self.extents.push(Extent::new(home.region, base, i as u32, &side.area, writes));
            if writes && self.regions[home.region as usize].is_read_only() {
                let bytes = self.touched_bytes(ready, side, base);
                let place = self.place(ready, site.at);
                return Err(SimulateError::ReadOnly { place, bytes: Box::new(bytes) });
            }
            if side.memref < ready.kernel.arguments {
                self.note(side, number, home.region, base);
            }
        }
        if self.flights.count > 0
            && let Some(found) =
                self.flights.conflict(&ready.sites, site.engine, site, &self.extents)
        {
            let side = &site.sides[found.extent.side as usize];
            return Err(SimulateError::Race {
                place: self.place(ready, site.at),
                does: does(found.extent.writes),
                bytes: Box::new(self.bytes(ready, side.memref, found.begin, found.end)),
                other: self.label(ready, found.site),
                other_does: does(found.other_writes),
                engine: self.code.machine.engines[found.engine as usize].name.clone(),
            });
        }
        if wide {
            self.across_lanes(ready, site)?;
        }
        self.check_written(ready, site)?;
        self.perform(ready, site, number)?;
        for (side, extent) in site.sides.iter().zip(&self.extents) {
            if !extent.writes {
                continue;
            }
            if let Some(bits) = &mut self.regions[extent.region as usize].written {
                for &start in &side.area.starts {
                    let begin = extent.base.wrapping_add_signed(start);
                    bits.set(begin, begin + side.area.run);
                }
            }
        }
        if let Some(engine) = site.engine {
            let number = self.flights.give(engine, number, &self.extents);
            if let Some(token) = site.token {
                self.walker.tokens[token as usize] = Some(Token { engine, number });
            }
        }
        Ok(())
    }

    /// Remembers which bytes of an argument are touched; not those that it reads where it wrote.
    fn note(&mut self, side: &Side, number: u32, region: u32, base: u64) {
        let own = &mut self.own[region as usize];
        for writes in [false, true] {
            if !(if writes { side.uses.writes() } else { side.uses.reads() }) {
                continue;
            }
            let touched = &mut self.touched[side.memref as usize][writes as usize];
            if touched.ranges.is_empty() {
                touched.first = number;
            }
            for &start in &side.area.starts {
                let begin = base.wrapping_add_signed(start);
                let end = begin + side.area.run;
                if writes {
                    own.set(begin, end);
                } else if own.first_clear(begin, end).is_none() {
                    continue;
                }
                touched.ranges.add(begin, end);
            }
        }
    }

    fn check_written(&self, ready: &Ready<'c>, site: &Site) -> Result<(), SimulateError> {
        for (side, extent) in site.sides.iter().zip(&self.extents) {
            let Some(bits) = &self.regions[extent.region as usize].written else { continue };
            if !side.uses.reads() {
                continue;
            }
            for &start in &side.area.starts {
                let begin = extent.base.wrapping_add_signed(start);
                let end = begin + side.area.run;
                if let Some(first) = bits.first_clear(begin, end) {
                    let last = bits.first_set(first, end).unwrap_or(end);
                    return Err(SimulateError::Unwritten {
                        place: self.place(ready, site.at),
                        bytes: Box::new(self.bytes(ready, side.memref, first, last)),
                    });
                }
            }
        }
        Ok(())
    }

    /// Checks accesses of a wide group's lanes to memory that other lanes of it see.
    fn across_lanes(&mut self, ready: &Ready<'c>, site: &Site) -> Result<(), SimulateError> {
        let memories = &self.code.machine.memories;
        let local = |region: u32| {
            memories.get(region as usize).is_some_and(|memory| memory.scope > Scope::Warp)
                && memories[region as usize].register_bytes.is_none()
        };
        for writes in [false, true] {
            for (side, extent) in site.sides.iter().zip(&self.extents) {
                let does_it = if writes { extent.writes } else { side.uses.reads() };
                if !does_it || !local(extent.region) {
                    continue;
                }
                let found = self.lanes.find(extent.region, &side.area, extent.base, !writes);
                if let Some((begin, end)) = found {
                    return Err(SimulateError::Barrier {
                        place: self.place(ready, site.at),
                        does: does(writes),
                        bytes: Box::new(self.bytes(ready, side.memref, begin, end)),
                        other_does: if writes { "read" } else { "written" },
                        group: ready.kernel.group.name(),
                    });
                }
            }
        }
        for (side, extent) in site.sides.iter().zip(&self.extents) {
            if local(extent.region) {
                if side.uses.reads() {
                    self.lanes.mark(extent.region, &side.area, extent.base, false);
                }
                if extent.writes {
                    self.lanes.mark(extent.region, &side.area, extent.base, true);
                }
            }
        }
        Ok(())
    }

    /// Does the work.
    fn perform(
        &mut self,
        ready: &Ready<'c>,
        site: &Site,
        number: u32,
    ) -> Result<(), SimulateError> {
        match &site.kind {
            SiteKind::Copy => {
                self.buffer.clear();
                let (from, to) = (&self.extents[0], &self.extents[1]);
                let source = self.regions[from.region as usize].bytes();
                frames::gather(source, &site.sides[0].area, from.base, &mut self.buffer);
                let target = self.regions[to.region as usize].bytes_mut();
                frames::scatter(target, &site.sides[1].area, to.base, &self.buffer);
                if let (Some(side), Some(rest)) = (site.sides.get(2), self.extents.get(2)) {
                    let target = self.regions[rest.region as usize].bytes_mut();
                    frames::fill(target, &side.area, rest.base, &[0; 8]);
                }
            }
            SiteKind::Fill { element } => {
                let to = &self.extents[0];
                let target = self.regions[to.region as usize].bytes_mut();
                frames::fill(target, &site.sides[0].area, to.base, element);
            }
            SiteKind::Invoke { instruction } => {
                let meaning = &self.meanings[*instruction as usize];
                let frame = &mut self.frames[*instruction as usize];
                frame.begin();
                for ((side, extent), tensor) in
                    site.sides.iter().zip(&self.extents).zip(&meaning.inputs)
                {
                    if let Some(tensor) = tensor {
                        let source = self.regions[extent.region as usize].bytes();
                        frame.put(*tensor, source, &side.area, extent.base);
                    }
                }
                let done = meaning.program.run_on(frame, &mut self.work.registers);
                let first = site.sides.len() - meaning.outputs.len();
                if let Err(error) = done {
                    let place = self.place(ready, site.at);
                    return Err(SimulateError::Arithmetic { place, error });
                }
                for (i, tensor) in meaning.outputs.iter().enumerate() {
                    let (side, to) = (&site.sides[first + i], &self.extents[first + i]);
                    let target = self.regions[to.region as usize].bytes_mut();
                    frames::scatter(target, &side.area, to.base, frame.get(*tensor));
                }
            }
            SiteKind::Apply(apply) => {
                let gone = |table: &&u32| self.walker.homes[**table as usize] == Home::NOWHERE;
                if let Some(&table) = apply.tables.iter().find(gone) {
                    return Err(self.nowhere(ready, site.at, table));
                }
                let (extents, walker) = (&self.extents[..], &self.walker);
                let applied = frames::Applied { apply, site, extents, ready, walker };
                applied.run(&mut self.regions, &mut self.work).map_err(|error| {
                    let place = self.place(ready, site.at);
                    SimulateError::Arithmetic { place, error }
                })?;
                self.tables(ready, site, number, apply)?;
            }
        }
        Ok(())
    }
}

/// Reads of bodies at addresses that they compute.
impl<'c> Functional<'_, 'c> {
    /// Holds what an apply looked at to the rules for everything that is read.
    fn tables(
        &mut self,
        ready: &Ready<'c>,
        site: &Site,
        number: u32,
        apply: &Apply,
    ) -> Result<(), SimulateError> {
        let views = site.sides.len();
        for i in 0..self.work.looked_at.len() {
            let (tensor, address) = self.work.looked_at[i];
            // The tensors after the views are tables; the last may hold indices.
            let Some(&memref) = apply.tables.get((tensor as usize).wrapping_sub(views)) else {
                continue;
            };
            let home = self.walker.homes[memref as usize];
            let elem = ready.kernel.memrefs[memref as usize].ty.bytes() as u64;
            let begin = home.begin + address as u64 * elem;
            let end = begin + elem;
            if let Some(bits) = &self.regions[home.region as usize].written
                && bits.first_clear(begin, end).is_some()
            {
                let place = self.place(ready, site.at);
                let bytes = Box::new(self.bytes(ready, memref, begin, end));
                return Err(SimulateError::Unwritten { place, bytes });
            }
            if self.flights.count > 0
                && let Some((engine, flight)) = self.flights.writing(home.region, begin, end)
            {
                return Err(SimulateError::Race {
                    place: self.place(ready, site.at),
                    does: does(false),
                    bytes: Box::new(self.bytes(ready, memref, begin, end)),
                    other: self.label(ready, flight.site),
                    other_does: does(true),
                    engine: self.code.machine.engines[engine as usize].name.clone(),
                });
            }
            if memref < ready.kernel.arguments {
                let touched = &mut self.touched[memref as usize][0];
                if touched.ranges.is_empty() {
                    touched.first = number;
                }
                touched.ranges.add(begin, end);
            }
        }
        Ok(())
    }
}

/// The texts of errors.
impl<'c> Functional<'_, 'c> {
    fn place(&self, ready: &Ready<'c>, at: u32) -> Box<OpLocation> {
        self::place(self.code, self.plan, ready, (self.step, self.task, at))
    }

    fn label(&self, ready: &Ready<'c>, site: u32) -> String {
        let place = self.place(ready, ready.sites[site as usize].at);
        let path: Vec<String> = place.path.iter().map(u32::to_string).collect();
        format!("operation {}, {}", path.join("."), place.op)
    }

    /// Bytes of a region as those of a buffer.
    fn bytes(&self, ready: &Ready<'c>, memref: u32, begin: u64, end: u64) -> Bytes {
        self.bytes_at(ready, memref, self.walker.homes[memref as usize], begin, end)
    }

    fn bytes_at(&self, ready: &Ready<'c>, memref: u32, home: Home, begin: u64, end: u64) -> Bytes {
        let facts = &ready.kernel.memrefs[memref as usize];
        let buffer = if memref < ready.kernel.arguments {
            let step = &self.plan.steps[self.step as usize];
            let buffer = step.buffers[memref as usize];
            let what = match self.plan.buffers[buffer as usize].base {
                Base::Input(i) => format!("input {:?}", self.plan.inputs[i as usize].name),
                Base::Output(i) => format!("output {:?}", self.plan.outputs[i as usize].name),
                Base::Constant => format!("constant buffer {buffer}"),
                Base::Arena => format!("arena buffer {buffer}"),
                Base::Host => format!("host buffer {buffer}"),
                Base::Cluster(i) => format!("buffer {buffer} of cluster {i}"),
            };
            format!("argument {memref} ({what})")
        } else {
            let shape: Vec<String> = facts.shape.iter().map(u64::to_string).collect();
            format!("buffer {memref} ({}x{})", shape.join("x"), facts.ty)
        };
        Bytes {
            buffer,
            memory: self.memory(facts.memory),
            begin: begin.wrapping_sub(home.begin) as i64,
            end: end.wrapping_sub(home.begin) as i64,
            element_bytes: facts.ty.bytes() as u64,
        }
    }

    /// A buffer is used where it does not exist.
    fn nowhere(&self, ready: &Ready<'c>, at: u32, memref: u32) -> SimulateError {
        let end = ready.kernel.memrefs[memref as usize].bytes();
        let home = Home { begin: 0, ..Home::NOWHERE };
        SimulateError::NotAllocated {
            place: self.place(ready, at),
            bytes: Box::new(self.bytes_at(ready, memref, home, 0, end)),
        }
    }

    fn memory(&self, memory: MemoryId) -> String {
        format!("@{}", self.code.machine.memories[memory as usize].name)
    }

    fn touched_bytes(&self, ready: &Ready<'c>, side: &Side, base: u64) -> Bytes {
        let at = |relative: i64| base.wrapping_add_signed(relative);
        self.bytes(ready, side.memref, at(side.area.low), at(side.area.high))
    }

    fn outside(&self, ready: &Ready<'c>, site: &Site, side: &Side) -> SimulateError {
        let indices: Vec<i64> =
            side.indices.iter().map(|&slot| self.walker.slots[slot as usize]).collect();
        let offset: i64 = indices.iter().zip(&side.strides).map(|(i, s)| i.wrapping_mul(*s)).sum();
        let home = self.walker.homes[side.memref as usize];
        let base = home.begin.wrapping_add_signed(offset);
        SimulateError::Outside {
            place: self.place(ready, site.at),
            bytes: Box::new(self.touched_bytes(ready, side, base)),
            shape: ready.kernel.memrefs[side.memref as usize].shape.clone(),
            indices,
            extent: side.extent.clone(),
        }
    }

    fn fault(&self, ready: &Ready<'c>, fault: Fault) -> SimulateError {
        let place = (self.step, self.task, self.walker.at as u32);
        self::fault(self.code, self.plan, ready, place, fault)
    }

    fn clash(
        &self,
        ready: &Ready<'c>,
        site: &Site,
        BufferAccess { argument, buffer, writes }: BufferAccess,
        clash: Clash,
    ) -> SimulateError {
        let place = self.place(ready, site.at);
        let operator = |step: u32| {
            let step = &self.plan.steps[step as usize];
            (self.plan.ops[step.op as usize].clone(), step.unit)
        };
        match clash {
            Clash::Unordered { other, writes: other_writes, begin, end } => {
                let (other_operator, other_unit) = operator(other);
                SimulateError::Unordered {
                    place,
                    does: does(writes),
                    bytes: Box::new(self.bytes(ready, argument as u32, begin, end)),
                    other,
                    other_operator,
                    other_unit,
                    other_does: does(other_writes),
                }
            }
            Clash::Overlap { other, buffer: other_buffer, begin, end } => SimulateError::Overlap {
                place,
                bytes: Box::new(self.bytes(ready, argument as u32, begin, end)),
                buffer,
                other,
                other_operator: operator(other).0,
                other_buffer,
            },
        }
    }
}

/// The position of a run: step, rTask, and index in the flat code.
type Now = (u32, u64, u32);

fn place(code: &Code, plan: &Plan, ready: &Ready<'_>, (step, task, at): Now) -> Box<OpLocation> {
    let facts = &plan.steps[step as usize];
    Box::new(OpLocation {
        kernel: ready.kernel.name.clone(),
        path: ready.paths.get(at as usize).cloned().unwrap_or_default(),
        op: ready.name(&code.machine, at as usize),
        step,
        operator: plan.ops[facts.op as usize].clone(),
        unit: facts.unit,
        task,
    })
}

/// Returns the error that stopped a walk.
pub(super) fn fault(
    code: &Code,
    plan: &Plan,
    ready: &Ready<'_>,
    now: Now,
    fault: Fault,
) -> SimulateError {
    let place = place(code, plan, ready, now);
    match fault {
        Fault::Index(what) => SimulateError::Index { place, what: what.to_owned() },
        Fault::Capacity { memory, wanted, taken } => {
            let memory = &code.machine.memories[memory as usize];
            SimulateError::Capacity {
                place,
                memory: format!("@{}", memory.name),
                wanted_bytes: wanted,
                taken_bytes: taken,
                capacity_bytes: memory.capacity_bytes,
            }
        }
    }
}

fn does(writes: bool) -> &'static str {
    if writes { "writes" } else { "reads" }
}

/// The waits of units that do not continue.
pub(super) fn deadlock(
    plan: &Plan,
    heads: impl Iterator<Item = u32>,
    missing: impl Fn(&u32) -> bool,
) -> SimulateError {
    let waiting = heads.map(|step| {
        let facts = &plan.steps[step as usize];
        let waits: Vec<String> =
            facts.waits.iter().filter(|w| missing(w)).map(|w| format!("step {w}")).collect();
        let operator = &plan.ops[facts.op as usize];
        format!("unit {} at step {step} {operator:?} waits for {}", facts.unit, waits.join(", "))
    });
    SimulateError::Deadlock { waiting: waiting.collect() }
}
