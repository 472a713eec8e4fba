//! The operators of ONNX Runtime's own domain, `com.microsoft`, that its tools and exporters write.
//!
//! They mean what the processor's kernels of ONNX Runtime compute. Most are standard operators with
//! something done before or behind them; what they share is in the files of those.

mod embed;
mod fused_matmul;
mod gelu;
mod group_query;
mod matmul_nbits;
mod multi_head;
mod rotary;
mod skip_norm;

use super::Operator;

/// Every operator of the domain, by topic.
pub const TABLES: [&[Operator]; 8] = [
    embed::OPERATORS,
    fused_matmul::OPERATORS,
    gelu::OPERATORS,
    group_query::OPERATORS,
    matmul_nbits::OPERATORS,
    multi_head::OPERATORS,
    rotary::OPERATORS,
    skip_norm::OPERATORS,
];
