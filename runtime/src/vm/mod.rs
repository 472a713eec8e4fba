//! The reference interpreter: scalar loops over tensors, as plain data.
//!
//! A [`Program`] declares tensors and runs [`Stmt`]s; almost always the statement is a
//! [`Nest`], a perfect loop nest whose points load scalars, compute with the scalar operations
//! of MLIR's `arith` and `math`, and store. Constant folding, weight packing, evaluation in
//! tests and functional simulation all run here, so there is one meaning to agree on.
//!
//! ```
//! use weft_runtime::vm::{Access, BinaryOp, Inst, Nest, Program, Ty};
//!
//! // c[i] = a[i] + b[i] for 3 floats
//! let mut program = Program::default();
//! let a = program.input(Ty::F32, 3);
//! let b = program.input(Ty::F32, 3);
//! let c = program.output(Ty::F32, 3);
//! let mut nest = Nest::parallel(&[3]);
//! let x = nest.load(Access::new(a, 0, &[1]));
//! let y = nest.load(Access::new(b, 0, &[1]));
//! let z = nest.inst(Inst::binary(BinaryOp::AddF, x, y));
//! nest.store(Access::new(c, 0, &[1]), z);
//! program.push(nest);
//!
//! let one = [1f32, 2.0, 3.0].map(f32::to_le_bytes).concat();
//! let out = program.run(&[&one, &one])?;
//! assert_eq!(out[0], [2f32, 4.0, 6.0].map(f32::to_le_bytes).concat());
//! # Ok::<(), weft_runtime::vm::VmError>(())
//! ```
//!
//! # Where MLIR leaves the result open
//!
//! | Situation | Here |
//! |---|---|
//! | integer overflow, also `MIN / -1` | wraps |
//! | integer division or remainder by zero, `0` to a negative integer power | [`VmError::DivisionByZero`] |
//! | shift by the width or more | 0, or the sign for `shrsi` |
//! | float to integer out of range | saturates, NaN gives 0 |
//! | `maxnumf(-0, +0)` | +0; the minimum gives -0 |
//! | f16 and bf16 arithmetic | in f32, rounded to nearest even after each operation |
//! | elementary functions in f32 and below | computed in f64, then rounded |

mod axes;
mod copy;
mod env;
mod error;
mod eval;
mod exec;
mod inst;
mod multiply;
mod nest;
mod program;
mod round;
mod run;
mod schedule;
#[cfg(test)]
mod tests;
mod ty;
mod validate;

pub use env::{Env, Memories, split_one};
pub use error::{Part, ProgramLocation, VmError};
pub use eval::{index, index_compare};
pub use inst::{BinaryOp, CastOp, CmpFPredicate, CmpIPredicate, Inst, UnaryOp};
pub use program::{Access, Nest, Program, Reg, Scatter, Stmt, TensorDecl, TensorId};
pub use run::{Prepared, RunScratch};
pub use ty::{Scalar, Ty};
