//! From device programs to native code.
//!
//! ```text
//! device.kernel  --lower-->  func on memrefs and vectors  --llvm-->  LLVM dialect
//!   --native-->  optimised LLVM module  -->  object  --link-->  shared object
//!
//! device.kernel  --vendor-->  the machine's own operations  -->  a listing by encodings
//!
//! device.kernel  --gpu-->  func for one thread  --llvm-->  LLVM dialect
//!   --native-->  optimised LLVM module  --gpu::whole-->  text of all kernels, or a code object
//!
//! plan, device.kernels  --gpu::program-->  one entry for all units, which calls them  --llvm--> ...
//! ```
//!
//! Code generation reads the machine and the program half of `device`; where all kernels of a
//! launch become one, the plan as well, and nothing else above.

pub mod check_lowering;
mod compile;
mod error;
pub mod gpu;
mod index_sum;
pub mod link;
mod llvm;
pub mod lower;
mod native;
mod pointer;
mod target;
pub mod vendor;

pub use crate::arch::{has_code, is_native};
pub use compile::{Object, Text, compile_kernels, print_kernels, whole_code, whole_text};
pub use error::CodegenError;
pub use link::{LinkError, link};
