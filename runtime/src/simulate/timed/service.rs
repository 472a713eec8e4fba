//! The time of operations: on their engines, in memories, and until they are ready.

use std::collections::BTreeMap;

use super::super::functional::Numbers;
use super::super::machine::{Machine, MemoryId, Scope};
use super::super::prepare::{By, Ready, Site, SiteKind};
use super::super::program::Code;
use super::cache::{self, Cache};
use super::demand::{Demand, Demands};
use super::report::{Count, MemoryUse, MoveUse, Report};
use super::scoreboard::Scoreboard;
use super::{Base, TICKS, Tick, ticks};
use crate::plan::Plan;

/// Granules of memories that all units share.
const SHARED_GRANULE: u64 = 64;

/// The memories of a run in simulated time.
pub(super) struct Service<'c> {
    machine: &'c Machine,
    units: usize,
    /// The cluster of each unit.
    clusters: Vec<u32>,
    /// The memory of a cluster in which arguments may lie, and the first region there.
    near: Option<(MemoryId, u32)>,
    /// Per kernel of the code and site.
    sites: Vec<Vec<SiteState>>,
    /// Per memory and unit, when it is free; of a shared one, the first counts, and of that of a
    /// cluster the one of its number.
    free: Vec<Tick>,
    /// Per memory of the machine and unit, then per region of the plan.
    scoreboards: Vec<Scoreboard>,
    memories: Vec<MemoryUse>,
    /// Per step of the plan, bytes of the memory that all units share.
    shared_bytes: Vec<u64>,
    moves: Vec<MoveUse>,
    counts: BTreeMap<By, u64>,
    /// Per memory, the caches in front of it.
    levels: Vec<Vec<MemoryId>>,
    /// Per memory and unit.
    caches: Vec<Option<Cache>>,
    names: Vec<String>,
    /// The demand of one operation on each memory.
    asked: Vec<Asked>,
}

#[derive(Default)]
struct SiteState {
    demands: Vec<Demands>,
    name: u32,
}

#[derive(Clone, Copy)]
struct Asked {
    memory: MemoryId,
    bytes: u64,
    conflicts: u64,
}

impl<'c> Service<'c> {
    pub fn new(code: &'c Code, plan: &Plan, kernels: &[&Ready<'c>]) -> Service<'c> {
        let machine = &code.machine;
        let units = plan.units as usize;
        let memories = machine.memories.len();
        let mut service = Service {
            machine,
            units,
            clusters: (0..plan.units)
                .map(|unit| plan.cluster_of(unit, machine.cluster_units))
                .collect(),
            near: machine.cluster_memory().zip(Some(Numbers::new(code, plan).clusters)),
            sites: (0..code.kernels.len()).map(|_| Vec::new()).collect(),
            free: vec![0; memories * units],
            scoreboards: Vec::new(),
            memories: machine
                .memories
                .iter()
                .map(|memory| MemoryUse {
                    name: memory.name.clone(),
                    capacity_bytes: memory.capacity_bytes,
                    ..MemoryUse::default()
                })
                .collect(),
            shared_bytes: vec![0; plan.steps.len()],
            moves: machine
                .moves
                .iter()
                .map(|way| MoveUse { name: way.name.clone(), ..MoveUse::default() })
                .collect(),
            counts: BTreeMap::new(),
            levels: (0..memories as MemoryId).map(|m| cache::levels(machine, m)).collect(),
            caches: vec![None; memories * units],
            names: Vec::new(),
            asked: Vec::new(),
        };
        let mut runs = vec![0u64; memories];
        for site in kernels.iter().flat_map(|ready| &ready.sites) {
            // The plan may name a kernel twice.
            if service.sites[site.kernel as usize].len() > site.number as usize {
                continue;
            }
            let name = site.name(machine);
            let known = service.names.iter().position(|other| *other == name);
            let name = known.unwrap_or_else(|| {
                service.names.push(name);
                service.names.len() - 1
            });
            let mut demands = Vec::new();
            for side in &site.sides {
                let run = &mut runs[side.memory as usize];
                *run = gcd(*run, side.area.run);
                demands.push(Demands::new(&machine.memories[side.memory as usize]));
            }
            // Behind those, what the operands ask where they lie in the memory of a cluster.
            if let Some((near, _)) = service.near {
                let near = || Demands::new(&machine.memories[near as usize]);
                demands.extend(site.sides.iter().map(|_| near()));
            }
            service.sites[site.kernel as usize].push(SiteState { demands, name: name as u32 });
        }
        for (memory, run) in machine.memories.iter().zip(runs) {
            // The largest power of two that every piece is a multiple of.
            let granule = if memory.scope.is_global() {
                SHARED_GRANULE
            } else {
                1 << run.trailing_zeros().min(6)
            };
            service.scoreboards.extend((0..units).map(|_| Scoreboard::new(granule)));
        }
        // The two arenas, constants, ports, and the arenas of clusters.
        let regions = 3 + plan.inputs.len() + plan.outputs.len() + plan.clusters as usize;
        service.scoreboards.extend((0..regions).map(|_| Scoreboard::new(SHARED_GRANULE)));
        service
    }

    /// Its name, by number.
    pub fn name(&self, site: &Site) -> u32 {
        self.sites[site.kernel as usize][site.number as usize].name
    }

    /// Names by number.
    pub fn take_names(&mut self) -> Vec<String> {
        std::mem::take(&mut self.names)
    }

    fn board(&self, unit: u32, region: u32) -> usize {
        let memories = self.machine.memories.len();
        let region = region as usize;
        match self.machine.memories.get(region) {
            Some(memory) if memory.scope.is_global() => region * self.units,
            Some(_) => region * self.units + unit as usize,
            None => memories * self.units + region - memories,
        }
    }

    fn instance(&self, unit: u32, memory: MemoryId) -> usize {
        let own = match self.machine.memories[memory as usize].scope {
            Scope::Device | Scope::Host => 0,
            Scope::Cluster if self.machine.cluster_units > 0 => self.clusters[unit as usize],
            _ => unit,
        };
        memory as usize * self.units + own as usize
    }

    /// Returns the memory that holds an operand of `memory`.
    fn home(&self, memory: MemoryId, base: &Base) -> MemoryId {
        match self.near {
            Some((near, first)) if base.region >= first => near,
            _ => memory,
        }
    }

    /// Returns the time at which everything that an operation reads and overwrites is ready.
    #[inline]
    pub fn ready(&self, unit: u32, site: &Site, bases: &[Base]) -> Tick {
        let sides = site.sides.iter().zip(bases);
        let ready = sides.map(|(side, base)| {
            self.scoreboards[self.board(unit, base.region)].ready(&side.area, base.at)
        });
        ready.max().unwrap_or(0)
    }

    /// Sets the time at which the results of an operation are ready.
    #[inline]
    pub fn set_ready(&mut self, unit: u32, site: &Site, bases: &[Base], at: Tick) {
        for (side, base) in site.sides.iter().zip(bases) {
            if side.uses.writes() {
                let board = self.board(unit, base.region);
                self.scoreboards[board].set(&side.area, base.at, at);
            }
        }
    }

    /// Begins an operation of a step: how long its engine is busy, and when its result is ready.
    pub fn perform(
        &mut self,
        (unit, step): (u32, u32),
        site: &Site,
        bases: &[Base],
        now: Tick,
    ) -> (Tick, Tick) {
        self.count(site);
        self.asked.clear();
        for (number, (side, base)) in site.sides.iter().zip(bases).enumerate() {
            let memory = self.home(side.memory, base);
            let facts = &self.machine.memories[memory as usize];
            let state = &mut self.sites[site.kernel as usize][site.number as usize];
            let behind = if memory == side.memory { 0 } else { site.sides.len() };
            let demand = state.demands[behind + number].at(facts, &side.area, base.at);
            if site.engine.is_none() && !self.levels[memory as usize].is_empty() {
                self.through_caches(unit, memory, site, number, *base);
                continue;
            }
            for writes in [false, true] {
                if if writes { side.uses.writes() } else { side.uses.reads() } {
                    self.ask(memory, demand, writes);
                }
            }
        }
        if let SiteKind::Apply(apply) = &site.kind {
            // One element a lane of each table, wherever it lies.
            let lanes = site.sides.iter().map(|side| side.area.bytes() / side.area.elem).max();
            for &(memory, elem) in &apply.table_elements {
                let bytes = lanes.unwrap_or(1) * elem;
                self.ask(memory, Demand { bytes, conflicts: 0 }, false);
            }
        }
        let issue = ticks(site.cost.issue_cycles);
        let mut duration = issue;
        if let Some(rate) = site.cost.bytes_per_cycle {
            duration = duration.max(passing(site.sides[0].area.bytes(), rate));
        }
        for i in 0..self.asked.len() {
            let Asked { memory, bytes, conflicts } = self.asked[i];
            if memory == self.machine.shared {
                self.shared_bytes[step as usize] += bytes;
            }
            let rate = self.machine.memories[memory as usize].bytes_per_cycle;
            let need = rate.map_or(0, |rate| passing(bytes, rate)) + conflicts * TICKS;
            if need > 0 {
                let instance = self.instance(unit, memory);
                let end = self.free[instance].max(now) + need;
                self.free[instance] = end;
                duration = duration.max(end - now);
            }
        }
        let latency = site.cost.latency_cycles * TICKS;
        (duration, now + latency.max(issue) + duration - issue)
    }

    fn ask(&mut self, memory: MemoryId, demand: Demand, writes: bool) {
        let used = &mut self.memories[memory as usize];
        if writes {
            used.written_bytes += demand.bytes;
        } else {
            used.read_bytes += demand.bytes;
        }
        used.bank_conflict_cycles += demand.conflicts;
        let (bytes, conflicts) = (demand.bytes, demand.conflicts);
        match self.asked.iter_mut().find(|asked| asked.memory == memory) {
            Some(asked) => {
                asked.bytes += bytes;
                asked.conflicts += conflicts;
            }
            None => self.asked.push(Asked { memory, bytes, conflicts }),
        }
    }

    /// Every line comes from the innermost cache that has it, through those before.
    fn through_caches(
        &mut self,
        unit: u32,
        memory: MemoryId,
        site: &Site,
        side: usize,
        base: Base,
    ) {
        let side = &site.sides[side];
        let inner = self.levels[memory as usize][0];
        let line = cache::line_bytes(self.machine, inner);
        let writes = side.uses.writes();
        let mut last = u64::MAX;
        // The nearest cache gives what is asked for, and everything behind it whole lines.
        let near = Demand { bytes: side.area.bytes(), conflicts: 0 };
        for (direction, does) in [(false, side.uses.reads()), (true, writes)] {
            if does {
                self.ask(inner, near, direction);
            }
        }
        for &start in &side.area.starts {
            let begin = base.at.wrapping_add_signed(start);
            for piece in begin / line..=(begin + side.area.run - 1) / line {
                if piece == last {
                    continue;
                }
                last = piece;
                // Regions are apart in the address space of the memory.
                let address = (u64::from(base.region) << 44) + piece * line;
                for level in 0..self.levels[memory as usize].len() {
                    let at = self.levels[memory as usize][level];
                    let instance = self.instance(unit, at);
                    let cache =
                        self.caches[instance].get_or_insert_with(|| Cache::new(self.machine, at));
                    if cache.touch(address / cache.line_bytes) {
                        break;
                    }
                    let behind = self.levels[memory as usize].get(level + 1).copied();
                    let behind = behind.unwrap_or(memory);
                    self.ask(behind, Demand { bytes: line, conflicts: 0 }, writes);
                }
            }
        }
    }

    fn count(&mut self, site: &Site) {
        if let By::Move(way) = site.cost.by {
            let used = &mut self.moves[way as usize];
            used.count += 1;
            used.bytes += site.sides[0].area.bytes();
        } else {
            *self.counts.entry(site.cost.by).or_default() += 1;
        }
    }

    /// Bytes of the memory that all units share that a step has read and written.
    pub fn shared_bytes(&self, step: usize) -> u64 {
        self.shared_bytes[step]
    }

    /// Fills in traffic and counts.
    pub fn report(&mut self, report: &mut Report) {
        report.memories = std::mem::take(&mut self.memories);
        report.moves = std::mem::take(&mut self.moves);
        let name = |by: &By| match *by {
            By::Move(way) => self.machine.moves[way as usize].name.clone(),
            By::Instruction(i) => self.machine.instructions[i as usize].name.clone(),
            By::Lanes { unit, combines } => {
                let what = if combines { "combine" } else { "apply" };
                format!("{}.{what}", self.machine.lanes[unit as usize].name)
            }
        };
        let counts = self.counts.iter();
        report.instructions = counts.map(|(by, &count)| Count { name: name(by), count }).collect();
    }
}

/// Ticks in which some bytes pass, rounded up.
fn passing(bytes: u64, bytes_per_cycle: u64) -> Tick {
    (u128::from(bytes) * u128::from(TICKS)).div_ceil(u128::from(bytes_per_cycle)) as Tick
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
