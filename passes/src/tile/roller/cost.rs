//! Work, traffic, footprint and registers of a tile.
//!
//! Reductions are cut too: `⌈K/k⌉·k` of them are computed and brought, whatever `K` is.

use super::operator::Operator;

/// A tile with the reductions in full steps: what one output tile needs altogether.
fn whole(operator: &Operator, tile: &[u64]) -> Vec<u64> {
    let spatial = operator.spatial();
    let size = |(at, (axis, &size)): (usize, (&super::Axis, &u64))| match at < spatial {
        true => size,
        false => axis.extent.div_ceil(size) * size,
    };
    operator.axes.iter().zip(tile).enumerate().map(size).collect()
}

fn area(shape: &[i64]) -> i64 {
    shape.iter().product()
}

/// Operations for one output tile: two for each multiply-add of four bytes.
pub fn work(operator: &Operator, tile: &[u64]) -> f64 {
    let spatial = operator.spatial();
    let output = area(&operator.output_tile(tile)) as f64;
    let folded: u64 = whole(operator, tile)[spatial..].iter().product();
    output * folded as f64 * operator.output.elem_bytes as f64 / 2.0
}

/// Bytes of every input that one output tile needs.
pub fn input_bytes(operator: &Operator, tile: &[u64]) -> i64 {
    let tiles = operator.input_tiles(&whole(operator, tile));
    let each = tiles.iter().zip(&operator.inputs);
    each.map(|(shape, tensor)| area(shape) * tensor.elem_bytes as i64).sum()
}

/// Bytes that come and go for one output tile: its inputs, and itself.
pub fn traffic(operator: &Operator, tile: &[u64]) -> i64 {
    let output = area(&operator.output_tile(tile)) * operator.output.elem_bytes as i64;
    input_bytes(operator, tile) + output
}

/// Bytes that lie in the local memory at a time: the input tiles of one reduction step, with
/// `padding` elements behind every row.
pub fn footprint(operator: &Operator, tile: &[u64], padding: &[u64]) -> i64 {
    let tiles = operator.input_tiles(tile);
    let each = tiles.into_iter().zip(&operator.inputs).enumerate();
    each.map(|(at, (mut shape, tensor))| {
        if let Some(last) = shape.last_mut() {
            *last += padding.get(at).copied().unwrap_or(0) as i64;
        }
        area(&shape) * tensor.elem_bytes as i64
    })
    .sum()
}

/// Registers of 32 bits that one tile of registers takes: its inputs and its output. Those
/// of a matrix instruction are spread over the `lanes` of a warp.
pub fn registers(operator: &Operator, tile: &[u64], lanes: u64) -> f64 {
    let inputs: i64 = operator.input_tiles(tile).iter().map(|shape| area(shape)).sum();
    let elements = inputs + area(&operator.output_tile(tile));
    elements as f64 * operator.elem_bytes() as f64 / 4.0 / lanes as f64
}

/// Registers of 32 bits that each of the threads of a tile has of the output.
pub fn sums(operator: &Operator, tile: &[u64], lanes: u64) -> f64 {
    let elements = area(&operator.output_tile(tile));
    elements as f64 * operator.elem_bytes() as f64 / 4.0 / lanes as f64
}

/// Number of tiles `inner` that fill `outer`, along the first `axes` axes.
pub fn tiles(outer: &[u64], inner: &[u64], axes: usize) -> u64 {
    let counts = outer[..axes].iter().zip(inner).map(|(&outer, &inner)| outer.div_ceil(inner));
    counts.fold(1, |all: u64, count| all.saturating_mul(count))
}

/// The part that is computed and thrown away: padded points over points, less one.
pub fn waste(operator: &Operator, tile: &[u64]) -> f64 {
    let padded = operator.axes.iter().zip(tile).filter(|(axis, _)| !axis.reduction);
    let ratio: f64 = padded
        .map(|(axis, &size)| (axis.extent.div_ceil(size) * size) as f64 / axis.extent as f64)
        .product();
    ratio - 1.0
}
