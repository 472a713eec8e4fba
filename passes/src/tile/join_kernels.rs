//! `tile-join-kernels`: what is handed over near a unit is made and read by one kernel.
//!
//! ```text
//! %h = tile.run @expand(%x, %w)          tile.kernel @expand_depthwise(%x, %w, %v) {
//! %n = tile.connect %h in @l2              %e = tile.empty in @l2
//! %d = tile.run @depthwise(%n, %v)   ->    tile.compute ... -> %e; tile.compute ins(%e) ...
//!                                        %d = tile.run @expand_depthwise(%x, %w, %v)
//! ```
//!
//! Tensors keep their shapes: which tiles of them a group makes follows from the last member's
//! first rTile (`propagate/`). Refused are edges between runs with another in between, memories that the
//! tiles do not fit, and members whose tiles do not follow. What others read, too, is an output
//! of the new kernel, if its tiles are each made once.

use std::collections::{HashMap, HashSet};

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, Run};
use weft_dialects::ir::{Builder, Context, Mapping, Op, Report, Type, Val, attr, ty};
use weft_dialects::tile::build::{self, RunOp};
use weft_dialects::tile::{self, Compute, Connect, Kernel, Schedule};

use super::groups::{Group, Order, groups, is_local, maker};
use super::join_checks::check_one_pass;
use super::placements::{self, Placement};
use super::propagate::{Chain, Tiles, propagate};
use super::views::{kernel_of, view};
use crate::length;
use crate::nest::{Nest, read_kernel};

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-join-kernels",
    description: "Make one kernel of runs that hand tensors to each other near a unit",
    options: &[],
    statistics: &[
        ("joined", "kernels made of several"),
        ("members", "runs that became part of one"),
    ],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let Some(machine) = Machine::of(run.module) else { return Ok(()) };
    let body = run.module.body(0).ok_or(Failed)?;
    let graphs: Vec<_> = body.ops().into_iter().filter(|op| op.is("tile.graph")).collect();
    for graph in graphs {
        let mut join = Join {
            context: run.context,
            machine,
            module: run.module,
            kernels: body
                .iter()
                .filter(|op| op.is("tile.kernel"))
                .map(|op| (op.symbol(), op))
                .collect(),
            made: HashMap::new(),
            taken: body.ops().iter().map(|op| op.symbol().to_owned()).collect(),
        };
        join.refuse_lengths(graph)?;
        let mut order = Order::of(graph);
        for mut group in groups(machine, &order) {
            // The operations between the members of other groups have moved.
            order.sort(&mut group.runs);
            group.check(&order)?;
            join.group(&group, &mut order)?;
            run.count("joined", 1);
            run.count("members", group.runs.len() as u64);
        }
        plain(machine, graph)?;
        drop_unused(run.module);
    }
    Ok(())
}

/// Edges in the shared memory are tensors as they lie there.
fn plain<'c>(machine: Machine<'c>, graph: Op<'c>) -> Result<(), Failed> {
    let ops = graph.body(0).map(|body| body.ops()).unwrap_or_default();
    for edge in ops.into_iter().filter_map(Connect::of) {
        let result = edge.op.result(0);
        if is_local(machine, edge.memory) && !result.uses().is_empty() {
            Report::new(
                edge.op.location(),
                format!("nothing can take a tile from @{}", edge.memory),
            )
            .help("what leaves the graph, and what no run makes, lies in the shared memory");
            return Err(Failed);
        }
        result.replace_with(edge.source);
        edge.op.erase();
    }
    Ok(())
}

/// A member's tensor is read again at once, so it is not stored past the caches.
fn keep_near<'c>(context: &'c Context, compute: &Compute<'c>) {
    if compute.schedule.stream.is_some() {
        let schedule = Schedule { stream: None, ..compute.schedule.clone() };
        match schedule.to_attr(context) {
            Some(schedule) => compute.op.set_attr("schedule", schedule),
            None => {
                compute.op.remove_attr("schedule");
            }
        }
    }
}

/// Kernels that nothing applies any more.
fn drop_unused(module: Op<'_>) {
    let mut used = HashSet::new();
    module.walk(&mut |op| {
        if op.is("tile.run") {
            used.insert(kernel_of(op).to_owned());
            used.extend(tile::Run::others(op).into_iter().map(str::to_owned));
        }
    });
    let ops = module.body(0).map(|body| body.ops()).unwrap_or_default();
    for kernel in ops.into_iter().filter(|op| op.is("tile.kernel")) {
        if !used.contains(kernel.symbol()) {
            kernel.erase();
        }
    }
}

pub(super) struct Join<'c> {
    context: &'c Context,
    pub(super) machine: Machine<'c>,
    module: Op<'c>,
    kernels: HashMap<&'c str, Op<'c>>,
    /// From what a kernel is made of to it.
    made: HashMap<String, Op<'c>>,
    /// Symbols of the module.
    taken: HashSet<String>,
}

/// A value of the new kernel's run, under the type in which a member takes it.
type Argument<'c> = Val<'c>;

/// A tensor that leaves a group.
struct Leaf<'c> {
    /// The member that makes it.
    member: usize,
    /// The type in which its readers inside see it, too.
    ty: Type<'c>,
}

impl<'c> Join<'c> {
    /// Members' tiles follow from extents: whose axes end where a length says would do too much.
    fn refuse_lengths(&self, graph: Op<'c>) -> Result<(), Failed> {
        let is_in = |run: &Op<'c>| {
            let kernel = self.kernels.get(kernel_of(*run)).copied();
            run.is("tile.run") && length::is_in_run(*run, kernel)
        };
        let ops = graph.body(0).map(|body| body.ops()).unwrap_or_default();
        for edge in ops.into_iter().filter_map(Connect::of) {
            let readers = edge.op.result(0).uses().into_iter().map(|(reader, _)| reader);
            let ends = readers.chain(maker(edge.source));
            if let Some(run) = { ends }.find(is_in) {
                let name = kernel_of(run);
                let what =
                    format!("@{name} ends, or begins, where a length says: it hands nothing over");
                Report::new(edge.op.location(), what)
                    .help("take tile.connect away, or compile for numbers instead of lengths");
                return Err(Failed);
            }
        }
        Ok(())
    }

    fn group(&mut self, group: &Group<'c>, order: &mut Order<'c>) -> Result<(), Failed> {
        let kernels: Vec<Op<'c>> = group
            .runs
            .iter()
            .map(|run| self.kernels.get(kernel_of(*run)).copied().ok_or(Failed))
            .collect::<Result<_, _>>()?;
        let nests = self.nests(&kernels)?;
        let chain = group.chain(nests.iter().collect());
        let tiles = self.tiles(group, &kernels, &chain)?;
        let in_registers = self.is_in_registers(group);
        match in_registers {
            true => check_one_pass(group, &nests)?,
            false => self.check_ways(group, &kernels, &nests)?,
        }
        for member in 0..nests.len() - 1 {
            self.check_member(group, member, &chain, &tiles)?;
        }
        if !in_registers {
            self.check_room(group, &chain, &tiles)?;
        }

        let leaves: Vec<Leaf<'c>> = (0..group.runs.len())
            .filter(|&member| member + 1 == group.runs.len() || group.leaves(member))
            .map(|member| Leaf {
                member,
                ty: ty::tensor(&chain.handed[member], nests[member].outputs[0].elem()),
            })
            .collect();
        let mut inputs: Vec<Argument<'c>> = Vec::new();
        let mut wiring = String::new();
        for run in &group.runs {
            let count = run.operands().len() - run.results().len();
            wiring += &format!("{}(", kernel_of(*run));
            for operand in run.operands().into_iter().take(count) {
                match group.maker(operand) {
                    Some(maker) => wiring += &format!(" m{maker}:{}", operand.ty()),
                    None => {
                        let known = inputs.iter().position(|input| *input == operand);
                        let number = known.unwrap_or(inputs.len());
                        if known.is_none() {
                            inputs.push(operand);
                        }
                        wiring += &format!(" {number}");
                    }
                }
            }
            wiring += ")";
        }
        let memories: Vec<_> = (0..group.runs.len()).map(|member| group.memory(member)).collect();
        let left: Vec<_> = leaves.iter().map(|leaf| leaf.member).collect();
        let key = format!("{wiring} {left:?} {memories:?}");
        let kernel = match self.made.get(&key) {
            Some(kernel) => *kernel,
            None => {
                let stays = |member: usize| leaves.iter().all(|leaf| leaf.member != member);
                let memories: Vec<_> =
                    (0..memories.len()).map(|n| memories[n].filter(|_| stays(n))).collect();
                let placed = match in_registers {
                    true => vec![None; memories.len()],
                    false => placements::in_memories(&chain, &tiles, &memories),
                };
                let kernel = self.kernel(group, &kernels, &inputs, &leaves, &placed);
                self.made.insert(key, kernel);
                kernel
            }
        };
        self.apply(group, kernel, &inputs, &leaves, order);
        Ok(())
    }

    fn nests(&self, kernels: &[Op<'c>]) -> Result<Vec<Nest<'c>>, Failed> {
        let read = |kernel: &Op<'c>| {
            read_kernel(*kernel).map_err(|error| {
                Report::new(kernel.location(), format!("@{}: {error}", kernel.symbol()));
                Failed
            })
        };
        kernels.iter().map(read).collect()
    }

    fn tiles(
        &self,
        group: &Group<'c>,
        kernels: &[Op<'c>],
        chain: &Chain<'_, 'c>,
    ) -> Result<Tiles, Failed> {
        let last = kernels[kernels.len() - 1];
        let compute = Kernel::of(last).and_then(|last| last.computes().pop());
        let Some(tile) = compute.as_ref().and_then(|compute| compute.tiles.first()) else {
            Report::new(last.location(), format!("the kernel @{} has no rTiles", last.symbol()))
                .help("run tile-construct-rtiles first");
            return Err(Failed);
        };
        propagate(chain, &tile.sizes).map_err(|refusal| {
            let names = kernels.iter().enumerate();
            let names: Vec<_> =
                names.map(|(number, kernel)| format!("{number} @{}", kernel.symbol())).collect();
            let what = format!("kernels cannot be one: {refusal}");
            Report::new(group.edges[0].op.location(), what)
                .note(group.runs[group.runs.len() - 1], format!("members are {}", names.join(", ")))
                .help("hand the tensor over in the shared memory");
            Failed
        })
    }

    /// Writes the joined kernel.
    fn kernel(
        &mut self,
        group: &Group<'c>,
        kernels: &[Op<'c>],
        inputs: &[Argument<'c>],
        leaves: &[Leaf<'c>],
        placed: &[Option<Placement>],
    ) -> Op<'c> {
        let context = self.context;
        let body = self.module.body(0).expect("a module has a block");
        let name = self.name(group);
        let mut b =
            Builder::at_end(context, body).with_location(kernels[kernels.len() - 1].location());
        let results = leaves.iter().map(|leaf| leaf.ty);
        let types: Vec<_> = inputs.iter().map(|input| input.ty()).chain(results).collect();
        let Kernel { op: kernel, body: block, .. } = build::kernel(&mut b, &name, &types);
        let mut b = b.into_block(block);
        let (ins, outs) =
            (block.args()[..inputs.len()].to_vec(), block.args()[inputs.len()..].to_vec());
        let mut values: Vec<Val<'c>> = Vec::new();
        for (member, (run, own)) in group.runs.iter().zip(kernels).enumerate() {
            let args = own.body(0).expect("the kernel was read").args();
            let mut map = Mapping::default();
            let mut operands = run.operands();
            operands.pop();
            for (arg, operand) in args.iter().zip(operands) {
                let value = match group.maker(operand) {
                    Some(maker) => view(&mut b, values[maker], arg.ty()),
                    None => {
                        let input = inputs.iter().position(|input| *input == operand);
                        ins[input.expect("it was collected")]
                    }
                };
                map.set(*arg, value);
            }
            let out = args[args.len() - 1];
            let place = match leaves.iter().position(|leaf| leaf.member == member) {
                Some(output) => view(&mut b, outs[output], out.ty()),
                None => {
                    let memory = group.memory(member).expect("a member that stays is read");
                    match placed[member] {
                        Some(placed) => build::empty_at(&mut b, memory, placed.offset, out.ty()),
                        None => build::empty(&mut b, memory, out.ty()),
                    }
                }
            };
            map.set(out, place);
            for op in own.body(0).expect("the kernel was read").ops() {
                if op.is("tile.yield") {
                    values.push(map.get(op.operand(0)));
                } else {
                    let copy = b.clone_op(op, &mut map);
                    if let Some(compute) = Compute::of(copy).filter(|_| member + 1 < kernels.len())
                    {
                        keep_near(context, &compute);
                    }
                }
            }
        }
        let results: Vec<_> =
            leaves.iter().map(|leaf| view(&mut b, values[leaf.member], leaf.ty)).collect();
        build::yield_values(&mut b, &results);
        self.kernels.insert(kernel.symbol(), kernel);
        self.taken.insert(name);
        kernel
    }

    /// The names of the members, equal ones once.
    fn name(&self, group: &Group<'c>) -> String {
        let mut parts: Vec<&str> = Vec::new();
        for run in &group.runs {
            let stem = kernel_of(*run).trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
            if !parts.contains(&stem) {
                parts.push(stem);
            }
        }
        let stem = parts.join("_");
        let names = (0..).map(|number| match number {
            0 => stem.clone(),
            _ => format!("{stem}_{number}"),
        });
        let mut free = names.filter(|name| !self.taken.contains(name));
        free.next().expect("names do not run out")
    }

    /// Applies the joined kernel in the place of the members.
    fn apply(
        &self,
        group: &Group<'c>,
        kernel: Op<'c>,
        inputs: &[Argument<'c>],
        leaves: &[Leaf<'c>],
        order: &mut Order<'c>,
    ) {
        let context = self.context;
        let last = group.runs[group.runs.len() - 1];
        let mut b = Builder::before(context, last).with_location(last.location());
        let inits = leaves.iter().map(|leaf| {
            let operands = group.runs[leaf.member].operands();
            view(&mut b, operands[operands.len() - 1], leaf.ty)
        });
        let inits: Vec<_> = inits.collect();
        let mut names: Vec<&str> = Vec::new();
        for run in &group.runs {
            let name = run.attr("name").and_then(attr::string).unwrap_or("");
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let (name, kernel) = (&names.join("+"), kernel.symbol());
        let new = RunOp { name, kernel, inputs, inits: &inits, at: &[] }.build(&mut b);
        let mut behind = Builder::before(context, last).with_location(last.location());
        for (number, leaf) in leaves.iter().enumerate() {
            let before = group.runs[leaf.member].result(0);
            let after = view(&mut behind, new.result(number), before.ty());
            before.replace_with(after);
        }
        // Readers of leaving tensors that stood between the members come behind.
        let made: HashSet<Op<'c>> = following(new).take_while(|op| *op != last).collect();
        let mut late: HashSet<Op<'c>> = HashSet::new();
        let mut moved: Vec<Op<'c>> = Vec::new();
        for op in following(group.runs[0]).take_while(|op| *op != new) {
            let from = |operand: Val<'c>| {
                operand.def().is_some_and(|def| made.contains(&def) || late.contains(&def))
            };
            if !group.runs.contains(&op) && op.operands().into_iter().any(from) {
                late.insert(op);
                moved.push(op);
            }
        }
        moved.into_iter().for_each(|op| op.move_before(last));
        order.joined(&group.runs, new, &late);
        group.runs.iter().rev().for_each(|run| erase(*run));
    }
}

/// An operation and those behind it.
fn following<'c>(op: Op<'c>) -> impl Iterator<Item = Op<'c>> {
    std::iter::successors(Some(op), |op| op.next())
}

/// Returns whether an operation hands tensors over.
fn hands(op: Op<'_>) -> bool {
    ["tile.connect", "tile.view", "tile.empty"].contains(&op.name())
}

/// Erases a run that nothing reads, and what then nothing reads of what it was handed.
fn erase(run: Op<'_>) {
    let mut gone: HashSet<Op<'_>> = HashSet::new();
    let mut waiting = vec![run];
    while let Some(op) = waiting.pop() {
        if gone.contains(&op) {
            continue;
        }
        op.results().into_iter().for_each(|result| erase_unread(result, &mut gone));
        if op.results().iter().all(|result| result.uses().is_empty()) {
            let handed = op.operands().into_iter().filter_map(|operand| operand.def());
            waiting.extend(handed.filter(|def| hands(*def)));
            gone.insert(op);
            op.erase();
        }
    }
}

/// Erases what hands a tensor to nobody.
fn erase_unread<'c>(value: Val<'c>, gone: &mut HashSet<Op<'c>>) {
    for (op, _) in value.uses().into_iter().filter(|(op, _)| hands(*op)) {
        erase_unread(op.result(0), gone);
        if op.result(0).uses().is_empty() {
            gone.insert(op);
            op.erase();
        }
    }
}
