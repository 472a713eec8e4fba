//! Memories, and the ways between them.

use super::Scope;
use super::view::{number, symbol, text, view};
use crate::ir::{Type, ty};

view! {
    /// A memory, a cache or a register file.
    Memory is "device.memory", from |op| {
        /// Who shares it.
        scope: Scope = Scope::parse(text(op, "scope")?)?;
        /// How much it holds.
        capacity_bytes: u64 = number(op, "capacity_bytes")?;
        /// The memory that it is a cache of.
        caches: Option<&'c str> = symbol(op, "caches");
        /// The memory among whose addresses its own are.
        within: Option<&'c str> = symbol(op, "within");
        /// What one register holds, in a register file.
        register_bytes: Option<u64> = number(op, "register_bytes");
        /// Threads in step that a register is spread over, one element each.
        lanes: Option<u64> = number(op, "lanes");
        /// What a lane moves at once between its registers and other memories.
        access_bytes: u64 = number(op, "access_bytes").unwrap_or(ACCESS_BYTES);
        /// What tiles leave to addresses and to what instructions work with, in a register file.
        reserved_bytes: u64 = number(op, "reserved_bytes")
            .unwrap_or_else(|| number(op, "capacity_bytes").unwrap_or(0) / RESERVED);
        /// What the registers of all threads of a core hold together.
        core_bytes: Option<u64> = number(op, "core_bytes");
        /// How much passes in one cycle.
        bytes_per_cycle: Option<u64> = number(op, "bytes_per_cycle");
        /// What all of it moves in a second, in 10⁹ bytes, where that was measured.
        gbytes_per_second: Option<u64> = number(op, "gbytes_per_second");
        /// What one access moves at least.
        transaction_bytes: Option<u64> = number(op, "transaction_bytes");
        /// How far apart addresses lie that compete for the same places, in a cache.
        way_bytes: Option<u64> = number(op, "way_bytes");
        /// How many banks it has.
        banks: Option<u64> = number(op, "banks");
        /// How wide a bank is.
        bank_bytes: Option<u64> = number(op, "bank_bytes");
        /// What a kernel may have of it without asking, where that is less.
        static_bytes: Option<u64> = number(op, "static_bytes");
        /// What the host reads the capacity from: `l1d`, `l2`, `l3` or `memory`.
        host: Option<&'c str> = text(op, "host");
    }
    lists {}
}

/// The part of a register file that tiles leave free.
const RESERVED: u64 = 4;
/// Four registers of 32 bits.
const ACCESS_BYTES: u64 = 16;

impl<'c> Memory<'c> {
    /// What one kernel may have of it.
    pub fn kernel_bytes(&self) -> u64 {
        self.static_bytes().map_or(self.capacity_bytes(), |bytes| bytes.min(self.capacity_bytes()))
    }

    /// As it is where something else has taken all but so much of it.
    pub fn with_capacity(self, capacity_bytes: u64) -> Self {
        Self { capacity_bytes, ..self }
    }

    /// What tiles may take of a register file.
    pub fn tile_bytes(&self) -> u64 {
        self.capacity_bytes().saturating_sub(self.reserved_bytes())
    }

    /// Whether it is a register file.
    pub fn is_registers(&self) -> bool {
        self.register_bytes().is_some()
    }

    /// How many elements of a type one register holds; `None` for less than one.
    pub fn lanes_for(&self, elem: Type<'c>) -> Option<u64> {
        let registers = self.register_bytes()?;
        let fit = || registers.checked_div(ty::byte_size(elem)?).filter(|&lanes| lanes > 0);
        self.lanes().or_else(fit)
    }

    /// Whether it is filled by access, not by a move.
    pub fn is_cache(&self) -> bool {
        self.caches().is_some()
    }
}

view! {
    /// A way from one memory to another.
    Move is "device.move", from |op| {
        /// The memory it reads.
        source: &'c str = symbol(op, "source")?;
        /// The memory it writes.
        target: &'c str = symbol(op, "target")?;
        /// What runs it beside the unit.
        engine: Option<&'c str> = symbol(op, "engine");
        /// How much it moves in one cycle.
        bytes_per_cycle: Option<u64> = number(op, "bytes_per_cycle");
        /// Cycles between two moves of one register.
        issue_cycles: Option<f64> = super::view::float(op, "issue_cycles");
        /// Cycles until what was moved is there.
        latency_cycles: Option<u64> = number(op, "latency_cycles");
        /// Whether elements need not lie side by side.
        strided: bool = op.attr("strided").is_some();
        /// Whether it can write one number to every place.
        fills: bool = op.attr("fills").is_some();
        /// Whether it writes whole registers past the caches.
        streams: bool = op.attr("streams").is_some();
        /// The assembly of one transfer.
        encoding: Option<&'c str> = text(op, "encoding");
    }
    lists {}
}
