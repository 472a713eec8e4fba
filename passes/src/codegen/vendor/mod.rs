//! Device programs in the vendor's own operations, and as a listing of assembly.
//!
//! ```text
//! %s = device.alloc : memref<..., "spad">      %s = device.alloc {address = 4096} : ...
//! device.invoke @mac(%a[..], %b[..], %c[..])   %0 = affine.apply #map(%i, %j)
//!                                          ->  %1 = ...
//!                                              "toy.mac"(%0, %1, %2) : (index, ...) -> ()
//! ```
//!
//! An allocation gets its address in its memory (`allocations.rs`), an invocation becomes the
//! instruction's lowering on byte addresses (`inline.rs`), then the machine's own patterns
//! run over what that gives. An instruction whose lowering has no operation of the vendor
//! stays an invocation. A vendor's operation gives no token, so `device.mark` takes one of
//! the engine that does it.
//!
//! The listing (`listing/`) writes each instruction and move by its encoding.

mod allocations;
mod inline;
mod listing;
mod sum;

pub use listing::listing;

use weft_dialects::device::{Invoke, Kernel, Machine};
use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{Context, Op, Report, apply_patterns};

use super::target::Target;

/// The pass.
pub const PASS: Pass = Pass {
    name: "device-lower-to-vendor",
    description: "Write invocations in the operations of the machine's own dialect",
    options: &[],
    statistics: &[("inlined", "invocations written in the vendor's operations")],
    run,
};

/// Returns whether a machine is one that LLVM has no code for: its programs are told in its own
/// operations.
pub fn is_vendors(machine: Machine<'_>) -> bool {
    Target::of(machine).is_err()
}

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let kernels: Vec<_> = run.module.body(0).ok_or(Failed)?.iter().filter_map(Kernel::of).collect();
    for kernel in kernels {
        let machine = Machine::required(kernel.op)?;
        let inlined = lower(run.context, machine, &kernel)?;
        run.count("inlined", inlined);
    }
    Ok(())
}

/// Lowers one kernel; how many invocations were inlined.
fn lower<'c>(
    context: &'c Context,
    machine: Machine<'c>,
    kernel: &Kernel<'c>,
) -> Result<u64, Failed> {
    let allocations = allocations::place(machine, kernel)?;
    allocations.write(context);
    let mut invokes = Vec::new();
    kernel.op.walk(&mut |op| invokes.extend(Invoke::of(op)));
    let mut inlined = 0;
    for invoke in invokes {
        inlined += u64::from(inline::expand(context, machine, &allocations, &invoke));
    }
    let patterns = machine.patterns();
    if !patterns.is_empty() && !apply_patterns(context, &patterns, kernel.op) {
        Report::new(
            kernel.op.location(),
            format!("the patterns of @{} do not terminate on @{}", machine.name(), kernel.name),
        )
        .note(patterns[0], "the first of them is here")
        .help("each use of a pattern must leave a smaller program, or fewer operations that it matches");
        return Err(Failed);
    }
    Ok(inlined)
}

/// Returns whether an operation belongs to one of the machine's own dialects.
fn is_own(names: &[(String, Op<'_>)], op: Op<'_>) -> bool {
    names.iter().any(|(name, _)| op.is(name))
}
