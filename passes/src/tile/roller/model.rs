//! Predicted cost of a tile: Roller's micro-performance model (section 4.3).
//!
//! ```text
//! time = max(compute, device, local)
//! compute = blocks · work / peak           in whole waves of blocks over the cores
//! device  = blocks · traffic / bandwidth   in whole transactions
//! local   = what registers load / bandwidth, as often as banks conflict
//! ```

use super::cost::{self, footprint, input_bytes, tiles, traffic, work};
use super::{Arch, Operator, Tiles, banks};

/// Traffic, footprint and predicted time of a tile.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// Bytes of one block from and to the device memory.
    pub traffic_bytes: u64,
    /// Bytes that lie in the local memory at a time.
    pub footprint_bytes: u64,
    /// The part of what is computed that is thrown away: 0.25 is a quarter more than is asked.
    pub waste: f64,
    /// Time of all blocks, in milliseconds.
    pub predicted_ms: f64,
    /// Time of computing alone.
    pub compute_ms: f64,
    /// Time of the device memory alone.
    pub device_ms: f64,
    /// Time of the local memory alone.
    pub local_ms: f64,
}

/// Predicts for block tiles whose rows are followed by `padding` elements.
pub fn predict(operator: &Operator, arch: &Arch, both: &Tiles, padding: &[u64]) -> Prediction {
    let block = both.current();
    let blocks = tiles(&operator.extents(), block, operator.spatial());
    // 10⁹ a second are as many in a nanosecond.
    let compute = blocks as f64 * work(operator, block) / arch.peak() * waves(blocks, arch.cores);
    let device = blocks as f64 * transferred(operator, arch, block) / arch.device_gbytes_per_s;
    let loaded =
        both.groups(operator) as f64 * input_bytes(operator, &both.registers).max(0) as f64;
    let shared = shared(operator, arch, both, padding);
    let local_ns = blocks as f64 * loaded * shared / arch.local_gbytes_per_s;
    Prediction {
        traffic_bytes: traffic(operator, block).max(0) as u64,
        footprint_bytes: footprint(operator, block, padding).max(0) as u64,
        waste: cost::waste(operator, block),
        predicted_ms: compute.max(device).max(local_ns) / 1e6,
        compute_ms: compute / 1e6,
        device_ms: device / 1e6,
        local_ms: local_ns / 1e6,
    }
}

/// Ratio of the time of blocks to their time if cores could share the last of them.
fn waves(blocks: u64, cores: u64) -> f64 {
    (blocks.div_ceil(cores) * cores) as f64 / blocks.max(1) as f64
}

/// Bytes of one block that the device memory moves, in whole transactions for every row.
fn transferred(operator: &Operator, arch: &Arch, block: &[u64]) -> f64 {
    let spatial = operator.spatial();
    let step: Vec<_> = operator.input_tiles(block);
    let folds: f64 = operator.axes[spatial..]
        .iter()
        .zip(&block[spatial..])
        .map(|(axis, &size)| axis.extent.div_ceil(size) as f64)
        .product();
    let rows = |shape: &[i64], elem_bytes: u64| {
        let bytes: f64 =
            shape.iter().map(|&size| size.max(0) as f64).product::<f64>() * elem_bytes as f64;
        let row = shape.last().copied().unwrap_or(1).max(1) as u64 * elem_bytes;
        let whole = row.div_ceil(arch.device_transaction_bytes) * arch.device_transaction_bytes;
        bytes * whole as f64 / row as f64
    };
    let inputs: f64 =
        step.iter().zip(&operator.inputs).map(|(shape, input)| rows(shape, input.elem_bytes)).sum();
    inputs * folds + rows(&operator.output_tile(block), operator.output.elem_bytes)
}

/// Number of a warp's loads that go one after the other because banks conflict, less those that
/// several lanes share: a word that many lanes read is moved once.
fn shared(operator: &Operator, arch: &Arch, both: &Tiles, padding: &[u64]) -> f64 {
    let degrees = (0..operator.inputs.len()).map(|input| {
        let padding = padding.get(input).copied().unwrap_or(0);
        banks::degree(operator, arch, both, input, padding) as f64
    });
    let count = operator.inputs.len().max(1) as f64;
    (degrees.sum::<f64>() / count).max(1.0)
}
