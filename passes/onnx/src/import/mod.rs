//! From a model to a module in the `graph` dialect.
//!
//! First every node is planned: operands, types, what is known. Then what the outputs depend on is
//! written. What decides shapes is calculated on the way and leaves no trace.
//!
//! Sequences and optional values are tuples of tensors here, and not left in the module. Control flow is unrolled
//! where that is known to be short (`control.rs`), and repeated otherwise (`rolled.rs`).

mod asked;
mod body;
mod control;
mod flex;
mod found;
mod from_end;
mod function;
mod gradient;
mod grow;
mod in_order;
mod lookup;
mod outputs;
mod recurrent;
mod rolled;
mod scan;
mod scope;
mod sequence;
mod structure;
pub(crate) mod write;

use std::collections::BTreeMap;
use std::path::Path;

use weft_dialects::graph::Dims;
use weft_dialects::ir::{Context, Module};
use weft_runtime::length::Length;

use self::grow::Grown;
use self::scope::Scope;
use self::structure::Site;
use crate::elements::Elements;
use crate::error::{ImportError, Report, Result};
use crate::graph::{Graph as Names, Vertex, called, describe};
use crate::inputs::{self, Options};
use crate::lengths::{Found, Input, Lengths, StepLengths, Symbols};
use crate::model::Model;
use crate::node::{Call, Node};
use crate::ops;
use crate::plan::{Operand, Plan, ValueId};
use crate::types::TensorType;
use crate::weights::Weights;

/// Tensors of at most this many elements are read and calculated with, for they may decide shapes.
const KNOWN_MAX: usize = 1024;

/// Tensors of at most this many elements are written into the text.
const LITERAL_MAX: usize = 16;

/// A module, and the files of its weights.
#[derive(Debug)]
pub struct Imported {
    /// The files that its weights lie in, by the id that the module uses.
    pub files: BTreeMap<String, Weights>,
}

/// Imports the model at `path` into a module with one `graph.model`.
pub fn import<'c>(
    path: &Path,
    options: &Options,
    context: &'c Context,
) -> Result<(Module<'c>, Imported)> {
    import_model(Model::open(path)?, options, context)
}

/// Imports a model that is open.
pub fn import_model<'c>(
    model: Model,
    options: &Options,
    context: &'c Context,
) -> Result<(Module<'c>, Imported)> {
    let graph = plan(&model, options)?;
    let module = write::write(&model.name, &graph, &options.file, context);
    let files = BTreeMap::from([(options.file.clone(), Weights::of_model(model))]);
    Ok((module, Imported { files }))
}

/// Name and first version of every supported operator, sorted; those of other domains than the
/// standard one behind the name of theirs and a dot.
pub fn operators() -> Vec<(String, i64)> {
    let structures = structure::STRUCTURES.iter().map(|structure| &structure.operator);
    let mut all: Vec<_> = ops::every_form()
        .chain(structures)
        .map(|operator| (operator.full_name(), operator.since))
        .collect();
    all.push(("Constant".to_owned(), 1));
    all.sort_unstable();
    all.dedup_by(|(next, _), (name, _)| next == name);
    all
}

/// Checks a model as [`import`] does, without writing anything.
pub fn check(model: &Model, options: &Options) -> Result<()> {
    plan(model, options).map(|_| ())
}

/// The source of a value.
enum Source {
    Input(usize),
    Weight {
        name: String,
        hash: String,
    },
    Literal(Elements),
    Result {
        step: usize,
        index: usize,
    },
    /// What a body, by its number, holds from round to round.
    State {
        body: usize,
    },
}

/// A value and what is known of it.
struct Value {
    source: Source,
    ty: TensorType,
    known: Option<Elements>,
    fixed: bool,
    /// A length for each dimension, where callers decide it.
    dims: Dims,
    /// The elements, where some follow from lengths.
    numbers: Option<Vec<Length>>,
}

impl Value {
    /// A value none of whose shapes callers decide.
    fn new(source: Source, ty: TensorType, known: Option<Elements>, fixed: bool) -> Self {
        let dims = vec![None; ty.rank()];
        Self { source, ty, known, fixed, dims, numbers: None }
    }
}

/// A node to be written.
struct Step {
    kind: &'static str,
    name: String,
    plan: Plan,
    lengths: StepLengths,
    /// The body that it repeats, by its number; it has no payload then.
    repeats: Option<usize>,
}

/// Everything that is to be written.
struct Graph {
    inputs: Vec<(String, TensorType)>,
    values: Vec<Value>,
    steps: Vec<Step>,
    outputs: Vec<(String, ValueId)>,
    symbols: Symbols,
    /// Names that data decide, and the values that hold them.
    finds: Vec<(String, ValueId)>,
    /// Inputs in whose memory an output lies.
    grown: Vec<Grown>,
    /// What is repeated; one around another comes first.
    bodies: Vec<body::Body>,
}

/// What a name stands for.
#[derive(Debug, Clone)]
enum Bound {
    Tensor(ValueId),
    Sequence(Vec<Bound>),
    /// An optional value that is absent; one that is there is itself.
    Nothing,
}

impl Bound {
    /// Its kind in messages.
    fn kind(&self) -> String {
        match self {
            Self::Tensor(_) => "a tensor".to_owned(),
            Self::Sequence(all) => format!("a sequence of {}", all.len()),
            Self::Nothing => "an optional value that is absent".to_owned(),
        }
    }
}

fn plan(model: &Model, options: &Options) -> Result<Graph> {
    let symbols = Symbols::of(&options.dims);
    let ports = inputs::resolve(&model.graph.inputs, options, &symbols)?;
    let mut planner = Planner {
        model,
        scopes: vec![Scope::new(&model.graph, model.opsets())],
        weights: BTreeMap::new(),
        scratch: None,
        refused: None,
        unrolls: options.unroll,
        most_rounds: options.rounds.into(),
        graph: Graph {
            inputs: vec![],
            values: vec![],
            steps: vec![],
            outputs: vec![],
            symbols,
            finds: vec![],
            grown: vec![],
            bodies: vec![],
        },
    };
    for (input, port) in model.graph.inputs.iter().zip(ports) {
        let bound = planner.input(port, options);
        planner.bind(input.name(), bound);
    }
    planner.find_grown(options)?;
    for vertex in &model.graph.nodes {
        planner.node(vertex)?;
        if let Some(why) = planner.refused.take() {
            return Err(why);
        }
    }
    planner.outputs(options)?;
    planner.check_grown()?;
    Ok(planner.graph)
}

/// Plans the nodes of a model, and of the bodies in it as often as they run.
struct Planner<'m> {
    model: &'m Model,
    /// The graphs around what is planned, from the model's inwards.
    scopes: Vec<Scope<'m>>,
    /// Initializers that were asked for, by the model's names for them.
    weights: BTreeMap<&'m str, ValueId>,
    /// Where payloads are written to see what lengths do in them.
    scratch: Option<Context>,
    /// What does not go with lengths, of the steps of the node that is planned.
    refused: Option<ImportError>,
    /// Whether no loop may be left.
    unrolls: bool,
    /// The most rounds of a loop that nothing bounds.
    most_rounds: i64,
    graph: Graph,
}

impl<'m> Planner<'m> {
    fn add(&mut self, value: Value) -> ValueId {
        self.graph.values.push(value);
        ValueId(self.graph.values.len() - 1)
    }

    /// Elements that are part of the model.
    fn literal(&mut self, elements: Elements) -> ValueId {
        let ty = elements.ty().clone();
        if elements.len() > LITERAL_MAX {
            let plan = Plan::new(vec![], vec![ty], |_, args| vec![args[0].clone()]);
            let folded = elements.clone();
            let plan = plan.with(vec![elements]).folds(move |_| vec![folded.clone()]);
            return self.step("Constant", "constant", plan)[0];
        }
        let (known, source) = (Some(elements.clone()), Source::Literal(elements));
        self.add(Value::new(source, ty, known, true))
    }

    /// The graph's own inputs for one of the model.
    fn input(&mut self, port: inputs::Port, options: &Options) -> Bound {
        match port {
            inputs::Port::Nothing => Bound::Nothing,
            inputs::Port::Sequence(all) => {
                let all = all.into_iter().map(|port| self.input(port, options));
                Bound::Sequence(all.collect())
            }
            inputs::Port::Tensor(name, ty, dims) => {
                let known = options.known_inputs.get(&name).cloned();
                let source = Source::Input(self.graph.inputs.len());
                self.graph.inputs.push((name, ty.clone()));
                Bound::Tensor(self.add(Value { dims, ..Value::new(source, ty, known, false) }))
            }
        }
    }

    /// The value of an initializer, which becomes one when it is first asked for.
    fn weight(&mut self, name: &'m str) -> Result<ValueId> {
        if let Some(&id) = self.weights.get(name) {
            return Ok(id);
        }
        let elements = self.model.tensor(name)?.expect("a graph names tensors of the model");
        let ty = elements.ty().clone();
        // Zero points are one for each channel, and all zero as a rule: passes look at them.
        let source = if elements.len() <= LITERAL_MAX || elements.are_equal_bytes() {
            Source::Literal(elements.clone())
        } else {
            Source::Weight { name: name.to_owned(), hash: elements.hash() }
        };
        let known = (elements.len() <= KNOWN_MAX).then_some(elements);
        let id = self.add(Value::new(source, ty, known, true));
        self.weights.insert(name, id);
        Ok(id)
    }

    /// A value as an operator reads it.
    fn operand(&self, id: ValueId) -> Operand {
        let Value { source, ty, known, fixed, dims, numbers } = &self.graph.values[id.0];
        let weight = match source {
            Source::Weight { name, .. } => Some(name.clone()),
            _ => None,
        };
        let (ty, known, lengths) = (ty.clone(), known.clone(), dims.clone());
        Operand { id, ty, known, fixed: *fixed, weight, follows: numbers.is_some(), lengths }
    }

    fn node(&mut self, vertex: &'m Vertex) -> Result<()> {
        let proto = &vertex.proto;
        let inputs = proto.input.iter().map(|name| match &name[..] {
            "" => Ok(None),
            name => self.bound(name).map(Some),
        });
        let inputs = inputs.collect::<Result<Vec<_>>>()?;
        let results = if let Some(function) = self.model.function(proto) {
            self.call(proto, function, inputs)?
        } else if let Some(structure) = structure::find(self.opsets(), vertex, &inputs)? {
            let site = Site::new(self, structure, vertex, inputs)?;
            (structure.plan)(self, &site)?
        } else {
            self.operator(vertex, &inputs)?
        };
        let named = proto.output.iter().rposition(|name| !name.is_empty());
        if named.is_some_and(|last| last >= results.len()) {
            return Err(Report::new(format!(
                "{} has {} outputs",
                describe(proto),
                proto.output.len()
            ))
            .help(format!("it makes {}", results.len()))
            .invalid());
        }
        for (name, result) in proto.output.iter().zip(results) {
            // An output without a name is made, and nobody can read it.
            if !name.is_empty() {
                self.bind(name, result);
            }
        }
        Ok(())
    }

    /// A node as it stands in the graph that is planned.
    fn as_called(&self, vertex: &'m Vertex) -> Call<'m> {
        let proto = &vertex.proto;
        let inputs = proto.input.iter().rposition(|name| !name.is_empty()).map_or(0, |at| at + 1);
        let opset = self.opsets().get("").copied().unwrap_or(0);
        Call { model: self.model, proto, attributes: self.attributes(proto), opset, inputs }
    }

    /// An operator on tensors.
    fn operator(&mut self, vertex: &'m Vertex, inputs: &[Option<Bound>]) -> Result<Vec<Bound>> {
        let proto = &vertex.proto;
        let operator = lookup::operator(self.opsets(), proto)?;
        let call = self.as_called(vertex);
        let axis = call.attributes.iter().find(|(name, _)| *name == "axis");
        let axis = axis.map(|(_, attribute)| attribute.i());
        let counted = self.counted_from_front(operator.name, axis, inputs);
        let inputs = counted.as_deref().unwrap_or(inputs);
        let mut operands = Vec::with_capacity(inputs.len());
        for (input, name) in inputs.iter().zip(&proto.input) {
            operands.push(match input {
                None | Some(Bound::Nothing) => None,
                Some(Bound::Tensor(id)) => Some(self.operand(*id)),
                Some(other) => {
                    let what = format!("{} reads {name:?}", describe(proto));
                    return Err(Report::new(what)
                        .note(format!("it is {}", other.kind()))
                        .help("a tensor")
                        .invalid());
                }
            });
        }
        let node = Node::new(call, operator, operands)?;
        let name = called(proto);
        if let Some(last) = self.last_of(&node, name)? {
            return Ok(vec![Bound::Tensor(last)]);
        }
        if let Some(found) = self.top_k(&node, name)? {
            return Ok(found);
        }
        if let Some(made) = self.recurrent(&node, name)? {
            return Ok(made);
        }
        let plan = (operator.plan)(&node)?;
        assert_eq!(plan.results.len(), node.outputs(), "a plan has the results of its node");
        if let Some(grown) = self.grow(vertex, &node, &plan)? {
            return Ok(vec![Bound::Tensor(grown)]);
        }
        let plan = self.with_asked(plan);
        let read = |input: &Option<Bound>| match input {
            Some(Bound::Tensor(id)) => Some(*id),
            _ => None,
        };
        let read: Vec<_> = inputs.iter().map(read).collect();
        let found = match self.lengths(operator.name, &read, &plan) {
            Ok(found) => found,
            Err(why) => {
                if let Some(made) = self.in_order(&node, name, &plan) {
                    return Ok(vec![Bound::Tensor(made)]);
                }
                let what =
                    format!("{} does not go with lengths that callers decide", describe(proto));
                return Err(does_not_go(what, why));
            }
        };
        let results = self.planned(operator.name, name, plan, found);
        Ok(results.into_iter().map(Bound::Tensor).collect())
    }

    /// What lengths are to a plan of a node that reads these values.
    fn lengths(
        &mut self,
        kind: &str,
        read: &[Option<ValueId>],
        plan: &Plan,
    ) -> std::result::Result<Found, String> {
        if self.graph.symbols.is_empty() {
            return Ok(Found::default());
        }
        let values = &self.graph.values;
        let input = |id: &Option<ValueId>| {
            let id = (*id)?;
            let Value { ty, known, dims, numbers, .. } = values.get(id.0)?;
            Some(Input { id, ty, known: known.as_ref(), dims, numbers: numbers.as_ref() })
        };
        let inputs: Vec<_> = read.iter().map(input).collect();
        let dims = |id: ValueId| values.get(id.0).map(|value| &value.dims);
        let scratch = self.scratch.get_or_insert_with(weft_dialects::ir::context);
        Found::of(kind, &self.graph.symbols, &inputs, (plan, &dims), scratch)
    }

    /// The results of a plan.
    fn step(&mut self, kind: &'static str, name: &str, plan: Plan) -> Vec<ValueId> {
        let plan = self.with_asked(plan);
        let read: Vec<_> = plan.operands.iter().map(|operand| Some(operand.id)).collect();
        let found = self.lengths(kind, &read, &plan).unwrap_or_else(|why| {
            let what = format!("{kind} {name:?} does not go with lengths that callers decide");
            self.refused.get_or_insert(does_not_go(what, why));
            Found::default()
        });
        self.planned(kind, name, plan, found)
    }

    /// The results of a plan, with what lengths are to it.
    fn planned(
        &mut self,
        kind: &'static str,
        name: &str,
        mut plan: Plan,
        found: Found,
    ) -> Vec<ValueId> {
        let calculates = found.calculated.contains(&true);
        let known = folded(&plan).filter(|_| !calculates);
        for (number, _) in found.calculated.iter().enumerate().filter(|(_, own)| **own) {
            let id = self.written_numbers(plan.operands[number].id);
            plan.operands[number].id = id;
        }
        let fixed = plan.operands.iter().all(|operand| operand.fixed);
        let step = self.graph.steps.len();
        let name = format!("{}{name}", self.path());
        let types = plan.results.clone();
        let lengths = found.step.clone();
        self.graph.steps.push(Step { kind, name, plan, lengths, repeats: None });
        let results = types.into_iter().enumerate().map(|(index, ty)| {
            let Lengths { dims, numbers } = found.of_result(index, &ty);
            let known = known.as_ref().map(|known| known[index].clone());
            // What is folded for the greatest lengths is more than there is in a run.
            let known = known.filter(|_| dims.iter().all(Option::is_none));
            let fixed = fixed && numbers.is_none();
            let source = match &known {
                Some(known) if fixed && known.len() <= LITERAL_MAX => {
                    Source::Literal(known.clone())
                }
                _ => Source::Result { step, index },
            };
            self.add(Value { source, ty, known, fixed, dims, numbers })
        });
        results.collect()
    }
}

/// What stands in the way of lengths.
fn does_not_go(what: String, why: String) -> ImportError {
    Report::new(what).note(why).help("one length for the dimension, as --dim NAME=64").unsupported()
}

/// The results of a plan, where everything in it is small and known.
fn folded(plan: &Plan) -> Option<Vec<Elements>> {
    let fold = plan.fold.as_ref()?;
    let size: usize = plan.results.iter().map(TensorType::elements).sum();
    if size > KNOWN_MAX {
        return None;
    }
    let small = |elements: &Elements| elements.len() <= KNOWN_MAX;
    let operands: Option<Vec<_>> =
        plan.operands.iter().map(|operand| operand.known.clone().filter(small)).collect();
    Some(fold(&operands?))
}
