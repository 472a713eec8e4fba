//! Linear indices, with what earlier operations computed taken into them.
//!
//! ```text
//! %a = affine.apply (d0 + 2) (%row); 40 * %task + 8 * %a  ->  affine.apply (d0 * 40 + d1 * 8 + 16) (%task, %row)
//! ```

use weft_dialects::ir::{Block, Builder, Linear, Op, Type, Val, affine, attr};

/// `constant + Σ factor · value`.
#[derive(Default)]
pub struct IndexSum<'c> {
    terms: Vec<(Val<'c>, i64)>,
    constant: i64,
}

impl From<i64> for IndexSum<'_> {
    fn from(constant: i64) -> Self {
        Self { terms: Vec::new(), constant }
    }
}

impl<'c> IndexSum<'c> {
    /// The place of an element among all of a shape, row-major.
    pub fn row_major(indices: &[Val<'c>], shape: &[u64]) -> Self {
        let mut sum = Self::default();
        let mut stride = 1;
        for (&index, &extent) in indices.iter().zip(shape).rev() {
            sum.add(index, stride);
            stride *= extent as i64;
        }
        sum
    }

    /// Adds `factor · value`; of an index that is computed by what is linear, its parts.
    pub fn add(&mut self, value: Val<'c>, factor: i64) {
        let def = value.def();
        if let Some(number) = def.and_then(constant) {
            self.constant += number * factor;
        } else if let Some((map, operands)) = def.and_then(applied) {
            self.constant += map.constant * factor;
            for (operand, coefficient) in operands.into_iter().zip(map.coefficients) {
                self.add(operand, coefficient * factor);
            }
        } else if let Some(sum) = def.filter(|op| op.is("arith.addi")) {
            sum.operands().into_iter().for_each(|operand| self.add(operand, factor));
        } else if let Some(term) = self.terms.iter_mut().find(|(own, _)| *own == value) {
            term.1 += factor;
        } else {
            self.terms.push((value, factor));
        }
    }

    /// The index in two parts, the second of which is a multiple of `period`.
    pub fn apart(self, period: i64) -> [Self; 2] {
        let whole = |(_, factor): &(Val<'c>, i64)| factor % period == 0;
        let (multiples, terms) = self.terms.into_iter().partition(whole);
        let constant = self.constant.rem_euclid(period);
        [Self { terms, constant }, Self { terms: multiples, constant: self.constant - constant }]
    }

    /// Its terms one by one, those that are known outermost first, and the constant last.
    pub fn outermost_first(self, depth: impl Fn(Val<'c>) -> usize) -> Vec<Self> {
        let mut terms = self.terms;
        terms.sort_by_key(|(value, _)| depth(*value));
        let alone = |term| Self { terms: vec![term], constant: 0 };
        let constant = Self::from(self.constant);
        terms.into_iter().map(alone).chain((!constant.is_zero()).then_some(constant)).collect()
    }

    /// Returns whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.terms.iter().all(|(_, factor)| *factor == 0) && self.constant == 0
    }

    /// The index, before what `b` builds next.
    pub fn write(self, b: &mut Builder<'c>) -> Val<'c> {
        // The outermost index first, so that inner loops add to what outer ones have computed;
        // constants last, so that the accesses of an unrolled loop share the rest.
        let terms = self.terms.into_iter().rev().filter(|(_, factor)| *factor != 0);
        let (constants, others): (Vec<_>, Vec<_>) = terms.partition(|(value, _)| unrolled(*value));
        let (values, coefficients): (Vec<_>, Vec<_>) = others.into_iter().chain(constants).unzip();
        let sum = Linear { coefficients, constant: self.constant };
        if values.is_empty() {
            return b.index(sum.constant);
        }
        if let Some(only) = sum.as_axis() {
            return values[only];
        }
        let map = affine::map(b.context(), values.len(), &[sum]);
        let index = Type::index(b.context());
        b.op_with("affine.apply", &values, &[index], &[("map", map)], 0).result(0)
    }
}

/// Returns whether a value is the index of a register loop, and so a constant before long.
fn unrolled(value: Val<'_>) -> bool {
    value.owner_block().and_then(Block::parent).is_some_and(|op| op.is("affine.for"))
}

fn constant(op: Op<'_>) -> Option<i64> {
    op.is("arith.constant").then(|| op.attr("value").and_then(attr::int)).flatten()
}

/// The expression of an `affine.apply` that is linear, and its operands.
fn applied<'c>(op: Op<'c>) -> Option<(Linear, Vec<Val<'c>>)> {
    let map = op.is("affine.apply").then(|| op.attr("map")).flatten()?;
    Some((affine::linear(map)?.pop()?, op.operands()))
}

/// Whether two indices are computed alike.
pub fn is_same(one: Val<'_>, other: Val<'_>) -> bool {
    let mut sum = IndexSum::default();
    sum.add(one, 1);
    sum.add(other, -1);
    sum.is_zero()
}
