//! What the lanes of a block ask of the shared memory in one step, address by address.
//!
//! The same order in which the code generator deals out chunks and cuts runs; a test holds
//! the count against the addresses of the code that runs.

use weft_dialects::device::Machine;
use weft_dialects::ir::{Op, affine, ty};
use weft_dialects::tile::Compute;

use super::super::banks::{
    Access, Banks, Choice, Layout, Tile, Turns, choose, choose_padded, count, runs,
};
use super::{Block, Core, K, Lying, M, N, Ways, of_numbers, power_of_two_in};
use crate::nest::{Nest, read_kernel};

/// Steps along k, and rounds of stores, by which layouts are compared: others repeat these.
const COMPARED: u64 = 4;

/// The better of the two ways round, each in its best layout, by a part of its accesses.
/// `room` are the bytes that it may take.
pub fn lie<'c>(
    banks: Banks,
    nest: &Nest<'c>,
    block: &Block<'c>,
    side: usize,
    room: u64,
) -> (Lying, Choice) {
    let access = &nest.inputs[block.inputs[side]];
    let (run, along) = block.run(nest, access, [side, K]);
    let natural = block.axes[along];
    let turned = if along == K { block.axes[side] } else { block.axes[K] };
    let elem_bytes = ty::byte_size(access.elem()).unwrap_or(1);
    let mut best: Option<(Lying, Choice)> = None;
    for inner in [natural, turned] {
        let (rows, columns) = block.rows_columns(side, inner);
        let near = near_run(block, side, inner, elem_bytes);
        let stored = if inner == natural { run } else { 1 };
        let tile = Tile { rows, columns, elem_bytes, run: near.max(stored) };
        let mut accesses = stores(block, side, inner, (run, along), COMPARED);
        accesses.extend(loads(block, side, inner, near, COMPARED));
        let room = room / elem_bytes;
        let choice = match block.core {
            Core::Lanes(..) => choose_padded(banks, tile, room, &accesses),
            Core::Matrix(..) => choose(banks, tile, room, &accesses),
        };
        if best.as_ref().is_none_or(|(_, best)| choice.after.taken < best.after.taken) {
            best = Some((Lying { inner, layout: choice.layout }, choice));
        }
    }
    best.expect("there are two ways round")
}

/// The same choice by all accesses.
pub fn counted<'c>(
    banks: Banks,
    nest: &Nest<'c>,
    block: &Block<'c>,
    side: usize,
    lying: &Lying,
) -> Choice {
    let access = &nest.inputs[block.inputs[side]];
    let elem_bytes = ty::byte_size(access.elem()).unwrap_or(1);
    let near = near_run(block, side, lying.inner, elem_bytes);
    let run = block.run(nest, access, [side, K]);
    let mut accesses = stores(block, side, lying.inner, run, u64::MAX);
    accesses.extend(loads(block, side, lying.inner, near, u64::MAX));
    let (_, columns) = block.rows_columns(side, lying.inner);
    let before = count(banks, &Layout::plain(columns), &accesses, elem_bytes);
    let after = count(banks, &lying.layout, &accesses, elem_bytes);
    Choice { layout: lying.layout, before, after }
}

/// Turns of banks that a whole kernel takes, every block and every step, as its tile program
/// says; `None` where groups share no tiles in it.
pub fn turns<'c>(machine: Machine<'c>, kernel: Op<'c>) -> Option<Turns> {
    let nest = read_kernel(kernel).ok()?;
    let compute = kernel.body(0)?.ops().into_iter().find_map(Compute::of)?;
    let block = Block::of(machine, &nest, &compute)?;
    let ways = Ways::of(machine, &compute.tiles.last()?.memory)?;
    let banks = Banks::of(&ways.near)?;
    let mut sum = Turns::default();
    for side in [M, N] {
        let access = &nest.inputs[block.inputs[side]];
        let lying = of_numbers(compute.layouts.as_ref()?.get(block.inputs[side])?)?;
        let elem_bytes = ty::byte_size(access.elem())?;
        let near = near_run(&block, side, lying.inner, elem_bytes);
        let run = block.run(&nest, access, [side, K]);
        let mut accesses = stores(&block, side, lying.inner, run, u64::MAX);
        accesses.extend(loads(&block, side, lying.inner, near, u64::MAX));
        let own = count(banks, &lying.layout, &accesses, elem_bytes);
        sum = Turns { taken: sum.taken + own.taken, least: sum.least + own.least };
    }
    let rounds = (0..nest.axes.len()).map(|axis| {
        let own = block.axes.iter().position(|own| *own == axis);
        nest.axes[axis].extent.div_ceil(own.map_or(1, |own| block.tile[own]))
    });
    let rounds: u64 = rounds.product();
    Some(Turns { taken: sum.taken * rounds, least: sum.least * rounds })
}

/// Elements side by side that a lane can be given at once: those of an instruction's
/// operand, or those of neighbours of a lane.
pub fn near_run(block: &Block<'_>, side: usize, inner: usize, elem_bytes: u64) -> u64 {
    let most = block.widest(elem_bytes);
    let quanta = block.quanta();
    let steps = match (&block.core, inner == block.axes[K]) {
        (_, true) => [quanta[K], block.tile[K]],
        (Core::Lanes(..), false) => [block.counts()[side], block.group[side]],
        (Core::Matrix(..), false) => [quanta[side], block.group[side]],
    };
    let most = steps.into_iter().fold(most, power_of_two_in);
    // Not wider than what is side by side for some lane: rows may then stay narrower.
    let most = loads(block, side, inner, most, 1).iter().map(|access| access.elements).max();
    most.unwrap_or(1)
}

/// The stores of all groups that bring the tile, the first `rounds` of them for all.
fn stores(
    block: &Block<'_>,
    side: usize,
    inner: usize,
    (run, along): (u64, usize),
    rounds: u64,
) -> Vec<Access> {
    let other = if along == K { side } else { K };
    let chunks = block.tile[along] / run;
    let total = block.tile[other] * chunks;
    let [rows, columns] = block.groups();
    let threads = rows * columns * block.lanes;
    let natural = inner == block.axes[along];
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
                let elements = if natural { run } else { 1 };
                found.push(Access { elements, lanes, times });
            }
        }
    }
    found
}

/// So many of `all`, and how many of these each stands for.
fn part(all: u64, most: u64) -> (u64, u64) {
    let made = all.min(most);
    (made, all.div_ceil(made.max(1)))
}

/// The loads of all groups for all instructions along k, the first `steps` of them for all.
fn loads(block: &Block<'_>, side: usize, inner: usize, most: u64, steps: u64) -> Vec<Access> {
    // Far enough apart that no row is the neighbour of another.
    const PITCH: u64 = 1 << 20;
    let held = block.held_input(side);
    let lying = Lying { inner, layout: Layout::plain(PITCH) };
    let apart = block.apart(side, &lying);
    let strides = held.strides(apart);
    let places: Vec<Option<Vec<i64>>> = points(block, side, &held.sizes)
        .into_iter()
        .map(|lanes| {
            let place = |point: Vec<i64>| point.iter().zip(&strides).map(|(t, s)| t * s).sum();
            Some(lanes.into_iter().map(place).collect())
        })
        .collect();
    let [rows, columns] = block.groups();
    // Groups side by side along the other axis read the same.
    let (own_groups, times) = if side == M { (rows, columns) } else { (columns, rows) };
    let quantum = block.quanta()[K];
    let (steps, each) = part(block.tile[K] / quantum, steps);
    let times = times * each;
    let mut found = Vec::new();
    for run in runs(&places, most) {
        let elements = run.len() as u64;
        let lanes = places[run.start].as_ref().expect("all are known");
        for group in 0..own_groups {
            let own = group * block.group[side];
            for step in 0..steps {
                let base = own as i64 * apart[side] + (step * quantum) as i64 * apart[K];
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

/// The point of the box that each slot of each lane holds, in the order of the slots.
fn points(block: &Block<'_>, side: usize, sizes: &[u64]) -> Vec<Vec<Vec<i64>>> {
    debug_assert!(side == M || side == N);
    let operand = block.operand(block.inputs[side]);
    let map = block.instruction().fragments()[operand].expect("operands have fragments");
    let lane_sides: Vec<u64> = block.lane_sides().into_iter().map(|(_, size)| size).collect();
    let inner = match &block.core {
        Core::Matrix(mapping, _) => mapping.dims[operand].iter().flatten().count(),
        Core::Lanes(..) => lane_sides.len(),
    };
    let (outer, own) = sizes.split_at(sizes.len() - inner);
    let slots = own.iter().product::<u64>().div_ceil(block.lanes).max(slots_of(block, operand));
    let mut found = Vec::new();
    for round in 0..outer.iter().product() {
        let known = digits(round, outer);
        for slot in 0..slots as i64 {
            let lane = |lane: u64| {
                let mut place = affine::evaluate(map, &[lane as i64, slot]).unwrap_or_default();
                // A register of lanes is one row of numbers, whichever axes they run along.
                if let (Core::Lanes(..), &[element]) = (&block.core, &place[..]) {
                    place = digits(element as u64, &lane_sides);
                }
                known.iter().copied().chain(place).collect()
            };
            found.push((0..block.lanes).map(lane).collect());
        }
    }
    found
}

/// The point that a number stands for in a box of `sizes`, row-major.
fn digits(number: u64, sizes: &[u64]) -> Vec<i64> {
    let mut point = vec![0; sizes.len()];
    let mut rest = number;
    for (place, size) in point.iter_mut().zip(sizes).rev() {
        *place = (rest % size) as i64;
        rest /= size;
    }
    point
}

/// Slots of a lane for an operand.
fn slots_of(block: &Block<'_>, operand: usize) -> u64 {
    let args = block.instruction().lowering().map(|lowering| lowering.args()).unwrap_or_default();
    args.get(operand).and_then(|arg| ty::count(arg.ty())).unwrap_or(1)
}
