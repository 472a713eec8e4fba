//! Which tensors should lie in panels, as their readers see it.

use std::collections::{BTreeMap, HashMap};

use weft_dialects::device::Machine;

use super::graph::Graph;
use super::panels::{Panels, anywhere};
use super::{Kernel, Width};
use crate::nest::{Access, Nest};
use crate::tile::lanes_type;

/// For each tensor of a graph the panels in which it should lie.
///
/// A sum along an axis that is strided wants its points to be neighbours; the sum with the most
/// points decides. What a kernel reads or writes along the same axis follows.
pub(super) fn wanted(
    graph: &Graph<'_>,
    kernels: &HashMap<String, Kernel<'_>>,
    machine: Machine<'_>,
    width: Width,
) -> Vec<Option<Panels>> {
    // As many as a register holds of the nest's widest type, which sums of narrow numbers have.
    let lanes = |nest: &Nest<'_>| {
        let units = machine.lanes_units();
        let widest = lanes_type(nest)?;
        units.iter().filter_map(|unit| unit.lanes_for(widest)).max().filter(|n| *n > 1)
    };
    let mut votes: Vec<BTreeMap<Panels, u64>> = vec![BTreeMap::new(); graph.elements.len()];
    for run in &graph.runs {
        let nest = &kernels[&run.kernel].nest;
        for (access, tensor) in nest.inputs.iter().zip(&run.tensors) {
            let (Some(tensor), Some(lanes)) = (*tensor, lanes(nest)) else { continue };
            for axis in (0..nest.axes.len()).filter(|&axis| nest.reduces(axis)) {
                let lanes = match width {
                    Width::Lanes => lanes,
                    Width::All => nest.axes[axis].extent,
                };
                if let Some(panels) = along(nest, access, axis, lanes, graph.elements[tensor]) {
                    *votes[tensor].entry(panels).or_default() += nest.points();
                }
            }
        }
    }
    let first = |votes: &BTreeMap<Panels, u64>| {
        votes.iter().max_by_key(|(_, points)| **points).map(|(panels, _)| *panels)
    };
    let mut wanted: Vec<_> = votes.iter().map(first).collect();
    while let Some((tensor, panels)) = follow(graph, kernels, &wanted) {
        wanted[tensor] = Some(panels);
    }
    wanted
}

/// Panels in which points of `axis` are neighbours, if they are not and panels divide them.
fn along(
    nest: &Nest<'_>,
    access: &Access<'_>,
    axis: usize,
    lanes: u64,
    elements: u64,
) -> Option<Panels> {
    let memory = access.shape_in_memory();
    let dim = access.index.iter().position(|index| index.coefficients[axis] == 1)?;
    let behind = memory[dim + 1..].iter().product::<u64>();
    let alone = access.index[dim].as_axis().is_some();
    let fits = behind > 1
        && lanes > 1
        && alone
        && nest.axes[axis].extent.is_multiple_of(lanes)
        && elements.is_multiple_of(behind * lanes);
    fits.then_some(Panels { lanes, behind })
}

/// A tensor without panels that a kernel touches along an axis on which another one has them.
fn follow(
    graph: &Graph<'_>,
    kernels: &HashMap<String, Kernel<'_>>,
    wanted: &[Option<Panels>],
) -> Option<(usize, Panels)> {
    graph.runs.iter().find_map(|run| {
        let nest = &kernels[&run.kernel].nest;
        let accesses = nest.accesses();
        // An elementwise kernel works in any one order of its tensors.
        let same = run.tensors.iter().flatten().find_map(|&tensor| wanted[tensor]);
        if let Some(panels) = same.filter(|own| anywhere(nest, &vec![Some(*own); accesses.len()]))
            && let Some(&tensor) = run.tensors.iter().flatten().find(|&&t| wanted[t].is_none())
        {
            return Some((tensor, panels));
        }
        let mut axes = (0..nest.axes.len()).filter(|&axis| !nest.reduces(axis));
        axes.find_map(|axis| {
            let steps = accesses.iter().map(|access| step(access, axis));
            let steps: Vec<_> = steps.zip(&run.tensors).collect();
            // Distance of neighbours where they are stored in panels, in parts of a panel.
            let (along, lanes, behind) = steps.iter().find_map(|(step, tensor)| {
                let Panels { lanes, behind } = wanted[(**tensor)?]?;
                (behind..behind * lanes).contains(step).then_some((*step, lanes, behind))
            })?;
            steps.iter().find_map(|&(step, tensor)| {
                let tensor = tensor.filter(|&tensor| wanted[tensor].is_none())?;
                let whole = (step * behind).is_multiple_of(along);
                let behind = step * behind / along;
                let fits =
                    behind > 1 && whole && graph.elements[tensor].is_multiple_of(behind * lanes);
                fits.then_some((tensor, Panels { lanes, behind }))
            })
        })
    })
}

/// Elements between neighbours along an axis, in memory; none where they go backwards.
fn step(access: &Access<'_>, axis: usize) -> u64 {
    let (mut behind, mut sum) = (1, 0);
    for (index, dim) in access.index.iter().zip(access.shape_in_memory()).rev() {
        sum += index.coefficients[axis] * behind;
        behind *= dim as i64;
    }
    u64::try_from(sum).unwrap_or(0)
}
