//! What is handed over in each memory, and what would pass the device's memory without it.

use weft_dialects::ir::{Op, Val};
use weft_dialects::tile;

use super::graph::bytes;
use super::report::{Edge, Graph, Group, Layer};

/// Writes groups and layers of a tile-graph; `shared` is the device's memory.
pub(super) fn write(graph: &mut Graph, shared: &str) {
    let mut numbers: Vec<usize> = graph.nodes.iter().map(|node| node.group).collect();
    numbers.sort_unstable();
    numbers.dedup();
    let nodes = |group: usize| -> Vec<usize> {
        (0..graph.nodes.len()).filter(|&node| graph.nodes[node].group == group).collect()
    };
    let groups = numbers.into_iter().map(nodes).filter(|nodes| nodes.len() > 1);
    let group = |nodes: Vec<usize>| {
        let inside = |end: Option<usize>| end.is_some_and(|end| nodes.contains(&end));
        let own = graph.edges.iter().filter(|edge| inside(edge.from) && inside(edge.to));
        let near: Vec<&Edge> = own.filter(|edge| edge.memory != shared).collect();
        Group { layers: layers(&near, graph, shared), nodes }
    };
    let groups = groups.map(group).collect();
    let all: Vec<&Edge> = graph.edges.iter().collect();
    let mut layers = layers(&all, graph, shared);
    for own in graph.nodes.iter().flat_map(|node| &node.inside) {
        add(&mut layers, own.clone());
    }
    (graph.groups, graph.layers) = (groups, layers);
}

/// The memories that carry some edges, in the order of these.
fn layers(edges: &[&Edge], graph: &Graph, shared: &str) -> Vec<Layer> {
    let mut layers = Vec::new();
    for (number, edge) in edges.iter().enumerate() {
        let same = |other: &&Edge| {
            let source =
                (other.from, &other.port, &other.tensor) == (edge.from, &edge.port, &edge.tensor);
            source && other.memory == edge.memory
        };
        let first = !edges[..number].iter().any(same);
        // Who reads it in the device's memory finds it there, however others get it.
        let apart = |other: &Edge| {
            let reads =
                edge.from.is_some() && other.from == edge.from && other.tensor == edge.tensor;
            reads && other.memory == shared
        };
        let written = first && !graph.edges.iter().any(apart);
        let near = edge.memory != shared;
        let unmoved = if near { edge.bytes * (1 + u64::from(written)) } else { 0 };
        let (tensors, bytes) = if first { (1, edge.bytes) } else { (0, 0) };
        let memory = edge.memory.clone();
        add(&mut layers, Layer { memory, tensors, bytes, unmoved_bytes: unmoved });
    }
    layers
}

/// Adds to what a memory hands over.
fn add(layers: &mut Vec<Layer>, more: Layer) {
    match layers.iter_mut().find(|own| own.memory == more.memory) {
        Some(own) => {
            own.tensors += more.tensors;
            own.bytes += more.bytes;
            own.unmoved_bytes += more.unmoved_bytes;
        }
        None => layers.push(more),
    }
}

/// What the nests of a kernel hand over to each other in buffers that it has.
pub(super) fn inside(kernel: &tile::Kernel<'_>) -> Vec<Layer> {
    let mut layers = Vec::new();
    for empty in kernel.body.ops().into_iter().filter_map(tile::Empty::of) {
        let bytes = bytes(empty.op.result(0));
        let layer = Layer { memory: empty.memory.to_owned(), tensors: 1, bytes, unmoved_bytes: 0 };
        add(&mut layers, layer);
    }
    for compute in kernel.computes() {
        let operands = compute.op.operands();
        for value in operands {
            if let Some(memory) = buffer(value) {
                let unmoved_bytes = bytes(value);
                let memory = memory.to_owned();
                add(&mut layers, Layer { memory, unmoved_bytes, ..Layer::default() });
            }
        }
    }
    layers
}

/// The memory of the buffer that a value is in, or is read from.
fn buffer(value: Val<'_>) -> Option<&str> {
    let mut def: Option<Op<'_>> = value.def();
    while let Some(op) = def {
        if let Some(empty) = tile::Empty::of(op) {
            return Some(empty.memory);
        }
        let follows = ["tile.load", "tile.store", "tile.view", "tile.compute"].contains(&op.name());
        let before = if op.is("tile.compute") {
            op.operands().pop()
        } else {
            op.operands().first().copied()
        };
        def = before.filter(|_| follows).and_then(Val::def);
    }
    None
}
