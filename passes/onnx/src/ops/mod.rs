//! The operators: one table from a name to the function that plans a node.
//!
//! A function checks operands and attributes, infers the results' types, and says what the
//! operator computes. It knows nothing of other nodes.

mod attend;
mod attention;
mod binary;
mod cast;
mod conv;
mod conv_integer;
mod conv_transpose;
mod create;
mod cumulative;
pub mod derivative;
mod determinant;
mod einsum;
mod elementwise;
pub mod flexible;
mod fourier;
pub mod gather;
mod grams;
mod grid_sample;
mod integer;
mod linear;
mod linear_attention;
mod loss;
pub mod marked;
mod microsoft;
mod ml;
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
mod sample;
mod scatter;
pub mod shape;
mod slice;
mod softmax;
pub mod suppress;
#[cfg(test)]
mod tests;
pub mod top_k;
pub mod training;
mod unary;
pub mod unique;
mod unpool;
mod window;

pub use movement::{gathered, joined};
pub use recurrent::Recurrence;

use crate::error::Result;
use crate::node::{Node, Plan};

/// The oldest version of the standard operators that is understood.
pub const OPSET_MIN: i64 = 1;

/// The newest version of the standard operators that is understood.
pub const OPSET_MAX: i64 = 28;

/// Operators that share a version.
#[derive(Debug)]
pub struct Domain {
    /// Its name; the standard one has none.
    pub name: &'static str,
    /// The oldest version of which most operators are understood.
    pub oldest: i64,
    /// The newest version that is understood.
    pub newest: i64,
}

/// The domain of operators that the standard tries out.
pub const PREVIEW: &str = "ai.onnx.preview";

/// The domain of ONNX Runtime's own operators.
pub const MICROSOFT: &str = "com.microsoft";

/// The domains that have operators here.
pub const DOMAINS: &[Domain] = &[
    Domain { name: "", oldest: OPSET_MIN, newest: OPSET_MAX },
    Domain { name: MICROSOFT, oldest: 1, newest: 1 },
    Domain { name: ml::DOMAIN, oldest: 1, newest: 5 },
    Domain { name: training::DOMAIN, oldest: 1, newest: 1 },
    Domain { name: PREVIEW, oldest: 1, newest: 1 },
];

/// One operator of ONNX.
#[derive(Debug)]
pub struct Operator {
    /// The domain that it belongs to.
    pub domain: &'static str,
    /// Its name in the domain.
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

/// The operator of that name in a domain as a version of it has it.
pub fn find(domain: &str, name: &str, opset: i64) -> Option<&'static Operator> {
    let ended = end(domain, name).is_some_and(|last| opset > last);
    let forms = forms(domain, name).filter(|operator| !ended && operator.since <= opset);
    forms.max_by_key(|operator| operator.since)
}

/// The forms of an operator through all versions.
pub fn forms(domain: &str, name: &str) -> impl Iterator<Item = &'static Operator> {
    every_form().filter(move |operator| operator.domain == domain && operator.name == name)
}

/// Every operator in every form.
pub fn every_form() -> impl Iterator<Item = &'static Operator> {
    all().chain(older::OPERATORS)
}

/// The last version of an operator that there is no more.
pub fn end(domain: &str, name: &str) -> Option<i64> {
    let ended = older::ENDS.iter().filter(|_| domain.is_empty()).find(|(ended, _)| *ended == name);
    ended.map(|(_, last)| *last)
}

/// The newest form of a standard operator.
fn newest(name: &str) -> Option<&'static Operator> {
    all().find(|operator| operator.domain.is_empty() && operator.name == name)
}

/// Every operator in its newest form, by topic.
pub fn all() -> impl Iterator<Item = &'static Operator> {
    [
        attention::OPERATORS,
        grams::OPERATORS,
        unary::OPERATORS,
        binary::OPERATORS,
        cast::OPERATORS,
        conv::OPERATORS,
        conv_integer::OPERATORS,
        conv_transpose::OPERATORS,
        create::OPERATORS,
        cumulative::OPERATORS,
        determinant::OPERATORS,
        einsum::OPERATORS,
        fourier::OPERATORS,
        gather::OPERATORS,
        grid_sample::OPERATORS,
        integer::OPERATORS,
        linear::OPERATORS,
        linear_attention::OPERATORS,
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
        sample::OPERATORS,
        scatter::OPERATORS,
        shape::OPERATORS,
        slice::OPERATORS,
        softmax::OPERATORS,
        top_k::OPERATORS,
        training::OPERATORS,
        unpool::OPERATORS,
    ]
    .into_iter()
    .chain(microsoft::TABLES)
    .chain(ml::TABLES)
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
    Operator { domain: "", name, since, inputs: (inputs, inputs), outputs: 1, attributes, plan }
}

/// A line of the table: an operator of ONNX Runtime with a fixed number of inputs and one output.
const fn microsoft(
    name: &'static str,
    inputs: usize,
    attributes: &'static [&'static str],
    plan: fn(&Node<'_>) -> Result<Plan>,
) -> Operator {
    Operator { domain: MICROSOFT, ..op(name, 1, inputs, attributes, plan) }
}

impl Operator {
    /// The name, behind that of the domain where it is not the standard one.
    pub fn full_name(&self) -> String {
        match self.domain {
            "" => self.name.to_owned(),
            domain => format!("{domain}.{}", self.name),
        }
    }

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
