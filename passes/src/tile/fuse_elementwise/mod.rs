//! `tile-fuse-elementwise`: what is done to each element is done where the element is made.
//!
//! ```text
//! h = matmul(x, w); y = relu(h + r)      two or three kernels, h goes to memory and back
//!   ->  y = matmul(x, w) with the epilogue relu(h + r), on sums that are still in registers
//! ```
//!
//! A kernel without reductions joins the kernel that makes what it reads if nobody else reads
//! it, both visit the elements in one order, and nothing lies more awkwardly for the lanes than
//! before. Of two elementwise kernels one body becomes the other's input; behind a reduction
//! the reader becomes its epilogue, which may store another type than the sums have. A reduction
//! whose weight other kernels read too stays alone, if that takes more than what it makes: each would
//! lay it out for itself. Where an instruction with axes of its own, or a block of several groups of lanes,
//! may do the reduction, the kernel that results is compared with the two that there are: an array that
//! stores what it folds is worth more than the epilogue.

mod join;
mod pays;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use weft_dialects::aliases;
use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Builder, Context, Op, Val, empty_module, module_op, remark};
use weft_dialects::tile;

use super::block;
use super::chooser::Chooser;
use super::constants::constants;
use super::construct_rtiles::read;
use super::far::bytes;
use super::joint::{Joint, Kernels};
use super::views::{applied, erase_views, graphs_and_kernels, kernel_of, readers, root};
use crate::nest::{Access, Nest};
use crate::remarks::Refused;
pub(super) use join::is_elementwise;
use join::{join, several};
use pays::pays;

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-fuse-elementwise",
    description: "Join elementwise kernels to those that make what they read",
    options: &[
        PassOption {
            name: "fuse",
            description: "which kernels are joined: true, those that pay; always, whatever it \
                          costs; false, none",
            fallback: "true",
        },
        PassOption {
            name: "remarks",
            description: "say which kernels stay apart, and why",
            fallback: "false",
        },
    ],
    statistics: &[("fused", "kernel applications that became part of another")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let words = [("true", Some(false)), ("always", Some(true)), ("false", None)];
    let (fuse, remarks) = (run.word("fuse", &words)?, run.flag("remarks")?);
    let Some(always) = fuse else { return Ok(()) };
    let (graphs, kernels) = graphs_and_kernels(run.module).ok_or(Failed)?;
    let machine = Machine::of(run.module);
    let mut fuse = Fuse {
        context: run.context,
        machine,
        chooser: machine.filter(|_| !always).map(|machine| Chooser::of(run, machine)),
        remarks,
        kernels: Kernels::of(run.context, run.module, &kernels),
        nests: HashMap::new(),
        joints: HashMap::new(),
    };
    let before = applied(&graphs);
    for graph in &graphs {
        let count = fuse.graph(*graph)?;
        run.count("fused", count);
    }
    let after = applied(&graphs);
    fuse.kernels.erase_unused(&before, &after);
    Ok(())
}

/// The inputs of the graph around a run that outputs lie in.
fn states_around<'c>(run: Op<'c>) -> Vec<Val<'c>> {
    let graph = run.parent().filter(|op| op.is("tile.graph"));
    let args = graph.and_then(|graph| graph.body(0)).map(|body| body.args()).unwrap_or_default();
    let aliases = graph.map(aliases::of).unwrap_or_default().into_iter();
    aliases.filter_map(|alias| args.get(alias.input).copied()).collect()
}

struct Fuse<'c> {
    context: &'c Context,
    machine: Option<Machine<'c>>,
    /// Decides whether it pays; `None` where that does not matter.
    chooser: Option<Chooser<'c>>,
    remarks: bool,
    kernels: Kernels<'c>,
    /// The nests of kernels that have no tiles yet.
    nests: HashMap<Op<'c>, Option<Rc<Nest<'c>>>>,
    /// What reader and maker became, by which inputs of the reader are the maker's tensor: a
    /// recurrence joins the same kernels at every step.
    joints: HashMap<(Op<'c>, Op<'c>, Vec<bool>), Result<Joint<'c>, Refused>>,
}

impl<'c> Fuse<'c> {
    /// Joins what can be in one graph; says how many runs are gone.
    fn graph(&mut self, graph: Op<'c>) -> Result<u64, Failed> {
        let body = graph.body(0).ok_or(Failed)?;
        let constant = constants(graph);
        let mut fused = 0;
        // All of them first: views go away on the way.
        let runs: Vec<_> = body.ops().into_iter().filter(|op| op.is("tile.run")).collect();
        let mut places: HashMap<Op<'c>, usize> =
            runs.iter().enumerate().map(|(place, run)| (*run, place)).collect();
        for (place, run) in runs.into_iter().enumerate() {
            let mut user = run;
            while let Some(joined) = self.with_a_maker(user, &places, &constant)? {
                user = joined;
                places.insert(user, place);
                fused += 1;
            }
        }
        // Room and views that were for what is gone.
        for op in body.ops().into_iter().rev() {
            let idle = op.is("tile.empty") || op.is("tile.view");
            if idle && op.result(0).uses().is_empty() {
                op.erase();
            }
        }
        Ok(fused)
    }

    /// Joins a run with one of those that make what it reads.
    fn with_a_maker(
        &mut self,
        user: Op<'c>,
        places: &HashMap<Op<'c>, usize>,
        constant: &HashSet<Val<'c>>,
    ) -> Result<Option<Op<'c>>, Failed> {
        // A run that reads or writes at a place that callers decide is one of its own.
        let shifts = |run: Op<'c>| run.attr("shifts").is_some();
        if shifts(user) || !self.nest(user)?.is_some_and(|nest| is_elementwise(&nest)) {
            return Ok(None);
        }
        let mut makers: Vec<(Op<'c>, Rc<Nest<'c>>)> = Vec::new();
        let read = user.operands().into_iter().filter_map(|value| root(value).def());
        // What a state becomes, or a cache, is not made of one in the kernel that writes over it.
        let inits = tile::Run::of(user).map(|run| run.inits).unwrap_or_default();
        let held = inits.into_iter().any(|init| root(init).def().is_none());
        let states = if held { states_around(user) } else { Vec::new() };
        let apart = |op: &Op<'c>| !op.operands().iter().any(|value| states.contains(&root(*value)));
        let read = read.filter(|op| op.is("tile.run") && !shifts(*op) && apart(op));
        let mut read: Vec<_> = read.collect();
        read.sort_by_key(|maker| places.get(maker));
        read.dedup();
        for maker in read {
            // What is known is made once, when the artifact is written.
            let known = maker.results().iter().any(|result| constant.contains(result));
            if let Some(nest) = self.nest(maker)?.filter(|_| !known) {
                makers.push((maker, nest));
            }
        }
        // A reduction takes what its reader has become by then; the last one, for what is done
        // early with a weight may be done while it is near.
        makers.reverse();
        makers.sort_by_key(|(_, nest)| !is_elementwise(nest));
        for (maker, nest) in makers {
            // What is saved is the result, so a weight that takes less may be there twice.
            let saved = bytes(&nest.outputs[0]);
            let shared = |input: &Access<'c>| {
                let tensor = root(maker.operand(input.argument().index()));
                // A kernel that is run when compiling does not keep the weight.
                let runs = |op: Op<'c>| {
                    op.results().is_empty()
                        || op.results().iter().any(|result| !constant.contains(result))
                };
                let others = || readers(tensor).iter().any(|(op, _)| *op != maker && runs(*op));
                bytes(input) > saved && constant.contains(&tensor) && others()
            };
            let fused = match !is_elementwise(&nest) && nest.inputs.iter().any(shared) {
                true => {
                    let why = "another kernel reads its weight, which would be held twice for less than it takes";
                    Err(Refused::by("weight", why))
                }
                false => self.fuse(user, maker, &nest),
            };
            match fused {
                Ok(joined) => return Ok(Some(joined)),
                Err(why) if self.remarks => {
                    let [one, other] = [user, maker].map(kernel_of);
                    remark(user, &format!("@{one} stays apart from @{other}: {why}"));
                }
                Err(_) => {}
            }
        }
        Ok(None)
    }

    /// The nest of the kernel that a run applies, unless it has tiles already.
    fn nest(&mut self, run: Op<'c>) -> Result<Option<Rc<Nest<'c>>>, Failed> {
        let Some(kernel) = self.kernels.named(kernel_of(run)) else { return Ok(None) };
        if let Some(known) = self.nests.get(&kernel) {
            return Ok(known.clone());
        }
        let tiled = kernel.body(0).is_none_or(|b| b.ops().iter().any(|op| op.is("tile.compute")));
        let nest = if tiled { None } else { Some(Rc::new(read(kernel)?)) };
        self.nests.insert(kernel, nest.clone());
        Ok(nest)
    }

    /// Joins a run to one that makes what it reads.
    fn fuse(&mut self, user: Op<'c>, maker: Op<'c>, made: &Nest<'c>) -> Result<Op<'c>, Refused> {
        let reader = self.nest(user).ok().flatten().ok_or_else(no_nest)?;
        let [result] = maker.results()[..] else {
            return Err(several(maker.results().len()));
        };
        let inputs = user.operands().len() - user.results().len();
        if readers(result).iter().any(|&(op, operand)| op != user || operand >= inputs) {
            let values = format!("it is read in {} places", readers(result).len());
            return Err(Refused::by("readers", "something else reads it, too").met(values));
        }
        let of_maker =
            |access: &Access<'c>| root(user.operand(access.argument().index())) == result;
        let reading: Vec<bool> = reader.inputs.iter().map(of_maker).collect();
        let [one, other] = [user, maker].map(|run| self.kernels.applied_by(run));
        let key = (one, other, reading);
        let joint = match self.joints.get(&key) {
            Some(known) => known.clone()?,
            None => {
                let joint = self.joint(one, other, made, &key.2);
                self.joints.insert(key, joint.clone());
                joint?
            }
        };
        let joined = self.kernels.apply(user, maker, &joint);
        erase_views(result);
        maker.erase();
        Ok(joined)
    }

    /// One kernel of two.
    fn joint(
        &mut self,
        reader: Op<'c>,
        maker: Op<'c>,
        made: &Nest<'c>,
        reading: &[bool],
    ) -> Result<Joint<'c>, Refused> {
        let names = [maker, reader].map(|kernel| kernel.symbol());
        // Arguments tell whose tensor is read, so each has its own.
        let twin = (reader == maker).then(|| {
            let mut b = Builder::before(self.context, reader);
            b.clone_op(reader, &mut Default::default())
        });
        let joint = self.joint_of(twin.unwrap_or(reader), (maker, made), reading, &names);
        if let Some(twin) = twin {
            twin.erase();
        }
        joint
    }

    fn joint_of(
        &mut self,
        reader: Op<'c>,
        (maker, made): (Op<'c>, &Nest<'c>),
        reading: &[bool],
        names: &[&str; 2],
    ) -> Result<Joint<'c>, Refused> {
        let nest = read(reader).map_err(|_| no_nest())?;
        let scratch = empty_module(self.context);
        // Where groups share tiles, what lanes do to sums in registers saves a kernel.
        let shares = || self.machine.is_some_and(|machine| block::may_share(machine, made));
        let joined = join(self.context, module_op(&scratch), made, &nest, reading, &shares)?;
        if let Some(chooser) = &self.chooser {
            pays(chooser, [made, &nest], &joined)?;
        }
        debug_assert_ne!(maker.body(0), reader.body(0));
        Ok(self.kernels.joint(names, reader, &joined))
    }
}

fn no_nest() -> Refused {
    Refused::by("nest", "the reader is no nest")
}
