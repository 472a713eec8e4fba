//! Chooses the register tile, the task tile and the instruction of a nest.
//!
//! An instruction with axes of its own has its tile from `isa/`. For lanes a tile is 1
//! point on every axis but three: the axis that the lanes run along, and up to two more
//! parallel axes, the rows (the two of a small image, for one). All axes and the sizes
//! that the registers allow are compared under the model of `cost.rs`.

use weft_dialects::device::{Machine, Unit};
use weft_dialects::ir::Op;
use weft_dialects::tile::RTile;

use super::block::{self, Chosen};
use super::cost::{Facts, Model, Shape, packing};
use super::instruction::{Mapped, asks_for, combine, instructions, lane_unit};
use super::isa::{self, Matrix, Search};
use super::local;
use super::turn::turned;
use super::way::Stage;
use crate::nest::{Access, Border, Nest};

/// Rows tried, over all their axes.
const MOST_ROWS: u64 = 32;
/// Registers side by side tried along the lanes.
const MOST_VECTORS: u64 = 8;
/// The same where nothing is reduced: enough to have loads under way.
const MOST_STREAMED: u64 = 4;

/// What was chosen for a nest.
#[derive(Clone)]
pub(super) struct Choice<'c> {
    /// Who computes the body, and its tile.
    pub tiled: Tiled<'c>,
    /// Predicted cycles on one core.
    pub cycles: f64,
    /// The next best of another instruction or axis, for the report.
    pub runner_up: Option<(String, f64)>,
}

/// One way to do a nest, before it is chosen.
#[derive(Clone)]
pub(super) struct Candidate<'c> {
    /// Who computes the body, and its tile.
    pub tiled: Tiled<'c>,
    /// Predicted cycles on one core.
    pub cycles: f64,
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

impl Tiled<'_> {
    /// Name of the instruction or lane unit.
    pub fn instruction(&self) -> &str {
        match self {
            Tiled::Lanes(lanes) => lanes.mapped.name,
            Tiled::Matrix(matrix) => matrix.mapping.instruction.name,
            Tiled::Block(chosen) => chosen.block.instruction().name,
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
        format!("@{}, {lanes}{rows}", self.mapped.name)
    }
}

/// What may still be done about the order in which a tensor's elements lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Nothing.
    Fixed,
    /// It is known at compile time: a new order costs nothing.
    Free,
    /// A new order costs a copy in every run.
    Paid,
}

impl Layout {
    /// Of a tensor that is constant, or not, before tiles are chosen.
    pub fn of(constant: bool) -> Self {
        if constant { Self::Free } else { Self::Paid }
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
            Tiled::Matrix(_) | Tiled::Block(_) => None,
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
            "{}: {:.0} cycles, footprint {footprint} bytes, traffic {:.0} bytes, waste {:.1} %",
            self.tiled.describe(),
            self.cycles,
            tiles * footprint as f64,
            100.0 * (1.0 - 1.0 / computed)
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
    expands: &dyn Fn(Op<'_>) -> bool,
    search: Search,
) -> Result<Choice<'c>, String> {
    let mut ranked = candidates(machine, nest, layouts, expands, search, 1)?;
    let best = ranked.remove(0);
    let runner_up = ranked.first().map(|second| (second.tiled.describe(), second.cycles));
    Ok(Choice { tiled: best.tiled, cycles: best.cycles, runner_up })
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
    expands: &dyn Fn(Op<'_>) -> bool,
    search: Search,
    keep: usize,
) -> Result<Vec<Candidate<'c>>, String> {
    let mut found: Vec<Candidate<'c>> = Vec::new();
    let blocks = if search.apart { Vec::new() } else { block::choose(machine, nest) };
    // Beside blocks the others count what they wait for, too.
    let alone = |tile: &RTile, cycles: f64| match blocks.is_empty() {
        true => cycles,
        false => block::alone(machine, nest, tile, cycles),
    };
    let mut units = instructions(machine, nest);
    let fallback = lane_unit(machine, nest, expands);
    if let Ok(unit) = &fallback {
        units.push(unit.clone());
    }
    let mut unreached = None;
    for mapped in units {
        let Some(memory) = register_memory(machine, mapped.name) else { continue };
        let Some(facts) = Facts::of(machine, memory) else {
            unreached = Some(format!(
                "no move goes from the shared memory to @{memory} and back, nor do strided ones by another memory"
            ));
            continue;
        };
        let combines = combines_lanes(machine, memory, nest);
        for lanes_axis in lanes_axes(nest, &mapped, combines) {
            let cached = facts.near.is_some();
            for (packed, price) in layings(machine, nest, lanes_axis, mapped.lanes, cached, layouts)
            {
                let model = Model::new(nest, &facts, &mapped, lanes_axis, &packed);
                let mut tiles: Vec<(Shape, f64)> = shapes(nest, &mapped, &facts, lanes_axis)
                    .into_iter()
                    .map(|shape| {
                        let cycles = model.cycles(&shape) + price;
                        (shape, cycles)
                    })
                    .collect();
                by_cycles(&mut tiles, |tile| tile.1);
                tiles.truncate(keep);
                found.extend(tiles.into_iter().map(|(shape, cycles)| {
                    let (mapped, packed) = (mapped.clone(), packed.clone());
                    let lanes = Lanes { mapped, shape, packed, memory, stage: facts.stage.clone() };
                    let cycles = alone(&register_tile(nest, &lanes), cycles);
                    Candidate { tiled: Tiled::Lanes(Box::new(lanes)), cycles }
                }));
            }
        }
    }
    for matrix in isa::choices(machine, nest, search).into_iter().flatten() {
        let cycles = alone(&matrix.tile, matrix.cycles);
        found.push(Candidate { tiled: Tiled::Matrix(Box::new(matrix)), cycles });
    }
    for chosen in blocks.iter().cloned() {
        let cycles = chosen.cycles;
        found.push(Candidate { tiled: Tiled::Block(Box::new(chosen)), cycles });
    }
    if found.is_empty() {
        let nothing = || "nothing that the machine has fits its registers".to_owned();
        return Err(fallback.err().or(unreached).unwrap_or_else(nothing));
    }
    by_cycles(&mut found, |candidate| candidate.cycles);
    Ok(found)
}

/// Puts what costs least first; of what costs the same but for a thousandth, what came
/// first, for it is the simpler.
fn by_cycles<T>(ranked: &mut [T], cycles: impl Fn(&T) -> f64) {
    let least = ranked.iter().map(&cycles).fold(f64::INFINITY, f64::min);
    ranked.sort_by_key(|one| cycles(one) > least * 1.001);
    let equal = ranked.partition_point(|one| cycles(one) <= least * 1.001);
    if let Some(rest) = ranked.get_mut(equal..) {
        rest.sort_by(|a, b| cycles(a).total_cmp(&cycles(b)));
    }
}

/// The register file an instruction or lane unit works in.
pub(super) fn register_memory<'c>(machine: Machine<'c>, name: &str) -> Option<&'c str> {
    if let Some(unit) = machine.lanes_unit(name) {
        return Some(unit.memory);
    }
    let instruction = machine.instruction(name)?;
    let is_register =
        |memory: &&&str| machine.memory(memory).is_some_and(|memory| memory.is_registers());
    instruction.operands.iter().rev().find(is_register).copied()
}

/// Which inputs lie side by side along the lanes after a new layout, and what that costs in
/// every run: with the free ones, and with those that are paid for.
fn layings(
    machine: Machine<'_>,
    nest: &Nest<'_>,
    lanes_axis: Option<usize>,
    lanes: u64,
    cached: bool,
    layouts: &[Layout],
) -> Vec<(Vec<bool>, f64)> {
    let with = |which: &dyn Fn(Layout) -> bool| -> Vec<bool> {
        let inputs = nest.inputs.iter().zip(layouts);
        inputs
            .map(|(access, &layout)| {
                which(layout) && lanes_axis.is_some_and(|axis| packable(nest, access, axis, lanes))
            })
            .collect()
    };
    let free = with(&|layout| layout == Layout::Free);
    // Without a cache there is nothing to be nearer to.
    let all = with(&|layout| layout == Layout::Free || layout == Layout::Paid && cached);
    let axes = nest.axes.len();
    let paid = (0..all.len()).filter(|&input| all[input] && !free[input]);
    let price = |input: usize| packing(machine, &nest.inputs[input], axes, lanes_axis.unwrap_or(0));
    let price = paid.map(price).sum::<f64>();
    if all == free { vec![(free, 0.0)] } else { vec![(free, 0.0), (all, price)] }
}

/// Whether a new layout makes an input lie side by side along the lanes: every dimension of
/// it is an axis of its own, panels divide the axis, and it does not lie so yet.
fn packable(nest: &Nest<'_>, access: &Access<'_>, axis: usize, lanes: u64) -> bool {
    let axes = nest.axes.len();
    let fits = if nest.reduces(axis) {
        access.stride(axes, axis) != 1
    } else {
        panel(nest.axes[axis].extent, lanes).is_some()
    };
    (0..axes).any(|axis| nest.reduces(axis))
        && access.uses(axis)
        && fits
        && access.index.iter().all(|index| index.as_axis().is_some())
}

/// How many points of an axis of `extent` lie together for registers of `lanes`: one
/// register, or where registers do not divide the axis a part of it that fills some almost.
pub(super) fn panel(extent: u64, lanes: u64) -> Option<u64> {
    /// Of one panel; more and it is no nearer than the tensor itself.
    const MOST_REGISTERS: u64 = 16;
    /// Lanes without points that are bearable, in percent.
    const MOST_WASTE: u64 = 4;
    if extent.is_multiple_of(lanes) {
        return Some(lanes).filter(|_| extent > 0);
    }
    let registers = |points: u64| points.div_ceil(lanes);
    let parts = 2..=extent / lanes;
    let panels = parts.filter(|&parts| extent.is_multiple_of(parts)).map(|parts| extent / parts);
    panels
        .filter(|&panel| registers(panel) <= MOST_REGISTERS)
        .filter(|&panel| registers(panel) * lanes * 100 <= panel * (100 + MOST_WASTE))
        .min_by_key(|&panel| (extent / panel) * registers(panel))
}

/// The axes that lanes may run along; `None` for one point at a time.
fn lanes_axes(nest: &Nest<'_>, mapped: &Mapped<'_>, combines: bool) -> Vec<Option<usize>> {
    let alone = mapped.scalar_inputs.is_empty() || mapped.lanes == 1;
    let planes = planes(nest);
    let along = (0..nest.axes.len())
        .filter(|axis| !planes.contains(axis))
        .filter(|&axis| (!nest.reduces(axis) || combines) && may_run_lanes(nest, mapped, axis));
    alone.then_some(None).into_iter().chain(along.map(Some)).collect()
}

/// Axes along which planes with a border are worked on one by one.
fn planes(nest: &Nest<'_>) -> Vec<usize> {
    let bordered = nest.inputs.iter().filter_map(|access| Some((access, Border::of(access)?)));
    bordered.flat_map(|(access, border)| border.plane_axes(access)).collect()
}

/// The register tiles that fit the registers, with lanes along `lanes_axis`.
fn shapes(
    nest: &Nest<'_>,
    mapped: &Mapped<'_>,
    facts: &Facts<'_>,
    lanes_axis: Option<usize>,
) -> Vec<Shape> {
    let Some(axis) = lanes_axis else {
        return vec![Shape { lanes_axis: None, vectors: 1, rows: Vec::new() }];
    };
    let words = nest.outputs.iter().map(|output| facts.words(output.elem())).max().unwrap_or(1);
    let reduces = (0..nest.axes.len()).any(|axis| nest.reduces(axis));
    let most = if reduces { MOST_VECTORS } else { MOST_STREAMED };
    let mut row_axes: Vec<usize> =
        (0..nest.axes.len()).filter(|&row| row != axis && !nest.reduces(row)).collect();
    let planes = planes(nest);
    row_axes.retain(|row| !planes.contains(row));
    let mut found = Vec::new();
    if !reduces {
        // Nothing is used twice, so rows would only make the code longer; unless they turn
        // into lanes when they are stored.
        row_axes.clear();
        let square = turned(nest, mapped, axis);
        found.extend(square.filter(|shape| registers_used(nest, shape) * words <= facts.registers));
    }
    for vectors in 1..=nest.axes[axis].extent.div_ceil(mapped.lanes).min(most) {
        let mut add = |rows: Vec<(usize, u64)>| {
            let shape = Shape { lanes_axis, vectors, rows };
            let fits = registers_used(nest, &shape) * words <= facts.registers;
            if fits {
                found.push(shape);
            }
            fits
        };
        add(Vec::new());
        for (position, &outer) in row_axes.iter().enumerate() {
            for rows in row_counts(nest.axes[outer].extent, MOST_ROWS) {
                if !add(vec![(outer, rows)]) {
                    break;
                }
                for &inner in &row_axes[position + 1..] {
                    for more in row_counts(nest.axes[inner].extent, MOST_ROWS / rows) {
                        if !add(vec![(outer, rows), (inner, more)]) {
                            break;
                        }
                    }
                }
            }
        }
    }
    found
}

/// How many rows are worth trying along an axis: those for which no fewer make as many
/// tiles.
fn row_counts(extent: u64, most: u64) -> impl Iterator<Item = u64> {
    (2..=extent.min(most)).filter(move |&rows| {
        let tiles = extent.div_ceil(rows);
        rows == 2 || extent.div_ceil(rows - 1) > tiles || extent.is_multiple_of(rows)
    })
}

/// Whether a lane unit of the registers combines lanes the way the nest folds.
fn combines_lanes<'c>(machine: Machine<'c>, memory: &str, nest: &Nest<'c>) -> bool {
    let Some(fold) = combine(nest) else { return false };
    let elem = nest.outputs[0].elem();
    machine
        .lanes_units()
        .iter()
        .any(|unit| unit.memory == memory && unit.reduces(fold.op.name(), elem))
}

fn may_run_lanes(nest: &Nest<'_>, mapped: &Mapped<'_>, axis: usize) -> bool {
    if mapped.lanes == 1 || nest.axes[axis].extent < 2 {
        return false;
    }
    if nest.reduces(axis) {
        // Lanes fold apart and are combined at the end; the last register must be full.
        let whole = nest.axes[axis].extent >= mapped.lanes;
        if combine(nest).is_none() || asks_for(nest, axis) || !whole {
            return false;
        }
    }
    // A copy runs along one dimension, forwards.
    let copies = |access: &&Access<'_>| {
        let along: Vec<i64> =
            access.index.iter().map(|index| index.coefficients[axis]).filter(|&c| c != 0).collect();
        along.len() <= 1 && along.iter().all(|&step| step > 0)
    };
    if !nest.accesses().iter().all(copies) {
        return false;
    }
    // An operand that an instruction takes once for all lanes does not move along
    // them, and the others do.
    nest.inputs
        .iter()
        .zip(&mapped.scalar_inputs)
        .all(|(access, &scalar)| access.uses(axis) != scalar)
}

/// Accumulators; what several rows share of the inputs on lanes, but for the widest of
/// several, which passes by; and two to work with.
fn registers_used(nest: &Nest<'_>, shape: &Shape) -> u64 {
    let on_lanes = |access: &&Access<'_>| shape.lanes_axis.is_some_and(|axis| access.uses(axis));
    let held = nest.inputs.iter().filter(on_lanes).map(|access| {
        let along = shape.rows.iter().filter(|(axis, _)| access.uses(*axis));
        let own = shape.vectors * along.map(|(_, rows)| rows).product::<u64>();
        if own < shape.registers() { own } else { 1 }
    });
    let mut held: Vec<u64> = held.collect();
    held.sort_unstable();
    if held.len() > 1 {
        held.pop();
    }
    shape.registers() * nest.outputs.len() as u64 + held.iter().sum::<u64>() + 2
}

/// The register rTile: one size per axis.
pub(super) fn register_tile(nest: &Nest<'_>, choice: &Lanes<'_>) -> RTile {
    let mut sizes = vec![1; nest.axes.len()];
    if let Some(axis) = choice.shape.lanes_axis {
        sizes[axis] = (choice.shape.vectors * choice.mapped.lanes).min(nest.axes[axis].extent);
        // A whole number of registers, unless the axis ends before.
        if sizes[axis] > choice.mapped.lanes {
            sizes[axis] -= sizes[axis] % choice.mapped.lanes;
        }
    }
    for &(axis, rows) in &choice.shape.rows {
        sizes[axis] = rows;
    }
    RTile { memory: choice.memory.to_owned(), sizes }
}

/// The rTile that waits between the shared memory and the registers: the register tile
/// and whole reductions, cut until they fit, then grown inside `task` as far as they fit.
///
/// # Errors
/// What does not fit.
pub(super) fn stage_tile(
    nest: &Nest<'_>,
    registers: &RTile,
    task: &RTile,
    stage: &Stage<'_>,
) -> Result<RTile, String> {
    let room = stage.memory.capacity_bytes;
    let name = stage.memory.name;
    let fits = |sizes: &[u64]| local::bytes(nest, sizes) <= room;
    let mut sizes = registers.sizes.clone();
    for (axis, size) in sizes.iter_mut().enumerate().filter(|(axis, _)| nest.reduces(*axis)) {
        *size = nest.axes[axis].extent;
    }
    // The register tile itself may touch more than there is room for.
    while !fits(&sizes) {
        let reductions = (0..sizes.len()).filter(|&axis| nest.reduces(axis));
        let widest = reductions.max_by_key(|&axis| sizes[axis]).filter(|&axis| sizes[axis] > 1);
        let rows =
            || (0..sizes.len()).max_by_key(|&axis| sizes[axis]).filter(|&axis| sizes[axis] > 1);
        let Some(axis) = widest.or_else(rows) else {
            let (bytes, whole) = (local::bytes(nest, &sizes), local::captured_bytes(nest));
            let tables = if whole > 0 {
                format!(", {whole} of them read at computed addresses")
            } else {
                String::new()
            };
            return Err(format!(
                "one point needs {bytes} bytes of @{name}{tables}; it holds {room}"
            ));
        };
        sizes[axis] = sizes[axis].div_ceil(2);
    }
    let mut growing: Vec<usize> = (0..sizes.len()).filter(|&axis| !nest.reduces(axis)).collect();
    while let Some(position) = growing.iter().rposition(|&axis| sizes[axis] < task.sizes[axis]) {
        let axis = growing[position];
        let mut wider = sizes.clone();
        wider[axis] = (sizes[axis] * 2).min(task.sizes[axis]);
        if fits(&wider) {
            sizes = wider;
        } else {
            growing.remove(position);
        }
    }
    Ok(RTile { memory: name.to_owned(), sizes })
}

/// The rTask's rTile: whole register tiles, cut so that there are a few rTasks
/// for every unit where the work is worth it. Axes are cut in the order in which
/// they are looped over, so that neighbours share what they load.
pub(super) fn task_tile(
    nest: &Nest<'_>,
    registers: &RTile,
    unit: &Unit<'_>,
    cycles: f64,
    memory: &str,
) -> RTile {
    // Less than this and starting an rTask costs more than it brings; more, and units
    // cannot even out.
    let least = unit.handover_cycles as f64 * 0.4;
    const TASKS_PER_UNIT: u64 = 8;
    let worth = (cycles / least).floor().max(1.0) as u64;
    let mut wanted = worth.min(unit.count * TASKS_PER_UNIT).max(1);
    let mut sizes = nest.extents();
    for axis in loop_order(nest, &registers.sizes) {
        if nest.reduces(axis) || wanted == 1 {
            continue;
        }
        let tile = registers.sizes[axis].max(1);
        let tiles = nest.axes[axis].extent.div_ceil(tile);
        let pieces = tiles.min(wanted);
        sizes[axis] = (tiles.div_ceil(pieces) * tile).min(nest.axes[axis].extent);
        wanted = wanted.div_ceil(pieces);
    }
    RTile { memory: memory.to_owned(), sizes }
}

/// Parallel axes from the outermost loop in, for tiles of these sizes.
///
/// What a loop does not move stays near through all its rounds, so the innermost loops are
/// those that leave the most bytes of a tile's inputs where they are. Among equals, where
/// nothing is used twice, and where more is written than read, the order of the axes stays.
pub fn loop_order(nest: &Nest<'_>, tile: &[u64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis)).collect();
    let elements = |accesses: &[Access<'_>]| {
        let sizes = accesses.iter().map(|access| access.shape.iter().product::<u64>());
        sizes.max().unwrap_or(0)
    };
    let reads_more = elements(&nest.inputs) >= elements(&nest.outputs);
    if order.len() < nest.axes.len() && reads_more {
        let mut sizes = tile.to_vec();
        for (axis, size) in sizes.iter_mut().enumerate().filter(|(axis, _)| nest.reduces(*axis)) {
            *size = nest.axes[axis].extent;
        }
        let stays = |axis: usize| {
            let still = nest.inputs.iter().filter(|access| !access.uses(axis));
            still.map(|access| footprint(access, &sizes)).sum::<u64>()
        };
        order.sort_by_key(|&axis| stays(axis));
    }
    order
}

/// Bytes of a tensor that a tile of these sizes touches.
pub(super) fn footprint(access: &Access<'_>, sizes: &[u64]) -> u64 {
    let reach = access.index.iter().zip(&access.shape).map(|(index, &dim)| {
        let (low, high) = index.range(sizes);
        (high.abs_diff(low) + 1).min(dim)
    });
    reach.product::<u64>() * weft_dialects::ir::ty::byte_size(access.elem()).unwrap_or(8)
}
