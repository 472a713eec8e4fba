//! Which tensors should lie in panels, as their readers see it.

use std::collections::{BTreeMap, HashMap};

use weft_dialects::device::Machine;

use super::Kernel;
use super::graph::Graph;
use super::panels::Panels;
use crate::nest::{Access, Nest};

/// For each tensor of a graph the panels in which it should lie.
///
/// A sum along an axis that is strided wants its points to be neighbours; the sum with the most
/// points decides. What a kernel reads or writes along the same axis follows.
pub(super) fn wanted(
    graph: &Graph<'_>,
    kernels: &HashMap<String, Kernel<'_>>,
    machine: Machine<'_>,
) -> Vec<Option<Panels>> {
    let lanes = |access: &Access<'_>| {
        let units = machine.lanes_units();
        units.iter().filter_map(|unit| unit.lanes_for(access.elem())).max().filter(|n| *n > 1)
    };
    let mut votes: Vec<BTreeMap<Panels, u64>> = vec![BTreeMap::new(); graph.elements.len()];
    for run in &graph.runs {
        let nest = &kernels[&run.kernel].nest;
        for (access, tensor) in nest.inputs.iter().zip(&run.tensors) {
            let (Some(tensor), Some(lanes)) = (*tensor, lanes(access)) else { continue };
            for axis in (0..nest.axes.len()).filter(|&axis| nest.reduces(axis)) {
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
        && alone
        && nest.axes[axis].extent.is_multiple_of(lanes)
        && elements.is_multiple_of(behind * lanes);
    fits.then_some(Panels { lanes, behind })
}

/// A tensor without panels that a kernel touches along the axis on which another one has them.
fn follow(
    graph: &Graph<'_>,
    kernels: &HashMap<String, Kernel<'_>>,
    wanted: &[Option<Panels>],
) -> Option<(usize, Panels)> {
    graph.runs.iter().find_map(|run| {
        let nest = &kernels[&run.kernel].nest;
        let accesses = nest.accesses();
        let touched = || accesses.iter().zip(&run.tensors);
        let axes = touched().filter_map(|(access, tensor)| {
            let panels = wanted[(*tensor)?]?;
            let dim = dim_before(access, panels.behind)?;
            Some((access.index[dim].as_axis().filter(|&axis| !nest.reduces(axis))?, panels.lanes))
        });
        let axes: Vec<_> = axes.collect();
        let open = touched().filter_map(|(access, tensor)| {
            Some((access, tensor.filter(|&tensor| wanted[tensor].is_none())?))
        });
        let mut found = open.flat_map(|(access, tensor)| {
            let panels = axes.iter().filter_map(move |&(axis, lanes)| {
                along(nest, access, axis, lanes, graph.elements[tensor])
            });
            panels.map(move |panels| (tensor, panels))
        });
        found.next()
    })
}

/// The dimension with `behind` elements behind it.
fn dim_before(access: &Access<'_>, behind: u64) -> Option<usize> {
    let memory = access.shape_in_memory();
    (0..memory.len()).find(|&dim| memory[dim + 1..].iter().product::<u64>() == behind)
}
