//! From functions on memrefs and vectors to MLIR's LLVM dialect.

use melior::pass::PassManager;
use melior::utility::{parse_pass_pipeline, register_all_passes};
use weft_dialects::ir::{Context, Module, module_op};

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
    run(context, module, &conversion(half))?;
    if has_vectors(module) {
        run(context, module, "convert-vector-to-llvm")?;
    }
    // At the end descriptors of memrefs fold away; LLVM merges blocks.
    run(context, module, "reconcile-unrealized-casts,canonicalize{region-simplify=disabled}")
}

fn run(context: &Context, module: &mut Module<'_>, passes: &str) -> Result<(), melior::Error> {
    let manager = PassManager::new(context);
    manager.enable_verifier(cfg!(debug_assertions));
    let pipeline = format!("builtin.module({passes})");
    parse_pass_pipeline(manager.as_operation_pass_manager(), &pipeline)?;
    manager.run(module)
}

/// The passes after which nearly all is of the LLVM dialect.
fn conversion(half: bool) -> String {
    let narrow = if half { "bf16" } else { "bf16,f16" };
    let emulate =
        format!("arith-emulate-unsupported-floats{{source-types={narrow} target-type=f32}}");
    let passes = [
        // Register loops: afterwards every index of a register is a constant.
        "func.func(affine-loop-unroll{unroll-factor=-1 unroll-full-threshold=4294967295})",
        // What the rounds of a loop have in common goes before later passes look at each copy of it.
        "cse",
        "lower-affine",
        "cse",
        // Loops have one block each: there are none to merge.
        "canonicalize{region-simplify=disabled}",
        "cse",
        // Narrow floats have conversions only; sums and products go through f32.
        &emulate,
        "arith-expand",
        // What conversions have done is never undone: they need not remember how.
        "convert-scf-to-cf{allow-pattern-rollback=false}",
        "convert-func-to-llvm{use-bare-ptr-memref-call-conv=true}",
        // All other dialects in one conversion.
        "convert-to-llvm{allow-pattern-rollback=false}",
    ];
    passes.join(",")
}

/// Returns whether operations on vectors are left: those that become others first, as parts of vectors
/// do, have no conversion of their own.
fn has_vectors(module: &Module<'_>) -> bool {
    let mut found = false;
    module_op(module).walk_all(&mut |op| found |= op.name().starts_with("vector."));
    found
}
