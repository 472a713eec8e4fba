//! The machine half: memories, engines, moves, units, lanes and instructions by name.

use crate::ir::{Attribute, Block, Op, Type, affine, attr, ty};

/// What the module knows about the machine it is compiled for.
///
/// A view onto a `device.machine`; every question reads the IR again.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'c> {
    /// The `device.machine`.
    pub op: Op<'c>,
}

impl<'c> Machine<'c> {
    /// The machine around `op`, or the first one in the modules around it.
    pub fn of(op: Op<'c>) -> Option<Self> {
        std::iter::once(op)
            .chain(op.ancestors())
            .find_map(|around| match around.name() {
                "device.machine" => Some(around),
                "builtin.module" => {
                    around.first_block(0)?.iter().find(|op| op.is("device.machine"))
                }
                _ => None,
            })
            .map(|op| Self { op })
    }

    /// The name.
    pub fn name(self) -> &'c str {
        self.op.symbol()
    }

    /// The architecture, such as `x86-64` or `sm_90a`.
    pub fn arch(self) -> &'c str {
        text(self.op, "arch").unwrap_or("")
    }

    /// What a processor must have to run the code, by LLVM's names.
    pub fn features(self) -> Vec<&'c str> {
        self.op.attr("features").and_then(attr::strings).unwrap_or_default()
    }

    /// The memories, in the order of the text.
    pub fn memories(self) -> Vec<Memory<'c>> {
        self.facts("device.memory").filter_map(Memory::read).collect()
    }

    /// The memory `name`.
    pub fn memory(self, name: &str) -> Option<Memory<'c>> {
        self.fact("device.memory", name).and_then(Memory::read)
    }

    /// The memory that the whole device shares: the first of scope `device` that
    /// is no cache. A memref without a memory space lies there.
    pub fn shared(self) -> Option<Memory<'c>> {
        self.facts("device.memory")
            .filter_map(Memory::read)
            .find(|memory| memory.scope == Scope::Device && memory.caches.is_none())
    }

    /// The memory that a value of type `memref` lies in.
    pub fn memory_of(self, memref: Type<'c>) -> Option<Memory<'c>> {
        match ty::memory(memref) {
            Some(name) => self.memory(name),
            None => self.shared(),
        }
    }

    /// The memory that moves see where `name` is read or written: behind caches,
    /// the memory that they are caches of.
    pub fn behind(self, name: &str) -> Option<Memory<'c>> {
        let mut memory = self.memory(name)?;
        // As many steps as there are memories, for caches may wrongly go in a circle.
        for _ in self.facts("device.memory") {
            let Some(next) = memory.caches else { break };
            memory = self.memory(next)?;
        }
        Some(memory)
    }

    /// The execution units, in the order of the text.
    pub fn units(self) -> Vec<Unit<'c>> {
        self.facts("device.unit").filter_map(Unit::read).collect()
    }

    /// The unit `name`.
    pub fn unit(self, name: &str) -> Option<Unit<'c>> {
        self.fact("device.unit", name).and_then(Unit::read)
    }

    /// The engines, in the order of the text.
    pub fn engines(self) -> Vec<Engine<'c>> {
        self.facts("device.engine").filter_map(Engine::read).collect()
    }

    /// The engine `name`.
    pub fn engine(self, name: &str) -> Option<Engine<'c>> {
        self.fact("device.engine", name).and_then(Engine::read)
    }

    /// The moves, in the order of the text.
    pub fn moves(self) -> Vec<Move<'c>> {
        self.facts("device.move").filter_map(Move::read).collect()
    }

    /// The move `name`.
    pub fn move_named(self, name: &str) -> Option<Move<'c>> {
        self.fact("device.move", name).and_then(Move::read)
    }

    /// The first move from the memory `from` to the memory `to`.
    pub fn move_between(self, from: &str, to: &str) -> Option<Move<'c>> {
        self.facts("device.move")
            .filter_map(Move::read)
            .find(|way| way.source == from && way.target == to)
    }

    /// The first move from the memory `from` to the memory `to` that goes past the caches.
    pub fn stream_between(self, from: &str, to: &str) -> Option<Move<'c>> {
        self.facts("device.move")
            .filter_map(Move::read)
            .find(|way| way.streams && way.source == from && way.target == to)
    }

    /// The first move to the memory `to` that can write one number to every place.
    pub fn fill_of(self, to: &str) -> Option<Move<'c>> {
        self.facts("device.move").filter_map(Move::read).find(|way| way.fills && way.target == to)
    }

    /// The lane units, in the order of the text.
    pub fn lanes_units(self) -> Vec<Lanes<'c>> {
        self.facts("device.lanes").filter_map(Lanes::read).collect()
    }

    /// The lane unit `name`.
    pub fn lanes_unit(self, name: &str) -> Option<Lanes<'c>> {
        self.fact("device.lanes", name).and_then(Lanes::read)
    }

    /// The instructions, in the order of the text.
    pub fn instructions(self) -> Vec<Instruction<'c>> {
        self.facts("device.instruction").filter_map(Instruction::read).collect()
    }

    /// The instruction `name`.
    pub fn instruction(self, name: &str) -> Option<Instruction<'c>> {
        self.fact("device.instruction", name).and_then(Instruction::read)
    }

    /// The vendor's own operations, as its `irdl.dialect`s declare them, by full name.
    pub fn vendor_operations(self) -> Vec<(String, Op<'c>)> {
        let mut found = Vec::new();
        for dialect in self.facts("irdl.dialect") {
            let body = dialect.first_block(0);
            let operations = body.into_iter().flat_map(Block::iter);
            for op in operations.filter(|op| op.is("irdl.operation")) {
                found.push((format!("{}.{}", dialect.symbol(), op.symbol()), op));
            }
        }
        found
    }

    /// The vendor's patterns on its operations, in the order of the text.
    pub fn patterns(self) -> Vec<Op<'c>> {
        self.facts("pdl.pattern").collect()
    }

    /// Every operation of the name `kind` in the machine.
    pub(crate) fn facts<'k>(self, kind: &'k str) -> impl Iterator<Item = Op<'c>> + use<'c, 'k> {
        let body = self.op.first_block(0);
        body.into_iter().flat_map(Block::iter).filter(move |op| op.is(kind))
    }

    /// The operation of the name `kind` with the symbol `name`, however malformed.
    pub(crate) fn fact(self, kind: &str, name: &str) -> Option<Op<'c>> {
        self.facts(kind).find(|op| op.symbol() == name)
    }
}

/// Who shares a memory, from the fewest to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// One thread of a unit.
    Thread,
    /// Threads that go in step.
    Warp,
    /// Warps that issue one instruction together.
    Warpgroup,
    /// One execution unit.
    Core,
    /// Neighbouring units.
    Cluster,
    /// All units.
    Device,
    /// The machine that drives the device.
    Host,
}

impl Scope {
    /// Every scope, from the fewest sharers to the most.
    pub const ALL: [Scope; 7] = [
        Scope::Thread,
        Scope::Warp,
        Scope::Warpgroup,
        Scope::Core,
        Scope::Cluster,
        Scope::Device,
        Scope::Host,
    ];

    /// The scope as the text writes it.
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

    /// The scope that the text writes as `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// A memory, a cache or a register file.
#[derive(Clone, Debug)]
pub struct Memory<'c> {
    /// The `device.memory`.
    pub op: Op<'c>,
    /// Its name.
    pub name: &'c str,
    /// Who shares it.
    pub scope: Scope,
    /// How much it holds.
    pub capacity_bytes: u64,
    /// The memory that it is a cache of.
    pub caches: Option<&'c str>,
    /// What one register holds, in a register file.
    pub register_bytes: Option<u64>,
    /// Threads in step that a register is spread over, one element each.
    pub lanes: Option<u64>,
    /// What the registers of all threads of a core hold together.
    pub core_bytes: Option<u64>,
    /// How much passes in one cycle.
    pub bytes_per_cycle: Option<u64>,
    /// What all of it moves in a second, in 10⁹ bytes, where that was measured.
    pub gbytes_per_second: Option<u64>,
    /// What one access moves at least.
    pub transaction_bytes: Option<u64>,
    /// How far apart addresses lie that compete for the same places, in a cache.
    pub way_bytes: Option<u64>,
    /// How many banks it has.
    pub banks: Option<u64>,
    /// How wide a bank is.
    pub bank_bytes: Option<u64>,
    /// What a kernel may have of it without asking, where that is less.
    pub static_bytes: Option<u64>,
    /// What the host reads the capacity from: `l1d`, `l2`, `l3` or `memory`.
    pub host: Option<&'c str>,
}

impl<'c> Memory<'c> {
    fn read(op: Op<'c>) -> Option<Self> {
        Some(Self {
            op,
            name: op.symbol(),
            scope: Scope::parse(text(op, "scope")?)?,
            capacity_bytes: number(op, "capacity_bytes")?,
            caches: symbol(op, "caches"),
            register_bytes: number(op, "register_bytes"),
            lanes: number(op, "lanes"),
            core_bytes: number(op, "core_bytes"),
            bytes_per_cycle: number(op, "bytes_per_cycle"),
            gbytes_per_second: number(op, "gbytes_per_second"),
            transaction_bytes: number(op, "transaction_bytes"),
            way_bytes: number(op, "way_bytes"),
            banks: number(op, "banks"),
            bank_bytes: number(op, "bank_bytes"),
            static_bytes: number(op, "static_bytes"),
            host: text(op, "host"),
        })
    }

    /// What one kernel may have of it.
    pub fn kernel_bytes(&self) -> u64 {
        self.static_bytes.map_or(self.capacity_bytes, |bytes| bytes.min(self.capacity_bytes))
    }

    /// Whether it is a register file.
    pub fn is_registers(&self) -> bool {
        self.register_bytes.is_some()
    }

    /// How many elements of a type one register holds; `None` for less than one.
    pub fn lanes_for(&self, elem: Type<'c>) -> Option<u64> {
        let registers = self.register_bytes?;
        let fit = || registers.checked_div(ty::byte_size(elem)?).filter(|&lanes| lanes > 0);
        self.lanes.or_else(fit)
    }

    /// Whether it is filled by access, not by a move.
    pub fn is_cache(&self) -> bool {
        self.caches.is_some()
    }
}

/// Execution units of one kind.
#[derive(Clone, Debug)]
pub struct Unit<'c> {
    /// The `device.unit`.
    pub op: Op<'c>,
    /// Its name.
    pub name: &'c str,
    /// How many there are.
    pub count: u64,
    /// Million cycles a second.
    pub clock_mhz: Option<u64>,
    /// Parts that issue side by side, each a warp at a time.
    pub partitions: u64,
    /// What work must be worth before another unit is given a part of it.
    pub handover_cycles: u64,
    /// From the end of a range until one on another unit that waits for it starts.
    pub wait_cycles: u64,
    /// What starting a program takes; `None` where programs are not cut in launches.
    pub launch_cycles: Option<u64>,
    /// What the host reads the count from: `cores`.
    pub host: Option<&'c str>,
}

impl<'c> Unit<'c> {
    /// What a handover takes where the machine does not say: that of threads that sleep
    /// between runs.
    const HANDOVER_CYCLES: u64 = 20_000;

    fn read(op: Op<'c>) -> Option<Self> {
        Some(Self {
            op,
            name: op.symbol(),
            count: number(op, "count")?,
            clock_mhz: number(op, "clock_mhz"),
            partitions: number(op, "partitions").unwrap_or(1),
            handover_cycles: number(op, "handover_cycles").unwrap_or(Self::HANDOVER_CYCLES),
            wait_cycles: number(op, "wait_cycles").unwrap_or(0),
            launch_cycles: number(op, "launch_cycles"),
            host: text(op, "host"),
        })
    }
}

/// What works beside a unit.
#[derive(Clone, Debug)]
pub struct Engine<'c> {
    /// The `device.engine`.
    pub op: Op<'c>,
    /// Its name.
    pub name: &'c str,
    /// The unit that it works beside.
    pub unit: &'c str,
    /// How many orders it holds.
    pub queue: u64,
}

impl<'c> Engine<'c> {
    fn read(op: Op<'c>) -> Option<Self> {
        Some(Self { op, name: op.symbol(), unit: symbol(op, "unit")?, queue: number(op, "queue")? })
    }
}

/// A way from one memory to another.
#[derive(Clone, Debug)]
pub struct Move<'c> {
    /// The `device.move`.
    pub op: Op<'c>,
    /// Its name.
    pub name: &'c str,
    /// The memory it reads.
    pub source: &'c str,
    /// The memory it writes.
    pub target: &'c str,
    /// What runs it beside the unit.
    pub engine: Option<&'c str>,
    /// How much it moves in one cycle.
    pub bytes_per_cycle: Option<u64>,
    /// Cycles between two moves of one register.
    pub issue_cycles: Option<f64>,
    /// Cycles until what was moved is there.
    pub latency_cycles: Option<u64>,
    /// Whether elements need not lie side by side.
    pub strided: bool,
    /// Whether it can write one number to every place.
    pub fills: bool,
    /// Whether it writes whole registers past the caches.
    pub streams: bool,
    /// The assembly of one transfer.
    pub encoding: Option<&'c str>,
}

impl<'c> Move<'c> {
    fn read(op: Op<'c>) -> Option<Self> {
        Some(Self {
            op,
            name: op.symbol(),
            source: symbol(op, "source")?,
            target: symbol(op, "target")?,
            engine: symbol(op, "engine"),
            bytes_per_cycle: number(op, "bytes_per_cycle"),
            issue_cycles: op.attr("issue_cycles").and_then(attr::float),
            latency_cycles: number(op, "latency_cycles"),
            strided: op.attr("strided").is_some(),
            fills: op.attr("fills").is_some(),
            streams: op.attr("streams").is_some(),
            encoding: text(op, "encoding"),
        })
    }
}

/// A unit that applies scalar operations to every lane of a register.
#[derive(Clone, Debug)]
pub struct Lanes<'c> {
    /// The `device.lanes`.
    pub op: Op<'c>,
    /// Its name.
    pub name: &'c str,
    /// The execution unit that has it.
    pub unit: &'c str,
    /// The register file it works in.
    pub memory: &'c str,
    /// Cycles between two operations on one register.
    pub issue_cycles: f64,
    /// Cycles until the result is there.
    pub latency_cycles: u64,
    /// Element types.
    pub types: Vec<Type<'c>>,
    /// Upstream names of the operations that it applies.
    pub operations: Vec<&'c str>,
    /// Those that can combine the lanes of one register.
    pub reductions: Vec<&'c str>,
}

impl<'c> Lanes<'c> {
    fn read(op: Op<'c>) -> Option<Self> {
        let types = op.attr("types").and_then(attr::array)?;
        Some(Self {
            op,
            name: op.symbol(),
            unit: symbol(op, "unit")?,
            memory: symbol(op, "memory")?,
            issue_cycles: op.attr("issue_cycles").and_then(attr::float)?,
            latency_cycles: number(op, "latency_cycles")?,
            types: types.into_iter().filter_map(attr::type_of).collect(),
            operations: op.attr("operations").and_then(attr::strings)?,
            reductions: op.attr("reductions").and_then(attr::strings)?,
        })
    }

    /// Whether it has the element type. Masks (`i1`) come with every unit.
    pub fn has_type(&self, elem: Type<'c>) -> bool {
        ty::is_int(elem, 1) || self.types.contains(&elem)
    }

    /// Whether it applies the operation `name` to elements of the type.
    pub fn supports(&self, name: &str, elem: Type<'c>) -> bool {
        self.operations.contains(&name) && self.has_type(elem)
    }

    /// Whether it combines lanes of the type by the operation `name`.
    pub fn reduces(&self, name: &str, elem: Type<'c>) -> bool {
        self.reductions.contains(&name) && self.has_type(elem)
    }

    /// How many elements of the type one register holds; `None` for less than one.
    pub fn lanes_for(&self, elem: Type<'c>) -> Option<u64> {
        Machine::of(self.op)?.memory(self.memory)?.lanes_for(elem)
    }
}

/// An instruction: operands, cost, meaning and lowering.
#[derive(Clone, Debug)]
pub struct Instruction<'c> {
    /// The `device.instruction`.
    pub op: Op<'c>,
    /// Its name.
    pub name: &'c str,
    /// The execution unit that has it.
    pub unit: &'c str,
    /// What does it beside the unit.
    pub engine: Option<&'c str>,
    /// The memory of each operand of the meaning.
    pub operands: Vec<&'c str>,
    /// For each operand the affine map from lane and slot to element, if it has one.
    pub fragments: Vec<Option<Attribute<'c>>>,
    /// Cycles between two of them.
    pub issue_cycles: f64,
    /// Cycles until the results are there.
    pub latency_cycles: u64,
    /// What it reaches on all units, in 10⁹ operations a second, where that was measured.
    pub gflops: Option<u64>,
    /// What may differ from the meaning.
    pub accuracy: Vec<&'c str>,
    /// The assembly of one invocation.
    pub encoding: Option<&'c str>,
}

impl<'c> Instruction<'c> {
    fn read(op: Op<'c>) -> Option<Self> {
        let operands = op.attr("operands").and_then(attr::array)?;
        let fragments = match op.attr("fragments").and_then(attr::array) {
            Some(maps) => maps.into_iter().map(|map| affine::axes(map).map(|_| map)).collect(),
            None => vec![None; operands.len()],
        };
        Some(Self {
            op,
            name: op.symbol(),
            unit: symbol(op, "unit")?,
            engine: symbol(op, "engine"),
            operands: operands.into_iter().map(attr::symbol).collect::<Option<_>>()?,
            fragments,
            issue_cycles: op.attr("issue_cycles").and_then(attr::float)?,
            latency_cycles: number(op, "latency_cycles")?,
            gflops: number(op, "gflops"),
            accuracy: op.attr("accuracy").and_then(attr::strings).unwrap_or_default(),
            encoding: text(op, "encoding"),
        })
    }

    /// What it computes, on tensors; ends in `device.yield`.
    pub fn meaning(&self) -> Option<Block<'c>> {
        self.op.first_block(0)
    }

    /// How it is written in lower-level IR; ends in `device.yield`.
    pub fn lowering(&self) -> Option<Block<'c>> {
        self.op.first_block(1)
    }

    /// The tensor type of each operand.
    pub fn operand_types(&self) -> Vec<Type<'c>> {
        let args = self.meaning().map(Block::args).unwrap_or_default();
        args.into_iter().map(|arg| arg.ty()).collect()
    }

    /// How many results it has; they overwrite as many last operands.
    pub fn result_count(&self) -> usize {
        let end = self.meaning().and_then(Block::terminator);
        end.map_or(0, |end| end.operands().len())
    }
}

fn text<'c>(op: Op<'c>, name: &str) -> Option<&'c str> {
    op.attr(name).and_then(attr::string)
}

fn symbol<'c>(op: Op<'c>, name: &str) -> Option<&'c str> {
    op.attr(name).and_then(attr::symbol)
}

fn number(op: Op<'_>, name: &str) -> Option<u64> {
    op.attr(name).and_then(attr::int).and_then(|value| u64::try_from(value).ok())
}
