//! The axes of a nest as schedules see them: merged where all accesses walk them as one, and parallel
//! where the accesses alone say so.

use super::inst::Inst;
use super::program::{Access, Nest, Reg, TensorId};

/// One axis, or several that are as good as one.
#[derive(Debug, Clone)]
pub(super) struct Axis {
    pub extent: u64,
    pub parallel: bool,
    /// Per address: loads, stores, `Index` instructions.
    pub strides: Vec<i64>,
}

pub(super) fn accesses(nest: &Nest) -> impl Iterator<Item = &Access> {
    nest.loads.iter().chain(nest.stores.iter().map(|(access, _)| access))
}

/// Registers and axes of the `Index` instructions.
pub(super) fn indices(nest: &Nest) -> impl Iterator<Item = (Reg, u32)> {
    let first = nest.loads.len();
    nest.body.iter().enumerate().filter_map(move |(i, inst)| match inst {
        Inst::Index(axis) => Some(((first + i) as Reg, *axis)),
        _ => None,
    })
}

/// The axes of more than one point; neighbours that every access walks as one are merged.
pub(super) fn axes(nest: &Nest) -> Vec<Axis> {
    let found = find_parallel(nest);
    let mut axes: Vec<Axis> = Vec::new();
    for i in (0..nest.extents.len()).filter(|&i| nest.extents[i] > 1) {
        let strides = accesses(nest).map(|a| a.strides[i]);
        let indices = indices(nest).map(|(_, axis)| (axis as usize == i) as i64);
        let parallel = nest.parallel[i] || found[i];
        let axis =
            Axis { extent: nest.extents[i], parallel, strides: strides.chain(indices).collect() };
        match axes.last_mut().and_then(|outer| merged(outer, &axis).map(|m| (outer, m))) {
            Some((outer, merged)) => *outer = merged,
            None => axes.push(axis),
        }
    }
    axes
}

fn merged(outer: &Axis, inner: &Axis) -> Option<Axis> {
    let walks_on = |(&o, &i): (&i64, &i64)| o as i128 == i as i128 * inner.extent as i128;
    let fits =
        outer.parallel == inner.parallel && outer.strides.iter().zip(&inner.strides).all(walks_on);
    let extent = outer.extent.checked_mul(inner.extent)?;
    fits.then(|| Axis { extent, ..inner.clone() })
}

/// Axes that are parallel by the accesses alone: every store moves along them, never twice to
/// one element, and what is stored is loaded, if at all, at the place of the store.
fn find_parallel(nest: &Nest) -> Vec<bool> {
    let none = vec![false; nest.extents.len()];
    if !nest.scatters.is_empty() {
        return none;
    }
    for (i, (store, _)) in nest.stores.iter().enumerate() {
        let elsewhere = nest.loads.iter().any(|l| l.tensor == store.tensor && l != store);
        let again = nest.stores[..i].iter().any(|(other, _)| other.tensor == store.tensor);
        if elsewhere || again || loaded_at(nest, store.tensor) || !injective(nest, store) {
            return none;
        }
    }
    (0..nest.extents.len()).map(|i| nest.stores.iter().all(|(s, _)| s.strides[i] != 0)).collect()
}

/// Of two points that differ along an axis with a stride, no two have the same address.
fn injective(nest: &Nest, access: &Access) -> bool {
    let mut steps: Vec<(u128, u128)> = access
        .strides
        .iter()
        .zip(&nest.extents)
        .filter(|(stride, extent)| **stride != 0 && **extent > 1)
        .map(|(stride, extent)| (stride.unsigned_abs() as u128, *extent as u128))
        .collect();
    steps.sort_unstable();
    let mut reach = 0u128;
    for (stride, extent) in steps {
        if stride <= reach {
            return false;
        }
        reach = reach.saturating_add(stride * (extent - 1));
    }
    true
}

pub(super) fn loaded_at(nest: &Nest, tensor: TensorId) -> bool {
    nest.body.iter().any(|inst| matches!(inst, Inst::LoadAt { tensor: t, .. } if *t == tensor))
}
