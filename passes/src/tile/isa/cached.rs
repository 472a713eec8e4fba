//! What a tile costs whose registers are filled through caches.
//!
//! ```text
//! step    = together(instructions · issue, registers · issue of their moves), no less than a chain of sums waits
//! refills = Σ inputs  bytes / rate of the smallest memory that keeps what is read before they are read again
//! tile    = together(steps · step, refills) + registers of sums, stored, and the epilogue on them
//! ```
//!
//! Such a unit begins later instructions and moves while earlier ones wait, and caches bring what follows. Inputs that
//! do not move along the innermost loop over tiles stay for the next tile; others until the loop begins anew.

use weft_dialects::device::tile_box::{TileSide, row_distance, run};

use super::cost::Mapped;
use super::mapping::Digit;
use crate::cost::home::{Beside, Homes};
use crate::cost::{Cost, Term};
use crate::tile::cost::together;
use crate::tile::way::way;

/// The memories behind registers that are tiles.
pub(super) struct Cached {
    homes: Homes,
}

impl Cached {
    /// `None` where an operand lies elsewhere, or the machine has no caches.
    pub fn of(mapped: &Mapped<'_, '_>) -> Option<Self> {
        let machine = mapped.machine;
        let operands = mapped.mapping.instruction.operands();
        let tiles = |name: &&str| machine.memory(name).is_some_and(|memory| memory.holds_tiles());
        let caches = machine.memories().iter().any(|memory| memory.is_cache());
        (caches && operands.iter().all(tiles)).then(|| Self { homes: Homes::of(machine) })
    }

    /// What one tile takes on one unit.
    pub fn tile_cost(&self, mapped: &Mapped<'_, '_>, sizes: &[u64]) -> Cost {
        let instruction = &mapped.mapping.instruction;
        let count = mapped.mapping.instructions(sizes) as f64;
        let compute = count * instruction.issue_cycles();
        let (mut loads, mut refills, mut stores, mut sums) = (0.0, 0.0, 0.0, 1.0);
        let steps = mapped.steps(sizes) as f64;
        for (operand, own) in mapped.operands.iter().enumerate().filter(|(_, own)| !own.is_one) {
            let way = if own.is_result { mapped.store(operand) } else { mapped.load(operand) };
            let Some(way) = way else { return Cost::default().taking(f64::INFINITY) };
            let issue = way.issue_cycles().unwrap_or(1.0);
            let registers = mapped.registers(sizes, operand) as f64;
            let issue = issue + self.in_runs(mapped, sizes, operand).unwrap_or(0.0);
            if own.is_result {
                sums = registers;
                // They are read where they begin from something, and written.
                stores = 2.0 * registers * issue + way.latency_cycles().unwrap_or(0) as f64;
            } else {
                loads += registers * issue;
                let bytes = mapped.moved_bytes(&mapped.with_whole_reductions(sizes), operand);
                refills += self.homes.cycles(
                    bytes as u64,
                    self.between(mapped, sizes, operand),
                    Beside::Stores,
                );
            }
        }
        stores += mapped.finish.as_ref().map_or(0.0, |own| own.cycles(mapped.nest, sizes));
        let chain = count / sums * instruction.latency_cycles() as f64;
        let step = together(compute, loads).max(chain);
        Cost::default()
            .with(Term::Compute, steps * compute)
            .with(Term::Loads, steps * loads)
            .with(Term::Transfers, refills)
            .with(Term::Waits, steps * chain)
            .with(Term::Results, stores)
            .taking(together(steps * step, refills) + stores)
    }

    /// Cycles of a register that its move does not take whole, beside those of the move: run by run, by way of a
    /// copy that is read again. `None` where it takes it whole.
    fn in_runs(&self, mapped: &Mapped<'_, '_>, sizes: &[u64], operand: usize) -> Option<f64> {
        let (machine, nest, mapping) = (mapped.machine, mapped.nest, mapped.mapping);
        let access = mapping.access(nest, operand)?;
        let tile = machine.memory(mapping.instruction.operands()[operand])?;
        let bytes = mapped.elem_bytes(operand);
        // What lanes finish waits in a room of its own, as the tile lies.
        let room = mapped.finish.is_some() && mapped.operands[operand].is_result;
        let (mut sides, mut near) = (Vec::new(), 1);
        for &own in mapping.dims[operand].as_ref()?.iter().rev() {
            for Digit { axis, count, step } in mapping.digits(own) {
                let points = count.min(sizes[axis]);
                let far = access.stride(nest.axes.len(), axis);
                sides.push(TileSide { points, far, near: near * step as i64 });
            }
            near *= mapping.extents[own] as i64;
        }
        sides.retain(|side| side.points > 1);
        sides.sort_by_key(|side| std::cmp::Reverse(side.near));
        let ragged = mapped.is_ragged(sizes, operand);
        let elements = tile.register_bytes()? / bytes;
        let whole = room || row_distance(&sides, tile.row_bytes()? / bytes, elements).is_some();
        if whole && !ragged {
            return None;
        }
        let points: u64 = sides.iter().map(|side| side.points).product();
        let (run, runs) = match room {
            true => (tile.row_bytes()? / bytes, tile.register_bytes()? / tile.row_bytes()?),
            false => (run(&sides).0, points / run(&sides).0),
        };
        let way = mapped.load(operand).or(mapped.store(operand))?;
        let lanes = machine.lanes_units().into_iter().next()?;
        let back = self::way(machine, lanes.memory())?;
        let [load, store] = [&back.load, &back.store].map(|way| way.issue_cycles().unwrap_or(1.0));
        let registers =
            tile.register_bytes()? / machine.memory(lanes.memory())?.register_bytes()?;
        // Parts of a power of two of elements, each with addresses of its own at both ends; the copy is stored before it
        // is overwritten, and again before it is read.
        let parts = runs * u64::from(run.count_ones());
        let waits = way.latency_cycles().unwrap_or(0) + back.store.latency_cycles().unwrap_or(0);
        Some((2 * parts + registers) as f64 * (load + store) + 2.0 * waits as f64)
    }

    /// Bytes that are read between two times that a tile of an input is.
    fn between(&self, mapped: &Mapped<'_, '_>, sizes: &[u64], operand: usize) -> u64 {
        let nest = mapped.nest;
        let looped = |axis: &usize| !nest.reduces(*axis) && nest.axes[*axis].extent > sizes[*axis];
        let mut reached = mapped.with_whole_reductions(sizes);
        let all = |reached: &[u64]| -> f64 {
            let inputs = mapped.operands.iter().enumerate().filter(|(_, own)| !own.is_result);
            inputs.map(|(number, _)| mapped.moved_bytes(reached, number)).sum()
        };
        // From the innermost loop outwards, until one goes on with the same tile.
        for axis in (0..sizes.len()).rev().filter(looped) {
            let moves = mapped.mapping.access(nest, operand).is_some_and(|own| own.uses(axis));
            if !moves {
                return all(&reached) as u64;
            }
            reached[axis] = nest.axes[axis].extent;
        }
        // It is read once.
        u64::MAX
    }
}
