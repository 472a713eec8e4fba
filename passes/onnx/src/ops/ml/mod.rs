//! The operators of `ai.onnx.ml` that read tensors of numbers and make such.

mod linear;
mod trees;

use weft_dialects::ir::Linear;

use super::movement::joined;
use super::reduce::{fold_axes, kept_access};
use super::{Operator, op};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Plan};
use crate::payload::{computed, identity};
use crate::types::ElementType;

/// The domain of these operators.
pub const DOMAIN: &str = "ai.onnx.ml";

/// Every operator of the domain, by topic.
pub const TABLES: [&[Operator]; 3] = [OPERATORS, linear::OPERATORS, trees::OPERATORS];

const OPERATORS: &[Operator] = &[
    ml("ArrayFeatureExtractor", 1, 2, &[], array_feature_extractor),
    ml("Binarizer", 1, 1, &["threshold"], binarizer),
    ml("FeatureVectorizer", 1, 1, &["inputdimensions"], feature_vectorizer).variadic(),
    ml("Imputer", 1, 1, IMPUTER, imputer),
    ml("Normalizer", 1, 1, &["norm"], normalizer),
    ml("Scaler", 1, 1, &["offset", "scale"], scaler),
];

const IMPUTER: &[&str] = &[
    "imputed_value_floats",
    "imputed_value_int64s",
    "replaced_value_float",
    "replaced_value_int64",
];

/// What these operators read.
const FEATURES: &[ElementType] =
    &[ElementType::F32, ElementType::F64, ElementType::I64, ElementType::I32];

/// A line of the table: an operator of this domain with one output.
const fn ml(
    name: &'static str,
    since: i64,
    inputs: usize,
    attributes: &'static [&'static str],
    plan: fn(&Node<'_>) -> Result<Plan>,
) -> Operator {
    Operator { domain: DOMAIN, ..op(name, since, inputs, attributes, plan) }
}

/// A vector of floats as a table of a plan.
fn table(floats: &[f32]) -> Elements {
    let ty = crate::TensorType::temporary(ElementType::F32, &[floats.len() as i64]);
    Elements::from_scalars(ty, floats.iter().map(|&x| Scalar::Float(x.into())))
}

/// Elements of the last dimension, by their numbers.
fn array_feature_extractor(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "X")?;
    let indices = node.typed(1, "Y", &[ElementType::I64])?;
    let count = indices.ty.elements() as i64;
    let rank = x.rank();
    if rank == 0 || x.dims().contains(&0) || count == 0 {
        return Err(node
            .report(format!("takes {} of {}", indices.ty, x.ty))
            .help("a feature and an index at least")
            .invalid());
    }
    let mut dims = x.dims().to_vec();
    dims[rank - 1] = count;
    if rank == 1 {
        dims.insert(0, 1);
    }
    let result = node.ty(x.element(), dims.clone())?;
    Ok(Plan::new(vec![x.clone(), indices.clone()], vec![result], move |b, args| {
        let indices = b.reshape(&args[1], &[count]);
        let (axes, x) = (dims.len(), &args[0]);
        let inputs = [(&indices, vec![Linear::axis(axes, axes - 1)])];
        vec![b.move_at(x.element(), &dims, &inputs, |calc, index| {
            let last = calc.at(x.dims()[rank - 1] - 1);
            let (index, zero) = (calc.coordinate(index[0]), calc.at(0));
            let index = calc.max(index, zero);
            let mut place: Vec<_> = (0..rank - 1).map(|axis| calc.index(axis)).collect();
            place.push(calc.min(index, last));
            calc.extract(x, &place)
        })]
    }))
}

fn binarizer(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", FEATURES)?;
    let threshold = node.float("threshold", 0.0)?;
    let element = x.element();
    Ok(Plan::new(vec![x.clone()], vec![x.ty.clone()], move |b, args| {
        vec![b.map(element, args[0].dims(), &[&args[0]], |calc, x| {
            let number = if element == ElementType::F64 { element } else { ElementType::F32 };
            let own = calc.cast(x[0], number);
            let threshold = calc.like(own, threshold);
            let above = calc.gt(own, threshold);
            calc.cast(above, computed(element))
        })]
    }))
}

/// Features of several tensors beside each other, as floats.
fn feature_vectorizer(node: &Node<'_>) -> Result<Plan> {
    let operands = node.variadic()?;
    let wanted = node.ints("inputdimensions")?;
    let mut seen = Vec::with_capacity(operands.len());
    for (at, operand) in operands.iter().enumerate() {
        node.expect_element(operand, "X", FEATURES)?;
        let fits = operand.rank() == 2
            && wanted.is_none_or(|wanted| wanted.get(at) == Some(&operand.dims()[1]));
        if !fits {
            return Err(node
                .report(format!("puts {} beside others", operand.ty))
                .note(format!("its inputdimensions are {wanted:?}"))
                .help("batch and as many features as declared")
                .invalid());
        }
        let mut operand = (*operand).clone();
        operand.ty = operand.ty.with_element(ElementType::F32, &node.result_name())?;
        seen.push(operand);
    }
    let Plan { payload, results, .. } = joined(node, &seen, 1)?;
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, results, move |b, args| {
        let floats: Vec<_> = args.iter().map(|arg| b.cast(arg, ElementType::F32)).collect();
        payload(b, &floats)
    }))
}

/// Another number for one that is missing, in each column its own or one in all.
fn imputer(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", FEATURES)?;
    let element = x.element();
    let (values, replaced): (Vec<Scalar>, Scalar) = if element.is_float() {
        let values = node.floats("imputed_value_floats")?.iter();
        let replaced = Scalar::Float(node.float("replaced_value_float", 0.0)?);
        (values.map(|&x| Scalar::Float(x.into())).collect(), replaced)
    } else {
        let values = node.ints("imputed_value_int64s")?.unwrap_or_default().iter();
        let replaced = Scalar::Int(node.int("replaced_value_int64")?.unwrap_or(0).into());
        (values.map(|&i| Scalar::Int(i.into())).collect(), replaced)
    };
    let columns = x.dims().last().copied().unwrap_or(0);
    let count = values.len() as i64;
    if x.rank() != 2 || (count != 1 && count != columns) || count == 0 {
        return Err(node
            .report(format!("has {count} numbers for {}", x.ty))
            .help("batch and features; one number, or one for each feature")
            .invalid());
    }
    let ty = crate::TensorType::temporary(element, &[count]);
    let table = Elements::from_scalars(ty, values);
    Ok(Plan::new(vec![x.clone()], vec![x.ty.clone()], move |b, args| {
        let column = if count == 1 { Linear::constant(2, 0) } else { Linear::axis(2, 1) };
        let inputs = [(&args[0], identity(2)), (&args[1], vec![column])];
        vec![b.map_at(element, args[0].dims(), &inputs, |calc, x| {
            let missing = match replaced {
                Scalar::Float(number) if number.is_nan() => calc.is_nan(x[0]),
                number => {
                    let number = calc.literal(element, number);
                    calc.eq(x[0], number)
                }
            };
            calc.select(missing, x[1], x[0])
        })]
    })
    .with(vec![table]))
}

/// Rows by their greatest number, the sum of their numbers' sizes, or their length.
fn normalizer(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", FEATURES)?;
    let norm = node.string("norm", "MAX")?;
    if !["MAX", "L1", "L2"].contains(&norm) {
        return Err(node.report(format!("has norm {norm:?}")).help("MAX, L1 or L2").invalid());
    }
    let norm = norm.to_owned();
    if x.rank() == 0 || x.rank() > 2 {
        let report = node.report(format!("normalises {}", x.ty));
        return Err(report.help("features, with a batch in front or without").invalid());
    }
    let axis = x.rank() - 1;
    let result = x.ty.with_element(ElementType::F32, &node.result_name())?;
    Ok(Plan::new(vec![x.clone()], vec![result], move |b, args| {
        let x = b.cast(&args[0], ElementType::F32);
        let zero = (ElementType::F32, Scalar::Int(0));
        let size = fold_axes(b, &x, &[axis], &[], zero, |calc, x, so_far| match &norm[..] {
            "MAX" => {
                let own = calc.abs(x[0]);
                calc.max(so_far, own)
            }
            "L1" => {
                let own = calc.abs(x[0]);
                calc.add(so_far, own)
            }
            _ => {
                let own = calc.mul(x[0], x[0]);
                calc.add(so_far, own)
            }
        });
        let inputs = [(&x, identity(axis + 1)), (&size, kept_access(axis + 1, &[axis]))];
        vec![b.map_at(ElementType::F32, x.dims(), &inputs, |calc, x| {
            let size = if norm == "L2" { calc.math("sqrt", x[1]) } else { x[1] };
            let least = calc.like(size, 1e-30);
            let size = calc.max(size, least);
            calc.div(x[0], size)
        })]
    }))
}

/// `(x - offset) · scale`, for each feature or for all.
fn scaler(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", FEATURES)?;
    let [offset, scale] = ["offset", "scale"].map(|name| node.floats(name));
    let tables = [(offset?, 0.0f32), (scale?, 1.0)];
    let columns = x.dims().last().copied().unwrap_or(1);
    let tables = tables.map(|(own, none)| if own.is_empty() { vec![none] } else { own.to_vec() });
    if tables.iter().any(|own| own.len() != 1 && own.len() as i64 != columns) {
        return Err(node
            .report(format!(
                "scales {} by {} and {} numbers",
                x.ty,
                tables[0].len(),
                tables[1].len()
            ))
            .help(format!("one, or {columns}"))
            .invalid());
    }
    let result = x.ty.with_element(ElementType::F32, &node.result_name())?;
    let rank = x.rank();
    let tables = tables.map(|own| table(&own));
    Ok(Plan::new(vec![x.clone()], vec![result], move |b, args| {
        let read = |own: &crate::payload::Tensor<'_>| match own.dims()[0] {
            1 => vec![Linear::constant(rank, 0)],
            _ => vec![Linear::axis(rank, rank - 1)],
        };
        let inputs =
            [(&args[0], identity(rank)), (&args[1], read(&args[1])), (&args[2], read(&args[2]))];
        vec![b.map_at(ElementType::F32, args[0].dims(), &inputs, |calc, x| {
            let own = calc.cast(x[0], ElementType::F32);
            let centred = calc.sub(own, x[1]);
            calc.mul(centred, x[2])
        })]
    })
    .with(tables.to_vec()))
}
