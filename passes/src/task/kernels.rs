//! The facts about each kernel, read once.

use std::collections::HashMap;

use weft_dialects::device::{self, Contract, Machine, Move};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Context, Op, Report, Type, attr, ty};
use weft_dialects::repeat::Repeat;
use weft_dialects::task;
use weft_dialects::tile::{Compute, Kernel, Run};

use super::schedule::operators::CYCLES;
use super::touch::Touches;
use super::{copy, cost};
use crate::cost::memory_cycles;
use crate::length::Length;
use crate::nest::grid::{parallel_axes, task_count, task_grid};
use crate::nest::{Nest, NestError, Start, read_members};
use crate::tile::block::Block;
use crate::tile::local_buffer;
use crate::tile::predict::Tensors;
use crate::tile::propagate::{Chain, Span, Tiles, links, propagate, reach};

/// A kernel as a set of rTasks.
pub(crate) struct Facts {
    /// Number of rTasks; none where an output is empty.
    pub tasks: u64,
    /// How many there are in a run, where callers decide that.
    pub length: Option<Length>,
    /// The regions that they touch.
    pub touches: Touches,
    /// Estimated cycles on one unit.
    pub cycles: u64,
    /// Groups of lanes that one rTask takes.
    pub groups: u64,
    /// For each output, whether what its tensor held before matters.
    pub keeps: Vec<bool>,
}

/// The kernels of a module by name.
pub(crate) struct Kernels<'c> {
    context: &'c Context,
    module: Op<'c>,
    machine: Machine<'c>,
    ops: HashMap<&'c str, Op<'c>>,
    /// In the order of first use.
    facts: Vec<(&'c str, Facts)>,
    known: HashMap<&'c str, usize>,
    /// By the move that does it, elements and their type.
    copies: HashMap<(Option<&'c str>, u64, Type<'c>), &'c str>,
}

impl<'c> Kernels<'c> {
    /// The machine that runs them.
    pub fn machine(&self) -> Machine<'c> {
        self.machine
    }

    pub fn of(context: &'c Context, module: Op<'c>, machine: Machine<'c>) -> Self {
        let body = module.body(0).into_iter().flat_map(|block| block.ops());
        let ops = body.map(|op| (op.symbol(), op)).filter(|(name, _)| !name.is_empty()).collect();
        Self {
            context,
            module,
            machine,
            ops,
            facts: Vec::new(),
            known: HashMap::new(),
            copies: HashMap::new(),
        }
    }

    /// The number of the kernel that `user` names; `None` where it is code that promises nothing.
    pub fn known_by(&mut self, user: Op<'c>, name: &'c str) -> Result<Option<usize>, Failed> {
        let code = self.ops.get(name).and_then(|op| device::Kernel::of(*op));
        match code.is_some_and(|kernel| kernel.contract().is_none()) {
            true => Ok(self.known.get(name).copied()),
            false => self.number(user, name).map(Some),
        }
    }

    /// Returns whether the interpreter can evaluate the kernel when the artifact is written.
    pub fn is_tile(&self, name: &str) -> bool {
        self.ops.get(name).is_some_and(|op| op.is("tile.kernel"))
    }

    /// The number of the kernel that `run` applies.
    pub fn used_by(&mut self, run: &Run<'c>) -> Result<usize, Failed> {
        self.number(run.op, run.kernel)
    }

    /// The numbers of the kernels that `run` may be done by instead.
    pub fn others_of(&mut self, run: &Run<'c>) -> Result<Vec<usize>, Failed> {
        run.others.iter().map(|name| self.number(run.op, name)).collect()
    }

    /// The number of a kernel that `user` names; it is read when it is first named.
    fn number(&mut self, user: Op<'c>, name: &'c str) -> Result<usize, Failed> {
        match self.known.get(name) {
            Some(&number) => Ok(number),
            None => self.read(user, name),
        }
    }

    /// The number of a kernel that copies `count` elements, by a move where one is named; `user` is
    /// whom it serves.
    pub fn copying(
        &mut self,
        user: Op<'c>,
        count: u64,
        elem: Type<'c>,
        way: Option<&Move<'c>>,
    ) -> Result<usize, Failed> {
        let key = (way.map(|way| way.name), count, elem);
        if let Some(name) = self.copies.get(&key) {
            return Ok(self.known[name]);
        }
        let wanted = format!("{}_{count}x{elem}", way.map_or("copy", |way| way.name));
        let name = (0..)
            .map(|number| if number == 0 { wanted.clone() } else { format!("{wanted}_{number}") })
            .find(|name| !self.ops.contains_key(name.as_str()))
            .expect("names do not run out");
        let kernel =
            copy::emit(self.context, self.module, self.machine, &name, (count, elem), way)?;
        self.ops.insert(kernel.symbol(), kernel);
        self.copies.insert(key, kernel.symbol());
        self.read(user, kernel.symbol())
    }

    pub fn name(&self, number: usize) -> &'c str {
        self.facts[number].0
    }

    pub fn facts(&self, number: usize) -> &Facts {
        &self.facts[number].1
    }

    fn read(&mut self, user: Op<'c>, name: &'c str) -> Result<usize, Failed> {
        let Some(&op) = self.ops.get(name) else {
            Report::new(user.location(), format!("the module has no kernel @{name}"))
                .help("a tile.run names a tile.kernel or a device.kernel of its module");
            return Err(Failed);
        };
        let facts = match device::Kernel::of(op) {
            None if Repeat::of(op).is_some() => self.repeated(op)?,
            Some(kernel) => match kernel.contract() {
                Some(contract) => promised(&kernel, &contract),
                None => self.opaque(&Run::of(user).ok_or(Failed)?, &kernel),
            },
            None => self.tiled(op)?,
        };
        let number = self.facts.len();
        self.facts.push((op.symbol(), facts));
        self.known.insert(op.symbol(), number);
        Ok(number)
    }

    fn tiled(&self, op: Op<'c>) -> Result<Facts, Failed> {
        let kernel = Kernel::of(op).ok_or(Failed)?;
        let compute = kernel.computes().pop();
        let Some((compute, first)) =
            compute.as_ref().and_then(|compute| Some((compute, compute.tiles.first()?)))
        else {
            Report::new(op.location(), format!("the kernel @{} has no rTiles", kernel.name))
                .help("run tile-construct-rtiles first");
            return Err(Failed);
        };
        let members = read_members(op).map_err(|error: NestError| {
            Report::new(op.location(), format!("the kernel @{}: {error}", kernel.name));
            Failed
        })?;
        let nests: Vec<_> = members.iter().map(|(_, nest)| nest).collect();
        let Some(&nest) = nests.last() else { return Err(Failed) };
        if first.sizes.len() != nest.axes.len() {
            let (sizes, axes) = (first.sizes.len(), nest.axes.len());
            Report::new(
                compute.op.location(),
                format!("an rTile of {sizes} sizes for {axes} axes"),
            )
            .help("an rTile has one size per axis");
            return Err(Failed);
        }
        if kernel.is_stitched() {
            return Ok(self.stitched(op, &members, &nests));
        }
        let pieces = task_grid(nest, first);
        if nests.len() > 1 {
            return self.joined(op, &members, &nests, &pieces, &first.sizes);
        }
        let touches = Touches::of(nest, &pieces, &first.sizes);
        let keep = |(output, start): (usize, &Start<'_>)| {
            let arg = nest.outputs[output].tensor.index();
            matches!(start, Start::Held) || !touches.fill(arg) || touches.read(arg)
        };
        Ok(Facts {
            tasks: pieces.iter().product(),
            length: task_count(nest, first).filter(|count| count.as_number().is_none()),
            cycles: said(op).unwrap_or_else(|| cost::cycles(self.machine, compute, nest, &touches)),
            groups: Block::of_compute(self.machine, nest, compute)
                .map_or(1, |block| block.groups().iter().product()),
            keeps: nest.starts.iter().enumerate().map(keep).collect(),
            touches,
        })
    }

    /// A kernel of several computes that one rTask does whole, one after the other.
    fn stitched(
        &self,
        op: Op<'c>,
        members: &[(Compute<'c>, Nest<'c>)],
        nests: &[&Nest<'c>],
    ) -> Facts {
        let wait = local_buffer(self.machine).map_or(0.0, |buffer| buffer.latencies()[0]);
        let cycles = members.iter().map(|(compute, nest)| {
            let Some(way) = self.machine.move_named(compute.instruction) else {
                // The instruction that reads a constant loads it itself.
                let known = nest.reads().into_iter().filter(|own| own.argument().def().is_none());
                let known = known.map(|own| {
                    let elements: u64 = own.shape_in_memory().iter().product();
                    memory_cycles(self.machine, elements * ty::byte_size(own.elem()).unwrap_or(1))
                        + wait
                });
                return cost::scheduled(self.machine, compute, nest, Tensors::Local)
                    + known.sum::<f64>();
            };
            cost::by_move(self.machine, &way, nest, 1)
        });
        let cycles: f64 = cycles.sum();
        let whole = |nest: &&Nest<'_>| nest.extents().into_iter().map(Span::whole).collect();
        let last = nests[nests.len() - 1];
        let tiles =
            Tiles { spans: nests.iter().map(whole).collect(), grid: vec![1; last.axes.len()] };
        let pieces = vec![1; parallel_axes(last).len()];
        let touches = Touches::of_members(nests, &pieces, &last.extents(), tiles);
        Facts {
            tasks: 1,
            length: None,
            cycles: cycles.ceil().max(1.0) as u64,
            groups: 1,
            keeps: keeps(op, &touches),
            touches,
        }
    }

    /// A kernel of several computes.
    fn joined(
        &self,
        op: Op<'c>,
        members: &[(Compute<'c>, Nest<'c>)],
        nests: &[&Nest<'c>],
        pieces: &[u64],
        sizes: &[u64],
    ) -> Result<Facts, Failed> {
        let chain = Chain::new(nests.to_vec(), links(nests));
        let tiles = propagate(&chain, sizes).map_err(|refusal| {
            Report::new(op.location(), format!("the kernel @{}: {refusal}", op.symbol()))
                .help("members are counted from 0; hand the tensor over in the device's memory");
            Failed
        })?;
        // Points that are computed, and bytes that are moved, twice count twice.
        let cycles = members.iter().enumerate().map(|(member, (compute, nest))| {
            let points: u64 = tiles.sizes(member).iter().product();
            let again = points as f64 * tiles.count() as f64 / nest.points().max(1) as f64;
            let touched = nest.accesses().into_iter().map(|access| {
                let tile: u64 = reach(access, &tiles.spans[member]).iter().product();
                tile * tiles.count() * ty::byte_size(access.elem()).unwrap_or(1)
            });
            let memory = memory_cycles(self.machine, touched.sum());
            (cost::scheduled(self.machine, compute, nest, Tensors::Local) * again).max(memory)
        });
        // Tiles are loaded before the first member, and stored after the last one.
        let waits = local_buffer(self.machine);
        let waits = waits.map_or(0.0, |buffer| buffer.latencies().iter().sum());
        let cycles = cycles.sum::<f64>() + waits * tiles.count() as f64;
        let touches = Touches::of_members(nests, pieces, sizes, tiles);
        Ok(Facts {
            tasks: pieces.iter().product(),
            length: None,
            cycles: cycles.ceil().max(1.0) as u64,
            groups: 1,
            keeps: keeps(op, &touches),
            touches,
        })
    }

    /// A kernel that is code already: its rTasks may touch everything.
    fn opaque(&self, run: &Run<'c>, kernel: &device::Kernel<'c>) -> Facts {
        let args: Vec<_> = run.inputs.iter().chain(&run.inits).map(|value| value.ty()).collect();
        let bytes =
            args.iter().filter_map(|&ty| ty::byte_size(ty::elem(ty)?)?.checked_mul(ty::count(ty)?));
        Facts {
            tasks: kernel.tasks,
            length: None,
            cycles: memory_cycles(self.machine, bytes.sum()).ceil().max(1.0) as u64,
            groups: kernel.groups.max(1),
            touches: Touches::unknown(kernel.tasks, &args, run.inputs.len()),
            keeps: vec![true; run.inits.len()],
        }
    }
}

/// How often a body is done, for estimates where only a run knows.
const ROUNDS: u64 = 100;

impl Kernels<'_> {
    /// A body, which all units do together: it may touch all that it is given, in each round.
    fn repeated(&self, op: Op<'_>) -> Result<Facts, Failed> {
        let body = task::Program::of(op).ok_or_else(|| {
            Report::new(op.location(), format!("the body @{} is a {}", op.symbol(), op.name()))
                .help("a body is lowered before the program that calls it");
            Failed
        })?;
        let args: Vec<_> =
            body.input_types.iter().map(|ty| ty::payload(self.context, *ty)).collect();
        let outputs = body.output_types.len();
        let cycles = body.ranges().into_iter().filter_map(|range| range.cycles);
        let cycles = cycles.fold(0, u64::saturating_add);
        let rounds = Repeat::of(op).and_then(|own| own.rounds?.as_number());
        let rounds = rounds.map_or(ROUNDS, |rounds| rounds.max(1) as u64);
        Ok(Facts {
            tasks: 1,
            length: None,
            cycles: (cycles / body.units.max(1)).saturating_mul(rounds).clamp(1, CYCLES),
            groups: 1,
            touches: Touches::unknown(1, &args, args.len().saturating_sub(outputs)),
            keeps: vec![true; outputs],
        })
    }
}

/// A kernel that is code already, and says what its rTasks touch.
fn promised(kernel: &device::Kernel<'_>, contract: &Contract) -> Facts {
    let args: Vec<_> = kernel.args().iter().map(|arg| arg.ty()).collect();
    let written = task::written_arguments(kernel.op);
    // Outputs are behind the inputs. Whether a block is written whole, it does not say.
    let inputs = written.iter().position(|written| *written).unwrap_or(args.len());
    Facts {
        tasks: kernel.tasks,
        length: None,
        touches: Touches::promised(contract, &args, inputs),
        cycles: contract.cycles.max(1),
        groups: kernel.groups.max(1),
        keeps: vec![true; args.len() - inputs],
    }
}

/// For each output of a kernel of several computes whether what it held matters.
fn keeps(kernel: Op<'_>, touches: &Touches) -> Vec<bool> {
    let outputs = kernel.body(0).and_then(|body| body.terminator()).map(|end| end.operands().len());
    let (outputs, args) =
        (outputs.unwrap_or(0), kernel.body(0).map_or(0, |body| body.args().len()));
    (args - outputs..args).map(|arg| !touches.fill(arg)).collect()
}

/// The cycles that a kernel says it takes.
fn said(kernel: Op<'_>) -> Option<u64> {
    let cycles = kernel.attr("cycles").and_then(attr::int)?;
    u64::try_from(cycles).ok().map(|cycles| cycles.max(1))
}
