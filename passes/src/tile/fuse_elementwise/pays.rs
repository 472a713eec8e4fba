//! Whether one kernel in the place of two pays.
//!
//! A kernel takes what its tile is predicted to take, and of groups that share tiles, whose tensors come
//! from behind all caches of a unit, at least the time in which they come and go: what is handed over in
//! registers does neither.

use rustc_hash::FxHashSet;
use weft_dialects::device::Machine;
use weft_dialects::ir::ty;

use crate::cost::home::{Beside, Homes};
use crate::math;
use crate::nest::Nest;
use crate::remarks::Refused;
use crate::tile::chooser::Chooser;
use crate::tile::isa::{self, Search};
use crate::tile::layout::Layout;
use crate::tile::policy::{Choice, Tiled};
use crate::tile::{block, instruction};

/// Tests that one kernel takes no more cycles than two, where more than lanes may do the first, or sums
/// become another type. Where lanes do both in one type they do it in registers, and nothing is lost.
///
/// # Errors
/// The cycles of both.
pub fn pays<'c>(
    chooser: &Chooser<'c>,
    apart: [&Nest<'c>; 2],
    joined: &Nest<'c>,
) -> Result<(), Refused> {
    let machine = chooser.machine;
    if instruction::lane_unit(machine, joined, &math::expands).is_err() {
        return Err(Refused::by("lanes", "no lane unit does both"));
    }
    let first = apart[0];
    let shares = block::may_share(machine, first);
    let others = shares || !isa::choices(machine, first, Search::default()).is_empty();
    if !others && !joined.casts_sums() {
        return Ok(());
    }
    // Lanes that add neighbours up have the sums in registers, however narrow the numbers are; what they
    // take is not known before operands are laid out for them.
    if instruction::is_deep(machine, first) {
        return Ok(());
    }
    let choice = |nest: &Nest<'c>| {
        let layouts = vec![Layout::Fixed; nest.inputs.len()];
        chooser.choose(nest, &layouts, Search::default()).ok()
    };
    let ([Some(made), Some(used)], Some(together)) = (apart.map(choice), choice(joined)) else {
        // Nothing else may do a cast of sums than what was found to do it.
        return match joined.casts_sums() {
            true => Err(Refused::by("casts", "no tile holds the sums until they are whole")),
            false => Ok(()),
        };
    };
    let is_lanes = |choice: &Choice<'_>| matches!(choice.tiled, Tiled::Lanes(_));
    if !joined.casts_sums() && is_lanes(&made) && is_lanes(&together) {
        return Ok(());
    }
    let homes = Homes::of(machine);
    let cycles = |nest, choice: &Choice<'_>| {
        let floor = if shares { floor(machine, &homes, nest) } else { 0.0 };
        choice.why.cost.cycles.max(floor)
    };
    let together = cycles(joined, &together);
    let apart = cycles(apart[0], &made) + cycles(apart[1], &used);
    if together <= apart {
        return Ok(());
    }
    let values = format!("{together:.0} cycles together, {apart:.0} apart");
    Err(Refused::by("epilogue", "both together take more").met(values))
}

/// Cycles in which the tensors of a nest come and go once, times units.
fn floor(machine: Machine<'_>, homes: &Homes, nest: &Nest<'_>) -> f64 {
    let units = machine.units().first().map_or(1, |unit| unit.count().max(1)) as f64;
    let tensors: FxHashSet<_> =
        nest.accesses().into_iter().map(|access| access.argument()).collect();
    let bytes = |ty| Some(ty::count(ty)?.saturating_mul(ty::byte_size(ty::elem(ty)?)?));
    let bytes = tensors.iter().filter_map(|tensor| bytes(tensor.ty()));
    bytes.map(|bytes| homes.cycles(bytes, bytes, Beside::Stream)).sum::<f64>() * units
}
