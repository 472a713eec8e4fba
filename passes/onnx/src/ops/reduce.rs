//! Operators that fold dimensions away.

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::elementwise::BroadcastReader;
use super::pool::{least, raised, root};
use super::{Operator, op};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Calc, Num, Tensor, computed};
use crate::types::{ElementType, TensorType};

/// A reduction of elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reduction {
    /// The sum of absolute values.
    L1,
    /// The sum.
    Sum,
    /// The sum of squares.
    SumSquare,
    /// The logarithm of the sum.
    LogSum,
    /// The logarithm of the sum of exponentials.
    LogSumExp,
    /// The sum, divided by the number of elements.
    Mean,
    /// The greatest.
    Max,
    /// The least.
    Min,
    /// The product.
    Prod,
    /// The `p`-th root of the sum of `p`-th powers.
    Norm(i64),
}

const AXES: &[&str] = &["axes", "keepdims", "noop_with_empty_axes"];

const fn fold(name: &'static str, since: i64, plan: fn(&Node<'_>) -> Result<Plan>) -> Operator {
    op(name, since, 2, AXES, plan).at_least(1)
}

pub const OPERATORS: &[Operator] = &[
    op("ArgMax", 1, 1, &["axis", "keepdims", "select_last_index"], |node| arg(node, true)),
    op("ArgMin", 1, 1, &["axis", "keepdims", "select_last_index"], |node| arg(node, false)),
    fold("ReduceL1", 1, |node| reduce(node, Reduction::L1)),
    fold("ReduceL2", 1, |node| reduce(node, Reduction::Norm(2))),
    fold("ReduceLogSum", 1, |node| reduce(node, Reduction::LogSum)),
    fold("ReduceLogSumExp", 1, |node| reduce(node, Reduction::LogSumExp)),
    fold("ReduceMax", 1, |node| reduce(node, Reduction::Max)),
    fold("ReduceMean", 1, |node| reduce(node, Reduction::Mean)),
    fold("ReduceMin", 1, |node| reduce(node, Reduction::Min)),
    fold("ReduceProd", 1, |node| reduce(node, Reduction::Prod)),
    fold("ReduceSum", 1, |node| reduce(node, Reduction::Sum)),
    fold("ReduceSumSquare", 1, |node| reduce(node, Reduction::SumSquare)),
];

/// The dimensions of a shape that are not among `axes`.
pub fn others(rank: usize, axes: &[usize]) -> Vec<usize> {
    (0..rank).filter(|d| !axes.contains(d)).collect()
}

/// A nest over the dimensions of `x`: those not in `axes` first, as they are in the result.
///
/// Gives the access to `x` and, for each dimension of the result, its axis.
pub struct Folded {
    /// The kind of each axis.
    pub kinds: Vec<Axis>,
    /// The extents of the axes.
    pub extents: Vec<i64>,
    /// The extents that are kept.
    pub kept: Vec<i64>,
    /// The index expressions of the reduced tensor.
    pub read: Vec<Linear>,
}

impl Folded {
    /// The nest that folds `axes` of a tensor of shape `dims`.
    pub fn new(dims: &[i64], axes: &[usize]) -> Self {
        let kept = others(dims.len(), axes);
        let count = dims.len();
        let mut kinds = vec![Axis::Parallel; kept.len()];
        kinds.resize(count, Axis::Reduction);
        let order: Vec<_> = kept.iter().chain(axes).copied().collect();
        let mut read = vec![Linear::constant(count, 0); count];
        for (axis, &d) in order.iter().enumerate() {
            read[d] = Linear::axis(count, axis);
        }
        Self {
            kinds,
            extents: order.iter().map(|&d| dims[d]).collect(),
            kept: kept.iter().map(|&d| dims[d]).collect(),
            read,
        }
    }

    /// Returns the indices of a tensor of the kept shape.
    pub fn target(&self) -> Vec<Linear> {
        (0..self.kept.len()).map(|axis| Linear::axis(self.kinds.len(), axis)).collect()
    }

    /// The axis of the nest that runs over a folded dimension, the first of them.
    fn folded_axis(&self) -> usize {
        self.kept.len()
    }
}

/// Returns the indices of a tensor that keeps the dimensions not in `axes`, beside one of all
/// `rank`.
pub fn kept_access(rank: usize, axes: &[usize]) -> Vec<Linear> {
    others(rank, axes).into_iter().map(|d| Linear::axis(rank, d)).collect()
}

/// Folds `axes` of `x`, beginning with `start`, into a tensor that does not have them.
///
/// `beside` are tensors of the kept shape; the body gets the element, theirs, and the fold so far.
pub fn fold_axes<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    axes: &[usize],
    beside: &[&Tensor<'c>],
    (element, start): (ElementType, Scalar),
    body: impl FnOnce(&mut Calc<'_, 'c>, &[Num<'c>], Num<'c>) -> Num<'c>,
) -> Tensor<'c> {
    let nest = Folded::new(x.dims(), axes);
    let start = b.fill(element, &nest.kept, start);
    let mut inputs = vec![(x, nest.read.clone())];
    inputs.extend(beside.iter().map(|&tensor| (tensor, nest.target())));
    let outputs = [(&start, nest.target())];
    let results = b.nest(&nest.kinds, &nest.extents, &inputs, &outputs, |calc, given| {
        let (so_far, given) = given.split_last().expect("a nest has an output");
        vec![body(calc, given, *so_far)]
    });
    results.into_iter().next().expect("one output gives one result")
}

/// The axes of a reduction: an attribute up to version 17, an input since 18, of ReduceSum since 13.
fn axes_of(node: &Node<'_>, x: &Operand) -> Result<Option<Vec<usize>>> {
    let attribute = node.ints("axes")?.map(<[i64]>::to_vec);
    let given = match (attribute, node.known_ints(1, "axes")?) {
        (Some(_), Some(_)) => return Err(node.invalid("has axes both as attribute and as input")),
        (attribute, input) => attribute.or(input).unwrap_or_default(),
    };
    if given.is_empty() {
        let none = node.flag("noop_with_empty_axes", false)?;
        return Ok((!none).then(|| (0..x.rank()).collect()));
    }
    let mut axes = node.axes(&given, x.rank())?;
    axes.sort_unstable();
    Ok(Some(axes))
}

fn reduce(node: &Node<'_>, reduction: Reduction) -> Result<Plan> {
    let x = node.input(0, "data")?;
    let keep = node.flag("keepdims", true)?;
    // Folding no axis leaves what is done to each element before and after.
    let axes = axes_of(node, x)?.unwrap_or_default();
    plan(node, x, axes, keep, reduction)
}

/// Plans the fold of some axes.
pub fn plan(
    node: &Node<'_>,
    x: &Operand,
    axes: Vec<usize>,
    keep: bool,
    reduction: Reduction,
) -> Result<Plan> {
    use Reduction::*;
    match reduction {
        Max | Min => node.expect_element(x, "data", ElementType::COMPARED)?,
        LogSum | LogSumExp | Norm(_) => node.expect_element(x, "data", ElementType::FLOATS)?,
        _ => node.expect_element(x, "data", ElementType::NUMBERS)?,
    }
    let dims: Vec<_> = (0..x.rank())
        .filter(|d| keep || !axes.contains(d))
        .map(|d| if axes.contains(&d) { 1 } else { x.dims()[d] })
        .collect();
    let result = node.ty(x.element(), dims.clone())?;
    let (ty, folded) = (x.ty.clone(), axes.clone());
    let count = x.length_of(&axes).filter(|_| reduction == Mean);
    let plan = Plan::new(vec![x.clone()], vec![result.clone()], move |b, args| {
        let reduced = build(b, &args[0], &axes, args.get(1), reduction);
        vec![b.reshape(&reduced, &dims)]
    });
    let plan = plan.asking(count);
    Ok(match reduction {
        Sum | Prod | Max | Min => {
            plan.folds(move |known| vec![fold_known(&known[0], &ty, &folded, &result, reduction)])
        }
        _ => plan,
    })
}

/// The fold of some axes; `count` is the number of elements that are folded into one, where callers
/// decide it.
fn build<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    axes: &[usize],
    count: Option<&Tensor<'c>>,
    reduction: Reduction,
) -> Tensor<'c> {
    use Reduction::*;
    let element = x.element();
    let sum = computed(element);
    let zero = (sum, Scalar::Int(0));
    if element == ElementType::Bool {
        // Stored booleans order like the numbers 0 and 1.
        let number = Tensor::new(x.value(), TensorType::temporary(ElementType::U8, x.dims()));
        let all = Scalar::Int((reduction == Min).into());
        let best = fold_axes(b, &number, axes, &[], (ElementType::U8, all), |calc, x, best| {
            if reduction == Min { calc.min(best, x[0]) } else { calc.max(best, x[0]) }
        });
        return Tensor::new(best.value(), TensorType::temporary(element, best.dims()));
    }
    let points: i64 = axes.iter().map(|&d| x.dims()[d]).product();
    let folded = match reduction {
        L1 => fold_axes(b, x, axes, &[], zero, |calc, x, sum| {
            let size = calc.abs(x[0]);
            calc.add(sum, size)
        }),
        Sum | LogSum | Mean => fold_axes(b, x, axes, &[], zero, |calc, x, sum| calc.add(sum, x[0])),
        SumSquare => fold_axes(b, x, axes, &[], zero, |calc, x, sum| {
            let square = calc.mul(x[0], x[0]);
            calc.add(sum, square)
        }),
        Norm(p) => fold_axes(b, x, axes, &[], zero, |calc, x, sum| {
            let power = raised(calc, x[0], p);
            calc.add(sum, power)
        }),
        Prod => {
            let one = (sum, Scalar::Int(1));
            fold_axes(b, x, axes, &[], one, |calc, x, product| calc.mul(product, x[0]))
        }
        Max => {
            let start = (sum, least(sum));
            fold_axes(b, x, axes, &[], start, |calc, x, best| calc.max(best, x[0]))
        }
        Min => {
            let start = (sum, most(sum));
            fold_axes(b, x, axes, &[], start, |calc, x, best| calc.min(best, x[0]))
        }
        LogSumExp => return log_sum_exp(b, x, axes),
    };
    match reduction {
        Mean => {
            let read: Vec<_> = std::iter::once(&folded).chain(count).collect();
            b.map(element, folded.dims(), &read, |calc, given| {
                let sum_of = given[0];
                let float = calc.is_float(sum_of);
                let count = match given.get(1) {
                    Some(&count) => calc.cast(count, sum),
                    None if !float && points == 0 => return sum_of,
                    None => calc.int_like(sum_of, points.into()),
                };
                if float {
                    return calc.div(sum_of, count);
                }
                // The sum of no integers is 0, and so is their mean.
                let one = calc.int_like(sum_of, 1);
                let count = calc.max(count, one);
                calc.div(sum_of, count)
            })
        }
        LogSum => b.map(element, folded.dims(), &[&folded], |calc, sum| calc.math("log", sum[0])),
        Norm(p) => b.map(element, folded.dims(), &[&folded], |calc, sum| root(calc, sum[0], p)),
        _ => b.cast(&folded, element),
    }
}

/// The greatest number of a type: what a minimum starts with.
fn most(element: ElementType) -> Scalar {
    match element.integer_range() {
        Some((_, most)) => Scalar::Int(most),
        None => Scalar::Float(f64::INFINITY),
    }
}

/// `m + log(sum(exp(x - m)))` with the greatest `m`, where that is a number to subtract.
fn log_sum_exp<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>, axes: &[usize]) -> Tensor<'c> {
    let sum = computed(x.element());
    let start = (sum, Scalar::Float(f64::NEG_INFINITY));
    let top = fold_axes(b, x, axes, &[], start, |calc, x, best| calc.max(best, x[0]));
    let top = b.map(sum, top.dims(), &[&top], |calc, top| {
        let (size, zero) = (calc.abs(top[0]), calc.like(top[0], 0.0));
        let infinity = calc.like(top[0], f64::INFINITY);
        let endless = calc.eq(size, infinity);
        calc.select(endless, zero, top[0])
    });
    let total = fold_axes(b, x, axes, &[&top], (sum, Scalar::Int(0)), |calc, x, total| {
        let below = calc.sub(x[0], x[1]);
        let exp = calc.math("exp", below);
        calc.add(total, exp)
    });
    b.map(x.element(), total.dims(), &[&total, &top], |calc, given| {
        let log = calc.math("log", given[0]);
        calc.add(log, given[1])
    })
}

fn fold_known(
    x: &Elements,
    ty: &TensorType,
    axes: &[usize],
    result: &TensorType,
    reduction: Reduction,
) -> Elements {
    let element = ty.element();
    let start = match reduction {
        Reduction::Max => least(element),
        Reduction::Min => most(element),
        Reduction::Prod => Scalar::Int(1),
        _ => Scalar::Int(0),
    };
    // Every element finds its place in the result as a broadcast would, read backwards.
    let kept: Vec<_> =
        (0..ty.rank()).map(|d| if axes.contains(&d) { 1 } else { ty.dims()[d] }).collect();
    let places = TensorType::temporary(ElementType::I64, &kept);
    let numbered = (0..places.elements()).map(|at| Scalar::Int(at as i128));
    let numbered = Elements::from_scalars(places.clone(), numbered);
    let place = BroadcastReader::new(&numbered, ty.dims());
    let mut folded = vec![start; result.elements()];
    for at in 0..ty.elements() {
        let so_far = &mut folded[place.get(at).as_int() as usize];
        let next = x.get(at);
        *so_far = match (reduction, *so_far, next) {
            (Reduction::Max, a, b) => {
                if b > a {
                    b
                } else {
                    a
                }
            }
            (Reduction::Min, a, b) => {
                if b < a {
                    b
                } else {
                    a
                }
            }
            (Reduction::Prod, Scalar::Int(a), Scalar::Int(b)) => {
                // Only the low 64 bits are kept in the end.
                Scalar::Int((a as i64).wrapping_mul(b as i64).into())
            }
            (Reduction::Prod, a, b) => Scalar::Float(a.as_f64() * b.as_f64()),
            (_, Scalar::Int(a), Scalar::Int(b)) => Scalar::Int(a.wrapping_add(b)),
            (_, a, b) => Scalar::Float(a.as_f64() + b.as_f64()),
        };
    }
    Elements::from_scalars(result.clone(), folded)
}

fn arg(node: &Node<'_>, greatest: bool) -> Result<Plan> {
    let x = node.typed(0, "data", ElementType::NUMBERS)?;
    let axis = node.axis(node.int("axis")?.unwrap_or(0), x.rank())?;
    let keep = node.flag("keepdims", true)?;
    let last = node.flag("select_last_index", false)?;
    let mut dims = x.dims().to_vec();
    if dims[axis] == 0 {
        return Err(node.invalid(format!("looks for an index along axis {axis} of {}", x.ty)));
    }
    if keep {
        dims[axis] = 1;
    } else {
        dims.remove(axis);
    }
    let result = node.ty(ElementType::I64, dims.clone())?;
    Ok(Plan::new(vec![x.clone()], vec![result], move |b, args| {
        let found = arg_along(b, &args[0], axis, greatest, last);
        vec![b.reshape(&found, &dims)]
    }))
}

/// The index of the greatest or least element along an axis: of several, the first or the last.
pub fn arg_along<'c>(
    b: &mut Build<'_, 'c>,
    x: &Tensor<'c>,
    axis: usize,
    greatest: bool,
    last: bool,
) -> Tensor<'c> {
    let nest = Folded::new(x.dims(), &[axis]);
    let element = computed(x.element());
    let start = if greatest { least(element) } else { most(element) };
    let best = b.fill(element, &nest.kept, start);
    let place = b.fill(ElementType::I64, &nest.kept, Scalar::Int(0));
    let inputs = [(x, nest.read.clone())];
    let outputs = [(&best, nest.target()), (&place, nest.target())];
    let results = b.nest(&nest.kinds, &nest.extents, &inputs, &outputs, |calc, given| {
        let (x, best, place) = (given[0], given[1], given[2]);
        let at = calc.index(nest.folded_axis());
        let here = calc.counted(at, ElementType::I64);
        let better = match (greatest, last) {
            (true, false) => calc.gt(x, best),
            (true, true) => calc.ge(x, best),
            (false, false) => calc.lt(x, best),
            (false, true) => calc.le(x, best),
        };
        vec![calc.select(better, x, best), calc.select(better, here, place)]
    });
    results.into_iter().nth(1).expect("two outputs give two results")
}
