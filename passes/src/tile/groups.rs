//! Runs of a tile-graph that hand tensors to each other near a unit: what will be one kernel.

use std::collections::{HashMap, HashSet};

use weft_dialects::device::{Machine, Scope};
use weft_dialects::ir::pass::Failed;
use weft_dialects::ir::{Op, Report, Val, attr};
use weft_dialects::tile::{Connect, View};

use super::propagate::{Chain, Link};
use super::views::{kernel_of, readers, root};
use crate::nest::Nest;

/// Runs connected nearer than the memory that the device shares.
pub(super) struct Group<'c> {
    /// In the order of the text; the last one's tile is the group's.
    pub runs: Vec<Op<'c>>,
    /// The edges inside.
    pub edges: Vec<Connect<'c>>,
}

/// Returns whether a memory is nearer to a unit than the one that the device shares.
pub(super) fn is_local(machine: Machine<'_>, memory: &str) -> bool {
    let shared = machine.shared().is_some_and(|shared| shared.name == memory);
    let host = machine.memory(memory).is_some_and(|memory| memory.scope() == Scope::Host);
    !shared && !host
}

/// The runs of a tile-graph in the order of the text.
pub(super) struct Order<'c> {
    /// With places that are empty where several became one.
    runs: Vec<Option<Op<'c>>>,
    at: HashMap<Op<'c>, usize>,
    /// How many runs a way to each goes through at most; nothing once runs were joined.
    depths: HashMap<Op<'c>, u32>,
}

impl<'c> Order<'c> {
    pub fn of(graph: Op<'c>) -> Self {
        let ops = graph.body(0).map(|body| body.ops()).unwrap_or_default();
        let runs: Vec<_> = ops.into_iter().filter(|op| op.is("tile.run")).collect();
        let at = runs.iter().enumerate().map(|(at, run)| (*run, at)).collect();
        let mut depths: HashMap<Op<'c>, u32> = HashMap::new();
        for run in &runs {
            let makers = run.operands().into_iter().filter_map(source);
            let deepest = makers.filter_map(|maker| depths.get(&maker)).max();
            depths.insert(*run, deepest.map_or(0, |depth| depth + 1));
        }
        Self { runs: runs.into_iter().map(Some).collect(), at, depths }
    }

    /// All of them.
    pub fn runs(&self) -> impl Iterator<Item = Op<'c>> {
        self.runs.iter().copied().flatten()
    }

    /// Sorts runs by their places.
    pub fn sort(&self, runs: &mut [Op<'c>]) {
        runs.sort_by_key(|run| self.at[run]);
    }

    /// One run stands for several, before whose last it stands; behind it those that come late.
    pub fn joined(&mut self, members: &[Op<'c>], new: Op<'c>, late: &HashSet<Op<'c>>) {
        self.depths.clear();
        let places = self.at[&members[0]]..=self.at[&members[members.len() - 1]];
        let others = self.runs[places.clone()].iter().copied().flatten();
        let (behind, before): (Vec<_>, Vec<_>) =
            others.filter(|run| !members.contains(run)).partition(|run| late.contains(run));
        let mut all = before.into_iter().chain([new]).chain(behind);
        for place in places {
            self.runs[place] = all.next();
            self.at.extend(self.runs[place].map(|run| (run, place)));
        }
    }

    /// Runs outside `runs` that read what some of them make, in the order of the text.
    pub fn readers(&self, runs: &[Op<'c>]) -> Vec<Op<'c>> {
        let made = runs.iter().flat_map(|run| run.results()).flat_map(seen);
        let mut found: Vec<Op<'c>> = made.filter(|run| !runs.contains(run)).collect();
        self.sort(&mut found);
        found.dedup();
        found
    }
}

/// The groups of a tile-graph, in the order of their last runs.
pub(super) fn groups<'c>(machine: Machine<'c>, order: &Order<'c>) -> Vec<Group<'c>> {
    let mut seen: HashSet<Op<'c>> = HashSet::new();
    let mut found: Vec<Group<'c>> = Vec::new();
    for run in order.runs() {
        if seen.contains(&run) {
            continue;
        }
        if let Some(group) = Group::around(machine, order, run) {
            seen.extend(&group.runs);
            found.push(group);
        }
    }
    found.sort_by_key(|group| group.runs.last().map(|run| order.at[run]));
    found
}

impl<'c> Group<'c> {
    /// The group that a run is in, if it hands something over near a unit.
    pub fn around(machine: Machine<'c>, order: &Order<'c>, run: Op<'c>) -> Option<Self> {
        let (mut runs, mut edges): (Vec<Op<'c>>, Vec<Connect<'c>>) = (Vec::new(), Vec::new());
        let mut waiting = vec![run];
        while let Some(run) = waiting.pop() {
            if runs.contains(&run) {
                continue;
            }
            runs.push(run);
            let read = run.operands().into_iter().filter_map(edge_of);
            let made = run.results().into_iter().flat_map(readers);
            let made = made.filter_map(|(op, _)| Connect::of(op));
            for edge in read.chain(made) {
                let Some(maker) = maker(edge.source).filter(|_| is_local(machine, edge.memory))
                else {
                    continue;
                };
                let known = edges.iter().any(|known| known.op == edge.op);
                let read = readers(edge.op.result(0)).into_iter().map(|(op, _)| op);
                let read: Vec<_> = read.filter(|op| op.is("tile.run")).collect();
                if !known && !read.is_empty() {
                    edges.push(edge);
                    waiting.push(maker);
                    waiting.extend(read);
                }
            }
        }
        order.sort(&mut runs);
        let maker = |edge: &Connect<'c>| maker(edge.source).map(|maker| order.at[&maker]);
        edges.sort_by_key(|edge| (maker(edge), edge.source.index()));
        (!edges.is_empty()).then_some(Self { runs, edges })
    }

    /// Links between the members' nests: each reader and its maker.
    pub fn links(&self, nests: &[&Nest<'c>]) -> Vec<Link> {
        let mut found = Vec::new();
        for (reader, (run, nest)) in self.runs.iter().zip(nests).enumerate() {
            for (read, access) in nest.reads().into_iter().enumerate() {
                let operand = run.operand(access.argument().index());
                let maker = self.maker(operand).map(|maker| Link { reader, read, maker });
                found.extend(maker);
            }
        }
        found
    }

    /// The chain of the members' nests.
    pub fn chain<'n>(&self, nests: Vec<&'n Nest<'c>>) -> Chain<'n, 'c> {
        let links = self.links(&nests);
        let mut known: Vec<Val<'c>> = Vec::new();
        let mut number = |tensor: Val<'c>| {
            let at = known.iter().position(|own| *own == tensor);
            at.unwrap_or_else(|| {
                known.push(tensor);
                known.len() - 1
            })
        };
        let mut reads = |(run, nest): (&Op<'c>, &&Nest<'c>)| {
            let reads = nest.reads().into_iter();
            let tensors = reads.map(|access| root(run.operand(access.argument().index())));
            tensors.map(&mut number).collect()
        };
        let tensors = self.runs.iter().zip(&nests).map(&mut reads).collect();
        Chain { tensors, ..Chain::new(nests, links) }
    }

    /// The member that makes an operand.
    pub fn maker(&self, operand: Val<'c>) -> Option<usize> {
        let maker = source(operand)?;
        self.runs.iter().position(|run| *run == maker)
    }

    /// The memory in which a member's tiles wait for the others: that of its edge, or for what
    /// another reads without one, of the first.
    pub fn memory(&self, member: usize) -> Option<&'c str> {
        let own = |edge: &&Connect<'c>| maker(edge.source) == Some(self.runs[member]);
        let reads = |run: &Op<'c>| {
            run.operands().into_iter().any(|operand| self.maker(operand) == Some(member))
        };
        let edge = self.edges.iter().find(own).or(self.edges.first());
        edge.filter(|_| self.runs.iter().any(reads)).map(|edge| edge.memory)
    }

    /// Returns whether a run outside reads what a member makes.
    pub fn leaves(&self, member: usize) -> bool {
        let mut seen = self.runs[member].results();
        while let Some(value) = seen.pop() {
            for (op, _) in value.uses() {
                if View::of(op).is_some() || Connect::of(op).is_some() {
                    seen.push(op.result(0));
                } else if !self.runs.contains(&op) {
                    return true;
                }
            }
        }
        false
    }

    /// Returns whether two of its runs read what another one makes.
    pub fn meets(&self, maker: Op<'c>) -> bool {
        let reads = |run: &&Op<'c>| {
            run.operands().into_iter().any(|operand| source(operand) == Some(maker))
        };
        self.runs.iter().filter(reads).count() > 1
    }

    /// Reports a run that keeps the members from being one kernel.
    pub fn check(&self, order: &Order<'c>) -> Result<(), Failed> {
        if let Some((writer, maker)) = self.overwritten() {
            let [writer_name, maker_name] = [writer, maker].map(kernel_of);
            let what = format!(
                "@{writer_name} writes into what @{maker_name} makes, and both would be one kernel"
            );
            Report::new(writer.location(), what)
                .note(self.edges[0].op, "an edge of theirs is handed over near a unit here")
                .help("hand the tensor over in the shared memory");
            return Err(Failed);
        }
        let Some(outside) = self.outside(order) else { return Ok(()) };
        let (first, last) = (self.runs[0], self.runs[self.runs.len() - 1]);
        let [first, last] = [first, last].map(kernel_of);
        let what = format!("@{last} and @{first} cannot be one kernel");
        let outside_name = outside.attr("name").and_then(attr::string).unwrap_or("");
        Report::new(outside.location(), format!("{what}: \"{outside_name}\" lies between them"))
            .note(self.edges[0].op, "an edge of theirs is handed over near a unit here")
            .help("hand over all edges on the way, or none");
        Err(Failed)
    }

    /// A member that writes into a tensor that another one makes, and that one: a kernel of both would begin
    /// with its own result.
    fn overwritten(&self) -> Option<(Op<'c>, Op<'c>)> {
        self.runs.iter().find_map(|run| {
            let operands = run.operands();
            let mut into = operands[operands.len() - run.results().len()..].iter();
            into.find_map(|own| source(*own).filter(|maker| self.runs.contains(maker)))
                .map(|maker| (*run, maker))
        })
    }

    /// Returns whether no member writes into what another one makes, and no run outside reads from one member and is
    /// read by another, perhaps by way of others: were the members one node, it would lie on a circle with that.
    pub fn stands(&self, order: &Order<'c>) -> bool {
        if self.overwritten().is_some() {
            return false;
        }
        let first = order.at[&self.runs[0]];
        let shallowest = self.runs.iter().filter_map(|run| order.depths.get(run)).min();
        // Ways from a member get deeper with each run, and those of a long program are many.
        let may_come_from_one = |run: &Op<'c>| {
            order.at.get(run).is_some_and(|at| *at > first)
                && order.depths.get(run).zip(shallowest).is_none_or(|(own, least)| own > least)
        };
        let makers = |run: &Op<'c>| run.operands().into_iter().filter_map(source);
        let outside = |run: &Op<'c>| !self.runs.contains(run) && may_come_from_one(run);
        let mut waiting: Vec<Op<'c>> = self.runs.iter().flat_map(makers).filter(outside).collect();
        let mut seen: HashSet<Op<'c>> = waiting.iter().copied().collect();
        while let Some(run) = waiting.pop() {
            for maker in makers(&run) {
                if self.runs.contains(&maker) {
                    return false;
                }
                if may_come_from_one(&maker) && seen.insert(maker) {
                    waiting.push(maker);
                }
            }
        }
        true
    }

    /// The first run outside that keeps the members apart, if one does ([`Group::stands`]).
    fn outside(&self, order: &Order<'c>) -> Option<Op<'c>> {
        if self.stands(order) {
            return None;
        }
        let last = order.at[self.runs.last()?];
        let mut behind: HashSet<Op<'c>> = HashSet::new();
        let mut waiting = self.runs.clone();
        while let Some(run) = waiting.pop() {
            let readers = run.results().into_iter().flat_map(seen);
            let inside = |run: &Op<'c>| order.at[run] < last && !self.runs.contains(run);
            waiting.extend(readers.filter(inside).filter(|run| behind.insert(*run)));
        }
        let mut between: HashSet<Op<'c>> = HashSet::new();
        let mut waiting = self.runs.clone();
        while let Some(run) = waiting.pop() {
            let makers = run.operands().into_iter().filter_map(source);
            let makers = makers.filter(|maker| behind.contains(maker));
            waiting.extend(makers.filter(|maker| between.insert(*maker)));
        }
        between.into_iter().min_by_key(|run| order.at[run])
    }
}

/// The operation that makes an operand, however it is handed over.
fn source(operand: Val<'_>) -> Option<Op<'_>> {
    let op = operand.def()?;
    match (View::of(op), Connect::of(op)) {
        (Some(view), _) => source(view.source),
        (_, Some(edge)) => source(edge.source),
        _ => Some(op),
    }
}

/// The runs that read a tensor, however it is handed over.
fn seen(value: Val<'_>) -> Vec<Op<'_>> {
    let read = readers(value).into_iter().flat_map(|(op, _)| match Connect::of(op) {
        Some(edge) => seen(edge.op.result(0)),
        None => vec![op],
    });
    read.filter(|op| op.is("tile.run")).collect()
}

/// The run whose result a tensor is, perhaps seen through views.
pub(super) fn maker(value: Val<'_>) -> Option<Op<'_>> {
    root(value).def().filter(|op| op.is("tile.run"))
}

/// Returns whether a run overwrites a tensor that has no content yet.
pub(super) fn starts_empty(run: Op<'_>) -> bool {
    let inits = run.results().len();
    let operands = run.operands();
    let empty = |init: &Val<'_>| root(*init).def().is_some_and(|op| op.is("tile.empty"));
    operands[operands.len() - inits..].iter().all(empty)
}

/// The edge by which an operand is handed over, perhaps seen through views.
fn edge_of(operand: Val<'_>) -> Option<Connect<'_>> {
    let op = root(operand).def()?;
    Connect::of(op)
}
