//! From the device stage to the simulator's plain data.
//!
//! ```text
//! device.machine, device.kernel  ->  weft_runtime::simulate::Code
//! ```
//!
//! Meanings of instructions are compiled by [`crate::interpret`], bodies of `device.apply`
//! and `device.combine` by the same table; everything else is renamed, one to one.

mod index;
mod kernel;
mod machine;
mod names;
mod work;

use weft_dialects::device::{self, Machine};
use weft_dialects::ir::{Block, Op};
use weft_runtime::simulate::{Code, SimulateError};

use crate::interpret::InterpretError;

/// Why a module has no simulated code.
#[derive(Debug, thiserror::Error)]
pub enum TranslateError {
    /// Something in the text that the simulator does not know.
    #[error("{0}")]
    Unknown(#[from] InterpretError),
    /// A machine that its verifier would refuse, or that lacks what a program needs.
    #[error("machine @{machine}: {what}")]
    Machine {
        /// Its name.
        machine: String,
        /// The error.
        what: String,
    },
    /// The result breaks the simulator's rules.
    #[error("the simulator refuses what was made")]
    Code(#[from] SimulateError),
}

/// The simulated code of all kernels of a module, to run on units of the name `unit`.
///
/// # Errors
/// The first operation or fact that the simulator does not know, by name.
pub fn translate(module: Op<'_>, machine: Machine<'_>, unit: &str) -> Result<Code, TranslateError> {
    let names = names::Names::of(machine);
    let facts = machine::translate(machine, unit, &names)?;
    let ops = module.body(0).map(Block::ops).unwrap_or_default();
    let kernels = ops.into_iter().filter_map(device::Kernel::of);
    let kernels = kernels.map(|kernel| kernel::translate(machine, &facts, &names, &kernel));
    let code = Code { kernels: kernels.collect::<Result<_, _>>()?, machine: facts };
    code.validate()?;
    Ok(code)
}
