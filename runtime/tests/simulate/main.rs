//! The simulator, held against programs whose answers and times are known.

mod functional;
mod timing;
mod toy;
