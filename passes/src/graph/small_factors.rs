//! Products of small integers that are summed in wide ones: as nests and as instructions write them.

use weft_dialects::device::Instruction;
use weft_dialects::ir::payload::Axis;
use weft_dialects::ir::{Block, Type, Val};

use crate::cost::point_cycles;
use crate::nest::{Access, Loop};
use crate::tile::depth::Depth;
use crate::tile::isa::the_generic;

/// One factor of a product: a small integer that is made wider, less something.
#[derive(Clone, Debug)]
pub(super) struct Factor<'c> {
    /// The argument of the body.
    pub arg: usize,
    pub elem: Type<'c>,
    pub signed: bool,
    /// What is subtracted from it, in the type of the sums.
    pub less: Option<Val<'c>>,
}

impl<'c> Factor<'c> {
    pub fn of(value: Val<'c>) -> Option<Self> {
        // What is used once more belongs to another factor, too.
        let op = value.def().filter(|_| value.uses().len() == 1)?;
        if op.is("arith.subi") {
            let factor = Self::of(op.operand(0))?;
            return factor.less.is_none().then(|| Self { less: Some(op.operand(1)), ..factor });
        }
        let signed = op.is("arith.extsi");
        let narrow = op.operands().first().copied().filter(|_| signed || op.is("arith.extui"))?;
        let is_arg = narrow.def().is_none() && narrow.uses().len() == 1;
        is_arg.then(|| Self { arg: narrow.index(), elem: narrow.ty(), signed, less: None })
    }
}

/// The factors of a body that adds a product of two to what is there, and the type of the sums.
pub(super) fn factors<'c>(body: Block<'c>, inputs: usize) -> Option<([Factor<'c>; 2], Type<'c>)> {
    let [sum] = body.terminator()?.operands()[..] else { return None };
    let add = sum.def().filter(|op| op.is("arith.addi"))?;
    let so_far = body.arg(inputs);
    let [one, other] = [add.operand(0), add.operand(1)];
    let product = match (one == so_far, other == so_far) {
        (true, false) => other,
        (false, true) => one,
        _ => return None,
    };
    let product = product.def().filter(|op| op.is("arith.muli"))?;
    let mut factors = [Factor::of(product.operand(0))?, Factor::of(product.operand(1))?];
    factors.sort_by_key(|factor| factor.arg);
    let apart = factors[0].arg != factors[1].arg && factors.iter().all(|own| own.arg < inputs);
    (apart && so_far.uses().len() == 1).then(|| (factors, sum.ty()))
}

/// The factors that an instruction takes.
pub(super) struct Wanted<'c> {
    pub name: &'c str,
    pub factors: [(Type<'c>, bool); 2],
    pub sums: Type<'c>,
    /// Cycles that each product takes.
    pub cycles: f64,
    /// For an instruction of lanes or tiles, whether each factor is one for all lanes or columns.
    pub for_all_lanes: [bool; 2],
    /// Neighbours of a reduction that it adds up in each lane or column, and how many of these.
    depth: Option<(u64, u64)>,
}

impl<'c> Wanted<'c> {
    pub fn of(instruction: &Instruction<'c>) -> Option<Self> {
        let body = the_generic(instruction)?.body(0)?;
        let (own, sums) = factors(body, body.args().len() - 1)?;
        let depth = Depth::laid_out(instruction);
        let for_all =
            |factor: &Factor<'_>| depth.as_ref().is_some_and(|depth| !depth.has_lanes[factor.arg]);
        own.iter().all(|factor| factor.less.is_none()).then(|| Self {
            name: instruction.name,
            factors: own.each_ref().map(|factor| (factor.elem, factor.signed)),
            sums,
            cycles: point_cycles(instruction),
            for_all_lanes: own.each_ref().map(for_all),
            depth: depth.as_ref().map(|depth| (depth.points, depth.lanes)),
        })
    }

    /// Returns whether factors of these types may be its own, with other signs perhaps.
    pub fn takes(&self, elems: [Type<'c>; 2]) -> bool {
        let mut own = elems.to_vec();
        self.factors.iter().all(|(elem, _)| {
            own.iter().position(|ty| ty == elem).map(|at| own.remove(at)).is_some()
        })
    }

    /// Neighbours that it adds up, where it does.
    pub fn points(&self) -> Option<u64> {
        self.depth.map(|depth| depth.0)
    }

    /// Returns whether factors of these types may be its own, with other signs perhaps, and lie so that it
    /// takes them: the depth divides a reduction whose neighbours lie side by side in one of them, or will,
    /// as panels of them fill the lanes (`tile-lay-out`).
    pub fn multiplies(
        &self,
        elems: [Type<'c>; 2],
        accesses: [&Access<'c>; 2],
        axes: &[Loop],
    ) -> bool {
        let known = self.takes(elems);
        let Some((points, lanes)) = self.depth else { return known };
        let lies = |axis: usize| {
            let plain = |access: &&Access<'_>| {
                access.index.iter().any(|index| index.as_axis() == Some(axis))
            };
            axes[axis].kind == Axis::Reduction
                && axes[axis].extent.is_multiple_of(points)
                && accesses.iter().all(plain)
                && (axes[axis].extent.is_multiple_of(lanes)
                    || accesses.iter().any(|access| access.stride(axes.len(), axis) == 1))
        };
        known && (0..axes.len()).any(lies)
    }
}
