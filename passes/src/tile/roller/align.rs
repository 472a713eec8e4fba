//! The rules that a tile keeps, in one function that knows nothing of how it was made.
//!
//! 1. Threads fill every part of a core; a matrix instruction is filled along its axes.
//! 2. The innermost row of every loaded tile is a whole number of transactions, or whole.
//! 3. Rows in the local memory are padded, so that rows read together lie in other banks.
//! 4. What is computed along a spatial axis is at most (1+ε) of it.
//!
//! Reduction axes are exempt from rule 4: their steps are few, and go by transactions.

use std::fmt;

use super::steps::{is_thrifty, unit};
use super::{Arch, Operator, Policy, Tiles, banks};

/// A rule that a tile breaks, with the values.
#[derive(Clone, Debug, PartialEq)]
pub enum Violation {
    /// Rule 1.
    Threads {
        /// Of a block.
        threads: u64,
        /// The number that divides an allowed one.
        of: u64,
    },
    /// Rule 1, of a matrix instruction.
    Instruction {
        /// The axis.
        axis: usize,
        /// The size of the register tile.
        size: u64,
        /// That of the instruction.
        of: u64,
    },
    /// Rule 2.
    Transaction {
        /// The input; one after the last is the output.
        tensor: usize,
        /// Elements of a row.
        row: i64,
        /// Elements of a transaction.
        of: u64,
        /// From how many elements on it is whole.
        whole: i64,
    },
    /// Rule 3.
    Bank {
        /// The input.
        tensor: usize,
        /// Elements that are left free behind a row.
        padding: u64,
        /// The padding that the rule asks for.
        of: u64,
    },
    /// Rule 4.
    Waste {
        /// The axis.
        axis: usize,
        /// The size of the tile.
        size: u64,
        /// The extent of the axis.
        extent: u64,
        /// The bound.
        epsilon: f64,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Threads { threads, of } => {
                write!(f, "rule 1: {threads} threads are no multiple of {of}")
            }
            Violation::Instruction { axis, size, of } => {
                write!(f, "rule 1: {size} on axis {axis} is no multiple of the instruction's {of}")
            }
            Violation::Transaction { tensor, row, of, whole } => write!(
                f,
                "rule 2: a row of {row} elements of tensor {tensor} is no multiple of {of}, nor all of {whole}"
            ),
            Violation::Bank { tensor, padding, of } => write!(
                f,
                "rule 3: rows of input {tensor} are padded by {padding} elements, conflicts end with {of}"
            ),
            Violation::Waste { axis, size, extent, epsilon } => write!(
                f,
                "rule 4: tiles of {size} cover {} of {extent} on axis {axis}, more than {epsilon:.1} of waste",
                extent.div_ceil(*size) * size
            ),
        }
    }
}

/// The unit of a block's threads: all that a core issues together, or one warp where computing is
/// negligible.
pub fn threads(arch: &Arch, policy: Policy) -> u64 {
    match policy {
        Policy::Reuse => arch.issue_threads(),
        Policy::Plain => arch.warp,
    }
}

/// Every rule that the tiles break. `padding` is what is left free behind the rows of each
/// input in the local memory; `None` where storage is not padded at all.
pub fn check(
    operator: &Operator,
    arch: &Arch,
    policy: Policy,
    tiles: &Tiles,
    epsilon: f64,
    padding: Option<&[u64]>,
) -> Vec<Violation> {
    let mut broken = Vec::new();
    let block = tiles.current();
    let (count, of) = (tiles.threads(operator, arch), threads(arch, policy));
    if !count.is_multiple_of(of) {
        broken.push(Violation::Threads { threads: count, of });
    }
    if arch.matrix.is_some() {
        for (axis, (&size, of)) in tiles.registers.iter().zip(unit(operator, arch)).enumerate() {
            if !size.is_multiple_of(of) {
                broken.push(Violation::Instruction { axis, size, of });
            }
        }
    }
    broken.extend(rows(operator, arch, block, policy == Policy::Plain));
    if let Some(padding) = padding {
        for (tensor, &padding) in padding.iter().enumerate() {
            let of = banks::padding(operator, arch, tiles, tensor);
            if padding != of {
                broken.push(Violation::Bank { tensor, padding, of });
            }
        }
    }
    for (axis, (own, &size)) in operator.axes.iter().zip(block).enumerate() {
        if !own.reduction && !is_thrifty(own.extent, size, epsilon) {
            broken.push(Violation::Waste { axis, size, extent: own.extent, epsilon });
        }
    }
    broken
}

/// Returns whether rule 2 is kept for every tensor, the output among them.
pub fn whole_rows(operator: &Operator, arch: &Arch, block: &[u64]) -> bool {
    rows(operator, arch, block, true).is_empty()
}

/// Rule 2, for every input and where asked for the output.
fn rows(operator: &Operator, arch: &Arch, block: &[u64], output: bool) -> Vec<Violation> {
    let of = arch.transaction_elements(operator.elem_bytes());
    let mut shapes = operator.input_tiles(block);
    if output {
        shapes.push(operator.output_tile(block));
    }
    let wholes = operator.whole_rows();
    let each = shapes.into_iter().zip(wholes).enumerate();
    each.filter_map(|(tensor, (shape, whole))| {
        let row = *shape.last()?;
        let kept = row >= whole || row % of as i64 == 0;
        (!kept).then_some(Violation::Transaction { tensor, row, of, whole })
    })
    .collect()
}
