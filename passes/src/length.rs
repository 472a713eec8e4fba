//! Lengths that callers decide, as passes see them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

use weft_dialects::finds::{self, Find};
use weft_dialects::ir::payload::Axis;
use weft_dialects::ir::{Context, Linear, Op, Val, attr, ty};
use weft_dialects::lengths;
use weft_dialects::repeat;
pub use weft_runtime::length::Length;

use crate::nest::{Access, Loop, generic_accesses, generic_axes, generic_inputs};

/// A length that is kept for good, so that loops are plain numbers beside it; equal ones are one.
pub fn kept(length: Length) -> &'static Length {
    static KEPT: LazyLock<Mutex<HashSet<&'static Length>>> = LazyLock::new(Mutex::default);
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = kept.get(&length) {
        return known;
    }
    let length: &'static Length = Box::leak(Box::new(length));
    kept.insert(length);
    length
}

/// The lengths of a nest's axes; `None` where all points of an axis are done.
///
/// # Errors
/// A text that is no length, or another number of them than of axes.
pub(crate) fn of_axes(
    generic: Op<'_>,
    axes: usize,
) -> Result<Vec<Option<&'static Length>>, String> {
    let Some(texts) = generic.attr(lengths::OF_AXES).and_then(attr::strings) else {
        return Ok(vec![None; axes]);
    };
    if texts.len() != axes {
        return Err(format!("{} lengths for {axes} axes", texts.len()));
    }
    texts.into_iter().map(|text| Ok(lengths::read(text)?.map(kept))).collect()
}

/// The length that a body asks for by a `graph.length`.
pub(crate) fn asked(op: Op<'_>) -> Option<Length> {
    let text = op.is("graph.length").then(|| op.attr("length")).flatten().and_then(attr::string)?;
    lengths::read(text).ok()?
}

/// Writes the lengths of a nest's axes, where there are some.
pub(crate) fn set_of_axes<'c>(
    context: &'c Context,
    generic: Op<'c>,
    own: &[Option<&'static Length>],
) {
    if own.iter().any(Option::is_some) {
        let texts: Vec<_> = own.iter().map(|length| lengths::write(*length)).collect();
        generic.set_attr(lengths::OF_AXES, attr::of_strings(context, &texts));
    }
}

/// Gives a nest that was just written, and of which `made` is a result, the lengths of its axes.
pub(crate) fn give<'c>(context: &'c Context, made: Val<'c>, own: &[Option<&'static Length>]) {
    if let Some(nest) = made.def() {
        set_of_axes(context, nest, own);
    }
}

/// The lengths of a nest's axes.
pub(crate) fn of_loops(axes: &[Loop]) -> Vec<Option<&'static Length>> {
    axes.iter().map(|axis| axis.length).collect()
}

/// Those of some of the axes, in another order.
pub(crate) fn of_some(axes: &[Loop], own: &[usize]) -> Vec<Option<&'static Length>> {
    own.iter().map(|&axis| axes[axis].length).collect()
}

/// The lengths of a tensor's dimensions, as far as an access reads it.
pub(crate) fn of_access(axes: &[Loop], access: &Access<'_>) -> Vec<Option<&'static Length>> {
    let of_dim = |index: &Linear| index.as_axis().and_then(|axis| axes[axis].length);
    access.index.iter().map(of_dim).collect()
}

/// The lengths of an operator's only result; `None` where they are not known.
pub(crate) fn of_result(op: Op<'_>) -> Option<Vec<Option<&'static Length>>> {
    let end = op.body(0)?.terminator()?.operands().first().copied()?;
    if let Some(nest) = end.def().filter(|own| own.is("linalg.generic")) {
        let output =
            generic_accesses(nest).ok()?.into_iter().nth(generic_inputs(nest) + end.index());
        return Some(of_access(&generic_axes(nest).ok()?, &output?));
    }
    let makers = op.operands().into_iter().filter_map(|operand| operand.def());
    let fixed = !makers.chain([op]).any(is_in);
    fixed.then(|| vec![None; ty::shape(end.ty()).map_or(0, |shape| shape.len())])
}

/// Returns whether an operation, or one inside of it, has the lengths of axes, or asks for one.
pub(crate) fn is_in(op: Op<'_>) -> bool {
    let mut found = false;
    op.walk(&mut |inner| {
        found |= inner.is("graph.length") || inner.attr(lengths::OF_AXES).is_some()
    });
    found
}

/// Returns whether a run begins where a length says, or its kernel ends there or asks for one.
pub(crate) fn is_in_run(run: Op<'_>, kernel: Option<Op<'_>>) -> bool {
    run.attr("shifts").is_some() || kernel.is_some_and(is_in)
}

/// Returns whether something in a tile-graph begins or ends where a length says.
pub(crate) fn is_in_graph(module: Op<'_>, graph: Op<'_>) -> bool {
    let body = module.first_block(0).map(|block| block.ops()).unwrap_or_default();
    let kernels: HashMap<&str, Op<'_>> =
        body.into_iter().filter(|op| op.is("tile.kernel")).map(|op| (op.symbol(), op)).collect();
    let ops = graph.first_block(0).map(|block| block.ops()).unwrap_or_default();
    let kernel = |run: &Op<'_>| kernels.get(run.attr("kernel").and_then(attr::symbol)?).copied();
    // A body is no kernel, and what is found is asked for.
    ops.iter().any(|op| Find::of(*op).is_some() || is_in_run(*op, kernel(op)))
}

/// The kernels of a module that some run applies further on than where tensors begin, as a length says. Who puts other
/// kernels in the place of one has no such places for them.
pub(crate) fn shifted_kernels(module: Op<'_>) -> HashSet<String> {
    let body = module.first_block(0).map(|block| block.ops()).unwrap_or_default();
    let graphs =
        body.into_iter().filter(|op| op.is("tile.graph")).filter_map(|op| op.first_block(0));
    let runs = graphs.flat_map(|block| block.ops()).filter(|op| op.is("tile.run"));
    let shifted = runs.filter(|run| run.attr("shifts").is_some());
    shifted.filter_map(|run| run.attr("kernel").and_then(attr::symbol)).map(str::to_owned).collect()
}

/// The kernels of a module whose results depend on lengths: they fold along one, or ask for one; and its bodies.
/// What is done to each point apart may be done to points that are not there.
pub(crate) fn folding_kernels(module: Op<'_>) -> HashSet<&str> {
    let body = module.first_block(0).map(|block| block.ops()).unwrap_or_default();
    let mut found = HashSet::new();
    // Most modules have none: their kernels are not looked into.
    if !body.iter().any(|op| op.is("graph.symbol")) {
        return found;
    }
    found.extend(repeat::bodies(module).into_iter().map(|body| body.op.symbol()));
    for kernel in body.into_iter().filter(|op| op.is("tile.kernel")) {
        kernel.walk(&mut |op| {
            let axes = op.is("linalg.generic").then(|| generic_axes(op).ok()).flatten();
            let folds = |axis: &Loop| axis.length.is_some() && axis.kind == Axis::Reduction;
            if op.is("graph.length") || axes.is_some_and(|axes| axes.iter().any(folds)) {
                found.insert(kernel.symbol());
            }
        });
    }
    found
}

/// What each kernel of a module, and each body, asks for of lengths that data decide; none of any where data decide none.
pub(crate) fn asked_of_data(module: Op<'_>) -> HashMap<&str, BTreeSet<String>> {
    let body = module.first_block(0).map(|block| block.ops()).unwrap_or_default();
    let programs = body.iter().filter(|op| op.is("tile.graph") || op.is("task.program"));
    let inside = programs.filter_map(|op| op.first_block(0)).flat_map(|block| block.ops());
    let found: HashSet<&str> = inside.filter_map(Find::of).map(|find| find.symbol).collect();
    let mut all = HashMap::new();
    if found.is_empty() {
        return all;
    }
    for kernel in body.iter().filter(|op| op.is("tile.kernel") || op.is("device.kernel")) {
        let mut asked = BTreeSet::new();
        finds::add_asked(*kernel, &mut asked);
        asked.retain(|symbol| found.contains(&symbol[..]));
        all.insert(kernel.symbol(), asked);
    }
    for body in repeat::bodies(module) {
        let mut asked = body.asks();
        asked.retain(|symbol| found.contains(&symbol[..]));
        all.insert(body.op.symbol(), asked);
    }
    all
}
