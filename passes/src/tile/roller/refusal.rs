//! Reasons that there is no tile, with the arithmetic and an accepted value.

use super::align;
use super::cost::{footprint, registers};
use super::ladder::{self, EPSILON_MAX};
use super::steps;
use super::{Arch, Operator, Options, Policy, Tiles, banks};

/// No tile of an operator fits a machine.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// One point, or one matrix instruction, takes more registers than a thread has.
    #[error("a tile of {tile:?} takes {needed} registers, a thread has {has}")]
    Registers {
        /// The smallest register tile.
        tile: Vec<u64>,
        /// Registers that it takes.
        needed: u64,
        /// Registers that a thread has.
        has: u64,
    },
    /// The smallest aligned block tile takes more than the local memory has.
    #[error(
        "the smallest aligned tile {tile:?} takes {needed} bytes of @{memory}, which has {has}"
    )]
    Local {
        /// The local memory.
        memory: String,
        /// The tile.
        tile: Vec<u64>,
        /// Bytes that it takes.
        needed: u64,
        /// Bytes that a block may have.
        has: u64,
    },
    /// The threads of a warp for every part of a core are more than a block may have.
    #[error("a core issues {needed} threads together, a block has at most {has}")]
    Core {
        /// Warp times partitions.
        needed: u64,
        /// The most.
        has: u64,
    },
    /// No size along the axes gives enough threads without too much waste.
    #[error(
        "no tile of {extents:?} has a multiple of {of} threads that computes at most twice of it along an axis"
    )]
    Waste {
        /// The spatial extents.
        extents: Vec<u64>,
        /// The unit of a block's threads.
        of: u64,
        /// The nearest extent of the last axis for which there is one.
        enough: Option<u64>,
    },
    /// The search ended before it had found one.
    #[error("none of the first {looked} tiles keeps the rules")]
    Long {
        /// Tiles that were looked at.
        looked: usize,
    },
    /// An axis has no points.
    #[error("axis {axis} has no points")]
    Empty {
        /// Its name.
        axis: String,
    },
}

impl Refusal {
    /// The name of the rule, for reports and tests.
    pub fn rule(&self) -> &'static str {
        match self {
            Refusal::Registers { .. } => "registers",
            Refusal::Local { .. } => "near",
            Refusal::Core { .. } => "core",
            Refusal::Waste { .. } => "waste",
            Refusal::Long { .. } => "search",
            Refusal::Empty { .. } => "empty",
        }
    }

    /// The nearest that would be accepted.
    pub fn help(&self) -> String {
        match self {
            Refusal::Registers { needed, .. } => format!("{needed} registers a thread would do"),
            Refusal::Local { memory, needed, .. } => {
                format!("@{memory} with capacity_bytes({}) would do", needed + 1)
            }
            Refusal::Core { has, .. } => {
                format!("at most {has}: fewer partitions, or a smaller warp")
            }
            Refusal::Waste { enough: Some(enough), .. } => {
                format!("a last axis of {enough} would do")
            }
            Refusal::Waste { of, .. } => {
                format!("more points: {of} threads have something to do then")
            }
            Refusal::Long { .. } => "`weft kernel --candidates` looks at all".to_owned(),
            Refusal::Empty { .. } => "1 or more".to_owned(),
        }
    }
}

/// Checks what is known before any tile is tried.
pub fn check(operator: &Operator, arch: &Arch) -> Result<(), Refusal> {
    if let Some(axis) = operator.axes.iter().find(|axis| axis.extent == 0) {
        return Err(Refusal::Empty { axis: axis.name.clone() });
    }
    let tile = steps::unit(operator, arch);
    let lanes = arch.matrix.as_ref().map_or(1, |_| arch.warp);
    let needed = registers(operator, &tile, lanes).ceil() as u64;
    if needed > arch.thread_registers {
        return Err(Refusal::Registers { tile, needed, has: arch.thread_registers });
    }
    if arch.issue_threads() > arch.block_threads {
        return Err(Refusal::Core { needed: arch.issue_threads(), has: arch.block_threads });
    }
    Ok(())
}

/// The reason that the search found no tile.
pub fn of(operator: &Operator, arch: &Arch, options: &Options, policy: Policy) -> Refusal {
    let unit = steps::unit(operator, arch);
    let smallest = steps::of_near(operator, arch, options, policy, &unit, EPSILON_MAX);
    let smallest = smallest.map(|steps| steps.iter().map(|sizes| sizes[0]).collect::<Vec<_>>());
    if let Some(tile) = smallest {
        let tiles = Tiles { registers: unit, block: Some(tile.clone()) };
        let padding = banks::paddings(operator, arch, options, &tiles);
        let needed = footprint(operator, &tile, &padding).max(0) as u64;
        if needed >= arch.local_bytes {
            let memory = arch.local.clone();
            return Refusal::Local { memory, tile, needed, has: arch.local_bytes };
        }
    }
    let extents = operator.extents()[..operator.spatial()].to_vec();
    let of = align::threads(arch, policy);
    Refusal::Waste { of, enough: enough(operator, arch, options, policy, of), extents }
}

/// An extent of the last spatial axis with which the operator has a tile, where none is found
/// with one less.
fn enough(
    operator: &Operator,
    arch: &Arch,
    options: &Options,
    policy: Policy,
    threads: u64,
) -> Option<u64> {
    let last = operator.spatial().checked_sub(1)?;
    let mut larger = operator.clone();
    let mut has = |extent: u64| {
        larger.axes[last].extent = extent;
        !ladder::climb(&larger, arch, options, policy).0.is_empty()
    };
    let mut lacks = operator.axes[last].extent;
    // With as many points as threads along it, the axis alone is enough.
    let mut found = std::iter::successors(Some(lacks), |extent| extent.checked_mul(2))
        .take_while(|&extent| extent <= 4 * threads.max(lacks))
        .skip(1)
        .find(|&extent| has(extent))?;
    lacks = lacks.max(found / 2);
    while found - lacks > 1 {
        let middle = lacks + (found - lacks) / 2;
        if has(middle) {
            found = middle;
        } else {
            lacks = middle;
        }
    }
    Some(found)
}
