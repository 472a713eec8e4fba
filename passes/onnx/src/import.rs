//! From a model to a module in the `graph` dialect.
//!
//! First every node is planned: operands, types, what is known. Then what the outputs depend on is
//! written. What decides shapes is calculated on the way and leaves no trace.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use weft_dialects::graph::GraphBuilder;
use weft_dialects::ir::{Context, Module, Val, empty_module, module_op};

use crate::elements::Elements;
use crate::error::{Report, Result};
use crate::inputs::{self, Extent, Options};
use crate::model::{Model, describe, domain, operators_of};
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
}

/// A node to be written.
struct Step {
    kind: &'static str,
    name: String,
    plan: Plan,
}

/// Everything that is to be written.
struct Graph {
    inputs: Vec<TensorType>,
    values: Vec<Value>,
    steps: Vec<Step>,
    outputs: Vec<ValueId>,
}

fn plan(model: &Model, options: &Options) -> Result<Graph> {
    let types = inputs::resolve(&model.inputs, options)?;
    let mut planner = Planner {
        model,
        names: BTreeMap::new(),
        graph: Graph { inputs: types.clone(), values: vec![], steps: vec![], outputs: vec![] },
    };
    for (index, (input, ty)) in model.inputs.iter().zip(types).enumerate() {
        let known = options.known_inputs.get(input.name()).cloned();
        let value = Value { source: Source::Input(index), ty, known, fixed: false };
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
        Ok(self.add(name, Value { source, ty, known, fixed: true }))
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
        let known = folded(&plan);
        let fixed = plan.operands.iter().all(|operand| operand.fixed);
        let step = self.graph.steps.len();
        let types = plan.results.clone();
        for (index, (name, ty)) in proto.output.iter().zip(types).enumerate() {
            let known = known.as_ref().map(|known| known[index].clone());
            let source = match &known {
                Some(known) if fixed && known.len() <= LITERAL_MAX => {
                    Source::Literal(known.clone())
                }
                _ => Source::Result { step, index },
            };
            let value = Value { source, ty, known, fixed };
            // An output without a name is made, and nobody can read it.
            if !name.is_empty() {
                self.add(name, value);
            }
        }
        let name = if proto.name().is_empty() { &proto.output[0] } else { proto.name() };
        self.graph.steps.push(Step { kind: operator.name, name: name.to_owned(), plan });
        Ok(())
    }

    fn outputs(&mut self, options: &Options) -> Result<()> {
        let (mut outputs, mut taken) = (Vec::new(), BTreeSet::new());
        for output in &self.model.outputs {
            let id = self.value(output.name())?;
            let value = &self.graph.values[id.0];
            let what = format!("output {:?}", output.name());
            if let Some(declared) = inputs::declared(output, &what)? {
                let open = !options.shapes.is_empty() || !options.symbols.is_empty();
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
        self.graph.steps.push(Step { kind: "Identity", name: name.to_owned(), plan });
        let copy = ValueId(self.graph.values.len());
        self.graph.values.push(Value { source, ty, known: None, fixed: false });
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

/// The operator of a node, in the version that the model asks for.
fn operator(model: &Model, proto: &NodeProto) -> Result<&'static ops::Operator> {
    let (domain, name) = (domain(proto.domain()), proto.op_type());
    let known = ops::DOMAINS.iter().find(|known| known.name == domain);
    let version = model.opset(domain);
    if let Some(known) = known {
        expect_version(proto, known, version)?;
    }
    let first = ops::forms(domain, name).map(|operator| operator.since).min();
    let Some(first) = first else {
        return Err(Report::new(format!("{} is not supported", describe(proto)))
            .note(match domain {
                "" => format!("operator {name:?}, version {version}"),
                _ => format!("operator {name:?} of domain {domain:?}"),
            })
            .help(alike(domain, name))
            .unsupported());
    };
    ops::find(domain, name, version).ok_or_else(|| {
        Report::new(format!("{} is not supported in version {version}", describe(proto)))
            .help(match ops::end(domain, name) {
                Some(last) => format!("{name} from version {first} to {last}"),
                None => format!("{name} since version {first}, up to {}", ops::OPSET_MAX),
            })
            .unsupported()
    })
}

/// Fails unless the model imports a version of the operators of a domain that is understood.
fn expect_version(proto: &NodeProto, domain: &ops::Domain, version: i64) -> Result<()> {
    let operators = operators_of(domain.name);
    if version == 0 {
        return Err(Report::new(format!("{} needs {operators}", describe(proto)))
            .note("the model imports no version of them")
            .help(format!(
                "an opset_import of domain {:?}, up to version {}",
                domain.name, domain.newest
            ))
            .invalid());
    }
    if version > domain.newest {
        return Err(Report::new(format!("the model uses version {version} of {operators}"))
            .help(match domain.oldest == domain.newest {
                true => domain.newest.to_string(),
                false => format!("{} to {}", domain.oldest, domain.newest),
            })
            .unsupported());
    }
    Ok(())
}

/// The supported operators whose names are most like `name`, those of its own domain before others.
fn alike(domain: &str, name: &str) -> String {
    let mut names: Vec<_> = ops::every_form()
        .map(|operator| (operator.name, operator.domain != domain, operator.full_name()))
        .chain([("Constant", !domain.is_empty(), "Constant".to_owned())])
        .map(|(known, foreign, full)| (strsim::jaro_winkler(name, known), foreign, full))
        .collect();
    names.sort_by(|(a, away, first), (b, far, second)| {
        b.total_cmp(a).then(away.cmp(far)).then(first.cmp(second))
    });
    names.dedup_by(|(.., next), (.., name)| next == name);
    let count = names.len();
    let most = names.iter().take(3).filter(|(alike, ..)| *alike > 0.75);
    let most: Vec<_> = most.map(|(.., name)| &name[..]).collect();
    match most[..] {
        [] => format!("one of the {count} that `weft conformance --operators` lists"),
        _ => format!("{}; `weft conformance --operators` lists all {count}", most.join(", ")),
    }
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
    let builder = GraphBuilder::new(context, module_op(&module), name, &inputs, &outputs);
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
        let Step { kind, name, plan } = &self.graph.steps[at];
        let mut operands: Vec<_> =
            plan.operands.iter().map(|operand| self.value(operand.id)).collect();
        operands.extend(plan.tables.iter().map(|table| {
            self.builder.constant(graph_type(self.context, table.ty()), table.bytes())
        }));
        let types: Vec<_> = plan.results.iter().map(|ty| graph_type(self.context, ty)).collect();
        let results = self.builder.op(kind, name, &operands, &types, |payload, args| {
            let tensors: Vec<_> = args
                .iter()
                .zip(
                    plan.operands
                        .iter()
                        .map(|operand| &operand.ty)
                        .chain(plan.tables.iter().map(Elements::ty)),
                )
                .map(|(&value, ty)| Tensor::new(value, ty.clone()))
                .collect();
            let results = (plan.payload)(&mut Build::new(payload), &tensors);
            let types: Vec<_> = results.iter().map(Tensor::ty).collect();
            assert_eq!(
                types,
                plan.results.iter().collect::<Vec<_>>(),
                "{kind} makes what was planned"
            );
            results.iter().map(Tensor::value).collect()
        });
        self.results.push(results);
    }
}
