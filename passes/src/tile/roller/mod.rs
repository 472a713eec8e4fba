//! Tiles that line up with the machine, built and not searched for (Roller, OSDI'22).
//!
//! ```text
//! C[m, n] += A[m, k] * B[k, n]  on 80 cores of 128 threads
//!   ->  block [128, 64, 8] of registers [8, 4], [128, 128, 8] of [8, 4], ...
//! ```
//!
//! [`construct`] takes an operator and a machine as plain data and gives a few tiles, the
//! first being the one to take. Two policies of the published implementation, version 1, are
//! here to the letter ([`Variant::Published`]); [`Variant::Aligned`] is ours, of which every
//! tile passes [`align::check`].
//!
//! - `operator`, `read`, `fuse`: what is computed, and along which axes it is cut.
//! - `arch`: what the machine is asked for.
//! - `slope`: which policy an operator takes.
//! - `enlarge`: the walk of every construction, also of tiles for lanes (`tile/lane_tiles.rs`).
//! - `path`: the same by reuse alone, for blocks of groups (`tile/block/tiles.rs`).
//! - `steps`, `score`, `search`, `ladder`: the construction for blocks of threads.
//! - `align`, `banks`: the rules that a tile keeps.
//! - `shrink`: operators too small for the machine.
//! - `model`, `report`: what a tile is predicted to take, and how that is told.

pub mod align;
mod arch;
pub mod banks;
pub mod cost;
pub mod enlarge;
mod fuse;
pub(super) mod ladder;
mod model;
mod operator;
pub mod path;
mod read;
mod refusal;
mod report;
pub mod score;
mod search;
mod shrink;
mod slope;
pub mod steps;

pub use arch::{Arch, ArchError, MatrixUnit};
pub use model::{Prediction, predict};
pub use operator::{Axis, Dim, Operator, Tensor};
pub use refusal::Refusal;
pub use report::lines;
pub use slope::policy;

/// Policies by which tiles grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// By reuse: larger tiles move less.
    Reuse,
    /// Innermost axis first: reuse does not change with the size.
    Plain,
}

impl Policy {
    /// The name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Policy::Reuse => "reuse",
            Policy::Plain => "plain",
        }
    }
}

/// By which score the reuse policy enlarges a tile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Score {
    /// That of the published candidates: operations per byte with one more element.
    #[default]
    Shipped,
    /// That of the paper: traffic saved per byte of room.
    Paper,
}

/// Whose tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Those of version 1, which are not aligned again where they were shrunk.
    Published,
    /// Tiles that keep every rule of alignment, with padding against bank conflicts.
    #[default]
    Aligned,
}

/// Options of the construction.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// By which score.
    pub score: Score,
    /// Whose tiles.
    pub variant: Variant,
    /// Number of candidates.
    pub keep: usize,
    /// Tiles that are looked at before the search ends without more.
    pub most: usize,
}

impl Options {
    /// As the published candidates were made.
    pub const PUBLISHED: Self =
        Self { score: Score::Shipped, variant: Variant::Published, keep: 10, most: usize::MAX };
}

impl Default for Options {
    fn default() -> Self {
        Self { variant: Variant::Aligned, ..Self::PUBLISHED }
    }
}

/// A tile of registers, and around it one in the local memory while that is being built.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tiles {
    /// The tile of one thread, or of one warp by a matrix instruction: a size per axis.
    pub registers: Vec<u64>,
    /// The tile that one block computes at a time.
    pub block: Option<Vec<u64>>,
}

impl Tiles {
    /// The tile that is being enlarged.
    pub(crate) fn current(&self) -> &[u64] {
        self.block.as_ref().unwrap_or(&self.registers)
    }

    fn current_mut(&mut self) -> &mut [u64] {
        self.block.as_mut().unwrap_or(&mut self.registers)
    }

    /// Number of register tiles of a block.
    pub(crate) fn groups(&self, operator: &Operator) -> u64 {
        cost::tiles(self.current(), &self.registers, operator.spatial())
    }

    /// Number of threads of a block.
    pub(crate) fn threads(&self, operator: &Operator, arch: &Arch) -> u64 {
        self.groups(operator) * arch.matrix.as_ref().map_or(1, |_| arch.warp)
    }
}

/// A tile to take.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// The tile that one block computes at a time: a size per axis, reductions last.
    pub block: Vec<u64>,
    /// The tile of one thread.
    pub registers: Vec<u64>,
    /// The most waste that was allowed when it was found.
    pub epsilon: f64,
    /// The block tile before the operator was seen to be too small for it.
    pub unshrunk: Option<Tiles>,
    /// Elements left free behind every row of an input in the local memory.
    pub padding: Vec<u64>,
    /// Its predicted traffic, footprint and time.
    pub prediction: Prediction,
}

impl Candidate {
    /// Both tiles.
    pub fn tiles(&self) -> Tiles {
        Tiles { registers: self.registers.clone(), block: Some(self.block.clone()) }
    }

    /// Number of blocks.
    pub fn blocks(&self, operator: &Operator) -> u64 {
        cost::tiles(&operator.extents(), &self.block, operator.spatial())
    }

    /// Number of threads of a block.
    pub fn threads(&self, operator: &Operator, arch: &Arch) -> u64 {
        self.tiles().threads(operator, arch)
    }
}

/// The candidates for an operator, the one to take first, and the policy that made them.
///
/// The operator is cut along the axes that it has: [`Operator::fused`] is asked for before.
///
/// # Errors
/// No tile fits: the least that one needs, and what the machine has.
pub fn construct(
    operator: &Operator,
    arch: &Arch,
    options: &Options,
) -> Result<(Policy, Vec<Candidate>), Refusal> {
    let policy = slope::policy(operator);
    refusal::check(operator, arch)?;
    let (found, looked) = ladder::climb(operator, arch, options, policy);
    if found.is_empty() {
        return Err(match looked < options.most {
            true => refusal::of(operator, arch, options, policy),
            false => Refusal::Long { looked },
        });
    }
    let candidates = found.into_iter().map(|(tiles, epsilon)| {
        let shrunk = shrink::shrink(operator, arch, options, policy, &tiles, epsilon);
        let last = shrunk.clone().unwrap_or_else(|| tiles.clone());
        let padding = banks::paddings(operator, arch, options, &last);
        let prediction = predict(operator, arch, &last, &padding);
        let block = last.block.expect("the ladder gives block tiles");
        let unshrunk = shrunk.map(|_| tiles);
        Candidate { block, registers: last.registers, epsilon, unshrunk, padding, prediction }
    });
    let mut kept: Vec<_> = candidates.collect();
    // Version 1 measured its candidates; ours are in the order of the model.
    if options.variant == Variant::Aligned {
        kept.sort_by(|a, b| a.prediction.predicted_ms.total_cmp(&b.prediction.predicted_ms));
    }
    kept.truncate(options.keep);
    Ok((policy, kept))
}
