//! The order of the passes, with the reason for each place.

use weft_dialects::ir::pass::{self, Pass};

/// Every pass, for the tools.
pub const PASSES: &[&Pass] = &[];

/// Makes the passes known to every tool of the process.
pub fn register() {
    pass::register(PASSES);
}
