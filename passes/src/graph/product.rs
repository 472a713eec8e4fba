//! Products of a tensor with weights, as payloads write them: read, and written larger.
//!
//! Products are read from the payload; operators have no names here.

use std::collections::HashMap;

use weft_dialects::device::Machine;
use weft_dialects::graph::build::operator;
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Block, Builder, Context, Linear, Mapping, Op, Type, Val, attr, ty};

use crate::length;
use crate::nest::{
    Access, Loop, copy_body, generic_accesses, generic_axes, generic_inputs, index_axis,
};
use crate::remarks::Refused;
use crate::tile::isa::the_generic;

/// An operator whose payload is one product of an input with a weight.
pub(super) struct Product<'c> {
    pub op: Op<'c>,
    /// The nest that starts the sums, where there is one.
    start: Option<Op<'c>>,
    pub main: Op<'c>,
    /// The operand that is no weight.
    pub input: usize,
    /// The operand that it is multiplied with.
    pub weight: usize,
}

/// The way in which products are joined to one.
pub(super) struct Side {
    /// For each operand, the dimension along which it grows; `None` where all have the same one.
    pub operands: Vec<Option<usize>>,
    /// The dimension along which the result grows.
    pub out: usize,
}

impl<'c> Product<'c> {
    /// Reads a payload of a product, and of nothing else.
    pub fn of(op: Op<'c>) -> Option<Self> {
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
        let accesses = generic_accesses(main).ok()?;
        let init = accesses.last()?.tensor.def()?;
        let begins = match start {
            Some(start) => {
                init == start && start.results().len() == 1 && begins_empty(payload, start)
            }
            None => init.is("tensor.empty"),
        };
        let yields = payload.terminator()?.operands() == main.results();
        let two = generic_inputs(main) == 2 && accesses.len() == 3;
        let sums = generic_axes(main).ok()?.iter().any(|axis| axis.kind == Axis::Reduction);
        let places = generics.iter().any(|one| asks_for_places(*one));
        if !two || !begins || !yields || !sums || places || !multiplies(main) {
            return None;
        }
        let operands = op.operands();
        // Of no elements there is nothing to put side by side.
        if operands.iter().any(|operand| ty::count(operand.ty()) == Some(0)) {
            return None;
        }
        let others: Vec<usize> = (0..operands.len()).filter(|&n| !is_weight(operands[n])).collect();
        let [input] = others[..] else { return None };
        let factors = [argument(payload, &accesses[0])?, argument(payload, &accesses[1])?];
        let weight = match factors {
            [first, second] if first == input && second != input => second,
            [first, second] if second == input && first != input => first,
            _ => return None,
        };
        Some(Self { op, start, main, input, weight })
    }

    /// Returns how products with other values of the operand `moving`, the input or the weight, are
    /// put side by side: along an axis that only it and the result have.
    pub fn side(&self, moving: usize) -> Option<Side> {
        let payload = self.op.body(0)?;
        let accesses = generic_accesses(self.main).ok()?;
        let axes = generic_axes(self.main).ok()?;
        let of = |operand: usize| {
            accesses[..2].iter().find(|access| argument(payload, access) == Some(operand))
        };
        let still = if moving == self.input { self.weight } else { self.input };
        let (moved, still, result) = (of(moving)?, of(still)?, &accesses[2]);
        let own = |axis: &usize| {
            axes[*axis].kind == Axis::Parallel
                && axes[*axis].length.is_none()
                && !still.uses(*axis)
                && plainly(&moved.index, *axis)
                && plainly(&result.index, *axis)
        };
        let axis = (0..axes.len()).find(own)?;
        let out = dimension(&result.index, axis)?;
        let mut operands = vec![None; self.op.operands().len()];
        operands[moving] = dimension(&moved.index, axis);
        let Some(start) = self.start else { return Some(Side { operands, out }) };
        let own = generic_accesses(start).ok()?;
        let (place, reads) = own.split_last()?;
        let axis = place.index.get(out)?.as_axis()?;
        let fixed = generic_axes(start).ok()?[axis].length.is_none();
        if !fixed || !plainly(&place.index, axis) || reads.len() != generic_inputs(start) {
            return None;
        }
        for access in reads.iter().filter(|access| access.uses(axis)) {
            let operand = argument(payload, access)?;
            let dim = dimension(&access.index, axis).filter(|_| plainly(&access.index, axis))?;
            if operands[operand].is_some_and(|known| known != dim) {
                return None;
            }
            operands[operand] = Some(dim);
        }
        let grows = |access| argument(payload, access).is_some_and(|n| operands[n].is_some());
        if reads.iter().any(|access| grows(access) != access.uses(axis)) {
            return None;
        }
        Some(Side { operands, out })
    }

    /// The product of operands of which some are longer; it stands where `b` does.
    pub fn larger(
        &self,
        b: &mut Builder<'c>,
        name: &str,
        operands: &[Val<'c>],
        whole: Type<'c>,
    ) -> Val<'c> {
        let kind = self.op.attr("kind").and_then(attr::string).unwrap_or("Product");
        graph_op(b, [kind, name], operands, whole, |payload, args| self.body(payload, args, whole))
    }

    fn body(&self, payload: &mut Payload<'c>, args: &[Val<'c>], whole: Type<'c>) -> Val<'c> {
        let whole = ty::payload(payload.context(), whole);
        let (shape, elem) = (ty::shape(whole), ty::elem(whole));
        let mut place = payload.empty(&shape.expect("a tensor"), elem.expect("a tensor"));
        for generic in self.start.into_iter().chain([self.main]) {
            let count = generic_inputs(generic);
            let accesses = generic_accesses(generic).expect("the payload was read");
            let axes = generic_axes(generic).expect("the payload was read");
            let kinds: Vec<Axis> = axes.iter().map(|axis| axis.kind).collect();
            let reads: Vec<_> = accesses[..count]
                .iter()
                .map(|access| (args[access.tensor.index()], access.index.clone()))
                .collect();
            let body = generic.body(0).expect("the payload was read");
            place = payload.generic(
                &kinds,
                &reads,
                &[(place, accesses[count].index.clone())],
                |s, v| copy_body(s.builder(), body, v, Mapping::default(), &[]),
            )[0];
            length::give(payload.context(), place, &length::of_loops(&axes));
        }
        place
    }

    /// Returns whether everybody who reads the result reads elements one by one, so that a slice is
    /// only another index.
    ///
    /// # Errors
    /// The consumer that does not.
    pub fn readers(&self) -> Result<(), Refused> {
        for (reader, place) in self.op.result(0).uses() {
            if !reader.is("graph.op") {
                let why = format!("its result leaves by {}", reader.name());
                return Err(Refused::by("leaves", why));
            }
            let payload = reader.body(0);
            let payload = payload.ok_or_else(|| Refused::by("payload", "a reader has none"))?;
            let arg = payload.arg(place);
            for (user, operand) in arg.uses() {
                let elementwise = user.is("linalg.generic")
                    && operand < generic_inputs(user)
                    && generic_axes(user)
                        .is_ok_and(|axes| axes.iter().all(|axis| axis.kind == Axis::Parallel));
                if !elementwise {
                    let name = reader.attr("name").and_then(attr::string).unwrap_or("a reader");
                    let why = format!("\"{name}\" reads it by {}, which would copy", user.name());
                    return Err(Refused::by("copies", why));
                }
            }
        }
        Ok(())
    }
}

pub(super) fn is_weight(value: Val<'_>) -> bool {
    value.def().is_some_and(|op| op.is("graph.weight") || op.is("graph.constant"))
}

/// The number of the payload's argument that an access reads.
fn argument<'c>(payload: Block<'c>, access: &Access<'c>) -> Option<usize> {
    let value = access.tensor;
    (value.def().is_none() && value.owner_block() == Some(payload)).then(|| value.index())
}

/// The dimension that is an axis by itself.
fn dimension(index: &[Linear], axis: usize) -> Option<usize> {
    index.iter().position(|i| i.as_axis() == Some(axis))
}

/// Returns whether an axis is one dimension by itself, and is in no other.
fn plainly(index: &[Linear], axis: usize) -> bool {
    let uses = index.iter().filter(|index| index.coefficients[axis] != 0);
    uses.count() == 1 && dimension(index, axis).is_some()
}

/// Returns whether a start reads arguments alone, and nothing of where it begins.
fn begins_empty<'c>(payload: Block<'c>, start: Op<'c>) -> bool {
    let count = generic_inputs(start);
    generic_accesses(start).is_ok_and(|accesses| {
        accesses[..count].iter().all(|access| argument(payload, access).is_some())
            && accesses[count].tensor.def().is_some_and(|op| op.is("tensor.empty"))
    })
}

/// Returns whether a body computes with where it is: rows of several products are elsewhere.
fn asks_for_places(generic: Op<'_>) -> bool {
    generic.body(0).is_some_and(|body| body.ops().iter().any(|op| index_axis(*op).is_some()))
}

/// The product of its two inputs that a body adds to what is there, where it does nothing else.
pub(super) fn added_product(body: Block<'_>) -> Option<Op<'_>> {
    let (product, extends) = added_extended(body)?;
    extends.iter().all(Option::is_none).then_some(product)
}

/// The same of inputs that may be extended first, and what extends each.
pub(super) fn added_extended<'c>(body: Block<'c>) -> Option<(Op<'c>, [Option<Op<'c>>; 2])> {
    let [one, other, so_far] = body.args()[..] else { return None };
    let (extends, rest): (Vec<Op<'c>>, _) =
        body.ops().into_iter().partition(|op| op.is("arith.extf"));
    let [product, sum, end] = rest[..] else { return None };
    let extends_each =
        [one, other].map(|input| extends.iter().copied().find(|extend| extend.operand(0) == input));
    if extends_each.iter().flatten().count() != extends.len() {
        return None;
    }
    let both = |op: Op<'_>, values: [Val<'_>; 2]| {
        let operands = op.operands();
        operands == values || operands == [values[1], values[0]]
    };
    let multiplies = product.is("arith.mulf") || product.is("arith.muli");
    let adds = sum.is("arith.addf") || sum.is("arith.addi");
    let factor = |side: usize, input| extends_each[side].map_or(input, |extend| extend.result(0));
    let whole = multiplies
        && adds
        && both(product, [factor(0, one), factor(1, other)])
        && both(sum, [so_far, product.result(0)])
        && end.operands() == sum.results();
    whole.then_some((product, extends_each))
}

/// The product of a nest that sums products of `f32` and does nothing else.
pub(super) fn whole_product(op: Op<'_>) -> Option<Op<'_>> {
    if !op.is("linalg.generic") {
        return None;
    }
    let sums = generic_axes(op).ok()?.iter().any(|axis| axis.kind == Axis::Reduction);
    let product = added_product(op.body(0)?)?;
    let single = product.result(0).ty().to_string() == "f32";
    (sums && single).then_some(product)
}

/// Returns whether an instruction adds products of floats of a type to sums of a wider one.
pub(super) fn multiplies_extended<'c>(machine: Machine<'c>, [narrow, sums]: [Type<'c>; 2]) -> bool {
    let extends = |value: &Val<'c>| {
        value.def().is_some_and(|op| op.is("arith.extf") && op.operand(0).ty() == narrow)
    };
    let multiplies = |body: Block<'c>| {
        let ops = body.ops();
        let product = ops.iter().find(|op| op.is("arith.mulf"));
        product.is_some_and(|op| op.operands().iter().all(extends) && op.result(0).ty() == sums)
    };
    let instructions = machine.instructions();
    instructions
        .iter()
        .any(|own| the_generic(own).and_then(|op| op.body(0)).is_some_and(multiplies))
}

/// The elements of a tensor of a payload that an access of a nest reads, each by an operation that makes another
/// type of it.
pub(super) fn converted<'c>(
    b: &mut Payload<'c>,
    by: &str,
    (axes, access): (&[Loop], &Access<'c>),
    elem: Type<'c>,
) -> Val<'c> {
    let (tensor, lengths) = (access.tensor, length::of_access(axes, access));
    let shape = ty::shape(tensor.ty()).expect("a factor is a tensor");
    let place: Vec<_> = (0..shape.len()).map(|axis| Linear::axis(shape.len(), axis)).collect();
    let target = b.empty(&shape, elem);
    let kinds = vec![Axis::Parallel; shape.len()];
    let made = b.generic(&kinds, &[(tensor, place.clone())], &[(target, place)], |scalar, args| {
        vec![scalar.op(by, &[args[0]], elem)]
    })[0];
    length::give(b.context(), made, &lengths);
    made
}

/// Returns whether a value of a payload is a weight or a literal, perhaps in another shape.
pub(super) fn is_constant(value: Val<'_>) -> bool {
    match (value.def(), value.owner_block().and_then(|block| block.parent())) {
        (Some(op), _) if op.is("arith.constant") => true,
        (Some(op), _) if matches!(op.name(), "graph.weight" | "graph.constant") => true,
        (Some(op), _) => {
            let shapes = ["tensor.reshape", "tensor.expand_shape", "tensor.collapse_shape"];
            shapes.contains(&op.name()) && is_constant(op.operand(0))
        }
        (None, Some(around)) if around.is("graph.op") => is_constant(around.operand(value.index())),
        (None, _) => false,
    }
}

/// Returns whether a body adds a product to what is there.
fn multiplies(main: Op<'_>) -> bool {
    let ops = main.body(0).map(Block::ops).unwrap_or_default();
    let has = |names: [&str; 2]| ops.iter().any(|op| names.contains(&op.name()));
    has(["arith.mulf", "arith.muli"]) && has(["arith.addf", "arith.addi"])
}

/// Tensors of one type, one after the other along a dimension.
pub(super) type Together<'c> = HashMap<(Vec<Val<'c>>, usize), Val<'c>>;

/// Makes one product of several that are equal but for what grows, before the first, and slices
/// for who reads them. What was put together once is used again.
pub(super) fn unite<'c>(
    context: &'c Context,
    group: &[&Product<'c>],
    side: &Side,
    together: &mut Together<'c>,
) {
    let first = group[0].op;
    let mut b = Builder::before(context, first).with_location(first.location());
    let names = group.iter().filter_map(|product| product.op.attr("name").and_then(attr::string));
    let name = names.collect::<Vec<_>>().join("+");
    let operands: Vec<Val<'c>> = (0..side.operands.len())
        .map(|operand| match side.operands[operand] {
            None => first.operand(operand),
            Some(dim) => {
                let parts: Vec<_> =
                    group.iter().map(|product| product.op.operand(operand)).collect();
                // If a later group precedes it in the text, the pass orders both.
                let known = together.entry((parts.clone(), dim));
                *known.or_insert_with(|| {
                    cut_from(&parts, dim)
                        .unwrap_or_else(|| side_by_side(&mut b, &name, &parts, dim))
                })
            }
        })
        .collect();
    let old = first.result(0).ty();
    let (size, whole) = longer(old, side.out, group.len());
    let united = group[0].larger(&mut b, &name, &operands, whole);
    for (number, product) in group.iter().enumerate() {
        let mut offsets = vec![0; ty::shape(old).map_or(0, |shape| shape.len())];
        offsets[side.out] = (number as u64 * size) as i64;
        for (reader, place) in product.op.result(0).uses() {
            read_slice(context, reader, place, united, &offsets, old);
        }
        product.op.erase();
    }
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
    [kind, name]: [&str; 2],
    operands: &[Val<'c>],
    result: Type<'c>,
    body: impl FnOnce(&mut Payload<'c>, &[Val<'c>]) -> Val<'c>,
) -> Val<'c> {
    let body = |payload: &mut Payload<'c>, args: &[Val<'c>]| vec![body(payload, args)];
    operator(b, [kind, name], operands, &[result], body).remove(0)
}

/// The tensor whose slices some are, one after the other along a dimension up to its end.
fn cut_from<'c>(parts: &[Val<'c>], dim: usize) -> Option<Val<'c>> {
    let (size, whole) = longer(parts[0].ty(), dim, parts.len());
    let sizes: Vec<i64> = ty::shape(parts[0].ty())?.iter().map(|&size| size as i64).collect();
    let source = |(number, part): (usize, &Val<'c>)| {
        let op = part.def().filter(|op| op.is("graph.op"))?;
        let payload = op.body(0)?;
        let slice = payload.terminator()?.operand(part.index()).def()?;
        let ints = |name: &str| slice.attr(name).and_then(attr::ints);
        let mut offsets = vec![0; sizes.len()];
        offsets[dim] = (number as u64 * size) as i64;
        let cut = slice.is("tensor.extract_slice")
            && ints("static_offsets")? == offsets
            && ints("static_sizes")? == sizes
            && ints("static_strides")?.iter().all(|&stride| stride == 1);
        let arg = slice.operands().first().copied().filter(|_| cut)?;
        let inside = arg.def().is_none() && arg.owner_block() == Some(payload);
        inside.then(|| op.operand(arg.index()))
    };
    let first = source((0, &parts[0])).filter(|source| source.ty() == whole)?;
    parts.iter().enumerate().all(|part| source(part) == Some(first)).then_some(first)
}

/// Tensors one after the other along a dimension; of weights, a constant.
fn side_by_side<'c>(b: &mut Builder<'c>, name: &str, parts: &[Val<'c>], dim: usize) -> Val<'c> {
    let context = b.context();
    // A weight has no operands, so it may as well be named here.
    let parts: Vec<Val<'c>> = parts
        .iter()
        .map(|&part| match part.def().filter(|_| is_weight(part)) {
            Some(op) => b.clone_op(op, &mut Mapping::default()).result(part.index()),
            None => part,
        })
        .collect();
    let (size, whole) = longer(parts[0].ty(), dim, parts.len());
    graph_op(b, ["Concat", name], &parts, whole, |payload, args| {
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

/// A reader takes a slice of `united` where it took a result of type `old`.
fn read_slice<'c>(
    context: &'c Context,
    reader: Op<'c>,
    place: usize,
    united: Val<'c>,
    offsets: &[i64],
    old: Type<'c>,
) {
    let Some(block) = reader.body(0) else { return };
    let arg = block.arg(place);
    let first = block.ops()[0];
    reader.set_operand(place, united);
    arg.set_ty(ty::payload(context, united.ty()));
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
