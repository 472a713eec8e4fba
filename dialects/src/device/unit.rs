//! Execution units, and the engines and lanes beside them.

use super::Machine;
use super::view::{array, float, number, symbol, text, texts, view};
use crate::ir::{Op, Type, attr, ty};

view! {
    /// Execution units of one kind.
    Unit is "device.unit", from |op| {
        /// Number of them.
        count: u64 = number(op, "count")?;
        /// Million cycles a second.
        clock_mhz: Option<u64> = number(op, "clock_mhz");
        /// The units that stand for groups of these.
        cluster: Option<&'c str> = symbol(op, "cluster");
        /// Parts that issue side by side, each a warp at a time.
        partitions: u64 = number(op, "partitions").unwrap_or(1);
        /// The most lanes that the groups of one rTask have together.
        block_lanes: u64 = number(op, "block_lanes").unwrap_or(BLOCK_LANES);
        /// Groups of lanes that it alternates between: one runs while others wait.
        groups: u64 = number(op, "groups").unwrap_or(GROUPS);
        /// Cycles until all groups of an rTask have met.
        barrier_cycles: u64 = number(op, "barrier_cycles").unwrap_or(BARRIER_CYCLES);
        /// Turns in which groups may go through an rTask, each a barrier behind the ones before.
        turns: u64 = number(op, "turns").unwrap_or(1);
        /// Cycles of work that another unit must save to be given a part of it.
        handover_cycles: u64 = number(op, "handover_cycles").unwrap_or(HANDOVER_CYCLES);
        /// From the end of a range until one on another unit that waits for it starts.
        wait_cycles: u64 = number(op, "wait_cycles").unwrap_or(0);
        /// Cycles to start a program; `None` where programs are not cut in launches.
        launch_cycles: Option<u64> = number(op, "launch_cycles");
        /// The fact of the host that replaces the count: `cores`.
        host: Option<&'c str> = text(op, "host");
    }
    lists {}
}

/// Cost of a handover where the machine does not state it: that of threads that sleep between runs.
const HANDOVER_CYCLES: u64 = 20_000;

/// Of machines whose registers are spread over lanes: threads of a block, the groups that hide a
/// latency of some hundred cycles, and a barrier of these.
const BLOCK_LANES: u64 = 1024;
const GROUPS: u64 = 8;
const BARRIER_CYCLES: u64 = 40;

view! {
    /// Hardware that works asynchronously beside a unit.
    Engine is "device.engine", from |op| {
        /// The unit that it works beside.
        unit: &'c str = symbol(op, "unit")?;
        /// Number of entries of its queue.
        queue: u64 = number(op, "queue")?;
    }
    lists {}
}

view! {
    /// A unit that applies scalar operations to every lane of a register.
    Lanes is "device.lanes", from |op| {
        /// The execution unit that has it.
        unit: &'c str = symbol(op, "unit")?;
        /// The register file it works in.
        memory: &'c str = symbol(op, "memory")?;
        /// Cycles between two operations on one register.
        issue_cycles: f64 = float(op, "issue_cycles")?;
        /// Cycles until the result is there.
        latency_cycles: u64 = number(op, "latency_cycles")?;
        /// Cycles to exchange lanes of two registers.
        shuffle_cycles: f64 = float(op, "shuffle_cycles").unwrap_or(SHUFFLE_CYCLES);
        /// Cycles of one round of a loop beside what it does.
        step_cycles: f64 = float(op, "step_cycles").unwrap_or(STEP_CYCLES);
        /// Cycles to begin and to end the loops of one register tile.
        tile_cycles: f64 = float(op, "tile_cycles").unwrap_or(TILE_CYCLES);
        /// Cycles between the tiles of two kernels that were joined.
        member_cycles: f64 = float(op, "member_cycles").unwrap_or(MEMBER_CYCLES);
    }
    lists {
        /// Element types.
        types: Type<'c> = array(op, "types")?.into_iter().filter_map(attr::type_of).collect();
        /// Upstream names of the operations that it applies.
        operations: &'c str = texts(op, "operations")?;
        /// The operations that can combine the lanes of one register.
        reductions: &'c str = texts(op, "reductions")?;
        /// Operations that take other cycles than it says for all, on one register.
        operation_cycles: (&'c str, f64) = operation_cycles(op);
    }
}

/// A shuffle of one port; three operations around a round, of which few units issue less than
/// six a cycle; some places summed up and jumps, and a row of loops with their bounds.
const SHUFFLE_CYCLES: f64 = 1.0;
const STEP_CYCLES: f64 = 0.5;
const TILE_CYCLES: f64 = 6.0;
const MEMBER_CYCLES: f64 = 100.0;

/// Operations that no unit does in one go, and how many times as long one takes.
const SLOW: [&str; 4] = ["arith.divf", "arith.divsi", "arith.remsi", "math.sqrt"];
const SLOWER: f64 = 8.0;

fn operation_cycles<'c>(op: Op<'c>) -> Vec<(&'c str, f64)> {
    let entries = op.attr("operation_cycles").and_then(attr::entries).unwrap_or_default();
    let number = |(name, value)| Some((name, attr::float(value)?));
    entries.into_iter().filter_map(number).collect()
}

impl<'c> Lanes<'c> {
    /// Returns whether it has the element type. Masks (`i1`) come with every unit.
    pub fn has_type(&self, elem: Type<'c>) -> bool {
        ty::is_int(elem, 1) || self.types().contains(&elem)
    }

    /// Returns whether it applies the operation `name` to elements of the type.
    pub fn supports(&self, name: &str, elem: Type<'c>) -> bool {
        self.operations().contains(&name) && self.has_type(elem)
    }

    /// Returns whether it combines lanes of the type by the operation `name`.
    pub fn reduces(&self, name: &str, elem: Type<'c>) -> bool {
        self.reductions().contains(&name) && self.has_type(elem)
    }

    /// Cycles between two operations `name` on one register.
    pub fn cycles_of(&self, name: &str) -> f64 {
        let own = self.operation_cycles().iter().find(|(own, _)| *own == name);
        let slow = if SLOW.contains(&name) { SLOWER } else { 1.0 };
        own.map_or(self.issue_cycles() * slow, |(_, cycles)| *cycles)
    }

    /// Returns the number of elements of the type in one register; `None` for less than one.
    pub fn lanes_for(&self, elem: Type<'c>) -> Option<u64> {
        Machine::of(self.op)?.memory(self.memory())?.lanes_for(elem)
    }
}
