//! Operators with some operations of their payload written otherwise.

use weft_dialects::graph::Operator;
use weft_dialects::graph::build::operator;
use weft_dialects::ir::payload::Payload;
use weft_dialects::ir::{Builder, Context, Mapping, Op, Val};

/// Takes away the operands of an operator that its payload does not read, and what in the payload
/// nobody reads; the operator that stands there then.
pub(super) fn drop_unread<'c>(context: &'c Context, op: Op<'c>) -> Op<'c> {
    let payload = op.body(0).expect("an operator has a payload");
    for inner in payload.ops().into_iter().rev() {
        if !inner.is("graph.yield") && inner.results().iter().all(|own| own.uses().is_empty()) {
            inner.erase();
        }
    }
    let kept: Vec<usize> =
        (0..op.operands().len()).filter(|&n| !payload.arg(n).uses().is_empty()).collect();
    rewritten(context, op, (&kept, &[]), &|_, _, _, _| None)
}

/// Writes what stands for an operation of a payload, from what the others became and from the arguments
/// that are new; `None` where it stays. Of operations with one result.
pub(super) type Instead<'f, 'c> =
    dyn Fn(&mut Payload<'c>, Op<'c>, &Mapping<'c>, &[Val<'c>]) -> Option<Val<'c>> + 'f;

/// Puts an operator of the same name in the place of one, with those of its operands that are `kept`, by
/// their numbers, and `more` behind them.
pub(super) fn rewritten<'c>(
    context: &'c Context,
    op: Op<'c>,
    (kept, more): (&[usize], &[Val<'c>]),
    instead: &Instead<'_, 'c>,
) -> Op<'c> {
    let Operator { kind, name, parameters, payload, .. } =
        Operator::of(op).expect("it is an operator");
    let own = kept.iter().map(|&n| op.operand(n));
    let operands: Vec<_> = own.chain(more.iter().copied()).collect();
    let types: Vec<_> = op.results().iter().map(|result| result.ty()).collect();
    let mut b = Builder::before(context, op).with_location(op.location());
    let results = operator(&mut b, [kind, name], &operands, &types, |new, args| {
        let mut map = Mapping::default();
        for (&own, arg) in kept.iter().zip(args) {
            map.set(payload.arg(own), *arg);
        }
        for inner in payload.ops().into_iter().filter(|inner| !inner.is("graph.yield")) {
            match instead(new, inner, &map, &args[kept.len()..]) {
                Some(value) => map.set(inner.result(0), value),
                None => drop(new.builder().clone_op(inner, &mut map)),
            }
        }
        let end = payload.terminator().expect("a payload ends");
        end.operands().into_iter().map(|value| map.get(value)).collect()
    });
    for (old, new) in op.results().into_iter().zip(&results) {
        old.replace_with(*new);
    }
    op.erase();
    let new = results[0].def().expect("an operator makes its results");
    if let Some(parameters) = parameters {
        new.set_attr("parameters", parameters);
    }
    new
}
