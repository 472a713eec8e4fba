//! What names mean in the graph that is planned.

use std::collections::BTreeMap;

use super::{Bound, Names, Planner};
use crate::error::Result;
use crate::proto::{AttributeProto, NodeProto};

/// A graph while its nodes are planned.
pub struct Scope<'m> {
    graph: &'m Names,
    /// What was bound so far.
    names: BTreeMap<&'m str, Bound>,
    opsets: &'m BTreeMap<String, i64>,
    /// The attributes of the call of a function; `None` of a body, which sees those around it.
    attributes: Option<BTreeMap<&'m str, &'m AttributeProto>>,
    /// What the names of its steps begin with.
    path: String,
}

impl<'m> Scope<'m> {
    /// The graph of a model.
    pub fn new(graph: &'m Names, opsets: &'m BTreeMap<String, i64>) -> Self {
        let (names, attributes) = (BTreeMap::new(), Some(BTreeMap::new()));
        Self { graph, names, opsets, attributes, path: String::new() }
    }

    /// The graph of a function, which sees nothing around its call.
    pub fn of_function(
        graph: &'m Names,
        opsets: &'m BTreeMap<String, i64>,
        attributes: BTreeMap<&'m str, &'m AttributeProto>,
        path: String,
    ) -> Self {
        Self { graph, names: BTreeMap::new(), opsets, attributes: Some(attributes), path }
    }
}

impl<'m> Planner<'m> {
    fn scope(&self) -> &Scope<'m> {
        self.scopes.last().expect("there is the model's graph")
    }

    /// The versions of operators that hold here.
    pub(super) fn opsets(&self) -> &'m BTreeMap<String, i64> {
        self.scope().opsets
    }

    /// What the names of steps begin with here.
    pub(super) fn path(&self) -> &str {
        &self.scope().path
    }

    /// Gives a name a meaning.
    pub(super) fn bind(&mut self, name: &'m str, bound: Bound) {
        let scope = self.scopes.last_mut().expect("there is the model's graph");
        scope.names.insert(name, bound);
    }

    /// What a name stands for.
    pub(super) fn bound(&mut self, name: &str) -> Result<Bound> {
        for scope in self.scopes.iter().rev() {
            if let Some(bound) = scope.names.get(name) {
                return Ok(bound.clone());
            }
            let graph = scope.graph;
            if let Some(tensor) = graph.tensor(name) {
                return self.weight(tensor).map(Bound::Tensor);
            }
            if scope.attributes.is_some() {
                break;
            }
        }
        unreachable!("the model is checked: {name:?} is made")
    }

    /// The attributes of a node by name, with those that the call of a function gives.
    pub(super) fn attributes(&self, proto: &'m NodeProto) -> Vec<(&'m str, &'m AttributeProto)> {
        let mut scopes = self.scopes.iter().rev();
        let given = scopes.find_map(|scope| scope.attributes.as_ref());
        let given = given.expect("the model's graph is called by nobody");
        let of = |attribute: &'m AttributeProto| match attribute.ref_attr_name() {
            "" => Some((attribute.name(), attribute)),
            name => given.get(name).map(|&given| (attribute.name(), given)),
        };
        proto.attribute.iter().filter_map(of).collect()
    }

    /// The graph whose nodes are planned.
    pub(super) fn graph_around(&self) -> &'m Names {
        self.scope().graph
    }

    /// What `plan` gives where names of the graph that is planned mean something else.
    pub(super) fn again<T>(
        &mut self,
        names: BTreeMap<&'m str, Bound>,
        place: &str,
        plan: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let (graph, opsets) = (self.graph_around(), self.opsets());
        let path = format!("{}{place}", self.path());
        self.scopes.push(Scope { graph, names, opsets, attributes: None, path });
        let made = plan(self);
        self.scopes.pop();
        made
    }

    /// The outputs of a graph for these inputs, which it names in order.
    pub(super) fn run(
        &mut self,
        mut scope: Scope<'m>,
        inputs: impl IntoIterator<Item = Bound>,
    ) -> Result<Vec<Bound>> {
        let graph = scope.graph;
        scope.names.extend(graph.inputs.iter().map(|input| input.name()).zip(inputs));
        self.scopes.push(scope);
        let results = graph.nodes.iter().try_for_each(|vertex| self.node(vertex));
        let results = results
            .and_then(|()| graph.outputs.iter().map(|output| self.bound(output.name())).collect());
        self.scopes.pop();
        results
    }

    /// The outputs of a body, which sees what is around its node.
    pub(super) fn run_body(
        &mut self,
        graph: &'m Names,
        place: &str,
        inputs: impl IntoIterator<Item = Bound>,
    ) -> Result<Vec<Bound>> {
        let (opsets, path) = (self.opsets(), format!("{}{place}/", self.path()));
        let scope = Scope { graph, names: BTreeMap::new(), opsets, attributes: None, path };
        self.run(scope, inputs)
    }
}
