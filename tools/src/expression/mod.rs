//! Tensor expressions: one kernel from one line.
//!
//! ```text
//! C[m, n] += A[m, k] * B[k, n]
//! O[n, f, h, w] += I[n, c, h*2 + r, w*2 + s] * W[f, c, r, s]
//! Y[i] = relu(X[i] * 0.5 - B[0])
//! M[i] max= X[i, j]
//! ```
//!
//! Axes of the right side that are not on the left are folded, in the order in which they
//! first stand there: `+=` sums, `*=` multiplies, `max=` and `min=` keep the extreme. With
//! `=` there is nothing to fold. The left side starts with what changes nothing (0, 1, the
//! least, the greatest number), whatever it held.
//!
//! Each axis runs from 0 below its extent. A tensor is as long along a dimension as its
//! largest index asks for. An index is a sum of axes times whole numbers.
//!
//! [`Kernel::read`] understands an expression, [`Kernel::module`] writes it as a
//! `graph.model` of one operator. Half floats are calculated with in f32.

mod build;
mod element;
mod extents;
mod kernel;
mod operator;
mod syntax;

pub use element::Element;
pub use kernel::{Axis, Kernel, Tensor, Value};
pub use syntax::{Assign, Function, Operation, Span};

#[cfg(test)]
mod tests;
