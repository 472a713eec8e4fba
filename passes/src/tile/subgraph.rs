//! The tile of a group, and what the group takes with it.
//!
//! The tile begins as the whole of the last member's points and is halved along one axis at a
//! time, along the one after which least is moved, until tiles fit and nothing more is gained.
//! Then the policy that chooses register tiles is asked what each member's tile takes where
//! what is handed over lies nearby, and what the members take as kernels of their own.

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;
use weft_dialects::tile::Compute;

use super::join_kernels::room;
use super::propagate::{Chain, Tiles, propagate, reach};
use crate::nest::{Access, Border, Nest, Start};

/// Cycles between two members' tiles: places are summed up, loops begin and end.
const BETWEEN: f64 = 100.0;
/// A group is to take less than this part of what its members take: both are predictions.
const GAIN: f64 = 0.95;

/// A kernel that can be part of a group.
#[derive(Clone)]
pub(super) struct Member<'c> {
    pub nest: Nest<'c>,
    /// The register rTile.
    registers: Vec<u64>,
    /// Cycles that it is predicted to take as a kernel of its own on one unit.
    cycles: f64,
}

impl<'c> Member<'c> {
    /// `None` for what is not done by lanes of one unit, or keeps some of what its output held.
    pub fn new(machine: Machine<'c>, compute: Compute<'c>, nest: Nest<'c>) -> Option<Self> {
        let lanes = compute.axes.is_none() && compute.layouts.is_none();
        let held = nest.starts.iter().any(|start| matches!(start, Start::Held));
        let [output] = &nest.outputs[..] else { return None };
        let parallel = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis));
        let points: u64 = parallel.map(|axis| nest.axes[axis].extent).product();
        let whole = points == output.shape.iter().product::<u64>() && points > 0;
        if !lanes || held || !whole || !nest.captures.is_empty() {
            return None;
        }
        let cycles = super::cycles(machine, &nest, &vec![false; nest.inputs.len()])?;
        let registers = compute.tiles.last()?.sizes.clone();
        Some(Self { nest, registers, cycles })
    }
}

/// A group with its tile.
#[derive(Clone)]
pub(super) struct Subgraph<'c> {
    /// Sizes of the last member's tile.
    pub sizes: Vec<u64>,
    /// The first rTile of every member.
    pub tiles: Vec<Vec<u64>>,
    /// What such a tile of every member looks like.
    pub boxed: Vec<Nest<'c>>,
    /// Predicted cycles of one kernel.
    pub cycles: f64,
    /// Predicted cycles of the members as kernels of their own.
    pub apart: f64,
}

/// The best tile that halving finds.
///
/// # Errors
/// Why there is none.
pub(super) fn tile<'c>(
    machine: Machine<'c>,
    memory: &str,
    members: &[Member<'c>],
    chain: &Chain<'_, 'c>,
    leaves: &[bool],
) -> Result<Subgraph<'c>, String> {
    let last = &members[members.len() - 1];
    let unit = machine.units().into_iter().next().ok_or("the machine has no units")?;
    let near = machine.memory(memory).ok_or("the memory is none of the machine's")?;
    let costing = Costing { machine, members, chain, leaves, room: near.capacity_bytes / 2 };
    // A run that is worth it is shared out among the units, which then wait for each other.
    let time = |cycles: f64, tasks: u64| {
        let handover = unit.handover_cycles as f64;
        let rounds = tasks.div_ceil(unit.count) as f64 / tasks as f64;
        if cycles > handover { cycles * rounds + handover / 2.0 } else { cycles }
    };
    let apart: f64 = members.iter().map(|member| time(member.cycles, unit.count)).sum();
    let worth = |tiles: u64, cycles: f64| time(cycles, tiles);
    let mut sizes = last.nest.extents();
    let mut best: Option<(Vec<u64>, f64)> = None;
    let mut why = "no tile of it fits".to_owned();
    let mut worse = 0;
    loop {
        match costing.joined(&sizes) {
            Ok((tiles, cycles)) => {
                let cycles = worth(tiles.count(), cycles);
                if best.as_ref().is_none_or(|(_, least)| cycles < *least) {
                    (best, worse) = (Some((sizes.clone(), cycles)), 0);
                } else {
                    worse += 1;
                }
            }
            Err(reason) => why = reason,
        }
        let next = (0..sizes.len())
            .filter(|&axis| !last.nest.reduces(axis))
            .filter_map(|axis| {
                let mut cut = sizes.clone();
                let least = last.registers[axis].max(1);
                cut[axis] = sizes[axis].div_ceil(2).next_multiple_of(least);
                (cut[axis] < sizes[axis]).then_some(cut)
            })
            .min_by(|one, other| costing.after(one).total_cmp(&costing.after(other)));
        match next {
            Some(cut) if worse < 2 => sizes = cut,
            _ => break,
        }
    }
    let (sizes, _) = best.ok_or(why)?;
    let tiles = propagate(chain, &sizes).map_err(|refusal| refusal.to_string())?;
    let boxed: Vec<_> = (0..members.len()).map(|member| costing.boxed(member, &tiles)).collect();
    let each = boxed.iter().map(|nest| {
        let cycles = super::cycles(machine, nest, &vec![false; nest.inputs.len()]);
        cycles.ok_or("the machine has nothing for a tile".to_owned())
    });
    let each: f64 = each.collect::<Result<Vec<_>, _>>()?.iter().sum();
    let count = tiles.count();
    let cycles = time((each + BETWEEN * members.len() as f64) * count as f64, count);
    let all = (0..members.len()).map(|member| tiles.sizes(member)).collect();
    Ok(Subgraph { sizes, tiles: all, boxed, cycles: cycles / GAIN, apart })
}

struct Costing<'m, 'n, 'c> {
    machine: Machine<'c>,
    members: &'m [Member<'c>],
    chain: &'m Chain<'n, 'c>,
    /// Which members are read outside, too.
    leaves: &'m [bool],
    /// Bytes for tiles that wait.
    room: u64,
}

impl<'c> Costing<'_, '_, 'c> {
    /// A tile of a member as a nest: what is handed over is a tensor of a tile's size.
    fn boxed(&self, member: usize, tiles: &Tiles) -> Nest<'c> {
        let mut nest = self.members[member].nest.clone();
        let reads = nest.reads().len();
        let inside = |position: usize| match position < reads {
            true => {
                let mut links = self.chain.links.iter();
                links.any(|link| link.reader == member && link.read == position)
            }
            false => member + 1 < self.members.len() && !self.leaves[member],
        };
        let shapes: Vec<_> = nest
            .accesses()
            .into_iter()
            .enumerate()
            .map(|(position, access)| {
                let near = inside(position) && Border::of(access).is_none();
                near.then(|| reach(access, &tiles.spans[member]))
            })
            .collect();
        for (access, shape) in nest.accesses_mut().into_iter().zip(shapes) {
            access.shape = shape.unwrap_or_else(|| access.shape.clone());
        }
        for (axis, span) in nest.axes.iter_mut().zip(&tiles.spans[member]) {
            axis.extent = span.size;
        }
        nest
    }

    /// Cycles of all tiles on one unit.
    ///
    /// # Errors
    /// Why there are no such tiles.
    fn joined(&self, sizes: &[u64]) -> Result<(Tiles, f64), String> {
        let tiles = propagate(self.chain, sizes).map_err(|refusal| refusal.to_string())?;
        let rooms = (0..self.members.len() - 1).map(|member| room(&self.members[member].nest, &tiles, member));
        let rooms: u64 = rooms.sum();
        let waits = self.waits(&tiles);
        if rooms + waits > self.room {
            return Err(format!(
                "tiles of {rooms} bytes, and {waits} beside them, do not fit {}", self.room
            ));
        }
        let last = self.members.len() - 1;
        if let Some(member) = (0..last).find(|&member| self.leaves[member] && !tiles.partitions(member)) {
            return Err(format!("member {member} is read outside, and its tiles overlap"));
        }
        let mut cycles = 0.0;
        for (number, member) in self.members.iter().enumerate() {
            let points: u64 = tiles.sizes(number).iter().product();
            let again = points as f64 * tiles.count() as f64 / member.nest.points() as f64;
            let moved: f64 = self.moved(number, &tiles, rooms);
            cycles += (member.cycles * again).max(moved);
        }
        Ok((tiles, cycles))
    }

    /// The same for comparing, however much there is.
    fn after(&self, sizes: &[u64]) -> f64 {
        let Ok(tiles) = propagate(self.chain, sizes) else { return f64::INFINITY };
        let member = |(number, member): (usize, &Member<'c>)| {
            let points: u64 = tiles.sizes(number).iter().product();
            let again = points as f64 * tiles.count() as f64 / member.nest.points() as f64;
            (member.cycles * again).max(self.moved(number, &tiles, 0))
        };
        let cycles: f64 = self.members.iter().enumerate().map(member).sum();
        let rooms: u64 = (0..self.members.len() - 1)
            .map(|member| room(&self.members[member].nest, &tiles, member))
            .sum();
        // What is nearest to fitting is the way there.
        cycles * (rooms as f64 / self.room as f64).max(1.0)
    }

    /// Cycles that moving takes what a member's tiles touch.
    fn moved(&self, number: usize, tiles: &Tiles, rooms: u64) -> f64 {
        let nest = &self.members[number].nest;
        let count = tiles.count() as f64;
        let reads = nest.reads().len();
        let last = self.members.len() - 1;
        let each = |(position, access): (usize, &Access<'c>)| {
            let own = reach(access, &tiles.spans[number]).iter().product::<u64>() * elem_bytes(access);
            let whole = whole_bytes(access);
            let inside = match position < reads {
                true => {
                    let links = self.chain.links.iter();
                    links.clone().any(|link| link.reader == number && link.read == position)
                }
                false => number < last && !self.leaves[number],
            };
            let near = own as f64 * count / self.rate(rooms.max(own));
            let far = whole as f64 / self.rate(whole);
            if inside {
                near
            } else if own as f64 * count <= whole as f64 * 1.01 {
                far
            } else {
                far + (own as f64 * count - whole as f64).max(0.0) / self.rate(own.max(rooms))
            }
        };
        nest.accesses().into_iter().enumerate().map(each).sum()
    }

    /// Bytes that all tiles read again, and so are to stay near beside those that wait.
    fn waits(&self, tiles: &Tiles) -> u64 {
        if tiles.count() <= 1 {
            return 0;
        }
        let member = |(number, member): (usize, &Member<'c>)| -> u64 {
            let reads = member.nest.reads();
            let inside = |position: usize| {
                let mut links = self.chain.links.iter();
                links.any(|link| link.reader == number && link.read == position)
            };
            let outside = reads.iter().enumerate().filter(|(position, _)| !inside(*position));
            outside
                .filter(|(_, access)| !moves(access, tiles, number))
                .map(|(_, access)| whole_bytes(access))
                .filter(|bytes| *bytes <= self.room)
                .sum()
        };
        self.members.iter().enumerate().map(member).sum()
    }

    /// Bytes a cycle of the smallest memory that holds so many, twice over where it is a cache.
    fn rate(&self, bytes: u64) -> f64 {
        let memories = self.machine.memories();
        let holding = memories.iter().filter(|m| m.is_cache() && m.capacity_bytes / 2 >= bytes);
        let cache = holding.min_by_key(|memory| memory.capacity_bytes).cloned();
        let rate = cache.or_else(|| self.machine.shared()).and_then(|memory| memory.bytes_per_cycle);
        rate.map_or(f64::INFINITY, |rate| rate as f64)
    }
}

/// Whether what an access reads depends on which tile it is.
fn moves(access: &Access<'_>, tiles: &Tiles, member: usize) -> bool {
    let last = member + 1 == tiles.spans.len();
    let spans = tiles.spans[member].iter().enumerate();
    spans
        .filter(|(axis, _)| access.uses(*axis))
        .any(|(axis, span)| !span.moves.is_empty() || (last && tiles.grid[axis] > 1))
}

fn elem_bytes(access: &Access<'_>) -> u64 {
    ty::byte_size(access.elem()).unwrap_or(8)
}

fn whole_bytes(access: &Access<'_>) -> u64 {
    access.shape_in_memory().iter().product::<u64>() * elem_bytes(access)
}
