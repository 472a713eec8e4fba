//! Runs as nests on the tensors of their graph, and the rows that they go along.

use std::collections::HashMap;

use weft_dialects::ir::{Linear, Op, Type, Val, attr};

use crate::length;
use crate::nest::{Access, Border, Nest, Start, read_kernel};
use crate::tile::groups::starts_empty;
use crate::tile::instruction::combine;
use crate::tile::views::{kernel_of, readers, root};

/// A run: its nest's accesses are to tensors of the graph.
#[derive(Clone)]
pub(super) struct Applied<'c> {
    pub run: Op<'c>,
    pub nest: Nest<'c>,
    /// Which input goes along the rows.
    pub input: usize,
}

impl<'c> Applied<'c> {
    /// The axis along a row, and the elements of one.
    pub fn row(&self) -> (usize, u64) {
        let access = &self.nest.inputs[self.input];
        row(access).expect("it was found by its row")
    }

    /// Type of the elements.
    pub fn elem(&self) -> Type<'c> {
        self.nest.outputs[0].elem()
    }

    /// The same on another tensor of the rows' elements.
    pub fn reading(&self, tensor: Val<'c>) -> Self {
        let mut other = self.clone();
        other.nest.inputs[self.input].tensor = tensor;
        other
    }

    /// The tensor that the run makes.
    pub fn result(&self) -> Val<'c> {
        self.run.result(0)
    }
}

/// The kernels that the runs of a graph apply.
pub(super) struct Graph<'k, 'c> {
    kernels: &'k [Op<'c>],
    nests: HashMap<String, Option<Nest<'c>>>,
}

impl<'k, 'c> Graph<'k, 'c> {
    /// A graph that applies some of these kernels.
    pub fn new(kernels: &'k [Op<'c>]) -> Self {
        Self { kernels, nests: HashMap::new() }
    }

    /// A run of one float result, all of it made from nothing, at plain places of its inputs.
    fn applied(&mut self, run: Op<'c>) -> Option<Applied<'c>> {
        if !run.is("tile.run") || run.results().len() != 1 || !starts_empty(run) {
            return None;
        }
        let name = kernel_of(run);
        let kernel = self.kernels.iter().find(|kernel| kernel.symbol() == name);
        if length::is_in_run(run, kernel.copied()) {
            return None;
        }
        let read = || read_kernel(*kernel?).ok();
        let nest = self.nests.entry(name.to_owned()).or_insert_with(read);
        let mut nest = nest.clone().filter(|nest| nest.captures.is_empty())?;
        let plain = nest.accesses().iter().all(|access| Border::of(access).is_none());
        let elem = nest.outputs[0].elem();
        let alike = nest.accesses().iter().all(|access| access.elem() == elem);
        if !plain || !alike || nest.casts_sums() || lowest(elem).is_none() {
            return None;
        }
        for access in nest.accesses_mut() {
            access.tensor = run.operand(access.argument().index());
        }
        Some(Applied { run, nest, input: 0 })
    }

    /// A run that folds the rows of its only input, each to an element in their order.
    pub fn fold(&mut self, run: Op<'c>) -> Option<Applied<'c>> {
        let fold = self.applied(run)?;
        let nest = &fold.nest;
        let (axis, _) = row(nest.inputs.first()?)?;
        let reduces = (0..nest.axes.len()).all(|other| nest.reduces(other) == (other == axis));
        let plain = reduces && in_rows(nest, &nest.inputs[0], &nest.outputs[0]);
        (plain && combine(nest).is_some()).then_some(fold)
    }

    /// The runs that read `value`, each by one input and no other way.
    pub fn readers(&mut self, value: Val<'c>) -> Vec<Applied<'c>> {
        let mut found: Vec<Applied<'c>> = Vec::new();
        for (run, _) in readers(value) {
            let Some(applied) = self.applied(run).filter(|_| found.iter().all(|f| f.run != run))
            else {
                continue;
            };
            let reads = |access: &Access<'c>| root(access.tensor) == value;
            let all: Vec<_> = applied.nest.reads().into_iter().filter(|a| reads(a)).collect();
            let input = applied.nest.inputs.iter().position(reads);
            if let (Some(input), [_]) = (input, &all[..]) {
                found.push(Applied { input, ..applied });
            }
        }
        found
    }
}

/// The axis that an access takes along its last dimension, and no other, and the elements of it.
pub(in crate::tile) fn row(access: &Access<'_>) -> Option<(usize, u64)> {
    let (last, others) = access.index.split_last()?;
    let axis = last.as_axis()?;
    let alone = others.iter().all(|index| index.coefficients[axis] == 0);
    alone.then(|| (axis, access.shape[access.shape.len() - 1]))
}

/// The rows of an access: a tensor without its last dimension.
pub(super) fn front<'c>(access: &Access<'c>) -> Access<'c> {
    let mut front = access.clone();
    front.shape.pop();
    front.index.pop();
    front
}

/// Returns whether `rows` has an element for each row that `access` goes along, in their order.
pub(in crate::tile) fn in_rows(nest: &Nest<'_>, access: &Access<'_>, rows: &Access<'_>) -> bool {
    let axes = nest.axes.len();
    let Some((axis, row)) = row(access) else { return false };
    let front = front(access);
    let whole = nest.axes[axis].extent == row;
    let points = |access: &Access<'_>| access.shape.iter().product::<u64>();
    whole && points(&front) == points(rows) && front.address(axes) == rows.address(axes)
}

/// Returns whether two accesses are to the same elements of equal tensors.
pub(in crate::tile) fn same_places(nest: &Nest<'_>, one: &Access<'_>, other: &Access<'_>) -> bool {
    let axes = nest.axes.len();
    let points = |access: &Access<'_>| access.shape.iter().product::<u64>();
    points(one) == points(other) && one.address(axes) == other.address(axes)
}

/// An access to a tensor of the parts of each row: `axis` counts them.
pub(super) fn of_parts<'c>(
    access: &Access<'c>,
    tensor: Val<'c>,
    axis: usize,
    count: u64,
) -> Access<'c> {
    let axes = access.index.first().map_or(axis + 1, |index| index.coefficients.len());
    let mut parts = Access { tensor, ..access.clone() };
    parts.shape.insert(0, count);
    parts.index.insert(0, Linear::axis(axes, axis));
    parts
}

/// The lowest number of a type that is no infinity; `None` for types in which parts of sums would
/// be rounded too much.
pub(in crate::tile) fn lowest(elem: Type<'_>) -> Option<f64> {
    match elem.to_string().as_str() {
        "f32" => Some(f32::MIN.into()),
        "f64" => Some(f64::MIN),
        _ => None,
    }
}

/// The operation that makes a value, if it has that name.
pub(in crate::tile) fn made_by<'c>(value: Val<'c>, name: &str) -> Option<Op<'c>> {
    value.def().filter(|op| op.is(name))
}

/// The value that a body yields.
pub(in crate::tile) fn yielded<'c>(nest: &Nest<'c>) -> Option<Val<'c>> {
    match nest.body.terminator()?.operands()[..] {
        [value] => Some(value),
        _ => None,
    }
}

/// The number with which the output of a nest begins.
pub(in crate::tile) fn begins_with(nest: &Nest<'_>) -> Option<f64> {
    let [Start::From { inputs, body }] = &nest.starts[..] else { return None };
    let value = body.terminator()?.operand(0).def().filter(|_| inputs.is_empty())?;
    value.attr("value").and_then(attr::float)
}

/// The value that a fold adds to, or compares with, the value so far.
pub(in crate::tile) fn folded<'c>(nest: &Nest<'c>) -> Option<Val<'c>> {
    let fold = combine(nest)?.op;
    let so_far = nest.body.arg(nest.inputs.len());
    fold.operands().into_iter().find(|value| *value != so_far)
}
