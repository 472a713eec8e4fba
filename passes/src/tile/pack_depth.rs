//! `tile-pack-depth`: what lanes add up of a reduction lies side by side in each lane.
//!
//! ```text
//! C[i, j] += A[i, k] * B[k, j]    bytes; an instruction adds 4 products to each of 16 lanes
//!   ->  P[jo, ko, ji, ki] = B[ko * 4 + ki, jo * 16 + ji]      once, when B is constant
//!       C[i, jo, ji] += A[i, ko, ki] * P[jo, ko, ji, ki]      ki is the depth
//! ```
//!
//! What is for all lanes has neighbours of the reduction side by side already. The pass compares
//! the nest as it is with this one by what both are predicted to take, with the copy where `B` is
//! no constant.

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Block, Context, Op, attr, remark};

use super::chooser::Chooser;
use super::construct_rtiles::read;
use super::cost::packing;
use super::depth::Depth;
use super::instruction::bindings;
use super::layout::{self, Layout};
use super::pack_weights::{
    constant_operands, emit_packer, kernels, known_inputs, rewire, takes_panels,
};
use crate::length;
use crate::nest::{self, Access, Border, Loop, Nest, index_axis};
use crate::remarks::chosen;

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-pack-depth",
    description: "Lay operands out for lanes that add up neighbours of a reduction",
    options: &[
        PassOption {
            name: "depth",
            description: "whether such instructions are used: cheaper, where they take less; none",
            fallback: "cheaper",
        },
        PassOption {
            name: "remarks",
            description: "say what was laid out, and what both ways take",
            fallback: "false",
        },
    ],
    statistics: &[("packed", "operands laid out anew")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let machine = run.machine()?;
    let used = run.word("depth", &[("cheaper", true), ("none", false)])?;
    let remarks = run.flag("remarks")?;
    if !used || !machine.instructions().iter().any(|own| Depth::laid_out(own).is_some()) {
        return Ok(());
    }
    let constants = constant_operands(run.module);
    let chooser = Chooser::of(run, machine);
    let shifted = length::shifted_kernels(run.module);
    for kernel in kernels(run.module) {
        if shifted.contains(kernel.symbol()) {
            continue;
        }
        let nest = read(kernel)?;
        let constant = known_inputs(&nest, constants.get(kernel.symbol()));
        let layouts: Vec<_> = constant.iter().map(|&constant| Layout::of(constant)).collect();
        let apart = chooser.cycles(&nest, &layouts).unwrap_or(f64::INFINITY);
        let best = best(&chooser, &nest, &layouts);
        let Some((cycles, way)) = best.filter(|best| best.0 < apart) else { continue };
        if remarks {
            let Way { reduction, points, .. } = way;
            let what = format!("{points} neighbours of axis {reduction} lie in each lane");
            let told = chosen(&what, cycles, Some(("as they lie", apart)));
            remark(kernel, &format!("@{}: {told}", kernel.symbol()));
        }
        run.count("packed", way.packed.len() as u64);
        way.write(run.context, run.module, kernel, &nest);
    }
    Ok(())
}

/// The way that takes the least, and its cycles.
fn best<'c>(chooser: &Chooser<'c>, nest: &Nest<'c>, layouts: &[Layout]) -> Option<(f64, Way)> {
    let costed = ways(chooser.machine, nest).into_iter().filter_map(|way| {
        let fixed = vec![Layout::Fixed; nest.inputs.len()];
        let copies = way.copies(chooser.machine, nest, layouts)?;
        Some((chooser.cycles(&way.nest(nest), &fixed)? + copies, way))
    });
    costed.min_by(|one, other| one.0.total_cmp(&other.0))
}

/// Cycles that a nest is predicted to take on one unit as it is, or where this pass lays it out; `None`
/// where the machine cannot compute it.
pub(super) fn cycles<'c>(
    chooser: &Chooser<'c>,
    nest: &Nest<'c>,
    layouts: &[Layout],
) -> Option<f64> {
    let apart = chooser.cycles(nest, layouts);
    let deep = best(chooser, nest, layouts).map(|(cycles, _)| cycles);
    apart.into_iter().chain(deep).min_by(f64::total_cmp)
}

/// A nest for an instruction of some depth.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Way {
    /// The reduction that is cut, and by how many points.
    reduction: usize,
    points: u64,
    /// The axis of the lanes, and points of a panel; `None` where the axis is one.
    lanes_axis: usize,
    panel: Option<u64>,
    /// Inputs that are laid out anew.
    packed: Vec<usize>,
}

/// Every way to cut a nest for the instructions of some depth that mean its body.
fn ways<'c>(machine: Machine<'c>, nest: &Nest<'c>) -> Vec<Way> {
    let mut found: Vec<Way> = Vec::new();
    let asks = |body: &Block<'c>| body.ops().into_iter().any(|op| index_axis(op).is_some());
    let in_order = nest.inputs.iter().enumerate().all(|(at, own)| own.argument().index() == at);
    let bordered = nest.inputs.iter().any(|access| Border::of(access).is_some());
    if nest.bodies().iter().any(asks) || bordered || !in_order {
        return found;
    }
    let (reductions, parallel): (Vec<_>, Vec<_>) =
        (0..nest.axes.len()).partition(|&axis| nest.reduces(axis));
    for instruction in machine.instructions() {
        let Some(depth) = Depth::laid_out(&instruction) else { continue };
        for operands in bindings(&instruction, nest, &[]) {
            for &reduction in &reductions {
                let ways = parallel.iter().filter_map(|&lanes_axis| {
                    Way::of(nest, &depth, &operands, [reduction, lanes_axis])
                });
                for way in ways {
                    if !found.contains(&way) {
                        found.push(way);
                    }
                }
            }
        }
    }
    found
}

impl Way {
    /// With these axes as depth and lanes of an instruction that takes the operands so.
    fn of(
        nest: &Nest<'_>,
        depth: &Depth,
        operands: &[usize],
        [reduction, lanes_axis]: [usize; 2],
    ) -> Option<Self> {
        let (whole, along) = (nest.axes[reduction].extent, nest.axes[lanes_axis].extent);
        let cut = [reduction, lanes_axis].map(|axis| nest.axes[axis].length);
        if whole == 0 || !whole.is_multiple_of(depth.points) || along < 2 || cut != [None; 2] {
            return None;
        }
        let axes = nest.axes.len();
        let mut packed = Vec::new();
        for (operand, &number) in operands.iter().enumerate() {
            let Some(access) = nest.inputs.get(number) else { continue };
            let (has_lanes, is_deep) = (depth.has_lanes[operand], depth.is_deep[operand]);
            if access.uses(lanes_axis) != has_lanes || access.uses(reduction) != is_deep {
                return None;
            }
            if has_lanes && is_deep {
                if !access.index.iter().all(|index| index.as_axis().is_some()) {
                    return None;
                }
                packed.push(number);
            } else if is_deep && access.stride(axes, reduction) != 1 {
                return None;
            }
        }
        let panel = layout::panel(along, depth.lanes).filter(|&panel| panel < along);
        if panel.is_some_and(|panel| !takes_panels(nest, lanes_axis, panel)) {
            return None;
        }
        Some(Self { reduction, points: depth.points, lanes_axis, panel, packed })
    }

    /// The nest with depth and panels as axes of their own, the last ones.
    fn cut<'c>(&self, nest: &Nest<'c>) -> Nest<'c> {
        let mut cut = nest.clone();
        cut.split(self.reduction, self.points);
        if let Some(panel) = self.panel {
            cut.split(self.lanes_axis, panel);
        }
        cut
    }

    /// The axes of a cut nest in the order in which an input is laid out: panels of one image or head lie
    /// together, inside a panel reductions run first, then lanes, and in each of them its depth.
    fn order(&self, cut: &Nest<'_>, access: &Access<'_>) -> Vec<usize> {
        let panels = usize::from(self.panel.is_some());
        let depth = cut.axes.len() - 1 - panels;
        let last = if panels == 1 { depth + 1 } else { self.lanes_axis };
        let own = |&own: &usize| own != last && own != depth && access.uses(own);
        let mut order: Vec<usize> = (0..cut.axes.len()).filter(own).collect();
        order.sort_by_key(|&own| (cut.reduces(own), own == self.lanes_axis));
        order.extend([last, depth]);
        order
    }

    /// The cut nest, with its inputs as they are laid out.
    fn nest<'c>(&self, nest: &Nest<'c>) -> Nest<'c> {
        let mut deep = self.cut(nest);
        for &number in &self.packed {
            let access = &deep.inputs[number];
            deep.inputs[number] = layout::packed(&deep, access, &self.order(&deep, access));
        }
        deep
    }

    /// Cycles in which what is no constant is laid out; `None` where the machine does not say.
    fn copies(&self, machine: Machine<'_>, nest: &Nest<'_>, layouts: &[Layout]) -> Option<f64> {
        let copied = self.packed.iter().filter(|&&number| layouts[number] != Layout::Free);
        let axes = nest.axes.len();
        copied.map(|&number| packing(machine, &nest.inputs[number], axes, self.lanes_axis)).sum()
    }

    /// Puts the cut nest in the place of the kernel, and copies in front of it.
    fn write<'c>(&self, context: &'c Context, module: Op<'c>, kernel: Op<'c>, nest: &Nest<'c>) {
        let name = kernel.symbol().to_owned();
        let cut = self.cut(nest);
        let deep = self.nest(nest);
        let packer = |&number: &usize| {
            let access = &cut.inputs[number];
            let order = self.order(&cut, access);
            let own = deep.inputs[number].shape.iter().zip(length::of_some(&cut.axes, &order));
            let loop_of = |(&extent, length)| Loop { length, ..Loop::parallel(extent) };
            let loops: Vec<_> = own.map(loop_of).collect();
            let packer = format!("{name}_pack_{number}");
            (number, emit_packer(context, module, &packer, access, &order, &loops))
        };
        let packers: Vec<_> = self.packed.iter().map(packer).collect();
        let new = nest::emit_kernel(context, module, "packed", &deep, &[]);
        kernel.erase();
        new.set_attr("sym_name", attr::of_string(context, &name));
        rewire(context, module, new, &packers);
    }
}
