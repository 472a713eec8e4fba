//! Which block tile: those of `tiles.rs`, compared by the time that all units take (`facts.rs`).
//!
//! Waves over all units make tiles of small problems small (Roller, OSDI'22, section 3.3). Turns
//! of banks are estimated, and for the best of these counted by the addresses of some steps.

use weft_dialects::device::{Machine, Move};
use weft_dialects::ir::ty;
use weft_dialects::tile::RTile;

use super::super::banks::{Banks, Choice};
use super::super::layout::Layout;
use super::super::why::Rule;
use super::facts::Facts;
use super::far::far;
use super::stages::stages;
use super::{Block, Chosen, Lying, M, N, Repacked, Ways, accesses, of_numbers, tiles};
use crate::cost::{Cost, Term};
use crate::nest::{Access, Nest};

/// Tiles whose turns of banks are counted.
const COUNTED: usize = 8;

/// The best block tile of each instruction that can do the nest, among those that are constructed
/// or among all, where a factor may be laid out anew; `blocks` are [`Block::all`] of it as it lies.
pub(in super::super) fn choose<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    blocks: Vec<Block<'c>>,
    layouts: &[Layout],
    all_tiles: bool,
) -> Vec<Chosen<'c>> {
    let Some(repacked) = Repacked::of(nest, layouts) else {
        return fixed(machine, nest, blocks, all_tiles);
    };
    let nest = repacked.nest(nest);
    let found = fixed(machine, &nest, Block::all(machine, &nest), all_tiles);
    found.into_iter().map(|own| Chosen { repacked: Some(repacked), ..own }).collect()
}

/// The same with tensors as they lie.
fn fixed<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    mut found: Vec<Block<'c>>,
    all_tiles: bool,
) -> Vec<Chosen<'c>> {
    // Of those that take as long the instruction is the first that computes most, a cycle or at all.
    let points = |block: &Block<'_>| block.quanta().iter().product::<u64>() as f64;
    let rate = |block: &Block<'_>| points(block) / block.instruction().issue_cycles();
    found.sort_by(|one, other| {
        let most = rate(other).total_cmp(&rate(one));
        most.then_with(|| points(other).total_cmp(&points(one)))
    });
    found.into_iter().filter_map(|block| best(machine, nest, block, all_tiles)).collect()
}

/// Returns whether groups of the machine may share tiles of the nest.
pub fn may_share<'c>(machine: Machine<'c>, nest: &Nest<'c>) -> bool {
    shares(machine, &Block::all(machine, nest))
}

/// The same for a nest that can be done by these blocks.
pub fn shares<'c>(machine: Machine<'c>, blocks: &[Block<'c>]) -> bool {
    let ways = |block: &Block<'c>| {
        block.instruction().operands().last().and_then(|own| Ways::of(machine, own)).is_some()
    };
    blocks.iter().any(ways)
}

fn best<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    block: Block<'c>,
    all_tiles: bool,
) -> Option<Chosen<'c>> {
    let ways = Ways::of(machine, block.instruction().operands().last()?)?;
    let banks = Banks::of(&ways.near)?;
    let facts = Facts::of(machine, nest, &block, &ways)?;
    let candidates = match all_tiles {
        true => {
            let all = tiles::enumerated(nest, &block, &facts).into_iter();
            all.map(|block| (block, Rule::Enumerated)).collect()
        }
        false => tiles::constructed(machine, nest, &block, &ways, &facts),
    };
    let ahead = |(block, rule): (Block<'c>, Rule)| {
        let stages = stages(nest, &block, &ways);
        let own = move |(stages, ahead)| (Block { stages, ahead, ..block.clone() }, rule);
        let fits = stages.into_iter().map(own).filter(|(block, _)| facts.fits(block));
        fits.map(|(block, rule)| (block.in_clusters(nest, &ways, &facts), rule)).collect::<Vec<_>>()
    };
    let candidates: Vec<_> = candidates.into_iter().flat_map(ahead).collect();
    let compared = candidates.len();
    let estimated = candidates.into_iter().map(|(block, rule)| {
        let turns = [M, N].map(|side| facts.turns(&block, side));
        (facts.cost(nest, &block, turns).cycles, block, rule)
    });
    let mut ranked: Vec<(f64, Block<'c>, Rule)> = estimated.collect();
    ranked.sort_by(|one, other| {
        let bytes = |block| facts.bytes(block);
        one.0.total_cmp(&other.0).then_with(|| bytes(&one.1).cmp(&bytes(&other.1)))
    });
    ranked.truncate(COUNTED);
    let taken = |block: &Block<'c>, lying: &[(Lying, Choice); 2]| {
        let turns = [M, N].map(|side| facts.loaded(block, side, &lying[side].1));
        facts.cost(nest, block, turns) * facts.units
    };
    let counted = ranked.into_iter().flat_map(|(_, block, rule)| {
        let laid = facts.lying(banks, nest, &block).into_iter();
        laid.map(move |(asked, (block, lying))| (asked, (block, lying, rule)))
    });
    let counted = counted.filter(|(_, (block, ..))| facts.fits(block));
    let counted = counted.map(|(asked, laid)| (taken(&laid.0, &laid.1).cycles, asked, laid));
    // Of those that take as long the one that asks least often.
    let less = |one: &(f64, u64, _), other: &(f64, u64, _)| {
        one.0.total_cmp(&other.0).then(one.1.cmp(&other.1))
    };
    let (_, _, (block, lying, rule)) = counted.min_by(less)?;
    let own = |side: usize| {
        let own: Lying = lying[side].0;
        Some((own, accesses::counted(banks, nest, &block, side, &own)?))
    };
    let lying = [own(M)?, own(N)?];
    let cost = taken(&block, &lying);
    Some(Chosen { block, ways, lying, cost, rule, compared, repacked: None })
}

/// What a block takes that a tile program describes, as [`Chosen::cost`], its turns of banks counted.
/// `None` where the program says of an input no layout.
pub fn cost<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    block: &Block<'c>,
    layouts: &[Vec<i64>],
) -> Option<Cost> {
    let ways = Ways::of(machine, block.instruction().operands().last()?)?;
    let (banks, facts) = (Banks::of(&ways.near)?, Facts::of(machine, nest, block, &ways)?);
    let turns = |side: usize| {
        let lying = of_numbers(layouts.get(block.inputs[side])?)?;
        let choice = accesses::counted(banks, nest, block, side, &lying)?;
        Some(facts.loaded(block, side, &choice))
    };
    Some(facts.cost(nest, block, [turns(M)?, turns(N)?]) * facts.units)
}

/// What a group that brings everything itself takes: its tiles come from the memory behind, of which
/// each unit has a part, and it waits for them at every step of the reductions; two steps are under
/// way at once.
pub struct Alone<'n, 'c> {
    nest: &'n Nest<'c>,
    facts: Option<AloneFacts<'c>>,
}

struct AloneFacts<'c> {
    /// The moves from the shared memory.
    moves: Vec<Move<'c>>,
    /// Bytes a cycle from the memory behind.
    far: f64,
    units: f64,
    /// Groups under way on a unit.
    groups: f64,
}

impl<'n, 'c> Alone<'n, 'c> {
    /// On a machine.
    pub fn of(machine: Machine<'c>, nest: &'n Nest<'c>) -> Self {
        let facts = || {
            let (shared, unit) = (machine.shared()?, machine.units().into_iter().next()?);
            let moves = machine.moves().into_iter().filter(|way| way.source() == shared.name);
            Some(AloneFacts {
                moves: moves.collect(),
                far: far(machine)?,
                units: unit.count().max(1) as f64,
                groups: unit.groups() as f64,
            })
        };
        Self { nest, facts: facts() }
    }

    /// Cycles times units for a register tile; `cost` is what it takes where nothing has to be waited for.
    pub fn cost(&self, tile: &RTile, cost: Cost) -> Cost {
        let Self { nest, facts: Some(facts) } = self else { return cost };
        let sizes = &tile.sizes;
        let axes = 0..nest.axes.len();
        let count = |reduces: bool| -> f64 {
            let own = axes.clone().filter(|&axis| nest.reduces(axis) == reduces);
            own.map(|axis| nest.axes[axis].extent.div_ceil(sizes[axis]) as f64).product()
        };
        let (tiles, steps) = (count(false), count(true));
        let bytes = |access: &Access<'c>| {
            let own = axes.clone().filter(|&axis| access.uses(axis));
            let elements: u64 = own.map(|axis| sizes[axis].min(nest.axes[axis].extent)).product();
            elements as f64 * ty::byte_size(access.elem()).unwrap_or(1) as f64
        };
        let step: f64 = nest.inputs.iter().map(bytes).sum();
        let way = facts.moves.iter().find(|way| way.target() == tile.memory);
        let latency = way.and_then(|way| way.latency_cycles()).unwrap_or(0) as f64;
        let waves = (tiles / facts.units / facts.groups).ceil();
        let waits = waves * latency / 2.0;
        let transfers = (tiles / facts.units).ceil() * step / facts.far;
        let [transfers, waits] = [transfers, waits].map(|each| each * steps * facts.units);
        let (cycles, brought) = (cost.cycles, transfers.max(waits));
        // Of the groups under way one is at its end, or at its beginning.
        let all = cycles.max(brought) + cycles.min(brought) / facts.groups;
        cost.with(Term::Transfers, transfers).with(Term::Waits, waits).taking(all)
    }
}
