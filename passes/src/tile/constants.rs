//! Values that are known when the artifact is written.

use std::collections::HashSet;

use weft_dialects::ir::{Op, Val, attr};

use crate::length;

/// Values of a tile-graph that depend on weights and literals alone.
pub(super) fn constants<'c>(graph: Op<'c>) -> HashSet<Val<'c>> {
    let mut constant = HashSet::new();
    let folding = graph.parent().map(length::folding_kernels).unwrap_or_default();
    for op in graph.body(0).into_iter().flat_map(|block| block.ops()) {
        let folds =
            op.attr("kernel").and_then(attr::symbol).is_some_and(|own| folding.contains(own));
        let folds = folds || op.attr("shifts").is_some();
        let known = || !folds && op.operands().iter().all(|operand| constant.contains(operand));
        match op.name() {
            // Nothing was put into an empty tensor yet.
            "graph.weight" | "graph.constant" | "tile.empty" => constant.extend(op.results()),
            "tile.view" | "tile.run" if known() => constant.extend(op.results()),
            _ => {}
        }
    }
    constant
}
