//! Evaluation of whole models, operator by operator or kernel by kernel.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::error::Error;
use std::rc::Rc;

use weft_dialects::finds::{self, Find};
use weft_dialects::graph::{Operator, Weight};
use weft_dialects::ir::{Block, Op, Val, attr, ty};
use weft_dialects::lengths;
use weft_dialects::repeat::{self, Repeat};
use weft_dialects::tile::Run;
use weft_runtime::length::Length;

use super::compiler::Known;
use super::error::{InterpretError, place};
use super::key::key;
use super::payload::Compiled;
use super::values::{Bytes, Values, check_size, size};

/// Why a weight could not be had.
pub type WeightError = Box<dyn Error + Send + Sync>;

/// The source of weights: the file's id and the tensor's name give the bytes.
type Weights<'a, 'w> = &'a mut dyn FnMut(&str, &str) -> Result<Cow<'w, [u8]>, WeightError>;

/// A callback that sees the results of each operator.
type Visit<'a, 'c> = &'a mut dyn FnMut(Op<'c>, &[Vec<u8>]);

/// The operations of a model and a tile-graph, for messages.
const ACCEPTED: &str = "graph.weight, graph.constant, graph.op, graph.find, graph.call, tile.empty, tile.view, tile.connect, tile.find and tile.run in a model";

/// Evaluates a `graph.model`, operator by operator in its order.
///
/// Tensors are little-endian elements of their graph types, booleans one byte each.
/// `weights` is asked for each weight when it is first read. `visit` sees each operator
/// with its results right after it ran. A tensor is dropped after its last use.
///
/// # Errors
/// Those of [`Compiled::of`], errors while it runs, and tensors of the wrong
/// number or size.
pub fn run_model<'c, 'w>(
    model: Op<'c>,
    inputs: &'w [Vec<u8>],
    weights: Weights<'_, 'w>,
    visit: Visit<'_, 'c>,
) -> Result<Vec<Vec<u8>>, InterpretError> {
    evaluate(model, "graph.model", inputs, weights, visit)
}

/// Evaluates a `tile.graph`, run by run in its order; kernels are looked up by name beside it.
///
/// The tensors are those of [`run_model`]: booleans lie in memory alike. What nobody has
/// written is zero.
///
/// # Errors
/// As [`run_model`].
pub fn run_tile_graph<'c, 'w>(
    graph: Op<'c>,
    inputs: &'w [Vec<u8>],
    weights: Weights<'_, 'w>,
    visit: Visit<'_, 'c>,
) -> Result<Vec<Vec<u8>>, InterpretError> {
    evaluate(graph, "tile.graph", inputs, weights, visit)
}

fn evaluate<'c, 'w>(
    op: Op<'c>,
    kind: &'static str,
    inputs: &'w [Vec<u8>],
    weights: Weights<'_, 'w>,
    visit: Visit<'_, 'c>,
) -> Result<Vec<Vec<u8>>, InterpretError> {
    let body = Some(op).filter(|op| op.is(kind)).and_then(|op| op.first_block(0));
    let body = body.ok_or_else(|| InterpretError::operation(op, kind))?;
    let args = body.args();
    if args.len() != inputs.len() {
        let name = format!("@{}", op.symbol());
        let (expected, found) = (args.len(), inputs.len());
        return Err(InterpretError::Inputs { name, expected, found });
    }
    let mut model = Evaluation {
        values: Values::default(),
        compiled: HashMap::new(),
        kernels: kernels(op),
        bodies: repeat::bodies(op).into_iter().map(|own| (own.op.symbol(), own)).collect(),
        weights,
        known: Known::default(),
    };
    for (arg, bytes) in args.into_iter().zip(inputs) {
        check_size(|| format!("input {} of @{}", arg.index(), op.symbol()), arg.ty(), bytes.len())?;
        model.values.set(arg, Rc::new(Cow::Borrowed(bytes)));
    }
    for inner in body.iter() {
        if inner.is("graph.output") || inner.is("tile.output") {
            let lengths = lengths::of_ports(op);
            let own = lengths.get(body.args().len()..).unwrap_or_default();
            return model.outputs(inner, own);
        }
        model.step(inner, visit)?;
    }
    Ok(Vec::new())
}

/// Bytes of an operand before the element from which a kernel sees it.
fn skipped(operand: Val<'_>, at: &[u64], number: usize) -> usize {
    let size = ty::elem(operand.ty()).and_then(ty::byte_size).unwrap_or(0);
    at.get(number).map_or(0, |place| (place * size) as usize)
}

/// The kernels beside a tile-graph, by name.
fn kernels(graph: Op<'_>) -> HashMap<&str, Op<'_>> {
    let beside = graph.block().into_iter().flat_map(Block::ops);
    beside.filter(|op| op.is("tile.kernel")).map(|op| (op.symbol(), op)).collect()
}

/// The elements of a value in front of the ends that data have decided.
fn dense(bytes: &[u8], value: Val<'_>, dims: &[Option<Length>], known: &Known) -> Vec<u8> {
    let extents = ty::shape(value.ty()).unwrap_or_default();
    let size = ty::elem(value.ty()).and_then(ty::byte_size).unwrap_or(0) as usize;
    let end = |(length, &extent): (&Option<Length>, &u64)| {
        let own = length.as_ref().and_then(|own| own.value(&|name| known.get(name).copied()));
        own.and_then(|own| u64::try_from(own).ok()).map_or(extent, |own| own.min(extent))
    };
    let shape: Vec<u64> = dims.iter().zip(&extents).map(end).collect();
    let inside = |place: &usize| {
        let mut rest = *place as u64;
        let mut coordinates = extents.iter().zip(&shape).rev();
        coordinates.all(|(extent, end)| {
            let own = rest % extent;
            rest /= extent;
            own < *end
        })
    };
    let count = bytes.len() / size.max(1);
    let kept = (0..count).filter(inside);
    kept.flat_map(|place| bytes[place * size..][..size].iter().copied()).collect()
}

struct Evaluation<'a, 'c, 'w> {
    values: Values<'c, 'w>,
    /// By the payload's key.
    compiled: HashMap<String, Rc<Compiled>>,
    kernels: HashMap<&'c str, Op<'c>>,
    bodies: HashMap<&'c str, Repeat<'c>>,
    weights: Weights<'a, 'w>,
    /// What has been found.
    known: Known,
}

impl<'c> Evaluation<'_, 'c, '_> {
    fn step(&mut self, op: Op<'c>, visit: Visit<'_, 'c>) -> Result<(), InterpretError> {
        match op.name() {
            // These are read when they are needed.
            "graph.weight" | "graph.constant" | "tile.empty" => return Ok(()),
            "graph.find" | "tile.find" => {
                let find = Find::of(op).ok_or_else(|| InterpretError::operation(op, ACCEPTED))?;
                let bytes = self.read(op, find.count)?;
                let number = bytes.first_chunk().map(|own| i64::from_le_bytes(*own));
                let symbols = lengths::symbols(op);
                let symbol = symbols.iter().find(|own| own.name == find.symbol);
                let allowed = |&number: &i64| {
                    let number = u64::try_from(number).ok();
                    symbol.is_some_and(|own| number.is_some_and(|number| own.allows(number)))
                };
                let number = number.filter(allowed).ok_or_else(|| {
                    let found = format!("{} came out as {number:?}", find.symbol);
                    InterpretError::form(op, found, "what its graph.symbol allows")
                })?;
                self.known.insert(find.symbol.to_owned(), number);
            }
            "tile.view" | "tile.connect" => {
                let bytes = self.read(op, op.operand(0))?;
                self.values.set(op.result(0), bytes);
            }
            "graph.op" => {
                let operator = Operator::of(op);
                let operator = operator.ok_or_else(|| InterpretError::operation(op, ACCEPTED))?;
                let name = format!("{} {:?}", operator.kind, operator.name);
                self.apply(op, op, operator.payload, (name, &[]), visit)?;
            }
            "graph.call" | "tile.run" if self.body_of(op).is_some() => {
                let body = self.body_of(op);
                let body = body.ok_or_else(|| InterpretError::operation(op, ACCEPTED))?;
                self.repeat(op, &body, visit)?;
            }
            "tile.run" => {
                let run = Run::of(op).ok_or_else(|| InterpretError::operation(op, ACCEPTED))?;
                let kernel = self.kernels.get(run.kernel).copied();
                let kernel = kernel.and_then(|kernel| Some((kernel, kernel.first_block(0)?)));
                let (kernel, body) = kernel.ok_or_else(|| InterpretError::Kernel {
                    op: place(op),
                    kernel: run.kernel.to_owned(),
                })?;
                let name = format!("@{} in {:?}", run.kernel, run.name);
                self.apply(op, kernel, body, (name, &run.at), visit)?;
            }
            _ => return Err(InterpretError::operation(op, ACCEPTED)),
        }
        self.values.done(op);
        Ok(())
    }

    /// The body that `op` calls.
    fn body_of(&self, op: Op<'c>) -> Option<Repeat<'c>> {
        self.bodies.get(repeat::called(op)?).cloned()
    }

    /// Does a body on the operands of `op`, round by round.
    fn repeat(
        &mut self,
        op: Op<'c>,
        body: &Repeat<'c>,
        visit: Visit<'_, 'c>,
    ) -> Result<(), InterpretError> {
        let refused = || InterpretError::operation(body.op, ACCEPTED);
        let block = body.op.first_block(0).ok_or_else(refused)?;
        let (args, end) = (block.args(), block.terminator().ok_or_else(refused)?);
        let operands = op.operands().into_iter().map(|operand| self.read(op, operand));
        let mut given = operands.collect::<Result<Vec<_>, _>>()?;
        let first = given.len().checked_sub(op.results().len()).ok_or_else(refused)?;
        let rounds = match &body.rounds {
            None => i64::MAX,
            Some(rounds) => {
                let value = rounds.value(&|name| self.known.get(name).copied());
                value.ok_or_else(|| {
                    InterpretError::form(op, "a number of rounds", "one that is known")
                })?
            }
        };
        let symbols = lengths::symbols(op);
        let symbol = symbols.iter().find(|own| own.name == body.round).ok_or_else(refused)?;
        for round in 0..rounds {
            let holds = given[first..].first().is_none_or(|state| state.first() != Some(&0));
            if body.conditional && !holds {
                break;
            }
            if !symbol.allows(round.unsigned_abs()) {
                let found = format!("{} came out as {round}", body.round);
                return Err(InterpretError::form(op, found, "what its graph.symbol allows"));
            }
            self.known.insert(body.round.to_owned(), round);
            for (arg, bytes) in args.iter().zip(&given) {
                self.values.set(*arg, bytes.clone());
            }
            for inner in block.iter().filter(|inner| *inner != end) {
                self.step(inner, &mut |_, _| {})?;
            }
            let states = end.operands().into_iter().map(|state| self.read(end, state));
            given.splice(first.., states.collect::<Result<Vec<_>, _>>()?);
            self.values.done(end);
        }
        self.known.remove(body.round);
        let results: Vec<Vec<u8>> = given[first..].iter().map(|state| state.to_vec()).collect();
        visit(op, &results);
        for (value, state) in op.results().into_iter().zip(given.drain(first..)) {
            self.values.set(value, state);
        }
        Ok(())
    }

    /// Runs the payload `body` of `owner` on the operands of `op`.
    fn apply(
        &mut self,
        op: Op<'c>,
        owner: Op<'c>,
        body: Block<'c>,
        (name, at): (String, &[u64]),
        visit: Visit<'_, 'c>,
    ) -> Result<(), InterpretError> {
        let operands = op.operands();
        let operands = operands.into_iter().map(|operand| self.read(op, operand));
        let operands = operands.collect::<Result<Vec<_>, _>>()?;
        let compiled = self.compile(owner, body)?;
        let seen: Vec<Cow<'_, [u8]>> = operands
            .iter()
            .zip(op.operands())
            .enumerate()
            .map(|(number, (bytes, operand))| match skipped(operand, at, number) {
                0 => Cow::Borrowed(&***bytes),
                skipped => Cow::Owned([&bytes[skipped..], &vec![0; skipped]].concat()),
            })
            .collect();
        let inputs: Vec<&[u8]> = seen.iter().map(|bytes| &**bytes).collect();
        let mut results =
            compiled.run(&inputs).map_err(|error| InterpretError::Run { name, error })?;
        let first = operands.len() - results.len().min(operands.len());
        for (number, result) in (first..).zip(&mut results) {
            let skipped = at.get(number).map_or(0, |_| skipped(op.operand(number), at, number));
            if skipped > 0 {
                result.truncate(result.len() - skipped);
                result.splice(0..0, operands[number][..skipped].iter().copied());
            }
        }
        visit(op, &results);
        for (value, bytes) in op.results().into_iter().zip(results) {
            self.values.set(value, Rc::new(Cow::Owned(bytes)));
        }
        Ok(())
    }

    fn compile(&mut self, owner: Op<'c>, body: Block<'c>) -> Result<Rc<Compiled>, InterpretError> {
        let mut asked = BTreeSet::new();
        if !self.known.is_empty() {
            finds::add_asked(owner, &mut asked);
        }
        let known = self.known.iter().filter(|(name, _)| asked.contains(*name));
        let known: Known = known.map(|(name, value)| (name.clone(), *value)).collect();
        let key = format!("{known:?} {}", key(body));
        if let Some(compiled) = self.compiled.get(&key) {
            return Ok(compiled.clone());
        }
        let compiled = Rc::new(Compiled::of_run(owner, body, &known)?);
        self.compiled.insert(key, compiled.clone());
        Ok(compiled)
    }
}

impl<'c, 'w> Evaluation<'_, 'c, 'w> {
    /// The bytes of a value that `op` uses.
    fn read(&mut self, op: Op<'c>, value: Val<'c>) -> Result<Bytes<'w>, InterpretError> {
        if let Some(bytes) = self.values.get(value) {
            return Ok(bytes);
        }
        let unknown = || InterpretError::form(op, "an operand is not known", ACCEPTED);
        let source = value.def().ok_or_else(unknown)?;
        let bytes = match source.name() {
            "graph.weight" => Rc::new(self.weight(source, value)?),
            "graph.constant" => {
                let bytes = source.attr("value").and_then(attr::dense_bytes);
                let bytes = bytes.ok_or_else(|| InterpretError::ty(source, value.ty()))?;
                Rc::new(Cow::Owned(bytes))
            }
            "tile.empty" => {
                let size = size(value.ty());
                let size = size.ok_or_else(|| InterpretError::ty(source, value.ty()))?;
                Rc::new(Cow::Owned(vec![0; size as usize]))
            }
            _ => return Err(unknown()),
        };
        self.values.set(value, bytes.clone());
        Ok(bytes)
    }

    fn weight(&mut self, op: Op<'c>, value: Val<'c>) -> Result<Cow<'w, [u8]>, InterpretError> {
        let weight = Weight::of(op).ok_or_else(|| InterpretError::operation(op, ACCEPTED))?;
        let (file, tensor) = (weight.file, weight.tensor);
        let bytes = (self.weights)(file, tensor).map_err(|source| InterpretError::Weight {
            file: file.to_owned(),
            tensor: tensor.to_owned(),
            source,
        })?;
        check_size(|| format!("weight {tensor:?} in {file:?}"), value.ty(), bytes.len())?;
        Ok(bytes)
    }

    /// The outputs, dense where data have decided how long they are.
    fn outputs(
        &mut self,
        end: Op<'c>,
        lengths: &[Vec<Option<Length>>],
    ) -> Result<Vec<Vec<u8>>, InterpretError> {
        let bytes = end.operands().into_iter().map(|value| self.read(end, value));
        let bytes = bytes.collect::<Result<Vec<_>, _>>()?;
        self.values.done(end);
        let own = |bytes: Bytes<'w>| match Rc::try_unwrap(bytes) {
            Ok(bytes) => bytes.into_owned(),
            Err(shared) => shared.to_vec(),
        };
        let known = std::mem::take(&mut self.known);
        let dense = |(number, bytes): (usize, Vec<u8>)| match lengths.get(number) {
            Some(dims) if !known.is_empty() => dense(&bytes, end.operand(number), dims, &known),
            _ => bytes,
        };
        Ok(bytes.into_iter().map(own).enumerate().map(dense).collect())
    }
}
