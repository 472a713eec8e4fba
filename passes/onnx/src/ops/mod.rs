//! The operators: one table from a name to the function that plans a node.
//!
//! A function checks operands and attributes, infers the results' types, and says what the
//! operator computes. It knows nothing of other nodes.

mod attention;
mod binary;
mod cast;
mod conv;
mod conv_integer;
mod conv_transpose;
mod create;
mod cumulative;
mod einsum;
mod elementwise;
mod gather;
mod grid_sample;
mod integer;
mod linear;
mod loss;
mod movement;
mod normalize;
mod older;
mod pad;
mod pool;
mod quantize;
mod rearrange;
mod recurrent;
mod reduce;
mod resize;
mod rotary;
mod scatter;
mod shape;
mod softmax;
#[cfg(test)]
mod tests;
mod top_k;
mod unary;
mod window;

use crate::error::Result;
use crate::node::{Node, Plan};

/// The oldest version of the standard operators of which most are understood.
pub const OPSET_MIN: i64 = 7;

/// The newest version of the standard operators that is understood.
pub const OPSET_MAX: i64 = 28;

/// One operator of ONNX.
#[derive(Debug)]
pub struct Operator {
    /// Its name in the standard domain.
    pub name: &'static str,
    /// The first version of the operator set in which it means what is implemented.
    pub since: i64,
    /// The least and the greatest number of inputs.
    pub inputs: (usize, usize),
    /// The greatest number of outputs.
    pub outputs: usize,
    /// The attributes it may have.
    pub attributes: &'static [&'static str],
    /// Plans a node.
    pub plan: fn(&Node<'_>) -> Result<Plan>,
}

/// The operator of that name as a version of the standard has it.
pub fn find(name: &str, opset: i64) -> Option<&'static Operator> {
    let ended = end(name).is_some_and(|last| opset > last);
    let forms = forms(name).filter(|operator| !ended && operator.since <= opset);
    forms.max_by_key(|operator| operator.since)
}

/// The forms of an operator through all versions.
pub fn forms(name: &str) -> impl Iterator<Item = &'static Operator> {
    every_form().filter(move |operator| operator.name == name)
}

/// Every operator in every form.
pub fn every_form() -> impl Iterator<Item = &'static Operator> {
    all().chain(older::OPERATORS)
}

/// The last version of an operator that there is no more.
pub fn end(name: &str) -> Option<i64> {
    older::ENDS.iter().find(|(ended, _)| *ended == name).map(|(_, last)| *last)
}

/// The newest form of an operator.
fn newest(name: &str) -> Option<&'static Operator> {
    all().find(|operator| operator.name == name)
}

/// Every operator in its newest form, by topic.
pub fn all() -> impl Iterator<Item = &'static Operator> {
    [
        attention::OPERATORS,
        unary::OPERATORS,
        binary::OPERATORS,
        cast::OPERATORS,
        conv::OPERATORS,
        conv_integer::OPERATORS,
        conv_transpose::OPERATORS,
        create::OPERATORS,
        cumulative::OPERATORS,
        einsum::OPERATORS,
        gather::OPERATORS,
        grid_sample::OPERATORS,
        integer::OPERATORS,
        linear::OPERATORS,
        loss::OPERATORS,
        movement::OPERATORS,
        normalize::OPERATORS,
        pad::OPERATORS,
        pool::OPERATORS,
        quantize::OPERATORS,
        rearrange::OPERATORS,
        recurrent::OPERATORS,
        reduce::OPERATORS,
        resize::OPERATORS,
        rotary::OPERATORS,
        scatter::OPERATORS,
        shape::OPERATORS,
        softmax::OPERATORS,
        top_k::OPERATORS,
    ]
    .into_iter()
    .flatten()
}

/// A line of the table: an operator with a fixed number of inputs and one output.
const fn op(
    name: &'static str,
    since: i64,
    inputs: usize,
    attributes: &'static [&'static str],
    plan: fn(&Node<'_>) -> Result<Plan>,
) -> Operator {
    Operator { name, since, inputs: (inputs, inputs), outputs: 1, attributes, plan }
}

impl Operator {
    /// The same with inputs that may be left out.
    const fn at_least(mut self, inputs: usize) -> Self {
        self.inputs.0 = inputs;
        self
    }

    /// The same with any number of inputs, but one.
    const fn variadic(mut self) -> Self {
        self.inputs = (1, usize::MAX);
        self
    }

    /// The same with outputs that may be left out.
    const fn up_to(mut self, outputs: usize) -> Self {
        self.outputs = outputs;
        self
    }
}
