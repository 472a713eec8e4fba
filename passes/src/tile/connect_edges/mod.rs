//! `tile-connect-edges`: through which memory each tensor is handed to those that read it.
//!
//! ```text
//! %h = tile.run @scores(%q, %k)          %h = tile.run @scores(%q, %k)
//! %p = tile.run @softmax(%h)       ->    %n = tile.connect %h in @l2
//!                                        %p = tile.run @softmax(%n)
//! ```
//!
//! Welder's two steps (OSDI'23, section 4): in the order of the text every edge is tried in the
//! memory nearer to a unit (*GraphConnecting*); for the runs that it would join the tile of the
//! last one is constructed so that all members' tiles fit (*SubGraphTiling*, `group_tiles.rs`). The edge stays
//! near if that is predicted to take less, recomputed halos and inputs read again included.
//!
//! Some edges pay only together: a softmax reads its rows three times. So from every run on, those
//! that read what the group makes are taken in one by one, as the artifact of Welder grows its
//! groups, and as many stay as save the most. What a group reads several times from afar is handed over by a
//! copy, too, where that pays (`keep.rs`). Kernels that see what they hand over in different shapes
//! are tiled in axes that show it (`refined.rs`).

mod grow;
mod keep;
mod one_pass;
mod refined;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Builder, Context, Mapping, Op, Report, Val, attr, remark};
use weft_dialects::tile::{Compute, Kernel, build};

use crate::length;
use crate::nest::{Nest, emit_kernel, read_kernel};
use crate::remarks::{Refused, chosen};
use crate::tile::chooser::Chooser;
use crate::tile::constants::constants;
use crate::tile::group_member::Member;
use crate::tile::groups::{Group, Order, groups, maker, starts_empty};
use crate::tile::isa::Near;
use crate::tile::member_tile::{choose_tile, construct_tile};
use crate::tile::subgraph::{Known, Subgraph, Unjoined, UntiledGroup, most_saved, tile};
use crate::tile::views::kernel_of;
pub(in crate::tile) use refined::Refined;
use refined::refined;

/// The pass.
pub const PASS: Pass = Pass {
    name: "tile-connect-edges",
    description: "Choose the memory through which each tensor is handed to its readers",
    options: &[
        PassOption {
            name: "joining",
            description: "full: edges are near a unit where that is predicted to pay; all: wherever tiles fit; base or none: no edge is near a unit",
            fallback: "full",
        },
        PassOption {
            name: "remarks",
            description: "say for each edge what either memory would take",
            fallback: "false",
        },
    ],
    statistics: &[("near", "edges that are handed over near a unit")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let words = [("full", Some(false)), ("all", Some(true)), ("base", None), ("none", None)];
    let (wanted, remarks) = (run.word("joining", &words)?, run.flag("remarks")?);
    let Some((machine, all)) = Machine::of(run.module).zip(wanted) else {
        return Ok(());
    };
    let Some(memory) = super::waiting_memory(machine).map(|memory| memory.name) else {
        return Ok(());
    };
    let chooser = Chooser::of(run, machine);
    let ops = run.module.body(0).ok_or(Failed)?.ops();
    for graph in ops.iter().filter(|op| op.is("tile.graph")) {
        let mut connect = Connecting {
            context: run.context,
            module: run.module,
            chooser: chooser.clone(),
            memory,
            remarks,
            all,
            members: HashMap::new(),
            known: Known::new(),
            tried: HashMap::new(),
            clones: HashMap::new(),
            in_registers: HashSet::new(),
            copies: BTreeMap::new(),
        };
        let count = connect.graph(*graph)?;
        run.count("near", count);
    }
    Ok(())
}

struct Connecting<'c> {
    context: &'c Context,
    module: Op<'c>,
    chooser: Chooser<'c>,
    /// The memory near a unit.
    memory: &'c str,
    remarks: bool,
    /// True if every edge is taken whose tiles fit.
    all: bool,
    /// Kernels that can be members, by name.
    members: HashMap<String, Option<Rc<Member<'c>>>>,
    /// Costs of tiles that were found.
    known: Known,
    /// Results for runs of the same kernels that are connected alike.
    tried: HashMap<String, Result<Subgraph<'c>, Unjoined>>,
    /// Kernels of groups' members.
    clones: HashMap<CloneKey, String>,
    /// Runs that hand over in registers.
    in_registers: HashSet<Op<'c>>,
    /// Kernels that copy tensors, by the text of the tensor's type.
    copies: BTreeMap<String, String>,
}

/// What tells the kernel of a group's member from others.
#[derive(PartialEq, Eq, Hash)]
struct CloneKey {
    /// The kernels of all members.
    names: String,
    /// Which of them.
    member: usize,
    /// Its tile; none in a group that hands over in registers.
    tile: Vec<u64>,
    /// Its extents where its axes are others than its kernel's.
    extents: Vec<u64>,
}

impl<'c> Connecting<'c> {
    fn graph(&mut self, graph: Op<'c>) -> Result<u64, Failed> {
        let constant = constants(graph);
        let ops = graph.body(0).ok_or(Failed)?.ops();
        let runs: Vec<_> = ops.into_iter().filter(|op| op.is("tile.run")).collect();
        let order = Order::of(graph);
        let mut near = 0;
        for run in &runs {
            near += self.one_pass(&order, *run)?;
        }
        for run in runs {
            let inputs = run.operands().len() - run.results().len();
            let mut tried = HashSet::new();
            for operand in run.operands().into_iter().take(inputs) {
                let known = constant.contains(&operand);
                let maker = maker(operand).filter(|maker| !known && tried.insert(*maker));
                if let Some(maker) = maker {
                    near += self.edges(&order, run, maker)?;
                }
            }
        }
        if !self.all {
            for run in order.runs() {
                near += self.grow(&order, run, &constant).len() as u64;
            }
            near += self.keep(graph, &constant)?;
        }
        self.retile(graph)?;
        self.erase_copies(graph);
        Ok(near)
    }

    /// Tries the edges between two runs: connects, and takes it back where that does not pay.
    fn edges(&mut self, order: &Order<'c>, reader: Op<'c>, from: Op<'c>) -> Result<u64, Failed> {
        if [reader, from].iter().any(|run| self.in_registers.contains(run)) {
            return Ok(0);
        }
        let from_apart = self.whole_member(from).is_none().then_some(from);
        if let Some(apart) = from_apart.or(self.member(reader).is_none().then_some(reader)) {
            if self.remarks {
                let [one, other, apart] = [from, reader, apart].map(kernel_of);
                let why = no_member().met(format!("@{apart}"));
                let told = format!("@{one} to @{other}: stays in the shared memory: {why}");
                remark(reader, &told);
            }
            return Ok(0);
        }
        let before = self.saved(order, &[reader, from]);
        let edges = self.connect(reader, from);
        let group = Group::around(self.chooser.machine, order, reader).ok_or(Failed)?;
        let found = self.try_group(order, &group, (!self.all).then_some(before));
        let takes = found.as_ref().is_ok_and(|joined| self.all || joined.saves() > before);
        if self.remarks {
            let names = [from, reader].map(kernel_of);
            let told = match &found {
                Ok(joined) => {
                    let near = format!("in @{}", joined.memory);
                    let near = (&*near, joined.cycles);
                    // Savings without this edge remain when its ends stay apart.
                    let apart = ("apart", joined.apart - before);
                    let (won, lost) = if takes { (near, apart) } else { (apart, near) };
                    format!(
                        "{}; near with tiles of {:?} and {} bytes that wait",
                        chosen(won.0, won.1, Some(lost)),
                        joined.sizes,
                        joined.footprint
                    )
                }
                Err(why) => format!("stays in the shared memory: {why}"),
            };
            remark(edges[0].1, &format!("@{} to @{}: {told}", names[0], names[1]));
        }
        if takes {
            return Ok(edges.len() as u64);
        }
        disconnect(edges);
        Ok(0)
    }

    /// Connects a run to what another makes, where it is not: the tensors and their edges.
    fn connect(&self, reader: Op<'c>, from: Op<'c>) -> Vec<(Val<'c>, Op<'c>)> {
        self.connect_in(reader, from, self.memory)
    }

    /// The same in a memory.
    fn connect_in(&self, reader: Op<'c>, from: Op<'c>, memory: &str) -> Vec<(Val<'c>, Op<'c>)> {
        let mut b = Builder::before(self.context, reader).with_location(reader.location());
        let mut edges: Vec<(Val<'c>, Op<'c>)> = Vec::new();
        for (number, operand) in reader.operands().into_iter().enumerate() {
            if maker(operand) != Some(from) {
                continue;
            }
            let known = edges.iter().find(|(source, _)| *source == operand);
            let edge = match known {
                Some((_, edge)) => *edge,
                None => {
                    let edge = build::connect(&mut b, operand, memory);
                    edges.push((operand, edge));
                    edge
                }
            };
            reader.set_operand(number, edge.result(0));
        }
        edges
    }

    /// Cycles that the groups of some runs save, each counted once.
    fn saved(&mut self, order: &Order<'c>, runs: &[Op<'c>]) -> f64 {
        let mut seen: Vec<Op<'c>> = Vec::new();
        let mut sum = 0.0;
        for &run in runs {
            let group = Group::around(self.chooser.machine, order, run);
            let Some(group) = group.filter(|group| !seen.contains(&group.runs[0])) else {
                continue;
            };
            seen.push(group.runs[0]);
            sum += self.try_group(order, &group, None).map_or(0.0, |joined| joined.saves());
        }
        sum
    }

    /// The cost of a group with the best tile that was found for it; no tile is looked for if the
    /// group must save `pay` cycles and cannot.
    fn try_group(
        &mut self,
        order: &Order<'c>,
        group: &Group<'c>,
        pay: Option<f64>,
    ) -> Result<Subgraph<'c>, Unjoined> {
        if !group.stands(order) {
            return Err(Unjoined::Between);
        }
        let names: Vec<_> = group.runs.iter().map(|run| kernel_of(*run)).collect();
        let leaves: Vec<_> = (0..group.runs.len()).map(|member| group.leaves(member)).collect();
        let (last, makers) = group.runs.split_last().expect("a group has members");
        let makers: Option<Vec<Rc<Member<'c>>>> =
            makers.iter().map(|run| self.whole_member(*run)).collect();
        let Some((mut members, last)) = makers.zip(self.member(*last)) else {
            return Err(Unjoined::Untiled(no_member()));
        };
        members.push(last);
        let nests: Vec<&Nest<'c>> = members.iter().map(|member| &member.nest).collect();
        let chain = group.chain(nests);
        let key = format!("{names:?} {leaves:?} {:?} {:?}", chain.links, chain.tensors);
        // Remarks report the cost in either memory, however much that is.
        let least = pay.filter(|_| !self.remarks).unwrap_or(f64::NEG_INFINITY);
        match self.tried.get(&key) {
            // An edge that saves too little here may save enough elsewhere.
            Some(Err(Unjoined::Little { most, .. })) if *most > least => {}
            Some(known) => return known.clone(),
            None => {}
        }
        if let Some(least) = pay {
            most_saved(self.chooser.machine, self.memory, &members, &chain, least)?;
        }
        let (memory, leaves) = (self.memory, &leaves[..]);
        let steps = &members[members.len() - 1].multiples;
        let untiled = UntiledGroup { memory, members: &members, chain: &chain, leaves, steps };
        let mut found = tile(&self.chooser, &untiled, least, &mut self.known);
        if let Some(finer) = refined(group, &chain.nests, &|name| self.kernel(name)) {
            let chain = group.chain(finer.iter().map(|member| &member.nest).collect());
            let steps = &finer[finer.len() - 1].steps(steps);
            let least = found.as_ref().map_or(least, |found| found.saves().max(least));
            let untiled = UntiledGroup { chain: &chain, steps, ..untiled };
            let finer_found = tile(&self.chooser, &untiled, least, &mut self.known);
            found = match (found, finer_found) {
                (found, Ok(better))
                    if found.as_ref().is_ok_and(|own| own.cycles <= better.cycles) =>
                {
                    found
                }
                (_, Ok(better)) => Ok(Subgraph { refined: Some(finer.into()), ..better }),
                // It may save enough where less is asked.
                (Err(Unjoined::Untiled(_)), Err(little @ Unjoined::Little { .. })) => Err(little),
                // Where neither has a tile, that of the kernels as they are says why.
                (found, Err(_)) => found,
            };
        }
        self.tried.insert(key, found.clone());
        found
    }

    /// A kernel that can be a member whose output others in the group read: it makes all of it from
    /// nothing.
    fn whole_member(&mut self, run: Op<'c>) -> Option<Rc<Member<'c>>> {
        self.member(run).filter(|member| member.whole && starts_empty(run))
    }

    /// A kernel that can be the last member of a group: one nest, with one output.
    fn member(&mut self, run: Op<'c>) -> Option<Rc<Member<'c>>> {
        let name = kernel_of(run);
        if !self.members.contains_key(name) {
            let member = self.read(name).map(Rc::new);
            self.members.insert(name.to_owned(), member);
        }
        let shifted = run.attr("shifts").is_some();
        self.members[name].clone().filter(|_| !shifted && !self.in_registers.contains(&run))
    }

    fn read(&self, name: &str) -> Option<Member<'c>> {
        let kernel = self.kernel(name)?;
        // Stitched kernels are done whole.
        let kernel = Kernel::of(kernel).filter(|kernel| !kernel.is_stitched())?;
        // Tiles of a group follow from extents alone.
        if length::is_in(kernel.op) {
            return None;
        }
        let [compute] = <[Compute<'c>; 1]>::try_from(kernel.computes()).ok()?;
        let nest = read_kernel(kernel.op).ok()?;
        let member = Member::new(&self.chooser, self.memory, name, compute, nest)?;
        let copies = self.copies.values().any(|own| own == name);
        Some(if copies { member.copying() } else { member })
    }

    fn kernel(&self, name: &str) -> Option<Op<'c>> {
        let ops = self.module.body(0).map(|body| body.ops()).unwrap_or_default();
        ops.into_iter().find(|op| op.is("tile.kernel") && op.symbol() == name)
    }

    /// Gives the members of each group kernels of their own, with tiles of what the group's ask
    /// for; reports one whose tile is not best done by lanes.
    fn retile(&mut self, graph: Op<'c>) -> Result<(), Failed> {
        let order = Order::of(graph);
        let groups = groups(self.chooser.machine, &order);
        let found = groups.into_iter().filter_map(|group| {
            let found = self.try_group(&order, &group, None).ok()?;
            let edges = group.edges.iter().map(|edge| edge.op).collect::<Vec<_>>();
            Some((group.runs, edges, found))
        });
        // Runs of members in other axes are others, so all groups are read first.
        for (runs, edges, found) in found.collect::<Vec<_>>() {
            let names: Vec<_> = runs.iter().map(|run| kernel_of(*run).to_owned()).collect();
            if self.remarks {
                say_tile(runs[0], &names, &found);
            }
            // That for which its tiles were constructed.
            let memory = attr::of_symbol(self.context, found.memory);
            edges.into_iter().for_each(|edge| edge.set_attr("memory", memory));
            for (member, run) in runs.iter().enumerate() {
                let finer = found.refined.as_ref().map(|finer| &finer[member]);
                let extents = finer.map_or_else(Vec::new, |finer| finer.nest.extents());
                let tile = found.tiles[member].clone();
                let key = CloneKey { names: names.join(" "), member, tile, extents };
                let clone = match self.clones.get(&key) {
                    Some(clone) => clone.clone(),
                    None => self.kernel_for(&names[member], &found, member)?,
                };
                match finer {
                    Some(finer) => {
                        let kernel = self.kernel(&clone).ok_or(Failed)?;
                        finer.apply(self.context, *run, kernel);
                    }
                    None => run.set_attr("kernel", attr::of_symbol(self.context, &clone)),
                }
                self.clones.insert(key, clone);
            }
        }
        Ok(())
    }

    /// The kernel `name` once more, for tiles of a group's member.
    fn kernel_for(
        &self,
        name: &str,
        found: &Subgraph<'c>,
        member: usize,
    ) -> Result<String, Failed> {
        let kernel = self.kernel(name).ok_or(Failed)?;
        let new = match found.refined.as_ref().map(|finer| &finer[member]) {
            Some(Refined { nest, now }) => {
                let name = self.free_name(&format!("{name}_near"));
                emit_kernel(self.context, self.module, &name, nest, now)
            }
            None => self.plain(kernel)?,
        };
        let (near, sizes) = (&found.nests[member], &found.tiles[member]);
        let beside =
            Near { memory: found.memory, taken: found.footprint, inside: &found.inside[member] };
        let tile = choose_tile(&self.chooser, near, sizes, beside).ok_or_else(|| {
            let what = format!("@{name} is done, but no tile of it");
            Report::new(kernel.location(), what)
                .help("compile with tile-connect-edges.joining=base");
            Failed
        })?;
        let is_last = member + 1 == found.nests.len();
        let near = (!is_last).then_some(near);
        construct_tile(self.context, self.chooser.machine, new, near, &tile)?;
        Ok(new.symbol().to_owned())
    }

    /// A kernel with the payload of another that has tiles.
    fn plain(&self, kernel: Op<'c>) -> Result<Op<'c>, Failed> {
        let compute =
            Kernel::of(kernel).and_then(|kernel| kernel.computes().pop()).ok_or(Failed)?;
        let types: Vec<_> =
            kernel.body(0).ok_or(Failed)?.args().iter().map(|arg| arg.ty()).collect();
        let name = self.free_name(&format!("{}_near", kernel.symbol()));
        let mut b = Builder::after(self.context, kernel).with_location(kernel.location());
        let Kernel { op: new, body: block, .. } = build::kernel(&mut b, &name, &types);
        let mut b = b.into_block(block);
        let mut map = Mapping::default();
        // Arguments of a compute are those of its kernel, in their order.
        for (inner, arg) in compute.body.args().into_iter().zip(block.args()) {
            map.set(inner, arg);
        }
        for op in compute.body.ops() {
            b.clone_op(op, &mut map);
        }
        Ok(new)
    }

    fn free_name(&self, name: &str) -> String {
        let ops = self.module.body(0).map(|body| body.ops()).unwrap_or_default();
        let taken: HashSet<&str> = ops.iter().map(|op| op.symbol()).collect();
        let names = (0..).map(|number| match number {
            0 => name.to_owned(),
            _ => format!("{name}_{number}"),
        });
        let mut free = names.filter(|new| !taken.contains(new.as_str()));
        free.next().expect("names do not run out")
    }
}

fn no_member() -> Refused {
    Refused::by("member", "a kernel of it is no nest that one unit does by itself")
}

/// The tile of a group, and the one that comes next; those whose cycles differ little are told
/// apart by the bytes that they move.
fn say_tile(first: Op<'_>, names: &[String], found: &Subgraph<'_>) {
    let names: Vec<_> = names.iter().map(|name| format!("@{name}")).collect();
    let tile = |sizes: &[u64], bytes| format!("tiles of {sizes:?} that move {bytes} bytes");
    let memory = found.memory;
    let second = found.second.as_ref();
    let second = second.map(|(sizes, cycles, bytes)| (tile(sizes, bytes), *cycles));
    let second = second.as_ref().map(|(what, cycles)| (&**what, *cycles));
    let told = chosen(&tile(&found.sizes, &found.traffic), found.cycles, second);
    remark(
        first,
        &format!("{} are one kernel: {told}; handed over in @{memory}", names.join(", ")),
    );
}

/// Takes edges out again.
fn disconnect(edges: Vec<(Val<'_>, Op<'_>)>) {
    for (operand, edge) in edges {
        for (user, number) in edge.result(0).uses() {
            user.set_operand(number, operand);
        }
        edge.erase();
    }
}
