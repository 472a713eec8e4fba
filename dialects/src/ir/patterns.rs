//! Patterns that a text holds, as upstream's `pdl`.

use melior::Context;
use mlir_sys::*;

use super::builder::{Builder, Mapping, empty_module, module_op};
use super::handle::Op;

/// Applies `pdl.pattern`s to everything inside `op`, as often as they match; what is
/// constant is folded on the way.
///
/// The patterns have to be verified, and may call no native function: upstream gives up
/// on those that it does not know. False if they do not terminate.
pub fn apply_patterns<'c>(context: &'c Context, patterns: &[Op<'c>], op: Op<'c>) -> bool {
    let module = empty_module(context);
    let Some(body) = module_op(&module).body(0) else { return false };
    let mut b = Builder::at_end(context, body);
    for pattern in patterns {
        b.clone_op(*pattern, &mut Mapping::default());
    }
    // SAFETY: the pattern module takes the module over, the set what is in the pattern
    // module; each is destroyed once. The operation is alive, and no other handle into
    // it is used afterwards.
    unsafe {
        let patterns = mlirPDLPatternModuleFromModule(module.to_raw());
        std::mem::forget(module);
        let set = mlirRewritePatternSetFromPDLPatternModule(patterns);
        let frozen = mlirFreezeRewritePattern(set);
        let config = mlirGreedyRewriteDriverConfigCreate();
        let done = mlirApplyPatternsAndFoldGreedilyWithOp(op.raw, frozen, config);
        mlirGreedyRewriteDriverConfigDestroy(config);
        mlirFrozenRewritePatternSetDestroy(frozen);
        mlirPDLPatternModuleDestroy(patterns);
        done.value != 0
    }
}
