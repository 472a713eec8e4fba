//! The tile of a group, and what the group takes with it.
//!
//! Of the constructed tiles with the least traffic (`group_tiles.rs`) the policy that chooses register
//! tiles is asked what each member's takes where what is handed over is in the local memory, and what the
//! members take as kernels of their own. Where groups of lanes take turns in a unit, its share of
//! the memory that all units see bounds both, for what the policy counts there is issued only.

use std::collections::HashMap;
use std::rc::Rc;

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;

use super::best_tile::{best, nearest_if_as_good};
use super::chooser::Chooser;
use super::connect_edges::Refined;
use super::far::Far;
use super::group_member::{Member, needed, steps};
use super::group_tiles::{Config, Limits, configs};
use super::isa::Near;
use super::member_tile::{choose_tile, inside, tile_nest};
use super::pace::Pace;
use super::passing::Passing;
use super::propagate::{Chain, Link, Tiles, reach};
use super::way::{move_cycles, nearer_caches, private_cache, way};
use crate::cost::worth;
use crate::nest::{Access, Nest};
use crate::remarks::Refused;

/// Tiles that the policy is asked about.
const TRIED: usize = 3;

/// A group with its tile.
#[derive(Clone)]
pub(super) struct Subgraph<'c> {
    /// The memory in which tiles are handed over.
    pub memory: &'c str,
    /// Sizes of the last member's tile.
    pub sizes: Vec<u64>,
    /// Bytes of the arena in which tiles wait.
    pub footprint: u64,
    /// The first rTile of every member.
    pub tiles: Vec<Vec<u64>>,
    /// The nest of such a tile, for every member.
    pub nests: Vec<Nest<'c>>,
    /// Which of every member's accesses are to tiles that wait.
    pub inside: Vec<Vec<bool>>,
    /// The members in finer axes, where these are the axes of the tiles.
    pub refined: Option<Rc<[Refined<'c>]>>,
    /// Predicted cycles of one kernel.
    pub cycles: f64,
    /// Predicted cycles of the members as kernels of their own.
    pub apart: f64,
    /// Bytes that it moves from and to the shared memory.
    pub traffic: u64,
    /// The tile that comes next: its sizes, cycles, and bytes that it moves.
    pub second: Option<(Vec<u64>, f64, u64)>,
}

/// The reason that runs do not become a group.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum Unjoined {
    /// A run that is no member reads from one and is read by another.
    #[error("a run outside would lie between [between]")]
    Between,
    /// It cannot pay.
    #[error("too little is saved [saves: at most {most:.0} of {alone:.0} cycles]")]
    Little {
        /// Cycles that it may save.
        most: f64,
        /// Cycles of the members alone.
        alone: f64,
    },
    /// It has no tile.
    #[error("{0}")]
    Untiled(Refused),
}

impl Subgraph<'_> {
    /// Cycles that it is predicted to save.
    pub fn saves(&self) -> f64 {
        self.apart - self.cycles
    }
}

/// Cycles, register tiles and bytes from afar of tiles by what they look like: the same come again
/// in larger groups.
pub(super) type Known = HashMap<String, Option<(f64, Vec<u64>, Option<u64>)>>;

/// Checks that a group may save more than `least` cycles: a tensor that is handed over needs
/// neither be written to the shared memory nor read from it, and no unit waits in between.
///
/// # Errors
/// The most that is saved, if that is less, or too little of what the members take.
pub(super) fn most_saved<'c>(
    machine: Machine<'c>,
    memory: &str,
    members: &[Rc<Member<'c>>],
    chain: &Chain<'_, 'c>,
    least: f64,
) -> Result<(), Unjoined> {
    let shared = machine.shared().and_then(|shared| shared.bytes_per_cycle());
    let Some((pace, rate)) = Pace::of(machine, memory).zip(shared) else { return Ok(()) };
    // Tensors that earlier members have read, too, are loaded once.
    let mut again: Vec<&Access<'c>> = Vec::new();
    for (member, own) in chain.tensors.iter().enumerate() {
        for (read, access) in chain.nests[member].reads().into_iter().enumerate() {
            let before = chain.tensors[..member].iter().flatten();
            let linked = |link: &Link| link.reader == member && link.read == read;
            if before.into_iter().any(|tensor| *tensor == own[read])
                && !chain.links.iter().any(linked)
            {
                again.push(access);
            }
        }
    }
    let read = chain.links.iter().map(|link| chain.nests[link.reader].reads()[link.read]);
    let read = read.chain(again);
    let written = (0..members.len()).filter(|&member| chain.is_read(member));
    let written = written.map(|member| &chain.nests[member].outputs[0]);
    let bytes = |access: &Access<'_>| {
        let points = access.shape_in_memory().iter().product::<u64>();
        points * ty::byte_size(access.elem()).unwrap_or(8)
    };
    let again: u64 = members.iter().map(|member| member.again).sum();
    let moved = read.chain(written).map(bytes).sum::<u64>() + again;
    let moved = moved as f64 / pace.bandwidth.min(rate as f64);
    let waits = (members.len() - 1) as f64 * pace.between();
    let alone: f64 = needed(members).map(|one| pace.alone(one.cycles, one.traffic)).sum();
    match moved + waits < (alone - worth::most(alone)).max(least) {
        true => Err(Unjoined::Little { most: moved + waits, alone }),
        false => Ok(()),
    }
}

/// A group whose tile is looked for.
pub(super) struct UntiledGroup<'g, 'n, 'c> {
    /// The local memory in which tiles are handed over.
    pub memory: &'c str,
    pub members: &'g [Rc<Member<'c>>],
    pub chain: &'g Chain<'n, 'c>,
    /// Members that runs outside read, too.
    pub leaves: &'g [bool],
    /// Of what a tile of the last one is a multiple, per axis.
    pub steps: &'g [u64],
}

/// The best of the tiles that are constructed, if it saves more than `least` cycles.
///
/// # Errors
/// The reason that there is no such tile.
pub(super) fn tile<'c>(
    chooser: &Chooser<'c>,
    group: &UntiledGroup<'_, '_, 'c>,
    least: f64,
    known: &mut Known,
) -> Result<Subgraph<'c>, Unjoined> {
    let machine = chooser.machine;
    let UntiledGroup { memory, members, chain, leaves, steps } = *group;
    let untiled = |rule, why: &'static str| Unjoined::Untiled(Refused::by(rule, why));
    if (0..members.len()).any(|maker| leaves[maker] && chain.hides_border(maker).is_some()) {
        let why = "what others read, too, is read past its ends in other dimensions";
        return Err(untiled("plane", why));
    }
    let pace =
        Pace::of(machine, memory).ok_or_else(|| untiled("units", "the machine has no units"))?;
    let buffer = machine
        .memory(memory)
        .ok_or_else(|| untiled("memory", "the memory is none of the machine's"))?;
    let limits = Limits {
        room: pace.room(&buffer),
        units: pace.units * pace.at_once,
        passing: Passing::of(machine),
        steps,
        leaves,
        lays_out: private_cache(machine).is_some(),
    };
    let search = Search::new(chooser, &pace, group, least);
    let (mut found, mut slow) = (Vec::new(), false);
    let tried = configs(chain, &limits, TRIED).map_err(Unjoined::Untiled)?;
    let nearer = nearer_caches(machine, &buffer).into_iter().flat_map(|cache| {
        let limits = Limits { room: pace.room(&cache), ..limits };
        let configs = configs(chain, &limits, 1).unwrap_or_default();
        configs.into_iter().map(move |config| (config, Some(cache.name)))
    });
    let mut nearest: Vec<Subgraph<'c>> = Vec::new();
    let here = tried.into_iter().map(|config| (config, None));
    for (config, near) in here.chain(nearer) {
        match (search.with(&config, known), near) {
            (Ok(group), Some(memory)) => nearest.push(Subgraph { memory, ..group }),
            (Ok(group), None) => found.push(group),
            (Err(reason), _) => slow |= matches!(reason, NoCycles::TooMany),
        }
    }
    let alone = needed(members).map(|member| member.cycles).sum();
    let best = nearest_if_as_good(best(found, &pace), best(nearest, &pace));
    best.ok_or_else(|| match slow {
        true => Unjoined::Little { most: least, alone },
        false => untiled("tiles", "no lanes do a tile of it best"),
    })
}

/// What all tiles of a group are compared with.
struct Search<'s, 'g, 'n, 'c> {
    chooser: &'s Chooser<'c>,
    pace: &'s Pace,
    group: &'s UntiledGroup<'g, 'n, 'c>,
    /// Which of every member's accesses are to tiles that wait.
    inside: Vec<Vec<bool>>,
    /// Cycles of the members as kernels of their own.
    apart: f64,
    /// Cycles of them on one unit.
    alone: f64,
    /// Cycles that a tile must save.
    least: f64,
}

impl<'s, 'g, 'n, 'c> Search<'s, 'g, 'n, 'c> {
    fn new(
        chooser: &'s Chooser<'c>,
        pace: &'s Pace,
        group: &'s UntiledGroup<'g, 'n, 'c>,
        least: f64,
    ) -> Self {
        let UntiledGroup { members, chain, leaves, .. } = *group;
        // Kernels of their own are shared out as they are, unless by threads that take any part.
        let time = |member: &Member<'_>| {
            let tasks = if pace.at_once > 1 { member.tasks } else { pace.units };
            let alone = pace.alone(member.cycles, member.traffic);
            pace.time(alone, tasks, member.steps * pace.shared_wait)
        };
        let apart: f64 = needed(members).map(time).sum();
        let alone: f64 = needed(members).map(|one| pace.alone(one.cycles, one.traffic)).sum();
        let waits = |member: usize| {
            let accesses = 0..chain.nests[member].accesses().len();
            accesses.map(|access| inside(chain, leaves, member, access)).collect()
        };
        let inside = (0..members.len()).map(waits).collect();
        Self { chooser, pace, group, inside, apart, alone, least }
    }

    /// The group with a tile.
    fn with(&self, config: &Config, known: &mut Known) -> Result<Subgraph<'c>, NoCycles> {
        let Self { pace, apart, .. } = *self;
        let UntiledGroup { members, chain, leaves, .. } = *self.group;
        let nests: Vec<_> = (0..members.len())
            .map(|member| tile_nest(chain, leaves, member, &config.tiles))
            .collect();
        let count = config.tiles.count();
        let all = |each: f64| pace.alone(each * count as f64, config.traffic.passing);
        let late = |each: f64| apart - worth::least(pace.time(all(each), count, 0.0)) < self.least;
        let tiled = TiledGroup { group: self.group, inside: &self.inside, nests: &nests, config };
        let TileCost { cycles: each, waits, again } =
            member_cycles(self.chooser, pace, &tiled, known, &late)?;
        let traffic = config.traffic.passing + again * count;
        let all = pace.alone(each * count as f64, traffic);
        let mut cycles = worth::least(pace.time(all, count, waits));
        if pace.at_once == 1 && worth::is_worth(self.alone, all) {
            // A run may have fewer units than the machine: on one it is not to lose.
            cycles = cycles.max(apart * worth::least(all) / self.alone);
        }
        Ok(Subgraph {
            memory: self.group.memory,
            sizes: config.sizes.clone(),
            footprint: config.footprint,
            tiles: (0..members.len()).map(|member| config.tiles.sizes(member)).collect(),
            nests,
            inside: self.inside.clone(),
            refined: None,
            cycles,
            apart,
            traffic,
            second: None,
        })
    }
}

/// A group with a tile, and the nest of one of every member.
struct TiledGroup<'b, 'g, 'n, 'c> {
    group: &'b UntiledGroup<'g, 'n, 'c>,
    inside: &'b [Vec<bool>],
    nests: &'b [Nest<'c>],
    config: &'b Config,
}

/// Cost of one tile of every member.
struct TileCost {
    /// Cycles of a unit.
    cycles: f64,
    /// Those in which its lanes wait for what they read.
    waits: f64,
    /// Bytes of the shared memory that come more than once.
    again: u64,
}

/// The reason that tiles have no cycles.
enum NoCycles {
    /// They are too many already.
    TooMany,
    /// No lanes do one of them best.
    NoLanes,
}

/// Cycles of one tile of every member where what is handed over is in the local memory, and those in which
/// its lanes wait for what they read; until they are too many.
fn member_cycles<'c>(
    chooser: &Chooser<'c>,
    pace: &Pace,
    tiled: &TiledGroup<'_, '_, '_, 'c>,
    known: &mut Known,
    late: &dyn Fn(f64) -> bool,
) -> Result<TileCost, NoCycles> {
    let machine = chooser.machine;
    let TiledGroup { group, inside, nests, config } = *tiled;
    let UntiledGroup { memory, members, chain, leaves, .. } = *group;
    let (mut each, mut waits) = (pace.member * nests.len() as f64 / pace.at_once as f64, 0.0);
    let mut again = 0;
    let brought = Far::of(machine).group(chain, &config.tiles, |own, access| inside[own][access]);
    // Without staging, the tiles of other members take no bytes from this one.
    let taken = if private_cache(machine).is_none() { config.footprint } else { 0 };
    for (member, nest) in nests.iter().enumerate() {
        if late(each) {
            return Err(NoCycles::TooMany);
        }
        let sizes = config.tiles.sizes(member);
        let shapes: Vec<_> = nest.accesses().into_iter().map(|access| &access.shape).collect();
        let own = &inside[member];
        let whole = chain.nests[member].extents();
        let key =
            format!("{} {whole:?} {sizes:?} {shapes:?} {own:?} {taken}", members[member].name);
        let tile = || {
            let beside = Near { memory, taken: config.footprint, inside: own };
            let tile = choose_tile(chooser, nest, &sizes, beside)?;
            Some((tile.why.cost.cycles, tile.registers().to_vec(), tile.shared_bytes))
        };
        let tile = known.entry(key).or_insert_with(tile).as_ref();
        let (cycles, registers, far) = tile.ok_or(NoCycles::NoLanes)?;
        let mut cycles = *cycles;
        match far {
            Some(far) => again += far.saturating_sub(outside(chain, own, member, &config.tiles)),
            None => cycles -= unmoved(machine, chain, leaves, member, (nest, &config.tiles)),
        }
        each += brought[member].beside(cycles);
        let inside = chain.links.iter().filter(|link| link.reader == member).count();
        let far = inside < chain.nests[member].reads().len();
        let wait = if far { pace.shared_wait } else { pace.local_wait };
        waits += steps(nest, &sizes, registers) * wait;
    }
    Ok(TileCost { cycles: each, waits, again })
}

/// Bytes of a member's tile that do not wait, each once.
fn outside(chain: &Chain<'_, '_>, inside: &[bool], member: usize, tiles: &Tiles) -> u64 {
    let accesses = chain.nests[member].accesses().into_iter().zip(inside);
    let bytes = |access: &Access<'_>| {
        let points = reach(access, &tiles.spans[member]).iter().product::<u64>();
        points * ty::byte_size(access.elem()).unwrap_or(8)
    };
    accesses.filter(|(_, inside)| !**inside).map(|(access, _)| bytes(access)).sum()
}

/// Cycles that the policy counts for staging too much: whole tensors where a tile reads a part of
/// them, and what is handed over, which is there already.
fn unmoved<'c>(
    machine: Machine<'c>,
    chain: &Chain<'_, 'c>,
    leaves: &[bool],
    member: usize,
    (nest, tiles): (&Nest<'c>, &Tiles),
) -> f64 {
    let registers = machine.lanes_units().into_iter().next().map(|unit| unit.memory());
    let Some(stage) = registers.and_then(|registers| way(machine, registers)?.stage) else {
        return 0.0;
    };
    let accesses = nest.accesses().into_iter().enumerate();
    let unmoved = accesses.map(|(number, access)| {
        let size = ty::byte_size(access.elem()).unwrap_or(8);
        let counted = access.shape.iter().product::<u64>() * size;
        // Tensors that runs outside read, too, are handed over through the shared memory.
        let mut links = chain.links.iter();
        let leaves_again =
            links.any(|link| (link.reader, link.read) == (member, number) && leaves[link.maker]);
        let moved = match inside(chain, leaves, member, number) && !leaves_again {
            true => 0,
            false => reach(access, &tiles.spans[member]).iter().product::<u64>() * size,
        };
        counted.saturating_sub(moved)
    });
    move_cycles(machine, &stage.load, unmoved.sum::<u64>() as f64)
}
