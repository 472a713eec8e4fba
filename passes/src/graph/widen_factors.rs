//! `graph-widen-factors`: products of narrow floats are computed in the type of their sums, where nothing
//! multiplies the narrow ones.
//!
//! ```text
//! z + f32(x) * f32(y)   ->   z + u * v        u, v    f32(x), f32(y), each made once
//! ```
//!
//! The result is the same bit for bit. A product reads each factor as often as the other one has rows or columns,
//! and lanes that extend it do so every time; an instruction multiplies what is wide already. It is done where no
//! instruction of the machine adds up products of such factors, and where it takes fewer cycles with what extends
//! factors that come with the data. Those that are known stay narrow in memory where they come faster so
//! (`tile-inline-constants`).

use weft_dialects::device::Machine;
use weft_dialects::graph::Operator;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Context, Op, Type, remark};

use super::nest_cost::{cycles, tile_cycles};
use super::product::{added_extended, converted, is_constant, multiplies_extended};
use crate::length;
use crate::nest::{Access, generic_accesses, generic_axes};
use crate::tile::Chooser;

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-widen-factors",
    description: "Compute products of narrow floats in the type of their sums where nothing multiplies them",
    options: &[
        PassOption {
            name: "when",
            description: "where it is applied: cheaper, always, never",
            fallback: "cheaper",
        },
        PassOption {
            name: "remarks",
            description: "say which products are those of wide factors, and which stay narrow",
            fallback: "false",
        },
    ],
    statistics: &[("widened", "products whose factors are wide now")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let words = [("cheaper", Some(true)), ("always", Some(false)), ("never", None)];
    let when = run.word("when", &words)?;
    let remarks = run.flag("remarks")?;
    let Some((cheaper, machine)) = when.zip(Machine::of(run.module)) else { return Ok(()) };
    let chooser = cheaper.then(|| Chooser::of(run, machine));
    let mut products = Vec::new();
    run.module.walk(&mut |op| {
        let inside = op.ancestors().any(|around| Operator::of(around).is_some());
        products.extend(Product::of(op).filter(|_| inside));
    });
    for product in products {
        let taken = |narrow: &Type<'_>| multiplies_extended(machine, [*narrow, product.sums]);
        if product.narrow.iter().flatten().any(taken) {
            continue;
        }
        let named = super::named(product.op);
        let wide = product.write(run.context);
        let costs = chooser.as_ref().map(|chooser| product.costs(chooser, &wide));
        let stays = costs.is_some_and(|(narrow, wide)| wide >= narrow);
        if remarks {
            let how = if stays { "multiplies narrow factors" } else { "multiplies wide factors" };
            let costs =
                costs.map(|(narrow, wide)| format!(": {wide:.0} cycles wide, {narrow:.0} narrow"));
            remark(product.op, &format!("{named}{how}{}", costs.unwrap_or_default()));
        }
        if stays {
            wide.erase();
        } else {
            product.op.result(0).replace_with(wide.product.result(0));
            product.op.erase();
            run.count("widened", 1);
        }
    }
    Ok(())
}

/// A nest that sums products of factors that are extended, and does nothing else.
struct Product<'c> {
    op: Op<'c>,
    /// The type of each factor that is extended.
    narrow: [Option<Type<'c>>; 2],
    sums: Type<'c>,
}

/// What stands beside a product: the same of wide factors.
struct Wide<'c> {
    /// What extends each factor.
    extends: Vec<Op<'c>>,
    product: Op<'c>,
}

impl<'c> Product<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("linalg.generic") {
            return None;
        }
        let sums = generic_axes(op).ok()?.iter().any(|axis| axis.kind == Axis::Reduction);
        let (product, extends) = added_extended(op.body(0)?)?;
        let narrow = extends.map(|extend| Some(extend?.operand(0).ty()));
        let some = narrow.iter().any(Option::is_some);
        (sums && some).then(|| Self { op, narrow, sums: product.result(0).ty() })
    }

    /// Writes the product of wide factors in front of it.
    fn write(&self, context: &'c Context) -> Wide<'c> {
        let axes = generic_axes(self.op).expect("the product was read");
        let accesses = generic_accesses(self.op).expect("the product was read");
        let mut b = Payload::before(context, self.op);
        let mut extends = Vec::new();
        let factors = [0, 1].map(|side| {
            let tensor = self.op.operand(side);
            if self.narrow[side].is_none() {
                return tensor;
            }
            let wide = converted(&mut b, "arith.extf", (&axes, &accesses[side]), self.sums);
            extends.extend(wide.def());
            wide
        });
        let kinds: Vec<Axis> = axes.iter().map(|axis| axis.kind).collect();
        let inputs = [0, 1].map(|side| (factors[side], accesses[side].index.clone()));
        let target = (self.op.operand(2), accesses[2].index.clone());
        let sums = b.generic(&kinds, &inputs, &[target], |scalar, args| {
            let product = scalar.mul(args[0], args[1]);
            vec![scalar.add(args[2], product)]
        });
        length::give(context, sums[0], &length::of_loops(&axes));
        Wide { extends, product: sums[0].def().expect("a nest makes it") }
    }

    /// The cycles of the product as it is, and of that of wide factors.
    fn costs(&self, chooser: &Chooser<'c>, wide: &Wide<'c>) -> (f64, f64) {
        let constant = |access: &Access<'_>| is_constant(access.tensor);
        let narrow = tile_cycles(chooser, self.op, &constant);
        // What extends a constant runs once.
        let known = |access: &Access<'c>| {
            let made = access.tensor.def().filter(|op| wide.extends.contains(op));
            is_constant(made.map_or(access.tensor, |op| op.operand(0)))
        };
        let product = tile_cycles(chooser, wide.product, &known);
        let more = wide.extends.iter().filter(|op| !is_constant(op.operand(0)));
        (narrow, product + more.map(|op| cycles(chooser, *op, &constant)).sum::<f64>())
    }
}

impl Wide<'_> {
    fn erase(self) {
        self.product.erase();
        for extend in self.extends {
            let empty = extend.operand(1).def();
            extend.erase();
            empty.into_iter().for_each(Op::erase);
        }
    }
}
