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
    let wrong = |what: String| TranslateError::Machine { machine: machine.name().to_owned(), what };
    let facts = machine.unit(unit).ok_or_else(|| wrong(format!("it has no unit @{unit}")))?;
    let shared = machine.shared().ok_or_else(|| wrong("no memory is shared by all".to_owned()))?;
    let memory = |name: &str| {
        let found = names.memories.get(name).copied();
        found.ok_or_else(|| wrong(format!("it has no memory @{name}")))
    };
    let engine = |name: Option<&str>| match name {
        None => Ok(None),
        Some(name) => {
            let found = names.engines.get(name).copied();
            found.map(Some).ok_or_else(|| wrong(format!("it has no engine @{name}")))
        }
    };
    let memories = machine.memories().into_iter().map(|fact| {
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
            caches: fact.caches().map(memory).transpose()?,
            within: fact.within().map(memory).transpose()?,
        })
    });
    let memories = memories.collect::<Result<_, TranslateError>>()?;
    let engines = machine.engines().into_iter();
    let engines =
        engines.map(|fact| plain::Engine { name: fact.name.to_owned(), queue: fact.queue() });
    let moves = machine.moves().into_iter().map(|fact| {
        Ok(plain::Move {
            name: fact.name.to_owned(),
            source: memory(fact.source())?,
            target: memory(fact.target())?,
            engine: engine(fact.engine())?,
            bytes_per_cycle: fact.bytes_per_cycle(),
            issue_cycles: fact.issue_cycles(),
            latency_cycles: fact.latency_cycles().unwrap_or(0),
        })
    });
    let moves = moves.collect::<Result<_, TranslateError>>()?;
    let instructions = machine.instructions().into_iter().map(|fact| {
        let compiled = Compiled::of(fact.meant())?;
        let places = fact.operands().iter().zip(fact.operand_types());
        let operands = places.map(|(name, operand)| {
            let elem = ty::elem(operand).and_then(element_type).zip(ty::shape(operand));
            let (ty, shape) = elem.ok_or_else(|| InterpretError::ty(fact.meant(), operand))?;
            Ok(plain::Operand { memory: memory(name)?, ty, shape })
        });
        Ok(plain::Instruction {
            name: fact.name.to_owned(),
            engine: engine(fact.engine())?,
            issue_cycles: fact.issue_cycles(),
            latency_cycles: fact.latency_cycles(),
            meaning: plain::Meaning {
                operands: operands.collect::<Result<_, TranslateError>>()?,
                program: compiled.program,
                constants: compiled.constants,
            },
        })
    });
    let instructions = instructions.collect::<Result<_, TranslateError>>()?;
    let lanes = machine.lanes_units().into_iter();
    let lanes = lanes.map(|fact| plain::LaneUnit {
        name: fact.name.to_owned(),
        issue_cycles: fact.issue_cycles(),
        latency_cycles: fact.latency_cycles(),
    });
    Ok(plain::Machine {
        name: machine.name().to_owned(),
        unit: facts.name.to_owned(),
        units: facts.count(),
        cluster_units: machine.cluster_units(&facts).unwrap_or(0),
        clock_mhz: facts.clock_mhz(),
        wait_cycles: facts.wait_cycles(),
        launch_cycles: facts.launch_cycles().unwrap_or(0),
        memories,
        shared: memory(shared.name)?,
        engines: engines.collect(),
        moves,
        instructions,
        lanes: lanes.collect(),
    })
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
