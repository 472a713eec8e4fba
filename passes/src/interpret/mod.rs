//! Payloads as programs of the reference interpreter.
//!
//! [`Compiled`] turns a payload (of an operator, a kernel, an instruction's meaning
//! or a function on tensors) into a [`weft_runtime::vm::Program`] and runs it;
//! [`run_model`] and [`run_tile_graph`] evaluate whole models step by step;
//! [`check_eval`] holds functions against the answers written beside them.
//!
//! Nothing here optimises: what runs is what is written, one nest per operation.
//!
//! | Accepted | How |
//! |---|---|
//! | `linalg.generic` with linear maps, `linalg.fill` | one nest; with `scf` in the body, loops |
//! | `arith` and `math` on scalars and on tensors | the table in `scalar.rs` |
//! | `tensor.extract` | a load at a computed address, which must be inside |
//! | `tensor.insert`, `tensor.insert_slice` | into a copy, or in place after the last use |
//! | `tensor.reshape`, `expand_shape`, `collapse_shape`, `extract_slice`, `cast` | views |
//! | `tensor.pad`, `concat`, `splat`, `from_elements`, `generate`, `empty` | nests |
//! | `scf.for`, `scf.while`, `scf.if` on scalars and tensors | statements |
//! | `tile.load`, `tile.store`, `tile.compute` | what they hold |

pub mod check_eval;
mod compiler;
pub(crate) mod error;
mod flow;
mod generic;
mod key;
mod model;
mod payload;
mod points;
pub(crate) mod scalar;
pub(crate) mod scope;
mod structured;
mod tensor;
mod values;
pub(crate) mod view;

pub use error::InterpretError;
pub use model::{WeightError, run_model, run_tile_graph};
pub use payload::Compiled;
pub use scalar::element_type;
pub(crate) use scalar::has_meaning;
