//! Index values as text: a number and registers times numbers.

use std::collections::BTreeMap;
use std::fmt;

/// `4096 + 64 * r1 + 4 * r2`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// The number.
    pub constant: i64,
    /// The factor of each register; never zero.
    pub registers: BTreeMap<String, i64>,
}

impl Sum {
    /// A number.
    pub fn number(constant: i64) -> Self {
        Self { constant, registers: BTreeMap::new() }
    }

    /// A register.
    pub fn register(name: impl Into<String>) -> Self {
        Self { constant: 0, registers: BTreeMap::from([(name.into(), 1)]) }
    }

    /// The number, where there is nothing else.
    pub fn as_number(&self) -> Option<i64> {
        self.registers.is_empty().then_some(self.constant)
    }

    /// Everything times `factor`.
    pub fn scale(mut self, factor: i64) -> Self {
        self.constant = self.constant.saturating_mul(factor);
        for value in self.registers.values_mut() {
            *value = value.saturating_mul(factor);
        }
        self.registers.retain(|_, value| *value != 0);
        self
    }

    /// The sum of two.
    pub fn plus(mut self, other: &Self) -> Self {
        self.constant = self.constant.saturating_add(other.constant);
        for (name, value) in &other.registers {
            *self.registers.entry(name.clone()).or_insert(0) += value;
        }
        self.registers.retain(|_, value| *value != 0);
        self
    }
}

impl fmt::Display for Sum {
    /// Writes addresses of tensors, then the number, then loop counters: `x0+64+4*r1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (counters, bases): (Vec<_>, Vec<_>) =
            self.registers.iter().partition(|(name, _)| name.starts_with('r'));
        let mut terms = Vec::new();
        terms.extend(bases.iter().map(|(name, factor)| term(name, **factor)));
        if self.constant != 0 || self.registers.is_empty() {
            terms.push(self.constant.to_string());
        }
        terms.extend(counters.iter().map(|(name, factor)| term(name, **factor)));
        for (number, term) in terms.iter().enumerate() {
            if number > 0 && !term.starts_with('-') {
                f.write_str("+")?;
            }
            f.write_str(term)?;
        }
        Ok(())
    }
}

fn term(name: &str, factor: i64) -> String {
    match factor {
        1 => name.to_owned(),
        -1 => format!("-{name}"),
        factor => format!("{factor}*{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn prints_what_is_there() {
        let r = |name: &str, factor| Sum::register(name).scale(factor);
        assert_eq!(Sum::number(0).to_string(), "0");
        assert_eq!(r("r1", 1).to_string(), "r1");
        assert_eq!(Sum::number(64).plus(&r("r1", 4)).plus(&r("r0", -1)).to_string(), "64-r0+4*r1");
        assert_eq!(r("r1", 4).plus(&r("r1", -4)).as_number(), Some(0));
        assert_eq!(r("r1", 0), Sum::number(0));
        assert_eq!(r("r1", 4).plus(&r("x0", 1)).plus(&Sum::number(8)).to_string(), "x0+8+4*r1");
    }
}
