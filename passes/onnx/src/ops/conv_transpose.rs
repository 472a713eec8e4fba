//! The transposed convolution: every element of the operand is spread over a window.
//!
//! Windows that do not overlap, as those that enlarge an image do, are products of their own.
//! Others are a convolution with the turned window over the operand, spread by the strides.

use weft_dialects::ir::Linear;

use super::linear::{accumulate, zeros};
use super::{Operator, op};
use crate::elements::Scalar;
use crate::error::Result;
use crate::node::{Node, Operand, Plan};
use crate::payload::{Build, Tensor, computed, identity};
use crate::types::ElementType;

pub const OPERATORS: &[Operator] = &[op(
    "ConvTranspose",
    1,
    3,
    &[
        "auto_pad",
        "dilations",
        "group",
        "kernel_shape",
        "output_padding",
        "output_shape",
        "pads",
        "strides",
    ],
    conv_transpose,
)
.at_least(2)];

/// The position of windows in the result; one number per dimension.
struct Spread {
    input: Vec<i64>,
    kernel: Vec<i64>,
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// Elements that are cut off before the windows.
    before: Vec<i64>,
    output: Vec<i64>,
}

impl Spread {
    fn of(node: &Node<'_>, x: &Operand, kernel: &[i64]) -> Result<Self> {
        let input = x.dims()[2..].to_vec();
        let rank = input.len();
        let list = |name: &str, count: usize, default: i64, least: i64| -> Result<Vec<i64>> {
            let Some(list) = node.ints(name)? else {
                return Ok(vec![default; count]);
            };
            // Far beyond any tensor, and sums of a few products still fit.
            let fits = |&n: &i64| (least..=i32::MAX.into()).contains(&n);
            if list.len() != count || !list.iter().all(fits) {
                return Err(node
                    .report(format!("has {name} {list:?}"))
                    .help(format!("{count} numbers for {}, from {least}", x.ty))
                    .invalid());
            }
            Ok(list.to_vec())
        };
        let declared = list("kernel_shape", rank, 0, 1)?;
        let differs = node.ints("kernel_shape")?.is_some() && declared != kernel;
        if differs || input.iter().chain(kernel).any(|&n| !(1..=i32::MAX.into()).contains(&n)) {
            return Err(node
                .report(format!("spreads {} over windows of {kernel:?}", x.ty))
                .help("windows of the weights' shape, and elements on every axis")
                .invalid());
        }
        let (strides, dilations) = (list("strides", rank, 1, 1)?, list("dilations", rank, 1, 1)?);
        let more = list("output_padding", rank, 0, 0)?;
        let pads = list("pads", 2 * rank, 0, 0)?;
        let auto = node.string("auto_pad", "NOTSET")?;
        let given = node.ints("output_shape")?;
        // Some writers name the batch and the channels too.
        let given = match given {
            Some(shape) if shape.len() == rank + 2 => Some(&shape[2..]),
            given => given,
        };
        if given.is_some_and(|shape| shape.len() != rank || shape.iter().any(|&n| n < 1)) {
            return Err(node
                .report(format!("has output_shape {given:?}"))
                .help(format!("{rank} numbers, from 1"))
                .invalid());
        }
        let (mut before, mut output) = (vec![0; rank], vec![0; rank]);
        for d in 0..rank {
            let span = (kernel[d] - 1) * dilations[d] + 1;
            let full = strides[d] * (input[d] - 1) + span + more[d];
            let same = match auto {
                "SAME_UPPER" => Some(true),
                "SAME_LOWER" => Some(false),
                "NOTSET" | "" | "VALID" => None,
                other => {
                    return Err(node
                        .report(format!("has auto_pad {other:?}"))
                        .help("NOTSET, SAME_UPPER, SAME_LOWER or VALID")
                        .invalid());
                }
            };
            let wanted = given.map(|shape| shape[d]);
            (before[d], output[d]) = match (wanted, same) {
                (None, None) if auto == "VALID" => (0, full),
                (None, None) => (pads[d], full - pads[d] - pads[rank + d]),
                (wanted, same) => {
                    let output = wanted.unwrap_or(input[d] * strides[d]);
                    let cut = (full - output).max(0);
                    let less = cut / 2;
                    // Before 11 the larger half was cut in front for SAME_UPPER, and behind otherwise.
                    let less_in_front = (same == Some(true)) == (node.opset >= 11);
                    (if less_in_front { less } else { cut - less }, output)
                }
            };
            if output[d] < 1 {
                return Err(node
                    .report(format!("cuts {} from dimension {}", full - output[d], d + 2))
                    .note(format!("its windows reach over {full} there"))
                    .help("pads that leave an element")
                    .invalid());
            }
        }
        Ok(Self { input, kernel: kernel.to_vec(), strides, dilations, before, output })
    }

    fn rank(&self) -> usize {
        self.input.len()
    }

    /// True where every element of the result belongs to one window at most.
    fn apart(&self) -> bool {
        let all = |d: usize| self.kernel[d] == self.strides[d] && self.dilations[d] == 1;
        (0..self.rank()).all(all)
    }

    /// The extents over which windows reach.
    fn reach(&self) -> Vec<i64> {
        let reach = |d: usize| {
            self.strides[d] * (self.input[d] - 1) + (self.kernel[d] - 1) * self.dilations[d] + 1
        };
        (0..self.rank()).map(reach).collect()
    }

    /// The part of all windows that is the result.
    fn crop<'c>(&self, b: &mut Build<'_, 'c>, y: &Tensor<'c>) -> Tensor<'c> {
        let lead = y.dims().len() - self.rank();
        let mut offsets = vec![0; lead];
        let (mut sizes, mut after) = (y.dims()[..lead].to_vec(), vec![0; lead]);
        for d in 0..self.rank() {
            let size = (y.dims()[lead + d] - self.before[d]).clamp(0, self.output[d]);
            offsets.push(self.before[d]);
            sizes.push(size);
            after.push(self.output[d] - size);
        }
        let y = b.slice(y, &offsets, &sizes, &vec![1; sizes.len()]);
        b.pad(&y, &vec![0; sizes.len()], &after, Scalar::Int(0))
    }
}

fn conv_transpose(node: &Node<'_>) -> Result<Plan> {
    let (x, w) = (node.typed(0, "X", ElementType::FLOATS)?, node.input(1, "W")?);
    node.expect_same_element(x, w)?;
    let group = node.int("group")?.unwrap_or(1);
    let fits = x.rank() >= 3 && w.rank() == x.rank();
    if !fits || group < 1 || x.dims()[1] % group != 0 || w.dims()[0] != x.dims()[1] {
        return Err(node
            .report(format!("spreads {} with {} in {group} groups", x.ty, w.ty))
            .help("batch, channels and at least one more dimension; weights of as many, one row for each channel, and groups that divide the channels")
            .invalid());
    }
    let spread = Spread::of(node, x, &w.dims()[2..])?;
    let (batch, depth, filters) = (x.dims()[0], x.dims()[1] / group, w.dims()[1]);
    let all = filters.checked_mul(group).ok_or_else(|| node.invalid("has too many filters"))?;
    let element = x.element();
    let dims = [&[batch, all], &spread.output[..]].concat();
    let result = node.ty(element, dims.clone())?;
    let reach = spread.reach();
    let wide: Vec<_> = (0..spread.rank())
        .map(|d| reach[d] + (spread.kernel[d] - 1) * spread.dilations[d])
        .collect();
    node.ty(computed(element), [&[batch, all], &wide[..]].concat())?;
    node.ty(computed(element), [&[batch, x.dims()[1]], &wide[..]].concat())?;
    let mut operands = vec![x.clone(), w.clone()];
    if let Some(bias) = node.optional(2) {
        node.expect_same_element(x, bias)?;
        if bias.dims() != [all] {
            return Err(node
                .report(format!("adds a bias of {}", bias.ty))
                .help(format!("one number for each of its {all} filters"))
                .invalid());
        }
        operands.push(bias.clone());
    }
    let rank = spread.rank();
    Ok(Plan::new(operands, vec![result], move |b, args| {
        let grouped = [&[batch, group, depth], &spread.input[..]].concat();
        let x = b.reshape(&args[0], &grouped);
        let shape = [&[group, depth, filters], &spread.kernel[..]].concat();
        let w = b.reshape(&args[1], &shape);
        let sum =
            if spread.apart() { apart(b, &spread, &x, &w) } else { turned(b, &spread, &x, &w) };
        let sum = b.reshape(&sum, &dims);
        let bias = vec![Linear::axis(rank + 2, 1)];
        let mut inputs = vec![(&sum, identity(rank + 2))];
        inputs.extend(args.get(2).map(|tensor| (tensor, bias)));
        if inputs.len() == 1 {
            return vec![b.cast(&sum, element)];
        }
        vec![b.map_at(element, &dims, &inputs, |calc, given| calc.add(given[0], given[1]))]
    }))
}

/// Windows side by side: `y[n, g, f, i, k] = Σc x[n, g, c, i] · w[g, c, f, k]`, `i` and `k`
/// interleaved.
fn apart<'c>(b: &mut Build<'_, 'c>, spread: &Spread, x: &Tensor<'c>, w: &Tensor<'c>) -> Tensor<'c> {
    let (rank, lead) = (spread.rank(), [x.dims()[0], w.dims()[0], w.dims()[2]]);
    let axes = 3 + 2 * rank + 1;
    let axis = |at| Linear::axis(axes, at);
    let mut dims = lead.to_vec();
    let (mut read_x, mut read_w) =
        (vec![axis(0), axis(1), axis(axes - 1)], vec![axis(1), axis(axes - 1), axis(2)]);
    for d in 0..rank {
        dims.extend([spread.input[d], spread.kernel[d]]);
        read_x.push(axis(3 + 2 * d));
        read_w.push(axis(4 + 2 * d));
    }
    let start = zeros(b, x.element(), &dims);
    let sum = accumulate(b, &start, &[x.dims()[2]], (x, read_x), (w, read_w));
    let y = b.reshape(&sum, &[&lead[..], &spread.reach()].concat());
    spread.crop(b, &y)
}

/// Windows that overlap: a convolution of the spread operand with the turned windows.
fn turned<'c>(
    b: &mut Build<'_, 'c>,
    spread: &Spread,
    x: &Tensor<'c>,
    w: &Tensor<'c>,
) -> Tensor<'c> {
    let (rank, element) = (spread.rank(), x.element());
    let lead = [x.dims()[0], w.dims()[0], w.dims()[2]];
    // Every window's first element sees a border as wide as the rest of the window.
    let border: Vec<_> = (0..rank).map(|d| (spread.kernel[d] - 1) * spread.dilations[d]).collect();
    let full: Vec<_> =
        (0..rank).map(|d| spread.strides[d] * (spread.input[d] - 1) + 1 + 2 * border[d]).collect();
    let target = b.fill(element, &[&x.dims()[..3], &full].concat(), Scalar::Int(0));
    let offsets = [&[0; 3], &border[..]].concat();
    let x = b.insert(x, &target, &offsets, &[&[1; 3], &spread.strides[..]].concat());

    let mut backward = identity(3 + rank);
    for d in 0..rank {
        backward[3 + d] = Linear::constant(3 + rank, spread.kernel[d] - 1).plus(3 + d, -1);
    }
    let w = b.move_at(element, w.dims(), &[(w, backward)], |_, w| w[0]);

    let dims = [&lead[..], &spread.reach()].concat();
    let axes = dims.len() + 1 + rank;
    let axis = |at| Linear::axis(axes, at);
    let channel = dims.len();
    let (mut read_x, mut read_w) =
        (vec![axis(0), axis(1), axis(channel)], vec![axis(1), axis(channel), axis(2)]);
    for d in 0..rank {
        read_x.push(axis(3 + d).plus(channel + 1 + d, spread.dilations[d]));
        read_w.push(axis(channel + 1 + d));
    }
    let start = zeros(b, element, &dims);
    let reduced = [&[x.dims()[2]], &spread.kernel[..]].concat();
    let y = accumulate(b, &start, &reduced, (&x, read_x), (&w, read_w));
    spread.crop(b, &y)
}
