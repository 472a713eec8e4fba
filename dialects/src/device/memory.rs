//! Memories, and the ways between them.

use super::used::LOWERING;
use super::view::{number, symbol, text, view};
use super::{Boxes, Gathering, Machine, Scope};
use crate::ir::{Attribute, Block, Type, ty};

view! {
    /// A memory, a cache or a register file.
    Memory is "device.memory", from |op| {
        /// The units or threads that share it.
        scope: Scope = Scope::parse(text(op, "scope")?)?;
        /// Capacity in bytes.
        capacity_bytes: u64 = number(op, "capacity_bytes")?;
        /// The memory that it is a cache of.
        caches: Option<&'c str> = symbol(op, "caches");
        /// The memory among whose addresses its own are.
        within: Option<&'c str> = symbol(op, "within");
        /// Size of one register, of a register file.
        register_bytes: Option<u64> = number(op, "register_bytes");
        /// Size of one row of a register that is a tile.
        row_bytes: Option<u64> = number(op, "row_bytes");
        /// Threads in step that a register is spread over, one element each.
        lanes: Option<u64> = number(op, "lanes");
        /// The most bytes that a lane moves at once between its registers and other memories.
        access_bytes: u64 = number(op, "access_bytes").unwrap_or(ACCESS_BYTES);
        /// Bytes of a register file that tiles leave free for addresses and temporary values.
        reserved_bytes: u64 = number(op, "reserved_bytes")
            .unwrap_or_else(|| match number(op, "row_bytes") {
                Some(_) => 0,
                None => number(op, "capacity_bytes").unwrap_or(0) / RESERVED,
            });
        /// Size of the registers of all threads of a core together.
        core_bytes: Option<u64> = number(op, "core_bytes");
        /// Bandwidth in bytes a cycle.
        bytes_per_cycle: Option<u64> = number(op, "bytes_per_cycle");
        /// Bytes a cycle of stores by way of a cache, which read a line before they write it.
        store_bytes_per_cycle: Option<u64> = number(op, "store_bytes_per_cycle")
            .or_else(|| Some(number(op, "bytes_per_cycle")?.div_ceil(2)));
        /// Measured bandwidth of the whole machine, in 10⁹ bytes a second.
        gbytes_per_second: Option<u64> = number(op, "gbytes_per_second");
        /// The fewest bytes that one access moves.
        transaction_bytes: Option<u64> = number(op, "transaction_bytes");
        /// Cycles that a run of bytes takes beside them where it does not follow the one before it,
        /// so that nothing brings it before it is asked for.
        jump_cycles: Option<u64> = number(op, "jump_cycles");
        /// Rows that are read side by side and of each of which what follows is brought ahead.
        prefetch_streams: Option<u64> = number(op, "prefetch_streams");
        /// Distance of addresses that map to the same set, of a cache.
        way_bytes: Option<u64> = number(op, "way_bytes");
        /// Number of banks.
        banks: Option<u64> = number(op, "banks");
        /// Width of a bank in bytes.
        bank_bytes: Option<u64> = number(op, "bank_bytes");
        /// Bytes that a kernel gets without a special request, where that is less than the
        /// capacity.
        static_bytes: Option<u64> = number(op, "static_bytes");
        /// The fact of the host that replaces the capacity: `l1d`, `l2`, `l3` or `memory`.
        host: Option<&'c str> = text(op, "host");
    }
    lists {}
}

/// Alignment of buffers in an arena, equal to that of the memory that kernels are given.
pub const ARENA_ALIGN: i64 = 64;
/// The part of a register file that tiles leave free.
const RESERVED: u64 = 4;
/// Four registers of 32 bits.
const ACCESS_BYTES: u64 = 16;

impl<'c> Memory<'c> {
    /// Returns the bytes that one kernel may use.
    pub fn kernel_bytes(&self) -> u64 {
        self.static_bytes().map_or(self.capacity_bytes(), |bytes| bytes.min(self.capacity_bytes()))
    }

    /// Whether a kernel has to ask for so many bytes when it is started.
    pub fn asks_for(&self, bytes: u64) -> bool {
        self.static_bytes().is_some_and(|most| most < bytes)
    }

    /// As it is where something else has taken all but so much of it.
    pub fn with_capacity(self, capacity_bytes: u64) -> Self {
        Self { capacity_bytes, ..self }
    }

    /// Returns the bytes of a register file that tiles may use.
    pub fn tile_bytes(&self) -> u64 {
        self.capacity_bytes().saturating_sub(self.reserved_bytes())
    }

    /// Returns whether it is a register file.
    pub fn is_registers(&self) -> bool {
        self.register_bytes().is_some()
    }

    /// Returns whether its registers are tiles, which instructions take whole and no lane unit works in.
    pub fn holds_tiles(&self) -> bool {
        self.row_bytes().is_some()
    }

    /// Returns the number of elements of a type in one register; `None` for less than one.
    pub fn lanes_for(&self, elem: Type<'c>) -> Option<u64> {
        let registers = self.register_bytes()?;
        let fit = || registers.checked_div(ty::byte_size(elem)?).filter(|&lanes| lanes > 0);
        self.lanes().or_else(fit)
    }

    /// Returns whether it is filled by access, not by a move.
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
        /// The engine that executes it asynchronously, if one does.
        engine: Option<&'c str> = symbol(op, "engine");
        /// Rate in bytes a cycle.
        bytes_per_cycle: Option<u64> = number(op, "bytes_per_cycle");
        /// Cycles between two moves of one register.
        issue_cycles: Option<f64> = super::view::float(op, "issue_cycles");
        /// Cycles until what was moved is there.
        latency_cycles: Option<u64> = number(op, "latency_cycles");
        /// Bytes that lie side by side, at least, in what a lane moves at once.
        least_bytes: u64 = number(op, "least_bytes").unwrap_or(1);
        /// True if elements need not lie side by side.
        strided: bool = op.attr("strided").is_some();
        /// True if it can write one number to every place.
        fills: bool = op.attr("fills").is_some();
        /// True if it writes whole registers past the caches.
        streams: bool = op.attr("streams").is_some();
        /// The assembly of one transfer.
        encoding: Option<&'c str> = text(op, "encoding");
        /// The map from lane and slot to the lane that gave an address and the place in its piece.
        gathers: Option<Attribute<'c>> = op.attr("gathers");
        /// What boxes of a tensor it brings, if it brings some by coordinates.
        boxes: Option<Boxes> = op.attr("boxes").and_then(|own| Boxes::read(own).ok());
    }
    lists {}
}

impl<'c> Move<'c> {
    /// Returns the lower-level IR of one that gathers, from a lane's pointer to its slots, or of one to or from
    /// tile registers.
    pub fn lowering(&self) -> Option<Block<'c>> {
        self.used.mark(LOWERING);
        self.op.first_block(0)
    }

    /// What lanes get of the pieces of others; `None` for a move of which each lane does its part alone.
    pub fn gathering(&self, machine: Machine<'c>) -> Option<Gathering> {
        self.gathers()?;
        let lanes = machine.memory(self.target())?.lanes()?;
        Gathering::read(self, lanes, self.lowering()?.terminator()?.operands().first()?.ty()).ok()
    }
}
