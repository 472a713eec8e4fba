//! Outputs that lie in the memory of an input: `Concat(past, new)` puts rows behind those that are there,
//! and copies none.
//!
//! ```text
//! %present = graph.op "Concat" (%past, %new) {
//!   %n = graph.length "past"
//!   tensor.insert_slice %new into %past[0, %n, 0]
//! }
//! ```
//!
//! The input then has the type of the output: it is as large as the most rows need.

use weft_runtime::length::Length;

use super::write::alive;
use super::{Bound, Planner, Source, Value};
use crate::error::{Report, Result};
use crate::graph::{Graph as Names, Vertex, called};
use crate::inputs::{Alias, Options};
use crate::node::{Node, Plan};
use crate::plan::ValueId;

/// An input in whose memory an output lies.
#[derive(Debug)]
pub struct Grown {
    /// Its number.
    pub input: usize,
    /// What the model's name for it stands for.
    value: ValueId,
    /// The name of the output.
    pub output: String,
    /// It as the output lays it out.
    memory: Option<ValueId>,
}

impl<'m> Planner<'m> {
    /// Finds the inputs and outputs that the options name.
    pub(super) fn find_grown(&mut self, options: &Options) -> Result<()> {
        for alias in &options.aliases {
            let pairs = match alias {
                Alias::Caches => caches(&self.model.graph),
                Alias::Named { input, output } => named(&self.model.graph, input, output)?,
            };
            for [input, output] in pairs {
                let Bound::Tensor(value) = self.bound(&input)? else {
                    return Err(Report::new(format!("input {input:?} is no tensor"))
                        .help("an alias is of a tensor and a tensor")
                        .invalid());
                };
                let Source::Input(number) = self.graph.values[value.0].source else { continue };
                let same = |other: &Grown| other.input == number || other.output == output;
                if self.graph.grown.iter().any(same) {
                    return Err(Report::new(format!("two aliases are of {input:?} or {output:?}"))
                        .help("one for each input and output")
                        .invalid());
                }
                self.graph.grown.push(Grown { input: number, value, output, memory: None });
            }
        }
        Ok(())
    }

    /// The result of a node that puts rows behind those of an input, in its memory.
    pub(super) fn grow(
        &mut self,
        vertex: &'m Vertex,
        node: &Node<'_>,
        plan: &Plan,
    ) -> Result<Option<ValueId>> {
        let proto = &vertex.proto;
        let is_own = |own: &Grown| proto.output.first() == Some(&own.output);
        let at = self.graph.grown.iter().position(is_own).filter(|_| self.scopes.len() == 1);
        let Some(at) = at.filter(|_| proto.op_type() == "Concat") else { return Ok(None) };
        let Grown { input, value, .. } = self.graph.grown[at];
        let [ref first, ref parts @ ..] = plan.operands[..] else { return Ok(None) };
        if first.id != value {
            return Ok(None);
        }
        let (part, whole) = (first.dims(), plan.results[0].dims());
        let Some(axis) = (0..part.len()).find(|&dim| part[dim] != whole[dim]) else {
            return Ok(None);
        };
        let dims = self.graph.values[value.0].dims.clone();
        let Some(begin) = dims[axis].clone() else {
            let name = &self.graph.inputs[input].0;
            return Err(node
                .report(format!("puts rows behind {name:?}, whose number is fixed"))
                .help("--dim, with a range for how many there are")
                .unsupported());
        };
        let whole = plan.results[0].clone();
        self.graph.inputs[input].1 = whole.clone();
        let memory = Value { dims, ..Value::new(Source::Input(input), whole.clone(), None, false) };
        let memory = self.add(memory);
        self.graph.grown[at].memory = Some(memory);
        let length = |id: ValueId, extent: i64| {
            let own = self.graph.values[id.0].dims[axis].clone();
            own.unwrap_or_else(|| Length::number(extent))
        };
        let mut places = vec![begin];
        for part in parts {
            let end = places[places.len() - 1].plus(&length(part.id, part.ty.dims()[axis]), 1);
            places.push(end);
        }
        let operands = std::iter::once(self.operand(memory)).chain(parts.iter().cloned());
        let plan = Plan::new(operands.collect(), vec![whole], move |b, args| {
            let parts = args[1..].iter().zip(&places);
            let grown = parts.fold(args[0].clone(), |grown, (part, place)| {
                b.insert_behind(part, &grown, axis, place)
            });
            vec![grown]
        });
        let name = called(proto);
        Ok(Some(self.step("Concat", name, plan)[0]))
    }

    /// Checks that every output lies where it was asked to, and that nobody reads an input which is
    /// written over.
    pub(super) fn check_grown(&self) -> Result<()> {
        let alive = alive(&self.graph);
        for Grown { input, value, output, memory } in &self.graph.grown {
            let name = &self.graph.inputs[*input].0;
            if memory.is_none() {
                return Err(Report::new(format!(
                    "output {output:?} does not lie in input {name:?}"
                ))
                .note("no Concat of the model makes it with the input as its first part")
                .help("an alias of a cache and of what rows are put behind it")
                .unsupported());
            }
            let reads = |(step, alive): (&super::Step, &bool)| {
                *alive && step.plan.operands.iter().any(|operand| operand.id == *value)
            };
            if let Some((step, _)) = self.graph.steps.iter().zip(&alive).find(|own| reads(*own)) {
                return Err(Report::new(format!(
                    "input {name:?} is read beside output {output:?}"
                ))
                .note(format!("by {} {:?}, and the output is written there", step.kind, step.name))
                .help("no alias of the two")
                .unsupported());
            }
        }
        Ok(())
    }
}

/// Each input that a Concat has as its first part, whose result is an output, and nobody else reads but
/// for its shape.
fn caches(graph: &Names) -> Vec<[String; 2]> {
    let is_output = |name: &str| graph.outputs.iter().any(|output| output.name() == name);
    // What graphs of a node read is not looked at.
    let reads = |vertex: &&Vertex, name: &str| {
        let named = vertex.proto.input.iter().any(|input| input == name);
        !vertex.bodies.is_empty() || named && vertex.proto.op_type() != "Shape"
    };
    let cache = |input: &crate::proto::ValueInfoProto| {
        if is_output(input.name()) {
            return None;
        }
        let readers: Vec<_> = graph.nodes.iter().filter(|own| reads(own, input.name())).collect();
        let [vertex] = readers[..] else { return None };
        let proto = &vertex.proto;
        let made = proto.output.first().filter(|output| is_output(output))?;
        let first = proto.input.first().is_some_and(|first| first == input.name());
        (proto.op_type() == "Concat" && first).then(|| [input.name().to_owned(), made.clone()])
    };
    graph.inputs.iter().filter_map(cache).collect()
}

/// The inputs and outputs of these names, in which one `*` stands for any text, the same in both.
fn named(graph: &Names, input: &str, output: &str) -> Result<Vec<[String; 2]>> {
    let pair = |name: &str| {
        let other = match (input.split_once('*'), output.split_once('*')) {
            (Some((before, behind)), Some(other)) => {
                let inner = name.strip_prefix(before)?.strip_suffix(behind)?;
                format!("{}{inner}{}", other.0, other.1)
            }
            _ => (name == input).then(|| output.to_owned())?,
        };
        Some([name.to_owned(), other])
    };
    let pairs: Vec<_> = graph.inputs.iter().filter_map(|own| pair(own.name())).collect();
    let names = |all: &[crate::proto::ValueInfoProto]| {
        all.iter().map(|own| own.name()).collect::<Vec<_>>().join(", ")
    };
    if pairs.is_empty() {
        return Err(Report::new(format!("the model has no input {input:?}"))
            .help(format!("its inputs are {}", names(&graph.inputs)))
            .invalid());
    }
    let missing = |pair: &&[String; 2]| !graph.outputs.iter().any(|own| own.name() == pair[1]);
    match pairs.iter().find(missing) {
        None => Ok(pairs),
        Some([input, output]) => Err(Report::new(format!("the model has no output {output:?}"))
            .note(format!("it was asked to lie in input {input:?}"))
            .help(format!("its outputs are {}", names(&graph.outputs)))
            .invalid()),
    }
}
