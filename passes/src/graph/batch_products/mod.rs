//! `graph-batch-products`: products with one weight become one product of all their rows.
//!
//! ```text
//! a = x · W   b = y · W           what a layer makes of its inputs at two steps
//!   ->  z = [x; y]                one below the other
//!       c = z · W; a, b are rows of c
//! ```
//!
//! The weight is read once and not for every product, which is what products of few rows take
//! their time for. But who needs `a` then waits for `y`. So products become one where the machine
//! is bound to take less time for the model with it (`bound.rs`): two units read the weights of an
//! unrolled network all the time, a thousand need every step of its wavefront (Rammer, section 2).

mod bound;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use weft_dialects::device::Machine;
use weft_dialects::finds::Find;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Block, Form, Op, Val, remark};

use super::product::{Product, Side, Together, unite};
use crate::remarks::Refused;
use bound::Graph;

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-batch-products",
    description: "Make one product of products that share a weight",
    options: &[
        PassOption { name: "batch", description: "whether to do it", fallback: "true" },
        PassOption {
            name: "remarks",
            description: "say which products became one or stay apart, and both bounds",
            fallback: "false",
        },
    ],
    statistics: &[("batched", "products that became part of one")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let ops = run.module.body(0).map(Block::ops).unwrap_or_default();
    // Without a machine nothing says what a wait costs.
    let (batch, remarks) = (run.flag("batch")?, run.flag("remarks")?);
    let machine = Machine::of(run.module).filter(|_| batch);
    let Some(machine) = machine else { return Ok(()) };
    for model in ops.into_iter().filter(|op| op.is("graph.model")) {
        let body = model.body(0).ok_or(Failed)?;
        // Who asks for a length stands behind what finds it, though it may read nothing of that.
        if body.ops().into_iter().any(|op| Find::of(op).is_some()) {
            continue;
        }
        let graph = Graph::of(machine, body);
        let mut batches = batches(body, &graph);
        let taken = Choice::of(&graph, &batches).report(&batches, remarks);
        let mut taken = taken.into_iter();
        batches.retain(|_| taken.next() == Some(true));
        let mut together = Together::new();
        for batch in &batches {
            let products: Vec<_> = batch.products.iter().collect();
            unite(run.context, &products, &batch.side, &mut together);
            run.count("batched", products.len() as u64);
        }
        if !batches.is_empty() {
            sort(body);
        }
    }
    Ok(())
}

/// Products that may become one, none of which waits for another.
struct Batch<'c> {
    products: Vec<Product<'c>>,
    /// Their numbers in the graph.
    nodes: Vec<usize>,
    side: Side,
}

/// Batches have equal ones: what they compute, which operand is the input, and all others.
type Key<'c> = (Option<Form>, usize, Vec<Val<'c>>);

/// Products with equal weights whose rows can stand below each other, in the order of the first.
fn batches<'c>(body: Block<'c>, graph: &Graph) -> Vec<Batch<'c>> {
    let mut places: HashMap<Key<'c>, usize> = HashMap::new();
    let mut groups: Vec<Vec<(usize, Product<'c>, Side)>> = Vec::new();
    for (node, op) in body.ops().into_iter().enumerate().filter(|(_, op)| op.is("graph.op")) {
        let Some(product) = Product::of(op) else { continue };
        let Some(side) = product.side(product.input) else { continue };
        let mut operands = side.operands.iter().enumerate();
        let rows = operands.all(|(n, dim)| dim.is_some() == (n == product.input));
        if !rows || product.readers().is_err() {
            continue;
        }
        let others = op.operands().into_iter().enumerate().filter(|(n, _)| *n != product.input);
        let others = others.map(|(_, value)| value).collect();
        let key = (product.op.body(0).map(Form::of_block), product.input, others);
        let place = *places.entry(key).or_insert(groups.len());
        groups.resize_with(groups.len().max(place + 1), Vec::new);
        groups[place].push((node, product, side));
    }
    let mut found = Vec::new();
    let mut looks = bound::MOST_LOOKS;
    for group in groups.into_iter().filter(|group| group.len() > 1) {
        let nodes: Vec<usize> = group.iter().map(|(node, _, _)| *node).collect();
        let Some(depths) = graph.depths(&nodes, &mut looks) else { break };
        let mut at: HashMap<usize, usize> = HashMap::new();
        for ((node, product, side), depth) in group.into_iter().zip(depths) {
            let place = *at.entry(depth).or_insert(found.len());
            if place == found.len() {
                found.push(Batch { products: Vec::new(), nodes: Vec::new(), side });
            }
            found[place].products.push(product);
            found[place].nodes.push(node);
        }
    }
    found.retain(|batch| batch.nodes.len() > 1);
    found
}

/// Which batches become one product.
struct Choice<'a> {
    graph: &'a Graph,
    batches: &'a [Vec<usize>],
    taken: Vec<bool>,
    /// By batch that was refused by itself, the bound with it.
    refused: Vec<Option<f64>>,
    /// The bound with what was taken, and without anything.
    cycles: f64,
    apart: f64,
    looks: usize,
}

impl<'a> Choice<'a> {
    fn of<'c>(graph: &'a Graph, batches: &[Batch<'c>]) -> Chosen {
        let nodes: Vec<Vec<usize>> = batches.iter().map(|batch| batch.nodes.clone()).collect();
        let (taken, refused) = (vec![false; nodes.len()], vec![None; nodes.len()]);
        let apart = graph.cycles(&[]).unwrap_or(0.0);
        let looks = bound::MOST_LOOKS;
        let mut choice =
            Choice { graph, batches: &nodes, taken, refused, cycles: apart, apart, looks };
        if !nodes.is_empty() {
            choice.take(0, nodes.len());
        }
        let Choice { taken, refused, cycles, apart, .. } = choice;
        Chosen { taken, refused, cycles, apart }
    }

    /// Takes the batches of a range if all together pay; else each half by itself.
    fn take(&mut self, from: usize, to: usize) {
        if self.looks < self.graph.len() {
            return;
        }
        self.looks -= self.graph.len();
        let with = |n: usize| self.taken[n] || (from..to).contains(&n);
        let chosen: Vec<&[usize]> =
            (0..self.batches.len()).filter(|&n| with(n)).map(|n| &self.batches[n][..]).collect();
        match self.graph.cycles(&chosen) {
            Some(cycles) if cycles < self.cycles => {
                self.taken[from..to].fill(true);
                self.cycles = cycles;
            }
            _ if to - from > 1 => {
                let middle = from + (to - from) / 2;
                self.take(from, middle);
                self.take(middle, to);
            }
            with => self.refused[from] = with,
        }
    }
}

/// The choice, and the bounds that decided it.
struct Chosen {
    taken: Vec<bool>,
    refused: Vec<Option<f64>>,
    cycles: f64,
    apart: f64,
}

impl Chosen {
    fn report(self, batches: &[Batch<'_>], remarks: bool) -> Vec<bool> {
        let all = batches.iter().zip(&self.taken).zip(&self.refused);
        for ((batch, taken), refused) in all.filter(|_| remarks) {
            let (op, count) = (batch.products[0].op, batch.products.len());
            let (name, apart, cycles) = (super::named(op), self.apart, self.cycles);
            let said = match taken {
                true => format!(
                    "becomes one of {count} products: the model takes {cycles:.0} cycles or more, {apart:.0} with all apart"
                ),
                false => {
                    let why = format!("the model would not take less than {cycles:.0} cycles");
                    let why = Refused::by("bound", why);
                    let with =
                        |with| why.clone().met(format!("{with:.0} with it, {cycles:.0} without"));
                    let why = refused.map_or(why.clone(), with);
                    format!("stays apart from {} products with its weight: {why}", count - 1)
                }
            };
            remark(op, &format!("{name}{said}"));
        }
        self.taken
    }
}

/// Puts operators in an order in which each stands after what it reads, and changes it no further.
fn sort(body: Block<'_>) {
    let Some(end) = body.terminator() else { return };
    let ops: Vec<Op<'_>> = body.ops().into_iter().filter(|op| *op != end).collect();
    let places: HashMap<Op<'_>, usize> = ops.iter().copied().zip(0..).collect();
    let mut readers = vec![Vec::new(); ops.len()];
    let mut waits = vec![0; ops.len()];
    for (place, op) in ops.iter().enumerate() {
        for read in op.operands().iter().filter_map(|operand| places.get(&operand.def()?)) {
            readers[*read].push(place);
            waits[place] += 1;
        }
    }
    let ready = (0..ops.len()).filter(|&place| waits[place] == 0);
    let mut ready: BinaryHeap<Reverse<usize>> = ready.map(Reverse).collect();
    while let Some(Reverse(place)) = ready.pop() {
        ops[place].move_before(end);
        for &reader in &readers[place] {
            waits[reader] -= 1;
            if waits[reader] == 0 {
                ready.push(Reverse(reader));
            }
        }
    }
}
