//! A reduction written out: an axis of few points becomes as many steps of the body.

use weft_dialects::ir::{Context, Linear, Mapping, Op};

use super::{Access, Nest, copy_body, scalar_body};

/// The same nest without `axis`, a reduction: its body is done once for each of its points, one after the
/// other. What does not move along the axis is read once for all of them. The new body lies in the module
/// `scratch`. `None` where nothing would be summed up any more, or the body reads at addresses that it
/// computes.
pub(crate) fn unrolled<'c>(
    context: &'c Context,
    scratch: Op<'c>,
    nest: &Nest<'c>,
    axis: usize,
) -> Option<Nest<'c>> {
    let sums = (0..nest.axes.len()).any(|own| own != axis && nest.reduces(own));
    let plain = nest.captures.is_empty() && nest.outputs.len() == 1;
    if !nest.reduces(axis) || !sums || !plain {
        return None;
    }
    let axes = nest.axes.len() - 1;
    let points = nest.axes[axis].extent;
    let at = |point: u64| -> Vec<Linear> {
        let now = |own: usize| match own.cmp(&axis) {
            std::cmp::Ordering::Less => Linear::axis(axes, own),
            std::cmp::Ordering::Equal => Linear::constant(axes, point as i64),
            std::cmp::Ordering::Greater => Linear::axis(axes, own - 1),
        };
        (0..=axes).map(now).collect()
    };
    let seen = |access: &Access<'c>, point: u64| {
        let now = at(point);
        let index = access.index.iter().map(|index| index.in_terms_of(axes, &now)).collect();
        Access { index, ..access.clone() }
    };
    // For each input the places of its elements among the new ones.
    let (mut inputs, mut places) = (Vec::new(), Vec::new());
    for access in &nest.inputs {
        let reads = if access.uses(axis) { points } else { 1 };
        places.push((inputs.len(), reads));
        inputs.extend((0..reads).map(|point| seen(access, point)));
    }
    let types: Vec<_> = inputs.iter().map(Access::elem).collect();
    let body = scalar_body(context, scratch, &types, nest.sum_type(0), |b, args| {
        let so_far = args[args.len() - 1];
        let sum = (0..points as usize).fold(so_far, |sum, point| {
            let own = places.iter().map(|&(first, reads)| args[first + point % reads as usize]);
            let own: Vec<_> = own.chain([sum]).collect();
            copy_body(b.builder(), nest.body, &own, Mapping::default(), &[])[0]
        });
        vec![sum]
    });
    let mut nest = Nest { inputs: Vec::new(), body, ..nest.clone() };
    nest.axes.remove(axis);
    for access in nest.accesses_mut() {
        *access = seen(access, 0);
    }
    Some(Nest { inputs, ..nest })
}
