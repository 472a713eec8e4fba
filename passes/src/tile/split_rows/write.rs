//! Kernels for rows in parts, and the runs that apply them.

use std::collections::{HashMap, HashSet};

use weft_dialects::device::Machine;
use weft_dialects::ir::{
    Builder, Context, Linear, Module, Op, Type, Val, attr, empty_module, module_op,
};
use weft_dialects::tile::build;

use super::rows::Applied;
use crate::nest::{self, Nest, Start, scalar_body};
use crate::tile::partial;
use crate::tile::peel::fresh;
use crate::tile::split_reductions::apply;
use crate::tile::views::{erase_views, kernel_of, readers, view};

/// Says of a kernel that its folds are parts already.
pub(in crate::tile) const CUT: &str = "cut";

/// Writes kernels and runs.
pub(super) struct Writer<'c> {
    pub context: &'c Context,
    module: Op<'c>,
    /// Holds bodies until they are in kernels.
    scratch: Module<'c>,
    /// The memory that all units share.
    memory: &'c str,
    /// From the text of a kernel to its name.
    made: HashMap<String, String>,
}

impl<'c> Writer<'c> {
    pub fn new(context: &'c Context, module: Op<'c>, machine: Machine<'c>) -> Self {
        let memory = machine.shared().map_or("dram", |memory| memory.name);
        Self { context, module, scratch: empty_module(context), memory, made: HashMap::new() }
    }

    /// The module that holds bodies.
    pub fn scratch(&self) -> Op<'c> {
        module_op(&self.scratch)
    }

    /// The start of an output that begins with a number.
    pub fn start(&self, elem: Type<'c>, number: f64) -> Start<'c> {
        let body = scalar_body(self.context, self.scratch(), &[], elem, |b, _| {
            vec![b.number(elem, number)]
        });
        Start::From { inputs: Vec::new(), body }
    }

    /// Applies a fold in parts. Who shares long folds out among the units leaves it alone: cut
    /// again, its parts would be too short to wait for each other near one.
    pub fn apply_parts(
        &mut self,
        at: Op<'c>,
        of: Op<'c>,
        (nest, index): (Nest<'c>, Vec<Linear>),
    ) -> Val<'c> {
        let made = self.apply(at, of, "parts", &nest, &index);
        let kernel = made.def().map(kernel_of).unwrap_or_default();
        let ops = self.module.body(0).map(|body| body.ops()).unwrap_or_default();
        for kernel in ops.into_iter().filter(|op| op.is("tile.kernel") && op.symbol() == kernel) {
            kernel.set_attr(CUT, attr::unit(self.context));
        }
        made
    }

    /// A fold in parts, and what its axes are now.
    pub fn parts(&self, fold: &Applied<'c>, count: u64) -> Option<(Nest<'c>, Vec<Linear>)> {
        partial::parts(self.context, self.scratch(), &fold.nest, fold.row().0, count)
    }

    /// The fold of the parts of a fold.
    pub fn sum(&self, fold: &Applied<'c>, of_part: Val<'c>, count: u64) -> Option<Nest<'c>> {
        let mut nest = partial::sum(self.context, self.scratch(), &fold.nest, count)?;
        nest.inputs[0].tensor = of_part;
        Some(nest)
    }

    /// Applies a nest on tensors of the graph before the run `at`, named after what was `of`.
    pub fn apply(
        &mut self,
        at: Op<'c>,
        of: Op<'c>,
        what: &str,
        nest: &Nest<'c>,
        index: &[Linear],
    ) -> Val<'c> {
        let kernel = nest::emit_kernel(self.context, self.module, "row", nest, index);
        let args = kernel.body(0).expect("it was just written").args();
        let types: Vec<Type<'c>> = args.iter().map(|arg| arg.ty()).collect();
        let text = format!("{} {what} {}", kernel_of(of), kernel.own_text());
        let name = match self.made.get(&text) {
            Some(name) => {
                kernel.erase();
                name.clone()
            }
            None => {
                let name = fresh(self.module, &format!("{}_{what}", kernel_of(of)));
                kernel.set_attr("sym_name", attr::of_string(self.context, &name));
                self.made.insert(text, name.clone());
                name
            }
        };
        let mut b = Builder::before(self.context, at).with_location(of.location());
        let place = types[types.len() - 1];
        let place = build::empty(&mut b, self.memory, place);
        let read: Vec<Val<'c>> = nest.reads().into_iter().map(|access| access.tensor).collect();
        apply(&mut b, of, &name, &types, &[&read, &[place]])
    }

    /// The same for a nest whose axes are what they were.
    pub fn apply_plain(&mut self, at: Op<'c>, of: Op<'c>, what: &str, nest: &Nest<'c>) -> Val<'c> {
        let axes = nest.axes.len();
        let same: Vec<_> = (0..axes).map(|axis| Linear::axis(axes, axis)).collect();
        self.apply(at, of, what, nest, &same)
    }

    /// Puts a tensor in the place of what a run makes.
    pub fn replace(&self, run: Op<'c>, value: Val<'c>) {
        let mut b = Builder::before(self.context, run).with_location(run.location());
        let value = view(&mut b, value, run.result(0).ty());
        run.result(0).replace_with(value);
        run.erase();
    }

    /// Erases a run whose result nobody reads.
    pub fn erase_idle(&self, run: Op<'c>) {
        if readers(run.result(0)).is_empty() {
            erase_views(run.result(0));
            run.erase();
        }
    }

    /// Erases kernels that nothing applies any more, and the room of what they made.
    pub fn finish(self, kernels: &[Op<'c>]) {
        let mut applied: HashSet<String> = HashSet::new();
        let ops = self.module.body(0).into_iter().flat_map(|block| block.ops());
        for body in ops.filter(|op| op.is("tile.graph")) {
            let Some(block) = body.body(0) else { continue };
            for op in block.ops().into_iter().rev() {
                let idle = op.is("tile.empty") || op.is("tile.view");
                if idle && op.result(0).uses().is_empty() {
                    op.erase();
                } else if op.is("tile.run") {
                    applied.insert(kernel_of(op).to_owned());
                }
            }
        }
        for kernel in kernels.iter().filter(|kernel| !applied.contains(kernel.symbol())) {
            kernel.erase();
        }
    }
}
