//! `graph-quantise-activations`: activations that meet weights in blocks become integers.
//!
//! ```text
//! y[n] = sum over b, i of x[b, i] * ((q[b, i, n] - z[b, n]) * s[b, n])
//!   ->   X = round(x / a[b]), a[b] = max over i of |x[b, i]| / 32767
//!        y[n] = sum over b of a[b] * s[b, n] * (sum over i of X[b, i] * q[b, i, n]  -  z[b, n] * sum over i of X[b, i])
//! ```
//!
//! The sums inside are of small integers, by an instruction for bytes: of 16 bits, the upper and the lower byte are rows of one
//! product. On request only, by `to`, and only where an instruction of the machine multiplies bytes.
//!
//! **Accuracy.** Each activation misses at most half of `a[b]`: 2⁻¹⁶ of the greatest of its block, and with 8 bits 2⁻⁸. A block that
//! holds an infinity or NaN makes results that are no numbers.
//!
//! The sums of each block are kept until they meet their scale. Where they and what belongs to them are more than a quarter
//! of the weights' bytes, for many rows or short blocks, a product stays as it is.

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::payload::{Axis, Payload, Scalar};
use weft_dialects::ir::{Block, Context, Linear, Mapping, Op, Type, Val, remark, ty};

use super::block_weights::{BlockWeight, Part, Seen};
use super::product::whole_product;
use super::rewritten::{drop_unread, rewritten};
use super::small_factors::Wanted;
use crate::nest::{Access, Loop, generic_accesses, generic_axes};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-quantise-activations",
    description: "Round activations that meet weights in blocks to integers",
    options: &[
        PassOption {
            name: "to",
            description: "what activations become: whole leaves them; int16; int8",
            fallback: "whole",
        },
        PassOption {
            name: "remarks",
            description: "say which products are those of integers, and which stay",
            fallback: "false",
        },
    ],
    statistics: &[("products", "products of rounded activations")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let bytes = run.word("to", &[("whole", None), ("int16", Some(2)), ("int8", Some(1))])?;
    let remarks = run.flag("remarks")?;
    let Some((bytes, machine)) = bytes.zip(Machine::of(run.module)) else { return Ok(()) };
    let byte = ty::int(run.context, 8);
    let wanted = machine.instructions().iter().filter_map(Wanted::of).collect::<Vec<_>>();
    let takes = wanted.iter().any(|own| own.takes([byte; 2]));
    let ops = run.module.body(0).map(Block::ops).unwrap_or_default();
    for model in ops.into_iter().filter(|op| op.is("graph.model")) {
        let body = model.body(0).ok_or(Failed)?;
        for op in body.ops().into_iter().filter(|op| op.is("graph.op")) {
            let Some(product) = Product::of(op, bytes) else { continue };
            let named = super::named(op);
            let stays = match product.stays() {
                _ if !takes => Some(format!(
                    "no instruction of @{} multiplies bytes [instruction]",
                    machine.op().symbol()
                )),
                why => why,
            };
            if let Some(why) = stays {
                if remarks {
                    remark(op, &format!("{named}stays whole: {why}"));
                }
                continue;
            }
            if remarks {
                remark(op, &format!("{named}multiplies activations of {} bits", 8 * bytes));
            }
            product.replace(run.context);
            run.count("products", 1);
        }
        super::dequantised::erase_unread(body.ops().into_iter());
    }
    Ok(())
}

/// A product of activations with a weight in blocks.
struct Product<'c> {
    op: Op<'c>,
    main: Op<'c>,
    axes: Vec<Loop>,
    x: Access<'c>,
    w: Access<'c>,
    output: Access<'c>,
    weight: BlockWeight<'c>,
    /// The axis that is summed over.
    sum: usize,
    /// Bytes that an activation becomes.
    bytes: u64,
}

impl<'c> Product<'c> {
    fn of(op: Op<'c>, bytes: u64) -> Option<Self> {
        let main = op.body(0)?.ops().into_iter().find(|own| whole_product(*own).is_some())?;
        let axes = generic_axes(main).ok()?;
        let accesses = generic_accesses(main).ok()?;
        let reductions: Vec<_> =
            (0..axes.len()).filter(|&axis| axes[axis].kind == Axis::Reduction).collect();
        let [sum] = reductions[..] else { return None };
        let plain =
            |access: &Access<'c>| access.index.iter().all(|index| index.as_axis().is_some());
        let [left, right, output] = &accesses[..] else { return None };
        if !accesses.iter().all(plain) {
            return None;
        }
        [(left, right), (right, left)].into_iter().find_map(|(x, w)| {
            let dim = w.index.iter().position(|index| index.as_axis() == Some(sum))?;
            let last = x.index.last()?.as_axis() == Some(sum);
            let shared = (0..axes.len()).any(|axis| axis != sum && x.uses(axis) && w.uses(axis));
            let weight = BlockWeight::of(op, w.tensor, dim).filter(|_| last && !shared)?;
            let [x, w, output] = [x, w, output].map(Clone::clone);
            Some(Self { op, main, axes: axes.clone(), x, w, output, weight, sum, bytes })
        })
    }

    /// The axes of the activations, and those of the weight, but for the sum.
    fn beside(&self, access: &Access<'c>) -> Vec<usize> {
        access.index.iter().filter_map(Linear::as_axis).filter(|&axis| axis != self.sum).collect()
    }

    /// Why it stays as it is.
    fn stays(&self) -> Option<String> {
        let places = self.weight.places;
        if places * (1 << (8 * self.bytes - 1)) * 128 > i32::MAX as u64 {
            return Some(format!("sums of {places} products may leave 32 bits [range]"));
        }
        let extents = self.beside(&self.x).into_iter().map(|axis| self.axes[axis].extent);
        let rows: u64 = extents.product();
        // Each sum is stored and read, and what is added to it is read.
        let more = 4 * (2 * rows * self.bytes + 1);
        let all = places / 4;
        (more > all).then(|| {
            format!(
                "sums of a block move {more} bytes, more than a quarter of its {places} [bytes]"
            )
        })
    }

    fn replace(&self, context: &'c Context) {
        let all: Vec<usize> = (0..self.op.operands().len()).collect();
        let other = self.weight.op != self.op;
        let more = if other { self.weight.op.operands() } else { Vec::new() };
        let new = rewritten(context, self.op, (&all, &more), &|new, inner, map, more| {
            if inner != self.main {
                return None;
            }
            // What makes the weight elsewhere is written here, too.
            let mut made = Mapping::default();
            if other {
                let payload = self.weight.op.body(0).expect("the operator was read");
                for (old, new) in payload.args().into_iter().zip(more) {
                    made.set(old, *new);
                }
                for op in payload.ops().into_iter().filter(|op| !op.is("graph.yield")) {
                    new.builder().clone_op(op, &mut made);
                }
            }
            Some(self.write(new, map, if other { &made } else { map }))
        });
        drop_unread(context, new);
    }

    /// The nests in the place of the product. Tensors have the activations' dimensions first, then
    /// those of bytes, of blocks, and those of the weight or of places in a block.
    fn write(&self, b: &mut Payload<'c>, map: &Mapping<'c>, made: &Mapping<'c>) -> Val<'c> {
        let context = b.context();
        let (byte, long, single) =
            (ty::int(context, 8), ty::int(context, 32), Type::float32(context));
        let (rows, columns) = (self.beside(&self.x), self.beside(&self.w));
        let extents =
            |axes: &[usize]| axes.iter().map(|&axis| self.axes[axis].extent).collect::<Vec<_>>();
        let (places, blocks) =
            (self.weight.places, self.axes[self.sum].extent / self.weight.places);
        let lead = extents(&rows);
        let shape = |more: &[u64]| [&lead[..], more].concat();
        let x = b.reshape(map.get(self.x.tensor), &shape(&[blocks, places]));
        let rounding = Rounding { lead: lead.len(), bytes: self.bytes };
        let most = rounding.greatest(b, x, &shape(&[blocks]));
        let numbers = rounding.numbers(b, (x, most), &shape(&[self.bytes, blocks, places]));

        // The weight's integers as bytes, in its own order, with blocks apart.
        let own: Vec<_> = self.weight.shape();
        let target = b.empty(&own, byte);
        let identity: Vec<_> = (0..own.len()).map(|axis| Linear::axis(own.len(), axis)).collect();
        let kinds = vec![Axis::Parallel; own.len()];
        let offset = self.weight.offset();
        let inputs = self.weight.numbers(made);
        let q = b.generic(&kinds, &inputs, &[(target, identity)], |scalar, args| {
            let number = self.weight.write(Part::Number, scalar, args);
            let offset = scalar.integer(long, offset);
            let number = scalar.sub(number, offset);
            vec![scalar.op("arith.trunci", &[number], byte)]
        })[0];
        let split = |axis: &usize| match *axis == self.sum {
            true => vec![blocks, places],
            false => vec![self.axes[*axis].extent],
        };
        let own: Vec<usize> = self.w.index.iter().filter_map(Linear::as_axis).collect();
        let q = b.reshape(q, &own.iter().flat_map(split).collect::<Vec<_>>());

        // Axes: rows, bytes, blocks, columns, and places in a block.
        let (r, c) = (rows.len(), columns.len());
        let all = r + 2 + c + 1;
        let axis = |at: usize| Linear::axis(all, at);
        let column =
            |own: usize| r + 2 + columns.iter().position(|&at| at == own).expect("its own");
        let weight_index =
            |first: usize, place: usize, column: &dyn Fn(usize) -> usize, axes: usize| {
                let index = own.iter().flat_map(|&own| match own == self.sum {
                    true => vec![Linear::axis(axes, first), Linear::axis(axes, place)],
                    false => vec![Linear::axis(axes, column(own))],
                });
                index.collect::<Vec<_>>()
            };
        let x_index: Vec<_> = (0..r + 2).map(axis).chain([axis(all - 1)]).collect();
        let q_index = weight_index(r + 1, all - 1, &column, all);
        let sums_shape = [&lead[..], &[self.bytes, blocks], &extents(&columns)].concat();
        let zero = b.fill_int(0, &sums_shape, long);
        let mut kinds = vec![Axis::Parallel; all];
        kinds[all - 1] = Axis::Reduction;
        let place: Vec<_> = (0..all - 1).map(axis).collect();
        let inputs = [(numbers, x_index), (q, q_index)];
        let sums = b.generic(&kinds, &inputs, &[(zero, place)], |scalar, args| {
            let x = scalar.op("arith.extui", &[args[0]], long);
            let q = scalar.op("arith.extsi", &[args[1]], long);
            let product = scalar.mul(x, q);
            vec![scalar.add(args[2], product)]
        })[0];

        // The integers of activations begin at their least one: what that adds to each sum.
        let all = 1 + c + 1;
        let local = |own: usize| 1 + columns.iter().position(|&at| at == own).expect("its own");
        let whole_shape = [&[blocks], &extents(&columns)[..]].concat();
        let zero = b.fill_int(0, &whole_shape, long);
        let mut kinds = vec![Axis::Parallel; all];
        kinds[all - 1] = Axis::Reduction;
        let place: Vec<_> = (0..all - 1).map(|at| Linear::axis(all, at)).collect();
        let inputs = [(q, weight_index(0, all - 1, &local, all))];
        let least = rounding.least();
        let offsets = b.generic(&kinds, &inputs, &[(zero, place)], |scalar, args| {
            let q = scalar.op("arith.extsi", &[args[0]], long);
            let least = scalar.integer(long, least);
            let product = scalar.mul(q, least);
            vec![scalar.add(args[1], product)]
        })[0];
        let whole = self.weight.has_zero().then(|| rounding.whole(b, (x, most), &shape(&[blocks])));

        // Axes: rows, columns, and blocks.
        let all = r + c + 1;
        let axis = |at: usize| Linear::axis(all, at);
        let seen = Seen { axes: all, blocks: all - 1, beside: (r..r + c).collect() };
        let row_index: Vec<_> = (0..r).map(axis).chain([axis(all - 1)]).collect();
        let sum_index = |byte: u64| {
            let rows = (0..r).map(axis).chain([Linear::constant(all, byte as i64), axis(all - 1)]);
            rows.chain((r..r + c).map(axis)).collect::<Vec<_>>()
        };
        let mut inputs: Vec<_> = (0..self.bytes).map(|byte| (sums, sum_index(byte))).collect();
        inputs.push((offsets, [axis(all - 1)].into_iter().chain((r..r + c).map(axis)).collect()));
        inputs.push((most, row_index.clone()));
        inputs.extend(whole.map(|whole| (whole, row_index)));
        let fixed = inputs.len();
        let scale = self.weight.reads(Part::Scale, made, &seen);
        let zeros = self.weight.reads(Part::Zero, made, &seen);
        let scales = scale.len();
        inputs.extend(scale.into_iter().chain(zeros));
        let through: Vec<_> = (0..self.axes.len())
            .map(|own| {
                let of = |axes: &[usize]| axes.iter().position(|&at| at == own);
                let at = of(&rows).or_else(|| of(&columns).map(|at| r + at));
                at.map_or_else(|| Linear::constant(all, 0), axis)
            })
            .collect();
        let place = self.output.index.iter().map(|index| index.in_terms_of(all, &through));
        let target = (map.get(self.main.operand(2)), place.collect());
        let mut kinds = vec![Axis::Parallel; all];
        kinds[all - 1] = Axis::Reduction;
        b.generic(&kinds, &inputs, &[target], |scalar, args| {
            let bytes = self.bytes as usize;
            let sum = rounding.joined(scalar, &args[..bytes]);
            let sum = scalar.sub(sum, args[bytes]);
            let mut sum = scalar.op("arith.sitofp", &[sum], single);
            let step = rounding.step(scalar, args[bytes + 1]);
            let scale = self.weight.write(Part::Scale, scalar, &args[fixed..fixed + scales]);
            if self.weight.has_zero() {
                // q - offset was multiplied; q - zero is meant.
                let mut more = scalar.number(single, offset as f64);
                if self.weight.has_zero_point() {
                    let given = &args[fixed + scales..inputs.len()];
                    let zero = self.weight.write(Part::Zero, scalar, given);
                    let zero = if ty::is_float(zero.ty()) {
                        zero
                    } else {
                        scalar.op("arith.sitofp", &[zero], single)
                    };
                    more = scalar.sub(more, zero);
                }
                let more = scalar.mul(more, args[bytes + 2]);
                sum = scalar.add(sum, more);
            }
            let scaled = scalar.mul(sum, scale);
            let product = scalar.mul(scaled, step);
            vec![scalar.add(args[args.len() - 1], product)]
        })[0]
    }
}

/// How the activations of a block become integers.
#[derive(Clone, Copy)]
struct Rounding {
    /// Dimensions in front of the blocks.
    lead: usize,
    bytes: u64,
}

impl Rounding {
    /// The greatest integer.
    fn top(self) -> f64 {
        ((1u32 << (8 * self.bytes - 1)) - 1) as f64
    }

    /// What is added so that none is below zero.
    fn least(self) -> i64 {
        1 << (8 * self.bytes - 1)
    }

    /// The greatest distance from zero in each block.
    fn greatest<'c>(self, b: &mut Payload<'c>, x: Val<'c>, shape: &[u64]) -> Val<'c> {
        let single = Type::float32(b.context());
        let zero = b.fill(0.0, shape, single);
        self.folded(b, &[x], zero, |scalar, args| {
            let size = scalar.same("math.absf", &[args[0]]);
            scalar.same("arith.maximumf", &[args[1], size])
        })
    }

    /// The sum of the integers of each block, as a float.
    fn whole<'c>(
        self,
        b: &mut Payload<'c>,
        (x, most): (Val<'c>, Val<'c>),
        shape: &[u64],
    ) -> Val<'c> {
        let single = Type::float32(b.context());
        let zero = b.fill(0.0, shape, single);
        self.folded(b, &[x, most], zero, |scalar, args| {
            let number = self.rounded(scalar, args[0], args[1]);
            scalar.add(args[2], number)
        })
    }

    fn folded<'c>(
        self,
        b: &mut Payload<'c>,
        inputs: &[Val<'c>],
        start: Val<'c>,
        body: impl FnOnce(&mut Scalar<'c>, &[Val<'c>]) -> Val<'c>,
    ) -> Val<'c> {
        let axes = self.lead + 2;
        let index = |last: usize| (0..last).map(|at| Linear::axis(axes, at)).collect::<Vec<_>>();
        let mut kinds = vec![Axis::Parallel; axes];
        kinds[axes - 1] = Axis::Reduction;
        let inputs: Vec<_> =
            inputs.iter().enumerate().map(|(at, own)| (*own, index(axes - at.min(1)))).collect();
        b.generic(&kinds, &inputs, &[(start, index(axes - 1))], |scalar, args| {
            vec![body(scalar, args)]
        })[0]
    }

    /// The bytes of the integers, the upper one first, all from zero on.
    fn numbers<'c>(
        self,
        b: &mut Payload<'c>,
        (x, most): (Val<'c>, Val<'c>),
        shape: &[u64],
    ) -> Val<'c> {
        let context = b.context();
        let (byte, long) = (ty::int(context, 8), ty::int(context, 32));
        let axes = shape.len();
        let axis = |at: usize| Linear::axis(axes, at);
        let target = b.empty(shape, byte);
        let all: Vec<_> = (0..axes).map(axis).collect();
        let but_bytes: Vec<_> = (0..axes).filter(|&at| at != self.lead).map(axis).collect();
        let block = but_bytes[..but_bytes.len() - 1].to_vec();
        let inputs = [(x, but_bytes), (most, block)];
        b.generic(&vec![Axis::Parallel; axes], &inputs, &[(target, all)], |scalar, args| {
            let number = self.rounded(scalar, args[0], args[1]);
            let number = scalar.op("arith.fptosi", &[number], long);
            let least = scalar.integer(long, self.least());
            let mut number = scalar.add(number, least);
            if self.bytes == 2 {
                let at = scalar.index(self.lead);
                let at = scalar.from_index(at, long);
                let eight = scalar.integer(long, 8);
                let upper = scalar.op("arith.shrui", &[number, eight], long);
                let zero = scalar.integer(long, 0);
                let is_upper = scalar.cmpi("eq", at, zero);
                number = scalar.select(is_upper, upper, number);
            }
            vec![scalar.op("arith.trunci", &[number], byte)]
        })[0]
    }

    /// An activation as an integer, in a float; what is no number as the least.
    fn rounded<'c>(self, scalar: &mut Scalar<'c>, x: Val<'c>, most: Val<'c>) -> Val<'c> {
        let single = x.ty();
        let [zero, top, low] = [0.0, self.top(), -self.top()].map(|own| scalar.number(single, own));
        let times = scalar.op("arith.divf", &[top, most], single);
        let some = scalar.cmpf("ogt", most, zero);
        let times = scalar.select(some, times, zero);
        let number = scalar.mul(x, times);
        let number = scalar.same("math.roundeven", &[number]);
        let above = scalar.cmpf("ogt", number, low);
        let number = scalar.select(above, number, low);
        let below = scalar.cmpf("olt", number, top);
        scalar.select(below, number, top)
    }

    /// What an integer stands for, by the greatest of its block.
    fn step<'c>(self, scalar: &mut Scalar<'c>, most: Val<'c>) -> Val<'c> {
        let inverse = scalar.number(most.ty(), 1.0 / self.top());
        scalar.mul(most, inverse)
    }

    /// The sum of products of integers, from those of their bytes.
    fn joined<'c>(self, scalar: &mut Scalar<'c>, sums: &[Val<'c>]) -> Val<'c> {
        let ty = sums[0].ty();
        let (first, rest) = sums.split_first().expect("it has bytes");
        rest.iter().fold(*first, |upper, lower| {
            let places = scalar.integer(ty, 256);
            let upper = scalar.mul(upper, places);
            scalar.add(upper, *lower)
        })
    }
}
