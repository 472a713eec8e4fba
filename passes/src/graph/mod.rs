//! Passes of the `graph` stage.

pub mod batch_products;
mod block_rounding;
mod block_weights;
pub mod cut_factors;
mod dequantised;
pub mod from_func;
pub mod gather_windows;
pub mod hoist_zero_points;
pub mod known_divisors;
mod longer_sums;
pub mod merge_products;
mod move_integers;
pub mod multiply_integers;
pub mod narrow_factors;
mod nest_cost;
pub mod pack_narrow;
mod pool_integers;
mod product;
pub mod quantise_activations;
mod rewritten;
mod same_bytes;
mod seen_factors;
pub mod simplify_payloads;
mod small_factors;
pub mod to_tile;
pub mod widen_factors;
pub mod winograd;

use weft_dialects::graph::Operator;
use weft_dialects::ir::Op;

/// Returns the prefix of a remark on `op`: the operator that it is or is part of, if there is one.
fn named(op: Op<'_>) -> String {
    let mut around = std::iter::once(op).chain(op.ancestors());
    let operator = around.find_map(Operator::of);
    operator.map(|operator| format!("\"{}\" ", operator.name)).unwrap_or_default()
}
