//! What only moves the elements of a dequantised tensor moves its integers.
//!
//! ```text
//! transpose (s * (x - p))  ->  s * (transpose x - p)      one scale and zero point for all of the tensor
//! ```

use weft_dialects::graph::Operator;
use weft_dialects::graph::build::operator;
use weft_dialects::ir::payload::{Axis, Payload};
use weft_dialects::ir::{Block, Builder, Context, Linear, Mapping, Op, Type, Val, ty};

use super::dequantised::Dequantised;
use crate::length;
use crate::nest::{generic_accesses, generic_axes};

/// Lets an operator that only moves elements move integers, and puts their scale behind it.
pub(super) fn move_before_scale<'c>(context: &'c Context, op: Op<'c>) -> Option<()> {
    if op.operands().len() != 1 || op.results().len() != 1 || !only_moves(op) {
        return None;
    }
    // Where elements are repeated, one number for each of them would be more to read.
    let as_many = ty::count(op.operand(0).ty()) == ty::count(op.result(0).ty());
    let source = Dequantised::of(op.operand(0)).filter(|own| as_many && own.is_uniform())?;
    length::of_result(op)?;
    let elem = ty::elem(source.numbers.ty())?;
    let shape = ty::shape(op.result(0).ty())?;
    let mut b = Builder::before(context, op).with_location(op.location());
    let names = Operator::of(op).map(|own| [own.kind, own.name])?;
    let moved = ty::tensor(&shape, elem);
    let payload = op.body(0)?;
    let moved = operator(&mut b, names, &[source.numbers], &[moved], |new, args| {
        vec![moved_payload(new, payload, args[0], source.elem)]
    })[0];
    scale_behind(&mut b, op, &source, moved)
}

/// Puts the scale of dequantised numbers behind an operator that integers went through, in the place of the
/// operator on floats.
pub(super) fn scale_behind<'c>(
    b: &mut Builder<'c>,
    op: Op<'c>,
    source: &Dequantised<'c>,
    numbers: Val<'c>,
) -> Option<()> {
    let made = Operator::of(op.operand(0).def()?)?;
    let (shape, lengths) = (ty::shape(op.result(0).ty())?, length::of_result(op)?);
    let zero = source.zero.iter().map(|zero| zero.0);
    let operands: Vec<_> = [numbers].into_iter().chain(zero).chain([source.scale.0]).collect();
    let names = [made.kind, made.name];
    let scaled = operator(b, names, &operands, &[op.result(0).ty()], |new, args| {
        let made = dequantise(new, source, args, &shape);
        length::give(new.context(), made, &lengths);
        vec![made]
    })[0];
    op.result(0).replace_with(scaled);
    op.erase();
    Some(())
}

/// Numbers less their zero point, times their scale, both for the whole tensor.
fn dequantise<'c>(
    b: &mut Payload<'c>,
    source: &Dequantised<'c>,
    args: &[Val<'c>],
    shape: &[u64],
) -> Val<'c> {
    let context = b.context();
    let (long, single) = (ty::int(context, 32), Type::float32(context));
    let axes = shape.len();
    let identity: Vec<_> = (0..axes).map(|axis| Linear::axis(axes, axis)).collect();
    let target = b.empty(shape, single);
    let one = |value: &Val<'c>| {
        let rank = ty::shape(value.ty()).map_or(0, |shape| shape.len());
        (*value, vec![Linear::constant(axes, 0); rank])
    };
    let mut inputs = vec![(args[0], identity.clone())];
    inputs.extend(args[1..].iter().map(one));
    let kinds = vec![Axis::Parallel; axes];
    b.generic(&kinds, &inputs, &[(target, identity)], |scalar, args| {
        let widen = if source.signed { "arith.extsi" } else { "arith.extui" };
        let mut number = scalar.op(widen, &[args[0]], long);
        if source.zero.is_some() {
            let zero = scalar.op(widen, &[args[1]], long);
            number = scalar.sub(number, zero);
        }
        let number = scalar.op("arith.sitofp", &[number], single);
        vec![scalar.mul(number, args[1 + usize::from(source.zero.is_some())])]
    })[0]
}

/// The operations that give the elements of their operand in another shape.
const RESHAPES: [&str; 3] = ["tensor.expand_shape", "tensor.collapse_shape", "tensor.reshape"];

/// Returns whether every element of an operator's result is one of its operand.
fn only_moves(op: Op<'_>) -> bool {
    let copies = |nest: Op<'_>| {
        let ends = nest.body(0).and_then(|body| Some((body, body.terminator()?)));
        ends.is_some_and(|(body, end)| {
            end.operands() == [body.arg(0)]
                && body.ops().len() == 1
                && body.args().len() == 2
                && nest.operand(1).def().is_some_and(|op| op.is("tensor.empty"))
        })
    };
    let moves = |inner: &Op<'_>| match inner.name() {
        "tensor.empty" | "graph.yield" | "arith.constant" => true,
        "linalg.generic" => copies(*inner),
        name => RESHAPES.contains(&name),
    };
    op.body(0).is_some_and(|payload| payload.ops().iter().all(moves))
}

/// The payload of an operator that only moves elements, of others.
fn moved_payload<'c>(
    b: &mut Payload<'c>,
    payload: Block<'c>,
    numbers: Val<'c>,
    elem: Type<'c>,
) -> Val<'c> {
    let mut map = Mapping::default();
    map.set(payload.arg(0), numbers);
    let retyped = |value: Val<'c>| {
        ty::tensor(&ty::shape(value.ty()).expect("what is moved are tensors"), elem)
    };
    for inner in payload.ops() {
        let new = match inner.name() {
            "arith.constant" => {
                b.builder().clone_op(inner, &mut map);
                continue;
            }
            "tensor.empty" => {
                b.builder().op("tensor.empty", &[], &[retyped(inner.result(0))]).result(0)
            }
            "linalg.generic" => {
                let accesses = generic_accesses(inner).expect("it was read");
                let axes = generic_axes(inner).expect("it was read");
                let kinds: Vec<_> = axes.iter().map(|axis| axis.kind).collect();
                let [from, to] = &accesses[..] else { unreachable!("a copy has two operands") };
                let input = (map.get(from.tensor), from.index.clone());
                let output = (map.get(to.tensor), to.index.clone());
                let made = b.generic(&kinds, &[input], &[output], |_, args| vec![args[0]])[0];
                length::give(b.context(), made, &length::of_loops(&axes));
                made
            }
            "graph.yield" => return map.get(inner.operand(0)),
            name => {
                let operands: Vec<_> =
                    inner.operands().into_iter().map(|value| map.get(value)).collect();
                let types = [retyped(inner.result(0))];
                b.builder().op_with(name, &operands, &types, &inner.attrs(), 0).result(0)
            }
        };
        map.set(inner.result(0), new);
    }
    unreachable!("a payload ends with its results")
}
