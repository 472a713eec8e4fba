//! Scalar bodies of nests as bodies of `device.apply`.

use std::collections::HashMap;

use weft_dialects::device::build;
use weft_dialects::ir::{Block, Builder, Mapping, Type, Val};

use crate::length;
use crate::nest::{copy_constants, index_axis};

/// A scalar body that lanes do.
#[derive(Clone, Copy)]
pub(super) struct LaneBody<'c> {
    pub body: Block<'c>,
    /// Lanes of a register that do it.
    pub lanes: u64,
}

/// What a copy of `body` begins with: its arguments are `values`, and the constants that it reads are copied.
pub(super) fn begin_body<'c>(
    b: &mut Builder<'c>,
    body: Block<'c>,
    values: &[Option<Val<'c>>],
) -> Mapping<'c> {
    let mut map = Mapping::default();
    for (old, new) in body.args().into_iter().zip(values) {
        if let Some(new) = new {
            map.set(old, *new);
        }
    }
    copy_constants(b, body, &mut map);
    map
}

/// Copies `body`: arguments become `values`, `linalg.index` and `graph.length` become numbers, an element of a captured tensor a
/// `memref.load`. Along the axis of `along` each lane has so many points: its number times these is added there.
/// Returns what the body yields.
pub(super) fn write_body<'c>(
    b: &mut Builder<'c>,
    body: Block<'c>,
    values: &[Option<Val<'c>>],
    numbers: &[Option<Val<'c>>],
    along: Option<(usize, u64)>,
    memrefs: &HashMap<Val<'c>, Val<'c>>,
) -> Vec<Val<'c>> {
    let index = Type::index(b.context());
    let mut map = begin_body(b, body, values);
    for op in body.ops() {
        if op.is("linalg.yield") {
            return op.operands().into_iter().map(|value| map.get(value)).collect();
        }
        if let Some(length) = length::asked(op) {
            let value = build::length(b, &length);
            map.set(op.result(0), value);
        } else if let Some(axis) = index_axis(op) {
            let mut value = numbers[axis].expect("the numbers asked for are there");
            if let Some((_, points)) = along.filter(|(lanes, _)| *lanes == axis) {
                let mut lane = build::lane(b);
                if points > 1 {
                    let points = b.index(points as i64);
                    lane = b.op("arith.muli", &[lane, points], &[index]).result(0);
                }
                value = b.op("arith.addi", &[value, lane], &[index]).result(0);
            }
            map.set(op.result(0), value);
        } else if op.is("tensor.extract") {
            let mut operands: Vec<_> =
                op.operands().into_iter().map(|operand| map.get(operand)).collect();
            operands[0] = memrefs.get(&operands[0]).copied().unwrap_or(operands[0]);
            let elem = op.result(0).ty();
            let loaded = b.op("memref.load", &operands, &[elem]).result(0);
            map.set(op.result(0), loaded);
        } else {
            b.clone_op(op, &mut map);
        }
    }
    Vec::new()
}
