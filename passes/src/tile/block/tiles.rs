//! The block tiles that are compared: constructed by Roller's rules (OSDI'22, section 4), or every
//! one that fits.
//!
//! ```text
//! registers [1, 1] -> ... -> [8, 4]   of each, near [8, 8] -> ... -> [128, 48]
//! [128, 48] of [8, 4]                 16 x 12 lanes   ->   6 groups of 8 x 4
//! ```
//!
//! Roller's thread is a lane here, and its tile of a matrix instruction that of a group. Registers
//! and then near tiles grow by reuse, in sizes that are whole instructions and transactions (rules
//! 1 and 2) and waste at most ε (rule 4), for ε from nothing to everything. Every tile on the way is
//! compared, for small ones leave work to other units; its reduction steps are as deep as the near
//! memory holds, or half or a quarter of that. That all parts of a core have threads (rule 1, too) is
//! a term of the cost, for few threads may be best for little work. Rule 3, of banks, is that of
//! `accesses.rs`. Lanes of a group are the rectangle of its threads that reads least.

use std::collections::HashSet;

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;

use super::super::roller::ladder::EPSILONS;
use super::super::roller::path::path;
use super::super::roller::{Arch, Axis, Dim, Operator, Options, Policy, Tensor, cost, steps};
use super::super::why::{Rule, percent};
use super::facts::Facts;
use super::{Block, Core, K, M, N, Supply, Ways};
use crate::nest::{Access, Nest};

/// Reduction steps of a tile that are tried, from the deepest that fits on: for matrix instructions more,
/// for several rooms of them have to fit.
const DEPTHS: usize = 3;
const MORE_DEPTHS: usize = 5;

/// Rectangles of lanes that are tried for a tile.
const RECTANGLES: usize = 2;

/// The tiles that Roller constructs for a block; none where none is aligned and fits.
pub(super) fn constructed<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    block: &Block<'c>,
    ways: &Ways<'c>,
    facts: &Facts,
) -> Vec<(Block<'c>, Rule)> {
    let sizes = matches!(block.core, Core::Matrix(..)).then(|| block.quanta());
    let arch = Arch::by(machine, block.instruction(), sizes, &ways.near);
    let (Ok(arch), Some(operator)) = (arch, operator(nest, block)) else { return Vec::new() };
    let builder = Construction { operator, arch, block, facts };
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for epsilon in EPSILONS {
        for own in builder.round(epsilon) {
            if seen.insert((own.tile, own.group, own.quanta())) {
                found.push((own, Rule::Reuse(percent(epsilon))));
            }
        }
    }
    found
}

/// What tiles of a block are constructed from.
struct Construction<'b, 'c> {
    operator: Operator,
    arch: Arch,
    block: &'b Block<'c>,
    facts: &'b Facts,
}

impl<'c> Construction<'_, 'c> {
    /// The tiles of which every axis wastes at most ε.
    fn round(&self, epsilon: f64) -> Vec<Block<'c>> {
        let Self { operator, arch, .. } = self;
        let Some(sizes) = steps::of_registers(operator, arch, epsilon) else { return Vec::new() };
        let lanes = arch.matrix.as_ref().map_or(1, |_| arch.warp);
        let holds = |tile: &[u64]| {
            let taken = match self.block.is_direct() {
                true => cost::sums(operator, tile, lanes),
                false => cost::registers(operator, tile, lanes),
            };
            taken <= arch.thread_registers as f64
        };
        let registers = path(&sizes, &holds, &|_, wider| self.reuse(wider));
        registers.iter().flat_map(|own| self.near(own, epsilon)).collect()
    }

    /// Operations for a byte that is brought.
    fn reuse(&self, tile: &[u64]) -> f64 {
        cost::work(&self.operator, tile) / cost::traffic(&self.operator, tile) as f64
    }

    /// The tiles around one of registers.
    fn near(&self, registers: &[u64], epsilon: f64) -> Vec<Block<'c>> {
        let Self { operator, arch, .. } = self;
        let options = Options::default();
        let sizes = steps::of_near(operator, arch, &options, Policy::Reuse, registers, epsilon);
        let Some(mut sizes) = sizes else { return Vec::new() };
        for (axis, sizes) in sizes.iter_mut().enumerate().take(K) {
            fewer_tiles(operator.axes[axis].extent, sizes);
        }
        let depths = self.depths();
        sizes[K] = vec![depths[0]];
        let lanes = arch.matrix.as_ref().map_or(1, |_| arch.warp);
        let fits = |near: &[u64]| {
            let groups = cost::tiles(near, registers, K);
            self.facts.holds([near[M], near[N], near[K]], groups * lanes)
        };
        let mut found = Vec::new();
        for near in path(&sizes, &fits, &|_, wider| self.reuse(wider)) {
            let mut deep = near;
            let mut own = Vec::new();
            for &depth in &depths {
                deep[K] = depth;
                own.push(self.blocks(registers, &deep));
            }
            let fit = own.into_iter().rev().filter(|own| !own.is_empty());
            let most = if arch.matrix.is_some() { MORE_DEPTHS } else { DEPTHS };
            found.extend(fit.take(most).flatten());
        }
        found
    }

    /// Reduction steps: whole transactions and whole instructions, doubled as often as there is
    /// anything to reduce.
    fn depths(&self) -> Vec<u64> {
        let quantum = self.block.quanta()[K];
        let transaction = self.arch.transaction_elements(self.operator.elem_bytes());
        let least = transaction.next_multiple_of(quantum);
        let doubled = std::iter::successors(Some(least), |depth| Some(depth * 2));
        let extent = self.operator.axes[K].extent;
        let all = doubled.take_while(|&depth| depth == least || depth < 2 * extent);
        all.collect()
    }

    /// The block tiles that a near tile of registers is, where that is whole groups and fits: with the
    /// lanes of a group in the rectangles that read least, for banks may prefer another than the first.
    fn blocks(&self, registers: &[u64], near: &[u64]) -> Vec<Block<'c>> {
        let (block, facts) = (self.block, self.facts);
        let tile = [near[M], near[N], near[K]];
        let Core::Lanes(..) = block.core else {
            let group = [registers[M], registers[N]];
            let whole = Block { tile, group, ..block.clone() };
            let Some(whole) = whole.boxed(facts.axes()) else { return Vec::new() };
            // Brought by an engine it takes no registers on its way.
            let by_engine = whole.is_direct().then(|| Block {
                stages: 3,
                ahead: Some(Supply::Pieces),
                ..whole.clone()
            });
            let fits = facts.fits(&whole) || by_engine.is_some_and(|own| facts.fits(&own));
            return if whole.is_whole() && fits { vec![whole] } else { Vec::new() };
        };
        let own = spreads(block.lanes).filter_map(|spread| {
            let group = [M, N].map(|axis| registers[axis] * spread[axis]);
            Some(Block { tile, group, ..block.with_spread(spread)? })
        });
        let turns = |own: &Block<'_>| facts.turns(own, M) + facts.turns(own, N);
        let mut own: Vec<_> = own.filter(|own| own.is_whole() && facts.fits(own)).collect();
        own.sort_by(|one, other| turns(one).total_cmp(&turns(other)));
        own.truncate(RECTANGLES);
        own
    }
}

/// Keeps of rising sizes those that make fewer tiles of an extent than the size before.
fn fewer_tiles(extent: u64, sizes: &mut Vec<u64>) {
    let mut before = u64::MAX;
    sizes.retain(|&size| {
        let tiles = extent.div_ceil(size);
        let fewer = tiles < before;
        before = before.min(tiles);
        fewer
    });
}

/// The product as an operator of three axes, whose tensors lie as those of the nest.
fn operator(nest: &Nest<'_>, block: &Block<'_>) -> Option<Operator> {
    let axis = |(own, name): (usize, &str)| Axis {
        name: name.to_owned(),
        extent: block.extent(nest, own),
        reduction: own == K,
    };
    let dim = |own: usize| {
        let mut steps = vec![0; 3];
        steps[own] = 1;
        Dim { steps, extent: block.extent(nest, own), border: 0 }
    };
    let tensor = |access: &Access<'_>, sides: [usize; 2]| {
        let stride = |own: &usize| access.stride(nest.axes.len(), block.axes[*own]);
        let mut sides = sides;
        sides.sort_by_key(|own| std::cmp::Reverse(stride(own)));
        let elem_bytes = ty::byte_size(access.elem())?;
        Some(Tensor { dims: sides.map(dim).to_vec(), elem_bytes })
    };
    let inputs = [M, N].map(|own| tensor(&nest.inputs[block.inputs[own]], [own, K]));
    Some(Operator {
        axes: [(M, "m"), (N, "n"), (K, "k")].map(axis).to_vec(),
        inputs: inputs.into_iter().collect::<Option<_>>()?,
        output: tensor(nest.outputs.first()?, [M, N])?,
    })
}

/// Every way to lay lanes over rows and columns.
fn spreads(lanes: u64) -> impl Iterator<Item = [u64; 2]> {
    (1..=lanes)
        .filter(move |&rows| lanes.is_multiple_of(rows))
        .map(move |rows| [rows, lanes / rows])
}

/// Every tile that fits: groups of instructions, blocks of groups and steps along k by powers of
/// two.
pub(super) fn enumerated<'c>(nest: &Nest<'c>, block: &Block<'c>, facts: &Facts) -> Vec<Block<'c>> {
    let doubled = || (0..5).map(|power| 1u64 << power);
    let cores: Vec<Block<'c>> = match block.core {
        Core::Matrix(..) => vec![block.clone()],
        Core::Lanes(..) => spreads(block.lanes).filter_map(|own| block.with_spread(own)).collect(),
    };
    let mut found = Vec::new();
    for core in cores {
        let quanta = core.quanta();
        let extent = |side: usize| core.extent(nest, side);
        // A tile beyond the end is worth nothing once a smaller one reaches it.
        let reaches =
            |axis: usize, size: u64| size < 2 * extent(axis).next_multiple_of(quanta[axis]);
        let sides = |axis: usize| {
            doubled()
                .flat_map(move |count| doubled().map(move |groups| [count, groups]))
                .filter(move |[count, groups]| reaches(axis, count * groups * quanta[axis]))
        };
        for [rows, tall] in sides(M) {
            for [columns, wide] in sides(N) {
                for steps in doubled() {
                    let group = [rows * quanta[M], columns * quanta[N]];
                    let step = quanta[K] * steps * if quanta[K] == 1 { 4 } else { 1 };
                    let tile = [tall * group[M], wide * group[N], step];
                    let candidate = Block { tile, group, ..core.clone() }.boxed(facts.axes());
                    found.extend(candidate.filter(|candidate| facts.fits(candidate)));
                }
            }
        }
    }
    found
}
