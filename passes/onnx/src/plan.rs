//! What the function of an operator answers with: operands, types, and how to build the payload.

use std::ops::Range;

use weft_dialects::graph::Dims;
use weft_runtime::length::Length;

use crate::elements::{Elements, Scalar};
use crate::payload::{Build, Tensor};
use crate::types::{ElementType, TensorType};

/// Which value of the model: an index into the importer's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub usize);

/// A value that a node reads.
#[derive(Debug, Clone)]
pub struct Operand {
    /// Which value.
    pub id: ValueId,
    /// Its type.
    pub ty: TensorType,
    /// Its elements, where they are known now.
    pub known: Option<Elements>,
    /// True if the elements are part of the model, not only bound by an option.
    pub fixed: bool,
    /// The model's name for the initializer that it is, where it is one.
    pub weight: Option<String>,
    /// True if some elements follow from lengths: what is known is what they are for the greatest.
    pub follows: bool,
    /// A length for each dimension, where callers decide it; none of any where that is not known.
    pub lengths: Dims,
}

impl Operand {
    /// Elements that are known and no value of the model: a plan may read them here, and must not
    /// list them among its operands.
    pub fn constant(elements: Elements) -> Self {
        let ty = elements.ty().clone();
        let (id, known) = (ValueId(usize::MAX), Some(elements));
        Self { id, ty, known, fixed: true, weight: None, follows: false, lengths: Vec::new() }
    }

    /// The same elements in another shape.
    pub fn seen_as(&self, ty: TensorType) -> Self {
        let known = self.known.as_ref().map(|known| known.reshaped(ty.clone()));
        Self { ty, known, lengths: Vec::new(), ..self.clone() }
    }

    /// Whether callers, or data, decide how many elements there are along some dimension.
    pub fn has_lengths(&self) -> bool {
        self.lengths.iter().any(Option::is_some)
    }

    /// A length for each dimension, also where none is known.
    pub fn all_lengths(&self) -> Dims {
        (0..self.rank()).map(|dim| self.length(dim).cloned()).collect()
    }

    /// How many elements there are along a dimension, a number where that is fixed.
    pub fn count(&self, dim: usize) -> Length {
        self.length(dim).cloned().unwrap_or_else(|| Length::number(self.dims()[dim]))
    }

    /// How many elements there are along a dimension, where callers decide that.
    pub fn length(&self, dim: usize) -> Option<&Length> {
        self.lengths.get(dim)?.as_ref()
    }

    /// How many elements there are along some dimensions together, where callers decide one of them.
    pub fn length_of(&self, dims: &[usize]) -> Option<Length> {
        dims.iter().find_map(|&dim| self.length(dim))?;
        Some(dims.iter().fold(Length::number(1), |all, &dim| all.times(&self.count(dim))))
    }

    /// The extents.
    pub fn dims(&self) -> &[i64] {
        self.ty.dims()
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.ty.rank()
    }

    /// The element type.
    pub fn element(&self) -> ElementType {
        self.ty.element()
    }

    /// The value of a tensor of one element that is part of the model: it goes into the payload.
    pub fn literal(&self) -> Option<Scalar> {
        self.known.as_ref().filter(|_| self.fixed)?.single()
    }
}

/// Builds the payload of an operator from its operands.
pub type PayloadFn = Box<dyn for<'c> Fn(&mut Build<'_, 'c>, &[Tensor<'c>]) -> Vec<Tensor<'c>>>;

/// Computes the results of an operator from its operands, where all are small and known.
pub type FoldFn = Box<dyn Fn(&[Elements]) -> Vec<Elements>>;

/// The plan of a node.
pub struct Plan {
    /// The operands that the payload reads, in the order of its arguments.
    pub operands: Vec<Operand>,
    /// The type of every result.
    pub results: Vec<TensorType>,
    /// The meaning.
    pub payload: PayloadFn,
    /// The value, for operators that shapes are calculated with.
    pub fold: Option<FoldFn>,
    /// Tables that were calculated here: the payload's last arguments, after the operands.
    pub tables: Vec<Elements>,
    /// The dimensions of its operand of which it gives the extents, where it does.
    pub tells: Option<Range<usize>>,
    /// Lengths that stand in the payload.
    pub says: Vec<Length>,
    /// Lengths that the payload calculates with: 64-bit scalars behind the operands.
    pub asks: Vec<Length>,
    /// What its payload knows of lengths by itself.
    pub knows: Option<Knows>,
}

/// Of a payload that reads nothing behind an end, or does not care.
#[derive(Debug, Clone)]
pub struct Knows {
    /// The lengths of its only result.
    pub dims: Dims,
    /// How it keeps to the ends of its operands.
    pub ends: Ends,
}

/// How a payload keeps to the ends of its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// It looks no further.
    Known,
    /// It reads operands as they are laid out: what is behind an end changes nothing in front of one.
    Ignored,
    /// It puts them into tensors of one number, which goes on behind them.
    Bordered,
}

impl Plan {
    /// An operator that computes `results` from `operands`.
    pub fn new(
        operands: Vec<Operand>,
        results: Vec<TensorType>,
        payload: impl for<'c> Fn(&mut Build<'_, 'c>, &[Tensor<'c>]) -> Vec<Tensor<'c>> + 'static,
    ) -> Self {
        let payload = Box::new(payload);
        let (tables, says, asks) = (Vec::new(), Vec::new(), Vec::new());
        let (fold, tells, knows) = (None, None, None);
        Self { operands, results, payload, fold, tables, tells, says, asks, knows }
    }

    /// Gives the payload lengths to calculate with.
    pub fn asking(mut self, lengths: impl IntoIterator<Item = Length>) -> Self {
        self.asks = lengths.into_iter().collect();
        self
    }

    /// Says that the payload knows of lengths, and the lengths of its result, where there are some.
    pub fn knowing(self, dims: Option<Dims>) -> Self {
        self.knowing_by(Ends::Known, dims)
    }

    /// The same of one that keeps to the ends of its operands so.
    pub fn knowing_by(mut self, ends: Ends, dims: Option<Dims>) -> Self {
        self.knows = dims.map(|dims| Knows { dims, ends });
        self
    }

    /// Gives the payload constants that no tensor of the model holds, such as places to read.
    pub fn with(mut self, tables: Vec<Elements>) -> Self {
        self.tables = tables;
        self
    }

    /// Says how to compute the results where all operands are small and known.
    pub fn folds(mut self, fold: impl Fn(&[Elements]) -> Vec<Elements> + 'static) -> Self {
        self.fold = Some(Box::new(fold));
        self
    }
}
