//! The machine against a literal evaluator, and its corners by hand.

mod literal;
mod meaning;
mod random;
mod refusals;
