//! A machine as plain data: the facts of its file, with references as indices.

use serde::{Deserialize, Serialize};

use crate::vm::{Program, Ty};

/// Index into [`Machine::memories`].
pub type MemoryId = u32;

/// Index into [`Machine::engines`].
pub type EngineId = u32;

/// A machine, as far as a program on it can tell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// The name of the execution unit that programs run on.
    pub unit: String,
    /// Number of units.
    pub units: u64,
    /// Number of consecutive units in a cluster, which share its memory; 0 where
    /// there are no clusters.
    pub cluster_units: u64,
    /// Million cycles a second, where the file says.
    pub clock_mhz: Option<u64>,
    /// From the end of a step until one on another unit that waits for it begins.
    pub wait_cycles: u64,
    /// Cycles of a launch before its first steps begin.
    pub launch_cycles: u64,
    /// Memories, caches and register files.
    pub memories: Vec<Memory>,
    /// The memory that holds kernel arguments.
    pub shared: MemoryId,
    /// The engines of a unit; one of each per unit.
    pub engines: Vec<Engine>,
    /// Ways between memories.
    pub moves: Vec<Move>,
    /// Instructions.
    pub instructions: Vec<Instruction>,
    /// Units that apply scalar operations lane by lane.
    pub lanes: Vec<LaneUnit>,
}

impl Machine {
    /// The memory of a cluster that may hold arguments of kernels.
    pub fn cluster_memory(&self) -> Option<MemoryId> {
        let near =
            |memory: &Memory| memory.scope == Scope::Cluster && memory.within == Some(self.shared);
        let found = self.memories.iter().position(near);
        found.filter(|_| self.cluster_units > 0).map(|place| place as MemoryId)
    }

    /// Returns whether what moves to or from `end` reaches what lies in `memory`: one may lie
    /// within the other.
    pub(super) fn reaches(&self, end: MemoryId, memory: MemoryId) -> bool {
        let within = |one: MemoryId, other| self.memories[one as usize].within == Some(other);
        end == memory || within(end, memory) || within(memory, end)
    }
}

/// The units or threads that share a memory, from the fewest to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[allow(missing_docs)]
pub enum Scope {
    Thread,
    Warp,
    Warpgroup,
    Core,
    Cluster,
    Device,
    Host,
}

impl Scope {
    /// The name in text.
    pub fn name(self) -> &'static str {
        match self {
            Scope::Thread => "thread",
            Scope::Warp => "warp",
            Scope::Warpgroup => "warpgroup",
            Scope::Core => "core",
            Scope::Cluster => "cluster",
            Scope::Device => "device",
            Scope::Host => "host",
        }
    }

    /// Returns whether all units see one memory of this scope.
    pub fn is_global(self) -> bool {
        matches!(self, Scope::Device | Scope::Host)
    }
}

/// A memory, a cache or a register file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// The units or threads that share it.
    pub scope: Scope,
    /// Capacity in bytes.
    pub capacity_bytes: u64,
    /// Bandwidth in bytes a cycle; unlimited without it.
    pub bytes_per_cycle: Option<u64>,
    /// The fewest bytes that one access moves.
    pub transaction_bytes: Option<u64>,
    /// Number of banks.
    pub banks: Option<u64>,
    /// Width of a bank in bytes.
    pub bank_bytes: Option<u64>,
    /// Size of one register, of a register file.
    pub register_bytes: Option<u64>,
    /// Elements of a register of any type, in a register file with lanes.
    pub lanes: Option<u64>,
    /// The memory that it is a cache of.
    pub caches: Option<MemoryId>,
    /// The memory among whose addresses its own are.
    pub within: Option<MemoryId>,
}

/// Something that runs beside a unit, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// Its name.
    pub name: String,
    /// Operations that can wait for it while it works.
    pub queue: u64,
}

/// A way from one memory to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Move {
    /// Its name.
    pub name: String,
    /// The memory it reads.
    pub source: MemoryId,
    /// The memory it writes.
    pub target: MemoryId,
    /// The engine that executes it asynchronously, if one does.
    pub engine: Option<EngineId>,
    /// Rate in bytes a cycle.
    pub bytes_per_cycle: Option<u64>,
    /// Cycles between two of them.
    pub issue_cycles: Option<f64>,
    /// Cycles until what was moved is there.
    pub latency_cycles: u64,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instruction {
    /// Its name.
    pub name: String,
    /// The engine that executes it asynchronously, if one does.
    pub engine: Option<EngineId>,
    /// Cycles between two of them.
    pub issue_cycles: f64,
    /// Cycles until the results are there.
    pub latency_cycles: u64,
    /// The meaning of the instruction.
    pub meaning: Meaning,
}

/// The computation of an instruction, on dense row-major operands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Meaning {
    /// The operands, which are the first inputs of the program.
    pub operands: Vec<Operand>,
    /// The program; its outputs overwrite the last operands.
    pub program: Program,
    /// The values of the inputs after the operands, the same in every run.
    pub constants: Vec<Vec<u8>>,
}

/// An operand of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Operand {
    /// The memory that holds it.
    pub memory: MemoryId,
    /// Type of an element.
    pub ty: Ty,
    /// Extents, outermost first.
    pub shape: Vec<u64>,
}

/// A unit that applies scalar operations to every lane of a register.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LaneUnit {
    /// Its name.
    pub name: String,
    /// Cycles between two operations on one register.
    pub issue_cycles: f64,
    /// Cycles until the result is there.
    pub latency_cycles: u64,
}

impl Meaning {
    /// The first operand that is overwritten.
    pub fn first_result(&self) -> usize {
        self.operands.len().saturating_sub(self.program.outputs.len())
    }
}
