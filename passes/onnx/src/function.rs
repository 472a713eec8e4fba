//! Operators that a model defines by nodes of others.

use std::collections::BTreeMap;

use crate::error::Result;
use crate::graph::{Graph, Place};
use crate::model::opsets;
use crate::proto::{AttributeProto, FunctionProto, GraphProto, TensorProto, ValueInfoProto};

/// A function.
#[derive(Debug)]
pub struct Function {
    /// What it computes from its inputs, by their names.
    pub graph: Graph,
    /// The version of each operator set that its nodes are of, by domain.
    pub opsets: BTreeMap<String, i64>,
    /// Attributes that a call may leave out.
    pub defaults: Vec<AttributeProto>,
}

impl Function {
    /// Checks a function and moves its tensors to those of the model.
    pub fn check(
        function: FunctionProto,
        id: &str,
        tensors: &mut BTreeMap<String, TensorProto>,
    ) -> Result<Self> {
        let ports = |names: Vec<String>| {
            let port = |name| ValueInfoProto { name: Some(name), ..Default::default() };
            names.into_iter().map(port).collect()
        };
        let graph = GraphProto {
            input: ports(function.input),
            output: ports(function.output),
            node: function.node,
            ..Default::default()
        };
        let graph = Graph::check(graph, &Place::apart(format!("{id}/")), tensors)?;
        let opsets = opsets(&function.opset_import)?;
        Ok(Self { graph, opsets, defaults: function.attribute_proto })
    }
}
