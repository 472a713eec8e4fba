//! The machine half: memories, engines, moves, units, lanes and instructions by name.

use super::used::{self, EVERYTHING, Used, Uses};
use super::{Engine, Instruction, Lanes, Memory, Move, Scope, Unit};
use crate::ir::pass::{Failed, Run};
use crate::ir::{Block, Location, Op, Report, Type, attr, ty};

/// The machine that a module is compiled for.
///
/// A view onto a `device.machine`; every question reads the IR again, and what it reads counts
/// as used.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'c> {
    op: Op<'c>,
}

/// The facts that are the machine's own.
const FACTS: &[&str] = &["sym_name", "arch", "features", "tune"];

impl<'c> Machine<'c> {
    /// A view onto a `device.machine`.
    pub fn new(op: Op<'c>) -> Self {
        Self { op }
    }

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
            .map(Self::new)
    }

    /// The machine that [`Machine::of`] finds.
    ///
    /// # Errors
    /// Reported: there is none.
    pub fn required(op: Op<'c>) -> Result<Self, Failed> {
        Self::of(op).ok_or_else(|| {
            Report::new(op.location(), "the module has no device.machine")
                .help("put one in with device-load-machine{file=...}");
            Failed
        })
    }

    /// The operation, for reports and copies; all of the machine counts as used.
    pub fn op(self) -> Op<'c> {
        self.uses(EVERYTHING);
        self.op
    }

    /// The operation, for who reads no fact from it.
    pub(crate) fn raw(self) -> Op<'c> {
        self.op
    }

    /// Returns the source location.
    pub fn location(self) -> Location<'c> {
        self.op.location()
    }

    /// Kernels with its text, for a context of another thread: without the instructions that they do not
    /// name, for all that stand there are verified again, and without engines that have no others. An
    /// instruction stays, too, whose name is how one begins that they name.
    pub fn carry(self, kernels: &str) -> String {
        let named = |op: &Op<'c>| kernels.contains(&format!("@{}", op.symbol()));
        let facts = self.op.first_block(0).into_iter().flat_map(|block| block.ops());
        let kept = facts.filter(|op| !op.is("device.instruction") || named(op));
        let engines: Vec<_> = kept.filter_map(|op| super::view::symbol(op, "engine")).collect();
        let unneeded = |op: Op<'c>| match op.name() {
            "device.instruction" => !named(&op),
            "device.engine" => !engines.contains(&op.symbol()),
            _ => false,
        };
        let machine = self.op.own_text_without(&unneeded);
        format!("{machine}\n{kernels}\n")
    }

    /// What listens to its context: what is used in the context of another thread is used here.
    pub fn listener(self) -> Option<Uses> {
        Uses::around(self.op)
    }

    /// Removes it from its module; it must not be used any more.
    pub fn erase(self) {
        self.op.erase();
    }

    fn uses(self, fact: u32) {
        Used::of(self.op, "device.machine", FACTS).mark(fact);
    }

    /// The name.
    pub fn name(self) -> &'c str {
        self.uses(0);
        self.op.symbol()
    }

    /// The architecture, such as `x86-64` or `sm_90a`.
    pub fn arch(self) -> &'c str {
        self.uses(1);
        super::view::text(self.op, "arch").unwrap_or("")
    }

    /// Returns the processor features that the code needs, by LLVM's names.
    pub fn features(self) -> Vec<&'c str> {
        self.uses(2);
        self.op.attr("features").and_then(attr::strings).unwrap_or_default()
    }

    /// The processor for which instructions are ordered, by LLVM's name.
    pub fn tune(self) -> Option<&'c str> {
        self.uses(3);
        super::view::text(self.op, "tune")
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
            .find(|memory| memory.scope() == Scope::Device && memory.caches().is_none())
    }

    /// Returns the memory that holds a value of type `memref`.
    pub fn memory_of(self, memref: Type<'c>) -> Option<Memory<'c>> {
        match ty::memory(memref) {
            Some(name) => self.memory(name),
            None => self.shared(),
        }
    }

    /// The memory that moves see where `name` is read or written: behind caches, the memory that
    /// they are caches of; where addresses lie within another's, that one.
    pub fn behind(self, name: &str) -> Option<Memory<'c>> {
        let mut memory = self.memory(name)?;
        // As many steps as there are memories, for caches may wrongly go in a circle.
        for _ in self.facts("device.memory") {
            let Some(next) = memory.caches().or(memory.within()) else { break };
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

    /// Returns the number of units of `unit`'s kind in one cluster, if they are in clusters.
    pub fn cluster_units(self, unit: &Unit<'c>) -> Option<u64> {
        let clusters = self.unit(unit.cluster()?)?.count();
        unit.count().checked_div(clusters).filter(|&units| units > 0)
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

    /// The first move from the memory `from` to the memory `to` of which each lane does its part alone.
    pub fn move_between(self, from: &str, to: &str) -> Option<Move<'c>> {
        self.facts("device.move")
            .filter_map(Move::read)
            .find(|way| way.source() == from && way.target() == to && way.gathers().is_none())
    }

    /// The first move from the memory `from` to the memory `to` that goes past the caches.
    pub fn stream_between(self, from: &str, to: &str) -> Option<Move<'c>> {
        self.facts("device.move")
            .filter_map(Move::read)
            .find(|way| way.streams() && way.source() == from && way.target() == to)
    }

    /// The first move to the memory `to` that can write one number to every place.
    pub fn fill_of(self, to: &str) -> Option<Move<'c>> {
        self.facts("device.move")
            .filter_map(Move::read)
            .find(|way| way.fills() && way.target() == to)
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
        used::texts(self.op, "irdl.dialect");
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
        used::texts(self.op, "pdl.pattern");
        self.facts("pdl.pattern").collect()
    }

    /// Returns every operation of the name `kind` in the machine; their number and names count as
    /// used, their attributes do not.
    pub(crate) fn facts<'k>(self, kind: &'k str) -> impl Iterator<Item = Op<'c>> + use<'c, 'k> {
        used::names(self.op, kind);
        let body = self.op.first_block(0);
        body.into_iter().flat_map(Block::iter).filter(move |op| op.is(kind))
    }

    /// The operation of the name `kind` with the symbol `name`, however malformed.
    pub(crate) fn fact(self, kind: &str, name: &str) -> Option<Op<'c>> {
        self.facts(kind).find(|op| op.symbol() == name)
    }
}

impl<'c> Run<'c> {
    /// The machine of the module.
    ///
    /// # Errors
    /// Reported: there is none.
    pub fn machine(&self) -> Result<Machine<'c>, Failed> {
        Machine::required(self.module)
    }
}
