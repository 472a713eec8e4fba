//! `tile-peel`: the ragged end of an axis becomes a kernel of its own.
//!
//! ```text
//! C[m, n] += A[m, k] * B[k, n]      m = 65, an instruction of 16 x 16 x 16
//!   ->  C[m, n]      += A[m, k] * B[k, n]         m = 64, whole instructions
//!       C[64 + m, n] += A[64 + m, k] * B[k, n]    m = 1, by what is cheapest for it
//! ```
//!
//! Three ways handle an axis that an instruction's shape does not divide (ISA Mapper, section 5.2,
//! step 6): *pad*, the instruction computes zeros more; *mask*, lanes compute the whole nest and
//! the last of them less; *peel*, this pass. Pad and mask are compared where tiles are chosen
//! (`policy.rs`); this pass compares a nest with its two parts, each with the best that the machine
//! has for it and a handover between them. A part may be peeled again, along another axis.
//!
//! An axis stays whole where the output is not indexed by it alone, where what is read has a
//! border, and where a sum overwrites what is there or has an epilogue, so that there is nothing
//! to go on with.

use weft_dialects::device::Unit;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Builder, Context, Linear, Op, Val, attr, remark};
use weft_dialects::tile::build::RunOp;

use super::chooser::Chooser;
use super::construct_rtiles::read;
use super::isa::{self, Mapping, Search};
use super::layout::Layout;
use super::pack_weights::{constant_operands, kernels, known_inputs};
use super::policy::{self, Ranked, Tiled};
use crate::length;
use crate::nest::{self, Access, Border, Nest, Start};
use crate::remarks::chosen;

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-peel",
    description: "Compute ragged ends of axes apart where that is cheaper",
    options: &[
        PassOption {
            name: "ends",
            description: "which ends are computed apart: cheaper, all, none",
            fallback: "cheaper",
        },
        PassOption {
            name: "remarks",
            description: "say what was peeled, and what both ways cost",
            fallback: "false",
        },
    ],
    statistics: &[("peeled", "ends that became kernels")],
    run,
};

/// Which ends are computed apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ends {
    Cheaper,
    All,
    None,
}

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let machine = run.machine()?;
    let words = [("cheaper", Ends::Cheaper), ("all", Ends::All), ("none", Ends::None)];
    let (ends, remarks) = (run.word("ends", &words)?, run.flag("remarks")?);
    // Lanes end where a row does, whatever its length.
    let instructions = machine.instructions();
    if ends == Ends::None || !instructions.iter().any(isa::has_axes) {
        return Ok(());
    }
    let chooser = Chooser::of(run, machine);
    let shifted = length::shifted_kernels(run.module);
    let mut waiting = kernels(run.module);
    waiting.retain(|kernel| !shifted.contains(kernel.symbol()));
    while let Some(kernel) = waiting.pop() {
        let nest = read(kernel)?;
        let constants = constant_operands(run.module);
        let constant = known_inputs(&nest, constants.get(kernel.symbol()));
        let layouts: Vec<_> = constant.iter().map(|&constant| Layout::of(constant)).collect();
        let Some(peeled) = best(&chooser, &nest, &layouts, ends) else { continue };
        if remarks {
            remark(kernel, &format!("@{}: {}", kernel.symbol(), peeled.describe(&nest)));
        }
        waiting.extend(peel(run.context, run.module, kernel, &nest, &peeled));
        run.count("peeled", 1);
    }
    Ok(())
}

/// An axis in two parts, and what that costs.
struct Peeled {
    axis: usize,
    /// Points of the first part.
    at: u64,
    /// Predicted cycles of both parts, on one unit.
    cycles: f64,
    /// Those of the nest as it was.
    whole: f64,
}

impl Peeled {
    fn describe(&self, nest: &Nest<'_>) -> String {
        let Self { axis, at, cycles, whole } = self;
        let rest = nest.axes[*axis].extent - at;
        let what = format!("the last {rest} points of axis {axis} are computed apart");
        chosen(&what, *cycles, Some(("all at once", *whole)))
    }
}

/// The cut that costs least; `None` where the nest stays as it is.
fn best<'c>(
    chooser: &Chooser<'c>,
    nest: &Nest<'c>,
    layouts: &[Layout],
    ends: Ends,
) -> Option<Peeled> {
    let search = Search::default();
    let Ok(Ranked { found: ways, .. }) =
        policy::candidates(chooser.machine, nest, layouts, search, 1)
    else {
        // The choice of tiles reports the reason.
        return None;
    };
    let whole = ways[0].cost.cycles;
    // Cycles are those of one unit that does everything; the others wait for the second part.
    let handover = |unit: &Unit<'_>| (unit.handover_cycles() * (unit.count() - 1)) as f64;
    let handover = chooser.machine.units().first().map_or(0.0, handover);
    let mut found: Vec<(usize, u64, f64)> = Vec::new();
    for way in &ways {
        let Tiled::Matrix(matrix) = &way.tiled else { continue };
        for (axis, at) in cuts(nest, &matrix.mapping) {
            // Without what padding adds the instruction takes as much less, and no more.
            let padded = (at + matrix.mapping.quantum(axis)) as f64;
            let least = way.cost.cycles * nest.axes[axis].extent as f64 / padded + handover;
            match found.iter_mut().find(|(one, other, _)| (*one, *other) == (axis, at)) {
                Some(known) => known.2 = known.2.min(least),
                None => found.push((axis, at, least)),
            }
        }
    }
    found.sort_by(|one, other| one.2.total_cmp(&other.2));
    let mut best: Option<Peeled> = None;
    for (axis, at, least) in found {
        let most = match (&best, ends) {
            (Some(best), _) => best.cycles,
            (None, Ends::All) => f64::INFINITY,
            (None, _) => whole,
        };
        if ends != Ends::All && least >= most {
            continue;
        }
        let extent = nest.axes[axis].extent;
        let cost = |from: u64, count: u64| {
            let (part, _) = nest.part(axis, from, count);
            chooser.cycles(&part, layouts).unwrap_or(f64::INFINITY)
        };
        let mut cycles = handover + cost(0, at);
        if cycles < most {
            cycles += cost(at, extent - at);
        }
        if cycles < most {
            best = Some(Peeled { axis, at, cycles, whole });
        }
    }
    best
}

/// Axes that instructions do not divide, and where the last whole one ends.
fn cuts(nest: &Nest<'_>, mapping: &Mapping<'_>) -> Vec<(usize, u64)> {
    let axes = (0..nest.axes.len()).filter(|&axis| may_be_cut(nest, axis));
    axes.filter_map(|axis| {
        let (extent, quantum) = (nest.axes[axis].extent, mapping.quantum(axis));
        let rest = extent % quantum.max(1);
        (rest > 0 && extent > quantum).then_some((axis, extent - rest))
    })
    .collect()
}

/// Returns whether the points of an axis can be done in two kernels.
fn may_be_cut(nest: &Nest<'_>, axis: usize) -> bool {
    let bordered = |access: &&Access<'_>| access.uses(axis) && Border::of(access).is_some();
    if nest.axes[axis].length.is_some() || nest.accesses().iter().any(bordered) {
        return false;
    }
    if nest.reduces(axis) {
        let goes_on = !nest.starts.iter().any(|start| matches!(start, Start::Unread));
        return goes_on && nest.epilogue.is_none();
    }
    let alone = |index: &Linear| index.as_moved_axis() == Some(axis);
    nest.outputs.iter().all(|access| access.index.iter().any(alone))
}

/// Writes the two kernels and applies them one after the other wherever the one was.
fn peel<'c>(
    context: &'c Context,
    module: Op<'c>,
    kernel: Op<'c>,
    nest: &Nest<'c>,
    peeled: &Peeled,
) -> [Op<'c>; 2] {
    let Peeled { axis, at, .. } = *peeled;
    let name = kernel.symbol().to_owned();
    let rest = fresh(module, &format!("{name}_rest"));
    let extent = nest.axes[axis].extent;
    let parts = [nest.part(axis, 0, at), nest.part(axis, at, extent - at)];
    let made = parts.each_ref().map(|(part, index)| {
        let new = nest::emit_kernel(context, module, "peeled", part, index);
        (new, arguments(part))
    });
    let graphs = module.body(0).into_iter().flat_map(|block| block.ops());
    for graph in graphs.filter(|op| op.is("tile.graph")) {
        for run in graph.body(0).into_iter().flat_map(|block| block.ops()) {
            if run.is("tile.run") && run.attr("kernel").and_then(attr::symbol) == Some(&*name) {
                apply(context, run, [(&*name, &made[0].1), (&*rest, &made[1].1)]);
            }
        }
    }
    kernel.erase();
    let [(first, _), (last, _)] = made;
    first.set_attr("sym_name", attr::of_string(context, &name));
    last.set_attr("sym_name", attr::of_string(context, &rest));
    [first, last]
}

/// A name that no symbol of the module has.
pub(super) fn fresh(module: Op<'_>, stem: &str) -> String {
    let ops = module.body(0).map(|block| block.ops()).unwrap_or_default();
    let taken =
        |name: &str| ops.iter().any(|op| op.attr("sym_name").is_some() && op.symbol() == name);
    let numbered = (1..).map(|number| format!("{stem}_{number}"));
    std::iter::once(stem.to_owned()).chain(numbered).find(|name| !taken(name)).expect("endless")
}

/// The arguments of the kernel as it was, in the order of one that is written for `part`; the
/// outputs are the last.
fn arguments(part: &Nest<'_>) -> Vec<usize> {
    let read = part.reads().into_iter().map(|access| access.argument().index());
    let captured = part.captures.iter().map(|capture| capture.tensor.index());
    let written = part.outputs.iter().map(|access| access.argument().index());
    read.chain(captured).chain(written).collect()
}

/// Two runs instead of one: what the second begins with is what the first leaves.
fn apply<'c>(context: &'c Context, run: Op<'c>, parts: [(&str, &Vec<usize>); 2]) {
    let mut b = Builder::before(context, run).with_location(run.location());
    let results = run.results();
    let mut inits: Vec<Val<'c>> = {
        let operands = run.operands();
        operands[operands.len() - results.len()..].to_vec()
    };
    for (kernel, arguments) in parts {
        let inputs = &arguments[..arguments.len() - results.len()];
        let inputs: Vec<_> = inputs.iter().map(|&number| run.operand(number)).collect();
        let name = run.attr("name").and_then(attr::string).unwrap_or(kernel);
        let part = RunOp { name, kernel, inputs: &inputs, inits: &inits, at: &[] };
        inits = part.build(&mut b).results();
    }
    for (old, new) in results.into_iter().zip(inits) {
        old.replace_with(new);
    }
    run.erase();
}
