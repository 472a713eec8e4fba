//! Running an artifact on the processor at hand.
//!
//! ```no_run
//! use weft_runtime::cpu::Model;
//!
//! let mut model = Model::load("net.weft".as_ref(), Some(2))?;
//! let mut outputs: Vec<Vec<u8>> = model.output_buffers();
//! let input = vec![0; model.plan().inputs[0].bytes().unwrap_or(0) as usize];
//! let mut places: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
//! model.run(&[&input], &mut places)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Several threads run one model at once with [`Model::run_shared`], and [`Cancel`] ends a run from
//! another thread.

mod affinity;
mod bell;
mod cancel;
mod code;
mod error;
mod features;
mod memory;
mod model;
mod pool;
mod queue;
mod request_memory;
mod schedule;
mod slot;
pub(crate) mod spread;
mod sync;
mod tiles;

pub use cancel::Cancel;
pub use code::run_once;
pub use error::CpuError;
pub use features::{check as check_features, present as features};
pub use model::{Model, StepTime};
