//! Rows that become lanes: transposes in registers.
//!
//! ```text
//! y[i, j] = x[j, i]      lanes along i as they are loaded, along j as they are stored
//! ```
//!
//! A square of registers is loaded along one axis and stored along another, so that both
//! sides move whole registers. Where registers are spread over lanes nothing is turned: rows are such that each lane
//! stores all bytes that one access of the memory touches.

use weft_dialects::ir::ty;

use super::instruction::Mapped;
use super::lane_facts::Facts;
use super::shape::Shape;
use crate::nest::{Nest, stores_along};

/// Registers wider than this would not fit as a square.
const MOST_LANES: u64 = 16;

/// The register tile that is turned when it is stored, with lanes along `lanes_axis`.
pub(super) fn turned(
    nest: &Nest<'_>,
    mapped: &Mapped<'_>,
    facts: &Facts<'_>,
    lanes_axis: usize,
) -> impl Iterator<Item = Shape> {
    let stored = nest.outputs.iter().filter_map(|output| ty::byte_size(output.elem()));
    let narrowest = stored.min().unwrap_or(1);
    let most = match facts.touched_bytes {
        Some(bytes) => bytes / narrowest,
        None => Some(mapped.lanes).filter(|lanes| *lanes <= MOST_LANES).unwrap_or(1),
    };
    let rows = (0..nest.axes.len())
        .find(|&rows| rows != lanes_axis && stores_along(nest, lanes_axis, rows))
        .filter(|_| mapped.lanes > 1);
    let rows = rows.map(|axis| (axis, most.min(nest.axes[axis].extent)));
    rows.filter(|&(_, rows)| rows > 1).into_iter().map(move |rows| Shape {
        lanes_axis: Some(lanes_axis),
        vectors: 1,
        rows: vec![rows],
        grow: None,
    })
}
