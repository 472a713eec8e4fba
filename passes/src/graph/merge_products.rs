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
//! What is a product of what is read from the payload; no operator has a name here.

use std::collections::HashMap;

use weft_dialects::device::Machine;
use weft_dialects::ir::pass::{Failed, Pass, PassOption, Run};
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{
    Block, Builder, Context, Linear, Mapping, Op, Type, Val, attr, remark, ty,
};

use crate::nest::{copy_body, generic_accesses, generic_axes, generic_inputs};

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
    if run.option("merge") == "false" {
        return Ok(());
    }
    let remarks = run.option("remarks") == "true";
    let machine = Machine::of(run.module);
    for model in ops.into_iter().filter(|op| op.is("graph.model")) {
        let body = model.body(0).ok_or(Failed)?;
        let mut joined = Joined::new();
        for group in groups(body, machine, remarks) {
            run.count("merged", group.len() as u64);
            merge(run.context, &group, &mut joined);
        }
        drop_unread(body);
    }
    Ok(())
}

/// How much less than a handover costs is too small for one.
const SMALL: u64 = 10;

/// Instructions side by side that keep a machine busy.
const WIDE: u64 = 8;

/// An operator whose payload is one product of an input with a weight.
struct Product<'c> {
    op: Op<'c>,
    /// The nest that starts the sums, where there is one.
    start: Option<Op<'c>>,
    main: Op<'c>,
    /// The operand that is no weight.
    shared: usize,
    /// For each operand, the dimension along which weights are put side by side.
    joined: Vec<Option<usize>>,
    /// The same of the result.
    out: usize,
}

/// Products of a model that become one, by the tensor that they share. Weights that are used
/// again, as in every step of a recurrence, have to be put side by side the same way each time.
fn groups<'c>(
    body: Block<'c>,
    machine: Option<Machine<'c>>,
    remarks: bool,
) -> Vec<Vec<Product<'c>>> {
    let mut known: Vec<Product<'c>> = Vec::new();
    for op in body.ops().into_iter().filter(|op| op.is("graph.op")) {
        let Some(product) = product(op) else { continue };
        match narrow(&product, machine).and_then(|()| readers(&product)) {
            Ok(()) => known.push(product),
            Err(why) if remarks => {
                remark(op, &format!("{}stays a product of its own: {why}", super::named(op)));
            }
            Err(_) => {}
        }
    }
    let shared: HashMap<Op<'c>, Val<'c>> =
        known.iter().map(|product| (product.op, product.op.operand(product.shared))).collect();
    let mut lists = Lists { shared: &shared, of: HashMap::new(), numbers: HashMap::new() };
    let mut places: HashMap<Key<'c>, usize> = HashMap::new();
    let mut groups: Vec<Vec<Product<'c>>> = Vec::new();
    for product in known {
        let Some(with) = product.with(&mut lists) else {
            if remarks {
                let why = "another operator reads its weight, which would be held twice";
                let name = super::named(product.op);
                remark(product.op, &format!("{name}stays a product of its own: {why}"));
            }
            continue;
        };
        let key = (shared[&product.op], form(product.op), with);
        let place = *places.entry(key).or_insert(groups.len());
        groups.resize_with(groups.len().max(place + 1), Vec::new);
        groups[place].push(product);
    }
    groups.retain(|group| group.len() > 1);
    groups
}

/// Products with equal ones become one: the tensor that they share, what they compute, and
/// what their weights are multiplied with anywhere, by the numbers of [`Lists`].
type Key<'c> = (Val<'c>, String, Vec<usize>);

/// What each weight is multiplied with anywhere; equal lists have one number. A weight may be
/// used by every step of a long recurrence, so its uses are listed once.
struct Lists<'a, 'c> {
    /// What products share.
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

impl<'c> Product<'c> {
    /// For each weight, what it is multiplied with anywhere; `None` where it is also used
    /// otherwise.
    fn with(&self, lists: &mut Lists<'_, 'c>) -> Option<Vec<usize>> {
        let weights = (0..self.joined.len()).filter(|&operand| operand != self.shared);
        weights.map(|operand| lists.number(self.op.operand(operand))).collect()
    }
}

/// What a payload computes as text without names: equal for equal payloads.
fn form<'c>(op: Op<'c>) -> String {
    let mut seen: Vec<Val<'c>> = Vec::new();
    let mut text = String::new();
    op.walk(&mut |inner| {
        if inner == op {
            return;
        }
        let mut number = |value: Val<'c>| match seen.iter().position(|known| *known == value) {
            Some(number) => number,
            None => {
                seen.push(value);
                seen.len() - 1
            }
        };
        let operands: Vec<_> = inner.operands().into_iter().map(&mut number).collect();
        let results: Vec<_> =
            inner.results().into_iter().map(|value| (number(value), value.ty())).collect();
        let attrs: Vec<_> =
            inner.attrs().iter().map(|(name, value)| format!("{name}={value}")).collect();
        text += &format!("{} {operands:?} {attrs:?}", inner.name());
        for (result, ty) in results {
            text += &format!(" {result}:{ty}");
        }
        text += "\n";
    });
    let operands: Vec<_> = op.operands().iter().map(|value| value.ty().to_string()).collect();
    format!("{operands:?}\n{text}")
}

fn is_weight(value: Val<'_>) -> bool {
    value.def().is_some_and(|op| op.is("graph.weight") || op.is("graph.constant"))
}

/// Reads a payload of a product, and of nothing else.
fn product<'c>(op: Op<'c>) -> Option<Product<'c>> {
    let payload = op.body(0)?;
    let plain = ["arith.constant", "tensor.empty", "linalg.generic", "graph.yield"];
    let ops = payload.ops();
    if op.results().len() != 1 || !ops.iter().all(|inner| plain.contains(&inner.name())) {
        return None;
    }
    let generics: Vec<Op<'c>> =
        ops.iter().copied().filter(|inner| inner.is("linalg.generic")).collect();
    let (&main, start) = match &generics[..] {
        [main] => (main, None),
        [start, main] => (main, Some(*start)),
        _ => return None,
    };
    let (count, accesses) = (generic_inputs(main), generic_accesses(main).ok()?);
    let init = accesses.last()?.tensor.def()?;
    let begins = match start {
        Some(start) => init == start && start.results().len() == 1,
        None => init.is("tensor.empty"),
    };
    let yields = payload.terminator()?.operands() == main.results();
    if count != 2 || accesses.len() != 3 || !begins || !yields || !multiplies(main) {
        return None;
    }
    let operands = op.operands();
    let shared: Vec<usize> = (0..operands.len()).filter(|&n| !is_weight(operands[n])).collect();
    let [shared] = shared[..] else { return None };
    let number = |value: Val<'c>| {
        let inside = value.def().is_none() && value.owner_block() == Some(payload);
        inside.then(|| value.index())
    };
    let inputs = [number(accesses[0].tensor)?, number(accesses[1].tensor)?];
    let ours = inputs.iter().position(|input| *input == shared)?;
    let (tensor, weight) = (&accesses[ours], &accesses[1 - ours]);
    if inputs[0] == inputs[1] {
        return None;
    }
    let axes = generic_axes(main).ok()?;
    let side = |index: &[Linear], axis: usize| index.iter().position(|i| i.as_axis() == Some(axis));
    let own = |axis: &usize| {
        axes[*axis].kind == Axis::Parallel
            && !tensor.uses(*axis)
            && plainly(&weight.index, *axis)
            && plainly(&accesses[2].index, *axis)
    };
    let axis = (0..axes.len()).find(own)?;
    let out = side(&accesses[2].index, axis)?;
    let mut joined = vec![None; operands.len()];
    joined[inputs[1 - ours]] = side(&weight.index, axis);
    if let Some(start) = start {
        let own = generic_accesses(start).ok()?;
        let (place, inputs) = own.split_last()?;
        let axis = place.index.get(out)?.as_axis()?;
        if !plainly(&place.index, axis) || inputs.len() != generic_inputs(start) {
            return None;
        }
        for access in inputs {
            let input = number(access.tensor)?;
            if access.uses(axis) {
                let dim = side(&access.index, axis).filter(|_| plainly(&access.index, axis))?;
                if input == shared || joined[input].is_some_and(|known| known != dim) {
                    return None;
                }
                joined[input] = Some(dim);
            } else if input != shared && operands[input].uses().len() == 1 {
                // Not along the axis, so all products would have to have the same one.
                return None;
            }
        }
    }
    // What is neither shared nor put side by side would differ.
    let known = (0..operands.len()).all(|n| n == shared || joined[n].is_some());
    known.then_some(Product { op, start, main, shared, joined, out })
}

/// Whether an axis is one dimension by itself, and is in no other.
fn plainly(index: &[Linear], axis: usize) -> bool {
    let uses = index.iter().filter(|index| index.coefficients[axis] != 0);
    uses.count() == 1 && index.iter().any(|index| index.as_axis() == Some(axis))
}

/// Whether a body adds a product to what is there.
fn multiplies(main: Op<'_>) -> bool {
    let ops = main.body(0).map(Block::ops).unwrap_or_default();
    let has = |names: [&str; 2]| ops.iter().any(|op| names.contains(&op.name()));
    has(["arith.mulf", "arith.muli"]) && has(["arith.addf", "arith.addi"])
}

/// Whether a product alone is not wide enough for what the machine does side by side.
///
/// # Errors
/// How wide it is, and what is enough; or how long it takes beside others.
fn narrow<'c>(product: &Product<'c>, machine: Option<Machine<'c>>) -> Result<(), String> {
    let Some(machine) = machine else { return Ok(()) };
    let result = product.op.result(0).ty();
    let (Some(shape), Some(elem)) = (ty::shape(result), ty::elem(result)) else { return Ok(()) };
    let lanes = machine.lanes_units().into_iter().filter_map(|unit| unit.lanes_for(elem)).max();
    let sides = machine.instructions().into_iter().flat_map(|one| one.operand_types().pop());
    let side = sides.filter_map(ty::shape).flatten().max();
    let enough = WIDE * lanes.max(side).unwrap_or(1);
    let width = shape[product.out];
    if width > enough {
        return Err(format!("it is {width} wide, and {enough} are enough for the machine"));
    }
    // Units side by side do several products at once, unless each is too small to hand over.
    let Some(unit) = machine.units().into_iter().next().filter(|unit| unit.count > 1) else {
        return Ok(());
    };
    let axes = generic_axes(product.main).unwrap_or_default();
    let points: u64 = axes.iter().map(|axis| axis.extent).product();
    let ways = machine.moves().into_iter().filter_map(|way| way.latency_cycles).max();
    let cycles = points / lanes.unwrap_or(1).max(1) + 2 * ways.unwrap_or(0);
    if cycles * SMALL <= unit.handover_cycles {
        return Ok(());
    }
    let (count, name) = (unit.count, unit.name);
    Err(format!("about {cycles} cycles of it can go to one of {count} @{name}"))
}

/// Whether everybody who reads the result reads elements one by one, so that a slice is
/// only another index.
///
/// # Errors
/// Who does not.
fn readers(product: &Product<'_>) -> Result<(), String> {
    for (reader, place) in product.op.result(0).uses() {
        if !reader.is("graph.op") {
            return Err(format!("its result leaves by {}", reader.name()));
        }
        let arg = reader.body(0).ok_or("a reader has no payload")?.arg(place);
        for (user, operand) in arg.uses() {
            let elementwise = user.is("linalg.generic")
                && operand < generic_inputs(user)
                && generic_axes(user)
                    .is_ok_and(|axes| axes.iter().all(|axis| axis.kind == Axis::Parallel));
            if !elementwise {
                let name = reader.attr("name").and_then(attr::string).unwrap_or("a reader");
                return Err(format!("\"{name}\" reads it by {}, which would copy", user.name()));
            }
        }
    }
    Ok(())
}

/// Weights that were put side by side along a dimension, and the constant that they are.
type Joined<'c> = HashMap<(Vec<Val<'c>>, usize), Val<'c>>;

/// Makes one product of several, and slices for who reads them.
fn merge<'c>(context: &'c Context, group: &[Product<'c>], joined: &mut Joined<'c>) {
    let first = &group[0];
    let mut b = Builder::before(context, first.op).with_location(first.op.location());
    let operands: Vec<Val<'c>> = (0..first.joined.len())
        .map(|operand| match first.joined[operand] {
            None => first.op.operand(operand),
            Some(dim) => {
                let parts: Vec<_> =
                    group.iter().map(|product| product.op.operand(operand)).collect();
                // The first group stands before all others.
                let known = joined.entry((parts.clone(), dim));
                *known.or_insert_with(|| side_by_side(&mut b, &name(group), &parts, dim))
            }
        })
        .collect();
    let old = first.op.result(0).ty();
    let (size, whole) = longer(old, first.out, group.len());
    let merged = graph_op(&mut b, first.op, &name(group), &operands, whole, |payload, args| {
        payload_of(payload, first, args, ty::payload(context, whole))
    });
    for (number, product) in group.iter().enumerate() {
        let rank = ty::shape(old).map_or(0, |shape| shape.len());
        let mut offsets = vec![0; rank];
        offsets[first.out] = (number as u64 * size) as i64;
        for (reader, place) in product.op.result(0).uses() {
            read_slice(context, reader, place, merged, &offsets, old);
        }
        product.op.erase();
    }
}

/// Weights that only stand in what they became part of.
fn drop_unread(body: Block<'_>) {
    for op in body.ops().into_iter().filter(|op| op.results().iter().all(|v| is_weight(*v))) {
        if !op.results().is_empty() && op.result(0).uses().is_empty() {
            op.erase();
        }
    }
}

/// The names of all, for people.
fn name(group: &[Product<'_>]) -> String {
    let names = group.iter().filter_map(|product| product.op.attr("name").and_then(attr::string));
    names.collect::<Vec<_>>().join("+")
}

/// The type with a dimension `times` as long, and how long it was.
fn longer(old: Type<'_>, dim: usize, times: usize) -> (u64, Type<'_>) {
    let mut shape = ty::shape(old).expect("the payload was read");
    let size = shape[dim];
    shape[dim] *= times as u64;
    (size, ty::tensor(&shape, ty::elem(old).expect("the payload was read")))
}

fn graph_op<'c>(
    b: &mut Builder<'c>,
    like: Op<'c>,
    name: &str,
    operands: &[Val<'c>],
    result: Type<'c>,
    body: impl FnOnce(&mut Payload<'c>, &[Val<'c>]) -> Val<'c>,
) -> Val<'c> {
    let context = b.context();
    let kind = like.attr("kind").and_then(attr::string).unwrap_or("Product");
    let attrs =
        [("kind", attr::of_string(context, kind)), ("name", attr::of_string(context, name))];
    let op = b.op_with("graph.op", operands, &[result], &attrs, 1);
    let types: Vec<_> = operands.iter().map(|operand| ty::payload(context, operand.ty())).collect();
    let block = b.block(op.region(0), &types);
    let mut payload = Payload::new(context, block, b.location());
    let value = body(&mut payload, &block.args());
    payload.builder().op("graph.yield", &[value], &[]);
    op.result(0)
}

/// Weights one after the other along a dimension, as a constant.
fn side_by_side<'c>(b: &mut Builder<'c>, name: &str, parts: &[Val<'c>], dim: usize) -> Val<'c> {
    let context = b.context();
    // A weight has no operands, so it may as well be named here.
    let parts: Vec<Val<'c>> = parts
        .iter()
        .map(|part| {
            let op = part.def().expect("it is a weight");
            b.clone_op(op, &mut Mapping::default()).result(part.index())
        })
        .collect();
    let (size, whole) = longer(parts[0].ty(), dim, parts.len());
    let like = parts[0].def().expect("it is a weight");
    graph_op(b, like, name, &parts, whole, |payload, args| {
        let whole = ty::payload(context, whole);
        let (shape, elem) = (ty::shape(whole), ty::elem(whole));
        let (shape, elem) = (shape.expect("a tensor"), elem.expect("a tensor"));
        let mut all = payload.empty(&shape, elem);
        for (number, arg) in args.iter().enumerate() {
            let mut offsets = vec![0; shape.len()];
            offsets[dim] = (number as u64 * size) as i64;
            all = payload.insert(*arg, all, &offsets, &vec![1; shape.len()]);
        }
        all
    })
}

/// The payload of a product with a longer result.
fn payload_of<'c>(
    payload: &mut Payload<'c>,
    product: &Product<'c>,
    args: &[Val<'c>],
    whole: Type<'c>,
) -> Val<'c> {
    let (shape, elem) = (ty::shape(whole), ty::elem(whole));
    let mut place = payload.empty(&shape.expect("a tensor"), elem.expect("a tensor"));
    for generic in product.start.into_iter().chain([product.main]) {
        let count = generic_inputs(generic);
        let accesses = generic_accesses(generic).expect("the payload was read");
        let axes = generic_axes(generic).expect("the payload was read");
        let axes: Vec<Axis> = axes.iter().map(|axis| axis.kind).collect();
        let reads: Vec<_> = accesses[..count]
            .iter()
            .map(|access| (args[access.tensor.index()], access.index.clone()))
            .collect();
        let body = generic.body(0).expect("the payload was read");
        place =
            payload.generic(&axes, &reads, &[(place, accesses[count].index.clone())], |s, v| {
                copy_body(s.builder(), body, v, Mapping::default(), &[])
            })[0];
    }
    place
}

/// A reader takes a slice of `merged` where it took a result of type `old`.
fn read_slice<'c>(
    context: &'c Context,
    reader: Op<'c>,
    place: usize,
    merged: Val<'c>,
    offsets: &[i64],
    old: Type<'c>,
) {
    let Some(block) = reader.body(0) else { return };
    let arg = block.arg(place);
    let Some(first) = block.ops().first().copied() else { return };
    reader.set_operand(place, merged);
    arg.set_ty(ty::payload(context, merged.ty()));
    let mut b = Builder::before(context, first).with_location(reader.location());
    let sizes = ty::shape(old).expect("the payload was read");
    let sizes: Vec<_> = sizes.iter().map(|&size| size as i64).collect();
    let attrs = [
        ("static_offsets", attr::of_ints(context, offsets)),
        ("static_sizes", attr::of_ints(context, &sizes)),
        ("static_strides", attr::of_ints(context, &vec![1; sizes.len()])),
        ("operandSegmentSizes", attr::of_ints32(context, &[1, 0, 0, 0])),
    ];
    let part = ty::payload(context, old);
    let slice = b.op_with("tensor.extract_slice", &[arg], &[part], &attrs, 0);
    arg.replace_with(slice.result(0));
    slice.set_operand(0, arg);
}
