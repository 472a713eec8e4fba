//! The operators of ONNX Runtime's own domain, `com.microsoft`, that its tools and exporters write.
//!
//! They mean what the processor's kernels of ONNX Runtime compute. Most are standard operators with
//! something done before or behind them; what they share is in the files of those.

mod fused_matmul;
mod matmul_nbits;

use super::Operator;

/// Every operator of the domain, by topic.
pub const TABLES: [&[Operator]; 2] = [fused_matmul::OPERATORS, matmul_nbits::OPERATORS];
