//! A machine as Roller sees it: one device memory, one local memory per core, registers per thread.

use weft_dialects::device::{Instruction, Machine, Memory, Scope};
use weft_dialects::ir::{Type, ty};

/// Facts of a machine that the policies need. Read from a `device.machine` by [`Arch::of`].
#[derive(Clone, Debug, PartialEq)]
pub struct Arch {
    /// Name of the memory that all cores share.
    pub device: String,
    /// Name of the memory of one core in which tiles wait.
    pub local: String,
    /// Name of the register file.
    pub registers: String,
    /// Bandwidth of the device memory, in GB/s.
    pub device_gbytes_per_s: f64,
    /// Bandwidth of the local memories of all cores together, in GB/s.
    pub local_gbytes_per_s: f64,
    /// Smallest access to the device memory.
    pub device_transaction_bytes: u64,
    /// Bytes of the local memory that one block may have.
    pub local_bytes: u64,
    /// Banks of the local memory, and how wide one is.
    pub banks: u64,
    /// Bytes of a bank.
    pub bank_bytes: u64,
    /// Multiply-adds of all cores, counted as two operations, in 10⁹ a second.
    pub peak_gflops: f64,
    /// Registers of 32 bits that one thread may have.
    pub thread_registers: u64,
    /// Registers of 32 bits that the threads of one block may have together.
    pub block_registers: u64,
    /// Cores.
    pub cores: u64,
    /// Parts of a core that issue side by side.
    pub partitions: u64,
    /// Threads that go in step.
    pub warp: u64,
    /// The most threads of a block.
    pub block_threads: u64,
    /// Registers that a word takes which a thread brings to the local memory, on its way there.
    pub staging: u64,
    /// A matrix instruction, where the operator is to be computed by one.
    pub matrix: Option<MatrixUnit>,
}

/// A matrix instruction of a warp.
#[derive(Clone, Debug, PartialEq)]
pub struct MatrixUnit {
    /// Its name.
    pub name: String,
    /// Its extents: rows, columns, reduction.
    pub sizes: [u64; 3],
    /// Operations of all cores, in 10⁹ a second.
    pub peak_gflops: f64,
}

/// The reason that a machine has no view as an [`Arch`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArchError {
    /// The machine lacks a fact.
    #[error("@{machine} has no {what}")]
    Lacks {
        /// The machine.
        machine: String,
        /// The missing fact.
        what: &'static str,
    },
    /// The machine lacks a matrix instruction for the element type.
    #[error("@{machine} has no matrix instruction on {elem}")]
    Matrix {
        /// The machine.
        machine: String,
        /// The element type.
        elem: String,
    },
}

impl Arch {
    /// The view of a machine for operators on elements of one type.
    ///
    /// # Errors
    /// The missing fact: a memory of a core that is no cache, registers spread over lanes, a
    /// bandwidth, a transaction size, an instruction that multiplies and adds.
    pub fn of(machine: Machine<'_>, elem: Type<'_>) -> Result<Self, ArchError> {
        let peak = machine
            .instructions()
            .iter()
            .filter(|instruction| sizes(instruction).is_none() && works_on(instruction, elem))
            .filter_map(|instruction| gflops(machine, instruction))
            .reduce(f64::max);
        let transaction = machine.shared().and_then(|device| device.transaction_bytes());
        Self::with(machine, peak, transaction)
    }

    /// The view of what computes so many 10⁹ operations a second, and brings so many bytes at least.
    fn with(
        machine: Machine<'_>,
        peak_gflops: Option<f64>,
        device_transaction_bytes: Option<u64>,
    ) -> Result<Self, ArchError> {
        let lacks = |what| ArchError::Lacks { machine: machine.name().to_owned(), what };
        let unit = machine.units().into_iter().next().ok_or_else(|| lacks("unit"))?;
        let device = machine.shared().ok_or_else(|| lacks("memory that all units share"))?;
        let memories = machine.memories();
        let local = memories
            .iter()
            .find(|memory| {
                memory.scope() == Scope::Core && !memory.is_cache() && !memory.is_registers()
            })
            .ok_or_else(|| lacks("memory of a core that tiles are moved to"))?;
        let registers = memories.iter().find(|memory| memory.lanes().is_some());
        let (registers, warp) = registers
            .and_then(|memory| Some((memory, memory.lanes()?)))
            .ok_or_else(|| lacks("registers that are spread over lanes"))?;
        let register_bytes = registers.register_bytes().unwrap_or(warp).max(1);
        let clock_ghz = unit.clock_mhz().map(|mhz| mhz as f64 / 1e3);
        let rate = |memory: &Memory<'_>, copies: u64| {
            let measured = memory.gbytes_per_second().map(|rate| rate as f64);
            measured.or_else(|| Some(memory.bytes_per_cycle()? as f64 * clock_ghz? * copies as f64))
        };
        let bytes_per_lane = (register_bytes / warp).max(1);
        Ok(Self {
            device: device.name.to_owned(),
            local: local.name.to_owned(),
            registers: registers.name.to_owned(),
            device_gbytes_per_s: rate(&device, 1)
                .ok_or_else(|| lacks("bandwidth of the shared memory"))?,
            local_gbytes_per_s: rate(local, unit.count())
                .ok_or_else(|| lacks("bandwidth of the memory of a core"))?,
            device_transaction_bytes: device_transaction_bytes
                .ok_or_else(|| lacks("transaction size of the shared memory"))?,
            local_bytes: local.capacity_bytes(),
            banks: local.banks().unwrap_or(1).max(1),
            bank_bytes: local.bank_bytes().unwrap_or(4).max(1),
            peak_gflops: peak_gflops
                .ok_or_else(|| lacks("instruction that multiplies and adds"))?,
            thread_registers: registers.capacity_bytes() / register_bytes * bytes_per_lane / 4,
            block_registers: registers.core_bytes().map_or(u64::MAX, |bytes| bytes / 4),
            cores: unit.count(),
            partitions: unit.partitions(),
            warp,
            matrix: None,
            block_threads: unit.block_lanes(),
            staging: 0,
        })
    }

    /// The view for what one instruction computes, of `sizes` points (rows, columns, reduction)
    /// where it has axes of its own, in blocks whose code weft writes: tiles leave registers to
    /// addresses and to what is on its way, and `local` is what a kernel may have of it.
    ///
    /// # Errors
    /// As [`Arch::of`], but for the instruction.
    pub fn by(
        machine: Machine<'_>,
        instruction: &Instruction<'_>,
        sizes: Option<[u64; 3]>,
        local: &Memory<'_>,
    ) -> Result<Self, ArchError> {
        let peak_gflops = gflops(machine, instruction);
        // If the machine states no transaction, any row is as good as another.
        let transaction =
            machine.shared().and_then(|device| device.transaction_bytes()).unwrap_or(1);
        let mut facts = Self::with(machine, peak_gflops, Some(transaction))?;
        let own = instruction.operands().last().and_then(|name| machine.memory(name));
        if let Some((own, lanes)) = own.and_then(|own| Some((own.clone(), own.lanes()?))) {
            facts = facts.with_groups(&own, lanes);
        }
        let registers = machine.memory(&facts.registers);
        let spare = registers.map_or(0, |own| own.reserved_bytes() / facts.warp / 4);
        let name = instruction.name.to_owned();
        Ok(Self {
            local: local.name.to_owned(),
            local_bytes: local.kernel_bytes(),
            thread_registers: facts.thread_registers.saturating_sub(spare),
            matrix: sizes.map(|sizes| MatrixUnit { name, sizes, peak_gflops: facts.peak_gflops }),
            // The word, and what is left of its address.
            staging: 2,
            ..facts
        })
    }

    /// The same view with groups of so many lanes, which hold their tiles in other registers.
    fn with_groups(self, registers: &Memory<'_>, lanes: u64) -> Self {
        let register_bytes = registers.register_bytes().unwrap_or(lanes).max(1);
        let bytes_per_lane = (register_bytes / lanes).max(1);
        Self {
            registers: registers.name.to_owned(),
            thread_registers: registers.capacity_bytes() / register_bytes * bytes_per_lane / 4,
            block_registers: registers.core_bytes().map_or(u64::MAX, |bytes| bytes / 4),
            partitions: (self.partitions / (lanes / self.warp).max(1)).max(1),
            warp: lanes,
            ..self
        }
    }

    /// The same view for operators that the fastest matrix instruction on `elem` computes.
    ///
    /// # Errors
    /// As [`Arch::of`]; a machine without such an instruction.
    pub fn with_matrix(machine: Machine<'_>, elem: Type<'_>) -> Result<Self, ArchError> {
        let instructions = machine.instructions();
        let found = instructions.iter().filter(|instruction| first_is(instruction, elem));
        let found = found.filter_map(|instruction| {
            let peak_gflops = gflops(machine, instruction)?;
            Some(MatrixUnit {
                name: instruction.name.to_owned(),
                sizes: sizes(instruction)?,
                peak_gflops,
            })
        });
        let matrix = found
            .reduce(|best, next| if next.peak_gflops > best.peak_gflops { next } else { best });
        let Some(matrix) = matrix else {
            let (machine, elem) = (machine.name().to_owned(), elem.to_string());
            return Err(ArchError::Matrix { machine, elem });
        };
        // Sums are wider than factors: the lanes compute with what the instruction gives.
        let sums = machine
            .instruction(&matrix.name)
            .and_then(|found| ty::elem(*found.operand_types().last()?));
        Ok(Self { matrix: Some(matrix), ..Self::of(machine, sums.unwrap_or(elem))? })
    }

    /// Unit of a block's threads: a warp for each part of a core.
    pub fn issue_threads(&self) -> u64 {
        self.warp.saturating_mul(self.partitions)
    }

    /// Elements of a transaction.
    pub fn transaction_elements(&self, elem_bytes: u64) -> u64 {
        (self.device_transaction_bytes / elem_bytes.max(1)).max(1)
    }

    /// Operations of all cores, in 10⁹ a second, for what computes the operator.
    pub fn peak(&self) -> f64 {
        self.matrix.as_ref().map_or(self.peak_gflops, |matrix| matrix.peak_gflops)
    }
}

/// Rows, columns and reduction of an instruction that multiplies two matrices.
fn sizes(instruction: &Instruction<'_>) -> Option<[u64; 3]> {
    let shapes: Option<Vec<_>> = instruction.operand_types().into_iter().map(ty::shape).collect();
    match shapes?.as_slice() {
        [left, _, sums] => match (left.as_slice(), sums.as_slice()) {
            (&[_, depth], &[rows, columns]) => Some([rows, columns, depth]),
            _ => None,
        },
        _ => None,
    }
}

fn first_is(instruction: &Instruction<'_>, elem: Type<'_>) -> bool {
    instruction.operand_types().first().and_then(|ty| ty::elem(*ty)) == Some(elem)
}

/// Returns whether every operand of a multiply-add is of the type.
fn works_on(instruction: &Instruction<'_>, elem: Type<'_>) -> bool {
    let types = instruction.operand_types();
    types.len() == 3 && types.iter().all(|ty| ty::elem(*ty) == Some(elem))
}

/// Throughput on all units, in 10⁹ operations a second: what was measured, or a multiplication and
/// an addition per element of the sum, and per step of the reduction.
fn gflops(machine: Machine<'_>, instruction: &Instruction<'_>) -> Option<f64> {
    if let Some(measured) = instruction.gflops() {
        return Some(measured as f64);
    }
    let unit = machine.unit(instruction.unit())?;
    let sums: u64 = ty::shape(*instruction.operand_types().last()?)?.iter().product();
    let depth = sizes(instruction).map_or(1, |[_, _, depth]| depth);
    let each = 2.0 * (sums * depth) as f64 / instruction.issue_cycles();
    Some(each * unit.clock_mhz()? as f64 / 1e3 * unit.count() as f64)
}
