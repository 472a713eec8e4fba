//! The operators of ONNX Runtime's own domain, `com.microsoft`, that its tools and exporters write.
//!
//! They mean what the processor's kernels of ONNX Runtime compute. Most are standard operators with
//! something done before or behind them; what they share is in the files of those.

mod cached;
mod embed;
mod fused;
mod fused_matmul;
mod gelu;
mod group_query;
mod integer_products;
mod matmul_nbits;
mod multi_head;
mod qlinear;
mod qlinear_pool;
mod quantize;
mod rotary;
mod skip_norm;

use super::Operator;

/// Every operator of the domain, by topic.
pub const TABLES: [&[Operator]; 13] = [
    embed::OPERATORS,
    fused::OPERATORS,
    fused_matmul::OPERATORS,
    gelu::OPERATORS,
    group_query::OPERATORS,
    integer_products::OPERATORS,
    matmul_nbits::OPERATORS,
    multi_head::OPERATORS,
    qlinear::OPERATORS,
    qlinear_pool::OPERATORS,
    quantize::OPERATORS,
    rotary::OPERATORS,
    skip_norm::OPERATORS,
];
