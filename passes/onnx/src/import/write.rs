//! Writes what was planned as a `graph.model`.

use std::collections::{BTreeMap, BTreeSet};

use weft_dialects::graph::{Dims, GraphBuilder, build};
use weft_dialects::ir::{Attribute, Builder, Context, Module, Val, attr, empty_module, module_op};
use weft_dialects::lengths;
use weft_runtime::length::Length;

use super::{Graph, Grown, LITERAL_MAX, Source, Step, Value};
use crate::elements::Elements;
use crate::payload::{Build, Tensor, graph_type};
use crate::plan::{Plan, ValueId};

/// The steps that some output depends on.
pub(super) fn alive(graph: &Graph) -> Vec<bool> {
    let mut alive = vec![false; graph.steps.len()];
    let mut wanted: Vec<_> = graph.outputs.iter().map(|(_, id)| *id).collect();
    let mut found = BTreeSet::new();
    while let Some(id) = wanted.pop() {
        let Value { dims, numbers, source, .. } = &graph.values[id.0];
        let says = match source {
            Source::Result { step, .. } => &graph.steps[*step].plan.says[..],
            _ => &[],
        };
        let lengths = dims.iter().flatten().chain(numbers.iter().flatten()).chain(says);
        for name in lengths.flat_map(Length::symbols) {
            if let Some((symbol, count)) = graph.finds.iter().find(|(symbol, _)| *symbol == name)
                && found.insert(symbol)
            {
                wanted.push(*count);
            }
        }
        if let Source::Result { step, .. } = graph.values[id.0].source
            && !alive[step]
        {
            alive[step] = true;
            wanted.extend(graph.steps[step].plan.operands.iter().map(|operand| operand.id));
        }
    }
    alive
}

pub(super) fn write<'c>(name: &str, graph: &Graph, file: &str, context: &'c Context) -> Module<'c> {
    let module = empty_module(context);
    let inputs = graph.inputs.iter();
    let inputs: Vec<_> = inputs.map(|(name, ty)| (name.clone(), graph_type(context, ty))).collect();
    let outputs: Vec<_> = graph.outputs.iter().map(|(name, _)| name.clone()).collect();
    let name = if name.is_empty() { "model" } else { name };
    // A length that nobody asks for is not found.
    let alive = alive(graph);
    let asked = |name: &str| match graph.finds.iter().find(|(symbol, _)| symbol == name) {
        Some((_, count)) => {
            matches!(graph.values[count.0].source, Source::Result { step, .. } if alive[step])
        }
        None => true,
    };
    for symbol in graph.symbols.all().filter(|symbol| asked(&symbol.name)) {
        let body = module_op(&module).body(0).expect("a module has a block");
        build::symbol(&mut Builder::at_end(context, body), symbol);
    }
    let builder = GraphBuilder::new(context, module_op(&module), name, &inputs, &outputs);
    if !graph.symbols.is_empty() {
        builder.model().set_attr("lengths", lengths_of_ports(context, graph));
    }
    if !graph.grown.is_empty() {
        let pair = |grown: &Grown| {
            attr::of_strings(context, &[&graph.inputs[grown.input].0, &grown.output])
        };
        let pairs: Vec<_> = graph.grown.iter().map(pair).collect();
        builder.model().set_attr("aliases", attr::of_array(context, &pairs));
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
    for (at, alive) in alive.into_iter().enumerate() {
        writer.step(at, alive);
    }
    let outputs: Vec<_> = graph.outputs.iter().map(|(_, id)| writer.value(*id)).collect();
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
                .infer(self.context, &self.graph.symbols, &results)
                .expect("the plan was made with these lengths");
        }
        for (symbol, count) in &self.graph.finds {
            if let Source::Result { step, index } = self.graph.values[count.0].source
                && step == at
            {
                self.builder.find(symbol, results[index]);
            }
        }
        self.results.push(results);
    }
}

/// The lengths of the dimensions of every input, then of every output.
fn lengths_of_ports<'c>(context: &'c Context, graph: &Graph) -> Attribute<'c> {
    let of_input = |number: usize| {
        let own = |value: &&Value| matches!(value.source, Source::Input(at) if at == number);
        graph.values.iter().find(own).map(|value| &value.dims)
    };
    let inputs = (0..graph.inputs.len()).filter_map(of_input);
    let outputs = graph.outputs.iter().map(|(_, id)| &graph.values[id.0].dims);
    let ports: Vec<&Dims> = inputs.chain(outputs).collect();
    lengths::of_dims(context, &ports)
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
