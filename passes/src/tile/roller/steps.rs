//! Which sizes an axis takes in a memory: the step tables of the two policies.
//!
//! ```text
//! registers   spatial 1, 2, 4, 8, 16, 32                    reduction 1
//! block, reuse spatial 1 .. 32 times the register tile        8, 32 for f32 and 32 B
//! block, plain spatial 1 .. 512 times the register tile       32, 64, 128 for f32 and 32 B
//! ```
//!
//! In the local memory the last spatial axis is a multiple of a transaction too. Spatial sizes
//! that waste more than ε of their axis are left out (rule 4).

use super::arch::Arch;
use super::operator::Operator;
use super::{Options, Policy, Variant};

/// The sizes of every axis, in rising order.
pub type Steps = Vec<Vec<u64>>;

/// Numbers in which the tables of the two policies differ.
struct Table {
    /// Multiples of the register tile along spatial axes.
    multiples: u64,
    /// Transactions in the smallest reduction step.
    transactions: u64,
    /// Factor from one reduction step to the next.
    growth: u64,
    /// The largest reduction step.
    depth_max: u64,
}

impl Table {
    fn of(policy: Policy) -> Self {
        match policy {
            Policy::Reuse => Self { multiples: 32, transactions: 1, growth: 4, depth_max: 32 },
            Policy::Plain => Self { multiples: 512, transactions: 4, growth: 2, depth_max: 128 },
        }
    }
}

/// The smallest tile of registers: one point, or one matrix instruction.
pub fn unit(operator: &Operator, arch: &Arch) -> Vec<u64> {
    let spatial = operator.spatial();
    let size = |axis: usize| match &arch.matrix {
        None => 1,
        Some(matrix) if axis >= spatial => matrix.sizes[2],
        // The last two axes are rows and columns; what is before them is repeated.
        Some(matrix) => {
            [matrix.sizes[1], matrix.sizes[0]].get(spatial - 1 - axis).copied().unwrap_or(1)
        }
    };
    (0..operator.axes.len()).map(size).collect()
}

/// Sizes of register tiles; `None` where an axis has none that wastes little enough.
pub fn of_registers(operator: &Operator, arch: &Arch, epsilon: f64) -> Option<Steps> {
    let unit = unit(operator, arch);
    let sizes = |(&unit, axis): (&u64, &super::Axis)| match axis.reduction {
        true => vec![unit],
        false => [1, 2, 4, 8, 16, 32].map(|times| times * unit).to_vec(),
    };
    let steps = unit.iter().zip(&operator.axes).map(sizes).collect();
    thrifty(operator, steps, epsilon)
}

/// Sizes of block tiles around a register tile; `None` as above.
pub fn of_near(
    operator: &Operator,
    arch: &Arch,
    options: &Options,
    policy: Policy,
    registers: &[u64],
    epsilon: f64,
) -> Option<Steps> {
    let table = Table::of(policy);
    let spatial = operator.spatial();
    let transaction = arch.transaction_elements(operator.elem_bytes());
    let sizes = |axis: usize| {
        let mut base = registers[axis];
        if axis >= spatial {
            return depths(arch, &table, base, operator.axes[axis].extent, transaction);
        }
        // Version 1 knows operators of which only the last axis is contiguous.
        let contiguous = match options.variant {
            Variant::Published => axis + 1 == spatial,
            Variant::Aligned => axis + 1 == spatial || is_innermost(operator, axis),
        };
        if contiguous {
            base = lcm(base, transaction);
        }
        (1..=table.multiples).map(|times| times * base).collect()
    };
    let steps = (0..operator.axes.len()).map(sizes).collect();
    thrifty(operator, steps, epsilon)
}

/// Reduction steps: from a few transactions on, each clamped to the axis and to the table.
fn depths(arch: &Arch, table: &Table, base: u64, extent: u64, transaction: u64) -> Vec<u64> {
    // A step of a matrix instruction is four of them at least, and the axis is padded.
    let (least, most) = match (&arch.matrix, table.multiples) {
        (Some(matrix), 512) => (4 * matrix.sizes[2], 8 * matrix.sizes[2]),
        (Some(matrix), _) => (4 * matrix.sizes[2], 4 * matrix.sizes[2]),
        (None, _) => (table.transactions * transaction, extent.min(table.depth_max)),
    };
    let mut step = lcm(base, least);
    let mut steps = Vec::new();
    loop {
        steps.push(step.min(most));
        if step >= most {
            return steps;
        }
        step *= table.growth;
    }
}

/// Returns whether an axis alone is the contiguous dimension of a tensor.
fn is_innermost(operator: &Operator, axis: usize) -> bool {
    operator
        .inputs
        .iter()
        .any(|input| input.dims.last().is_some_and(|dim| dim.axis() == Some(axis)))
}

/// Without the spatial sizes that waste more than ε; `None` where an axis is left with none.
fn thrifty(operator: &Operator, mut steps: Steps, epsilon: f64) -> Option<Steps> {
    for (sizes, axis) in steps.iter_mut().zip(&operator.axes) {
        if !axis.reduction {
            sizes.retain(|&size| is_thrifty(axis.extent, size, epsilon));
        }
    }
    steps.iter().all(|sizes| !sizes.is_empty()).then_some(steps)
}

/// Rule 4: `⌈N/S⌉·S ≤ (1+ε)·N`.
pub fn is_thrifty(extent: u64, size: u64, epsilon: f64) -> bool {
    (extent.div_ceil(size) * size) as f64 <= extent as f64 * (1.0 + epsilon)
}

/// The least common multiple.
pub fn lcm(left: u64, right: u64) -> u64 {
    left / gcd(left, right) * right
}

/// Greatest common divisor.
pub fn gcd(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}
