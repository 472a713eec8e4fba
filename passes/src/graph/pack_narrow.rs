//! `graph-pack-narrow`: weights of two or four bits lie several in a byte.
//!
//! ```text
//! q : tensor<KxNxi4>   ->   p = pack q : tensor<K/2 x N x ui8>     q[k, n] in the low bits of a byte for even k
//!                           q' = unpack p : tensor<KxNxi4>
//! ```
//!
//! Both are operators of their own, and undo each other. The first one is known when the artifact is written,
//! and the second becomes part of the product that reads it where that pays (`tile-inline-constants`).
//! Neighbours along a reduction share a byte, for a product adds them up.

use weft_dialects::graph::Operator;
use weft_dialects::graph::build::{constant, operator};
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Block, Builder, Context, Linear, Op, Val, attr, ty};

use crate::nest::{generic_accesses, generic_axes, generic_inputs};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-pack-narrow",
    description: "Lay several weights of two or four bits in a byte",
    options: &[PassOption { name: "pack", description: "whether it is done", fallback: "true" }],
    statistics: &[("packed", "weights that lie several in a byte")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    if !run.flag("pack")? {
        return Ok(());
    }
    let ops = run.module.body(0).map(Block::ops).unwrap_or_default();
    for model in ops.into_iter().filter(|op| op.is("graph.model")) {
        for op in model.body(0).ok_or(Failed)?.ops() {
            if let Some(weight) = Weight::of(op) {
                weight.pack(run.context);
                run.count("packed", 1);
            }
        }
    }
    Ok(())
}

/// A weight whose elements are packed along a dimension.
struct Weight<'c> {
    value: Val<'c>,
    shape: Vec<u64>,
    bits: u64,
    signed: bool,
    dim: usize,
}

impl<'c> Weight<'c> {
    /// `None` where it has more bits or fewer, or nothing adds up along one of its dimensions.
    fn of(op: Op<'c>) -> Option<Self> {
        let known = op.is("graph.weight") || op.is("graph.constant");
        let value = known.then(|| op.result(0))?;
        let (shape, elem) = (ty::shape(value.ty())?, ty::elem(value.ty())?);
        let bits = ty::bits(elem).filter(|bits| [2, 4].contains(bits))?;
        let dim = added_along(value).or_else(|| {
            // Behind what makes numbers of them, one for each.
            let users = value.uses().into_iter().map(|(user, _)| user);
            let makers = users.filter(|user| user.is("graph.op") && user.results().len() == 1);
            let mut made = makers.map(|user| user.result(0));
            made.find_map(|made| {
                added_along(made).filter(|_| ty::shape(made.ty()) == ty::shape(value.ty()))
            })
        })?;
        let signed = ty::is_integer(elem) && !ty::is_unsigned(elem);
        let whole = shape[dim].is_multiple_of(8 / bits) && !shape.contains(&0);
        whole.then_some(Self { value, shape, bits, signed, dim })
    }

    fn parts(&self) -> u64 {
        8 / self.bits
    }

    /// The shape of the bytes, and with the numbers of one side by side behind it.
    fn shapes(&self) -> [Vec<u64>; 2] {
        let mut bytes = self.shape.clone();
        bytes[self.dim] /= self.parts();
        let mut apart = bytes.clone();
        apart.insert(self.dim + 1, self.parts());
        [bytes, apart]
    }

    /// The index of a byte in the nest over `apart`.
    fn byte(&self) -> Vec<Linear> {
        let axes = self.shape.len() + 1;
        let own = |dim: usize| if dim > self.dim { dim + 1 } else { dim };
        (0..self.shape.len()).map(|dim| Linear::axis(axes, own(dim))).collect()
    }

    /// Writes both operators behind the weight; what read it reads what they give.
    fn pack(&self, context: &'c Context) {
        let users = self.value.uses();
        let op = self.value.def().expect("a weight is made by an operation");
        let next = op.next().expect("a model ends");
        let mut b = Builder::before(context, next).with_location(op.location());
        let [bytes, apart] = self.shapes();
        let byte = ty::parse(context, "ui8").expect("MLIR has unsigned integers");
        let name = users
            .first()
            .and_then(|(user, _)| Operator::of(*user))
            .map_or("weight", |operator| operator.name);
        let packed = operator(
            &mut b,
            ["Pack", name],
            &[self.value],
            &[ty::tensor(&bytes, byte)],
            |new, args| vec![self.packed(new, args[0], &bytes, &apart)],
        )[0];
        let table = ty::tensor(&[self.parts()], ty::int(context, 32));
        let shifts: Vec<u8> = (0..self.parts())
            .map(|part| if self.signed { 32 - self.bits * (part + 1) } else { self.bits * part })
            .flat_map(|shift| (shift as i32).to_le_bytes())
            .collect();
        let shifts = constant(&mut b, attr::dense(table, &shifts), table);
        let unpacked = operator(
            &mut b,
            ["Unpack", name],
            &[packed, shifts],
            &[self.value.ty()],
            |new, args| vec![self.unpacked(new, args[0], args[1], &apart)],
        )[0];
        for (user, operand) in users {
            user.set_operand(operand, unpacked);
        }
    }

    fn packed(
        &self,
        b: &mut Payload<'c>,
        numbers: Val<'c>,
        bytes: &[u64],
        apart: &[u64],
    ) -> Val<'c> {
        let context = b.context();
        let (long, byte) = (ty::int(context, 32), ty::int(context, 8));
        let numbers = b.reshape(numbers, apart);
        let axes = bytes.len();
        let place: Vec<_> = (0..axes).map(|axis| Linear::axis(axes, axis)).collect();
        let part = |part: u64| {
            let mut index = place.clone();
            index.insert(self.dim + 1, Linear::constant(axes, part as i64));
            (numbers, index)
        };
        let inputs: Vec<_> = (0..self.parts()).map(part).collect();
        let target = b.empty(bytes, byte);
        b.generic(
            &vec![Axis::Parallel; axes],
            &inputs,
            &[(target, place.clone())],
            |scalar, args| {
                let mask = scalar.integer(long, (1 << self.bits) - 1);
                let mut all = scalar.integer(long, 0);
                for (part, &number) in args[..inputs.len()].iter().enumerate() {
                    let wide = scalar.op("arith.extui", &[number], long);
                    let low = scalar.same("arith.andi", &[wide, mask]);
                    let up = scalar.integer(long, self.bits as i64 * part as i64);
                    let moved = scalar.same("arith.shli", &[low, up]);
                    all = scalar.same("arith.ori", &[all, moved]);
                }
                vec![scalar.op("arith.trunci", &[all], byte)]
            },
        )[0]
    }

    /// The numbers of bytes. Those with a sign are moved to the top first, by as much as the table says, and
    /// the others down.
    fn unpacked(
        &self,
        b: &mut Payload<'c>,
        packed: Val<'c>,
        shifts: Val<'c>,
        apart: &[u64],
    ) -> Val<'c> {
        let context = b.context();
        let (long, byte) = (ty::int(context, 32), ty::int(context, 8));
        let axes = apart.len();
        let place: Vec<_> = (0..axes).map(|axis| Linear::axis(axes, axis)).collect();
        let inputs = [(packed, self.byte()), (shifts, vec![Linear::axis(axes, self.dim + 1)])];
        let target = b.empty(apart, byte);
        let apart =
            b.generic(&vec![Axis::Parallel; axes], &inputs, &[(target, place)], |scalar, args| {
                let wide = scalar.op("arith.extui", &[args[0]], long);
                let number = if self.signed {
                    let top = scalar.same("arith.shli", &[wide, args[1]]);
                    let down = scalar.integer(long, 32 - self.bits as i64);
                    scalar.same("arith.shrsi", &[top, down])
                } else {
                    let low = scalar.same("arith.shrui", &[wide, args[1]]);
                    let mask = scalar.integer(long, (1 << self.bits) - 1);
                    scalar.same("arith.andi", &[low, mask])
                };
                vec![scalar.op("arith.trunci", &[number], byte)]
            })[0];
        b.reshape(apart, &self.shape)
    }
}

/// The dimension of a tensor of the model along which some operator that reads it adds up.
fn added_along(value: Val<'_>) -> Option<usize> {
    value.uses().into_iter().find_map(|(user, operand)| {
        let payload = user.is("graph.op").then(|| user.body(0))??;
        let nests = payload.ops().into_iter().filter(|op| op.is("linalg.generic"));
        { nests }.find_map(|nest| {
            let (axes, accesses) = (generic_axes(nest).ok()?, generic_accesses(nest).ok()?);
            let mut inputs = accesses.iter().take(generic_inputs(nest));
            let access = inputs.find(|access| access.tensor == payload.arg(operand))?;
            access.index.iter().position(|index| {
                index.as_axis().is_some_and(|axis| axes[axis].kind == Axis::Reduction)
            })
        })
    })
}
