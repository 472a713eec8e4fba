//! Windows that are folded to one element.

use std::ops::Range;

use weft_dialects::ir::Linear;
use weft_dialects::ir::payload::Axis;

use super::linear::zeros;
use super::reduce::{self, Reduction};
use super::window::Window;
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Calc, Num, Tensor, computed, identity};
use crate::plan::Ends;
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    op(
        "AveragePool",
        7,
        1,
        &[
            "auto_pad",
            "ceil_mode",
            "count_include_pad",
            "dilations",
            "kernel_shape",
            "pads",
            "strides",
        ],
        average_pool,
    ),
    op("GlobalAveragePool", 1, 1, &[], |node| global(node, Reduction::Mean)),
    op("GlobalLpPool", 2, 1, &["p"], |node| global_lp_pool(node, exponent(node)?)),
    op("GlobalMaxPool", 1, 1, &[], |node| global(node, Reduction::Max)),
    op(
        "LpPool",
        2,
        1,
        &["auto_pad", "ceil_mode", "dilations", "kernel_shape", "p", "pads", "strides"],
        |node| lp_pool(node, exponent(node)?),
    ),
    op(
        "MaxPool",
        8,
        1,
        &["auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"],
        max_pool,
    )
    .up_to(2),
];

/// The smallest number of a type: what a maximum starts with.
pub fn least(element: ElementType) -> Scalar {
    match element.integer_range() {
        Some((least, _)) => Scalar::Int(least),
        None => Scalar::Float(f64::NEG_INFINITY),
    }
}

/// The axes of a nest over windows: batch, channels, windows, then the elements of a window.
fn axes(window: &Window, lead: &[i64]) -> (Vec<Axis>, Vec<i64>, usize) {
    let wide = window.wide();
    let free = lead.len() + window.rank();
    let kinds = [vec![Axis::Parallel; free], vec![Axis::Reduction; wide.len()]].concat();
    let kernel: Vec<_> = wide.iter().map(|&d| window.kernel[d]).collect();
    (kinds, [lead, &window.output, &kernel].concat(), free)
}

/// Returns the indices at which a nest over windows reads the tensor that the windows slide over.
fn read(window: &Window, lead: usize, axes: usize, free: usize) -> Vec<Linear> {
    let mut access: Vec<_> = (0..lead).map(|axis| Linear::axis(axes, axis)).collect();
    access.extend(window.indices(axes, lead, free));
    access
}

/// Folds every window of `x`, beginning with `start`.
fn slide<'c>(
    b: &mut Build<'_, 'c>,
    window: &Window,
    x: &Tensor<'c>,
    start: &Tensor<'c>,
    body: impl FnOnce(&mut Calc<'_, 'c>, Num<'c>, Num<'c>) -> Num<'c>,
) -> Tensor<'c> {
    let (kinds, extents, free) = axes(window, &start.dims()[..2]);
    let access = read(window, 2, kinds.len(), free);
    let target = (0..free).map(|axis| Linear::axis(kinds.len(), axis)).collect();
    let results = b.nest(&kinds, &extents, &[(x, access)], &[(start, target)], |calc, given| {
        vec![body(calc, given[0], given[1])]
    });
    results.into_iter().next().expect("one output gives one result")
}

fn max_pool(node: &Node<'_>) -> Result<Plan> {
    const POOLED: &[ElementType] = &[
        ElementType::I8,
        ElementType::U8,
        ElementType::F16,
        ElementType::BF16,
        ElementType::F32,
        ElementType::F64,
    ];
    let x = node.typed(0, "X", POOLED)?;
    let element = x.element();
    let window = Window::of(node, x, None, node.flag("ceil_mode", false)?)?;
    let column_major = node.flag("storage_order", false)?;
    let dims = [&x.dims()[..2], &window.output].concat();
    let mut results = vec![node.ty(element, dims.clone())?];
    let wants_indices = node.outputs() > 1;
    if wants_indices {
        results.push(node.ty(ElementType::I64, dims.clone())?);
    }
    let lead = [x.length(0).cloned(), x.length(1).cloned()];
    let lengths = window.lengths(node, x, &lead)?.filter(|_| !wants_indices);
    let ends = lengths.is_some();
    let plan = Plan::new(vec![x.clone()], results, move |b, args| {
        let padded = window.pad_to_ends(b, &args[0], (least(element), ends));
        let sum = computed(element);
        let start = b.fill(sum, &dims, least(sum));
        if wants_indices {
            let (best, place) =
                with_indices(b, &window, column_major, args[0].dims(), &padded, &start);
            return vec![b.cast(&best, element), place];
        }
        let best = slide(b, &window, &padded, &start, |calc, x, best| calc.max(best, x));
        vec![b.cast(&best, element)]
    });
    Ok(plan.knowing_by(Ends::Bordered, lengths))
}

/// The greatest element of each window, and its row-major position in the whole tensor.
fn with_indices<'c>(
    b: &mut Build<'_, 'c>,
    window: &Window,
    column_major: bool,
    dims: &[i64],
    padded: &Tensor<'c>,
    start: &Tensor<'c>,
) -> (Tensor<'c>, Tensor<'c>) {
    let (kinds, extents, free) = axes(window, &start.dims()[..2]);
    let access = read(window, 2, kinds.len(), free);
    let place = b.fill(ElementType::I64, start.dims(), Scalar::Int(0));
    let target: Vec<_> = (0..free).map(|axis| Linear::axis(kinds.len(), axis)).collect();
    let outputs = [(start, target.clone()), (&place, target)];
    // The steps of the original tensor, without its border.
    let mut order: Vec<_> = (2..dims.len()).collect();
    if !column_major {
        order.reverse();
    }
    let (mut steps, mut step) = (vec![0; dims.len()], 1);
    for d in order.into_iter().chain([1, 0]) {
        steps[d] = step;
        step *= dims[d];
    }
    let mut position = Linear::constant(kinds.len(), 0);
    for (d, index) in access.iter().enumerate() {
        let border = if d < 2 { 0 } else { window.before[d - 2] };
        position = position.add(&index.clone().offset(-border).scale(steps[d]));
    }
    let inputs = [(padded, access)];
    let results = b.nest(&kinds, &extents, &inputs, &outputs, |calc, given| {
        let (x, best, place) = (given[0], given[1], given[2]);
        let at = calc.linear(&position);
        let here = calc.counted(at, ElementType::I64);
        let better = calc.gt(x, best);
        vec![calc.select(better, x, best), calc.select(better, here, place)]
    });
    let [best, place] = results.try_into().ok().expect("two outputs give two results");
    (best, place)
}

fn average_pool(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let average = Average::of(node, x)?;
    let result = node.ty(x.element(), average.dims(x))?;
    Ok(Plan::new(vec![x.clone()], vec![result], move |b, args| vec![average.build(b, &args[0])]))
}

/// The mean of every window.
pub struct Average {
    window: Window,
    include_pad: bool,
}

impl Average {
    /// Reads the attributes of a pool over `x`.
    ///
    /// # Errors
    /// Those of [`Window::of`].
    pub fn of(node: &Node<'_>, x: &Operand) -> Result<Self> {
        let window = Window::of(node, x, None, node.flag("ceil_mode", false)?)?;
        Ok(Self { window, include_pad: node.flag("count_include_pad", false)? })
    }

    /// The extents of the result.
    pub fn dims(&self, x: &Operand) -> Vec<i64> {
        [&x.dims()[..2], &self.window.output].concat()
    }

    /// The means, in the type of `x`.
    pub fn build<'c>(&self, b: &mut Build<'_, 'c>, x: &Tensor<'c>) -> Tensor<'c> {
        let (window, element) = (&self.window, x.element());
        let dims = [&x.dims()[..2], &window.output].concat();
        let padded = window.pad(b, x, Scalar::Int(0));
        let start = zeros(b, element, &dims);
        let sum = slide(b, window, &padded, &start, |calc, x, sum| calc.add(sum, x));
        let (partial, whole) = self.partial();
        let counts: Vec<_> = partial
            .iter()
            .map(|(d, counted)| count(b, window, *d, counted.clone(), computed(element)))
            .collect();
        let axes = dims.len();
        let mut inputs = vec![(&sum, identity(axes))];
        for (counts, (d, _)) in counts.iter().zip(&partial) {
            inputs.push((counts, vec![Linear::axis(axes, 2 + d)]));
        }
        b.map_at(element, &dims, &inputs, |calc, given| {
            let mut count = (whole != 1).then(|| calc.like(given[0], whole as f64));
            for &along in &given[1..] {
                count = Some(count.map_or(along, |count| calc.mul(count, along)));
            }
            count.map_or(given[0], |count| calc.div(given[0], count))
        })
    }

    /// The dimensions along which a window reaches beyond the elements that count, with these;
    /// and the number of elements along all others.
    fn partial(&self) -> (Vec<(usize, Range<i64>)>, i64) {
        let window = &self.window;
        let (mut partial, mut whole) = (Vec::new(), 1);
        for d in 0..window.rank() {
            let counted = match self.include_pad {
                true => 0..window.before[d] + window.input[d] + window.after[d],
                false => window.before[d]..window.before[d] + window.input[d],
            };
            let last = (window.output[d] - 1) * window.strides[d];
            let end = last + (window.kernel[d] - 1) * window.dilations[d] + 1;
            if counted.start > 0 || counted.end < end {
                partial.push((d, counted));
            } else {
                whole *= window.kernel[d];
            }
        }
        (partial, whole)
    }
}

/// Returns the number of elements of each window, along dimension `d`, between two places of the
/// bordered tensor.
fn count<'c>(
    b: &mut Build<'_, 'c>,
    window: &Window,
    d: usize,
    counted: Range<i64>,
    element: ElementType,
) -> Tensor<'c> {
    let start = b.fill(element, &[window.output[d]], Scalar::Int(0));
    let place = Linear::constant(2, 0).plus(0, window.strides[d]).plus(1, window.dilations[d]);
    let axes = [Axis::Parallel, Axis::Reduction];
    let extents = [window.output[d], window.kernel[d]];
    let outputs = [(&start, vec![Linear::axis(2, 0)])];
    let results = b.nest(&axes, &extents, &[], &outputs, |calc, given| {
        let place = calc.linear(&place);
        let (from, to) = (calc.at(counted.start), calc.at(counted.end));
        let (after, before) = (calc.ge(place, from), calc.lt(place, to));
        let inside = calc.and(after, before);
        let one = calc.cast(inside, element);
        vec![calc.add(given[0], one)]
    });
    results.into_iter().next().expect("one output gives one result")
}

/// `|x|^p`.
pub fn raised<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, p: i64) -> Num<'c> {
    if p == 2 {
        return calc.mul(x, x);
    }
    let size = calc.abs(x);
    if p == 1 {
        return size;
    }
    let p = calc.like(x, p as f64);
    calc.powf(size, p)
}

/// `x^(1/p)`.
pub fn root<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, p: i64) -> Num<'c> {
    match p {
        1 => x,
        2 => calc.math("sqrt", x),
        _ => {
            let inverse = calc.like(x, 1.0 / p as f64);
            calc.powf(x, inverse)
        }
    }
}

/// The attribute `p` of a norm.
pub fn exponent(node: &Node<'_>) -> Result<i64> {
    let p = node.int("p")?.unwrap_or(2);
    if !(1..=1024).contains(&p) {
        return Err(node.report(format!("has p {p}")).help("1 to 1024").invalid());
    }
    Ok(p)
}

/// Plans the norm of every window.
pub fn lp_pool(node: &Node<'_>, p: i64) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    let element = x.element();
    let window = Window::of(node, x, None, node.flag("ceil_mode", false)?)?;
    let dims = [&x.dims()[..2], &window.output].concat();
    let result = node.ty(element, dims.clone())?;
    Ok(Plan::new(vec![x.clone()], vec![result], move |b, args| {
        let padded = window.pad(b, &args[0], Scalar::Int(0));
        let start = zeros(b, element, &dims);
        let sum = slide(b, &window, &padded, &start, |calc, x, sum| {
            let power = raised(calc, x, p);
            calc.add(sum, power)
        });
        vec![b.map(element, &dims, &[&sum], |calc, sum| root(calc, sum[0], p))]
    }))
}

/// Plans a pool whose window is the whole of every channel.
fn global(node: &Node<'_>, reduction: Reduction) -> Result<Plan> {
    let x = node.typed(0, "X", ElementType::FLOATS)?;
    if x.rank() < 2 {
        return Err(node.invalid(format!("pools {}; it needs batch and channels", x.ty)));
    }
    reduce::plan(node, x, (2..x.rank()).collect(), true, reduction)
}

/// Plans the norm of every channel.
pub fn global_lp_pool(node: &Node<'_>, p: i64) -> Result<Plan> {
    global(node, Reduction::Norm(p))
}
