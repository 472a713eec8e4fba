//! `graph-multiply-integers`: products of dequantised numbers become products of the integers
//! behind them.
//!
//! ```text
//! sum of (s * (x - p)) * (t * (y - q))  ->  f32(sum of (x - p) * (y - q)) * s * t
//! ```
//!
//! The sum on the right is exact: a product that may leave 32 bits stays as it is. So the result is
//! rounded three times, and once more where something is added, while the sum on the left is rounded
//! with every product and with every addition. It is done where an instruction of the machine multiplies such integers faster than
//! any multiplies floats.
//!
//! What only moves elements goes in front of the scale (`move_integers.rs`), and so does what takes the greatest of them
//! (`pool_integers.rs`). Factors may have a border or other dimensions (`seen_factors.rs`), and sums get points that make whole groups
//! of neighbours (`longer_sums.rs`). What is quantised again by the same scale is left as it is (`same_bytes.rs`).

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::payload::{Axis, Payload, Scalar};
use weft_dialects::ir::{Block, Context, Linear, Mapping, Op, Type, Val, remark, ty};

use super::dequantised::{Dequantised, Read, erase_unread};
use super::longer_sums::Longer;
use super::move_integers::move_before_scale;
use super::pool_integers::pool_before_scale;
use super::product::{added_product, is_weight};
use super::rewritten::{drop_unread, rewritten};
use super::same_bytes::same_bytes;
use super::seen_factors::{Around, Seen};
use super::small_factors::Wanted;
use crate::cost::product_cycles;
use crate::length;
use crate::nest::{Access, Loop, copy_body, generic_accesses, generic_axes, index_axis};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-multiply-integers",
    description: "Multiply the integers behind dequantised numbers",
    options: &[
        PassOption {
            name: "products",
            description: "of what products are computed: integers, where an instruction does; floats",
            fallback: "integers",
        },
        PassOption {
            name: "remarks",
            description: "say which products are those of integers",
            fallback: "false",
        },
    ],
    statistics: &[("products", "products that are those of integers now")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let integers = run.word("products", &[("integers", true), ("floats", false)])?;
    let remarks = run.flag("remarks")?;
    let Some(machine) = Machine::of(run.module).filter(|_| integers) else { return Ok(()) };
    // Those that are faster than what multiplies floats.
    let floats = product_cycles(machine, Type::float32(run.context)).unwrap_or(f64::INFINITY);
    let wanted = machine.instructions().iter().filter_map(Wanted::of).collect::<Vec<_>>();
    let wanted: Vec<_> = wanted.into_iter().filter(|own| own.cycles < floats).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let ops = run.module.body(0).map(Block::ops).unwrap_or_default();
    for model in ops.into_iter().filter(|op| op.is("graph.model")) {
        let body = model.body(0).ok_or(Failed)?;
        // In the order of the text: what an operator reads has been rewritten when it is looked at.
        for op in body.ops().into_iter().filter(|op| op.is("graph.op")) {
            if let Some(bytes) = same_bytes(op) {
                op.result(0).replace_with(bytes);
                op.erase();
            } else if let Some(product) = Product::of(op, &wanted, floats) {
                if remarks {
                    remark(op, &format!("{}multiplies integers", super::named(op)));
                }
                run.count("products", 1);
                product.replace(run.context);
            } else if move_before_scale(run.context, op).is_none() {
                pool_before_scale(run.context, op);
            }
        }
        erase_unread(body.ops().into_iter());
    }
    Ok(())
}

/// A factor of a product: the integers, and where each point of the nest reads them.
struct Side<'c> {
    numbers: Dequantised<'c>,
    access: Access<'c>,
    seen: Seen<'c>,
    /// Where a point reads zero point and scale.
    zero: Option<Read<'c>>,
    scale: Read<'c>,
}

impl<'c> Side<'c> {
    fn of(op: Op<'c>, access: &Access<'c>, axes: &[Loop]) -> Option<Self> {
        let (seen, tensor) = Seen::of(access.tensor)?;
        let outside = tensor.def().is_none() && tensor.owner_block() == op.body(0);
        let numbers = Dequantised::of(op.operand(outside.then(|| tensor.index())?))?;
        // What is around the tensor has one zero point.
        if matches!(seen, Seen::Padded(_)) && !numbers.is_uniform() {
            return None;
        }
        let whole = seen.index(access);
        let at = |(value, index): &Read<'c>| -> Read<'c> {
            let through = |index: &Linear| index.in_terms_of(axes.len(), &whole);
            (*value, index.iter().map(through).collect())
        };
        let (zero, scale) = (numbers.zero.as_ref().map(at), at(&numbers.scale));
        // What moves along a reduction cannot go in front of the sum.
        let still = |(_, index): &Read<'c>| {
            let reduces = |axis: usize| axes[axis].kind == Axis::Reduction;
            let moves = |index: &Linear, axis: usize| index.coefficients[axis] != 0;
            !index
                .iter()
                .any(|index| (0..axes.len()).any(|axis| reduces(axis) && moves(index, axis)))
        };
        let moves = zero.iter().chain([&scale]).all(still);
        moves.then(|| Self { numbers, access: access.clone(), seen, zero, scale })
    }
}

/// An operator whose payload sums products of dequantised numbers.
struct Product<'c> {
    op: Op<'c>,
    main: Op<'c>,
    axes: Vec<Loop>,
    output: Access<'c>,
    sides: [Side<'c>; 2],
    longer: Option<Longer>,
}

impl<'c> Product<'c> {
    /// With instructions that multiply integers faster than `floats`, the cycles of a product of floats.
    fn of(op: Op<'c>, wanted: &[Wanted<'c>], floats: f64) -> Option<Self> {
        let payload = op.body(0)?;
        let sums = |inner: &Op<'c>| {
            inner.is("linalg.generic") && inner.body(0).and_then(added_product).is_some()
        };
        let main = payload.ops().into_iter().find(sums)?;
        let axes = generic_axes(main).ok()?;
        let accesses = generic_accesses(main).ok()?;
        let [left, right, output] = &accesses[..] else { return None };
        let whole = output.index.iter().all(|index| index.as_axis().is_some());
        let single = ty::elem(output.tensor.ty())?.to_string() == "f32" && whole;
        let reductions: u64 = axes
            .iter()
            .filter(|axis| axis.kind == Axis::Reduction)
            .map(|axis| axis.extent)
            .product();
        let sides = [Side::of(op, left, &axes)?, Side::of(op, right, &axes)?];
        let most = sides[0].numbers.most()?.checked_mul(sides[1].numbers.most()?)?;
        let fits = most.checked_mul(reductions)? <= i32::MAX as u64;
        let elems = sides.each_ref().map(|side| side.numbers.elem);
        let accesses = sides.each_ref().map(|side| &side.access);
        // Sums over windows cannot be written alone: nothing may be subtracted from what they are
        // multiplied with (`graph-hoist-zero-points`).
        let sums = |wanted: &Wanted<'c>| {
            (0..2).all(|at| {
                let other = &sides[1 - at].numbers;
                let same_sign = wanted.factors.iter().any(|(_, signed)| *signed == other.signed);
                accesses[at].index.iter().all(|index| index.as_axis().is_some())
                    || other.known_zero() == Some(0) && same_sign
            })
        };
        if !single || !fits {
            return None;
        }
        let as_it_is = wanted.iter().any(|own| own.multiplies(elems, accesses, &axes) && sums(own));
        let longer = if as_it_is {
            None
        } else {
            // What is beside the numbers has one zero point.
            let has_one =
                |side: &Side<'c>| side.numbers.known_zero().is_some() || side.numbers.is_uniform();
            if !sides.iter().all(has_one) {
                return None;
            }
            let known = sides.each_ref().map(|side| is_weight(side.numbers.numbers));
            let lengthen = |own: &Wanted<'c>| {
                let longer = Longer::of(own, elems, accesses, &axes).filter(|_| sums(own))?;
                (known[longer.weight] && own.cycles * longer.more() < floats).then_some(longer)
            };
            Some(wanted.iter().find_map(lengthen)?)
        };
        Some(Self { op, main, axes, output: output.clone(), sides, longer })
    }

    /// Puts the operator on integers in its place.
    fn replace(&self, context: &'c Context) {
        let all: Vec<usize> = (0..self.op.operands().len()).collect();
        let more = self.sides.iter().flat_map(|side| {
            let zero = side.zero.as_ref().map(|zero| zero.0);
            [side.numbers.numbers].into_iter().chain(zero).chain([side.scale.0])
        });
        let more: Vec<_> = more.collect();
        let new = rewritten(context, self.op, (&all, &more), &|new, inner, map, more| {
            let start = (inner == self.main).then(|| map.get(inner.operand(2)));
            start.map(|start| self.write(new, &mut more.iter().copied(), start))
        });
        drop_unread(context, new);
    }

    /// The sums of integers with their scales, on top of what the sums started with.
    fn write(
        &self,
        b: &mut Payload<'c>,
        given: &mut impl Iterator<Item = Val<'c>>,
        start: Val<'c>,
    ) -> Val<'c> {
        let mut next = || given.next().expect("as many arguments as were asked for");
        let mut inputs = Vec::new();
        let mut zeros = Vec::new();
        let mut scales = Vec::new();
        for (at, side) in self.sides.iter().enumerate() {
            let numbers = next();
            let zero = side.zero.as_ref().map(|(_, index)| (next(), index.clone()));
            scales.push((next(), &side.scale.1));
            let around = match (side.numbers.known_zero(), &zero) {
                (None, Some(zero)) => Around::Given(zero.0),
                (known, _) => Around::Known(known.unwrap_or(0)),
            };
            let more = self.longer.as_ref().map(|longer| longer.shape(at, &side.access));
            let numbers = side.seen.write(b, numbers, &side.access, (more, around));
            inputs.push((numbers, side.access.index.clone()));
            zeros.push(zero);
        }
        let places = zeros.iter().scan(inputs.len(), |at, zero| {
            let place = zero.as_ref().map(|_| *at);
            *at += usize::from(zero.is_some());
            Some(place)
        });
        let places: Vec<Option<usize>> = places.collect();
        inputs.extend(zeros.into_iter().flatten());
        let context = b.context();
        let (long, single) = (ty::int(context, 32), Type::float32(context));
        let kinds: Vec<Axis> = self.axes.iter().map(|axis| axis.kind).collect();
        let begin = b.fill_int(0, &self.output.shape, long);
        let sums =
            b.generic(&kinds, &inputs, &[(begin, self.output.index.clone())], |scalar, args| {
                let factor = |scalar: &mut Scalar<'c>, at: usize| {
                    let widen =
                        if self.sides[at].numbers.signed { "arith.extsi" } else { "arith.extui" };
                    let wide = scalar.op(widen, &[args[at]], long);
                    let Some(place) = places[at] else { return wide };
                    let zero = scalar.op(widen, &[args[place]], long);
                    scalar.sub(wide, zero)
                };
                let factors = [factor(scalar, 0), factor(scalar, 1)];
                let product = scalar.mul(factors[0], factors[1]);
                vec![scalar.add(args[args.len() - 1], product)]
            })[0];
        length::give(context, sums, &length::of_loops(&self.axes));
        // The parallel axes alone.
        let parallel: Vec<usize> =
            (0..kinds.len()).filter(|&axis| kinds[axis] == Axis::Parallel).collect();
        let only = |index: &Linear| Linear {
            coefficients: parallel.iter().map(|&axis| index.coefficients[axis]).collect(),
            constant: index.constant,
        };
        let only = |index: &[Linear]| index.iter().map(only).collect::<Vec<_>>();
        let place = only(&self.output.index);
        let mut inputs = vec![(sums, place.clone())];
        inputs.extend(scales.into_iter().map(|(scale, index)| (scale, only(index))));
        // What the sums start with is computed here, unless that is more than elementwise.
        let begin = Start::of(start);
        match &begin {
            Some(begin) => inputs.extend(begin.inputs(&place)),
            None => inputs.push((start, place.clone())),
        }
        let target = b.empty(&self.output.shape, single);
        let kinds = vec![Axis::Parallel; parallel.len()];
        let scaled = b.generic(&kinds, &inputs, &[(target, place)], |scalar, args| {
            let sum = scalar.op("arith.sitofp", &[args[0]], single);
            // One scale after the other: both together may be too small for a number of their own.
            let scaled = scalar.mul(sum, args[1]);
            let scaled = scalar.mul(scaled, args[2]);
            let start = match &begin {
                Some(begin) => {
                    copy_body(scalar.builder(), begin.body, &args[3..], Mapping::default(), &[])[0]
                }
                None => args[3],
            };
            vec![scalar.add(start, scaled)]
        })[0];
        length::give(context, scaled, &length::of_some(&self.axes, &parallel));
        scaled
    }
}

/// A tensor each element of which is made of elements of others.
struct Start<'c> {
    reads: Vec<Access<'c>>,
    body: Block<'c>,
}

impl<'c> Start<'c> {
    fn of(tensor: Val<'c>) -> Option<Self> {
        let nest = tensor.def().filter(|op| op.is("linalg.generic") && op.results().len() == 1)?;
        let mut reads = generic_accesses(nest).ok()?;
        let output = reads.pop()?;
        let axes = generic_axes(nest).ok()?;
        let parallel = axes.iter().all(|axis| axis.kind == Axis::Parallel);
        let in_order =
            output.index.iter().enumerate().all(|(dim, index)| index.as_axis() == Some(dim));
        let body = nest.body(0)?;
        let asks = body.ops().into_iter().any(|op| index_axis(op).is_some());
        let reads_itself = !body.arg(reads.len()).uses().is_empty();
        let plain = parallel && in_order && output.index.len() == axes.len();
        (plain && !asks && !reads_itself).then_some(Self { reads, body })
    }

    /// What it reads for an element at this place.
    fn inputs(&self, place: &[Linear]) -> Vec<Read<'c>> {
        let axes = place.first().map_or(0, |index| index.coefficients.len());
        let through = |index: &Linear| index.in_terms_of(axes, place);
        let read =
            |access: &Access<'c>| (access.tensor, access.index.iter().map(through).collect());
        self.reads.iter().map(read).collect()
    }
}
