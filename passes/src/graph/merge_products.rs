//! `graph-merge-products`: products of one tensor with several weights become one product.
//!
//! ```text
//! z = x · Wz   r = x · Wr   n = x · Wn        three gates of a cell
//!   ->  W = [Wz Wr Wn]                        a constant, evaluated once
//!       y = x · W; z, r, n are slices of y
//! ```
//!
//! One product fills the lanes of wide instructions where each gate alone does not, and reads
//! `x` once (ISA Mapper, section 5.2: gates fuse along n). Slices are index expressions of who
//! reads them, so nothing is copied; where a reader would have to copy, products stay apart.
//! So do products that are wide enough: rows of a wider weight are farther apart.

use std::collections::HashMap;

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::{Block, Form, Op, Val, remark, ty};

use super::product::{Product, Side, Together, is_weight, unite};
use crate::nest::generic_axes;
use crate::remarks::Refused;

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-merge-products",
    description: "Make one product of products that share an input",
    options: &[
        PassOption { name: "merge", description: "whether to do it", fallback: "true" },
        PassOption {
            name: "remarks",
            description: "say which products stay apart, and why",
            fallback: "false",
        },
    ],
    statistics: &[("merged", "products that became part of one")],
    run,
};

fn run(run: &mut Run<'_>) -> Result<(), Failed> {
    let ops = run.module.body(0).map(Block::ops).unwrap_or_default();
    let (merge, remarks) = (run.flag("merge")?, run.flag("remarks")?);
    if !merge {
        return Ok(());
    }
    let machine = Machine::of(run.module);
    for model in ops.into_iter().filter(|op| op.is("graph.model")) {
        let body = model.body(0).ok_or(Failed)?;
        let mut together = Together::new();
        for group in groups(body, machine, remarks) {
            run.count("merged", group.len() as u64);
            let (products, sides): (Vec<_>, Vec<_>) =
                group.iter().map(|(product, side)| (product, side)).unzip();
            unite(run.context, &products, sides[0], &mut together);
        }
        drop_unread(body);
    }
    Ok(())
}

/// A product of a handover's cost divided by this is too small for one.
const SMALL: u64 = 10;

/// Instructions side by side that keep a machine busy.
const WIDE: u64 = 8;

/// A product, and how weights are put side by side for it.
type Gate<'c> = (Product<'c>, Side);

/// Products of a model that become one, by the tensor that they share. Weights that are used
/// again, as in every step of a recurrence, have to be put side by side the same way each time.
fn groups<'c>(body: Block<'c>, machine: Option<Machine<'c>>, remarks: bool) -> Vec<Vec<Gate<'c>>> {
    let mut known: Vec<Gate<'c>> = Vec::new();
    for op in body.ops().into_iter().filter(|op| op.is("graph.op")) {
        let Some((product, side)) = gate(op) else { continue };
        match narrow(&product, side.out, machine).and_then(|()| product.readers()) {
            Ok(()) => known.push((product, side)),
            Err(why) if remarks => {
                remark(op, &format!("{}stays a product of its own: {why}", super::named(op)));
            }
            Err(_) => {}
        }
    }
    let shared: HashMap<Op<'c>, Val<'c>> =
        known.iter().map(|(product, _)| (product.op, product.op.operand(product.input))).collect();
    let mut lists = Lists { shared: &shared, of: HashMap::new(), numbers: HashMap::new() };
    let mut places: HashMap<Key<'c>, usize> = HashMap::new();
    let mut groups: Vec<Vec<Gate<'c>>> = Vec::new();
    for (product, side) in known {
        let weights = (0..side.operands.len()).filter(|&operand| operand != product.input);
        let with = weights.map(|operand| lists.number(product.op.operand(operand)));
        let Some(with) = with.collect::<Option<Vec<_>>>() else {
            if remarks {
                let why = "another operator reads its weight, which would be held twice";
                let why = Refused::by("weight", why);
                let name = super::named(product.op);
                remark(product.op, &format!("{name}stays a product of its own: {why}"));
            }
            continue;
        };
        let form = product.op.body(0).map(Form::of_block);
        let key = (shared[&product.op], form, product.input, with);
        let place = *places.entry(key).or_insert(groups.len());
        groups.resize_with(groups.len().max(place + 1), Vec::new);
        groups[place].push((product, side));
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// Products with equal ones become one: the tensor that they share, what they compute, which
/// operand that is, and what their weights are multiplied with anywhere, by the numbers of [`Lists`].
type Key<'c> = (Val<'c>, Option<Form>, usize, Vec<usize>);

/// The operands that each weight is multiplied with; equal lists have one number. A weight may be
/// used by every step of a long recurrence, so its uses are listed once.
struct Lists<'a, 'c> {
    /// The operand that products share.
    shared: &'a HashMap<Op<'c>, Val<'c>>,
    /// `None` where it is also used otherwise.
    of: HashMap<Val<'c>, Option<usize>>,
    numbers: HashMap<Vec<Val<'c>>, usize>,
}

impl<'c> Lists<'_, 'c> {
    fn number(&mut self, weight: Val<'c>) -> Option<usize> {
        if let Some(known) = self.of.get(&weight) {
            return *known;
        }
        let uses = weight.uses().into_iter();
        let list = uses.map(|(user, _)| self.shared.get(&user).copied()).collect::<Option<_>>();
        let next = self.numbers.len();
        let number = list.map(|list| *self.numbers.entry(list).or_insert(next));
        self.of.insert(weight, number);
        number
    }
}

/// A product of which all but the input can be put side by side along its columns.
fn gate(op: Op<'_>) -> Option<Gate<'_>> {
    let product = Product::of(op)?;
    let side = product.side(product.weight)?;
    let mut grows = side.operands.iter().enumerate();
    let columns = grows.all(|(n, dim)| dim.is_some() == (n != product.input));
    columns.then_some((product, side))
}

/// Returns whether a product alone is not wide enough for what the machine does side by side.
///
/// # Errors
/// The reason: its width and a sufficient width, or its cycles beside others.
fn narrow<'c>(
    product: &Product<'c>,
    columns: usize,
    machine: Option<Machine<'c>>,
) -> Result<(), Refused> {
    let Some(machine) = machine else { return Ok(()) };
    let result = product.op.result(0).ty();
    let (Some(shape), Some(elem)) = (ty::shape(result), ty::elem(result)) else { return Ok(()) };
    let lanes = machine.lanes_units().into_iter().filter_map(|unit| unit.lanes_for(elem)).max();
    let sides = machine.instructions().into_iter().flat_map(|one| one.operand_types().pop());
    let side = sides.filter_map(ty::shape).flatten().max();
    let enough = WIDE * lanes.max(side).unwrap_or(1);
    let width = shape[columns];
    if width > enough {
        let why = format!("it is {width} wide, and {enough} are enough for the machine");
        return Err(Refused::by("width", why));
    }
    // Units side by side do several products at once, unless each is too small to hand over.
    let Some(unit) = machine.units().into_iter().next().filter(|unit| unit.count() > 1) else {
        return Ok(());
    };
    let axes = generic_axes(product.main).unwrap_or_default();
    let points: u64 = axes.iter().map(|axis| axis.extent).product();
    let ways = machine.moves().into_iter().filter_map(|way| way.latency_cycles()).max();
    let cycles = points / lanes.unwrap_or(1).max(1) + 2 * ways.unwrap_or(0);
    if cycles * SMALL <= unit.handover_cycles() {
        return Ok(());
    }
    let (count, name) = (unit.count(), unit.name);
    let why = format!("about {cycles} cycles of it can go to one of {count} @{name}");
    let values =
        format!("{SMALL} times {cycles} cycles, a handover takes {}", unit.handover_cycles());
    Err(Refused::by("units", why).met(values))
}

/// Weights that only stand in what they became part of.
fn drop_unread(body: Block<'_>) {
    for op in body.ops().into_iter().filter(|op| op.results().iter().all(|v| is_weight(*v))) {
        if !op.results().is_empty() && op.result(0).uses().is_empty() {
            op.erase();
        }
    }
}
