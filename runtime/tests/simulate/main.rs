//! The simulator, held against programs whose answers and times are known.

mod clusters;
mod errors;
mod functional;
mod mutants;
mod timing;
mod toy;
