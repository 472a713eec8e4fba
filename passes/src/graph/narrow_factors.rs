//! `graph-narrow-factors`: products of `f32` become products of 16-bit floats, with sums in `f32`.
//!
//! ```text
//! z + x * y   ->   z + f32(bf16(x)) * f32(bf16(y))
//! ```
//!
//! Factors are rounded once to the nearest, where they are made or, for weights, when the artifact is
//! written, and take half the memory. On request only, by `to`, and only where an instruction of the machine
//! multiplies such factors and adds their products up in `f32`.
//!
//! **Accuracy.** A factor in bf16 misses at most 2⁻⁹ of itself, so a product less than 2⁻⁷·⁹⁹ of itself; in
//! f16 at most 2⁻¹² and less than 2⁻¹⁰·⁹⁹, but factors below 2⁻¹⁴ lose more, and those of 65,520 and above
//! become infinite.

use weft_dialects::device::Machine;
use weft_dialects::graph::Operator;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Context, Op, Type, remark, ty};

use super::product::{converted, multiplies_extended, whole_product};
use crate::length;
use crate::nest::{generic_accesses, generic_axes};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-narrow-factors",
    description: "Compute products of f32 as those of 16-bit floats",
    options: &[
        PassOption {
            name: "to",
            description: "what factors become: whole leaves them; bf16; f16",
            fallback: "whole",
        },
        PassOption {
            name: "remarks",
            description: "say which products are those of narrower factors",
            fallback: "false",
        },
    ],
    statistics: &[("narrowed", "products whose factors have 16 bits now")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let to = run.word("to", &[("whole", None), ("bf16", Some("bf16")), ("f16", Some("f16"))])?;
    let remarks = run.flag("remarks")?;
    let Some((name, machine)) = to.zip(Machine::of(run.module)) else { return Ok(()) };
    let elem = ty::parse(run.context, name).expect("it is a float of MLIR");
    let takes = multiplies_extended(machine, [elem, Type::float32(run.context)]);
    let mut products = Vec::new();
    run.module.walk(&mut |op| {
        let inside = op.ancestors().any(|around| Operator::of(around).is_some());
        if inside && whole_product(op).is_some() {
            products.push(op);
        }
    });
    for product in products {
        let named = super::named(product);
        if !takes {
            if remarks {
                let why = format!("no instruction of @{} multiplies {name}", machine.op().symbol());
                remark(product, &format!("{named}stays whole: {why} [instruction]"));
            }
            continue;
        }
        if remarks {
            remark(product, &format!("{named}multiplies {name}"));
        }
        narrow(run.context, product, elem);
        run.count("narrowed", 1);
    }
    Ok(())
}

/// Writes a product of narrower factors in the place of one.
fn narrow<'c>(context: &'c Context, product: Op<'c>, elem: Type<'c>) {
    let (Ok(axes), Ok(accesses)) = (generic_axes(product), generic_accesses(product)) else {
        return;
    };
    let single = Type::float32(context);
    let mut b = Payload::before(context, product);
    let seen = |side: usize| (&axes[..], &accesses[side]);
    let factors = [0, 1].map(|side| converted(&mut b, "arith.truncf", seen(side), elem));
    let kinds: Vec<Axis> = axes.iter().map(|axis| axis.kind).collect();
    let [left, right, output] = &accesses[..] else { return };
    let inputs = [(factors[0], left.index.clone()), (factors[1], right.index.clone())];
    let target = (product.operand(2), output.index.clone());
    let sums = b.generic(&kinds, &inputs, &[target], |scalar, args| {
        let factors = [args[0], args[1]].map(|arg| scalar.op("arith.extf", &[arg], single));
        let product = scalar.mul(factors[0], factors[1]);
        vec![scalar.add(args[2], product)]
    });
    length::give(context, sums[0], &length::of_loops(&axes));
    product.result(0).replace_with(sums[0]);
    product.erase();
}
