//! Chooses the register tile, the task tile and the instruction of a nest.
//!
//! An instruction with axes of its own has its tile from `isa/`. For lanes a tile is 1
//! point on every axis but three: the axis that the lanes run along, and up to two more
//! parallel axes, the rows (the two of a small image, for one). All axes and the sizes
//! that the registers allow are compared under the model of `cost.rs`.

use weft_dialects::device::Machine;
use weft_dialects::tile::RTile;

use super::block::{self, Alone, Block, Chosen};
use super::by_lanes::ByLanes;
use super::cost::Model;
use super::instruction::{Mapped, instructions, lane_unit};
use super::isa::{self, Matrix, Search};
use super::lane_facts::{Facts, group_lanes};
use super::layout::Layout;
use super::shape::Shape;
use super::shorter::shorter;
use super::task_tile::footprint;
use super::way::Stage;
use super::why::{Rule, Why};
use crate::cost::Cost;
use crate::math;
use crate::nest::{Access, Nest};

/// What was chosen for a nest.
#[derive(Clone)]
pub(super) struct Choice<'c> {
    /// Who computes the body, and its tile.
    pub tiled: Tiled<'c>,
    /// Why it was.
    pub why: Why,
    /// The next best of another instruction or axis, for the report.
    pub runner_up: Option<(String, f64)>,
}

/// One way to do a nest, before it is chosen.
#[derive(Clone)]
pub(super) struct Candidate<'c> {
    /// Who computes the body, and its tile.
    pub tiled: Tiled<'c>,
    /// What it is predicted to take on one core.
    pub cost: Cost,
    /// The cycles by which it is ranked. Groups of lanes are ranked with what they wait for, which is no part of
    /// `cost` where groups cannot share tiles: whoever shares such a nest out adds it.
    pub rank: f64,
    /// The rule by which its tile was constructed.
    pub rule: Rule,
}

/// The ways to do a nest, the fastest first, and the number of tiles that were compared.
pub(super) struct Ranked<'c> {
    pub found: Vec<Candidate<'c>>,
    pub compared: usize,
}

/// An instruction or lane unit with the tile that it works on.
#[derive(Clone)]
pub(super) enum Tiled<'c> {
    /// Lanes along an axis of the nest.
    Lanes(Box<Lanes<'c>>),
    /// Axes of the instruction are axes of the nest.
    Matrix(Box<Matrix<'c>>),
    /// Groups of lanes share tiles.
    Block(Box<Chosen<'c>>),
    /// A move copies, or fills, all of it.
    Moved(&'c str, RTile),
}

/// Lanes along an axis of the nest.
#[derive(Clone)]
pub(super) struct Lanes<'c> {
    /// Who computes the body.
    pub mapped: Mapped<'c>,
    /// The register tile.
    pub shape: Shape,
    /// Which inputs lie in the order of the lanes, or are to be laid out so.
    pub packed: Vec<bool>,
    /// The register file.
    pub memory: &'c str,
    /// Where tiles wait on the way to it.
    pub stage: Option<Stage<'c>>,
}

impl<'c> Lanes<'c> {
    /// Cycles of a register tile for each further part of a reduction: its sums are stored and
    /// loaded again. `None` where the machine has no such registers.
    pub fn restart(&self, machine: Machine<'c>, nest: &Nest<'c>) -> Option<f64> {
        let facts = Facts::of(machine, self.memory)?;
        let unpacked = vec![false; nest.inputs.len()];
        let axis = self.shape.lanes_axis;
        Some(Model::new(nest, &facts, &self.mapped, axis, &unpacked).restart(&self.shape))
    }
}

impl Tiled<'_> {
    /// Name of the instruction or lane unit.
    pub fn instruction(&self) -> &str {
        match self {
            Tiled::Lanes(lanes) => lanes.mapped.name,
            Tiled::Matrix(matrix) => matrix.mapping.instruction.name,
            Tiled::Block(chosen) => chosen.block.instruction().name,
            Tiled::Moved(name, _) => name,
        }
    }

    /// The innermost rTile.
    pub fn tile(&self, nest: &Nest<'_>) -> RTile {
        match self {
            Tiled::Lanes(lanes) => register_tile(nest, lanes),
            Tiled::Matrix(matrix) => matrix.tile.clone(),
            Tiled::Block(chosen) => {
                let [_, inner] = chosen.block.rtiles(nest, &chosen.ways);
                inner
            }
            Tiled::Moved(_, tile) => tile.clone(),
        }
    }

    /// The reason for it, with what its own tile takes on one unit.
    pub fn told(&self, why: Why) -> Why {
        match self {
            Tiled::Matrix(matrix) => Why { cost: matrix.tile_cost, ..why },
            Tiled::Lanes(_) | Tiled::Block(_) | Tiled::Moved(..) => why,
        }
    }

    /// One line for people.
    pub fn describe(&self) -> String {
        match self {
            Tiled::Lanes(lanes) => lanes.describe(),
            Tiled::Matrix(matrix) => {
                format!("{}, tiles of {:?}", matrix.mapping.describe(), matrix.tile.sizes)
            }
            Tiled::Block(chosen) => chosen.describe(),
            Tiled::Moved(name, _) => format!("@{name}, at once"),
        }
    }
}

impl Lanes<'_> {
    fn describe(&self) -> String {
        let lanes = match self.shape.lanes_axis {
            Some(axis) => format!("lanes on axis {axis} x{}", self.shape.vectors),
            None => "one point at a time".to_owned(),
        };
        let rows = self.shape.rows.iter();
        let rows: String =
            rows.map(|(axis, rows)| format!(", {rows} rows on axis {axis}")).collect();
        let grow = self
            .shape
            .grow
            .map_or(String::new(), |axis| format!(", more on axis {axis} where others end"));
        format!("@{}, {lanes}{rows}{grow}", self.mapped.name)
    }
}

impl Candidate<'_> {
    /// What a tile of it takes and moves, one line for people (OSDI'22, section 4.3).
    ///
    /// Footprint and traffic are bytes: of what a tile with its whole reductions touches, and
    /// of all tiles one after the other. Waste is the part of the computed points that are
    /// none.
    pub fn report(&self, nest: &Nest<'_>) -> String {
        let mut sizes = self.tiled.tile(nest).sizes;
        let lanes = match &self.tiled {
            Tiled::Lanes(lanes) => lanes.shape.lanes_axis.map(|axis| (axis, lanes.mapped.lanes)),
            Tiled::Matrix(_) | Tiled::Block(_) | Tiled::Moved(..) => None,
        };
        let (mut tiles, mut computed) = (1.0, 1.0);
        for (axis, size) in sizes.iter_mut().enumerate() {
            let extent = nest.axes[axis].extent;
            let quantum = match lanes {
                Some((along, lanes)) if along == axis => lanes,
                Some(_) => 1,
                None => *size,
            };
            computed *= (extent.div_ceil(quantum) * quantum) as f64 / extent.max(1) as f64;
            if nest.reduces(axis) {
                *size = extent;
            } else {
                tiles *= extent.div_ceil(*size) as f64;
            }
        }
        let bytes = |accesses: &[Access<'_>]| -> u64 {
            accesses.iter().map(|access| footprint(access, &sizes)).sum()
        };
        let footprint = bytes(&nest.inputs) + bytes(&nest.outputs);
        format!(
            "{}: {}; footprint {footprint} bytes, traffic {:.0} bytes, waste {:.1} %; {}",
            self.tiled.describe(),
            self.cost,
            tiles * footprint as f64,
            100.0 * (1.0 - 1.0 / computed),
            self.rule
        )
    }
}

/// Chooses for `nest`; `layouts[i]` says how input `i` may be laid out.
///
/// # Errors
/// Why the machine cannot compute the body.
pub(super) fn choose<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    layouts: &[Layout],
    search: Search<'_>,
) -> Result<Choice<'c>, String> {
    let Ranked { mut found, compared } = candidates(machine, nest, layouts, search, 1)?;
    let Candidate { tiled, cost, rule, .. } = found.remove(0);
    let runner_up = found.first().map(|second| (second.tiled.describe(), second.cost.cycles));
    Ok(Choice { tiled, why: Why { cost, rule, compared }, runner_up })
}

/// The ways to do `nest`, the fastest first: of each instruction, axis for its lanes and
/// layout the `keep` best tiles.
///
/// # Errors
/// Why there is none.
pub(super) fn candidates<'c>(
    machine: Machine<'c>,
    nest: &Nest<'c>,
    layouts: &[Layout],
    search: Search<'_>,
    keep: usize,
) -> Result<Ranked<'c>, String> {
    let mut found: Vec<Candidate<'c>> = Vec::new();
    let mut compared = 0;
    // Lanes stop at a length that callers decide; tiles of instructions and of groups are whole.
    let fixed = !nest.has_lengths();
    let blocks = if search.apart || !fixed { Vec::new() } else { Block::all(machine, nest) };
    let share = block::shares(machine, &blocks);
    // Groups of lanes are compared with what they wait for; where they may share tiles, that is their cost.
    let alone = group_lanes(machine).filter(|_| !search.apart).map(|_| Alone::of(machine, nest));
    let alone = alone.as_ref();
    let (units, lacks) = units(machine, nest);
    let shorter = shorter(nest);
    let mut unreached = None;
    let mut memories: Vec<&'c str> = Vec::new();
    for memory in units.iter().filter_map(|mapped| register_memory(machine, mapped.name)) {
        if !memories.contains(&memory) {
            memories.push(memory);
        }
    }
    for memory in memories {
        let facts = Facts::of(machine, memory);
        if !fixed && facts.as_ref().is_some_and(|facts| facts.stage.is_some()) {
            unreached = Some(format!(
                "callers decide how long it is, and tiles wait on the way to @{memory}"
            ));
            continue;
        }
        let Some(facts) = facts else {
            unreached = Some(format!(
                "no move goes from the shared memory to @{memory} and back, nor do strided ones by another memory"
            ));
            continue;
        };
        let own = |mapped: &&Mapped<'c>| register_memory(machine, mapped.name) == Some(memory);
        let facts = &facts;
        let shorter = &shorter;
        let lanes =
            ByLanes { machine, nest, shorter, memory, facts, alone, share, layouts, search, keep };
        found.extend(lanes.of(units.iter().filter(own), &mut compared));
    }
    let matrices = if fixed { isa::choices(machine, nest, search) } else { Vec::new() };
    for mut matrix in matrices {
        let waiting = |cost| alone.map_or(cost, |alone| alone.cost(&matrix.tile, cost));
        let own = |cost| if share { waiting(cost) } else { cost };
        let (cost, with_waits) = (own(matrix.cost), waiting(matrix.cost).cycles);
        matrix.tile_cost = own(matrix.tile_cost);
        let rule = matrix.rule;
        compared += matrix.compared;
        let tiled = Tiled::Matrix(Box::new(matrix));
        found.push(Candidate { tiled, cost, rank: with_waits, rule });
    }
    let chosen = match share {
        true => block::choose(machine, nest, blocks, layouts, search.all_tiles),
        false => Vec::new(),
    };
    for chosen in chosen {
        let (cost, rule) = (chosen.cost, chosen.rule);
        compared += chosen.compared;
        let tiled = Tiled::Block(Box::new(chosen));
        found.push(Candidate { tiled, cost, rank: cost.cycles, rule });
    }
    if found.is_empty() {
        let nothing = || "nothing that the machine has fits its registers".to_owned();
        return Err(lacks.or(unreached).unwrap_or_else(nothing));
    }
    by_cycles(&mut found, |candidate| candidate.rank);
    Ok(Ranked { found, compared })
}

/// The instructions of lanes that do the body of a nest, and the lane unit that does; or why there
/// is no such unit.
fn units<'c>(machine: Machine<'c>, nest: &Nest<'c>) -> (Vec<Mapped<'c>>, Option<String>) {
    let mut units = instructions(machine, nest);
    match lane_unit(machine, nest, &math::expands) {
        Ok(unit) => {
            units.push(unit);
            (units, None)
        }
        Err(lacks) => (units, Some(lacks)),
    }
}

/// The part by which costs differ that count as the same.
pub(super) const EQUAL: f64 = 0.001;

/// Puts what costs least first; of what costs the same but for [`EQUAL`], what came first, for it is
/// the simpler.
pub(super) fn by_cycles<T>(ranked: &mut [T], cycles: impl Fn(&T) -> f64) {
    let least = ranked.iter().map(&cycles).fold(f64::INFINITY, f64::min);
    let equals = |one: &T| cycles(one) <= least * (1.0 + EQUAL);
    ranked.sort_by_key(|one| !equals(one));
    let equal = ranked.partition_point(equals);
    if let Some(rest) = ranked.get_mut(equal..) {
        rest.sort_by(|a, b| cycles(a).total_cmp(&cycles(b)));
    }
}

/// The register file an instruction or lane unit works in.
pub(super) fn register_memory<'c>(machine: Machine<'c>, name: &str) -> Option<&'c str> {
    if let Some(unit) = machine.lanes_unit(name) {
        return Some(unit.memory());
    }
    let instruction = machine.instruction(name)?;
    let is_register =
        |memory: &&&str| machine.memory(memory).is_some_and(|memory| memory.is_registers());
    instruction.operands().iter().rev().find(is_register).copied()
}

/// The register rTile: one size per axis.
pub(super) fn register_tile(nest: &Nest<'_>, choice: &Lanes<'_>) -> RTile {
    let mut sizes = vec![1; nest.axes.len()];
    if let Some(axis) = choice.shape.lanes_axis {
        let (lanes, extent) = (choice.mapped.lanes, nest.axes[axis].extent);
        sizes[axis] = (choice.shape.vectors * lanes).min(extent);
        // Lanes that fold take whole registers; what is left over is folded on its own.
        if nest.reduces(axis) && extent > lanes {
            sizes[axis] -= sizes[axis] % lanes;
        }
    }
    for &(axis, rows) in &choice.shape.rows {
        sizes[axis] = rows;
    }
    RTile { memory: choice.memory.to_owned(), sizes }
}
