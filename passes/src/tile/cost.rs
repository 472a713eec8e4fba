//! Cost of a register tile: Roller's micro-performance model, for one core.
//!
//! The time of a step is that of what the unit must issue together with what must be loaded
//! (OSDI'22, section 4.3: MaxComputePerf and MemPerf; the paper takes the larger, `together` says
//! why we do not), at least how long a result takes to come back, plus the time to start and store a tile. Ragged tiles at the ends of axes count as what
//! they are: tiles of another size.

use std::cmp::Ordering;

use weft_dialects::device::Machine;
use weft_dialects::ir::ty;

use super::instruction::{Mapped, body_cycles};
use super::lane_facts::{Facts, Near};
use super::neighbours::{most_neighbours, neighbours};
use super::parts::Parts;
use super::ragged;
use super::schedule::stored_along;
use super::shape::{Operand, Shape};
use super::task_tile::loop_order;
use super::windows;
use crate::cost::{Cost, Term};
use crate::nest::{Access, Border, Nest, Start, stores_along};

/// Shuffles, or what takes as long, for one halving of lanes that are combined: the other half is
/// brought, and folded in.
const SHUFFLES_TO_COMBINE: f64 = 3.0;

/// A nest whose points are done by one instruction, with lanes along one axis.
pub(super) struct Model<'m, 'c> {
    nest: &'m Nest<'c>,
    facts: &'m Facts<'c>,
    mapped: &'m Mapped<'c>,
    inputs: Vec<Operand>,
    outputs: Vec<Operand>,
    /// Points side by side that a lane may take.
    most_neighbours: u64,
    /// Operands of the epilogue, and cycles that it issues for a register.
    epilogue: Vec<Operand>,
    epilogue_cycles: f64,
    /// Steps of the reductions, without the axis of the lanes.
    steps: f64,
    reduces: bool,
    /// How reductions are done in parts, where they can be.
    parts: Option<Parts<'m, 'c>>,
}

impl<'m, 'c> Model<'m, 'c> {
    /// `packed` tells which inputs lie in the order of the lanes whatever their strides say.
    pub fn new(
        nest: &'m Nest<'c>,
        facts: &'m Facts<'c>,
        mapped: &'m Mapped<'c>,
        lanes_axis: Option<usize>,
        packed: &[bool],
    ) -> Self {
        let reductions = (0..nest.axes.len()).filter(|&axis| nest.reduces(axis));
        let steps = reductions
            .clone()
            .filter(|&axis| lanes_axis != Some(axis) && mapped.depth != Some(axis))
            .map(|axis| nest.axes[axis].extent as f64);
        // What has a depth lies so that a register is one access.
        let deep = |access: &Access<'_>| mapped.depth.is_some_and(|axis| access.uses(axis));
        let inputs = nest.inputs.iter().zip(packed);
        let lanes = lanes_axis.map(|axis| (axis, mapped.lanes));
        let epilogue = nest.epilogue.as_ref().zip(facts.unit.as_ref());
        let operand = |access: &Access<'_>, packed: bool| {
            Operand::of(nest, access, packed, lanes, facts.stage_banks)
        };
        Self {
            nest,
            facts,
            mapped,
            inputs: inputs
                .map(|(access, &packed)| match deep(access) {
                    true => operand(access, packed).with_depth(),
                    false => operand(access, packed),
                })
                .collect(),
            outputs: nest.outputs.iter().map(|access| operand(access, false)).collect(),
            most_neighbours: lanes_axis.map_or(1, |axis| most_neighbours(nest, facts, axis)),
            epilogue: nest
                .epilogue
                .iter()
                .flat_map(|epilogue| &epilogue.inputs)
                .map(|access| operand(access, false))
                .collect(),
            epilogue_cycles: epilogue
                .map_or(0.0, |(epilogue, unit)| body_cycles(unit, epilogue.body)),
            steps: steps.product(),
            reduces: reductions.count() > 0,
            parts: facts.private.as_ref().and_then(|own| Parts::of(nest, own, lanes_axis)),
        }
    }

    /// What the whole nest takes in tiles of this shape.
    pub fn cost(&self, shape: &Shape) -> Cost {
        self.cost_up_to(shape, f64::INFINITY).expect("no cost is more than that")
    }

    /// The same, if it takes at most so many cycles; most tiles show that they take more before
    /// their ragged ends have been counted.
    pub fn cost_up_to(&self, shape: &Shape, most: f64) -> Option<Cost> {
        let before = self.staged() + self.turned_borders(shape);
        Some(self.work_up_to(shape, most - before)? + Cost::of(Term::Transfers, before))
    }

    /// Cycles to lay planes that are read past their ends out in the order of lanes that are no neighbours in
    /// them: element by element.
    fn turned_borders(&self, shape: &Shape) -> f64 {
        let Some(axis) = shape.lanes_axis else { return 0.0 };
        let inputs = self.nest.inputs.iter().zip(&self.inputs);
        let turned = inputs.filter(|(access, own)| {
            Border::of(access).is_some() && own.strides[axis] / own.bytes > 1
        });
        let elements = turned.map(|(access, _)| access.shape.iter().product::<u64>() as f64);
        elements.sum::<f64>() * (self.facts.load + self.facts.store)
    }

    /// What the whole nest takes without what brings tensors to the memory in which tiles wait.
    pub fn work(&self, shape: &Shape) -> Cost {
        self.work_up_to(shape, f64::INFINITY).expect("no cost is more than that")
    }

    fn work_up_to(&self, shape: &Shape, most: f64) -> Option<Cost> {
        let lanes = self.mapped.lanes;
        let mut steps = self.steps;
        if let Some(axis) = shape.lanes_axis.filter(|&axis| self.nest.reduces(axis)) {
            let registers = self.nest.axes[axis].extent.div_ceil(lanes);
            steps *= registers as f64 / shape.vectors as f64;
        }
        let mut sum = Cost::default();
        for (count, tile) in ragged::tiles(self.nest, lanes, shape) {
            sum += self.tile(&tile, steps, (most - sum.cycles) / count)? * count;
        }
        Some(sum)
    }

    /// What one tile of `steps` steps takes, if it takes at most so many cycles.
    fn tile(&self, tile: &Shape, steps: f64, most: f64) -> Option<Cost> {
        let is_more = |cycles: f64| cycles.partial_cmp(&most) == Some(Ordering::Greater);
        let lanes = if tile.lanes_axis.is_some() { self.mapped.lanes } else { 1 };
        let registers = tile.registers();
        let issue = registers as f64 * self.mapped.issue_cycles;
        let mut loads = 0.0;
        let windows = windows::loads(self.nest, tile);
        for (number, input) in self.inputs.iter().enumerate() {
            let (count, vector) = input.count(tile);
            let shared = windows.filter(|(slides, _)| *slides == number);
            let count = shared.map_or(count as f64, |(_, loads)| loads);
            // One element for all lanes rides along with the instruction that takes it.
            let each =
                if vector { self.along(input, tile, self.facts.load) } else { self.facts.load };
            loads += count * each.max(self.refill(input, tile, 3));
        }
        loads += self.nest.captures.len() as f64 * lanes as f64 * registers as f64;
        loads += self.spills(tile);
        let latency = if self.reduces { self.mapped.latency_cycles } else { 0.0 };
        // Runs come from the next cache while the lines that are there are loaded.
        let step =
            |loads, runs| together(together(issue, loads), runs).max(latency) + self.facts.step;
        if is_more(steps * step(loads, 0.0)) {
            return None;
        }
        let Fills { runs, lines, strewn } = self.fills(tile);
        let fills = runs + lines;
        let step = step(loads + lines / steps, runs / steps);
        let finish = self.finish(tile);
        let begin = self.begin();
        let restart = begin + finish;
        let scattered = self.parts.as_ref().map_or(0.0, |parts| {
            parts.scattered(&self.sizes(tile), |input| self.inputs[input].packed, restart)
        });
        let alone = strewn + scattered;
        let cost = Cost::default()
            .with(Term::Compute, steps * issue)
            .with(Term::Loads, steps * loads)
            .with(Term::Transfers, fills + alone)
            .with(Term::Waits, steps * latency)
            .with(Term::Loops, steps * self.facts.step + begin)
            .with(Term::Results, finish)
            .taking(steps * step + alone + restart);
        (!is_more(cost.cycles)).then_some(cost)
    }

    /// Cycles of a step for weights of sliding windows that registers do not hold: what one row is
    /// multiplied by comes again for the next, so each is stored once and loaded for every row.
    fn spills(&self, tile: &Shape) -> f64 {
        let Some(taps) = windows::taps_of(self.nest, tile) else { return 0.0 };
        let held = windows::held(tile.registers(), taps);
        let spilled = held.saturating_sub(self.facts.registers).min(taps) as f64;
        let each = self.facts.store + (tile.registers() / tile.vectors) as f64 * self.facts.load;
        spilled * each / taps as f64
    }

    /// Cycles to start a tile's sums, and to store them: what each part of a reduction takes more.
    pub fn restart(&self, tile: &Shape) -> f64 {
        self.begin() + self.finish(tile)
    }

    /// Cycles to begin and end the loops of a tile: where nothing is reduced, it has none of its own.
    fn begin(&self) -> f64 {
        if self.reduces { self.facts.tile } else { 0.0 }
    }

    /// Cycles to start the outputs of a tile, apply the epilogue and store them.
    fn finish(&self, tile: &Shape) -> f64 {
        let lanes = if tile.lanes_axis.is_some() { self.mapped.lanes } else { 1 };
        let registers = tile.registers();
        let across = tile.lanes_axis.is_some_and(|axis| self.nest.reduces(axis));
        let turned = tile.rows.iter().any(|&(rows, _)| {
            tile.lanes_axis.is_some_and(|lanes_axis| stores_along(self.nest, lanes_axis, rows))
        });
        let mut finish = 0.0;
        for (output, start) in self.outputs.iter().zip(&self.nest.starts) {
            let each = if across {
                // The registers of a row are folded into one before its lanes are.
                let combined = SHUFFLES_TO_COMBINE * self.facts.shuffle * (lanes as f64).log2();
                let folded = (tile.vectors - 1) as f64 * self.mapped.issue_cycles;
                (combined + folded) / tile.vectors as f64
            } else if let Some(bytes) = self.facts.access_bytes.filter(|_| turned) {
                // Each lane its own rows, as many at once as it can.
                self.facts.store * lanes as f64 * output.bytes as f64 / bytes as f64
            } else if turned {
                self.facts.store + self.facts.shuffle * (lanes as f64).log2()
            } else if let Some(rows) = self.rows_stored_along(tile) {
                self.in_rows(rows, lanes)
            } else {
                self.along(output, tile, self.facts.store).max(self.refill(output, tile, 2))
            };
            if !across && !turned {
                finish += self.torn(output, tile);
            }
            let started = if matches!(start, Start::Unread) { 0.0 } else { self.facts.load };
            finish += registers as f64 * (each + started);
        }
        for input in &self.epilogue {
            let (_, vector) = input.count(tile);
            let each =
                if vector { self.along(input, tile, self.facts.load) } else { self.facts.load };
            finish += registers as f64 * each.max(self.refill(input, tile, 3));
        }
        finish + registers as f64 * self.epilogue_cycles
    }

    /// Rows along which registers of sums are stored, where that is done by a transpose.
    fn rows_stored_along(&self, tile: &Shape) -> Option<u64> {
        let lanes_axis = tile.lanes_axis.filter(|_| self.facts.access_bytes.is_none())?;
        let rows: Vec<usize> = tile.rows.iter().map(|row| row.0).collect();
        let axis = stored_along(self.nest, lanes_axis, &rows);
        axis.filter(|_| self.facts.stage.is_none()).map(|axis| tile.size(axis))
    }

    /// Cycles of a register of `lanes` lanes that is transposed with others of `rows` rows, as many at
    /// once as fill a power of two, and stored in their rows: a store for each lane of all.
    fn in_rows(&self, rows: u64, lanes: u64) -> f64 {
        let rows = rows.min(lanes);
        let wide = rows.next_power_of_two();
        let turns = self.facts.shuffle * (wide as f64).log2() * wide as f64 / rows as f64;
        let part = if wide < lanes { self.facts.shuffle } else { 0.0 };
        turns + lanes as f64 / rows as f64 * (self.facts.store + part)
    }

    /// Cycles for the lines of a result whose lanes lie in rows far apart, of which a tile stores a few
    /// elements each: the next tile stores more into them, and they are gone by then where more of them
    /// share a set of a cache than have room in it. Stores wait for one another, so each line is
    /// waited for, on its way here and back.
    fn torn(&self, output: &Operand, tile: &Shape) -> f64 {
        let axis = tile.lanes_axis.filter(|_| !output.packed);
        let Some((axis, near)) = axis.zip(self.facts.caches.first()) else { return 0.0 };
        if output.strides[axis].unsigned_abs() < near.line_bytes {
            return 0.0;
        }
        let sizes = self.sizes(tile);
        let gone = self.facts.caches.iter().take_while(|cache| {
            let mut sets = cache.sets();
            sets.add(output, &sizes);
            sets.crowded((cache.ways / 2).max(1)) > 0.0
        });
        let wait = self.facts.store_latency;
        let each: f64 = gone.map(|cache| 2.0 * (cache.refill + cache.jump + wait)).sum();
        output.lines(&sizes, near.line_bytes) * each
    }

    /// Cycles for one register of an operand along the lanes, `one` where they lie side by
    /// side.
    fn along(&self, operand: &Operand, tile: &Shape, one: f64) -> f64 {
        let Some(axis) = tile.lanes_axis else { return one };
        // Two of them are a shuffle.
        let insert = self.facts.shuffle / 2.0;
        match operand.strides[axis] / operand.bytes {
            0 => one * self.accesses(operand),
            1 => {
                let moved = neighbours(self.nest, self.most_neighbours, self.mapped.lanes, tile);
                one * self.accesses(operand) / moved as f64
            }
            _ if self.facts.stage.is_some() => one * operand.turns,
            _ if operand.packed || operand.deep => one,
            // Two loads, and a shuffle for the elements of both.
            2 => 2.0 * one + self.facts.shuffle,
            // Element by element, each put in its lane.
            _ => self.mapped.lanes as f64 * (one.max(insert) + insert),
        }
    }

    /// Accesses of the cache that a register along the lanes takes: two where it begins in one line
    /// and ends in the next, as often as one does that begins at any element.
    fn accesses(&self, operand: &Operand) -> f64 {
        let register = operand.register_bytes.filter(|_| !operand.aligned);
        let lines = register.zip(self.facts.near.as_ref());
        lines.map_or(1.0, |(register, near)| {
            1.0 + (register - operand.bytes as u64) as f64 / near.line_bytes as f64
        })
    }

    /// Points along each axis of a tile, one along those that reduce without lanes.
    fn sizes(&self, tile: &Shape) -> Vec<u64> {
        let size = |axis: usize| match tile.rows.iter().find(|row| row.0 == axis) {
            Some((_, rows)) => *rows,
            None if tile.lanes_axis == Some(axis) => {
                (tile.vectors * self.mapped.lanes).min(self.nest.axes[axis].extent)
            }
            None => 1,
        };
        (0..self.nest.axes.len()).map(size).collect()
    }

    /// The same with its whole reductions.
    fn reached(&self, tile: &Shape) -> Vec<u64> {
        let mut sizes = self.sizes(tile);
        for (axis, size) in sizes.iter_mut().enumerate() {
            if self.nest.reduces(axis) {
                *size = self.nest.axes[axis].extent;
            }
        }
        sizes
    }

    /// Returns whether rows of an operand evict each other from the smallest cache.
    pub fn competes(&self, tile: &Shape) -> bool {
        let refilled = |operand: &Operand, quarters| self.refill(operand, tile, quarters) > 0.0;
        let mut read = self.inputs.iter().chain(&self.epilogue);
        read.any(|input| refilled(input, 3)) || self.outputs.iter().any(|own| refilled(own, 2))
    }

    /// Returns whether all that a tile reads over its reductions stays in the smallest cache.
    pub fn stays(&self, tile: &Shape) -> bool {
        let Some(near) = self.facts.near.as_ref().filter(|_| self.reduces) else { return true };
        let sizes = self.reached(tile);
        let lines = self.inputs.iter().map(|input| input.lines(&sizes, near.line_bytes));
        lines.sum::<f64>() * near.line_bytes as f64 <= near.capacity_bytes as f64
            && self.crowded(near, &sizes) == 0.0
    }

    /// Returns whether reductions can be done in parts that stay in the unit's cache.
    pub fn has_room_for_parts(&self, tile: &Shape) -> bool {
        self.parts.as_ref().is_none_or(|parts| parts.have_room(&self.reached(tile)))
    }

    /// Cycles to bring what a tile reads next to the registers, if it does not stay there.
    fn fills(&self, tile: &Shape) -> Fills {
        let Some(near) = self.facts.near.as_ref().filter(|_| self.reduces) else {
            return Fills::default();
        };
        let sizes = self.reached(tile);
        let lines: Vec<f64> =
            self.inputs.iter().map(|input| input.lines(&sizes, near.line_bytes)).collect();
        let all: f64 = lines.iter().sum();
        let fits = all * near.line_bytes as f64 <= near.capacity_bytes as f64;
        let brought = match fits {
            true => self.moved(near, &sizes, &lines, tile.grow),
            false => lines.clone(),
        };
        let runs = self.inputs.iter().zip(&brought).filter(|(input, _)| input.is_run(&sizes));
        let runs: f64 = runs.map(|(_, lines)| lines).sum();
        let brought: f64 = brought.iter().sum();
        if fits {
            let again = self.crowded(near, &sizes).min(all - brought);
            let lines = (brought - runs + again) * near.refill;
            return Fills { runs: runs * near.refill, lines, strewn: 0.0 };
        }
        let strewn = self.inputs.iter().zip(&lines).filter(|(input, _)| {
            let far = |axis: usize| {
                self.nest.reduces(axis) && input.is_far_apart(axis, &sizes, near.line_bytes)
            };
            let on_lanes = tile.lanes_axis.is_some_and(|axis| input.uses[axis]);
            on_lanes && !input.packed && (0..self.nest.axes.len()).any(far)
        });
        let strewn = strewn.map(|(_, lines)| lines).sum::<f64>() * near.refill;
        Fills { runs: runs * near.refill, lines: (brought - runs) * near.refill, strewn }
    }

    /// Lines of what a tile reads that do not stay, though all its bytes would: more of them share a
    /// set of the cache than have room in it beside what is stored.
    fn crowded(&self, near: &Near, sizes: &[u64]) -> f64 {
        let mut sets = near.sets();
        for input in &self.inputs {
            sets.add(input, sizes);
        }
        sets.crowded(near.capacity_bytes / near.way_bytes)
    }

    /// Lines of each input that the next tile does not share with the last one, where one tile
    /// stays next to the registers: an operand comes again as often as a loop over tiles moves
    /// it, unless all of it stays.
    fn moved(&self, near: &Near, sizes: &[u64], lines: &[f64], grow: Option<usize>) -> Vec<f64> {
        let extent = |axis: usize| self.nest.axes[axis].extent;
        let order = loop_order(self.nest, self.facts.private.as_ref(), sizes, grow);
        let inputs = self.inputs.iter().zip(&self.nest.inputs).zip(lines);
        let brought = inputs.map(|((input, access), lines)| {
            let bytes = access.shape.iter().product::<u64>() * input.bytes as u64;
            let still = order
                .iter()
                .rev()
                .take_while(|&&axis| !input.uses[axis] || sizes[axis] >= extent(axis));
            let tiles = still.map(|&axis| extent(axis).div_ceil(sizes[axis]) as f64);
            if bytes <= near.capacity_bytes { 0.0 } else { lines / tiles.product::<f64>() }
        });
        brought.collect()
    }

    /// Cycles for one access to an operand whose rows push each other out of the cache, of
    /// whose places they may take some `quarters`: what is stored stays behind in others.
    fn refill(&self, operand: &Operand, tile: &Shape, quarters: u64) -> f64 {
        let Some(near) = &self.facts.near else { return 0.0 };
        let ways = near.ways * quarters / 4;
        if operand.packed || operand.count(tile).0 <= ways {
            return 0.0;
        }
        let mut places = vec![0];
        for (axis, rows) in &tile.rows {
            let step = operand.strides[*axis];
            if step != 0 {
                let all =
                    places.iter().flat_map(|at| (0..*rows).map(move |n| at + step * n as i64));
                places = all.collect();
            }
        }
        if near.thrashes(places.into_iter(), ways) { near.refill } else { 0.0 }
    }

    /// Cycles in which every element that is read or written reaches the memory where tiles
    /// wait, if it stays there for all its uses.
    fn staged(&self) -> f64 {
        let bytes = |access: &Access<'_>| {
            let size = ty::byte_size(access.elem()).unwrap_or(8);
            (access.shape.iter().product::<u64>() * size) as f64
        };
        self.nest.accesses().into_iter().map(bytes).sum::<f64>() * self.facts.stage_byte
    }
}

/// Cycles to bring what a tile reads next to the registers.
#[derive(Default)]
struct Fills {
    /// For what lies side by side: it is brought while the unit loads what is there.
    runs: f64,
    /// For lines here and there.
    lines: f64,
    /// How many of them are for lines of lanes that are strewn over rows far apart, so that nothing
    /// brings them before they are asked for.
    strewn: f64,
}

/// Cycles in which a unit issues instructions and loads what they take: the longer of both where one
/// is much longer, and up to a fifth more where both take as long, since neither is always ready when
/// the other is.
pub(super) fn together(issue: f64, loads: f64) -> f64 {
    (issue.powi(4) + loads.powi(4)).sqrt().sqrt()
}

/// Cycles to lay a tensor out anew with neighbours along `axis` side by side: every element
/// is read and written once, each from a place of its own where they do not lie so yet.
/// `None` where the machine does not say how fast its shared memory is, and in which pieces.
pub(super) fn packing(
    machine: Machine<'_>,
    access: &Access<'_>,
    axes: usize,
    axis: usize,
) -> Option<f64> {
    let shared = machine.shared()?;
    let (rate, place) = (shared.bytes_per_cycle()? as f64, shared.transaction_bytes()? as f64);
    let points = access.shape.iter().product::<u64>() as f64;
    let bytes = points * ty::byte_size(access.elem()).unwrap_or(8) as f64;
    if access.stride(axes, axis) != 1 {
        return Some((points * place + bytes) / rate);
    }
    Some(bytes / rate + bytes / shared.store_bytes_per_cycle()? as f64)
}
