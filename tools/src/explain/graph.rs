//! From the tile-graph: kernels applied to tensors, and the memory that carries each tensor.

use std::collections::{BTreeMap, HashMap};

use weft_dialects::device::{Machine, Scope};
use weft_dialects::ir::{Op, Val, attr, ty};
use weft_dialects::repeat;
use weft_dialects::tile;

use super::kernels::Kernels;
use super::layers;
use super::program::{Job, shape};
use super::report::{Edge, Graph, Node};
use crate::Failure;

/// Chains of views are no longer than this.
const CHAIN: usize = 1000;

/// A tile-graph, and the cycles that each of its nodes is predicted to take alone.
pub(super) struct Read {
    pub graph: Graph,
    pub cycles: Vec<Option<f64>>,
}

impl Read {
    /// The cycles of nodes that are one kernel, by the names of their operators: what each
    /// would take alone, which is all that is known before they are joined.
    pub fn joined(&self) -> HashMap<String, f64> {
        let groups = groups(&self.graph).into_values();
        let joined = groups.filter(|(_, members)| members.len() > 1);
        let sum = |(name, members): (String, Vec<usize>)| {
            let cycles: Option<f64> = members.iter().map(|&member| self.cycles[member]).sum();
            Some((name, cycles?))
        };
        joined.filter_map(sum).collect()
    }
}

/// Reads the tile-graph of a module of the stage `tile`, with what weights alone decide.
pub(super) fn read<'c>(
    module: Op<'c>,
    machine: Machine<'c>,
    kernels: &mut Kernels<'c>,
) -> Result<Read, Failure> {
    let graph = repeat::others(module).find_map(tile::Graph::of).ok_or_else(|| {
        Failure::said(
            "the module holds no tile.graph",
            "a model, or text of the stage graph or tile: what comes later has kernels only",
        )
    })?;
    let shared = machine.shared().map_or("", |memory| memory.name);
    let mut reader = Reader {
        shared,
        kernels,
        numbers: HashMap::new(),
        out: Graph::default(),
        cycles: Vec::new(),
    };
    for run in graph.body.iter().filter_map(tile::Run::of) {
        reader.run(&graph, &run);
    }
    for (&name, value) in graph.outputs.iter().zip(graph.results()) {
        reader.edge(&graph, value, None, Some(name), 0);
    }
    let Reader { out: mut graph, cycles, .. } = reader;
    group(&mut graph, machine, shared);
    Ok(Read { graph, cycles })
}

struct Reader<'c, 'k> {
    shared: &'c str,
    kernels: &'k mut Kernels<'c>,
    numbers: HashMap<Op<'c>, usize>,
    out: Graph,
    cycles: Vec<Option<f64>>,
}

impl<'c> Reader<'c, '_> {
    fn run(&mut self, graph: &tile::Graph<'c>, run: &tile::Run<'c>) {
        let number = self.out.nodes.len();
        self.numbers.insert(run.op, number);
        let facts = self.kernels.facts(run.kernel);
        self.cycles.push(facts.predicted.as_ref().map(|known| known.cycles));
        let reads: Vec<u64> = facts.moved.iter().map(|moved| moved.read).collect();
        self.out.nodes.push(Node {
            op: run.name.to_owned(),
            kernel: run.kernel.to_owned(),
            computes: facts.computes.clone(),
            runs_in: None,
            group: number,
            inside: facts.inside.clone(),
        });
        for (argument, &value) in run.inputs.iter().chain(&run.inits).enumerate() {
            let read = reads.get(argument).copied().unwrap_or(0);
            self.edge(graph, value, Some(number), None, read);
        }
    }

    /// The edge that brings `value` to a node, or out of the model, where it is neither a
    /// weight nor empty.
    fn edge(
        &mut self,
        graph: &tile::Graph<'c>,
        value: Val<'c>,
        to: Option<usize>,
        port: Option<&str>,
        read: u64,
    ) {
        let (source, connected) = source(value);
        let mut edge = Edge {
            from: None,
            to,
            port: port.map(str::to_owned),
            tensor: shape(value),
            bytes: bytes(value),
            memory: self.shared.to_owned(),
            shared_bytes: read,
            remarks: Vec::new(),
        };
        match source.def() {
            None => {
                let input = graph.inputs.get(source.index()).copied();
                edge.port = edge.port.or(input.map(str::to_owned));
            }
            Some(op) => {
                let Some(run) = tile::Run::of(op) else { return };
                edge.from = self.numbers.get(&op).copied();
                edge.memory = connected
                    .or_else(|| memory_of(&run, source.index()))
                    .unwrap_or(self.shared)
                    .to_owned();
                let written =
                    self.kernels.facts(run.kernel).moved.get(run.inputs.len() + source.index());
                edge.shared_bytes += written.map_or(0, |moved| moved.written);
            }
        }
        self.out.edges.push(edge);
    }
}

/// Returns the source of a tensor, behind views and connections, and the memory of the last
/// connection on its way.
fn source(value: Val<'_>) -> (Val<'_>, Option<&str>) {
    let (mut value, mut memory) = (value, None);
    for _ in 0..CHAIN {
        let Some(op) = value.def() else { break };
        if op.is("tile.connect") {
            memory = memory.or_else(|| op.attr("memory").and_then(attr::symbol));
        } else if !op.is("tile.view") {
            break;
        }
        let Some(&before) = op.operands().first() else { break };
        value = before;
    }
    (value, memory)
}

/// The memory of the tensor that a result overwrites, at its beginning.
fn memory_of<'c>(run: &tile::Run<'c>, result: usize) -> Option<&'c str> {
    let mut value = *run.inits.get(result)?;
    for _ in 0..CHAIN {
        let (from, connected) = source(value);
        if connected.is_some() {
            return connected;
        }
        let op = from.def()?;
        if let Some(empty) = tile::Empty::of(op) {
            return Some(empty.memory);
        }
        value = *tile::Run::of(op)?.inits.get(from.index())?;
    }
    None
}

/// Bytes of a tensor.
pub(super) fn bytes(value: Val<'_>) -> u64 {
    let elem = ty::elem(value.ty()).and_then(ty::byte_size);
    elem.zip(ty::count(value.ty())).map_or(0, |(elem, count)| elem.saturating_mul(count))
}

/// Numbers groups of nodes; nodes with an edge in a local memory between them are one group.
fn group(graph: &mut Graph, machine: Machine<'_>, shared: &str) {
    let nearer = |name: &str| {
        name != shared && machine.memory(name).is_some_and(|memory| memory.scope() != Scope::Host)
    };
    for edge in graph.edges.iter().filter(|edge| nearer(&edge.memory)) {
        let (Some(from), Some(to)) = (edge.from, edge.to) else { continue };
        let (one, other) = (graph.nodes[from].group, graph.nodes[to].group);
        for node in graph.nodes.iter_mut().filter(|node| node.group == one.max(other)) {
            node.group = one.min(other);
        }
    }
}

/// Returns the groups of nodes that are one kernel, with the names of their operators.
pub(super) fn groups(graph: &Graph) -> BTreeMap<usize, (String, Vec<usize>)> {
    let mut found: BTreeMap<usize, (String, Vec<usize>)> = BTreeMap::new();
    for (number, node) in graph.nodes.iter().enumerate() {
        let (name, members) = found.entry(node.group).or_default();
        members.push(number);
        if !name.split('+').any(|own| own == node.op) {
            let plus = if name.is_empty() { "" } else { "+" };
            *name += &format!("{plus}{}", node.op);
        }
    }
    found
}

/// Says of each node which kernel of the task program it became, and leaves out the others:
/// those are constants, or nobody reads them.
///
/// A kernel of the program has the names of its operators; one that is a single node has that
/// node's code, too. Where several are alike the first is the first.
pub(super) fn place(graph: Graph, jobs: &[Job], shared: &str) -> Graph {
    let groups = groups(&graph);
    let Graph { mut nodes, edges, .. } = graph;
    let mut left: Vec<usize> = (0..jobs.len()).collect();
    for (name, members) in groups.values() {
        let alone = (members.len() == 1).then(|| nodes[members[0]].kernel.clone());
        let same = |job: &Job| {
            job.name == *name && alone.as_ref().is_none_or(|kernel| *kernel == job.kernel)
        };
        if let Some(at) = left.iter().position(|&job| same(&jobs[job])) {
            let job = left.remove(at);
            members.iter().for_each(|&member| nodes[member].runs_in = Some(job));
        }
    }
    let mut graph = keep_placed(nodes, edges);
    layers::write(&mut graph, shared);
    graph
}

fn keep_placed(nodes: Vec<Node>, edges: Vec<Edge>) -> Graph {
    let mut kept = Graph::default();
    let mut numbers = vec![None; nodes.len()];
    let mut groups: HashMap<usize, usize> = HashMap::new();
    for (old, mut node) in nodes.into_iter().enumerate() {
        if node.runs_in.is_some() {
            let number = kept.nodes.len();
            numbers[old] = Some(number);
            node.group = *groups.entry(node.group).or_insert(number);
            kept.nodes.push(node);
        }
    }
    for mut edge in edges {
        let is_port = edge.port.is_some();
        edge.from = edge.from.and_then(|from| numbers[from]);
        edge.to = edge.to.and_then(|to| numbers[to]);
        // An edge of a constant leads from nowhere.
        let leads = edge.from.is_some() || is_port;
        let arrives = edge.to.is_some() || (is_port && edge.from.is_some());
        if leads && arrives {
            kept.edges.push(edge);
        }
    }
    kept
}
