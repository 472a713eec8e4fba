//! The task room: schedules, plans, and Rammer's rows (OSDI'20), one test for each, named after
//! it.

mod graphs;
mod histories;
mod long;
mod mutants;
mod orders;
mod plans;
mod policies;
mod rows;

use weft_dialects::ir::{Module, module_op};
use weft_dialects::task::Program;

/// The program of a module.
fn program<'c>(module: &Module<'c>) -> Program<'c> {
    let ops = module_op(module).body(0).expect("a module has a body").ops();
    ops.into_iter().find_map(Program::of).expect("there is a task.program")
}
