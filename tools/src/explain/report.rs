//! The data of a report. The page holds all of it and shows nothing else.

use std::collections::BTreeMap;

use serde::Serialize;

/// Everything that `weft explain` found out about a model on a machine.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The compiler and its version.
    pub weft: String,
    /// The model, as it was named.
    pub model: String,
    /// The machine that it was compiled for.
    pub device: Device,
    /// The model in a few numbers.
    pub summary: Summary,
    /// The kernels that run, in the order of the task program.
    pub kernels: Vec<Kernel>,
    /// The tile-graph without what weights alone decide.
    pub graph: Graph,
    /// The arena of each memory that has one.
    pub arenas: Vec<Arena>,
    /// The peak rates of the machine.
    pub roofline: Roofline,
    /// True if this build has a pass that joins more than elementwise kernels; where it has
    /// none, `full` is `base`.
    pub joins_fully: bool,
    /// The model under each way to join kernels.
    pub joinings: Vec<Joining>,
    /// The patterns of the kernels of each joining.
    pub patterns: Vec<Pattern>,
    /// Products that `weft quantize` made products of bytes.
    pub quantized: Vec<Quantized>,
    /// Operators of the model, in the order in which they first run.
    pub operators: Vec<Users>,
    /// Instructions that compute something.
    pub instructions: Vec<Users>,
    /// The code of kernels, each once.
    pub listings: Vec<Listing>,
    /// Why there is no code, where the machine has none for these kernels.
    pub no_code: Option<String>,
    /// The remarks of passes, in their order.
    pub remarks: Vec<Remark>,
    /// The measurement, if there was one.
    pub measured: Option<Measured>,
}

/// A product that was quantised.
#[derive(Clone, Debug, Serialize)]
pub struct Quantized {
    /// The operator.
    pub name: String,
    /// How far what it makes is from what it made in f32, on the inputs that it was quantised by: the
    /// L2 norm of the difference by that of the tensor.
    pub error: f64,
    /// The kernels that compute it, by their places among those that run.
    pub kernels: Vec<usize>,
}

/// The machine.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    /// Its name.
    pub name: String,
    /// Its architecture.
    pub arch: String,
    /// The kind of execution unit that the program runs on.
    pub unit: String,
    /// Number of them.
    pub count: u64,
    /// Their clock.
    pub clock_mhz: Option<u64>,
    /// The memory that all units share.
    pub shared: String,
    /// The memories, in the order of the machine file.
    pub memories: Vec<Memory>,
}

/// A memory of the machine.
#[derive(Clone, Debug, Serialize)]
pub struct Memory {
    /// Its name.
    pub name: String,
    /// The units that share it.
    pub scope: &'static str,
    /// Capacity in bytes.
    pub capacity_bytes: u64,
    /// Bandwidth of the whole machine, in 10⁹ bytes a second.
    pub gbytes_per_second: Option<f64>,
    /// The memory that it is a cache of.
    pub caches: Option<String>,
}

/// The model in a few numbers.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Kernels that run, each time counted.
    pub kernels: usize,
    /// Kernels of different code among them.
    pub distinct_kernels: usize,
    /// Ranges of rTasks that they are cut into.
    pub ranges: usize,
    /// Units that the ranges are placed on.
    pub units: u64,
    /// Runs of kernels that are evaluated when the artifact is written.
    pub constants: usize,
    /// Bytes of the constants that the artifact holds.
    pub constant_bytes: u64,
    /// Scalar operations of all kernels.
    pub operations: u64,
    /// Bytes of all arguments of all kernels, which pass through the device's memory.
    pub argument_bytes: u64,
    /// Bytes of the tensors between kernels, each once.
    pub intermediate_bytes: u64,
    /// Bytes of the arena.
    pub arena_bytes: u64,
    /// The most bytes of the arena that are of use at once.
    pub live_bytes: u64,
    /// The least time, by the facts of the machine.
    pub floor_ms: Option<f64>,
    /// Predicted time: each range by the model of costs, and no less than the least.
    pub predicted_ms: Option<f64>,
    /// Median of measured runs.
    pub measured_ms: Option<f64>,
}

/// A kernel that runs.
#[derive(Clone, Debug, Serialize)]
pub struct Kernel {
    /// The operators that it does, as the model names them.
    pub op: String,
    /// Its name in the module; kernels of one name have one code.
    pub kernel: String,
    /// Its loop nests, with their tiles.
    pub computes: Vec<Compute>,
    /// Number of rTasks.
    pub tasks: u64,
    /// Its rTasks by unit.
    pub ranges: Vec<Range>,
    /// Scalar operations.
    pub operations: u64,
    /// Bytes of arguments that it reads.
    pub read_bytes: u64,
    /// Bytes of arguments that it writes.
    pub written_bytes: u64,
    /// The cost model's prediction for its tile.
    pub predicted: Option<Predicted>,
    /// The least time by the facts of the machine, of its busiest unit.
    pub floor_ms: Option<f64>,
    /// The least time on all units together, as `weft bench --profile` says it.
    pub floor_total_ms: Option<f64>,
    /// Predicted time of its busiest unit: by the model of costs, and no less than the least.
    pub predicted_ms: Option<f64>,
    /// Time from its first range's begin to its last one's end: the median.
    pub measured_ms: Option<f64>,
    /// Scalar operations per byte of its arguments.
    pub intensity: Option<f64>,
    /// The bottleneck of its busiest unit by the roofline: a memory or an instruction.
    pub bound: Option<String>,
    /// Which one of [`Report::patterns`] it is of, where kernels were compared.
    pub pattern: Option<usize>,
    /// The number of its code in [`Report::listings`].
    pub listing: Option<usize>,
    /// Numbers of the remarks on it in [`Report::remarks`].
    pub remarks: Vec<usize>,
}

/// An operator or an instruction, and the kernels that do it or are done by it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Users {
    /// Its name.
    pub name: String,
    /// Numbers in [`Report::kernels`].
    pub kernels: Vec<usize>,
}

/// The code of a kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Listing {
    /// The kernel.
    pub kernel: String,
    /// Lines that it has.
    pub lines: usize,
    /// Lines that the page shows.
    pub shown_lines: usize,
    /// Those lines. They stand on the page, and once is enough.
    #[serde(skip)]
    pub text: String,
}

/// A loop nest of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compute {
    /// The instruction or lane unit that computes it.
    pub instruction: String,
    /// Its axes.
    pub axes: Vec<Axis>,
    /// Its rTiles, the rTask's first.
    pub tiles: Vec<Tile>,
    /// Why they were chosen: the rule by which they were constructed, the number of tiles that were
    /// compared, and the terms of the cost.
    pub because: Option<String>,
}

/// A loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Axis {
    /// Number of points.
    pub extent: u64,
    /// True if results are folded along it.
    pub reduces: bool,
}

/// An rTile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Tile {
    /// The memory that holds it.
    pub memory: String,
    /// Its size along each axis.
    pub sizes: Vec<u64>,
}

/// Some rTasks on a unit.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Range {
    /// The unit.
    pub unit: u64,
    /// The first rTask.
    pub begin: u64,
    /// The one after the last.
    pub end: u64,
    /// Start and end in the predicted schedule, since the program starts.
    pub predicted_ms: Option<[f64; 2]>,
    /// Start and end in one measured run, since its first range started.
    pub measured_ms: Option<[f64; 2]>,
}

/// The prediction of the cost model.
#[derive(Clone, Debug, Serialize)]
pub struct Predicted {
    /// The instruction that computes it, and its tile.
    pub what: String,
    /// Cycles of the whole kernel on one unit.
    pub cycles: f64,
    /// The terms of the cost that take any time, and the cycles that each would take alone.
    pub terms: Vec<(&'static str, f64)>,
    /// The next best way.
    pub second: Option<String>,
    /// Its cycles.
    pub second_cycles: Option<f64>,
}

/// The tile-graph.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Graph {
    /// Kernels applied to tensors.
    pub nodes: Vec<Node>,
    /// Tensors on their way.
    pub edges: Vec<Edge>,
    /// Nodes that are one kernel, where there are several.
    pub groups: Vec<Group>,
    /// What is handed over in each memory: between nodes, and inside of them.
    pub layers: Vec<Layer>,
}

/// Nodes that are one kernel.
#[derive(Clone, Debug, Serialize)]
pub struct Group {
    /// Their numbers.
    pub nodes: Vec<usize>,
    /// What they hand over to each other.
    pub layers: Vec<Layer>,
}

/// What is handed over in a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Layer {
    /// The memory.
    pub memory: String,
    /// Number of tensors.
    pub tensors: usize,
    /// Their bytes, each tensor once.
    pub bytes: u64,
    /// Bytes that would be written to the device's memory and read from it, whole tensors, if they were
    /// handed over there; 0 for those that are.
    pub unmoved_bytes: u64,
}

/// A kernel in the tile-graph.
#[derive(Clone, Debug, Serialize)]
pub struct Node {
    /// The operators that it does.
    pub op: String,
    /// Its name in the module.
    pub kernel: String,
    /// Its loop nests, with their tiles.
    pub computes: Vec<Compute>,
    /// Which one of [`Report::kernels`] it became, or a part of.
    pub runs_in: Option<usize>,
    /// Nodes that are one kernel have one number.
    pub group: usize,
    /// What its loop nests hand over to each other in local buffers.
    pub inside: Vec<Layer>,
}

/// A tensor on its way.
#[derive(Clone, Debug, Serialize)]
pub struct Edge {
    /// The node that it comes from; none where it is an input of the model.
    pub from: Option<usize>,
    /// The node that reads it; none where it is an output of the model.
    pub to: Option<usize>,
    /// The name of the input or output.
    pub port: Option<String>,
    /// Its type.
    pub tensor: String,
    /// Its size.
    pub bytes: u64,
    /// The memory that carries it.
    pub memory: String,
    /// Bytes that are written to the device's memory and read from it, if that carries it.
    pub shared_bytes: u64,
    /// Numbers of the remarks on it.
    pub remarks: Vec<usize>,
}

/// The places and live ranges of buffers.
#[derive(Clone, Debug, Serialize)]
pub struct Arena {
    /// The memory.
    pub memory: String,
    /// Bytes that all buffers together need.
    pub bytes: u64,
    /// The most that are of use at once.
    pub live_bytes: u64,
    /// The buffers.
    pub buffers: Vec<Buffer>,
}

/// A buffer in the arena.
#[derive(Clone, Debug, Serialize)]
pub struct Buffer {
    /// Its first byte.
    pub offset: u64,
    /// Its size.
    pub bytes: u64,
    /// Its type.
    pub tensor: String,
    /// The first kernel that touches it, by its place in [`Report::kernels`].
    pub first: usize,
    /// The last one.
    pub last: usize,
}

/// The peak rates of the machine.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Roofline {
    /// The element type that most operations are in; ceilings are those for it.
    pub elem: String,
    /// Operations a second.
    pub ceilings: Vec<Ceiling>,
    /// Bytes a second.
    pub slopes: Vec<Slope>,
}

/// Operations a second that something reaches.
#[derive(Clone, Debug, Serialize)]
pub struct Ceiling {
    /// An instruction or a lane unit.
    pub name: String,
    /// On how many units.
    pub units: u64,
    /// 10⁹ operations a second; a multiply-add is two.
    pub goperations_per_second: f64,
}

/// Bytes a second that a memory moves.
#[derive(Clone, Debug, Serialize)]
pub struct Slope {
    /// The memory.
    pub memory: String,
    /// 10⁹ bytes a second.
    pub gbytes_per_second: f64,
}

/// The model under one way to join kernels.
#[derive(Clone, Debug, Serialize)]
pub struct Joining {
    /// `none`, `base` or `full`.
    pub name: &'static str,
    /// The kernels that it joins.
    pub what: &'static str,
    /// The options of passes that ask for it.
    pub options: Vec<String>,
    /// True if it is what the rest of the report shows.
    pub shown: bool,
    /// The figures.
    #[serde(flatten)]
    pub summary: Summary,
    /// Number of patterns.
    pub patterns: usize,
    /// The number of them that no kernel has without any joining.
    pub joined_patterns: usize,
}

/// Kernels that compute the same but for the extents of their axes.
#[derive(Clone, Debug, Serialize)]
pub struct Pattern {
    /// Loop nests, each the kinds of its axes and how often which operation stands in it.
    pub nests: Vec<PatternNest>,
    /// Number of kernels with it in each joining, by [`Joining::name`].
    pub counts: BTreeMap<&'static str, usize>,
    /// One of the kernels, by what it does.
    pub example: String,
    /// True if no kernel is of it without joining.
    pub joined: bool,
}

/// One loop nest of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PatternNest {
    /// `p` for a parallel axis, `r` for a reduction, the slowest first.
    pub axes: String,
    /// Operations of the body, by name.
    pub operations: BTreeMap<String, usize>,
}

/// A remark of a pass.
#[derive(Clone, Debug, Serialize)]
pub struct Remark {
    /// The pass.
    pub pass: &'static str,
    /// Its text.
    pub message: String,
    /// Number of times that it was made, for runs of the same kernel.
    pub times: usize,
}

/// The measurement of the model.
#[derive(Clone, Debug, Serialize)]
pub struct Measured {
    /// Threads.
    pub threads: usize,
    /// Number of runs, whose median is reported, in turns with those of the other joinings.
    pub runs: usize,
    /// Number of runs with times of kernels, whose median is reported.
    pub profiled_runs: usize,
}
