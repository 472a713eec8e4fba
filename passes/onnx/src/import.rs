//! From a model to a module in the `graph` dialect.
//!
//! First every node is planned: operands, types, what is known. Then what the outputs depend on is
//! written. What decides shapes is calculated on the way and leaves no trace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use weft_dialects::graph::{Dims, GraphBuilder, build};
use weft_dialects::ir::{Builder, Context, Module, Val, empty_module, module_op};
use weft_dialects::lengths::of_dims as lengths_of_ports;
use weft_runtime::length::Length;

use crate::elements::Elements;
use crate::error::{Report, Result};
use crate::find_operator::operator;
use crate::inputs::{self, Extent, Options};
use crate::lengths::{Found, Input, Lengths, StepLengths, Symbols};
use crate::model::{Model, describe};
use crate::node::{Node, Operand, Plan, ValueId};
use crate::ops;
use crate::payload::{Build, Tensor, graph_type, identity};
use crate::proto::NodeProto;
use crate::types::{Shape, TensorType};
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
    let module = write(&model, &graph, &options.file, context);
    let files = BTreeMap::from([(options.file.clone(), Weights::of_model(model))]);
    Ok((module, Imported { files }))
}

/// Name and first version of every supported operator, sorted; those of other domains than the
/// standard one behind the name of theirs and a dot.
pub fn operators() -> Vec<(String, i64)> {
    let mut all: Vec<_> =
        ops::every_form().map(|operator| (operator.full_name(), operator.since)).collect();
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
    Weight { name: String, hash: String },
    Literal(Elements),
    Result { step: usize, index: usize },
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
}

/// Everything that is to be written.
struct Graph {
    inputs: Vec<TensorType>,
    values: Vec<Value>,
    steps: Vec<Step>,
    outputs: Vec<ValueId>,
    symbols: Symbols,
}

fn plan(model: &Model, options: &Options) -> Result<Graph> {
    let symbols = Symbols::of(&options.lengths);
    let types = inputs::resolve(&model.inputs, options, &symbols)?;
    let inputs = types.iter().map(|(ty, _)| ty.clone()).collect();
    let mut planner = Planner {
        model,
        names: BTreeMap::new(),
        scratch: None,
        graph: Graph { inputs, values: vec![], steps: vec![], outputs: vec![], symbols },
    };
    for (index, (input, (ty, dims))) in model.inputs.iter().zip(types).enumerate() {
        let known = options.known_inputs.get(input.name()).cloned();
        let value = Value { dims, ..Value::new(Source::Input(index), ty, known, false) };
        planner.add(input.name(), value);
    }
    for node in &model.nodes {
        planner.node(node)?;
    }
    planner.outputs(options)?;
    Ok(planner.graph)
}

struct Planner<'m> {
    model: &'m Model,
    names: BTreeMap<&'m str, ValueId>,
    /// Where payloads are written to see what lengths do in them.
    scratch: Option<Context>,
    graph: Graph,
}

impl<'m> Planner<'m> {
    fn add(&mut self, name: &'m str, value: Value) -> ValueId {
        let id = ValueId(self.graph.values.len());
        self.graph.values.push(value);
        self.names.insert(name, id);
        id
    }

    /// The value of that name; an initializer becomes one when it is first asked for.
    fn value(&mut self, name: &'m str) -> Result<ValueId> {
        if let Some(&id) = self.names.get(name) {
            return Ok(id);
        }
        let elements = self.model.tensor(name)?.expect("the model is checked: every name is made");
        let ty = elements.ty().clone();
        // Zero points are one for each channel, and all zero as a rule: passes look at them.
        let source = if elements.len() <= LITERAL_MAX || elements.are_equal_bytes() {
            Source::Literal(elements.clone())
        } else {
            Source::Weight { name: name.to_owned(), hash: elements.hash() }
        };
        let known = (elements.len() <= KNOWN_MAX).then_some(elements);
        Ok(self.add(name, Value::new(source, ty, known, true)))
    }

    fn node(&mut self, proto: &'m NodeProto) -> Result<()> {
        let operator = operator(self.model, proto)?;
        let mut operands = Vec::with_capacity(proto.input.len());
        for name in &proto.input {
            if name.is_empty() {
                operands.push(None);
                continue;
            }
            let id = self.value(name)?;
            let value = &self.graph.values[id.0];
            let (ty, known, fixed) = (value.ty.clone(), value.known.clone(), value.fixed);
            operands.push(Some(Operand { id, ty, known, fixed }));
        }
        let node = Node::new(self.model, proto, operator, operands)?;
        let plan = (operator.plan)(&node)?;
        assert_eq!(plan.results.len(), node.outputs(), "a plan has the results of its node");
        let found = self.lengths(proto, operator.name, &plan)?;
        let known = folded(&plan);
        let fixed = plan.operands.iter().all(|operand| operand.fixed);
        let step = self.graph.steps.len();
        let types = plan.results.clone();
        for (index, (name, ty)) in proto.output.iter().zip(types).enumerate() {
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
            let value = Value { source, ty, known, fixed, dims, numbers };
            // An output without a name is made, and nobody can read it.
            if !name.is_empty() {
                self.add(name, value);
            }
        }
        let name = if proto.name().is_empty() { &proto.output[0] } else { proto.name() };
        let (kind, name, lengths) = (operator.name, name.to_owned(), found.step);
        self.graph.steps.push(Step { kind, name, plan, lengths });
        Ok(())
    }

    /// What lengths are to a node.
    fn lengths(&mut self, proto: &NodeProto, operator: &str, plan: &Plan) -> Result<Found> {
        if self.graph.symbols.is_empty() {
            return Ok(Found::default());
        }
        let values = &self.graph.values;
        let input = |name: &String| {
            let &id = self.names.get(name.as_str())?;
            let Value { ty, known, dims, numbers, .. } = &values[id.0];
            Some(Input { id, ty, known: known.as_ref(), dims, numbers: numbers.as_ref() })
        };
        let inputs: Vec<_> = proto.input.iter().map(input).collect();
        let dims = |id: ValueId| values.get(id.0).map(|value| &value.dims);
        let scratch = self.scratch.get_or_insert_with(weft_dialects::ir::context);
        let found = Found::of(operator, &self.graph.symbols, &inputs, (plan, &dims), scratch);
        found.map_err(|why| {
            Report::new(format!("{} does not go with lengths that callers decide", describe(proto)))
                .note(why)
                .help("one length for the dimension, as --dim NAME=64")
                .unsupported()
        })
    }

    fn outputs(&mut self, options: &Options) -> Result<()> {
        let (mut outputs, mut taken) = (Vec::new(), BTreeSet::new());
        for output in &self.model.outputs {
            let id = self.value(output.name())?;
            let value = &self.graph.values[id.0];
            let what = format!("output {:?}", output.name());
            if let Some(declared) = inputs::declared(output, &what)? {
                let open = !options.shapes.is_empty()
                    || !options.symbols.is_empty()
                    || !self.graph.symbols.is_empty();
                let fits = open || declared.dims.as_ref().is_none_or(|dims| {
                    let known = |(dim, &extent): (&Extent<'_>, &i64)| {
                        !matches!(dim, Extent::Known(declared) if *declared != extent)
                    };
                    dims.len() == value.ty.rank() && dims.iter().zip(value.ty.dims()).all(known)
                });
                if declared.element != value.ty.element() || !fits {
                    return Err(mismatch(&what, &declared, &value.ty));
                }
            }
            let is_result = matches!(value.source, Source::Result { .. });
            let own = is_result && taken.insert(id);
            outputs.push(if own { id } else { self.copy(output.name(), id) });
        }
        self.graph.outputs = outputs;
        Ok(())
    }

    /// A copy of a value, for an output that no operator makes for itself.
    fn copy(&mut self, name: &str, id: ValueId) -> ValueId {
        let value = &self.graph.values[id.0];
        let (ty, known, fixed) = (value.ty.clone(), value.known.clone(), value.fixed);
        let operand = Operand { id, ty: ty.clone(), known, fixed };
        let plan = Plan::new(vec![operand], vec![ty.clone()], |b, args| {
            let (element, rank) = (args[0].element(), args[0].dims().len());
            vec![b.move_at(element, args[0].dims(), &[(&args[0], identity(rank))], |_, x| x[0])]
        });
        let source = Source::Result { step: self.graph.steps.len(), index: 0 };
        let dims = value.dims.clone();
        let lengths = StepLengths::of_copy(&dims);
        self.graph.steps.push(Step { kind: "Identity", name: name.to_owned(), plan, lengths });
        let copy = ValueId(self.graph.values.len());
        self.graph.values.push(Value { dims, ..Value::new(source, ty, None, false) });
        copy
    }
}

fn mismatch(what: &str, declared: &inputs::Declared<'_>, ty: &TensorType) -> crate::ImportError {
    let dims = match &declared.dims {
        None => "any shape".to_owned(),
        Some(dims) if dims.is_empty() => Shape(&[]).to_string(),
        Some(dims) => dims
            .iter()
            .map(|dim| match dim {
                Extent::Known(extent) => extent.to_string(),
                Extent::Symbol(symbol) => (*symbol).to_owned(),
                Extent::Open => "?".to_owned(),
            })
            .collect::<Vec<_>>()
            .join("x"),
    };
    Report::new(format!("{what} is {ty}"))
        .note(format!("the model declares {} of {dims}", declared.element))
        .invalid()
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

/// The steps that some output depends on.
fn alive(graph: &Graph) -> Vec<bool> {
    let mut alive = vec![false; graph.steps.len()];
    let mut wanted: Vec<_> = graph.outputs.clone();
    while let Some(id) = wanted.pop() {
        if let Source::Result { step, .. } = graph.values[id.0].source
            && !alive[step]
        {
            alive[step] = true;
            wanted.extend(graph.steps[step].plan.operands.iter().map(|operand| operand.id));
        }
    }
    alive
}

fn write<'c>(model: &Model, graph: &Graph, file: &str, context: &'c Context) -> Module<'c> {
    let module = empty_module(context);
    let inputs: Vec<_> = model
        .inputs
        .iter()
        .zip(&graph.inputs)
        .map(|(input, ty)| (input.name().to_owned(), graph_type(context, ty)))
        .collect();
    let outputs: Vec<_> = model.outputs.iter().map(|output| output.name().to_owned()).collect();
    let name = if model.name.is_empty() { "model" } else { &model.name };
    for symbol in graph.symbols.all() {
        let body = module_op(&module).body(0).expect("a module has a block");
        build::symbol(&mut Builder::at_end(context, body), symbol);
    }
    let builder = GraphBuilder::new(context, module_op(&module), name, &inputs, &outputs);
    if !graph.symbols.is_empty() {
        let inputs = (0..model.inputs.len()).map(ValueId);
        let ports = inputs.chain(graph.outputs.iter().copied());
        let ports: Vec<&Dims> = ports.map(|id| &graph.values[id.0].dims).collect();
        builder.model().set_attr("lengths", lengths_of_ports(context, &ports));
    }
    let arguments = builder.inputs();
    let mut writer = Writer {
        graph,
        file,
        context,
        builder,
        arguments,
        leaves: BTreeMap::new(),
        results: vec![],
    };
    for (at, alive) in alive(graph).into_iter().enumerate() {
        writer.step(at, alive);
    }
    let outputs: Vec<_> = graph.outputs.iter().map(|&id| writer.value(id)).collect();
    writer.builder.finish(&outputs);
    module
}

struct Writer<'g, 'c> {
    graph: &'g Graph,
    file: &'g str,
    context: &'c Context,
    builder: GraphBuilder<'c>,
    arguments: Vec<Val<'c>>,
    /// Weights and literals, written once.
    leaves: BTreeMap<ValueId, Val<'c>>,
    /// The results of every step so far, none of those that nobody reads.
    results: Vec<Vec<Val<'c>>>,
}

impl<'c> Writer<'_, 'c> {
    fn value(&mut self, id: ValueId) -> Val<'c> {
        let value = &self.graph.values[id.0];
        let leaf = match &value.source {
            Source::Input(index) => return self.arguments[*index],
            Source::Result { step, index } => return self.results[*step][*index],
            leaf => leaf,
        };
        if let Some(&written) = self.leaves.get(&id) {
            return written;
        }
        let ty = graph_type(self.context, &value.ty);
        let written = match leaf {
            // One stands for all of them in the text, however many they are.
            Source::Literal(elements) if elements.len() > LITERAL_MAX => {
                self.builder.constant(ty, &elements.bytes()[..1])
            }
            Source::Literal(elements) => self.builder.constant(ty, elements.bytes()),
            Source::Weight { name, hash } => self.builder.weight(name, self.file, hash, ty),
            Source::Input(_) | Source::Result { .. } => unreachable!("these are no leaves"),
        };
        self.leaves.insert(id, written);
        written
    }

    fn step(&mut self, at: usize, alive: bool) {
        if !alive {
            self.results.push(Vec::new());
            return;
        }
        let Step { kind, name, plan, lengths } = &self.graph.steps[at];
        let mut operands: Vec<_> =
            plan.operands.iter().map(|operand| self.value(operand.id)).collect();
        operands.extend(plan.tables.iter().map(|table| {
            self.builder.constant(graph_type(self.context, table.ty()), table.bytes())
        }));
        let results = write_step(self.context, &mut self.builder, [kind, name], plan, &operands);
        if !self.graph.symbols.is_empty() {
            lengths
                .infer(self.context, kind, &self.graph.symbols, &results)
                .expect("the plan was made with these lengths");
        }
        self.results.push(results);
    }
}

/// Writes the operator of a plan.
pub(crate) fn write_step<'c>(
    context: &'c Context,
    builder: &mut GraphBuilder<'c>,
    [kind, name]: [&str; 2],
    plan: &Plan,
    operands: &[Val<'c>],
) -> Vec<Val<'c>> {
    let types: Vec<_> = plan.results.iter().map(|ty| graph_type(context, ty)).collect();
    builder.op(kind, name, operands, &types, |payload, args| {
        let types = plan.operands.iter().map(|operand| &operand.ty);
        let types = types.chain(plan.tables.iter().map(Elements::ty));
        let tensors: Vec<_> =
            args.iter().zip(types).map(|(&value, ty)| Tensor::new(value, ty.clone())).collect();
        let results = (plan.payload)(&mut Build::new(payload), &tensors);
        let types: Vec<_> = results.iter().map(Tensor::ty).collect();
        assert_eq!(types, plan.results.iter().collect::<Vec<_>>(), "{kind} makes what was planned");
        results.iter().map(Tensor::value).collect()
    })
}
