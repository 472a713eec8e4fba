//! What a register tile costs: Roller's micro-performance model, for one core.
//!
//! The time of a step is the larger of what the unit must issue and what must be
//! loaded (OSDI'22, section 4.3: MaxComputePerf and MemPerf), plus the time to
//! start and store a tile.

use weft_dialects::device::{Machine, Memory};
use weft_dialects::ir::{Type, ty};

use super::instruction::Mapped;
use super::way::{Stage, move_cycles, way};
use crate::nest::{Access, Nest};

/// Machine facts that the model uses.
pub(super) struct Facts<'c> {
    /// Cycles between two loads of a register.
    pub load: f64,
    /// Cycles between two stores of a register.
    pub store: f64,
    /// Registers.
    pub registers: u64,
    /// What a register holds for one lane, where it is spread over them.
    pub lane_bytes: Option<u64>,
    /// Where tiles wait on the way to them.
    pub stage: Option<Stage<'c>>,
    /// Cycles for one byte on the way to where they wait.
    pub stage_byte: f64,
}

impl<'c> Facts<'c> {
    /// The facts about the registers of `memory`; `None` where they cannot be reached.
    pub fn of(machine: Machine<'c>, memory: &str) -> Option<Self> {
        let registers = machine.memory(memory)?;
        let way = way(machine, memory)?;
        let stage_byte =
            way.stage.as_ref().map_or(0.0, |stage| move_cycles(machine, &stage.load, 1.0));
        Some(Self {
            load: way.load.issue_cycles.unwrap_or(1.0),
            store: way.store.issue_cycles.unwrap_or(1.0),
            registers: usable(&registers)?,
            lane_bytes: registers.lanes.zip(registers.register_bytes).map(|(n, bytes)| bytes / n),
            stage: way.stage,
            stage_byte,
        })
    }

    /// Registers that an element of each lane takes: wide ones take several of a lane's.
    pub fn words(&self, elem: Type<'_>) -> u64 {
        let bytes = ty::byte_size(elem).unwrap_or(1);
        self.lane_bytes.map_or(1, |lane| bytes.div_ceil(lane))
    }
}

/// Registers that tiles may take. Where threads share a register file it also holds
/// what each computes addresses with.
fn usable(memory: &Memory<'_>) -> Option<u64> {
    let registers = memory.capacity_bytes / memory.register_bytes?;
    Some(if memory.lanes.is_some() { registers / 4 * 3 } else { registers })
}

/// A register tile under consideration.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    /// The axis along the lanes, if any.
    pub lanes_axis: Option<usize>,
    /// Registers side by side along it.
    pub vectors: u64,
    /// Another parallel axis, and how many of its points.
    pub rows: Option<(usize, u64)>,
}

impl Shape {
    fn of(&self, access: &Access<'_>) -> (u64, bool) {
        let rows = self.rows.map_or(1, |(axis, rows)| if access.uses(axis) { rows } else { 1 });
        let lanes = self.lanes_axis.is_some_and(|axis| access.uses(axis));
        (rows * if lanes { self.vectors } else { 1 }, lanes)
    }
}

/// Cost of one element, or one register, of an access along the lanes.
fn access_cost(
    access: &Access<'_>,
    axes: usize,
    facts: &Facts<'_>,
    shape: &Shape,
    lanes: u64,
    packed: bool,
    one: f64,
) -> f64 {
    let Some(axis) = shape.lanes_axis else { return one };
    match access.stride(axes, axis) {
        0 | 1 => one,
        _ if packed || facts.stage.is_some() => one,
        2 => 4.0 * one,
        // Element by element, each put in its lane.
        _ => 2.0 * lanes as f64 * one.max(0.5),
    }
}

/// Cycles for the whole nest with this tile; `packed` tells which inputs may be
/// laid out anew for the lanes.
pub(super) fn cycles(
    nest: &Nest<'_>,
    facts: &Facts<'_>,
    mapped: &Mapped<'_>,
    shape: &Shape,
    packed: &[bool],
) -> f64 {
    let axes = nest.axes.len();
    let lanes = if shape.lanes_axis.is_some() { mapped.lanes } else { 1 };
    let (mut tiles, mut steps) = (1.0, 1.0);
    for (axis, info) in nest.axes.iter().enumerate() {
        let extent = info.extent as f64;
        let size = if shape.lanes_axis == Some(axis) {
            (shape.vectors * lanes) as f64
        } else {
            match shape.rows {
                Some((rows_axis, rows)) if rows_axis == axis => rows as f64,
                _ => 1.0,
            }
        };
        // A ragged rest costs what it has, rounded up to whole registers.
        let quantum = if shape.lanes_axis == Some(axis) { lanes as f64 } else { 1.0 };
        let count = (extent / quantum).ceil() * quantum / size;
        let count = if extent < size { count.max(extent / size) } else { count };
        if nest.reduces(axis) { steps *= count } else { tiles *= count }
    }
    let registers = shape.rows.map_or(1, |(_, rows)| rows) * shape.vectors;
    let issue = registers as f64 * mapped.issue_cycles;
    let mut loads = 0.0;
    for (number, access) in nest.inputs.iter().enumerate() {
        let (count, vector) = shape.of(access);
        // One element for all lanes rides along with the instruction that takes it.
        let each = if vector {
            access_cost(access, axes, facts, shape, lanes, packed[number], facts.load)
        } else {
            facts.load
        };
        loads += count as f64 * each;
    }
    loads += nest.captures.len() as f64 * lanes as f64 * registers as f64;
    let reduces = (0..axes).any(|axis| nest.reduces(axis));
    let latency = if reduces { mapped.latency_cycles } else { 0.0 };
    let step = issue.max(loads).max(latency) + 0.5;

    let mut finish = 6.0;
    for access in &nest.outputs {
        let across = shape.lanes_axis.is_some_and(|axis| nest.reduces(axis));
        let each = if across {
            3.0 * (lanes as f64).log2()
        } else {
            access_cost(access, axes, facts, shape, lanes, false, facts.store)
        };
        finish += registers as f64 * each;
    }
    tiles * (steps * step + finish) + staged(nest, facts)
}

/// Cycles in which every element that is read or written reaches the memory where tiles
/// wait, if it stays there for all its uses.
fn staged(nest: &Nest<'_>, facts: &Facts<'_>) -> f64 {
    let bytes = |access: &Access<'_>| {
        let size = weft_dialects::ir::ty::byte_size(access.elem()).unwrap_or(8);
        (access.shape.iter().product::<u64>() * size) as f64
    };
    nest.accesses().into_iter().map(bytes).sum::<f64>() * facts.stage_byte
}
