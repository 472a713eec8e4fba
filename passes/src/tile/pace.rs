//! Time of a kernel, from what one unit issues, moves and waits for.
//!
//! ```text
//! threads      cycles · waves / rTasks                          waves = ⌈rTasks / units⌉
//! lanes        max(the same, bytes / a unit's share of the memory that all see,
//!                  waves · steps · latency / 2)                 waves = ⌈rTasks / (units · groups)⌉
//! ```
//!
//! If registers are spread over lanes the policy's cycles are what is issued: a unit takes
//! turns with several groups of lanes, so that what each waits for passes unseen while there are
//! enough of them (`block/choose.rs` counts the same).

use weft_dialects::device::{Machine, Memory, Move};

use super::way::{beside, way};
use crate::cost::home::{Beside, room};

/// The number of units and groups of lanes, their bandwidth and their waiting times.
pub(super) struct Pace {
    /// Number of units.
    pub units: u64,
    /// Groups of lanes that a unit has under way, one of which goes on while others wait.
    pub at_once: u64,
    handover: f64,
    /// Bandwidth of the shared memory per unit, in bytes a cycle, when several units use it.
    pub bandwidth: f64,
    /// Cycles that a group of lanes waits for a step's data from there, two being under way.
    pub shared_wait: f64,
    /// The same for data from where tiles wait.
    pub local_wait: f64,
    /// Cycles until another kernel sees what was written.
    written: f64,
    /// Cycles that a launch takes, where kernels are launched one after the other.
    launch: f64,
    /// Cycles between the tiles of two members of a group.
    pub member: f64,
}

impl Pace {
    /// For tiles that wait in `memory`; `None` where the machine lacks units or ways to it.
    pub fn of<'c>(machine: Machine<'c>, memory: &str) -> Option<Self> {
        let unit = machine.units().into_iter().next()?;
        let lanes = machine.lanes_units().into_iter().next()?;
        let (registers, member) = (lanes.memory(), lanes.member_cycles());
        let (units, handover) = (unit.count(), unit.handover_cycles() as f64);
        // Behind a cache the policy sees what comes from afar; where tiles are staged, nobody else does.
        let staged = way(machine, registers).is_some_and(|way| way.stage.is_some());
        let rate = machine.shared().and_then(|shared| shared.bytes_per_cycle()).filter(|_| staged);
        let (bandwidth, at_once) =
            (rate.map_or(f64::INFINITY, |rate| rate as f64 / units as f64), 1);
        let launch = unit.launch_cycles().unwrap_or(0) as f64;
        let pace = Self {
            units,
            at_once,
            handover,
            bandwidth,
            shared_wait: 0.0,
            local_wait: 0.0,
            written: 0.0,
            launch,
            member,
        };
        if machine.memory(registers)?.lanes().is_none() {
            return Some(pace);
        }
        let (shared, way) = (machine.shared()?, way(machine, registers)?);
        let [local, _] = beside(machine, memory, registers)?;
        let latency = |way: &Move<'c>| way.latency_cycles().unwrap_or(0) as f64;
        Some(Self {
            at_once: unit.groups(),
            bandwidth: shared
                .bytes_per_cycle()
                .map_or(bandwidth, |rate| rate as f64 / units as f64),
            shared_wait: latency(&way.load) / 2.0,
            local_wait: latency(&local) / 2.0,
            written: latency(&way.store),
            ..pace
        })
    }

    /// Bytes of a unit's memory that tiles of one group may take: of all that are under way, or
    /// the half, for the rest is for what streams by.
    pub fn room(&self, memory: &Memory<'_>) -> u64 {
        match self.at_once {
            1 => room(memory, Beside::Stream),
            groups => memory.kernel_bytes().min(memory.capacity_bytes() / groups),
        }
    }

    /// Cycles of one unit that issues for so many, and moves so many bytes.
    pub fn alone(&self, cycles: f64, bytes: u64) -> f64 {
        cycles.max(bytes as f64 / self.bandwidth)
    }

    /// Cycles of all units for what takes one of them `cycles`, in `tasks` whose lanes wait for
    /// `waits` each, and for the launch. A run that is worth it is shared out among the units, which then
    /// wait for each other.
    pub fn time(&self, cycles: f64, tasks: u64, waits: f64) -> f64 {
        let waves = tasks.div_ceil(self.units * self.at_once);
        let rounds = (waves * self.at_once) as f64 / tasks as f64;
        let shared_out = match cycles > self.handover {
            true => (cycles * rounds).max(waves as f64 * waits) + self.handover / 2.0,
            false => cycles.max(waits),
        };
        shared_out + self.written + self.launch
    }

    /// Cycles of one unit that lie between two kernels.
    pub fn between(&self) -> f64 {
        self.handover + (self.shared_wait + self.written + self.launch) * self.units as f64
    }
}
