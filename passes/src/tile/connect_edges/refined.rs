//! Members in axes that show each other what they hand over.
//!
//! ```text
//! square reads and writes [c * p]; mean reads [c, p]       a tile of columns is no run of what is squared
//!   ->  both over c and p
//! ```
//!
//! A kernel's axes were fused where its own tensors allow it, and its neighbours may see these in
//! other shapes. Here each tensor that is handed over gets the one shape that all of its kernels agree on
//! (`stream_host/refine.rs`), and they get the axes of it; a group has these where it takes less with them,
//! or has no tile without.

use weft_dialects::ir::{Builder, Context, Linear, Op, Val};
use weft_dialects::tile::Connect;
use weft_dialects::tile::build;

use crate::nest::{Access, Border, Nest, can_be_emitted, index_axis};
use crate::tile::groups::Group;
use crate::tile::stream_host::flow::{Arg, Flow, Step, Tensor};
use crate::tile::stream_host::refine::refine;
use crate::tile::views::{apply_instead, kernel_of, root, view};

/// A member in finer axes.
#[derive(Clone)]
pub(in crate::tile) struct Refined<'c> {
    pub nest: Nest<'c>,
    /// The axes of its kernel's text, as expressions of these.
    pub now: Vec<Linear>,
}

/// The members of a group in axes that agree on what they hand over; `None` where they do so already.
pub(super) fn refined<'c>(
    group: &Group<'c>,
    nests: &[&Nest<'c>],
    kernel: &dyn Fn(&str) -> Option<Op<'c>>,
) -> Option<Vec<Refined<'c>>> {
    let mut flow = Flow::default();
    let handed = group.runs.iter().zip(nests).enumerate();
    flow.tensors.extend(handed.map(|(member, (_, nest))| tensor(&nest.outputs[0], vec![member])));
    for (member, (&op, &nest)) in group.runs.iter().zip(nests).enumerate() {
        let operands = op.operands();
        let inits = operands.len() - op.results().len();
        let accesses = nest.accesses();
        let mut args = Vec::new();
        for (number, &operand) in operands.iter().enumerate() {
            let access = accesses.iter().find(|access| access.argument().index() == number);
            args.push(match (group.maker(operand), access) {
                _ if number >= inits => Arg::Tensor(member),
                (Some(maker), _) => Arg::Tensor(maker),
                // What comes from outside is a box to each, too, if it can.
                (None, Some(access)) => {
                    flow.tensors.push(tensor(access, Vec::new()));
                    Arg::Tensor(flow.tensors.len() - 1)
                }
                (None, None) => Arg::Known(operand),
            });
        }
        let axes = nest.axes.len();
        let asks = nest.bodies().iter().any(|body| {
            *body != nest.body && body.ops().into_iter().any(|op| index_axis(op).is_some())
        });
        let bordered = accesses.iter().any(|access| Border::of(access).is_some());
        flow.steps.push(Step {
            op,
            kernel: kernel(kernel_of(op))?,
            nest: nest.clone(),
            now: (0..axes).map(|axis| Linear::axis(axes, axis)).collect(),
            args,
            rigid: asks || bordered,
        });
    }
    refine(&mut flow);
    let changed =
        flow.steps.iter().zip(nests).any(|(step, nest)| step.nest.axes.len() != nest.axes.len());
    // Axes of a tensor without a shape that all agree on are in its only dimension together.
    let emitted = flow.steps.iter().all(|step| can_be_emitted(&step.nest));
    let all = flow.steps.into_iter().map(|Step { nest, now, .. }| Refined { nest, now });
    (changed && emitted).then(|| all.collect())
}

/// A tensor as an access sees it, in one dimension until others are known.
fn tensor<'c>(access: &Access<'c>, writers: Vec<usize>) -> Tensor<'c> {
    let elements = access.shape.iter().product();
    Tensor {
        shape: vec![elements],
        elements,
        elem: access.elem(),
        may_be_cut: elements > 1,
        writers,
        readers: Vec::new(),
        source: None,
        is_result: false,
        name: String::new(),
    }
}

impl<'c> Refined<'c> {
    /// Of what a tile in these axes is a multiple, where it is one of `steps` in those of the text.
    pub fn steps(&self, steps: &[u64]) -> Vec<u64> {
        let mut own = vec![1; self.nest.axes.len()];
        for (index, &step) in self.now.iter().zip(steps) {
            for (axis, &apart) in index.coefficients.iter().enumerate() {
                if let Some(apart) = u64::try_from(apart).ok().filter(|apart| *apart > 0) {
                    own[axis] = step.div_ceil(apart).clamp(1, self.nest.axes[axis].extent.max(1));
                }
            }
        }
        own
    }

    /// Applies `kernel`, whose arguments are the accesses of the nest, instead of the one that a run
    /// applies; edges are handed over in the same memories.
    pub fn apply(&self, context: &'c Context, run: Op<'c>, kernel: Op<'c>) {
        let types = kernel.body(0).expect("it was just written").args();
        let mut b = Builder::before(context, run).with_location(run.location());
        let mut edges: Vec<Op<'c>> = Vec::new();
        let mut seen: Vec<Val<'c>> = Vec::new();
        let mut made: Vec<(Val<'c>, Val<'c>)> = Vec::new();
        for (access, arg) in self.nest.accesses().into_iter().zip(types) {
            let operand = root(run.operand(access.argument().index()));
            let known = made.iter().find(|(of, made)| *of == operand && made.ty() == arg.ty());
            let value = match (known, operand.def().and_then(Connect::of)) {
                (Some((_, made)), _) => *made,
                (None, Some(edge)) => {
                    if !edges.contains(&edge.op) {
                        edges.push(edge.op);
                    }
                    let source = view(&mut b, root(edge.source), arg.ty());
                    build::connect(&mut b, source, edge.memory).result(0)
                }
                (None, None) => view(&mut b, operand, arg.ty()),
            };
            made.push((operand, value));
            seen.push(value);
        }
        apply_instead(&mut b, run, kernel, &seen);
        for edge in edges {
            if edge.result(0).uses().is_empty() {
                edge.erase();
            }
        }
    }
}
