//! The `task` dialect: ranges of rTasks on virtual execution units, waits, buffers.

pub mod build;
mod forward;
mod order;
pub(crate) mod verify;

pub use order::written_arguments;

use crate::device::Machine;
use crate::ir::{Block, Context, Op, Type, Val, attr, parts, ty};

/// A whole model on a virtual device.
#[derive(Clone, Debug)]
pub struct Program<'c> {
    /// The `task.program`.
    pub op: Op<'c>,
    /// Its name.
    pub name: &'c str,
    /// The name of the machine's unit.
    pub unit: &'c str,
    /// Number of virtual units.
    pub units: u64,
    /// Bytes that all buffers together need in the memory that the device shares.
    pub arena: u64,
    /// Bytes of the buffers in memory of scope `host`.
    pub host_arena: u64,
    /// Bytes of the buffers in the memory of each cluster.
    pub cluster_arena: u64,
    /// Bytes that one run moves between the device's memory and the host's, by the name of the
    /// move.
    pub moved: Vec<(&'c str, u64)>,
    /// The graph types of the inputs.
    pub input_types: Vec<Type<'c>>,
    /// The graph types of the outputs.
    pub output_types: Vec<Type<'c>>,
    /// Buffers and ranges, in one order that satisfies every wait.
    pub body: Block<'c>,
}

impl<'c> Program<'c> {
    /// The view, where `op` is a `task.program`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("task.program") {
            return None;
        }
        let signature = op.attr("signature").and_then(attr::type_of)?;
        let (input_types, output_types) = ty::function(signature)?;
        Some(Self {
            op,
            name: op.symbol(),
            unit: op.attr("unit").and_then(attr::symbol)?,
            units: number(op, "units")?,
            arena: number(op, "arena")?,
            host_arena: number(op, "host_arena").unwrap_or(0),
            cluster_arena: number(op, "cluster_arena").unwrap_or(0),
            moved: moved(op),
            input_types,
            output_types,
            body: op.first_block(0)?,
        })
    }

    /// The clusters of its units, where `machine` has some.
    pub fn clusters(&self, machine: Machine<'_>) -> Option<Clusters> {
        let unit = machine.unit(self.unit)?;
        Some(Clusters { units: self.units, each: machine.cluster_units(&unit)? })
    }

    /// The ranges, in the order of the text.
    pub fn ranges(&self) -> Vec<Range<'c>> {
        self.body.iter().filter_map(Range::of).collect()
    }
}

/// The attribute `moved`: pairs of a move and bytes.
fn moved<'c>(op: Op<'c>) -> Vec<(&'c str, u64)> {
    let pairs = op.attr("moved").and_then(attr::array).unwrap_or_default().into_iter();
    let pair = |pair| {
        let [name, bytes] = <[_; 2]>::try_from(attr::array(pair)?).ok()?;
        Some((attr::symbol(name)?, u64::try_from(attr::int(bytes)?).ok()?))
    };
    pairs.filter_map(pair).collect()
}

/// The clusters of a program's units. Clusters are numbered after the units, and otherwise numbered
/// as units are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clusters {
    /// Number of units.
    pub units: u64,
    /// Number of units in one cluster.
    pub each: u64,
}

impl Clusters {
    /// Returns the number of clusters.
    pub fn count(&self) -> u64 {
        self.units.div_ceil(self.each)
    }

    /// The cluster of a unit, or that which the number stands for.
    pub fn of(&self, unit: u64) -> u64 {
        unit.checked_sub(self.units).unwrap_or(unit / self.each)
    }

    /// The number that stands for a cluster.
    pub fn number(&self, cluster: u64) -> u64 {
        self.units + cluster
    }
}

/// rTasks of one kernel, in order, on one unit.
#[derive(Clone, Debug)]
pub struct Range<'c> {
    /// The `task.range`.
    pub op: Op<'c>,
    /// The operator's name.
    pub name: &'c str,
    /// The name of the kernel.
    pub kernel: &'c str,
    /// The first rTask.
    pub begin: u64,
    /// The one after the last rTask.
    pub end: u64,
    /// Which of how many parts of all rTasks it does, where callers decide how many those are.
    pub part: Option<[u64; 2]>,
    /// The virtual unit.
    pub unit: u64,
    /// The kernel's arguments.
    pub buffers: Vec<Val<'c>>,
    /// For each of them the element from which the kernel sees it.
    pub at: Vec<u64>,
    /// The tokens that it waits for.
    pub waits: Vec<Val<'c>>,
    /// Cycles that it takes at least on one unit, where that is known.
    pub cycles: Option<u64>,
}

impl<'c> Range<'c> {
    /// The view, where `op` is a `task.range`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("task.range") {
            return None;
        }
        let [buffers, waits] = <[_; 2]>::try_from(op.segments()?).ok()?;
        Some(Self {
            op,
            name: op.attr("name").and_then(attr::string)?,
            kernel: op.attr("kernel").and_then(attr::symbol)?,
            begin: number(op, "begin")?,
            end: number(op, "end")?,
            part: number(op, "part").zip(number(op, "parts")).map(Into::into),
            unit: number(op, "unit")?,
            at: crate::tile::places(op, buffers.len()),
            buffers,
            waits,
            cycles: number(op, "cycles"),
        })
    }

    /// Returns the token that it gives when its last rTask is done.
    pub fn token(&self) -> Val<'c> {
        self.op.result(0)
    }
}

/// A buffer in an arena.
#[derive(Clone, Copy, Debug)]
pub struct Buffer<'c> {
    /// The `task.buffer`.
    pub op: Op<'c>,
    /// Its first byte.
    pub offset: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// The name of its memory.
    pub memory: &'c str,
    /// The cluster whose memory that is, where one shares it.
    pub cluster: Option<u64>,
}

impl<'c> Buffer<'c> {
    /// The view, where `op` is a `task.buffer` of static shape.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("task.buffer") {
            return None;
        }
        Some(Self {
            op,
            offset: number(op, "offset")?,
            bytes: parts::bytes(op.results().first()?.ty())?,
            memory: op.attr("memory").and_then(attr::symbol)?,
            cluster: number(op, "cluster"),
        })
    }
}

/// A buffer that the caller fills, or reads afterwards.
#[derive(Clone, Copy, Debug)]
pub struct Port<'c> {
    /// The `task.input` or `task.output`.
    pub op: Op<'c>,
    /// Its place in the signature.
    pub index: u64,
    /// Its name.
    pub name: &'c str,
    /// The input in whose memory an output lies.
    pub within: Option<u64>,
}

impl<'c> Port<'c> {
    /// The view, where `op` is a `task.input`.
    pub fn input(op: Op<'c>) -> Option<Self> {
        Self::of("task.input", op)
    }

    /// The view, where `op` is a `task.output`.
    pub fn output(op: Op<'c>) -> Option<Self> {
        Self::of("task.output", op)
    }

    fn of(kind: &str, op: Op<'c>) -> Option<Self> {
        if !op.is(kind) {
            return None;
        }
        let name = op.attr("name").and_then(attr::string)?;
        Some(Self { op, index: number(op, "index")?, name, within: number(op, "within") })
    }
}

/// A weight of the model, as it lies in its file.
#[derive(Clone, Copy, Debug)]
pub struct Weight<'c> {
    /// The `task.weight`.
    pub op: Op<'c>,
    /// Its name in the file.
    pub tensor: &'c str,
    /// Which file, by id.
    pub file: &'c str,
    /// BLAKE3 of the little-endian elements, first 32 hexadecimal digits.
    pub hash: &'c str,
}

impl<'c> Weight<'c> {
    /// The view, where `op` is a `task.weight`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("task.weight") {
            return None;
        }
        let text = |name| op.attr(name).and_then(attr::string);
        Some(Self { op, tensor: text("tensor")?, file: text("file")?, hash: text("hash")? })
    }
}

/// An expression over weights, evaluated when the artifact is written.
#[derive(Clone, Debug)]
pub struct Constant<'c> {
    /// The `task.constant`.
    pub op: Op<'c>,
    /// The operator's name.
    pub name: &'c str,
    /// The name of the kernel.
    pub kernel: &'c str,
    /// The kernel's inputs; then, where there are that many, what each result starts as.
    pub operands: Vec<Val<'c>>,
    /// The kernel's outputs.
    pub results: Vec<Val<'c>>,
}

impl<'c> Constant<'c> {
    /// The view, where `op` is a `task.constant`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("task.constant") {
            return None;
        }
        Some(Self {
            op,
            name: op.attr("name").and_then(attr::string)?,
            kernel: op.attr("kernel").and_then(attr::symbol)?,
            operands: op.operands(),
            results: op.results(),
        })
    }
}

/// The buffer that a chain of `task.view`s shows.
pub fn viewed(buffer: Val<'_>) -> Val<'_> {
    // In broken text a view may show itself; a bound keeps the verifier from following it for ever.
    const CHAIN: usize = 1000;
    std::iter::successors(Some(buffer), |buffer| {
        let view = buffer.def().filter(|op| op.is("task.view"))?;
        view.operands().first().copied()
    })
    .take(CHAIN)
    .last()
    .unwrap_or(buffer)
}

/// The type `!task.token`.
pub fn token(context: &Context) -> Type<'_> {
    parts::token(context)
}

fn number(op: Op<'_>, name: &str) -> Option<u64> {
    op.attr(name).and_then(attr::int).and_then(|value| u64::try_from(value).ok())
}
