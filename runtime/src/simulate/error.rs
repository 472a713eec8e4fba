//! Errors of a simulation.

use std::fmt;

use crate::vm::VmError;

/// The step, rTask and operation of an event in a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpLocation {
    /// The kernel's symbol.
    pub kernel: String,
    /// Index of the operation in the kernel's body, then in each body inside; those of
    /// `otherwise` count on from those of `then`.
    pub path: Vec<u32>,
    /// The operation as text names it.
    pub op: String,
    /// The step of the plan.
    pub step: u32,
    /// The operator whose step it is.
    pub operator: String,
    /// The unit.
    pub unit: u32,
    /// The rTask.
    pub task: u64,
}

impl fmt::Display for OpLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kernel @{}, operation ", self.kernel)?;
        for (i, index) in self.path.iter().enumerate() {
            let dot = if i > 0 { "." } else { "" };
            write!(f, "{dot}{index}")?;
        }
        write!(
            f,
            ", {} (rTask {}, step {} {:?} on unit {})",
            self.op, self.task, self.step, self.operator, self.unit
        )
    }
}

/// Bytes of a buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bytes {
    /// The buffer's name in messages.
    pub buffer: String,
    /// Its memory.
    pub memory: String,
    /// The first byte, in the buffer.
    pub begin: i64,
    /// The one after the last.
    pub end: i64,
    /// Size of its elements.
    pub element_bytes: u64,
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = self.element_bytes.max(1) as i64;
        if self.begin % unit == 0 && self.end % unit == 0 {
            let (begin, end) = (self.begin / unit, self.end / unit);
            write!(f, "elements {begin} to {end} of {} in {}", self.buffer, self.memory)
        } else {
            let (begin, end) = (self.begin, self.end);
            write!(f, "bytes {begin} to {end} of {} in {}", self.buffer, self.memory)
        }
    }
}

/// Why a simulation was refused or stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs)]
pub enum SimulateError {
    #[error("the simulated code cannot be decoded: {0}")]
    Decode(String),
    #[error("the simulated code is wrong: {0}")]
    Code(String),
    #[error("the meaning of {what} is not one that the interpreter runs")]
    Meaning {
        what: String,
        #[source]
        error: VmError,
    },
    #[error("the plan calls kernel @{symbol}, which the code does not hold")]
    Kernel { symbol: String },
    #[error(
        "step {step} gives kernel @{kernel} {found} buffers of {found_bytes:?} bytes; its arguments have {expected:?} bytes"
    )]
    Arguments { step: u32, kernel: String, found: usize, found_bytes: Vec<u64>, expected: Vec<u64> },
    #[error(
        "the plan has {units} units and @{machine} has {found}\n  help: compile with --units {found}"
    )]
    Units { units: u64, machine: String, found: u64 },
    #[error(
        "the plan has {clusters} clusters of {units} units, and @{machine} has {found} that share a memory\n  help: compile for that machine"
    )]
    Clusters { clusters: u32, units: u64, machine: String, found: u64 },
    #[error(
        "step {step} on unit {unit} of cluster {cluster} is given buffer {buffer}, which is in the memory of another cluster\n  help: a unit reaches the memory of its own cluster only"
    )]
    Reach { step: u32, unit: u32, cluster: u32, buffer: u32 },
    #[error("the model has {expected} {kind}s and was given {found}")]
    Count { kind: &'static str, expected: usize, found: usize },
    #[error("{kind} `{name}` has {expected} bytes and was given {found}")]
    Size { kind: &'static str, name: String, expected: u64, found: u64 },
    #[error("{place} reads {bytes}, which nothing has written\n  help: copy or fill them first")]
    Unwritten { place: Box<OpLocation>, bytes: Box<Bytes> },
    #[error(
        "{place} touches {bytes}; the buffer has {shape:?} elements\n  help: the indices {indices:?} and the extent {extent:?} must stay inside"
    )]
    Outside {
        place: Box<OpLocation>,
        bytes: Box<Bytes>,
        shape: Vec<u64>,
        indices: Vec<i64>,
        extent: Vec<u64>,
    },
    #[error(
        "{place} uses {bytes}, which does not exist here\n  help: a device.alloc before it, in the same body or one around it"
    )]
    NotAllocated { place: Box<OpLocation>, bytes: Box<Bytes> },
    #[error(
        "{place} takes {wanted_bytes} bytes of {memory}, of which {taken_bytes} of {capacity_bytes} are taken\n  help: a smaller tile, or an earlier end of what is alive"
    )]
    Capacity {
        place: Box<OpLocation>,
        memory: String,
        wanted_bytes: u64,
        taken_bytes: u64,
        capacity_bytes: u64,
    },
    #[error(
        "the plan's buffers need {wanted_bytes} bytes of {memory}, which has {capacity_bytes}\n  help: a smaller model or a larger machine"
    )]
    PlanCapacity { memory: String, wanted_bytes: u64, capacity_bytes: u64 },
    #[error(
        "{place} {does} {bytes}, which {other} still {other_does} on engine {engine}\n  help: wait for its token first"
    )]
    Race {
        place: Box<OpLocation>,
        does: &'static str,
        bytes: Box<Bytes>,
        other: String,
        other_does: &'static str,
        engine: String,
    },
    #[error(
        "{place} is given to engine {engine}, and its rTask ends without a wait for its token\n  help: wait for it before the buffers that it works on end"
    )]
    NeverWaited { place: Box<OpLocation>, engine: String },
    #[error(
        "{place} waits for token {token}, which no operation of the rTask has given\n  help: the operation that gives it must run first"
    )]
    NotGiven { place: Box<OpLocation>, token: u32 },
    #[error(
        "{place} {does} {bytes}, which step {other} {other_operator:?} on unit {other_unit} {other_does}, and no wait orders the two\n  help: step {step} must wait for step {other}, or for one that does",
        step = place.step
    )]
    Unordered {
        place: Box<OpLocation>,
        does: &'static str,
        bytes: Box<Bytes>,
        other: u32,
        other_operator: String,
        other_unit: u32,
        other_does: &'static str,
    },
    #[error(
        "{place} reads {bytes} as buffer {buffer}, but step {other} {other_operator:?} wrote them as buffer {other_buffer}\n  help: the two buffers are alive at once and must not overlap in the arena"
    )]
    Overlap {
        place: Box<OpLocation>,
        bytes: Box<Bytes>,
        buffer: u32,
        other: u32,
        other_operator: String,
        other_buffer: u32,
    },
    #[error(
        "{place} {does} {bytes}, which lanes of the {group} have {other_does} since the last barrier\n  help: a device.barrier \"{group}\" between the two"
    )]
    Barrier {
        place: Box<OpLocation>,
        does: &'static str,
        bytes: Box<Bytes>,
        other_does: &'static str,
        group: &'static str,
    },
    #[error(
        "{place} writes {bytes}, which is read only\n  help: write an output or a buffer of the arena"
    )]
    ReadOnly { place: Box<OpLocation>, bytes: Box<Bytes> },
    #[error("deadlock: {}\n  help: every step and token that is waited for must be reachable", waiting.join("; "))]
    Deadlock { waiting: Vec<String> },
    #[error("{place}: {error}")]
    Arithmetic {
        place: Box<OpLocation>,
        #[source]
        error: VmError,
    },
    #[error("{place} has no result: {what}")]
    Index { place: Box<OpLocation>, what: String },
    #[error("no memory for {memory} of the simulated machine, {bytes} bytes")]
    Memory { memory: String, bytes: u64 },
}
