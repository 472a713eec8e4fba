//! Numbers as small integers: `real = (integer - zero point) · scale`.

use weft_dialects::ir::Linear;

use super::cast::Rounds;
use super::reduce::fold_axes;
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Calc, Num, Tensor, computed, identity};
use crate::types::ElementType;

/// What numbers are kept as.
#[rustfmt::skip]
const QUANTIZED: &[ElementType] = {
    use ElementType::*;
    &[I8, U8, I16, U16, I4, U4, I2, U2, F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, F4E2M1FN,
      F6E2M3FN, F6E3M2FN]
};

/// What scales are kept as.
const SCALES: &[ElementType] = {
    use ElementType::*;
    &[F16, BF16, F32, F64, F8E8M0FNU]
};

pub const OPERATORS: &[Operator] = &[
    op("DequantizeLinear", 10, 3, &["axis", "block_size", "output_dtype"], dequantize).at_least(2),
    op("DynamicQuantizeLinear", 11, 1, &[], dynamic).up_to(3),
    op(
        "QuantizeLinear",
        10,
        3,
        &["axis", "block_size", "output_dtype", "precision", "saturate"],
        quantize,
    )
    .at_least(2),
];

/// Which scale belongs to an element.
#[derive(Clone, Copy)]
enum Grain {
    /// There is one.
    Tensor,
    /// One for each place on an axis.
    Axis(usize),
    /// One for so many places on an axis.
    Block(usize, i64),
}

impl Grain {
    fn of(node: &Node<'_>, x: &Operand, scale: &Operand) -> Result<Self> {
        let block = node.int("block_size")?.unwrap_or(0);
        if scale.ty.elements() == 1 && scale.rank() <= 1 && block == 0 {
            return Ok(Self::Tensor);
        }
        let axis = node.axis(node.int("axis")?.unwrap_or(1), x.rank())?;
        if block == 0 && scale.dims() == &x.dims()[axis..=axis] {
            return Ok(Self::Axis(axis));
        }
        let blocks = |d: usize| {
            let extent = x.dims()[d];
            if d == axis { (extent as u64).div_ceil(block as u64) as i64 } else { extent }
        };
        let all = 0..x.rank();
        if block > 0
            && scale.rank() == x.rank()
            && all.clone().all(|d| scale.dims()[d] == blocks(d))
        {
            return Ok(Self::Block(axis, block));
        }
        Err(node
            .report(format!("scales {} by {}", x.ty, scale.ty))
            .help(format!("one scale, one for each place on axis {axis}, or one for each block of {block} places"))
            .invalid())
    }

    /// `x` with the axis of blocks as two, of blocks and of places in them, where these divide it.
    fn cut<'c>(self, b: &mut Build<'_, 'c>, x: &Tensor<'c>) -> Tensor<'c> {
        match self.divides(x.dims()) {
            None => x.clone(),
            Some((axis, block)) => {
                let mut dims = x.dims().to_vec();
                dims[axis] /= block;
                dims.insert(axis + 1, block);
                b.reshape(x, &dims)
            }
        }
    }

    /// Axis and extent of blocks that divide the axis.
    fn divides(self, dims: &[i64]) -> Option<(usize, i64)> {
        match self {
            Self::Block(axis, block) if dims[axis] % block == 0 => Some((axis, block)),
            _ => None,
        }
    }

    /// Returns the indices of scales beside the elements of what [`Grain::cut`] gives for `dims`; what
    /// blocks do not divide is looked up instead.
    fn access(self, table: &Tensor<'_>, dims: &[i64]) -> Vec<Linear> {
        let rank = dims.len();
        match (self, self.divides(dims)) {
            (Self::Axis(axis), _) => vec![Linear::axis(rank, axis)],
            (_, Some((axis, _))) => {
                let own = |d: usize| Linear::axis(rank + 1, if d > axis { d + 1 } else { d });
                (0..rank).map(own).collect()
            }
            _ => vec![Linear::constant(rank, 0); table.dims().len()],
        }
    }

    /// The scale of the element at hand of a tensor of `dims`, of which `read` is what the access gave.
    fn pick<'c>(
        self,
        calc: &mut Calc<'_, 'c>,
        table: &Tensor<'c>,
        read: Num<'c>,
        dims: &[i64],
    ) -> Num<'c> {
        let Self::Block(axis, block) = self else { return read };
        if self.divides(dims).is_some() {
            return read;
        }
        let mut place: Vec<_> = (0..dims.len()).map(|axis| calc.index(axis)).collect();
        let block = calc.at(block);
        place[axis] = calc.div(place[axis], block);
        let found = calc.extract(table, &place);
        calc.loaded(found)
    }
}

/// The zero point, which has the shape of the scale.
fn zero_point<'n>(node: &'n Node<'_>, scale: &Operand) -> Result<Option<&'n Operand>> {
    let zero = node.optional(2);
    match zero {
        // A number may be written as a vector of one.
        Some(zero) if zero.ty.elements() == 1 && scale.ty.elements() == 1 => Ok(Some(zero)),
        Some(zero) if zero.dims() != scale.dims() => Err(node
            .report(format!("has scales {} and zero points {}", scale.ty, zero.ty))
            .help("one shape of both")
            .invalid()),
        zero => Ok(zero),
    }
}

/// The type that the attribute `output_dtype` names.
fn named(node: &Node<'_>) -> Result<Option<ElementType>> {
    match node.int("output_dtype")?.unwrap_or(0) {
        0 => Ok(None),
        code => {
            ElementType::from_onnx(code.try_into().unwrap_or(-1), &node.result_name()).map(Some)
        }
    }
}

fn dequantize(node: &Node<'_>) -> Result<Plan> {
    let accepted = [QUANTIZED, &[ElementType::I32]].concat();
    let x = node.typed(0, "x", &accepted)?;
    let scale = node.typed(1, "x_scale", SCALES)?;
    let (zero, is_zero) = (zero_point(node, scale)?, node.is_zero(2)?);
    if let Some(zero) = zero {
        node.expect_same_element(x, zero)?;
    }
    let zero = zero.filter(|_| !is_zero);
    let grain = Grain::of(node, x, scale)?;
    let element = named(node)?.unwrap_or(scale.element());
    if !element.is_float() {
        return Err(node.report(format!("makes {element}")).help("a float type").invalid());
    }
    let result = node.ty(element, x.dims().to_vec())?;
    let mut operands = vec![x.clone(), scale.clone()];
    operands.extend(zero.cloned());
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let (dims, x) = (args[0].dims(), grain.cut(b, &args[0]));
        let number = computed(element);
        // Differences of integers are exact, and so are small floats as wider ones.
        let between = match x.element().format() {
            Some(_) => ElementType::F32,
            None => ElementType::I32,
        };
        let mut inputs = vec![(&x, identity(x.dims().len()))];
        inputs.extend(args[1..].iter().map(|table| (table, grain.access(table, dims))));
        let made = b.map_at(element, x.dims(), &inputs, |calc, given| {
            let mut value = calc.cast(given[0], between);
            if let Some(&zero) = given.get(2) {
                let zero = grain.pick(calc, &args[2], zero, dims);
                let zero = calc.cast(zero, between);
                value = calc.sub(value, zero);
            }
            let scale = grain.pick(calc, &args[1], given[1], dims);
            let (value, scale) = (calc.cast(value, number), calc.cast(scale, number));
            calc.mul(value, scale)
        });
        vec![b.reshape(&made, dims)]
    }))
}

/// `x`, rounded, moved by the zero point, as the nearest integer that exists.
pub fn rounded<'c>(
    calc: &mut Calc<'_, 'c>,
    x: Num<'c>,
    zero: Option<Num<'c>>,
    element: ElementType,
) -> Num<'c> {
    let mut y = calc.math("roundeven", x);
    if let Some(zero) = zero {
        y = calc.add(y, zero);
    }
    calc.cast(y, element)
}

fn quantize(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "x", &[ElementType::FLOATS, &[ElementType::I32]].concat())?;
    let scale = node.typed(1, "y_scale", &[SCALES, &[ElementType::I32]].concat())?;
    let zero = zero_point(node, scale)?;
    let grain = Grain::of(node, x, scale)?;
    let element = match (named(node)?, zero.map(Operand::element)) {
        (Some(named), Some(zero)) if named != zero => {
            return Err(node.invalid(format!("makes {named} around a zero point of {zero}")));
        }
        (named, zero) => named.or(zero).unwrap_or(ElementType::U8),
    };
    if !QUANTIZED.contains(&element) {
        return Err(node
            .report(format!("makes {element}"))
            .help(crate::types::list(QUANTIZED))
            .unsupported());
    }
    let mut rounds = Rounds::to(element);
    rounds.saturates = node.flag("saturate", true)?;
    // No division is less precise here.
    node.int("precision")?;
    let result = node.ty(element, x.dims().to_vec())?;
    let mut operands = vec![x.clone(), scale.clone()];
    if !node.is_zero(2)? {
        operands.extend(zero.cloned());
    }
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let (dims, x) = (args[0].dims(), grain.cut(b, &args[0]));
        let mut inputs = vec![(&x, identity(x.dims().len()))];
        inputs.extend(args[1..].iter().map(|table| (table, grain.access(table, dims))));
        let made = b.map_at(element, x.dims(), &inputs, |calc, given| {
            // A double holds every 32-bit integer.
            let number = match computed(x.element()) {
                ElementType::I32 => ElementType::F64,
                float => float,
            };
            let scale = grain.pick(calc, &args[1], given[1], dims);
            let scale = calc.cast(scale, number);
            let zero = given.get(2).map(|&zero| {
                let zero = grain.pick(calc, &args[2], zero, dims);
                calc.cast(zero, number)
            });
            let value = calc.cast(given[0], number);
            let share = calc.div(value, scale);
            if element.format().is_none() {
                return rounded(calc, share, zero, element);
            }
            let share = zero.map_or(share, |zero| calc.add(share, zero));
            rounds.apply(calc, share)
        });
        vec![b.reshape(&made, dims)]
    }))
}

/// QuantizeLinear to bytes, with the scale and zero point that the elements themselves ask for.
fn dynamic(node: &Node<'_>) -> Result<Plan> {
    let x = node.typed(0, "x", &[ElementType::F32])?;
    let mut results = vec![
        node.ty(ElementType::U8, x.dims().to_vec())?,
        node.ty(ElementType::F32, vec![])?,
        node.ty(ElementType::U8, vec![])?,
    ];
    results.truncate(node.outputs());
    let outputs = results.len();
    Ok(Plan::new(vec![x.clone()], results, move |b, args| {
        let mut made = dynamically(b, &args[0]).to_vec();
        made.truncate(outputs);
        made
    }))
}

/// `x` as bytes that hold its range and zero, with their scale and their zero point.
pub fn dynamically<'c>(b: &mut Build<'_, 'c>, x: &Tensor<'c>) -> [Tensor<'c>; 3] {
    // The range always holds zero, so that zero has an integer of its own.
    let zero = (ElementType::F32, Scalar::Int(0));
    let all: Vec<_> = (0..x.dims().len()).collect();
    let top = fold_axes(b, x, &all, &[], zero, |calc, x, top| calc.max(top, x[0]));
    let low = fold_axes(b, x, &all, &[], zero, |calc, x, low| calc.min(low, x[0]));
    let scale = b.map(ElementType::F32, &[], &[&top, &low], |calc, x| {
        let (range, one) = (calc.sub(x[0], x[1]), calc.like(x[0], 1.0));
        let (none, steps) = (calc.eq(x[0], x[1]), calc.like(x[0], 255.0));
        let range = calc.select(none, one, range);
        calc.div(range, steps)
    });
    let zero = b.map(ElementType::U8, &[], &[&low, &scale], |calc, x| {
        let share = calc.div(x[0], x[1]);
        let share = calc.neg(share);
        rounded(calc, share, None, ElementType::U8)
    });
    let bytes = b.map(ElementType::U8, x.dims(), &[x, &scale, &zero], |calc, x| {
        let (share, zero) = (calc.div(x[0], x[1]), calc.cast(x[2], ElementType::F32));
        rounded(calc, share, Some(zero), ElementType::U8)
    });
    [bytes, scale, zero]
}
