//! A tile-graph as tensors and the steps that write and read them, without what is constant.

use std::collections::{BTreeSet, HashMap, HashSet};

use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Block, Linear, Op, Report, Type, Val, attr, ty};
use weft_dialects::tile::{Empty, Graph, Kernel, Run};

use super::super::constants::constants;
use super::super::construct_rtiles::read;
use super::super::views::{readers, root};
use super::spans::Span;
use crate::nest::{Access, Border, Nest, index_axis};

/// A tensor that moves from step to step, all versions of it that are written over each other.
pub(in crate::tile) struct Tensor<'c> {
    /// Its dimensions, as fine as all who see it agree on.
    pub shape: Vec<u64>,
    pub elements: u64,
    pub elem: Type<'c>,
    /// True if its shape is the same for all that touch it.
    pub may_be_cut: bool,
    /// Steps that make it, in order.
    pub writers: Vec<usize>,
    pub readers: Vec<usize>,
    /// The model's input that it is.
    pub source: Option<Val<'c>>,
    /// True if the model gives it.
    pub is_result: bool,
    /// The name of its maker, for people.
    pub name: String,
}

impl Tensor<'_> {
    /// All of it.
    pub fn whole(&self) -> Vec<Span> {
        self.shape.iter().map(|&dim| (0, dim)).collect()
    }

    /// The bytes of as many elements.
    pub fn bytes(&self, elements: u64) -> u64 {
        elements * ty::byte_size(self.elem).unwrap_or(1)
    }
}

/// An argument of a kernel.
#[derive(Clone, Copy)]
pub(in crate::tile) enum Arg<'c> {
    /// Known when the artifact is written, or without content.
    Known(Val<'c>),
    /// A tensor, by number.
    Tensor(usize),
}

/// A run that depends on the model's inputs, or fills what such a run writes into.
pub(in crate::tile) struct Step<'c> {
    pub op: Op<'c>,
    pub kernel: Op<'c>,
    pub nest: Nest<'c>,
    /// The current expressions for the axes of the kernel's text.
    pub now: Vec<Linear>,
    /// By the kernel's arguments.
    pub args: Vec<Arg<'c>>,
    /// True if it is only done as a whole.
    pub rigid: bool,
}

impl<'c> Step<'c> {
    /// Accesses to tensors by points of the nest.
    pub fn accesses(&self) -> Vec<(usize, &Access<'c>)> {
        if self.rigid {
            return Vec::new();
        }
        let of = |access: &&Access<'c>| self.args[access.argument().index()];
        let tensors = self.nest.accesses().into_iter().map(|access| (of(&access), access));
        tensors
            .filter_map(|(arg, access)| match arg {
                Arg::Tensor(tensor) => Some((tensor, access)),
                Arg::Known(_) => None,
            })
            .collect()
    }

    /// Every tensor that it touches in any way.
    pub fn touched(&self) -> HashSet<usize> {
        let tensor = |arg: &Arg<'_>| match arg {
            Arg::Tensor(tensor) => Some(*tensor),
            Arg::Known(_) => None,
        };
        self.args.iter().filter_map(tensor).collect()
    }

    /// Tensors read at addresses that the body computes.
    pub fn captured(&self) -> Vec<usize> {
        let captures = self.nest.captures.iter();
        let of = captures.map(|capture| self.args[capture.tensor.index()]);
        of.filter_map(|arg| match arg {
            Arg::Tensor(tensor) => Some(tensor),
            Arg::Known(_) => None,
        })
        .collect()
    }

    /// The tensors it writes, one per output.
    pub fn written(&self) -> Vec<usize> {
        let outputs = self.op.results().len();
        let of = |arg: &Arg<'_>| match arg {
            Arg::Tensor(tensor) => *tensor,
            Arg::Known(_) => unreachable!("outputs are tensors"),
        };
        self.args[self.args.len() - outputs..].iter().map(of).collect()
    }

    /// The operator's name.
    pub fn name(&self) -> &'c str {
        self.op.attr("name").and_then(attr::string).unwrap_or("")
    }
}

/// Accesses of a step, as numbers alone: every way to cut a graph asks for them.
pub(in crate::tile) struct Touch {
    pub extents: Vec<u64>,
    /// Expressions over the axes, of what is read and of what is written.
    pub accesses: Vec<(usize, Vec<Linear>)>,
    pub outputs: Vec<(usize, Vec<Linear>)>,
    /// Tensors of which all is needed.
    pub whole: Vec<usize>,
    /// Every tensor.
    pub tensors: BTreeSet<usize>,
    /// True if it is only done as a whole.
    pub rigid: bool,
    /// Cost of a point, in multiply-adds.
    pub operations: u64,
}

impl Touch {
    fn of(step: &Step<'_>) -> Self {
        let plain = |(tensor, access): (usize, &Access<'_>)| (tensor, access.index.clone());
        let captured = step.captured().into_iter();
        let rigid = step.rigid.then(|| step.touched()).into_iter().flatten();
        let outputs = step.written().into_iter().zip(&step.nest.outputs);
        Self {
            extents: step.nest.extents(),
            accesses: step.accesses().into_iter().map(plain).collect(),
            outputs: outputs.map(plain).collect(),
            whole: captured.chain(rigid).collect(),
            tensors: step.touched().into_iter().collect(),
            rigid: step.rigid,
            operations: (step.nest.body_ops().len().max(1) as u64).div_ceil(2),
        }
    }
}

/// The steps of a tile-graph in their order.
#[derive(Default)]
pub(in crate::tile) struct Flow<'c> {
    pub tensors: Vec<Tensor<'c>>,
    pub steps: Vec<Step<'c>>,
    /// One for each step, once shapes are settled.
    pub touches: Vec<Touch>,
    /// The tensor of each result of the graph; `None` where that is constant.
    pub results: Vec<Option<usize>>,
}

impl<'c> Flow<'c> {
    /// Notes what steps touch; shapes stay as they are from here on.
    pub fn settle(&mut self) {
        self.touches = self.steps.iter().map(Touch::of).collect();
    }

    /// Reads a graph whose kernels have no tiles yet.
    ///
    /// # Errors
    /// A tensor that is written over although another version of it is read; what was reported.
    pub fn of(module: Op<'c>, graph: &Graph<'c>) -> Result<Self, Unread<'c>> {
        let body = module.body(0).into_iter().flat_map(|block| block.ops());
        let kernels: HashMap<&str, Op<'c>> =
            body.filter(|op| op.is("tile.kernel")).map(|op| (op.symbol(), op)).collect();
        let mut reader =
            Reader { kernels, moving: moving(graph), of: HashMap::new(), flow: Flow::default() };
        for input in graph.body.args() {
            let tensor = reader.tensor(input, String::new(), Some(input))?;
            reader.of.insert(input, tensor);
        }
        for op in graph.body.ops() {
            if let Some(run) = Run::of(op).filter(|_| reader.moving.contains(&op)) {
                reader.step(&run)?;
            }
        }
        for value in graph.results() {
            let tensor = reader.of.get(&root(value)).copied();
            if let Some(tensor) = tensor {
                reader.flow.tensors[tensor].is_result = true;
            }
            reader.flow.results.push(tensor);
        }
        Ok(reader.flow)
    }
}

/// Runs that are done when the program runs: those that do not depend on constants alone, and
/// what fills the tensors that they write into.
fn moving<'c>(graph: &Graph<'c>) -> HashSet<Op<'c>> {
    let constant = constants(graph.op);
    let mut moving = HashSet::new();
    for run in graph.body.ops().into_iter().rev().filter_map(Run::of) {
        let known = run.op.results().iter().all(|result| constant.contains(result));
        if !known || moving.contains(&run.op) {
            moving.insert(run.op);
            let before = run.inits.iter().filter_map(|init| root(*init).def());
            moving.extend(before.filter(|op| op.is("tile.run")));
        }
    }
    moving
}

/// The reason that a graph is no flow.
pub(in crate::tile) enum Unread<'c> {
    /// A run writes over something that is to stay.
    Overwrites(Op<'c>, &'static str),
    /// A run's kernel is code already: nobody knows it on a part of its tensors.
    Code(Op<'c>),
    /// It was reported.
    Reported,
}

impl From<Failed> for Unread<'_> {
    fn from(Failed: Failed) -> Self {
        Self::Reported
    }
}

impl std::fmt::Display for Unread<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let name = |op: &Op<'_>| op.attr("name").and_then(attr::string).unwrap_or("").to_owned();
        match self {
            Self::Overwrites(op, what) => {
                write!(f, "\"{}\" writes over {what}", name(op))
            }
            Self::Code(op) => {
                write!(f, "\"{}\" is code already, and cannot be done in parts", name(op))
            }
            Self::Reported => f.write_str("it was reported"),
        }
    }
}

impl Unread<'_> {
    /// Reports it where that was not done.
    pub fn report(self) -> Failed {
        let what = self.to_string();
        match self {
            Self::Overwrites(op, _) => {
                Report::new(op.location(), what).help(
                    "a model is streamed through a device's memory where every tensor is finished \
                     before it is read; write into a tile.empty",
                );
            }
            Self::Code(op) => {
                Report::new(op.location(), what)
                    .help("streaming a model through a device's memory cuts tile kernels only");
            }
            Self::Reported => {}
        }
        Failed
    }
}

struct Reader<'c> {
    kernels: HashMap<&'c str, Op<'c>>,
    moving: HashSet<Op<'c>>,
    /// By the value that views show.
    of: HashMap<Val<'c>, usize>,
    flow: Flow<'c>,
}

impl<'c> Reader<'c> {
    fn tensor(
        &mut self,
        value: Val<'c>,
        name: String,
        source: Option<Val<'c>>,
    ) -> Result<usize, Failed> {
        let (elements, elem) = ty::count(value.ty()).zip(ty::elem(value.ty())).ok_or(Failed)?;
        self.flow.tensors.push(Tensor {
            shape: vec![elements],
            elements,
            elem,
            may_be_cut: elements > 1,
            writers: Vec::new(),
            readers: Vec::new(),
            source,
            is_result: false,
            name,
        });
        Ok(self.flow.tensors.len() - 1)
    }

    fn step(&mut self, run: &Run<'c>) -> Result<(), Unread<'c>> {
        let number = self.flow.steps.len();
        let kernel = *self.kernels.get(run.kernel).ok_or(Unread::Code(run.op))?;
        let mut args = Vec::new();
        for &input in &run.inputs {
            args.push(match self.of.get(&root(input)) {
                Some(&tensor) => {
                    self.flow.tensors[tensor].readers.push(number);
                    Arg::Tensor(tensor)
                }
                None => Arg::Known(input),
            });
        }
        for (output, &init) in run.inits.iter().enumerate() {
            let fresh = root(init).def().and_then(Empty::of).is_some();
            let tensor = match self.of.get(&root(init)) {
                Some(&tensor) => self.same(run, init, tensor)?,
                None if fresh => self.tensor(init, run.name.to_owned(), None)?,
                None => return Err(Unread::Overwrites(run.op, "a constant")),
            };
            self.flow.tensors[tensor].writers.push(number);
            self.of.insert(run.op.result(output), tensor);
            args.push(Arg::Tensor(tensor));
        }
        let nest = read(kernel)?;
        let axes = nest.axes.len();
        let tiled = Kernel::of(kernel).is_none_or(|kernel| !kernel.computes().is_empty());
        let rigid = tiled || nest.accesses().iter().any(|access| Border::of(access).is_some());
        let asks = |body: &Block<'c>| body.ops().into_iter().any(|op| index_axis(op).is_some());
        let elsewhere = nest.bodies().iter().any(|body| *body != nest.body && asks(body));
        self.flow.steps.push(Step {
            op: run.op,
            kernel,
            nest,
            now: (0..axes).map(|axis| Linear::axis(axes, axis)).collect(),
            args,
            rigid: rigid || elsewhere,
        });
        Ok(())
    }

    /// The tensor that a run goes on writing.
    fn same(&self, run: &Run<'c>, init: Val<'c>, tensor: usize) -> Result<usize, Unread<'c>> {
        let known = &self.flow.tensors[tensor];
        if known.source.is_some() {
            return Err(Unread::Overwrites(run.op, "an input of the model"));
        }
        let others = readers(root(init)).into_iter().filter(|(op, _)| *op != run.op).count();
        if others > 0 || !known.readers.is_empty() {
            return Err(Unread::Overwrites(run.op, "what others read"));
        }
        Ok(tensor)
    }
}
