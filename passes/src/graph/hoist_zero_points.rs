//! `graph-hoist-zero-points`: products of small integers become those that an instruction means.
//!
//! ```text
//! C[i, j] = sum over k of (A[i, k] - p) * (B[k, j] - q)
//!   ->  P = sum over k of A * B,  a = sum over k of A,  b = sum over k of B
//!       C = P - q * a - p * b + K * p * q                  b is a constant where B is one
//! sext x  ->  zext (x ^ 128) - 128                         where the instruction takes the other sign
//! ```
//!
//! Sums of integers wrap, so both sides are the same bit for bit, whatever the zero points
//! are. It is done where an instruction of the machine then means the product and did not before.

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::payload::{Axis, Payload, Scalar};
use weft_dialects::ir::{Block, Context, Linear, Mapping, Op, Type, Val, attr, remark, ty};

use super::product::is_constant;
use super::small_factors::{Factor, Wanted, factors};
use crate::length;
use crate::nest::{Access, Loop, generic_accesses, generic_axes, generic_inputs, index_axis};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-hoist-zero-points",
    description: "Take zero points and signs out of products of small integers",
    options: &[
        PassOption { name: "hoist", description: "whether to do it", fallback: "true" },
        PassOption {
            name: "remarks",
            description: "say which products are rewritten, and for which instruction",
            fallback: "false",
        },
    ],
    statistics: &[("hoisted", "products that an instruction means now")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let (hoist, remarks) = (run.flag("hoist")?, run.flag("remarks")?);
    let Some(machine) = Machine::of(run.module).filter(|_| hoist) else { return Ok(()) };
    let wanted: Vec<Wanted<'_>> = machine.instructions().iter().filter_map(Wanted::of).collect();
    if wanted.is_empty() {
        return Ok(());
    }
    let mut products = Vec::new();
    run.module.walk(&mut |op| products.extend(Product::of(op)));
    for product in products {
        let Some(Plan { flips, instruction }) = plan(&product, &wanted) else { continue };
        if remarks {
            let name = super::named(product.op);
            remark(
                product.op,
                &format!("{name}has its zero points behind the sums, for @{instruction}"),
            );
        }
        run.count("hoisted", 1);
        Written::new(run.context, &product).replace(flips);
    }
    Ok(())
}

/// A nest that sums products of small integers.
struct Product<'c> {
    op: Op<'c>,
    axes: Vec<Loop>,
    accesses: Vec<Access<'c>>,
    factors: [Factor<'c>; 2],
    sums: Type<'c>,
}

impl<'c> Product<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("linalg.generic") || op.results().len() != 1 {
            return None;
        }
        let body = op.body(0)?;
        let inputs = generic_inputs(op);
        let (factors, sums) = factors(body, inputs)?;
        let axes = generic_axes(op).ok()?;
        let accesses = generic_accesses(op).ok()?;
        let reductions = || (0..axes.len()).filter(|&axis| axes[axis].kind == Axis::Reduction);
        let asks = body.ops().into_iter().any(|op| index_axis(op).is_some());
        let by_reductions =
            factors.iter().all(|own| reductions().all(|axis| accesses[own.arg].uses(axis)));
        let others = (0..inputs).filter(|arg| factors.iter().all(|own| own.arg != *arg));
        // What is subtracted is the same at every step.
        let still = others.clone().all(|arg| !reductions().any(|axis| accesses[arg].uses(axis)));
        let bits = |ty: Type<'_>| ty::bits(ty).unwrap_or(0);
        let narrow = factors.iter().all(|own| bits(own.elem) < bits(sums));
        let placed = accesses[inputs].index.iter().all(|index| index.as_axis().is_some());
        // Zero points are multiplied with how many there are.
        let known = reductions().all(|axis| axes[axis].length.is_none());
        let sums_up = reductions().next().is_some() && placed && known;
        let whole = sums_up && !asks && by_reductions && still && narrow;
        whole.then_some(Self { op, axes, accesses, factors, sums })
    }

    fn is_constant(&self, side: usize) -> bool {
        is_constant(self.accesses[self.factors[side].arg].tensor)
    }

    /// Returns whether what is subtracted from a factor is known to be zero.
    fn subtracts_nothing(&self, side: usize) -> bool {
        let Some(mut less) = self.factors[side].less else { return true };
        while let Some(op) = less.def().filter(|op| op.is("arith.extsi") || op.is("arith.extui")) {
            less = op.operand(0);
        }
        let literal = match less.def() {
            Some(op) => return op.attr("value").and_then(attr::int) == Some(0),
            None => outside(self.accesses[less.index()].tensor),
        };
        let literal = literal.and_then(|op| op.attr("value")).and_then(attr::dense_bytes);
        literal.is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0))
    }

    /// Returns whether the sum of a factor alone can be written, for each of its dimensions is an axis.
    fn sums_alone(&self, side: usize) -> bool {
        self.accesses[self.factors[side].arg].index.iter().all(|index| index.as_axis().is_some())
    }
}

/// The literal that a tensor of a payload is.
fn outside(tensor: Val<'_>) -> Option<Op<'_>> {
    match tensor.def() {
        Some(op) => Some(op).filter(|op| op.is("graph.constant") || op.is("arith.constant")),
        None => {
            let around = tensor.owner_block()?.parent().filter(|around| around.is("graph.op"))?;
            outside(around.operand(tensor.index()))
        }
    }
}

/// What becomes of a product.
struct Plan<'c> {
    /// Which factors change their sign.
    flips: [bool; 2],
    /// The instruction that means it then.
    instruction: &'c str,
}

/// The way to an instruction that takes the least in every run; `None` where there is none, or that is
/// the product as it is.
fn plan<'c>(product: &Product<'c>, wanted: &[Wanted<'c>]) -> Option<Plan<'c>> {
    let mut best: Option<((usize, usize), Plan<'c>)> = None;
    for instruction in wanted.iter().filter(|wanted| wanted.sums == product.sums) {
        for sides in [[0, 1], [1, 0]] {
            let theirs = sides.map(|side| instruction.factors[side]);
            let own = &product.factors;
            if (0..2).any(|side| own[side].elem != theirs[side].0) {
                continue;
            }
            let flips = [0, 1].map(|side| own[side].signed != theirs[side].1);
            let less = |side: usize| flips[side] || !product.subtracts_nothing(side);
            // What is subtracted from one is multiplied with the sums of the other.
            if (0..2).any(|side| less(side) && !product.sums_alone(1 - side)) {
                continue;
            }
            let copies = (0..2).filter(|&side| flips[side] && !product.is_constant(side));
            // What fills lanes is laid out for them.
            let laid_out = (0..2).filter(|&side| {
                !instruction.for_all_lanes[sides[side]] && !product.is_constant(side)
            });
            // Where nothing has to be copied in every run, what leaves most as it is.
            let changed = flips.iter().filter(|&&flip| flip).count();
            let price = (copies.count() + 2 * laid_out.count(), changed);
            if best.as_ref().is_none_or(|(least, _)| price < *least) {
                best = Some((price, Plan { flips, instruction: instruction.name }));
            }
        }
    }
    let (_, plan) = best?;
    let as_it_is = plan.flips == [false; 2] && product.factors.iter().all(|own| own.less.is_none());
    (!as_it_is).then_some(plan)
}

/// Writes what stands for a product, in front of it.
struct Written<'p, 'c> {
    context: &'c Context,
    product: &'p Product<'c>,
    /// The parallel axes of the product.
    parallel: Vec<usize>,
}

impl<'p, 'c> Written<'p, 'c> {
    fn new(context: &'c Context, product: &'p Product<'c>) -> Self {
        let parallel =
            (0..product.axes.len()).filter(|&axis| product.axes[axis].kind == Axis::Parallel);
        let parallel = parallel.collect();
        Self { context, product, parallel }
    }

    fn replace(self, flips: [bool; 2]) {
        let product = self.product;
        let tensors = [0, 1].map(|side| self.factor(side, flips[side]));
        let mut result = self.products(tensors, flips);
        let less = [0, 1].map(|side| flips[side] || !product.subtracts_nothing(side));
        // Of each factor, where something is subtracted from the other.
        let sums =
            [0, 1].map(|side| less[1 - side].then(|| self.sum(side, tensors[side], flips[side])));
        if less != [false; 2] {
            result = self.corrected(result, sums, flips, less);
        }
        product.op.result(0).replace_with(result);
        product.op.erase();
    }

    /// The tensor of a factor, with the other sign where it flips.
    fn factor(&self, side: usize, flips: bool) -> Val<'c> {
        let Factor { arg, elem, .. } = self.product.factors[side];
        let Access { tensor, shape, .. } = &self.product.accesses[arg];
        if !flips {
            return *tensor;
        }
        let axes = shape.len();
        let identity: Vec<_> = (0..axes).map(|axis| Linear::axis(axes, axis)).collect();
        let mut payload = Payload::before(self.context, self.product.op);
        let target = payload.empty(shape, elem);
        let (from, to) = ((*tensor, identity.clone()), (target, identity));
        let flipped =
            payload.generic(&vec![Axis::Parallel; axes], &[from], &[to], |scalar, args| {
                let sign = scalar.integer(elem, -half(elem));
                vec![scalar.same("arith.xori", &[args[0], sign])]
            })[0];
        let lengths = length::of_access(&self.product.axes, &self.product.accesses[arg]);
        length::give(self.context, flipped, &lengths);
        flipped
    }

    /// A factor as it stands in the sums.
    fn wide(&self, scalar: &mut Scalar<'c>, value: Val<'c>, side: usize, flips: bool) -> Val<'c> {
        let signed = self.product.factors[side].signed != flips;
        let name = if signed { "arith.extsi" } else { "arith.extui" };
        scalar.op(name, &[value], self.product.sums)
    }

    /// The sums of products, without zero points.
    fn products(&self, tensors: [Val<'c>; 2], flips: [bool; 2]) -> Val<'c> {
        let Product { op, axes, accesses, factors, .. } = self.product;
        let kinds: Vec<_> = axes.iter().map(|axis| axis.kind).collect();
        let input = |side: usize| (tensors[side], accesses[factors[side].arg].index.clone());
        let last = accesses.last().expect("a nest has an output");
        let inputs = [input(0), input(1)];
        let output = (op.operand(accesses.len() - 1), last.index.clone());
        let mut payload = Payload::before(self.context, *op);
        let products = payload.generic(&kinds, &inputs, &[output], |scalar, args| {
            let wide = [0, 1].map(|side| self.wide(scalar, args[side], side, flips[side]));
            let product = scalar.mul(wide[0], wide[1]);
            vec![scalar.add(args[2], product)]
        })[0];
        length::give(self.context, products, &length::of_loops(axes));
        products
    }

    /// The sums of one factor alone, with the parallel axes that it has as dimensions, in their order.
    fn sum(&self, side: usize, tensor: Val<'c>, flips: bool) -> (Val<'c>, Vec<usize>) {
        let Product { op, axes, accesses, factors, sums } = self.product;
        let access = &accesses[factors[side].arg];
        let own: Vec<_> = (0..axes.len()).filter(|&axis| access.uses(axis)).collect();
        let kinds: Vec<_> = own.iter().map(|&axis| axes[axis].kind).collect();
        let kept: Vec<_> =
            own.iter().copied().filter(|&axis| axes[axis].kind == Axis::Parallel).collect();
        let shape: Vec<_> = kept.iter().map(|&axis| axes[axis].extent).collect();
        let only = |index: &Linear| Linear {
            coefficients: own.iter().map(|&axis| index.coefficients[axis]).collect(),
            constant: index.constant,
        };
        let at = |axis: &usize| own.iter().position(|known| known == axis).expect("one of them");
        let target = kept.iter().map(|axis| Linear::axis(own.len(), at(axis))).collect();
        let mut payload = Payload::before(self.context, *op);
        let start = payload.fill_int(0, &shape, *sums);
        let input = (tensor, access.index.iter().map(only).collect());
        let sum = payload.generic(&kinds, &[input], &[(start, target)], |scalar, args| {
            let wide = self.wide(scalar, args[0], side, flips);
            vec![scalar.add(args[1], wide)]
        })[0];
        length::give(self.context, sum, &length::of_some(axes, &own));
        (sum, kept)
    }

    /// The sums of products with what the zero points make of them.
    fn corrected(
        &self,
        products: Val<'c>,
        sums: [Option<(Val<'c>, Vec<usize>)>; 2],
        flips: [bool; 2],
        less: [bool; 2],
    ) -> Val<'c> {
        let Product { op, axes, accesses, factors, sums: wide } = self.product;
        let rank = self.parallel.len();
        let still = |index: &Linear| {
            let mut now = Linear::constant(rank, index.constant);
            for (place, &axis) in self.parallel.iter().enumerate() {
                now.coefficients[place] = index.coefficients[axis];
            }
            now
        };
        let output = accesses.last().expect("a nest has an output");
        let place: Vec<_> = output.index.iter().map(still).collect();
        let mut inputs = vec![(products, place.clone())];
        for (sum, kept) in sums.iter().flatten() {
            let at = |axis: &usize| self.parallel.iter().position(|own| own == axis);
            let index = kept.iter().filter_map(at).map(|place| Linear::axis(rank, place)).collect();
            inputs.push((*sum, index));
        }
        let others: Vec<usize> = (0..accesses.len() - 1)
            .filter(|arg| factors.iter().all(|own| own.arg != *arg))
            .collect();
        for &arg in &others {
            let Access { tensor, index, .. } = &accesses[arg];
            inputs.push((*tensor, index.iter().map(still).collect()));
        }
        let steps = axes.iter().filter(|axis| axis.kind == Axis::Reduction);
        let steps: u64 = steps.map(|axis| axis.extent).product();
        let mut payload = Payload::before(self.context, *op);
        let target = payload.empty(&output.shape, *wide);
        let body = op.body(0).expect("it was read");
        let kinds = vec![Axis::Parallel; rank];
        let corrected = payload.generic(&kinds, &inputs, &[(target, place)], |scalar, args| {
            let mut given = args[1..].iter().copied();
            let sums = sums.each_ref().map(|sum| sum.as_ref().and_then(|_| given.next()));
            let mut map = Mapping::default();
            for (&arg, value) in others.iter().zip(given) {
                map.set(body.arg(arg), value);
            }
            let points = [0, 1].map(|side| {
                less[side].then(|| self.zero_point(scalar, side, flips[side], &mut map))
            });
            let mut result = args[0];
            for side in 0..2 {
                if let (Some(point), Some(sum)) = (points[side], sums[1 - side]) {
                    let part = scalar.mul(point, sum);
                    result = scalar.sub(result, part);
                }
            }
            if let [Some(one), Some(other)] = points {
                let steps = scalar.integer(*wide, steps as i64);
                let both = scalar.mul(one, other);
                let part = scalar.mul(both, steps);
                result = scalar.add(result, part);
            }
            vec![result]
        })[0];
        length::give(self.context, corrected, &length::of_some(axes, &self.parallel));
        corrected
    }

    /// What is subtracted from a factor, as it stands in the sums.
    fn zero_point(
        &self,
        scalar: &mut Scalar<'c>,
        side: usize,
        flips: bool,
        map: &mut Mapping<'c>,
    ) -> Val<'c> {
        let Product { op, factors, sums, .. } = self.product;
        let factor = &factors[side];
        let own = factor.less.filter(|_| !self.product.subtracts_nothing(side));
        // A sign that flips moves a factor by half of what its bits count.
        let moved = if factor.signed { half(factor.elem) } else { -half(factor.elem) };
        let moved = flips.then(|| scalar.integer(*sums, moved));
        let own = own.map(|less| {
            let body = op.body(0).expect("it was read");
            for op in slice(body, less) {
                scalar.builder().clone_op(op, map);
            }
            map.get(less)
        });
        match (own, moved) {
            (Some(own), Some(moved)) => scalar.add(own, moved),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => unreachable!("it is asked for where something is subtracted"),
        }
    }
}

/// Half of the numbers that a type has.
fn half(elem: Type<'_>) -> i64 {
    1 << (ty::bits(elem).unwrap_or(1) - 1)
}

/// The operations of a body that make a value, in their order.
fn slice<'c>(body: Block<'c>, value: Val<'c>) -> Vec<Op<'c>> {
    let mut wanted = vec![value];
    let mut found: Vec<Op<'c>> = Vec::new();
    for op in body.ops().into_iter().rev() {
        if op.results().iter().any(|result| wanted.contains(result)) {
            wanted.extend(op.operands());
            found.push(op);
        }
    }
    found.reverse();
    found
}
