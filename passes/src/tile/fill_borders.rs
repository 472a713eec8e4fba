//! `tile-fill-borders`: of a tensor that is filled with a number before a box of it is written, only
//! what lies around the box is filled.
//!
//! ```text
//! %p = fill 0                          16x162x162
//! %q = conv(%x, ...) into %p[0, 1, 1]  16x160x160
//!   ->  fill rows 0 and 161, then columns 0 and 161: 10,368 elements of 419,904
//! ```
//!
//! Such tensors are those that a convolution reads with a border around them. For each dimension
//! that the box does not fill, elements before it and behind it are filled along all others: corners
//! twice, so that what is filled lies at even distances. One before and one behind are one kernel,
//! in steps.
//!
//! Behind caches only where the kernel that writes the box is a sum, and computes longer than its
//! tensors come and go: it brings the rest of the tensor meanwhile. What merely copies would wait for
//! what the fill brings now.

use std::collections::{HashMap, HashSet};

use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Builder, Context, Linear, Op, attr, remark};
use weft_dialects::tile::build::RunOp;

use super::chooser::Chooser;
use super::construct_rtiles::read;
use super::far::Far;
use super::pace::Pace;
use super::peel::fresh;
use super::views::{applied, erase_views, graphs_and_kernels, kernel_of, readers, root, view};
use super::{private_cache, waiting_memory};
use crate::nest::{self, Access, Loop, Nest, Start, index_axis};
use crate::remarks::chosen;

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-fill-borders",
    description: "Fill only the border of a tensor of which the rest is written",
    options: &[
        PassOption {
            name: "borders",
            description: "which are filled alone: cheaper, all, none",
            fallback: "cheaper",
        },
        PassOption {
            name: "remarks",
            description: "say what is filled, and what both ways cost",
            fallback: "false",
        },
    ],
    statistics: &[("borders", "tensors of which only the border is filled")],
    run,
};

/// Which borders are filled alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Which {
    Cheaper,
    All,
}

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let machine = run.machine()?;
    let words = [("cheaper", Some(Which::Cheaper)), ("all", Some(Which::All)), ("none", None)];
    let (which, remarks) = (run.word("borders", &words)?, run.flag("remarks")?);
    let Some(which) = which else { return Ok(()) };
    let (graphs, kernels) = graphs_and_kernels(run.module).ok_or(Failed)?;
    let mut pass = FillBorders {
        context: run.context,
        module: run.module,
        chooser: Chooser::of(run, machine),
        pace: waiting_memory(machine).and_then(|memory| Pace::of(machine, memory.name)),
        kernels: kernels.iter().map(|kernel| (kernel.symbol().to_owned(), *kernel)).collect(),
        nests: HashMap::new(),
        borders: HashMap::new(),
        which,
        remarks,
    };
    for graph in &graphs {
        let runs = graph.body(0).into_iter().flat_map(|block| block.ops());
        for writer in runs.filter(|op| op.is("tile.run")).collect::<Vec<_>>() {
            let filled = pass.writer(writer)?;
            run.count("borders", filled.into());
        }
    }
    pass.clean(&graphs);
    Ok(())
}

struct FillBorders<'c> {
    context: &'c Context,
    module: Op<'c>,
    chooser: Chooser<'c>,
    /// Time of a kernel; none where units have no memory of their own.
    pace: Option<Pace>,
    kernels: HashMap<String, Op<'c>>,
    nests: HashMap<String, Nest<'c>>,
    /// By the kernel that fills and the one that writes, those that fill the border; none where all
    /// is filled still.
    borders: HashMap<[String; 2], Option<Vec<Op<'c>>>>,
    which: Which,
    remarks: bool,
}

impl<'c> FillBorders<'c> {
    fn nest(&mut self, kernel: &str) -> Result<Option<Nest<'c>>, Failed> {
        if let Some(nest) = self.nests.get(kernel) {
            return Ok(Some(nest.clone()));
        }
        let Some(&op) = self.kernels.get(kernel) else { return Ok(None) };
        let nest = read(op)?;
        self.nests.insert(kernel.to_owned(), nest.clone());
        Ok(Some(nest))
    }

    /// Fills the border of what a run writes a box of, where all of it was filled; says whether it
    /// did.
    fn writer(&mut self, writer: Op<'c>) -> Result<bool, Failed> {
        let [_] = writer.results()[..] else { return Ok(false) };
        let place = writer.operands().len() - 1;
        let Some(filler) = root(writer.operand(place)).def().filter(|op| op.is("tile.run")) else {
            return Ok(false);
        };
        let [filled] = filler.results()[..] else { return Ok(false) };
        if readers(filled) != [(writer, place)] {
            return Ok(false);
        }
        if [filler, writer].iter().any(|run| run.attr("shifts").is_some()) {
            return Ok(false);
        }
        let names = [filler, writer].map(|run| kernel_of(run).to_owned());
        let borders = match self.borders.get(&names) {
            Some(known) => known.clone(),
            None => {
                let [fill, write] = [self.nest(&names[0])?, self.nest(&names[1])?];
                let made = fill
                    .zip(write)
                    .and_then(|(fill, write)| self.border(writer, &names[1], &fill, &write));
                self.borders.insert(names, made.clone());
                made
            }
        };
        let Some(borders) = borders else { return Ok(false) };
        let mut b = Builder::before(self.context, filler).with_location(filler.location());
        let mut tensor = root(filler.operand(filler.operands().len() - 1));
        let name = filler.attr("name").and_then(attr::string).unwrap_or("");
        for kernel in borders {
            let ty = kernel.body(0).expect("it was written").arg(0).ty();
            let init = [view(&mut b, tensor, ty)];
            let part = RunOp { name, kernel: kernel.symbol(), inputs: &[], inits: &init, at: &[] };
            tensor = part.build(&mut b).result(0);
        }
        let seen = writer.operand(place).ty();
        writer.set_operand(place, view(&mut b, tensor, seen));
        erase_views(filled);
        filler.erase();
        Ok(true)
    }

    /// The kernels that fill what a writer leaves of a tensor; none where it is not filled with a
    /// number, or filling all of it takes no longer.
    fn border(
        &self,
        writer: Op<'c>,
        stem: &str,
        fill: &Nest<'c>,
        write: &Nest<'c>,
    ) -> Option<Vec<Op<'c>>> {
        let asks = fill.body.ops().into_iter().any(|op| index_axis(op).is_some());
        let own = fill.outputs[0].shape.iter().product::<u64>();
        let plain = fill.accesses().len() == 1
            && fill.captures.is_empty()
            && matches!(fill.starts[..], [Start::Unread])
            && fill.points() == own
            && !asks;
        let held = write.starts.iter().any(|start| matches!(start, Start::Held));
        let reads = |access: &Access<'_>| access.argument() == write.outputs[0].argument();
        if !plain || held || write.reads().into_iter().any(reads) {
            return None;
        }
        let regions = around(&write.outputs[0], &boxed(write)?);
        if self.which != Which::All && !self.hides(write)? {
            return None;
        }
        let nests: Vec<_> = regions.iter().map(|region| region.nest(fill, write)).collect();
        let [all, parts] = [std::slice::from_ref(fill), &nests[..]].map(|nests| self.cycles(nests));
        let pays =
            self.which == Which::All || all.zip(parts).is_some_and(|(all, parts)| parts < all);
        if self.remarks
            && let Some((all, parts)) = all.zip(parts)
        {
            let (border, whole) = (("a border is filled", parts), ("all of the tensor", all));
            let (won, lost) = if pays { (border, whole) } else { (whole, border) };
            let told = format!("@{stem}: before it {}", chosen(won.0, won.1, Some(lost)));
            remark(writer, &told);
        }
        if !pays {
            return None;
        }
        let write = |nest: &Nest<'c>| {
            let axes = nest.axes.len();
            let same: Vec<_> = (0..axes).map(|axis| Linear::axis(axes, axis)).collect();
            let kernel = nest::emit_kernel(self.context, self.module, "border", nest, &same);
            let name = fresh(self.module, &format!("{stem}_border"));
            kernel.set_attr("sym_name", attr::of_string(self.context, &name));
            kernel
        };
        Some(nests.iter().map(write).collect())
    }

    /// Returns whether a kernel computes longer than its tensors take to come and go, if they come
    /// through caches at all.
    fn hides(&self, write: &Nest<'c>) -> Option<bool> {
        let machine = self.chooser.machine;
        let work = self.chooser.cycles_where(write, &vec![false; write.inputs.len()])?;
        let hidden = write.has_reductions() && Far::of(machine).brought(write).is_hidden_by(work);
        Some(hidden || private_cache(machine).is_none())
    }

    /// Cycles of kernels one after the other, each shared out if that is worth it, and of what lies
    /// between them.
    fn cycles(&self, nests: &[Nest<'c>]) -> Option<f64> {
        let time = |nest: &Nest<'c>| {
            let cycles = self.chooser.cycles_where(nest, &[])?;
            Some(match &self.pace {
                Some(pace) => pace.time(cycles, pace.units * pace.at_once, 0.0),
                None => cycles,
            })
        };
        let between = self.pace.as_ref().map_or(0.0, Pace::between);
        let times: Option<f64> = nests.iter().map(time).sum();
        times.map(|times| times + between * nests.len().saturating_sub(1) as f64)
    }

    /// Erases the kernels that filled all of a tensor and that no graph applies any more.
    fn clean(&self, graphs: &[Op<'c>]) {
        let applied = applied(graphs);
        let replaced = self.borders.iter().filter(|(_, made)| made.is_some());
        let fills: HashSet<_> = replaced.map(|([fill, _], _)| fill).collect();
        for fill in fills.into_iter().filter(|fill| !applied.contains(*fill)) {
            self.kernels[fill].erase();
        }
    }
}

/// Where a nest writes along each dimension of its output: the first element, and how many; `None`
/// where that is no box, or one that ends where a length says.
fn boxed(nest: &Nest<'_>) -> Option<Vec<[u64; 2]>> {
    let [output] = &nest.outputs[..] else { return None };
    let mut used = Vec::new();
    let mut along = |(index, &whole): (&Linear, &u64)| {
        let low = u64::try_from(index.constant).ok()?;
        if index.is_constant() {
            return Some([low, 1]);
        }
        let axis = index.as_moved_axis()?;
        let twice = used.contains(&axis) || nest.reduces(axis);
        used.push(axis);
        let Loop { extent, length, .. } = nest.axes[axis];
        let known = length.is_none() || extent == whole;
        (known && !twice).then_some([low, extent])
    };
    output.index.iter().zip(&output.shape).map(&mut along).collect()
}

/// A part of a tensor: along each dimension the first element, the step to the next one, and how
/// many.
struct Region(Vec<[u64; 3]>);

/// The parts of a tensor around a box.
fn around(output: &Access<'_>, boxed: &[[u64; 2]]) -> Vec<Region> {
    let mut regions = Vec::new();
    for (dim, &[low, inside]) in boxed.iter().enumerate() {
        let high = output.shape[dim].saturating_sub(low + inside);
        let sides = match (low, high) {
            (1, 1) => vec![[0, low + inside, 2]],
            _ => vec![[0, 1, low], [low + inside, 1, high]],
        };
        for side in sides.into_iter().filter(|[_, _, count]| *count > 0) {
            let mut region: Vec<_> = output.shape.iter().map(|&whole| [0, 1, whole]).collect();
            region[dim] = side;
            regions.push(Region(region));
        }
    }
    regions
}

impl Region {
    /// What `fill` does everywhere in the output of `write`, only here.
    fn nest<'c>(&self, fill: &Nest<'c>, write: &Nest<'c>) -> Nest<'c> {
        let axes = self.0.len();
        let output = &write.outputs[0];
        let index = |(dim, &[first, step, _]): (usize, &[u64; 3])| {
            Linear::axis(axes, dim).scale(step as i64).offset(first as i64)
        };
        let access = Access {
            tensor: fill.outputs[0].tensor,
            shape: output.shape.clone(),
            index: self.0.iter().enumerate().map(index).collect(),
        };
        // What is not there is not filled.
        let of_dim = |(&[_, _, extent], (index, &whole)): (&[u64; 3], (&Linear, &u64))| {
            let axis = index.as_moved_axis().filter(|_| extent == whole);
            let length = axis.and_then(|axis| write.axes[axis].length);
            Loop { length, ..Loop::parallel(extent) }
        };
        let dims = output.index.iter().zip(&output.shape);
        let axes = self.0.iter().zip(dims).map(of_dim).collect();
        let mut nest = Nest { axes, outputs: vec![access], ..fill.clone() };
        nest.simplify();
        nest
    }
}
