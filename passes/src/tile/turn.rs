//! Rows that become lanes: transposes in registers.
//!
//! ```text
//! y[i, j] = x[j, i]      lanes along i as they are loaded, along j as they are stored
//! ```
//!
//! A square of registers is loaded along one axis and stored along another, so that both
//! sides move whole registers.

use super::instruction::Mapped;
use super::shape::Shape;
use crate::nest::{Nest, stores_along};

/// Registers wider than this would not fit as a square.
const MOST_LANES: u64 = 16;

/// The register tile that is turned when it is stored, with lanes along `lanes_axis`.
pub(super) fn turned(
    nest: &Nest<'_>,
    mapped: &Mapped<'_>,
    lanes_axis: usize,
) -> impl Iterator<Item = Shape> {
    let rows = (0..nest.axes.len())
        .find(|&rows| rows != lanes_axis && stores_along(nest, lanes_axis, rows))
        .filter(|_| (2..=MOST_LANES).contains(&mapped.lanes));
    let rows = rows.map(|axis| (axis, mapped.lanes.min(nest.axes[axis].extent)));
    rows.filter(|&(_, rows)| rows > 1).into_iter().map(move |rows| Shape {
        lanes_axis: Some(lanes_axis),
        vectors: 1,
        rows: vec![rows],
        grow: None,
    })
}
