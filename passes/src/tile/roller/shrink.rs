//! Operators too small for the machine: tiles are cut until every core has one.
//!
//! Version 1 halves all axes at once, in both tiles, and looks no further; ours takes one axis
//! at a time, the one that keeps most reuse, and only sizes that are aligned.

use super::cost::{self, tiles, traffic, work};
use super::search::fits;
use super::{Arch, Operator, Options, Policy, Tiles, Variant, align, banks};

/// The tiles to take instead; `None` where the operator is large enough.
pub fn shrink(
    operator: &Operator,
    arch: &Arch,
    options: &Options,
    policy: Policy,
    from: &Tiles,
    epsilon: f64,
) -> Option<Tiles> {
    let mut now = from.clone();
    while blocks(operator, &now) < arch.cores {
        let next = match (options.variant, policy) {
            (Variant::Published, Policy::Plain) => None,
            (Variant::Published, Policy::Reuse) => halve_all(operator, &now),
            (Variant::Aligned, _) => halve_one(operator, arch, options, policy, &now, epsilon),
        };
        let Some(next) = next else { break };
        now = next;
    }
    (blocks(operator, &now) > blocks(operator, from)).then_some(now)
}

fn blocks(operator: &Operator, both: &Tiles) -> u64 {
    tiles(&operator.extents(), both.current(), operator.spatial())
}

/// Halves every spatial axis whose block tile is more than 1, in both tiles.
fn halve_all(operator: &Operator, now: &Tiles) -> Option<Tiles> {
    let mut next = now.clone();
    let block = next.block.as_mut()?;
    let both = block.iter_mut().zip(&mut next.registers).take(operator.spatial());
    for (block, registers) in both.filter(|(block, _)| **block > 1) {
        *block = block.div_ceil(2);
        *registers = registers.div_ceil(2);
    }
    (next != *now).then_some(next)
}

/// Halves the block tile along the axis that keeps most operations per byte, with or without
/// the register tile, so that every rule is kept.
fn halve_one(
    operator: &Operator,
    arch: &Arch,
    options: &Options,
    policy: Policy,
    now: &Tiles,
    epsilon: f64,
) -> Option<Tiles> {
    let half = |axis: usize, registers: bool| {
        let mut next = now.clone();
        let block = next.block.as_mut()?;
        let even = |size: u64| size > 1 && size.is_multiple_of(2);
        if !even(block[axis]) || (registers && !even(next.registers[axis])) {
            return None;
        }
        block[axis] /= 2;
        if registers {
            next.registers[axis] /= 2;
        }
        let padding = banks::paddings(operator, arch, options, &next);
        let broken = align::check(operator, arch, policy, &next, epsilon, Some(&padding));
        (broken.is_empty()
            && cost::tiles(next.current(), &next.registers, 1) > 0
            && fits(operator, arch, options, &next))
        .then_some(next)
    };
    let reuse =
        |tiles: &Tiles| work(operator, tiles.current()) / traffic(operator, tiles.current()) as f64;
    let all = (0..operator.spatial()).flat_map(|axis| [half(axis, false), half(axis, true)]);
    all.flatten().reduce(|best, next| if reuse(&next) > reuse(&best) { next } else { best })
}
