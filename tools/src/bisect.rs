//! Finds the first operator whose compiled result differs from the reference interpreter's.
//!
//! The interpreter evaluates the model once and remembers every result. Then prefixes of
//! the model are compiled and run: the first so many operators, whose outputs are all the
//! values that the rest would read. Where one of them differs, the operator is in the
//! prefix; where none does, it is behind it. Halving leads to a cut that is right and
//! whose next operator is not.
//!
//! A prefix is compiled like a model of its own: what is wrong only between two operators
//! that are compiled together may come right when they are cut apart. The operator that is
//! named then lies where it begins to show.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::rc::Rc;

use weft_dialects::graph::{GraphBuilder, Model as Graph};
use weft_dialects::ir::{Builder, Context, Mapping, Module, Op, Val, empty_module, module_op};
use weft_dialects::repeat;
use weft_passes::interpret::{WeightError, run_model};
use weft_runtime::Model;
use weft_runtime::Tensor;
use weft_runtime::compare::{Difference, Tolerance, compare};

use crate::commands::folder_for_run;
use crate::{Failure, Options, Unit};

/// An operator whose result differs.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Its place among the model's operators, from one.
    pub number: usize,
    /// Number of operators of the model.
    pub operators: usize,
    /// The model's name for such operators.
    pub kind: String,
    /// The model's name for this one.
    pub name: String,
    /// The difference of its result.
    pub difference: Difference,
}

/// Settings for running and comparing compiled models.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Options of the compilation.
    pub options: Options,
    /// The accepted difference of results.
    pub tolerance: Tolerance,
    /// Threads to run on.
    pub threads: Option<usize>,
}

/// Finds the first operator of a model whose compiled result differs from the
/// interpreter's; `None` where every operator agrees.
///
/// # Errors
/// A model that has no operators any more, and whatever stops the compiler, the
/// interpreter or a run.
pub fn first_difference(
    path: &Path,
    inputs: &[Vec<u8>],
    settings: &Settings,
) -> Result<Option<Finding>, Failure> {
    let context = crate::context();
    let unit = Unit::open(&context, path, settings.options.clone())?;
    let Some(graph) = repeat::others(unit.module()).find_map(Graph::of) else {
        return Err(Failure::said(
            "the model has no operators to compare",
            "--bisect with an .onnx file or text of the graph stage",
        ));
    };
    let search = Search::new(&context, &unit, graph, inputs, settings)?;
    let count = search.operators.len();
    // Nothing before `good` differs, something before `bad` does.
    let (mut good, mut bad) = (0, count);
    let Some(mut found) = search.probe(bad)? else {
        return Ok(None);
    };
    while bad - good > 1 {
        let middle = good + (bad - good) / 2;
        match search.probe(middle)? {
            Some(finding) => (bad, found) = (middle, finding),
            None => good = middle,
        }
    }
    Ok(Some(found))
}

struct Search<'a, 'c> {
    context: &'c Context,
    unit: &'a Unit<'c>,
    graph: Graph<'c>,
    inputs: &'a [Vec<u8>],
    settings: &'a Settings,
    operators: Vec<Op<'c>>,
    /// The place of every operator, from zero.
    places: HashMap<Op<'c>, usize>,
    /// The results of the reference interpreter.
    values: HashMap<Op<'c>, Vec<Vec<u8>>>,
}

impl<'a, 'c> Search<'a, 'c> {
    fn new(
        context: &'c Context,
        unit: &'a Unit<'c>,
        graph: Graph<'c>,
        inputs: &'a [Vec<u8>],
        settings: &'a Settings,
    ) -> Result<Self, Failure> {
        let files = unit.files();
        let mut weights = |file: &str, tensor: &str| -> Result<Cow<'a, [u8]>, WeightError> {
            let weights =
                files.get(file).ok_or_else(|| format!("the file {file:?} was not given"))?;
            Ok(Cow::Owned(weights.tensor(tensor)?.bytes().to_vec()))
        };
        let mut values = HashMap::new();
        run_model(graph.op, inputs, &mut weights, &mut |op, results| {
            values.insert(op, results.to_vec());
        })?;
        let operators: Vec<_> = graph.operators().iter().map(|operator| operator.op).collect();
        let places = operators.iter().enumerate().map(|(place, &op)| (op, place)).collect();
        Ok(Self { context, unit, graph, inputs, settings, operators, places, values })
    }

    /// Compiles and runs the first `count` operators; the first of them that differs.
    fn probe(&self, count: usize) -> Result<Option<Finding>, Failure> {
        let live = self.live(count);
        let module = self.prefix(&live);
        let (files, options) = (Rc::clone(self.unit.files()), self.settings.options.clone());
        let folder = folder_for_run()?;
        let artifact = folder.path().join("prefix.weft");
        Unit::from_module(self.context, module, files, options)?.write_artifact(&artifact)?;
        let mut model = Model::load(&artifact, self.settings.threads)?;
        let mut places = model.output_buffers();
        let given: Vec<&[u8]> = self.inputs.iter().map(Vec::as_slice).collect();
        let mut refs: Vec<&mut [u8]> = places.iter_mut().map(Vec::as_mut_slice).collect();
        model.run(&given, &mut refs)?;
        // They are in the order of their operators, so the first is what is asked for.
        for ((&value, port), got) in live.iter().zip(&model.plan().outputs).zip(places) {
            let op = value.def().expect("what is live is a result");
            let expected = Tensor::of_port(port, self.values[&op][value.index()].clone());
            let got = Tensor::of_port(port, got);
            if let Err(difference) = compare(&port.name, &got, &expected, self.settings.tolerance) {
                return Ok(Some(self.finding(op, difference)));
            }
        }
        Ok(None)
    }

    fn finding(&self, op: Op<'c>, difference: Difference) -> Finding {
        let number = self.places[&op];
        let operator = self.graph.operators().swap_remove(number);
        Finding {
            number: number + 1,
            operators: self.operators.len(),
            kind: operator.kind.to_owned(),
            name: operator.name.to_owned(),
            difference,
        }
    }

    /// Returns the results of the first `count` operators that later ones read.
    fn live(&self, count: usize) -> Vec<Val<'c>> {
        let behind = |user: Op<'c>| self.places.get(&user).is_none_or(|&place| place >= count);
        let results = self.operators[..count].iter().flat_map(|op| op.results());
        results.filter(|value| value.uses().into_iter().any(|(user, _)| behind(user))).collect()
    }

    /// A model that gives `live`, with the inputs of the whole one.
    fn prefix(&self, live: &[Val<'c>]) -> Module<'c> {
        let args = self.graph.body.args();
        let inputs: Vec<_> = self
            .graph
            .inputs
            .iter()
            .zip(&args)
            .map(|(name, arg)| ((*name).to_owned(), arg.ty()))
            .collect();
        let names: Vec<_> = live.iter().map(|&value| self.name(value)).collect();
        let module = empty_module(self.context);
        let model = module_op(&module);
        let b = GraphBuilder::new(self.context, model, self.graph.name, &inputs, &names);
        let mut map = Mapping::default();
        for (&old, new) in args.iter().zip(b.inputs()) {
            map.set(old, new);
        }
        let needed = needed(live);
        let body = b.model().first_block(0).expect("a model has a body");
        let mut copier = Builder::at_end(self.context, body);
        for op in self.graph.body.iter().filter(|op| needed.contains(op)) {
            copier.clone_op(op, &mut map);
        }
        let outputs: Vec<_> = live.iter().map(|&value| map.get(value)).collect();
        b.finish(&outputs);
        module
    }

    /// The operator's place makes the name the only one of its kind.
    fn name(&self, value: Val<'c>) -> String {
        let op = value.def().expect("what is live is a result");
        format!("result {} of operator {}", value.index(), self.places[&op] + 1)
    }
}

/// The operations that values depend on.
fn needed<'c>(values: &[Val<'c>]) -> HashSet<Op<'c>> {
    let mut needed = HashSet::new();
    let mut wanted: Vec<_> = values.iter().filter_map(|value| value.def()).collect();
    while let Some(op) = wanted.pop() {
        if needed.insert(op) {
            wanted.extend(op.operands().into_iter().filter_map(Val::def));
        }
    }
    needed
}
