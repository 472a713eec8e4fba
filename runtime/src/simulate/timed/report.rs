//! What a timed run found, as JSON.

use serde::Serialize;

/// Times and counts of one run; nothing in it depends on the machine that simulates.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The simulated machine.
    pub device: String,
    /// Cycles from the first step's begin to the last one's end.
    pub cycles: f64,
    /// The same in microseconds, where the machine has a clock.
    pub microseconds: Option<f64>,
    /// Traffic and room, per memory.
    pub memories: Vec<MemoryUse>,
    /// Traffic per move.
    pub moves: Vec<MoveUse>,
    /// How busy each unit and its engines were; without units that did nothing.
    pub units: Vec<UnitUse>,
    /// How often each instruction, apply and combine ran.
    pub instructions: Vec<Count>,
}

/// What a memory did.
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
    /// How much there is.
    pub capacity_bytes: u64,
}

/// What a move moved.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct MoveUse {
    /// Its name.
    pub name: String,
    /// How often.
    pub count: u64,
    /// How much.
    pub bytes: u64,
}

/// How busy a unit was.
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

/// How busy an engine was.
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

/// How often something ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Count {
    /// Its name.
    pub name: String,
    /// How often.
    pub count: u64,
}
