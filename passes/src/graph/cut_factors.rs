//! `graph-cut-factors`: products of `f32` by instructions that take fewer bits.
//!
//! ```text
//! z + x * y
//!   ->  z + u * v                             u, v    x, y without the last 13 bits      tf32
//!   ->  z + (u * v + (u * v' + u' * v))       u', v'  x - u, y - v, cut likewise         tf32x3
//! ```
//!
//! Matrix instructions of some machines take factors of `f32` with 10 bits of fraction
//! ("TensorFloat-32"), and say so in what they mean. A product in full does not become one of
//! them; this pass writes what they compute, so that the interpreter computes it, too.
//!
//! **Accuracy.** Of factors of 2⁻¹¹⁵ and above: what is cut off one is below 2⁻¹⁰ of it, so a product by `tf32` misses less
//! than 2⁻⁹ of itself. By `tf32x3` it misses `(x - u) * (y - v)`, below 2⁻²⁰, and what is cut off
//! `x - u` and `y - v`, below 2⁻²¹ of a factor each: less than 2⁻¹⁹ of itself. Three products of
//! parts for one of wholes are Ootomo and Yokota's, "Recovering single precision accuracy from Tensor Cores while surpassing the FP32
//! theoretical peak performance" (IJHPCA 36(4), 2022, section 3). Smaller factors may be cut to zero. Where
//! a factor is infinite, `tf32x3` gives what is no number; what is none by its last bits alone is infinite
//! for `tf32`.
//!
//! On request only, by `f32`. A product stays whole, with a remark, where the machine's cost model
//! says that it takes no longer; `when=always` does not ask it.

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Attribute, Builder, Context, Op, Val, remark, ty};

use super::nest_cost::cycles;
use super::product::{is_constant, whole_product};
use crate::nest::Access;
use crate::tile::Chooser;

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-cut-factors",
    description: "Compute products of f32 by instructions that take fewer bits",
    options: &[
        PassOption {
            name: "f32",
            description: "what products of f32 become: whole leaves them, tf32 cuts 13 bits off \
                          the factors, tf32x3 also multiplies with what it cuts off",
            fallback: "whole",
        },
        PassOption {
            name: "when",
            description: "where it is applied: cheaper, always",
            fallback: "cheaper",
        },
        PassOption {
            name: "remarks",
            description: "say which products stay whole, and why",
            fallback: "false",
        },
    ],
    statistics: &[("cut", "products whose factors were cut")],
    run,
};

/// The last 13 bits of an `f32`.
const CUT_BITS: i64 = (1 << 13) - 1;

/// What is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// What is left of the factors.
    Once,
    /// And what is left of one with what was cut off the other.
    ThreeTimes,
}

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let forms = [("whole", None), ("tf32", Some(Form::Once)), ("tf32x3", Some(Form::ThreeTimes))];
    let form = run.word("f32", &forms)?;
    let cheaper = run.word("when", &[("cheaper", true), ("always", false)])?;
    let remarks = run.flag("remarks")?;
    let Some(form) = form else { return Ok(()) };
    let machine = Machine::of(run.module).filter(|_| cheaper);
    let chooser = machine.map(|machine| Chooser::of(run, machine));
    let mut products = Vec::new();
    run.module.walk(&mut |op| products.extend(whole_product(op).map(|product| (op, product))));
    for (nest, product) in products {
        let constant = |access: &Access<'_>| is_constant(access.tensor);
        let cost = |chooser: &Chooser<'_>| cycles(chooser, nest, &constant);
        let whole = chooser.as_ref().map(cost);
        let cut = Cut::of(&mut Builder::before(run.context, product), product, form);
        let other = chooser.as_ref().map(cost);
        match whole.zip(other) {
            Some((whole, other)) if other >= whole => {
                cut.undo(run.context);
                if remarks {
                    let name = super::named(nest);
                    let costs = format!("{other:.0} cycles with cut factors, {whole:.0} without");
                    remark(nest, &format!("{name}stays whole: it takes {costs} [cost]"));
                }
            }
            _ => run.count("cut", 1),
        }
    }
    Ok(())
}

/// What stands for a product, in its place.
struct Cut<'c> {
    factors: [Val<'c>; 2],
    /// The product's attributes.
    attrs: Vec<(&'c str, Attribute<'c>)>,
    ops: Vec<Op<'c>>,
    result: Val<'c>,
}

impl<'c> Cut<'c> {
    /// Replaces the product, which `b` writes in front of.
    fn of(b: &mut Builder<'c>, product: Op<'c>, form: Form) -> Self {
        let mut own = Writer { b, ops: Vec::new() };
        let factors = [product.operand(0), product.operand(1)];
        let upper = factors.map(|factor| own.cut(factor));
        let mut result = own.op("arith.mulf", upper);
        if form == Form::ThreeTimes {
            let rest = [0, 1].map(|side| own.op("arith.subf", [factors[side], upper[side]]));
            let lower = rest.map(|rest| own.cut(rest));
            let one = own.op("arith.mulf", [upper[0], lower[1]]);
            let other = own.op("arith.mulf", [lower[0], upper[1]]);
            let both = own.op("arith.addf", [one, other]);
            result = own.op("arith.addf", [result, both]);
        }
        let (ops, attrs) = (own.ops, product.attrs());
        product.result(0).replace_with(result);
        product.erase();
        Self { factors, attrs, ops, result }
    }

    /// Writes the product again.
    fn undo(self, context: &'c Context) {
        let mut b = Builder::before(context, self.ops[0]);
        let types = [self.result.ty()];
        let product = b.op_with("arith.mulf", &self.factors, &types, &self.attrs, 0);
        self.result.replace_with(product.result(0));
        self.ops.into_iter().rev().for_each(Op::erase);
    }
}

/// Writes operations, and keeps them.
struct Writer<'b, 'c> {
    b: &'b mut Builder<'c>,
    ops: Vec<Op<'c>>,
}

impl<'c> Writer<'_, 'c> {
    fn op(&mut self, name: &str, operands: [Val<'c>; 2]) -> Val<'c> {
        let op = self.b.op(name, &operands, &[operands[0].ty()]);
        self.ops.push(op);
        op.result(0)
    }

    /// A value without its last bits.
    fn cut(&mut self, value: Val<'c>) -> Val<'c> {
        let (float, int) = (value.ty(), ty::int(self.b.context(), 32));
        let kept = self.b.integer(int, !CUT_BITS);
        let bits = self.b.op("arith.bitcast", &[value], &[int]);
        let cut = self.b.op("arith.andi", &[bits.result(0), kept], &[int]);
        let back = self.b.op("arith.bitcast", &[cut.result(0)], &[float]);
        self.ops.extend([kept.def().expect("a constant"), bits, cut, back]);
        back.result(0)
    }
}
