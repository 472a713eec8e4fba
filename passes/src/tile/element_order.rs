//! The order in which a nest visits the elements of a tensor, and nests whose axes are cut alike along it.

use crate::nest::{Access, Nest};

/// The axes along which an access moves, in the order of the elements that it visits, the outermost
/// first; `None` unless it visits each element of the tensor once.
pub(super) fn order(nest: &Nest<'_>, access: &Access<'_>) -> Option<Vec<usize>> {
    let axes = nest.axes.len();
    let address = access.address(axes);
    let moves = |&axis: &usize| nest.axes[axis].extent > 1 && address.coefficients[axis] != 0;
    let mut order: Vec<usize> = (0..axes).filter(moves).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(address.coefficients[axis]));
    let mut stride = 1;
    for &axis in order.iter().rev() {
        if address.coefficients[axis] != stride {
            return None;
        }
        stride *= nest.axes[axis].extent as i64;
    }
    let count: u64 = access.shape.iter().product();
    (address.constant == 0 && stride as u64 == count).then_some(order)
}

/// The elements that the innermost axis of an access visits, the two innermost, and so on.
pub(super) fn ends(nest: &Nest<'_>, access: &Access<'_>) -> Option<Vec<u64>> {
    let order = order(nest, access)?.into_iter().rev();
    let visited = order.scan(1, |end, axis| {
        *end *= nest.axes[axis].extent;
        Some(*end)
    });
    Some(visited.collect())
}

/// A nest with the axes of an access cut at each of `ends`, and these axes, the outermost first.
pub(super) fn cut<'c>(
    nest: &Nest<'c>,
    ends: &[u64],
    access: impl for<'n> Fn(&'n Nest<'c>) -> &'n Access<'c>,
) -> Option<(Nest<'c>, Vec<usize>)> {
    let mut rest = order(nest, access(nest))?;
    let (mut nest, mut begin) = (nest.clone(), 1);
    // From the innermost on: what is cut off stays behind what is left.
    while let Some(axis) = rest.pop() {
        let end = begin * nest.axes[axis].extent;
        let inside = begin + 1..end;
        for &at in ends.iter().filter(|at| inside.contains(at)) {
            (at % begin == 0 && end % at == 0).then_some(())?;
            nest = nest.cut_off(axis, at / begin);
            rest.iter_mut().filter(|own| **own > axis).for_each(|own| *own += 1);
            begin = at;
        }
        begin = end;
    }
    let order = order(&nest, access(&nest))?;
    Some((nest, order))
}
