//! Lengths that callers decide, as passes see them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{LazyLock, Mutex, PoisonError};

use weft_dialects::finds::{self, Find};
use weft_dialects::ir::payload::Axis;
use weft_dialects::ir::{Context, Op, attr};
use weft_dialects::lengths;
use weft_dialects::repeat;
pub use weft_runtime::length::Length;

use crate::nest::{Loop, generic_axes};

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

/// The kernels of a module whose results depend on lengths: they fold along one, or ask for one; and its bodies.
/// What is done to each point apart may be done to points that are not there.
pub(crate) fn folding_kernels(module: Op<'_>) -> HashSet<&str> {
    let mut found = HashSet::new();
    if !has_symbols(module) {
        return found;
    }
    found.extend(repeat::bodies(module).into_iter().map(|body| body.op.symbol()));
    let body = module.first_block(0).map(|block| block.ops()).unwrap_or_default();
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

/// Returns whether callers decide lengths of a module. Passes that take an axis apart, or count on its
/// extent, leave such a module as it is.
pub(crate) fn has_symbols(module: Op<'_>) -> bool {
    let body = module.first_block(0).map(|block| block.ops()).unwrap_or_default();
    body.iter().any(|op| op.is("graph.symbol"))
}
