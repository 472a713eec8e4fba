//! Which operands may be laid out anew for the lanes, and what that costs.

use weft_dialects::device::Machine;
use weft_dialects::ir::Linear;

use super::cost::packing;
use crate::nest::{Access, Nest};

/// Changes that are still possible to the order of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Nothing.
    Fixed,
    /// It is known at compile time: a new order costs nothing.
    Free,
    /// A new order costs a copy in every run.
    Paid,
}

impl Layout {
    /// Of a tensor that is constant, or not, before tiles are chosen.
    pub fn of(constant: bool) -> Self {
        if constant { Self::Free } else { Self::Paid }
    }
}

/// Which inputs lie side by side along the lanes after a new layout, and what that costs in
/// every run: with the free ones, and with those that are paid for.
pub(super) fn layings(
    machine: Machine<'_>,
    nest: &Nest<'_>,
    lanes_axis: Option<usize>,
    lanes: u64,
    cached: bool,
    layouts: &[Layout],
) -> Vec<(Vec<bool>, f64)> {
    let with = |which: &dyn Fn(Layout) -> bool| -> Vec<bool> {
        let inputs = nest.inputs.iter().zip(layouts);
        inputs
            .map(|(access, &layout)| {
                which(layout) && lanes_axis.is_some_and(|axis| packable(nest, access, axis, lanes))
            })
            .collect()
    };
    let free = with(&|layout| layout == Layout::Free);
    // Without a cache there is nothing to be nearer to.
    let all = with(&|layout| layout == Layout::Free || layout == Layout::Paid && cached);
    let axes = nest.axes.len();
    let paid = (0..all.len()).filter(|&input| all[input] && !free[input]);
    let price = |input: usize| packing(machine, &nest.inputs[input], axes, lanes_axis?);
    let price = paid.map(price).sum::<Option<f64>>();
    let paid = price.filter(|_| all != free).map(|price| (all, price));
    std::iter::once((free, 0.0)).chain(paid).collect()
}

/// Returns whether a new layout makes an input contiguous along the lanes: every dimension of it is
/// an axis of its own, panels divide the axis, and it is not contiguous yet.
fn packable(nest: &Nest<'_>, access: &Access<'_>, axis: usize, lanes: u64) -> bool {
    let axes = nest.axes.len();
    let fits = if nest.reduces(axis) {
        access.stride(axes, axis) != 1
    } else {
        panel(nest.axes[axis].extent, lanes).is_some()
    };
    (0..axes).any(|axis| nest.reduces(axis))
        && access.uses(axis)
        && fits
        && access.index.iter().all(|index| index.as_axis().is_some())
}

/// The axes of an operand in the order in which it is packed: panels of `axis` of one image or head lie
/// together, inside a panel reductions run first, and points of `last` are neighbours.
pub(super) fn packed_order(
    nest: &Nest<'_>,
    access: &Access<'_>,
    axis: usize,
    last: usize,
) -> Vec<usize> {
    let mut order: Vec<usize> =
        (0..nest.axes.len()).filter(|&own| own != last && access.uses(own)).collect();
    order.sort_by_key(|&own| (nest.reduces(own), own == axis));
    order.push(last);
    order
}

/// An access to a tensor that has these axes in this order as its dimensions.
pub(super) fn packed<'c>(nest: &Nest<'c>, access: &Access<'c>, order: &[usize]) -> Access<'c> {
    let axes = nest.axes.len();
    Access {
        tensor: access.tensor,
        shape: order.iter().map(|&axis| nest.axes[axis].extent).collect(),
        index: order.iter().map(|&axis| Linear::axis(axes, axis)).collect(),
    }
}

/// Points of an axis of `extent` in one panel for registers of `lanes`: one register, or where
/// registers do not divide the axis a part of it that fills some almost.
pub(super) fn panel(extent: u64, lanes: u64) -> Option<u64> {
    /// Of one panel; more and it is no nearer than the tensor itself.
    const MOST_REGISTERS: u64 = 16;
    /// Lanes without points that are bearable, in percent.
    const MOST_WASTE: u64 = 4;
    if extent.is_multiple_of(lanes) {
        return Some(lanes).filter(|_| extent > 0);
    }
    let registers = |points: u64| points.div_ceil(lanes);
    let parts = 2..=extent / lanes;
    let panels = parts.filter(|&parts| extent.is_multiple_of(parts)).map(|parts| extent / parts);
    panels
        .filter(|&panel| registers(panel) <= MOST_REGISTERS)
        .filter(|&panel| registers(panel) * lanes * 100 <= panel * (100 + MOST_WASTE))
        .min_by_key(|&panel| (extent / panel * registers(panel), panel))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_are_registers_or_parts_that_waste_few_lanes() {
        assert_eq!(panel(2048, 16), Some(16));
        // 8 parts of 125 columns: 128 lanes each.
        assert_eq!(panel(1000, 16), Some(125));
        assert_eq!(panel(508, 16), Some(127));
        // 30 = 2 x 15 = 3 x 10: registers of 8 stay half empty, or less than a sixteenth.
        assert_eq!(panel(30, 8), None);
        // A prime has no parts; less than a register is no panel.
        assert_eq!(panel(1009, 16), None);
        assert_eq!(panel(7, 16), None);
    }
}
