//! Writes what was planned as a `graph.model`.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use weft_dialects::graph::{Dims, GraphBuilder, build};
use weft_dialects::ir::{
    Attribute, Builder, Context, Module, Op, Val, attr, empty_module, module_op,
};
use weft_dialects::lengths;
use weft_dialects::repeat;
use weft_runtime::length::Length;

use super::body::Body;
use super::{Graph, LITERAL_MAX, Source, Step, Value};
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
            let Step { plan, repeats, .. } = &graph.steps[step];
            wanted.extend(plan.operands.iter().map(|operand| operand.id));
            wanted.extend(repeats.iter().flat_map(|&body| &graph.bodies[body].results));
        }
    }
    alive
}

pub(super) fn write<'c>(name: &str, graph: &Graph, file: &str, context: &'c Context) -> Module<'c> {
    let module = empty_module(context);
    let name = if name.is_empty() { "model" } else { name };
    let alive = alive(graph);
    let writes = |id: ValueId| matches!(graph.values[id.0].source, Source::Result { step, .. } if alive[step]);
    let is_written = |body: usize| {
        let call = graph.steps.iter().zip(&alive);
        call.into_iter().any(|(step, alive)| *alive && step.repeats == Some(body))
    };
    // A length that nobody asks for is not found.
    let asked = |name: &str| {
        let found = graph.finds.iter().find(|(symbol, _)| symbol == name);
        let round = graph.bodies.iter().position(|body| body.round == name);
        found.is_none_or(|(_, count)| writes(*count)) && round.is_none_or(is_written)
    };
    for symbol in graph.symbols.all().filter(|symbol| asked(&symbol.name)) {
        let body = module_op(&module).body(0).expect("a module has a block");
        build::symbol(&mut Builder::at_end(context, body), symbol);
    }
    let inputs = graph.inputs.iter();
    let inputs: Vec<_> = inputs.map(|(name, ty)| (name.clone(), graph_type(context, ty))).collect();
    let outputs: Vec<_> = graph.outputs.iter().map(|(name, _)| name.clone()).collect();
    let builder = GraphBuilder::new(context, module_op(&module), name, &inputs, &outputs);
    if !graph.symbols.is_empty() {
        builder.model().set_attr("lengths", lengths_of_ports(context, graph));
    }
    if !graph.grown.is_empty() {
        let pairs = graph.grown.iter().map(|own| [&graph.inputs[own.input].0[..], &own.output]);
        let pairs: Vec<_> = pairs.collect();
        set_aliases(context, builder.model(), &pairs);
    }
    let arguments = builder.inputs();
    let sources = graph.values.iter().enumerate().filter_map(|(id, value)| match value.source {
        Source::Input(index) => Some((ValueId(id), arguments[index])),
        _ => None,
    });
    let given = sources.collect();
    let (alive, results) = (&alive[..], graph.outputs.iter().map(|(_, id)| *id).collect());
    let own = Written { graph, alive, name, file, context };
    own.region(builder, given, 0..graph.steps.len(), results);
    for (number, body) in graph.bodies.iter().enumerate().filter(|(own, _)| is_written(*own)) {
        own.body(&module, number, body);
    }
    module
}

fn set_aliases<'c>(context: &'c Context, model: Op<'c>, pairs: &[[&str; 2]]) {
    let pairs: Vec<_> = pairs.iter().map(|pair| attr::of_strings(context, pair)).collect();
    model.set_attr("aliases", attr::of_array(context, &pairs));
}

/// What is written.
#[derive(Clone, Copy)]
struct Written<'g, 'c> {
    graph: &'g Graph,
    alive: &'g [bool],
    name: &'g str,
    file: &'g str,
    context: &'c Context,
}

impl<'g, 'c> Written<'g, 'c> {
    /// The name of a body.
    fn name_of(&self, body: usize) -> String {
        format!("{}.body{body}", self.name)
    }

    /// What a body is given beside its states: values that are made around it.
    fn captures(&self, body: usize) -> Vec<ValueId> {
        let Body { steps, results, .. } = &self.graph.bodies[body];
        let mut found: Vec<ValueId> = Vec::new();
        let mut wanted = results.clone();
        for step in steps.clone().filter(|&step| self.alive[step]) {
            let Step { plan, repeats, .. } = &self.graph.steps[step];
            wanted.extend(plan.operands.iter().map(|operand| operand.id));
            wanted.extend(repeats.iter().flat_map(|&inner| &self.graph.bodies[inner].results));
        }
        for id in wanted {
            let value = &self.graph.values[id.0];
            let around = match value.source {
                Source::Input(_) => true,
                Source::Weight { .. } | Source::Literal(_) => false,
                // What is known everywhere is made where it is read.
                Source::Result { step, .. } => !steps.contains(&step) && !value.fixed,
                Source::State { body: other } => {
                    let own = &self.graph.bodies[other].steps;
                    let inside = steps.start <= own.start && own.end <= steps.end;
                    other < body || other > body && !inside
                }
            };
            if around && !found.contains(&id) {
                found.push(id);
            }
        }
        found
    }

    /// A body as a model of its own.
    fn body(&self, module: &Module<'c>, number: usize, body: &Body) {
        let (context, graph) = (self.context, self.graph);
        let captures = self.captures(number);
        let ports: Vec<_> = captures.iter().chain(&body.states).copied().collect();
        let of_port = |(place, id): (usize, &ValueId)| {
            let own = place.checked_sub(captures.len());
            let name = own.map_or_else(|| format!("in{place}"), |own| format!("state{own}"));
            (name, graph_type(context, &graph.values[id.0].ty))
        };
        let inputs: Vec<_> = ports.iter().enumerate().map(of_port).collect();
        let outputs: Vec<_> = (0..body.states.len()).map(|own| format!("next{own}")).collect();
        let builder =
            GraphBuilder::new(context, module_op(module), &self.name_of(number), &inputs, &outputs);
        let dims: Vec<&Dims> =
            ports.iter().chain(&body.results).map(|id| &graph.values[id.0].dims).collect();
        builder.model().set_attr("lengths", lengths::of_dims(context, &dims));
        let states = inputs[captures.len()..].iter().map(|(name, _)| name);
        let pairs: Vec<_> = states.zip(&outputs).map(|(state, next)| [&state[..], next]).collect();
        set_aliases(context, builder.model(), &pairs);
        let round = (&body.round[..], body.rounds.as_ref(), body.conditional);
        repeat::set(context, builder.model(), round);
        let given = ports.into_iter().zip(builder.inputs()).collect();
        self.region(builder, given, body.steps.clone(), body.results.clone());
    }

    /// The steps of a model or a body, but for those of bodies in it.
    fn region(
        self,
        builder: GraphBuilder<'c>,
        given: BTreeMap<ValueId, Val<'c>>,
        steps: Range<usize>,
        results: Vec<ValueId>,
    ) {
        let mut writer = Writer { own: self, builder, given, made: BTreeMap::new() };
        let mut at = steps.start;
        while at < steps.end {
            // The call of a body is behind its last step.
            let inner = self.graph.bodies.iter().map(|body| &body.steps);
            let inner = inner.filter(|own| own.start == at && at < own.end && own.end < steps.end);
            if let Some(end) = inner.map(|own| own.end).max() {
                at = end;
                continue;
            }
            if self.alive[at] {
                writer.step(at);
            }
            at += 1;
        }
        let results: Vec<_> = results.into_iter().map(|id| writer.value(id)).collect();
        writer.builder.finish(&results);
    }
}

struct Writer<'g, 'c> {
    own: Written<'g, 'c>,
    builder: GraphBuilder<'c>,
    /// What is given, and weights and literals, written once.
    given: BTreeMap<ValueId, Val<'c>>,
    /// The results of the steps so far.
    made: BTreeMap<usize, Vec<Val<'c>>>,
}

impl<'c> Writer<'_, 'c> {
    fn value(&mut self, id: ValueId) -> Val<'c> {
        if let Some(&given) = self.given.get(&id) {
            return given;
        }
        let Written { graph, context, file, .. } = self.own;
        let value = &graph.values[id.0];
        let leaf = match &value.source {
            Source::Result { step, index } => {
                // What is known everywhere is written wherever it is read.
                if !self.made.contains_key(step) {
                    self.step(*step);
                }
                return self.made[step][*index];
            }
            leaf => leaf,
        };
        let ty = graph_type(context, &value.ty);
        let written = match leaf {
            // One stands for all of them in the text, however many they are.
            Source::Literal(elements) if elements.len() > LITERAL_MAX => {
                self.builder.constant(ty, &elements.bytes()[..1])
            }
            Source::Literal(elements) => self.builder.constant(ty, elements.bytes()),
            Source::Weight { name, hash } => self.builder.weight(name, file, hash, ty),
            Source::Input(_) | Source::State { .. } | Source::Result { .. } => {
                unreachable!("these are given or made")
            }
        };
        self.given.insert(id, written);
        written
    }

    fn step(&mut self, at: usize) {
        let Written { graph, context, .. } = self.own;
        let Step { kind, name, plan, lengths, repeats } = &graph.steps[at];
        let captures = repeats.map(|body| self.own.captures(body)).unwrap_or_default();
        let operands = plan.operands.iter().map(|operand| operand.id);
        let mut operands: Vec<_> =
            captures.into_iter().chain(operands).map(|id| self.value(id)).collect();
        if let Some(body) = *repeats {
            let types: Vec<_> = plan.results.iter().map(|ty| graph_type(context, ty)).collect();
            let body = self.own.name_of(body);
            let call = self.builder.call([name, &body], &operands, &types);
            self.made.insert(at, call.results());
            return;
        }
        operands.extend(
            plan.tables
                .iter()
                .map(|table| self.builder.constant(graph_type(context, table.ty()), table.bytes())),
        );
        let results = write_step(context, &mut self.builder, [kind, name], plan, &operands);
        if !graph.symbols.is_empty() {
            lengths
                .infer(context, &graph.symbols, &results)
                .expect("the plan was made with these lengths");
        }
        for (symbol, count) in &graph.finds {
            if let Source::Result { step, index } = graph.values[count.0].source
                && step == at
            {
                self.builder.find(symbol, results[index]);
            }
        }
        self.made.insert(at, results);
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
