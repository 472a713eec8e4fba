//! The register tiles that a nest's lanes and the registers allow.

use weft_dialects::device::Machine;
use weft_dialects::ir::{Op, Val};

use super::instruction::{Mapped, asks_for, combine, lies_deep};
use super::lane_facts::Facts;
use super::neighbours::most_neighbours;
use super::shape::Shape;
use super::turn::turned;
use super::windows;
use crate::math;
use crate::nest::{Access, Border, Nest};

/// Axes along which a tile may have rows: channels, lines and columns of an image.
pub(super) const MOST_ROW_AXES: usize = 3;
/// Rows of a tile, over all their axes: more make code longer than the loops around it are worth.
pub(super) const MOST_ROWS: u64 = 32;
/// Registers side by side tried along the lanes.
const MOST_VECTORS: u64 = 8;
/// The same where nothing is reduced: enough to have loads under way.
const MOST_STREAMED: u64 = 4;
/// The same in accesses of several neighbours, where a lane makes such.
const MOST_ACCESSES: u64 = 2;

/// The axes that lanes may run along; `None` for one point at a time.
pub(super) fn lanes_axes(
    nest: &Nest<'_>,
    mapped: &Mapped<'_>,
    combines: bool,
) -> Vec<Option<usize>> {
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

/// Along what register tiles grow.
pub(super) struct Rows {
    /// Parallel axes without lanes.
    pub axes: Vec<usize>,
    /// Registers side by side along the lanes, at most.
    pub most_vectors: u64,
}

impl Rows {
    /// Of tiles with lanes along `lanes_axis`.
    pub fn of(nest: &Nest<'_>, facts: &Facts<'_>, lanes_axis: usize) -> Self {
        if !nest.has_reductions() {
            // Nothing is used twice, so rows would only make the code longer.
            let at_once = most_neighbours(nest, facts, lanes_axis);
            let most_vectors = MOST_STREAMED.max(MOST_ACCESSES * at_once);
            return Self { axes: Vec::new(), most_vectors };
        }
        let planes = planes(nest);
        let is_row =
            |&row: &usize| row != lanes_axis && !nest.reduces(row) && !planes.contains(&row);
        let mut axes: Vec<usize> = (0..nest.axes.len()).filter(is_row).collect();
        // Of tiles that cost the same the first is taken: one whose rows lie near each other.
        axes.sort_by_key(|&row| furthest(nest, row));
        Self { axes, most_vectors: MOST_VECTORS }
    }
}

/// Every register tile that fits the registers, with lanes along `lanes_axis` and rows along two
/// axes at most, none of which grows where others end: what construction is compared with.
pub(super) fn shapes(
    nest: &Nest<'_>,
    mapped: &Mapped<'_>,
    facts: &Facts<'_>,
    lanes_axis: Option<usize>,
) -> Vec<Shape> {
    let Some(axis) = lanes_axis else {
        return vec![Shape { lanes_axis: None, vectors: 1, rows: Vec::new(), grow: None }];
    };
    let words = words(nest, facts);
    let Rows { axes: row_axes, most_vectors } = Rows::of(nest, facts, axis);
    let mut found = Vec::new();
    if !nest.has_reductions() {
        let square = turned(nest, mapped, facts, axis);
        let few = |shape: &Shape| registers_used(nest, facts, shape) * words <= facts.registers;
        found.extend(square.filter(few));
    }
    for vectors in 1..=most_along(nest, axis, mapped.lanes).min(most_vectors) {
        let mut add = |mut rows: Vec<(usize, u64)>| {
            rows.sort_unstable();
            let shape = Shape { lanes_axis, vectors, rows, grow: None };
            let fits = registers_used(nest, facts, &shape) * words <= facts.registers
                && windows::fits(nest, &shape);
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

/// Registers side by side along the lanes that a nest has points for; where lanes fold, whole ones, for what is left
/// over is folded on its own.
pub(super) fn most_along(nest: &Nest<'_>, lanes_axis: usize, lanes: u64) -> u64 {
    let extent = nest.axes[lanes_axis].extent;
    if nest.reduces(lanes_axis) { (extent / lanes).max(1) } else { extent.div_ceil(lanes) }
}

/// Elements between neighbours along an axis, in the input where they are most.
fn furthest(nest: &Nest<'_>, axis: usize) -> i64 {
    let axes = nest.axes.len();
    nest.inputs.iter().map(|input| input.stride(axes, axis).abs()).max().unwrap_or(0)
}

/// The aligned numbers of rows along an axis, from two on (Roller, OSDI'22, section 4.1): those for
/// which no fewer make as many tiles.
pub(super) fn row_counts(extent: u64, most: u64) -> impl Iterator<Item = u64> {
    (2..=extent.min(most)).filter(move |&rows| {
        let tiles = extent.div_ceil(rows);
        rows == 2 || extent.div_ceil(rows - 1) > tiles || extent.is_multiple_of(rows)
    })
}

/// Returns whether a lane unit of the registers combines lanes the way the nest folds.
pub(super) fn combines_lanes<'c>(machine: Machine<'c>, memory: &str, nest: &Nest<'c>) -> bool {
    let Some(fold) = combine(nest) else { return false };
    let elem = nest.sum_type(0);
    machine
        .lanes_units()
        .iter()
        .any(|unit| unit.memory() == memory && unit.reduces(fold.op.name(), elem))
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
    if mapped.depth.is_some_and(|depth| !lies_deep(nest, axis, depth)) {
        return false;
    }
    // An operand that an instruction takes once for all lanes does not move along
    // them, and the others do.
    nest.inputs
        .iter()
        .zip(&mapped.scalar_inputs)
        .all(|(access, &scalar)| access.uses(axis) != scalar)
}

/// The registers that tiles with lanes along an axis take.
pub(super) struct Held<'n, 'c> {
    /// Inputs that move along the lanes.
    inputs: Vec<&'n Access<'c>>,
    outputs: u64,
    folds: bool,
    /// Inputs of the epilogue that move along the lanes.
    epilogue: u64,
    /// Numbers that the body takes in every round.
    constants: u64,
    /// Inputs that wait in registers while the body adds to its sums in several steps.
    waiting: u64,
}

impl<'n, 'c> Held<'n, 'c> {
    pub fn of(nest: &'n Nest<'c>, facts: &Facts<'c>, lanes_axis: usize) -> Self {
        let on_lanes = |access: &&Access<'c>| access.uses(lanes_axis);
        let epilogue = nest.epilogue.iter().flat_map(|epilogue| &epilogue.inputs);
        let mut held = Self {
            inputs: nest.inputs.iter().filter(on_lanes).collect(),
            outputs: nest.outputs.len() as u64,
            folds: nest.reduces(lanes_axis),
            epilogue: epilogue.filter(on_lanes).count() as u64,
            constants: 0,
            waiting: 0,
        };
        let unit = facts.unit.as_ref();
        let all = unit.map_or(0, |unit| {
            nest.body.ops().into_iter().map(|op| math::constants(unit, op)).sum()
        });
        held.waiting = waiting(nest, &held.inputs);
        // One register at a time there is always room for.
        let one = held.registers(1, 1, held.inputs.iter().map(|_| 1));
        held.constants = all.min((facts.registers / words(nest, facts)).saturating_sub(one));
        held
    }

    /// Number of inputs that move along the lanes.
    pub fn count(&self) -> usize {
        self.inputs.len()
    }

    /// By the number of an input that moves along the lanes, whether it moves along `axis`, too.
    pub fn moves(&self, axis: usize) -> Vec<bool> {
        self.inputs.iter().map(|access| access.uses(axis)).collect()
    }

    /// Accumulators, what waits beside each, and what their lanes are combined into; what several rows share of the inputs
    /// on lanes, and one register for each input that they do not share, or then one for each input
    /// of the epilogue; the body's constants; and two to work with. `own` are registers of each input
    /// for a tile of `vectors` by `rows` registers.
    pub fn registers(&self, vectors: u64, rows: u64, own: impl Iterator<Item = u64>) -> u64 {
        let all = vectors * rows;
        let held = own.map(|own| if own < all { own } else { 1 }).sum::<u64>();
        let combined = if self.folds { rows } else { 0 };
        all * (self.outputs + self.waiting)
            + combined
            + held.max(self.epilogue)
            + self.constants
            + 2
    }
}

/// How many inputs on lanes a body reads again in a later step of its sum: code for several rows does the
/// first step of all of them, and then the next.
fn waiting(nest: &Nest<'_>, on_lanes: &[&Access<'_>]) -> u64 {
    let (inputs, body) = (nest.inputs.len(), nest.body);
    let sums = |op: &Op<'_>, so_far: Val<'_>| op.operands().contains(&so_far);
    let mut so_far = body.arg(inputs);
    let mut steps = 0;
    for op in nest.body_ops() {
        if sums(&op, so_far) && op.results().len() == 1 {
            (so_far, steps) = (op.result(0), steps + 1);
        }
    }
    if steps < 2 || !nest.has_reductions() {
        return 0;
    }
    let again = |access: &&Access<'_>| on_lanes.iter().any(|own| std::ptr::eq(*own, *access));
    let numbered = nest.inputs.iter().enumerate().filter(|(_, access)| again(access));
    numbered.filter(|(at, _)| body.arg(*at).uses().len() > 1).count() as u64
}

/// The registers of a machine that one of the widest of a nest's outputs takes.
pub(super) fn words(nest: &Nest<'_>, facts: &Facts<'_>) -> u64 {
    let all = 0..nest.outputs.len();
    all.map(|output| facts.words(nest.sum_type(output))).max().unwrap_or(1)
}

/// The registers that a tile takes.
fn registers_used(nest: &Nest<'_>, facts: &Facts<'_>, shape: &Shape) -> u64 {
    let held = Held::of(nest, facts, shape.lanes_axis.expect("tiles of registers have lanes"));
    let own = held.inputs.iter().map(|access| {
        let along = shape.rows.iter().filter(|(axis, _)| access.uses(*axis));
        shape.vectors * along.map(|(_, rows)| rows).product::<u64>()
    });
    held.registers(shape.vectors, shape.registers() / shape.vectors, own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_those_that_make_fewer_tiles() {
        let counts = |extent| row_counts(extent, 32).collect::<Vec<_>>();
        assert_eq!(counts(7), [2, 3, 4, 7]);
        assert_eq!(counts(1), [0u64; 0]);
        assert!(counts(14).contains(&14) && !counts(14).contains(&9));
    }
}
