//! `tile-split-reductions`: long sums of few results are shared out.
//!
//! ```text
//! y[i] = b[i] + sum over k of x[i, k]        4 rows, k = 65536, 16 units
//!   ->  p[s, i] = sum over k of x[i, 4096 s + k]         64 rTasks instead of 4
//!       y[i]    = b[i] + sum over s of p[s, i]
//! ```
//!
//! Split-K: results that are too few to be an rTask for every unit are each computed in parts,
//! side by side, and a second kernel folds those, with the start and the epilogue of the first.
//! Only for folds that the lane unit may do in another order (its `reductions`), and where the
//! time of both kernels and a handover is less than that of the busiest unit before. Products by
//! matrix instructions are such folds, too (split-K): their parts keep the instruction, and lanes add them.

use weft_dialects::device::{Machine, Memory, Scope, Unit};
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{
    Builder, Context, Linear, Module, Op, Type, Val, attr, empty_module, module_op, remark,
};
use weft_dialects::tile::RTile;
use weft_dialects::tile::build::{self, RunOp};

use super::chooser::Chooser;
use super::construct_rtiles::read;
use super::far::bytes;
use super::instruction::{combine, identity};
use super::isa::{self, Search};
use super::lane_facts::group_lanes;
use super::layout::Layout;
use super::pack_weights::{constant_operands, kernels, known_inputs};
use super::partial::{parts, sum};
use super::passing::Passing;
use super::peel::fresh;
use super::policy::Tiled;
use super::split_rows::CUT;
use super::views::view;
use super::way::local_buffer;
use crate::length;
use crate::nest::{self, Access, Border, Nest};
use crate::remarks::{Refused, chosen};

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-split-reductions",
    description: "Share long reductions of few results out among the units",
    options: &[
        PassOption { name: "split", description: "whether to do it", fallback: "true" },
        PassOption {
            name: "remarks",
            description: "say what was split, and what both ways cost",
            fallback: "false",
        },
    ],
    statistics: &[("split", "kernels that became parts and their sum")],
    run,
};

/// Numbers of parts that are compared, from the least on.
const TRIED: usize = 6;

/// The same where groups share tiles, of which many are compared each time.
const TRIED_SHARED: usize = 3;

/// The part of what groups that share tiles take whole that parts may take: these are a tensor more, which is stored
/// when nothing is computed any longer.
const WORTH: f64 = 0.85;

/// Waves of blocks that groups share from which on parts are not tried: the last wave leaves few units idle.
const MOST_WAVES: u64 = 2;

/// Parts for each unit that are tried at most: more only make the second kernel longer.
pub(super) const MOST_PARTS: u64 = 4;

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let (split, remarks) = (run.flag("split")?, run.flag("remarks")?);
    if !split {
        return Ok(());
    }
    let machine = run.machine()?;
    let Some(unit) = machine.units().into_iter().next().filter(|unit| unit.count() > 1) else {
        return Ok(());
    };
    let constants = constant_operands(run.module);
    let chooser = Chooser::of(run, machine);
    let shifted = length::shifted_kernels(run.module);
    for kernel in kernels(run.module) {
        if kernel.attr(CUT).is_some() || shifted.contains(kernel.symbol()) {
            continue;
        }
        let nest = read(kernel)?;
        let constant = known_inputs(&nest, constants.get(kernel.symbol()));
        let layouts: Vec<_> = constant.iter().map(|&constant| Layout::of(constant)).collect();
        let Some(found) = Split::best(run.context, &chooser, &unit, &nest, &layouts) else {
            continue;
        };
        if remarks {
            let told = match &found {
                Ok(split) => split.describe(),
                Err(why) => format!("its reduction is done whole: {why}"),
            };
            remark(kernel, &format!("@{}: {told}", kernel.symbol()));
        }
        let Ok(split) = found else { continue };
        split.write(run.context, run.module, kernel);
        run.count("split", 1);
    }
    Ok(())
}

/// A nest as parts and their sum. The bodies lie in a module of their own.
struct Split<'c> {
    parts: Nest<'c>,
    index: Vec<Linear>,
    sum: Nest<'c>,
    /// The number of parts, and the axis that is cut.
    count: u64,
    axis: usize,
    /// Predicted cycles of the busiest unit.
    cycles: f64,
    /// In how many parts it takes the next least, and the cycles then; one part is the whole.
    second: (u64, f64),
    /// Holds the bodies.
    _scratch: Module<'c>,
}

impl<'c> Split<'c> {
    /// The number of parts that takes least; `None` where nothing is folded, or the order of
    /// folding matters.
    fn best(
        context: &'c Context,
        chooser: &Chooser<'c>,
        unit: &Unit<'c>,
        nest: &Nest<'c>,
        layouts: &[Layout],
    ) -> Option<Result<Self, Refused>> {
        let reductions = longest_first(chooser.machine, nest)?;
        let time = |nest: &Nest<'c>, layouts: &[Layout]| time(chooser, unit, nest, layouts);
        let Time { cycles: whole, pieces, shares, .. } = time(nest, layouts)?;
        // Other sums have enough to do for everybody, or are not worth a second kernel.
        // A unit goes on with one of its groups of lanes while others wait; smaller tiles may give each one. Groups
        // that share a tile have a unit.
        let lanes = group_lanes(chooser.machine).filter(|_| !shares);
        let (groups, pieces) = match lanes {
            Some(lanes) => (unit.groups(), pieces.max(points(nest) / lanes)),
            None => (1, pieces),
        };
        // Blocks that groups share may be small only to be many.
        let enough = unit.count() * groups * if shares { MOST_WAVES } else { 1 };
        if pieces >= enough {
            let why = Refused::by("units", "every unit has a piece");
            let mut values = format!("{pieces} pieces for {} @{}", unit.count(), unit.name);
            if groups > 1 {
                values += &format!(" with {groups} groups each");
            }
            return Some(Err(why.met(values)));
        }
        let handover = another_kernel(unit);
        if whole <= handover as f64 {
            let why = Refused::by("handover", "a second kernel takes more");
            let values = format!("{whole:.0} cycles, {handover} for a handover");
            return Some(Err(why.met(values)));
        }
        let least = unit.count().div_ceil(pieces).max(2);
        // Any axis of a product may be cut, of others the longest.
        let axes = if shares { &reductions[..] } else { &reductions[..1] };
        let cuts = (least..=MOST_PARTS * unit.count()).filter_map(|count| {
            let cut = |&&axis: &&usize| nest.axes[axis].extent.is_multiple_of(count);
            Some((*axes.iter().find(cut)?, count))
        });
        let mut best: Option<Self> = None;
        let mut second = (1, whole);
        for (axis, count) in cuts.take(if shares { TRIED_SHARED } else { TRIED }) {
            let scratch = empty_module(context);
            let (parts, index) = parts(context, module_op(&scratch), nest, axis, count)?;
            let sum = sum(context, module_op(&scratch), nest, count)?;
            let fixed = vec![Layout::Fixed; sum.inputs.len()];
            let both = time(&parts, layouts)?.cycles + time(&sum, &fixed)?.cycles;
            let cycles = both + handover as f64;
            let least = best.as_ref().map_or((1, whole), |best| (best.count, best.cycles));
            let most = if shares && best.is_none() { WORTH * whole } else { least.1 };
            if cycles < most {
                let _scratch = scratch;
                second = least;
                best = Some(Self { parts, index, sum, count, axis, cycles, second, _scratch });
            } else if cycles < second.1 || second.0 == least.0 {
                second = (count, cycles);
            }
        }
        let why = || {
            let why = Refused::by("parts", "no number of equal parts takes less");
            let least = match second {
                (1, _) => {
                    let extent = nest.axes[reductions[0]].extent;
                    format!("{extent} points have none of {least} and more")
                }
                (count, cycles) => format!("{cycles:.0} cycles in {count}"),
            };
            why.met(format!("{least}, {whole:.0} cycles whole"))
        };
        Some(best.map(|best| Self { second, ..best }).ok_or_else(why))
    }

    fn describe(&self) -> String {
        let second = match self.second.0 {
            1 => "whole".to_owned(),
            count => format!("in {count} parts"),
        };
        let what = format!("axis {} is reduced in {} parts side by side", self.axis, self.count);
        chosen(&what, self.cycles, Some((&second, self.second.1)))
    }

    /// Writes both kernels and applies them wherever the one was.
    fn write(&self, context: &'c Context, module: Op<'c>, kernel: Op<'c>) {
        let name = kernel.symbol().to_owned();
        let first = fresh(module, &format!("{name}_parts"));
        let parts = nest::emit_kernel(context, module, &first, &self.parts, &self.index);
        let axes = self.sum.axes.len();
        let same: Vec<_> = (0..axes).map(|axis| Linear::axis(axes, axis)).collect();
        let sum = nest::emit_kernel(context, module, "sum", &self.sum, &same);
        let graphs = module.body(0).into_iter().flat_map(|block| block.ops());
        for graph in graphs.filter(|op| op.is("tile.graph")) {
            for run in graph.body(0).into_iter().flat_map(|block| block.ops()) {
                if run.is("tile.run") && run.attr("kernel").and_then(attr::symbol) == Some(&*name) {
                    self.apply(context, module, run, parts, (sum, &name));
                }
            }
        }
        kernel.erase();
        sum.set_attr("sym_name", attr::of_string(context, &name));
    }

    fn apply(
        &self,
        context: &'c Context,
        module: Op<'c>,
        run: Op<'c>,
        parts: Op<'c>,
        (sum, name): (Op<'c>, &str),
    ) {
        let mut b = Builder::before(context, run).with_location(run.location());
        let memory = Machine::of(module).and_then(|machine| machine.shared());
        let memory = memory.map_or("dram", |memory| memory.name);
        let types = |kernel: Op<'c>| -> Vec<Type<'c>> {
            kernel.body(0).expect("it was just written").args().iter().map(|arg| arg.ty()).collect()
        };
        let given = |access: &&Access<'c>| run.operand(access.argument().index());
        let inputs: Vec<_> = self.parts.reads().iter().map(given).collect();
        let own = types(parts);
        let place = own[own.len() - 1];
        let place = build::empty(&mut b, memory, place);
        let parts = apply(&mut b, run, parts.symbol(), &own, &[&inputs[..], &[place]]);
        // The first input of the sum is what the parts wrote.
        let others: Vec<_> = self.sum.reads()[1..].iter().map(given).collect();
        let init = run.operand(self.sum.outputs[0].argument().index());
        let operands = [&[parts][..], &others, &[init]];
        let result = apply(&mut b, run, name, &types(sum), &operands);
        run.result(0).replace_with(result);
        run.erase();
    }
}

/// Applies a kernel to operands seen in the types that it takes; the last is overwritten.
pub(super) fn apply<'c>(
    b: &mut Builder<'c>,
    run: Op<'c>,
    kernel: &str,
    types: &[Type<'c>],
    operands: &[&[Val<'c>]],
) -> Val<'c> {
    let operands = operands.concat();
    let seen: Vec<_> =
        operands.into_iter().zip(types).map(|(value, &ty)| view(b, value, ty)).collect();
    let (inputs, inits) = seen.split_at(seen.len() - 1);
    let name = run.attr("name").and_then(attr::string).unwrap_or(kernel);
    RunOp { name, kernel, inputs, inits, at: &[] }.build(b).result(0)
}

/// The reductions of a nest that may be folded in parts, the longest first; at least one.
fn longest_first<'c>(machine: Machine<'c>, nest: &Nest<'c>) -> Option<Vec<usize>> {
    let fold = combine(nest)?;
    let elem = nest.sum_type(0);
    identity(fold.op.name(), elem)?;
    let bordered = nest.accesses().iter().any(|access| Border::of(access).is_some());
    let reorders = machine.lanes_units().iter().any(|unit| unit.reduces(fold.op.name(), elem));
    let fixed = |axis: &usize| nest.axes[*axis].length.is_none();
    let mut axes: Vec<_> = (0..nest.axes.len()).filter(|&axis| nest.reduces(axis)).collect();
    if bordered || !reorders || !nest.captures.is_empty() || !axes.iter().all(fixed) {
        return None;
    }

    axes.sort_by_key(|&axis| std::cmp::Reverse(nest.axes[axis].extent));
    (!axes.is_empty()).then_some(axes)
}

/// Cycles that another kernel takes before it begins: a handover, or a launch where kernels are launches.
pub(super) fn another_kernel(unit: &Unit<'_>) -> u64 {
    unit.handover_cycles().max(unit.launch_cycles().unwrap_or(0))
}

/// What a nest takes on all units.
pub(super) struct Time {
    /// Cycles of the unit that has most to do.
    pub cycles: f64,
    /// Tiles to share, and one of them.
    pub pieces: u64,
    pub tile: RTile,
    /// Whether groups of a unit share one.
    pub shares: bool,
}

/// What a nest takes on all units, by the fastest choice for it.
pub(super) fn time<'c>(
    chooser: &Chooser<'c>,
    unit: &Unit<'c>,
    nest: &Nest<'c>,
    layouts: &[Layout],
) -> Option<Time> {
    let choice = chooser.choose(nest, layouts, Search::default()).ok()?;
    let units = unit.count().max(1);
    let (tile, shares) = match &choice.tiled {
        Tiled::Block(chosen) => {
            let [tile, _] = chosen.block.rtiles(nest, &chosen.ways);
            (tile, true)
        }
        other => (other.tile(nest), false),
    };
    let parallel = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis));
    let pieces: u64 =
        parallel.map(|axis| nest.axes[axis].extent.div_ceil(tile.sizes[axis].max(1))).product();
    let cycles = choice.why.cost.cycles;
    let cycles = match &choice.tiled {
        Tiled::Matrix(matrix) if local_buffer(chooser.machine).is_some() => matrix.elapsed,
        // A block's are those of all rounds, times units.
        _ if shares => cycles / units as f64,
        _ => cycles * pieces.div_ceil(units).max(1) as f64 / pieces.max(1) as f64,
    };
    let cycles = cycles.max(moved(chooser.machine, nest, &choice.tiled));
    Some(Time { cycles, pieces, tile, shares })
}

/// Results of a nest.
fn points(nest: &Nest<'_>) -> u64 {
    let parallel = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis));
    parallel.map(|axis| nest.axes[axis].extent).product()
}

/// Cycles in which all units together bring a nest's tensors and take its results away, where lanes have them
/// from a memory that all share: at the rate of the fastest one that keeps them; or where they are staged on
/// the way: at the rate of the memory that all share.
fn moved(machine: Machine<'_>, nest: &Nest<'_>, tiled: &Tiled<'_>) -> f64 {
    let once = || -> u64 { nest.accesses().into_iter().map(bytes).sum() };
    if group_lanes(machine).is_some() {
        let moved = once();
        let keeps = |memory: &Memory<'_>| {
            memory.scope() == Scope::Device && memory.capacity_bytes() >= moved
        };
        let memories = machine.memories().into_iter().filter(keeps);
        let rate = memories.filter_map(|memory| memory.bytes_per_cycle()).max();
        return rate.map_or(0.0, |rate| moved as f64 / rate as f64);
    }
    let passing = Passing::of(machine);
    match tiled {
        Tiled::Matrix(matrix) => {
            let sizes = (&nest.extents()[..], &matrix.tile.sizes[..]);
            passing.cycles(
                isa::shared_traffic(machine, nest, &matrix.mapping, sizes, &passing).passing,
            )
        }
        Tiled::Lanes(lanes) if lanes.stage.is_some() => passing.cycles(once()),
        Tiled::Lanes(_) | Tiled::Block(_) | Tiled::Moved(..) => 0.0,
    }
}
