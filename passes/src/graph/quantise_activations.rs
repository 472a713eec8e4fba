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
//! **Accuracy.** Each activation misses at most half of `a[b]`: 2⁻¹⁶ of the greatest of its block, and with 8 bits 2⁻⁸. Blocks
//! in which none is above 1.1e-34 count as zeros. A block that holds an infinity or NaN makes results that are no numbers.
//!
//! The sums of each block are kept until they meet their scale. Where they and what belongs to them are more than a quarter
//! of the weights' bytes, for many rows or short blocks, a product stays as it is.

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::payload::{Axis, Payload, Scalar};
use weft_dialects::ir::{Block, Context, Linear, Mapping, Op, Type, Val, remark, ty};

use super::block_rounding::{Rounding, folding};
use super::block_weights::{Along, BlockWeight, Part};
use super::product::whole_product;
use super::rewritten::{drop_unread, rewritten};
use super::small_factors::Wanted;
use crate::length::{self, Length};
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
            // Each axis but the sum is one dimension of one factor.
            let dims = |axis| {
                let all = x.index.iter().chain(&w.index);
                all.filter(|index| index.as_axis() == Some(axis)).count()
            };
            let shared = (0..axes.len()).any(|axis| dims(axis) != if axis == sum { 2 } else { 1 });
            // Only rows may end where a length says.
            let fixed =
                |index: &Linear| index.as_axis().is_some_and(|axis| axes[axis].length.is_none());
            let known = w.index.iter().all(fixed);
            let weight = BlockWeight::of(op, w.tensor, dim).filter(|_| last && known && !shared)?;
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
        let dims = Dims::of(self);
        let x = b.reshape(map.get(self.x.tensor), &dims.lead(&[dims.blocks, dims.places]));
        let rounding = Rounding { lead: dims.rows.len(), bytes: self.bytes };
        let most = rounding.greatest(b, x, &dims.lead(&[dims.blocks]));
        dims.end(b, most, 2);
        let shape = dims.lead(&[self.bytes, dims.blocks, dims.places]);
        let numbers = rounding.numbers(b, (x, most), &shape);
        dims.end(b, numbers, 3);
        let q = self.bytes_of_weight(b, made, &dims);
        let sums = self.sums(b, (numbers, q), &dims);
        let offsets = self.offsets(b, q, rounding.least(), &dims);
        let whole = || {
            let whole = rounding.whole(b, (x, most), &dims.lead(&[dims.blocks]));
            dims.end(b, whole, 2);
            whole
        };
        let whole = self.weight.has_zero().then(whole);
        let start = map.get(self.main.operand(2));
        let given = Given { sums, offsets, most, whole, start };
        self.scaled(b, &given, (rounding, made), &dims)
    }

    /// The weight's integers as bytes, in its own order, with blocks apart.
    fn bytes_of_weight(&self, b: &mut Payload<'c>, made: &Mapping<'c>, dims: &Dims) -> Val<'c> {
        let (byte, long) = (ty::int(b.context(), 8), ty::int(b.context(), 32));
        let own = self.weight.shape();
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
            true => vec![dims.blocks, dims.places],
            false => vec![self.axes[*axis].extent],
        };
        b.reshape(q, &self.weight_axes().flat_map(|axis| split(&axis)).collect::<Vec<_>>())
    }

    /// The axes of the weight in the order of its dimensions.
    fn weight_axes(&self) -> impl Iterator<Item = usize> {
        self.w.index.iter().filter_map(Linear::as_axis)
    }

    /// Where a nest of so many axes reads the weight's bytes: along its blocks, its places and its columns.
    fn weight_index(&self, axes: usize, [blocks, places, columns]: [usize; 3]) -> Vec<Linear> {
        let mut column = columns..;
        let index = self.weight_axes().flat_map(|own| match own == self.sum {
            true => vec![Linear::axis(axes, blocks), Linear::axis(axes, places)],
            false => vec![Linear::axis(axes, column.next().expect("it has no end"))],
        });
        index.collect()
    }

    /// For each byte and block the sum of products. Axes: rows, bytes, blocks, columns, and places in a block.
    fn sums(&self, b: &mut Payload<'c>, (x, q): (Val<'c>, Val<'c>), dims: &Dims) -> Val<'c> {
        let long = ty::int(b.context(), 32);
        let rows = dims.rows.len();
        let all = rows + 2 + dims.columns.len() + 1;
        let axis = |at: usize| Linear::axis(all, at);
        let x_index: Vec<_> = (0..rows + 2).map(axis).chain([axis(all - 1)]).collect();
        let q_index = self.weight_index(all, [rows + 1, all - 1, rows + 2]);
        let shape = [&dims.lead(&[self.bytes, dims.blocks])[..], &dims.columns].concat();
        let zero = b.fill_int(0, &shape, long);
        let place: Vec<_> = (0..all - 1).map(axis).collect();
        let inputs = [(x, x_index), (q, q_index)];
        let sums = b.generic(&folding(all), &inputs, &[(zero, place)], |scalar, args| {
            let x = scalar.op("arith.extui", &[args[0]], long);
            let q = scalar.op("arith.extsi", &[args[1]], long);
            let product = scalar.mul(x, q);
            vec![scalar.add(args[2], product)]
        })[0];
        dims.end(b, sums, all - rows);
        sums
    }

    /// What it adds to the sum of a block that integers of activations begin at their least one. Axes: blocks,
    /// columns, and places.
    fn offsets(&self, b: &mut Payload<'c>, q: Val<'c>, least: i64, dims: &Dims) -> Val<'c> {
        let long = ty::int(b.context(), 32);
        let all = 1 + dims.columns.len() + 1;
        let zero = b.fill_int(0, &[&[dims.blocks], &dims.columns[..]].concat(), long);
        let place: Vec<_> = (0..all - 1).map(|at| Linear::axis(all, at)).collect();
        let inputs = [(q, self.weight_index(all, [0, all - 1, 1]))];
        b.generic(&folding(all), &inputs, &[(zero, place)], |scalar, args| {
            let q = scalar.op("arith.extsi", &[args[0]], long);
            let least = scalar.integer(long, least);
            let product = scalar.mul(q, least);
            vec![scalar.add(args[1], product)]
        })[0]
    }

    /// The sums of blocks with their scales. Axes: rows, columns, and blocks.
    fn scaled(
        &self,
        b: &mut Payload<'c>,
        given: &Given<'c>,
        (rounding, made): (Rounding, &Mapping<'c>),
        dims: &Dims,
    ) -> Val<'c> {
        let single = Type::float32(b.context());
        let (r, c) = (dims.rows.len(), dims.columns.len());
        let all = r + c + 1;
        let axis = |at: usize| Linear::axis(all, at);
        let along = Along { axes: all, blocks: all - 1, beside: (r..r + c).collect() };
        let row_index: Vec<_> = (0..r).map(axis).chain([axis(all - 1)]).collect();
        let columns: Vec<_> = (r..r + c).map(axis).collect();
        let sum_index = |byte: u64| {
            let rows = (0..r).map(axis).chain([Linear::constant(all, byte as i64), axis(all - 1)]);
            rows.chain(columns.iter().cloned()).collect::<Vec<_>>()
        };
        let mut inputs: Vec<_> =
            (0..self.bytes).map(|byte| (given.sums, sum_index(byte))).collect();
        inputs.push((given.offsets, [&[axis(all - 1)], &columns[..]].concat()));
        inputs.push((given.most, row_index.clone()));
        inputs.extend(given.whole.map(|whole| (whole, row_index)));
        let fixed = inputs.len();
        let scale = self.weight.reads(Part::Scale, made, &along);
        let zeros = fixed + scale.len();
        inputs.extend(scale.into_iter().chain(self.weight.reads(Part::Zero, made, &along)));
        let read = inputs.len();
        let (rows, own) = (self.beside(&self.x), self.beside(&self.w));
        let through: Vec<_> = (0..self.axes.len())
            .map(|axis_there| {
                let of = |axes: &[usize]| axes.iter().position(|&at| at == axis_there);
                let at = of(&rows).or_else(|| of(&own).map(|at| r + at));
                at.map_or_else(|| Linear::constant(all, 0), axis)
            })
            .collect();
        let place = self.output.index.iter().map(|index| index.in_terms_of(all, &through));
        let target = (given.start, place.collect());
        let scaled = b.generic(&folding(all), &inputs, &[target], |scalar, args| {
            let bytes = self.bytes as usize;
            let sum = rounding.joined(scalar, &args[..bytes]);
            let sum = scalar.sub(sum, args[bytes]);
            let mut sum = scalar.op("arith.sitofp", &[sum], single);
            if self.weight.has_zero() {
                let more = self.beside_numbers(scalar, &args[zeros..read]);
                let more = scalar.mul(more, args[bytes + 2]);
                sum = scalar.add(sum, more);
            }
            let scale = self.weight.write(Part::Scale, scalar, &args[fixed..zeros]);
            let step = rounding.step(scalar, args[bytes + 1]);
            let scaled = scalar.mul(sum, scale);
            let product = scalar.mul(scaled, step);
            vec![scalar.add(args[read], product)]
        })[0];
        dims.end(b, scaled, all - r);
        scaled
    }

    /// What the integers of a block are more than the bytes that were multiplied, as a float.
    fn beside_numbers(&self, scalar: &mut Scalar<'c>, given: &[Val<'c>]) -> Val<'c> {
        let single = Type::float32(scalar.context());
        let offset = scalar.number(single, self.weight.offset() as f64);
        if !self.weight.has_zero_point() {
            return offset;
        }
        let zero = self.weight.write(Part::Zero, scalar, given);
        let zero = match ty::is_float(zero.ty()) {
            true => zero,
            false => scalar.op("arith.sitofp", &[zero], single),
        };
        scalar.sub(offset, zero)
    }
}

/// The extents of a product.
struct Dims {
    rows: Vec<u64>,
    /// The lengths of rows.
    lengths: Vec<Option<&'static Length>>,
    columns: Vec<u64>,
    blocks: u64,
    places: u64,
}

impl Dims {
    fn of(product: &Product<'_>) -> Self {
        let extents = |access| {
            let axes = product.beside(access).into_iter();
            axes.map(|axis| product.axes[axis].extent).collect::<Vec<_>>()
        };
        let (rows, columns) = (extents(&product.x), extents(&product.w));
        let places = product.weight.places;
        let lengths = length::of_some(&product.axes, &product.beside(&product.x));
        Self { rows, lengths, columns, blocks: product.axes[product.sum].extent / places, places }
    }

    /// The shape of a tensor with these dimensions behind those of the activations.
    fn lead(&self, more: &[u64]) -> Vec<u64> {
        [&self.rows[..], more].concat()
    }

    /// Lets the nest that makes a tensor end where the rows do, its first axes; it has so many behind them.
    fn end<'c>(&self, b: &Payload<'c>, made: Val<'c>, behind: usize) {
        length::give(b.context(), made, &[&self.lengths[..], &vec![None; behind]].concat());
    }
}

/// What the sums of blocks are scaled with.
struct Given<'c> {
    sums: Val<'c>,
    offsets: Val<'c>,
    most: Val<'c>,
    whole: Option<Val<'c>>,
    /// What the product is added to.
    start: Val<'c>,
}
