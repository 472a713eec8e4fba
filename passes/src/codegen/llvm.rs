//! From functions on memrefs and vectors to MLIR's LLVM dialect.

use melior::pass::PassManager;
use melior::utility::{parse_pass_pipeline, register_all_passes};
use weft_dialects::ir::{Context, Module};

/// Runs upstream's lowerings on a module of functions.
///
/// `half` says that the processor has arithmetic on `f16`. Diagnostics go to the context's handlers.
///
/// # Errors
/// A pass failed and reported why.
pub fn lower_to_llvm_dialect(
    context: &Context,
    module: &mut Module<'_>,
    half: bool,
) -> Result<(), melior::Error> {
    register_all_passes();
    let manager = PassManager::new(context);
    manager.enable_verifier(cfg!(debug_assertions));
    parse_pass_pipeline(manager.as_operation_pass_manager(), &pipeline(half))?;
    manager.run(module)
}

fn pipeline(half: bool) -> String {
    let narrow = if half { "bf16" } else { "bf16,f16" };
    let emulate =
        format!("arith-emulate-unsupported-floats{{source-types={narrow} target-type=f32}}");
    let passes = vec![
        // Register loops: afterwards every index of a register is a constant.
        "func.func(affine-loop-unroll{unroll-factor=-1 unroll-full-threshold=4294967295})",
        // What the rounds of a loop have in common goes first: later passes see a third of it.
        "cse",
        "lower-affine",
        "cse",
        "canonicalize{region-simplify=disabled}",
        "cse",
        // Narrow floats have conversions only; sums and products go through f32.
        &emulate,
        "arith-expand{include-bf16=true}",
        "convert-scf-to-cf",
        "convert-func-to-llvm{use-bare-ptr-memref-call-conv=true}",
        // All other dialects in one conversion.
        "convert-to-llvm",
        // At the end descriptors of memrefs fold away.
        "reconcile-unrealized-casts",
        "canonicalize",
    ];
    format!("builtin.module({})", passes.join(","))
}
