//! Makes one kernel of the runs of an instance.

use std::collections::HashMap;

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Mapping, Op, Val, attr};
use weft_dialects::tile::build::{self, RunOp};
use weft_dialects::tile::{Empty, Run, View};

use super::super::stream_host::emit::Emit;
use super::places;

/// A tensor from outside, and the element from which it is seen.
type End<'c> = (Val<'c>, u64);

/// Replaces the runs among `ops`, which stand in this order and hand tensors to each other in
/// `local`, by one run of one kernel. Gives what stands there now.
pub(super) fn stitch<'c>(
    emit: &mut Emit<'_, 'c>,
    ops: &[Op<'c>],
    local: &str,
) -> Result<Vec<Op<'c>>, Failed> {
    let instance = Instance::of(ops, local);
    let (kernel, given) = instance.kernel(emit)?;
    let kernel = name(emit, &instance, kernel);
    let new = instance.run(emit, kernel);
    let now = |value: Val<'c>| given.get(&value).map_or(value, |&place| new.result(place));
    emit.finished = emit.finished.drain().map(|(tensor, value)| (tensor, now(value))).collect();
    let mut kept = Vec::new();
    for op in ops.iter().rev() {
        match op.results().iter().all(|result| result.uses().is_empty()) {
            true => op.erase(),
            false => kept.push(*op),
        }
    }
    kept.reverse();
    kept.push(new);
    Ok(kept)
}

/// The runs that become one, and what passes in and out of them.
struct Instance<'a, 'c> {
    ops: &'a [Op<'c>],
    local: &'a str,
    runs: Vec<Run<'c>>,
    /// Tensors read from outside.
    inputs: Vec<End<'c>>,
    /// Tensors overwritten outside, once for each run that does.
    inits: Vec<End<'c>>,
}

impl<'a, 'c> Instance<'a, 'c> {
    fn of(ops: &'a [Op<'c>], local: &'a str) -> Self {
        let runs: Vec<Run<'c>> = ops.iter().filter_map(|op| Run::of(*op)).collect();
        let mut own = Self { ops, local, runs: Vec::new(), inputs: Vec::new(), inits: Vec::new() };
        for run in &runs {
            for (&value, &at) in run.inputs.iter().zip(&run.at) {
                if own.is_outside(value) && !own.inputs.contains(&(value, at)) {
                    own.inputs.push((value, at));
                }
            }
            let places = run.inits.iter().copied().zip(run.at[run.inputs.len()..].iter().copied());
            let outside: Vec<_> = places.filter(|end| own.is_outside(end.0)).collect();
            own.inits.extend(outside);
        }
        own.runs = runs;
        own
    }

    /// Returns whether an operation makes the buffer in which the runs hand a tensor to each other.
    fn is_local(&self, op: Op<'c>) -> bool {
        Empty::of(op).is_some_and(|empty| empty.memory == self.local)
    }

    fn is_outside(&self, mut value: Val<'c>) -> bool {
        // A view of what is made inside is inside.
        let inside = |view: &View<'c>| self.ops.contains(&view.op);
        while let Some(view) = value.def().and_then(View::of).filter(inside) {
            value = view.source;
        }
        !value
            .def()
            .is_some_and(|op| self.ops.contains(&op) && (op.is("tile.run") || self.is_local(op)))
    }

    /// A kernel, not named yet, that does all runs; and which of its outputs a tensor became.
    fn kernel(&self, emit: &Emit<'_, 'c>) -> Result<(Op<'c>, HashMap<Val<'c>, usize>), Failed> {
        let module = emit.module.body(0).ok_or(Failed)?;
        let ends = self.inputs.iter().chain(&self.inits);
        let types: Vec<_> = ends.map(|(value, _)| value.ty()).collect();
        let mut b = Builder::at_end(emit.context, module);
        let kernel = build::stitched_kernel(&mut b, "instance", &types);
        let mut inside = Inside {
            instance: self,
            b: b.into_block(kernel.body),
            kernels: module
                .iter()
                .filter(|op| op.is("tile.kernel"))
                .map(|op| (op.symbol(), op))
                .collect(),
            args: kernel.body.args(),
            last: kernel.body.args()[self.inputs.len()..].to_vec(),
            made: HashMap::new(),
            given: HashMap::new(),
        };
        for &op in self.ops {
            inside.copy(op)?;
        }
        build::yield_values(&mut inside.b, &inside.last);
        places::write(emit.context, kernel.op)?;
        Ok((kernel.op, inside.given))
    }

    /// Applies the kernel to what is outside.
    fn run(&self, emit: &mut Emit<'_, 'c>, kernel: Op<'c>) -> Op<'c> {
        let ends: Vec<End<'c>> = self.inputs.iter().chain(&self.inits).copied().collect();
        let values: Vec<_> = ends.iter().map(|(value, _)| *value).collect();
        let at: Vec<_> = ends.iter().map(|(_, at)| *at).collect();
        let names = [self.runs.first(), self.runs.iter().rev().nth(self.inits.len())];
        let mut names: Vec<_> = names.into_iter().flatten().map(|run| run.name).collect();
        names.dedup();
        let (inputs, inits) = values.split_at(self.inputs.len());
        let (name, kernel) = (&names.join(" to "), kernel.symbol());
        RunOp { name, kernel, inputs, inits, at: &at }.build(&mut emit.b)
    }
}

/// A kernel of its own for the instance; or the one that was made before of the same text.
fn name<'c>(emit: &mut Emit<'_, 'c>, instance: &Instance<'_, 'c>, kernel: Op<'c>) -> Op<'c> {
    let text = format!("stitched {}", kernel.own_text());
    if let Some(&known) = emit.made.get(&text) {
        kernel.erase();
        return known;
    }
    // The last ones take out what is given.
    let giving = instance.inits.len();
    let stem = instance.runs.iter().rev().nth(giving).map_or("copy", |run| run.kernel);
    let stem = stem.split("_streamed").next().unwrap_or(stem);
    let mut numbered = (0..).map(|number| format!("{stem}_instance_{number}"));
    let name = numbered.find(|name| !emit.taken.contains(name)).expect("names do not run out");
    kernel.set_attr("sym_name", attr::of_string(emit.context, &name));
    emit.taken.insert(name);
    emit.made.insert(text, kernel);
    kernel
}

/// The body of the one kernel, as far as it is written.
struct Inside<'a, 'c> {
    instance: &'a Instance<'a, 'c>,
    b: Builder<'c>,
    /// By name.
    kernels: HashMap<&'c str, Op<'c>>,
    args: Vec<Val<'c>>,
    /// The latest value of each output.
    last: Vec<Val<'c>>,
    /// Values that replace the tensors that the runs make.
    made: HashMap<Val<'c>, Val<'c>>,
    /// Which output a tensor became.
    given: HashMap<Val<'c>, usize>,
}

impl<'c> Inside<'_, 'c> {
    /// Copies what an operation does.
    fn copy(&mut self, op: Op<'c>) -> Result<(), Failed> {
        if let Some(run) = Run::of(op) {
            self.copy_run(&run)?;
        } else if self.instance.is_local(op) {
            let copy = self.b.clone_op(op, &mut Mapping::default());
            self.made.insert(op.result(0), copy.result(0));
        } else if let Some(view) = View::of(op)
            && let Some(&source) = self.made.get(&view.source)
        {
            let own = build::view(&mut self.b, source, op.result(0).ty());
            self.made.insert(op.result(0), own);
        }
        Ok(())
    }

    fn copy_run(&mut self, run: &Run<'c>) -> Result<(), Failed> {
        let Instance { inputs, inits, .. } = self.instance;
        let body = self.kernels.get(run.kernel).and_then(|op| op.body(0)).ok_or(Failed)?;
        let mut map = Mapping::default();
        for (number, (arg, value)) in body.args().into_iter().zip(run.op.operands()).enumerate() {
            let end = (value, run.at[number]);
            let is_init = number >= run.inputs.len();
            let own = self.made.get(&value).copied().or_else(|| match is_init {
                false => inputs.iter().position(|one| *one == end).map(|at| self.args[at]),
                true => inits.iter().position(|one| *one == end).map(|at| self.last[at]),
            });
            map.set(arg, own.ok_or(Failed)?);
        }
        for inner in body.ops() {
            if !inner.is("tile.yield") {
                self.b.clone_op(inner, &mut map);
            }
        }
        let end = body.terminator().ok_or(Failed)?;
        for (number, result) in run.op.results().into_iter().enumerate() {
            let own = map.get(end.operand(number));
            self.made.insert(result, own);
            let init = (run.inits[number], run.at[run.inputs.len() + number]);
            let place = inits.iter().position(|one| *one == init);
            let place = place.or_else(|| self.given.get(&run.inits[number]).copied());
            if let Some(place) = place {
                self.last[place] = own;
                self.given.insert(result, place);
            }
        }
        Ok(())
    }
}
