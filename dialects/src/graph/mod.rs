//! The `graph` dialect: models, weights by name, operators with a payload.

pub mod build;
mod infer_lengths;
mod put_together;
mod reshaped;
pub(crate) mod verify;

pub use build::GraphBuilder;
pub use infer_lengths::{Allowed, Dims, InferError, Inference};

use crate::ir::{Attribute, Block, Op, Val, attr};

/// A model with named inputs and outputs.
#[derive(Clone, Debug)]
pub struct Model<'c> {
    /// The `graph.model`.
    pub op: Op<'c>,
    /// Its name.
    pub name: &'c str,
    /// The names of the inputs.
    pub inputs: Vec<&'c str>,
    /// The names of the outputs.
    pub outputs: Vec<&'c str>,
    /// Weights, constants and operators; ends in `graph.output`.
    pub body: Block<'c>,
}

impl<'c> Model<'c> {
    /// The view, where `op` is a `graph.model`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("graph.model") {
            return None;
        }
        Some(Self {
            op,
            name: op.symbol(),
            inputs: op.attr("inputs").and_then(attr::strings)?,
            outputs: op.attr("outputs").and_then(attr::strings)?,
            body: op.first_block(0)?,
        })
    }

    /// The operators, in the order of the text.
    pub fn operators(&self) -> Vec<Operator<'c>> {
        self.body.iter().filter_map(Operator::of).collect()
    }

    /// The tensors that leave the model.
    pub fn results(&self) -> Vec<Val<'c>> {
        self.body.terminator().map(Op::operands).unwrap_or_default()
    }
}

/// An operator: name, operands, parameters and a payload.
#[derive(Clone, Debug)]
pub struct Operator<'c> {
    /// The `graph.op`.
    pub op: Op<'c>,
    /// The author's name for such operators. For people.
    pub kind: &'c str,
    /// The author's name for this one. For people.
    pub name: &'c str,
    /// Its operands.
    pub operands: Vec<Val<'c>>,
    /// Its results.
    pub results: Vec<Val<'c>>,
    /// A dictionary of what it was made from. For people.
    pub parameters: Option<Attribute<'c>>,
    /// Its whole meaning; ends in `graph.yield`.
    pub payload: Block<'c>,
}

impl<'c> Operator<'c> {
    /// The view, where `op` is a `graph.op`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("graph.op") {
            return None;
        }
        Some(Self {
            op,
            kind: op.attr("kind").and_then(attr::string)?,
            name: op.attr("name").and_then(attr::string)?,
            operands: op.operands(),
            results: op.results(),
            parameters: op.attr("parameters"),
            payload: op.first_block(0)?,
        })
    }

    /// The yielded values, one per result.
    pub fn yielded(&self) -> Vec<Val<'c>> {
        yielded(self.payload)
    }
}

/// The values that a payload yields.
fn yielded(payload: Block<'_>) -> Vec<Val<'_>> {
    payload.terminator().map(Op::operands).unwrap_or_default()
}

/// A body, done as often as it says.
#[derive(Clone, Debug)]
pub struct Call<'c> {
    /// The `graph.call`.
    pub op: Op<'c>,
    /// The author's name for it. For people.
    pub name: &'c str,
    /// The name of the body.
    pub body: &'c str,
}

impl<'c> Call<'c> {
    /// The view, where `op` is a `graph.call`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        let name = op.is("graph.call").then(|| op.attr("name")).flatten()?;
        Some(Self { op, name: attr::string(name)?, body: op.attr("body").and_then(attr::symbol)? })
    }
}

/// A weight, named by file, tensor and content.
#[derive(Clone, Copy, Debug)]
pub struct Weight<'c> {
    /// The `graph.weight`.
    pub op: Op<'c>,
    /// Its name in the file.
    pub tensor: &'c str,
    /// Which file, by id.
    pub file: &'c str,
    /// BLAKE3 of the little-endian elements, first 32 hexadecimal digits.
    pub hash: &'c str,
}

impl<'c> Weight<'c> {
    /// The view, where `op` is a `graph.weight`.
    pub fn of(op: Op<'c>) -> Option<Self> {
        if !op.is("graph.weight") {
            return None;
        }
        let text = |name| op.attr(name).and_then(attr::string);
        Some(Self { op, tensor: text("tensor")?, file: text("file")?, hash: text("hash")? })
    }
}
