//! One shape for each tensor: what fusing axes hid is shown again.
//!
//! ```text
//! conv writes y[c, h, w]; add reads and writes [c * h * w]; a product reads [c, h * w]
//!   ->  all of them over c, h and w
//! ```
//!
//! A tensor that kernels see under several shapes gets the one that all of them divide; axes
//! are split where that shape wants it, and what a split axis runs along elsewhere gets finer,
//! too. A tensor whose shapes have no common one is never cut.

use std::collections::BTreeSet;

use weft_dialects::ir::Linear;

use super::flow::{Arg, Flow, Step};
use crate::nest::{Access, Loop};

/// Gives every tensor its finest shape, and every access that shape.
pub(in crate::tile) fn refine(flow: &mut Flow<'_>) {
    let mut suffixes: Vec<BTreeSet<u64>> = vec![BTreeSet::new(); flow.tensors.len()];
    for step in &flow.steps {
        for (tensor, access) in step.accesses() {
            suffixes[tensor].extend(products(&access.shape));
        }
    }
    loop {
        for (tensor, suffixes) in flow.tensors.iter_mut().zip(&suffixes) {
            match shape(tensor.elements, suffixes) {
                Some(shape) if tensor.may_be_cut => tensor.shape = shape,
                _ => {
                    tensor.may_be_cut = false;
                    tensor.shape = vec![tensor.elements];
                }
            }
        }
        let mut changed = false;
        for step in 0..flow.steps.len() {
            changed |= refine_step(flow, step);
        }
        for step in &flow.steps {
            for (tensor, access) in step.accesses() {
                if flow.tensors[tensor].may_be_cut {
                    for suffix in mixed(access, &step.nest.extents()) {
                        changed |= suffixes[tensor].insert(suffix);
                    }
                }
            }
        }
        if !changed {
            flow.settle();
            return;
        }
    }
}

/// Products of the last dimensions of a shape.
fn products(shape: &[u64]) -> Vec<u64> {
    let mut product = 1;
    let of = |&dim: &u64| {
        let own = product;
        product *= dim;
        own
    };
    shape.iter().rev().map(of).collect()
}

/// The shape with these products of its last dimensions, where each divides the next.
fn shape(elements: u64, suffixes: &BTreeSet<u64>) -> Option<Vec<u64>> {
    let mut dims = Vec::new();
    let mut above = elements;
    for &suffix in suffixes.iter().rev().filter(|&&suffix| suffix < elements) {
        if suffix == 0 || !above.is_multiple_of(suffix) {
            return None;
        }
        dims.push(above / suffix);
        above = suffix;
    }
    (above <= 1).then_some(dims)
}

/// Finer dimensions of an access, where several axes together run along one.
fn mixed(access: &Access<'_>, extents: &[u64]) -> Vec<u64> {
    let mut found = Vec::new();
    let mut below: u64 = access.shape.iter().product();
    for (index, &dim) in access.index.iter().zip(&access.shape) {
        below /= dim.max(1);
        let mut axes: Vec<(i64, u64)> = (index.coefficients.iter().zip(extents))
            .filter(|(factor, _)| **factor != 0)
            .map(|(&factor, &extent)| (factor, extent))
            .collect();
        axes.sort_unstable();
        let mut inside = 1;
        let exact = index.constant == 0
            && axes.iter().all(|&(factor, extent)| {
                let fits = factor == inside as i64;
                inside *= extent;
                fits
            });
        if exact && axes.len() > 1 && inside == dim {
            found.extend(axes.iter().map(|&(factor, _)| below * factor as u64));
        }
    }
    found
}

/// Brings the accesses of one step to the shapes of their tensors; says whether anything that
/// others see became different.
fn refine_step(flow: &mut Flow<'_>, number: usize) -> bool {
    if flow.steps[number].rigid {
        return false;
    }
    let mut changed = false;
    loop {
        let (step, tensors) = (&mut flow.steps[number], &mut flow.tensors);
        let args = step.args.clone();
        let extents = step.nest.extents();
        let mut split = None;
        for access in step.nest.accesses_mut() {
            let Arg::Tensor(tensor) = args[access.argument().index()] else { continue };
            if !tensors[tensor].may_be_cut {
                continue;
            }
            match finer(access, &tensors[tensor].shape, &extents) {
                Finer::Done => {}
                Finer::Split(axis, inner) => {
                    split = Some((axis, inner));
                    break;
                }
                Finer::Never => {
                    tensors[tensor].may_be_cut = false;
                    changed = true;
                }
            }
        }
        match split {
            Some((axis, inner)) => split_axis(step, axis, inner),
            None => return changed,
        }
    }
}

/// Results of refining an access.
enum Finer {
    /// It has the shape.
    Done,
    /// It would have if this axis were two, the second of so many points.
    Split(usize, u64),
    /// Its expressions cannot be taken apart.
    Never,
}

fn finer(access: &mut Access<'_>, shape: &[u64], extents: &[u64]) -> Finer {
    let (mut dims, mut index) = (Vec::new(), Vec::new());
    let mut wanted = shape.iter().copied().peekable();
    for (own, &dim) in access.index.iter().zip(&access.shape) {
        let (mut rest, mut left) = (own.clone(), dim);
        if dim == 1 {
            continue;
        }
        while left > 1 {
            let Some(outer) = wanted.next().filter(|outer| left % outer == 0) else {
                return Finer::Never;
            };
            left /= outer;
            if left == 1 {
                dims.push(outer);
                index.push(rest.clone());
                break;
            }
            match divide(&rest, left as i64, extents) {
                Ok((whole, inside)) => {
                    dims.push(outer);
                    index.push(whole);
                    rest = inside;
                }
                Err(Some((axis, inner))) => return Finer::Split(axis, inner),
                Err(None) => return Finer::Never,
            }
        }
    }
    (access.shape, access.index) = (dims, index);
    Finer::Done
}

/// `index = outer * by + inner` with `inner` below `by`; else the axis to split for that.
fn divide(
    index: &Linear,
    by: i64,
    extents: &[u64],
) -> Result<(Linear, Linear), Option<(usize, u64)>> {
    let axes = extents.len();
    let mut outer = Linear::constant(axes, index.constant.div_euclid(by));
    let mut inner = Linear::constant(axes, index.constant.rem_euclid(by));
    for (axis, &factor) in index.coefficients.iter().enumerate() {
        match factor % by {
            0 => outer.coefficients[axis] = factor / by,
            _ => inner.coefficients[axis] = factor,
        }
    }
    let (low, high) = inner.range(extents);
    if low >= 0 && high < by {
        return Ok((outer, inner));
    }
    let mut axes = inner.coefficients.iter().zip(extents).enumerate();
    let found = axes.find(|(_, (factor, extent))| {
        **factor > 0 && by % **factor == 0 && {
            let points = (by / **factor) as u64;
            **extent > points && **extent % points == 0
        }
    });
    Err(found.map(|(axis, (factor, _))| (axis, (by / factor) as u64)))
}

/// Makes an axis two, the second of `inner` points right after the first.
fn split_axis(step: &mut Step<'_>, axis: usize, inner: u64) {
    let Loop { extent, kind, .. } = step.nest.axes[axis];
    step.nest.axes[axis].extent = extent / inner;
    step.nest.axes.insert(axis + 1, Loop { extent: inner, kind, length: None });
    let cut = |index: &mut Linear| {
        let factor = index.coefficients[axis];
        index.coefficients[axis] = factor * inner as i64;
        index.coefficients.insert(axis + 1, factor);
    };
    for access in step.nest.accesses_mut() {
        access.index.iter_mut().for_each(cut);
    }
    step.now.iter_mut().for_each(cut);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_that_divide_each_other_have_one_in_common() {
        let suffixes = |shapes: &[&[u64]]| shapes.iter().flat_map(|s| products(s)).collect();
        assert_eq!(shape(24, &suffixes(&[&[24], &[2, 12], &[8, 3]])), Some(vec![2, 4, 3]));
        assert_eq!(shape(24, &suffixes(&[&[4, 6], &[6, 4]])), None);
    }

    /// A window of a flat tensor: 4 x 3 elements from the sixth on.
    #[test]
    fn windows_are_taken_apart_by_splitting_their_axis() {
        let window = Linear::axis(1, 0).offset(6);
        assert_eq!(divide(&window, 3, &[12]), Err(Some((0, 3))));
        let split = Linear { coefficients: vec![3, 1], constant: 6 };
        let (outer, inner) = divide(&split, 3, &[4, 3]).unwrap();
        assert_eq!((outer, inner), (Linear::axis(2, 0).offset(2), Linear::axis(2, 1)));
        assert_eq!(divide(&Linear::axis(1, 0).offset(1), 5, &[7]), Err(None));
    }
}
