//! Elements of memrefs, and the operations on registers that take them.

use weft_dialects::ir::{Builder, Op, Val, attr};

/// A memref and the indices of an element.
#[derive(Clone)]
pub(super) struct View<'c> {
    pub memref: Val<'c>,
    pub indices: Vec<Val<'c>>,
}

/// `device.apply` or `device.combine`, with an empty region.
pub(super) fn lanewise<'c>(
    b: &mut Builder<'c>,
    name: &str,
    unit: &str,
    lanes: u64,
    inputs: &[View<'c>],
    outputs: &[View<'c>],
) -> Op<'c> {
    let context = b.context();
    let mut operands = Vec::new();
    let mut segments = Vec::new();
    for views in [inputs, outputs] {
        operands.extend(views.iter().map(|view| view.memref));
        let before = operands.len();
        operands.extend(views.iter().flat_map(|view| view.indices.iter().copied()));
        segments.extend([views.len() as i32, (operands.len() - before) as i32]);
    }
    b.op_with(
        name,
        &operands,
        &[],
        &[
            ("lanes_unit", attr::of_symbol(context, unit)),
            ("lanes", attr::of_int(context, lanes as i64)),
            ("operandSegmentSizes", attr::of_ints32(context, &segments)),
        ],
        1,
    )
}

/// `device.copy` by a move of `count` elements, side by side, or of every so many along a
/// dimension: `along` says which and how far, `names` what the two attributes are called.
pub(super) fn copy<'c>(
    b: &mut Builder<'c>,
    by: &str,
    source: &View<'c>,
    target: &View<'c>,
    count: u64,
    names: [&'static str; 2],
    along: Option<(usize, i64)>,
) {
    let context = b.context();
    let operands: Vec<_> = [source, target]
        .into_iter()
        .flat_map(|view| std::iter::once(view.memref).chain(view.indices.iter().copied()))
        .collect();
    let segments = [1, source.indices.len() as i32, 1, target.indices.len() as i32];
    let mut attributes = vec![
        ("move", attr::of_symbol(context, by)),
        ("count", attr::of_int(context, count as i64)),
        ("operandSegmentSizes", attr::of_ints32(context, &segments)),
    ];
    if let Some((dim, step)) = along.filter(|_| count > 1) {
        attributes.push((names[0], attr::of_int(context, dim as i64)));
        attributes.push((names[1], attr::of_int(context, step)));
    }
    b.op_with("device.copy", &operands, &[], &attributes, 0);
}

/// The attributes of a step in what is read.
pub(super) const READ: [&str; 2] = ["from_dim", "from_step"];
/// Those of a step in what is written.
pub(super) const WRITTEN: [&str; 2] = ["to_dim", "to_step"];
