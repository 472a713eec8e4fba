//! Operators that keep every element and its order, and those that ask for a shape.

use std::ops::Range;

use weft_dialects::graph::Dims;
use weft_runtime::length::Length;

use super::{Operator, op};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::Access;
use crate::types::{ElementType, Shape, TensorType};

pub const OPERATORS: &[Operator] = &[
    op("Dropout", 12, 3, &["seed"], dropout).at_least(1).up_to(2),
    op("Flatten", 1, 1, &["axis"], flatten),
    op("Identity", 1, 1, &[], identity),
    op("Reshape", 5, 2, &["allowzero"], reshape),
    op("Shape", 1, 1, &["end", "start"], shape),
    op("Size", 1, 1, &[], size),
    op("Squeeze", 13, 2, &[], squeeze).at_least(1),
    op("Unsqueeze", 13, 2, &[], unsqueeze),
];

/// Plans the same elements, in the same order, under another shape.
fn reshaped(node: &Node<'_>, x: &Operand, dims: Vec<i64>) -> Result<Plan> {
    let result = node.ty(x.element(), dims)?;
    let ty = result.clone();
    let plan = Plan::new(vec![x.clone()], vec![result.clone()], move |b, args| {
        vec![b.reshape(&args[0], result.dims())]
    });
    Ok(plan.folds(move |known| vec![known[0].reshaped(ty.clone())]))
}

/// Plans the same elements in the same order under another shape, which has `lengths`, where those that there are
/// do not lie one behind the other.
pub fn in_order(x: &Operand, dims: &[i64], lengths: &Dims) -> Plan {
    let own = |d: usize| (x.dims()[d], x.length(d));
    let new = |d: usize| (dims[d], lengths[d].as_ref());
    let (rank, made) = (x.rank(), dims.len());
    let shorter = rank.min(made);
    // What is the same at both ends stays where it is.
    let lead = (0..shorter).take_while(|&d| own(d) == new(d)).count();
    let trail = (1..=shorter - lead).take_while(|&d| own(rank - d) == new(made - d)).count();
    let (from, to) = (lead..rank - trail, lead..made - trail);
    let asked = |lengths: &[Option<Length>], range: &Range<usize>| -> Vec<(usize, Length)> {
        range.clone().filter_map(|d| Some((d, lengths.get(d)?.clone()?))).collect()
    };
    let (given, made_of) = (asked(&x.lengths, &from), asked(lengths, &to));
    let asks: Vec<Length> =
        given.iter().chain(&made_of).map(|(_, length)| length.clone()).collect();
    let places = |own: &[(usize, Length)]| own.iter().map(|(d, _)| *d).collect::<Vec<_>>();
    let (given, made_of) = (places(&given), places(&made_of));
    let ty = TensorType::temporary(x.element(), dims);
    let dims = dims.to_vec();
    let plan = Plan::new(vec![x.clone()], vec![ty], move |b, args| {
        let (x, ends) = (&args[0], &args[1..]);
        let inputs: Vec<Access<'_, '_>> = ends.iter().map(|end| (end, vec![])).collect();
        vec![b.move_at(x.element(), &dims, &inputs, |calc, ends| {
            let mut all = calc.at(0);
            for d in to.clone() {
                let at = made_of.iter().position(|own| *own == d).map(|at| given.len() + at);
                let (length, own) = (calc.end(at.map(|at| ends[at]), dims[d]), calc.index(d));
                let before = calc.mul(all, length);
                all = calc.add(before, own);
            }
            let mut place: Vec<_> = (0..lead).map(|d| calc.index(d)).collect();
            let mut inner = Vec::new();
            for d in from.clone().rev() {
                if d == from.start {
                    inner.push(all);
                    break;
                }
                let at = given.iter().position(|own| *own == d).map(|at| ends[at]);
                let (length, one) = (calc.end(at, x.dims()[d]), calc.at(1));
                let length = calc.max(length, one);
                inner.push(calc.rem(all, length));
                all = calc.div(all, length);
            }
            place.extend(inner.into_iter().rev());
            place.extend((0..trail).map(|d| calc.index(to.end + d)));
            calc.extract(x, &place)
        })]
    });
    plan.asking(asks)
}

fn identity(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "input")?;
    reshaped(node, x, x.dims().to_vec())
}

fn dropout(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "data", ElementType::FLOATS)?;
    let training = match node.optional(2) {
        Some(_) => node.known(2, "training_mode")?.single(),
        None => None,
    };
    if training.is_some_and(|training| training.as_int() != 0) {
        let ratio = match node.optional(1) {
            Some(_) => node.known(1, "ratio")?.single().map_or(0.5, Scalar::as_f64),
            None => 0.5,
        };
        if ratio != 0.0 {
            return Err(node
                .report(format!("drops {ratio} of its input at random"))
                .help("training_mode false, or a ratio of 0")
                .unsupported());
        }
    }
    if node.outputs() < 2 {
        return reshaped(node, x, x.dims().to_vec());
    }
    let mask = x.ty.with_element(ElementType::Bool, &node.result_name())?;
    Ok(Plan::new(vec![x.clone()], vec![x.ty.clone(), mask], |b, args| {
        let kept = b.fill(ElementType::Bool, args[0].dims(), Scalar::Int(1));
        vec![args[0].clone(), kept]
    }))
}

fn flatten(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "input")?;
    let axis = node.int("axis")?.unwrap_or(1);
    let rank = x.rank() as i64;
    if !(-rank..=rank).contains(&axis) {
        return Err(node
            .report(format!("has axis {axis} for {rank} dimensions"))
            .help(format!("{} to {rank}", -rank))
            .invalid());
    }
    let axis = if axis < 0 { axis + rank } else { axis } as usize;
    let (rows, columns) = x.dims().split_at(axis);
    reshaped(node, x, vec![rows.iter().product(), columns.iter().product()])
}

fn reshape(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "data")?;
    let asked = node.known_ints(1, "shape")?.unwrap_or_default();
    let zero_is_zero = node.flag("allowzero", false)?;
    let wrong = |what: String| {
        node.report(what)
            .note(format!("the shape asked for is {}, the tensor {}", Shape(&asked), x.ty))
            .help("as many elements as the tensor has; 0 copies an extent, one -1 is inferred")
            .invalid()
    };
    let mut dims = asked.clone();
    for (at, dim) in dims.iter_mut().enumerate() {
        if *dim == 0 && !zero_is_zero {
            let copied = x.dims().get(at);
            *dim =
                *copied.ok_or_else(|| wrong(format!("copies an extent {at} that is not there")))?;
        }
    }
    let inferred: Vec<_> = (0..dims.len()).filter(|&at| dims[at] == -1).collect();
    let others = dims.iter().filter(|&&dim| dim != -1);
    let others = others.copied().try_fold(1i64, |all, dim| match dim {
        ..0 => Err(wrong(format!("asks for an extent of {dim}"))),
        _ => all.checked_mul(dim).ok_or_else(|| wrong("asks for too many elements".to_owned())),
    })?;
    let elements = x.ty.elements() as i64;
    match inferred[..] {
        [] if others == elements => {}
        [at] if others > 0 && elements % others == 0 => dims[at] = elements / others,
        // Nothing can be inferred from nothing; an empty tensor stays empty.
        [at] if others == 0 && elements == 0 && !zero_is_zero => dims[at] = 0,
        [] | [_] => {
            return Err(wrong(format!("makes another number of elements than {elements}")));
        }
        _ => return Err(wrong("leaves several extents to be inferred".to_owned())),
    }
    reshaped(node, x, dims)
}

fn squeeze(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "data")?;
    let axes = match node.known_ints(1, "axes")? {
        Some(axes) => node.axes(&axes, x.rank())?,
        None => (0..x.rank()).filter(|&d| x.dims()[d] == 1).collect(),
    };
    if let Some(&wide) = axes.iter().find(|&&d| x.dims()[d] != 1) {
        return Err(node
            .report(format!("removes dimension {wide} of {}", x.ty))
            .help("a dimension of extent 1")
            .invalid());
    }
    let kept = (0..x.rank()).filter(|d| !axes.contains(d)).map(|d| x.dims()[d]).collect();
    reshaped(node, x, kept)
}

fn unsqueeze(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "data")?;
    let axes = node.known_ints(1, "axes")?.unwrap_or_default();
    let rank = x.rank() + axes.len();
    let axes = node.axes(&axes, rank)?;
    let mut rest = x.dims().iter().copied();
    let dims = (0..rank)
        .map(|d| if axes.contains(&d) { 1 } else { rest.next().expect("the rank counts both") })
        .collect();
    reshaped(node, x, dims)
}

/// Plans a result that the types alone decide.
fn known(node: &Node<'_>, elements: Elements) -> Result<Plan> {
    let ty = elements.ty().clone();
    node.ty(ty.element(), ty.dims().to_vec())?;
    let folded = elements.clone();
    let plan = Plan::new(vec![], vec![ty], move |b, _| {
        // Only reached for more dimensions than a literal may have elements.
        let dims = elements.ty().dims();
        let mut all = b.fill(ElementType::I64, dims, Scalar::Int(0));
        for (at, value) in elements.scalars().enumerate() {
            let one = b.fill(ElementType::I64, &vec![1; dims.len()], value);
            all = b.insert(&one, &all, &vec![at as i64; dims.len()], &vec![1; dims.len()]);
        }
        vec![all]
    });
    Ok(plan.folds(move |_| vec![folded.clone()]))
}

fn shape(node: &Node<'_>) -> Result<Plan> {
    let x = node.input(0, "data")?;
    let rank = x.rank() as i64;
    let place = |at: i64| if at < 0 { at.saturating_add(rank) } else { at }.clamp(0, rank) as usize;
    let start = place(node.int("start")?.unwrap_or(0));
    let end = place(node.int("end")?.unwrap_or(rank));
    let told = start..end.max(start);
    let plan = known(node, Elements::from_ints(&x.dims()[told.clone()]))?;
    Ok(Plan { tells: Some(told), ..plan })
}

fn size(node: &Node<'_>) -> Result<Plan> {
    let elements = node.input(0, "data")?.ty.elements();
    known(node, Elements::scalar(ElementType::I64, Scalar::Int(elements as i128)))
}
