//! Lengths that callers decide, on their way through a model.
//!
//! A model is planned for the greatest extents, as if they were fixed. Beside that, each value has a
//! length for each dimension, and small integer tensors that are calculated from shapes have a length for
//! each element (`numbers.rs`). An operator whose arguments are such numbers says itself how long its
//! results are (`said.rs`); of the others the payload does
//! ([`weft_dialects::graph::Inference`]).

mod found;
mod numbers;
mod said;

use std::collections::BTreeMap;

use weft_dialects::graph::{Allowed, Dims};
use weft_runtime::length::{Length, Symbol, is_name};

use crate::elements::Elements;
use crate::plan::ValueId;
use crate::types::TensorType;

pub use found::{Found, Lengths, StepLengths};
use numbers::numbers;
use said::said;

/// The names that a model uses for lengths, and theirs.
#[derive(Debug, Clone, Default)]
pub struct Symbols {
    by_name: BTreeMap<String, Symbol>,
    /// Those that data decide.
    found: Vec<Symbol>,
    /// Those that stand for the number of a round, each below a length.
    rounds: Vec<(String, Length)>,
}

impl Symbols {
    /// Of what is asked for; names that are none in text become some.
    pub fn of(asked: &[Symbol]) -> Self {
        let mut by_name: BTreeMap<String, Symbol> = BTreeMap::new();
        for symbol in asked {
            let name = fresh(&symbol.name, &mut by_name.values());
            by_name.insert(symbol.name.clone(), Symbol { name, ..symbol.clone() });
        }
        Self { by_name, found: Vec::new(), rounds: Vec::new() }
    }

    /// A new one for the number of a round, from 0 to `most`, and less than `rounds`.
    pub fn round(&mut self, name: &str, most: u64, rounds: Length) -> String {
        let name = self.find(name, most).name;
        self.rounds.push((name.clone(), rounds));
        name
    }

    /// Whether a length is zero or more in every run, in every round.
    fn is_positive(&self, length: &Length) -> bool {
        // A round is less than the number of rounds: what is taken off for it is there.
        let rest = self.rounds.iter().rev().fold(length.clone(), |length, (round, rounds)| {
            let left = rounds.plus(&Length::number(1), -1).plus(&Length::symbol(round), -1);
            let times = length.factor_of(round).min(0);
            length.plus(&left, times)
        });
        [length, &rest].into_iter().any(|own| self.range(own).is_some_and(|[least, _]| least >= 0))
    }

    /// A new one for a number that data decide, from 0 to `most`.
    pub fn find(&mut self, name: &str, most: u64) -> Symbol {
        let name = fresh(name, &mut self.all());
        let symbol = Symbol { name, least: 0, most, multiple: 1 };
        self.found.push(symbol.clone());
        symbol
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty() && self.found.is_empty()
    }

    /// The symbol for a name of the model's.
    pub fn get(&self, name: &str) -> Option<&Symbol> {
        self.by_name.get(name)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &Symbol> {
        self.by_name.values().chain(&self.found)
    }

    /// The smaller one of two, where one is so in every run.
    pub fn least(&self, one: &Length, other: &Length) -> Length {
        match self.range(&one.plus(other, -1)) {
            Some([_, high]) if high <= 0 => one.clone(),
            Some([low, _]) if low >= 0 => other.clone(),
            _ => one.least(other),
        }
    }

    /// Whether one length is from zero to another one in every run.
    pub fn is_no_more(&self, one: &Length, other: &Length) -> bool {
        self.is_below(one, &other.plus(&Length::number(1), 1))
    }

    /// Whether one length is zero or more, and less than another one, in every run.
    pub fn is_below(&self, one: &Length, other: &Length) -> bool {
        let parts = one.as_least().map_or(vec![one], |two| two.iter().collect());
        let below =
            |part: &Length| self.is_positive(&other.plus(part, -1).plus(&Length::number(1), -1));
        parts.into_iter().any(below) && self.is_positive(one)
    }

    /// The least and the greatest value of a length.
    pub fn range(&self, length: &Length) -> Option<[i64; 2]> {
        length.range(&|name| {
            let symbol = self.all().find(|symbol| symbol.name == name)?;
            Some(
                [symbol.least.next_multiple_of(symbol.multiple), symbol.most].map(|end| end as i64),
            )
        })
    }
}

/// A name in text that none of the others has.
fn fresh(name: &str, others: &mut dyn Iterator<Item = &Symbol>) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut name: String = name.chars().map(plain).collect();
    if !is_name(&name) {
        name.insert(0, '_');
    }
    let others: Vec<_> = others.map(|other| &other.name).collect();
    while others.contains(&&name) {
        name.push('_');
    }
    name
}

/// What is known of a value that a node reads.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// Which it is.
    pub id: ValueId,
    /// Its type, for the greatest lengths.
    pub ty: &'a TensorType,
    /// Its elements, for the greatest lengths.
    pub known: Option<&'a Elements>,
    /// Its lengths.
    pub dims: &'a Dims,
    /// Its elements, where some follow from lengths.
    pub numbers: Option<&'a Vec<Length>>,
}

impl Input<'_> {
    /// Its elements as lengths, where they are known.
    pub fn elements(&self) -> Option<Vec<Length>> {
        let known = || Some(self.known?.ints()?.into_iter().map(Length::number).collect());
        self.numbers.cloned().or_else(known)
    }
}

/// What the payload of an operator may do along a length: its sums are of what is there, or it asks
/// for places only to compare them with each other.
pub fn allowed(operator: &str) -> Allowed {
    const FOLDS: [&str; 26] = [
        "MatMul",
        "Gemm",
        "Einsum",
        "ReduceSum",
        "ReduceMax",
        "ReduceMin",
        "ReduceProd",
        "ReduceL1",
        "ReduceL2",
        "ReduceLogSum",
        "ReduceLogSumExp",
        "ReduceSumSquare",
        "Softmax",
        "LogSoftmax",
        "FusedMatMul",
        "MatMulInteger",
        "MatMulNBits",
        "Conv",
        "ReduceMean",
        "GlobalAveragePool",
        "GlobalMaxPool",
        "GlobalLpPool",
        "ArgMax",
        "ArgMin",
        "Attention",
        "MultiHeadAttention",
    ];
    const ASKS: [&str; 6] =
        ["Range", "Trilu", "ArgMax", "ArgMin", "Attention", "MultiHeadAttention"];
    let (folds, asks) = (FOLDS.contains(&operator), ASKS.contains(&operator));
    Allowed { folds, asks, ..Allowed::default() }
}
