//! From tensors to memory: constants, buffers, and what is done in place.
//!
//! ```text
//! %e = tile.empty                   a buffer
//! %v = tile.view %x                 the buffer of %x
//! %y = tile.run @k(%x) into(%e)     the buffer of %e, if %e is not read later
//! %y = tile.run @k(%w) into(%e)     a constant, where %w is one and %e is empty or one
//! ```
//!
//! A tensor that is overwritten although it is still needed, or that is an
//! input or a constant, is copied first; a kernel that keeps nothing of what it
//! overwrites gets an empty buffer instead. What the model gives is written into
//! the caller's buffer at once; an input, a constant, or a tensor that is given
//! twice is copied there at the end. Runs without readers are dropped.

use std::collections::{BTreeSet, HashMap, HashSet};

use weft_dialects::finds::{self, Find};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Op, Report, Type, Val, ty};
use weft_dialects::repeat::Repeat;
use weft_dialects::tile::{Empty, Graph, Run};
use weft_dialects::{aliases, lengths};

use crate::length::{self, Length};

use super::kernels::Kernels;
use super::uses::{Uses, is_empty, root};

/// A buffer that holds the elements of some tensors.
pub(crate) struct Storage<'c> {
    /// The tensor type under which the buffer is made.
    pub ty: Type<'c>,
    pub bytes: u64,
    pub class: StorageClass<'c>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum StorageClass<'c> {
    /// The caller's; never written.
    Input,
    /// Fixed when the artifact is written; never written by the program.
    Constant,
    /// The caller's, for the output of this number.
    Output(usize),
    /// A part of the arena of the memory of this name.
    Arena(&'c str),
    /// A part of the memory that the units of a cluster share (`cluster_memory/`).
    Cluster { memory: &'c str, cluster: u64, offset: u64 },
}

impl<'c> StorageClass<'c> {
    /// Returns the memory whose arena it is in.
    pub fn memory(self) -> Option<&'c str> {
        match self {
            StorageClass::Arena(memory) => Some(memory),
            StorageClass::Input
            | StorageClass::Constant
            | StorageClass::Output(_)
            | StorageClass::Cluster { .. } => None,
        }
    }
}

/// Some storage under the tensor type that a kernel wants.
#[derive(Clone, Copy)]
pub(crate) struct Arg<'c> {
    pub storage: usize,
    pub ty: Type<'c>,
    /// The element from which the kernel sees it.
    pub at: u64,
    /// How many further on, where callers decide that.
    pub shift: Option<&'static Length>,
}

impl Arg<'_> {
    /// The element from which the kernel sees it, where callers do not decide that.
    pub fn place(&self) -> Option<u64> {
        self.shift.is_none().then_some(self.at)
    }
}

/// A kernel applied to storages: what will be cut into ranges.
pub(crate) struct Job<'c> {
    pub name: &'c str,
    /// The run it comes from.
    pub op: Op<'c>,
    pub kernel: usize,
    /// Kernels that it may be done by instead.
    pub others: Vec<usize>,
    pub args: Vec<Arg<'c>>,
    /// Earlier jobs that find lengths which it asks for.
    pub after: Vec<u32>,
}

/// A length that data decide.
pub(crate) struct Found<'c> {
    pub symbol: &'c str,
    /// The tensor that holds it.
    pub count: Arg<'c>,
    /// The job behind which it is known.
    pub job: usize,
}

/// The source of a constant.
pub(crate) enum Constant<'c> {
    Weight {
        op: Op<'c>,
        storage: usize,
    },
    Literal {
        op: Op<'c>,
        storage: usize,
    },
    /// Zeros, which a tensor without content reads as.
    Zeros {
        storage: usize,
    },
    Expression {
        run: Run<'c>,
        operands: Vec<Arg<'c>>,
        results: Vec<usize>,
    },
}

/// A tile-graph in terms of memory.
pub(crate) struct Lowered<'c> {
    pub storages: Vec<Storage<'c>>,
    /// In an order in which they can be evaluated.
    pub constants: Vec<Constant<'c>>,
    /// The storage of each input.
    pub inputs: Vec<usize>,
    /// The storage of each output.
    pub outputs: Vec<usize>,
    /// In an order in which they can be run.
    pub jobs: Vec<Job<'c>>,
    /// One is known after the other.
    pub found: Vec<Found<'c>>,
}

/// Decides the storage of every tensor of `graph`; `shared` names the memory of copies.
pub(crate) fn lower<'c>(
    graph: &Graph<'c>,
    kernels: &mut Kernels<'c>,
    shared: &'c str,
) -> Result<Lowered<'c>, Failed> {
    let uses = Uses::of(graph, kernels)?;
    let out = Lowered {
        storages: Vec::new(),
        constants: Vec::new(),
        inputs: Vec::new(),
        outputs: Vec::new(),
        jobs: Vec::new(),
        found: Vec::new(),
    };
    let lengths = lengths::of_ports(graph.op);
    let long: Vec<bool> = lengths.iter().map(|dims| dims.iter().any(Option::is_some)).collect();
    let values = HashMap::new();
    let asked = graph.op.parent().map(length::asked_of_data).unwrap_or_default();
    let shorter = HashSet::new();
    let mut lowering = Lowering { uses, out, values, kernels, shared, shorter, asked };
    let aliases = aliases::of(graph.op);
    for (number, arg) in graph.body.args().into_iter().enumerate() {
        let alias = aliases.iter().find(|alias| alias.input == number);
        let class = alias.map_or(StorageClass::Input, |alias| StorageClass::Output(alias.output));
        let storage = lowering.storage(graph.op, arg.ty(), class)?;
        if long.get(number) == Some(&true) {
            lowering.shorter.insert(storage);
        }
        lowering.values.insert(arg, Content::In(storage));
        lowering.out.inputs.push(storage);
    }
    for (position, op) in graph.body.iter().enumerate() {
        lowering.statement(position, op)?;
    }
    lowering.outputs(graph, &long)?;
    Ok(lowering.out)
}

#[derive(Clone, Copy)]
enum Content<'c> {
    /// Nothing: every use gets memory of its own.
    Empty(&'c str),
    In(usize),
}

struct Lowering<'c, 'k> {
    uses: Uses<'c>,
    out: Lowered<'c>,
    /// By the tensor that views show.
    values: HashMap<Val<'c>, Content<'c>>,
    kernels: &'k mut Kernels<'c>,
    shared: &'c str,
    /// Storages of callers that may be shorter than they are laid out.
    shorter: HashSet<usize>,
    /// What kernels ask for of lengths that data decide.
    asked: HashMap<&'c str, BTreeSet<String>>,
}

impl<'c> Lowering<'c, '_> {
    fn storage(
        &mut self,
        user: Op<'c>,
        ty: Type<'c>,
        class: StorageClass<'c>,
    ) -> Result<usize, Failed> {
        let bytes = ty::elem(ty)
            .and_then(ty::byte_size)
            .zip(ty::shape(ty))
            .and_then(|(elem, shape)| shape.into_iter().try_fold(elem, u64::checked_mul))
            .filter(|&bytes| bytes <= i64::MAX as u64);
        let Some(bytes) = bytes else {
            Report::new(user.location(), format!("{ty} cannot lie in memory"))
                .help("tensors of a program have a static shape and elements that are numbers");
            return Err(Failed);
        };
        self.out.storages.push(Storage { ty, bytes, class });
        Ok(self.out.storages.len() - 1)
    }

    fn content(&self, user: Op<'c>, value: Val<'c>) -> Result<Content<'c>, Failed> {
        self.values.get(&root(value)).copied().ok_or_else(|| {
            Report::new(user.location(), "an operand comes from nowhere a tile-graph may read");
            Failed
        })
    }

    fn statement(&mut self, position: usize, op: Op<'c>) -> Result<(), Failed> {
        let needed = op.results().into_iter().any(|result| self.uses.needed.contains(&result));
        match op.name() {
            "tile.view" | "tile.output" => {}
            "graph.weight" | "graph.constant" if needed => {
                let value = op.result(0);
                let storage = self.storage(op, value.ty(), StorageClass::Constant)?;
                self.values.insert(value, Content::In(storage));
                self.out.constants.push(match op.is("graph.weight") {
                    true => Constant::Weight { op, storage },
                    false => Constant::Literal { op, storage },
                });
            }
            "tile.empty" if needed => {
                let memory = Empty::of(op).ok_or(Failed)?.memory;
                self.values.insert(op.result(0), Content::Empty(memory));
            }
            "tile.find" => self.find(op)?,
            "tile.run" if needed => {
                let run = Run::of(op).ok_or(Failed)?;
                match self.uses.constant.contains(&op.result(0)) {
                    true => self.constant(run)?,
                    false => self.run(position, &run)?,
                }
            }
            "graph.weight" | "graph.constant" | "tile.empty" | "tile.run" => {}
            other => {
                Report::new(op.location(), format!("{other} cannot be lowered to a task.program"))
                    .help("a tile-graph holds runs, views, empty tensors, weights and constants");
                return Err(Failed);
            }
        }
        Ok(())
    }

    fn constant(&mut self, run: Run<'c>) -> Result<(), Failed> {
        let mut operands = Vec::new();
        for &input in &run.inputs {
            operands.push(self.read(run.op, input)?);
        }
        // If one result has an initial value, the operands give one for each.
        let fresh = run.inits.iter().all(|&init| is_empty(init));
        let starts: &[_] = if fresh { &[] } else { &run.inits };
        for &init in starts {
            operands.push(self.read(run.op, init)?);
        }
        let mut results = Vec::new();
        for result in run.op.results() {
            let storage = self.storage(run.op, result.ty(), StorageClass::Constant)?;
            self.values.insert(result, Content::In(storage));
            results.push(storage);
        }
        self.out.constants.push(Constant::Expression { run, operands, results });
        Ok(())
    }

    /// Returns the argument for an input of a kernel; a tensor without content reads as zeros.
    fn read(&mut self, user: Op<'c>, value: Val<'c>) -> Result<Arg<'c>, Failed> {
        let storage = match self.content(user, value)? {
            Content::In(storage) => storage,
            Content::Empty(_) => {
                let storage = self.storage(user, value.ty(), StorageClass::Constant)?;
                self.out.constants.push(Constant::Zeros { storage });
                storage
            }
        };
        Ok(Arg { storage, ty: value.ty(), at: 0, shift: None })
    }

    fn run(&mut self, position: usize, run: &Run<'c>) -> Result<(), Failed> {
        let kernel = self.kernels.used_by(run)?;
        let mut args = Vec::new();
        let shifts = lengths::shifts(run.op, run.at.len()).into_iter();
        let shifts: Vec<_> = shifts.map(|shift| shift.map(length::kept)).collect();
        for (number, (&input, &at)) in run.inputs.iter().zip(&run.at).enumerate() {
            args.push(Arg { at, shift: shifts[number], ..self.read(run.op, input)? });
        }
        for (output, &init) in run.inits.iter().enumerate() {
            let keeps = self.kernels.facts(kernel).keeps.get(output).copied().unwrap_or(true);
            let storage = match self.content(run.op, init)? {
                Content::Empty(memory) => {
                    self.storage(run.op, init.ty(), StorageClass::Arena(memory))?
                }
                Content::In(old) if self.dies(position, init, old, &args) => old,
                Content::In(old) => {
                    let memory = match self.out.storages[old].class {
                        StorageClass::Arena(memory) => memory,
                        _ => self.shared,
                    };
                    let new = self.storage(run.op, init.ty(), StorageClass::Arena(memory))?;
                    if keeps {
                        self.copy(run.op, run.name, old, new)?;
                    }
                    new
                }
            };
            let place = run.inputs.len() + output;
            let (at, shift) = (run.at[place], shifts[place]);
            args.push(Arg { storage, ty: init.ty(), at, shift });
            self.values.insert(run.op.result(output), Content::In(storage));
        }
        if self.kernels.facts(kernel).tasks > 0 {
            let others = self.kernels.others_of(run)?;
            let after = self.finders(run);
            self.out.jobs.push(Job { name: run.name, op: run.op, kernel, others, args, after });
        }
        Ok(())
    }

    /// The jobs that find what a run asks for.
    fn finders(&self, run: &Run<'c>) -> Vec<u32> {
        if self.out.found.is_empty() {
            return Vec::new();
        }
        let mut asked = self.asked.get(run.kernel).cloned().unwrap_or_default();
        finds::add_asked(run.op, &mut asked);
        let known = self.out.found.iter().filter(|found| asked.contains(found.symbol));
        let mut jobs: Vec<_> = known.map(|found| found.job as u32).collect();
        jobs.sort_unstable();
        jobs.dedup();
        jobs
    }

    /// Behind the last job so far that writes it, a length is known.
    fn find(&mut self, op: Op<'c>) -> Result<(), Failed> {
        let find = Find::of(op).ok_or(Failed)?;
        let count = self.read(op, find.count)?;
        let writes = |job: &Job<'c>| {
            let inputs = job.args.len() - job.op.results().len();
            job.args[inputs..].iter().any(|arg| arg.storage == count.storage)
        };
        let Some(job) = self.out.jobs.iter().rposition(writes) else {
            let what = format!("no run makes {}, which tile.find reads", find.symbol);
            Report::new(op.location(), what).help(
                "an input or a constant goes through a kernel first, such as that of an Identity",
            );
            return Err(Failed);
        };
        // In a run one is known after the other.
        for other in self.out.found.iter().map(|found| found.job).filter(|other| *other != job) {
            self.out.jobs[job.max(other)].after.push(job.min(other) as u32);
        }
        self.out.found.push(Found { symbol: find.symbol, count, job });
        Ok(())
    }

    /// Returns whether the run at `position` may overwrite `init` where it lies.
    fn dies(&self, position: usize, init: Val<'c>, storage: usize, args: &[Arg<'c>]) -> bool {
        // An output this early is an input in whose memory it lies.
        matches!(self.out.storages[storage].class, StorageClass::Arena(_) | StorageClass::Output(_))
            && self.uses.last.get(&root(init)) == Some(&position)
            && args.iter().all(|arg| arg.storage != storage)
    }

    fn copy(&mut self, op: Op<'c>, name: &'c str, from: usize, to: usize) -> Result<(), Failed> {
        let tensor = self.out.storages[from].ty;
        let (count, elem) = (ty::count(tensor).unwrap_or(0), ty::elem(tensor).ok_or(Failed)?);
        if count == 0 {
            return Ok(());
        }
        if [from, to].iter().any(|storage| self.shorter.contains(storage)) {
            let what = format!("\"{name}\" is a copy of a tensor whose length callers decide");
            Report::new(op.location(), what)
                .help("let a kernel that has the length write it, such as that of an Identity");
            return Err(Failed);
        }
        let kernel = self.kernels.copying(op, count, elem, None)?;
        let flat = ty::tensor(&[count], elem);
        let args = [from, to].map(|storage| Arg { storage, ty: flat, at: 0, shift: None }).to_vec();
        let (others, after) = (Vec::new(), Vec::new());
        self.out.jobs.push(Job { name, op, kernel, others, args, after });
        Ok(())
    }

    /// The memory of an output that nothing lies in yet; of a body, its state.
    fn port(
        &mut self,
        graph: &Graph<'c>,
        ty: Type<'c>,
        class: StorageClass<'c>,
    ) -> Result<usize, Failed> {
        let is_own = |own: &&usize| self.out.storages[**own].class == class;
        let state = self.out.inputs.iter().find(is_own).filter(|_| Repeat::of(graph.op).is_some());
        match state {
            Some(state) => Ok(*state),
            None => self.storage(graph.op, ty, class),
        }
    }

    /// The states of a body that begin the next round as another state's memory is now: that is copied before any
    /// of them is written over.
    fn exchanged(&mut self, graph: &Graph<'c>) -> Result<HashMap<usize, usize>, Failed> {
        let mut copies = HashMap::new();
        for (number, value) in graph.results().into_iter().enumerate() {
            let Content::In(other) = self.content(graph.op, value)? else { continue };
            let class = self.out.storages[other].class;
            let written = matches!(class, StorageClass::Output(own) if own != number);
            if Repeat::of(graph.op).is_some() && written {
                let class = StorageClass::Arena(self.shared);
                let own = self.storage(graph.op, value.ty(), class)?;
                let end = graph.body.terminator().ok_or(Failed)?;
                self.copy(end, graph.outputs[number], other, own)?;
                copies.insert(number, own);
            }
        }
        Ok(copies)
    }

    /// `shorter` says of inputs and outputs whether callers decide a length.
    fn outputs(&mut self, graph: &Graph<'c>, shorter: &[bool]) -> Result<(), Failed> {
        let inputs = graph.body.args().len();
        let exchanged = self.exchanged(graph)?;
        for (number, value) in graph.results().into_iter().enumerate() {
            let class = StorageClass::Output(number);
            let content = match exchanged.get(&number) {
                Some(&copy) => Content::In(copy),
                None => self.content(graph.op, value)?,
            };
            let storage = match content {
                Content::Empty(_) => self.port(graph, value.ty(), class)?,
                Content::In(own)
                    if matches!(self.out.storages[own].class, StorageClass::Arena(_))
                        && Repeat::of(graph.op).is_none() =>
                {
                    self.out.storages[own].class = class;
                    self.out.storages[own].ty = value.ty();
                    own
                }
                Content::In(own) if self.out.storages[own].class == class => own,
                Content::In(other) => {
                    let own = self.port(graph, value.ty(), class)?;
                    if shorter.get(inputs + number) == Some(&true) {
                        self.shorter.insert(own);
                    }
                    let end = graph.body.terminator().ok_or(Failed)?;
                    self.copy(end, graph.outputs[number], other, own)?;
                    own
                }
            };
            self.out.outputs.push(storage);
        }
        Ok(())
    }
}
