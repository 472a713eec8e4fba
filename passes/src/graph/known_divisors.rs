//! `graph-known-divisors`: what is divided by a known scale and rounded to a byte is multiplied.
//!
//! ```text
//! byte(round(x / s))   ->   byte(round(x * h + x * l))      h + l nearly 1 / s; the sum is rounded once
//! ```
//!
//! `h` is the greatest float that is not above `1 / s`, `l` the float nearest to what is missing: the two ways of
//! Brisebarre, Muller and Raina, "Accelerating correctly rounded floating-point division when the divisor is known in advance"
//! (IEEE Transactions on Computers 53(8), 2004, section 4). **Exact.** Both sides never fall where `x` grows, so
//! they are equal for every `x` if they reach each byte from the same float on. That is checked here, for each
//! byte, with this scale; where it does not hold, the division stays. Infinities and NaN come out as they do of a
//! division, for no factor is below zero.
//!
//! Only where the lanes of the machine take longer for a division.

use weft_dialects::device::Machine;
use weft_dialects::graph::build::constant;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Block, Builder, Context, Mapping, Op, Type, Val, attr, remark, ty};

use super::dequantised::{literal, literal_byte};
use super::rewritten::{drop_unread, rewritten};
use crate::length;
use crate::nest::{
    captures_literals, copy_constants, generic_accesses, generic_axes, generic_inputs,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-known-divisors",
    description: "Multiply by the inverse of a known scale in the place of a division",
    options: &[
        PassOption {
            name: "divide",
            description: "by what numbers are divided: unknown, by those alone; all",
            fallback: "unknown",
        },
        PassOption {
            name: "remarks",
            description: "say which divisions stay, and why",
            fallback: "false",
        },
    ],
    statistics: &[("divisions", "divisions that are products now")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let multiply = run.word("divide", &[("unknown", true), ("all", false)])?;
    let remarks = run.flag("remarks")?;
    let Some(machine) = Machine::of(run.module).filter(|_| multiply) else { return Ok(()) };
    let single = Type::float32(run.context);
    let names = ["arith.divf", "arith.mulf", "math.fma"];
    let faster = machine.lanes_units().iter().any(|unit| {
        let [quotient, product, fused] = names.map(|name| unit.cycles_of(name));
        names.iter().all(|name| unit.supports(name, single)) && product + fused < quotient
    });
    if !faster {
        return Ok(());
    }
    let ops = run.module.body(0).map(Block::ops).unwrap_or_default();
    for model in ops.into_iter().filter(|op| op.is("graph.model")) {
        let body = model.body(0).ok_or(Failed)?;
        for mut op in body.ops().into_iter().filter(|op| op.is("graph.op")) {
            while let Some((division, parts)) = Division::all(op)
                .into_iter()
                .find_map(|own| inverse(own.scale, own.becomes.range).map(|parts| (own, parts)))
            {
                // By a power of two one product is enough.
                let parts = if parts[1] == 0.0 { &parts[..1] } else { &parts };
                op = division.replace(run.context, parts);
                run.count("divisions", 1);
            }
            for division in Division::all(op).into_iter().filter(|_| remarks) {
                let (named, scale) = (super::named(op), division.scale);
                remark(op, &format!("{named}divides by {scale}: two products round otherwise"));
            }
        }
    }
    Ok(())
}

/// A division by a literal in a nest of an operator, whose quotient becomes a byte.
pub(super) struct Division<'c> {
    op: Op<'c>,
    nest: Op<'c>,
    quotient: Op<'c>,
    /// The input of the nest that is the divisor, and its value.
    input: usize,
    scale: f32,
    becomes: Becomes<'c>,
}

impl<'c> Division<'c> {
    /// Those of an operator.
    pub fn all(op: Op<'c>) -> Vec<Self> {
        let payload = op.body(0).map(Block::ops).unwrap_or_default();
        let nests = payload.into_iter().filter(|inner| inner.is("linalg.generic"));
        let found = nests.flat_map(|nest| {
            let body = nest.body(0).map(Block::ops).unwrap_or_default();
            let quotients = body.into_iter().filter(|own| own.is("arith.divf"));
            quotients.filter_map(move |quotient| Self::at(op, nest, quotient))
        });
        found.collect()
    }

    /// The byte that the quotient becomes.
    pub fn byte(&self) -> Val<'c> {
        self.becomes.byte
    }

    fn at(op: Op<'c>, nest: Op<'c>, quotient: Op<'c>) -> Option<Self> {
        let divisor = quotient.operand(1);
        let is_arg = divisor.def().is_none() && divisor.owner_block() == nest.body(0);
        let input = is_arg.then(|| divisor.index()).filter(|&at| at < generic_inputs(nest))?;
        // Another input takes its place, and the body is written anew.
        let alone = divisor.uses().len() == 1 && nest.results().len() == 1;
        if !alone || !captures_literals(nest.body(0)?) {
            return None;
        }
        let tensor = nest.operand(input);
        let outside = tensor.def().is_none() && tensor.owner_block() == op.body(0);
        let scale = literal(op.operand(outside.then(|| tensor.index())?))?;
        let single = quotient.result(0).ty().to_string() == "f32";
        let becomes = becomes_byte(quotient.result(0)).filter(|_| single)?;
        Some(Self { op, nest, quotient, input, scale, becomes })
    }

    /// The nest that it is in.
    pub fn nest(&self) -> Op<'c> {
        self.nest
    }

    /// The divisor.
    pub fn scale(&self) -> f32 {
        self.scale
    }

    /// What is divided, a value of the nest's body.
    pub fn dividend(&self) -> Val<'c> {
        self.quotient.operand(0)
    }

    /// The zero point that is added, and the least and the greatest byte; `None` where it is not known.
    pub fn around(&self) -> Option<[i64; 3]> {
        let Becomes { zero, bounds: [low, high], .. } = self.becomes;
        let zero = match zero {
            None => 0,
            Some((byte, signed)) => {
                let is_arg = byte.def().is_none() && byte.owner_block() == self.nest.body(0);
                let tensor = self.nest.operand(is_arg.then(|| byte.index())?);
                let outside = tensor.def().is_none() && tensor.owner_block() == self.op.body(0);
                literal_byte(self.op.operand(outside.then(|| tensor.index())?), signed)?
            }
        };
        Some([zero, low.into(), high.into()])
    }

    /// Writes the operator with products in the place of the division.
    fn replace(&self, context: &'c Context, parts: &[f32]) -> Op<'c> {
        let mut b = Builder::before(context, self.op).with_location(self.op.location());
        let ty = ty::tensor(&[], Type::float32(context));
        let literal = |part: &f32| constant(&mut b, attr::dense(ty, &part.to_le_bytes()), ty);
        let parts: Vec<_> = parts.iter().map(literal).collect();
        let all: Vec<usize> = (0..self.op.operands().len()).collect();
        let new = rewritten(context, self.op, (&all, &parts), &|new, inner, map, parts| {
            (inner == self.nest).then(|| self.write(new, map, parts))
        });
        drop_unread(context, new)
    }

    /// The nest with other inputs for the divisor: the first in its place, the second behind all others.
    fn write(&self, b: &mut Payload<'c>, map: &Mapping<'c>, parts: &[Val<'c>]) -> Val<'c> {
        let accesses = generic_accesses(self.nest).expect("the nest was read");
        let axes = generic_axes(self.nest).expect("the nest was read");
        let kinds: Vec<Axis> = axes.iter().map(|axis| axis.kind).collect();
        let count = generic_inputs(self.nest);
        let seen = |at: usize| (map.get(self.nest.operand(at)), accesses[at].index.clone());
        let mut inputs: Vec<_> = (0..count).map(seen).collect();
        // A literal has one element, and may be seen in any number of dimensions.
        inputs[self.input] = (parts[0], Vec::new());
        inputs.extend(parts[1..].iter().map(|part| (*part, Vec::new())));
        let read = inputs.len();
        let outputs: Vec<_> = (count..accesses.len()).map(seen).collect();
        let body = self.nest.body(0).expect("the nest was read");
        let made = b.generic(&kinds, &inputs, &outputs, |scalar, args| {
            let mut own = Mapping::default();
            let given = args[..count].iter().chain(&args[read..]);
            for (old, new) in body.args().into_iter().zip(given) {
                own.set(old, *new);
            }
            copy_constants(scalar.builder(), body, &mut own);
            for op in body.ops().into_iter().filter(|op| !op.is("linalg.yield")) {
                if op == self.quotient {
                    let (x, first) = (own.get(op.operand(0)), args[self.input]);
                    let product = args[count..read].iter().fold(None, |_, second| {
                        let rest = scalar.mul(x, *second);
                        Some(scalar.same("math.fma", &[x, first, rest]))
                    });
                    own.set(op.result(0), product.unwrap_or_else(|| scalar.mul(x, first)));
                } else {
                    scalar.builder().clone_op(op, &mut own);
                }
            }
            let end = body.terminator().expect("a body ends");
            end.operands().into_iter().map(|value| own.get(value)).collect()
        })[0];
        length::give(b.context(), made, &length::of_loops(&axes));
        made
    }
}

/// How a quotient becomes a byte.
#[derive(Clone, Copy)]
struct Becomes<'c> {
    /// The least and the greatest integer that the rounded quotient may stand for.
    range: [i32; 2],
    /// The zero point that is added to it, and whether it has a sign.
    zero: Option<(Val<'c>, bool)>,
    /// The least and the greatest byte.
    bounds: [i32; 2],
    byte: Val<'c>,
}

/// How a quotient is rounded to an integer and becomes a byte; `None` where it is used otherwise.
///
/// ```text
/// v = roundeven(q), or roundeven(q) + f32(zero point)
/// byte(v > low ? v : low, then < high ? : high)          of signed ones NaN is 0 first
/// ```
fn becomes_byte<'c>(quotient: Val<'c>) -> Option<Becomes<'c>> {
    let rounded = the_user(quotient, "math.roundeven")?;
    let mut value = rounded.result(0);
    let (mut zeros, mut added) = ([0, 0], None);
    if let Some(sum) = the_user(value, "arith.addf") {
        let zero = if sum.operand(0) == value { sum.operand(1) } else { sum.operand(0) };
        let widened = zero.def()?;
        zeros = match widened.name() {
            "arith.uitofp" => [0, 255],
            "arith.sitofp" => [-128, 127],
            _ => return None,
        };
        (ty::bits(widened.operand(0).ty()) == Some(8)).then_some(())?;
        added = Some((widened.operand(0), widened.is("arith.sitofp")));
        value = sum.result(0);
    }
    if let Some((kept, _)) = selected(value, UNORDERED) {
        value = kept;
    }
    let (value, low) = selected(value, ABOVE)?;
    let (value, high) = selected(value, BELOW)?;
    let byte = the_user(value, "arith.fptoui").or_else(|| the_user(value, "arith.fptosi"))?;
    let [low, high] = [low, high].map(|bound| bound as i32);
    let span = i64::from(high) - i64::from(low);
    let fits = ty::bits(byte.result(0).ty()) == Some(8) && (0..=255).contains(&span);
    fits.then_some(Becomes {
        range: [low - zeros[1], high - zeros[0]],
        zero: added,
        bounds: [low, high],
        byte: byte.result(0),
    })
}

/// Predicates of `arith.cmpf`.
const ABOVE: i64 = 2;
const BELOW: i64 = 4;
const UNORDERED: i64 = 14;

/// The only user of a value, where it is this operation.
fn the_user<'c>(value: Val<'c>, name: &str) -> Option<Op<'c>> {
    match value.uses()[..] {
        [(user, _)] => Some(user).filter(|user| user.is(name)),
        _ => None,
    }
}

/// What is selected between a value and a literal by a comparison of the two (of NaN by one of the value with
/// itself), and the literal; `None` where the value is used otherwise.
fn selected<'c>(value: Val<'c>, predicate: i64) -> Option<(Val<'c>, f64)> {
    let uses = value.uses();
    let user = |name: &str| uses.iter().map(|own| own.0).find(|user| user.is(name));
    let (compare, select) = (user("arith.cmpf")?, user("arith.select")?);
    let both = uses.iter().all(|(user, _)| *user == compare || *user == select);
    let literal = |value: Val<'c>| {
        let number = value.def().filter(|op| op.is("arith.constant"))?;
        attr::float(number.attr("value")?)
    };
    let by = compare.attr("predicate").and_then(attr::int) == Some(predicate);
    let asks = by && select.operand(0) == compare.result(0) && compare.operand(0) == value;
    let bound = match predicate {
        UNORDERED => {
            let itself = compare.operand(1) == value && select.operand(2) == value;
            literal(select.operand(1)).filter(|bound| itself && *bound == 0.0)?
        }
        _ => {
            let bound = literal(compare.operand(1))?;
            let same = select.operand(1) == value && literal(select.operand(2)) == Some(bound);
            same.then_some(bound)?
        }
    };
    (both && asks).then(|| (select.result(0), bound))
}

/// Two factors whose products with every number add up to its quotient, as far as the nearest integers between
/// two are concerned, the second zero for a power of two; `None` where they do not.
fn inverse(scale: f32, [least, most]: [i32; 2]) -> Option<[f32; 2]> {
    // Far from where numbers are no longer normal.
    if !(1e-30..1e30).contains(&scale) {
        return None;
    }
    let whole = f64::from(scale);
    // A product of two floats is exact as a double.
    let near = (1.0 / whole) as f32;
    let first = if f64::from(near) * whole > 1.0 { near.next_down() } else { near };
    let second = ((1.0 - f64::from(first) * whole) / whole) as f32;
    let quotient = |x: f32| (x / scale).round_ties_even();
    // A second factor of zero is none: with an infinity it would make what is no number.
    let products = |x: f32| {
        let sum = if second == 0.0 { x * first } else { x.mul_add(first, x * second) };
        sum.round_ties_even()
    };
    let same = (least..=most + 1).all(|byte| {
        let byte = byte as f32;
        let mut from = (byte - 0.5) * scale;
        while quotient(from) >= byte {
            from = from.next_down();
        }
        while quotient(from) < byte {
            from = from.next_up();
        }
        products(from) >= byte && products(from.next_down()) < byte
    });
    same.then_some([first, second])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_float_near_a_border_becomes_the_same_byte() {
        for scale in [0.023_529_412_f32, 1.0 / 255.0, 0.1, 3.0, 1.7e-5, 123.456, 0.999_999_94] {
            let [first, second] = inverse(scale, [-255, 255]).expect("the factors are right");
            for byte in -256..=256 {
                let mut x = (byte as f32 + 0.5) * scale;
                (0..20).for_each(|_| x = x.next_down());
                for _ in 0..40 {
                    let products = x.mul_add(first, x * second).round_ties_even();
                    let quotient = (x / scale).round_ties_even();
                    assert_eq!(products.clamp(-255.0, 255.0), quotient.clamp(-255.0, 255.0), "{x}");
                    x = x.next_up();
                }
            }
            for x in [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, 0.0, -0.0, 1e-40] {
                let products = x.mul_add(first, x * second).round_ties_even();
                assert_eq!(
                    products.clamp(-255.0, 255.0),
                    (x / scale).round_ties_even().clamp(-255.0, 255.0)
                );
            }
        }
    }

    #[test]
    fn a_power_of_two_has_one_factor() {
        assert_eq!(inverse(0.25, [0, 255]), Some([4.0, 0.0]));
    }

    #[test]
    fn what_is_no_scale_stays() {
        for scale in [0.0, -0.1, f32::NAN, f32::INFINITY, 1e-40, 1e35] {
            assert_eq!(inverse(scale, [0, 255]), None, "{scale}");
        }
    }
}
