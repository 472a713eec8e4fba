//! Makes one kernel of the runs of an instance.

use std::collections::HashMap;

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Builder, Mapping, Op, Val, attr};
use weft_dialects::tile::build::{self, RunOp};
use weft_dialects::tile::{Empty, Kernel, Run, View};

use super::super::stream_host::emit::Emit;

/// A tensor from outside, and the element from which it is seen.
type End<'c> = (Val<'c>, u64);

/// Replaces the runs among `ops`, which stand in this order and hand tensors to each other in
/// `near`, by one run of one kernel. Gives what stands there now.
pub(super) fn stitch<'c>(
    emit: &mut Emit<'_, 'c>,
    ops: &[Op<'c>],
    near: &str,
) -> Result<Vec<Op<'c>>, Failed> {
    let runs: Vec<Run<'c>> = ops.iter().filter_map(|op| Run::of(*op)).collect();
    let is_near = |op: Op<'c>| Empty::of(op).is_some_and(|empty| empty.memory == near);
    let inside = |value: Val<'c>| {
        value.def().is_some_and(|op| ops.contains(&op) && (op.is("tile.run") || is_near(op)))
    };
    let outside = |mut value: Val<'c>| {
        // A view of what is made inside is inside.
        while let Some(view) = value.def().and_then(View::of).filter(|view| ops.contains(&view.op))
        {
            value = view.source;
        }
        !inside(value)
    };
    let (mut inputs, mut inits): (Vec<End<'c>>, Vec<End<'c>>) = (Vec::new(), Vec::new());
    for run in &runs {
        for (&value, &at) in run.inputs.iter().zip(&run.at) {
            if outside(value) && !inputs.contains(&(value, at)) {
                inputs.push((value, at));
            }
        }
        let places = &run.at[run.inputs.len()..];
        inits.extend(
            run.inits.iter().copied().zip(places.iter().copied()).filter(|end| outside(end.0)),
        );
    }

    let module = emit.module.body(0).ok_or(Failed)?;
    let mut b = Builder::at_end(emit.context, module);
    let types: Vec<_> = inputs.iter().chain(&inits).map(|(value, _)| value.ty()).collect();
    let Kernel { op: kernel, body: block, .. } = build::stitched_kernel(&mut b, "instance", &types);
    let mut b = b.into_block(block);
    let mut made: HashMap<Val<'c>, Val<'c>> = HashMap::new();
    let mut last: Vec<Val<'c>> = block.args()[inputs.len()..].to_vec();
    let mut given: HashMap<Val<'c>, usize> = HashMap::new();
    let symbols: HashMap<&str, Op<'c>> =
        module.iter().filter(|op| op.is("tile.kernel")).map(|op| (op.symbol(), op)).collect();
    for &op in ops {
        if let Some(run) = Run::of(op) {
            let body = symbols.get(run.kernel).and_then(|op| op.body(0)).ok_or(Failed)?;
            let mut map = Mapping::default();
            for (number, (arg, value)) in body.args().into_iter().zip(op.operands()).enumerate() {
                let end = (value, run.at[number]);
                let is_init = number >= run.inputs.len();
                let own = made.get(&value).copied().or_else(|| match is_init {
                    false => inputs.iter().position(|one| *one == end).map(|at| block.arg(at)),
                    true => inits.iter().position(|one| *one == end).map(|at| last[at]),
                });
                map.set(arg, own.ok_or(Failed)?);
            }
            for inner in body.ops() {
                if !inner.is("tile.yield") {
                    b.clone_op(inner, &mut map);
                }
            }
            let end = body.terminator().ok_or(Failed)?;
            for (number, result) in op.results().into_iter().enumerate() {
                let own = map.get(end.operand(number));
                made.insert(result, own);
                let init = (run.inits[number], run.at[run.inputs.len() + number]);
                let place = inits.iter().position(|one| *one == init);
                let place = place.or_else(|| given.get(&run.inits[number]).copied());
                if let Some(place) = place {
                    last[place] = own;
                    given.insert(result, place);
                }
            }
        } else if is_near(op) {
            made.insert(op.result(0), b.clone_op(op, &mut Mapping::default()).result(0));
        } else if let Some(view) = View::of(op)
            && let Some(&source) = made.get(&view.source)
        {
            let own = build::view(&mut b, source, op.result(0).ty());
            made.insert(op.result(0), own);
        }
    }
    build::yield_values(&mut b, &last);

    let text = format!("stitched {}", kernel.own_text());
    let kernel = match emit.made.get(&text) {
        Some(&known) => {
            kernel.erase();
            known
        }
        None => {
            // The last ones take out what is given.
            let stem = runs.iter().rev().nth(inits.len()).map_or("copy", |run| run.kernel);
            let stem = stem.split("_streamed").next().unwrap_or(stem);
            let mut numbered = (0..).map(|number| format!("{stem}_instance_{number}"));
            let name = numbered.find(|name| !emit.taken.contains(name));
            let name = name.expect("names do not run out");
            kernel.set_attr("sym_name", attr::of_string(emit.context, &name));
            emit.taken.insert(name);
            emit.made.insert(text, kernel);
            kernel
        }
    };

    let ends: Vec<End<'c>> = inputs.iter().chain(&inits).copied().collect();
    let values: Vec<_> = ends.iter().map(|(value, _)| *value).collect();
    let at: Vec<_> = ends.iter().map(|(_, at)| *at).collect();
    let names = [runs.first(), runs.iter().rev().nth(inits.len())];
    let mut names: Vec<_> = names.into_iter().flatten().map(|run| run.name).collect();
    names.dedup();
    let (read, written) = values.split_at(inputs.len());
    let new = RunOp {
        name: &names.join(" to "),
        kernel: kernel.symbol(),
        inputs: read,
        inits: written,
        at: &at,
    };
    let new = new.build(&mut emit.b);
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
