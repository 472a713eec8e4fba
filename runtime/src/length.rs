//! Lengths: how many elements of a dimension there are in one run.
//!
//! A dimension that a model's author has named (`batch`, `seq`) is laid out for the most it may
//! hold, its *extent*, and has a *length* that callers decide with each run. Lengths of tensors
//! inside of the model follow from those of its inputs, as sums and products of the names.
//!
//! ```
//! use weft_runtime::length::Length;
//!
//! let total: Length = "past + 2 * (seq + 1)".parse()?;
//! assert_eq!(total.to_string(), "past + 2 * seq + 2");
//! let value = total.value(&|name| Some(if name == "past" { 10 } else { 3 }));
//! assert_eq!(value, Some(18));
//! # Ok::<(), weft_runtime::length::LengthError>(())
//! ```

mod parse;

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

pub use parse::{LengthError, SymbolError, is_name};

/// A sum of products of whole numbers, names, quotients and the least or greatest of two lengths;
/// equal sums are equal values, however they were put together.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Length {
    /// Products and their factors: in order, each once, none with the factor 0.
    terms: Vec<(Vec<Factor>, i64)>,
}

/// What products are made of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
enum Factor {
    Symbol(String),
    /// The quotient by a number above 1, rounded down.
    Floor(Length, i64),
    Least(Box<[Length; 2]>),
    Greatest(Box<[Length; 2]>),
}

/// Looks up what a name stands for.
pub type Names<'a, T> = &'a dyn Fn(&str) -> Option<T>;

impl Length {
    /// A number.
    pub fn number(value: i64) -> Self {
        Self::of(BTreeMap::from([(Vec::new(), value)]))
    }

    /// A name.
    pub fn symbol(name: &str) -> Self {
        Self::factor(Factor::Symbol(name.to_owned()))
    }

    fn factor(factor: Factor) -> Self {
        Self::of(BTreeMap::from([(vec![factor], 1)]))
    }

    fn of(terms: BTreeMap<Vec<Factor>, i64>) -> Self {
        Self { terms: terms.into_iter().filter(|(_, factor)| *factor != 0).collect() }
    }

    /// The number that it is, where it has no names.
    pub fn as_number(&self) -> Option<i64> {
        match &self.terms[..] {
            [] => Some(0),
            [(factors, value)] if factors.is_empty() => Some(*value),
            _ => None,
        }
    }

    /// The name that it is, where it is nothing else.
    pub fn as_symbol(&self) -> Option<&str> {
        match &self.terms[..] {
            [(factors, 1)] => match &factors[..] {
                [Factor::Symbol(name)] => Some(name),
                _ => None,
            },
            _ => None,
        }
    }

    /// How often a name is added, alone.
    pub fn factor_of(&self, name: &str) -> i64 {
        let alone = |factors: &[Factor]| matches!(factors, [Factor::Symbol(own)] if own == name);
        let own = self.terms.iter().find(|(factors, _)| alone(factors));
        own.map_or(0, |(_, value)| *value)
    }

    /// Returns whether a number divides every value that it may have.
    pub fn is_multiple_of(&self, by: i64) -> bool {
        self.terms.iter().all(|(_, value)| value % by == 0)
    }

    /// The greatest number that divides all that are added up in it; 0 for 0.
    pub fn divisor(&self) -> u64 {
        let gcd = |mut one: u64, mut other: u64| {
            while other != 0 {
                (one, other) = (other, one % other);
            }
            one
        };
        self.terms.iter().map(|(_, value)| value.unsigned_abs()).fold(0, gcd)
    }

    /// The two of which it is the smaller one, if it is no more than that.
    pub fn as_least(&self) -> Option<&[Self; 2]> {
        match &self.terms[..] {
            [(factors, 1)] => match &factors[..] {
                [Factor::Least(two)] => Some(two),
                _ => None,
            },
            _ => None,
        }
    }

    /// The names in it, in order.
    pub fn symbols(&self) -> Vec<&str> {
        let mut found = Vec::new();
        self.collect(&mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn collect<'a>(&'a self, found: &mut Vec<&'a str>) {
        for factor in self.terms.iter().flat_map(|(factors, _)| factors) {
            match factor {
                Factor::Symbol(name) => found.push(name),
                Factor::Floor(of, _) => of.collect(found),
                Factor::Least(two) | Factor::Greatest(two) => {
                    two.iter().for_each(|one| one.collect(found));
                }
            }
        }
    }

    /// `self + times · other`.
    #[must_use]
    pub fn plus(&self, other: &Self, times: i64) -> Self {
        let mut terms: BTreeMap<_, _> = self.terms.iter().cloned().collect();
        for (factors, value) in &other.terms {
            *terms.entry(factors.clone()).or_insert(0) += value.saturating_mul(times);
        }
        Self::of(terms)
    }

    /// `self · other`.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        let mut terms = BTreeMap::new();
        for (own, value) in &self.terms {
            for (factors, by) in &other.terms {
                let mut all = [own.as_slice(), factors.as_slice()].concat();
                all.sort();
                *terms.entry(all).or_insert(0) += value.saturating_mul(*by);
            }
        }
        Self::of(terms)
    }

    /// The quotient by a number from 1 on, rounded down. What the number divides is taken out.
    #[must_use]
    pub fn floor_div(&self, by: i64) -> Self {
        let (whole, rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
            self.terms.iter().cloned().partition(|(_, value)| value % by == 0);
        let whole = Self::of(whole.into_iter().map(|(term, value)| (term, value / by)).collect());
        let rest = Self::of(rest);
        match rest.as_number() {
            Some(number) => whole.plus(&Self::number(number.div_euclid(by)), 1),
            None => whole.plus(&Self::factor(Factor::Floor(rest, by)), 1),
        }
    }

    /// The quotient by a number from 1 on, rounded up.
    #[must_use]
    pub fn ceil_div(&self, by: i64) -> Self {
        self.plus(&Self::number(by - 1), 1).floor_div(by)
    }

    /// The smaller one of two.
    #[must_use]
    pub fn least(&self, other: &Self) -> Self {
        self.either(other, Factor::Least, i64::min)
    }

    /// The larger one of two.
    #[must_use]
    pub fn greatest(&self, other: &Self) -> Self {
        self.either(other, Factor::Greatest, i64::max)
    }

    fn either(
        &self,
        other: &Self,
        make: fn(Box<[Self; 2]>) -> Factor,
        choose: fn(i64, i64) -> i64,
    ) -> Self {
        if let Some(apart) = self.plus(other, -1).as_number() {
            return if choose(apart, 0) == apart { self.clone() } else { other.clone() };
        }
        let mut two = [self.clone(), other.clone()];
        two.sort();
        Self::factor(make(Box::new(two)))
    }

    /// The same with lengths in the place of names; those without one stay.
    #[must_use]
    pub fn with(&self, names: Names<'_, Self>) -> Self {
        let product = |factors: &[Factor], value: i64| {
            let all = factors.iter().map(|factor| match factor {
                Factor::Symbol(name) => names(name).unwrap_or_else(|| Self::symbol(name)),
                Factor::Floor(of, by) => of.with(names).floor_div(*by),
                Factor::Least(two) => two[0].with(names).least(&two[1].with(names)),
                Factor::Greatest(two) => two[0].with(names).greatest(&two[1].with(names)),
            });
            all.fold(Self::number(value), |product, factor| product.times(&factor))
        };
        let terms = self.terms.iter().map(|(factors, value)| product(factors, *value));
        terms.fold(Self::default(), |sum, term| sum.plus(&term, 1))
    }

    /// Its value; `None` where a name has none or the value exceeds 63 bits.
    pub fn value(&self, names: Names<'_, i64>) -> Option<i64> {
        self.terms.iter().try_fold(0i64, |sum, (factors, value)| {
            let product = factors
                .iter()
                .try_fold(*value, |product, factor| product.checked_mul(factor.value(names)?))?;
            sum.checked_add(product)
        })
    }

    /// The least and the greatest value that it may have, where those of each name are known;
    /// perhaps too far apart, where a name stands in it several times. `None` as for
    /// [`Length::value`].
    pub fn range(&self, names: Names<'_, [i64; 2]>) -> Option<[i64; 2]> {
        self.terms.iter().try_fold([0i64; 2], |[low, high], (factors, value)| {
            let product = factors.iter().try_fold([*value; 2], |product, factor| {
                let range = factor.range(names)?;
                let all = product.iter().flat_map(|own| range.map(|by| own.checked_mul(by)));
                let all = all.collect::<Option<Vec<_>>>()?;
                Some([*all.iter().min()?, *all.iter().max()?])
            })?;
            Some([low.checked_add(product[0])?, high.checked_add(product[1])?])
        })
    }
}

impl Factor {
    fn value(&self, names: Names<'_, i64>) -> Option<i64> {
        match self {
            Factor::Symbol(name) => names(name),
            Factor::Floor(of, by) => Some(of.value(names)?.div_euclid(*by)),
            Factor::Least(two) => Some(two[0].value(names)?.min(two[1].value(names)?)),
            Factor::Greatest(two) => Some(two[0].value(names)?.max(two[1].value(names)?)),
        }
    }

    fn range(&self, names: Names<'_, [i64; 2]>) -> Option<[i64; 2]> {
        let both = |two: &[Length; 2], choose: fn(i64, i64) -> i64| {
            let [one, other] = [two[0].range(names)?, two[1].range(names)?];
            Some([choose(one[0], other[0]), choose(one[1], other[1])])
        };
        match self {
            Factor::Symbol(name) => names(name),
            Factor::Floor(of, by) => Some(of.range(names)?.map(|end| end.div_euclid(*by))),
            Factor::Least(two) => both(two, i64::min),
            Factor::Greatest(two) => both(two, i64::max),
        }
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.terms.is_empty() {
            return write!(f, "0");
        }
        // What has names first: `seq + 1`.
        let (numbers, others): (Vec<_>, Vec<_>) =
            self.terms.iter().partition(|(factors, _)| factors.is_empty());
        for (number, (factors, value)) in others.into_iter().chain(numbers).enumerate() {
            let sign = match (number, *value < 0) {
                (0, true) => "-",
                (0, false) => "",
                (_, true) => " - ",
                (_, false) => " + ",
            };
            write!(f, "{sign}")?;
            let size = value.unsigned_abs();
            let mut parts: Vec<_> = factors.iter().map(ToString::to_string).collect();
            if size != 1 || parts.is_empty() {
                parts.insert(0, size.to_string());
            }
            write!(f, "{}", parts.join(" * "))?;
        }
        Ok(())
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Factor::Symbol(name) => write!(f, "{name}"),
            Factor::Floor(of, by) => {
                let whole = of.plus(&Length::number(by - 1), -1);
                match whole.terms.iter().any(|(factors, _)| factors.is_empty()) {
                    true => write!(f, "floor({of}, {by})"),
                    false => write!(f, "ceil({whole}, {by})"),
                }
            }
            Factor::Least(two) => write!(f, "min({}, {})", two[0], two[1]),
            Factor::Greatest(two) => write!(f, "max({}, {})", two[0], two[1]),
        }
    }
}

/// A name, and what lengths it may stand for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Symbol {
    /// The name.
    pub name: String,
    /// The smallest length.
    pub least: u64,
    /// The largest length: what is laid out.
    pub most: u64,
    /// A number that divides every length.
    pub multiple: u64,
}

impl Symbol {
    /// Returns whether it may have this length.
    pub fn allows(&self, length: u64) -> bool {
        (self.least..=self.most).contains(&length) && length.is_multiple_of(self.multiple.max(1))
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {} to {}", self.name, self.least, self.most)?;
        if self.multiple > 1 {
            write!(f, " in multiples of {}", self.multiple)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Length {
        text.parse().expect("a length")
    }

    #[test]
    fn equal_sums_are_equal() {
        assert_eq!(read("(a + 1) * (a - 1)"), read("a * a - 1"));
        assert_eq!(read("b * a"), read("a * b"));
        assert_eq!(read("floor(4 * a + 6, 4)"), read("a + 1"));
        assert_eq!(read("floor(a * 2 + 1, 4)").to_string(), "floor(2 * a + 1, 4)");
        assert_eq!(read("floor(a * 2 + 3, 4)").to_string(), "ceil(2 * a, 4)");
        assert_eq!(read("min(a, a + 1)"), read("a"));
        assert_eq!(read("max(b, a)"), read("max(a, b)"));
        assert_eq!(read("a - a"), Length::number(0));
        assert_eq!(read("3 - 2 * a").to_string(), "-2 * a + 3");
        assert_eq!(read("ceil(a, 16)"), read("a").ceil_div(16));
    }

    #[test]
    fn a_value_of_more_than_63_bits_is_none() {
        let square = read("a * a");
        assert_eq!(square.value(&|_| Some(3)), Some(9));
        assert_eq!(square.value(&|_| Some(1 << 40)), None);
        assert_eq!(square.value(&|_| None), None);
    }

    fn lengths() -> impl Strategy<Value = Length> {
        let leaf = prop_oneof![
            (-9i64..10).prop_map(Length::number),
            prop::sample::select(vec!["a", "b", "c"]).prop_map(Length::symbol),
        ];
        leaf.prop_recursive(4, 16, 2, |inner| {
            let two = (inner.clone(), inner.clone());
            prop_oneof![
                (two.clone(), -3i64..4).prop_map(|((one, other), times)| one.plus(&other, times)),
                two.clone().prop_map(|(one, other)| one.times(&other)),
                two.clone().prop_map(|(one, other)| one.least(&other)),
                two.prop_map(|(one, other)| one.greatest(&other)),
                (inner, 1i64..9).prop_map(|(of, by)| of.floor_div(by)),
            ]
        })
    }

    proptest! {
        #[test]
        fn text_gives_the_same_length(length in lengths()) {
            prop_assert_eq!(read(&length.to_string()), length);
        }

        /// What lengths are put together of, number by number, is what they are worth.
        #[test]
        fn operations_are_those_of_numbers(
            one in lengths(), other in lengths(), by in 1i64..9, values in [0i64..50, 0i64..50, 0i64..50],
        ) {
            let names = |name: &str| Some(values[usize::from(name.as_bytes()[0] - b'a')]);
            let of = |length: &Length| length.value(&names);
            let (Some(x), Some(y)) = (of(&one), of(&other)) else { return Ok(()) };
            prop_assume!(x.abs() < 1 << 30 && y.abs() < 1 << 30);
            prop_assert_eq!(of(&one.plus(&other, -2)), Some(x - 2 * y));
            prop_assert_eq!(of(&one.times(&other)), Some(x * y));
            prop_assert_eq!(of(&one.floor_div(by)), Some(x.div_euclid(by)));
            prop_assert_eq!(of(&one.ceil_div(by)), Some(-(-x).div_euclid(by)));
            prop_assert_eq!(of(&one.least(&other)), Some(x.min(y)));
            prop_assert_eq!(of(&one.greatest(&other)), Some(x.max(y)));
            let range = one.range(&|name| names(name).map(|value| [value - 3, value + 3]));
            if let Some([low, high]) = range {
                prop_assert!((low..=high).contains(&x));
            }
            let numbers = |name: &str| names(name).map(Length::number);
            prop_assert_eq!(one.with(&numbers).as_number(), Some(x));
        }
    }
}
