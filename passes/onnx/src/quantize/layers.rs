//! Which products of a model are quantised, and why others are not.

use std::collections::BTreeSet;

use crate::error::{Report, Result};
use crate::model::{Model, domain};
use crate::proto::{GraphProto, NodeProto};
use crate::types::ElementType;

/// A product that is quantised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// The node's name; that of what it makes where it has none.
    pub name: String,
    /// The operator.
    pub kind: String,
    /// What it reads that is no weight.
    pub input: String,
    /// Its weights.
    pub weight: String,
    /// What it makes.
    pub output: String,
    /// The dimension of the weights that has a scale for each index.
    pub(super) axis: usize,
    /// Its place in the file.
    pub(super) node: usize,
}

/// The products of a model.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// Those that are quantised, in the order of the file.
    pub quantized: Vec<Layer>,
    /// The names of others, and why they stay in f32.
    pub left: Vec<(String, String)>,
}

pub(super) fn of(graph: &GraphProto, model: &Model, keep: &[String]) -> Result<Layers> {
    let live: BTreeSet<&str> =
        model.graph.nodes.iter().flat_map(|node| &node.proto.output).map(String::as_str).collect();
    let mut layers = Layers::default();
    for (at, node) in graph.node.iter().enumerate() {
        let is_product = matches!(node.op_type(), "MatMul" | "Gemm" | "Conv");
        let read = node.output.first().is_some_and(|output| live.contains(output.as_str()));
        if !is_product || !domain(node.domain()).is_empty() || !read {
            continue;
        }
        let name = name_of(node);
        match keep.contains(&name) {
            true => layers.left.push((name, "as asked".to_owned())),
            false => match layer(graph, model, (at, node), &name)? {
                Ok(layer) => layers.quantized.push(layer),
                Err(reason) => layers.left.push((name, reason)),
            },
        }
    }
    let all = || {
        let quantized = layers.quantized.iter().map(|layer| &layer.name);
        quantized.chain(layers.left.iter().map(|(name, _)| name))
    };
    if let Some(unknown) = keep.iter().find(|name| !all().any(|known| known == *name)) {
        let names: Vec<_> = all().map(|name| format!("{name:?}")).collect();
        return Err(Report::new(format!("no product of the model is called {unknown:?}"))
            .help(format!("one of: {}", names.join(", ")))
            .invalid());
    }
    Ok(layers)
}

fn name_of(node: &NodeProto) -> String {
    let made = node.output.first().map_or("", String::as_str);
    if node.name().is_empty() { made.to_owned() } else { node.name().to_owned() }
}

/// One product, or why it stays.
fn layer(
    graph: &GraphProto,
    model: &Model,
    (at, node): (usize, &NodeProto),
    name: &str,
) -> Result<Result<Layer, String>> {
    let ([input, weight, ..], [output, ..]) = (&node.input[..], &node.output[..]) else {
        return Ok(Err("it has too few operands".to_owned()));
    };
    let maker = graph.node.iter().find(|other| other.output.contains(input));
    if maker.is_some_and(|maker| maker.op_type() == "DequantizeLinear") {
        return Ok(Err("it is quantised".to_owned()));
    }
    if model.tensor(input)?.is_some() {
        return Ok(Err(format!("{input:?} is a constant")));
    }
    let Some(elements) = model.tensor(weight)? else {
        return Ok(Err(format!("its weights {weight:?} are computed")));
    };
    let rank = elements.ty().dims().len();
    if elements.ty().element() != ElementType::F32 || elements.is_empty() || rank < 2 {
        let what = "no matrix or filter of f32";
        return Ok(Err(format!("its weights are {}, {what}", elements.ty())));
    }
    let axis = match node.op_type() {
        "MatMul" => rank - 1,
        "Gemm" => 1 - usize::from(flag(node, "transB")),
        _ => 0,
    };
    Ok(Ok(Layer {
        name: name.to_owned(),
        kind: node.op_type().to_owned(),
        input: input.clone(),
        weight: weight.clone(),
        output: output.clone(),
        axis,
        node: at,
    }))
}

fn flag(node: &NodeProto, name: &str) -> bool {
    node.attribute.iter().any(|attribute| attribute.name() == name && attribute.i() != 0)
}
