//! The prediction for a schedule: its cycles, and what each part of the machine takes of them.

use std::fmt;
use std::ops::{Add, AddAssign, Mul};

/// A part of a schedule's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// Instructions that are issued for the points of the nest.
    Compute,
    /// Operands that come to the registers from the memory next to them, turns of its banks
    /// included.
    Loads,
    /// Data that comes from memories behind that one.
    Transfers,
    /// Results, and data, that are waited for.
    Waits,
    /// Rounds of loops, begins of tiles and barriers.
    Loops,
    /// Initial values, epilogues and stores of what is computed.
    Results,
    /// Operands that are laid out anew in every run.
    Layout,
}

impl Term {
    /// All terms, in the order in which they are told.
    pub const ALL: [Self; 7] = [
        Self::Compute,
        Self::Loads,
        Self::Transfers,
        Self::Waits,
        Self::Loops,
        Self::Results,
        Self::Layout,
    ];

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Loads => "loads",
            Self::Transfers => "transfers",
            Self::Waits => "waits",
            Self::Loops => "loops",
            Self::Results => "results",
            Self::Layout => "layout",
        }
    }
}

/// The predicted time of a schedule, in cycles.
///
/// A term is what its part would take alone. What a machine does at the same time counts once, so
/// the prediction is at most the sum of the terms, and at least the largest of them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// The prediction.
    pub cycles: f64,
    terms: [f64; Term::ALL.len()],
}

impl Cost {
    /// Cycles of one part of the machine, with nothing beside it.
    pub fn of(term: Term, cycles: f64) -> Self {
        Self::default().with(term, cycles).taking(cycles)
    }

    /// The same with so many cycles of a term more, which the prediction does not count yet.
    #[must_use]
    pub fn with(mut self, term: Term, cycles: f64) -> Self {
        self.terms[term as usize] += cycles;
        self
    }

    /// The same terms with another prediction.
    #[must_use]
    pub fn taking(mut self, cycles: f64) -> Self {
        self.cycles = cycles;
        self
    }

    /// Cycles of a term.
    pub fn term(&self, term: Term) -> f64 {
        self.terms[term as usize]
    }

    /// The terms that take any time, in their order.
    pub fn terms(&self) -> impl Iterator<Item = (Term, f64)> {
        let all = Term::ALL.into_iter().map(|term| (term, self.term(term)));
        all.filter(|(_, cycles)| *cycles > 0.0)
    }

    /// The term that takes most, the first among equals.
    pub fn largest(&self) -> Option<Term> {
        let by_cycles = |one: (Term, f64), other: (Term, f64)| match other.1 > one.1 {
            true => other,
            false => one,
        };
        self.terms().reduce(by_cycles).map(|(term, _)| term)
    }
}

impl Add for Cost {
    type Output = Self;

    /// One after the other.
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.cycles += other.cycles;
        for (own, other) in self.terms.iter_mut().zip(other.terms) {
            *own += other;
        }
    }
}

impl Mul<f64> for Cost {
    type Output = Self;

    /// So many times.
    fn mul(mut self, times: f64) -> Self {
        self.cycles *= times;
        for own in &mut self.terms {
            *own *= times;
        }
        self
    }
}

impl fmt::Display for Cost {
    /// `120 cycles: compute 100, loads 80, results 20`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.0} cycles", self.cycles.ceil())?;
        for (number, (term, cycles)) in self.terms().enumerate() {
            let before = if number == 0 { ": " } else { ", " };
            write!(f, "{before}{} {cycles:.0}", term.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_add_up_and_are_told_in_order() {
        let step = Cost::default().with(Term::Loads, 8.0).with(Term::Compute, 10.0).taking(10.0);
        let all = step * 10.0 + Cost::of(Term::Results, 20.0);
        assert_eq!(all.to_string(), "120 cycles: compute 100, loads 80, results 20");
        assert_eq!(all.largest(), Some(Term::Compute));
        assert_eq!(Cost::default().to_string(), "0 cycles");
        assert_eq!(Cost::default().largest(), None);
    }
}
