//! Operators that make a tensor of little or nothing.

use weft_dialects::ir::Linear;

use super::{Operator, op};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::computed;
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    op("ConstantOfShape", 9, 1, &["value"], constant_of_shape),
    op("EyeLike", 9, 1, &["dtype", "k"], eye_like),
    op("OneHot", 9, 3, &["axis"], one_hot),
    op("Range", 11, 3, &["stash_type"], range),
];

fn constant_of_shape(node: &Node<'_>) -> Result<Plan> {
    let dims = node.known_ints(0, "input")?.unwrap_or_default();
    if let Some(negative) = dims.iter().find(|&&dim| dim < 0) {
        return Err(node.invalid(format!("makes an extent of {negative}")));
    }
    let value = match node.tensor("value")? {
        None => Elements::scalar(ElementType::F32, Scalar::Float(0.0)),
        Some(value) if value.len() == 1 => value,
        Some(value) => {
            return Err(node.invalid(format!("has a value of {}; it is one element", value.ty())));
        }
    };
    let scalar = value.get(0);
    let result = node.ty(value.ty().element(), dims)?;
    let ty = result.clone();
    let plan = Plan::new(vec![], vec![result.clone()], move |b, _| {
        vec![b.fill(result.element(), result.dims(), scalar)]
    });
    Ok(plan.folds(move |_| {
        let scalars = std::iter::repeat_n(scalar, ty.elements());
        vec![Elements::from_scalars(ty.clone(), scalars)]
    }))
}

fn range(node: &Node<'_>) -> Result<Plan> {
    const RANGES: &[ElementType] = &[
        ElementType::I16,
        ElementType::I32,
        ElementType::I64,
        ElementType::F16,
        ElementType::BF16,
        ElementType::F32,
        ElementType::F64,
    ];
    let start = node.typed(0, "start", RANGES)?;
    let mut given = Vec::new();
    for (at, name) in ["start", "limit", "delta"].into_iter().enumerate() {
        node.expect_same_element(start, node.input(at, name)?)?;
        let scalar = node.known(at, name)?.single();
        given
            .push(scalar.ok_or_else(|| node.invalid(format!("reads {name:?} that is no scalar")))?);
    }
    let [first, limit, delta] = given[..] else { unreachable!("three inputs were read") };
    let count = match (first, limit, delta) {
        (Scalar::Int(first), Scalar::Int(limit), Scalar::Int(delta)) if delta != 0 => {
            let (span, step) =
                if delta > 0 { (limit - first, delta) } else { (first - limit, -delta) };
            (span.max(0) + step - 1) / step
        }
        (first, limit, delta) => {
            let count = (limit.as_f64() - first.as_f64()) / delta.as_f64();
            if !count.is_finite() {
                return Err(node.invalid(format!(
                    "counts from {} to {} by {}",
                    first.as_f64(),
                    limit.as_f64(),
                    delta.as_f64()
                )));
            }
            count.ceil().max(0.0) as i128
        }
    };
    let element = start.element();
    let result = node.ty(element, vec![i64::try_from(count).unwrap_or(i64::MAX)])?;
    let ty = result.clone();
    // A start that follows from lengths is another one in each run.
    let read: Vec<Operand> = if start.fixed { vec![] } else { vec![start.clone()] };
    let plan = Plan::new(read, vec![result.clone()], move |b, args| {
        let read: Vec<_> = args.iter().collect();
        vec![b.map(element, result.dims(), &read, |calc, given| {
            let at = calc.index(0);
            let at = calc.counted(at, ElementType::I64);
            let at = calc.cast(at, computed(element));
            let first = given.first().copied().unwrap_or_else(|| calc.literal(element, first));
            let delta = calc.literal(element, delta);
            let offset = calc.mul(at, delta);
            calc.add(first, offset)
        })]
    });
    Ok(plan.folds(move |_| {
        let scalars = (0..ty.elements()).map(|at| match (first, delta) {
            (Scalar::Int(first), Scalar::Int(delta)) => Scalar::Int(first + at as i128 * delta),
            (first, delta) => Scalar::Float(first.as_f64() + at as f64 * delta.as_f64()),
        });
        vec![Elements::from_scalars(ty.clone(), scalars)]
    }))
}

fn eye_like(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "input")?;
    if x.rank() != 2 {
        return Err(node.invalid(format!("reads {}; it needs a matrix", x.ty)));
    }
    let element = match node.int("dtype")? {
        None => x.element(),
        Some(code) => {
            ElementType::from_onnx(i32::try_from(code).unwrap_or(-1), &node.result_name())?
        }
    };
    let k = node.int("k")?.unwrap_or(0);
    let result = node.ty(element, x.dims().to_vec())?;
    Ok(Plan::new(vec![], vec![result.clone()], move |b, _| {
        vec![b.move_at(element, result.dims(), &[], |calc, _| {
            let (row, column, k) = (calc.index(0), calc.index(1), calc.at(k));
            let diagonal = calc.add(row, k);
            let hit = calc.eq(diagonal, column);
            let (one, zero) =
                (calc.stored(element, Scalar::Int(1)), calc.stored(element, Scalar::Int(0)));
            calc.select(hit, one, zero)
        })]
    }))
}

fn one_hot(node: &Node<'_>) -> Result<Plan> {
    let indices = node.typed(0, "indices", ElementType::NUMBERS)?;
    let values = node.input(2, "values")?;
    if values.dims() != [2] {
        return Err(node.invalid(format!("reads \"values\" as {}; they are two", values.ty)));
    }
    let depth = node.known(1, "depth")?.single().map_or(0, Scalar::as_int);
    let depth = i64::try_from(depth).ok().filter(|&depth| depth > 0);
    let depth = depth.ok_or_else(|| node.invalid("has a depth that is not a positive number"))?;
    let rank = indices.rank() + 1;
    let axis = node.axis(node.int("axis")?.unwrap_or(-1), rank)?;
    let mut dims = indices.dims().to_vec();
    dims.insert(axis, depth);
    let result = node.ty(values.element(), dims)?;
    let operands = vec![indices.clone(), values.clone()];
    let counts_from_end = node.opset >= 11;
    Ok(Plan::new(operands, vec![result.clone()], move |b, args| {
        let others = (0..rank).filter(|&d| d != axis).map(|d| Linear::axis(rank, d)).collect();
        let value = |at| vec![Linear::constant(rank, at)];
        // As they lie in memory; only the indices are calculated with.
        let inputs = [(&args[0], others), (&args[1], value(0)), (&args[1], value(1))];
        vec![b.move_at(result.element(), result.dims(), &inputs, |calc, given| {
            let index = calc.loaded(given[0]);
            let index = calc.cast(index, ElementType::I64);
            let (zero, length) = (calc.int_like(index, 0), calc.int_like(index, depth.into()));
            let (below, from_end) = (calc.lt(index, zero), calc.add(index, length));
            // Before 11 nothing was counted from the end.
            let index = if counts_from_end { calc.select(below, from_end, index) } else { index };
            let here = calc.index(axis);
            let here = calc.counted(here, ElementType::I64);
            let hit = calc.eq(here, index);
            calc.select(hit, given[2], given[1])
        })]
    }))
}
