//! The kind of code of a machine, by its architecture.

use weft_dialects::device::Machine;

/// An instruction set of units whose threads go in step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// NVIDIA's virtual one.
    Ptx,
    /// AMD's.
    Amdgcn,
}

impl Isa {
    /// The instruction set of an architecture, by how its name begins.
    pub fn of_arch(arch: &str) -> Option<Self> {
        match arch {
            _ if arch.starts_with("sm_") => Some(Self::Ptx),
            _ if arch.starts_with("gfx") => Some(Self::Amdgcn),
            _ => None,
        }
    }
}

/// Returns whether native code is made for a machine.
pub fn is_native(machine: Machine<'_>) -> bool {
    machine.arch() == "x86-64"
}

/// Returns whether LLVM has code for a machine; others are simulated.
pub fn has_code(machine: Machine<'_>) -> bool {
    is_native(machine) || Isa::of_arch(machine.arch()).is_some()
}
