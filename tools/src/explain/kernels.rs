//! Facts of a kernel's code, read once for all its runs.

use std::collections::BTreeMap;

use weft_dialects::device::Machine;
use weft_dialects::ir::payload::Axis as Kind;
use weft_dialects::ir::{Op, ty};
use weft_dialects::tile;
use weft_passes::nest;
use weft_passes::task::{Moved, moved};
use weft_passes::tile::predicted;

use super::layers;
use super::report::{Axis, Compute, Layer, PatternNest, Predicted, Tile};

/// The facts about a kernel from its text.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    pub computes: Vec<Compute>,
    pub tasks: u64,
    pub operations: u64,
    /// One for each argument.
    pub moved: Vec<Moved>,
    /// The last result's element type, by name.
    pub elem: String,
    pub predicted: Option<Predicted>,
    pub pattern: Vec<PatternNest>,
    /// What its nests hand over to each other in local buffers.
    pub inside: Vec<Layer>,
}

/// The kernels of a module by name, each read when it is asked for.
pub(super) struct Kernels<'c> {
    machine: Machine<'c>,
    ops: BTreeMap<&'c str, Op<'c>>,
    read: BTreeMap<&'c str, Facts>,
}

impl<'c> Kernels<'c> {
    pub fn of(module: Op<'c>, machine: Machine<'c>) -> Self {
        let ops = module.body(0).map(|block| block.ops()).unwrap_or_default();
        let kernels = ops.into_iter().filter(|op| op.is("tile.kernel"));
        let ops = kernels.map(|op| (op.symbol(), op)).collect();
        Self { machine, ops, read: BTreeMap::new() }
    }

    /// Returns the facts about the kernel `name`: none for one that is a device.kernel already.
    pub fn facts(&mut self, name: &'c str) -> &Facts {
        let (machine, ops) = (self.machine, &self.ops);
        let read = || ops.get(name).map(|&op| Facts::of(machine, op)).unwrap_or_default();
        self.read.entry(name).or_insert_with(read)
    }
}

impl Facts {
    fn of<'c>(machine: Machine<'c>, op: Op<'c>) -> Self {
        let Some(kernel) = tile::Kernel::of(op) else { return Self::default() };
        let parts = nest::parts(op);
        let elem = kernel.outputs().last().and_then(|out| ty::elem(out.ty()));
        let mut pattern: Vec<_> = parts.iter().map(pattern).collect();
        pattern.sort();
        Self {
            computes: kernel.computes().iter().map(compute).collect(),
            tasks: kernel.tasks().unwrap_or(1),
            operations: parts.iter().map(nest::Part::count).sum(),
            moved: moved(op),
            elem: elem.map(|elem| elem.to_string()).unwrap_or_default(),
            predicted: predicted(machine, op).map(|found| Predicted {
                what: found.what,
                cycles: found.cost.cycles,
                terms: found.cost.terms().map(|(term, cycles)| (term.name(), cycles)).collect(),
                second: found.second.as_ref().map(|(what, _)| what.clone()),
                second_cycles: found.second.map(|(_, cycles)| cycles),
            }),
            pattern,
            inside: layers::inside(&kernel),
        }
    }
}

/// A loop nest with its tiles.
fn compute(compute: &tile::Compute<'_>) -> Compute {
    let axes = compute.nest().and_then(nest::part).map(|part| part.axes);
    let axis =
        |axis: nest::Loop| Axis { extent: axis.extent, reduces: axis.kind == Kind::Reduction };
    let tile = |tile: &tile::RTile| Tile { memory: tile.memory.clone(), sizes: tile.sizes.clone() };
    Compute {
        instruction: compute.instruction.to_owned(),
        axes: axes.unwrap_or_default().into_iter().map(axis).collect(),
        tiles: compute.tiles.iter().map(tile).collect(),
        because: compute.because.map(str::to_owned),
    }
}

fn pattern(part: &nest::Part<'_>) -> PatternNest {
    let kind = |axis: &nest::Loop| if axis.kind == Kind::Reduction { 'r' } else { 'p' };
    let mut operations = BTreeMap::new();
    for name in &part.operations {
        *operations.entry((*name).to_owned()).or_insert(0) += 1;
    }
    PatternNest { axes: part.axes.iter().map(kind).collect(), operations }
}
