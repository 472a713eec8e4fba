//! MatMulNBits: a product with weights of a few bits, several of them in a byte.
//!
//! ```text
//! w[n, block, byte, part] = (bits of B[n, block, byte] at the part - zero[n, block]) · scale[n, block]
//! Y[..., n]               = bias[n] + sum over k of A[..., k] · (w seen as [n, k])[n, k]
//! ```
//!
//! The last block of a row is filled up; what lies there is not multiplied.

use weft_dialects::ir::Linear;

use super::super::linear::{accumulate, zeros};
use super::super::{Operator, microsoft};
use crate::elements::{Elements, Scalar};
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Access, Build, Calc, Num, Tensor, computed};
use crate::types::{ElementType, Shape, TensorType};

pub const OPERATORS: &[Operator] = &[microsoft(
    "MatMulNBits",
    6,
    &["K", "N", "accuracy_level", "bits", "block_size", "weight_prepacked"],
    mat_mul_nbits,
)
.at_least(3)];

const FACTORS: &[ElementType] = &[ElementType::F16, ElementType::BF16, ElementType::F32];

/// How the weights are packed.
#[derive(Clone, Copy)]
struct Packed {
    /// Columns and rows of the weights as the product has them.
    columns: i64,
    depth: i64,
    bits: i64,
    /// Weights of one scale, and how many scales a column has.
    block: i64,
    blocks: i64,
}

impl Packed {
    fn of(node: &Node<'_>) -> Result<Self> {
        let number = |name: &str| -> Result<i64> {
            let number = node.int(name)?;
            let number =
                number.ok_or_else(|| node.invalid(format!("lacks the attribute {name:?}")))?;
            if (1..=i32::MAX.into()).contains(&number) {
                return Ok(number);
            }
            Err(node.report(format!("has {name} {number}")).help("1 or more").invalid())
        };
        let (columns, depth, block) = (number("N")?, number("K")?, number("block_size")?);
        let bits = node.int("bits")?.unwrap_or(4);
        if ![2, 4, 8].contains(&bits) {
            return Err(node.report(format!("has bits {bits}")).help("2, 4 or 8").unsupported());
        }
        if block < 16 || block & (block - 1) != 0 {
            return Err(node
                .report(format!("has block_size {block}"))
                .help("a power of two, 16 or more")
                .invalid());
        }
        let blocks = (depth as u64).div_ceil(block as u64) as i64;
        Ok(Self { columns, depth, bits, block, blocks })
    }

    /// Weights in a byte.
    fn parts(&self) -> i64 {
        8 / self.bits
    }

    /// The shape of the weights.
    fn dims(&self) -> [i64; 3] {
        [self.columns, self.blocks, self.block / self.parts()]
    }

    /// The shape of what there is one of for each block.
    fn scales(&self) -> [i64; 2] {
        [self.columns, self.blocks]
    }

    /// The shape of zero points that are packed as weights are.
    fn packed_zeros(&self) -> [i64; 2] {
        [self.columns, (self.blocks as u64).div_ceil(self.parts() as u64) as i64]
    }
}

/// Fails unless `operand` has these extents, or as many elements in a row.
fn expect_dims(node: &Node<'_>, operand: &Operand, name: &str, dims: &[i64]) -> Result<()> {
    let row = [dims.iter().fold(1i64, |product, &dim| product.saturating_mul(dim))];
    if operand.dims() == dims || operand.dims() == row {
        return Ok(());
    }
    Err(node
        .report(format!("reads {name:?} as {}", operand.ty))
        .help(format!("{} for its K, N, bits and block_size", Shape(dims)))
        .invalid())
}

/// Refuses an order of the weights' rows other than theirs.
fn expect_in_order(node: &Node<'_>, packed: &Packed) -> Result<()> {
    let Some(groups) = node.optional(4) else { return Ok(()) };
    node.expect_element(groups, "g_idx", &[ElementType::I32])?;
    let in_order = |groups: &Elements| {
        let scalars = groups.scalars().take(packed.depth as usize).enumerate();
        let wanted = |at: usize| i128::from(at as i64 / packed.block);
        groups.len() >= packed.depth as usize && { scalars }
            .all(|(at, group)| group.as_int() == wanted(at))
    };
    if node.stored(4)?.as_ref().is_some_and(in_order) {
        return Ok(());
    }
    Err(node
        .report("reads \"g_idx\", which puts rows of the weights in another order")
        .help("none, or k / block_size for each row k")
        .unsupported())
}

fn mat_mul_nbits(node: &Node<'_>) -> Result<Plan> {
    let packed = Packed::of(node)?;
    let (a, w) = (node.typed(0, "A", FACTORS)?, node.typed(1, "B", &[ElementType::U8])?);
    let scales = node.typed(2, "scales", &[a.element()])?;
    if a.dims().last() != Some(&packed.depth) {
        return Err(node
            .report(format!("multiplies {}", a.ty))
            .help(format!("{} columns, its K", packed.depth))
            .invalid());
    }
    node.int("accuracy_level")?;
    if node.int("weight_prepacked")?.unwrap_or(0) != 0 {
        return Err(node
            .report("has weights in the order of one device")
            .help("weight_prepacked 0")
            .unsupported());
    }
    expect_dims(node, w, "B", &packed.dims())?;
    expect_dims(node, scales, "scales", &packed.scales())?;
    expect_in_order(node, &packed)?;
    let mut operands = vec![a.clone(), w.clone(), scales.clone()];
    let zero = node.optional(3);
    if let Some(zero) = zero {
        node.expect_element(zero, "zero_points", &[ElementType::U8, a.element()])?;
        let dims = match zero.element() {
            ElementType::U8 => packed.packed_zeros(),
            _ => packed.scales(),
        };
        expect_dims(node, zero, "zero_points", &dims)?;
        operands.push(zero.clone());
    }
    let bias = node.optional(5);
    if let Some(bias) = bias {
        node.expect_same_element(a, bias)?;
        expect_dims(node, bias, "bias", &[packed.columns])?;
        operands.push(bias.clone());
    }
    let (has_zero, has_bias) = (zero.is_some(), bias.is_some());
    let mut dims = a.dims().to_vec();
    dims.pop();
    dims.push(packed.columns);
    let element = a.element();
    let result = node.ty(element, dims.clone())?;
    node.ty(computed(element), dims.clone())?;
    node.ty(ElementType::F32, vec![packed.columns, packed.blocks, packed.block])?;
    let plan = Plan::new(operands, vec![result], move |b, args| {
        let (shifts, args) = args.split_last().expect("a table is behind the operands");
        let zero = has_zero.then(|| &args[3]);
        let w = packed.weights(b, [&args[1], &args[2], shifts], zero);
        let last = dims.len() - 1;
        let start = match args.last().filter(|_| has_bias) {
            None => zeros(b, element, &dims),
            Some(bias) => {
                let along = vec![Linear::axis(last + 1, last)];
                b.map_at(computed(element), &dims, &[(bias, along)], |_, bias| bias[0])
            }
        };
        let axis = |at| Linear::axis(last + 2, at);
        let left = (0..last).chain([last + 1]).map(axis).collect();
        let right = vec![axis(last), axis(last + 1)];
        let y = accumulate(b, &start, &[packed.depth], (&args[0], left), (&w, right));
        vec![b.cast(&y, element)]
    });
    Ok(plan.with(vec![packed.shifts()]))
}

impl Packed {
    /// The places of weights in a byte. As a table, for a body that asks for coordinates is no part of
    /// another one.
    fn shifts(&self) -> Elements {
        let places = (0..self.parts()).map(|part| Scalar::Int((part * self.bits).into()));
        let ty = TensorType::temporary(ElementType::I32, &[self.parts()]);
        Elements::from_scalars(ty, places)
    }

    /// The weights as numbers: `[columns, blocks · block]`.
    fn weights<'c>(
        &self,
        b: &mut Build<'_, 'c>,
        [w, scales, shifts]: [&Tensor<'c>; 3],
        zero: Option<&Tensor<'c>>,
    ) -> Tensor<'c> {
        let w = b.reshape(w, &self.dims());
        let scales = b.reshape(scales, &self.scales());
        let zero = zero.map(|zero| match zero.element() {
            ElementType::U8 => self.unpacked_zeros(b, zero),
            _ => b.reshape(zero, &self.scales()),
        });
        let dims = [&self.dims()[..], &[self.parts()][..]].concat();
        let axes = |count: usize| (0..count).map(|at| Linear::axis(4, at)).collect::<Vec<_>>();
        let part = vec![Linear::axis(4, 3)];
        let mut inputs: Vec<Access<'_, 'c>> =
            vec![(&w, axes(3)), (&scales, axes(2)), (shifts, part)];
        inputs.extend(zero.iter().map(|zero| (zero, axes(2))));
        let w = b.map_at(scales.element(), &dims, &inputs, |calc, given| {
            let whole = self.part(calc, given[0], given[2]);
            let weight = calc.cast(whole, ElementType::F32);
            let zero = match given.get(3) {
                Some(&zero) => calc.cast(zero, ElementType::F32),
                None => calc.like(weight, f64::from(1 << (self.bits - 1))),
            };
            let moved = calc.sub(weight, zero);
            calc.mul(moved, given[1])
        });
        b.reshape(&w, &[self.columns, self.blocks * self.block])
    }

    /// Zero points, several of them in a byte, as `[columns, blocks]`.
    fn unpacked_zeros<'c>(&self, b: &mut Build<'_, 'c>, zero: &Tensor<'c>) -> Tensor<'c> {
        let [columns, bytes] = self.packed_zeros();
        let zero = b.reshape(zero, &[columns, bytes]);
        let read = vec![Linear::axis(3, 0), Linear::axis(3, 1)];
        let dims = [columns, bytes, self.parts()];
        let parts = b.map_at(ElementType::U8, &dims, &[(&zero, read)], |calc, given| {
            let at = calc.index(2);
            let at = calc.counted(at, ElementType::I32);
            let bits = calc.int_like(at, self.bits.into());
            let shift = calc.mul(at, bits);
            let part = self.part(calc, given[0], shift);
            calc.cast(part, ElementType::U8)
        });
        let parts = b.reshape(&parts, &[columns, bytes * self.parts()]);
        b.slice(&parts, &[0, 0], &self.scales(), &[1, 1])
    }

    /// The bits of a byte from a place on.
    fn part<'c>(&self, calc: &mut Calc<'_, 'c>, byte: Num<'c>, shift: Num<'c>) -> Num<'c> {
        let byte = calc.cast(byte, ElementType::I32);
        if self.bits == 8 {
            return byte;
        }
        let (moved, mask) = (calc.shr(byte, shift), calc.int_like(byte, (1 << self.bits) - 1));
        calc.and(moved, mask)
    }
}
