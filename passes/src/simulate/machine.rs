//! The machine half as plain data.

use weft_dialects::device::{self, Machine};
use weft_dialects::ir::ty;
use weft_runtime::simulate as plain;

use super::TranslateError;
use super::names::Names;
use crate::interpret::{Compiled, InterpretError, element_type};

/// The facts of a machine whose units of the name `unit` run programs.
pub(super) fn translate(
    machine: Machine<'_>,
    unit: &str,
    names: &Names<'_>,
) -> Result<plain::Machine, TranslateError> {
    let facts = Facts { machine, names };
    let own = machine.unit(unit).ok_or_else(|| facts.wrong(format!("it has no unit @{unit}")))?;
    let shared = machine.shared();
    let shared = shared.ok_or_else(|| facts.wrong("no memory is shared by all".to_owned()))?;
    let engines = machine.engines().into_iter();
    let engines =
        engines.map(|fact| plain::Engine { name: fact.name.to_owned(), queue: fact.queue() });
    let lanes = machine.lanes_units().into_iter();
    let lanes = lanes.map(|fact| plain::LaneUnit {
        name: fact.name.to_owned(),
        issue_cycles: fact.issue_cycles(),
        latency_cycles: fact.latency_cycles(),
    });
    Ok(plain::Machine {
        name: machine.name().to_owned(),
        unit: own.name.to_owned(),
        units: own.count(),
        cluster_units: machine.cluster_units(&own).unwrap_or(0),
        clock_mhz: own.clock_mhz(),
        wait_cycles: own.wait_cycles(),
        launch_cycles: own.launch_cycles().unwrap_or(0),
        memories: facts.memories()?,
        shared: facts.memory(shared.name)?,
        engines: engines.collect(),
        moves: facts.moves()?,
        instructions: facts.instructions()?,
        lanes: lanes.collect(),
    })
}

/// The facts of a machine, and what stands for their names in plain data.
struct Facts<'a, 'c> {
    machine: Machine<'c>,
    names: &'a Names<'c>,
}

impl Facts<'_, '_> {
    fn wrong(&self, what: String) -> TranslateError {
        TranslateError::Machine { machine: self.machine.name().to_owned(), what }
    }

    fn memory(&self, name: &str) -> Result<u32, TranslateError> {
        let found = self.names.memories.get(name).copied();
        found.ok_or_else(|| self.wrong(format!("it has no memory @{name}")))
    }

    fn engine(&self, name: Option<&str>) -> Result<Option<u32>, TranslateError> {
        let Some(name) = name else { return Ok(None) };
        let found = self.names.engines.get(name).copied();
        found.map(Some).ok_or_else(|| self.wrong(format!("it has no engine @{name}")))
    }

    fn memories(&self) -> Result<Vec<plain::Memory>, TranslateError> {
        let plain = |fact: device::Memory<'_>| {
            Ok(plain::Memory {
                name: fact.name.to_owned(),
                scope: scope(fact.scope()),
                capacity_bytes: fact.capacity_bytes(),
                bytes_per_cycle: fact.bytes_per_cycle(),
                transaction_bytes: fact.transaction_bytes(),
                banks: fact.banks(),
                bank_bytes: fact.bank_bytes(),
                register_bytes: fact.register_bytes(),
                lanes: fact.lanes(),
                caches: fact.caches().map(|name| self.memory(name)).transpose()?,
                within: fact.within().map(|name| self.memory(name)).transpose()?,
            })
        };
        self.machine.memories().into_iter().map(plain).collect()
    }

    fn moves(&self) -> Result<Vec<plain::Move>, TranslateError> {
        let plain = |fact: device::Move<'_>| {
            Ok(plain::Move {
                name: fact.name.to_owned(),
                source: self.memory(fact.source())?,
                target: self.memory(fact.target())?,
                engine: self.engine(fact.engine())?,
                bytes_per_cycle: fact.bytes_per_cycle(),
                issue_cycles: fact.issue_cycles(),
                latency_cycles: fact.latency_cycles().unwrap_or(0),
            })
        };
        self.machine.moves().into_iter().map(plain).collect()
    }

    fn instructions(&self) -> Result<Vec<plain::Instruction>, TranslateError> {
        self.machine.instructions().into_iter().map(|fact| self.instruction(&fact)).collect()
    }

    /// An instruction with its meaning as a program.
    fn instruction(
        &self,
        fact: &device::Instruction<'_>,
    ) -> Result<plain::Instruction, TranslateError> {
        let compiled = Compiled::of(fact.meant())?;
        let places = fact.operands().iter().zip(fact.operand_types());
        let operands = places.map(|(name, operand)| {
            let elem = ty::elem(operand).and_then(element_type).zip(ty::shape(operand));
            let (ty, shape) = elem.ok_or_else(|| InterpretError::ty(fact.meant(), operand))?;
            Ok(plain::Operand { memory: self.memory(name)?, ty, shape })
        });
        Ok(plain::Instruction {
            name: fact.name.to_owned(),
            engine: self.engine(fact.engine())?,
            issue_cycles: fact.issue_cycles(),
            latency_cycles: fact.latency_cycles(),
            meaning: plain::Meaning {
                operands: operands.collect::<Result<_, TranslateError>>()?,
                program: compiled.program,
                constants: compiled.constants,
            },
        })
    }
}

/// Returns the scope as plain data.
pub(super) fn scope(scope: device::Scope) -> plain::Scope {
    match scope {
        device::Scope::Thread => plain::Scope::Thread,
        device::Scope::Warp => plain::Scope::Warp,
        device::Scope::Warpgroup => plain::Scope::Warpgroup,
        device::Scope::Core => plain::Scope::Core,
        device::Scope::Cluster => plain::Scope::Cluster,
        device::Scope::Device => plain::Scope::Device,
        device::Scope::Host => plain::Scope::Host,
    }
}
