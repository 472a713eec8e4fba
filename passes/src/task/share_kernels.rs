//! `task-share-kernels`: kernels that differ only in where they begin become one.
//!
//! ```text
//! tile.kernel @step_0 { … affine_map<(i) -> (0, i)> … }
//! tile.kernel @step_1 { … affine_map<(i) -> (1, i)> … }
//!   task.range "0" @step_0[0 to 2] on 0(%x, %a)
//!   task.range "1" @step_1[0 to 2] on 0(%x, %b)
//!     ->
//!   task.range "0" @step_0[0 to 2] on 0(%x, %a)
//!   task.range "1" @step_0[0 to 2] on 0(%x, %b) at [256, 0]
//! ```
//!
//! The steps of an unrolled network read and write one row after the other: as one kernel they are
//! compiled once. Left alone are arguments that are read at computed addresses, and
//! rows that do not begin where a buffer may, for code counts on how its arguments are aligned.

use std::collections::{HashMap, HashSet};

use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{Block, Builder, Context, Mapping, Op, Val, affine, attr, ty};
use weft_dialects::task;
use weft_dialects::tile::Compute;
use weft_runtime::plan::ALIGN;

use crate::nest::row_major;

/// The pass.
pub const PASS: Pass = Pass {
    name: "task-share-kernels",
    description: "Make one kernel of those that differ only in where they begin",
    options: &[],
    statistics: &[("shared", "kernels that another one stands for")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let body = run.module.body(0).ok_or(Failed)?;
    let programs: Vec<_> = body.iter().filter_map(task::Program::of).collect();
    let mut ranges: HashMap<&str, Vec<task::Range<'_>>> = HashMap::new();
    for range in programs.iter().flat_map(task::Program::ranges) {
        ranges.entry(range.kernel).or_default().push(range);
    }
    let constants = programs.iter().flat_map(|program| program.body.iter());
    let constants: HashSet<&str> =
        constants.filter_map(task::Constant::of).map(|constant| constant.kernel).collect();
    let of_ranges = |kernel: &Op<'_>| {
        ranges.contains_key(kernel.symbol()) && !constants.contains(kernel.symbol())
    };
    let kernels = body.iter().filter(|op| op.is("tile.kernel")).filter(of_ranges);
    let kernels: Vec<_> = kernels.filter_map(Begins::of).collect();
    if kernels.iter().all(|kernel| kernel.starts.iter().all(Option::is_none)) {
        return Ok(());
    }
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut alike: Vec<Vec<&Begins<'_>>> = Vec::new();
    for kernel in &kernels {
        let number = *numbers.entry(kernel.text_from_zero(run.context)).or_insert(alike.len());
        alike.resize(alike.len().max(number + 1), Vec::new());
        alike[number].push(kernel);
    }
    for same in alike.iter().filter(|same| same.len() > 1) {
        let shared = same[0].op;
        for kernel in same {
            for range in &ranges[kernel.op.symbol()] {
                kernel.give(run.context, range, shared.symbol());
            }
        }
        same[0].set_to_zero(run.context, shared);
        for kernel in &same[1..] {
            kernel.op.erase();
            run.count("shared", 1);
        }
    }
    Ok(())
}

/// Where a kernel begins in each of its arguments.
struct Begins<'c> {
    op: Op<'c>,
    /// For each argument the index of its first element; `None` where that is the first of all.
    starts: Vec<Option<Vec<i64>>>,
}

impl<'c> Begins<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        let args = op.body(0)?.args();
        let starts =
            args.into_iter().map(|arg| start(arg).filter(|at| at.iter().any(|&at| at > 0)));
        Some(Self { op, starts: starts.collect() })
    }

    /// The kernel as it would be from the first element of each argument on, without its name and
    /// what is there for people.
    fn text_from_zero(&self, context: &'c Context) -> String {
        let mut b = Builder::after(context, self.op).with_location(self.op.location());
        let clone = b.clone_op(self.op, &mut Mapping::default());
        self.set_to_zero(context, clone);
        clone.set_attr("sym_name", attr::of_string(context, "kernel"));
        clone.walk(&mut |op| {
            if op.is("tile.compute") {
                op.remove_attr("because");
            }
        });
        let text = clone.own_text();
        clone.erase();
        text
    }

    /// Takes the starts out of the accesses of `kernel`, which is this one or a copy.
    fn set_to_zero(&self, context: &'c Context, kernel: Op<'c>) {
        let args = kernel.body(0).map(Block::args).unwrap_or_default();
        for (arg, start) in args.into_iter().zip(&self.starts) {
            let Some(start) = start else { continue };
            for (generic, operand) in accesses(arg).unwrap_or_default() {
                let mut maps =
                    generic.attr("indexing_maps").and_then(attr::array).unwrap_or_default();
                let (Some(axes), Some(index)) =
                    (affine::axes(maps[operand]), affine::linear(maps[operand]))
                else {
                    continue;
                };
                let moved = index.into_iter().zip(start).map(|(dim, &start)| dim.offset(-start));
                maps[operand] = affine::map(context, axes, &moved.collect::<Vec<_>>());
                generic.set_attr("indexing_maps", attr::of_array(context, &maps));
            }
        }
    }

    /// Lets a range apply `shared` from this kernel's starts on.
    fn give(&self, context: &'c Context, range: &task::Range<'c>, shared: &str) {
        let flat = |(buffer, start): (&Val<'c>, &Option<Vec<i64>>)| -> u64 {
            let strides = row_major(&ty::shape(buffer.ty()).unwrap_or_default());
            let start = start.iter().flatten().zip(strides);
            start.map(|(at, stride)| (at * stride) as u64).sum()
        };
        let starts: Vec<u64> = range.buffers.iter().zip(&self.starts).map(flat).collect();
        range.op.set_attr("kernel", attr::of_symbol(context, shared));
        if starts.iter().any(|&start| start > 0) {
            let at = range.at.iter().zip(starts).map(|(at, start)| at + start);
            range.op.set_attr("at", attr::of_sizes(context, &at.collect::<Vec<_>>()));
        }
    }
}

/// The index of the first element of an argument that a kernel touches, along the dimensions in which it
/// stays at one place; 0 along others, and where no buffer may begin at that place.
fn start(arg: Val<'_>) -> Option<Vec<i64>> {
    let (shape, elem) = ty::shape(arg.ty()).zip(ty::elem(arg.ty()).and_then(ty::byte_size))?;
    let mut first: Option<Vec<i64>> = None;
    for (generic, operand) in accesses(arg)? {
        let map = generic.attr("indexing_maps").and_then(attr::array)?.get(operand).copied()?;
        let index = affine::linear(map)?;
        // Where an axis moves the index its extent may be that of the dimension, and then follow from it.
        let own = index.iter().map(|dim| if dim.is_constant() { dim.constant.max(0) } else { 0 });
        first = Some(match first {
            Some(first) => first.into_iter().zip(own).map(|(one, own)| one.min(own)).collect(),
            None => own.collect(),
        });
    }
    let aligned = |(at, stride): (i64, i64)| match (at * stride) as u64 * elem % ALIGN {
        0 => at,
        _ => 0,
    };
    Some(first?.into_iter().zip(row_major(&shape)).map(aligned).collect())
}

/// The accesses of a kernel to one of its arguments: `linalg.generic`s and the number of an operand;
/// `None` if it is used otherwise.
fn accesses(arg: Val<'_>) -> Option<Vec<(Op<'_>, usize)>> {
    let mut found = Vec::new();
    // What shows the argument, or what it holds now.
    let mut known: HashSet<Val<'_>> = HashSet::new();
    let mut waiting = vec![arg];
    while let Some(value) = waiting.pop() {
        if !known.insert(value) {
            continue;
        }
        for (op, number) in value.uses() {
            match op.name() {
                "tile.load" => waiting.push(op.result(0)),
                "tile.store" if known.contains(&op.operand(1)) => waiting.push(op.result(0)),
                "tile.compute" => {
                    let compute = Compute::of(op)?;
                    waiting.push(*compute.body.args().get(number)?);
                    let written = number.checked_sub(compute.inputs.len());
                    waiting.extend(written.map(|output| op.result(output)));
                }
                "linalg.generic" => {
                    found.push((op, number));
                    let inputs = op.operands().len() - op.results().len();
                    waiting.extend(number.checked_sub(inputs).map(|output| op.result(output)));
                }
                "tile.yield" => {}
                _ => return None,
            }
        }
        if value.ty() != arg.ty() {
            return None;
        }
    }
    Some(found)
}
