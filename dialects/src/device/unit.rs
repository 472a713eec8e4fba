//! Execution units, and what works beside them.

use super::Machine;
use super::view::{array, float, number, symbol, text, texts, view};
use crate::ir::{Type, attr, ty};

view! {
    /// Execution units of one kind.
    Unit is "device.unit", from |op| {
        /// How many there are.
        count: u64 = number(op, "count")?;
        /// Million cycles a second.
        clock_mhz: Option<u64> = number(op, "clock_mhz");
        /// The units that stand for groups of these.
        cluster: Option<&'c str> = symbol(op, "cluster");
        /// Parts that issue side by side, each a warp at a time.
        partitions: u64 = number(op, "partitions").unwrap_or(1);
        /// What work must be worth before another unit is given a part of it.
        handover_cycles: u64 = number(op, "handover_cycles").unwrap_or(HANDOVER_CYCLES);
        /// From the end of a range until one on another unit that waits for it starts.
        wait_cycles: u64 = number(op, "wait_cycles").unwrap_or(0);
        /// What starting a program takes; `None` where programs are not cut in launches.
        launch_cycles: Option<u64> = number(op, "launch_cycles");
        /// What the host reads the count from: `cores`.
        host: Option<&'c str> = text(op, "host");
    }
    lists {}
}

/// What a handover takes where the machine does not say: that of threads that sleep between runs.
const HANDOVER_CYCLES: u64 = 20_000;

view! {
    /// What works beside a unit.
    Engine is "device.engine", from |op| {
        /// The unit that it works beside.
        unit: &'c str = symbol(op, "unit")?;
        /// How many orders it holds.
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
    }
    lists {
        /// Element types.
        types: Type<'c> = array(op, "types")?.into_iter().filter_map(attr::type_of).collect();
        /// Upstream names of the operations that it applies.
        operations: &'c str = texts(op, "operations")?;
        /// Those that can combine the lanes of one register.
        reductions: &'c str = texts(op, "reductions")?;
    }
}

impl<'c> Lanes<'c> {
    /// Whether it has the element type. Masks (`i1`) come with every unit.
    pub fn has_type(&self, elem: Type<'c>) -> bool {
        ty::is_int(elem, 1) || self.types().contains(&elem)
    }

    /// Whether it applies the operation `name` to elements of the type.
    pub fn supports(&self, name: &str, elem: Type<'c>) -> bool {
        self.operations().contains(&name) && self.has_type(elem)
    }

    /// Whether it combines lanes of the type by the operation `name`.
    pub fn reduces(&self, name: &str, elem: Type<'c>) -> bool {
        self.reductions().contains(&name) && self.has_type(elem)
    }

    /// How many elements of the type one register holds; `None` for less than one.
    pub fn lanes_for(&self, elem: Type<'c>) -> Option<u64> {
        Machine::of(self.op)?.memory(self.memory())?.lanes_for(elem)
    }
}
