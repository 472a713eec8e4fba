//! `tile-lay-out`: tensors between kernels lie in the order in which lanes read them.
//!
//! ```text
//! h = conv(x, w); y = conv(h, v)       h: 64 channels of 56 x 56, lanes of 16
//!   ->  h[co, y, x, ci], c = 16 co + ci: sixteen channels of a pixel are neighbours
//! ```
//!
//! A sum over channels reads one pixel of each; in the order of the model those lie a plane apart.
//! In panels they are one line, lanes run along channels whatever the width of the image, and
//! steps between pixels cost nothing. Which tensors lie so is said by their readers: a sum along
//! something that is strided wants it in panels, and what is read beside or copied to such a
//! tensor follows. All tensors that kernels connect are laid out together, or none of them,
//! whichever the policy finds cheaper (`policy.rs`). Inputs and outputs of the graph, and what is
//! read at computed addresses, stay as they are.

mod graph;
mod panels;
mod votes;

use std::collections::HashMap;

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Builder, Context, Module, Op, empty_module, module_op, remark};

use super::block;
use super::chooser::Chooser;
use super::construct_rtiles::read;
use super::far::Far;
use super::layout::Layout;
use super::pack_depth;
use super::pack_weights::{constant_operands, kernels, known_inputs};
use super::peel::fresh;
use super::private_cache;
use super::views::applied;
use super::way::way;
use crate::cost::worth;
use crate::length;
use crate::nest::{self, Nest};
use crate::remarks::chosen;
use graph::{Graph, apply};
use panels::{Panels, laid};

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-lay-out",
    description: "Lay tensors between kernels out in the order in which lanes read them",
    options: &[
        PassOption {
            name: "tensors",
            description: "which lie in panels: cheaper, all that may, none",
            fallback: "cheaper",
        },
        PassOption {
            name: "remarks",
            description: "say what was laid out, what both ways cost, and what cannot be",
            fallback: "false",
        },
    ],
    statistics: &[("tensors", "tensors laid out in panels")],
    run,
};

/// Which tensors lie in panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Which {
    Cheaper,
    All,
    None,
}

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let machine = run.machine()?;
    let words = [("cheaper", Which::Cheaper), ("all", Which::All), ("none", Which::None)];
    let (which, remarks) = (run.word("tensors", &words)?, run.flag("remarks")?);
    let Some(width) = Width::of(machine).filter(|_| which != Which::None) else {
        return Ok(());
    };
    let ops = run.module.body(0).map(|block| block.ops()).unwrap_or_default();
    let mut pass = LayOut {
        context: run.context,
        chooser: Chooser::of(run, machine),
        width,
        module: run.module,
        kernels: HashMap::new(),
        cycles: HashMap::new(),
        plane_bytes: private_cache(machine)
            .and_then(|cache| machine.memory(cache.name))
            .map_or(u64::MAX, |cache| cache.capacity_bytes()),
        scratch: empty_module(run.context),
    };
    let constants = constant_operands(run.module);
    let shifted = length::shifted_kernels(run.module);
    let plain = kernels(run.module).into_iter();
    for kernel in plain.filter(|kernel| !shifted.contains(kernel.symbol())) {
        let nest = read(kernel)?;
        let known = known_inputs(&nest, constants.get(kernel.symbol()));
        let layouts = known.into_iter().map(Layout::of).collect();
        pass.kernels.insert(kernel.symbol().to_owned(), Kernel { op: kernel, nest, layouts });
    }
    for op in ops.into_iter().filter(|op| op.is("tile.graph")) {
        let graph = Graph::of(op, &pass.kernels);
        let count = pass.graph(&graph, which, remarks)?;
        run.count("tensors", count);
    }
    pass.clean();
    Ok(())
}

/// Says how the tensors of a part lie, at the kernels that touch them.
fn say(graph: &Graph<'_>, part: &[usize], (plain, panels): (f64, f64), pays: bool) {
    let mut names: Vec<String> = Vec::new();
    for run in graph.runs.iter().filter(|run| run.touches(part)) {
        let name = format!("@{}", run.kernel);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (there, here) = (("in panels", panels), ("in the model's order", plain));
    let (won, lost) = if pays { (there, here) } else { (here, there) };
    let told = chosen(won.0, won.1, Some(lost));
    let why =
        if pays { String::new() } else { format!(" [gain: above {:.0}]", worth::most(plain)) };
    let text = format!("{} tensors of {} lie {told}{why}", part.len(), names.join(", "));
    remark(graph.op, &text);
}

/// Number of elements that are neighbours in a panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Width {
    /// As many as a register has lanes: what a register reads fills lines of a cache.
    Lanes,
    /// All of a dimension: registers come from banks, which serve neighbours at once, and a move
    /// brings any box; or groups of lanes bring tiles, whose rows are neighbours in the tensor, too.
    All,
}

impl Width {
    /// `Lanes` if one thread's registers are filled from a cache, `All` if from a scratchpad with
    /// banks or from a memory that groups of lanes share.
    fn of(machine: Machine<'_>) -> Option<Self> {
        if private_cache(machine).is_some() {
            return Some(Self::Lanes);
        }
        let lanes = machine.lanes_units().into_iter().next()?.memory();
        if machine.memory(lanes)?.lanes().is_some() {
            return block::Ways::of(machine, lanes).map(|_| Self::All);
        }
        let banks = way(machine, lanes)?.stage?.memory.banks();
        banks.is_some().then_some(Self::All)
    }
}

/// A kernel without tiles.
struct Kernel<'c> {
    op: Op<'c>,
    nest: Nest<'c>,
    /// For each input, the changes of layout that are still possible.
    layouts: Vec<Layout>,
}

/// Per access of a kernel, how its tensor lies.
type Lies = Vec<Option<Panels>>;

struct LayOut<'c> {
    context: &'c Context,
    chooser: Chooser<'c>,
    width: Width,
    module: Op<'c>,
    kernels: HashMap<String, Kernel<'c>>,
    /// Predicted cycles of kernels on tensors that lie so.
    cycles: HashMap<(String, Lies), Option<f64>>,
    /// Bytes that a plane with a border may take of the cache in which it is laid out.
    plane_bytes: u64,
    /// Holds padded tensors until kernels are written.
    scratch: Module<'c>,
}

impl<'c> LayOut<'c> {
    /// Lays the tensors of one graph out; says how many.
    fn graph(&mut self, graph: &Graph<'c>, which: Which, remarks: bool) -> Result<u64, Failed> {
        let mut lies = votes::wanted(graph, &self.kernels, self.chooser.machine, self.width);
        self.keep_possible(graph, &mut lies, remarks);
        if which == Which::Cheaper {
            for part in graph.connected(&lies) {
                let (plain, panels) = self.weigh(graph, &part, &lies);
                let pays = worth::is_worth(panels, plain);
                if remarks {
                    say(graph, &part, (plain, panels), pays);
                }
                if !pays {
                    part.iter().for_each(|&tensor| lies[tensor] = None);
                }
            }
        }
        self.write(graph, &lies)?;
        Ok(lies.iter().flatten().count() as u64)
    }

    /// Drops tensors that some kernel cannot read or write in panels.
    fn keep_possible(&self, graph: &Graph<'c>, lies: &mut [Option<Panels>], remarks: bool) {
        let mut scratch = self.scratch();
        // A dropped layout may make another kernel's layout impossible, never possible again.
        while let Some((run, access, why)) = graph.runs.iter().find_map(|run| {
            let nest = &self.kernels[&run.kernel].nest;
            let refused = laid(&mut scratch, nest, &run.lies(lies), self.plane_bytes).err()?;
            Some((run, refused.0, refused.1))
        }) {
            if remarks {
                let name = &run.kernel;
                remark(run.op, &format!("@{name} keeps a tensor in the model's order: {why}"));
            }
            lies[run.tensors[access].expect("what is refused is laid out")] = None;
        }
    }

    /// Predicted cycles of all kernels that touch these tensors: as they are, and in panels.
    fn weigh(&mut self, graph: &Graph<'c>, part: &[usize], lies: &[Option<Panels>]) -> (f64, f64) {
        let (mut plain, mut panels) = (0.0, 0.0);
        for run in graph.runs.iter().filter(|run| run.touches(part)) {
            let lies = run.lies(lies);
            let as_is = vec![None; lies.len()];
            let both = (self.predict(&run.kernel, as_is), self.predict(&run.kernel, lies));
            if let (Some(as_is), Some(laid)) = both {
                plain += as_is;
                panels += laid;
            }
        }
        (plain, panels)
    }

    fn predict(&mut self, kernel: &str, lies: Lies) -> Option<f64> {
        let key = (kernel.to_owned(), lies);
        if let Some(&known) = self.cycles.get(&key) {
            return known;
        }
        let Kernel { nest, layouts, .. } = &self.kernels[kernel];
        let turned = laid(&mut self.scratch(), nest, &key.1, self.plane_bytes).ok()?;
        let nest = turned.as_ref().unwrap_or(nest);
        let far = Far::of(self.chooser.machine);
        let cycles = pack_depth::cycles(&self.chooser, nest, layouts);
        let cycles = cycles.map(|cycles| far.kernel(nest, cycles));
        self.cycles.insert(key, cycles);
        cycles
    }

    /// Writes kernels on panels, and applies them.
    fn write(&mut self, graph: &Graph<'c>, lies: &[Option<Panels>]) -> Result<(), Failed> {
        let mut written: HashMap<(String, Lies), Option<Op<'c>>> = HashMap::new();
        let mut scratch = self.scratch();
        for run in &graph.runs {
            let (kernel, lies) = (&self.kernels[&run.kernel], run.lies(lies));
            if lies.iter().all(Option::is_none) {
                continue;
            }
            let key = (run.kernel.clone(), lies);
            let new = match written.get(&key) {
                Some(new) => *new,
                None => {
                    let turned = laid(&mut scratch, &kernel.nest, &key.1, self.plane_bytes)
                        .map_err(|_| Failed)?;
                    let name = fresh(self.module, &format!("{}_panels", run.kernel));
                    let emit =
                        |nest| nest::emit_kernel(self.context, self.module, &name, nest, &[]);
                    let new = turned.as_ref().map(emit);
                    written.insert(key, new);
                    new
                }
            };
            if let Some(new) = new {
                apply(self.context, run, &kernel.nest, new);
            }
        }
        Ok(())
    }

    fn scratch(&self) -> Builder<'c> {
        let block = module_op(&self.scratch).body(0).expect("a module has a block");
        Builder::at_end(self.context, block)
    }

    /// Erases kernels that nobody applies any more.
    fn clean(self) {
        let ops = self.module.body(0).map(|block| block.ops()).unwrap_or_default();
        let graphs: Vec<_> = ops.into_iter().filter(|op| op.is("tile.graph")).collect();
        let applied = applied(&graphs);
        // Padded tensors read arguments of kernels.
        drop(self.scratch);
        let mut kernels: Vec<_> = self.kernels.values().map(|kernel| kernel.op).collect();
        kernels.retain(|kernel| !applied.contains(kernel.symbol()));
        for kernel in kernels {
            kernel.erase();
        }
    }
}
