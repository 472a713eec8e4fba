//! Kernels as they will run: flat code, and sites with everything that does not depend on
//! index values worked out.

use super::area::Area;
use super::error::SimulateError;
use super::flatten::Flatten;
use super::machine::{EngineId, Machine, MemoryId, Scope};
use super::program::{Code, Kernel, MemRefId, Slot, TokenSlot, Use, Value};
use crate::vm::{Prepared, TensorId};

/// A flat instruction.
#[derive(Debug)]
pub(super) enum Inst {
    Set {
        to: Slot,
        value: Value,
    },
    /// Sets the counter, and goes to `exit` if there is no round.
    Enter {
        counter: Slot,
        begin: Slot,
        end: Slot,
        step: Slot,
        exit: u32,
    },
    /// Goes back to `top` if there is another round.
    Next {
        counter: Slot,
        end: Slot,
        step: Slot,
        top: u32,
    },
    Branch {
        condition: Slot,
        otherwise: u32,
    },
    Jump(u32),
    /// Allocations from here on end at the matching [`Inst::Close`].
    Open,
    Close,
    Alloc(MemRefId),
    /// An operation on data, by number.
    Site(u32),
    Wait(Vec<TokenSlot>),
    Ready(TokenSlot),
    Keep {
        to: TokenSlot,
        from: TokenSlot,
    },
    Barrier(Scope),
}

/// A kernel, ready to run.
#[derive(Debug)]
pub(super) struct Ready<'c> {
    pub kernel: &'c Kernel,
    /// Its place in the code.
    pub place: usize,
    pub code: Vec<Inst>,
    /// Per flat instruction, the operation's path.
    pub paths: Vec<Vec<u32>>,
    pub sites: Vec<Site>,
}

/// An operation on data.
#[derive(Debug)]
pub(super) struct Site {
    pub kind: SiteKind,
    pub engine: Option<EngineId>,
    pub token: Option<TokenSlot>,
    pub sides: Vec<Side>,
    /// Index of its instruction in the flat code.
    pub at: u32,
    /// Its place among the sites of its kernel, and that of the kernel in the code.
    pub number: u32,
    pub kernel: u32,
    /// Name of the move, instruction or lane unit, as counted.
    pub cost: Cost,
}

#[derive(Debug)]
pub(super) enum SiteKind {
    /// From side 0 to side 1; a third side becomes zero.
    Copy,
    /// To side 0.
    Fill {
        element: [u8; 8],
    },
    Invoke {
        instruction: u32,
    },
    Apply(Box<Apply>),
}

/// The cost of an operation, apart from its memories.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// Which facts they are.
    pub by: By,
    pub issue_cycles: f64,
    pub latency_cycles: u64,
    pub bytes_per_cycle: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum By {
    Move(u32),
    Instruction(u32),
    Lanes { unit: u32, combines: bool },
}

#[derive(Debug)]
pub(super) struct Apply {
    pub work: Prepared<'static>,
    pub tables: Vec<MemRefId>,
    /// Memory and element size of each.
    pub table_elements: Vec<(MemoryId, u64)>,
    pub indices: Vec<Slot>,
}

/// One operand of an operation.
#[derive(Debug)]
pub(super) struct Side {
    pub memref: MemRefId,
    pub memory: MemoryId,
    pub indices: Vec<Slot>,
    /// Bytes per step of each index.
    pub strides: Vec<i64>,
    /// The upper bound of each index.
    pub limits: Vec<i64>,
    /// Extent along each dimension, for reports.
    pub extent: Vec<u64>,
    /// Size of the buffer.
    pub bytes: u64,
    pub area: Area,
    pub uses: Use,
}

/// The meaning of an instruction, ready to run.
pub(super) struct ReadyMeaning<'c> {
    pub program: Prepared<'c>,
    /// Per operand, the tensor it is given in, if the program looks at it.
    pub inputs: Vec<Option<TensorId>>,
    /// Per result, the tensor it is taken from.
    pub outputs: Vec<TensorId>,
}

/// Prepares the meanings of all instructions.
pub(super) fn meanings(machine: &Machine) -> Result<Vec<ReadyMeaning<'_>>, SimulateError> {
    machine
        .instructions
        .iter()
        .map(|instruction| {
            let meaning = &instruction.meaning;
            let program = meaning.program.prepare().map_err(|error| SimulateError::Meaning {
                what: format!("@{}", instruction.name),
                error,
            })?;
            let first = meaning.first_result();
            let inputs = meaning.program.inputs[..meaning.operands.len()].iter().enumerate();
            let inputs = inputs.map(|(i, &tensor)| {
                (i < first || meaning.program.looks_at(tensor)).then_some(tensor)
            });
            Ok(ReadyMeaning {
                program,
                inputs: inputs.collect(),
                outputs: meaning.program.outputs.clone(),
            })
        })
        .collect()
}

impl<'c> Ready<'c> {
    /// Prepares a kernel of validated code.
    pub fn new(
        code: &'c Code,
        place: usize,
        meanings: &[ReadyMeaning<'_>],
    ) -> Result<Ready<'c>, SimulateError> {
        let kernel = &code.kernels[place];
        let ready = Ready { kernel, place, code: Vec::new(), paths: Vec::new(), sites: Vec::new() };
        let mut flat =
            Flatten { machine: &code.machine, kernel, meanings, ready, path: Vec::new() };
        flat.block(&kernel.body, 0)?;
        Ok(flat.ready)
    }

    /// The operation as text names it.
    pub fn name(&self, machine: &Machine, at: usize) -> String {
        match self.code.get(at) {
            Some(Inst::Site(site)) => self.sites[*site as usize].name(machine),
            Some(Inst::Wait(_)) => "device.wait".to_owned(),
            Some(Inst::Barrier(scope)) => format!("device.barrier {:?}", scope.name()),
            Some(Inst::Alloc(_)) => "device.alloc".to_owned(),
            Some(Inst::Set { .. }) => "index arithmetic".to_owned(),
            _ => "the end of a block".to_owned(),
        }
    }
}

impl Site {
    /// The operation as text names it.
    pub fn name(&self, machine: &Machine) -> String {
        match self.cost.by {
            By::Move(way) => {
                let op = match (&self.kind, self.token) {
                    (SiteKind::Fill { .. }, _) => "device.fill",
                    (_, Some(_)) => "device.transfer",
                    _ => "device.copy",
                };
                format!("{op} @{}", machine.moves[way as usize].name)
            }
            By::Instruction(i) => {
                format!("device.invoke @{}", machine.instructions[i as usize].name)
            }
            By::Lanes { unit, combines } => {
                let op = if combines { "device.combine" } else { "device.apply" };
                format!("{op} @{}", machine.lanes[unit as usize].name)
            }
        }
    }
}
