//! The functional half: a program's results, and all its errors.

mod reports;
mod sites;

pub(super) use reports::{deadlock, fault};

use std::collections::VecDeque;

use reports::{BufferAccess, does};

use crate::plan::{Base, Plan};
use crate::simulate::error::SimulateError;
use crate::simulate::flights::{Extent, Flights};
use crate::simulate::frames::{self, ApplyScratch, Frame};
use crate::simulate::lanes::Lanes;
use crate::simulate::machine::Scope;
use crate::simulate::order::Order;
use crate::simulate::prepare::{Inst, Ready, ReadyMeaning};
use crate::simulate::program::Code;
use crate::simulate::ranges::Ranges;
use crate::simulate::regions::{Bits, Data, Region};
use crate::simulate::walker::{Home, Stop, Walker};

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
            Base::Lengths => unreachable!("only native code has lengths"),
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
}
