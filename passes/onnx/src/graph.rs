//! A graph whose names hold together: of a model, of a body of control flow, of a function.
//!
//! Every value that is read is made, by one node or outside, and nodes are in an order in which
//! each stands after those it reads from. What a node means is not looked at here.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

use crate::constant;
use crate::error::{Report, Result};
use crate::model::domain;
use crate::ops::training;
use crate::proto::{GraphProto, NodeProto, TensorProto, ValueInfoProto};

/// More bodies in each other than any exporter writes; each is a call of the reader.
const DEPTH_MAX: usize = 64;

/// A graph.
#[derive(Debug, Default)]
pub struct Graph {
    /// The inputs, without those that have an initializer.
    pub inputs: Vec<ValueInfoProto>,
    /// The outputs.
    pub outputs: Vec<ValueInfoProto>,
    /// The nodes that some output depends on, each after those it reads from; no constants.
    pub nodes: Vec<Vertex>,
    /// Initializers and constants by the names that nodes use: the model's names for them.
    tensors: BTreeMap<String, String>,
}

/// A node, and the graphs that it has for attributes.
#[derive(Debug)]
pub struct Vertex {
    /// The node, without its graphs.
    pub proto: NodeProto,
    /// The graphs, by attribute.
    pub bodies: BTreeMap<String, Graph>,
}

/// Where a graph stands.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// What the model's names for its tensors begin with.
    prefix: String,
    /// The names that it sees around itself, from the outermost graph inwards.
    outer: Vec<BTreeSet<String>>,
}

impl Place {
    /// A graph that sees nothing around itself.
    pub fn apart(prefix: String) -> Self {
        Self { prefix, outer: Vec::new() }
    }

    fn sees(&self, name: &str) -> bool {
        self.outer.iter().any(|names| names.contains(name))
    }

    /// The body of a node in a graph that has these names.
    fn inside(&self, node: &NodeProto, attribute: &str, names: &BTreeSet<String>) -> Self {
        let maker = node.output.first().map_or("", String::as_str);
        let prefix = format!("{}{maker}/{attribute}/", self.prefix);
        let mut outer = self.outer.clone();
        outer.push(names.clone());
        Self { prefix, outer }
    }
}

impl Graph {
    /// Checks a graph and moves its tensors to those of the model.
    pub fn check(
        graph: GraphProto,
        place: &Place,
        tensors: &mut BTreeMap<String, TensorProto>,
    ) -> Result<Self> {
        if let Some(sparse) = graph.sparse_initializer.first() {
            let name = sparse.values.as_ref().map(|values| values.name()).unwrap_or_default();
            return Err(Report::new(format!("initializer {name:?} is sparse")).unsupported());
        }
        let mut own = Self::default();
        for tensor in graph.initializer {
            let name = tensor.name().to_owned();
            if own.tensors.contains_key(&name) {
                return Err(twice("initializers", &name));
            }
            own.keep(place, name, tensor, tensors)?;
        }
        let mut defined = BTreeSet::new();
        for input in &graph.input {
            if input.name().is_empty() {
                return Err(Report::new("a graph input has no name").invalid());
            }
            if !defined.insert(input.name()) {
                return Err(twice("graph inputs", input.name()));
            }
        }
        defined.extend(own.tensors.keys().map(String::as_str));
        let order = order(&graph.node, &defined, place)?;
        let live = alive(&graph.node, &order, &graph.output, &defined, place)?;
        let names = names(&graph.node, &defined);
        // Up to IR version 3 an initializer is an input too; later that is a default value.
        let inputs =
            graph.input.into_iter().filter(|i| !own.tensors.contains_key(i.name())).collect();
        let mut unordered: Vec<_> = graph.node.into_iter().map(Some).collect();
        for at in live {
            let node = unordered[at].take().expect("the order names every node once");
            if constant::is_constant(&node) && !constant::refers(&node) {
                let (name, tensor) = constant::tensor_of(node)?;
                own.keep(place, name, tensor, tensors)?;
            } else {
                own.nodes.push(Vertex::check(node, place, &names, tensors)?);
            }
        }
        Ok(Self { inputs, outputs: graph.output, ..own })
    }

    fn keep(
        &mut self,
        place: &Place,
        name: String,
        tensor: TensorProto,
        tensors: &mut BTreeMap<String, TensorProto>,
    ) -> Result<()> {
        let global = format!("{}{name}", place.prefix);
        if tensors.insert(global.clone(), tensor).is_some() {
            return Err(twice("tensors", &global));
        }
        self.tensors.insert(name, global);
        Ok(())
    }

    /// The model's name for an initializer or a constant.
    pub fn tensor(&self, name: &str) -> Option<&str> {
        self.tensors.get(name).map(String::as_str)
    }
}

impl Vertex {
    fn check(
        mut proto: NodeProto,
        place: &Place,
        names: &BTreeSet<String>,
        tensors: &mut BTreeMap<String, TensorProto>,
    ) -> Result<Self> {
        let mut graphs = Vec::new();
        for attribute in &mut proto.attribute {
            let name = attribute.name().to_owned();
            graphs.extend(attribute.g.take().map(|graph| (name, graph)));
        }
        let mut bodies = BTreeMap::new();
        for (name, graph) in graphs {
            let inside = place.inside(&proto, &name, names);
            if inside.outer.len() > DEPTH_MAX {
                return Err(Report::new(format!(
                    "{} is inside of {DEPTH_MAX} others",
                    describe(&proto)
                ))
                .unsupported());
            }
            bodies.insert(name, Graph::check(graph, &inside, tensors)?);
        }
        Ok(Self { proto, bodies })
    }
}

/// Every name that a graph makes or is given.
fn names(nodes: &[NodeProto], defined: &BTreeSet<&str>) -> BTreeSet<String> {
    if nodes.iter().all(|node| node.attribute.iter().all(|attribute| attribute.g.is_none())) {
        return BTreeSet::new();
    }
    let made = nodes.iter().flat_map(|node| &node.output).cloned();
    made.chain(defined.iter().map(|&name| name.to_owned())).collect()
}

/// The values that a node reads, with those that its graphs read around themselves.
fn reads(node: &NodeProto) -> Vec<&str> {
    let mut all: Vec<_> = node.input.iter().map(String::as_str).filter(|n| !n.is_empty()).collect();
    // A tensor whose changes are asked for is named by an attribute.
    if node.op_type() == "Gradient" && domain(node.domain()) == training::DOMAIN {
        let named = node.attribute.iter().filter(|attribute| attribute.name() == "y");
        all.extend(named.filter_map(|attribute| std::str::from_utf8(attribute.s()).ok()));
    }
    for graph in node.attribute.iter().filter_map(|attribute| attribute.g.as_ref()) {
        let inside: BTreeSet<_> = graph
            .node
            .iter()
            .flat_map(|node| node.output.iter().map(String::as_str))
            .chain(graph.input.iter().map(|input| input.name()))
            .chain(graph.initializer.iter().map(|tensor| tensor.name()))
            .collect();
        let read = graph.node.iter().flat_map(reads);
        let read = read.chain(graph.output.iter().map(|output| output.name()));
        all.extend(read.filter(|name| !inside.contains(name)));
    }
    all
}

fn twice(what: &str, name: &str) -> crate::ImportError {
    Report::new(format!("two {what} are named {name:?}"))
        .help("every value has its own name")
        .invalid()
}

/// What a node is called in the names of steps: its own name, or that of what it makes.
pub fn called(node: &NodeProto) -> &str {
    if node.name().is_empty() { &node.output[0] } else { node.name() }
}

/// Returns the name of a node in messages.
pub fn describe(node: &NodeProto) -> String {
    let op = match domain(node.domain()) {
        "" => node.op_type().to_owned(),
        domain => format!("{domain}.{}", node.op_type()),
    };
    match (node.name(), node.output.first()) {
        ("", Some(output)) => format!("node {op} that makes {output:?}"),
        ("", None) => format!("node {op}"),
        (name, _) => format!("node {name:?} ({op})"),
    }
}

/// The order of the nodes: that of the file wherever it is possible.
fn order(nodes: &[NodeProto], defined: &BTreeSet<&str>, place: &Place) -> Result<Vec<usize>> {
    let mut maker = BTreeMap::new();
    for (at, node) in nodes.iter().enumerate() {
        for output in node.output.iter().filter(|output| !output.is_empty()) {
            if defined.contains(output.as_str()) {
                return Err(Report::new(format!(
                    "{} makes a value that exists already",
                    describe(node)
                ))
                .note(format!("{output:?} is a graph input or an initializer"))
                .invalid());
            }
            if let Some(first) = maker.insert(output.as_str(), at) {
                return Err(Report::new(format!("two nodes make {output:?}"))
                    .note(describe(&nodes[first]))
                    .note(describe(node))
                    .invalid());
            }
        }
    }
    let mut readers = vec![Vec::new(); nodes.len()];
    let mut missing = vec![0usize; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        for input in reads(node) {
            if let Some(&from) = maker.get(input) {
                readers[from].push(at);
                missing[at] += 1;
            } else if !defined.contains(input) && !place.sees(input) {
                return Err(Report::new(format!(
                    "{} reads {input:?}, which nothing makes",
                    describe(node)
                ))
                .help("a graph input, an initializer or the output of a node")
                .invalid());
            }
        }
    }
    let mut ready: BinaryHeap<_> =
        (0..nodes.len()).filter(|&at| missing[at] == 0).map(Reverse).collect();
    let mut order = Vec::with_capacity(nodes.len());
    while let Some(Reverse(at)) = ready.pop() {
        order.push(at);
        for &reader in &readers[at] {
            missing[reader] -= 1;
            if missing[reader] == 0 {
                ready.push(Reverse(reader));
            }
        }
    }
    if order.len() < nodes.len() {
        return Err(cycle(nodes, &maker, &missing));
    }
    Ok(order)
}

/// Names the nodes of one cycle. Whoever still waits for an input waits, in the end, for itself.
fn cycle(
    nodes: &[NodeProto],
    maker: &BTreeMap<&str, usize>,
    missing: &[usize],
) -> crate::ImportError {
    let before = |at: usize| {
        let inputs = reads(&nodes[at]).into_iter();
        let makers = inputs.filter_map(|input| maker.get(input).copied());
        makers.into_iter().find(|&from| missing[from] > 0)
    };
    let mut path = Vec::new();
    let mut seen = vec![false; nodes.len()];
    let mut at = missing.iter().position(|&n| n > 0);
    while let Some(node) = at {
        if seen[node] {
            path.drain(..path.iter().position(|&p| p == node).unwrap_or(0));
            break;
        }
        seen[node] = true;
        path.push(node);
        at = before(node);
    }
    let mut report = Report::new("the graph has a cycle");
    for &node in path.iter().rev().take(8) {
        report = report.note(format!("{} is on it", describe(&nodes[node])));
    }
    report.help("every node reads only what was made before it").invalid()
}

/// The nodes of `order` that an output depends on; what nobody reads need not be understood.
fn alive(
    nodes: &[NodeProto],
    order: &[usize],
    outputs: &[ValueInfoProto],
    defined: &BTreeSet<&str>,
    place: &Place,
) -> Result<Vec<usize>> {
    let mut wanted = BTreeSet::new();
    for output in outputs {
        // A body may give one value for several of its outputs.
        if !wanted.insert(output.name()) && place.outer.is_empty() {
            return Err(twice("graph outputs", output.name()));
        }
    }
    if wanted.is_empty() {
        return Err(Report::new("the graph has no output").invalid());
    }
    let made: BTreeSet<_> =
        nodes.iter().flat_map(|node| &node.output).map(String::as_str).collect();
    let exists = |name: &str| defined.contains(name) || made.contains(name) || place.sees(name);
    if let Some(lost) = wanted.iter().find(|&&name| !exists(name)) {
        return Err(Report::new(format!("nothing makes the graph output {lost:?}"))
            .help("a graph input, an initializer or the output of a node")
            .invalid());
    }
    let mut live = Vec::new();
    for &at in order.iter().rev() {
        let node = &nodes[at];
        if node.output.iter().any(|output| !output.is_empty() && wanted.contains(output.as_str())) {
            wanted.extend(reads(node));
            live.push(at);
        }
    }
    live.reverse();
    Ok(live)
}
