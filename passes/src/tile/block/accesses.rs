//! What the lanes of a block ask of the shared memory in one step, address by address.
//!
//! The same order in which the code generator deals out chunks and cuts runs; a test holds
//! the count against the addresses of the code that runs.

use weft_dialects::device::Machine;
use weft_dialects::ir::{Op, affine, ty};
use weft_dialects::tile::Compute;

use super::super::banks::{Access, Banks, Choice, Layout, Tile, Turns, choose, count, runs};
use super::{Block, Core, K, Lying, M, N, WIDEST_BYTES, Ways, of_numbers, power_of_two_in};
use crate::nest::{Nest, read_kernel};

/// The better of the two ways round, each in its best layout.
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
        let mut accesses = stores(block, side, inner, (run, along));
        accesses.extend(loads(block, side, inner, near));
        let choice = choose(banks, tile, room / elem_bytes, &accesses);
        if best.as_ref().is_none_or(|(_, best)| choice.after.taken < best.after.taken) {
            best = Some((Lying { inner, layout: choice.layout }, choice));
        }
    }
    best.expect("there are two ways round")
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
        let mut accesses = stores(&block, side, lying.inner, block.run(&nest, access, [side, K]));
        accesses.extend(loads(&block, side, lying.inner, near));
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
    let most = WIDEST_BYTES / elem_bytes.min(WIDEST_BYTES);
    let quanta = block.quanta();
    let steps = match (&block.core, inner == block.axes[K]) {
        (_, true) => [quanta[K], block.tile[K]],
        (Core::Lanes(..), false) => [block.counts()[side], block.group[side]],
        (Core::Matrix(..), false) => [quanta[side], block.group[side]],
    };
    let most = steps.into_iter().fold(most, power_of_two_in);
    // Not wider than what is side by side for some lane: rows may then stay narrower.
    let most = loads(block, side, inner, most).iter().map(|access| access.elements).max();
    most.unwrap_or(1)
}

/// The stores of all groups that bring the tile.
fn stores(block: &Block<'_>, side: usize, inner: usize, (run, along): (u64, usize)) -> Vec<Access> {
    let other = if along == K { side } else { K };
    let chunks = block.tile[along] / run;
    let total = block.tile[other] * chunks;
    let [rows, columns] = block.groups();
    let threads = rows * columns * block.lanes;
    let natural = inner == block.axes[along];
    let mut found = Vec::new();
    for first in (0..total.next_multiple_of(threads)).step_by(block.lanes as usize) {
        for n in 0..if natural { 1 } else { run } {
            let lane = |number: u64| {
                let (row, column) = (number / chunks, number % chunks * run + n);
                (number < total).then_some(if natural { (row, column) } else { (column, row) })
            };
            let lanes: Vec<_> = (first..first + block.lanes).map(lane).collect();
            if lanes.iter().any(Option::is_some) {
                found.push(Access { elements: if natural { run } else { 1 }, lanes });
            }
        }
    }
    found
}

/// The loads of all groups for all instructions along k.
fn loads(block: &Block<'_>, side: usize, inner: usize, most: u64) -> Vec<Access> {
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
    let quantum = block.quanta()[K];
    let mut found = Vec::new();
    for run in runs(&places, most) {
        let elements = run.len() as u64;
        let lanes = places[run.start].as_ref().expect("all are known");
        for group in 0..rows * columns {
            let own = [group / columns, group % columns][side] * block.group[side];
            for step in 0..block.tile[K] / quantum {
                let base = own as i64 * apart[side] + (step * quantum) as i64 * apart[K];
                let lane = |at: &i64| {
                    let at = (at + base) as u64;
                    Some((at / PITCH, at % PITCH))
                };
                found.push(Access { elements, lanes: lanes.iter().map(lane).collect() });
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
    let inner = match &block.core {
        Core::Matrix(mapping, _) => mapping.dims[operand].iter().flatten().count(),
        Core::Lanes(..) => 1,
    };
    let (outer, own) = sizes.split_at(sizes.len() - inner);
    let slots = own.iter().product::<u64>().div_ceil(block.lanes).max(slots_of(block, operand));
    let mut found = Vec::new();
    for round in 0..outer.iter().product() {
        let mut known = vec![0; outer.len()];
        let mut rest: u64 = round;
        for (place, size) in known.iter_mut().zip(outer).rev() {
            *place = (rest % size) as i64;
            rest /= size;
        }
        for slot in 0..slots as i64 {
            let lane = |lane: u64| {
                let place = affine::evaluate(map, &[lane as i64, slot]).unwrap_or_default();
                known.iter().copied().chain(place).collect()
            };
            found.push((0..block.lanes).map(lane).collect());
        }
    }
    found
}

/// Slots of a lane for an operand.
fn slots_of(block: &Block<'_>, operand: usize) -> u64 {
    let args = block.instruction().lowering().map(|lowering| lowering.args()).unwrap_or_default();
    args.get(operand).and_then(|arg| ty::count(arg.ty())).unwrap_or(1)
}
