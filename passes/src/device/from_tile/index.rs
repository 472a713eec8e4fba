//! Sums of multiples of index values, and loops over them.

use weft_dialects::ir::{Builder, Linear, Type, Val, affine, attr};

use crate::nest::emit_sum;

/// `constant + Σ factor · value`, not yet written as operations.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sum<'c> {
    terms: Vec<(Val<'c>, i64)>,
    constant: i64,
}

impl<'c> Sum<'c> {
    /// A number.
    pub fn number(constant: i64) -> Self {
        Self { terms: Vec::new(), constant }
    }

    /// A value.
    pub fn value(value: Val<'c>) -> Self {
        Self { terms: vec![(value, 1)], constant: 0 }
    }

    /// `self + factor · other`.
    pub fn plus(mut self, other: &Sum<'c>, factor: i64) -> Self {
        self.constant += factor * other.constant;
        for (value, times) in &other.terms {
            match self.terms.iter_mut().find(|(own, _)| own == value) {
                Some((_, own)) => *own += factor * times,
                None => self.terms.push((*value, factor * times)),
            }
        }
        self.terms.retain(|(_, factor)| *factor != 0);
        self
    }

    /// The value of `expr` when its axes are these sums.
    pub fn of(expr: &Linear, axes: &[Sum<'c>]) -> Self {
        expr.coefficients
            .iter()
            .zip(axes)
            .filter(|(factor, _)| **factor != 0)
            .fold(Sum::number(expr.constant), |sum, (factor, axis)| sum.plus(axis, *factor))
    }

    /// The number that it is, if that is known already.
    pub fn as_number(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.constant)
    }

    /// Writes the sum as one `affine.apply`, or less.
    pub fn emit(&self, b: &mut Builder<'c>) -> Val<'c> {
        emit_sum(b, &self.terms, self.constant)
    }
}

/// `scf.for` from `low` below `high`; `body` builds one round.
pub(super) fn scf_for<'c>(
    b: &mut Builder<'c>,
    low: &Sum<'c>,
    high: &Sum<'c>,
    step: i64,
    body: impl FnOnce(&mut Builder<'c>, Val<'c>),
) {
    let bounds = [low.emit(b), high.emit(b), b.index(step)];
    let op = b.op_with("scf.for", &bounds, &[], &[], 1);
    let block = b.block(op.region(0), &[Type::index(b.context())]);
    let mut inside = b.into_block(block);
    body(&mut inside, block.arg(0));
    inside.op("scf.yield", &[], &[]);
}

/// `scf.for` that hands values from round to round; `body` builds one round from what it
/// is handed. Returns what the last round hands on.
pub(super) fn scf_for_carrying<'c>(
    b: &mut Builder<'c>,
    low: &Sum<'c>,
    high: &Sum<'c>,
    step: i64,
    first: &[Val<'c>],
    body: impl FnOnce(&mut Builder<'c>, Val<'c>, &[Val<'c>]) -> Vec<Val<'c>>,
) -> Vec<Val<'c>> {
    let types: Vec<_> = first.iter().map(|value| value.ty()).collect();
    let mut operands = vec![low.emit(b), high.emit(b), b.index(step)];
    operands.extend(first);
    let op = b.op_with("scf.for", &operands, &types, &[], 1);
    let args: Vec<_> = std::iter::once(Type::index(b.context())).chain(types).collect();
    let block = b.block(op.region(0), &args);
    let mut inside = b.into_block(block);
    let args = block.args();
    let next = body(&mut inside, args[0], &args[1..]);
    inside.op("scf.yield", &next, &[]);
    op.results()
}

/// `scf.if` that gives values: those of `then`, or `otherwise`.
pub(super) fn scf_if_giving<'c>(
    b: &mut Builder<'c>,
    condition: Val<'c>,
    otherwise: &[Val<'c>],
    then: impl FnOnce(&mut Builder<'c>) -> Vec<Val<'c>>,
) -> Vec<Val<'c>> {
    let types: Vec<_> = otherwise.iter().map(|value| value.ty()).collect();
    let op = b.op_with("scf.if", &[condition], &types, &[], 2);
    let block = b.block(op.region(0), &[]);
    let mut inside = b.into_block(block);
    let values = then(&mut inside);
    inside.op("scf.yield", &values, &[]);
    let block = b.block(op.region(1), &[]);
    b.into_block(block).op("scf.yield", otherwise, &[]);
    op.results()
}

/// A loop of constant bounds that the code generator unrolls; no loop for one round.
pub(super) fn unrolled<'c>(
    b: &mut Builder<'c>,
    count: u64,
    body: impl FnOnce(&mut Builder<'c>, Sum<'c>),
) {
    match count {
        0 => {}
        1 => body(b, Sum::number(0)),
        _ => {
            let context = b.context();
            let bound = |value: i64| affine::map(context, 0, &[Linear::constant(0, value)]);
            let index = Type::index(context);
            let op = b.op_with(
                "affine.for",
                &[],
                &[],
                &[
                    ("lowerBoundMap", bound(0)),
                    ("upperBoundMap", bound(count as i64)),
                    ("step", attr::of_int_type(index, 1)),
                    ("operandSegmentSizes", attr::of_ints32(context, &[0, 0, 0])),
                ],
                1,
            );
            let block = b.block(op.region(0), &[index]);
            let mut inside = b.into_block(block);
            body(&mut inside, Sum::value(block.arg(0)));
            inside.op("affine.yield", &[], &[]);
        }
    }
}

/// `unrolled` loops over several sizes, the first outermost.
pub(super) fn unrolled_all<'c>(
    b: &mut Builder<'c>,
    sizes: &[u64],
    body: &mut dyn FnMut(&mut Builder<'c>, &[Sum<'c>]),
) {
    fn go<'c>(
        b: &mut Builder<'c>,
        sizes: &[u64],
        done: &mut Vec<Sum<'c>>,
        body: &mut dyn FnMut(&mut Builder<'c>, &[Sum<'c>]),
    ) {
        match sizes.split_first() {
            None => body(b, done),
            Some((size, rest)) => unrolled(b, *size, |b, at| {
                done.push(at);
                go(b, rest, done, body);
                done.pop();
            }),
        }
    }
    go(b, sizes, &mut Vec::new(), body);
}

/// `scf.if` without an else branch.
pub(super) fn scf_if<'c>(
    b: &mut Builder<'c>,
    condition: Val<'c>,
    body: impl FnOnce(&mut Builder<'c>),
) {
    let op = b.op_with("scf.if", &[condition], &[], &[], 2);
    let block = b.block(op.region(0), &[]);
    let mut inside = b.into_block(block);
    body(&mut inside);
    inside.op("scf.yield", &[], &[]);
}
