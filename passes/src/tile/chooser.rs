//! Chooses instructions and tiles for nests on a machine, and caches the choices.
//!
//! Layouts, parts of reductions, packing, tiles and groups ask for the same nests one after the
//! other: an answer is kept by the form of the nest and all that was asked beside it.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use weft_dialects::device::Machine;
use weft_dialects::ir::pass::Run;

use super::block;
use super::instruction::Mapped;
use super::isa::Search;
use super::layout::Layout;
use super::policy::{self, Choice, Lanes, Tiled, register_memory};
use super::shape::Shape;
use super::way::way;
use super::why::Why;
use crate::nest::Nest;

/// Chooses instruction, lanes and tile of nests on a machine.
#[derive(Clone)]
pub(crate) struct Chooser<'c> {
    /// The machine.
    pub machine: Machine<'c>,
    kept: Rc<Choices>,
}

/// The choices on the machine of a module, or the reasons for none.
#[derive(Default)]
struct Choices(RefCell<FxHashMap<Vec<usize>, Result<Kept, String>>>);

/// A choice without the operations that it is about, which passes replace.
#[derive(Clone)]
struct Kept {
    tiled: KeptTile,
    why: Why,
    runner_up: Option<(String, f64)>,
}

#[derive(Clone)]
enum KeptTile {
    Lanes(KeptLanes),
    Block(Box<block::Kept>),
    /// What one unit does by an instruction of axes is chosen anew.
    Other,
}

#[derive(Clone)]
struct KeptLanes {
    instruction: String,
    issue_cycles: f64,
    latency_cycles: f64,
    lanes: u64,
    scalar_inputs: Vec<bool>,
    depth: Option<usize>,
    shape: Shape,
    packed: Vec<bool>,
}

impl<'c> Chooser<'c> {
    /// With what passes before have chosen on the machine of the module.
    pub fn of(run: &Run<'c>, machine: Machine<'c>) -> Self {
        Self { machine, kept: run.analyses.get() }
    }

    /// With nothing that was chosen before.
    pub fn new(machine: Machine<'c>) -> Self {
        Self { machine, kept: Rc::default() }
    }

    /// Chooses for `nest`; `layouts[i]` says how input `i` may be laid out.
    ///
    /// # Errors
    /// The reason that the machine cannot compute the body.
    pub(super) fn choose(
        &self,
        nest: &Nest<'c>,
        layouts: &[Layout],
        search: Search<'_>,
    ) -> Result<Choice<'c>, String> {
        let key = key(nest, layouts, search);
        let known = self.kept.0.borrow().get(&key).cloned();
        if let Some(choice) = known.transpose()?.and_then(|kept| self.again(kept, nest)) {
            return Ok(choice);
        }
        let chosen = policy::choose(self.machine, nest, layouts, search);
        let kept = match &chosen {
            Ok(choice) => Ok(Kept::of(choice)),
            Err(why) => Err(why.clone()),
        };
        self.kept.0.borrow_mut().insert(key, kept);
        chosen
    }

    /// Cycles that the best choice is predicted to take on one unit; `None` where there is none.
    pub(super) fn cycles(&self, nest: &Nest<'c>, layouts: &[Layout]) -> Option<f64> {
        let search = Search::default();
        if let Some(known) = self.kept.0.borrow().get(&key(nest, layouts, search)) {
            return known.as_ref().ok().map(|kept| kept.why.cost.cycles);
        }
        self.choose(nest, layouts, search).ok().map(|choice| choice.why.cost.cycles)
    }

    /// The same, where `constant` says of each input whether it may be laid out beforehand.
    pub fn cycles_where(&self, nest: &Nest<'c>, constant: &[bool]) -> Option<f64> {
        let layouts: Vec<_> = constant.iter().map(|&constant| Layout::of(constant)).collect();
        self.cycles(nest, &layouts)
    }

    /// The choice for a nest of the same form.
    fn again(&self, kept: Kept, nest: &Nest<'c>) -> Option<Choice<'c>> {
        let Kept { tiled, why, runner_up } = kept;
        let tiled = match tiled {
            KeptTile::Lanes(lanes) => Tiled::Lanes(Box::new(self.lanes(lanes)?)),
            KeptTile::Block(kept) => Tiled::Block(Box::new(kept.again(self.machine, nest)?)),
            KeptTile::Other => return None,
        };
        Some(Choice { tiled, why, runner_up })
    }

    fn lanes(&self, lanes: KeptLanes) -> Option<Lanes<'c>> {
        let unit = self.machine.lanes_unit(&lanes.instruction).map(|unit| unit.name);
        let instruction = || Some(self.machine.instruction(&lanes.instruction)?.name);
        let mapped = Mapped {
            name: unit.or_else(instruction)?,
            issue_cycles: lanes.issue_cycles,
            latency_cycles: lanes.latency_cycles,
            lanes: lanes.lanes,
            scalar_inputs: lanes.scalar_inputs,
            depth: lanes.depth,
        };
        let memory = register_memory(self.machine, mapped.name)?;
        let stage = way(self.machine, memory)?.stage;
        Some(Lanes { mapped, shape: lanes.shape, packed: lanes.packed, memory, stage })
    }
}

impl Kept {
    fn of(choice: &Choice<'_>) -> Self {
        let tiled = match &choice.tiled {
            Tiled::Lanes(lanes) => KeptTile::Lanes(KeptLanes {
                instruction: lanes.mapped.name.to_owned(),
                issue_cycles: lanes.mapped.issue_cycles,
                latency_cycles: lanes.mapped.latency_cycles,
                lanes: lanes.mapped.lanes,
                scalar_inputs: lanes.mapped.scalar_inputs.clone(),
                depth: lanes.mapped.depth,
                shape: lanes.shape.clone(),
                packed: lanes.packed.clone(),
            }),
            Tiled::Block(chosen) => KeptTile::Block(Box::new(block::Kept::of(chosen))),
            Tiled::Matrix(_) | Tiled::Moved(..) => KeptTile::Other,
        };
        Self { tiled, why: choice.why, runner_up: choice.runner_up.clone() }
    }
}

/// All that a choice depends on.
fn key(nest: &Nest<'_>, layouts: &[Layout], search: Search<'_>) -> Vec<usize> {
    let Search { strategy, model, all_tiles, spread, apart, near } = search;
    let mut words = nest.form();
    words.extend(layouts.iter().map(|&layout| layout as usize));
    words.extend([strategy as usize, model as usize, all_tiles.into(), apart.into()]);
    words.push(spread as usize);
    if let Some(near) = near {
        words.extend(near.memory.bytes().map(usize::from));
        words.push(near.taken as usize);
        words.extend(near.inside.iter().map(|&inside| usize::from(inside)));
    }
    words
}

#[cfg(test)]
mod tests {
    use weft_dialects::ir::{context, module_op, parse};

    use super::*;
    use crate::nest::read_kernel;

    /// Two products of the same form and one of other extents, under other names.
    fn text() -> String {
        let kernel = |name: &str, rows: u64| {
            format!(
                "tile.kernel @{name} {{
                 ^bb0(%a: tensor<{rows}x65xf32>, %b: tensor<65x70xf32>, %c: tensor<{rows}x70xf32>):
                   %r = linalg.generic {{indexing_maps = [
                       affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                       affine_map<(i, j, k) -> (i, j)>],
                     iterator_types = [\"parallel\", \"parallel\", \"reduction\"]}}
                     ins(%a, %b : tensor<{rows}x65xf32>, tensor<65x70xf32>)
                     outs(%c : tensor<{rows}x70xf32>) {{
                   ^bb0(%x: f32, %y: f32, %z: f32):
                     %p = arith.mulf %x, %y : f32
                     %s = arith.addf %z, %p : f32
                     linalg.yield %s : f32
                   }} -> tensor<{rows}x70xf32>
                   tile.yield %r : tensor<{rows}x70xf32>
                 }}"
            )
        };
        let machine = include_str!("../../../devices/x86-avx2.mlir");
        [machine, &kernel("one", 33), &kernel("same", 33), &kernel("other", 34)].concat()
    }

    #[test]
    fn answers_are_kept_by_the_form_of_a_nest() {
        let context = context();
        let module = parse(&context, &text()).expect("it parses");
        let machine = Machine::of(module_op(&module)).expect("a machine");
        let ops = module_op(&module).body(0).expect("a block").ops();
        let kernels = ops.into_iter().filter(|op| op.is("tile.kernel"));
        let nests: Vec<_> = kernels.map(|kernel| read_kernel(kernel).expect("a nest")).collect();
        let chooser = Chooser::new(machine);
        let layouts = [Layout::Fixed; 2];
        let ask = |nest, layouts: &[Layout]| {
            let choice = chooser.choose(nest, layouts, Search::default()).expect("a choice");
            let fresh = policy::choose(machine, nest, layouts, Search::default()).expect("one");
            assert_eq!(choice.tiled.describe(), fresh.tiled.describe());
            assert_eq!(choice.tiled.tile(nest), fresh.tiled.tile(nest));
            assert_eq!(choice.why, fresh.why);
            // Where several are kept, every tile is counted to its end.
            let several = policy::candidates(machine, nest, layouts, Search::default(), 3);
            let several = several.expect("some");
            assert_eq!(choice.tiled.describe(), several.found[0].tiled.describe());
            assert_eq!(choice.why.cost, several.found[0].cost);
            assert_eq!(choice.why.compared, several.compared);
            assert_eq!(chooser.cycles(nest, layouts), Some(fresh.why.cost.cycles));
            chooser.kept.0.borrow().len()
        };
        let kept = [&nests[0], &nests[1], &nests[2], &nests[0]].map(|nest| ask(nest, &layouts));
        assert_eq!(kept, [1, 1, 2, 2]);
        assert_eq!(ask(&nests[0], &[Layout::Fixed, Layout::Free]), 3);
    }
}
