//! `graph-simplify-payloads`: rewrites payloads to a few forms.
//!
//! ```text
//! tensor.concat, insert, splat, from_elements, generate, cast, slices that drop dimensions
//!                                      ->  linalg.generic, slices, reshapes      structure.rs
//! scalars between nests                ->  in the bodies that use them           scalars.rs
//! scf.if in the body of a nest         ->  both branches, and a select           branches.rs
//! tensors of i1 and of index           ->  tensors of i8 (0 or 1) and of i64     elements.rs
//! ```
//!
//! Everything behind this pass sees static tensors of elements that memory holds as they are,
//! and bodies that are straight lines. What has no such form stays, and `graph-to-tile` refuses
//! it by name.

mod branches;
mod elements;
mod scalars;
mod structure;

use std::collections::HashSet;

use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{Block, Context, Op, Report, Type, ty};

use crate::interpret::element_type;

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-simplify-payloads",
    description: "Write payloads with nests, slices and reshapes of elements that memory holds",
    options: &[],
    statistics: &[("simplified", "payloads that were written anew")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let mut operators = Vec::new();
    let models = run.module.body(0).into_iter().flat_map(|block| block.ops());
    for model in models.filter(|op| op.is("graph.model")) {
        let body = model.body(0).into_iter().flat_map(|block| block.iter());
        operators.extend(body.filter(|op| op.is("graph.op")));
    }
    let mut known = Known::default();
    for op in operators {
        let payload = op.body(0).ok_or(Failed)?;
        if known.is_simple(run.context, payload) {
            continue;
        }
        simplify(run.context, payload)?;
        run.count("simplified", 1);
    }
    Ok(())
}

/// Simplifies the operations of a block, a payload or the body of a function on tensors.
///
/// Arguments of the block change their element type where memory cannot hold it.
///
/// # Errors
/// Reported: an element type that has no form in memory, a branch that cannot be computed where
/// it is not taken.
pub(crate) fn simplify<'c>(context: &'c Context, block: Block<'c>) -> Result<(), Failed> {
    structure::simplify(context, block)?;
    scalars::sink(context, block);
    branches::flatten(context, block)?;
    elements::store(context, block)
}

/// Operations of a payload that graph-to-tile knows.
const SIMPLE: &[&str] = &[
    "arith.constant",
    "graph.yield",
    "linalg.generic",
    "tensor.collapse_shape",
    "tensor.empty",
    "tensor.expand_shape",
    "tensor.extract_slice",
    "tensor.insert_slice",
    "tensor.pad",
    "tensor.reshape",
];

/// Tensor types that were seen to be stored as they are.
#[derive(Default)]
struct Known(HashSet<usize>);

impl Known {
    /// Returns whether a payload needs nothing of this pass.
    fn is_simple<'c>(&mut self, context: &'c Context, payload: Block<'c>) -> bool {
        payload.iter().all(|op| {
            let structure = SIMPLE.contains(&op.name()) && !structure::is_rewritten(op);
            let types = op.results().iter().all(|result| self.is_stored(context, result.ty()));
            let body = !op.is("linalg.generic") || is_straight(op);
            structure && types && body
        })
    }

    /// Returns whether memory holds the elements of a tensor of this type as they are; constants
    /// for bodies may be numbers of any type.
    fn is_stored<'c>(&mut self, context: &'c Context, ty: Type<'c>) -> bool {
        if !ty::is_tensor(ty) || self.0.contains(&ty::id(ty)) {
            return true;
        }
        let elem = ty::elem(ty).filter(|&elem| elements::stored(context, elem).is_none());
        let stored = elem.is_some_and(|elem| element_type(elem).is_some());
        if stored {
            self.0.insert(ty::id(ty));
        }
        stored
    }
}

/// Returns whether a nest reads tensors only, and its body is a straight line.
fn is_straight(nest: Op<'_>) -> bool {
    let body = nest.body(0).into_iter().flat_map(|body| body.iter());
    nest.operands().iter().all(|operand| ty::is_tensor(operand.ty()))
        && body.into_iter().all(|op| op.region_count() == 0)
}

/// Says that a payload holds something without a form further down.
fn refuse<T>(op: Op<'_>, what: &str, help: &str) -> Result<T, Failed> {
    Report::new(op.location(), format!("a payload cannot hold {what}")).help(help.to_owned());
    Err(Failed)
}
