//! A softmax between two products in one pass over the rows (`tile/one_pass.rs`): blocks whose groups have
//! whole rows, a piece of them at a time, in registers.
//!
//! ```text
//! queries near; m = lowest; l = 0; o = 0
//! for (pieces) {
//!   keys and values near, those of the next piece on their way
//!   s = start; fold queries and keys; epilogue; what places leave out
//!   n = max(m, s along the row)     lanes fold what they have, then lanes of a row exchange
//!   w = exp(m - n); l = w l; o = w o; m = n
//!   e = exp(s - n); l = l + e       each lane has its own part of l
//!   p = e as the factor             the same registers under other names
//!   fold p and values into o }
//! l along the row; o = o / l; epilogue; store
//! ```

use weft_dialects::device::{Machine, Move};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Report};
use weft_dialects::tile::{Compute, Empty};

use super::Here;
use super::block::Blocks;
use super::block_legal::{self, CheckedPair};
use super::index::Sum;
use crate::nest::Nest;
use crate::tile::block::{M, N};
use crate::tile::one_pass::{Exponent, OnePass};
use crate::tile::propagate::links;
use crate::tile::relabel;

/// Whether what some compute of a kernel makes stays in registers.
pub(super) fn is_one_pass(machine: Machine<'_>, members: &[(Compute<'_>, Nest<'_>)]) -> bool {
    let waits = |(_, nest): &(Compute<'_>, Nest<'_>)| {
        let empty = nest.outputs[0].argument().def()?;
        machine.memory(Empty::of(empty)?.memory)
    };
    members.iter().filter_map(waits).any(|memory| memory.is_registers())
}

/// Writes a kernel of a softmax between two products, whose tile begins at `starts`; gives the number of its
/// groups.
pub(super) fn write<'c>(
    here: &Here<'c>,
    b: &mut Builder<'c>,
    members: &[(Compute<'c>, Nest<'c>)],
    starts: &[Sum<'c>],
) -> Result<u64, Failed> {
    let Here { context, machine, kernel, .. } = *here;
    let nests: Vec<&Nest<'c>> = members.iter().map(|(_, nest)| nest).collect();
    let refuse = |what: &str, help: &str| {
        Report::new(kernel.location(), format!("@{}: {what}", kernel.symbol())).help(help);
        Failed
    };
    let one_pass = OnePass::of(&nests, &links(&nests)).map_err(|why| {
        refuse(why, "only a softmax between two products hands over in registers")
    })?;
    let own = |member: usize| (&members[member].0, &members[member].1);
    let (scores, values) = (own(one_pass.scores), own(one_pass.values));
    let CheckedPair { pair, ways, lying } =
        block_legal::check_pair(machine, kernel, [scores, values], &one_pass)?;
    let mut units = machine.lanes_units().into_iter();
    let unit = units.find(|unit| unit.memory() == ways.registers.name);
    let unit = unit.filter(|unit| one_pass.reorders(&nests, unit));
    let (Some(unit), Some(keep)) = (unit, relabel(machine, ways.registers.name)) else {
        let help = "give its lane unit the reductions, and a strided move from the registers to themselves";
        return Err(refuse("lanes do not fold rows in registers", help));
    };
    let memrefs = [scores.1, values.1].map(|nest| here.memrefs_of(nest));
    let [first, last] = lying;
    let unit = unit.name;
    let both = [
        (scores.1, &memrefs[0], (pair.scores.clone(), first)),
        (values.1, &memrefs[1], (pair.values.clone(), last)),
    ];
    let [scores, values] = both.map(|(nest, memrefs, (block, lying))| {
        Blocks::of(context, nest, memrefs, (block, ways.clone(), lying), Some(unit))
    });
    let pass = Pass {
        scores,
        values,
        rows: pair.rows,
        folds_operands: pair.folds_operands(),
        nests: &nests,
        one_pass: &one_pass,
        unit,
        keep,
        exponent: one_pass.exponent(&nests),
    };
    pass.write(b, starts);
    Ok(pass.values.groups())
}

/// A kernel that is being written: its pieces in `one_pass_pieces.rs`, what lanes do to rows in
/// `one_pass_rows.rs`, and how sums become a factor in `one_pass_factor.rs`.
pub(super) struct Pass<'p, 'c> {
    pub scores: Blocks<'p, 'c>,
    pub values: Blocks<'p, 'c>,
    /// The side of both products that is rows.
    pub rows: usize,
    /// Whether the greatest element of rows is found operand by operand.
    pub folds_operands: bool,
    pub nests: &'p [&'p Nest<'c>],
    pub one_pass: &'p OnePass,
    pub unit: &'c str,
    /// From registers to others of the same lanes.
    pub keep: Move<'c>,
    /// How exponents are made, where exponentials are powers of two.
    pub exponent: Option<Exponent>,
}

impl Pass<'_, '_> {
    /// The side of both products that is not rows.
    pub(super) fn own(&self) -> usize {
        M + N - self.rows
    }
}
