//! Operators on numbers kept as small integers: these are made numbers, calculated with, and made
//! small integers again.
//!
//! ```text
//! real = (integer - zero point) · scale          one scale and one zero point for a tensor
//! ```

use weft_dialects::ir::Linear;

use super::super::integer::{BYTES, requantized};
use super::super::quantize::rounded;
use super::super::unary::sigmoid;
use super::super::{Operator, microsoft};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Access, Build, Calc, Num, Tensor, broadcast, identity};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[
    microsoft("QLinearAdd", 8, &[], add).at_least(7),
    microsoft("QLinearConcat", 2, &["axis"], concat).variadic(),
    microsoft("QLinearLeakyRelu", 5, &["alpha"], leaky_relu).at_least(4),
    microsoft("QLinearMul", 8, &[], multiply).at_least(7),
    microsoft("QLinearSigmoid", 5, &[], |node| one(node, sigmoid)).at_least(4),
];

/// Where the scale and the zero point of a tensor stand among the arguments.
#[derive(Clone, Copy)]
pub struct Code {
    scale: usize,
    zero: Option<usize>,
}

impl Code {
    /// The scale that is input `at`, and the zero point of type `element` behind it, 0 where it is
    /// left out; both are added to `operands`.
    ///
    /// # Errors
    /// Other types, or more than one number.
    pub fn of<'n>(
        node: &'n Node<'_>,
        at: usize,
        element: ElementType,
        operands: &mut Vec<&'n Operand>,
    ) -> Result<Self> {
        let scale = node.typed(at, "scale", &[ElementType::F32])?;
        let zero = node.optional(at + 1);
        if let Some(zero) = zero {
            node.expect_element(zero, "zero_point", &[element])?;
        }
        for operand in [Some(scale), zero].into_iter().flatten() {
            if operand.ty.elements() != 1 || operand.rank() > 1 {
                return Err(node
                    .report(format!("reads {} as a scale or zero point", operand.ty))
                    .help("one number for the whole tensor")
                    .unsupported());
            }
        }
        let first = operands.len();
        operands.push(scale);
        operands.extend(zero);
        Ok(Self { scale: first, zero: zero.map(|_| first + 1) })
    }

    /// The scale, then the zero point where there is one, for a nest of `axes` axes.
    pub fn reads<'t, 'c>(self, args: &'t [Tensor<'c>], axes: usize) -> Vec<Access<'t, 'c>> {
        let read = |at: usize| (&args[at], vec![Linear::constant(axes, 0); args[at].dims().len()]);
        [Some(self.scale), self.zero].into_iter().flatten().map(read).collect()
    }

    /// The scale and the zero point in `f32`, taken off the front of what a body reads.
    pub fn take<'c>(
        self,
        calc: &mut Calc<'_, 'c>,
        given: &mut impl Iterator<Item = Num<'c>>,
    ) -> Numbers<'c> {
        let mut next = || given.next().expect("a number for each that is read");
        let scale = next();
        let zero = self.zero.map(|_| calc.cast(next(), ElementType::F32));
        (scale, zero)
    }
}

/// A scale and a zero point in `f32`.
pub type Numbers<'c> = (Num<'c>, Option<Num<'c>>);

/// The number that an integer stands for.
pub fn real<'c>(calc: &mut Calc<'_, 'c>, x: Num<'c>, (scale, zero): Numbers<'c>) -> Num<'c> {
    let mut x = calc.cast(x, ElementType::F32);
    if let Some(zero) = zero {
        x = calc.sub(x, zero);
    }
    calc.mul(x, scale)
}

/// The integer nearest to what stands for a number.
pub fn integer<'c>(
    calc: &mut Calc<'_, 'c>,
    x: Num<'c>,
    (scale, zero): Numbers<'c>,
    element: ElementType,
) -> Num<'c> {
    let share = calc.div(x, scale);
    rounded(calc, share, zero, element)
}

/// A function of the numbers of one tensor, element by element.
fn one(
    node: &Node<'_>,
    body: impl for<'c> Fn(&mut Calc<'_, 'c>, Num<'c>) -> Num<'c> + 'static,
) -> Result<Plan> {
    let element = node.typed(0, "input", BYTES)?.element();
    each(node, &[0], 3, move |calc, x, codes| {
        let x = real(calc, x[0], codes[0]);
        let y = body(calc, x);
        integer(calc, y, codes[1], element)
    })
}

fn add(node: &Node<'_>) -> Result<Plan> {
    let element = node.typed(0, "input", BYTES)?.element();
    each(node, &[0, 3], 6, move |calc, x, codes| {
        let (a, b) = (real(calc, x[0], codes[0]), real(calc, x[1], codes[1]));
        let sum = calc.add(a, b);
        integer(calc, sum, codes[2], element)
    })
}

/// Integers are multiplied as they are, and scaled once.
fn multiply(node: &Node<'_>) -> Result<Plan> {
    let element = node.typed(0, "input", BYTES)?.element();
    each(node, &[0, 3], 6, move |calc, x, codes| {
        let [a, b] = [0, 1].map(|at| {
            let x = calc.cast(x[at], ElementType::I32);
            let Some(zero) = codes[at].1 else { return x };
            let zero = calc.cast(zero, ElementType::I32);
            calc.sub(x, zero)
        });
        let product = calc.mul(a, b);
        let scales = [codes[0].0, codes[1].0, codes[2].0];
        let zero = codes[2].1.unwrap_or_else(|| calc.like(scales[2], 0.0));
        requantized(calc, product, &scales, zero, element)
    })
}

/// Tensors at some inputs, with their scales behind them; the scale of the result is at `own`.
///
/// The body gets the integers and the scales and zero points, those of the result last.
fn each(
    node: &Node<'_>,
    tensors: &[usize],
    own: usize,
    body: impl for<'c> Fn(&mut Calc<'_, 'c>, &[Num<'c>], &[Numbers<'c>]) -> Num<'c> + 'static,
) -> Result<Plan> {
    let element = node.typed(0, "input", BYTES)?.element();
    let mut operands = Vec::new();
    for &at in tensors {
        operands.push(node.typed(at, "input", &[element])?);
    }
    let dims = node.broadcast(operands.iter().map(|operand| operand.dims()))?;
    let mut codes = Vec::new();
    for &at in tensors {
        codes.push(Code::of(node, at + 1, element, &mut operands)?);
    }
    codes.push(Code::of(node, own, element, &mut operands)?);
    let result = node.ty(element, dims.clone())?;
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let (rank, count) = (dims.len(), codes.len() - 1);
        let tensors = args[..count].iter();
        let mut inputs: Vec<_> =
            tensors.map(|tensor| (tensor, broadcast(tensor.dims(), &dims, rank))).collect();
        inputs.extend(codes.iter().flat_map(|code| code.reads(args, rank)));
        vec![b.map_at(element, &dims, &inputs, |calc, given| {
            let mut rest = given[count..].iter().copied();
            let numbers: Vec<_> = codes.iter().map(|code| code.take(calc, &mut rest)).collect();
            body(calc, &given[..count], &numbers)
        })]
    }))
}

fn leaky_relu(node: &Node<'_>) -> Result<Plan> {
    let alpha = node.float("alpha", 0.01)?;
    one(node, move |calc, x| {
        let (zero, alpha) = (calc.like(x, 0.0), calc.like(x, alpha));
        let (below, scaled) = (calc.lt(x, zero), calc.mul(alpha, x));
        calc.select(below, scaled, x)
    })
}

/// Each tensor in the scale of the result, behind the one before.
fn concat(node: &Node<'_>) -> Result<Plan> {
    let zero = node.typed(1, "Y_zero_point", BYTES)?;
    let element = zero.element();
    let count = node.input_count().saturating_sub(2) / 3;
    if count == 0 || node.input_count() != 2 + 3 * count {
        return Err(node
            .report(format!("has {} inputs", node.input_count()))
            .help("a scale and a zero point, then three for each tensor")
            .invalid());
    }
    let mut operands = Vec::new();
    let own = Code::of(node, 0, element, &mut operands)?;
    let axis = node.int("axis")?.ok_or_else(|| node.invalid("lacks the attribute \"axis\""))?;
    let first = node.typed(2, "input", &[element])?;
    let axis = node.axis(axis, first.rank())?;
    let mut dims = first.dims().to_vec();
    dims[axis] = 0;
    let mut parts = Vec::new();
    for at in (0..count).map(|part| 2 + 3 * part) {
        let x = node.typed(at, "input", &[element])?;
        let fits =
            x.rank() == dims.len() && (0..x.rank()).all(|d| d == axis || x.dims()[d] == dims[d]);
        if !fits {
            return Err(node
                .report(format!("joins {} and {} along axis {axis}", first.ty, x.ty))
                .help("equal extents on all other axes")
                .invalid());
        }
        dims[axis] = dims[axis].saturating_add(x.dims()[axis]);
        let place = operands.len();
        operands.push(x);
        parts.push((place, Code::of(node, at + 1, element, &mut operands)?));
    }
    let result = node.ty(element, dims.clone())?;
    let operands = operands.into_iter().cloned().collect();
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let mut all = b.empty(element, &dims);
        let mut offsets = vec![0; dims.len()];
        for &(at, code) in &parts {
            let part = recoded(b, args, at, [code, own]);
            all = b.insert(&part, &all, &offsets, &vec![1; dims.len()]);
            offsets[axis] += part.dims()[axis];
        }
        vec![all]
    }))
}

/// A tensor in another scale.
fn recoded<'c>(
    b: &mut Build<'_, 'c>,
    args: &[Tensor<'c>],
    at: usize,
    [from, to]: [Code; 2],
) -> Tensor<'c> {
    let (x, rank) = (&args[at], args[at].dims().len());
    let mut inputs = vec![(x, identity(rank))];
    inputs.extend(from.reads(args, rank));
    inputs.extend(to.reads(args, rank));
    b.map_at(x.element(), x.dims(), &inputs, |calc, given| {
        let mut rest = given[1..].iter().copied();
        let (from, to) = (from.take(calc, &mut rest), to.take(calc, &mut rest));
        let y = real(calc, given[0], from);
        integer(calc, y, to, x.element())
    })
}
