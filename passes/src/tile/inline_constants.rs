//! `tile-inline-constants`: a weight that is made of narrower numbers is made where it is multiplied.
//!
//! ```text
//! W[k, n] = f32(q[k, n]) * s[k / 32, n]      once, when the artifact is written: four bytes each
//! C[m, n] += A[m, k] * W[k, n]
//!   ->  C[m, n] += A[m, b * 32 + i] * (f32(q[b, i, n]) * s[b, n])      one byte each, in every run
//! ```
//!
//! Where a product has few rows, it takes as long as its weights take to come. A kernel that makes a
//! constant element by element becomes part of the reduction that reads it where that takes fewer cycles
//! by the machine's facts: those of the tiles that would be chosen, and those in which all constants that
//! are read come from the memory that holds them all, for between two runs everything else is read. What is
//! multiplied and added in one step by an instruction stays so, and the elements are the same: no result
//! changes but by the order of adding. Where one element holds several numbers, as a byte does two of four
//! bits, all of them are taken out when it is read (`nest/unroll.rs`).

use std::collections::{HashMap, HashSet};

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{
    Block, Context, Linear, Mapping, Op, Type, Val, empty_module, module_op, remark, ty,
};

use super::chooser::Chooser;
use super::constants::constants;
use super::construct_rtiles::read;
use super::element_order::{cut, ends};
use super::far::bytes;
use super::fuse_elementwise::is_elementwise;
use super::isa::the_generic;
use super::joint::{Joint, Kernels};
use super::layout::Layout;
use super::views::{applied, erase_views, graphs_and_kernels, kernel_of, readers, root};
use crate::cost::home::{Beside, Homes};
use crate::nest::{Access, Nest, copy_body, index_axis, scalar_body, unrolled};

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-inline-constants",
    description: "Make weights of narrower numbers where they are multiplied",
    options: &[
        PassOption {
            name: "inline",
            description: "which constants are made where they are read: cheaper, those that come \
                          faster so; always, all that are narrower so; none",
            fallback: "cheaper",
        },
        PassOption {
            name: "remarks",
            description: "say which constants are made where they are read",
            fallback: "false",
        },
    ],
    statistics: &[("inlined", "constants that are made where they are read")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let words = [("cheaper", Some(false)), ("always", Some(true)), ("none", None)];
    let (inline, remarks) = (run.word("inline", &words)?, run.flag("remarks")?);
    let Some((always, machine)) = inline.zip(Machine::of(run.module)) else { return Ok(()) };
    let (graphs, kernels) = graphs_and_kernels(run.module).ok_or(Failed)?;
    let mut inline = Inline {
        context: run.context,
        machine,
        chooser: (!always).then(|| Chooser::of(run, machine)),
        kernels: Kernels::of(run.context, run.module, &kernels),
        decided: HashMap::new(),
    };
    let before = applied(&graphs);
    for graph in &graphs {
        for user in inline.graph(*graph)? {
            run.count("inlined", 1);
            if remarks {
                remark(user, &format!("@{} makes a constant that it reads", kernel_of(user)));
            }
        }
    }
    inline.kernels.erase_unused(&before, &applied(&graphs));
    Ok(())
}

/// Numbers of one bit in a byte.
const MOST_INSIDE: u64 = 8;

struct Inline<'c> {
    context: &'c Context,
    machine: Machine<'c>,
    /// Decides whether it is faster; `None` where that does not matter.
    chooser: Option<Chooser<'c>>,
    kernels: Kernels<'c>,
    /// From a reader, the kernel that makes what it reads, and the input that it is, to the two as one,
    /// where that is faster.
    decided: HashMap<(Op<'c>, Op<'c>, usize), Option<Joint<'c>>>,
}

impl<'c> Inline<'c> {
    /// The runs of a graph that make a constant now.
    fn graph(&mut self, graph: Op<'c>) -> Result<Vec<Op<'c>>, Failed> {
        let body = graph.body(0).ok_or(Failed)?;
        let constant = constants(graph);
        let runs: Vec<_> = body.ops().into_iter().filter(|op| op.is("tile.run")).collect();
        let makes_known = |run: &Op<'c>| run.results().iter().all(|own| constant.contains(own));
        // What every run of the model reads anew.
        let read: HashSet<Val<'c>> = runs
            .iter()
            .filter(|run| !makes_known(run))
            .flat_map(|run| run.operands().into_iter().map(root))
            .filter(|value| constant.contains(value))
            .collect();
        let all = read.iter().map(|value| size(value.ty())).sum();
        let mut changed = Vec::new();
        for run in runs.iter().filter(|run| !makes_known(run)) {
            let mut user = *run;
            while let Some(joined) = self.with_a_maker(user, &constant, all)? {
                user = joined;
            }
            if user != *run {
                changed.push(user);
            }
        }
        for op in body.ops().into_iter().rev() {
            let idle = op.is("tile.empty") || op.is("tile.view") || is_unread(op, &constant);
            if idle && op.results().iter().all(|result| result.uses().is_empty()) {
                op.erase();
            }
        }
        Ok(changed)
    }

    /// Lets a run make one of the constants that it reads.
    fn with_a_maker(
        &mut self,
        user: Op<'c>,
        constant: &HashSet<Val<'c>>,
        all: u64,
    ) -> Result<Option<Op<'c>>, Failed> {
        // A body is no kernel.
        let Some(reader) = self.kernels.named(kernel_of(user)) else { return Ok(None) };
        let Some(nest) = nest_of(reader)?.filter(Nest::has_reductions) else { return Ok(None) };
        for input in 0..nest.inputs.len() {
            let tensor = root(user.operand(nest.inputs[input].argument().index()));
            let Some(run) = tensor.def().filter(|op| op.is("tile.run")) else { continue };
            // One that this run reads once, and that is known: all that its maker reads is.
            let once = readers(tensor).iter().filter(|(op, _)| *op == user).count() == 1;
            if !once || run.results().len() != 1 || !constant.contains(&tensor) {
                continue;
            }
            let maker = self.kernels.applied_by(run);
            let key = (reader, maker, input);
            if !self.decided.contains_key(&key) {
                // What the maker reads is known, and so may be more of what the reader does.
                let known = |access: &Access<'c>| {
                    let argument = access.argument();
                    let own = argument.owner_block() == reader.body(0);
                    !own || constant.contains(&user.operand(argument.index()))
                };
                let joint = self.joint(&nest, (reader, maker), input, (&known, all))?;
                self.decided.insert(key, joint);
            }
            let Some(joint) = &self.decided[&key] else { continue };
            let joined = self.kernels.apply(user, run, joint);
            if readers(tensor).is_empty() {
                erase_views(tensor);
                run.erase();
            }
            return Ok(Some(joined));
        }
        Ok(None)
    }

    /// Reader and maker as one kernel, where that takes fewer cycles.
    fn joint(
        &mut self,
        nest: &Nest<'c>,
        (reader, maker): (Op<'c>, Op<'c>),
        input: usize,
        (known, all): (&dyn Fn(&Access<'c>) -> bool, u64),
    ) -> Result<Option<Joint<'c>>, Failed> {
        let Some(made) = nest_of(maker)?.filter(is_elementwise) else { return Ok(None) };
        let bodies = nest.bodies().into_iter().chain([made.body]);
        let asks = { bodies }.flat_map(|body| body.ops()).any(|op| index_axis(op).is_some());
        let narrower = made.inputs.iter().map(bytes).sum::<u64>() < bytes(&made.outputs[0]);
        if asks || !narrower {
            return Ok(None);
        }
        let scratch = empty_module(self.context);
        let Some(joined) = self.inlined(module_op(&scratch), nest, &made, input) else {
            return Ok(None);
        };
        let faster = self.chooser.as_ref().is_none_or(|chooser| {
            let [apart, together] =
                [nest, &joined].map(|nest| self.cycles(chooser, nest, known, all));
            together.is_finite() && together < apart
        });
        let names = [maker, reader].map(|kernel| kernel.symbol());
        Ok(faster.then(|| self.kernels.joint(&names, reader, &joined)))
    }

    /// Cycles of a nest some of whose inputs are known, and come from the memory that holds `all` constants.
    fn cycles(
        &self,
        chooser: &Chooser<'c>,
        nest: &Nest<'c>,
        known: &dyn Fn(&Access<'c>) -> bool,
        all: u64,
    ) -> f64 {
        let mut simple = nest.clone();
        simple.simplify();
        let layouts: Vec<_> = nest.inputs.iter().map(|own| Layout::of(known(own))).collect();
        let cycles = chooser.cycles(&simple, &layouts).unwrap_or(f64::INFINITY);
        let units = self.machine.units().first().map_or(1, |unit| unit.count()).max(1);
        let bytes = nest.inputs.iter().filter(|own| known(own)).map(bytes).sum();
        let come = Homes::of(self.machine).cycles(bytes, all, Beside::Stream);
        (cycles / units as f64).max(come)
    }

    /// The nest of a reader that makes its `input` itself; `None` where elements are visited in
    /// another way.
    fn inlined(
        &self,
        scratch: Op<'c>,
        nest: &Nest<'c>,
        made: &Nest<'c>,
        input: usize,
    ) -> Option<Nest<'c>> {
        let target = made.outputs[0].clone();
        let mut ends = [ends(made, &target)?, ends(nest, &nest.inputs[input])?].concat();
        ends.sort_unstable();
        ends.dedup();
        let (made, order) = cut(made, &ends, |nest| &nest.outputs[0])?;
        let (nest, own) = cut(nest, &ends, |nest| &nest.inputs[input])?;
        // The axes of the maker as the reader's; those of one point do not move.
        let axes = nest.axes.len();
        let through: Vec<Linear> = (0..made.axes.len())
            .map(|axis| match order.iter().position(|at| *at == axis) {
                Some(at) => Linear::axis(axes, own[at]),
                None => Linear::constant(axes, 0),
            })
            .collect();
        let seen = |access: &Access<'c>| {
            let index = access.index.iter().map(|index| index.in_terms_of(axes, &through));
            Access { index: index.collect(), ..access.clone() }
        };
        let mut inputs = nest.inputs.clone();
        inputs.splice(input..=input, made.inputs.iter().map(seen));
        let body = self.body(scratch, &nest, &made, input, &inputs);
        let joined = Nest { inputs, body, ..nest };
        // Several numbers in one element are taken out side by side.
        let numbers = made.inputs.iter().max_by_key(|own| bytes(own)).map(&seen)?;
        let inside = own.iter().copied().find(|&axis| {
            joined.reduces(axis) && !numbers.uses(axis) && joined.axes[axis].extent <= MOST_INSIDE
        });
        let apart = inside.and_then(|axis| unrolled(self.context, scratch, &joined, axis));
        Some(apart.unwrap_or(joined))
    }

    /// The body of the maker and then the reader's.
    fn body(
        &self,
        scratch: Op<'c>,
        nest: &Nest<'c>,
        made: &Nest<'c>,
        input: usize,
        inputs: &[Access<'c>],
    ) -> Block<'c> {
        let types: Vec<Type<'c>> = inputs.iter().map(Access::elem).collect();
        let behind = input + made.inputs.len();
        let fuses = self.fuses(nest.sum_type(0));
        scalar_body(self.context, scratch, &types, nest.sum_type(0), |b, args| {
            let own = &args[input..behind];
            let value = copy_body(b.builder(), made.body, own, Mapping::default(), &[])[0];
            let own = [&args[..input], &[value], &args[behind..]].concat();
            let sum = copy_body(b.builder(), nest.body, &own, Mapping::default(), &[])[0];
            let so_far = args[args.len() - 1];
            let Some(product) = sum_product(sum, so_far).filter(|_| fuses) else {
                return vec![sum];
            };
            let fused = b.same("math.fma", &[product.operand(0), product.operand(1), so_far]);
            sum.def().into_iter().chain([product]).for_each(Op::erase);
            vec![fused]
        })
    }

    /// Returns whether an instruction multiplies and adds numbers of this type in one step, and lanes can.
    fn fuses(&self, elem: Type<'c>) -> bool {
        let fused = |block: Block<'c>| {
            let so_far = block.args().last().copied();
            let sum = block.terminator().and_then(|end| end.operands().first().copied());
            sum.zip(so_far)
                .is_some_and(|(sum, so_far)| sum.ty() == elem && sum_product(sum, so_far).is_some())
        };
        let instructions = self.machine.instructions();
        let one = instructions.iter().any(|own| {
            own.accuracy().contains(&"rounding")
                && the_generic(own).and_then(|op| op.body(0)).is_some_and(fused)
        });
        one && self.machine.lanes_units().iter().any(|unit| unit.supports("math.fma", elem))
    }
}

/// The product that is added to `so_far`.
fn sum_product<'c>(sum: Val<'c>, so_far: Val<'c>) -> Option<Op<'c>> {
    let add = sum.def().filter(|op| op.is("arith.addf"))?;
    let product = match [add.operand(0), add.operand(1)] {
        [one, other] if other == so_far => one,
        [one, other] if one == so_far => other,
        _ => return None,
    };
    product.def().filter(|op| op.is("arith.mulf") && product.uses().len() == 1)
}

/// The nest of a kernel that has no tiles yet, and reads nothing at addresses that it computes.
fn nest_of(kernel: Op<'_>) -> Result<Option<Nest<'_>>, Failed> {
    if kernel.body(0).is_none_or(|body| body.ops().iter().any(|op| op.is("tile.compute"))) {
        return Ok(None);
    }
    let nest = read(kernel)?;
    let plain = nest.captures.is_empty() && nest.outputs.len() == 1;
    Ok(Some(nest).filter(|_| plain))
}

/// Bytes of a tensor.
fn size(ty: Type<'_>) -> u64 {
    let elem = ty::elem(ty).and_then(ty::byte_size).unwrap_or(8);
    ty::count(ty).unwrap_or(0) * elem
}

/// Returns whether a run makes constants only.
fn is_unread<'c>(op: Op<'c>, constant: &HashSet<Val<'c>>) -> bool {
    op.is("tile.run") && op.results().iter().all(|result| constant.contains(result))
}
