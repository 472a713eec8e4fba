//! The report of a timed run, as JSON.

use serde::Serialize;

/// Times and counts of one run; nothing in it depends on the machine that simulates.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The simulated machine.
    pub device: String,
    /// Cycles from the first step's begin to the last one's end.
    pub cycles: f64,
    /// The time in microseconds, if the machine has a clock.
    pub microseconds: Option<f64>,
    /// Traffic and used bytes, per memory.
    pub memories: Vec<MemoryUse>,
    /// Traffic per move.
    pub moves: Vec<MoveUse>,
    /// Busy cycles of each unit and its engines; without units that did nothing.
    pub units: Vec<UnitUse>,
    /// Number of times that each instruction, apply and combine ran.
    pub instructions: Vec<Count>,
    /// What each operator of the model took, in the order of the plan.
    pub operators: Vec<OperatorUse>,
}

/// The time and traffic of an operator of the model in one kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct OperatorUse {
    /// Its name; for a kernel of several, all names.
    pub name: String,
    /// The kernel that does it.
    pub kernel: String,
    /// Number of steps, of all units.
    pub steps: u64,
    /// When its first step begins.
    pub begin_cycles: f64,
    /// When its last step is done.
    pub end_cycles: f64,
    /// Cycles from the begin to the end of each step, of all units together.
    pub unit_cycles: f64,
    /// Bytes read and written of the memory that all units share, in whole transactions.
    pub shared_bytes: u64,
}

/// The use of a memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MemoryUse {
    /// Its name.
    pub name: String,
    /// Bytes read, in whole transactions.
    pub read_bytes: u64,
    /// Bytes written, in whole transactions.
    pub written_bytes: u64,
    /// Cycles lost to elements in one bank.
    pub bank_conflict_cycles: u64,
    /// The most that was taken of it: by all, or by one unit where each has its own.
    pub peak_bytes: u64,
    /// Capacity in bytes.
    pub capacity_bytes: u64,
}

/// The use of a move.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MoveUse {
    /// Its name.
    pub name: String,
    /// Number of times.
    pub count: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// The use of a unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct UnitUse {
    /// Its number.
    pub unit: u32,
    /// Cycles in which it issued.
    pub busy_cycles: f64,
    /// Their share of all.
    pub occupancy: f64,
    /// Its engines.
    pub engines: Vec<EngineUse>,
}

/// The use of an engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EngineUse {
    /// Its name.
    pub name: String,
    /// Operations that it did.
    pub operations: u64,
    /// Cycles in which it worked.
    pub busy_cycles: f64,
    /// Their share of all.
    pub occupancy: f64,
}

/// Number of times that something ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Count {
    /// Its name.
    pub name: String,
    /// Number of times.
    pub count: u64,
}
