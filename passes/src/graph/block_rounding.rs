//! Activations as integers, each block of them by its own step.
//!
//! ```text
//! X = round(x * (top / a))        a the greatest |x| of the block, top 32767 or 127
//! ```

use weft_dialects::ir::payload::{Axis, Payload, Scalar};
use weft_dialects::ir::{Linear, Type, Val, ty};

/// How the activations of a block become integers.
#[derive(Clone, Copy)]
pub(super) struct Rounding {
    /// Dimensions in front of the blocks.
    pub lead: usize,
    /// Bytes of an integer.
    pub bytes: u64,
}

impl Rounding {
    /// The greatest integer.
    fn top(self) -> f64 {
        ((1u32 << (8 * self.bytes - 1)) - 1) as f64
    }

    /// What is added so that none is below zero.
    pub fn least(self) -> i64 {
        1 << (8 * self.bytes - 1)
    }

    /// The greatest distance from zero in each block.
    pub fn greatest<'c>(self, b: &mut Payload<'c>, x: Val<'c>, shape: &[u64]) -> Val<'c> {
        let single = Type::float32(b.context());
        let zero = b.fill(0.0, shape, single);
        self.folded(b, &[x], zero, |scalar, args| {
            let size = scalar.same("math.absf", &[args[0]]);
            scalar.same("arith.maximumf", &[args[1], size])
        })
    }

    /// The sum of the integers of each block, as a float.
    pub fn whole<'c>(
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
        let inputs: Vec<_> =
            inputs.iter().enumerate().map(|(at, own)| (*own, index(axes - at.min(1)))).collect();
        b.generic(&folding(axes), &inputs, &[(start, index(axes - 1))], |scalar, args| {
            vec![body(scalar, args)]
        })[0]
    }

    /// The bytes of the integers, the upper one first, all from zero on.
    pub fn numbers<'c>(
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
        // The share of a smaller one would be infinite.
        let least = scalar.number(single, self.top() / 3e38);
        let times = scalar.op("arith.divf", &[top, most], single);
        let some = scalar.cmpf("ogt", most, least);
        let times = scalar.select(some, times, zero);
        let number = scalar.mul(x, times);
        let number = scalar.same("math.roundeven", &[number]);
        let above = scalar.cmpf("ogt", number, low);
        let number = scalar.select(above, number, low);
        let below = scalar.cmpf("olt", number, top);
        scalar.select(below, number, top)
    }

    /// What an integer stands for, by the greatest of its block.
    pub fn step<'c>(self, scalar: &mut Scalar<'c>, most: Val<'c>) -> Val<'c> {
        let inverse = scalar.number(most.ty(), 1.0 / self.top());
        let step = scalar.mul(most, inverse);
        // Nothing for a number, and no number for an infinity.
        let none = scalar.sub(most, most);
        scalar.add(step, none)
    }

    /// The sum of products of integers, from those of their bytes.
    pub fn joined<'c>(self, scalar: &mut Scalar<'c>, sums: &[Val<'c>]) -> Val<'c> {
        let ty = sums[0].ty();
        let (first, rest) = sums.split_first().expect("it has bytes");
        rest.iter().fold(*first, |upper, lower| {
            let places = scalar.integer(ty, 256);
            let upper = scalar.mul(upper, places);
            scalar.add(upper, *lower)
        })
    }
}

/// The kinds of so many axes, of which the last is summed over.
pub(super) fn folding(axes: usize) -> Vec<Axis> {
    let mut kinds = vec![Axis::Parallel; axes];
    kinds[axes - 1] = Axis::Reduction;
    kinds
}
