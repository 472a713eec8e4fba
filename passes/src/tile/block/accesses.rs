//! What the lanes of a block ask of the shared memory in one step, address by address.
//!
//! The same order in which the code generator deals out chunks and cuts runs; a test holds
//! the count against the addresses of the code that runs.

use weft_dialects::device::Machine;
use weft_dialects::ir::{Op, ty};
use weft_dialects::tile::Compute;

use super::super::banks::{
    Access, Banks, Choice, Layout, Tile, Turns, choose, choose_padded, count, runs,
};
use super::fragments::Boxes;
use super::{
    Block, Core, Dealt, Direct, K, Lying, M, N, Ways, direct, of_numbers, power_of_two_in,
};
use crate::nest::{Nest, read_kernel};

/// Steps along k, and rounds of stores, by which layouts are compared: others repeat these.
const COMPARED: u64 = 4;

/// Rows of a tile by which accesses are found: so far apart that none is the neighbour of another.
pub(super) const PITCH: u64 = 1 << 20;

/// An input's tile as it lies best.
pub struct Laid<'c> {
    /// The block, whose tile it is, that knows how it lies.
    pub block: Block<'c>,
    pub lying: Lying,
    pub choice: Choice,
    /// Cycles of banks and of lanes, and accesses.
    pub taken: [u64; 2],
}

/// The best way round of an input's tile, plain or interleaved, in its best layout, by a part of its
/// accesses; interleaved along m or n where it may be. `room` are the bytes that it may take, and `pack_cycles` are what lanes take to put an
/// element beside others that are neighbours of it for the instruction only. `None` where the tile is
/// to go through registers and is not whole pieces of them, or an engine would have to turn it.
pub fn lie<'c>(
    banks: Banks,
    nest: &Nest<'c>,
    block: &Block<'c>,
    side: usize,
    (room, pack_cycles): (u64, f64),
    interleaves: bool,
) -> Option<Laid<'c>> {
    let access = &nest.inputs[block.inputs[side]];
    let (_, along) = block.run(nest, access, [side, K]);
    let other = if along == K { side } else { K };
    let elem_bytes = ty::byte_size(access.elem()).unwrap_or(1);
    if let Some(Direct { lying, .. }) = block.direct[side] {
        let choice = counted_rounds(banks, nest, block, side, &lying, COMPARED)?;
        let taken = [choice.after.taken, 0];
        return Some(Laid { block: block.clone(), lying, choice, taken });
    }
    let ways = [along, other].into_iter().flat_map(|inner| {
        let mut block = block.clone();
        block.along_k[side] = inner == K;
        let interleaved = block.interleave(side).filter(|_| interleaves && inner != K);
        std::iter::once(block).chain(interleaved).map(move |block| (inner, block))
    });
    let mut best: Option<Laid<'c>> = None;
    for (inner, block) in ways {
        let inner = block.axes[inner];
        let (rows, columns) = block.rows_columns(side, inner);
        let near = near_run(&block, side, inner, elem_bytes);
        let Some((stored, mut accesses)) = stores(&block, nest, side, inner, COMPARED) else {
            continue;
        };
        let tile = Tile { rows, columns, elem_bytes, run: near.max(stored) };
        accesses.extend(loads(&block, side, inner, near, COMPARED));
        let room = room / elem_bytes;
        let choice = match block.core {
            Core::Matrix(..) => choose(banks, tile, room, &accesses),
            Core::Lanes(..) => choose_padded(banks, tile, room, &accesses),
        };
        // Of those that take as long the better one asks less often.
        let packed = (block.packed(side) as f64 * pack_cycles) as u64;
        let asked = accesses.iter().map(|access| access.times).sum();
        let taken = [choice.after.taken + packed, asked];
        if best.as_ref().is_none_or(|best| taken < best.taken) {
            let lying = Lying { inner, layout: choice.layout };
            best = Some(Laid { block, lying, choice, taken });
        }
    }
    best
}

/// The same choice by all accesses.
pub fn counted<'c>(
    banks: Banks,
    nest: &Nest<'c>,
    block: &Block<'c>,
    side: usize,
    lying: &Lying,
) -> Option<Choice> {
    counted_rounds(banks, nest, block, side, lying, u64::MAX)
}

/// The same by so many rounds of stores, where an instruction takes the tile as it lies.
fn counted_rounds<'c>(
    banks: Banks,
    nest: &Nest<'c>,
    block: &Block<'c>,
    side: usize,
    lying: &Lying,
    rounds: u64,
) -> Option<Choice> {
    let access = &nest.inputs[block.inputs[side]];
    let elem_bytes = ty::byte_size(access.elem()).unwrap_or(1);
    if block.direct[side].is_some() {
        let (_, accesses) = stores(block, nest, side, lying.inner, rounds)?;
        return Some(direct::stored(banks, block, (side, lying), &accesses, elem_bytes));
    }
    let accesses = accesses(block, nest, side, lying.inner, elem_bytes)?;
    let (_, columns) = block.rows_columns(side, lying.inner);
    let before = count(banks, &Layout::plain(columns), &accesses, elem_bytes);
    let after = count(banks, &lying.layout, &accesses, elem_bytes);
    Some(Choice { layout: lying.layout, before, after })
}

/// All stores and loads of a step; `None` as [`lie`].
fn accesses(
    block: &Block<'_>,
    nest: &Nest<'_>,
    side: usize,
    inner: usize,
    elem_bytes: u64,
) -> Option<Vec<Access>> {
    let near = near_run(block, side, inner, elem_bytes);
    let (_, mut accesses) = stores(block, nest, side, inner, u64::MAX)?;
    accesses.extend(loads(block, side, inner, near, u64::MAX));
    Some(accesses)
}

/// Turns of banks that a whole kernel takes, every block and every step, as its tile program
/// says; `None` where groups share no tiles in it.
pub fn turns<'c>(machine: Machine<'c>, kernel: Op<'c>) -> Option<Turns> {
    let nest = read_kernel(kernel).ok()?;
    let compute = kernel.body(0)?.ops().into_iter().find_map(Compute::of)?;
    let block = Block::of_compute(machine, &nest, &compute)?;
    let ways = Ways::of(machine, &compute.tiles.last()?.memory)?;
    let banks = Banks::of(&ways.near)?;
    let rounds = |reduces: bool| -> u64 {
        let own = (0..nest.axes.len()).filter(|&axis| nest.reduces(axis) == reduces);
        let count =
            |axis: usize| nest.axes[axis].extent.div_ceil(block.points_along(axis).unwrap_or(1));
        own.map(count).product()
    };
    let (tiles, steps) = (rounds(false), rounds(true));
    // The last steps bring the last one again, and parts of it.
    let again = block.steps_ahead();
    let mut sum = Turns::default();
    let mut add = |times: u64, own: Turns| {
        sum.taken += own.taken * times * tiles;
        sum.least += own.least * times * tiles;
    };
    for side in [M, N] {
        let access = &nest.inputs[block.inputs[side]];
        let lying = of_numbers(compute.layouts.as_ref()?.get(block.inputs[side])?)?;
        let elem_bytes = ty::byte_size(access.elem())?;
        let turns = |accesses: &[Access]| count(banks, &lying.layout, accesses, elem_bytes);
        if block.direct[side].is_some() {
            let (_, stored) = stores(&block, &nest, side, lying.inner, u64::MAX)?;
            let stored = direct::in_panels(&block, side, &lying, &stored);
            add(steps + again, turns(&stored));
            continue;
        }
        let near = near_run(&block, side, lying.inner, elem_bytes);
        let (_, stored) = stores(&block, &nest, side, lying.inner, u64::MAX)?;
        add(steps + again, turns(&stored));
        add(steps, turns(&loads(&block, side, lying.inner, near, u64::MAX)));
        if again > 0 {
            add(1, turns(&loads_of(&block, side, lying.inner, near, (1, 1))));
        }
    }
    Some(sum)
}

/// Elements side by side that a lane can be given at once: those of an instruction's
/// operand, or those of neighbours of a lane; or that it gives to others.
pub fn near_run(block: &Block<'_>, side: usize, inner: usize, elem_bytes: u64) -> u64 {
    if let Some((own, _)) = block.gather(side, inner, PITCH) {
        return own.gathering.piece;
    }
    let most = block.widest(elem_bytes);
    let quanta = block.quanta();
    let steps = match (&block.core, inner == block.axes[K]) {
        (_, true) => [quanta[K] * block.at_once(side), block.tile[K]],
        (Core::Matrix(..), false) if block.neighbours(side) == 1 => {
            [quanta[side], block.group[side]]
        }
        (_, false) => [block.neighbours(side), block.group[side]],
    };
    let most = steps.into_iter().fold(most, power_of_two_in);
    // Not wider than what is side by side for some lane: rows may then stay narrower.
    let most = loads(block, side, inner, most, 1).iter().map(|access| access.elements).max();
    most.unwrap_or(1)
}

/// The stores of all groups that bring the tile, the first `rounds` of them for all, and how many
/// elements each takes; `None` as [`lie`].
fn stores(
    block: &Block<'_>,
    nest: &Nest<'_>,
    side: usize,
    inner: usize,
    rounds: u64,
) -> Option<(u64, Vec<Access>)> {
    let (run, along) = block.run(nest, &nest.inputs[block.inputs[side]], [side, K]);
    if block.is_brought() && inner != block.axes[along] {
        return None;
    }
    if block.stages > 1 && !block.is_brought() {
        let dealt = Dealt::of(block, nest, side, inner)?;
        return Some(through_registers(&dealt, block, inner, rounds));
    }
    let other = if along == K { side } else { K };
    let chunks = block.tile[along] / run;
    let total = block.tile[other] * chunks;
    let [rows, columns] = block.groups();
    let threads = rows * columns * block.lanes;
    let natural = inner == block.axes[along];
    let elements = if natural { run } else { 1 };
    let mut found = Vec::new();
    let all = total.next_multiple_of(threads) / block.lanes;
    let (made, times) = part(all, rounds);
    for first in (0..made * block.lanes).step_by(block.lanes as usize) {
        for n in 0..if natural { 1 } else { run } {
            let lane = |number: u64| {
                let (row, column) = (number / chunks, number % chunks * run + n);
                (number < total).then_some(if natural { (row, column) } else { (column, row) })
            };
            let lanes: Vec<_> = (first..first + block.lanes).map(lane).collect();
            if lanes.iter().any(Option::is_some) {
                found.push(Access { elements, lanes, times });
            }
        }
    }
    Some((elements, found))
}

/// The stores of a tile that goes through registers.
fn through_registers(
    dealt: &Dealt,
    block: &Block<'_>,
    inner: usize,
    rounds: u64,
) -> (u64, Vec<Access>) {
    let natural = inner == block.axes[dealt.along];
    let groups: u64 = block.groups().iter().product();
    let (made, times) = part(dealt.rounds.iter().product::<u64>() * groups, rounds);
    let mut found = Vec::new();
    for number in 0..made {
        for places in dealt.stored(number / groups, number % groups) {
            let lane = |&[across, along]: &[u64; 2]| {
                Some(if natural { (across, along) } else { (along, across) })
            };
            let lanes = places.iter().map(lane).collect();
            found.push(Access { elements: dealt.wide(), lanes, times });
        }
    }
    (dealt.wide(), found)
}

/// So many of `all`, and how many of these each stands for.
fn part(all: u64, most: u64) -> (u64, u64) {
    let made = all.min(most);
    (made, all.div_ceil(made.max(1)))
}

/// The loads of all groups for all instructions along k, the first `steps` of them for all.
fn loads(block: &Block<'_>, side: usize, inner: usize, most: u64, steps: u64) -> Vec<Access> {
    let all = block.tile[K] / block.quanta()[K] / block.at_once(side);
    loads_of(block, side, inner, most, part(all, steps))
}

/// The loads of all groups for so many instructions along k, or those that are loaded for at once, each
/// so many times.
fn loads_of(
    block: &Block<'_>,
    side: usize,
    inner: usize,
    most: u64,
    (steps, each): (u64, u64),
) -> Vec<Access> {
    let apart = apart(block, side, inner, PITCH);
    let gathered = block.gather(side, inner, PITCH).filter(|(own, _)| own.gathering.piece <= most);
    let asked: Vec<(u64, Vec<i64>)> = match gathered {
        Some((own, loads)) => {
            loads.iter().map(|lanes| (own.gathering.piece, lanes.clone())).collect()
        }
        None => {
            let places = held_places(block, side, inner, PITCH);
            let lanes = |first: usize| places[first].clone().expect("all are known");
            let runs = runs(&places, most).into_iter();
            runs.map(|run| (run.len() as u64, lanes(run[0]))).collect()
        }
    };
    let [rows, columns] = block.groups();
    // Groups side by side along the other axis read the same.
    let (own_groups, times) = if side == M { (rows, columns) } else { (columns, rows) };
    let at_once = block.at_once(side);
    let times = times * each;
    let mut found = Vec::new();
    for (elements, lanes) in asked {
        for group in 0..own_groups {
            let own = group * block.group[side];
            for step in 0..steps {
                let base =
                    own as i64 * apart[side] + block.step_begin(step * at_once) as i64 * apart[K];
                let lane = |at: &i64| {
                    let at = (at + base) as u64;
                    Some((at / PITCH, at % PITCH))
                };
                found.push(Access { elements, lanes: lanes.iter().map(lane).collect(), times });
            }
        }
    }
    found
}

/// Where neighbours along m, n and k lie in a tile whose rows are `pitch` apart.
fn apart(block: &Block<'_>, side: usize, inner: usize, pitch: u64) -> [i64; 3] {
    block.apart(side, &Lying { inner, layout: Layout::plain(pitch) })
}

/// The place in such a tile of what each slot of each lane holds of an input, in the order of the slots.
fn held_places(block: &Block<'_>, side: usize, inner: usize, pitch: u64) -> Vec<Option<Vec<i64>>> {
    places(block, &held_boxes(block, side, inner, pitch))
}

/// What a group holds of an input, as boxes in such a tile.
pub(super) fn held_boxes(block: &Block<'_>, side: usize, inner: usize, pitch: u64) -> Boxes {
    let held = block.held_input(side);
    let strides = held.strides(apart(block, side, inner, pitch));
    let operand = block.operand(block.inputs[side]);
    Boxes { operand, deep: block.deep(), sizes: held.sizes, strides }
}

/// The place in a tile of what each slot of each lane holds, in the order of the slots.
pub(super) fn places(block: &Block<'_>, boxes: &Boxes) -> Vec<Option<Vec<i64>>> {
    let Boxes { operand, sizes, strides, .. } = boxes;
    let operand = *operand;
    let fragment = block.fragment(operand).expect("operands have fragments");
    let lane_sides: Vec<u64> = block.lane_sides().into_iter().map(|(_, size)| size).collect();
    // The sizes of the sides along each dimension of an operand.
    let dims: Vec<Vec<u64>> = match &block.core {
        Core::Matrix(mapping, _) => {
            let dims = mapping.dims[operand].iter().flatten();
            let along = |&own: &usize| {
                let axis = [M, N, K]
                    .into_iter()
                    .find(|&axis| mapping.axes[own].contains(&block.axes[axis]));
                let sides = block.sides_along(axis.expect("all are mapped"), mapping.extents[own]);
                sides.into_iter().map(|(size, _)| size).collect()
            };
            dims.map(along).collect()
        }
        // A register of lanes is one row of numbers, whichever axes they run along.
        Core::Lanes(..) => vec![lane_sides],
    };
    let inner = dims.iter().flatten().count();
    let rounds = &sizes[..sizes.len() - inner];
    let (outer, own) = strides.split_at(rounds.len());
    let lane = |lane: u64, slot: u64| {
        let mut strides = own;
        let along = fragment.at(lane, slot).iter().zip(&dims).map(|(&place, sides)| {
            let (own, rest) = strides.split_at(sides.len());
            strides = rest;
            place_of(place as u64, sides, own)
        });
        along.sum::<i64>()
    };
    let places: Vec<Vec<i64>> = (0..fragment.slots)
        .map(|slot| (0..block.lanes).map(|number| lane(number, slot)).collect())
        .collect();
    let begins = (0..rounds.iter().product()).map(|round| place_of(round, rounds, outer));
    let moved = |begin: i64| {
        places.iter().map(move |lanes| Some(lanes.iter().map(|place| begin + place).collect()))
    };
    begins.flat_map(moved).collect()
}

/// The place of the point that a number stands for in a box of `sizes`, row-major, whose sides are
/// `strides` apart.
fn place_of(number: u64, sizes: &[u64], strides: &[i64]) -> i64 {
    let (mut place, mut rest) = (0, number);
    for (size, stride) in sizes.iter().zip(strides).rev() {
        place += (rest % size) as i64 * stride;
        rest /= size;
    }
    place
}
