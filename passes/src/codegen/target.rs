//! LLVM's target for a machine description.

use weft_dialects::device::Machine;

use super::CodegenError;
use crate::arch::{Isa, is_native};

/// The processor that code is made for, as plain data that threads may share.
#[derive(Clone, Debug)]
pub struct Target {
    /// LLVM's triple.
    pub triple: &'static str,
    /// LLVM's name of the processor; what it can do beyond is in `features`.
    pub cpu: String,
    /// LLVM's name of the processor for which instructions are ordered, if another.
    pub tune: Option<String>,
    /// `+avx2,+fma`, as LLVM wants it.
    pub features: String,
    /// Bits of the widest register.
    pub register_bits: u64,
    /// The instruction set, where a kernel is code for one thread of many.
    pub isa: Option<Isa>,
}

impl Target {
    /// The target of a machine.
    ///
    /// # Errors
    /// When LLVM has no code for its architecture here.
    pub fn of(machine: Machine<'_>) -> Result<Self, CodegenError> {
        let (arch, isa) = (machine.arch(), Isa::of_arch(machine.arch()));
        let triple = match isa {
            Some(isa) => isa.triple(),
            None if is_native(machine) => "x86_64-unknown-linux-gnu",
            None => return Err(CodegenError::Architecture(arch.to_owned())),
        };
        let features: Vec<_> =
            machine.features().iter().map(|feature| format!("+{feature}")).collect();
        Ok(Self {
            triple,
            cpu: arch.to_owned(),
            tune: machine.tune().map(str::to_owned),
            features: features.join(","),
            register_bits: 8 * register_bytes(machine),
            isa,
        })
    }
}

/// Bytes of the widest register that is no tile, or of a scalar one where there are no others.
pub fn register_bytes(machine: Machine<'_>) -> u64 {
    let memories = machine.memories().into_iter().filter(|memory| !memory.holds_tiles());
    memories.filter_map(|memory| memory.register_bytes()).max().unwrap_or(8)
}

/// Returns whether some lanes of a register can be moved to and from memory by a mask.
///
/// Without it a partial move goes in pieces: stores under a vector's sign bits,
/// which older processors have, are slower than that.
pub fn masks(machine: Machine<'_>, elem_bits: u64) -> bool {
    let features = machine.features();
    let has = |feature| features.contains(&feature);
    has("avx512f")
        && (elem_bits >= 32 || has("avx512bw"))
        && (register_bytes(machine) == 64 || has("avx512vl"))
}

/// Returns whether arithmetic on the 16-bit float with five exponent bits is native.
pub fn half_arithmetic(machine: Machine<'_>) -> bool {
    Isa::of_arch(machine.arch()).is_some() || machine.features().contains(&"avx512fp16")
}
