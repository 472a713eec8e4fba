//! The tile-graph as a graph collection that Model Explorer opens, with the whole report
//! beside it under `report`.

use serde::Serialize;

use super::report::{Edge, Graph, Node, Report};

#[derive(Serialize)]
struct Collection<'a> {
    label: &'a str,
    graphs: [Drawn; 1],
    report: &'a Report,
}

#[derive(Serialize)]
struct Drawn {
    id: String,
    nodes: Vec<DrawnNode>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DrawnNode {
    id: String,
    label: String,
    namespace: String,
    incoming_edges: Vec<Incoming>,
    attrs: Vec<Attr>,
    outputs_metadata: Vec<Output>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Incoming {
    source_node_id: String,
    source_node_output_id: String,
    target_node_input_id: String,
}

#[derive(Serialize)]
struct Attr {
    key: String,
    value: String,
}

#[derive(Serialize)]
struct Output {
    id: String,
    attrs: Vec<Attr>,
}

/// The text of the collection.
///
/// Inputs and outputs of the model are nodes of their own. Nodes that are one kernel lie in
/// one namespace below that of the operator's name, whose `/` are levels.
pub fn model_explorer(report: &Report) -> String {
    let Graph { nodes, edges, .. } = &report.graph;
    let mut drawn: Vec<DrawnNode> =
        nodes.iter().enumerate().map(|(number, node)| kernel(report, number, node)).collect();
    for (number, edge) in edges.iter().enumerate() {
        // The output of a node is described with its first edge.
        let first = edges.iter().position(|other| source(other) == source(edge));
        if first == Some(number) {
            match edge.from {
                Some(from) => drawn[from].outputs_metadata.push(tensor(edge)),
                None => drawn.push(port(&source(edge), edge)),
            }
        }
        let target = match edge.to {
            Some(to) => &mut drawn[to],
            None => {
                let id = format!("output {}", edge.port.as_deref().unwrap_or_default());
                drawn.push(port(&id, edge));
                drawn.last_mut().expect("one was pushed")
            }
        };
        target.incoming_edges.push(Incoming {
            source_node_id: source(edge),
            source_node_output_id: "0".to_owned(),
            target_node_input_id: target.incoming_edges.len().to_string(),
        });
    }
    let graphs =
        [Drawn { id: format!("{} on @{}", report.model, report.device.name), nodes: drawn }];
    let collection = Collection { label: &report.model, graphs, report };
    serde_json::to_string(&collection).expect("a report is plain data")
}

/// The id of the node that an edge comes from.
fn source(edge: &Edge) -> String {
    match edge.from {
        Some(from) => from.to_string(),
        None => format!("input {}", edge.port.as_deref().unwrap_or_default()),
    }
}

fn kernel(report: &Report, number: usize, node: &Node) -> DrawnNode {
    let first = node.op.split('+').next().unwrap_or_default().trim_start_matches('/');
    let mut namespace = first.rsplit_once('/').map_or(String::new(), |(above, _)| above.to_owned());
    if report.graph.nodes.iter().filter(|other| other.group == node.group).count() > 1 {
        let level = if namespace.is_empty() { "" } else { "/" };
        namespace += &format!("{level}kernel {}", node.group);
    }
    let mut attrs = vec![attr("kernel", format!("@{}", node.kernel))];
    for compute in &node.computes {
        attrs.push(attr("instruction", format!("@{}", compute.instruction)));
        for tile in &compute.tiles {
            attrs.push(attr(&format!("rTile in @{}", tile.memory), format!("{:?}", tile.sizes)));
        }
    }
    if let Some(runs) = node.runs_in.map(|number| &report.kernels[number]) {
        attrs.push(attr("rTasks", runs.tasks.to_string()));
        attrs.push(attr("operations", runs.operations.to_string()));
        attrs.push(attr("bytes read", runs.read_bytes.to_string()));
        attrs.push(attr("bytes written", runs.written_bytes.to_string()));
        let times = [
            ("floor, ms", runs.floor_ms),
            ("predicted, ms", runs.predicted_ms),
            ("measured, ms", runs.measured_ms),
        ];
        for (name, time) in times {
            attrs.extend(time.map(|time| attr(name, time.to_string())));
        }
    }
    DrawnNode {
        id: number.to_string(),
        label: node.op.clone(),
        namespace,
        incoming_edges: Vec::new(),
        attrs,
        outputs_metadata: Vec::new(),
    }
}

/// An input or output of the model.
fn port(id: &str, edge: &Edge) -> DrawnNode {
    DrawnNode {
        id: id.to_owned(),
        label: edge.port.clone().unwrap_or_default(),
        namespace: String::new(),
        incoming_edges: Vec::new(),
        attrs: Vec::new(),
        outputs_metadata: vec![tensor(edge)],
    }
}

fn tensor(edge: &Edge) -> Output {
    let attrs = vec![
        attr("tensor", edge.tensor.clone()),
        attr("bytes", edge.bytes.to_string()),
        attr("memory", format!("@{}", edge.memory)),
    ];
    Output { id: "0".to_owned(), attrs }
}

fn attr(key: &str, value: String) -> Attr {
    Attr { key: key.to_owned(), value }
}
